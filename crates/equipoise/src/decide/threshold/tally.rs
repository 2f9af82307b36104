//! What a threshold accepts, class by class and group by group.

use crate::error::{Error, Result, check, refuse};
use crate::metric::Metric;
use crate::population::{Cell, Profile, accepts};
use crate::rates::GroupConfusions;
use crate::view::{Measure, View};

/// Total weight and accepted weight of each class within each group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tally {
    pub totals: Vec<[f64; 2]>,
    pub accepted: Vec<[f64; 2]>,
}

impl Profile {
    /// The share of the positive class, by weight.
    pub fn positive_prior(&self) -> f64 {
        let tally = self.tally(&self.masses());
        let [negative, positive] = tally.overall_totals();
        positive / (negative + positive)
    }

    /// The confusion matrix of the rule that accepts scores of at least `threshold`.
    pub fn confusions_at(&self, threshold: f64) -> Result<GroupConfusions> {
        let mut tally = self.tally(&self.masses());
        for cell in self.cells().iter().take_while(|cell| accepts(cell.score, threshold)) {
            tally.accept(cell, cell.mass());
        }
        tally.confusions()
    }

    /// The totals, with nothing accepted yet. Summed by falling score, so that accepting all gives them exactly.
    pub(super) fn tally(&self, masses: &[f64]) -> Tally {
        let mut totals = vec![[0.0; 2]; self.groups()];
        for (cell, mass) in self.cells().iter().zip(masses) {
            totals[usize::from(cell.group)][usize::from(cell.positive)] += mass;
        }
        Tally { accepted: vec![[0.0; 2]; totals.len()], totals }
    }

    /// Says what keeps the metric from having a value on this sample, if anything does.
    pub(super) fn check_metric(&self, metric: &Metric) -> Result<()> {
        let view = metric.view();
        refuse!(
            view.measure() == Measure::Attributes,
            "the metric is about attributes, expected one of classification errors for a threshold"
        );
        refuse!(view.classes() != 2, "the metric has {} classes, expected 2 for a threshold", view.classes());
        if view.measure() == Measure::GroupRates {
            check::length("groups of the sample", self.groups(), view.groups())?;
            for (group, totals) in self.tally(&self.masses()).totals.iter().enumerate() {
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

impl Tally {
    pub fn accept(&mut self, cell: &Cell, mass: f64) {
        self.accepted[usize::from(cell.group)][usize::from(cell.positive)] += mass;
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
            // Refused before anything is counted.
            Measure::Attributes => {}
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
