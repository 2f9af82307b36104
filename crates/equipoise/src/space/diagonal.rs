//! The set of diagonal confusions, reached by its two-class faces.

use super::mixture::reaches;
use super::{Polygon, Space};
use crate::document::{self, Object, make};
use crate::error::{Error, Result, check};
use crate::linalg::dot;
use crate::population::{Confusions as _, PostShift, Softmax};
use crate::rates::Prevalence;
use crate::view::{Measure, Point, View};
use serde::Serialize;

/// Achievable diagonals of the confusion matrix (Proposition 4.1): of a known law, or the faces data show.
///
/// On the face of classes (0, j) only these two are ever predicted, and the set looks like a two-class one.
///
/// Of data only the faces are kept, one polygon each, so that a stored interview needs no table. Other points are then
/// draws between the faces: all of them achievable, but with three classes or more not all that is achievable.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Diagonal {
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Softmax(Softmax),
    Faces { class_priors: Vec<f64>, faces: Vec<Polygon> },
}

impl Diagonal {
    /// The set of a known law.
    pub fn from_law(law: Softmax) -> Self {
        Self { shape: Shape::Softmax(law) }
    }

    /// The hulls of (correct for class 0, correct for class j) of classifiers that predict these two only, for
    /// j = 1, 2, ...
    pub fn from_faces(class_priors: Vec<f64>, faces: Vec<Polygon>) -> Result<Self> {
        Prevalence::new(class_priors.clone())?;
        check::length("faces", faces.len(), class_priors.len() - 1)?;
        for (j, face) in faces.iter().enumerate() {
            super::polygon::within_priors(face, [class_priors[0], class_priors[j + 1]])
                .map_err(|e| Error::Mismatch(format!("faces[{j}]: {e}")))?;
        }
        Ok(Self { shape: Shape::Faces { class_priors, faces } })
    }

    /// The law behind it, if it has one.
    pub fn law(&self) -> Option<&Softmax> {
        match &self.shape {
            Shape::Softmax(law) => Some(law),
            Shape::Faces { .. } => None,
        }
    }

    /// Whether [`Space::best`] is over all classifiers: of data with three classes or more it is over the faces.
    pub fn is_whole(&self) -> bool {
        self.law().is_some() || self.classes() == 2
    }

    /// The word for this kind of space in documents.
    pub(super) fn kind(&self) -> &'static str {
        match &self.shape {
            Shape::Softmax(_) => "softmax",
            Shape::Faces { .. } => "faces",
        }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.class_priors().len()
    }

    /// $\zeta$.
    pub fn class_priors(&self) -> &[f64] {
        match &self.shape {
            Shape::Softmax(law) => law.prevalence().class_priors(),
            Shape::Faces { class_priors, .. } => class_priors,
        }
    }

    /// The extreme point of the face of classes 0 and `class` for weights on these two.
    pub fn on_face(&self, class: usize, weights: [f64; 2]) -> [f64; 2] {
        match &self.shape {
            Shape::Softmax(law) => law.restricted_extreme(0, class, weights),
            Shape::Faces { faces, .. } => faces[class - 1].extreme(weights),
        }
    }

    /// The point of that face to ask about; on a polygon it moves whenever the weights do ([`Polygon::facing`]).
    pub fn facing(&self, class: usize, weights: [f64; 2]) -> [f64; 2] {
        match &self.shape {
            Shape::Softmax(law) => law.restricted_extreme(0, class, weights),
            Shape::Faces { faces, .. } => faces[class - 1].facing(weights),
        }
    }

    /// The angles of weights for which the same corner of that face is best, on a polygon.
    pub fn corner(&self, class: usize, weights: [f64; 2]) -> Option<[f64; 2]> {
        let Shape::Faces { faces, .. } = &self.shape else { return None };
        let (angle, [before, after]) = (weights[1].atan2(weights[0]), faces[class - 1].room(weights));
        Some([angle - before, angle + after])
    }

    /// A point of that face as a full diagonal: no other class is ever predicted.
    pub fn lift(&self, class: usize, on_face: [f64; 2]) -> Point {
        let mut point = vec![0.0; self.classes()];
        point[0] = on_face[0];
        point[class] = on_face[1];
        point
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { slopes: Vec<f64> } => Softmax::new(slopes).map(Self::from_law))
    }

    pub(super) fn read_faces(object: Object) -> Result<Self> {
        let place = object.path("faces");
        make!(object, { class_priors: Vec<f64>, faces: Vec<Vec<[f64; 2]>> } => {
            let face = |(j, vertices)| document::at(&format!("{place}[{j}]"), Polygon::hull(vertices));
            let faces = faces.into_iter().enumerate().map(face).collect::<Result<_>>()?;
            Self::from_faces(class_priors, faces)
        })
    }

    fn best_on_faces(&self, weights: &[f64]) -> Point {
        let lifted = |class| self.lift(class, self.on_face(class, [weights[0], weights[class]]));
        let points = (1..self.classes()).map(lifted);
        let better = |a: Point, b: Point| if dot(weights, &b) > dot(weights, &a) { b } else { a };
        points.reduce(better).unwrap_or_else(|| self.centre())
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
        let Shape::Softmax(law) = &self.shape else { return self.best_on_faces(weights) };
        let rule = PostShift::diagonal(weights).expect("finite weights");
        let Ok(found) = law.confusions(&[rule]);
        found[0].overall().diagonal()
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        reaches(self, point, tolerance)
    }
}
