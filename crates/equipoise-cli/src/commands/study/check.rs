//! `equipoise study check`: whether a study is a good one.

use super::Place;
use crate::args::Global;
use crate::fault::FINDING;
use crate::json;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use equipoise_study::length::Length;
use equipoise_study::lint;
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// Check a study against the guidelines G1 to G9, before anybody is asked
#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 1 if the study should not be run like this. A rule named in `allow` is accepted, and the acceptance is \
part of the study's hash.

Example:
  equipoise study check cancer")]
pub struct Check {
    #[command(flatten)]
    place: Place,
}

/// Runs the command.
pub fn run(args: &Check, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    // First, so that the consent text can be held against it.
    let length = *design.length();
    let lints = lint::lint(&design);
    let Length { minutes, comparisons, .. } = length;
    let errors = lints.iter().filter(|lint| lint.error).count();
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = json!({
            "format": 1, "study": design.study().name, "version": design.study().version, "hash": design.hash(),
            "minutes": minutes, "comparisons": comparisons, "length": length, "ready": errors == 0, "findings": lints,
            "fit": design.fit(),
        });
        json::write(&document, &mut out)?;
    } else {
        let terminal = Terminal::detect();
        for lint in &lints {
            let word = if lint.error { "error" } else { "note" };
            write!(out, "{}", terminal.entry(17, &format!("{:<6}{}", word, lint.rule), &lint.what))?;
        }
        if !lints.is_empty() {
            writeln!(out)?;
        }
        if let Some(fit) = design.fit() {
            writeln!(
                out,
                "The table's boundary has {} corners. A logistic law is {:.3} away from it on average (root mean square), and \
                 leaves what the table allows by at most {:.3}; with smooth = \"logistic\" it is pulled inside.\n",
                fit.corners, fit.distance, fit.outside
            )?;
        }
        let ready = if errors == 0 { "can be run" } else { "should not be run like this" };
        writeln!(
            out,
            "The study {ready}: about {comparisons} comparisons, {} screens and {minutes} minutes per participant, as rehearsed \
             (nine in ten: at most {} comparisons and {} minutes).",
            length.screens, length.comparisons_p90, length.minutes_p90
        )?;
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}
