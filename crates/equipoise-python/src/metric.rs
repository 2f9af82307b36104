//! Metrics.

use crate::error::value_error;
use equipoise::metric::Named;
use equipoise::{GroupConfusions, Prevalence};
use numpy::{PyArray1, PyReadonlyArray3, PyReadonlyArray4};
use pyo3::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The Rust half of `equipoise.Metric`.
#[pyclass(module = "equipoise._core", frozen, from_py_object)]
#[derive(Clone)]
pub struct Metric(pub equipoise::Metric);

#[pymethods]
impl Metric {
    /// Reads a metric document.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        equipoise::Metric::from_json(text).map(Self).map_err(value_error)
    }

    /// The metric people mean by a word, for data with these joint shares of groups and classes.
    #[staticmethod]
    fn named(word: &str, shares: Vec<Vec<f64>>) -> PyResult<Option<Self>> {
        let prevalence = prevalence(&shares).map_err(value_error)?;
        let metric = Named::parse(word).map(|named| named.metric(&prevalence).map_err(value_error));
        Ok(metric.transpose()?.map(Self))
    }

    /// The metric document.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.family().kind()
    }

    #[getter]
    fn measure(&self) -> &'static str {
        self.0.view().measure().name()
    }

    #[getter]
    fn sense(&self) -> &'static str {
        match self.0.sense() {
            equipoise::Sense::Utility => "utility",
            equipoise::Sense::Cost => "cost",
        }
    }

    #[getter]
    fn class_count(&self) -> usize {
        self.0.view().classes()
    }

    #[getter]
    fn group_count(&self) -> usize {
        self.0.view().groups()
    }

    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.0.class_names().map(<[String]>::to_vec)
    }

    fn with_class_names(&self, names: Vec<String>) -> PyResult<Self> {
        self.0.clone().with_class_names(names).map(Self).map_err(value_error)
    }

    #[getter]
    fn group_names(&self) -> Option<Vec<String>> {
        self.0.group_names().map(<[String]>::to_vec)
    }

    fn with_group_names(&self, names: Vec<String>) -> PyResult<Self> {
        self.0.clone().with_group_names(names).map(Self).map_err(value_error)
    }

    /// The same metric for data with these joint shares of groups and classes.
    fn for_prevalence(&self, shares: Vec<Vec<f64>>) -> PyResult<Self> {
        let found = prevalence(&shares).and_then(|prevalence| self.0.for_prevalence(&prevalence));
        found.map(Self).map_err(value_error)
    }

    #[getter]
    fn cost_ratio(&self) -> Option<f64> {
        self.0.cost_ratio()
    }

    /// Low end, high end (if there is one) and level of the interval of the cost ratio.
    #[getter]
    fn cost_ratio_interval(&self) -> Option<(f64, Option<f64>, f64)> {
        self.0.interval().map(|interval| (interval.low(), interval.high(), interval.level()))
    }

    /// The value at counts of one classifier, by group, true class and estimated class.
    fn value(&self, counts: PyReadonlyArray3<'_, f64>) -> PyResult<f64> {
        let shape = counts.as_array().raw_dim();
        let confusions = confusions(counts.as_slice()?, shape[0], shape[1]).map_err(value_error)?;
        self.0.of(&confusions).map_err(value_error)
    }

    /// The values at counts of many classifiers.
    fn values<'py>(
        &self,
        py: Python<'py>,
        counts: PyReadonlyArray4<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let shape = counts.as_array().raw_dim();
        let (groups, k) = (shape[1], shape[2]);
        let values = counts
            .as_slice()?
            .chunks((groups * k * k).max(1))
            .map(|counts| self.0.of(&confusions(counts, groups, k)?));
        let values = values.collect::<equipoise::Result<Vec<f64>>>().map_err(value_error)?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The value at coordinates of the metric's own measure.
    fn at(&self, point: Vec<f64>) -> PyResult<f64> {
        self.check_point(&point)?;
        Ok(self.0.value(&point))
    }

    /// The coordinates of counts in the metric's own measure.
    fn point(&self, counts: PyReadonlyArray3<'_, f64>) -> PyResult<Vec<f64>> {
        let shape = counts.as_array().raw_dim();
        let confusions = confusions(counts.as_slice()?, shape[0], shape[1]).map_err(value_error)?;
        self.0.view().of(&confusions).map_err(value_error)
    }

    /// The gradient there.
    fn gradient(&self, point: Vec<f64>) -> PyResult<Vec<f64>> {
        self.check_point(&point)?;
        Ok(self.0.gradient(&point))
    }

    /// Draws of the metric's posterior; empty without one.
    fn draws(&self, count: usize, seed: u64) -> Vec<Self> {
        self.drawn(count, seed).into_iter().map(Self).collect()
    }

    /// A Python file that scores by the metric, with draws of its posterior.
    fn to_python(&self, draws: usize, seed: u64) -> String {
        self.0.to_python(&self.drawn(draws, seed))
    }

    /// The names `(group, truth, estimate)` of the coordinates.
    fn entries(&self) -> Vec<(usize, usize, usize)> {
        self.0.view().entries()
    }

    /// How far another metric is: angle, largest and Euclidean difference of coefficients.
    fn difference(&self, other: &Self) -> Option<(f64, f64, f64)> {
        self.0.difference(&other.0).map(|d| (d.angle, d.max_abs, d.l2))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Metric {
    pub(crate) fn drawn(&self, count: usize, seed: u64) -> Vec<equipoise::Metric> {
        self.0.draws(count, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn check_point(&self, point: &[f64]) -> PyResult<()> {
        let expected = self.0.view().dimension();
        match point.len() == expected {
            true => Ok(()),
            false => Err(value_error(format!("point has {} coordinates, expected {expected}", point.len()))),
        }
    }
}

/// Counts as shares of their sum.
pub fn confusions(counts: &[f64], groups: usize, k: usize) -> equipoise::Result<GroupConfusions> {
    let total: f64 = counts.iter().sum();
    let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
    GroupConfusions::new(k, counts.chunks((k * k).max(1)).map(share).take(groups).collect())
}

/// Joint shares of groups and classes as a prevalence.
pub fn prevalence(shares: &[Vec<f64>]) -> equipoise::Result<Prevalence> {
    let k = shares.first().map_or(0, Vec::len);
    let total: f64 = shares.iter().flatten().sum();
    let classes: Vec<f64> = (0..k).map(|class| shares.iter().map(|group| group[class]).sum()).collect();
    // A class that never occurs is shared evenly.
    let share =
        |(part, whole): (&f64, &f64)| if *whole > 0.0 { part / whole } else { 1.0 / shares.len() as f64 };
    let of_group = |group: &Vec<f64>| group.iter().zip(&classes).map(share).collect();
    let shares = equipoise::GroupShares::new(shares.iter().map(of_group).collect())?;
    Prevalence::with_groups(classes.iter().map(|class| class / total).collect(), shares)
}
