//! What is asked about a table: the classifiers it allows, and the plan that asks. `elicit` and `plan` share it.

use super::length::of_search;
use super::record::Saved;
use super::{case, reference};
use crate::args::{Asking, Worded};
use crate::fault::Fault;
use crate::rows::Rows;
use crate::sides::Sides;
use crate::tables::TableColumns;
use crate::{files, fingerprint};
use anyhow::{Context as _, Result};
use equipoise::ask::NoiseModel;
use equipoise::engine::Adaptive;
use equipoise::space::{AnySpace, OperatingPoint};
use equipoise::{Answered, AnyPlan, Interview, Step};
use serde_json::{Value, json};
use std::path::Path;

/// How close is close enough, unless told otherwise: about three degrees.
const TOLERANCE: f64 = 0.05;

/// The most questions that a person or a program is asked, unless told otherwise.
pub const CAP: usize = 30;

/// The most questions that a simulated expert is asked, unless told otherwise: what cannot be told does not go on for ever.
const MOST_SIMULATED: usize = 1_000;

/// Questions that check whether a linear metric explains the answers, where somebody real is asked.
const PROBES: usize = 6;

/// Methods from the fewest questions to the most; the last is whatever a plan does when none is named.
const METHODS: [Option<&str>; 3] = [Some("adaptive"), Some("antipodal"), None];

/// How closely a search looks where a person is asked: the first of these that ends in time.
const COARSER: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Somebody real: a person, or a program in their place.
    Real,
    /// A simulated expert who never errs.
    Faithful,
    /// A simulated expert who does.
    Erring,
}

/// A table, the space of classifiers it allows, and how to ask about it.
pub struct Task {
    /// The name of the file.
    pub table: String,
    /// Its rows.
    pub sample: Rows,
    /// The plan, with its space.
    pub plan: AnyPlan,
    /// The space's short name.
    pub space: String,
    /// The classifier that questions are asked around, in the words of the command line.
    pub around: Option<String>,
    /// Which classifier of a question stands on which side.
    pub sides: Sides,
    /// Answers of a saved interview that belong to another end of the questions; they are kept with the others.
    pub set_aside: Vec<Answered>,
    /// How many probes checked answers that end sooner now: nobody is probed twice for that.
    pub checked: Option<usize>,
}

impl Task {
    /// From the command line.
    pub fn new(
        asking: &Asking,
        (table, columns): (&Path, &TableColumns),
        sample: Rows,
        who: Who,
        seed: Option<u64>,
    ) -> Result<Self> {
        if who == Who::Real {
            reference::enough_rows(&sample, table)?;
        }
        let around = reference::of(asking, &sample, who == Who::Real)?;
        let space = reference::space(asking.family(), &sample, (table, columns), around.as_deref())?;
        let mut plan = choose(asking, &space, who, seed)?;
        if asking.about_cases() {
            plan = case::plan(plan, &sample, table)?;
        }
        let space = fingerprint::of_document(&serde_json::to_value(&space)?);
        // What is asked of people has its sides from the plan, which can then tell a habit of sides from a metric.
        let sides = match asks_people(&plan) {
            true => Sides::as_asked(),
            false => Sides::seeded(seed.unwrap_or(0)),
        };
        let (table, set_aside, checked) = (file_name(table), vec![], None);
        Ok(Self { table, sample, plan, space, around, sides, set_aside, checked })
    }

    /// The task of a saved interview and the answers that belong to it, if the table still allows the same classifiers.
    pub fn resumed(
        asking: &Asking,
        (table, columns): (&Path, &TableColumns),
        sample: Rows,
        saved: &Saved,
        file: &Path,
    ) -> Result<(Self, Vec<Answered>)> {
        let (around, recorded) = (saved.around.clone(), &saved.space);
        let plan = saved.interview.plan();
        let space = reference::space(plan.kind(), &sample, (table, columns), around.as_deref())?;
        let found = fingerprint::of_document(&serde_json::to_value(&space)?);
        if found != *recorded {
            let what = format!(
                "the answers in {} are about other classifiers than {} allows (space {recorded}, found {found}): \
                 the table or its columns differ",
                files::name(file),
                files::name(table)
            );
            return Err(Fault::integrity(what).into());
        }
        // Another end, if the command line names one.
        let mut document = serde_json::to_value(plan)?;
        check_ends(asking, &document, &space)?;
        let ratio = is_ratio(plan.kind(), document["method"].as_str(), &space);
        let named = ends(asking, ratio, &space);
        if let Some(probes) = saved.checked.filter(|_| !named.is_empty()) {
            document["probes"] = json!(probes);
        }
        let another = !named.is_empty();
        for (field, value) in named {
            document[field] = value;
        }
        let (mut plan, mut checked) = (read(document.clone())?, saved.checked.filter(|_| !another));
        let (mut answers, mut set_aside) = saved.belonging_to(&plan).with_context(|| files::name(file))?;
        // Answers that were checked and go beyond another end have come to it: probes would be new questions.
        if let Some(probes) = saved.checked()?.filter(|_| another && !is_over(&plan, &answers)) {
            let sooner = read(with(&document, "probes", json!(0)))?;
            let (kept, aside) = saved.belonging_to(&sooner)?;
            if is_over(&sooner, &kept) {
                (plan, answers, set_aside, checked) = (sooner, kept, aside, Some(probes));
            }
        }
        let (table, sides) = (file_name(table), saved.sides);
        Ok((Self { table, sample, plan, space: found, around, sides, set_aside, checked }, answers))
    }

