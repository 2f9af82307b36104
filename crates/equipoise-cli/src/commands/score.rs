//! `equipoise score`: what models are worth, each by itself.

use super::models::Models;
use crate::args::{Global, Score};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{json, metrics};
use anyhow::Result;
use equipoise::decide::nearest::Agreement;
use equipoise::decide::rank::{self, Candidate};
use equipoise::{Metric, Sense, Spread};
use equipoise_data::Note;
use serde::Serialize;
use std::io::Write;
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
}

/// Runs the command.
pub fn run(args: &Score, global: &Global) -> Result<ExitCode> {
    let judged = &args.judged;
    let models = Models::read(std::slice::from_ref(&args.file), judged, global)?;
    let scored =
        |model: &'_ Candidate| rank::score(model, &models.metric, &models.metric_draws, judged.level);
    let scores = models.candidates.iter().map(scored).collect::<equipoise::Result<Vec<_>>>()?;
    let nearest = models.nearest();
    let mut out = std::io::stdout().lock();
    if global.json {
        let named = models.candidates.iter().zip(scores);
        let document = Document {
            format: 1,
            metric: &models.metric,
            level: judged.level,
            resamples: models.candidates[0].draws().len(),
            metric_draws: models.metric_draws.len(),
            models: named.map(|(model, score)| Scored { name: model.name(), score }).collect(),
            nearest: &nearest,
            notes: &models.notes,
        };
        json::write(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = Terminal::detect();
    let level = percent(judged.level);
    let interval = format!("{level} interval");
    let mut table = Table::new(terminal, ["model", "value", &interval, "from sampling", "from the metric"]);
    for (model, score) in models.candidates.iter().zip(&scores) {
        let parts = [score.interval, score.sampling, score.metric].map(range);
        let row = [vec![model.name().to_owned(), number(score.value)], parts.to_vec()].concat();
        table.row(row);
    }
    write!(out, "{table}")?;
    if !global.quiet {
        writeln!(out, "\n{}", terminal.paragraph(&meaning(&models.metric)))?;
        if !nearest.is_empty() {
            writeln!(out, "{}", terminal.paragraph(&metrics::nearest(&nearest)))?;
        }
    }
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
