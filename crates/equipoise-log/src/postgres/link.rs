//! A connection to a database, on a thread of its own: whoever asks may be anywhere, also where nothing may wait.

use super::schema;
use super::tls::Encryption;
use crate::error::{Error, Result, Trouble, Why};
use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls, Row, Statement};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a database that does not answer is waited for by whoever has something to write.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Between two tries.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// The least version of PostgreSQL, as it numbers them: before, it cannot say what became of a transaction.
const LEAST: i32 = 130_000;

/// Waits for somebody else's lock end; whoever has begun to write and is not heard of any more holds nobody up for ever;
/// what is acknowledged is on the disk, whatever the database is set to.
const SETTINGS: &str = "\
    SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s'; SET statement_timeout = 0; \
    SET client_min_messages = warning; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

/// Which database, and how to reach it.
#[derive(Clone)]
pub struct Database {
    config: Config,
    /// How what is sent is encrypted, if it is.
    encryption: Option<MakeRustlsConnect>,
    shown: String,
}

impl std::fmt::Display for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.shown).finish()
    }
}

impl Database {
    /// From an address such as `postgres://equipoise@127.0.0.1/study`. What is sent is not encrypted unless the address ends in
    /// `?sslmode=verify-full`; without that the database must be on this computer, or seem to be. A password that is not in the address is that of the environment, `PGPASSWORD`.
    pub fn parse(address: &str) -> Result<Self> {
        let expected = "expected one such as postgres://equipoise@127.0.0.1/study";
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return Err(Error::Missing(format!("the address of a database has another form, {expected}")));
        }
        let wrong = |e| {
            Error::Missing(format!("the address of the database cannot be read ({}), {expected}", told(&e)))
        };
        let Encryption { address, connector: encryption } = Encryption::of(address)?;
        let mut config: Config = address.parse().map_err(wrong)?;
        if encryption.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        let mut names = vec![];
        for host in config.get_hosts() {
            let (name, here) = match host {
                Host::Tcp(name) => {
                    let here = name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
                    (name.clone(), here || name == "localhost")
                }
                #[cfg(unix)]
                Host::Unix(folder) => (folder.display().to_string(), true),
            };
            if !here && encryption.is_none() {
                return Err(elsewhere(&name));
            }
            names.push(name);
        }
        if let Some(address) = config.get_hostaddrs().iter().find(|address| !address.is_loopback())
            && encryption.is_none()
        {
            return Err(elsewhere(&address.to_string()));
        }
        if names.is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Error::Missing(format!("the address of the database names no host, {expected}")));
        }
        let Some(name) = config.get_dbname().map(str::to_owned) else {
            return Err(Error::Missing(format!("the address names no database, {expected}")));
        };
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        config.connect_timeout(PATIENCE);
        if config.get_application_name().is_none() {
            config.application_name("equipoise");
        }
        Ok(Self { config, encryption, shown: format!("the database {name} at {}", names.join(", ")) })
    }
}

fn elsewhere(name: &str) -> Error {
    Error::Missing(format!(
        "the database is at {name}, and what is sent there is not encrypted, expected ?sslmode=verify-full at the end of the \
         address, or 127.0.0.1, localhost or the folder of a socket"
    ))
}

/// The innermost of what went wrong: the outer ones say that something did.
fn told(error: &postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut error: &dyn std::error::Error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Self {
        let why = match error.code() {
            Some(&SqlState::DISK_FULL) => Why::Full,
            Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::T_R_DEADLOCK_DETECTED) => Why::Busy,
            Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => Why::Unwritable,
            Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => Why::Damaged,
            // The classes of connections that were lost, and of a server that was told to end.
            Some(code) if code.code().starts_with("08") || code.code().starts_with("57P") => Why::Lost,
            Some(_) => Why::Other,
            None if error.is_closed()
                || std::error::Error::source(&error).is_some_and(|e| e.is::<std::io::Error>()) =>
            {
                Why::Lost
            }
            None => Why::Other,
        };
        Self::new(why, told(&error))
    }
}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Self {
        Self::Storage(error.into())
    }
}

pub(crate) fn is_lost(error: &Error) -> bool {
    error.why() == Some(Why::Lost)
}

/// What the thread of a connection has: the connection, if there is one, and statements it has met before.
pub(crate) struct Session {
    database: Database,
    client: Option<Client>,
    statements: HashMap<&'static str, Statement>,
    /// Whether a statement of this transaction failed: nothing of it can be kept.
    pub(crate) failed: bool,
    /// The last row of the log that this transaction wrote: its place and its hash, which no other row has.
    pub(crate) written: Option<(i64, crate::Hash)>,
    /// What the database remarked since it was last asked, without having been asked: the details.
    remarks: Arc<Mutex<Vec<String>>>,
}