    /// The plan, if it adapts.
    pub fn adaptive(&self) -> Option<&Adaptive> {
        match &self.plan {
            AnyPlan::Adaptive(plan) => Some(plan),
            _ => None,
        }
    }

    /// The classifier that questions are asked around, if they are.
    pub fn operating_point(&self) -> Option<&OperatingPoint> {
        self.adaptive().and_then(Adaptive::operating_point)
    }

    /// The plan as documents have it.
    pub fn plan_document(&self) -> Value {
        serde_json::to_value(&self.plan).unwrap_or(Value::Null)
    }

    /// A word of the plan's document.
    pub fn setting(&self, field: &str) -> Option<String> {
        self.plan_document().get(field).and_then(|value| Some(value.as_str()?.to_owned()))
    }

    /// A number of the plan's document.
    pub fn number(&self, field: &str) -> Option<f64> {
        self.plan_document().get(field).and_then(Value::as_f64)
    }
}

/// Whether a plan asks nothing more after some answers.
fn is_over(plan: &AnyPlan, answers: &[Answered]) -> bool {
    let interview = Interview::with_transcript(plan.clone(), answers.to_vec());
    matches!(interview.step(), Ok(Step::Done(_)))
}

/// A file without its directories, which are nobody else's business.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| files::name(path), |name| name.to_string_lossy().into_owned())
}

/// The plan of the method that was named, or of the first one the family has.
fn choose(asking: &Asking, space: &AnySpace, who: Who, seed: Option<u64>) -> Result<AnyPlan> {
    let plain = |method: &Option<&str>| -> Result<Value> {
        let mut plan = json!({"kind": asking.family(), "space": serde_json::to_value(space)?});
        if let Some(method) = method {
            plan["method"] = json!(method);
        }
        Ok(plan)
    };
    let is_plan = |plan: &Value| serde_json::from_value::<AnyPlan>(plan.clone()).is_ok();
    let method = match &asking.method {
        Some(method) => Some(method.as_str()),
        None => METHODS.into_iter().find(|method| plain(method).is_ok_and(|plan| is_plan(&plan))).flatten(),
    };
    check_options(asking, method, space)?;
    let mut plan = plain(&method)?;
    for (field, value) in settings(asking, space, method, seed) {
        plan[field] = value;
    }
    if method == Some("adaptive") {
        // What people are asked has its usual probes and cap already.
        let on_ball = !matches!(space, AnySpace::Binary(_) | AnySpace::OperatingPoint(_));
        // Where the plan has them: probes, for one, are for linear metrics of not too many weights.
        for (field, value) in usual(asking, who).into_iter().filter(|_| on_ball) {
            let wished = with(&plan, field, value);
            plan = if is_plan(&wished) { wished } else { plan };
        }
    } else if who == Who::Real && asking.method.is_none() && asking.tolerance.is_none() {
        let coarser = |tolerance: &f64| with(&plan, "tolerance", json!(tolerance));
        let ends = |plan: &Value| {
            serde_json::from_value::<AnyPlan>(plan.clone()).is_ok_and(|plan| of_search(&plan, &[]) <= CAP)
        };
        plan = COARSER.iter().map(coarser).find(ends).unwrap_or(plan);
    }
    read(plan)
}

/// What a plan has unless the command line says otherwise, depending on who answers.
fn usual(asking: &Asking, who: Who) -> Vec<(&'static str, Value)> {
    let real = who == Who::Real;
    let all = [
        // Somebody who may err is not to be taken for exact.
        ("answers", (asking.answers.is_none() && who != Who::Faithful).then(|| json!({"kind": "unknown"}))),
        ("budget", asking.budget.is_none().then(|| json!(if real { CAP } else { MOST_SIMULATED }))),
        ("probes", (asking.probes.is_none() && real).then(|| json!(PROBES))),
    ];
    all.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
}

/// The plan of a document whose fields are the options of the command line.
fn read(plan: Value) -> Result<AnyPlan> {
    let read = serde_json::from_value(plan);
    read.map_err(|error| Fault::usage(error.to_string().replace("plan.", "--")).into())
}

/// The same document with one more field.
fn with(document: &Value, field: &str, value: Value) -> Value {
    let mut document = document.clone();
    document[field] = value;
    document
}

