//! Two systems as people read them: whole numbers of people, out of a round total (G2).
//!
//! True-class totals are rounded first, by largest remainder, and then the cells within each class. So cells sum to
//! the total exactly, and both systems of a pair are about the same people.

use equipoise::space::Candidates;
use equipoise::{GroupShares, Measure, Point, Query, Rates, View};
use serde::{Deserialize, Serialize};

/// Totals a pair may be shown out of. The first three are those people are asked with; the others are for pairs so
/// close that nothing smaller tells them apart.
pub const TOTALS: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// A pair in whole numbers. Cells are group by group, truth by truth, and of each truth the predictions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// "Out of so many": of everybody, or, with groups, of each class within each group.
    pub people: u64,
    /// How many classes.
    pub classes: usize,
    /// How many groups; 1 without.
    pub groups: usize,
    /// Cells of the system in panel A.
    pub a: Vec<u64>,
    /// Cells of the system in panel B.
    pub b: Vec<u64>,
    /// Candidates with attributes: the numbers of A, and those of B. There are then no people, classes or cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<[Vec<f64>; 2]>,
}

/// How a pair of systems compares, mistake by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dominance {
    /// Each has more of some mistake.
    Neither,
    /// A has no more of any mistake, and fewer of some.
    A,
    /// B has.
    B,
    /// The same mistakes.
    Same,
}

impl Dominance {
    /// How two systems with so many of every kind of mistake compare.
    pub fn of(counts: &[[u64; 2]]) -> Self {
        match (counts.iter().any(|[a, b]| a < b), counts.iter().any(|[a, b]| b < a)) {
            (true, true) => Dominance::Neither,
            (true, false) => Dominance::A,
            (false, true) => Dominance::B,
            (false, false) => Dominance::Same,
        }
    }
}

impl Shown {
    /// People of a class in a group.
    pub fn of_class(&self, group: usize, truth: usize) -> u64 {
        (0..self.classes).map(|predicted| self.a[self.cell(group, truth, predicted)]).sum()
    }

    /// Where a cell stands in the lists.
    pub fn cell(&self, group: usize, truth: usize, predicted: usize) -> usize {
        (group * self.classes + truth) * self.classes + predicted
    }

    /// (group, truth, prediction) of every kind of mistake. Of two classes the missed cases come first.
    pub fn mistakes(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        mistakes(self.classes, self.groups)
    }

    /// How the two compare, cell by cell.
    pub fn dominance(&self) -> Dominance {
        Dominance::of(&self.counts().collect::<Vec<_>>())
    }

    /// How many of every kind of mistake, in A and in B.
    fn counts(&self) -> impl Iterator<Item = [u64; 2]> {
        self.mistakes().map(|(group, truth, predicted)| {
            let cell = self.cell(group, truth, predicted);
            [self.a[cell], self.b[cell]]
        })
    }

    /// Whether A has fewer of the first mistake that differs, or less of the first attribute; `None` if all are the same.
    pub fn a_misses_fewer(&self) -> Option<bool> {
        if let Some([a, b]) = &self.values {
            return a.iter().zip(b).find(|(a, b)| a != b).map(|(a, b)| a < b);
        }
        self.mistakes().find_map(|(group, truth, predicted)| {
            let cell = self.cell(group, truth, predicted);
            (self.a[cell] != self.b[cell]).then(|| self.a[cell] < self.b[cell])
        })
    }

    /// How many kinds of mistake differ, or how many attributes.
    pub fn differing(&self) -> usize {
        if let Some([a, b]) = &self.values {
            return a.iter().zip(b).filter(|(a, b)| a != b).count();
        }
        self.counts().filter(|[a, b]| a != b).count()
    }

    /// The same pair with the panels swapped.
    pub fn swapped(&self) -> Self {
        let values = self.values.clone().map(|[a, b]| [b, a]);
        Self { a: self.b.clone(), b: self.a.clone(), values, ..self.clone() }
    }
}

