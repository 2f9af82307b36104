//! `equipoise serve`: a study for its participants, over the web.

use crate::args::{Global, Serve};
use crate::{files, json};
use anyhow::{Context as _, Result};
use equipoise_server::serve::{Options, participants};
use equipoise_study::log::{SqliteStore, Writer};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Desk, Study};
use serde::Serialize;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the command.
pub fn run(args: &Serve, global: &Global) -> Result<ExitCode> {
    let path = args.directory.join("study.toml");
    let study = Study::parse(&files::read(&path)?).with_context(|| files::name(&path))?;
    let name = study.name.clone();
    let desk = open(study, &args.directory)?;
    let invitations = desk.invite(args.invite)?;
    let options = Options { listen: args.listen, origin: args.origin.clone() };
    participants(desk, &options, |state, address| {
        let links: Vec<String> = invitations.iter().map(|invitation| state.link(&invitation.token)).collect();
        announce(&name, address, &links, global)
    })
    .with_context(|| format!("cannot listen on {}", args.listen))?;
    Ok(ExitCode::SUCCESS)
}

/// The study with its log, which is made if it is not there.
pub fn open(study: Study, directory: &Path) -> Result<Desk> {
    let design = Arc::new(Design::new(study, directory)?);
    let store = SqliteStore::open(directory.join("log.sqlite"))?;
    Ok(Desk::new(design, Writer::start(store), SystemClock, SystemRandom))
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
