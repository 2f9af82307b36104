//! Candidates that are rows of a table, judged by a metric of attributes: what `equipoise choose` learnt, used on others.

use super::attributes::{Carrying, Column, beyond};
use super::models::{Models, metric_random};
use super::score::{meaning, number, percent, range};
use crate::args::{Global, Judged};
use crate::fault::Fault;
use crate::page::Page;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json, metrics, tables};
use anyhow::{Context as _, Result};
use equipoise::Metric;
use equipoise::decide::rank::{self, Candidate, Ranking};
use equipoise::metric::Family;
use equipoise_data::{Note, read};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Draws of an uncertain metric.
const DRAWS: usize = 1000;

/// Candidates in the table for people; `--json` has all.
const LISTED: usize = 20;

/// The candidates, if these paths are one table of them: the metric is about attributes, and the table has a column of one.
pub fn read(
    paths: &[PathBuf],
    judged: &Judged,
    carrying: Carrying,
    global: &Global,
) -> Result<Option<Models>> {
    let ([path, others @ ..], None, Some(metric)) = (paths, carrying.file, of_attributes(&judged.metric)?)
    else {
        return Ok(None);
    };
    let Family::Attributes(family) = metric.family() else { return Ok(None) };
    // Whatever is wrong with the file is said by whoever reads predictions.
    let Ok(header) = read::header(path) else { return Ok(None) };
    let attributes = family.attributes();
    let alike = |a: &String, b: &String| a.to_lowercase() == b.to_lowercase();
    if !attributes.iter().any(|attribute| header.iter().any(|column| alike(column, &attribute.name))) {
        return Ok(None);
    }
    if !others.is_empty() {
        let what = format!("expected one table of candidates with this metric, found {}", paths.len());
        return Err(Fault::usage(what).into());
    }
    let file = files::name(path);
    refuse_predictions(judged, &file)?;
    let columns: Vec<(String, Vec<String>)> =
        header.iter().cloned().zip(read::texts(path, &header)?).collect();
    let (names, points) = equipoise_choice::points(&columns, attributes)
        .map_err(|what| Fault::input_output(format!("{file}: {what}")))?;
    let mut notes = vec![];
    for (n, attribute) in attributes.iter().enumerate() {
        let mut outside = vec![];
        for (name, point) in names.iter().zip(&points) {
            attribute.check(point[n]).with_context(|| format!("{file}: {name}"))?;
            outside.extend(beyond(attribute, point[n], name));
        }
        let more = outside.len().saturating_sub(1);
        notes.extend(outside.into_iter().next().map(|first| match more {
            0 => first,
            _ => Note::Finding(format!("{first}; so it is for {more} more")),
        }));
    }
    tables::say(&notes, global);
    let seed = global.seed.unwrap_or(0);
    let drawn = metric.draws(judged.draws.map_or(DRAWS, |draws| draws as usize), &mut metric_random(seed));
    let shown = attributes.iter().enumerate().map(|(n, attribute)| Column {
        name: attribute.name.clone(),
        values: points.iter().map(|point| Some(point[n])).collect(),
    });
    let attributes = shown.collect();
    let candidates: Vec<Candidate> =
        names.iter().zip(&points).map(|(name, point)| Candidate::by_attributes(name, point)).collect();
    Ok(Some(Models {
        metric_draws: drawn.iter().map(in_shares).collect::<Result<_>>()?,
        judge: in_shares(&metric)?,
        metric,
        notes,
        classes: vec![],
        groups: vec![],
        decided: names.iter().map(|_| None).collect(),
        sizes: vec![],
        prevalence: candidates[0].confusions().prevalence(),
        paired: true,
        candidates,
        attributes,
        population: None,
        seed,
    }))
}

/// A metric of attributes with weights that sum to 1: over the ranges that were asked about, values lie between 0 and 1, as `choose`
/// says them. Other metrics stay what they are.
pub fn in_shares(metric: &Metric) -> Result<Metric> {
    if !matches!(metric.family(), Family::Attributes(_)) {
        return Ok(metric.clone());
    }
    let weights = metric.coefficients();
    let sum: f64 = weights.iter().sum();
    Ok(metric.with_coefficients(&weights.iter().map(|weight| weight / sum).collect::<Vec<f64>>())?)
}

