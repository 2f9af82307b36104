//! `equipoise rank`: models in the order of a metric, and how sure that order is.

use super::attributes::{Carrying, Column};
use super::candidates;
use super::decided::Decided;
use super::details::{cases, cost_of};
use super::models::Models;
use super::score::{meaning, number, percent, range};
use crate::args::{Global, Rank};
use crate::fault::{FINDING, Fault};
use crate::page::Page;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json, metrics, picture};
use anyhow::Result;
use equipoise::decide::agreement::{kendall_tau, ndcg};
use equipoise::decide::nearest::Agreement;
use equipoise::decide::rank::{self, Ranking};
use equipoise::{Metric, Sense};
use equipoise_data::{Note, read};
use equipoise_plot::Plot;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

/// Models beyond these are left out of the picture; text and JSON have all.
const MOST_BOXES: usize = 16;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    metric: &'a Metric,
    resamples: usize,
    metric_draws: usize,
    ranking: &'a Ranking,
    separable: bool,
    statement: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Against>,
    nearest: &'a [Agreement],
    /// How the probabilities of each model decide, in the order in which they were given.
    decided: Vec<Named<'a>>,
    /// What the models have beside their predictions, or what the metric weighs.
    #[serde(skip_serializing_if = "<[Column]>::is_empty")]
    attributes: &'a [Column],
    notes: &'a [Note],
    svg: Option<String>,
}

/// A model and how it decides.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    decided: Option<&'a Decided>,
}

/// How this ranking looks to another one.
#[derive(Serialize)]
struct Against {
    reference: String,
    /// Missing if one of the two gives all models the same place.
    kendall_tau: Option<f64>,
    ndcg: f64,
}

/// Runs the command.
pub fn run(args: &Rank, global: &Global) -> Result<ExitCode> {
    let judged = &args.judged;
    let mut paths = vec![];
    for path in &args.models {
        // Confusion matrices of a pool are one file; a folder or a pattern is a model per file, or one table where models are its columns.
        match judged.streaming.adbc.is_some() || judged.model_columns.is_some() {
            true => paths.push(path.clone()),
            false => paths.extend(read::files(path)?),
        }
    }
    let carrying = Carrying { allowed: true, file: args.attributes.as_deref(), roles: &[] };
    let models = Models::read(&paths, judged, carrying, global)?;
    let ranking = rank::rank(&models.candidates, &models.judge, &models.metric_draws, judged.level)?;
    let against = match &args.against {
        Some(reference) => Some(against(reference, &models, &ranking)?),
        None => None,
    };
    let nearest = models.nearest();
    if let Some(path) = &args.svg {
        picture::write(path, &self::picture(&ranking, &models).to_svg())?;
    }
    let mut out = std::io::stdout().lock();
    let code = if ranking.is_separable() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) };
    if global.json {
        let document = Document {
            format: 1,
            metric: &models.metric,
            resamples: models.candidates[0].draws().len(),
            metric_draws: models.metric_draws.len(),
            ranking: &ranking,
            separable: ranking.is_separable(),
            statement: ranking.statement(),
            against: against.as_ref(),
            nearest: &nearest,
            decided: (models.candidates.iter().zip(&models.decided))
                .map(|(model, decided)| Named { name: model.name(), decided: decided.as_ref() })
                .collect(),
            attributes: &models.attributes,
            notes: &models.notes,
            svg: args.svg.as_ref().map(|path| path.display().to_string()),
        };
        json::write(&document, &mut out)?;
        return Ok(code);
    }
    let title = format!("{} {}s by {}", models.candidates.len(), models.word(), judged.metric);
    let mut page = Page::new(global.form(), &title, &mut out)?;
    page.table(&table(&ranking, &models, page.terminal))?;
    if let Some(more) = candidates::more(&ranking, &models) {
        page.paragraph(&more)?;
    }
    page.gap()?;
    page.strong(&ranking.statement())?;
    if let Some(against) = &against {
        page.paragraph(&in_words(against))?;
    }
    if !global.quiet {
        page.paragraph(&meaning(&models.metric))?;
        if models.are_of_anything() {
            page.paragraph(candidates::WORTH)?;
        }
        if !nearest.is_empty() {
            page.paragraph(&metrics::nearest(&nearest))?;
        }
        if let Some(path) = &args.svg {
            page.paragraph(&format!("Picture: {}", path.display()))?;
        }
    }
    page.end()?;
    Ok(code)
}

/// What is printed about models as a part of a page.
pub fn on_page(models: &Models, level: f64) -> Result<String> {
    let ranking = rank::rank(&models.candidates, &models.judge, &models.metric_draws, level)?;
    Page::part("Ranking", |page| {
        page.table(&table(&ranking, models, page.terminal))?;
        Ok(page.strong(&ranking.statement())?)
    })
}

