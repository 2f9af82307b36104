//! `equipoise study`: studies with people, one file for each command.
//!
//! A study is a directory: `study.toml`, its data, `study.lock` once it is locked, and `log.sqlite`, which holds all that
//! ever happened. Who participants are is apart, in `contacts.sqlite` with `contacts.key`.

mod check;
mod contacts;
mod erase;
mod export;
mod invite;
mod lock;
mod new;
mod person;
mod processing;
mod report;
mod retain;
mod safe;
mod verify;
mod watch;

use crate::args::{Account, Global, PlanStudy, Serve};
use crate::fault::Fault;
use crate::files;
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use equipoise_log::{SqliteStore, Why, Writer};
use equipoise_server::researcher::accounts::Accounts;
use equipoise_study::apart::Apart;
use equipoise_study::contacts::Contacts;
use equipoise_study::event::{Action, Admin};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Participant, Service, Study, audit, people};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// How the audit log calls whoever uses a command.
pub const HERE: &str = "command line";

/// Ask people over the web: `equipoise study VERB DIR`, from a template to the report
#[derive(Debug, Args)]
#[command(after_help = "\
DIR is the directory of the study, first after the verb in every command. Begin with

  equipoise study new cancer
  equipoise study check cancer
  equipoise study lock cancer
  equipoise study serve cancer --invite 1")]
pub struct Group {
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of a study.
#[derive(Debug, Subcommand)]
pub enum Command {
    New(new::New),
    Check(check::Check),
    Plan(PlanStudy),
    Lock(lock::Lock),
    Serve(Serve),
    Account(Account),
    Invite(invite::Invite),
    Watch(watch::Watch),
    Export(export::Export),
    Report(report::Report),
    Verify(verify::Verify),
    Backup(safe::Backup),
    Restore(safe::Restore),
    Erase(erase::Erase),
    ExportPerson(person::ExportPerson),
    Contacts(contacts::Contacts),
    Retain(retain::Retain),
    Processing(processing::Processing),
}

/// Runs a command.
pub fn run(command: &Command, global: &Global) -> Result<ExitCode> {
    match command {
        Command::New(args) => new::run(args, global),
        Command::Check(args) => check::run(args, global),
        Command::Plan(args) => super::plan::run_study(args, global),
        Command::Lock(args) => lock::run(args, global),
        Command::Serve(args) => super::serve::run(args, global),
        Command::Account(args) => super::account::run(args, global),
        Command::Invite(args) => invite::run(args, global),
        Command::Watch(args) => watch::run(args, global),
        Command::Export(args) => export::run(args, global),
        Command::Report(args) => report::run(args, global),
        Command::Verify(args) => verify::run(args, global),
        Command::Backup(args) => safe::backup(args, global),
        Command::Restore(args) => safe::restore(args, global),
        Command::Erase(args) => erase::run(args, global),
        Command::ExportPerson(args) => person::run(args, global),
        Command::Contacts(args) => contacts::run(args, global),
        Command::Retain(args) => retain::run(args, global),
        Command::Processing(args) => processing::run(args, global),
    }
}

/// Where the study is.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// The directory of the study
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// The most a study file may have, in bytes.
const LARGEST_STUDY: u64 = 4 << 20;

/// What `study.lock` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Locked {
    format: u64,
    version: u64,
    hash: String,
}

impl Place {
    /// A directory.
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// The directory as it is typed, for commands that can be pasted.
    pub fn word(&self) -> String {
        files::word(&self.directory)
    }

    /// Where the log is.
    pub fn log(&self) -> PathBuf {
        self.path("log.sqlite")
    }

    /// Who may look at the study. The directory must have a study in it.
    pub fn accounts(&self) -> Result<Accounts> {
        let path = self.path("study.toml");
        if !path.is_file() {
            return Err(Fault::input_output(format!("there is no study at {}", files::name(&path))).into());
        }
        Ok(Accounts::open(&self.path("accounts.sqlite"))?)
    }

    /// The study with its data.
    pub fn design(&self) -> Result<Arc<Design>> {
        let path = self.path("study.toml");
        if !path.exists() {
            return Err(nothing_at(&path, "study").into());
        }
        // A link may lead to a device that never ends, and a study of the longest texts has some hundred kilobytes.
        if path.metadata().is_ok_and(|is| !is.is_file() || is.len() > LARGEST_STUDY) {
            let what = format!(
                "{} is no study, expected a file of at most {} MB",
                files::name(&path),
                LARGEST_STUDY >> 20
            );
            return Err(Fault::input_output(what).into());
        }
        let text = files::read_text(&path, "a study")?;
        let study = Study::parse(&text).with_context(|| files::name(&path))?;
        let program = std::env::current_exe().context("where this program lies")?;
        let design = Design::read_by(&Apart::new(program), study, &self.directory);
        Ok(Arc::new(design.with_context(|| files::name(&path))?))
    }

