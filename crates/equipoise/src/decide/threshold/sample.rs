//! Scored rows with their true classes, sorted once.

use crate::error::{Error, Result, check};
use crate::metric::Metric;
use crate::rates::GroupConfusions;
use crate::view::{Measure, View};

/// Rows with a score, a true class (1 is the positive one), and optionally a weight and a group.
///
/// The larger the score, the likelier the positive class. A threshold t accepts the rows with a score of at least t.
///
/// ```
/// use equipoise::{Metric, decide::threshold::Sample};
/// let sample = Sample::new(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1])?;
/// let best = sample.best(&Metric::accuracy(2)?, &[])?.found().unwrap();
/// assert_eq!((best.value, best.cut.accepted), (0.75, 1));
/// assert!((best.cut.threshold - 0.6).abs() < 1e-12);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The rows by falling score.
    pub(super) rows: Vec<Row>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) groups: usize,
}

/// One row; `row` is its place in the caller's lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub score: f64,
    pub row: usize,
    pub class: u8,
    pub group: u16,
}

/// Total weight and accepted weight of each class within each group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tally {
    pub totals: Vec<[f64; 2]>,
    pub accepted: Vec<[f64; 2]>,
}

impl Sample {
    /// From a finite score and a class code, 0 or 1, for every row. Both classes must occur.
    pub fn new(scores: &[f64], truth: &[u8]) -> Result<Self> {
        check::at_least("the number of scores", scores.len(), 1, "at least 1")?;
        check::length("truth", truth.len(), scores.len())?;
        check::all_finite("scores", scores)?;
        if let Some(row) = truth.iter().position(|&class| class > 1) {
            let (field, value) = (format!("truth[{row}]"), f64::from(truth[row]));
            return Err(Error::Number { field, value, expected: "class 0 or 1" });
        }
        for class in [0, 1] {
            if !truth.contains(&class) {
                return Err(Error::Mismatch(format!(
                    "truth has no row of class {class}, expected both classes"
                )));
            }
        }
        let mut rows: Vec<Row> = (scores.iter().zip(truth).enumerate())
            .map(|(row, (&score, &class))| Row { score, row, class, group: 0 })
            .collect();
        rows.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(std::cmp::Ordering::Equal));
        Ok(Self { rows, weights: None, groups: 1 })
    }

    /// The same rows with weights of at least 0; both classes must keep some.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self> {
        self.check_weights(weights)?;
        self.weights = Some(weights.to_vec());
        Ok(self)
    }

    /// The same rows in groups, with codes below `groups`.
    pub fn with_groups(mut self, codes: &[u16], groups: usize) -> Result<Self> {
        check::length("groups", codes.len(), self.rows.len())?;
        check::at_least("the number of groups", groups, 1, "at least 1")?;
        for row in &mut self.rows {
            row.group = codes[row.row];
            if usize::from(row.group) >= groups {
                let what = format!("groups[{}] is {}, expected a code below {groups}", row.row, row.group);
                return Err(Error::Mismatch(what));
            }
        }
        self.groups = groups;
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Number of groups; 1 without groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The share of the positive class, by weight.
    pub fn positive_prior(&self) -> f64 {
        let tally = self.tally(self.weights.as_deref());
        let [negative, positive] = tally.overall_totals();
        positive / (negative + positive)
    }

    /// The confusion matrix of the rule that accepts scores of at least `threshold`.
    pub fn confusions_at(&self, threshold: f64) -> Result<GroupConfusions> {
        let mut tally = self.tally(self.weights.as_deref());
        for row in self.rows.iter().take_while(|row| row.score >= threshold) {
            tally.accept(row, weight(self.weights.as_deref(), row));
        }
        tally.confusions()
    }

    pub(super) fn check_weights(&self, weights: &[f64]) -> Result<()> {
        check::length("weights", weights.len(), self.rows.len())?;
        check::nonnegative("weights", weights)?;
        let totals = self.tally(Some(weights)).overall_totals();
        for (class, total) in totals.into_iter().enumerate() {
            let ok = total > 0.0 && total.is_finite();
            check::number(
                &format!("the total weight of class {class}"),
                total,
                ok,
                "a finite number above 0",
            )?;
        }
        Ok(())
    }

    /// The totals, with nothing accepted yet. Summed by falling score, so that accepting all gives them exactly.
    pub(super) fn tally(&self, weights: Option<&[f64]>) -> Tally {
        let mut totals = vec![[0.0; 2]; self.groups];
        for row in &self.rows {
            totals[usize::from(row.group)][usize::from(row.class)] += weight(weights, row);
        }
        Tally { accepted: vec![[0.0; 2]; totals.len()], totals }
    }

    /// Says what keeps the metric from having a value on this sample, if anything does.
    pub(super) fn check_metric(&self, metric: &Metric) -> Result<()> {
        let view = metric.view();
        if view.classes() != 2 {
            let what = format!("the metric has {} classes, expected 2 for a threshold", view.classes());
            return Err(Error::Mismatch(what));
        }
        if view.measure() == Measure::GroupRates {
            check::length("groups of the sample", self.groups, view.groups())?;
            for (group, totals) in self.tally(self.weights.as_deref()).totals.iter().enumerate() {
                if let Some(class) = totals.iter().position(|&total| total <= 0.0) {
                    let what =
                        format!("class {class} never occurs in group {group}, so it has no rates there");
                    return Err(Error::Mismatch(what));
                }
            }
        }
        Ok(())
    }
}