fn table(ranking: &Ranking, models: &Models, terminal: Terminal) -> Table {
    if models.are_of_anything() {
        return candidates::table(ranking, models, terminal);
    }
    let interval = format!("{} interval", percent(ranking.level));
    let value = format!("value, {}", metrics::better(&models.metric));
    let mut headings = vec!["", "model", &value, &interval];
    let priced = models.metric.cost_ratio().is_some();
    headings.extend(priced.then_some("cost in 1,000 cases, in false alarms"));
    headings.extend(["probability of being best", "expected place", "expected regret"]);
    headings.extend(models.attributes.iter().map(|column| column.name.as_str()));
    let mut table = Table::new(terminal, headings);
    for (place, standing) in ranking.standings.iter().enumerate() {
        let mut row = vec![
            (place + 1).to_string(),
            standing.name.clone(),
            number(standing.score.value),
            range(standing.score.interval),
        ];
        row.extend(cost_of(models, standing.index, ranking.level).as_ref().map(cases));
        row.extend([
            format!("{:.3}", standing.probability_best),
            format!("{:.2}", standing.expected_rank),
            number(standing.expected_regret),
        ]);
        row.extend(models.attributes.iter().map(|column| column.of(standing.index)));
        table.row(row);
    }
    table
}

fn in_words(against: &Against) -> String {
    let tau =
        against.kendall_tau.map_or("none, one of them has no order".to_owned(), |tau| format!("{tau:.3}"));
    format!("Judged by {}: NDCG {:.4}, Kendall tau {tau}.", against.reference, against.ndcg)
}

/// Judges the ranking by another metric, or by a ranking in a file.
fn against(reference: &str, models: &Models, ranking: &Ranking) -> Result<Against> {
    let likings = match listed(reference)? {
        Some(order) => places(&order, models, reference)?,
        None => {
            let metric = match models.are_of_anything() {
                true => candidates::same_attributes(reference, models)?,
                false => metrics::metric(reference, &models.classes, &models.prevalence)?,
            };
            let liking = |model: &rank::Candidate| {
                Ok(metric.sense().sign() * model.value(&metric, model.confusions())?)
            };
            models.candidates.iter().map(liking).collect::<Result<Vec<f64>>>()?
        }
    };
    let found = ranking.utilities(models.metric.sense());
    Ok(Against {
        reference: reference.to_owned(),
        kendall_tau: kendall_tau(&likings, &found)?,
        ndcg: ndcg(&likings, &found)?,
    })
}

/// The names in a file, best first: of a ranking document, or one per line. `None` if the text is no such file.
fn listed(reference: &str) -> Result<Option<Vec<String>>> {
    let path = Path::new(reference);
    if !path.is_file() {
        return Ok(None);
    }
    let text = files::read(path)?;
    let Ok(document) = serde_json::from_str::<Value>(&text) else {
        if text.trim_start().starts_with('{') {
            // A broken document; whoever reads metrics says where.
            return Ok(None);
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok(Some(lines.map(str::to_owned).collect()));
    };
    let standings = document["ranking"]["standings"].as_array();
    let name = |standing: &Value| standing["name"].as_str().map(str::to_owned);
    Ok(standings.and_then(|standings| standings.iter().map(name).collect()))
}

/// How early each model stands in a list: larger is better.
fn places(order: &[String], models: &Models, file: &str) -> Result<Vec<f64>> {
    let word = models.word();
    for (n, name) in order.iter().enumerate() {
        let what = match () {
            () if order[..n].contains(name) => format!("{file} lists the {word} {name} twice"),
            () if models.candidates.iter().all(|model| model.name() != name) => {
                format!("{file} lists the {word} {name}, which is not among those to rank")
            }
            () => continue,
        };
        return Err(Fault::usage(what).into());
    }
    let place = |model: &rank::Candidate| {
        let found = order.iter().position(|name| name == model.name());
        let missing = || Fault::usage(format!("{file} does not list the {word} {}", model.name()));
        Ok((order.len() - found.ok_or_else(missing)?) as f64)
    };
    models.candidates.iter().map(place).collect()
}

/// Intervals side by side, best first.
fn picture(ranking: &Ranking, models: &Models) -> Plot {
    let word = models.word();
    let shown = &ranking.standings[..ranking.standings.len().min(MOST_BOXES)];
    let boxes: Vec<(&str, [f64; 5])> = shown
        .iter()
        .map(|standing| {
            let value = standing.score.value;
            let [low, high] =
                standing.score.interval.map_or([value; 2], |interval| [interval.low, interval.high]);
            (standing.name.as_str(), [low, low, value, high, high])
        })
        .collect();
    let better = match models.metric.sense() {
        Sense::Utility => "value, larger is better",
        Sense::Cost => "cost, smaller is better",
    };
    let title = match ranking.standings.len() - shown.len() {
        0 => format!("{} {word}s in the order of the metric", shown.len()),
        more => {
            format!("The best {} {word}s in the order of the metric; {more} more are not shown", shown.len())
        }
    };
    let level = percent(ranking.level);
    Plot::new(title, word, better)
        .describe(format!(
            "{} Boxes are {level} intervals, the line in each is the value.",
            ranking.statement()
        ))
        .boxes(format!("{level} interval from sampling and from the metric; the line is the value"), &boxes)
}
