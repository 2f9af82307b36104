//! Interviews.

use crate::error::value_error;
use crate::metric::Metric;
use equipoise::elicit::AnyPlan;
use equipoise::{Answer, Outcome, Preference, Query, Step};
use pyo3::prelude::*;

/// The Rust half of `equipoise.Interview`: a plan and the answers so far.
#[pyclass(module = "equipoise._core")]
pub struct Interview(equipoise::Interview<AnyPlan>);

#[pymethods]
impl Interview {
    /// An interview whose plan is a document.
    #[new]
    fn new(plan: &str) -> PyResult<Self> {
        let plan = serde_json::from_str(plan).map_err(value_error)?;
        Ok(Self(equipoise::Interview::new(plan)))
    }

    /// Reads an interview document.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        equipoise::Interview::from_json(text).map(Self).map_err(value_error)
    }

    /// The interview as a document.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// The pair to ask about next; `None` when all is answered.
    fn question(&self, py: Python<'_>) -> PyResult<Option<(Vec<f64>, Vec<f64>)>> {
        match self.step(py)? {
            Step::Ask(Query { first, second, .. }) => Ok(Some((first, second))),
            Step::Done(_) => Ok(None),
        }
    }

    /// Records an answer to the next question; `shown` is the pair as it was seen, where it was rounded.
    #[pyo3(signature = (preference, shown=None))]
    fn answer(&mut self, preference: &str, shown: Option<(Vec<f64>, Vec<f64>)>) -> PyResult<()> {
        let preference = preference_of(preference)?;
        let shown = shown.map(|(first, second)| Query::new(first, second));
        self.0.answer(Answer { preference, shown }).map_err(value_error)
    }

    /// Takes the last answer back; false if there was none.
    fn undo(&mut self) -> bool {
        self.0.undo().is_some()
    }

    /// How many questions are answered.
    fn answered(&self) -> usize {
        self.0.transcript().len()
    }

    /// The metric and the remarks, once all is answered.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<(Metric, Vec<String>, bool)>> {
        match self.step(py)? {
            Step::Ask(_) => Ok(None),
            Step::Done(outcome) => {
                let identifiable = outcome.identifiable();
                let remarks = outcome.findings.iter().map(ToString::to_string).collect();
                Ok(Some((Metric(outcome.metric), remarks, identifiable)))
            }
        }
    }

    /// What the coordinates of a question are: measure, classes, groups.
    fn view(&self) -> (&'static str, usize, usize) {
        let view = self.0.plan().view();
        (view.measure().name(), view.classes(), view.groups())
    }
}

impl Interview {
    fn step(&self, py: Python<'_>) -> PyResult<Step<Outcome>> {
        py.detach(|| self.0.step()).map_err(value_error)
    }
}

fn preference_of(text: &str) -> PyResult<Preference> {
    match text {
        "first" => Ok(Preference::First),
        "second" => Ok(Preference::Second),
        "tie" => Ok(Preference::CannotTell),
        other => Err(value_error(format!("answer is {other:?}, expected \"first\", \"second\" or \"tie\""))),
    }
}
