//! `equipoise study erase`: deletes what a participant sent.

use super::{Place, shown};
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_log::{Reader as _, SqliteStore, Store, settled};
use equipoise_study::event::Action;
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Numbered, erase_aside, numbered};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Delete all that a participant ever sent, and who they are, for good
#[derive(Debug, Args)]
#[command(after_help = "\
The chain of the log stays whole: it shows that there was something, not what. Logs that a restore set aside in the \
directory of the study are erased, too. Backups made before still hold the data; restoring one erases them again.

Example:
  equipoise study erase cancer 7 --yes")]
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
    let place = &args.place;
    let mut store = place.store()?;
    // Whoever came after a backup that was restored is in the logs that were set aside only.
    let (session, here) = match numbered(&*store, args.number)? {
        Numbered::Session(session) => (session, true),
        Numbered::Erased => return finish(args, global, &mut *store),
        Numbered::Nobody => (aside(&*store, args.number)?, false),
    };
    let kept = holding(&*store, &session)?;
    if !args.yes {
        let events = store.session(&session)?.len();
        let aside: Vec<String> = kept.iter().map(|path| format!(", also in {}", shown(path))).collect();
        let what = format!(
            "this deletes all {events} events of participant {}{}; add --yes",
            args.number,
            aside.concat()
        );
        return Err(Fault::usage(what).into());
    }
    let erased = Action::Erased { participant: args.number };
    let receipt = match here {
        true => {
            let receipt = place.service(place.design()?)?.erase(&session);
            if receipt.is_err() && numbered(&*store, args.number)? == Numbered::Erased {
                // Only the last step is left to do.
                place.note(&mut *store, erased.clone())?;
            }
            Some(receipt?)
        }
        false => {
            for file in &kept {
                erase_aside(file, &session, &SystemClock, &SystemRandom)?;
            }
            None
        }
    };
    place.note(&mut *store, erased)?;
    let mut out = std::io::stdout().lock();
    if global.json {
        let receipt = receipt.map(|receipt| receipt.to_string());
        let document = json!({"format": 1, "erased": args.number, "receipt": receipt, "also_in": kept});
        json::write(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    match receipt {
        Some(receipt) => writeln!(out, "Participant {} is erased; receipt {receipt}.", args.number)?,
        None => writeln!(out, "Participant {} is erased.", args.number)?,
    }
    for path in &kept {
        writeln!(out, "Erased in {} as well.", shown(path))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Ends what is left to do of an erasure: somebody who read the log then may have kept the last step from being done.
fn finish(args: &Erase, global: &Global, store: &mut dyn Store) -> Result<ExitCode> {
    let unsettled = store.is_unsettled();
    settled(|| store.settle())?;
    if !unsettled {
        return Err(Fault::usage(format!("participant {} was erased already", args.number)).into());
    }
    let mut out = std::io::stdout().lock();
    match global.json {
        true => json::write(&json!({"format": 1, "erased": args.number, "settled": true}), &mut out)?,
        false => writeln!(
            out,
            "Participant {} was erased already; what was erased is gone from the files now, too.",
            args.number
        )?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The session of somebody who is in a log that was set aside.
fn aside(store: &dyn Store, number: u64) -> Result<String> {
    for path in store.aside()? {
        if let Numbered::Session(session) = numbered(&SqliteStore::open_copy(&path)?, number)? {
            return Ok(session);
        }
    }
    Err(Fault::usage(format!("there is no participant {number}")).into())
}

/// The logs that were set aside and hold something somebody sent.
fn holding(store: &dyn Store, session: &str) -> Result<Vec<PathBuf>> {
    let mut found = vec![];
    for path in store.aside()? {
        let rows = SqliteStore::open_copy(&path)?.session(session)?;
        if rows.iter().any(|row| row.payload.is_some()) {
            found.push(path);
        }
    }
    Ok(found)
}
