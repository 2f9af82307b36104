//! Finds the classification metric an expert holds, from comparisons of classifiers.
//!
//! An expert rarely knows the cost of a false alarm in units of missed cases, but can say which of two classifiers
//! they would rather have. This crate asks such questions about classifiers that could really be built, and turns
//! the answers into a metric:
//!
//! * [`rates`] and [`view`]: confusion matrices, rates, and which of their entries a point lists;
//! * [`metric`]: linear, linear-fractional, quadratic, polynomial and group-fair metrics, utility or cost;
//! * [`population`] and [`space`]: what is achievable, from laws in closed form or any source of confusion matrices;
//! * [`oracle`]: who answers, simulated with noise or real;
//! * [`elicit`]: the procedures, one file each, in the order of their papers;
//! * [`Interview`]: any procedure as ask-and-answer, resumable and undoable;
//! * [`rank`], [`agreement`] and [`nearest`]: models in the order of a metric, and which named metric orders them alike;
//! * [`optimize`]: classifiers that maximise a metric the training loss cannot see, without retraining;
//! * [`threshold`]: where to cut scores, for all or per group, and the reward matrix for many classes.
//!
//! ```
//! use equipoise::{Interview, Metric, Oracle, Step, elicit, oracle::Simulated, population::Logistic, space::Binary};
//!
//! let space = Binary::from_law(Logistic::with_offset(21.0, 6.3)?); // what is achievable
//! let plan = elicit::BinaryLinear::new(space, 0.01)?; //               how to ask
//! let hidden = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[6,1]}"#;
//! let mut expert = Simulated::new(Metric::from_json(hidden)?); //      who answers
//! let mut interview = Interview::new(plan);
//! let outcome = loop {
//!     match interview.step()? {
//!         Step::Ask(query) => interview.answer(expert.prefer(&query)?)?,
//!         Step::Done(outcome) => break outcome,
//!     }
//! };
//! let ratio = outcome.metric.cost_ratio().unwrap();
//! assert!((ratio - 6.0).abs() < 0.3, "a missed case costs {ratio:.1} false alarms");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Papers: Hiranandani, Boodaghians, Mehta, Koyejo (AISTATS 2019, NeurIPS 2019), Hiranandani, Narasimhan, Koyejo (NeurIPS
//! 2020), Hiranandani, Mathur, Narasimhan, Koyejo (UAI 2022), and Hiranandani's thesis (UIUC 2021), whose equation and
//! algorithm numbers the documentation cites. Departures from the print are named where they are made.
#![forbid(unsafe_code)]

pub mod agreement;
mod document;
pub mod elicit;
pub mod engine;
mod error;
mod interview;
mod linalg;
pub mod metric;
pub mod nearest;
pub mod optimize;
pub mod oracle;
pub mod population;
pub mod rank;
pub mod rates;
pub mod resample;
pub mod simulation;
pub mod space;
mod spread;
pub mod threshold;
pub mod view;

pub use document::FORMAT;
pub use elicit::{Outcome, Plan};
pub use error::{Error, Result};
pub use interview::{Answered, Divergence, Interview, Step};
pub use metric::{Metric, Sense};
pub use oracle::{Answer, Oracle, Preference, Query};
pub use rates::{Confusion, GroupConfusions, GroupShares, Prevalence, Rates};
pub use simulation::Simulation;
pub use spread::Spread;
pub use view::{Measure, Point, View};

/// The code of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
