//! `equipoise serve`: a study for its participants, over the web.

use crate::args::{Global, Serve};
use crate::commands::study::Place;
use crate::files::Temporary;
use crate::json;
use anyhow::{Context as _, Result};
use equipoise_server::serve::{Options, participants};
use equipoise_study::{Design, Desk, Study, template};
use serde::Serialize;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the command.
pub fn run(args: &Serve, global: &Global) -> Result<ExitCode> {
    let place = Place::at(args.directory.clone());
    let design = place.locked()?;
    let name = design.study().name.clone();
    let desk = place.desk(design)?;
    let invitations = desk.invite(args.invite)?;
    let options = Options { listen: args.listen, origin: args.origin.clone() };
    participants(desk, &options, |state, address| {
        let links: Vec<String> = invitations.iter().map(|invitation| state.link(&invitation.token)).collect();
        announce(&name, address, &links, global)
    })
    .with_context(|| format!("cannot listen on {}", args.listen))?;
    Ok(ExitCode::SUCCESS)
}

/// The ready-made cancer study on a log in a directory that will be thrown away.
pub fn ready_made(directory: &Temporary) -> Result<Desk> {
    let template = template::find("binary-cancer").context("the template of the cancer study")?;
    let design = Design::new(Study::parse(template.text)?, directory.path())?;
    Place::at(directory.path().to_owned()).desk(Arc::new(design))
}

/// What `--json` prints when requests are taken.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    study: &'a str,
    address: SocketAddr,
    links: &'a [String],
}

fn announce(study: &str, address: SocketAddr, links: &[String], global: &Global) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&Document { format: equipoise::FORMAT, study, address, links }, &mut out)?;
        return out.flush();
    }
    if !global.quiet {
        writeln!(out, "Serving {study} to participants at http://{address}")?;
        if links.is_empty() {
            writeln!(out, "People come in with the links they were sent; --invite N makes new ones.")?;
        }
    }
    for link in links {
        writeln!(out, "{link}")?;
    }
    if !global.quiet {
        writeln!(out, "Ctrl-C stops it; every acknowledged answer is on disk.")?;
    }
    out.flush()
}
