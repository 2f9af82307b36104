//! Predictions on rows whose class is known: what they allow, thresholds, rules.

use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::metric::{Metric, confusions};
use crate::questions::{self, Doubt, flat, post_shift};
use equipoise::decide::threshold::{Requirement, tune};
use equipoise::population::{Confusions as _, Population as _, PostShift, Profile, Score};
use equipoise::space::AnySpace;
use equipoise_data::{Groups, Reliability, Sample, Table, operating_point, space_for};
use numpy::{
    PyArray1, PyArray4, PyArray5, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyReadonlyArray4,
};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// Bins of a reliability curve.
const BINS: usize = 10;

/// The arguments of `Predictions`, as arrays of their own.
type Parts<'py> = (
    Vec<String>,
    Bound<'py, PyArray1<u8>>,
    Vec<Bound<'py, PyArray1<f64>>>,
    Option<Bound<'py, PyArray1<u16>>>,
    Vec<String>,
    Option<Bound<'py, PyArray1<f64>>>,
);

/// True classes and class probabilities of some rows.
#[pyclass(module = "equipoise._core", frozen)]
pub struct Predictions(Arc<Sample<Table>>);

#[pymethods]
impl Predictions {
    /// Codes of the true classes, a column of probabilities per class, codes of groups if there are any, and weights.
    #[new]
    #[pyo3(signature = (classes, truth, probabilities, groups=None, group_names=vec![], weights=None))]
    fn new(
        py: Python<'_>,
        classes: Vec<String>,
        truth: PyReadonlyArray1<'_, u8>,
        probabilities: Vec<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u16>>,
        group_names: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let truth = truth.as_slice()?.to_vec();
        let columns: PyResult<Vec<Vec<f64>>> =
            probabilities.iter().map(|p| Ok(p.as_slice()?.to_vec())).collect();
        let columns = columns?;
        let groups = groups.map(|groups| groups.as_slice().map(<[u16]>::to_vec)).transpose()?;
        let weights = weights.map(|weights| weights.as_slice().map(<[f64]>::to_vec)).transpose()?;
        py.detach(|| -> Result<_, String> {
            let said = |error: equipoise_data::Error| error.to_string();
            let mut table = Table::new(classes, truth, columns).map_err(said)?.data;
            if let Some(codes) = groups {
                table = table.with_groups(Groups::new(group_names, codes).map_err(said)?).map_err(said)?;
            }
            if let Some(weights) = weights {
                table = table.with_weights(weights).map_err(said)?;
            }
            Sample::new(table).map_err(|error| error.to_string())
        })
        .map(|sample| Self(Arc::new(sample)))
        .map_err(value_error)
    }

