//! What is asked about: the classifiers a table allows, and the plan that asks.

use crate::args::{Elicit, Worded};
use crate::fault::Fault;
use crate::{files, fingerprint};
use anyhow::{Context as _, Result};
use equipoise::AnyPlan;
use equipoise::population::Confusions as _;
use equipoise::space::AnySpace;
use equipoise_data::{Sample, Table, space_for};
use serde_json::{Value, json};
use std::path::Path;

/// How close is close enough, unless told otherwise: about three degrees.
const TOLERANCE: f64 = 0.05;

/// Questions that check whether a linear metric explains the answers, where somebody real is asked.
const PROBES: usize = 6;

/// Methods from the fewest questions to the most; the last is whatever a plan does when none is named.
const METHODS: [Option<&str>; 3] = [Some("adaptive"), Some("antipodal"), None];

/// A table, the space of classifiers it allows, and how to ask about it.
pub struct Task {
    /// The name of the file.
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
        Ok(Self { table: file_name(&args.table), sample, plan, space })
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
        Ok(Self { table: file_name(table), sample, plan, space: found })
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

/// A file without its directories, which are nobody else's business.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| files::name(path), |name| name.to_string_lossy().into_owned())
}

/// The classifiers of a family's questions.
fn space(family: &str, sample: &Sample<Table>, table: &Path) -> Result<AnySpace> {
    let file = files::name(table);
    if family.starts_with("group_fair") && sample.groups() < 2 {
        let what = format!("{file} has no groups to compare; --group COLUMN names them");
        return Err(Fault::usage(what).into());
    }
    space_for(sample, family).context(file)
}

/// The plan of the method that was named, or of the first one the family has.
fn choose(args: &Elicit, space: &AnySpace, seed: Option<u64>) -> Result<AnyPlan> {
    let plain = |method: &Option<&str>| -> Result<Value> {
        let mut plan = json!({"kind": args.family, "space": serde_json::to_value(space)?});
        if let Some(method) = method {
            plan["method"] = json!(method);
        }
        Ok(plan)
    };
    let exists = |method: &Option<&str>| {
        plain(method).is_ok_and(|plan| serde_json::from_value::<AnyPlan>(plan).is_ok())
    };
    let method = match &args.method {
        Some(method) => Some(method.as_str()),
        None => METHODS.into_iter().find(exists).flatten(),
    };
    check_options(args, method, space)?;
    let mut plan = plain(&method)?;
    for (field, value) in settings(args, space, method, seed) {
        plan[field] = value;
    }
    let real = args.oracle.is_none() && args.probes.is_none();
    if real {
        // Where they are possible: for linear metrics, of not too many weights, with room in the budget.
        let probed = with(&plan, "probes", json!(PROBES));
        if serde_json::from_value::<AnyPlan>(probed.clone()).is_ok() {
            plan = probed;
        }
    }
    // The fields of the document are the options of the command line.
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
    args: &Elicit,
    space: &AnySpace,
    method: Option<&str>,
    seed: Option<u64>,
) -> Vec<(&'static str, Value)> {
    let adaptive = method == Some("adaptive");
    let ratio = is_ratio(args, method, space);
    // Searches have tolerances of their own.
    let tolerance = args.tolerance.or((adaptive && !ratio).then_some(TOLERANCE));
    let seeded = (adaptive && !ratio) || args.family == "polynomial";
    let all = [
        ("tolerance", tolerance.map(|tolerance| json!(tolerance))),
        ("width", args.width.map(|width| json!(width))),
        ("seed", seed.filter(|_| seeded).map(|seed| json!(seed))),
        ("answers", args.answers.as_ref().map(answers)),
        ("budget", args.budget.map(|budget| json!(budget))),
        ("probes", args.probes.map(|probes| json!(probes))),
    ];
    all.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
}

/// Whether a cost ratio is looked for adaptively, which ends by the width of its interval.
fn is_ratio(args: &Elicit, method: Option<&str>, space: &AnySpace) -> bool {
    method == Some("adaptive") && args.family == "linear" && matches!(space, AnySpace::Binary(_))
}

/// Options that would be passed over in silence are refused.
fn check_options(args: &Elicit, method: Option<&str>, space: &AnySpace) -> Result<()> {
    let (ratio, adaptive) = (is_ratio(args, method, space), method == Some("adaptive"));
    let method = method.unwrap_or("paper");
    let what = match () {
        () if ratio && args.tolerance.is_some() => {
            "--tolerance is not for an adaptive cost ratio; --width says how narrow its interval has to be".to_owned()
        }
        () if !ratio && args.width.is_some() => {
            "--width is for an adaptive cost ratio of two classes; --tolerance says how close the weights have to be".to_owned()
        }
        () if !adaptive && args.answers.is_some() => {
            format!("--answers is for the adaptive method, but this one is {method}")
        }
        () if args.probes.is_some() && (ratio || !adaptive || args.family != "linear") => {
            "--probes is for adaptive linear metrics of more than two weights".to_owned()
        }
        () if !adaptive && args.budget.is_some() => {
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
