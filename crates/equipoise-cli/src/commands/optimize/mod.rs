//! `equipoise optimize`: predictions that maximise a metric, without retraining.

mod print;

use crate::args::{Global, Optimize};
use crate::fault::Fault;
use crate::metric_command::{CommandFault, MetricCommand};
use crate::tables::TableColumns;
use crate::{files, json, metrics};
use anyhow::{Context as _, Result, anyhow};
use equipoise::decide::optimize::{
    Basis, Classifier, Column, Failure, Form, FrankWolfe, Guide, Judge, Labels, Probing, Problem,
    ROWS_PER_WEIGHT, Rows, Scores, Stopped, baselines, centres, nested, select,
};
use equipoise::metric::Named;
use equipoise::population::Confusions as _;
use equipoise::{Measure, Metric, Prevalence};
use equipoise_data::{Sample, Table, read};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Folds of the cross-validation that chooses bases.
const FOLDS: usize = 5;
/// Values of a weight the baselines try: of a metric in closed form, and of a command, whose calls take their time.
const CANDIDATES: usize = 400;
const FEW_CANDIDATES: usize = 15;
/// Runs the command.
pub fn run(args: &Optimize, global: &Global) -> Result<ExitCode> {
    if args.columns.truth.is_none() || args.columns.scores.is_none() {
        return Err(Fault::usage(
            "--truth and --scores must name the columns, so that the classifier can say them",
        )
        .into());
    }
    let mut notes = Vec::new();
    let train = Loaded::read("training", &args.train, args, global, &mut notes)?;
    let validation = Loaded::read("validation", &args.validation, args, global, &mut notes)?;
    let test =
        args.test.as_ref().map(|path| Loaded::read("test", path, args, global, &mut notes)).transpose()?;
    for table in [Some(&train), test.as_ref()].into_iter().flatten() {
        table.check_like(&validation)?;
    }
    let tables = Tables {
        train: train.rows()?,
        validation: validation.rows()?,
        test: test.as_ref().map(Loaded::rows).transpose()?,
    };
    let seed = global.seed.unwrap_or(0);
    let units = units(args, &validation, &tables, seed)?;
    let plan = plan(args)?;
    let class_names = validation.table().classes().to_vec();
    let score_columns =
        args.columns.columns().score_columns(&class_names).context("the columns of the classes")?;
    let name = |classifier: Classifier| classifier.with_names(class_names.clone(), score_columns.clone());
    let done = match (&args.metric, &args.metric_command) {
        (Some(text), _) => {
            let metrics = Metrics::new(text, &train, &validation, test.as_ref())?;
            by_metric(args, &plan, &tables, units, (text, &metrics), notes)?
        }
        (None, Some(command)) => by_command(args, &plan, &tables, units, (command, seed), notes)?,
        (None, None) => return Err(Fault::usage("--metric or --metric-command is needed").into()),
    };
    let classifier = name(done.classifier)?;
    files::write(&args.classifier, &(classifier.to_json() + "\n"))?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&done.report, &mut out)?;
    } else {
        let written = files::name(&args.classifier);
        print::write_text(
            &done.report,
            &classifier,
            done.unknowns,
            &written,
            test.is_some(),
            global,
            &mut out,
        )?;
    }
    match done.stopped {
        None => Ok(ExitCode::SUCCESS),
        Some(sentence) => {
            let written = files::name(&args.classifier);
            Err(Fault::input_output(format!("{sentence}; the classifier so far is in {written}")).into())
        }
    }
}

/// One table with everything it lends to the optimiser.
struct Loaded {
    what: &'static str,
    sample: Sample<Table>,
    columns: Vec<(String, Vec<f64>)>,
    /// One column of flags per group, for thresholds by group.
    groups: Vec<(String, Vec<bool>)>,
}

impl Loaded {
    fn read(
        what: &'static str,
        path: &Path,
        args: &Optimize,
        global: &Global,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let reading = match args.columns.read(path, global) {
            // The metric may look at groups that only the validation rows have.
            Err(_) if what != "validation" && args.columns.lacks_groups(path) => {
                let without = TableColumns { group: None, no_group: true, ..args.columns.clone() };
                let reading = without.read(path, global)?;
                notes.push(format!(
                    "the {what} table has no groups, so its value of a metric about groups is not known"
                ));
                reading
            }
            other => other?,
        };
        notes.extend(reading.findings().map(|finding| format!("{what} table: {finding}")));
        let sample = reading.data;
        let mut names: Vec<String> =
            args.basis.iter().filter(|basis| family(basis).is_none()).cloned().collect();
        names.extend(args.features.iter().filter(|name| !args.basis.contains(name)).cloned());
        let columns = match names.is_empty() {
            true => Vec::new(),
            false => {
                let numbers = read::numbers(path, &names)?;
                names.into_iter().zip(numbers.data).collect()
            }
        };
        let groups = sample.table().groups().map_or_else(Vec::new, |groups| {
            let flags = |code: usize| groups.codes().iter().map(|&c| usize::from(c) == code).collect();
            groups
                .names()
                .iter()
                .enumerate()
                .map(|(code, name)| (format!("group {name}"), flags(code)))
                .collect()
        });
        Ok(Self { what, sample, columns, groups })
    }

