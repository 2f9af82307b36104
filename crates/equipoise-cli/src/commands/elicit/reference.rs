//! Which classifiers are asked about: those around one that somebody has, or all that a family's questions need.

use crate::args::{Asking, Global};
use crate::fault::Fault;
use crate::rows::Rows;
use crate::tables::{self, Streaming, TableColumns};
use crate::{files, metrics};
use anyhow::{Context as _, Result};
use equipoise::Measure;
use equipoise::decide::threshold::rewards;
use equipoise::population::{AskError, Confusions as _, Population as _, PostShift, Rule};
use equipoise::space::{Achievable, AnySpace, OperatingPoint};
use equipoise_data::{Error, Reading, Sample, operating_point, space_for};
use std::path::Path;

/// How far the errors of another model may be from what these predictions allow, and still count as theirs.
const ROUNDING: f64 = 1e-6;

/// Of fewer rows of a class nobody can say how often it is mistaken.
const FEWEST_ROWS: u64 = 5;

/// Reads the table of `elicit` and `plan`. A class without rows is not a broken file: another line reads it.
pub fn read(
    columns: &TableColumns,
    table: &Path,
    from: &Streaming,
    global: &Global,
) -> Result<Reading<Rows>> {
    let read =
        Rows::read_often(table, columns, from, global).inspect(|reading| tables::say(&reading.notes, global));
    read.map_err(|error| {
        let without_rows = error.downcast_ref::<equipoise_data::Error>().is_some_and(|error| {
            error.expected.contains("at least one row of every class") || error.expected.contains("two classes")
        });
        match without_rows {
            true => Fault::usage(format!(
                "{error}; a table with cases of every class helps, or --scores without the columns of the others"
            ))
            .into(),
            false => error,
        }
    })
}

/// Refuses a table that is too small for somebody to be asked about it.
pub fn enough_rows(sample: &Rows, table: &Path) -> Result<()> {
    let totals = sample.totals()?;
    let rows = (0..sample.classes()).map(|class| (class, totals.of_class(class).rows));
    let fewest = rows.min_by_key(|(_, rows)| *rows);
    match fewest {
        Some((class, rows)) if rows < FEWEST_ROWS => {
            let (file, class) = (files::name(table), &sample.class_names()[class]);
            let s = if rows == 1 { "" } else { "s" };
            let what = format!(
                "{file} has {rows} row{s} of class {class}, expected at least {FEWEST_ROWS} of every class to ask somebody \
                 about: more rows help"
            );
            Err(Fault::usage(what).into())
        }
        _ => Ok(()),
    }
}

/// What questions are asked around: what the command line says, or the model where somebody real is asked about weights that
/// can be traded two at a time.
pub fn of(asking: &Asking, sample: &Rows, real: bool) -> Result<Option<String>> {
    let adaptive = asking.method.as_deref().is_none_or(|method| method == "adaptive");
    let fits = match asking.family() {
        "linear" => sample.classes() > 2,
        "group_fair" => sample.groups() == 2,
        _ => false,
    };
    let unfit = || match asking.family() {
        "linear" if sample.classes() == 2 => {
            "this table has two classes, whose thresholds are compared as they are; leave --around out"
        }
        "linear" => "this method has questions of its own; leave --method out",
        "group_fair" if sample.groups() > 2 => {
            "this table has more than two groups; --around coin asks about a ball of error rates"
        }
        "group_fair" => "this method has questions of its own; leave --method out",
        _ => "this family needs other questions; leave --around out, or --family",
    };
    match &asking.around {
        Some(word) if word == "coin" => Ok(None),
        // Groups that are not there are told about later, by name.
        Some(_) if !(fits && adaptive || asking.family() == "group_fair" && sample.groups() < 2) => {
            let what = format!(
                "--around is for linear metrics of more than two classes and group-fair ones of two groups: {}",
                unfit()
            );
            Err(Fault::usage(what).into())
        }
        Some(word) => Ok(Some(word.clone())),
        None => Ok((fits && adaptive && real).then(|| "model".to_owned())),
    }
}

