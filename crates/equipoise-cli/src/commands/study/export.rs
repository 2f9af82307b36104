//! `equipoise study export`: the answers for other programs.

use super::{Place, shown};
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use crate::terminal::visible;
use anyhow::{Context as _, Result};
use clap::Args;
use equipoise_log::Reader;
use equipoise_study::event::Action;
use equipoise_study::{export, verify};
use serde_json::json;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write every answer as a row: CSV, JSON Lines, Parquet or a Psych-DS data set
#[derive(Debug, Args)]
#[command(after_help = "\
Answers that were taken back are there too, with the event that took them back. All formats have the same columns; in CSV \
an apostrophe keeps spreadsheets from taking a text for a formula. The log is verified first; the exit code is 4 if it \
does not agree with itself.

Examples:
  equipoise study export cancer --out answers.csv
  equipoise study export cancer --table questionnaire --as json-lines
  equipoise study export cancer --as parquet --out answers.parquet
  equipoise study export cancer --as psych-ds --out dataset")]
pub struct Export {
    #[command(flatten)]
    place: Place,
    /// The format; psych-ds is a directory with both tables
    #[arg(long = "as", value_name = "FORMAT", default_value = "csv", value_parser = ["csv", "json-lines", "parquet", "psych-ds"])]
    format: String,
    /// Comparisons, or what people said about themselves and the costs they stated
    #[arg(long, value_name = "TABLE", default_value = "answers", value_parser = ["answers", "questionnaire"])]
    table: String,
    /// The file, or the directory of a data set; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Take along results of a study that is blinded; that is written to the audit log
    #[arg(long)]
    unblinded: bool,
}

/// Runs the command.
pub fn run(args: &Export, global: &Global) -> Result<ExitCode> {
    let to_file = args.out != Path::new("-");
    let file = to_file.then(|| args.place.output(&args.out)).transpose()?;
    let exported = |how: &str| Action::Exported { format: format!("{}{how}", args.format) };
    let store = args.place.results(args.unblinded, exported)?;
    let head = verify(&*store)?.data_head;
    if args.format == "psych-ds" {
        return data_set(args, global, &*store, &head);
    }
    let table = match args.table.as_str() {
        "answers" => export::answers(&*store)?,
        _ => export::questionnaire(&*store)?,
    };
    let bytes = match args.format.as_str() {
        "csv" => table.csv().into_bytes(),
        "json-lines" => table.json_lines().into_bytes(),
        _ => table.parquet()?,
    };
    let mut out = std::io::stdout().lock();
    let Some(file) = file else {
        if global.json {
            json::write_visible(&json!({"format": 1, "head": head, &args.table: table}), &mut out)?;
        } else {
            out.write_all(&if out.is_terminal() { visible(&bytes) } else { bytes })?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    file.write(&bytes)?;
    if global.json {
        let document = json!({"format": 1, "head": head, "rows": table.rows.len(), "file": args.out});
        json::write(&document, &mut out)?;
    } else {
        let (rows, file) = (table.rows.len(), shown(&args.out));
        let what = if args.table == "answers" { "answers" } else { "answers to the questionnaire" };
        writeln!(out, "Wrote {rows} {what} to {file}; head of the log {head}.")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Both tables and their description, in a directory of their own.
fn data_set(args: &Export, global: &Global, store: &dyn Reader, head: &str) -> Result<ExitCode> {
    let design = args.place.design()?;
    if args.out == Path::new("-") {
        return Err(Fault::usage("a data set is a directory; name it with --out").into());
    }
    let directory = shown(&args.out);
    if args.out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) || args.out.is_file() {
        return Err(Fault::usage(format!("{directory} is there already, expected a new directory")).into());
    }
    let tables = [export::answers(store)?, export::questionnaire(store)?];
    let all = export::psych_ds(design.study(), &tables, head);
    for (path, text) in &all {
        let path = args.out.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot make the directory {}", parent.display()))?;
        }
        args.place.output(&path)?.write(text.as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        let paths: Vec<&String> = all.iter().map(|(path, _)| path).collect();
        json::write(&json!({"format": 1, "head": head, "directory": args.out, "files": paths}), &mut out)?;
    } else {
        writeln!(out, "Wrote a Psych-DS data set to {directory}; head of the log {head}.")?;
        for (path, _) in &all {
            writeln!(out, "  {path}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
