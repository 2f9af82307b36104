//! Many classes, fractions of correct predictions: $\psi = \langle a, d\rangle / (\langle b, d\rangle + b_0)$.
//!
//! # Departures
//! The thesis runs Algorithm 4.1 once and treats its result as the tangent at the global maximiser; but every face
//! has a maximum of its own. We take each face by itself: its upper and lower tangent give the ratio
//! $a_j/a_0$ and, in the gauge $b_0 = 0$ (for class 0) and offset 1, the denominator weight $b_j$.

use super::binary::Support;
use super::diagonal::{Face, OverFaces};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::metric::{Metric, Sense};
use crate::space::Space;

/// Elicits a linear-fractional metric of the diagonal: two searches per face.
pub type DiagonalFractional = OverFaces<true>;

impl Plan for DiagonalFractional {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let mut numerator = vec![1.0];
        let mut denominator = vec![0.0];
        let mut findings = vec![];
        for class in 1..self.space.classes() {
            let face = Face { space: &self.space, class, tolerance: self.tolerance };
            let best_share = face.best_share(self.queries_per_halving, oracle)?;
            let worst_share = face.worst_share(self.queries_per_halving, oracle)?;
            let flat = face.flatness(best_share);
            let (m, n) = (best_share.middle(), worst_share.middle());
            let support = |weights| {
                let point = self.space.on_face(class, weights);
                Support { weights, point, findings: vec![] }
            };
            let (best, worst) = (support([m, 1.0 - m]), support([-n, n - 1.0]));
            let (ratio, weight) = tangents(&best, &worst).unwrap_or_else(|| {
                let what = format!("class {class} got the weight of class 0");
                findings.push(Finding::Inconsistent { what });
                (1.0, 0.0)
            });
            numerator.push(ratio);
            denominator.push(weight);
            findings.extend(flat);
        }
        findings.push(Finding::FractionalGauge {
            gauge: "denominator weight 0 for class 0, offset 1".to_owned(),
        });
        // A common factor of numerator weights does not matter; make them sum to 1.
        let total: f64 = numerator.iter().sum();
        numerator.iter_mut().for_each(|a| *a /= total);
        let parts = [numerator, denominator];
        let metric = Metric::linear_fractional(self.space.view(), Sense::Utility, parts, 1.0);
        Ok(Outcome { metric: metric.expect("one weight per class"), findings })
    }
}

/// $(a_j/a_0, b_j)$ in the gauge $b_0 = 0$, offset 1, from the two tangents of a face.
fn tangents(best: &Support, worst: &Support) -> Option<(f64, f64)> {
    let (up, low) = (best.level(), worst.level());
    // The member of the pencil through the origin.
    let w = [0, 1].map(|c| low * best.weights[c] - up * worst.weights[c]);
    let ratio = w[1] / w[0];
    let weight = -(best.weights[1] - ratio * best.weights[0]) / up;
    (ratio.is_finite() && ratio >= 0.0 && weight.is_finite()).then_some((ratio, weight))
}
