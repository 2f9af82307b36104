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

pub use adaptors::Counting;
pub(crate) use adaptors::Fallible;
pub use finding::Finding;
pub(crate) use finding::{DECISIVE, Guess};
pub use interview::{Answered, Divergence, Interview, Step};
pub(crate) use memory::{Memory, Snapshot, keep, recall};
pub(crate) use noise::{Chances, Gap};
pub use noise::{MOST_LAPSES, NoiseModel, RATIO_SLOPES, SLOPES};
pub use oracle::{Answer, Oracle, Preference, Query};
pub use plan::{Outcome, Plan};
pub use simulated::Simulated;
#[cfg(any(test, feature = "testing"))]
pub(crate) use simulated::parts;