    /// The lock, if there is one.
    fn lock(&self) -> Result<Option<Locked>> {
        let path = self.path("study.lock");
        if !path.exists() {
            return Ok(None);
        }
        let text = files::read(&path)?;
        let lock = serde_json::from_str(&text);
        Ok(Some(lock.map_err(|e| Fault::input_output(format!("{} is not a lock: {e}", files::name(&path))))?))
    }

    /// The last lock the log knows of, if there is a log.
    fn logged_lock(&self) -> Result<Option<Locked>> {
        if !self.log().exists() {
            return Ok(None);
        }
        let locks = audit::locks(&SqliteStore::open_to_read(self.log())?)?;
        Ok(locks.into_iter().max_by_key(|(version, _)| *version).map(|(version, hash)| Locked {
            format: 1,
            version,
            hash,
        }))
    }

    /// The study as it was locked.
    pub fn locked(&self) -> Result<Arc<Design>> {
        let design = self.design()?;
        let Some(lock) = self.lock()? else {
            let what =
                format!("the study is not locked yet; do it with: equipoise study lock {}", self.word());
            return Err(Fault::usage(what).into());
        };
        for lock in std::iter::once(lock).chain(self.logged_lock()?) {
            if lock.hash != design.hash() {
                return Err(changed(self, &lock, &design).into());
            }
        }
        Ok(design)
    }

    /// The log, which must be there.
    fn store(&self) -> Result<SqliteStore> {
        let log = self.log();
        if !log.exists() {
            return Err(nothing_at(&log, "log").into());
        }
        Ok(SqliteStore::open_existing(log)?)
    }

    /// The log, which must be there, to read it; nothing needs to be writable.
    fn store_to_read(&self) -> Result<SqliteStore> {
        match self.store() {
            Err(error) if unwritable(&error) => Ok(SqliteStore::open_to_read(self.log())?),
            opened => opened,
        }
    }

    /// The log for somebody who looks at it, which is written down first (RS-07).
    ///
    /// Where nothing can be written, nothing is: whoever may read the file needs no command to do so.
    fn look(&self, action: Action) -> Result<SqliteStore> {
        let mut store = match self.store() {
            Err(error) if unwritable(&error) => return self.store_to_read(),
            opened => opened?,
        };
        let admin = Admin::new(HERE, action);
        audit::look(&mut store, admin, &SystemClock, &SystemRandom)?;
        Ok(store)
    }

    /// The log for somebody who wants results; refused while they are hidden, unless they say that they want them all the
    /// same, which is written down.
    fn results(&self, unblinded: bool, action: impl FnOnce(&str) -> Action) -> Result<SqliteStore> {
        let blinded = audit::blinded(&self.store_to_read()?)?;
        if blinded && !unblinded {
            let what = "the study is blinded, so results are hidden; an owner can end that in Settings, or add \
                        --unblinded, which is written to the audit log";
            return Err(Fault::usage(what).into());
        }
        self.look(action(if blinded { ", unblinded" } else { "" }))
    }

    /// Writes down what was done.
    fn note(&self, store: &mut SqliteStore, action: Action) -> Result<()> {
        let admin = Admin::new(HERE, action);
        audit::note(store, admin, &SystemClock, &SystemRandom)?;
        Ok(())
    }

    /// A service on the study's log, which is begun if it is not there.
    pub fn service(&self, design: Arc<Design>) -> Result<Service> {
        Ok(self.service_on(design, SqliteStore::open(self.log())?))
    }

    /// A service for the one server of the study, on a log that agrees with itself.
    pub fn service_to_serve(&self, design: Arc<Design>) -> Result<Service> {
        let store = SqliteStore::open(self.log())?.serving()?;
        equipoise_study::verify_of(&store, design.study())?;
        Ok(self.service_on(design, store))
    }

    fn service_on(&self, design: Arc<Design>, store: SqliteStore) -> Service {
        Service::new(design, Writer::start(store), SystemClock, SystemRandom)
            .with_contacts(Contacts::beside(&self.directory))
    }
}

/// What to say about a file that is not there.
fn nothing_at(path: &Path, what: &str) -> Fault {
    Fault::input_output(format!("cannot read {}: there is no {what}", files::name(path)))
}

/// A participant by number.
fn participant(design: &Arc<Design>, store: &SqliteStore, number: u64) -> Result<Participant> {
    let found = people::participant(design, store, number)?;
    Ok(found.ok_or_else(|| Fault::usage(format!("there is no participant {number}")))?)
}

/// What to do about a study that changed after it was locked.
fn changed(place: &Place, lock: &Locked, design: &Design) -> Fault {
    let found = design.study().version;
    let what = if found > lock.version {
        format!(
            "version {found} of the study is not locked yet; do it with: equipoise study lock {}",
            place.word()
        )
    } else {
        let next = lock.version + 1;
        format!(
            "the study changed after version {} was locked; set version = {next} and lock it",
            lock.version
        )
    };
    Fault::usage(what)
}

fn unwritable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<equipoise_log::Error>().and_then(|error| error.why()) == Some(Why::Unwritable)
}

/// A path as text prints it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
