//! Scores, rankings and their agreement. Structured results travel as JSON; Python makes dataclasses of them.

use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::metric::{Metric, confusions};
use equipoise::decide::rank::{Candidate, rank};
use equipoise::{decide::agreement, decide::nearest};
use numpy::PyReadonlyArray3;
use pyo3::prelude::*;

/// Ranks models given by name and draws of their counts; the first of the counts is what was measured.
#[pyfunction]
pub fn rank_models(
    py: Python<'_>,
    models: Vec<(String, Vec<PyReadonlyArray3<'_, f64>>)>,
    metric: &Metric,
    draws: usize,
    seed: u64,
    level: f64,
) -> PyResult<String> {
    let candidates = models
        .into_iter()
        .map(|(name, counts)| {
            let mut matrices = counts.iter().map(matrix).collect::<PyResult<Vec<_>>>()?;
            if matrices.is_empty() {
                return Err(value_error(format!("model {name} has no counts")));
            }
            let measured = matrices.remove(0);
            Ok(Candidate::new(name, measured).with_draws(matrices))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let metric = metric.clone();
    let work = move || rank(&candidates, &metric.0, &metric.drawn(draws, seed), level);
    let ranking = interruptible(py, work)?.map_err(value_error)?;
    let statement = ranking.statement();
    let mut document = serde_json::to_value(&ranking).map_err(value_error)?;
    document["statement"] = statement.into();
    Ok(document.to_string())
}

/// The metrics with names, by how well they agree on a pool of counts.
#[pyfunction]
pub fn nearest_named(metric: &Metric, pool: Vec<PyReadonlyArray3<'_, f64>>) -> PyResult<String> {
    let pool = pool.iter().map(matrix).collect::<PyResult<Vec<_>>>()?;
    let found = nearest::nearest(&metric.0, &pool).map_err(value_error)?;
    serde_json::to_string(&found).map_err(value_error)
}

/// Kendall's tau-b of two orders; `None` where one of them has ties only.
#[pyfunction]
pub fn kendall_tau(first: Vec<f64>, second: Vec<f64>) -> PyResult<Option<f64>> {
    agreement::kendall_tau(&first, &second).map_err(value_error)
}

/// The normalised discounted cumulative gain of an order, with exponential gain.
#[pyfunction]
pub fn ndcg(truth: Vec<f64>, found: Vec<f64>) -> PyResult<f64> {
    agreement::ndcg(&truth, &found).map_err(value_error)
}

fn matrix(counts: &PyReadonlyArray3<'_, f64>) -> PyResult<equipoise::GroupConfusions> {
    let shape = counts.as_array().raw_dim();
    confusions(counts.as_slice()?, shape[0], shape[1]).map_err(value_error)
}
