//! Where to cut scores so that a metric is best, and what the rule for many classes is.
//!
//! A table of scores and true classes has only finitely many thresholds that differ: one below every distinct score, and
//! one above all. [`Profile::best`](crate::population::Profile::best) tries every one of them, so no single threshold does better on the table, for any
//! metric of the two-class confusion matrix. Beside it stands the threshold that theory gives for calibrated scores
//! ([`bayes`]), thresholds per group ([`Profile::best_per_group`](crate::population::Profile::best_per_group)), requirements such as `recall:malignant>=0.9`
//! ([`Requirement`]), the decision curve ([`Profile::decision_curve`](crate::population::Profile::decision_curve)) and the reward matrix for many classes ([`rewards`]).

mod advice;
mod bayes;
mod bootstrap;
mod corners;
mod curve;
mod groups;
mod requirement;
mod rewards;
mod sweep;
mod tally;
mod tune;

pub use advice::{Advice, Chosen, GroupAdvice, RARE};
pub use bayes::{Bayes, bayes};
pub use bootstrap::{Bootstrap, Redrawn, Run, in_turn};
pub use curve::net_benefit;
pub use requirement::Requirement;
pub use rewards::{decision_text, rewards};
pub use sweep::Optimum;
pub use tune::{Tuned, tune};
