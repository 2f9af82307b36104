//! `equipoise study retain`: deletes what is past its time.

use super::{HERE, Place};
use crate::args::Global;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_study::numbers::when;
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// Delete what the study has kept for as long as it may
#[derive(Debug, Args)]
#[command(after_help = "\
The study file says how long, counted from when somebody was last heard of:

  [retention]
  contact_days = 30      # then nobody can tell who somebody is
  answers_days = 3650    # then all of theirs is erased

A study that is served does it every hour by itself, unless its clock is more than 90 days beyond anything in the log: \
a wrong clock would erase everybody. What is deleted is written down for the audit page. Without --yes this says what is due and deletes nothing.

Example:
  equipoise study retain cancer --yes")]
pub struct Retain {
    #[command(flatten)]
    place: Place,
    /// Do it: there is no way back
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
pub fn run(args: &Retain, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    drop(args.place.store()?);
    let rule = design.study().retention;
    let service = args.place.service(design)?;
    let now = service.now();
    let due = match args.yes {
        true => service.retain(now, HERE, true)?,
        false => service.due(now)?,
    };
    let (contacts, people) = (due.contacts.len(), due.people.len());
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = json!({
            "format": equipoise::FORMAT, "contacts": contacts, "people": people, "deleted": args.yes, "retention": rule,
            "doubt": due.doubt.map(when),
        });
        json::write(&document, &mut out)?;
    } else if rule.is_none() {
        writeln!(out, "The study file has no [retention]: nothing is deleted by itself.")?;
    } else {
        let (verb, hint) = if args.yes { ("Deleted", "") } else { ("Due", " Add --yes to delete it.") };
        writeln!(
            out,
            "{verb}: the contact data of {contacts} participants, and all of {people} participants.{hint}"
        )?;
        if let Some(sure) = due.doubt.filter(|_| !args.yes) {
            writeln!(
                out,
                "The clock says {}, and the log has seen nothing after {}.\nLook at the clock first: a wrong one erases people \
                 too early.",
                when(now),
                when(sure)
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
