//! `equipoise gate`: whether a challenger may take the place of a champion.

use super::attributes::{Carrying, Column};
use super::candidates;
use super::decided::Decided;
use super::details::{Details, Thousand, per_thousand};
use super::models::Models;
use super::score::{meaning, number, percent, range};
use crate::args::{Gate, Global};
use crate::counts::grouped;
use crate::fault::{FINDING, Fault, UNDECIDED};
use crate::page::{Format, Page};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json, metrics};
use anyhow::Result;
use equipoise::decide::gate::{self, Verdict};
use equipoise::decide::rank::Score;
use equipoise::metric::Family;
use equipoise::{Metric, Spread};
use equipoise_data::Note;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

const ROLES: [&str; 2] = ["champion", "challenger"];

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    verdict: Verdict,
    statement: &'a str,
    probability: f64,
    level: f64,
    margin: f64,
    gain: Gain,
    champion: Side<'a>,
    challenger: Side<'a>,
    /// Whether the same rows were drawn again for both.
    paired: bool,
    resamples: usize,
    metric_draws: usize,
    metric: &'a Metric,
    #[serde(skip_serializing_if = "<[Column]>::is_empty")]
    attributes: &'a [Column],
    notes: &'a [Note],
}

/// By how much the challenger is better.
#[derive(Serialize)]
struct Gain {
    value: f64,
    interval: Option<Spread>,
    sampling: Option<Spread>,
    metric: Option<Spread>,
}

/// One of the two models.
#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    file: String,
    #[serde(flatten)]
    score: &'a Score,
    #[serde(flatten)]
    decided: Option<&'a Decided>,
    per_1000: &'a Thousand,
}

/// Runs the command.
pub fn run(args: &Gate, global: &Global) -> Result<ExitCode> {
    let judged = &args.judged;
    let paths = [args.champion.clone(), args.challenger.clone()];
    let carrying = Carrying { allowed: true, file: args.attributes.as_deref(), roles: &ROLES };
    let models = Models::read(&paths, judged, carrying, global)?;
    one_per_file(&models, &paths)?;
    let [champion, challenger] = [0, 1].map(|n| &models.candidates[n]);
    let found =
        gate::gate(champion, challenger, &models.judge, &models.metric_draws, judged.level, args.margin)?;
    let details =
        (0..2).map(|n| Details::of(&models, n, &judged.metric, judged.level)).collect::<Result<Vec<_>>>()?;
    let code = match found.verdict {
        Verdict::Pass => ExitCode::SUCCESS,
        Verdict::Fail => ExitCode::from(FINDING),
        Verdict::Undecided => ExitCode::from(UNDECIDED),
    };
    let statement = statement(&found, [champion.name(), challenger.name()]);
    let mut out = std::io::stdout().lock();
    if global.json {
        let side = |n: usize, score| Side {
            name: models.candidates[n].name(),
            file: files::name(&paths[n]),
            score,
            decided: models.decided[n].as_ref(),
            per_1000: &details[n].per_1000,
        };
        let gate::Gate { gain: value, interval, sampling, metric, .. } = found;
        let document = Document {
            format: 1,
            verdict: found.verdict,
            statement: &statement,
            probability: found.probability,
            level: found.level,
            margin: found.margin,
            gain: Gain { value, interval, sampling, metric },
            champion: side(0, &found.champion),
            challenger: side(1, &found.challenger),
            paired: models.paired,
            resamples: champion.draws().len(),
            metric_draws: models.metric_draws.len(),
            metric: &models.metric,
            attributes: &models.attributes,
            notes: &models.notes,
        };
        json::write(&document, &mut out)?;
        return Ok(code);
    }
    let title = format!("{} against {}", challenger.name(), champion.name());
    let mut page = Page::new(global.form(), &title, &mut out)?;
    page.strong(&statement)?;
    if global.form() == Format::Text {
        page.gap()?;
    }
    page.table(&values(&found, &models, page.terminal))?;
    page.gap()?;
    page.table(&per_thousand(&models, &details, page.terminal))?;
    if !models.attributes.is_empty() {
        page.gap()?;
        page.table(&carried(&models, page.terminal))?;
    }
    if !global.quiet {
        page.gap()?;
        page.paragraph(&compared(args, &models))?;
    }
    page.end()?;
    Ok(code)
}

