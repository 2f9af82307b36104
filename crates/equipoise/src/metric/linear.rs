//! $\phi(r) = \langle w, r \rangle$.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Result, check};
use crate::linalg::{dot, norm, scaled};
use crate::view::Measure;
use serde::Serialize;

/// A weighted sum of the coordinates (Definitions 3.1, 4.1 and 4.2 of the thesis).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linear {
    weights: Vec<f64>,
}

impl Linear {
    /// Finite weights, not all zero.
    pub fn new(weights: Vec<f64>) -> Result<Self> {
        check::weights("weights", &weights, weights.len())?;
        Ok(Self { weights })
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

impl Form for Linear {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { weights: Vec<f64> } => Self::new(weights))
    }

    fn coordinates(&self) -> Result<Coordinates> {
        Ok(Coordinates::As("weights", self.weights.len()))
    }

    fn value(&self, point: &[f64]) -> f64 {
        dot(&self.weights, point)
    }

    fn gradient(&self, _: &[f64]) -> Vec<f64> {
        self.weights.clone()
    }

    /// Unit length; weights of correct predictions sum to 1 in size instead, as in Definition 4.1.
    fn normal_form(&self, measure: Measure) -> Self {
        let size = match measure {
            Measure::Diagonal | Measure::DiagonalRates => self.weights.iter().map(|w| w.abs()).sum(),
            _ => norm(&self.weights),
        };
        Self { weights: scaled(&self.weights, 1.0 / size) }
    }

    fn coefficients(&self) -> Vec<f64> {
        self.weights.clone()
    }

    fn with_coefficients(&self, weights: &[f64]) -> Result<Self> {
        Self::new(weights.to_vec())
    }
}
