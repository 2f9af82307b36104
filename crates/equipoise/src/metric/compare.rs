//! How far an elicited metric is from the one that was hidden.

use super::{Fair, Family, Metric, Violation};
use crate::linalg::{angle, dot, norm, plus, scaled};
use serde::Serialize;

/// The distance between two metrics of one family, in their normal forms.
///
/// `angle` is between coefficient vectors; for linear-fractional metrics it is the largest principal angle
/// between the two pencils, the part that comparisons can reveal, and `max_abs` and `l2` compare numerators.
/// For group metrics the parts are given one by one as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Radians.
    pub angle: f64,
    /// Largest absolute difference of a coefficient.
    pub max_abs: f64,
    /// Euclidean distance of the coefficient vectors.
    pub l2: f64,
    /// Distance of the performance weights (group metrics) or linear part (quadratic ones).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<f64>,
    /// Distance of the fairness weights or matrices (group metrics) or the matrix (quadratic ones).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quadratic_or_fairness: Option<f64>,
    /// Distance of the trade-offs (group metrics).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<f64>,
}

impl Metric {
    /// The distance to `other`, or `None` if the two are of different families or views.
    ///
    /// A utility and a cost are compared by what they like.
    pub fn difference(&self, other: &Metric) -> Option<Difference> {
        if self.view() != other.view() {
            return None;
        }
        let (mine, theirs) = (self.normal_form(), other.normal_form());
        let sign = mine.sense().sign() * theirs.sense().sign();
        match (mine.family(), theirs.family()) {
            (Family::Linear(a), Family::Linear(b)) => Some(vectors(a.weights(), &scaled(b.weights(), sign))),
            (Family::LinearFractional(a), Family::LinearFractional(b)) => {
                let b = if sign < 0.0 { b.negated() } else { b.clone() };
                let angle = largest_principal_angle(&a.pencil(), &b.pencil());
                Some(Difference { angle, ..vectors(a.numerator(), b.numerator()) })
            }
            (Family::Quadratic(a), Family::Quadratic(b)) => {
                let b = if sign < 0.0 { b.negated() } else { b.clone() };
                let (linear, matrix) = (b.linear().to_vec(), b.quadratic().concat());
                let whole = vectors(
                    &[a.linear(), &a.quadratic().concat()].concat(),
                    &[linear.clone(), matrix.clone()].concat(),
                );
                Some(Difference {
                    linear: Some(norm(&plus(a.linear(), -1.0, &linear))),
                    quadratic_or_fairness: Some(norm(&plus(&a.quadratic().concat(), -1.0, &matrix))),
                    ..whole
                })
            }
            (Family::Polynomial(a), Family::Polynomial(b)) if a.degree() == b.degree() => {
                let b = if sign < 0.0 { b.negated() } else { b.clone() };
                Some(vectors(&a.tensors().concat(), &b.tensors().concat()))
            }
            (Family::GroupFair(a), Family::GroupFair(b)) if sign > 0.0 => Some(fair(a, b, Vec::clone)),
            (Family::GroupFairQuadratic(a), Family::GroupFairQuadratic(b)) if sign > 0.0 => {
                Some(fair(a, b, |v| v.concat()))
            }
            _ => None,
        }
    }
}

fn vectors(a: &[f64], b: &[f64]) -> Difference {
    let difference = plus(a, -1.0, b);
    Difference {
        angle: angle(a, b),
        max_abs: difference.iter().fold(0.0, |m, d| m.max(d.abs())),
        l2: norm(&difference),
        linear: None,
        quadratic_or_fairness: None,
        trade_off: None,
    }
}

fn fair<V: Violation>(a: &Fair<V>, b: &Fair<V>, entries: impl Fn(&V) -> Vec<f64>) -> Difference {
    let violations =
        |f: &Fair<V>| -> Vec<f64> { f.fairness().iter().flat_map(|pair| entries(&pair.violation)).collect() };
    let (mine, theirs) = (violations(a), violations(b));
    // The metric as one vector of effective coefficients.
    let whole = |f: &Fair<V>, violations: &[f64]| {
        [scaled(f.performance(), 1.0 - f.trade_off()), scaled(violations, f.trade_off())].concat()
    };
    Difference {
        linear: Some(norm(&plus(a.performance(), -1.0, b.performance()))),
        quadratic_or_fairness: Some(norm(&plus(&mine, -1.0, &theirs))),
        trade_off: Some((a.trade_off() - b.trade_off()).abs()),
        ..vectors(&whole(a, &mine), &whole(b, &theirs))
    }
}

/// The largest angle between two planes given by orthonormal bases; a plane that has shrunk to a line is
/// compared by the line.
fn largest_principal_angle(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let away = |v: &Vec<f64>| large.iter().fold(v.clone(), |rest, u| plus(&rest, -dot(v, u), u));
    // Sines are the singular values of (I - P_large) restricted to the small plane.
    let rests: Vec<Vec<f64>> = small.iter().map(away).collect();
    let largest = match rests.as_slice() {
        [] => return f64::NAN,
        [one] => norm(one),
        [one, two, ..] => {
            let (aa, bb, ab) = (dot(one, one), dot(two, two), dot(one, two));
            let spread = (0.25 * (aa - bb).powi(2) + ab * ab).sqrt();
            (0.5 * (aa + bb) + spread).max(0.0).sqrt()
        }
    };
    largest.min(1.0).asin()
}