fn mistakes(classes: usize, groups: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..groups).flat_map(move |group| {
        // From the last class on: of two classes the positive one is last, and to miss it is the first mistake.
        (0..classes).rev().flat_map(move |truth| {
            (0..classes).filter(move |&p| p != truth).map(move |predicted| (group, truth, predicted))
        })
    })
}

/// What the points of a study are points of, and how common each class is.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    view: View,
    class_shares: Vec<f64>,
    group_shares: Option<GroupShares>,
    candidates: Option<Candidates>,
}

/// Two numbers are told apart if they differ by at least so many people.
const TOLD_APART: u64 = 3;

/// How far around what rounding gives a pair of whole numbers is looked for that leaves their sum alone.
const AROUND: i64 = 3;

impl Frame {
    /// Points of `view`, classes with these shares.
    pub fn new(view: View, class_shares: Vec<f64>) -> Self {
        Self { view, class_shares, group_shares: None, candidates: None }
    }

    /// Candidates, and points between them: numbers are shown as they are.
    pub fn of_candidates(view: View, candidates: Candidates) -> Self {
        Self { candidates: Some(candidates), ..Self::new(view, vec![]) }
    }

    /// The candidates that have attributes, if it is about them.
    pub fn candidates(&self) -> Option<&Candidates> {
        self.candidates.as_ref()
    }

    /// With groups that have these shares of every class: rows are then overall rates and gaps, not each group's rates.
    pub fn with_groups(self, group_shares: GroupShares) -> Self {
        Self { group_shares: Some(group_shares), ..self }
    }

    /// The groups' shares of every class, if they are known.
    pub fn group_shares(&self) -> Option<&GroupShares> {
        self.group_shares.as_ref()
    }

    /// The rows of a comparison, A and B: how many of every kind of mistake; with two groups, of each kind how many overall
    /// and how many more in one group than in the other.
    pub fn rows(&self, shown: &Shown) -> Vec<[u64; 2]> {
        let Some(shares) = self.group_shares.as_ref().filter(|_| shown.groups == 2) else {
            return shown.counts().collect();
        };
        let kinds = mistakes(shown.classes, 1).flat_map(|(_, truth, predicted)| {
            let of = |cells: &[u64], group: usize| cells[shown.cell(group, truth, predicted)];
            let overall = |cells: &[u64]| {
                let part = |group: usize| shares.get(group, truth) * of(cells, group) as f64;
                (part(0) + part(1)).round() as u64
            };
            let gap = |cells: &[u64]| of(cells, 0).abs_diff(of(cells, 1));
            [[overall(&shown.a), overall(&shown.b)], [gap(&shown.a), gap(&shown.b)]]
        });
        kinds.collect()
    }

    /// How the two compare, row by row of what is shown.
    pub fn dominance(&self, shown: &Shown) -> Dominance {
        match (&self.candidates, &shown.values) {
            (Some(candidates), Some([a, b])) => by_worth(candidates, a, b),
            _ => Dominance::of(&self.rows(shown)),
        }
    }

    /// Whether a pair reads as what it is: two rows differ, by a few each, and neither system is better throughout unless it
    /// is.
    pub fn is_readable(&self, query: &Query, shown: &Shown) -> bool {
        if self.candidates.is_some() {
            return shown.differing() >= 2;
        }
        let rows = self.rows(shown);
        let apart: Vec<u64> = rows.iter().map(|[a, b]| a.abs_diff(*b)).filter(|by| *by > 0).collect();
        let neither = self.exact(query) == Dominance::Neither;
        apart.len() == 2
            && apart.iter().all(|by| *by >= TOLD_APART)
            && (self.group_shares.is_some() || (Dominance::of(&rows) == Dominance::Neither) == neither)
    }

    /// How common each class is.
    pub fn class_shares(&self) -> &[f64] {
        &self.class_shares
    }

    /// What points list.
    pub fn view(&self) -> View {
        self.view
    }

