//! `equipoise invite`: links for participants.

use super::{Place, shown};
use crate::args::Global;
use crate::fault::Fault;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::contacts::check_label;
use equipoise_study::{Invitation, export};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make links for participants
#[derive(Debug, Args)]
#[command(after_help = "\
Each link is good for one participant, on any device, until the end. It is printed once and stored nowhere: the log \
holds a hash that does not lead back to it.

--for makes a link for each line of a file, such as a name or an address. Those lines are kept apart from the log and \
sealed; only `equipoise contacts` and owners see them.

Examples:
  equipoise invite --study cancer --count 20 --out links.csv --url https://study.example.org
  equipoise invite --study cancer --for people.txt --out links.csv")]
pub struct Invite {
    #[command(flatten)]
    place: Place,
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// A file with a line for each participant: who it is
    #[arg(long = "for", value_name = "FILE", conflicts_with = "count")]
    people: Option<PathBuf>,
    /// Where the study will be served
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A file for the links, as comma-separated values
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Invite, global: &Global) -> Result<ExitCode> {
    let design = args.place.locked()?;
    let labels = args.people.as_deref().map(labels).transpose()?;
    let desk = args.place.desk(design)?;
    let invitations = match &labels {
        Some(labels) => desk.invite_people(labels)?,
        None => desk.invite(args.count as usize)?,
    };
    let label = |place: usize| labels.as_ref().and_then(|labels| labels.get(place));
    let link = |invitation: &Invitation| equipoise_server::participant::link(&args.url, &invitation.token);
    if let Some(path) = &args.out {
        let rows: String = invitations
            .iter()
            .enumerate()
            .map(|(place, i)| match label(place) {
                Some(label) => format!("{},{},{}\n", i.number, link(i), export::quoted(label)),
                None => format!("{},{}\n", i.number, link(i)),
            })
            .collect();
        let more = if labels.is_some() { ",contact" } else { "" };
        // Whoever can read a link can answer for somebody.
        files::write_private(path, format!("participant,link{more}\n{rows}").as_bytes())?;
    }
    let mut out = std::io::stdout().lock();
    match (&args.out, global.json) {
        (_, true) => {
            let links: Vec<_> = invitations
                .iter()
                .enumerate()
                .map(|(place, i)| match label(place) {
                    Some(label) => json!({"participant": i.number, "link": link(i), "contact": label}),
                    None => json!({"participant": i.number, "link": link(i)}),
                })
                .collect();
            json::write(&json!({"format": 1, "links": links}), &mut out)?;
        }
        (Some(path), false) => writeln!(out, "Wrote {} links to {}.", invitations.len(), shown(path))?,
        (None, false) => {
            for (place, invitation) in invitations.iter().enumerate() {
                let who = label(place).map_or(String::new(), |label| format!("  {label}"));
                writeln!(out, "{:>5}  {}{who}", invitation.number, link(invitation))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The lines of a file, each of which says who somebody is.
fn labels(path: &Path) -> Result<Vec<String>> {
    let text = files::read(path)?;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| match check_label(line) {
            Ok(()) => Ok(line.to_owned()),
            Err(what) => Err(Fault::usage(format!("{}: line {at}: {what}", files::name(path))).into()),
        })
        .collect()
}
