//! `equipoise apply`: predictions of a classifier that `optimize` wrote.

use crate::args::{Apply, Global};
use crate::fault::Fault;
use crate::table::field;
use crate::{files, json, tables};
use anyhow::{Context as _, Result};
use equipoise::population::{Basis, Classifier, Column, Scores};
use equipoise_data::{Kind, MOST_GROUPS, read};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Apply, global: &Global) -> Result<ExitCode> {
    let classifier = Classifier::from_json(&files::read(&args.classifier)?)
        .with_context(|| files::name(&args.classifier))?;
    let labels = predict(args, &classifier)?;
    let kept = kept(args, global)?;
    let name = |label: u8| match classifier.class_names() {
        Some(names) => names[usize::from(label)].clone(),
        None => label.to_string(),
    };
    let mut out = std::io::stdout().lock();
    if global.json {
        #[derive(Serialize)]
        struct Document<'a> {
            rows: usize,
            predictions: Vec<String>,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            kept: BTreeMap<&'a str, &'a [String]>,
        }
        let predictions: Vec<String> = labels.iter().map(|&label| name(label)).collect();
        let kept = kept.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect();
        json::write(&Document { rows: labels.len(), predictions, kept }, &mut out)?;
    }
    let mut text = String::new();
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let headings = kept.iter().map(|(name, _)| field(name)).chain(["prediction".to_owned()]);
    text += &line(headings.collect());
    for (row, &label) in labels.iter().enumerate() {
        let cells = kept.iter().map(|(_, values)| field(&values[row])).chain([field(&name(label))]);
        text += &line(cells.collect());
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
    let scale = args.scores_are.as_deref().or(classifier.scores_are());
    if let Some(scale) = scale.filter(|scale| !tables::SCALES.contains(scale)) {
        let file = files::name(&args.classifier);
        let expected = tables::SCALES.join(", ");
        return Err(Fault::input_output(format!(
            "{file}: scores_are is {scale}, expected one of {expected}"
        ))
        .into());
    }
    let read = read::probabilities(&args.table, &scores, tables::scale(scale));
    let probabilities = read.map_err(|error| match tables::option_for(&error) {
        // Rows cannot be left out here, where every one is predicted.
        Some(option) if error.kind != Kind::Missing => {
            anyhow::Error::from(Fault::input_output(format!("{error}; {option}")))
        }
        _ => error.into(),
    });
    let probabilities = probabilities?.data;
    let others = match classifier.columns() {
        none if none.is_empty() => vec![],
        columns => read::numbers(&args.table, &columns)?.data,
    };
    let groups = classifier.group_columns().map(|names| read::groups(&args.table, names)).transpose()?;
    let groups = groups.map(|reading| reading.data);
    let mut seen = Scores::new(probabilities.iter().map(Vec::as_slice).collect())?;
    for (name, values) in classifier.columns().into_iter().zip(&others) {
        seen = seen.with_column(name, Column::Reals(values))?;
    }
    for basis in classifier.bases() {
        if let (Basis::Group { group, .. }, Some(groups)) = (basis, &groups) {
            // A group that the table has no rows of is nobody's code.
            let code = groups.names().iter().position(|name| name == group).unwrap_or(MOST_GROUPS);
            seen = seen.with_column(basis.name(&[]), Column::Code(groups.codes(), code as u16))?;
        }
    }
    Ok(classifier.predict(&seen)?)
}

/// Names a column of ids usually has.
const IDS: [&str; 5] = ["id", "row_id", "uuid", "index", "Unnamed: 0"];

/// The columns that stand beside the predictions.
fn kept(args: &Apply, global: &Global) -> Result<Vec<(String, Vec<String>)>> {
    let names = match &args.keep {
        Some(names) => names.clone(),
        None => {
            let header = read::header(&args.table)?;
            let usual = |usual: &&str| header.iter().find(|name| name.eq_ignore_ascii_case(usual)).cloned();
            let found: Option<String> = IDS.iter().find_map(usual);
            if let Some(name) = found.as_ref().filter(|_| !global.json && !global.quiet) {
                eprintln!("kept column: {name} (guessed)");
            }
            found.into_iter().collect()
        }
    };
    let values = read::texts(&args.table, &names)?;
    Ok(names.into_iter().zip(values).collect())
}