    /// The pair out of the smallest total at which it reads as what it is: at least two kinds of mistake differ, a pair
    /// of which neither is better throughout still reads so, and what is traded for what is off by a tenth at most.
    ///
    /// The last matters beyond G2's letter: 15 false alarms for one missed case out of 1,000 would read as 2 for 1 out of
    /// 100, a question whose answer is known already.
    pub fn show(&self, query: &Query) -> Shown {
        let neither = self.exact(query) == Dominance::Neither;
        let faithful = |shown: &Shown| match neither {
            true => {
                shown.differing() >= 2
                    && shown.dominance() == Dominance::Neither
                    && self.trades_alike(query, shown)
            }
            false => shown.differing() >= 2.min(shown.mistakes().count()),
        };
        let at = |total: u64| self.show_out_of(query, total);
        let small = TOTALS.into_iter().filter(|total| self.serves(*total)).map(at).find(faithful);
        small.unwrap_or_else(|| at(TOTALS[TOTALS.len() - 1]))
    }

    /// Whether the differences as shown are those of the pair, to a tenth of their length; of two classes, whether their
    /// ratio is.
    pub(crate) fn trades_alike(&self, query: &Query, shown: &Shown) -> bool {
        if self.candidates.is_some() {
            return true;
        }
        let rounded = self.query(shown);
        let difference =
            |query: &Query| query.first.iter().zip(&query.second).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (exact, shown) = (difference(query), difference(&rounded));
        if self.view.measure() == Measure::Binary {
            let (found, expected) = (shown[0] * exact[1], exact[0] * shown[1]);
            return (found - expected).abs() <= 0.1 * expected.abs();
        }
        let square = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
        let off: Vec<f64> = exact.iter().zip(&shown).map(|(a, b)| a - b).collect();
        square(&off) <= 0.01 * square(&exact)
    }

    /// The pair out of a given total; the first of the pair is A.
    pub fn show_out_of(&self, query: &Query, total: u64) -> Shown {
        if self.candidates.is_some() {
            return Shown { values: Some([query.first.clone(), query.second.clone()]), ..Shown::default() };
        }
        let [a, mut b] = [&query.first, &query.second].map(|point| self.cells(point, total));
        self.keep_equal(query, &a, &mut b);
        self.keep_overall(query, total, &a, &mut b);
        let (classes, groups) = (self.view.classes(), self.view.groups());
        Shown { people: total, classes, groups, a, b, values: None }
    }

    /// Several classes: mistakes that are equally common in both systems read the same, whatever rounding made of them
    /// (UX-09). What that takes or leaves is put with the people who were predicted right.
    fn keep_equal(&self, query: &Query, a: &[u64], b: &mut [u64]) {
        let k = self.view.classes();
        if k == 2 || self.view.measure() == Measure::GroupRates {
            return;
        }
        for truth in 0..k {
            for (place, predicted) in (0..k).filter(|predicted| *predicted != truth).enumerate() {
                let coordinate = truth * (k - 1) + place;
                if (query.first[coordinate] - query.second[coordinate]).abs() > 1e-12 {
                    continue;
                }
                let (cell, right) = (truth * k + predicted, truth * k + truth);
                if let Some(rest) = (b[right] + b[cell]).checked_sub(a[cell]) {
                    (b[cell], b[right]) = (a[cell], rest);
                }
            }
        }
    }

