//! `equipoise bench server`: how long simulated participants wait when many answer at once.

use crate::args::{Bench, Global};
use crate::commands::serve;
use crate::fault::FINDING;
use crate::files::Temporary;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise_cohort::watchers::{admit, watch};
use equipoise_cohort::{Load, load};
use equipoise_server::researcher::accounts::Accounts;
use equipoise_server::serve::{Options, Researching, study};
use equipoise_study::seams::{Clock as _, SystemClock};
use serde::Serialize;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The promise: 99 of 100 answers wait no longer.
const P99_MS: f64 = 100.0;

/// What was measured.
#[derive(Debug, Serialize)]
struct Document {
    format: u64,
    participants: u32,
    watchers: u32,
    looks: usize,
    think_s: f64,
    seconds: f64,
    answers: usize,
    answers_per_second: f64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    max_ms: f64,
    finished: usize,
    errors: Vec<String>,
    holds: bool,
}

impl Document {
    fn new(args: &Bench, load: Load) -> Self {
        let ms = |share: f64| load.quantile(share).as_secs_f64() * 1e3;
        let p99_ms = ms(0.99);
        Self {
            format: equipoise::FORMAT,
            participants: args.people_at_once(),
            watchers: args.watchers,
            looks: 0,
            think_s: args.think,
            seconds: args.seconds,
            answers: load.waits.len(),
            answers_per_second: load.waits.len() as f64 / load.counted.as_secs_f64(),
            p50_ms: ms(0.5),
            p90_ms: ms(0.9),
            p99_ms,
            p999_ms: ms(0.999),
            max_ms: ms(1.0),
            finished: load.finished,
            holds: p99_ms <= P99_MS && load.errors.is_empty() && !load.waits.is_empty(),
            errors: load.errors,
        }
    }
}

/// Serves the cancer study from a log on disk, and lets simulated people answer it over HTTP.
pub fn run(args: &Bench, global: &Global) -> Result<ExitCode> {
    let directory = Temporary::new("bench")?;
    let service = serve::ready_made(&directory)?;
    let tokens = service
        .invite(args.people_at_once() as usize)?
        .into_iter()
        .map(|invitation| invitation.token)
        .collect();
    let (researching, cookie) = match args.watchers {
        0 => (None, String::new()),
        _ => {
            let accounts = Accounts::open(&directory.path().join("accounts.sqlite"))?;
            let cookie = admit(&accounts, SystemClock.now())?;
            let options = Options { listen: ([127, 0, 0, 1], 0).into(), origin: None };
            let log = Some(directory.path().join("log.sqlite"));
            (Some(Researching { options, accounts, log }), cookie)
        }
    };
    let (tell, told) = channel();
    // The server runs until the process ends.
    std::thread::spawn(move || {
        let options = Options { listen: ([127, 0, 0, 1], 0).into(), origin: None };
        study(service, &options, researching, |serving| {
            let both = (serving.address, serving.researchers.as_ref().map(|(_, address)| *address));
            tell.send(both).map_err(std::io::Error::other)
        })
    });
    let (address, researchers) = told.recv().context("the server did not start")?;
    let watched = match researchers {
        Some(researchers) => Some(watch(researchers, &cookie, args.watchers as usize)?),
        None => None,
    };
    let [think, count] = [args.think, args.seconds].map(Duration::from_secs_f64);
    // All of them read and practise before the first comparison: they arrive slowly enough not to stand in line.
    let arrive = Duration::from_secs_f64((f64::from(args.people_at_once()) / 20.0).clamp(2.0, 60.0));
    let mut document = Document::new(args, load(address, tokens, think, arrive, count)?);
    if let Some(watched) = watched {
        document.looks = watched.looks.load(Ordering::Relaxed);
        let failed = watched.failed.load(Ordering::Relaxed);
        if failed > 0 || document.looks == 0 {
            document.errors.push(format!("{failed} of {} watchers gave up", args.watchers));
            document.holds = false;
        }
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&document, &mut out)?;
    } else {
        print(&document, &mut out)?;
    }
    Ok(if document.holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

fn print(document: &Document, out: &mut impl std::io::Write) -> Result<()> {
    let Document { participants, think_s, seconds, errors, .. } = document;
    writeln!(
        out,
        "{participants} simulated participants, {think_s} s of thought each, answers counted for {seconds} s\n"
    )?;
    if document.watchers > 0 {
        let Document { watchers, looks, .. } = document;
        writeln!(out, "{watchers} researchers watched meanwhile and looked {looks} times\n")?;
    }
    let mut table = Table::new(
        Terminal::detect(),
        ["answers", "per second", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms", "errors"],
    );
    let ms = |value: f64| format!("{value:.1}");
    table.row([
        document.answers.to_string(),
        format!("{:.1}", document.answers_per_second),
        ms(document.p50_ms),
        ms(document.p90_ms),
        ms(document.p99_ms),
        ms(document.p999_ms),
        ms(document.max_ms),
        errors.len().to_string(),
    ]);
    writeln!(out, "{table}")?;
    let verdict = if document.holds { "holds" } else { "does not hold" };
    writeln!(
        out,
        "99 of 100 answers are acknowledged, on disk, within {P99_MS} ms and none fails: {verdict}"
    )?;
    for error in errors.iter().take(5) {
        writeln!(out, "  {error}")?;
    }
    Ok(())
}
