//! `equipoise bench scale`: a study that many have taken, and what it costs to serve, watch, report and copy it.

use crate::args::{Bench, Global};
use crate::commands::study::Place;
use crate::fault::FINDING;
use crate::files::Temporary;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result, bail};
use equipoise_cohort::crowd::{crowd, page, visit};
use equipoise_cohort::load;
use equipoise_cohort::watchers::admit;
use equipoise_server::researcher::accounts::Accounts;
use equipoise_study::seams::{Clock as _, SystemClock};
use serde::Serialize;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// People who answer while backups are made, and how long each thinks.
const ANSWERING: usize = 50;
const THINK: Duration = Duration::from_millis(500);
/// Backups of either kind; the one in the middle counts.
const BACKUPS: usize = 5;
/// Nothing is waited for any longer.
const PATIENCE: Duration = Duration::from_secs(600);

/// What was promised about something, and what was found.
#[derive(Debug, Serialize)]
struct Found {
    what: &'static str,
    found: f64,
    unit: &'static str,
    /// At most; nothing where nothing was promised.
    promised: Option<f64>,
}

impl Found {
    fn holds(&self) -> bool {
        self.promised.is_none_or(|promised| self.found <= promised)
    }
}

#[derive(Debug, Serialize)]
struct Document {
    format: u64,
    participants: u32,
    rows: u64,
    found: Vec<Found>,
    holds: bool,
}

