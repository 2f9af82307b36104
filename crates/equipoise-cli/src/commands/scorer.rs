//! `equipoise scorer`: a metric as one Python file.

use crate::args::{Global, Scorer};
use crate::{files, json, metrics};
use anyhow::{Context as _, Result};
use equipoise::Metric;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Scorer, global: &Global) -> Result<ExitCode> {
    let metric = Metric::from_json(&files::read(&args.metric)?).with_context(|| files::name(&args.metric))?;
    metrics::of_errors(&metric).with_context(|| files::name(&args.metric))?;
    let (source, draws) = source(&metric, args.draws as usize, global.seed);
    let mut out = std::io::stdout().lock();
    if let Some(path) = &args.output {
        files::write(path, &source)?;
    }
    match (&args.output, global.json) {
        (_, true) => json::write(&serde_json::json!({"draws": draws, "source": source}), &mut out)?,
        (None, _) => out.write_all(source.as_bytes())?,
        (Some(_), _) if global.quiet => {}
        (Some(path), _) if draws == 0 => {
            writeln!(
                out,
                "{} takes the metric as certain: the document has no interval of its weights.",
                files::name(path)
            )?;
        }
        (Some(path), _) => {
            writeln!(out, "{} knows the metric with {} draws of it.", files::name(path), draws)?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The Python file, and how many draws of the metric it knows.
pub fn source(metric: &Metric, draws: usize, seed: Option<u64>) -> (String, usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.unwrap_or(1));
    let draws = metric.draws(draws, &mut random);
    (metric.to_python(&draws), draws.len())
}
