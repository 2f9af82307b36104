//! `equipoise study`: studies with people, one file for each command.
//!
//! A study is a directory: `study.toml`, its data, `study.lock` once it is locked, and `log.sqlite`, which holds all that
//! ever happened. Who participants are is apart, in `contacts.sqlite` with `contacts.key`. With `--database`, log, accounts and
//! contact data are in a database instead.

mod check;
mod contacts;
mod database;
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
use equipoise_log::{Reader, SqliteStore, Store, Why, Writer};
use equipoise_server::researcher::accounts::Accounts;
use equipoise_study::apart::Apart;
use equipoise_study::contacts::Contacts;
use equipoise_study::directory::{Directory, Locked, STUDY};
use equipoise_study::event::{Action, Admin};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Participant, Service, audit, people};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// What to say while files of the log may still hold what was erased.
const UNFINISHED: &str =
    "Somebody reads the log, so its files may still hold what was erased; let them end, and do this again.";

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
    /// The PostgreSQL database that holds log, accounts and contact data, such as postgres://equipoise@127.0.0.1/study
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

impl Place {
    /// A directory.
    pub fn at(directory: PathBuf) -> Self {
        Self::with(directory, None)
    }

    /// A directory, and a database if the log is in one.
    pub fn with(directory: PathBuf, database: Option<String>) -> Self {
        Self { directory, database }
    }

    /// Whether the study's log is in a database.
    pub fn is_in_database(&self) -> bool {
        self.database.is_some()
    }

