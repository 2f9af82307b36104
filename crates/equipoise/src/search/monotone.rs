//! Any metric that grows with every class's correct predictions: its best classifier and the weights there.
//!
//! Section 4.4.3 applies Algorithm 4.1 to such metrics. On a face all classes but two have no correct predictions,
//! so what the faces reveal need not be what holds at the best classifier (a geometric mean is zero on all of
//! them). We search over the weights of unrestricted classifiers $\arg\max_i a_i\eta_i(x)$ instead, one weight at
//! a time: at the best classifier the tangent's weights are those of the metric's linear approximation.

use super::diagonal::weighted_accuracy;
use super::interval::{Halving, Interval, checked_tolerance};
use crate::ask::{Finding, Oracle, Outcome, Plan, Query};
use crate::document::Object;
use crate::error::{Result, check, refuse};
use crate::space::{Diagonal, Space};
use serde::Serialize;

/// Elicits the local weighted accuracy of a monotone metric at its best classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MonotoneDiagonal {
    pub(crate) space: Diagonal,
    tolerance: f64,
    queries_per_halving: Halving,
    cycles: usize,
}

impl MonotoneDiagonal {
    /// Three cycles over the weights, four questions per halving.
    ///
    /// The space must know the best of all classifiers; the faces of data with three classes or more do not.
    pub fn new(space: Diagonal, tolerance: f64) -> Result<Self> {
        refuse!(
            !space.is_whole(),
            "a monotone metric needs classifiers that predict every class, \
                        and the space has only those that predict two"
        );
        let tolerance = checked_tolerance(tolerance)?;
        Ok(Self { space, tolerance, queries_per_halving: Halving::Four, cycles: 3 })
    }

    /// How often every weight is searched.
    pub fn cycles(self, cycles: usize) -> Result<Self> {
        let ok = (1..=100).contains(&cycles);
        check::number("cycles", cycles as f64, ok, "a whole number from 1 to 100")?;
        Ok(Self { cycles, ..self })
    }

    /// Three or four questions per halving.
    pub fn queries_per_halving(self, queries_per_halving: Halving) -> Self {
        Self { queries_per_halving, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Diagonal) -> Result<Self> {
        object.word("method", &["paper"], "paper")?;
        let tolerance = object.or("tolerance", 0.01)?;
        let mut plan = crate::document::at(&object.place(), Self::new(space, tolerance))?;
        plan.queries_per_halving = object.or("queries_per_halving", plan.queries_per_halving)?;
        plan = object.change("cycles", plan, Self::cycles)?;
        object.finish()?;
        Ok(plan)
    }
}

impl Plan for MonotoneDiagonal {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        // Weights of balanced accuracy: every class has a chance to be predicted.
        let mut weights: Vec<f64> = self.space.class_priors().iter().map(|z| 1.0 / z).collect();
        for turn in 0..self.cycles * (weights.len() - 1) {
            let class = 1 + turn % (weights.len() - 1);
            let line = Line { space: &self.space, weights: &weights, class };
            let found = line.informative().search(self.tolerance, self.queries_per_halving, |x, y| {
                let [first, second] = [x, y].map(|share| line.point(share));
                Ok(oracle.prefer(&Query::new(first, second))?.preference.is_first())
            })?;
            weights = line.with(found.middle());
        }
        Ok(Outcome { metric: weighted_accuracy(&self.space, &weights), findings: vec![Finding::Local] })
    }
}

/// The classifiers reached by moving one class's weight, as a share of its weight and class 0's.
struct Line<'a> {
    space: &'a Diagonal,
    weights: &'a [f64],
    class: usize,
}

impl Line<'_> {
    fn with(&self, share: f64) -> Vec<f64> {
        let mut weights = self.weights.to_vec();
        weights[self.class] = weights[0] * share / (1.0 - share).max(1e-12);
        weights
    }

    fn point(&self, share: f64) -> Vec<f64> {
        self.space.best(&self.with(share))
    }

    /// The shares for which every class is predicted at times. Beyond them a metric may be constant (a geometric mean
    /// is 0 there), and comparisons would lead nowhere.
    fn informative(&self) -> Interval {
        let steps = 64;
        let share = |n: usize| n as f64 / f64::from(steps);
        let all_predicted = |n: &usize| self.point(share(*n)).iter().all(|&d| d > 0.0);
        let inside: Vec<usize> = (1..steps as usize).filter(all_predicted).collect();
        match (inside.first(), inside.last()) {
            (Some(first), Some(last)) => Interval::new(share(first - 1), share(last + 1)),
            _ => Interval::new(0.0, 1.0),
        }
    }
}
