//! `equipoise retain`: deletes what is past its time.

use super::Place;
use crate::args::Global;
use crate::json;
use anyhow::Result;
use clap::Args;
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

A study that is served does it every hour by itself. Without --yes this says what is due and deletes nothing.

Example:
  equipoise retain --study cancer --yes")]
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
    let due = match args.yes {
        true => service.retain(service.now())?,
        false => service.due(service.now())?,
    };
    let (contacts, people) = (due.contacts.len(), due.people.len());
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = json!({
            "format": equipoise::FORMAT, "contacts": contacts, "people": people, "deleted": args.yes, "retention": rule,
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
    }
    Ok(ExitCode::SUCCESS)
}
