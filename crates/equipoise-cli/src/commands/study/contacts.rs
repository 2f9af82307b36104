//! `equipoise study contacts`: who participants are.

use super::{HERE, Place};
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use equipoise_study::contacts::Contact;
use equipoise_study::event::{Action, Admin};
use equipoise_study::people;
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// See who participants are, or forget it
#[derive(Debug, Args)]
#[command(after_help = "\
Who somebody is (what `invite --for` was given, what a panel passed along) is not in the log. It is sealed in \
contacts.sqlite, and contacts.key opens it; both are for their owner alone. Leave the key out when you pass a study on. \
Looking is written to the audit log.

--forget deletes both files: copies of contacts.sqlite say nothing any more. Answers stay, and whoever agrees afterwards is \
known again.

Examples:
  equipoise study contacts cancer
  equipoise study contacts cancer --forget --yes")]
pub struct Contacts {
    #[command(flatten)]
    place: Place,
    /// Delete all contact data and their key
    #[arg(long)]
    forget: bool,
    /// Do it: there is no way back
    #[arg(long, requires = "forget")]
    yes: bool,
}

/// Runs the command.
pub fn run(args: &Contacts, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    // Not a new log where there is none.
    drop(args.place.store()?);
    match args.forget {
        true => forget(args, global),
        false => {
            let service = args.place.service(design)?;
            service.contacts().check()?;
            service.tidy_contacts()?;
            service
                .note(Admin::new(HERE, Action::Looked { page: "contacts".to_owned(), participant: None }))?;
            let mut known = service.contacts().all()?;
            let numbers = people::numbers(&*args.place.store()?)?.into_iter();
            let listed: Vec<(u64, Contact)> =
                numbers.filter_map(|(number, session)| Some((number, known.remove(&session)?))).collect();
            list(&listed, global)
        }
    }
}

fn forget(args: &Contacts, global: &Global) -> Result<ExitCode> {
    if !args.yes {
        let what = "this deletes who every participant is, for good; add --yes";
        return Err(Fault::usage(what).into());
    }
    // Also where the key is lost, and nothing could be read.
    let service = args.place.service(args.place.design()?)?;
    let rows = service.contacts().forget()?;
    service.note(Admin::new(HERE, Action::ContactsForgotten { people: rows }))?;
    let mut out = std::io::stdout().lock();
    match global.json {
        true => json::write(&json!({"format": equipoise::FORMAT, "forgotten": rows}), &mut out)?,
        false => {
            let people = if rows == 1 { "participant" } else { "participants" };
            writeln!(out, "Contact data of {rows} {people} are deleted, and their key; all answers stay.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(listed: &[(u64, Contact)], global: &Global) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if global.json {
        let all: Vec<_> =
            listed.iter().map(|(number, known)| json!({"participant": number, "known": known})).collect();
        json::write(&json!({"format": equipoise::FORMAT, "contacts": all}), &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if listed.is_empty() {
        writeln!(out, "Nobody said who participants are.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(Terminal::detect(), ["participant", "what", "who"]);
    for (number, known) in listed {
        for (name, value) in known {
            table.row([number.to_string(), name.clone(), value.clone()]);
        }
    }
    write!(out, "{table}")?;
    Ok(ExitCode::SUCCESS)
}
