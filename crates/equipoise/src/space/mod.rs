//! What is achievable: sets of points that some classifier reaches.
//!
//! Procedures take their questions from a space: the boundary of a two-class set ([`Binary`]), the faces of the
//! set of diagonal confusions ([`Diagonal`]), a ball of rates ([`Sphere`]), the ball common to all groups
//! ([`GroupSphere`]), or a list of classifiers that exist ([`Pool`]). How large a ball may be, and which classifier is behind a point, is known to the set of
//! all errors a population allows ([`Achievable`]).

mod achievable;
mod ball;
mod binary;
mod candidates;
mod diagonal;
mod mixture;
mod operating_point;
mod pairs;
mod plausible;
mod polygon;
mod pool;
mod ray;
mod sphere;

pub use achievable::Achievable;
pub use binary::Binary;
pub use candidates::Candidates;
pub use diagonal::Diagonal;
pub use operating_point::OperatingPoint;
pub(crate) use operating_point::{LEAST_SPAN, TradeOff};
pub(crate) use plausible::Plausible;
pub use polygon::Polygon;
pub use pool::Pool;
pub use sphere::{GroupSphere, Sphere};

use crate::document::Object;
use crate::error::Result;
use crate::view::{Point, View};
use serde::Serialize;
use serde_json::Value;

/// A convex set of achievable points.
pub trait Space {
    /// What the coordinates are.
    fn view(&self) -> View;

    /// A point well inside.
    fn centre(&self) -> Point;

    /// The point with the largest weighted sum of coordinates.
    fn best(&self, weights: &[f64]) -> Point;

    /// Whether some classifier reaches the point, within `tolerance` of distance.
    fn contains(&self, point: &[f64], tolerance: f64) -> bool;
}

/// A space of any kind, as documents name it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AnySpace {
    /// `{"kind":"logistic","slope":5}`, or from data
    /// `{"kind":"hull","positive_prior":0.4,"vertices":[[0,0.6],[0.3,0.5],[0.4,0],[0.1,0.1]]}`
    Binary(Binary),
    /// `{"kind":"softmax","slopes":[1,3,5]}`, or from data
    /// `{"kind":"faces","class_priors":[...],"faces":[[[d0,d1],...],[[d0,d2],...]]}`
    Diagonal(Diagonal),
    /// `{"kind":"sphere","measure":"off_diagonal_rates","classes":3,"radius":0.2}`
    Sphere(Sphere),
    /// `{"kind":"group_sphere","classes":3,"radius":0.2,"prevalence":[[...],[...]]}`
    GroupSphere(GroupSphere),
    /// `{"kind":"operating_point","classes":3,"point":[...],"trade_offs":[...],"rules":[...]}`, from data
    OperatingPoint(OperatingPoint),
    /// `{"kind":"pool","measure":"off_diagonal_rates","classes":2,"points":[{"name":"cautious","point":[0.3,0.05]},...]}`
    Pool(Pool),
    /// `{"kind":"attributes","attributes":[{"name":"latency_ms",...},...],"candidates":[{"name":"m1","point":[40,0.9]},...]}`
    Candidates(Candidates),
}

impl<'de> serde::Deserialize<'de> for AnySpace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_part(value, "space").map_err(serde::de::Error::custom)
    }
}

impl AnySpace {
    /// Reads a space found at `at` inside another document.
    pub(crate) fn from_part(value: Value, at: &str) -> Result<Self> {
        let mut object = Object::new(value, at)?;
        object.allow_format()?;
        let kind = object.kind(
            "kind",
            &[
                "logistic",
                "hull",
                "softmax",
                "faces",
                "sphere",
                "group_sphere",
                "operating_point",
                "pool",
                "attributes",
            ],
        )?;
        Ok(match kind.as_str() {
            "logistic" => Self::Binary(Binary::read(object)?),
            "hull" => Self::Binary(Binary::read_hull(object)?),
            "faces" => Self::Diagonal(Diagonal::read_faces(object)?),
            "softmax" => Self::Diagonal(Diagonal::read(object)?),
            "sphere" => Self::Sphere(Sphere::read(object)?),
            "operating_point" => Self::OperatingPoint(OperatingPoint::read(object)?),
            "attributes" => Self::Candidates(Candidates::read(object)?),
            "pool" => Self::Pool(Pool::read(object)?),
            _ => Self::GroupSphere(GroupSphere::read(object)?),
        })
    }

    /// The word for this kind of space in documents.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Binary(space) => space.kind(),
            Self::Diagonal(space) => space.kind(),
            Self::Sphere(_) => "sphere",
            Self::GroupSphere(_) => "group_sphere",
            Self::OperatingPoint(_) => "operating_point",
            Self::Pool(_) => "pool",
            Self::Candidates(_) => "attributes",
        }
    }
}
