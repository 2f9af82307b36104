//! A metric on the command line: by name, as a cost ratio, or as a document.

use crate::fault::Fault;
use crate::{costs, files};
use anyhow::{Context as _, Result};
use equipoise::decide::nearest::{self, Agreement};
use equipoise::{Measure, Metric, Sense, metric::Named, rates::Prevalence};
use std::path::Path;

/// What `--metric` accepts, for help texts.
pub const HELP: &str = "a metric document; a name, of a benefit (accuracy, f1, mcc, g_mean, ...: larger is better) or of a cost \
                        (error_rate, q_mean, equalised_odds, ...: smaller is better), see `equipoise metrics`; a cost ratio such \
                        as 7:1, what a missed positive costs over a false alarm; or a cost matrix";

/// Reads a metric for classes and groups like these.
///
/// A text that names a file is the file; everything else must be a name or a matrix. A document that names its classes must
/// name those of the data, in their order.
pub fn metric(text: &str, classes: &[String], prevalence: &Prevalence) -> Result<Metric> {
    let metric = any(text, classes, prevalence)?;
    of_errors(&metric).with_context(|| files::name(Path::new(text)))?;
    Ok(metric)
}

/// The same, where a metric may be about attributes of candidates instead.
pub fn any(text: &str, classes: &[String], prevalence: &Prevalence) -> Result<Metric> {
    let path = Path::new(text);
    let metric = if text.ends_with(".csv") {
        let matrix = files::read_text(path, "a cost matrix")?;
        costs::from_csv(&matrix, classes)
            .map_err(|what| Fault::usage(format!("{}: {what}", files::name(path))))?
    } else if text.contains(';') && !path.is_file() {
        costs::from_line(text, classes)
            .map_err(|what| Fault::usage(format!("--metric \"{text}\": {what}")))?
    } else if is_file(text) {
        document(path)?
    } else {
        let named = Named::parse(text).ok_or_else(|| Fault::usage(unknown(text)))?;
        named.metric(prevalence).map_err(|error| explained(named, prevalence, error))?
    };
    match metric.class_names() {
        _ if metric.view().measure() == Measure::Attributes => Ok(metric),
        Some(names) if names != classes => {
            let list = |names: &[String]| names.join(", ");
            let sentence = format!(
                "the metric is about the classes {}, but the data have {}",
                list(names),
                list(classes)
            );
            Err(Fault::usage(sentence).into())
        }
        Some(_) => Ok(metric),
        None if metric.view().classes() == classes.len() => {
            metric.with_class_names(classes.to_vec()).context("the names of the classes")
        }
        None => Err(Fault::usage(format!(
            "the metric is about {} classes, but the data have {}",
            metric.view().classes(),
            classes.len()
        ))
        .into()),
    }
}

/// A metric in a file of its own, if the text names one that can be read twice.
pub fn in_file(text: &str) -> Result<Option<Metric>> {
    let is_document = is_file(text) && text != "-" && !text.ends_with(".csv");
    is_document.then(|| document(Path::new(text))).transpose()
}

fn document(path: &Path) -> Result<Metric> {
    Metric::from_json(&files::read(path)?).with_context(|| files::name(path))
}

/// Refuses a metric of attributes where predictions are judged.
pub fn of_errors(metric: &Metric) -> Result<()> {
    match metric.view().measure() {
        Measure::Attributes => {
            let what = "the metric is about attributes of candidates, expected one of classification errors (rank and score \
                        take it with a table that has a column of each)";
            Err(Fault::usage(what).into())
        }
        _ => Ok(()),
    }
}

/// What to say of a word that means nothing: the nearest that does, or all there are.
fn unknown(text: &str) -> String {
    let word = text.trim().to_lowercase().replace(['-', ' '], "_");
    let names: Vec<String> = Named::all().iter().flat_map(Named::names).collect();
    // How much of two words is the same from either end: all but a letter or two, where one was mistyped.
    let shared = |name: &String| {
        let ahead = name.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
        let back = name.chars().rev().zip(word.chars().rev()).take_while(|(a, b)| a == b).count();
        (ahead + back).min(name.len()).min(word.len())
    };
    let close = |name: &&String| shared(name) >= 3 && shared(name) + 2 >= name.len().max(word.len());
    let near = names.iter().filter(close).max_by_key(|name| shared(name));
    let hint = near.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    format!("\"{text}\" is no metric file and no known name{hint}; `equipoise metrics` lists the names")
}

/// What keeps a metric from being used on the data, with the option that helps.
fn explained(named: Named, prevalence: &Prevalence, error: equipoise::Error) -> anyhow::Error {
    let (name, k) = (named.names().swap_remove(0), prevalence.class_priors().len());
    match named.needs() {
        [true, _] if k != 2 => Fault::usage(format!(
            "{name} is for 2 classes, but the data have {k}; macro_f, balanced_accuracy, mcc and cost matrices are for any number"
        ))
        .into(),
        [_, true] if prevalence.group_shares().groups() < 2 => {
            Fault::usage(format!("{name} compares groups, but the data have none; --group names their column")).into()
        }
        _ => error.into(),
    }
}

/// Which way is better, for headings.
pub fn better(metric: &Metric) -> &'static str {
    match metric.sense() {
        Sense::Utility => "larger is better",
        Sense::Cost => "smaller is better",
    }
}

/// The metric that is meant by its name, rather than by a file.
pub fn named(text: &str) -> Option<Named> {
    Named::parse(text).filter(|_| !is_file(text))
}

fn is_file(text: &str) -> bool {
    Path::new(text).is_file() || text == "-" || text.ends_with(".json")
}

/// Below this agreement a name would mislead.
const ALIKE: f64 = 0.7;

/// The metrics with names that order classifiers alike, in a sentence; or that none does.
pub fn nearest(found: &[Agreement]) -> String {
    match found.first() {
        Some(first) if first.kendall < ALIKE => format!(
            "No metric with a name orders classifiers alike; the closest is {} (Kendall tau {:.3}).",
            first.words, first.kendall
        ),
        _ => nearest::sentence(found),
    }
}
