#![forbid(unsafe_code)]
//! TEMP

mod document;
pub mod elicit;
mod error;
mod interview;
mod linalg;
pub mod metric;
pub mod oracle;
pub mod population;
pub mod rates;
pub mod simulation;
pub mod space;
pub mod view;

pub use elicit::{Outcome, Plan};
pub use error::{Error, Result};
pub use interview::{Answered, Divergence, Interview, Step};
pub use metric::{Metric, Sense};
pub use oracle::{Answer, Oracle, Preference, Query};
pub use rates::{Confusion, GroupConfusions, GroupShares, Prevalence, Rates};
pub use simulation::Simulation;
pub use view::{Measure, Point, View};
