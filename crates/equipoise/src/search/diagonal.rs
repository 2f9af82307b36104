//! Many classes, weighted accuracy: $\psi = \langle a, d \rangle$ on the diagonal (Algorithm 4.1).

use super::interval::{Halving, Interval, checked_tolerance};
use crate::ask::{Finding, Oracle, Outcome, Plan, Query};
use crate::document::{self, Object};
use crate::error::Result;
use crate::metric::{Metric, Sense};
use crate::space::{Diagonal, Space};
use serde::Serialize;
use std::f64::consts::FRAC_PI_2;

/// Elicits the weights of correct predictions, class by class against class 0.
///
/// Each search asks about classifiers that predict two classes only (Proposition 4.2). Where the likelihood ratio
/// of the two is bounded the set has corners: weights that lie there are reported as a range.
pub type DiagonalLinear = OverFaces<false>;

/// A plan that searches on every face: [`DiagonalLinear`], or for fractions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverFaces<const FRACTIONAL: bool> {
    pub(crate) space: Diagonal,
    pub(super) tolerance: f64,
    pub(super) queries_per_halving: Halving,
}

impl<const FRACTIONAL: bool> OverFaces<FRACTIONAL> {
    /// Four questions per halving of the weight share.
    pub fn new(space: Diagonal, tolerance: f64) -> Result<Self> {
        Ok(Self { space, tolerance: checked_tolerance(tolerance)?, queries_per_halving: Halving::Four })
    }

    /// Three or four questions per halving.
    pub fn queries_per_halving(self, queries_per_halving: Halving) -> Self {
        Self { queries_per_halving, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Diagonal) -> Result<Self> {
        object.word("method", &["paper"], "paper")?;
        let tolerance = object.or("tolerance", 0.01)?;
        let mut plan = document::at(&object.place(), Self::new(space, tolerance))?;
        plan.queries_per_halving = object.or("queries_per_halving", plan.queries_per_halving)?;
        object.finish()?;
        Ok(plan)
    }
}

impl Plan for DiagonalLinear {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let mut weights = vec![1.0];
        let mut findings = vec![];
        for class in 1..self.space.classes() {
            let face = Face { space: &self.space, class, tolerance: self.tolerance };
            let share = face.best_share(self.queries_per_halving, oracle)?;
            findings.extend(face.flatness(share));
            // Line 10: a_i = (1 - m) / m with a_1 = 1.
            let m = share.middle();
            weights.push((1.0 - m) / m);
        }
        Ok(Outcome { metric: weighted_accuracy(&self.space, &weights), findings })
    }
}

/// Weights as a metric that sums to 1.
pub(super) fn weighted_accuracy(space: &Diagonal, weights: &[f64]) -> Metric {
    let total: f64 = weights.iter().sum();
    let weights = weights.iter().map(|a| a / total).collect();
    Metric::linear(space.view(), Sense::Utility, weights).expect("positive weights")
}

/// The face of classes 0 and `class`, parametrised by the share m of class 0's weight.
pub(super) struct Face<'a> {
    pub space: &'a Diagonal,
    pub class: usize,
    pub tolerance: f64,
}

impl Face<'_> {
    /// $\nu^+(m)$: the point of the face to ask about for weights (m, 1 - m).
    fn upper(&self, m: f64) -> [f64; 2] {
        self.space.facing(self.class, [m, 1.0 - m])
    }

    /// $\nu^-(m)$: the same on the lower boundary.
    fn lower(&self, m: f64) -> [f64; 2] {
        self.space.facing(self.class, [-m, m - 1.0])
    }

    /// Algorithm 4.1, lines 3 to 9.
    pub fn best_share<O: Oracle>(&self, halving: Halving, oracle: &mut O) -> Result<Interval, O::Err> {
        Interval::new(0.0, 1.0).search(self.tolerance, halving, |x, y| {
            let [first, second] = [x, y].map(|m| self.space.lift(self.class, self.upper(m)));
            Ok(oracle.prefer(&Query::new(first, second))?.preference.is_first())
        })
    }

    /// Algorithm 4.3: the worst share, on the lower boundary with answers inverted.
    pub fn worst_share<O: Oracle>(&self, halving: Halving, oracle: &mut O) -> Result<Interval, O::Err> {
        Interval::new(0.0, 1.0).search(self.tolerance, halving, |x, y| {
            let [first, second] = [y, x].map(|m| self.space.lift(self.class, self.lower(m)));
            Ok(oracle.prefer(&Query::new(first, second))?.preference.is_first())
        })
    }

    /// The range of weight ratios that all lead to the point found, if the search ended at a corner.
    pub fn flatness(&self, found: Interval) -> Option<Finding> {
        let ratio = |m: f64| (1.0 - m) / m;
        if let Some(corner) = self.corner(found.middle()) {
            return Some(corner);
        }
        let flat = Interval::new(0.0, 1.0).flat_end(found, |m| self.upper(m))?;
        let high = (flat.low > 0.0).then(|| ratio(flat.low));
        Some(Finding::FlatFace { class: self.class, low: ratio(flat.high), high })
    }

    /// On a polygon, the weight ratios that lead to the same corner, if the search would tell them apart.
    fn corner(&self, m: f64) -> Option<Finding> {
        let [low, high] = self.space.corner(self.class, [m, 1.0 - m])?;
        let (low, high) = (low.max(0.0), high.min(FRAC_PI_2));
        let share = |angle: f64| angle.cos() / (angle.cos() + angle.sin());
        let wide = share(low) - share(high) > self.tolerance;
        let top = (high < FRAC_PI_2).then(|| high.tan());
        wide.then_some(Finding::FlatFace { class: self.class, low: low.tan(), high: top })
    }
}