    /// Two groups: a rate that differs by as much in both leaves their gap alone, and a gap that differs with the overall rate
    /// as it is leaves that alone, whatever rounding made of them.
    fn keep_overall(&self, query: &Query, total: u64, a: &[u64], b: &mut [u64]) {
        let Some(shares) = self.group_shares.as_ref().filter(|_| self.view.groups() == 2) else { return };
        let k = self.view.classes();
        let pairs = (0..k).flat_map(|truth| (0..k).filter(move |p| *p != truth).map(move |p| (truth, p)));
        for (place, (truth, predicted)) in pairs.enumerate() {
            let kinds = query.first.len() / 2;
            let exact = [0, 1].map(|group| {
                let n = group * kinds + place;
                (query.second[n] - query.first[n]) * total as f64
            });
            let share = [0, 1].map(|group| shares.get(group, truth));
            let round = |x: f64| x.round() as i64;
            let steps = if (exact[0] - exact[1]).abs() <= 1e-6 {
                [round(exact[0]); 2]
            } else if (share[0] * exact[0] + share[1] * exact[1]).abs() <= 1e-6 {
                // Whole numbers near by whose weighted sum is nearest to nothing.
                let other = |step: i64| round(-share[0] * step as f64 / share[1]);
                let off = |step: i64| {
                    let sum = share[0] * step as f64 + share[1] * other(step) as f64;
                    sum.abs() + 0.05 * (step as f64 - exact[0]).abs()
                };
                let near = round(exact[0]) - AROUND..=round(exact[0]) + AROUND;
                let step = near.min_by(|x, y| off(*x).total_cmp(&off(*y))).unwrap_or(0);
                [step, other(step)]
            } else {
                continue;
            };
            for (group, step) in steps.into_iter().enumerate() {
                let (cell, right) = ((group * k + truth) * k + predicted, (group * k + truth) * k + truth);
                let both = b[cell] + b[right];
                let wanted = (a[cell] as i64 + step).clamp(0, both as i64) as u64;
                (b[cell], b[right]) = (wanted, both - wanted);
            }
        }
    }

    /// Whether a pair is one of this study's: of as many classes and groups, with points of as many entries, and somebody in
    /// every class. What was recorded for another study is not.
    pub fn fits(&self, query: &Query, shown: &Shown) -> bool {
        let point =
            |point: &[f64]| point.len() == self.view.dimension() && point.iter().all(|x| x.is_finite());
        let points = point(&query.first) && point(&query.second);
        if self.candidates.is_some() {
            return points
                && shown.values.as_ref().is_some_and(|values| values.iter().all(|values| point(values)));
        }
        let (classes, groups) = (self.view.classes(), self.view.groups());
        let peopled = |row: &[u64]| row.iter().any(|count| *count > 0);
        let binary = self.view.measure() == Measure::Binary;
        let cells = |cells: &[u64]| {
            cells.len() == classes * classes * groups && (binary || cells.chunks(classes).all(peopled))
        };
        points
            && (shown.classes, shown.groups) == (classes, groups)
            && shown.people > 0
            && cells(&shown.a)
            && cells(&shown.b)
    }

    /// A shown pair as points, A first; the pair must [fit](Self::fits).
    pub fn query(&self, shown: &Shown) -> Query {
        if let Some([a, b]) = &shown.values {
            return Query::new(a.clone(), b.clone());
        }
        Query::new(self.point(shown, &shown.a), self.point(shown, &shown.b))
    }

    /// Whether every class has somebody in it.
    pub(crate) fn serves(&self, total: u64) -> bool {
        self.class_totals(total).iter().all(|people| *people > 0)
    }

    fn class_totals(&self, total: u64) -> Vec<u64> {
        match self.view.measure() {
            Measure::GroupRates => vec![total; self.view.classes()],
            _ => largest_remainder(total, &self.class_shares),
        }
    }

    /// Which is better throughout before rounding.
    fn exact(&self, query: &Query) -> Dominance {
        if let Some(candidates) = &self.candidates {
            return by_worth(candidates, &query.first, &query.second);
        }
        let sign = if self.view.measure().lists_errors() { -1.0 } else { 1.0 };
        let more = |x: &[f64], y: &[f64]| x.iter().zip(y).any(|(x, y)| sign * (x - y) > 1e-12);
        match (more(&query.first, &query.second), more(&query.second, &query.first)) {
            (true, true) => Dominance::Neither,
            (true, false) => Dominance::A,
            (false, true) => Dominance::B,
            (false, false) => Dominance::Same,
        }
    }

