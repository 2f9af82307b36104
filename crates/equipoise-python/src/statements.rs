//! The text of statements that ask for counts, for whoever sends them from Python.

use crate::error::value_error;
use equipoise::population::Score;
use equipoise_data::read::{self, Dialect};
use pyo3::prelude::*;

/// What is asked of one table.
#[pyclass(module = "equipoise._core", frozen)]
pub struct Statements(read::Statements);

#[pymethods]
impl Statements {
    /// `table` is what stands behind FROM, ready to be written.
    #[new]
    #[pyo3(signature = (dialect, table, truth, scores, groups, weight, heaviest))]
    fn new(
        dialect: &str,
        table: String,
        truth: String,
        scores: Vec<String>,
        groups: Vec<String>,
        weight: Option<String>,
        heaviest: f64,
    ) -> Self {
        let dialect = match dialect {
            "sqlite" => Dialect::SQLITE,
            "backticks" => Dialect::BACKTICKS,
            _ => Dialect::STANDARD,
        };
        Self(read::Statements { dialect, table, truth, scores, groups, weight, heaviest })
    }

    fn check(&self) -> PyResult<String> {
        self.0.check().map_err(value_error)
    }

    fn range(&self, name: &str) -> PyResult<String> {
        self.0.range(name).map_err(value_error)
    }

    fn totals(&self) -> PyResult<String> {
        self.0.totals().map_err(value_error)
    }

    fn sums(&self) -> PyResult<Option<String>> {
        self.0.sums().map_err(value_error)
    }

    fn different(&self, of: usize, other: Option<usize>) -> PyResult<String> {
        self.0.different(score(of, other)).map_err(value_error)
    }

    fn profile(&self, of: usize, other: Option<usize>, in_parts: bool) -> PyResult<String> {
        self.0.profile(score(of, other), in_parts).map_err(value_error)
    }

    fn confusions(&self, classes: usize, matrices: Vec<Vec<f64>>) -> PyResult<String> {
        self.0.confusions(classes, &matrices).map_err(value_error)
    }

    fn different_labels(&self, models: Vec<String>) -> PyResult<String> {
        self.0.different_labels(&models).map_err(value_error)
    }

    fn labels(&self, models: Vec<String>) -> PyResult<String> {
        self.0.labels(&models).map_err(value_error)
    }
}

/// The probability of a class, or its share of that and another one's.
fn score(of: usize, other: Option<usize>) -> Score {
    other.map_or(Score::Class(of), |other| Score::Share(other, of))
}
