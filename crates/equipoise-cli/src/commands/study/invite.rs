//! `equipoise study invite`: links for participants.

use super::{Place, shown};
use crate::args::{self, Global};
use crate::fault::Fault;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::contacts::check_label;
use equipoise_study::event::Action;
use equipoise_study::{Invitation, export};
use serde_json::json;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The most a list of people may have, in bytes: a hundred thousand of the longest lines there may be, and some.
const LARGEST: u64 = 16 << 20;

/// Make links for participants
#[derive(Debug, Args)]
#[command(after_help = "\
Each link is good for one participant, on any device, until the end. It is printed once and stored nowhere: the log \
holds a hash that does not lead back to it.

--for makes a link for each line of a file, such as a name or an address. Those lines are kept apart from the log and \
sealed; only `equipoise study contacts` and owners see them.

Examples:
  equipoise study invite cancer --count 20 --out links.csv --url https://study.example.org
  equipoise study invite cancer --for people.txt --out links.csv")]
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
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080", value_parser = args::web_address)]
    url: String,
    /// A new file for the links, as comma-separated values; only you can read it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Invite, global: &Global) -> Result<ExitCode> {
    let file = args.out.as_deref().map(|path| args.place.output(path)).transpose()?;
    let design = args.place.locked()?;
    let labels = args.people.as_deref().map(labels).transpose()?;
    // Before anybody has a place: links are stored nowhere else, so a file must be there to take them.
    let mut file = file.map(|file| file.create()).transpose()?;
    let made = args.place.service(design).and_then(|service| {
        Ok(match &labels {
            Some(labels) => service.invite_people(labels)?,
            None => service.invite(args.count as usize)?,
        })
    });
    let invitations = match made {
        Ok(invitations) => invitations,
        Err(error) => {
            if let Some(path) = &args.out {
                let _ = std::fs::remove_file(path);
            }
            return Err(error);
        }
    };
    let first = invitations.first().map_or(0, |invitation| invitation.number);
    args.place
        .note(&mut *args.place.store()?, Action::MadeLinks { first, count: invitations.len() as u64 })?;
    let label = |place: usize| labels.as_ref().and_then(|labels| labels.get(place));
    let link = |invitation: &Invitation| equipoise_server::participant::link(&args.url, &invitation.token);
    let mut unwritten = None;
    if let (Some(path), Some(file)) = (&args.out, &mut file) {
        let rows: String = invitations
            .iter()
            .enumerate()
            .map(|(place, i)| match label(place) {
                Some(label) => format!("{},{},{}\n", i.number, link(i), export::quoted(label)),
                None => format!("{},{}\n", i.number, link(i)),
            })
            .collect();
        let more = if labels.is_some() { ",contact" } else { "" };
        let written = file
            .write_all(format!("participant,link{more}\n{rows}").as_bytes())
            .and_then(|()| file.sync_all());
        unwritten = written
            .err()
            .map(|e| format!("cannot write {}: {e}; the links are printed instead", shown(path)));
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
        (Some(path), false) if unwritten.is_none() => {
            let count = invitations.len();
            let links = if count == 1 { "link" } else { "links" };
            writeln!(out, "Wrote {count} {links} to {}.", shown(path))?;
        }
        _ => {
            for (place, invitation) in invitations.iter().enumerate() {
                let who = label(place).map_or(String::new(), |label| format!("  {label}"));
                writeln!(out, "{:>5}  {}{who}", invitation.number, link(invitation))?;
            }
        }
    }
    match unwritten {
        None => Ok(ExitCode::SUCCESS),
        Some(sentence) => Err(Fault::input_output(sentence).into()),
    }
}

/// The lines of a file, each of which says who somebody is.
fn labels(path: &Path) -> Result<Vec<String>> {
    let text = read(path)?;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let labels: Result<Vec<String>> = lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| match check_label(line) {
            Ok(()) => Ok(line.to_owned()),
            Err(what) => Err(Fault::usage(format!("{}: line {at}: {what}", files::name(path))).into()),
        })
        .collect();
    match labels?.as_slice() {
        [] => Err(Fault::usage(format!(
            "{} has no lines, expected one for each participant",
            files::name(path)
        ))
        .into()),
        labels => Ok(labels.to_vec()),
    }
}

/// The text of a file or of a pipe, which may not be endless.
fn read(path: &Path) -> Result<String> {
    let name = files::name(path);
    let unread = |e: std::io::Error| Fault::input_output(format!("cannot read {name}: {}", files::why(&e)));
    let mut bytes = vec![];
    let source: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => {
            let kind = std::fs::metadata(path).map_err(unread)?.file_type();
            if kind.is_dir() || files::is_device(kind) {
                let what =
                    format!("{name} is neither a file nor a pipe, expected a line for each participant");
                return Err(Fault::usage(what).into());
            }
            Box::new(std::fs::File::open(path).map_err(unread)?)
        }
    };
    source.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > LARGEST {
        let what = format!("{name} has more than {} MB, expected a line for each participant", LARGEST >> 20);
        return Err(Fault::usage(what).into());
    }
    String::from_utf8(bytes)
        .map_err(|_| Fault::input_output(format!("cannot read {name}: it is not UTF-8 text")).into())
}
