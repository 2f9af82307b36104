//! `equipoise bench`: questions asked, against the information floor and the papers' searches.

mod around;
mod choose;
mod cohort;
mod decisions;
mod floor;
mod fractional;
mod host;
mod human;
mod jobs;
mod people;
mod pools;
mod queries;
mod scale;
mod server;
mod sessions;

use jobs::each;

use crate::args::{Bench, Global};
use crate::fault::{FINDING, Fault};
use crate::json;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Bench, global: &Global) -> Result<ExitCode> {
    if args.what == "server" {
        return server::run(args, global);
    }
    if args.what == "scale" {
        return scale::run(args, global);
    }
    if args.what == "cohort" {
        return cohort::run(args, global);
    }
    let mut out = std::io::stdout().lock();
    let settings = Settings {
        seed: global.seed.unwrap_or_else(fresh_seed),
        metrics: args.metrics as usize,
        progress: global.shows_progress(),
        task: args.task.clone(),
    };
    let of_people = settings.with_metrics(args.participants.unwrap_or(200) as usize);
    if args.what == "people" {
        return around::run(args, &of_people, global);
    }
    if args.what == "choose" {
        return choose::run(args, &of_people, global);
    }
    if args.what == "human" {
        return human::run(args, &settings, global);
    }
    if args.what == "decisions" {
        return decisions::run(
            &settings.with_metrics(args.participants.unwrap_or(500) as usize),
            global,
            &mut out,
        );
    }
    if args.pools {
        return run_pools(&settings, global, &mut out);
    }
    if args.what == "sessions" {
        return sessions::run(args.count as usize, &settings, global, &mut out);
    }
    if args.people {
        return people::run(&settings, args.largest, global, &mut out);
    }
    let rows = if args.noise {
        queries::noisy(&settings, args.largest)
    } else {
        queries::clean(&settings, args.largest)
    };
    let holds = rows.iter().all(|row| row.holds);
    let sizes = [("metrics", settings.metrics)];
    conclude(&rows, holds, &sizes, &settings, global, &mut out, queries::print)
}

fn run_pools(settings: &Settings, global: &Global, out: &mut impl Write) -> Result<ExitCode> {
    let rows = pools::rows(settings);
    let holds = rows.iter().all(|row| row.holds);
    conclude(&rows, holds, &[("pools", settings.metrics)], settings, global, out, pools::print)
}

/// Prints rows as text or as one document, which also names the `sizes` of the bench; a goal that was missed is a finding.
fn conclude<R: Serialize, W: Write>(
    rows: &[R],
    holds: bool,
    sizes: &[(&str, usize)],
    settings: &Settings,
    global: &Global,
    out: &mut W,
    print: impl FnOnce(&[R], &Settings, &mut W) -> Result<()>,
) -> Result<ExitCode> {
    if let (true, Some(part)) = (rows.is_empty(), &settings.task) {
        let sentence = format!("no task of this bench has `{part}` in its name; without --task all are run");
        return Err(Fault::usage(sentence).into());
    }
    if global.json {
        #[derive(Serialize)]
        struct Document<'a, R> {
            format: u64,
            seed: u64,
            #[serde(flatten)]
            sizes: serde_json::Map<String, serde_json::Value>,
            holds: bool,
            rows: &'a [R],
        }
        let sizes = sizes.iter().map(|(name, size)| ((*name).to_owned(), (*size).into())).collect();
        let (format, seed) = (equipoise::FORMAT, settings.seed);
        json::write(&Document { format, seed, sizes, holds, rows }, out)?;
    } else {
        print(rows, settings, out)?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

pub fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

pub(super) struct Settings {
    pub seed: u64,
    pub metrics: usize,
    pub progress: bool,
    /// A part of the names of the tasks to run; all, if there is none.
    pub task: Option<String>,
}

impl Settings {
    /// Whether a task is to be run.
    pub fn wants(&self, name: &str) -> bool {
        self.task.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }

    /// The same with so many metrics per cell.
    pub fn with_metrics(&self, metrics: usize) -> Self {
        Self { metrics, task: self.task.clone(), ..*self }
    }
}

pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