    /// A file that a command was told to write. Not one of the study's own: it would be lost, and the study with it.
    pub fn output<'a>(&self, path: &'a Path) -> Result<Output<'a>> {
        if self.files()?.keeps(path) {
            let what = format!("{} is a file of the study, expected another name", files::name(path));
            return Err(Fault::usage(what).into());
        }
        Ok(Output(path))
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
        let path = self.path(STUDY);
        if !path.is_file() {
            return Err(Fault::input_output(format!("there is no study at {}", files::name(&path))).into());
        }
        match &self.database {
            Some(url) => {
                // Not those of another study.
                self.logged_lock()?;
                database::accounts(url)
            }
            None => Ok(Accounts::open(&self.path("accounts.sqlite"))?),
        }
    }

    /// Its files, whose tables are read by a process of their own.
    pub fn files(&self) -> Result<Directory> {
        let program = std::env::current_exe().context("where this program lies")?;
        Ok(Directory::new(self.directory.clone(), Apart::new(program)))
    }

    /// The study with its data.
    pub fn design(&self) -> Result<Arc<Design>> {
        let (files, path) = (self.files()?, self.path(STUDY));
        let design = files.design_of(&files.text()?);
        Ok(Arc::new(design.with_context(|| files::name(&path))?))
    }

    /// Whether the study was never locked, so that its file may still be changed.
    pub fn is_draft(&self) -> Result<bool> {
        Ok(self.files()?.lock()?.is_none() && self.logged_lock()?.is_none())
    }

    /// The last lock the log knows of, if there is a log.
    fn logged_lock(&self) -> Result<Option<Locked>> {
        let store: Box<dyn Store> = match &self.database {
            Some(url) => match database::begun(url)? {
                Some(store) => self.own(store)?,
                None => return Ok(None),
            },
            None if !self.log().exists() => return Ok(None),
            None => Box::new(SqliteStore::open_to_read(self.log())?),
        };
        let locks = audit::locks(&*store)?;
        Ok(locks.into_iter().max_by_key(|(version, _)| *version).map(|(version, hash)| Locked {
            format: 1,
            version,
            hash,
        }))
    }

    /// The study as it was locked.
    pub fn locked(&self) -> Result<Arc<Design>> {
        let design = self.design()?;
        let Some(lock) = self.files()?.lock()? else {
            return Err(self.unlocked().into());
        };
        for lock in std::iter::once(lock).chain(self.logged_lock()?) {
            if lock.hash != design.hash() {
                return Err(changed(self, &lock, &design));
            }
        }
        Ok(design)
    }

    fn unlocked(&self) -> Fault {
        Fault::usage(format!("the study is not locked yet; do it with: equipoise study lock {}", self.word()))
    }

    /// What to say of a study that changed after its version was locked, if it did.
    pub fn changed_after_lock(&self, design: &Design) -> Result<Option<String>> {
        let locks = self.files()?.lock()?.into_iter().chain(self.logged_lock()?);
        let of_version = locks.into_iter().filter(|lock| lock.version == design.study().version);
        let other = of_version.into_iter().find(|lock| lock.hash != design.hash());
        Ok(other.map(|lock| changed(self, &lock, design).to_string()))
    }

    /// A database's log, unless it is another study's: a log in a file lies beside its study, one in a database has only this to tell.
    fn own(&self, store: Box<dyn Store>) -> Result<Box<dyn Store>> {
        let locks = audit::locks(&*store)?;
        let is_logged = |hash: &str| locks.iter().any(|(_, logged)| logged == hash);
        let lock = self.files()?.lock()?;
        let own = locks.is_empty()
            || lock.is_some_and(|lock| is_logged(&lock.hash))
            || is_logged(self.design()?.hash());
        if own {
            return Ok(store);
        }
        let what = format!(
            "the database holds another study than {}: each study has a database of its own, and a copy of its directory has its \
             study.lock with it",
            self.word()
        );
        Err(Fault::usage(what).into())
    }

    /// Whether the study has a log.
    pub fn has_log(&self) -> Result<bool> {
        match &self.database {
            Some(url) => Ok(database::begun(url)?.is_some()),
            None => Ok(self.log().is_file()),
        }
    }

    /// The log, which must be there.
    pub fn store(&self) -> Result<Box<dyn Store>> {
        if let Some(url) = &self.database {
            return self.own(database::existing(url)?);
        }
        let log = self.log();
        if !log.exists() {
            // Locking is what begins a log.
            return Err(match self.directory.join(STUDY).is_file() && self.files()?.lock()?.is_none() {
                true => self.unlocked(),
                false => nothing_at(&log, "log"),
            }
            .into());
        }
        Ok(Box::new(SqliteStore::open_existing(log)?))
    }

    /// The log, which must be there, to read it; nothing needs to be writable.
    fn store_to_read(&self) -> Result<Box<dyn Store>> {
        match self.store() {
            Err(error) if unwritable(&error) && !self.is_in_database() => {
                Ok(Box::new(SqliteStore::open_to_read(self.log())?))
            }
            opened => opened,
        }
    }

    /// The log for somebody who looks at it, which is written down first (RS-07).
    ///
    /// Where nothing can be written, nothing is: whoever may read the file needs no command to do so.
    fn look(&self, action: Action) -> Result<Box<dyn Store>> {
        let mut store = match self.store() {
            Err(error) if unwritable(&error) => return self.store_to_read(),
            opened => opened?,
        };
        let admin = Admin::new(HERE, action);
        audit::look(&mut *store, admin, &SystemClock, &SystemRandom)?;
        Ok(store)
    }

    /// The log for somebody who wants results; refused while they are hidden, unless they say that they want them all the
    /// same, which is written down.
    fn results(&self, unblinded: bool, action: impl FnOnce(&str) -> Action) -> Result<Box<dyn Store>> {
        let blinded = audit::blinded(&*self.store_to_read()?)?;
        if blinded && !unblinded {
            let what = "the study is blinded, so results are hidden; an owner can end that in Settings, or add \
                        --unblinded, which is written to the audit log";
            return Err(Fault::usage(what).into());
        }
        self.look(action(if blinded { ", unblinded" } else { "" }))
    }

    /// Writes down what was done.
    pub fn note(&self, store: &mut dyn Store, action: Action) -> Result<()> {
        let admin = Admin::new(HERE, action);
        audit::note(store, admin, &SystemClock, &SystemRandom)?;
        Ok(())
    }

    /// The log of a study in a database, begun if it is not there; that in a file otherwise.
    fn begun_or_new(&self) -> Result<Box<dyn Store>> {
        match &self.database {
            Some(url) => self.own(database::open(url)?),
            None => Ok(Box::new(SqliteStore::open(self.log())?)),
        }
    }

    /// A service on the study's log, which is begun if it is not there.
    pub fn service(&self, design: Arc<Design>) -> Result<Service> {
        self.service_on(design, self.begun_or_new()?)
    }

    /// A service for a server of the study, on a log that agrees with itself. A log in a file has one server; one in a
    /// database has as many as there are.
    pub fn service_to_serve(&self, design: Arc<Design>) -> Result<Service> {
        let store = match &self.database {
            Some(url) => self.own(database::to_serve(url)?)?,
            None => Box::new(SqliteStore::open(self.log())?.serving()?),
        };
        equipoise_study::verify_of(&*store, design.study())?;
        self.service_on(design, store)
    }

    fn service_on(&self, design: Arc<Design>, store: Box<dyn Store>) -> Result<Service> {
        let contacts = match &self.database {
            Some(url) => database::contacts(url)?,
            None => Contacts::beside(&self.directory),
        };
        let writer = Writer::start_boxed(store);
        Ok(Service::new(design, writer, SystemClock, SystemRandom).with_contacts(contacts))
    }

    /// A service on a log in a file that writes by a thread that is there already.
    pub fn service_by(&self, design: Arc<Design>, writer: Writer) -> Service {
        Service::new(design, writer, SystemClock, SystemRandom)
            .with_contacts(Contacts::beside(&self.directory))
    }

    /// A copy of the log beside it, before something is done to it that only a log of an older release needs.
    fn keep_copy(&self, before: &str) -> Result<PathBuf> {
        if self.is_in_database() {
            let what =
                format!("--{before} is for logs of older releases, which are in files and not in a database");
            return Err(Fault::usage(what).into());
        }
        Ok(SqliteStore::open_existing(self.log())?.keep_copy(before)?)
    }
}

