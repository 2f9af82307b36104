//! A procedure that asks, and what comes out of it.

use super::{Finding, Oracle};
use crate::metric::Metric;
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
    /// Whether the answers single this metric out (up to what the family always leaves open).
    pub fn identifiable(&self) -> bool {
        self.findings.iter().all(|finding| !finding.is_ambiguity())
    }
}
