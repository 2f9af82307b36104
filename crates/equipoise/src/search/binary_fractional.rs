//! Two classes, linear-fractional metrics: $\phi = \frac{p_{11}TP + p_{00}TN}{q_{11}TP + q_{00}TN + q_0}$.
//!
//! The level sets of such a metric are a pencil of lines, and comparisons reveal nothing but the pencil. Two of
//! its lines are the tangents at the best and the worst classifier (Algorithms 3.1 and 3.2). The member through
//! the origin is the numerator, in closed form; the papers search for it on a grid (Algorithm 3.3).

use super::binary::{Parameter, Support, Tangent};
use super::interval::{Halving, checked_tolerance};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::document::Object;
use crate::error::{Error, Result, check};
use crate::metric::{Family, LinearFractional, Metric, Sense};
use crate::space::{Binary, Space};
use serde::Serialize;
use std::f64::consts::{FRAC_PI_2, PI};

/// How the numerator is found from the tangents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "solve", rename_all = "snake_case")]
pub enum Solve {
    /// Ours: the line of the pencil through the origin, $p \propto \underline C_0 \bar m - \bar C_0 \underline m$.
    ClosedForm,
    /// Algorithm 3.3: the value on a grid for which the metrics of both tangents agree best.
    ///
    /// # Departures
    /// The signs of (3.27) are corrected: $p'' - \tau q'' = -\underline m$, $\tau q_0'' = -\underline C_0$.
    Grid,
    /// Corollary A.1: the numerator is known, the maximiser suffices.
    KnownRatio {
        /// $p_{11}$, when $p_{11} + p_{00} = 1$.
        true_positive_share: f64,
    },
}

/// Elicits a two-class linear-fractional metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BinaryFractional {
    pub(crate) space: Binary,
    tolerance: f64,
    queries_per_halving: Halving,
    #[serde(flatten)]
    solve: Solve,
}

impl BinaryFractional {
    /// The closed form after two searches with four questions per halving.
    pub fn new(space: Binary, tolerance: f64) -> Result<Self> {
        let tolerance = checked_tolerance(tolerance)?;
        Ok(Self { space, tolerance, queries_per_halving: Halving::Four, solve: Solve::ClosedForm })
    }

    /// How the numerator is found.
    pub fn solve(self, solve: Solve) -> Result<Self> {
        if let Solve::KnownRatio { true_positive_share } = solve {
            check::unit("true_positive_share", true_positive_share)?;
        }
        Ok(Self { solve, ..self })
    }

