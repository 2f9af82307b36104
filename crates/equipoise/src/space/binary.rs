//! The two-class set of (true positive, true negative), reached by its boundary.

use super::Space;
use super::mixture::reaches;
use crate::document::{self, Object};
use crate::error::Result;
use crate::population::{Logistic, Population};
use crate::view::{Measure, Point, View};
use serde::{Deserialize, Serialize};

/// Achievable (true positive, true negative) pairs (Proposition 3.2).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "logistic")]
pub struct Binary {
    #[serde(flatten)]
    law: Logistic,
}

impl Binary {
    /// The set of a known law.
    pub fn from_law(law: Logistic) -> Self {
        Self { law }
    }

    /// The law behind it.
    pub fn law(&self) -> &Logistic {
        &self.law
    }

    /// $\zeta$: how common the positive class is.
    pub fn positive_prior(&self) -> f64 {
        self.law.prevalence().class_priors()[1]
    }

    /// The boundary point that maximises $m_{11}TP + m_{00}TN$.
    pub fn extreme(&self, weights: [f64; 2]) -> [f64; 2] {
        self.law.extreme(weights)
    }

    /// The boundary point for slope angle $\theta$, weights $(\cos\theta, \sin\theta)$ (eq. 3.17).
    pub fn at_angle(&self, angle: f64) -> [f64; 2] {
        self.extreme([angle.cos(), angle.sin()])
    }

    pub(super) fn read(object: Object, at: &str) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            slope: f64,
            #[serde(default)]
            offset: f64,
        }
        let raw: Raw = object.rest()?;
        document::at(at, Logistic::with_offset(raw.slope, raw.offset)).map(Self::from_law)
    }
}

impl Space for Binary {
    fn view(&self) -> View {
        View::new(Measure::Binary, 2, 1).expect("two classes")
    }

    fn centre(&self) -> Point {
        let positive = self.positive_prior();
        vec![0.5 * positive, 0.5 * (1.0 - positive)]
    }

    fn best(&self, weights: &[f64]) -> Point {
        self.extreme([weights[0], weights[1]]).to_vec()
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        reaches(self, point, tolerance)
    }
}
