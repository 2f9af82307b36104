//! Asking: who answers, what is asked, what is remembered of it, and what comes out.
//!
//! A [`Plan`] asks an [`Oracle`] and returns an [`Outcome`]; an [`Interview`] is a plan with the answers given so far.

mod adaptors;
mod finding;
mod interview;
mod memory;
mod noise;
mod oracle;
mod plan;
mod simulated;

pub use adaptors::{Budget, BudgetError, Counting, Fallible, Majority, Reparametrised};
pub(crate) use finding::DECISIVE;
pub use finding::Finding;
pub use interview::{Answered, Divergence, Interview, Step};
pub use memory::{Memory, Snapshot};
pub(crate) use memory::{keep, recall};
pub use noise::{Chances, Gap, MOST_LAPSES, NoiseModel, SLOPES};
pub use oracle::{Answer, Oracle, Preference, Query};
pub use plan::{Outcome, Plan};
pub use simulated::Simulated;
