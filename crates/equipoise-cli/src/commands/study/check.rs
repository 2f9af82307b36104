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
    let changed = args.place.changed_after_lock(&design)?;
    let errors = lints.iter().filter(|lint| lint.error).count() + usize::from(changed.is_some());
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = json!({
            "format": 1, "study": design.study().name, "version": design.study().version, "hash": design.hash(),
            "minutes": minutes, "comparisons": comparisons, "length": length, "ready": errors == 0, "findings": lints,
            "changed": changed, "fit": design.fit(),
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
        match changed {
            Some(what) => writeln!(out, "{}", terminal.paragraph(&format!("{what}.")))?,
            None => writeln!(out, "{}", lint::told(&design, &lints).join("\n\n"))?,
        }
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}
