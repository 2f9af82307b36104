//! `equipoise optimize`: predictions that maximise a metric, without retraining.

mod command;
mod print;

use crate::args::{Global, Optimize};
use crate::fault::Fault;
use crate::rows::Rows;
use crate::tables::{self, TableColumns};
use crate::{files, json, metrics};
use anyhow::{Context as _, Result, anyhow};
use equipoise::decide::optimize::{
    Cause, Failure, FrankWolfe, Judge, Probing, Problem, ROWS_PER_WEIGHT, baselines, centres, direct_search,
    nested, select,
};
use equipoise::metric::Named;
use equipoise::population::{self, Basis, Classifier, Confusions as _};
use equipoise::{Measure, Metric, Prevalence};
use equipoise_data::{Error, Reading, Sample, read};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Folds of the cross-validation that chooses bases.
const FOLDS: usize = 5;
/// Values of a weight the baselines try.
const CANDIDATES: usize = 400;
/// Values of the metric that a direct search may ask for.
const VALUES: usize = 2000;
/// The method of this command among those it is compared with.
const METHOD: &str = "frank_wolfe";
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
        train: &train.rows,
        validation: validation.rows.in_memory()?.rows()?,
        test: test.as_ref().map(|table| &table.rows),
    };
    let seed = global.seed.unwrap_or(0);
    let units = units(args, &validation, &tables, seed)?;
    let plan = plan(args)?;
    let class_names = validation.rows.class_names().to_vec();
    let score_columns =
        args.columns.columns().score_columns(&class_names).context("the columns of the classes")?;
    let scale = args.columns.scores_are.clone().filter(|scale| scale != "probability");
    let name = |classifier: Classifier| {
        let named = classifier.with_names(class_names.clone(), score_columns.clone());
        named.map(|named| named.with_scores_that_are(scale.clone()))
    };
    let done = match (&args.metric, &args.metric_command) {
        (Some(text), _) => {
            let metrics = Metrics::new(text, &train, &validation, test.as_ref())?;
            by_metric(args, &plan, &tables, units, (text, &metrics), notes)?
        }
        (None, Some(command)) => command::by_command(args, &plan, &tables, units, (command, seed), notes)?,
        (None, None) => match &args.preference_command {
            Some(command) => command::by_preference(args, &tables, command, notes)?,
            None => {
                let sentence = "one of --metric, --metric-command and --preference-command is needed";
                return Err(Fault::usage(sentence).into());
            }
        },
    };
    let classifier = name(done.classifier)?;
    // What went wrong must not cost anybody an earlier result.
    let path = if done.stopped.is_some() { unused(&args.classifier) } else { args.classifier.clone() };
    files::write(&path, &(classifier.to_json() + "\n"))?;
    let written = files::name(&path);
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&done.report, &mut out)?;
    } else {
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
            Err(Fault::input_output(format!("{sentence}; the classifier so far is in {written}")).into())
        }
    }
}

/// The path itself, or the first like it that is not taken: `classifier-2.json`.
fn unused(path: &Path) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, end) = (part(path.file_stem()), path.extension().map(|end| format!(".{}", part(Some(end)))));
    let other = |n: usize| path.with_file_name(format!("{stem}-{n}{}", end.clone().unwrap_or_default()));
    std::iter::once(path.to_owned()).chain((2..).map(other)).find(|path| !path.exists()).expect("endless")
}

/// One table with everything it lends to the optimiser.
struct Loaded {
    what: &'static str,
    rows: Rows,
}

