//! `equipoise study lock`: fixes a study before its first participant.

use super::Place;
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_study::Error;
use equipoise_study::length::Length;
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
    let (design, files) = (place.design()?, place.files()?);
    // First, so that the consent text can be held against it.
    let length = *design.length();
    let lints = match files.may_lock(&design, place.logged_lock()?) {
        Err(error @ Error::Unfit(_)) => {
            let what = format!("{error}; all is said by: equipoise study check {}", place.word());
            return Err(Fault::finding(what).into());
        }
        lints => lints?,
    };
    let promised = lints.iter().find(|lint| lint.rule == "length").map(|lint| lint.what.clone());
    let (lock, receipt) = files.fix(&place.service(design)?)?;
    let version = lock.version;
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
