//! The adaptive engine.
pub mod ask;
pub mod features;
pub mod normal;
pub mod posterior;
pub mod ratio;
pub mod session;
pub use features::Features;
pub use posterior::{Evidence, Posterior};