    fn table(&self) -> &Table {
        self.sample.table()
    }

    fn rows(&self) -> Result<Rows<'_>> {
        let table = self.table();
        let mut scores =
            Scores::new((0..table.classes().len()).map(|class| table.probabilities(class)).collect())?;
        for (name, values) in &self.columns {
            scores = scores.with_column(name, Column::Reals(values))?;
        }
        for (name, flags) in &self.groups {
            scores = scores.with_column(name, Column::Flags(flags))?;
        }
        let mut rows = Rows::new(scores, table.truth())?;
        if let Some(groups) = table.groups() {
            rows = rows.with_groups(groups.codes(), groups.names().len())?;
        }
        if let Some(weights) = table.weights() {
            rows = rows.with_weights(weights)?;
        }
        Ok(rows)
    }

    /// Says how a table differs from the validation table, if classes or groups do.
    fn check_like(&self, validation: &Loaded) -> Result<()> {
        let differ = |what: &str, these: &[String], those: &[String]| {
            let (these, those) = (these.join(", "), those.join(", "));
            let which = self.what;
            Fault::usage(format!(
                "the {which} table has the {what} {these}, but the validation table has {those}"
            ))
        };
        let (mine, theirs) = (self.table().classes(), validation.table().classes());
        if mine != theirs {
            return Err(differ("classes", mine, theirs).into());
        }
        match (self.table().groups(), validation.table().groups()) {
            (Some(mine), Some(theirs)) if mine.names() != theirs.names() => {
                Err(differ("groups", mine.names(), theirs.names()).into())
            }
            _ => Ok(()),
        }
    }
}

struct Tables<'a> {
    train: Rows<'a>,
    validation: Rows<'a>,
    test: Option<Rows<'a>>,
}

/// The metric as each table means it, since a name may depend on class priors; none where groups are missing.
struct Metrics {
    train: Option<Metric>,
    validation: Metric,
    test: Option<Metric>,
}

impl Metrics {
    fn new(text: &str, train: &Loaded, validation: &Loaded, test: Option<&Loaded>) -> Result<Self> {
        let of = |table: &Loaded| metrics::metric(text, table.table().classes(), table.sample.prevalence());
        let metric = of(validation)?;
        let groups = |table: &Loaded| table.table().groups().map_or(1, |groups| groups.names().len());
        let with_its_groups = |table: &Loaded| {
            let fits = metric.view().measure() != Measure::GroupRates || groups(table) == groups(validation);
            fits.then(|| of(table)).transpose()
        };
        let test = test.map(with_its_groups).transpose()?.flatten();
        Ok(Self { train: with_its_groups(train)?, test, validation: metric })
    }
}

/// A family of bases by its word, and how many.
fn family(basis: &str) -> Option<(&str, Option<usize>)> {
    match basis.split_once(':') {
        None if basis == "argmax" => Some((basis, None)),
        Some((word @ ("kmeans" | "rbf"), count)) => Some((word, count.parse().ok())),
        _ => None,
    }
}

/// All rows first, then each basis that was asked for; clusters of one clustering together.
fn units(args: &Optimize, validation: &Loaded, tables: &Tables, seed: u64) -> Result<Vec<Vec<Basis>>> {
    let mut units = if args.probes == "constraints" { vec![] } else { vec![vec![Basis::All]] };
    for basis in &args.basis {
        units.push(match family(basis) {
            None => vec![Basis::column(basis)],
            Some(("argmax", _)) => Basis::argmax_clusters(validation.table().classes().len()),
            Some((_, None)) => {
                let sentence =
                    format!("--basis is \"{basis}\", expected a number of clusters after the colon");
                return Err(Fault::usage(sentence).into());
            }
            Some((word, Some(count))) => {
                let found = centres(tables.validation.scores(), &args.features, count, seed)?;
                match word {
                    "kmeans" => Basis::clusters(args.features.clone(), found),
                    _ => {
                        let radial = |centre| Basis::Radial {
                            features: args.features.clone(),
                            centres: vec![centre],
                            width: args.width,
                        };
                        found.into_iter().map(radial).collect()
                    }
                }
            }
        });
    }
    // A partition is one unit: constraints need all of it.
    Ok(if args.probes == "constraints" { vec![units.concat()] } else { units })
}

