//! Interviews.

use crate::asking::{DIFFERENT, fewest_of_kinds, fewest_of_two, first_of_ratio, first_of_trades};
use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::metric::Metric;
use equipoise::AnyPlan;
use equipoise::ask::{NoiseModel, Oracle};
use equipoise::engine::{Adaptive, Belief};
use equipoise::space::{AnySpace, OperatingPoint};
use equipoise::{Answer, Answered, Outcome, Plan as _, Preference, Query, Step};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// What came out: the metric, remarks, whether it is identified, and the findings as documents.
type Ended = (Metric, Vec<String>, bool, String);

/// The Rust half of `equipoise.Interview`: a plan and the answers so far.
#[pyclass(module = "equipoise._core")]
pub struct Interview {
    asked: Arc<equipoise::Interview<AnyPlan>>,
    /// What an adaptive plan believes, kept up to date as answers come and go.
    belief: Option<Box<dyn Belief>>,
    /// In how many cases its first question is told.
    begins_in: Option<u64>,
}

/// Methods from the fewest questions to the most; the last is whatever a plan does when none is named.
const METHODS: [Option<&str>; 3] = [Some("adaptive"), Some("antipodal"), None];

/// A plan with more fields, one after the other: those that it has already, and those that it cannot have, are left out.
fn with_defaults(mut plan: Value, fields: &[(String, Value)]) -> Value {
    for (field, value) in fields {
        if plan.get(field).is_none() {
            let mut more = plan.clone();
            more[field] = value.clone();
            if serde_json::from_value::<AnyPlan>(more.clone()).is_ok() {
                plan = more;
            }
        }
    }
    plan
}

#[pymethods]
impl Interview {
    /// An interview whose plan is a document; without a method, the one with the fewest questions that works. `defaults` are
    /// fields that an adaptive plan gets where it can have them and does not say otherwise.
    #[new]
    fn new(plan: &str, defaults: &str) -> PyResult<Self> {
        let plan: Value = serde_json::from_str(plan).map_err(value_error)?;
        let defaults: Vec<(String, Value)> = serde_json::from_str(defaults).map_err(value_error)?;
        if !plan.is_object() {
            return Err(value_error("plan is not an object, expected one with kind and space"));
        }
        let with = |method: Option<&str>| {
            let mut plan = plan.clone();
            if let Some(method) = method {
                plan["method"] = method.into();
            }
            let read = serde_json::from_value::<AnyPlan>(plan.clone());
            match plan.get("method").is_some_and(|method| method == "adaptive") {
                true => read.and_then(|_| serde_json::from_value(with_defaults(plan, &defaults))),
                false => read,
            }
        };
        let methods = if plan.get("method").is_some() { &[None][..] } else { &METHODS };
        let mut refused = "plan has no method".to_owned();
        for (n, method) in methods.iter().enumerate() {
            match with(*method) {
                Ok(plan) => return Ok(Self::of(equipoise::Interview::new(plan))),
                Err(error) => refused = error.to_string(),
            }
            // A family that lacks a method says so. Any other sentence is about an option, and another method in its place
            // would change the questions in silence.
            if !["plan.method is", "plan.kind is"].iter().any(|lacks| refused.starts_with(lacks)) {
                let others = methods[n + 1..].iter().filter(|method| with(**method).is_ok());
                let others: Vec<&str> = others.map(|method| method.unwrap_or("paper")).collect();
                if !others.is_empty() {
                    refused = format!(
                        "{refused}; that is the method {:?}, and method={:?} takes these options",
                        method.unwrap_or("paper"),
                        others[0]
                    );
                }
                break;
            }
        }
        Err(value_error(refused))
    }

