//! Agreement of predictions and classes beyond what chance would give: Cohen's kappa and Matthews' correlation.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::Result;
use crate::rates::{Prevalence, off_diagonal_pairs};
use crate::view::{Measure, View};
use serde::Serialize;

/// Below this a denominator counts as zero, and the measure as 0.
const NOTHING: f64 = 1e-12;

/// Cohen's kappa, $(a - e)/(1 - e)$: a is the share of correct predictions, e what it would be if predictions and classes were
/// independent (Cohen 1960).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kappa {
    class_priors: Vec<f64>,
}

/// Matthews' correlation, $(a - e)/\sqrt{(1 - \sum_j q_j^2)(1 - \sum_j z_j^2)}$ with q the shares of the predictions and z those of
/// the classes; for two classes the correlation of prediction and class (Matthews 1975, Gorodkin 2004).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mcc {
    class_priors: Vec<f64>,
}

/// What both are made of, at some errors.
struct Parts {
    /// Correct predictions beyond those of chance, $a - e$.
    beyond: f64,
    /// $e$.
    chance: f64,
    /// How often each class is predicted.
    predicted: Vec<f64>,
}

fn parts(priors: &[f64], errors: &[f64]) -> Parts {
    let mut predicted = priors.to_vec();
    for ((i, j), error) in off_diagonal_pairs(priors.len()).zip(errors) {
        predicted[i] -= error;
        predicted[j] += error;
    }
    let chance: f64 = priors.iter().zip(&predicted).map(|(z, q)| z * q).sum();
    let hits = priors.iter().sum::<f64>() - errors.iter().sum::<f64>();
    Parts { beyond: hits - chance, chance, predicted }
}

fn squares(shares: &[f64]) -> f64 {
    shares.iter().map(|share| share * share).sum()
}

macro_rules! of_priors {
    ($family:ident) => {
        impl $family {
            pub(super) fn new(class_priors: Vec<f64>) -> Result<Self> {
                let prevalence = Prevalence::new(class_priors)?;
                Ok(Self { class_priors: prevalence.class_priors().to_vec() })
            }

            /// The same for other class priors.
            pub(super) fn with_priors(&self, class_priors: &[f64]) -> Self {
                Self { class_priors: class_priors.to_vec() }
            }
        }

        impl Form for $family {
            fn read(object: Object, _: Option<usize>) -> Result<Self> {
                make!(object, { class_priors: Vec<f64> } => Self::new(class_priors))
            }

            fn coordinates(&self) -> Result<Coordinates> {
                View::new(Measure::OffDiagonal, self.class_priors.len(), 1).map(Coordinates::Of)
            }

            fn value(&self, errors: &[f64]) -> f64 {
                let parts = parts(&self.class_priors, errors);
                let below = self.below(&parts);
                if below > NOTHING { parts.beyond / below } else { 0.0 }
            }

            fn gradient(&self, errors: &[f64]) -> Vec<f64> {
                let parts = parts(&self.class_priors, errors);
                let below = self.below(&parts);
                let slope = |(i, j): (usize, usize)| {
                    if below <= NOTHING {
                        return 0.0;
                    }
                    // One more error loses a hit and moves a prediction from i to j.
                    let chance = self.class_priors[j] - self.class_priors[i];
                    let widened = self.slope_of_below(&parts, i, j);
                    (-1.0 - chance) / below - parts.beyond * widened / (below * below)
                };
                off_diagonal_pairs(self.class_priors.len()).map(slope).collect()
            }
        }
    };
}

of_priors!(Kappa);
of_priors!(Mcc);

impl Kappa {
    fn below(&self, parts: &Parts) -> f64 {
        1.0 - parts.chance
    }

    fn slope_of_below(&self, _: &Parts, i: usize, j: usize) -> f64 {
        self.class_priors[i] - self.class_priors[j]
    }
}

impl Mcc {
    fn below(&self, parts: &Parts) -> f64 {
        ((1.0 - squares(&parts.predicted)) * (1.0 - squares(&self.class_priors))).max(0.0).sqrt()
    }

    fn slope_of_below(&self, parts: &Parts, i: usize, j: usize) -> f64 {
        let classes = 1.0 - squares(&self.class_priors);
        -(parts.predicted[j] - parts.predicted[i]) * classes / self.below(parts)
    }
}