fn plan(args: &Optimize) -> Result<FrankWolfe> {
    let mut plan = FrankWolfe::default().iterations(args.iterations as usize)?;
    if let Some(form) = &args.form {
        plan = plan.form(if form == "general" { Form::General } else { Form::Diagonal });
    }
    Ok(if args.probes == "constraints" { plan.constraint_probes() } else { plan })
}

/// The metric on each table; missing where there is no table or no value.
#[derive(Debug, Clone, Copy, Serialize)]
struct Values {
    train: Option<f64>,
    validation: Option<f64>,
    test: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    value: Values,
    before: Values,
    baselines: serde_json::Map<String, serde_json::Value>,
    queries: usize,
    rank: usize,
    notes: Vec<String>,
}

struct Done {
    report: Report,
    classifier: Classifier,
    unknowns: usize,
    stopped: Option<String>,
}

/// A metric in closed form, by its gradient or as a black box.
fn by_metric(
    args: &Optimize,
    plan: &FrankWolfe,
    tables: &Tables,
    units: Vec<Vec<Basis>>,
    (text, metrics): (&str, &Metrics),
    mut notes: Vec<String>,
) -> Result<Done> {
    if tables.validation.groups() > 1 && metrics::named(text) == Some(Named::GMean) {
        notes
            .push("g_mean is of the recalls of all rows; group_g_mean takes those of every group".to_owned());
    }
    let metric = &metrics.validation;
    let bases = chosen(args, plan, tables, units, (text, metric), &mut notes)?;
    let problem = Problem::new(&tables.train, &tables.validation, bases)?;
    plan.check(&problem)?;
    let mut probing = probing(metric.clone(), args)?;
    let outcome = match args.known {
        true => plan.run(&problem, &mut metric.clone()),
        false => plan.run(&problem, &mut probing),
    };
    let outcome = outcome.map_err(|stopped| match stopped.failure.cause {
        Err(error) => anyhow::Error::from(error),
        Ok(_) => anyhow!(Fault::usage(stopped.to_string())),
    })?;
    let value = |classifier: &Classifier| -> Values {
        let on = |rows: &Rows, metric: Option<&Metric>| {
            let labels = classifier.predict(rows.scores()).ok()?;
            metric?.of(&rows.confusions(&labels).ok()?).ok()
        };
        Values {
            train: on(&tables.train, metrics.train.as_ref()),
            validation: on(&tables.validation, Some(metric)),
            test: tables.test.as_ref().and_then(|rows| on(rows, metrics.test.as_ref())),
        }
    };
    let before = baselines::most_likely(problem.classes());
    let mut compared = serde_json::Map::new();
    if !args.no_baselines {
        for (name, found) in simpler(&problem, &mut probing, CANDIDATES) {
            let classifier = found.map_err(|failure| anyhow!(Fault::usage(failure.to_string())))?;
            compared.insert(name.to_owned(), serde_json::to_value(value(&classifier))?);
        }
    }
    notes.extend(outcome.notes.iter().cloned());
    let report = Report {
        value: value(&outcome.classifier),
        before: value(&before),
        baselines: compared,
        queries: outcome.queries,
        rank: outcome.rank,
        notes,
    };
    Ok(Done { report, classifier: outcome.classifier, unknowns: outcome.unknowns, stopped: None })
}

/// The bases that cross-validation leaves, where it is asked for or validation rows are few.
fn chosen(
    args: &Optimize,
    plan: &FrankWolfe,
    tables: &Tables,
    units: Vec<Vec<Basis>>,
    (text, metric): (&str, &Metric),
    notes: &mut Vec<String>,
) -> Result<Vec<Basis>> {
    let all = units.concat();
    let needed = ROWS_PER_WEIGHT * all.len() * tables.validation.classes();
    let wanted = args.select == "always" || (args.select == "auto" && tables.validation.len() < needed);
    if !wanted || units.len() < 2 {
        return Ok(all);
    }
    // A name means its formula on the rows it is evaluated on; a document stays as it is.
    let named = metrics::named(text);
    let of = |prevalence: &Prevalence| match named {
        Some(named) => named.metric(prevalence),
        None => Ok(metric.clone()),
    };
    let found = select(&tables.train, &tables.validation, nested(&units), &of, plan, args.known, FOLDS)?;
    let best = &found.candidates[found.chosen];
    let names: Vec<String> = best.bases.iter().map(|basis| basis.name(&[])).collect();
    notes.push(format!(
        "of {} sets of bases, cross-validation within the validation rows chose: {} ({:.4}, standard error {:.4}); --select \
         never keeps them all",
        found.candidates.len(),
        names.join(", "),
        best.mean,
        best.standard_error
    ));
    Ok(best.bases.clone())
}

