//! A metric at work: models in its order, thresholds, rules that maximise it, and names it is close to.

pub mod agreement;
pub mod gate;
pub mod nearest;
pub mod optimize;
pub mod rank;
mod spread;
pub mod threshold;

pub use spread::Spread;
use spread::check_level;
