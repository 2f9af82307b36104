//! `equipoise demo --web`: the ready-made cancer study in a browser, for a participant and for a researcher.

use crate::args::{Demo, Global};
use crate::commands::serve;
use crate::files::Temporary;
use crate::json;
use anyhow::Result;
use equipoise_server::researcher::accounts::{Accounts, Role};
use equipoise_server::serve::{Options, Researching, study};
use equipoise_study::seams::{Clock as _, Random as _, SystemClock, SystemRandom};
use serde::Serialize;
use std::io::Write as _;
use std::process::ExitCode;

/// The account of the demo.
const NAME: &str = "demo";

/// What `--json` prints when requests are taken.
#[derive(Serialize)]
struct Document {
    format: u64,
    link: String,
    researchers: Access,
}

/// How a researcher comes in.
#[derive(Serialize)]
struct Access {
    link: String,
    name: &'static str,
    password: String,
}

/// Serves the study on a log that is thrown away at the end.
pub fn run(args: &Demo, global: &Global) -> Result<ExitCode> {
    let directory = Temporary::new("demo")?;
    let service = serve::ready_made(&directory)?;
    let invitation = service.invite(1)?.remove(0);
    let accounts = Accounts::open(&directory.path().join("accounts.sqlite"))?;
    let password = password()?;
    accounts.add(NAME, Role::Owner, &password, SystemClock.now())?;
    let local = |port: u16| Options { listen: ([127, 0, 0, 1], port).into(), origin: None };
    let researching = Researching {
        options: local(0),
        accounts,
        log: Some(directory.path().join("log.sqlite")),
        draft: None,
    };
    study(service, &local(args.port), Some(researching), |serving| {
        let link = serving.participants.link(&invitation.token);
        let origin = serving.researchers.as_ref().map_or(String::new(), |(origin, _)| origin.clone());
        let mut out = std::io::stdout().lock();
        if global.json {
            let researchers = Access { link: origin, name: NAME, password: password.clone() };
            json::write(&Document { format: equipoise::FORMAT, link, researchers }, &mut out)?;
        } else if global.quiet {
            writeln!(out, "{link}")?;
        } else {
            writeln!(
                out,
                "A study about cancer screening is waiting for you. Open this link in a browser:\n"
            )?;
            writeln!(out, "  {link}\n")?;
            writeln!(out, "Watch it as a researcher, in another window:\n")?;
            writeln!(out, "  {origin}   name {NAME}   password {password}\n")?;
            writeln!(out, "Answers go into a database that is deleted at the end. Ctrl-C ends it.")?;
        }
        out.flush()
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Good for this run only.
fn password() -> Result<String> {
    let mut bytes = [0; 8];
    SystemRandom.fill(&mut bytes)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join("-"))
}
