//! `equipoise export`: the answers for other programs.

use super::{Place, shown};
use crate::args::Global;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::{export, log};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write every answer as a row: CSV or JSON Lines
#[derive(Debug, Args)]
#[command(after_help = "\
Answers that were taken back are there too, with the event that took them back. The log is verified first; the exit code \
is 4 if it does not agree with itself.

Examples:
  equipoise export --study cancer --out answers.csv
  equipoise export --study cancer --as json-lines")]
pub struct Export {
    #[command(flatten)]
    place: Place,
    /// The format
    #[arg(long = "as", value_name = "FORMAT", default_value = "csv", value_parser = ["csv", "json-lines"])]
    format: String,
    /// The file; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &Export, global: &Global) -> Result<ExitCode> {
    let store = args.place.store()?;
    let verified = log::verify(&store)?;
    let rows = export::answers(&store)?;
    let text = if args.format == "csv" { export::csv(&rows) } else { export::json_lines(&rows) };
    let mut out = std::io::stdout().lock();
    if args.out == Path::new("-") {
        if global.json {
            json::write(&json!({"format": 1, "head": verified.head, "answers": rows}), &mut out)?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    files::write(&args.out, &text)?;
    if global.json {
        json::write(
            &json!({"format": 1, "head": verified.head, "rows": rows.len(), "file": args.out}),
            &mut out,
        )?;
    } else {
        writeln!(
            out,
            "Wrote {} answers to {}; head of the log {}.",
            rows.len(),
            shown(&args.out),
            verified.head
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
