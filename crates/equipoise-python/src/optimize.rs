//! Frank-Wolfe with elicited gradients, for metrics in closed form and for Python functions.

use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::metric::Metric;
use equipoise::decide::optimize::{
    Cause, Failure, FrankWolfe, Guide, Judge, Labels, Predictions, Probing, Problem, direct_search,
};
use equipoise::population::{AskError, Basis, Classifier, Column, Rows, Scores};
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use std::convert::Infallible;

/// Calls of a function that a direct search may make where nobody says otherwise.
const CALLS: usize = 300;
/// Class probabilities that a direct search for a metric in closed form may look at, about.
const VALUES: usize = 200_000_000;

/// A classifier's document and what a reader should know.
type Found = (String, Vec<String>);

/// A post-shift classifier of class probabilities for a metric; by group, if its weights may differ between groups.
///
/// `metric` is a `Metric`, or a function of soft predictions, an array of shape (rows, classes), to a number.
#[pyfunction]
#[pyo3(signature = (probabilities, truth, metric, groups, group_count, by_group, iterations, most_calls=None, weights=None))]
#[allow(clippy::too_many_arguments)] // Python names them
pub fn frank_wolfe(
    py: Python<'_>,
    probabilities: Vec<PyReadonlyArray1<'_, f64>>,
    truth: PyReadonlyArray1<'_, u8>,
    metric: &Bound<'_, PyAny>,
    groups: Option<PyReadonlyArray1<'_, u16>>,
    group_count: usize,
    by_group: bool,
    iterations: usize,
    most_calls: Option<usize>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Found> {
    let rows = Owned {
        probabilities: columns(&probabilities)?,
        truth: truth.as_slice()?.to_vec(),
        groups: groups.map(|groups| groups.as_slice().map(<[u16]>::to_vec)).transpose()?,
        weights: weights.map(|weights| weights.as_slice().map(<[f64]>::to_vec)).transpose()?,
        group_count,
        by_group,
        iterations,
        most_calls,
    };
    if let Ok(metric) = metric.cast::<Metric>() {
        let mut metric = metric.get().0.clone();
        let mut search = move || {
            let mut values = Probing::new(metric.clone());
            let work = (rows.truth.len() * rows.probabilities.len()).max(1);
            let most = (VALUES / work).clamp(CALLS, 10 * CALLS);
            rows.run(&mut metric, |problem, _, found| better(problem, &mut values, found, most))
        };
        let found = interruptible(py, move || search().map_err(Failed::sentence))?;
        return found.map_err(value_error);
    }
    let mut guide = Probing::new(Called(metric.clone().unbind()));
    // Other threads run between the calls of the metric.
    let finish = |problem: &Problem, guide: &mut Probing<Called>, found: &Classifier| {
        let left = rows.most_calls.map_or(CALLS, |most| most.saturating_sub(guide.queries() + 2));
        better(problem, guide, found, left)
    };
    py.detach(|| rows.run(&mut guide, finish)).map_err(|failed| match failed {
        Failed::Asking(error) => error,
        Failed::Saying(sentence) => value_error(sentence),
    })
}

/// The classes of rows, by the document of a classifier.
#[pyfunction]
#[pyo3(signature = (document, probabilities, groups=None))]
pub fn frank_wolfe_predict<'py>(
    py: Python<'py>,
    document: &str,
    probabilities: Vec<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u16>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let classifier = Classifier::from_json(document).map_err(value_error)?;
    let codes = groups.as_ref().map(|groups| groups.as_slice()).transpose()?;
    let by_group = classifier.bases().iter().any(|basis| matches!(basis, Basis::Column { .. }));
    if by_group && codes.is_none() {
        return Err(value_error("the rule depends on the group: pass sensitive_features to predict"));
    }
    let probabilities = columns(&probabilities)?;
    let flags = if by_group { flags(codes.unwrap_or(&[]), classifier.bases().len()) } else { vec![] };
    let labels =
        scores(&probabilities, &flags).and_then(|scores| classifier.predict(&scores)).map_err(value_error)?;
    Ok(PyArray1::from_vec(py, labels.into_iter().map(i64::from).collect()))
}

/// Rows of their own, so that another thread can work on them.
struct Owned {
    probabilities: Vec<Vec<f64>>,
    truth: Vec<u8>,
    groups: Option<Vec<u16>>,
    weights: Option<Vec<f64>>,
    group_count: usize,
    by_group: bool,
    iterations: usize,
    /// How often a function may be called in all.
    most_calls: Option<usize>,
}

/// Why there is no classifier.
enum Failed<E> {
    /// Whoever was asked failed.
    Asking(E),
    /// A sentence.
    Saying(String),
}

