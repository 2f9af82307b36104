//! `equipoise verify`: whether the log is what it was.

use super::Place;
use crate::args::Global;
use crate::fault::Fault;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_study::{Error, log};
use std::io::Write as _;
use std::process::ExitCode;

/// Check that no row of the log was changed, removed or put in
#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 4 if the log does not agree with itself or with a receipt. Rows cut from the end are found against a \
receipt or a head that was kept elsewhere.

Examples:
  equipoise verify --study cancer
  equipoise verify --study cancer --receipt 812-9f86d081884c7d65")]
pub struct Verify {
    #[command(flatten)]
    place: Place,
    /// A receipt that must be in the log; may be given more than once
    #[arg(long = "receipt", value_name = "CODE")]
    receipts: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Verify, global: &Global) -> Result<ExitCode> {
    let store = args.place.store_to_read()?;
    let verified = log::verify(&store)?;
    for receipt in &args.receipts {
        log::verify_receipt(&store, receipt).map_err(|error| match error {
            Error::Missing(sentence) => anyhow::Error::from(Fault::usage(sentence)),
            error => error.into(),
        })?;
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        let mut document = serde_json::to_value(&verified)?;
        document["format"] = 1.into();
        document["receipts"] = args.receipts.len().into();
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
    }
    Ok(ExitCode::SUCCESS)
}
