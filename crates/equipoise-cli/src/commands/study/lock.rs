//! `equipoise study lock`: fixes a study before its first participant.

use super::{Locked, Place, changed};
use crate::args::Global;
use crate::fault::Fault;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::length::Length;
use equipoise_study::lint;
use std::io::Write as _;
use std::process::ExitCode;

/// Fix a study, with its stop rule and its exclusion rule, by a hash
#[derive(Debug, Args)]
#[command(after_help = "\
The hash is a line for a preregistration: it is of all that the file means and of its data. A study that is changed \
later needs a new version; answers keep the version they were given to. A study that `check` finds errors in is not \
locked; the exit code is 1.

Example:
  equipoise study lock cancer")]
pub struct Lock {
    #[command(flatten)]
    place: Place,
}

/// Runs the command.
pub fn run(args: &Lock, global: &Global) -> Result<ExitCode> {
    let place = &args.place;
    let design = place.design()?;
    let version = design.study().version;
    // The file beside the study can be deleted; the log remembers.
    for lock in place.lock()?.into_iter().chain(place.logged_lock()?) {
        if lock.hash != design.hash() && version <= lock.version {
            return Err(changed(place, &lock, &design).into());
        }
    }
    let length = *design.length();
    let lints = lint::lint(&design);
    let promised = lints.iter().find(|lint| lint.rule == "length").map(|lint| lint.what.clone());
    if let Some(lint) = lints.into_iter().find(|lint| lint.error) {
        let what = format!(
            "the study should not be run like this: {}; all is said by: equipoise study check {}",
            lint.what,
            place.word()
        );
        return Err(Fault::finding(what).into());
    }
    let lock = Locked { format: 1, version, hash: design.hash().to_owned() };
    let service = place.service(design)?;
    let receipt = service.lock()?;
    files::write(&place.path("study.lock"), &(serde_json::to_string_pretty(&lock)? + "\n"))?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(
            &serde_json::json!({"format": 1, "version": version, "hash": lock.hash, "receipt": receipt.to_string(),
                "length": length}),
            &mut out,
        )?;
    } else {
        writeln!(out, "Version {version} is locked: {}", lock.hash)?;
        if !global.quiet {
            let Length { minutes, comparisons, .. } = length;
            writeln!(
                out,
                "Rehearsed: about {comparisons} comparisons and {minutes} minutes per participant."
            )?;
            if let Some(promised) = promised {
                writeln!(out, "Note: {promised}.")?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