    /// What it was made of: all that makes it again.
    fn __getnewargs__<'py>(&self, py: Python<'py>) -> Parts<'py> {
        let table = self.0.table();
        let columns = (0..table.classes().len()).map(|class| table.probabilities(class));
        (
            table.classes().to_vec(),
            PyArray1::from_slice(py, table.truth()),
            columns.map(|column| PyArray1::from_slice(py, column)).collect(),
            table.groups().map(|groups| PyArray1::from_slice(py, groups.codes())),
            table.groups().map_or_else(Vec::new, |groups| groups.names().to_vec()),
            table.weights().map(|weights| PyArray1::from_slice(py, weights)),
        )
    }

    /// How many rows there are.
    fn rows(&self) -> usize {
        self.0.table().rows()
    }

    /// Joint shares of groups and classes.
    fn shares(&self) -> Vec<Vec<f64>> {
        let Ok(totals) = self.0.totals();
        questions::shares(&totals)
    }

    /// What all rows weigh, if they have weights.
    fn weight(&self) -> Option<f64> {
        let Ok(totals) = self.0.totals();
        totals.weighted.then(|| totals.overall().weight)
    }

    /// The expected calibration error of every class.
    fn calibration(&self) -> Vec<f64> {
        let error = |class| {
            let Ok(profile) = self.0.score_profile(Score::Class(class));
            Reliability::new(&profile, BINS).error()
        };
        (0..self.0.classes()).map(error).collect()
    }

    /// The document of the space that questions about a family are taken from.
    fn space(&self, py: Python<'_>, family: String) -> PyResult<String> {
        let sample = self.0.clone();
        let space = interruptible(py, move || space_for(&*sample, &family))?.map_err(value_error)?;
        serde_json::to_string(&space).map_err(value_error)
    }

    /// The document of the classifiers around a rule: "model" is the most likely class, "balanced" has classes weighed alike,
    /// "metric" is the best rule for a metric. `groups` tells groups apart.
    #[pyo3(signature = (rule, groups, metric=None))]
    fn operating_point(
        &self,
        py: Python<'_>,
        rule: &str,
        groups: bool,
        metric: Option<&Metric>,
    ) -> PyResult<String> {
        let rule = questions::rule_around(rule, metric, self.0.prevalence().class_priors())?;
        let sample = self.0.clone();
        let space =
            interruptible(py, move || operating_point(&*sample, &rule, groups))?.map_err(value_error)?;
        serde_json::to_string(&AnySpace::OperatingPoint(space)).map_err(value_error)
    }

    /// Thresholds for a metric of two classes, one for all or one per group, as a document.
    #[allow(clippy::too_many_arguments)] // Python names them
    fn advise(
        &self,
        py: Python<'_>,
        metric: &Metric,
        requirements: Vec<String>,
        per_group: bool,
        draws: usize,
        level: f64,
        seed: u64,
    ) -> PyResult<String> {
        let requirements = self.requirements(&requirements)?;
        let (sample, metric) = (self.0.clone(), metric.0.clone());
        let doubt = Doubt { draws, level, seed };
        let advice = interruptible(py, move || {
            questions::advise(&scored(&sample)?, &metric, &requirements, per_group, doubt)
        })?;
        advice.map_err(value_error)
    }

    /// The best threshold on the rows, or the best ones per group, without uncertainty: thresholds, value, exact.
    fn best_thresholds(
        &self,
        py: Python<'_>,
        metric: &Metric,
        requirements: Vec<String>,
        per_group: bool,
    ) -> PyResult<(Vec<f64>, f64, bool)> {
        let requirements = self.requirements(&requirements)?;
        let (sample, metric) = (self.0.clone(), metric.0.clone());
        let found = interruptible(py, move || {
            questions::best_thresholds(&scored(&sample)?, &metric, &requirements, per_group)
        })?;
        found.map_err(value_error)?.map_err(value_error)
    }

    /// By how much counts of many classifiers miss requirements in all; 0 for those that keep them.
    fn violations<'py>(
        &self,
        py: Python<'py>,
        requirements: Vec<String>,
        counts: PyReadonlyArray4<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let requirements = self.requirements(&requirements)?;
        let shape = counts.as_array().raw_dim();
        let (groups, k) = (shape[1], shape[2]);
        let missed = |counts: &[f64]| -> equipoise::Result<f64> {
            let confusions = confusions(counts, groups, k)?;
            let by = |requirement: &Requirement| {
                Ok(requirement.value_of(&confusions)?.map_or(1.0, |value| {
                    if requirement.is_met(value) { 0.0 } else { (value - requirement.bound).abs() }
                }))
            };
            requirements.iter().map(by).sum()
        };
        let all = counts.as_slice()?.chunks((groups * k * k).max(1)).map(missed);
        let all = all.collect::<equipoise::Result<Vec<f64>>>().map_err(value_error)?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// The decision curve at threshold probabilities: net benefit, that of treating all, of treating none.
    fn decision_curve(&self, thresholds: Vec<f64>) -> PyResult<Vec<(f64, f64, f64)>> {
        scored(&self.0)
            .and_then(|profile| questions::decision_curve(&profile, &thresholds))
            .map_err(value_error)
    }

    /// The reward matrix that is best for a linear metric where probabilities are calibrated, and the rule in words.
    fn bayes_rule(&self, metric: &Metric) -> PyResult<(Vec<f64>, String)> {
        questions::bayes_rule(metric, self.0.prevalence().class_priors(), self.0.table().classes())
    }

    /// The best rule found near another by weighing the classes' probabilities: factors, rewards, value.
    fn tune(
        &self,
        py: Python<'_>,
        metric: &Metric,
        start: Vec<f64>,
        requirements: Vec<String>,
    ) -> PyResult<(Vec<f64>, Vec<f64>, f64)> {
        let requirements = self.requirements(&requirements)?;
        let start = PostShift::new(self.0.classes(), start).map_err(value_error)?;
        let (sample, metric) = (self.0.clone(), metric.0.clone());
        let tuned = interruptible(py, move || tune(&*sample, &start, &metric, &requirements))?;
        questions::tuned(tuned.map_err(value_error)?)
    }

    /// The shares of rows by rule, group, true class and estimated class; a rule is a reward matrix per group, or one.
    fn confusions<'py>(
        &self,
        py: Python<'py>,
        rules: Vec<PyReadonlyArray3<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let rules = questions::rules(&rules, self.0.classes(), self.0.groups())?;
        let (sample, count) = (self.0.clone(), rules.len());
        let Ok(found) = interruptible(py, move || sample.confusions(&rules).map(|found| flat(&found)))?;
        let (groups, k) = (self.0.groups(), self.0.classes());
        PyArray1::from_vec(py, found).reshape([count, groups, k, k])
    }

    /// The same of thresholds on the probability of the second of two classes.
    fn at_thresholds<'py>(
        &self,
        py: Python<'py>,
        thresholds: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        questions::two_classes(self.0.classes()).map_err(value_error)?;
        let (Ok(found), count) = (self.0.confusions(&questions::cuts(&thresholds)), thresholds.len());
        PyArray1::from_vec(py, flat(&found)).reshape([count, self.0.groups(), 2, 2])
    }

    /// The same over rows drawn again, by draw.
    fn bootstrap<'py>(
        &self,
        py: Python<'py>,
        rules: Vec<PyReadonlyArray3<'py, f64>>,
        draws: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray5<f64>>> {
        let rules = questions::rules(&rules, self.0.classes(), self.0.groups())?;
        let (sample, count) = (self.0.clone(), rules.len());
        let found = interruptible(py, move || -> Vec<f64> {
            let Ok(drawn) = sample.resampled(&rules, seed, draws);
            drawn.iter().flat_map(|draw| flat(draw)).collect()
        })?;
        let (groups, k) = (self.0.groups(), self.0.classes());
        PyArray1::from_vec(py, found).reshape([draws, count, groups, k, k])
    }
}