impl Session {
    /// Connects anew.
    pub(crate) fn connect(&mut self) -> Result<()> {
        self.client = None;
        self.statements.clear();
        let unreached = |error: postgres::Error| {
            let Trouble { why, mut sentence } = error.into();
            if sentence.contains("invalid peer certificate") {
                sentence += "; sslrootcert=FILE names the certificate that signed the server's";
            }
            Error::Storage(Trouble::new(why, format!("{} cannot be reached: {sentence}", self.database)))
        };
        let (mut config, remarks) = (self.database.config.clone(), Arc::clone(&self.remarks));
        config.notice_callback(move |notice| {
            let detail = notice.detail().unwrap_or_default().to_owned();
            remarks.lock().unwrap_or_else(PoisonError::into_inner).push(detail);
        });
        let mut client = match self.database.encryption.clone() {
            Some(encryption) => config.connect(encryption),
            None => config.connect(NoTls),
        }
        .map_err(unreached)?;
        let version: i32 =
            client.query_one("SELECT current_setting('server_version_num')::int", &[])?.try_get(0)?;
        if version < LEAST {
            let (found, least) = (version / 10_000, LEAST / 10_000);
            return Err(Error::storage(format!(
                "{} is PostgreSQL {found}, expected {least} or later",
                self.database
            )));
        }
        // One of an older kind cannot hold every name; SQL_ASCII takes bytes as they come.
        let encoding: String =
            client.query_one("SELECT current_setting('server_encoding')", &[])?.try_get(0)?;
        if !["UTF8", "SQL_ASCII"].contains(&encoding.as_str()) {
            return Err(Error::storage(format!(
                "{} is encoded in {encoding}, expected UTF8, as one made with: createdb --encoding UTF8 --template template0 NAME",
                self.database
            )));
        }
        client.batch_execute(SETTINGS)?;
        self.client = Some(client);
        Ok(())
    }

    /// The same, tried again for a while: a database may be starting.
    pub(crate) fn connect_patiently(&mut self) -> Result<()> {
        let begun = Instant::now();
        loop {
            match self.connect() {
                Err(error) if is_lost(&error) && begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                connected => return connected,
            }
        }
    }

    fn client(&mut self) -> Result<&mut Client> {
        let lost = || Error::Storage(Trouble::new(Why::Lost, "the connection to the database was lost"));
        self.client.as_mut().filter(|client| !client.is_closed()).ok_or_else(lost)
    }

    /// A statement, which is read by the database once.
    fn statement(&mut self, sql: &'static str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let made = self.client()?.prepare(sql);
        self.failed |= made.is_err();
        let statement = made?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    pub(crate) fn query(&mut self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let statement = self.statement(sql)?;
        let found = self.client()?.query(&statement, values);
        self.failed |= found.is_err();
        Ok(found?)
    }

    pub(crate) fn execute(&mut self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        let statement = self.statement(sql)?;
        let done = self.client()?.execute(&statement, values);
        self.failed |= done.is_err();
        Ok(done?)
    }

    /// Statements without values.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.client()?.batch_execute(sql);
        self.failed |= done.is_err();
        Ok(done?)
    }

