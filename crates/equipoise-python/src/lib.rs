//! The Rust half of the Python package `equipoise`, one file per concept.
//!
//! Documents and structured results travel as JSON, arrays by reference; what people see is written in Python.

mod asking;
mod choose;
mod counts;
mod elsewhere;
mod error;
mod expert;
mod interrupt;
mod interview;
mod labels;
mod metric;
mod optimize;
mod predictions;
mod questions;
mod rank;
mod statements;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::asking::is_turned;
    #[pymodule_export]
    use super::choose::{candidate_words, candidates, chosen, rank_candidates};
    #[pymodule_export]
    use super::counts::confusion_counts;
    #[pymodule_export]
    use super::elsewhere::Elsewhere;
    #[pymodule_export]
    use super::expert::Expert;
    #[pymodule_export]
    use super::interview::Interview;
    #[pymodule_export]
    use super::labels::distinct;
    #[pymodule_export]
    use super::metric::Metric;
    #[pymodule_export]
    use super::optimize::{frank_wolfe, frank_wolfe_predict};
    #[pymodule_export]
    use super::predictions::{Predictions, post_shift_predict};
    #[pymodule_export]
    use super::rank::{kendall_tau, ndcg, nearest_named, rank_models};
    #[pymodule_export]
    use super::statements::Statements;
}
