//! `equipoise study export-person`: all there is about one participant, for them.

use super::{HERE, Place, shown};
use crate::args::Global;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_study::event::{Action, Admin};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write all there is about one participant, for whoever asks for their data
#[derive(Debug, Args)]
#[command(after_help = "\
Every event of theirs as it is in the log, with the time it was written and its receipt, what was asked before they agreed, \
and who they are if that is known. One JSON document; the log is verified first. It is written to the audit log.

Example:
  equipoise study export-person cancer 7 --out participant-7.json")]
pub struct ExportPerson {
    #[command(flatten)]
    place: Place,
    /// The participant's number
    #[arg(value_name = "PARTICIPANT")]
    number: u64,
    /// The file; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ExportPerson, global: &Global) -> Result<ExitCode> {
    let file = args.out.as_deref().map(|path| args.place.output(path)).transpose()?;
    let design = args.place.design()?;
    let store = args.place.store()?;
    equipoise_study::verify(&*store)?;
    let person = super::participant(&design, &*store, args.number)?;
    let service = args.place.service(design.clone())?;
    let format = format!("person/{}", args.number);
    service.note(Admin::new(HERE, Action::Exported { format }))?;
    let known = service.contacts().get(person.session())?.unwrap_or_default();
    let document = equipoise_study::export::person(&person, &store.session(person.session())?, &known)?;
    let mut out = std::io::stdout().lock();
    let (Some(path), Some(file)) = (&args.out, file) else {
        json::write_visible(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut text = Vec::new();
    json::write(&document, &mut text)?;
    file.write_private(&text)?;
    let events = person.events();
    match global.json {
        true => {
            let told = json!({
                "format": equipoise::FORMAT, "participant": args.number, "events": events, "file": path,
            });
            json::write(&told, &mut out)?;
        }
        false => {
            let (number, file) = (args.number, shown(path));
            let word = if events == 1 { "event" } else { "events" };
            writeln!(out, "Wrote all there is about participant {number} to {file}: {events} {word}.")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
