//! `equipoise score`: what models are worth, each by itself.

use super::attributes::Carrying;
use super::candidates;
use super::decided::Decided;
use super::details::{Details, per_thousand, write_details};
use super::models::Models;
use crate::args::{Global, Score};
use crate::page::Page;
use crate::table::Table;
use crate::{json, metrics};
use anyhow::Result;
use equipoise::decide::nearest::Agreement;
use equipoise::decide::rank::{self, Candidate};
use equipoise::{Metric, Sense, Spread};
use equipoise_data::Note;
use serde::Serialize;
use std::process::ExitCode;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    metric: &'a Metric,
    level: f64,
    resamples: usize,
    metric_draws: usize,
    models: Vec<Scored<'a>>,
    nearest: &'a [Agreement],
    notes: &'a [Note],
}

#[derive(Serialize)]
struct Scored<'a> {
    name: &'a str,
    #[serde(flatten)]
    score: rank::Score,
    /// How the probabilities decide.
    #[serde(flatten)]
    decided: Option<&'a Decided>,
    #[serde(flatten)]
    details: &'a Details,
}

/// Runs the command.
pub fn run(args: &Score, global: &Global) -> Result<ExitCode> {
    let judged = &args.judged;
    let models = Models::read(std::slice::from_ref(&args.file), judged, Carrying::NONE, global)?;
    let title = format!("{} by {}", args.file.display(), judged.metric);
    if models.are_of_anything() {
        return candidates::score(&models, &title, judged.level, global);
    }
    let scored =
        |model: &'_ Candidate| rank::score(model, &models.metric, &models.metric_draws, judged.level);
    let scores = models.candidates.iter().map(scored).collect::<equipoise::Result<Vec<_>>>()?;
    let details = (0..scores.len())
        .map(|n| Details::of(&models, n, &judged.metric, judged.level))
        .collect::<Result<Vec<_>>>()?;
    let nearest = models.nearest();
    let mut out = std::io::stdout().lock();
    if global.json {
        let mut scored = vec![];
        for (n, (model, score)) in models.candidates.iter().zip(scores).enumerate() {
            let (decided, details) = (models.decided[n].as_ref(), &details[n]);
            scored.push(Scored { name: model.name(), score, decided, details });
        }
        let document = Document {
            format: 1,
            metric: &models.metric,
            level: judged.level,
            resamples: models.candidates[0].draws().len(),
            metric_draws: models.metric_draws.len(),
            models: scored,
            nearest: &nearest,
            notes: &models.notes,
        };
        json::write(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new(global.form(), &title, &mut out)?;
    let interval = format!("{} interval", percent(judged.level));
    let value = format!("value, {}", metrics::better(&models.metric));
    let headings = ["model", &value, &interval, "from sampling", "from the metric"];
    let mut table = Table::new(page.terminal, headings);
    for (model, score) in models.candidates.iter().zip(&scores) {
        let parts = [score.interval, score.sampling, score.metric].map(range);
        let row = [vec![model.name().to_owned(), number(score.value)], parts.to_vec()].concat();
        table.row(row);
    }
    page.table(&table)?;
    if !global.quiet {
        page.gap()?;
        page.table(&per_thousand(&models, &details, page.terminal))?;
        write_details(&models, &details, &interval, &mut page)?;
        page.gap()?;
        page.paragraph(&meaning(&models.metric))?;
        if !nearest.is_empty() {
            page.paragraph(&metrics::nearest(&nearest))?;
        }
    }
    page.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Which way is better, and whether the metric is certain.
pub fn meaning(metric: &Metric) -> String {
    let better = match metric.sense() {
        Sense::Utility => "The metric is a utility: larger is better.",
        Sense::Cost => "The metric is a cost: smaller is better.",
    };
    let certain = metric.posterior().is_none() && metric.interval().is_none();
    let note =
        if certain { " It is taken as certain: the document has no interval of its weights." } else { "" };
    format!("{better}{note}")
}

/// Four decimals, more for small numbers.
pub fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.2e}") } else { format!("{value:.4}") }
}

/// "0.8123 to 0.8745", or a dash for none.
pub fn range(spread: Option<Spread>) -> String {
    spread.map_or("-".to_owned(), |spread| format!("{} to {}", number(spread.low), number(spread.high)))
}

/// "95 %".
pub fn percent(share: f64) -> String {
    format!("{} %", (1e4 * share).round() / 100.0)
}