    /// Reads an interview document.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        equipoise::Interview::from_json(text).map(Self::of).map_err(value_error)
    }

    /// The interview as a document.
    fn to_json(&self) -> String {
        self.asked.to_json()
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
    fn answer(
        &mut self,
        py: Python<'_>,
        preference: &str,
        shown: Option<(Vec<f64>, Vec<f64>)>,
    ) -> PyResult<()> {
        let said = preference_of(preference)?;
        let expected = self.asked.plan().view().dimension();
        if let Some((first, second)) = &shown
            && (first.len() != expected || second.len() != expected)
        {
            let (first, second) = (first.len(), second.len());
            let what =
                format!("shown has {first} and {second} entries, expected {expected} of each classifier");
            return Err(value_error(what));
        }
        let Step::Ask(asked) = self.step(py)? else {
            return Err(value_error("the interview is done: there is no question to answer"));
        };
        let shown = shown.map(|(first, second)| Query::new(first, second));
        let answer = answer_to(&asked, said, shown);
        Arc::make_mut(&mut self.asked).answer(answer).map_err(value_error)
    }

    /// Asks a function everything at once, from the start; it gets two points and returns a preference.
    ///
    /// Stepping replays what was asked before for every question; this does not, so long searches take no longer than
    /// their questions.
    fn run(slf: &Bound<'_, Self>, oracle: Py<PyAny>) -> PyResult<()> {
        // Not borrowed meanwhile: the function may look at the interview.
        let plan = slf.borrow().asked.plan().clone();
        let mut asked = Asked { oracle, transcript: Vec::new() };
        slf.py().detach(|| plan.run(&mut asked).map(|_| ()))?;
        *slf.borrow_mut() = Self::of(equipoise::Interview::with_transcript(plan, asked.transcript));
        Ok(())
    }

    /// Takes the last answer back; false if there was none.
    fn undo(&mut self) -> bool {
        Arc::make_mut(&mut self.asked).undo().is_some()
    }

    /// How many questions are answered.
    fn answered(&self) -> usize {
        self.asked.transcript().len()
    }

    /// The metric, the remarks, whether it is identified, and the findings as documents, once all is answered.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<Ended>> {
        match self.step(py)? {
            Step::Ask(_) => Ok(None),
            Step::Done(outcome) => {
                let findings = json!(outcome.findings).to_string();
                let mut remarks: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
                let undecided = self.undecided();
                remarks.extend(undecided.iter().map(|(sentence, _)| sentence.clone()));
                let known = undecided.is_none_or(|(_, known)| known);
                let identifiable = outcome.identifiable() && known;
                Ok(Some((Metric(outcome.metric), remarks, identifiable, findings)))
            }
        }
    }

    /// The method of its plan: what was named, or what was chosen.
    fn method(&self) -> Option<String> {
        let plan = serde_json::to_value(self.asked.plan()).ok()?;
        Some(plan.get("method")?.as_str()?.to_owned())
    }

    /// The document of its plan.
    fn plan(&self) -> PyResult<String> {
        serde_json::to_string(self.asked.plan()).map_err(value_error)
    }

    /// How an adaptive plan believes answers to come about, as a document; `None` for a search, which believes them.
    fn assumed(&self) -> Option<String> {
        let plan = self.adaptive()?;
        serde_json::to_string(&plan.noise()).ok()
    }

    /// Whether it asks what people can answer, of somebody of whom nothing is known; sides are then by chance already.
    fn asks_people(&self) -> bool {
        let asks = |plan: &Adaptive| {
            plan.noise() == NoiseModel::Unknown && (plan.is_ratio() || plan.operating_point().is_some())
        };
        self.adaptive().is_some_and(asks)
    }

    /// About how many questions there are in all; `None` where nobody can tell.
    fn about(slf: &Bound<'_, Self>) -> PyResult<Option<usize>> {
        let (asked, belief) = {
            let mut interview = slf.borrow_mut();
            if interview.adaptive().is_none() {
                return Ok(None);
            }
            (interview.asked.clone(), interview.belief.take())
        };
        let (belief, about) = interruptible(slf.py(), move || {
            let AnyPlan::Adaptive(plan) = asked.plan() else { return (None, None) };
            let belief = believed(plan, belief, asked.transcript());
            // The check of the family comes after them.
            let plan_document = serde_json::to_value(plan).unwrap_or(Value::Null);
            let probes = plan_document["probes"].as_u64().unwrap_or(0) as usize;
            let about = plan.about(belief.as_ref()).map(|questions| questions + probes);
            (Some(belief), about)
        })?;
        slf.borrow_mut().belief = belief;
        Ok(about)
    }

    /// In how many cases a pair is told after all that were asked: one number for a whole interview, unless both
    /// sides of a question were the same in it; `None` for questions of other kinds.
    fn told_in(
        &mut self,
        py: Python<'_>,
        first: Vec<f64>,
        second: Vec<f64>,
        positive_prior: f64,
    ) -> PyResult<Option<u64>> {
        let Some(plan) = self.adaptive() else { return Ok(None) };
        if plan.operating_point().is_none() && !plan.is_ratio() {
            return Ok(None);
        }
        let (asked, known) = (self.asked.clone(), self.begins_in);
        let told = interruptible(py, move || -> equipoise::Result<_> {
            let AnyPlan::Adaptive(plan) = asked.plan() else { return Ok((1, 1)) };
            let begins = match (known, plan.operating_point()) {
                (Some(known), _) => known,
                (None, Some(space)) => first_of_trades(space.smallest_difference()),
                (None, None) => first_of_ratio(plan, positive_prior)?,
            };
            let size = |query: &Query| match plan.operating_point() {
                Some(space) => fewest_of_kinds(&space.kinds_of(&query.first), &space.kinds_of(&query.second)),
                None => fewest_of_two(query, positive_prior, DIFFERENT),
            };
            let query = Query::new(first, second);
            let all = asked.transcript().iter().map(|answered| &answered.query).chain([&query]);
            Ok((begins, all.map(size).fold(begins, u64::max)))
        })?;
        let (begins, size) = told.map_err(value_error)?;
        self.begins_in = Some(begins);
        Ok(Some(size))
    }

    /// Whether groups are told apart where two kinds of error are traded; `None` where questions are of another kind.
    fn trades(&self) -> Option<bool> {
        Some(self.operating_point()?.prevalence().is_some())
    }

    /// The kinds of error of a point, overall and then between groups; `None` where questions are of another kind.
    fn kinds(&self, point: Vec<f64>) -> PyResult<Option<Vec<f64>>> {
        let Some(space) = self.operating_point() else { return Ok(None) };
        let expected = self.asked.plan().view().dimension();
        match point.len() == expected {
            true => Ok(Some(space.kinds_of(&point))),
            false => Err(value_error(format!("point has {} coordinates, expected {expected}", point.len()))),
        }
    }

    /// How common the classes are in the plan's space, where it says.
    fn priors(&self) -> Option<Vec<f64>> {
        let plan = serde_json::to_value(self.asked.plan()).ok()?;
        match serde_json::from_value(plan.get("space")?.clone()).ok()? {
            AnySpace::Binary(space) => Some(vec![1.0 - space.positive_prior(), space.positive_prior()]),
            AnySpace::Diagonal(space) => Some(space.class_priors().to_vec()),
            _ => None,
        }
    }

    /// What the coordinates of a question are: measure, classes, groups.
    fn view(&self) -> (&'static str, usize, usize) {
        let view = self.asked.plan().view();
        (view.measure().name(), view.classes(), view.groups())
    }
}

