//! The adaptive engine: a posterior over the metric, and questions that split it best.
//!
//! The papers' searches spend hundreds of questions; people answer a few dozen. The engine keeps a [`Posterior`] over the
//! weights of any family that is linear in [`Features`] of the confusion matrix, asks the pair that splits it best
//! ([`ask`]), and stops when the angle that holds the truth with 95 % certainty is small enough. [`Adaptive`] is the plan;
//! [`AdaptiveRatio`] is the plan for two classes, where one number is known exactly, with its interval;
//! [`AdaptiveFractional`] the one for fractions, whose posterior is a cloud of [`Pencil`]s.

pub mod ask;
pub mod check;
mod decision;
mod draws;
mod features;
mod floor;
mod fractional;
mod models;
mod noise;
mod normal;
mod pairs;
mod particles;
mod pencil;
mod plan;
mod posterior;
mod probit;
mod progress;
mod progress_of_weights;
mod ratio;
mod ratio_plan;
mod session;
mod stop;

pub use decision::Decision;
pub use features::Features;
pub use floor::{floor_bits, pencil_floor_bits};
pub use fractional::{AdaptiveFractional, FractionalSession};
pub use pairs::{Aim, Points};
pub use pencil::Pencil;
pub use plan::Adaptive;
#[cfg(any(test, feature = "testing"))]
pub(crate) use plan::Inquiry;
pub use posterior::Posterior;
pub use probit::{Probit, Said};
pub use progress::Left;
pub use ratio::{LARGEST_RATIO, RatioPosterior};
pub use ratio_plan::{AdaptiveRatio, Settled};
pub use session::Session;
pub use stop::Stop;
