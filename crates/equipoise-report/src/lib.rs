#![forbid(unsafe_code)]
//! What a study found: a pure function of its log.
//!
//! For each participant the sentence with its interval, how well the metric predicts answers that were kept out of it,
//! and how consistent the answers are; for all together what they have in common, where they differ, and which model and
//! threshold follow. A metric the answers do not support is refused, with the reason.
//!
//! [`report()`] makes the values, which are the JSON document; [`html`] writes them as a page with the templates.

mod chance;
mod choice;
mod consistency;
mod fidelity;
pub mod group;
mod influence;
mod jobs;
mod models;
mod own;
mod page;
mod person;
mod rates;
mod refused;
mod report;
mod rows;
mod sensitivity;
mod sentence;
mod threshold;
mod times;

pub use choice::{Share, shares};
pub use consistency::{Against, Consistency, Contradiction};
pub use fidelity::{Agreement, Fidelity, Shares, StatedAgainstElicited};
pub use influence::{Change, Influence};
pub use models::{Help, ModelReport, SETTLED, models};
pub use own::{Best, BestMistake, Own, own};
pub use page::{STYLE_INSIDE, choices, html, html_with_appendix, write_content, write_html};
pub use person::{PersonReport, Ratio, TracePoint, Weight, person};
pub use rates::{ExchangeRate, GapPrice, Worth, worths};
pub use refused::{Refused, refused};
pub use report::{Counts, Group, Options, Progress, Report, report, report_while};
pub use rows::Rows;
pub use sensitivity::{Sensitivity, VariantEffect, Variation};
pub use threshold::{Curve, Measured, ThresholdReport, threshold};
pub use times::{Slope, TimePoint};
