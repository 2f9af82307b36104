//! Procedures that ask and return a metric.
//!
//! A [`Plan`] is straight-line code over an [`Oracle`]: it asks, passes the oracle's error along with `?`, and
//! returns an [`Outcome`]. The same `run` serves simulations, prompts and, through
//! [`Interview`](crate::Interview), pages and Python. Each file holds one procedure, in the order of its paper;
//! where we depart from the print, the item's documentation says so.

mod binary;
mod binary_fractional;
mod cuts;
mod diagonal;
mod diagonal_fractional;
mod finding;
mod group_fair;
mod group_fair_quadratic;
pub mod interval;
mod linear;
mod linear_fractional;
mod monotone;
mod plan;
mod polynomial;
mod quadratic;
pub mod slope;
mod trade_off;

pub(crate) use binary::inscribed_radius;
pub use binary::{BinaryLinear, Direction, Parameter};
pub use binary_fractional::{BinaryFractional, Solve};
pub use cuts::Cuts;
pub use diagonal::DiagonalLinear;
pub use diagonal_fractional::DiagonalFractional;
pub use finding::Finding;
pub use group_fair::{Equations, GroupFair, TradeOffBy};
pub use group_fair_quadratic::GroupFairQuadratic;
pub use interval::{Halving, Interval};
pub use linear::{Linear, SignKnowledge};
pub use linear_fractional::LinearFractional;
pub use monotone::MonotoneDiagonal;
pub use plan::AnyPlan;
pub(crate) use polynomial::Monomials;
pub use polynomial::Polynomial;
pub use quadratic::{LocalSlopes, Quadratic, Reconstruction, Shape};
pub use slope::{Method, Order, SlopeSearch};
pub use trade_off::{QuadraticTradeOff, TradeOff};

use crate::metric::Metric;
use crate::oracle::Oracle;
use serde::Serialize;

/// A procedure that asks and returns what it learnt.
///
/// Deterministic: the same answers lead to the same questions, so a transcript can be replayed.
pub trait Plan {
    /// What comes out.
    type Output;

    /// Asks until done; fails only when the oracle does.
    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Self::Output, O::Err>;
}

/// The metric a plan found, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The best estimate; always a valid metric with finite coefficients.
    pub metric: Metric,
    /// What the answers could not tell, and other remarks.
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// A metric with nothing to remark.
    pub fn certain(metric: Metric) -> Self {
        Self { metric, findings: vec![] }
    }

    /// Whether the answers single this metric out (up to what the family always leaves open).
    pub fn identifiable(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_ambiguity())
    }
}
