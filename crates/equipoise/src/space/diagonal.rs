//! The set of diagonal confusions, reached by its two-class faces.

use super::Space;
use super::mixture::reaches;
use crate::document::{self, Object};
use crate::error::Result;
use crate::population::{Population, PostShift, Softmax};
use crate::view::{Measure, Point, View};
use serde::{Deserialize, Serialize};

/// Achievable diagonals of the confusion matrix (Proposition 4.1).
///
/// On the face of classes (0, j) only these two are ever predicted, and the set looks like a two-class one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "softmax")]
pub struct Diagonal {
    #[serde(flatten)]
    law: Softmax,
}

impl Diagonal {
    /// The set of a known law.
    pub fn from_law(law: Softmax) -> Self {
        Self { law }
    }

    /// The law behind it.
    pub fn law(&self) -> &Softmax {
        &self.law
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.law.slopes().len()
    }

    /// $\zeta$.
    pub fn class_priors(&self) -> &[f64] {
        self.law.prevalence().class_priors()
    }

    /// The extreme point of the face of classes 0 and `class` for weights on these two.
    pub fn on_face(&self, class: usize, weights: [f64; 2]) -> [f64; 2] {
        self.law.restricted_extreme(0, class, weights)
    }

    /// A point of that face as a full diagonal: no other class is ever predicted.
    pub fn lift(&self, class: usize, on_face: [f64; 2]) -> Point {
        let mut point = vec![0.0; self.classes()];
        point[0] = on_face[0];
        point[class] = on_face[1];
        point
    }

    pub(super) fn read(object: Object, at: &str) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            slopes: Vec<f64>,
        }
        let raw: Raw = object.rest()?;
        document::at(at, Softmax::new(raw.slopes)).map(Self::from_law)
    }
}

impl Space for Diagonal {
    fn view(&self) -> View {
        View::new(Measure::Diagonal, self.classes(), 1).expect("at least two classes")
    }

    fn centre(&self) -> Point {
        let k = self.classes() as f64;
        self.class_priors().iter().map(|z| z / k).collect()
    }

    fn best(&self, weights: &[f64]) -> Point {
        let rule = PostShift::diagonal(weights).expect("finite weights");
        self.law.confusions(&[rule])[0].overall().diagonal()
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        reaches(self, point, tolerance)
    }
}