impl Loaded {
    fn read(
        what: &'static str,
        path: &Path,
        args: &Optimize,
        global: &Global,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let names = columns_of_bases(args);
        let counted = args.streaming.is_asked_for();
        if counted && !names.is_empty() {
            let what = format!(
                "--basis and --features are of rows in memory, but these are only counted: leave {} out, or what keeps the rows elsewhere",
                names.join(", ")
            );
            return Err(Fault::usage(what).into());
        }
        let read = |columns: &TableColumns| -> Result<Reading<Rows>> {
            // Predictions for validation rows are judged one by one. Bases are quicker to have in memory, unless somebody knows better.
            let reading = match what != "validation" && (counted || args.basis.is_empty()) {
                true => Rows::read(path, columns, &args.streaming, global)?,
                false => {
                    let Reading { data, notes } = columns.read_quietly(path, global)?;
                    Reading { data: data.into(), notes }
                }
            };
            tables::say(&reading.notes, global);
            Ok(reading)
        };
        let reading = match read(&args.columns) {
            // The metric may look at groups that only the validation rows have.
            Err(error) if what != "validation" && args.columns.lacks_groups(&error) => {
                let without = TableColumns { group: None, no_group: true, ..args.columns.clone() };
                let reading = read(&without)?;
                notes.push(format!(
                    "the {what} table has no groups, so its value of a metric about groups is not known"
                ));
                reading
            }
            other => other?,
        };
        notes.extend(reading.findings().map(|finding| format!("{what} table: {finding}")));
        let rows = match reading.data {
            Rows::Memory(sample) if !names.is_empty() => {
                let mut table = sample.into_table();
                for (name, values) in names.iter().zip(read::numbers(path, &names)?.data) {
                    table = table.with_column(name, values)?;
                }
                Sample::new(table)?.into()
            }
            rows => rows,
        };
        Ok(Self { what, rows })
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
        let (mine, theirs) = (self.rows.class_names(), validation.rows.class_names());
        if mine != theirs {
            return Err(differ("classes", mine, theirs).into());
        }
        match (self.rows.group_names(), validation.rows.group_names()) {
            (mine @ [_, ..], theirs @ [_, ..]) if mine != theirs => {
                Err(differ("groups", mine, theirs).into())
            }
            _ => Ok(()),
        }
    }
}

/// The columns that bases are made of, beside those of probabilities and groups.
fn columns_of_bases(args: &Optimize) -> Vec<String> {
    let mut names: Vec<String> = args.basis.iter().filter(|basis| family(basis).is_none()).cloned().collect();
    names.extend(args.features.iter().filter(|name| !args.basis.contains(name)).cloned());
    names
}

struct Tables<'a> {
    train: &'a Rows,
    validation: population::Rows<'a>,
    test: Option<&'a Rows>,
}

/// The metric as each table means it, since a name may depend on class priors; none where groups are missing.
struct Metrics {
    train: Option<Metric>,
    validation: Metric,
    test: Option<Metric>,
}

