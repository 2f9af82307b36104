//! `equipoise bench server`: how long simulated participants wait when many answer at once.

use super::host::{self, Hosted, Told};
use crate::args::{Bench, Global};
use crate::commands::study::Place;
use crate::fault::{FINDING, Fault};
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise_cohort::hostile::attack;
use equipoise_cohort::watchers::watch;
use equipoise_cohort::{Demand, Load, Turns, asks_to_come_again, demand, flood};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The promise: 99 of 100 answers wait no longer.
const P99_MS: f64 = 100.0;
/// The same where all answer within one second.
const TOGETHER_P99_MS: f64 = 750.0;
/// Watchers change that by this factor at most, and one who is hostile by this.
const WATCHED: f64 = 1.1;
const HURT: f64 = 1.01;
/// What is left of the most answers a second when twice as many are sent.
const KEPT: f64 = 0.8;
/// At most so many bytes of the write-ahead log, and so much more memory at the end than after a quarter of the time. That counts
/// from so many seconds on: before, people are still coming to be remembered.
const WAL_MB: f64 = 64.0;
const GROWTH: f64 = 1.05;
const WARM: f64 = 300.0;

/// What was measured.
#[derive(Debug, Serialize)]
struct Document {
    format: u64,
    template: String,
    /// Where the log is: a file, or a database.
    log: &'static str,
    participants: u32,
    watchers: u32,
    looks: usize,
    /// The wait of 99 of 100 answers while researchers watched, as a multiple of that while they did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    watched: Option<Ratio>,
    /// The same beside somebody who sends whatever costs most, and what they sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    hurt: Option<Hurt>,
    think_s: f64,
    together: bool,
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
    /// Of the server, after a quarter of the time and at the end.
    used: [Used; 2],
    p99_promised_ms: f64,
    holds: bool,
}

/// What somebody hostile sent, and what it did to the others.
#[derive(Debug, Clone, Copy, Serialize)]
struct Hurt {
    sent: usize,
    refused: usize,
    #[serde(flatten)]
    ratio: Ratio,
}

/// People to whom something is done against the same people to whom it is not, by turns of five seconds.
#[derive(Debug, Clone, Copy, Serialize)]
struct Ratio {
    answers: [usize; 2],
    p99_ms: [f64; 2],
    ratio: f64,
    promised: f64,
}

impl Ratio {
    fn of(load: &Load, turns: &Turns, promised: f64) -> Self {
        let [alone, done] = [false, true].map(|done| load.quantile_when(0.99, |at| turns.on(at) == done));
        let p99_ms = [alone.0, done.0].map(|wait| wait.as_secs_f64() * 1e3);
        let ratio = p99_ms[1] / p99_ms[0].max(1e-9);
        Self { answers: [alone.1, done.1], p99_ms, ratio, promised }
    }

    /// In words.
    fn told(&self, done: &str) -> String {
        let Self { answers, p99_ms, ratio, promised } = self;
        format!(
            "p99 {:.1} ms of {} answers while {done}, {:.1} ms of {} while not, {ratio:.2} times as long; at most {promised} is \
             promised: {}",
            p99_ms[1],
            answers[1],
            p99_ms[0],
            answers[0],
            word(ratio <= promised)
        )
    }
}

/// What the process of the server uses, where the system tells.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Used {
    memory_mb: f64,
    files: usize,
    write_ahead_mb: f64,
}

impl Used {
    fn by(process: u32, log: &Path) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("");
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0.0);
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count);
        let written = std::fs::metadata(log.with_extension("sqlite-wal")).map_or(0, |wal| wal.len());
        Self { memory_mb: kilobytes / 1e3, files, write_ahead_mb: written as f64 / 1e6 }
    }
}

