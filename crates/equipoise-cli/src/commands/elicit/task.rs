//! What is asked about: the classifiers a table allows, and the plan that asks.

use crate::args::{Elicit, Worded};
use crate::fault::Fault;
use crate::{files, fingerprint};
use anyhow::{Context as _, Result};
use equipoise::Measure;
use equipoise::elicit::AnyPlan;
use equipoise::population::Population as _;
use equipoise::space::{Achievable, AnySpace, GroupSphere, Sphere};
use equipoise_data::{Sample, Table};
use serde_json::{Map, Value, json};
use std::path::Path;

/// How close is close enough, unless told otherwise: about three degrees.
const TOLERANCE: f64 = 0.05;

/// Methods from the fewest questions to the most.
const METHODS: [&str; 3] = ["adaptive", "antipodal", "paper"];

/// A table, the space of classifiers it allows, and how to ask about it.
pub struct Task {
    /// The file, as its owner calls it.
    pub table: String,
    /// Its rows.
    pub sample: Sample<Table>,
    /// The plan, with its space.
    pub plan: AnyPlan,
    /// The space's short name.
    pub space: String,
}

impl Task {
    /// From the command line.
    pub fn new(args: &Elicit, sample: Sample<Table>, seed: Option<u64>) -> Result<Self> {
        let space = space(&args.family, &sample, &args.table)?;
        let plan = choose(args, &space, seed)?;
        let space = fingerprint::of_document(&serde_json::to_value(&space)?);
        Ok(Self { table: files::name(&args.table), sample, plan, space })
    }

    /// The task of a saved interview, if the table still allows the same classifiers.
    pub fn resumed(
        table: &Path,
        sample: Sample<Table>,
        plan: AnyPlan,
        recorded: &str,
        file: &Path,
    ) -> Result<Self> {
        let space = space(plan.kind(), &sample, table)?;
        let found = fingerprint::of_document(&serde_json::to_value(&space)?);
        if found != recorded {
            let what = format!(
                "the answers in {} are about other classifiers than {} allows (space {recorded}, found {found}): \
                 the table or its columns differ",
                files::name(file),
                files::name(table)
            );
            return Err(Fault::integrity(what).into());
        }
        Ok(Self { table: files::name(table), sample, plan, space: found })
    }

    /// The plan as documents have it.
    pub fn plan_document(&self) -> Value {
        serde_json::to_value(&self.plan).unwrap_or(Value::Null)
    }

    /// A word of the plan's document.
    pub fn setting(&self, field: &str) -> Option<String> {
        self.plan_document().get(field).and_then(|value| Some(value.as_str()?.to_owned()))
    }
}

/// The classifiers of a family's questions: thresholds, a certified ball of error rates, or one common to all groups.
fn space(family: &str, sample: &Sample<Table>, table: &Path) -> Result<AnySpace> {
    let (k, file) = (sample.classes(), files::name(table));
    if family.starts_with("group_fair") {
        if sample.groups() < 2 {
            let what = format!("{file} has no groups to compare; --group COLUMN names them");
            return Err(Fault::usage(what).into());
        }
        let set = Achievable::new(sample, Measure::GroupRates).context(file.clone())?;
        let radius = some_room(set.radius(), &file, " in every group")?;
        return Ok(AnySpace::GroupSphere(GroupSphere::new(radius, sample.prevalence().group_shares())?));
    }
    if k == 2 && family.starts_with("linear") {
        return Ok(AnySpace::Binary(sample.binary_space().context(file)?));
    }
    let set = Achievable::new(sample, Measure::OffDiagonalRates).context(file.clone())?;
    let radius = some_room(set.radius(), &file, "")?;
    Ok(AnySpace::Sphere(Sphere::new(Measure::OffDiagonalRates, k, radius)?))
}

/// Below this radius no two classifiers of the ball can be told apart among a million cases.
const SMALLEST_RADIUS: f64 = 1e-5;

fn some_room(radius: f64, file: &str, where_: &str) -> Result<f64> {
    if radius > SMALLEST_RADIUS {
        return Ok(radius);
    }
    let what = format!(
        "the predictions of {file} do not tell the classes apart{where_}: there is no ball of error rates to ask about \
         (its radius is {radius:.1e})"
    );
    Err(Fault::usage(what).into())
}

/// The plan of the method that was named, or of the first one the family has.
fn choose(args: &Elicit, space: &AnySpace, seed: Option<u64>) -> Result<AnyPlan> {
    let methods: Vec<&str> = match &args.method {
        Some(method) => vec![method],
        None => METHODS.to_vec(),
    };
    let mut refused = None;
    for method in methods {
        let document = document(args, space, method, seed)?;
        match serde_json::from_value::<AnyPlan>(document) {
            Ok(plan) => {
                check_options(args, method, space)?;
                return Ok(plan);
            }
            Err(error) => refused = Some(error),
        }
    }
    let why = refused.map(|error| error.to_string().replace("plan.", "--")).unwrap_or_default();
    Err(Fault::usage(why).into())
}

fn document(args: &Elicit, space: &AnySpace, method: &str, seed: Option<u64>) -> Result<Value> {
    let mut plan = Map::new();
    plan.insert("kind".to_owned(), json!(args.family));
    plan.insert("space".to_owned(), serde_json::to_value(space)?);
    plan.insert("method".to_owned(), json!(method));
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            plan.insert(field.to_owned(), value);
        }
    };
    if is_ratio(args, method, space) {
        put("width", args.width.map(|width| json!(width)));
    } else {
        put("tolerance", Some(json!(args.tolerance.unwrap_or(TOLERANCE))));
        let seeded = method == "adaptive" || args.family == "polynomial";
        put("seed", seed.filter(|_| seeded).map(|seed| json!(seed)));
    }
    if method == "adaptive" {
        put("answers", args.answers.as_ref().map(answers));
        put("budget", args.budget.map(|budget| json!(budget)));
    }
    Ok(Value::Object(plan))
}

/// Whether a cost ratio is looked for adaptively, which ends by the width of its interval.
fn is_ratio(args: &Elicit, method: &str, space: &AnySpace) -> bool {
    method == "adaptive" && args.family == "linear" && matches!(space, AnySpace::Binary(_))
}

/// Options that would be passed over in silence are refused.
fn check_options(args: &Elicit, method: &str, space: &AnySpace) -> Result<()> {
    let ratio = is_ratio(args, method, space);
    let what = match () {
        () if ratio && args.tolerance.is_some() => {
            "--tolerance is not for an adaptive cost ratio; --width says how narrow its interval has to be".to_owned()
        }
        () if !ratio && args.width.is_some() => {
            "--width is for an adaptive cost ratio of two classes; --tolerance says how close the weights have to be".to_owned()
        }
        () if method != "adaptive" && args.answers.is_some() => {
            format!("--answers is for the adaptive method, but this one is {method}")
        }
        () if method != "adaptive" && args.budget.is_some() => {
            format!("--budget is for the adaptive method, but this one is {method}")
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
        "logistic" => "slope",
        _ => "width",
    }
}
