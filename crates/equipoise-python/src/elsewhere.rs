//! Rows that stay where they are: a database or an engine is asked for counts, and nothing else of them comes here.
//!
//! Of two classes one score profile answers everything ([`Counted`]). Of more, Python is asked for a profile, or for the counts of
//! a batch of rules, whenever a search needs them.

use crate::error::value_error;
use crate::metric::Metric;
use crate::questions::{self, Doubt, flat};
use equipoise::decide::threshold::tune;
use equipoise::population::{
    Ask, AskError, Basis, Cell, Confusions, Population, PostShift, Profile, Rule, Score, Total, Totals,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise::space::AnySpace;
use equipoise_data::{Counted, Reliability, Sample, Table, operating_point, space_for};
use numpy::{PyArray1, PyArray4, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray3};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::prelude::*;

/// Bins of a reliability curve.
const BINS: usize = 10;

/// A profile as Python hands it over: score, group, whether positive, rows, the sums of weights and of their squares of each cell, and
/// whether scores are in buckets.
type Counts<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, u16>,
    PyReadonlyArray1<'py, bool>,
    PyReadonlyArray1<'py, u64>,
    Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)>,
    bool,
);

/// Numbers by group and class.
type ByGroup = Vec<Vec<f64>>;

/// Predictions that are somewhere else, known by their counts.
#[pyclass(module = "equipoise._core", frozen)]
pub struct Elsewhere {
    classes: Vec<String>,
    groups: Vec<String>,
    totals: Totals,
    prevalence: Prevalence,
    /// Everything there is to know of two classes.
    counted: Option<Counted>,
    /// Whoever has the rows: `profile(class, other)` and `confusions(rules)`.
    source: Py<PyAny>,
}

#[pymethods]
impl Elsewhere {
    /// Names, and by group and class: rows, and if they have weights the sums of these and of their squares.
    #[new]
    #[pyo3(signature = (classes, groups, rows, weights, source))]
    fn new(
        py: Python<'_>,
        classes: Vec<String>,
        groups: Vec<String>,
        rows: Vec<Vec<u64>>,
        weights: Option<(ByGroup, ByGroup)>,
        source: Py<PyAny>,
    ) -> PyResult<Self> {
        let mut totals = Totals::new(classes.len(), groups.len().max(1), weights.is_some());
        for (group, cells) in totals.cells.iter_mut().enumerate() {
            for (class, cell) in cells.iter_mut().enumerate() {
                let missing = || value_error("rows and weights are not by group and class");
                let of = |table: &ByGroup| -> PyResult<f64> {
                    table.get(group).and_then(|row| row.get(class)).copied().ok_or_else(missing)
                };
                let rows = rows.get(group).and_then(|row| row.get(class)).copied().ok_or_else(missing)?;
                let (weight, squares) = match &weights {
                    Some((sums, squares)) => (of(sums)?, of(squares)?),
                    None => (rows as f64, rows as f64),
                };
                *cell = Total { rows, weight, squares };
            }
        }
        let prevalence = totals.prevalence().map_err(value_error)?;
        let mut elsewhere = Self { classes, groups, totals, prevalence, counted: None, source };
        if elsewhere.classes.len() == 2 {
            let profile = elsewhere.asked_profile(py, Score::Class(1))?;
            let (classes, groups) = (elsewhere.classes.clone(), elsewhere.groups.clone());
            let counted = Counted::new(classes, groups, profile, elsewhere.totals.clone());
            elsewhere.counted = Some(counted.map_err(value_error)?);
        }
        Ok(elsewhere)
    }

    /// How many rows there are.
    fn rows(&self) -> u64 {
        self.totals.overall().rows
    }

    /// Joint shares of groups and classes.
    fn shares(&self) -> Vec<Vec<f64>> {
        questions::shares(&self.totals)
    }

    /// What all rows weigh, if they have weights.
    fn weight(&self) -> Option<f64> {
        self.totals.weighted.then(|| self.totals.overall().weight)
    }