/// What the command line says about a method, as fields of the plan's document.
fn settings(
    asking: &Asking,
    space: &AnySpace,
    method: Option<&str>,
    seed: Option<u64>,
) -> Vec<(&'static str, Value)> {
    let adaptive = method == Some("adaptive");
    let ratio = is_ratio(asking.family(), method, space);
    // Searches have tolerances of their own.
    let ball = !matches!(space, AnySpace::OperatingPoint(_));
    let tolerance = asking.tolerance.or((adaptive && !ratio && ball).then_some(TOLERANCE));
    let seeded = adaptive || asking.family() == "polynomial";
    let others = [
        ("tolerance", tolerance.map(|tolerance| json!(tolerance))),
        ("seed", seed.filter(|_| seeded).map(|seed| json!(seed))),
        ("answers", asking.answers.as_ref().map(answers)),
        ("probes", asking.probes.map(|probes| json!(probes))),
    ];
    let others = others.into_iter().filter_map(|(field, value)| Some((field, value?)));
    ends(asking, ratio, space).into_iter().chain(others).collect()
}

/// A regret that no questions end at: whoever says how narrow an interval is to be, or how closely weights are to be known, wants
/// that.
pub const NO_REGRET: f64 = 1e-9;

/// When to end, as far as the command line says so.
fn ends(asking: &Asking, ratio: bool, space: &AnySpace) -> Vec<(&'static str, Value)> {
    let around = matches!(space, AnySpace::OperatingPoint(_));
    let otherwise = ratio && asking.width.is_some() || around && asking.tolerance.is_some();
    let regret = asking.regret.or(otherwise.then_some(NO_REGRET));
    let stop = |at_most: f64| match ratio {
        true => ("regret", json!(at_most)),
        false => ("stop", json!({"kind": "regret", "at_most": at_most})),
    };
    let (regret, at_most) = regret.map(stop).map_or(("stop", None), |(field, stop)| (field, Some(stop)));
    let all = [
        ("tolerance", asking.tolerance.map(|tolerance| json!(tolerance))),
        ("width", asking.width.map(|width| json!(width))),
        (regret, at_most),
        ("budget", asking.budget.map(|budget| json!(budget))),
    ];
    all.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
}

/// Whether a cost ratio is looked for adaptively, which ends by the width of its interval.
fn is_ratio(family: &str, method: Option<&str>, space: &AnySpace) -> bool {
    method == Some("adaptive") && family == "linear" && matches!(space, AnySpace::Binary(_))
}

/// Ends that would be passed over in silence are refused.
fn check_ends(asking: &Asking, plan: &Value, space: &AnySpace) -> Result<()> {
    let word = |field: &str| plan[field].as_str();
    let (family, method) = (word("kind").unwrap_or("linear"), word("method"));
    let (ratio, adaptive) = (is_ratio(family, method, space), method == Some("adaptive"));
    let what = match () {
        () if ratio && asking.tolerance.is_some() => {
            "--tolerance is not for an adaptive cost ratio; --width says how narrow its interval has to be".to_owned()
        }
        () if !ratio && asking.width.is_some() => {
            "--width is for an adaptive cost ratio of two classes; --tolerance says how close the weights have to be".to_owned()
        }
        () if asking.regret.is_some() && !ratio && !matches!(space, AnySpace::OperatingPoint(_)) => {
            "--regret is for the cost ratio of two classes and for questions around a classifier (--around model)".to_owned()
        }
        () if !adaptive && asking.budget.is_some() => {
            format!("--budget is for the adaptive method, but this one is {}", method.unwrap_or("paper"))
        }
        () => return Ok(()),
    };
    Err(Fault::usage(what).into())
}

/// Whether a plan asks what people can answer, of somebody of whom nothing is known.
fn asks_people(plan: &AnyPlan) -> bool {
    let AnyPlan::Adaptive(plan) = plan else { return false };
    plan.noise() == NoiseModel::Unknown && (plan.is_ratio() || plan.operating_point().is_some())
}

/// Options that would be passed over in silence are refused.
fn check_options(asking: &Asking, method: Option<&str>, space: &AnySpace) -> Result<()> {
    let family = asking.family();
    check_ends(asking, &json!({"kind": family, "method": method}), space)?;
    let adaptive = method == Some("adaptive");
    let what = match () {
        () if !adaptive && asking.answers.is_some() => {
            format!("--answers is for the adaptive method, but this one is {}", method.unwrap_or("paper"))
        }
        () if asking.probes.is_some() && (!adaptive || !["linear", "group_fair"].contains(&family)) => {
            "--probes is for adaptive linear metrics, and group-fair ones around a classifier".to_owned()
        }
        () => return Ok(()),
    };
    Err(Fault::usage(what).into())
}

/// `logistic:20` as a document: `{"kind": "logistic", "slope": 20}`.
fn answers(worded: &Worded) -> Value {
    let mut document = json!({"kind": worded.kind});
    if let Some(number) = worded.number {
        document[parameter(&worded.kind)] = json!(number);
    }
    document
}

/// What the number after the colon is.
pub fn parameter(kind: &str) -> &'static str {
    match kind {
        "flip" => "probability",
        "logistic" | "relative" => "slope",
        _ => "width",
    }
}
