//! Interviews.

use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::metric::Metric;
use equipoise::AnyPlan;
use equipoise::ask::Oracle;
use equipoise::space::AnySpace;
use equipoise::{Answer, Answered, Outcome, Plan as _, Preference, Query, Step};
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// The Rust half of `equipoise.Interview`: a plan and the answers so far.
#[pyclass(module = "equipoise._core")]
pub struct Interview(Arc<equipoise::Interview<AnyPlan>>);

/// Methods from the fewest questions to the most; the last is whatever a plan does when none is named.
const METHODS: [Option<&str>; 3] = [Some("adaptive"), Some("antipodal"), None];

#[pymethods]
impl Interview {
    /// An interview whose plan is a document; without a method, the one with the fewest questions that works.
    #[new]
    fn new(plan: &str) -> PyResult<Self> {
        let plan: Value = serde_json::from_str(plan).map_err(value_error)?;
        if !plan.is_object() {
            return Err(value_error("plan is not an object, expected one with kind and space"));
        }
        let with = |method: Option<&str>| {
            let mut plan = plan.clone();
            if let Some(method) = method {
                plan["method"] = method.into();
            }
            serde_json::from_value::<AnyPlan>(plan)
        };
        let methods = if plan.get("method").is_some() { &[None][..] } else { &METHODS };
        let mut refused = Vec::new();
        for method in methods {
            match with(*method) {
                Ok(plan) => return Ok(Self(Arc::new(equipoise::Interview::new(plan)))),
                Err(error) => refused.push(error.to_string()),
            }
        }
        // A family that lacks the method says so; the others say what is wrong with the options.
        let lacks =
            |sentence: &&String| ["plan.method is", "plan.kind is"].iter().any(|s| sentence.starts_with(s));
        let sentence = refused.iter().find(|sentence| !lacks(sentence)).or(refused.last());
        Err(value_error(sentence.map_or("plan has no method", String::as_str)))
    }

    /// Reads an interview document.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        equipoise::Interview::from_json(text).map(|read| Self(Arc::new(read))).map_err(value_error)
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
        let expected = self.0.plan().view().dimension();
        if let Some((first, second)) = &shown
            && (first.len() != expected || second.len() != expected)
        {
            let (first, second) = (first.len(), second.len());
            let what =
                format!("shown has {first} and {second} entries, expected {expected} of each classifier");
            return Err(value_error(what));
        }
        let shown = shown.map(|(first, second)| Query::new(first, second));
        Arc::make_mut(&mut self.0).answer(Answer { preference, shown }).map_err(value_error)
    }

    /// Asks a function everything at once, from the start; it gets two points and returns a preference.
    ///
    /// Stepping replays what was asked before for every question; this does not, so long searches take no longer than
    /// their questions.
    fn run(slf: &Bound<'_, Self>, oracle: Py<PyAny>) -> PyResult<()> {
        // Not borrowed meanwhile: the function may look at the interview.
        let plan = slf.borrow().0.plan().clone();
        let mut asked = Asked { oracle, transcript: Vec::new() };
        slf.py().detach(|| plan.run(&mut asked).map(|_| ()))?;
        slf.borrow_mut().0 = Arc::new(equipoise::Interview::with_transcript(plan, asked.transcript));
        Ok(())
    }

    /// Takes the last answer back; false if there was none.
    fn undo(&mut self) -> bool {
        Arc::make_mut(&mut self.0).undo().is_some()
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

    /// The method of its plan: what was named, or what was chosen.
    fn method(&self) -> Option<String> {
        let plan = serde_json::to_value(self.0.plan()).ok()?;
        Some(plan.get("method")?.as_str()?.to_owned())
    }

    /// How common the classes are in the plan's space, where it says.
    fn priors(&self) -> Option<Vec<f64>> {
        let plan = serde_json::to_value(self.0.plan()).ok()?;
        match serde_json::from_value(plan.get("space")?.clone()).ok()? {
            AnySpace::Binary(space) => Some(vec![1.0 - space.positive_prior(), space.positive_prior()]),
            AnySpace::Diagonal(space) => Some(space.class_priors().to_vec()),
            _ => None,
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
        let interview = self.0.clone();
        interruptible(py, move || interview.step())?.map_err(value_error)
    }
}

/// A Python function that answers, and what it said.
struct Asked {
    oracle: Py<PyAny>,
    transcript: Vec<Answered>,
}

impl Oracle for Asked {
    type Err = PyErr;

    fn prefer(&mut self, query: &Query) -> PyResult<Answer> {
        let preference = Python::attach(|py| {
            py.check_signals()?;
            let points = (query.first.clone(), query.second.clone());
            preference_of(&self.oracle.bind(py).call1(points)?.extract::<String>()?)
        })?;
        self.transcript.push(Answered { query: query.clone(), preference, shown: None });
        Ok(preference.into())
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
