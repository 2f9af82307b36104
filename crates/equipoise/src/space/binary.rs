//! The two-class set of (true positive, true negative), reached by its boundary.

use super::mixture::reaches;
use super::{Polygon, Space};
use crate::document::{Object, make};
use crate::error::{Result, check};
use crate::population::{Confusions as _, Logistic};
use crate::view::{Measure, Point, View};
use serde::Serialize;

/// Achievable (true positive, true negative) pairs (Proposition 3.2): of a known law, or the hull of what data show.
///
/// ```
/// use equipoise::space::{Binary, Polygon};
/// let corners = vec![[0.0, 0.6], [0.3, 0.5], [0.4, 0.0], [0.1, 0.1]]; // of a table with 40 % positives
/// let space = Binary::from_hull(0.4, Polygon::hull(corners)?)?;
/// assert_eq!(space.extreme([1.0, 1.0]), [0.3, 0.5]);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Binary {
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Logistic(Logistic),
    Hull { positive_prior: f64, vertices: Polygon },
}

impl Binary {
    /// The set of a known law.
    pub fn from_law(law: Logistic) -> Self {
        Self { shape: Shape::Logistic(law) }
    }

    /// The hull of (true positive, true negative) pairs. "Always" and "never" are classifiers, and so are draws
    /// between them: the hull must reach them.
    pub fn from_hull(positive_prior: f64, vertices: Polygon) -> Result<Self> {
        let ok = positive_prior > 0.0 && positive_prior < 1.0;
        check::number("positive_prior", positive_prior, ok, "a number strictly between 0 and 1")?;
        super::polygon::within_priors(&vertices, [positive_prior, 1.0 - positive_prior])?;
        Ok(Self { shape: Shape::Hull { positive_prior, vertices } })
    }

    /// The law behind it, if it has one.
    pub fn law(&self) -> Option<&Logistic> {
        match &self.shape {
            Shape::Logistic(law) => Some(law),
            Shape::Hull { .. } => None,
        }
    }

    /// The hull it is, if it comes from data.
    pub fn hull(&self) -> Option<&Polygon> {
        match &self.shape {
            Shape::Logistic(_) => None,
            Shape::Hull { vertices, .. } => Some(vertices),
        }
    }

    /// The word for this kind of space in documents.
    pub(super) fn kind(&self) -> &'static str {
        match &self.shape {
            Shape::Logistic(_) => "logistic",
            Shape::Hull { .. } => "hull",
        }
    }

    /// $\zeta$: how common the positive class is.
    pub fn positive_prior(&self) -> f64 {
        match &self.shape {
            Shape::Logistic(law) => law.prevalence().class_priors()[1],
            Shape::Hull { positive_prior, .. } => *positive_prior,
        }
    }

    /// The boundary point that maximises $m_{11}TP + m_{00}TN$.
    pub fn extreme(&self, weights: [f64; 2]) -> [f64; 2] {
        match &self.shape {
            Shape::Logistic(law) => law.extreme(weights),
            Shape::Hull { vertices, .. } => vertices.extreme(weights),
        }
    }

    /// The boundary point for slope angle $\theta$, weights $(\cos\theta, \sin\theta)$ (eq. 3.17).
    ///
    /// On a hull the points of neighbouring angles differ too ([`Polygon::facing`]), so that they can be compared.
    pub fn at_angle(&self, angle: f64) -> [f64; 2] {
        let weights = [angle.cos(), angle.sin()];
        match &self.shape {
            Shape::Logistic(law) => law.extreme(weights),
            Shape::Hull { vertices, .. } => vertices.facing(weights),
        }
    }

    /// The angles for which the same corner is best, on a hull.
    pub fn corner(&self, angle: f64) -> Option<[f64; 2]> {
        let [before, after] = self.hull()?.room([angle.cos(), angle.sin()]);
        Some([angle - before, angle + after])
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { slope: f64, offset: Option<f64> } => {
            Logistic::with_offset(slope, offset.unwrap_or(0.0)).map(Self::from_law)
        })
    }

    pub(super) fn read_hull(object: Object) -> Result<Self> {
        make!(object, { positive_prior: f64, vertices: Vec<[f64; 2]> } => {
            Self::from_hull(positive_prior, Polygon::hull(vertices)?)
        })
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