impl Predictions {
    fn requirements(&self, texts: &[String]) -> PyResult<Vec<Requirement>> {
        let table = self.0.table();
        let groups = table.groups().map_or(&[][..], |groups| groups.names());
        questions::requirements(texts, table.classes(), groups)
    }
}

/// The class every row gets by a rule: a reward matrix per group, or one for all.
#[pyfunction]
#[pyo3(signature = (probabilities, rewards, groups=None))]
pub fn post_shift_predict<'py>(
    py: Python<'py>,
    probabilities: PyReadonlyArray2<'py, f64>,
    rewards: PyReadonlyArray3<'py, f64>,
    groups: Option<PyReadonlyArray1<'py, u16>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let rule = post_shift(&rewards)?;
    let (k, matrices) = (rule.classes(), rewards.as_array().shape()[0]);
    let [rows, columns] = [probabilities.as_array().shape()[0], probabilities.as_array().shape()[1]];
    if columns != k {
        return Err(value_error(format!("probabilities have {columns} columns, expected {k}")));
    }
    let codes = groups.as_ref().map(|groups| groups.as_slice()).transpose()?;
    if matrices > 1 && codes.map(<[u16]>::len) != Some(rows) {
        return Err(value_error("the rule depends on the group, expected a group for every row"));
    }
    if let Some(row) =
        codes.and_then(|codes| codes.iter().position(|&g| matrices > 1 && usize::from(g) >= matrices))
    {
        return Err(value_error(format!("row {row} is in no group of the rule")));
    }
    let flat = probabilities.as_slice()?;
    let labels: Vec<i64> = py.detach(|| {
        let predict = |(row, posterior): (usize, &[f64])| {
            rule.predict(posterior, codes.map_or(0, |codes| usize::from(codes[row]))) as i64
        };
        flat.par_chunks(k).enumerate().map(predict).collect()
    });
    Ok(PyArray1::from_vec(py, labels))
}

/// Rows by the probability of the positive class.
fn scored(sample: &Sample<Table>) -> equipoise::Result<Profile> {
    questions::two_classes(sample.classes())?;
    let Ok(profile) = sample.score_profile(Score::Class(1));
    Ok(profile)
}
