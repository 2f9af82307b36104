//! A metric on the command line: by name, as a cost ratio, or as a document.

use crate::fault::Fault;
use crate::files;
use anyhow::{Context as _, Result};
use equipoise::decide::nearest::{self, Agreement};
use equipoise::{Metric, metric::Named, rates::Prevalence};
use std::path::Path;

/// What `--metric` accepts, for help texts.
pub const HELP: &str = "a metric document, a name (accuracy, f1, f2, jaccard, g_mean, equalised_odds, ...), or a cost \
                        ratio such as 7:1";

/// Reads a metric for classes and groups like these.
///
/// A text that names a file is the file; everything else must be a name. A document that names its classes must name
/// those of the data, in their order.
pub fn metric(text: &str, classes: &[String], prevalence: &Prevalence) -> Result<Metric> {
    let path = Path::new(text);
    let metric = if is_file(text) {
        Metric::from_json(&files::read(path)?).with_context(|| files::name(path))?
    } else {
        let unknown = || format!("\"{text}\" is no metric file and no known name; expected {HELP}");
        Named::parse(text).ok_or_else(|| Fault::usage(unknown()))?.metric(prevalence)?
    };
    match metric.class_names() {
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
