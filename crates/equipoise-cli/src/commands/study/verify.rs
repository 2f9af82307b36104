//! `equipoise study verify`: whether the log is what it was.

use super::{Place, UNFINISHED, shown};
use crate::args::Global;
use crate::fault::{FINDING, Fault};
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_log::{Error, Reader, is_unfinished, verify_receipt};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Study, repair, verify, verify_of};
use std::io::Write as _;
use std::process::ExitCode;

/// Check that no row of the log was changed, removed or put in
#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 4 if the log does not agree with itself or with a receipt, if it has no rows beside a study.lock, or if there is \
something else in its file. Rows cut from the end are found against a \
receipt or a head that was kept elsewhere.

A server of an older release could go on writing for somebody who was being erased. Such rows are said, with exit code 1; \
--repair deletes them, here and in logs that were set aside, after it has made a copy of the log beside it. The exit code is 1, \
too, while somebody reads the log and its files may still hold what was erased.

Examples:
  equipoise study verify cancer
  equipoise study verify cancer --repair
  equipoise study verify cancer --receipt 812-9f86d081884c7d65")]
pub struct Verify {
    #[command(flatten)]
    place: Place,
    /// A receipt that must be in the log; may be given more than once
    #[arg(long = "receipt", value_name = "CODE")]
    receipts: Vec<String>,
    /// Delete what came in of people after they were erased; a copy of the log is kept
    #[arg(long)]
    repair: bool,
}

/// Runs the command.
pub fn run(args: &Verify, global: &Global) -> Result<ExitCode> {
    let mut store = args.place.store_to_read()?;
    // A log can be checked without its study; with it, consents are as well.
    let text = std::fs::read_to_string(args.place.path("study.toml")).ok();
    let study = text.and_then(|text| Study::parse(&text).ok());
    let check = |store: &dyn Reader| match &study {
        Some(study) => verify_of(store, study),
        None => verify(store),
    };
    let mut verified = check(&*store)?;
    let foreign = store.foreign()?;
    if !foreign.is_empty() {
        let what = format!("what is no part of a log is in it: {}; restore a backup", foreign.join(", "));
        return Err(Fault::integrity(what).into());
    }
    // Locking a study is the first row of its log.
    if verified.rows == 0 && args.place.files()?.lock()?.is_some() {
        let what = "the log has no rows, and study.lock says that there were some: put the log back or restore a backup";
        return Err(Fault::integrity(what).into());
    }
    let mut copy = None;
    if args.repair && verified.stray > 0 {
        copy = Some(args.place.keep_copy("repair")?);
        repair(&mut *store, &SystemClock, &SystemRandom)?;
        verified = check(&*store)?;
    }
    for receipt in &args.receipts {
        verify_receipt(&*store, receipt).map_err(|error| match error {
            Error::Missing(sentence) => anyhow::Error::from(Fault::usage(sentence)),
            error => error.into(),
        })?;
    }
    let unfinished = is_unfinished(&mut *store);
    let mut out = std::io::stdout().lock();
    if global.json {
        let mut document = serde_json::to_value(&verified)?;
        document["format"] = 1.into();
        document["receipts"] = args.receipts.len().into();
        if unfinished {
            document["unfinished_erasure"] = true.into();
        }
        if let Some(copy) = &copy {
            document["kept"] = shown(copy).into();
        }
        json::write(&document, &mut out)?;
    } else {
        writeln!(
            out,
            "The log agrees with itself: {} rows, {} participants, {} erased.",
            verified.rows, verified.sessions, verified.erased
        )?;
        match args.receipts.len() {
            0 => {}
            1 => writeln!(out, "The receipt is in it.")?,
            many => writeln!(out, "All {many} receipts are in it.")?,
        }
        writeln!(out, "Head {}", verified.head)?;
        if verified.data_head != verified.head {
            writeln!(out, "Head of the data {}", verified.data_head)?;
        }
        match (verified.stray, &copy) {
            (0, None) => {}
            (0, Some(copy)) => {
                writeln!(out, "Deleted what came in after an erasure; a copy of the log is {}.", shown(copy))?
            }
            (stray, _) => writeln!(
                out,
                "{stray} events came in of people who had been erased; delete them with: equipoise study verify {} --repair",
                args.place.word()
            )?,
        }
        if unfinished {
            writeln!(out, "{UNFINISHED}")?;
        }
    }
    Ok(if verified.stray > 0 || unfinished { ExitCode::from(FINDING) } else { ExitCode::SUCCESS })
}