/// The classifiers of a family's questions.
pub fn space(
    family: &str,
    sample: &Rows,
    (table, columns): (&Path, &TableColumns),
    around: Option<&str>,
) -> Result<AnySpace> {
    let file = files::name(table);
    if family.starts_with("group_fair") && sample.groups() < 2 {
        let what = format!("{file} has no groups to compare; --group COLUMN names them");
        return Err(Fault::usage(what).into());
    }
    let Some(word) = around else { return space_for(sample, family).context(file) };
    let groups = family == "group_fair";
    let made = match other_model(word) {
        Some(path) => around_errors(path, columns, sample, groups)?,
        None => operating_point(sample, &rule_of(word, sample)?, groups),
    };
    let helps = |error: AskError<Error>| match error {
        AskError::Input(error) => Fault::usage(format!(
            "{file}: {error}; more rows help, another classifier (--around balanced), or --around coin, which asks about a \
             ball of error rates"
        )),
        AskError::Population(error) => Fault::input_output(error.to_string()),
    };
    Ok(AnySpace::OperatingPoint(made.map_err(helps)?))
}

/// The file of another model's predictions, if a word is one.
fn other_model(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    (path.is_file() && !word.ends_with(".json")).then_some(path)
}

/// Around another model, if these predictions allow what it does.
fn around_errors(
    path: &Path,
    columns: &TableColumns,
    sample: &Rows,
    groups: bool,
) -> Result<Result<OperatingPoint, AskError<Error>>> {
    let name = files::name(path);
    let read = equipoise_data::read::table(path, &columns.columns()).map_err(|error| columns.blame(error))?;
    let other = Sample::new(read.data).with_context(|| name.clone())?;
    let names = sample.class_names();
    if other.table().classes() != names {
        let what = format!(
            "--around: {name} has the classes {}, expected {}",
            other.table().classes().join(", "),
            names.join(", ")
        );
        return Err(Fault::usage(what).into());
    }
    if groups && other.groups() != sample.groups() {
        let what = format!("--around: {name} has {} groups, expected {}", other.groups(), sample.groups());
        return Err(Fault::usage(what).into());
    }
    let measure = if groups { Measure::GroupRates } else { Measure::OffDiagonalRates };
    let Ok(found) = other.confusions(&[Rule::most_likely(other.classes())?]);
    let errors = Achievable::new(&other, measure)?.errors_of(&found[0]);
    let set = Achievable::new(sample, measure)?;
    // Their own classifier exists, also where their probabilities are off and do not lead to it.
    let own = set.errors_of(&sample.confusions(&[Rule::most_likely(sample.classes())?])?[0]);
    let is_own = errors.iter().zip(&own).all(|(error, own)| (error - own).abs() <= ROUNDING);
    if !is_own && set.mixture(&errors, ROUNDING)?.is_none() {
        let what = format!(
            "--around: no classifier of these predictions makes the errors of the one in {name}; --around model asks around \
             their own"
        );
        return Err(Fault::usage(what).into());
    }
    Ok(OperatingPoint::around(&set, &errors))
}

/// The rule that is meant by a word, or the best one for a metric.
fn rule_of(word: &str, sample: &Rows) -> Result<Rule> {
    let priors = sample.prevalence().class_priors();
    Ok(match word {
        "model" => Rule::most_likely(priors.len())?,
        "balanced" => {
            PostShift::diagonal(&priors.iter().map(|prior| 1.0 / prior).collect::<Vec<_>>())?.into()
        }
        metric => {
            let metric = metrics::metric(metric, sample.class_names(), sample.prevalence()).context(
                "--around (model, balanced and coin are words of their own, a table names another model)",
            )?;
            rewards(&metric, priors).context("--around")?.into()
        }
    })
}