/// What a plan believes after a transcript, from what it believed after the beginning of it.
pub(crate) fn believed(
    plan: &Adaptive,
    known: Option<Box<dyn Belief>>,
    transcript: &[Answered],
) -> Box<dyn Belief> {
    // An answer may have been taken back, and a belief does not hear probes.
    let known = known.filter(|belief| transcript.starts_with(belief.answered()));
    let mut belief = known.unwrap_or_else(|| plan.start());
    for Answered { query, preference, shown } in &transcript[belief.answered().len()..] {
        if plan.is_checking(belief.as_ref()) {
            break;
        }
        belief.take(query, &Answer { preference: *preference, shown: shown.clone() });
    }
    belief
}

impl Interview {
    pub(crate) fn of(asked: equipoise::Interview<AnyPlan>) -> Self {
        Self { asked: Arc::new(asked), belief: None, begins_in: None }
    }

    /// Plan and answers, and what is believed so far, which is to be given back.
    pub(crate) fn parts(&mut self) -> (Arc<equipoise::Interview<AnyPlan>>, Option<Box<dyn Belief>>) {
        (self.asked.clone(), self.belief.take())
    }

    pub(crate) fn believes(&mut self, belief: Option<Box<dyn Belief>>) {
        self.belief = belief;
    }

    pub(crate) fn adaptive(&self) -> Option<&Adaptive> {
        match self.asked.plan() {
            AnyPlan::Adaptive(plan) => Some(plan),
            _ => None,
        }
    }

    fn operating_point(&self) -> Option<&OperatingPoint> {
        self.adaptive()?.operating_point()
    }

    /// What is to be said of answers that prefer neither classifier, and whether the others can single a metric out.
    fn undecided(&self) -> Option<(String, bool)> {
        let answers = self.asked.transcript();
        let count = answers.iter().filter(|answered| answered.preference == Preference::CannotTell).count();
        let all = answers.len();
        if count > 0 && count == all {
            let what = format!("none of {all} answers prefers a classifier, so the metric is not known");
            return Some((what, false));
        }
        // The engine weighs such answers; a search has two directions only.
        let searches = count > 0 && self.method().as_deref() != Some("adaptive");
        let what = || {
            format!(
                "{count} of {all} answers prefer neither classifier, which this method takes for the second; method=\"adaptive\" \
                 does not"
            )
        };
        searches.then(|| (what(), true))
    }

    fn step(&self, py: Python<'_>) -> PyResult<Step<Outcome>> {
        let interview = self.asked.clone();
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
        let said = Python::attach(|py| {
            py.check_signals()?;
            let points = (query.first.clone(), query.second.clone());
            preference_of(&self.oracle.bind(py).call1(points)?.extract::<String>()?)
        })?;
        let answer = answer_to(query, said, None);
        let Answer { preference, shown } = answer.clone();
        self.transcript.push(Answered { query: query.clone(), preference, shown });
        Ok(answer)
    }
}

/// What was said about a question. Whoever cannot say anything has been shown nothing that tells one metric from another.
fn answer_to(asked: &Query, said: Option<Preference>, shown: Option<Query>) -> Answer {
    let nothing = || Some(Query::new(asked.first.clone(), asked.first.clone()));
    Answer {
        preference: said.unwrap_or(Preference::CannotTell),
        shown: if said.is_none() { nothing() } else { shown },
    }
}

/// An answer in words; `None` for one that says nothing.
fn preference_of(text: &str) -> PyResult<Option<Preference>> {
    match text.trim().to_lowercase().as_str() {
        "first" | "a" => Ok(Some(Preference::First)),
        "second" | "b" => Ok(Some(Preference::Second)),
        "equal" | "tie" => Ok(Some(Preference::CannotTell)),
        "can't tell" | "cannot_tell" => Ok(None),
        _ => Err(value_error(format!(
            "answer is {text:?}, expected \"first\" (or \"A\"), \"second\" (or \"B\"), \"equal\" or \"can't tell\""
        ))),
    }
}