/// A document of a metric of attributes; nothing for whatever else is meant.
fn of_attributes(text: &str) -> Result<Option<Metric>> {
    Ok(metrics::in_file(text)?.filter(|metric| matches!(metric.family(), Family::Attributes(_))))
}

/// Another metric that judges the same candidates: it weighs the same attributes.
pub fn same_attributes(reference: &str, models: &Models) -> Result<Metric> {
    let own: Vec<&str> = models.attributes.iter().map(|column| column.name.as_str()).collect();
    let found = of_attributes(reference)?.filter(|metric| match metric.family() {
        Family::Attributes(family) => {
            family.attributes().iter().map(|a| a.name.as_str()).eq(own.iter().copied())
        }
        _ => false,
    });
    let what = || {
        let own = own.join(", ");
        format!(
            "--against {reference}: expected a ranking, or a metric document that weighs {own}, as --metric does"
        )
    };
    Ok(found.ok_or_else(|| Fault::usage(what()))?)
}

/// Options that only predictions have.
fn refuse_predictions(judged: &Judged, file: &str) -> Result<()> {
    let columns = judged.columns.typed();
    let given = match () {
        () if judged.threshold.is_some() => "--threshold",
        () if judged.model_columns.is_some() => "--models",
        () => match columns.split_whitespace().next() {
            Some(option) => option,
            None => return Ok(()),
        },
    };
    let what = format!(
        "{given} is about predictions, but {file} is a table of candidates: it has columns that the metric weighs"
    );
    Err(Fault::usage(what).into())
}

/// The best of them, with what each has.
pub fn table(ranking: &Ranking, models: &Models, terminal: Terminal) -> Table {
    let interval = percent(ranking.level);
    let mut headings = vec!["", "candidate", "value", &interval, "best with probability"];
    headings.extend(models.attributes.iter().map(|column| column.name.as_str()));
    let mut table = Table::new(terminal, headings);
    for (place, standing) in ranking.standings.iter().take(LISTED).enumerate() {
        let mut row = vec![
            (place + 1).to_string(),
            standing.name.clone(),
            number(standing.score.value),
            range(standing.score.interval),
            format!("{:.3}", standing.probability_best),
        ];
        row.extend(models.attributes.iter().map(|column| column.of(standing.index)));
        table.row(row);
    }
    table
}

/// How many the table leaves out.
pub fn more(ranking: &Ranking, models: &Models) -> Option<String> {
    let more = ranking.standings.len().checked_sub(LISTED + 1)? + 1;
    models.are_of_anything().then(|| format!("and {more} more, see --json"))
}

/// What `score --json` prints.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    metric: &'a Metric,
    level: f64,
    metric_draws: usize,
    candidates: Vec<Scored<'a>>,
    attributes: &'a [Column],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct Scored<'a> {
    name: &'a str,
    #[serde(flatten)]
    score: rank::Score,
}

/// What each candidate is worth, in the order of the table.
pub fn score(models: &Models, title: &str, level: f64, global: &Global) -> Result<ExitCode> {
    let mut scores = vec![];
    for candidate in &models.candidates {
        let score = rank::score(candidate, &models.judge, &models.metric_draws, level)?;
        scores.push(Scored { name: candidate.name(), score });
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = Document {
            format: 1,
            metric: &models.metric,
            level,
            metric_draws: models.metric_draws.len(),
            candidates: scores,
            attributes: &models.attributes,
            notes: &models.notes,
        };
        json::write(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new(global.form(), title, &mut out)?;
    let interval = percent(level);
    let mut headings = vec!["candidate", "value", &interval];
    headings.extend(models.attributes.iter().map(|column| column.name.as_str()));
    let mut table = Table::new(page.terminal, headings);
    for (n, Scored { name, score }) in scores.iter().enumerate() {
        let mut row = vec![(*name).to_owned(), number(score.value), range(score.interval)];
        row.extend(models.attributes.iter().map(|column| column.of(n)));
        table.row(row);
    }
    page.table(&table)?;
    if !global.quiet {
        page.gap()?;
        page.paragraph(&meaning(&models.metric))?;
        page.paragraph(WORTH)?;
    }
    page.end()?;
    Ok(ExitCode::SUCCESS)
}

/// What a value of a candidate means.
pub const WORTH: &str =
    "A value of 1 is the better end of everything that the weights were asked for, 0 the worse end of it.";