/// A file to write that is none of the study's ([`Place::output`]): commands of a study write to no other.
pub struct Output<'a>(&'a Path);

impl Output<'_> {
    /// Replaces it in one step.
    fn write(&self, content: &[u8]) -> Result<()> {
        files::write_bytes(self.0, content)
    }

    /// The same for a file that only its owner can read.
    fn write_private(&self, content: &[u8]) -> Result<()> {
        files::write_private(self.0, content)
    }

    /// Begins a file that only its owner can read, and that must not be there yet.
    fn create(&self) -> Result<std::fs::File> {
        equipoise_log::files::create(self.0).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Fault::usage(format!("{} is there already, expected a new file", shown(self.0))).into()
            }
            _ => Fault::input_output(format!("cannot write {}: {e}", shown(self.0))).into(),
        })
    }
}

/// What to say about a file that is not there.
fn nothing_at(path: &Path, what: &str) -> Fault {
    Fault::input_output(format!("cannot read {}: there is no {what}", files::name(path)))
}

/// A participant by number.
fn participant(design: &Arc<Design>, store: &dyn Reader, number: u64) -> Result<Participant> {
    let found = people::participant(design, store, number)?;
    Ok(found.ok_or_else(|| Fault::usage(format!("there is no participant {number}")))?)
}

/// What to do about a study that changed after it was locked.
fn changed(place: &Place, lock: &Locked, design: &Design) -> anyhow::Error {
    let found = design.study().version;
    if found > lock.version {
        let what = "of the study is not locked yet; do it with: equipoise study lock";
        return Fault::usage(format!("version {found} {what} {}", place.word())).into();
    }
    equipoise_study::Error::Changed { version: lock.version }.into()
}

fn unwritable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<equipoise_log::Error>().and_then(|error| error.why()) == Some(Why::Unwritable)
}

/// A path as text prints it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