impl<E: std::fmt::Display> Failed<E> {
    fn sentence(self) -> String {
        match self {
            Failed::Asking(error) => error.to_string(),
            Failed::Saying(sentence) => sentence,
        }
    }
}

impl<E> From<equipoise::Error> for Failed<E> {
    fn from(error: equipoise::Error) -> Self {
        Failed::Saying(error.to_string())
    }
}

impl<E> From<AskError<Infallible>> for Failed<E> {
    fn from(error: AskError<Infallible>) -> Self {
        equipoise::Error::from(error).into()
    }
}

impl Owned {
    /// Frank-Wolfe, and what `finish` makes of its result where that is better on the rows.
    fn run<G: Guide>(
        &self,
        guide: &mut G,
        finish: impl FnOnce(&Problem, &mut G, &Classifier) -> Result<Option<Classifier>, Failure<G::Err>>,
    ) -> Result<Found, Failed<G::Err>> {
        let flags = match &self.groups {
            Some(codes) if self.by_group => flags(codes, self.group_count),
            _ => vec![],
        };
        let mut rows = Rows::new(scores(&self.probabilities, &flags)?, &self.truth)?;
        if let Some(codes) = &self.groups {
            rows = rows.with_groups(codes, self.group_count)?;
        }
        if let Some(weights) = &self.weights {
            rows = rows.with_weights(weights.as_slice())?;
        }
        let bases = match flags.is_empty() {
            true => vec![Basis::All],
            false => flags.iter().map(|(name, _)| Basis::column(name)).collect(),
        };
        let problem = Problem::new(&rows, &rows, bases)?;
        // Half of the calls are for slopes, the rest for the direct search.
        let (k, bases) = (problem.classes(), problem.bases().len());
        let each = 1 + bases * if k == 2 { 2 } else { k * (k - 1) };
        let affordable = self.most_calls.map_or(self.iterations, |most| (most / 2 / each).max(1));
        let search = FrankWolfe::default().iterations(self.iterations.min(affordable))?;
        search.check(&problem)?;
        let failed = |failure: Failure<G::Err>| match failure.cause {
            Cause::Failed(error) => Failed::Asking(error),
            Cause::NoNumber(value) => {
                Failed::Saying(format!("the metric is {value}, expected a finite number"))
            }
        };
        let mut outcome = search.run(&problem, guide).map_err(|stopped| failed(stopped.failure))?;
        if let Some(better) = finish(&problem, guide, &outcome.classifier).map_err(failed)? {
            let note = "a direct search over the weights of the classes does better on the rows";
            outcome.notes.push(note.to_owned());
            outcome.classifier = better;
        }
        Ok((outcome.classifier.to_json(), outcome.notes))
    }
}

/// What a direct search by so many values finds, if it is better on the rows than what is known.
fn better<J: Judge>(
    problem: &Problem,
    judge: &mut Probing<J>,
    known: &Classifier,
    most: usize,
) -> Result<Option<Classifier>, Failure<J::Err>> {
    let found = direct_search(problem, judge, most, problem.bases())?;
    let mut value = |classifier: &Classifier| {
        let labels = classifier.predict(problem.validation().scores()).expect("bases of the problem");
        judge.value(&problem.predictions(&labels), "the result")
    };
    Ok((value(&found)? > value(known)?).then_some(found))
}

/// One column per group: whether a row is in it.
fn flags(codes: &[u16], groups: usize) -> Vec<(String, Vec<bool>)> {
    let column = |group: usize| {
        (format!("group {group}"), codes.iter().map(|&code| usize::from(code) == group).collect())
    };
    (0..groups).map(column).collect()
}

fn scores<'a>(
    probabilities: &'a [Vec<f64>],
    flags: &'a [(String, Vec<bool>)],
) -> equipoise::Result<Scores<'a>> {
    let mut scores = Scores::new(probabilities.iter().map(Vec::as_slice).collect())?;
    for (name, column) in flags {
        scores = scores.with_column(name, Column::Flags(column))?;
    }
    Ok(scores)
}

fn columns(arrays: &[PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<Vec<f64>>> {
    arrays.iter().map(|array| Ok(array.as_slice()?.to_vec())).collect()
}

/// A Python function of soft predictions.
struct Called(Py<PyAny>);

impl Judge for Called {
    type Err = PyErr;

    fn labels(&self) -> Labels {
        Labels::Soft
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> PyResult<f64> {
        Python::attach(|py| {
            // A metric that is no Python code would not notice Ctrl-C.
            py.check_signals()?;
            let (soft, k) = (predictions.soft(), predictions.classes());
            let rows = soft.len() / k;
            let array = PyArray1::from_vec(py, soft).reshape([rows, k])?;
            self.0.bind(py).call1((array,))?.extract()
        })
    }
}
