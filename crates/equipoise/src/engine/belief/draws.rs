//! Weights drawn from the posterior itself, not from the Gaussian that stands for it.
//!
//! A Gaussian has draws on the wrong side of a comparison that has been answered. For the direction of the weights that
//! does not matter; for which of two models that were compared is the better one, it does. So draws come from a walk
//! along random lines in the shape of the Gaussian, whose steps leave the posterior as it is.

use super::sites::Sites;
use super::slice::slide;
use crate::engine::probit::{Probit, Said};
use crate::linalg::{applied, cholesky, dot, normals, plus};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Lines walked before the first draw, per weight.
const BEFORE: usize = 10;

/// How far a step along a line may go, in standard deviations.
const WIDTH: f64 = 4.0;

/// Weights drawn from the posterior; the same seed gives the same draws.
pub fn draws(posterior: &Sites, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let d = posterior.dimension();
    let Some(shape) = cholesky(posterior.covariance()) else { return vec![posterior.mean().to_vec(); count] };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut walk = Walk::new(posterior);
    let mut step = |walk: &mut Walk| {
        let along = applied(&shape, &normals(d, &mut random));
        walk.slide(&along, &mut random);
    };
    (0..BEFORE * d).for_each(|_| step(&mut walk));
    // Neighbouring draws may be alike, but all together they are a fair sample.
    let between = d.div_ceil(2);
    let mut draw = || {
        (0..between).for_each(|_| step(&mut walk));
        walk.weights.clone()
    };
    (0..count).map(|_| draw()).collect()
}

/// Where the walk is, and what every piece of evidence says there.
struct Walk<'a> {
    prior_precision: f64,
    evidence: Vec<(&'a [f64], Probit, Said)>,
    weights: Vec<f64>,
    /// $t = \langle w, \theta\rangle$ of every piece of evidence.
    values: Vec<f64>,
    log: f64,
}

impl<'a> Walk<'a> {
    fn new(posterior: &'a Sites) -> Self {
        let weights = posterior.mean().to_vec();
        let evidence: Vec<(&[f64], Probit, Said)> = posterior.evidence().collect();
        let values: Vec<f64> = evidence.iter().map(|(w, _, _)| dot(w, &weights)).collect();
        let prior_precision = posterior.prior_precision();
        let mut walk = Self { prior_precision, evidence, weights, values, log: 0.0 };
        walk.log = walk.log_density(&walk.weights, &walk.values, f64::NEG_INFINITY);
        walk
    }

    /// Slice sampling along a line.
    fn slide(&mut self, along: &[f64], random: &mut Xoshiro256PlusPlus) {
        let slopes: Vec<f64> = self.evidence.iter().map(|(w, _, _)| dot(w, along)).collect();
        let found = slide(self.log, WIDTH, usize::MAX, random, |step, level| {
            let (weights, values) = (plus(&self.weights, step, along), plus(&self.values, step, &slopes));
            let log = self.log_density(&weights, &values, level);
            (log, (weights, values))
        });
        if let Some((log, (weights, values))) = found {
            (self.weights, self.values, self.log) = (weights, values, log);
        }
    }

    /// The logarithm of the posterior density; `NEG_INFINITY` as soon as it is below `level`.
    fn log_density(&self, weights: &[f64], values: &[f64], level: f64) -> f64 {
        let mut log = -0.5 * self.prior_precision * dot(weights, weights);
        for ((_, probit, said), t) in self.evidence.iter().zip(values) {
            log += probit.log_chance(*said, *t);
            if log < level {
                return f64::NEG_INFINITY;
            }
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_agree_with_what_was_said() {
        // Two weights, both positive, the first more than twice the second: directions below atan(1/2), all equally likely.
        let mut posterior = Sites::new(2, 1.0);
        posterior.add(vec![1.0, 0.0], Probit::CERTAIN, Said::Positive);
        posterior.add(vec![0.0, 1.0], Probit::CERTAIN, Said::Positive);
        posterior.add(vec![1.0, -2.0], Probit { variance: 1e-8, ..Probit::CERTAIN }, Said::Positive);
        posterior.settle(100, 1e-6);
        let drawn = draws(&posterior, 4000, 3);
        let angles: Vec<f64> = drawn.iter().map(|w| w[1].atan2(w[0])).collect();
        let edge = 0.5_f64.atan();
        assert!(angles.iter().all(|angle| (-1e-9..edge + 1e-3).contains(angle)));
        let mean = angles.iter().sum::<f64>() / 4000.0;
        assert!((mean - 0.5 * edge).abs() < 0.02, "{mean}");
        let lengths = drawn.iter().map(|w| dot(w, w)).sum::<f64>() / 4000.0;
        assert!((lengths - 2.0).abs() < 0.25, "{lengths}");
    }
}
