//! The adaptive engine: a belief about the metric, and questions that split it best.
//!
//! The papers' searches spend hundreds of questions; people answer a few dozen. [`Adaptive`] is the plan: it keeps a [`Belief`]
//! (a grid for the cost ratio of two classes, a Gaussian for whatever is linear in features of the confusion matrix, a
//! cloud of pencils for fractions), asks the pair that splits it best, and stops when it is narrow enough or another
//! [`Stop`] applies.

mod aim;
mod belief;
mod check;
mod choose;
mod decisions;
mod document;
mod doubt;
mod features;
mod inquiry;
mod noise;
mod normal;
mod plan;
mod probit;
mod progress;
mod question;
mod rivals;
mod stop;

#[cfg(any(test, feature = "testing"))]
pub use belief::pencil::Pencil;
#[cfg(any(test, feature = "testing"))]
pub use belief::prior::Prior;
pub use belief::scale::LARGEST_RATIO;
pub(crate) use belief::sites::Sites;
pub use belief::{Belief, Width};
#[cfg(any(test, feature = "testing"))]
pub(crate) use belief::{choice::Choice, log_weights::LogWeights};
pub use decisions::{Decisions, Tendency};
#[cfg(any(test, feature = "testing"))]
pub(crate) use features::Features;
#[cfg(any(test, feature = "testing"))]
pub(crate) use inquiry::Inquiry;
pub use plan::Adaptive;
pub(crate) use probit::{Probit, Said};
pub use progress::Left;
pub(crate) use question::Direction;
pub use stop::Stop;