    /// Writes tables anew into files of their own and deletes the old ones; `false` if somebody reads them, or began to read
    /// anything in this database before they were changed: what such a reader could still ask for is copied along. How many such
    /// rows there were is the one number with which the details of PostgreSQL's remark begin, in whatever language.
    pub(crate) fn vacuum(&mut self, tables: &[&'static str]) -> Result<bool> {
        self.remarked();
        let sql = format!("VACUUM (FULL, VERBOSE) {}", tables.join(", "));
        let done = self.batch("SET lock_timeout = '50ms'").and_then(|()| self.batch(&sql));
        self.batch("SET lock_timeout = '10s'")?;
        match done {
            Err(error) if error.why() == Some(Why::Busy) => return Ok(false),
            done => done?,
        }
        let left: Vec<u64> = self.remarked().iter().filter_map(|detail| first_number(detail)).collect();
        if left.len() < tables.len() {
            return Err(Error::storage(
                "the database does not say whether what was erased is gone from its files",
            ));
        }
        Ok(left.iter().all(|&rows| rows == 0))
    }

    /// What was remarked since this was last asked.
    fn remarked(&self) -> Vec<String> {
        std::mem::take(&mut *self.remarks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins a transaction with nobody else in one of the same kind: its number, by which the database knows it.
    ///
    /// A connection that was lost since it was last used is made anew: nothing was under way.
    pub(crate) fn begin(&mut self, kind: i32) -> Result<String> {
        let mut begun = self.begin_once(kind);
        if begun.as_ref().is_err_and(is_lost) {
            self.connect_patiently()?;
            begun = self.begin_once(kind);
        }
        if begun.is_err() {
            let _ = self.batch("ROLLBACK");
        }
        begun
    }

    fn begin_once(&mut self, kind: i32) -> Result<String> {
        (self.failed, self.written) = (false, None);
        self.batch("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")?;
        // Statements after this one see all that others wrote who had the lock before.
        let found = self.query(
            "SELECT pg_advisory_xact_lock($1, $2)::text, pg_current_xact_id()::text",
            &[&schema::LOCKS, &kind],
        )?;
        Ok(found.first().ok_or_else(nothing)?.try_get(1)?)
    }

    /// Ends a transaction so that it is kept. If the connection is lost meanwhile, the database is asked what became of it.
    pub(crate) fn commit(&mut self, transaction: &str) -> Result<()> {
        if self.failed {
            // It would say that all is well, and keep nothing.
            let _ = self.batch("ROLLBACK");
            return Err(Error::storage("a statement failed, so nothing was kept"));
        }
        match self.batch("COMMIT") {
            Err(error) if is_lost(&error) => self.resolve(transaction, error),
            done => done,
        }
    }

    fn resolve(&mut self, transaction: &str, lost: Error) -> Result<()> {
        let begun = Instant::now();
        let unknown = |why: &str| {
            let what =
                "the connection to the database was lost, and whether it kept the last rows is not known";
            Err(Error::storage(format!("{what}: {why}")))
        };
        loop {
            let status = self.connect_patiently().and_then(|()| self.status(transaction));
            let status = match status {
                // A database that crashed gives the numbers of transactions it lost to others: the row is what tells.
                Ok(Some(said)) if said == "committed" => self.is_written().map(|is| match is {
                    true => Some(said),
                    false => Some("aborted".to_owned()),
                }),
                status => status,
            };
            let late = begun.elapsed() > PATIENCE;
            match status.as_ref().map(Option::as_deref) {
                Ok(Some("committed")) => return Ok(()),
                Ok(Some("aborted")) => return Err(lost),
                Ok(None) => return unknown("it does not remember the transaction"),
                // The database has not noticed yet that whoever began it is gone.
                Ok(Some(_)) if late => return unknown("it is still at it"),
                Err(error) if late || !is_lost(error) => return unknown(&error.to_string()),
                Ok(Some(_)) | Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Whether the row is there that the last transaction wrote; `true` if it wrote none.
    fn is_written(&mut self) -> Result<bool> {
        let Some((position, hash)) = self.written else { return Ok(true) };
        let found =
            self.query("SELECT hash = $2 FROM event WHERE position = $1", &[&position, &&hash[..]])?;
        Ok(found.first().map(|row| row.try_get(0)).transpose()? == Some(true))
    }

    /// What the database says of a transaction.
    fn status(&mut self, transaction: &str) -> Result<Option<String>> {
        let statement = self.statement("SELECT pg_xact_status($1::text::xid8)")?;
        match self.client()?.query(&statement, &[&transaction]) {
            // A number "in the future": the database crashed before anything of this transaction was kept, and has forgotten that
            // it gave the number out.
            Err(error) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => {
                Ok(Some("aborted".to_owned()))
            }
            found => Ok(found?.first().ok_or_else(nothing)?.try_get(0)?),
        }
    }
}

/// The number that stands first in a text, if one does.
fn first_number(text: &str) -> Option<u64> {
    let from = text.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    from.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn nothing() -> Error {
    Error::storage("the database answered with nothing")
}

type Errand = Box<dyn FnOnce(&mut Session) + Send>;

/// A handle on the thread of a connection, which ends with it.
pub(crate) struct Link {
    errands: Sender<Errand>,
}

impl Link {
    /// Connects.
    pub(crate) fn open(database: &Database) -> Result<Self> {
        let (errands, inbox) = channel::<Errand>();
        let database = database.clone();
        std::thread::spawn(move || {
            let mut session = Session {
                database,
                client: None,
                statements: HashMap::new(),
                failed: false,
                written: None,
                remarks: Arc::default(),
            };
            while let Ok(errand) = inbox.recv() {
                errand(&mut session);
            }
        });
        let link = Self { errands };
        link.call(Session::connect)?;
        Ok(link)
    }

    /// Does something with the connection.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let ended = || Error::storage("the thread of the database's connection has ended");
        let (tell, told) = channel();
        let errand = Box::new(move |session: &mut Session| drop(tell.send(work(session))));
        self.errands.send(errand).map_err(|_| ended())?;
        told.recv().map_err(|_| ended())?
    }

    /// Reads something; once more on a new connection if the old one was lost.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.call(move |session| match work(session) {
            Err(error) if is_lost(&error) => {
                session.connect()?;
                work(session)
            }
            done => done,
        })
    }
}
