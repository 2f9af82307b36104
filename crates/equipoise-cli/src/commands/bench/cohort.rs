//! `equipoise bench cohort`: simulated people take a whole study over HTTP, and what comes out is held against what they
//! hold.

use crate::args::{Bench, Global};
use crate::commands::serve;
use crate::fault::FINDING;
use crate::files::Temporary;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise_cohort::{STATED, Verdict, hold};
use equipoise_study::numbers::wilson;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// How often the interval must hold.
const COVERAGE: [f64; 2] = [0.90, 0.99];
/// The most comparisons of the person in the middle.
const MEDIAN: usize = 25;
/// How sharply people tell, in units of the query ball.
const SLOPE: f64 = 20.0;

#[derive(Serialize)]
struct Document {
    format: u64,
    seed: u64,
    slope: f64,
    #[serde(flatten)]
    verdict: Verdict,
    covered_interval: [f64; 2],
    median: Option<usize>,
    holds: bool,
}

/// One promise: what was promised, what came out, whether it holds.
type Promise = (&'static str, String, String, bool);

/// Runs the command.
pub fn run(args: &Bench, global: &Global) -> Result<ExitCode> {
    let directory = Temporary::new("cohort")?;
    let service = Arc::new(serve::ready_made(&directory)?);
    let seed = global.seed.unwrap_or_else(super::fresh_seed);
    let verdict =
        hold(&service, args.people_of_cohort(), SLOPE, seed).context("a simulated participant got stuck")?;
    let promises = promises(&verdict);
    let holds = promises.iter().all(|(.., holds)| *holds);
    let mut out = std::io::stdout().lock();
    if global.json {
        let [_, low, high] = wilson(verdict.covered, verdict.people).unwrap_or_default();
        let median = verdict.median();
        let covered_interval = [low, high];
        let format = equipoise::FORMAT;
        json::write(
            &Document { format, seed, slope: SLOPE, verdict, covered_interval, median, holds },
            &mut out,
        )?;
    } else {
        print(&verdict, &promises, seed, &mut out)?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

fn promises(verdict: &Verdict) -> Vec<Promise> {
    let share = verdict.coverage();
    let [_, low, high] = wilson(verdict.covered, verdict.people).unwrap_or_default();
    let median = verdict.median();
    let m = |fidelity: equipoise_cohort::Fidelity| {
        format!("{:.1} % of {}", 100.0 * fidelity.share(), fidelity.of)
    };
    vec![
        (
            "95 % intervals that hold the ratio",
            "90-99 %".to_owned(),
            format!("{:.1} % ({:.1}-{:.1})", 100.0 * share, 100.0 * low, 100.0 * high),
            (COVERAGE[0]..=COVERAGE[1]).contains(&share),
        ),
        (
            "comparisons, median",
            format!("at most {MEDIAN}"),
            median.map_or("half never got there".to_owned(), |n| n.to_string()),
            median.is_some_and(|n| n <= MEDIAN),
        ),
        (
            "M of the elicited metric",
            format!("above fewest missed, {}", m(verdict.fewest_missed)),
            m(verdict.elicited),
            verdict.elicited.share() > verdict.fewest_missed.share(),
        ),
        (
            "  among those who stated a cost",
            format!("above stated cost, {}", m(verdict.stated)),
            m(verdict.elicited_of_stating),
            verdict.elicited_of_stating.share() > verdict.stated.share(),
        ),
    ]
}

fn print(verdict: &Verdict, promises: &[Promise], seed: u64, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "{} simulated participants over HTTP, logistic noise of slope {SLOPE} in units of the query ball, seed {seed}\n",
        verdict.people
    )?;
    let mut table = Table::new(Terminal::detect(), ["", "promised", "found", "holds"]);
    for (what, promised, found, holds) in promises {
        table.row([
            (*what).to_owned(),
            promised.clone(),
            found.clone(),
            if *holds { "yes" } else { "no" }.to_owned(),
        ]);
    }
    writeln!(out, "{table}")?;
    let [median, spread] = STATED;
    writeln!(
        out,
        "{} finished with {} acknowledged answers; {} intervals became narrow; estimates are off by a factor of {:.2} on average.",
        verdict.finished, verdict.acknowledged, verdict.narrow, verdict.off
    )?;
    writeln!(
        out,
        "Stated costs are simulated: {median} times what people hold, scattered by a factor of {:.1}, rounded to 1, 2, 5, 10, ...",
        spread.exp()
    )?;
    Ok(())
}
