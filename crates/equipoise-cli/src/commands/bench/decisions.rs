//! Whether the intervals that decisions give hold what whoever decided held.

use super::{Settings, conclude, each};
use crate::args::Global;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::engine::Decisions;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// What the experts hold, and how many decisions each has made.
const RATIO: f64 = 6.0;
const ROWS: usize = 300;
const SLIPS: f64 = 0.05;

/// How surely experts tell odds apart: three people, and a written rule.
const SLOPES: [(&str, f64); 4] =
    [("vague", 1.5), ("usual", 3.0), ("sharp", 8.0), ("by a written rule", f64::INFINITY)];

/// Scores: log odds with this mean and deviation, about the threshold of 6 : 1 or far below it.
const SCORES: [(&str, f64, f64); 2] = [("around the threshold", -1.8, 1.5), ("mostly below", -4.0, 1.0)];

/// Intervals that hold less or more often than this, give or take chance, are not those of 95 %.
const HOLDS: [f64; 2] = [0.93, 0.97];

/// A kind of expert with a kind of table.
#[derive(Serialize)]
struct Row {
    expert: &'static str,
    scores: &'static str,
    /// The share of runs whose interval holds the ratio.
    coverage: f64,
    /// The middle factor between the ends; nothing where most intervals have one end.
    width: Option<f64>,
    /// The share of runs with an end that nothing set.
    one_sided: f64,
    holds: bool,
}

/// Runs the bench.
pub fn run(settings: &Settings, global: &Global, out: &mut impl Write) -> Result<ExitCode> {
    let cells = SCORES.iter().flat_map(|scores| SLOPES.iter().map(move |slope| (*slope, *scores)));
    let wanted = cells.filter(|((expert, _), (scores, ..))| settings.wants(&format!("{expert}, {scores}")));
    let rows: Vec<Row> = wanted.map(|(slope, scores)| row(slope, scores, settings)).collect();
    let holds = rows.iter().all(|row| row.holds);
    let sizes = [("runs", settings.metrics), ("decisions", ROWS)];
    conclude(&rows, holds, &sizes, settings, global, out, print)
}

/// One run: decisions of an expert, and the interval they give.
fn interval(slope: f64, [mean, deviation]: [f64; 2], random: &mut Xoshiro256PlusPlus) -> [Option<f64>; 2] {
    let mut decision = || {
        // The sum of twelve even numbers is about normal.
        let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let odds = mean + deviation * normal;
        let ahead = odds + RATIO.ln();
        let acts = if slope.is_finite() {
            random.random::<f64>() < 1.0 / (1.0 + (-slope * ahead).exp())
        } else {
            ahead >= 0.0
        };
        let slips = random.random_bool(SLIPS);
        (1.0 / (1.0 + (-odds).exp()), acts != slips)
    };
    let cases: Vec<(f64, bool)> = (0..ROWS).map(|_| decision()).collect();
    Decisions::new(&cases).map_or([None, None], |found| found.interval())
}

fn row(
    (expert, slope): (&'static str, f64),
    (scores, mean, deviation): (&'static str, f64, f64),
    settings: &Settings,
) -> Row {
    let label = format!("{expert}, {scores}");
    let found = each(settings, &label, |_, random| interval(slope, [mean, deviation], random));
    let count = found.len() as f64;
    let inside = |ends: &&[Option<f64>; 2]| {
        ends[0].is_none_or(|low| low <= RATIO) && ends[1].is_none_or(|high| high >= RATIO)
    };
    let coverage = found.iter().filter(inside).count() as f64 / count;
    let mut widths: Vec<f64> = found
        .iter()
        .map(|ends| ends[1].zip(ends[0]).map_or(f64::INFINITY, |(high, low)| high / low))
        .collect();
    let one_sided = widths.iter().filter(|width| width.is_infinite()).count() as f64 / count;
    widths.sort_by(f64::total_cmp);
    let width = Some(widths[widths.len() / 2]).filter(|width| width.is_finite());
    // What so many runs leave to chance.
    let give = 2.0 * (0.95 * 0.05 / count).sqrt();
    let holds = coverage >= HOLDS[0] - give && coverage <= HOLDS[1] + give;
    Row { expert, scores, coverage, width, one_sided, holds }
}

fn print(rows: &[Row], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let headings =
        ["expert of 6 : 1", "scores", "95 % interval holds", "factor between its ends", "one end only", ""];
    let mut table = Table::new(Terminal::detect(), headings);
    for row in rows {
        let share = |share: f64| format!("{:.1} %", 100.0 * share);
        table.row([
            row.expert.to_owned(),
            row.scores.to_owned(),
            share(row.coverage),
            row.width.map_or("-".to_owned(), |width| format!("{width:.2}")),
            share(row.one_sided),
            if row.holds { "as it should" } else { "MISSED" }.to_owned(),
        ]);
    }
    write!(out, "{table}")?;
    writeln!(
        out,
        "{} runs per row, {ROWS} decisions each with {} % slips; seed {}",
        settings.metrics,
        100.0 * SLIPS,
        settings.seed
    )?;
    Ok(())
}