    /// Three or four questions per halving.
    pub fn queries_per_halving(self, queries_per_halving: Halving) -> Self {
        Self { queries_per_halving, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Binary) -> Result<Self> {
        let tolerance = object.or("tolerance", 0.05)?;
        let plan = crate::document::at(&object.place(), Self::new(space, tolerance))?;
        let usual = if object.is("method", "paper") { "grid" } else { "closed_form" };
        object.word("method", &["paper"], "paper")?;
        let solve = match object.word("solve", &["closed_form", "grid", "known_ratio"], usual)?.as_str() {
            "closed_form" => Solve::ClosedForm,
            "grid" => Solve::Grid,
            _ => {
                let field = object.path("true_positive_share");
                let share: Option<f64> = object.optional("true_positive_share")?;
                let missing = || Error::Document(format!("{field} is missing, expected a number in [0, 1]"));
                Solve::KnownRatio { true_positive_share: share.ok_or_else(missing)? }
            }
        };
        let mut plan = crate::document::at(&object.place(), plan.solve(solve))?;
        plan.queries_per_halving = object.or("queries_per_halving", plan.queries_per_halving)?;
        object.finish()?;
        Ok(plan)
    }

    /// Proposition 3.4: the metric with numerator (p11, 1 - p11) whose tangent at the best classifier is given.
    fn with_tangent(&self, p11: f64, tangent: &Support) -> Option<LinearFractional> {
        let (prior, [m11, m00], level) = (self.space.positive_prior(), tangent.weights, tangent.level());
        let p00 = 1.0 - p11;
        let p = p11 * prior + p00 * (1.0 - prior);
        let q = p + level - m11 * prior - m00 * (1.0 - prior);
        let scale = p / q;
        let denominator = vec![(p11 - m11) * scale, (p00 - m00) * scale];
        LinearFractional::new(vec![p11, p00], denominator, level * scale).ok()
    }

    /// Algorithm 3.3: n = 2000 boundary points, grid step .01.
    fn grid(&self, best: &Support, worst: &Support) -> f64 {
        let boundary: Vec<[f64; 2]> = [0.0, PI]
            .iter()
            .flat_map(|turn| (0..1000).map(move |n| turn + FRAC_PI_2 * (f64::from(n) + 0.5) / 1000.0))
            .map(|angle| self.space.at_angle(angle))
            .collect();
        // (3.27) with the right signs is (3.25) with minus the weights.
        let flipped = Support { weights: worst.weights.map(|m| -m), ..worst.clone() };
        let value = |f: &LinearFractional, x: &[f64; 2]| {
            (f.numerator()[0] * x[0] + f.numerator()[1] * x[1])
                / (f.denominator()[0] * x[0] + f.denominator()[1] * x[1] + f.denominator_offset())
        };
        let spread = |p11: f64| -> f64 {
            let (Some(a), Some(b)) = (self.with_tangent(p11, best), self.with_tangent(p11, &flipped)) else {
                return f64::INFINITY;
            };
            let ratios: Vec<f64> = boundary.iter().map(|x| value(&a, x) / value(&b, x)).collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / ratios.len() as f64;
            if variance.is_finite() { variance } else { f64::INFINITY }
        };
        let grid = (0..=100).map(|n| f64::from(n) / 100.0);
        grid.min_by(|a, b| spread(*a).total_cmp(&spread(*b))).expect("the grid is not empty")
    }
}

impl Plan for BinaryFractional {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let tangent = Tangent {
            halving: self.queries_per_halving,
            parameter: Parameter::Angle,
            tolerance: self.tolerance,
        };
        let best = tangent.at_best(&self.space, true, oracle)?;
        let mut findings = best.findings.clone();
        let p11 = match self.solve {
            Solve::KnownRatio { true_positive_share } => true_positive_share,
            Solve::Grid | Solve::ClosedForm => {
                let worst = tangent.at_worst(&self.space, oracle)?;
                findings.extend(worst.findings.clone());
                if self.solve == Solve::Grid {
                    self.grid(&best, &worst)
                } else {
                    through_origin(&best, &worst).unwrap_or_else(|| {
                        findings.push(Finding::DegeneratePencil);
                        0.5
                    })
                }
            }
        };
        let family = self.with_tangent(p11, &best).unwrap_or_else(|| {
            let what = "no denominator fits the tangents; set to 1".to_owned();
            findings.push(Finding::Inconsistent { what });
            LinearFractional::new(vec![p11, 1.0 - p11], vec![0.0; 2], 1.0).expect("shares sum to 1")
        });
        findings.push(Finding::FractionalGauge {
            gauge:
                "the member of Assumption 3.2 (q0 bounds it by 1) with unit tangent weights at its maximum"
                    .to_owned(),
        });
        let metric = Metric::new(self.space.view(), Sense::Utility, Family::LinearFractional(family));
        Ok(Outcome { metric: metric.expect("two coefficients"), findings })
    }
}

/// The share of the first weight on the line of the pencil through the origin.
pub(super) fn through_origin(best: &Support, worst: &Support) -> Option<f64> {
    let (up, low) = (best.level(), worst.level());
    let p = [0, 1].map(|c| low * best.weights[c] - up * worst.weights[c]);
    let share = p[0] / (p[0] + p[1]);
    // Weights of one sign, or the answers were not those of an increasing fraction.
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}