impl Document {
    fn new(args: &Bench, load: Load, used: [Used; 2]) -> Self {
        let ms = |share: f64| load.quantile(share).as_secs_f64() * 1e3;
        let (p99_ms, promised) = (ms(0.99), if args.together { TOGETHER_P99_MS } else { P99_MS });
        Self {
            format: equipoise::FORMAT,
            template: args.template.clone(),
            log: if args.database.is_some() { "PostgreSQL" } else { "SQLite" },
            participants: args.people_at_once(),
            watchers: args.watchers,
            looks: 0,
            watched: None,
            hurt: None,
            think_s: args.think,
            together: args.together,
            seconds: args.seconds,
            answers: load.waits.len(),
            answers_per_second: load.waits.len() as f64 / load.counted.as_secs_f64(),
            p50_ms: ms(0.5),
            p90_ms: ms(0.9),
            p99_ms,
            p999_ms: ms(0.999),
            max_ms: ms(1.0),
            finished: load.finished,
            used,
            p99_promised_ms: promised,
            holds: p99_ms <= promised
                && load.errors.is_empty()
                && !load.waits.is_empty()
                && used[1].write_ahead_mb <= WAL_MB
                && (args.seconds < WARM || grown(&used) <= GROWTH),
            errors: load.errors,
        }
    }
}

/// How many times the memory of the first is the memory of the second.
fn grown([early, late]: &[Used; 2]) -> f64 {
    late.memory_mb / early.memory_mb.max(1.0)
}