    /// The expected calibration error of every class.
    fn calibration(&self) -> PyResult<Vec<f64>> {
        let error = |class| Ok(Reliability::new(&self.score_profile(Score::Class(class))?, BINS).error());
        (0..self.classes.len()).map(error).collect()
    }

    /// The document of the space that questions about a family are taken from.
    fn space(&self, family: &str) -> PyResult<String> {
        serde_json::to_string(&space_for(self, family).map_err(told)?).map_err(value_error)
    }

    /// As `Predictions.operating_point`.
    #[pyo3(signature = (rule, groups, metric=None))]
    fn operating_point(&self, rule: &str, groups: bool, metric: Option<&Metric>) -> PyResult<String> {
        let rule = questions::rule_around(rule, metric, self.prevalence.class_priors())?;
        let space = operating_point(self, &rule, groups).map_err(told)?;
        serde_json::to_string(&AnySpace::OperatingPoint(space)).map_err(value_error)
    }

    /// As `Predictions.advise`.
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
        let requirements = questions::requirements(&requirements, &self.classes, &self.groups)?;
        let profile = self.two()?.profile();
        let doubt = Doubt { draws, level, seed };
        py.detach(|| questions::advise(profile, &metric.0, &requirements, per_group, doubt))
            .map_err(value_error)
    }

    /// The decision curve at threshold probabilities: net benefit, that of treating all, of treating none.
    fn decision_curve(&self, thresholds: Vec<f64>) -> PyResult<Vec<(f64, f64, f64)>> {
        questions::decision_curve(self.two()?.profile(), &thresholds).map_err(value_error)
    }

    /// As `Predictions.bayes_rule`.
    fn bayes_rule(&self, metric: &Metric) -> PyResult<(Vec<f64>, String)> {
        questions::bayes_rule(metric, self.prevalence.class_priors(), &self.classes)
    }

    /// As `Predictions.tune`.
    fn tune(
        &self,
        metric: &Metric,
        start: Vec<f64>,
        requirements: Vec<String>,
    ) -> PyResult<(Vec<f64>, Vec<f64>, f64)> {
        let requirements = questions::requirements(&requirements, &self.classes, &self.groups)?;
        let start = PostShift::new(self.classes.len(), start).map_err(value_error)?;
        questions::tuned(tune(self, &start, &metric.0, &requirements).map_err(told)?)
    }

    /// As `Predictions.confusions`.
    #[pyo3(name = "confusions")]
    fn matrices<'py>(
        &self,
        py: Python<'py>,
        rules: Vec<PyReadonlyArray3<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let (groups, k) = (self.totals.cells.len(), self.classes.len());
        let rules = questions::rules(&rules, k, groups)?;
        let found = Confusions::confusions(self, &rules)?;
        PyArray1::from_vec(py, flat(&found)).reshape([rules.len(), groups, k, k])
    }

    /// As `Predictions.at_thresholds`.
    fn at_thresholds<'py>(
        &self,
        py: Python<'py>,
        thresholds: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let (Ok(found), count) = (self.two()?.confusions(&questions::cuts(&thresholds)), thresholds.len());
        PyArray1::from_vec(py, flat(&found)).reshape([count, self.totals.cells.len(), 2, 2])
    }
}

impl Elsewhere {
    fn two(&self) -> PyResult<&Counted> {
        questions::two_classes(self.classes.len()).map_err(value_error)?;
        self.counted.as_ref().ok_or_else(|| PyRuntimeError::new_err("two classes without a profile"))
    }

