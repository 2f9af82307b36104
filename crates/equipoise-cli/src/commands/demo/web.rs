//! `equipoise demo --web`: the ready-made cancer study in a browser.

use crate::args::{Demo, Global};
use crate::commands::serve;
use crate::files::Temporary;
use crate::json;
use anyhow::{Context as _, Result};
use equipoise_server::serve::{Options, participants};
use serde::Serialize;
use std::io::Write as _;
use std::process::ExitCode;

/// What `--json` prints when requests are taken.
#[derive(Serialize)]
struct Document {
    format: u64,
    link: String,
}

/// Serves the study on a log that is thrown away at the end.
pub fn run(args: &Demo, global: &Global) -> Result<ExitCode> {
    let directory = Temporary::new("demo")?;
    let desk = serve::ready_made(&directory)?;
    let invitation = desk.invite(1)?.remove(0);
    let options = Options { listen: ([127, 0, 0, 1], args.port).into(), origin: None };
    participants(desk, &options, |state, _| {
        let link = state.link(&invitation.token);
        let mut out = std::io::stdout().lock();
        if global.json {
            json::write(&Document { format: equipoise::FORMAT, link }, &mut out)?;
        } else if global.quiet {
            writeln!(out, "{link}")?;
        } else {
            writeln!(
                out,
                "A study about cancer screening is waiting for you. Open this link in a browser:\n"
            )?;
            writeln!(out, "  {link}\n")?;
            writeln!(out, "Answers go into a database that is deleted at the end. Ctrl-C ends it.")?;
        }
        out.flush()
    })
    .with_context(|| format!("cannot listen on port {}", args.port))?;
    Ok(ExitCode::SUCCESS)
}
