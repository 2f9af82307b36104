//! `equipoise apply`: predictions of a classifier that `optimize` wrote.

use crate::args::{Apply, Global};
use crate::fault::Fault;
use crate::{files, json};
use anyhow::{Context as _, Result};
use equipoise::decide::optimize::{Classifier, Column, Scores};
use equipoise_data::read;
use serde::Serialize;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Apply, global: &Global) -> Result<ExitCode> {
    let classifier = Classifier::from_json(&files::read(&args.classifier)?)
        .with_context(|| files::name(&args.classifier))?;
    let labels = predict(args, &classifier)?;
    let name = |label: u8| match classifier.class_names() {
        Some(names) => names[usize::from(label)].clone(),
        None => label.to_string(),
    };
    let mut out = std::io::stdout().lock();
    if global.json {
        #[derive(Serialize)]
        struct Document {
            rows: usize,
            predictions: Vec<String>,
        }
        let predictions: Vec<String> = labels.iter().map(|&label| name(label)).collect();
        json::write(&Document { rows: labels.len(), predictions }, &mut out)?;
    }
    let mut text = String::from("prediction\n");
    for &label in &labels {
        text += &field(&name(label));
        text.push('\n');
    }
    match &args.output {
        Some(path) => files::write(path, &text)?,
        None if !global.json => out.write_all(text.as_bytes())?,
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The predicted class of every row.
fn predict(args: &Apply, classifier: &Classifier) -> Result<Vec<u8>> {
    let stored = classifier.score_columns().map(<[String]>::to_vec);
    let Some(scores) = args.scores.clone().or(stored) else {
        let sentence = format!(
            "{} does not say which columns have the probabilities; name them with --scores",
            files::name(&args.classifier)
        );
        return Err(Fault::usage(sentence).into());
    };
    let names: Vec<&str> = scores.iter().map(String::as_str).chain(classifier.columns()).collect();
    let columns = read::numbers(&args.table, &names)?.data;
    let (probabilities, others) = columns.split_at(scores.len());
    let mut seen = Scores::new(probabilities.iter().map(Vec::as_slice).collect())?;
    for (name, values) in classifier.columns().into_iter().zip(others) {
        seen = seen.with_column(name, Column::Reals(values))?;
    }
    Ok(classifier.predict(&seen)?)
}

/// A field of a CSV line.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