/// Serves a study from a log on disk in a process of its own, and lets simulated people answer it over HTTP.
pub fn run(args: &Bench, global: &Global) -> Result<ExitCode> {
    if args.serving {
        return host::run(args);
    }
    if args.database.is_some() && Place::with(".".into(), args.database.clone()).has_log()? {
        let what = "--database: found a database with a log in it, expected an empty one, which simulated people may fill";
        return Err(Fault::usage(what).into());
    }
    let seats = args.people_at_once() as usize;
    let mut server = Hosted::start(args)?;
    let Told { address, researchers, mut tokens, cookie, log } = server.told()?;
    let watched = match researchers {
        Some(researchers) => Some(watch(researchers, &cookie, args.watchers as usize)?),
        None => None,
    };
    let [think, count] = [args.think, args.seconds].map(Duration::from_secs_f64);
    // All of them read and practise before the first comparison: they arrive slowly enough not to stand in line.
    let arrive = Duration::from_secs_f64((f64::from(args.people_at_once()) / 20.0).clamp(2.0, 60.0));
    if let Some(rate) = args.rate {
        return overload(args, address, tokens, rate, global);
    }
    // Their link is one more.
    let attack = tokens.pop().filter(|_| args.hostile).map(|token| attack(address, token)).transpose()?;
    let process = server.id();
    let early = {
        let log = log.clone();
        std::thread::spawn(move || {
            std::thread::sleep(arrive + count / 4);
            Used::by(process, &log)
        })
    };
    let rounds = args.together.then_some(think);
    let load = demand(address, tokens, Demand { seats, think, arrive, count, rounds })?;
    let late = Used::by(process, &log);
    let used = [early.join().unwrap_or_default(), late];
    let ratio = watched.as_ref().map(|watched| Ratio::of(&load, &watched.turns, WATCHED));
    let hurt = attack.map(|attack| {
        let [sent, refused] = [&attack.sent, &attack.refused].map(|count| count.load(Ordering::Relaxed));
        Hurt { sent, refused, ratio: Ratio::of(&load, &attack.turns, HURT) }
    });
    let mut document = Document::new(args, load, used);
    if let Some(Hurt { refused, ratio, .. }) = hurt {
        document.holds &= ratio.ratio <= HURT;
        if refused == 0 {
            document.errors.push("nothing was refused: it was no attack".to_owned());
            document.holds = false;
        }
    }
    document.hurt = hurt;
    if let (Some(watched), Some(ratio)) = (watched, ratio) {
        document.watched = Some(ratio);
        document.holds &= ratio.ratio <= WATCHED;
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
    let Document { participants, think_s, seconds, errors, template, log, used: [early, late], .. } =
        document;
    let when = if document.together { "all within one second, once in" } else { "each after thinking for" };
    writeln!(
        out,
        "{participants} simulated participants of {template}, {when} {think_s} s, answers counted for {seconds} s, log in {log}\n"
    )?;
    if document.watchers > 0 {
        let Document { watchers, looks, .. } = document;
        writeln!(out, "{watchers} researchers watched every other five seconds and looked {looks} times\n")?;
    }
    if let Some(watched) = &document.watched {
        writeln!(out, "{}\n", watched.told("they watched"))?;
    }
    if let Some(Hurt { sent, refused, ratio }) = &document.hurt {
        writeln!(
            out,
            "Somebody hostile sent {sent} requests every other five seconds, {refused} of them refused"
        )?;
        writeln!(out, "{}\n", ratio.told("they did"))?;
    }
    let mut table = Table::new(
        Terminal::detect(),
        ["answers", "per second", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms", "errors"],
    );
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
    let growth = grown(&document.used);
    writeln!(
        out,
        "Memory of the server: {:.0} MB after a quarter of the time, {:.0} MB at the end ({:+.1} %{}); {} and {} files open; \
         write-ahead log {:.1} MB; {} were done.",
        early.memory_mb,
        late.memory_mb,
        100.0 * (growth - 1.0),
        if growth <= GROWTH { "" } else { ", more than 5 %" },
        early.files,
        late.files,
        late.write_ahead_mb,
        document.finished
    )?;
    let promised = document.p99_promised_ms;
    // What others cost, and memory, have lines of their own.
    let verdict = word(document.p99_ms <= promised && errors.is_empty() && document.answers > 0);
    writeln!(
        out,
        "99 of 100 answers are acknowledged, on disk, within {promised} ms and none fails: {verdict}"
    )?;
    for error in errors.iter().take(5) {
        writeln!(out, "  {error}")?;
    }
    Ok(())
}

fn word(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

fn ms(value: f64) -> String {
    format!("{value:.1}")
}

/// What came of so many answers a second.
#[derive(Debug, Serialize)]
struct Sent {
    sent_per_second: f64,
    answers_per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    asked_to_come_again: usize,
    errors: usize,
}

#[derive(Debug, Serialize)]
struct Overload {
    format: u64,
    template: String,
    participants: u32,
    rates: Vec<Sent>,
    peak_per_second: f64,
    kept: f64,
    holds: bool,
}

/// Sends answers at rising rates, up to twice as many as asked for.
fn overload(
    args: &Bench,
    address: SocketAddr,
    tokens: Vec<String>,
    rate: f64,
    global: &Global,
) -> Result<ExitCode> {
    let rates = [0.25, 0.5, 1.0, 2.0].map(|times| times * rate);
    let each = Duration::from_secs_f64(args.seconds / rates.len() as f64);
    let loads = flood(address, tokens, &rates, each)?;
    let sent: Vec<Sent> = loads
        .iter()
        .zip(rates)
        .map(|(load, sent_per_second)| {
            let asked_to_come_again = load.errors.iter().filter(|error| asks_to_come_again(error)).count();
            let ms = |share: f64| load.quantile(share).as_secs_f64() * 1e3;
            Sent {
                sent_per_second,
                answers_per_second: load.waits.len() as f64 / load.counted.as_secs_f64(),
                p50_ms: ms(0.5),
                p99_ms: ms(0.99),
                asked_to_come_again,
                errors: load.errors.len() - asked_to_come_again,
            }
        })
        .collect();
    let peak = sent.iter().map(|sent| sent.answers_per_second).fold(0.0, f64::max);
    let kept = sent.last().map_or(0.0, |last| last.answers_per_second) / peak.max(1e-9);
    let failed: usize = sent.iter().map(|sent| sent.errors).sum();
    let document = Overload {
        format: equipoise::FORMAT,
        template: args.template.clone(),
        participants: args.people_at_once(),
        holds: peak >= 0.95 * rate && kept >= KEPT && failed == 0,
        rates: sent,
        peak_per_second: peak,
        kept,
    };
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&document, &mut out)?;
    } else {
        use std::io::Write as _;
        let mut table = Table::new(
            Terminal::detect(),
            ["sent per second", "acknowledged", "p50 ms", "p99 ms", "asked to come again", "errors"],
        );
        for sent in &document.rates {
            table.row([
                format!("{:.0}", sent.sent_per_second),
                format!("{:.0}", sent.answers_per_second),
                ms(sent.p50_ms),
                ms(sent.p99_ms),
                sent.asked_to_come_again.to_string(),
                sent.errors.to_string(),
            ]);
        }
        writeln!(out, "{table}")?;
        let verdict = if document.holds { "holds" } else { "does not hold" };
        writeln!(
            out,
            "{peak:.0} answers a second at most, of which {:.0} % are left when twice {rate} are sent; {rate} a second and {:.0} % are \
             promised: {verdict}",
            100.0 * kept,
            100.0 * KEPT
        )?;
    }
    Ok(if document.holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}
