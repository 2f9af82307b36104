//! `equipoise invite`: links for participants.

use super::{Place, shown};
use crate::args::Global;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::Invitation;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make links for participants
#[derive(Debug, Args)]
#[command(after_help = "\
Each link is good for one participant, on any device, until the end. It is printed once and stored nowhere: the log \
holds a hash that does not lead back to it.

Examples:
  equipoise invite --study cancer --count 20 --out links.csv --url https://study.example.org")]
pub struct Invite {
    #[command(flatten)]
    place: Place,
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
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
    let desk = args.place.desk(design)?;
    let invitations = desk.invite(args.count as usize)?;
    let link = |invitation: &Invitation| equipoise_server::participant::link(&args.url, &invitation.token);
    if let Some(path) = &args.out {
        let rows: String = invitations.iter().map(|i| format!("{},{}\n", i.number, link(i))).collect();
        files::write(path, &format!("participant,link\n{rows}"))?;
    }
    let mut out = std::io::stdout().lock();
    match (&args.out, global.json) {
        (_, true) => {
            let links: Vec<_> =
                invitations.iter().map(|i| json!({"participant": i.number, "link": link(i)})).collect();
            json::write(&json!({"format": 1, "links": links}), &mut out)?;
        }
        (Some(path), false) => writeln!(out, "Wrote {} links to {}.", invitations.len(), shown(path))?,
        (None, false) => {
            for invitation in &invitations {
                writeln!(out, "{:>5}  {}", invitation.number, link(invitation))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
