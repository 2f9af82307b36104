//! What people are like before they answer: how they weigh, and how they err.

#[cfg(any(test, feature = "testing"))]
mod learned;

use super::log_weights::Person;
use crate::ask::NoiseModel;
use crate::linalg::{Matrix, applied, dot, normals, plus};
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The population of people who are asked around an operating point: half of them go by ratios, half by differences, with
/// slopes around these (and spread by this factor's logarithm), and slips that are rare for most and up to one answer in four.
const RATIO_SLOPE: f64 = 3.0;
const DIFFERENCE_SLOPE: f64 = 8.0;
const SPREAD: f64 = 0.8;
const MOST_SLIPS: f64 = 0.25;

/// What people are like before they answer.
#[derive(Debug, Clone)]
pub struct Prior {
    /// Of the logarithms of weights; without it, weights are sizes of normal numbers.
    weights: Option<Bell>,
    /// The share of those who go by ratios.
    by_ratio: f64,
    /// The middle and the spread of the logarithms of slopes, of those who go by differences and by ratios.
    slopes: [[f64; 2]; 2],
    /// How fast the roots of shares of slips grow rarer: their density falls as $e^{-k x}$ between 0 and 1.
    careful: f64,
}

/// A normal distribution.
#[derive(Debug, Clone)]
struct Bell {
    mean: Vec<f64>,
    root: Matrix,
    precision: Matrix,
}

impl Prior {
    /// The stated population.
    pub fn people() -> Self {
        Self {
            weights: None,
            by_ratio: 0.5,
            slopes: [[DIFFERENCE_SLOPE.ln(), SPREAD], [RATIO_SLOPE.ln(), SPREAD]],
            careful: 0.0,
        }
    }

    /// Logarithms of weights.
    pub(super) fn logs(&self, dimension: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let drawn = normals(dimension, random);
        match &self.weights {
            None => drawn.iter().map(|w| w.abs().max(1e-12).ln()).collect(),
            Some(bell) => plus(&bell.mean, 1.0, &applied(&bell.root, &drawn)),
        }
    }

    /// How likely somebody weighs like this: the logarithm, up to a constant.
    pub(super) fn of_weights(&self, person: &Person) -> f64 {
        match &self.weights {
            None => {
                let of_weight = |(log, w): (&f64, &f64)| log - 0.5 * w * w;
                person.logs.iter().zip(&person.weights).map(of_weight).sum::<f64>()
            }
            Some(bell) => {
                let from = plus(&person.logs, -1.0, &bell.mean);
                -0.5 * dot(&from, &applied(&bell.precision, &from))
            }
        }
    }
}

/// How one person errs: by ratios or differences, the logarithm of the slope, and the root of the share of slips.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Erring {
    pub by_ratio: bool,
    pub log_slope: f64,
    pub slips: f64,
}

impl Erring {
    pub fn draw(prior: &Prior, random: &mut Xoshiro256PlusPlus) -> Self {
        let by_ratio = random.random_bool(prior.by_ratio);
        let [middle, spread] = prior.slopes[usize::from(by_ratio)];
        let log_slope = middle + spread * normals(1, random)[0];
        let uniform: f64 = random.random();
        let slips = match prior.careful {
            0.0 => uniform,
            k => -(1.0 - uniform * (1.0 - (-k).exp())).ln() / k,
        };
        Self { by_ratio, log_slope, slips }
    }

    fn log_prior(&self, prior: &Prior) -> f64 {
        let [middle, spread] = prior.slopes[usize::from(self.by_ratio)];
        -0.5 * ((self.log_slope - middle) / spread).powi(2) - prior.careful * self.slips
    }

    pub fn model(&self) -> NoiseModel {
        let (slope, lapse) = (self.log_slope.exp(), MOST_SLIPS * self.slips * self.slips);
        match self.by_ratio {
            true => NoiseModel::Relative { slope, lapse },
            false => NoiseModel::Absolute { slope, lapse },
        }
    }

    /// Another person near by or, now and then, anybody; and by how much likelier the prior finds them than the one they
    /// step from, the logarithm. Whoever the prior proposes is not weighed by it again.
    pub fn near(&self, prior: &Prior, random: &mut Xoshiro256PlusPlus) -> (Self, f64) {
        if random.random_bool(0.2) {
            return (Self::draw(prior, random), 0.0);
        }
        let step = normals(2, random);
        // Reflected at the ends.
        let slips = (self.slips + 0.3 * step[1]).rem_euclid(2.0);
        let slips = if slips > 1.0 { 2.0 - slips } else { slips };
        let near = Self { log_slope: self.log_slope + 0.5 * step[0], slips, ..*self };
        (near, near.log_prior(prior) - self.log_prior(prior))
    }
}