/// Refuses a file of several models where one was asked for.
fn one_per_file(models: &Models, paths: &[PathBuf]) -> Result<()> {
    if models.candidates.len() == paths.len() {
        return Ok(());
    }
    let files: Vec<String> = paths.iter().map(|path| files::name(path)).collect();
    let what =
        format!("{} hold {} models, expected one in each file", files.join(" and "), models.candidates.len());
    Err(Fault::usage(what).into())
}

/// The verdict in a sentence or two.
fn statement(found: &gate::Gate, [champion, challenger]: [&str; 2]) -> String {
    let (probability, level) = (found.probability, found.level);
    let [better, worse] = match found.margin {
        0.0 => ["better".to_owned(), "worse".to_owned()],
        margin => [format!("at most {margin} worse"), format!("more than {margin} worse")],
    };
    match found.verdict {
        Verdict::Pass => {
            format!(
                "Pass: {challenger} is {better} than {champion} with probability {probability:.3} ({level} is enough)."
            )
        }
        Verdict::Fail => format!(
            "Fail: {challenger} is {worse} than {champion} with probability {:.3} ({level} is enough).",
            1.0 - probability
        ),
        Verdict::Undecided => {
            let width = |spread: Option<Spread>| spread.map_or(0.0, |spread| spread.high - spread.low);
            let helps = match () {
                () if width(found.sampling) == 0.0 && width(found.metric) == 0.0 => "",
                () if width(found.sampling) >= width(found.metric) => {
                    " Most of the doubt is in the rows: more of them would help."
                }
                () => " Most of the doubt is in the metric: more answers would help.",
            };
            format!(
                "Undecided: {challenger} is {better} than {champion} with probability {probability:.3}; a verdict needs {level} \
                 either way.{helps}"
            )
        }
    }
}

/// What both are worth, and the difference.
fn values(found: &gate::Gate, models: &Models, terminal: Terminal) -> Table {
    let value = format!("value, {}", metrics::better(&models.metric));
    let interval = format!("{} interval", percent(found.level));
    let mut table = Table::new(terminal, ["", "model", &value, &interval, "probability"]);
    for (n, score) in [&found.champion, &found.challenger].into_iter().enumerate() {
        let name = models.candidates[n].name();
        table.row([ROLES[n], name, &number(score.value), &range(score.interval), ""]);
    }
    let probability = format!("{:.3}", found.probability);
    table.row(["better by", "", &number(found.gain), &range(found.interval), &probability]);
    table
}

/// What the models have beside their predictions.
fn carried(models: &Models, terminal: Terminal) -> Table {
    let headings = ["attribute".to_owned()].into_iter();
    let headings = headings.chain(models.candidates.iter().map(|model| model.name().to_owned()));
    let mut table = Table::new(terminal, headings);
    for column in &models.attributes {
        table.row([column.name.clone(), column.of(0), column.of(1)]);
    }
    table
}

/// What was compared, and how.
fn compared(args: &Gate, models: &Models) -> String {
    let [champion, challenger] = [&args.champion, &args.challenger].map(|path| files::name(path));
    let [one, other] = [0, 1].map(|n| grouped(models.sizes[n].round() as u64));
    let draws = grouped(models.candidates[0].draws().len() as u64);
    let rows = match models.paired {
        true => format!(
            "{champion} and {challenger} have the same {one} rows, drawn again {draws} times for both together."
        ),
        false => format!(
            "{champion} ({one} rows) and {challenger} ({other}) have different rows, drawn again {draws} times for each by itself."
        ),
    };
    let how = |n: usize| {
        let name = models.candidates[n].name();
        models.decided[n].as_ref().map(|decided| format!("{name} decides by {}", decided.words()))
    };
    let decided: Vec<String> = (0..2).filter_map(how).collect();
    let decided = if decided.is_empty() { String::new() } else { format!(" {}.", decided.join(", ")) };
    let worth = match models.metric.family() {
        Family::Attributes(_) => format!(" {}", candidates::WORTH),
        _ => String::new(),
    };
    format!("{rows}{decided} Judged by {}. {}{worth}", args.judged.metric, meaning(&models.metric))
}
