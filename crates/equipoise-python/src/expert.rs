//! Simulated experts.

use crate::error::value_error;
use crate::metric::Metric;
use equipoise::ask::{NoiseModel, Oracle as _, Simulated};
use equipoise::{Preference, Query};
use pyo3::prelude::*;

/// Somebody who answers by a metric, with the mistakes a noise document describes.
#[pyclass(module = "equipoise._core")]
pub struct Expert(Simulated);

#[pymethods]
impl Expert {
    #[new]
    fn new(metric: &Metric, noise: &str, seed: u64) -> PyResult<Self> {
        let noise: NoiseModel = serde_json::from_str(noise).map_err(value_error)?;
        Simulated::with_noise(metric.0.clone(), noise, seed).map(Self).map_err(value_error)
    }

    /// Which of two points, in the coordinates of the metric, is better: "first" or "second".
    fn prefer(&mut self, first: Vec<f64>, second: Vec<f64>) -> PyResult<&'static str> {
        let dimension = self.0.metric().view().dimension();
        for (name, point) in [("first", &first), ("second", &second)] {
            if point.len() != dimension {
                let found = point.len();
                return Err(value_error(format!("{name} has {found} coordinates, expected {dimension}")));
            }
        }
        let Ok(answer) = self.0.prefer(&Query::new(first, second));
        Ok(if answer.preference == Preference::First { "first" } else { "second" })
    }
}