impl Metrics {
    fn new(text: &str, train: &Loaded, validation: &Loaded, test: Option<&Loaded>) -> Result<Self> {
        let of = |table: &Loaded| metrics::metric(text, table.rows.class_names(), table.rows.prevalence());
        let metric = of(validation)?;
        let groups = |table: &Loaded| table.rows.groups();
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
            Some(("argmax", _)) => Basis::argmax_clusters(validation.rows.classes()),
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
        plan = plan.general(form == "general");
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
    /// What did best on the validation rows, and is what was written.
    method: String,
    baselines: serde_json::Map<String, serde_json::Value>,
    queries: usize,
    rank: usize,
    /// Which way is better.
    #[serde(skip)]
    better: Option<&'static str>,
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
    let problem = Problem::new(tables.train, &tables.validation, bases)?;
    plan.check(&problem)?;
    let mut probing = probing(metric.clone(), args)?;
    let outcome = match args.known {
        true => plan.run(&problem, &mut metric.clone()),
        false => plan.run(&problem, &mut probing),
    };
    let outcome = outcome.map_err(|stopped| match stopped.failure.cause {
        Cause::Failed(error) => anyhow::Error::from(error),
        Cause::Training(error) => anyhow::Error::from(error),
        Cause::NoNumber(_) => anyhow!(Fault::usage(stopped.to_string())),
    })?;
    let value = |classifier: &Classifier| -> Result<Values> {
        let on = |rows: &Rows, metric: Option<&Metric>| -> Result<Option<f64>> {
            // A table without groups cannot say what a rule by groups does to it.
            let Some((metric, rule)) = metric.zip(rows.rule_of(classifier)) else { return Ok(None) };
            let found = rows.confusions(&[rule])?;
            Ok(metric.of(&found[0]).ok())
        };
        let labels = classifier.predict(tables.validation.scores());
        let validation = labels.and_then(|labels| metric.of(&tables.validation.confusions(&labels)?)).ok();
        let test = tables.test.map(|test| on(test, metrics.test.as_ref())).transpose()?.flatten();
        Ok(Values { train: on(tables.train, metrics.train.as_ref())?, validation, test })
    };
    let before = baselines::most_likely(problem.classes());
    let mut tried = vec![(METHOD, outcome.classifier.clone())];
    if !args.no_baselines {
        let parts = group_parts(args, &problem);
        for (name, found) in simpler(&problem, &mut probing, (CANDIDATES, VALUES), &parts, args.per_group) {
            tried.push((name, found.map_err(|failure| anyhow!(Fault::usage(failure.to_string())))?));
        }
        let parts = if args.per_group { parts } else { vec![] };
        let exact = baselines::best_thresholds(&problem, metric, parts).ok();
        tried.extend(exact.map(|found| ("thresholds", found)));
    }
    let sign = metric.sense().sign();
    let judged = |(name, classifier)| Ok(Tried { name, values: value(&classifier)?, classifier });
    let tried = tried.into_iter().map(judged).collect::<Result<Vec<Tried>>>()?;
    notes.extend(outcome.notes.iter().cloned());
    let (best, compared) = best_of(tried, args.per_group, sign, &mut notes)?;
    let report = Report {
        value: best.values,
        before: value(&before)?,
        method: best.name.to_owned(),
        baselines: compared,
        queries: outcome.queries,
        rank: outcome.rank,
        better: Some(metrics::better(metric)),
        notes,
    };
    Ok(Done { report, classifier: best.classifier, unknowns: outcome.unknowns, stopped: None })
}

/// A method and what it came to.
struct Tried {
    name: &'static str,
    values: Values,
    classifier: Classifier,
}

/// The best on the validation rows, Frank-Wolfe's, which comes first, unless another is better; and the values of all others. Rules
/// that look at groups are not for whoever did not ask for them.
fn best_of(
    mut tried: Vec<Tried>,
    per_group: bool,
    sign: f64,
    notes: &mut Vec<String>,
) -> Result<(Tried, serde_json::Map<String, serde_json::Value>)> {
    let mut best = 0;
    let liking = |tried: &Tried| tried.values.validation.map(|value| sign * value);
    for n in 1..tried.len() {
        let allowed = per_group || tried[n].classifier.group_columns().is_none();
        if allowed && liking(&tried[n]) > liking(&tried[best]) {
            best = n;
        }
    }
    let best = tried.remove(best);
    let mut others = serde_json::Map::new();
    for other in tried {
        others.insert(other.name.to_owned(), serde_json::to_value(other.values)?);
    }
    if best.name != METHOD {
        let name = best.name.replace('_', " ");
        notes
            .push(format!("of all that was tried, {name} does best on the validation rows, and was written"));
    }
    Ok((best, others))
}

/// One basis per group, where the validation rows have groups.
fn group_parts(args: &Optimize, problem: &Problem<Error>) -> Vec<Basis> {
    let columns = args.columns.group.clone().unwrap_or_else(|| vec!["group".to_owned()]);
    let names = problem.validation().scores().columns().filter_map(|name| name.strip_prefix("group "));
    let part = |group: &str| Basis::Group { columns: columns.clone(), group: group.to_owned() };
    if problem.validation().groups() > 1 { names.map(part).collect() } else { vec![] }
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
    let found = select(tables.train, &tables.validation, nested(&units), &of, plan, args.known, FOLDS)?;
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
    problem: &Problem<Error>,
    probing: &mut Probing<J>,
    (candidates, values): (usize, usize),
    parts: &[Basis],
    per_group: bool,
) -> Vec<Baseline<J::Err>> {
    let mut found = vec![
        ("plug_in", baselines::plug_in_search(problem, probing, candidates)),
        ("cyclic", baselines::cyclic_search(problem, probing, candidates)),
    ];
    if problem.classes() == 2
        && !parts.is_empty()
        && let Ok(classifier) = baselines::group_thresholds(problem, probing, candidates, parts.to_vec())
    {
        found.push(("group_thresholds", classifier));
    }
    if problem.classes() > 2 {
        found.push(("direct", direct_search(problem, probing, values, if per_group { parts } else { &[] })));
    }
    found.push(("transition_matrix", Ok(baselines::transition_matrix(problem.validation()))));
    found
}
