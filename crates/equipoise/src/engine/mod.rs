//! The adaptive engine: a posterior over the metric, and questions that split it best.
//!
//! The papers' searches spend hundreds of questions; people answer a few dozen. The engine keeps a [`Posterior`] over the
//! weights of any family that is linear in [`Features`] of the confusion matrix, asks the pair that splits it best
//! ([`ask`]), and stops when the angle that holds the truth with 95 % certainty is small enough. [`Adaptive`] is the plan;
//! [`AdaptiveRatio`] is the plan for two classes, where one number is known exactly, with its interval.

pub mod adversary;
pub mod ask;
pub mod check;
mod features;
mod floor;
mod memory;
mod normal;
pub mod people;
mod plan;
mod posterior;
mod progress;
mod ratio;
mod ratio_plan;
mod rivals;
mod session;

pub use features::Features;
pub use floor::floor_bits;
pub use memory::{Memory, Snapshot};
pub use plan::{Adaptive, Answers};
pub use posterior::{Evidence, Posterior};
pub use progress::Left;
pub use ratio::{Noise, RatioPosterior};
pub use ratio_plan::{AdaptiveRatio, Decision};
pub use session::{AnswerModel, Session};
