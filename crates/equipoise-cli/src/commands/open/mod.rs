//! `equipoise open`: a table in the browser, from its columns to a metric and the models in its order.

mod asked;
mod done;
mod loaded;
mod session;

use crate::args::{Global, Open};
use crate::files::Temporary;
use crate::json;
use anyhow::Result;
use serde::Serialize;
use session::Session;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

/// What `--json` prints when requests are taken.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    link: &'a str,
}

/// Runs the command.
pub fn run(args: &Open, global: &Global) -> Result<ExitCode> {
    let private = Temporary::new("open")?;
    let mut session = Session::new(args, global, private.path())?;
    if let Some(table) = &args.table {
        session.begin_with(table, &args.columns)?;
    }
    equipoise_server::serve::table(args.port, session, |link| {
        let opened = !args.no_browser && show(link);
        announce(link, opened, global)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn announce(link: &str, opened: bool, global: &Global) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&Document { format: equipoise::FORMAT, link }, &mut out)?;
    } else if global.quiet {
        writeln!(out, "{link}")?;
    } else {
        let what = if opened { "The page is open in your browser" } else { "Open this link in a browser" };
        writeln!(out, "{what}:\n\n  {link}\n")?;
        writeln!(out, "Nothing leaves this computer. Ctrl-C ends it.")?;
    }
    out.flush()
}

/// Opens a link in the default browser; `false` where there is no screen to open it on, or nobody who does.
fn show(link: &str) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let (program, words): (&str, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[]),
        () if cfg!(windows) => ("cmd", &["/C", "start", ""]),
        () if set("DISPLAY") || set("WAYLAND_DISPLAY") => ("xdg-open", &[]),
        () => return false,
    };
    let mut command = Command::new(program);
    command.args(words).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // Some of these stay as long as the browser does.
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    }
}
