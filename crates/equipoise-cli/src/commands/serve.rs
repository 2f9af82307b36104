//! `equipoise study serve`: a study over the web, for its participants and for researchers.

use crate::args::{Global, Serve};
use crate::commands::study::Place;
use crate::fault::Fault;
use crate::files::{self, Temporary};
use crate::json;
use anyhow::{Context as _, Result};
use equipoise_server::researcher::draft::Remake;
use equipoise_server::serve::{Options, Researching, Serving, study};
use equipoise_study::{Design, Service, Study, template};
use serde::Serialize;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the command.
pub fn run(args: &Serve, global: &Global) -> Result<ExitCode> {
    crate::arenas::few();
    let place = &args.place;
    // Researchers may change a study that was never locked; nobody takes part in it. Of one in a database, other servers have
    // files of their own, which would stay as they are.
    let draft =
        args.researchers.is_some() && args.invite == 0 && !place.is_in_database() && place.is_draft()?;
    let design = if draft { place.design()? } else { place.locked()? };
    let name = design.study().name.clone();
    let mut researching = args.researchers.map(|listen| researching(args, place, listen)).transpose()?;
    // Only where a panel passes something along could an older release have written it into the log.
    let panel = !design.study().completion.parameters.is_empty() || design.study().panel.is_some();
    let service = place.service_to_serve(design)?;
    if let (true, Some(researching)) = (draft, &mut researching) {
        let (files, writer, place) = (place.files()?, service.writer().clone(), place.clone());
        let remake = move |design: Arc<Design>| place.service_by(design, writer.clone());
        researching.draft = Some((files, Remake::new(remake)));
    }
    if panel || service.contacts().exist() {
        // Better no study than one that loses whom it asks.
        service.contacts().check()?;
        service.tidy_contacts()?;
    }
    service.finish_withdrawals()?;
    let sealed = args.origin.as_ref().is_some_and(|origin| origin.starts_with("https://"));
    if !args.listen.ip().is_loopback() && !sealed {
        eprintln!(
            "warning: participants come to {} without TLS: whoever is on the way can read and change what they send; put \
             a proxy with TLS before it and say so with --origin https://...",
            args.listen
        );
    }
    let options = Options { listen: args.listen, origin: args.origin.clone() };
    study(service, &options, researching, |serving| {
        // Not before requests can be taken: links that were made are told once.
        let links = serving.participants.invite(args.invite).map_err(std::io::Error::other)?;
        announce((&name, draft), serving, &links, global)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The researchers' side; refused where passwords would go over a network in the clear, or nobody could sign in.
fn researching(args: &Serve, place: &Place, listen: SocketAddr) -> Result<Researching> {
    let origin = args.researchers_origin.clone();
    let sealed = origin.as_ref().is_some_and(|origin| origin.starts_with("https://"));
    if !listen.ip().is_loopback() && !sealed {
        let what = format!(
            "--researchers {listen} can be reached from elsewhere, expected an address of this computer such as \
             127.0.0.1:8081, or a proxy with TLS: --researchers-origin https://..."
        );
        return Err(Fault::usage(what).into());
    }
    let accounts = place.accounts()?;
    if accounts.list()?.is_empty() {
        let what = format!(
            "nobody could sign in: there are no accounts; make one with: equipoise study account add {} NAME --role owner",
            place.word()
        );
        return Err(Fault::usage(what).into());
    }
    // How much room a database has is its own business.
    let log = (!place.is_in_database()).then(|| place.log());
    Ok(Researching { options: Options { listen, origin }, accounts, log, draft: None })
}

/// The ready-made cancer study on a log in a directory that will be thrown away.
pub fn ready_made(directory: &Temporary) -> Result<Service> {
    of_template(directory, "binary-cancer", None, |_| {})
}

/// A ready-made study, changed a little, in the same way, or with its log in a database.
pub fn of_template(
    directory: &Temporary,
    name: &str,
    database: Option<String>,
    change: impl FnOnce(&mut Study),
) -> Result<Service> {
    let template = template::find(name).context("a template that is not there")?;
    files::write(&directory.path().join(template.table.0), template.table.1)?;
    let mut study = Study::parse(template.text)?;
    change(&mut study);
    let design = Design::new(study, directory.path())?;
    Place::with(directory.path().to_owned(), database).service(Arc::new(design))
}

/// What `--json` prints when requests are taken.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    study: &'a str,
    address: SocketAddr,
    links: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    join: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    researchers: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    draft: bool,
}

fn announce(
    (study, draft): (&str, bool),
    serving: &Serving<'_>,
    links: &[String],
    global: &Global,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let researchers = serving.researchers.as_ref().map(|(origin, _)| origin.as_str());
    let address = serving.address;
    let join = serving.participants.panel_address();
    if global.json {
        let join = join.as_deref();
        let document =
            Document { format: equipoise::FORMAT, study, address, links, join, researchers, draft };
        json::write(&document, &mut out)?;
        return out.flush();
    }
    if !global.quiet {
        writeln!(out, "Serving {study} to participants at http://{address}")?;
        match researchers {
            Some(origin) => writeln!(out, "Researchers sign in at {origin}")?,
            None => writeln!(out, "Researchers' pages are closed; --researchers 127.0.0.1:8081 opens them.")?,
        }
        if draft {
            writeln!(
                out,
                "The study is not locked: an owner can edit and lock it in Design, then people can take part."
            )?;
        } else if let Some(join) = &join {
            writeln!(out, "The panel sends people to {join}")?;
        } else if links.is_empty() {
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
