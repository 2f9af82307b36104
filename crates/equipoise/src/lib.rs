//! Finds the classification metric an expert holds, from comparisons of classifiers.
//!
//! An expert rarely knows the cost of a false alarm in units of missed cases, but can say which of two classifiers
//! they would rather have. This crate asks such questions about classifiers that could really be built, and turns
//! the answers into a metric:
//!
//! * [`rates`] and [`view`]: confusion matrices, rates, and which of their entries a point lists;
//! * [`metric`]: linear, linear-fractional, quadratic, polynomial and group-fair metrics, utility or cost;
//! * [`population`] and [`space`]: what is achievable, from laws in closed form or any source of confusion matrices;
//! * [`ask`]: who answers, simulated with noise or real; any procedure as ask-and-answer, resumable and undoable;
//! * [`search`]: the papers' procedures, one file each, in the order of their papers;
//! * [`engine`]: the adaptive procedure, which asks as few questions as information allows;
//! * [`decide`]: models in the order of a metric, thresholds, rules that maximise it, names it is close to.
//!
//! ```
//! use equipoise::{Interview, Metric, Oracle, Step, search, ask::Simulated, population::Logistic, space::Binary};
//!
//! let space = Binary::from_law(Logistic::with_offset(21.0, 6.3)?); // what is achievable
//! let plan = search::BinaryLinear::new(space, 0.01)?; //               how to ask
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

mod any_plan;
pub mod ask;
pub mod decide;
mod document;
pub mod engine;
mod error;
mod linalg;
pub mod metric;
pub mod population;
mod quadrature;
pub mod rates;
pub mod search;
mod seed;
pub mod space;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod view;

pub use any_plan::AnyPlan;
pub use ask::{Answer, Answered, Divergence, Interview, Oracle, Outcome, Plan, Preference, Query, Step};
pub use decide::Spread;
pub use document::FORMAT;
pub use error::{Error, Result};
pub use metric::{Metric, Sense};
pub use rates::{Confusion, GroupConfusions, GroupShares, Prevalence, Rates};
pub use seed::stream;
pub use view::{Measure, Point, View};

/// The code of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
