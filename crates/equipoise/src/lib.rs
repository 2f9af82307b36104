#![forbid(unsafe_code)]
//! TEMP

mod document;
pub mod elicit;
mod error;
mod linalg;
pub mod metric;
pub mod oracle;
pub mod population;
pub mod rates;
pub mod space;
pub mod view;

pub use error::{Error, Result};
pub use metric::{Metric, Sense};
pub use oracle::{Answer, Oracle, Preference, Query};
pub use rates::{Confusion, GroupConfusions, GroupShares, Prevalence, Rates};
pub use view::{Measure, Point, View};
