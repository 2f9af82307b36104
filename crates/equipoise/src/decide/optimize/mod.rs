//! Optimising a metric that the training loss cannot see, without retraining.
//!
//! A trained model's class probabilities on a large training table, which may be noisy or shifted, and on a small clean
//! validation table go in, with a metric that can only be evaluated: a closed form, a black box, or a person comparing
//! classifiers. A post-shift classifier that maximises the metric comes out (thesis, chapter 7).
//!
//! * training rows are a [`Population`](crate::population::Population), asked for moments over
//!   [bases](crate::population::Basis), the functions of a row that weights are built from; validation rows, which judges look
//!   at one by one, are [`Rows`](crate::population::Rows) in memory, and [`Problem`] holds both;
//! * a [`Guide`] says how the metric changes when predictions move a little: by its gradient ([`Metric`](crate::Metric)),
//!   by evaluating it near the current classifier ([`Probing`]), or by comparisons ([`Comparing`]);
//! * example weights follow from those slopes; [`plug_in`] makes a classifier (PI-EW) of them, and
//!   [`FrankWolfe`] repeats it (FW-EG);
//! * [`direct_search`] looks at values alone, [`baselines`] has what one would try first, [`select`](select()) chooses among sets of bases.
//!
//! ```
//! use equipoise::{Metric, decide::optimize::{FrankWolfe, Problem}, population::{Basis, Rows, Scores}};
//! // Two of eight rows are positive, and the model is too sure that they are not.
//! let positive = [0.05, 0.10, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40];
//! let truth = [0, 0, 0, 0, 0, 0, 1, 1];
//! let rows = Rows::new(Scores::new(vec![&positive])?, &truth)?;
//! let problem = Problem::new(&rows, &rows, vec![Basis::All])?;
//! let mut metric = Metric::g_mean(2)?;
//! let outcome = FrankWolfe::default().run(&problem, &mut metric)?;
//! assert_eq!(outcome.classifier.predict(rows.scores())?, [0, 0, 0, 0, 0, 0, 1, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod baselines;
mod closed_form;
mod constraints;
mod direct;
mod frank_wolfe;
mod kmeans;
mod oracle;
mod pairwise;
mod plug_in;
mod probe;
mod problem;
mod select;
mod weights;

pub use direct::direct_search;
pub use frank_wolfe::{FrankWolfe, Stopped};
pub use kmeans::centres;
pub use oracle::{Cause, Failure, Guide, Judge, Labels, Predictions, Probing};
pub use pairwise::Comparing;
pub use plug_in::plug_in;
pub use problem::{Problem, ROWS_PER_WEIGHT};
pub use select::{nested, select};
