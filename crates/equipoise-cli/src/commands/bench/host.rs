//! The server that `equipoise bench server` measures, in a process of its own: so its memory, files and threads are not those of
//! the simulated people, and whatever ends the bench ends it.

use crate::args::Bench;
use crate::commands::serve;
use crate::files::Temporary;
use crate::json;
use anyhow::{Context as _, Result};
use equipoise_cohort::watchers::admit;
use equipoise_server::researcher::accounts::Accounts;
use equipoise_server::serve::{Options, Researching, study};
use equipoise_study::seams::{Clock as _, SystemClock};
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

/// What it says when requests are taken.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// Where participants come in, and researchers if any watch.
    pub address: SocketAddr,
    pub researchers: Option<SocketAddr>,
    /// The links of everybody who will come.
    pub tokens: Vec<String>,
    /// What a researcher's cookie says.
    pub cookie: String,
    /// The file of the log.
    pub log: PathBuf,
}

/// The other process. It ends with this.
#[derive(Debug)]
pub struct Hosted(Child);

impl Hosted {
    /// Starts this program again to serve what these arguments ask for.
    pub fn start(args: &Bench) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("where this program lies")?);
        command.args(["bench", "server", "--serving", "--template", &args.template]);
        command.args(["--participants", &args.people_at_once().to_string()]);
        command.args(["--watchers", &args.watchers.to_string(), "--think", &args.think.to_string()]);
        command.args(["--seconds", &args.seconds.to_string()]);
        if let Some(rate) = args.rate {
            command.args(["--rate", &rate.to_string()]);
        }
        if let Some(url) = &args.database {
            command.args(["--database", url]);
        }
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Ok(Self(spawned.context("cannot start the server")?))
    }

    /// What it says, once.
    pub fn told(&mut self) -> Result<Told> {
        let said = self.0.stdout.take().context("the server was asked twice")?;
        let mut documents = serde_json::Deserializer::from_reader(BufReader::new(said)).into_iter();
        let told: Option<serde_json::Result<Told>> = documents.next();
        told.context("the server did not start")?.context("the server did not start")
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        // It waits for the end of its input, and takes its files away then.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Serves until its input ends, however that comes: also where whoever started it was killed.
pub fn run(args: &Bench) -> Result<ExitCode> {
    crate::arenas::few();
    let directory = Temporary::new("bench")?;
    let service = serve::of_template(&directory, &args.template, args.database.clone(), |study| {
        if args.rate.is_some() {
            // Nobody is to be done before all rates have been tried.
            (study.checks.evaluation, study.stop.cap) = (1_000, 4);
        }
    })?;
    let seats = args.people_at_once() as usize;
    // Whoever is done is followed by somebody else: nobody is through all comparisons in less than ten times thinking.
    let after = (args.seconds / (10.0 * args.think)).ceil().min(1_000.0) as usize;
    // One more, for somebody hostile.
    let places = if args.rate.is_some() { seats } else { seats * (1 + after) + 1 };
    let tokens = service.invite(places)?.into_iter().map(|invitation| invitation.token).collect();
    let log = directory.path().join("log.sqlite");
    let local = Options { listen: ([127, 0, 0, 1], 0).into(), origin: None };
    let (researching, cookie) = match args.watchers {
        0 => (None, String::new()),
        _ => {
            let accounts = Accounts::open(&directory.path().join("accounts.sqlite"))?;
            let cookie = admit(&accounts, SystemClock.now())?;
            let (options, log) = (local.clone(), Some(log.clone()));
            (Some(Researching { options, accounts, log, draft: None }), cookie)
        }
    };
    let files = directory.path().to_owned();
    let told = |address, researchers| Told { address, researchers, tokens, cookie, log };
    study(service, &local, researching, |serving| {
        let researchers = serving.researchers.as_ref().map(|(_, address)| *address);
        json::write(&told(serving.address, researchers), &mut std::io::stdout().lock())?;
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut vec![]);
            let _ = std::fs::remove_dir_all(files);
            std::process::exit(0);
        });
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
