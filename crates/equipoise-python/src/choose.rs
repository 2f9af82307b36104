//! Choosing among candidates by their attributes: the rules of `equipoise choose`.

use crate::error::value_error;
use crate::interrupt::interruptible;
use crate::interview::{Interview, believed};
use crate::metric::Metric;
use equipoise::engine::{Adaptive, Stop};
use equipoise::metric::Transform;
use equipoise::space::Candidates;
use equipoise::{AnyPlan, Query, Step};
use equipoise_choice::{Chosen, Front, Wanted, Words, ranked};
use pyo3::prelude::*;
use serde_json::json;

/// Draws of what is believed.
const DRAWS: usize = 1000;

/// How sure the best candidate is to be where a regret is named.
const SURE: f64 = 0.9;

/// What came out: the metric, and the rest as a document.
type Ended = (Metric, String);

/// A question in words: a row per attribute that differs, the names of both if they exist, what differs, and what of all else.
type Said = (Vec<(String, String, String)>, Option<(String, String)>, String, &'static str);

/// A candidate's name and value, the ends of the value's 95 % interval, and how likely the candidate is the best.
type Standing = (String, f64, f64, f64, f64);

/// An interview about the candidates of a table with a cell of text per candidate and column, and what was seen of the table as a
/// document; no interview where nothing is to be asked.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn candidates(
    py: Python<'_>,
    columns: Vec<(String, Vec<String>)>,
    name: Option<String>,
    minimize: Vec<String>,
    maximize: Vec<String>,
    ignore: Vec<String>,
    scale: Vec<(String, String)>,
    all: bool,
    only_real: bool,
    regret: Option<f64>,
    budget: Option<usize>,
) -> PyResult<(Option<Interview>, String)> {
    let scale = scale.into_iter().map(|(column, word)| {
        let transform = serde_json::from_value::<Transform>(word.clone().into());
        let wrong = |_| {
            value_error(format!(
                "scale is {word:?} for {column:?}, expected \"linear\", \"log\" or \"logit\""
            ))
        };
        transform.map_err(wrong).map(|transform| (column, transform))
    });
    let scale = scale.collect::<PyResult<Vec<_>>>()?;
    let front = interruptible(py, move || {
        let wanted = Wanted {
            name: name.as_deref(),
            minimize: &minimize,
            maximize: &maximize,
            ignore: &ignore,
            scale: &scale,
            all,
            only_real,
            option: |option, column| match option {
                "name" => "name=\"COL\"".to_owned(),
                _ => format!("{option}=[{column:?}]"),
            },
        };
        let header: Vec<String> = columns.iter().map(|(column, _)| column.clone()).collect();
        wanted.columns(&header)?;
        let kept: Vec<_> = columns.into_iter().filter(|(column, _)| !ignore.contains(column)).collect();
        Front::new(&kept, &wanted)
    })?;
    let front = front.map_err(value_error)?;
    let seen = json!({
        "rows": front.rows,
        "places": front.places,
        "dominated": front.dominated,
        "notes": front.notes,
        "best": front.candidates.as_ref().err(),
    });
    let Ok(candidates) = front.candidates else { return Ok((None, seen.to_string())) };
    let mut plan = Adaptive::choice(candidates);
    if let Some(at_most) = regret {
        let stops = vec![Stop::Decision { level: SURE }, Stop::Regret { at_most }];
        plan = plan.stop(stops).map_err(value_error)?;
    }
    if let Some(budget) = budget {
        plan = plan.budget(budget).map_err(value_error)?;
    }
    let interview = equipoise::Interview::new(AnyPlan::Adaptive(plan));
    Ok((Some(Interview::of(interview)), seen.to_string()))
}

fn candidates_of(interview: &Interview) -> PyResult<&Candidates> {
    let found = interview.adaptive().and_then(Adaptive::candidates);
    found.ok_or_else(|| value_error("the interview is not about candidates with attributes"))
}

/// A question about two points, in words.
#[pyfunction]
pub fn candidate_words(interview: &Interview, first: Vec<f64>, second: Vec<f64>) -> PyResult<Said> {
    let words = Words::new(candidates_of(interview)?);
    let query = Query::new(first, second);
    let rows = words.rows(&query).into_iter().map(|[label, a, b]| (label, a, b)).collect();
    let names = words.names(&query).map(|[a, b]| (a.to_owned(), b.to_owned()));
    Ok((rows, names, words.difference(&query), words.remark(&query)))
}

/// The metric and what came out, once all is answered; the table's part is as [`candidates`] saw it.
#[pyfunction]
pub fn chosen(
    interview: &Bound<'_, Interview>,
    rows: usize,
    dominated: Vec<(String, String)>,
    notes: Vec<String>,
) -> PyResult<Option<Ended>> {
    let space = candidates_of(&interview.borrow())?.clone();
    let front = Front { candidates: Ok(space.clone()), places: vec![], dominated, rows, notes };
    let (asked, known) = interview.borrow_mut().parts();
    let (belief, ended) = interruptible(interview.py(), move || {
        let AnyPlan::Adaptive(plan) = asked.plan() else { return (None, Ok(None)) };
        let outcome = match asked.step() {
            Ok(Step::Done(outcome)) => outcome,
            Ok(Step::Ask(_)) => return (known, Ok(None)),
            Err(error) => return (known, Err(value_error(error))),
        };
        let transcript = asked.transcript();
        let belief = believed(plan, known, transcript);
        let found = Chosen::new(&front, &space, &outcome, &belief.draws(DRAWS), transcript.len());
        let text = serde_json::to_string(&found).map_err(value_error);
        (Some(belief), text.map(|text| Some((Metric(outcome.metric), text))))
    })?;
    interview.borrow_mut().believes(belief);
    ended
}

/// Candidates in the order of a metric of attributes, best first.
#[pyfunction]
pub fn rank_candidates(
    py: Python<'_>,
    metric: &Metric,
    named: Vec<(String, Vec<f64>)>,
    draws: usize,
    seed: u64,
) -> PyResult<Vec<Standing>> {
    let dimension = metric.0.view().dimension();
    if let Some((name, point)) = named.iter().find(|(_, point)| point.len() != dimension) {
        let found = point.len();
        return Err(value_error(format!("candidate {name:?} has {found} attributes, expected {dimension}")));
    }
    let metric = metric.clone();
    let found = interruptible(py, move || {
        let named: Vec<(&str, &[f64])> =
            named.iter().map(|(name, point)| (name.as_str(), &point[..])).collect();
        ranked(&metric.0, &metric.drawn(draws, seed), &named)
    })?;
    let each = found.map_err(value_error)?.into_iter();
    Ok(each.map(|one| (one.name, one.value, one.low, one.high, one.probability)).collect())
}
