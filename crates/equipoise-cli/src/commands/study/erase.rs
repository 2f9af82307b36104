//! `equipoise erase`: deletes what a participant sent.

use super::Place;
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// Delete all that a participant ever sent, and who they are, for good
#[derive(Debug, Args)]
#[command(after_help = "\
The chain of the log stays whole: it shows that there was something, not what. Backups made before still hold the data; \
restoring one erases them again.

Example:
  equipoise erase --study cancer 7 --yes")]
pub struct Erase {
    #[command(flatten)]
    place: Place,
    /// The participant's number
    #[arg(value_name = "PARTICIPANT")]
    number: u64,
    /// Do it: there is no way back
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
pub fn run(args: &Erase, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    let person = super::participant(&design, &args.place.store()?, args.number)?;
    if !args.yes {
        let what =
            format!("this deletes all {} events of participant {}; add --yes", person.events(), args.number);
        return Err(Fault::usage(what).into());
    }
    let receipt = args.place.desk(design)?.erase(person.session())?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&json!({"format": 1, "erased": args.number, "receipt": receipt.to_string()}), &mut out)?;
    } else {
        writeln!(out, "Participant {} is erased; receipt {receipt}.", args.number)?;
    }
    Ok(ExitCode::SUCCESS)
}