/// The weight of a row, 1 without weights.
pub(super) fn weight(weights: Option<&[f64]>, row: &Row) -> f64 {
    weights.map_or(1.0, |weights| weights[row.row])
}

impl Tally {
    pub fn accept(&mut self, row: &Row, weight: f64) {
        self.accepted[usize::from(row.group)][usize::from(row.class)] += weight;
    }

    pub fn overall_totals(&self) -> [f64; 2] {
        [0, 1].map(|class| self.totals.iter().map(|group| group[class]).sum())
    }

    fn overall_accepted(&self) -> [f64; 2] {
        [0, 1].map(|class| self.accepted.iter().map(|group| group[class]).sum())
    }

    /// The weight of rows of class `truth` in a group that are predicted `estimate`.
    pub fn cell(&self, group: usize, truth: usize, estimate: usize) -> f64 {
        let (total, accepted) = (self.totals[group][truth], self.accepted[group][truth]);
        if estimate == 1 { accepted } else { (total - accepted).max(0.0) }
    }

    /// Reads the point of a view of two classes off, without building a matrix.
    pub fn point(&self, view: &View, point: &mut Vec<f64>) {
        point.clear();
        let rates = |[t0, t1]: [f64; 2], [a0, a1]: [f64; 2]| [a0 / t0, (t1 - a1).max(0.0) / t1];
        if view.measure() == Measure::GroupRates {
            for (totals, accepted) in self.totals.iter().zip(&self.accepted) {
                point.extend(rates(*totals, *accepted));
            }
            return;
        }
        let (totals, accepted) = (self.overall_totals(), self.overall_accepted());
        let all = totals[0] + totals[1];
        let (tn, tp) = ((totals[0] - accepted[0]).max(0.0), accepted[1]);
        match view.measure() {
            Measure::Binary => point.extend([tp / all, tn / all]),
            Measure::Diagonal => point.extend([tn / all, tp / all]),
            Measure::OffDiagonal => point.extend([accepted[0] / all, (totals[1] - tp).max(0.0) / all]),
            Measure::DiagonalRates => point.extend([tn / totals[0], tp / totals[1]]),
            Measure::OffDiagonalRates | Measure::GroupRates => point.extend(rates(totals, accepted)),
        }
    }

    pub fn confusions(&self) -> Result<GroupConfusions> {
        let [negative, positive] = self.overall_totals();
        let all = negative + positive;
        let entry = |g: usize, n: usize| self.cell(g, n / 2, n % 2) / all;
        let groups = (0..self.totals.len()).map(|g| (0..4).map(|n| entry(g, n)).collect());
        GroupConfusions::new(2, groups.collect())
    }
}