    fn asked_profile(&self, py: Python<'_>, score: Score) -> PyResult<Profile> {
        let (class, other) = match score {
            Score::Class(class) => (class, None),
            Score::Share(other, class) => (class, Some(other)),
        };
        let found = self.source.bind(py).call_method1("profile", (class, other))?;
        let (scores, groups, positive, rows, weights, bucketed) = found.extract::<Counts<'_>>()?;
        let (scores, groups, positive) = (scores.as_slice()?, groups.as_slice()?, positive.as_slice()?);
        let both = |(weights, squares): &(PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>)| {
            Ok::<_, PyErr>((weights.as_slice()?.to_vec(), squares.as_slice()?.to_vec()))
        };
        let (rows, weights) = (rows.as_slice()?, weights.as_ref().map(both).transpose()?);
        let mut cells = Vec::with_capacity(scores.len());
        for n in 0..scores.len() {
            let counted = rows[n] as f64;
            let (weight, squares) =
                weights.as_ref().map_or((counted, counted), |(weights, squares)| (weights[n], squares[n]));
            let cell =
                Cell { score: scores[n], weight: 1.0, rows: 0, group: groups[n], positive: positive[n] };
            cells.extend(cell.counted(rows[n], weight, squares));
        }
        let (groups, total) = (self.totals.cells.len(), self.totals.overall().weight);
        Ok(if bucketed {
            Profile::in_buckets(cells, groups, total)
        } else {
            Profile::new(cells, groups, total)
        })
    }

    fn asked_confusions(&self, py: Python<'_>, rules: &[Rule]) -> PyResult<Vec<GroupConfusions>> {
        let (groups, k, total) = (self.totals.cells.len(), self.classes.len(), self.totals.overall().weight);
        let rewards = |rule: &Rule| match rule {
            Rule::PostShift(rule) => {
                let parts = if rule.is_per_group() { groups } else { 1 };
                Ok((0..parts).map(|group| rule.rewards(group).to_vec()).collect())
            }
            _ => {
                Err(PyNotImplementedError::new_err("rows elsewhere are asked about weights of classes only"))
            }
        };
        let rules = rules.iter().map(rewards).collect::<PyResult<Vec<Vec<Vec<f64>>>>>()?;
        let found: Vec<Vec<f64>> = self.source.bind(py).call_method1("confusions", (rules,))?.extract()?;
        let matrix = |counts: &Vec<f64>| {
            let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
            GroupConfusions::new(k, counts.chunks(k * k).map(share).collect()).map_err(value_error)
        };
        found.iter().map(matrix).collect()
    }
}

fn told(error: AskError<PyErr>) -> PyErr {
    match error {
        AskError::Input(error) => value_error(error),
        AskError::Population(error) => error,
    }
}

fn stays(what: &str) -> PyErr {
    let sentence =
        format!("{what} of more than 2 classes needs the rows themselves, which stay where they are");
    PyNotImplementedError::new_err(sentence)
}

impl Confusions for Elsewhere {
    type Err = PyErr;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[Rule]) -> PyResult<Vec<GroupConfusions>> {
        match &self.counted {
            Some(counted) => {
                let Ok(found) = counted.confusions(rules);
                Ok(found)
            }
            None => Python::attach(|py| self.asked_confusions(py, rules)),
        }
    }
}

impl Population for Elsewhere {
    type Part = Sample<Table>;

    fn totals(&self) -> PyResult<Totals> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> PyResult<Profile> {
        match &self.counted {
            Some(counted) => {
                let Ok(found) = counted.score_profile(score);
                Ok(found)
            }
            None => Python::attach(|py| self.asked_profile(py, score)),
        }
    }

    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> PyResult<Vec<Vec<GroupConfusions>>> {
        let counted = self.counted.as_ref().ok_or_else(|| stays("drawing rows again"))?;
        let Ok(found) = counted.resampled(rules, seed, draws);
        Ok(found)
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, PyErr>, AskError<PyErr>> {
        let counted = self.counted.as_ref().ok_or_else(|| AskError::Population(stays("optimisation")))?;
        let ask = counted.moments(bases).map_err(equipoise::Error::from)?;
        Ok(Box::new(move |rules| {
            let Ok(found) = ask(rules);
            Ok(found)
        }))
    }

    fn sample(&self, rows: usize, seed: u64) -> PyResult<Sample<Table>> {
        let counted = self.counted.as_ref().ok_or_else(|| stays("a sample"))?;
        let Ok(found) = counted.sample(rows, seed);
        Ok(found)
    }
}