/// Runs the command.
pub fn run(args: &Bench, global: &Global) -> Result<ExitCode> {
    let people = args.people_of_crowd();
    let directory = Temporary::new("scale")?;
    let study = directory.path().join("study");
    itself(&["study", "new", "--template", &args.template, "--quiet"], &study, false)?;
    itself(&["study", "lock", "--quiet"], &study, false)?;
    let place = Place::at(study.clone());
    let seed = global.seed.unwrap_or_else(super::fresh_seed);
    let service = place.service(place.locked()?)?;
    let mut found = vec![];
    let size = std::env::current_exe().and_then(std::fs::metadata)?.len() as f64 / 1e6;
    found.push(Found { what: "this program", found: size, unit: "MB", promised: Some(30.0) });
    let alone = serve(&study)?;
    found.push(Found {
        what: "start, nobody there yet",
        found: alone.started,
        unit: "s",
        promised: Some(0.2),
    });
    drop(alone);
    let tokens = crowd(&service, people as usize, seed)?;
    let answering = service.invite(BACKUPS * ANSWERING)?.into_iter().map(|invitation| invitation.token);
    let mut answering: Vec<String> = answering.collect();
    let rows = service.writer().reader()?.head()?.position;
    drop(service);
    let accounts = Accounts::open(&study.join("accounts.sqlite"))?;
    let cookie = admit(&accounts, SystemClock.now())?;
    drop(accounts);
    let mut tell = |what, value: f64, unit, promised| {
        if global.shows_progress() {
            eprintln!("{what}: {value:.2} {unit}");
        }
        found.push(Found { what, found: value, unit, promised });
    };
    let server = serve(&study)?;
    tell("start, all of them there", server.started, "s", Some(2.0));
    let (first, _) = page(server.researchers, &cookie, "/participants", PATIENCE)?;
    tell("the first page of an owner", first.as_secs_f64(), "s", Some(1.0));
    let begun = Instant::now();
    itself(&["study", "watch", "--quiet"], &study, false)?;
    tell("equipoise study watch", begun.elapsed().as_secs_f64(), "s", Some(1.0));
    let shown = visit(server.address, &tokens, 8)?;
    if shown < tokens.len() {
        bail!("{} of {} people were shown no page", tokens.len() - shown, tokens.len());
    }
    tell("memory after everybody has looked", server.memory("VmRSS:")?, "MB", Some(200.0));
    // Before anybody else answers: it is of so many people.
    let (report, text) = page(server.researchers, &cookie, "/export/report.html", PATIENCE)?;
    if !text.contains("</html>") {
        bail!("the report is not a whole page");
    }
    let promised = [(200, 2.0), (1_000, 8.0), (10_000, 90.0)];
    let promised = promised.iter().find(|(most, _)| people <= *most).map(|(_, seconds)| *seconds);
    tell("the report", report.as_secs_f64(), "s", promised);
    if args.template == "binary-cancer" {
        let idle = backups(&study, &directory, "idle", || Ok(()))?;
        tell("backup", idle, "s", Some(5.0_f64.max(5.0 * rows as f64 / 1e6)));
        let busy = backups(&study, &directory, "busy", {
            let (address, answering) = (server.address, &mut answering);
            move || {
                let some = answering.split_off(answering.len() - ANSWERING);
                std::thread::spawn(move || {
                    load(address, some, THINK, Duration::ZERO, Duration::from_secs(8))
                });
                // Until they compare.
                std::thread::sleep(Duration::from_secs(3));
                Ok(())
            }
        })?;
        tell("backup while 50 people answer", busy, "s", Some(2.0 * idle));
    }
    tell("memory at most, the report included", server.memory("VmHWM:")?, "MB", Some(500.0));
    drop(server);
    let holds = found.iter().all(Found::holds);
    let document = Document { format: equipoise::FORMAT, participants: people, rows, found, holds };
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&document, &mut out)?;
    } else {
        print(&document, &mut out)?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

fn print(document: &Document, out: &mut impl std::io::Write) -> Result<()> {
    let Document { participants, rows, .. } = document;
    writeln!(out, "A study that {participants} simulated people have taken, {rows} rows\n")?;
    let mut table = Table::new(Terminal::detect(), ["", "promised", "found", "holds"]);
    for found in &document.found {
        let number = |value: f64| match found.unit {
            "MB" => format!("{value:.0} MB"),
            unit => format!("{value:.2} {unit}"),
        };
        table.row([
            found.what.to_owned(),
            found.promised.map_or(String::new(), |promised| format!("at most {}", number(promised))),
            number(found.found),
            if found.holds() { "yes" } else { "no" }.to_owned(),
        ]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

/// Runs this command again, for something else.
fn itself(arguments: &[&str], last: &Path, json: bool) -> Result<Vec<u8>> {
    let exe = std::env::current_exe().context("where this program is")?;
    let mut command = Command::new(exe);
    command.args(arguments).arg(last);
    if json {
        command.arg("--json");
    }
    let done = command.stdin(Stdio::null()).output().context("the command could not be run")?;
    if !done.status.success() {
        bail!("equipoise {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(done.stdout)
}

/// The time of the backup in the middle, each after something else.
fn backups(
    study: &Path,
    directory: &Temporary,
    name: &str,
    mut before: impl FnMut() -> Result<()>,
) -> Result<f64> {
    let mut times = vec![];
    for n in 0..BACKUPS {
        let to = directory.path().join(format!("{name}-{n}.sqlite"));
        before()?;
        let begun = Instant::now();
        itself(&["study", "backup", &study.to_string_lossy()], &to, false)?;
        times.push(begun.elapsed().as_secs_f64());
        std::fs::remove_file(to)?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times[BACKUPS / 2])
}

/// A server in a process of its own, until it is dropped.
struct Served {
    child: Child,
    address: SocketAddr,
    researchers: SocketAddr,
    /// Seconds until it took requests.
    started: f64,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// In MB, where the system tells.
    fn memory(&self, which: &str) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .context("this system does not tell how much memory a process has")?;
        let line = status.lines().find_map(|line| line.strip_prefix(which)).context("no such memory")?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1e3)
    }
}

fn serve(study: &Path) -> Result<Served> {
    #[derive(serde::Deserialize)]
    struct Announced {
        address: SocketAddr,
        researchers: Option<String>,
    }
    let exe = std::env::current_exe().context("where this program is")?;
    let begun = Instant::now();
    let mut command = Command::new(exe);
    command.args(["study", "serve"]).arg(study).args(["--json", "--listen", "127.0.0.1:0"]);
    if study.join("accounts.sqlite").exists() {
        command.args(["--researchers", "127.0.0.1:0"]);
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut out = BufReader::new(child.stdout.take().context("the server says nothing")?);
    let (mut text, mut announced) = (String::new(), None);
    while announced.is_none() && out.read_line(&mut text)? > 0 {
        announced = serde_json::from_str::<Announced>(&text).ok();
    }
    let started = begun.elapsed().as_secs_f64();
    let Some(Announced { address, researchers }) = announced else {
        let _ = child.kill();
        bail!("the server did not start");
    };
    let own = researchers.and_then(|origin| origin.strip_prefix("http://")?.parse().ok());
    Ok(Served { child, address, researchers: own.unwrap_or(address), started })
}
