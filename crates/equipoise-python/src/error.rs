//! What Python sees when something is wrong: one sentence in a `ValueError` or `TypeError`.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use std::fmt::Display;

/// A `ValueError` with the sentence of any error of the Rust crates.
pub fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
