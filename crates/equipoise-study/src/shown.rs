//! Two systems as people read them: whole numbers of people, out of a round total (G2).
//!
//! True-class totals are rounded first, by largest remainder, and then the cells within each class. So cells sum to
//! the total exactly, and both systems of a pair are about the same people.

use equipoise::{Measure, Point, Query, Rates, View};
use serde::{Deserialize, Serialize};

/// Totals a pair may be shown out of. The first three are those people are asked with; the others are for pairs so
/// close that nothing smaller tells them apart.
pub const TOTALS: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// A pair in whole numbers. Cells are group by group, truth by truth, and of each truth the predictions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

    /// How the two compare.
    pub fn dominance(&self) -> Dominance {
        let (mut fewer_a, mut fewer_b) = (false, false);
        for (group, truth, predicted) in self.mistakes() {
            let cell = self.cell(group, truth, predicted);
            fewer_a |= self.a[cell] < self.b[cell];
            fewer_b |= self.b[cell] < self.a[cell];
        }
        match (fewer_a, fewer_b) {
            (true, true) => Dominance::Neither,
            (true, false) => Dominance::A,
            (false, true) => Dominance::B,
            (false, false) => Dominance::Same,
        }
    }

    /// Whether A has fewer of the first mistake that differs; `None` if all are the same.
    pub fn a_misses_fewer(&self) -> Option<bool> {
        self.mistakes().find_map(|(group, truth, predicted)| {
            let cell = self.cell(group, truth, predicted);
            (self.a[cell] != self.b[cell]).then(|| self.a[cell] < self.b[cell])
        })
    }

    /// How many kinds of mistake differ.
    pub fn differing(&self) -> usize {
        self.mistakes()
            .filter(|&(g, t, p)| {
                let cell = self.cell(g, t, p);
                self.a[cell] != self.b[cell]
            })
            .count()
    }

    /// The same pair with the panels swapped.
    pub fn swapped(&self) -> Self {
        Self { a: self.b.clone(), b: self.a.clone(), ..self.clone() }
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
}

impl Frame {
    /// Points of `view`, classes with these shares.
    pub fn new(view: View, class_shares: Vec<f64>) -> Self {
        Self { view, class_shares }
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
    fn trades_alike(&self, query: &Query, shown: &Shown) -> bool {
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
        let [a, mut b] = [&query.first, &query.second].map(|point| self.cells(point, total));
        self.keep_equal(query, &a, &mut b);
        Shown { people: total, classes: self.view.classes(), groups: self.view.groups(), a, b }
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

    /// Whether a pair is one of this study's: of as many classes and groups, with points of as many entries, and somebody in
    /// every class. What was recorded for another study is not.
    pub fn fits(&self, query: &Query, shown: &Shown) -> bool {
        let (classes, groups) = (self.view.classes(), self.view.groups());
        let peopled = |row: &[u64]| row.iter().any(|count| *count > 0);
        let binary = self.view.measure() == Measure::Binary;
        let cells = |cells: &[u64]| {
            cells.len() == classes * classes * groups && (binary || cells.chunks(classes).all(peopled))
        };
        let point =
            |point: &[f64]| point.len() == self.view.dimension() && point.iter().all(|x| x.is_finite());
        (shown.classes, shown.groups) == (classes, groups)
            && shown.people > 0
            && cells(&shown.a)
            && cells(&shown.b)
            && point(&query.first)
            && point(&query.second)
    }

    /// A shown pair as points, A first; the pair must [fit](Self::fits).
    pub fn query(&self, shown: &Shown) -> Query {
        Query::new(self.point(shown, &shown.a), self.point(shown, &shown.b))
    }

    /// Whether every class has somebody in it.
    fn serves(&self, total: u64) -> bool {
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
