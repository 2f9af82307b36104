//! `equipoise processing`: the record of processing activities.

use super::{Place, shown};
use crate::args::Global;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the record of processing activities that data protection officers ask for
#[derive(Debug, Args)]
#[command(after_help = "\
Article 30 of the GDPR: which data, what for, who sees them, how long, how they are protected. It is made from the study \
file, as Markdown; what only you can know is marked.

Example:
  equipoise processing --study cancer --out processing.md")]
pub struct Processing {
    #[command(flatten)]
    place: Place,
    /// The file; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Processing, global: &Global) -> Result<ExitCode> {
    let text = equipoise_study::processing(&*args.place.design()?);
    let mut out = std::io::stdout().lock();
    if let Some(path) = &args.out {
        files::write(path, &text)?;
    }
    match (&args.out, global.json) {
        (_, true) => json::write(&json!({"format": equipoise::FORMAT, "record": text}), &mut out)?,
        (Some(path), false) => writeln!(out, "Wrote the record of processing to {}.", shown(path))?,
        (None, false) => write!(out, "{text}")?,
    }
    Ok(ExitCode::SUCCESS)
}