fn probing<J: Judge>(judge: J, args: &Optimize) -> Result<Probing<J>> {
    let probing = Probing::new(judge);
    Ok(match args.step {
        Some(step) => probing.step(step)?,
        None => probing,
    })
}

type Baseline<E> = (&'static str, Result<Classifier, Failure<E>>);

/// Simpler methods, by name.
fn simpler<J: Judge>(
    problem: &Problem,
    probing: &mut Probing<J>,
    candidates: usize,
) -> Vec<Baseline<J::Err>> {
    let mut found = vec![
        ("plug_in", baselines::plug_in_search(problem, probing, candidates)),
        ("cyclic", baselines::cyclic_search(problem, probing, candidates)),
    ];
    let groups = problem.validation().groups();
    if groups > 1 && problem.classes() == 2 {
        let parts = problem.validation().scores().columns().filter(|name| name.starts_with("group "));
        let parts = parts.map(Basis::column).collect::<Vec<_>>();
        if let Ok(classifier) = baselines::group_thresholds(problem, probing, candidates, parts) {
            found.push(("group_thresholds", classifier));
        }
    }
    found.push(("transition_matrix", Ok(baselines::transition_matrix(problem.validation()))));
    found
}

/// A metric that is another program. It judges validation rows only.
fn by_command(
    args: &Optimize,
    plan: &FrankWolfe,
    tables: &Tables,
    units: Vec<Vec<Basis>>,
    (command, seed): (&str, u64),
    mut notes: Vec<String>,
) -> Result<Done> {
    let problem = Problem::new(&tables.train, &tables.validation, units.concat())?;
    plan.check(&problem)?;
    let labels = if args.labels == "hard" { Labels::Hard { draws: 10 } } else { Labels::Soft };
    let limit = Duration::from_secs_f64(args.time_limit.min(1e6));
    let mut probing = probing(MetricCommand::new(command.to_owned(), labels, limit), args)?.seed(seed);
    notes.push("the metric command judges validation rows only, so other tables have no values".to_owned());
    let (outcome, mut stopped) = match plan.run(&problem, &mut probing) {
        Ok(outcome) => (outcome, None),
        Err(Stopped { failure, iteration, partial }) => {
            (*partial, Some(sentence(&format!("iteration {iteration}, "), &failure)))
        }
    };
    notes.extend(outcome.notes.iter().cloned());
    let mut value = |classifier: &Classifier, stopped: &mut Option<String>, about: &str| -> Result<Values> {
        let mut validation = None;
        if stopped.is_none() {
            let labels = classifier.predict(tables.validation.scores())?;
            match probing.value(&problem.predictions(&labels), about) {
                Ok(found) => validation = Some(found),
                Err(failure) => *stopped = Some(sentence("", &failure)),
            }
        }
        Ok(Values { train: None, validation, test: None })
    };
    let after = value(&outcome.classifier, &mut stopped, "the result")?;
    let before = value(&baselines::most_likely(problem.classes()), &mut stopped, "the most likely classes")?;
    let asked = probing.queries();
    let mut compared = serde_json::Map::new();
    if !args.no_baselines && stopped.is_none() {
        for (name, found) in simpler(&problem, &mut probing, FEW_CANDIDATES) {
            let labels = match found {
                Ok(classifier) => classifier.predict(tables.validation.scores())?,
                Err(failure) => {
                    stopped.get_or_insert(sentence("baselines, ", &failure));
                    continue;
                }
            };
            let about = format!("baseline {name}");
            let validation = probing.value(&problem.predictions(&labels), &about);
            let values = Values { train: None, validation: validation.ok(), test: None };
            compared.insert(name.to_owned(), serde_json::to_value(values)?);
        }
        notes.push(format!("the baselines asked {} more times", probing.queries() - asked));
    }
    notes.extend(stopped.iter().map(|sentence| format!("stopped early: {sentence}")));
    let (classifier, unknowns, rank) = (outcome.classifier, outcome.unknowns, outcome.rank);
    let report = Report { value: after, before, baselines: compared, queries: asked, rank, notes };
    Ok(Done { report, classifier, unknowns, stopped })
}

fn sentence(before: &str, failure: &Failure<CommandFault>) -> String {
    format!("{before}{failure}")
}