    /// Per group and truth, the shares of the predictions.
    fn rates(&self, point: &[f64]) -> Vec<Vec<f64>> {
        let k = self.view.classes();
        let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
        match self.view.measure() {
            Measure::Binary => {
                let [found, cleared] =
                    [share(point[0], self.class_shares[1]), share(point[1], self.class_shares[0])];
                vec![vec![cleared, 1.0 - cleared], vec![1.0 - found, found]]
            }
            _ => point
                .chunks(k * k - k)
                .flat_map(|errors| {
                    // A point a rounding error outside is taken for the nearest inside.
                    let errors: Vec<f64> = errors.iter().map(|error| error.max(0.0)).collect();
                    errors
                        .chunks(k - 1)
                        .enumerate()
                        .map(|(truth, row)| {
                            let sum: f64 = row.iter().sum();
                            let scale = if sum > 1.0 { 1.0 / sum } else { 1.0 };
                            let mut rates: Vec<f64> = row.iter().map(|error| error * scale).collect();
                            rates.insert(truth, (1.0 - sum).max(0.0));
                            rates
                        })
                        .collect::<Vec<_>>()
                })
                .collect(),
        }
    }

    fn cells(&self, point: &[f64], total: u64) -> Vec<u64> {
        let totals = self.class_totals(total);
        let rows = self.rates(point).into_iter().enumerate();
        rows.flat_map(|(row, rates)| largest_remainder(totals[row % totals.len()], &rates)).collect()
    }

    fn point(&self, shown: &Shown, cells: &[u64]) -> Point {
        let k = self.view.classes();
        if self.view.measure() == Measure::Binary {
            return [cells[3], cells[0]].map(|count| count as f64 / shown.people as f64).to_vec();
        }
        cells
            .chunks(k * k)
            .flat_map(|group| {
                let rows = group.chunks(k).flat_map(|row| {
                    let people = row.iter().sum::<u64>().max(1) as f64;
                    row.iter().map(|count| *count as f64 / people).collect::<Vec<_>>()
                });
                let rates = Rates::new(k, rows.collect()).expect("shares of whole numbers");
                rates.off_diagonal()
            })
            .collect()
    }
}

/// How two candidates compare, attribute by attribute.
fn by_worth(candidates: &Candidates, a: &[f64], b: &[f64]) -> Dominance {
    let worths = candidates.attributes().iter().zip(a.iter().zip(b));
    let worths: Vec<[f64; 2]> =
        worths.map(|(attribute, (a, b))| [*a, *b].map(|x| attribute.worth(x))).collect();
    match (worths.iter().any(|[a, b]| a > b), worths.iter().any(|[a, b]| b > a)) {
        (true, true) => Dominance::Neither,
        (true, false) => Dominance::A,
        (false, true) => Dominance::B,
        (false, false) => Dominance::Same,
    }
}

/// Whole numbers in proportion to `shares` that sum to `total`: round down, then one more for the largest fractions.
pub fn largest_remainder(total: u64, shares: &[f64]) -> Vec<u64> {
    let sum: f64 = shares.iter().sum();
    let exact: Vec<f64> = shares.iter().map(|share| share / sum * total as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|x| x.floor() as u64).collect();
    let mut by_fraction: Vec<usize> = (0..shares.len()).collect();
    // Ties go to the earlier one, so that the same point always reads the same.
    by_fraction.sort_by(|&i, &j| (exact[j] - exact[j].floor()).total_cmp(&(exact[i] - exact[i].floor())));
    let missing = total.saturating_sub(counts.iter().sum());
    for &i in by_fraction.iter().cycle().take(missing as usize) {
        counts[i] += 1;
    }
    // Rounding errors of the shares can only ever add up to one too many; take it from the largest.
    while counts.iter().sum::<u64>() > total {
        let largest = (0..counts.len()).max_by_key(|&i| counts[i]).unwrap_or(0);
        counts[largest] -= 1;
    }
    counts
}
