//! The log in one SQLite file.
//!
//! Write-ahead log with `synchronous = FULL`: a transaction that has returned is on the disk. `secure_delete` overwrites
//! what is erased. Statements are fixed texts; nothing a user sends becomes SQL.

use crate::chain::Head;
use crate::error::{Error, Result, Trouble, Why};
use crate::files::{self, added};
use crate::lease::{self, Lease};
use crate::store::{Opener, Probe, Reader, Store, Table};
use crate::transaction::Last;
use crate::{COMMON_SESSION, Hash, Payload, Row};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How the file came to be what it is, step by step; `user_version` counts the steps taken.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001_log.sql"),
    include_str!("migrations/0002_spent.sql"),
    include_str!("migrations/0003_salted_seals.sql"),
];

/// How long somebody else's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one try to settle an erasure may hold up those who write.
const MOMENT: Duration = Duration::from_millis(50);

/// What [`MIGRATIONS`] make, and nothing else is in the file.
const OURS: [&str; 4] = ["event", "first_event", "payload", "spent"];
/// What is added to the log's name for the file that says that its files may still hold what was erased.
const UNSETTLED: &str = ".unsettled";

const COLUMNS: &str = "SELECT e.position, e.session, e.seq, e.key, e.at, e.commitment, e.previous, e.hash, p.salt, p.body \
     FROM event e LEFT JOIN payload p ON p.position = e.position ";

/// A log in a file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// Which file that was when it was opened.
    identity: Option<(u64, u64)>,
    /// Dropped after the connection, so that nobody finds the log free while it is being closed.
    lease: Option<Lease>,
    _serving: Option<Lease>,
}

impl SqliteStore {
    /// Opens a log, or begins one. Nobody can replace it while it is open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        refuse_to_begin_anew(path)?;
        let lease = Lease::shared(path)?;
        files::protect(path).map_err(|e| Error::with_file(format!("cannot write {}", path.display()), &e))?;
        Self::writing(path, Some(lease))
    }

    /// For a server: there is one at a time. Commands may use the log beside it.
    pub fn serving(self) -> Result<Self> {
        let _serving = Some(Lease::serving(&self.path)?);
        Ok(Self { _serving, ..self })
    }

    /// Opens a log that must be there. Nobody can replace it while it is open.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self> {
        let path = present(path.as_ref())?;
        Self::open(path)
    }

    /// Opens a log that must be there to read it, also where nothing can be written.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match Self::open_existing(path) {
            Err(Error::Storage(trouble)) if trouble.why == Why::Unwritable => Self::reading(path),
            opened => opened,
        }
    }

    /// Opens a copy of a log, and writes nothing: neither to it nor beside it.
    pub fn open_copy(path: impl AsRef<Path>) -> Result<Self> {
        Self::reading(present(path.as_ref())?)
    }

    /// Opens a log nobody else has to do with: one that was set aside, or is not in its place yet.
    pub(crate) fn open_apart(path: &Path) -> Result<Self> {
        Self::writing(present(path)?, None)
    }

    /// Begins a log nobody else knows of yet.
    pub(crate) fn begin_apart(path: &Path) -> Result<Self> {
        files::create(path).map_err(|e| Error::with_file(format!("cannot write {}", path.display()), &e))?;
        Self::writing(path, None)
    }

    fn writing(path: &Path, lease: Option<Lease>) -> Result<Self> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite is content with reading where the file's rights allow no more.
        if connection.is_readonly(rusqlite::MAIN_DB)? {
            let what = format!("{} cannot be written", path.display());
            return Err(Error::Storage(Trouble::new(Why::Unwritable, what)));
        }
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;",
        )?;
        migrate(&mut connection, path, lease.is_some())?;
        let identity = files::identity(path);
        Ok(Self { connection, path: path.to_owned(), identity, lease, _serving: None })
    }

    fn reading(path: &Path) -> Result<Self> {
        let rows = std::fs::metadata(added(path, "-wal")).map_or(0, |wal| wal.len());
        let used = rows > 0 || added(path, "-shm").exists();
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if !used || (rows == 0 && version(&connection).is_err()) {
            // Even those who only read a write-ahead log want to make its files. Where there are no rows in any, the file
            // is all there is.
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            connection = connect(&immutable(path)?, flags)?;
        }
        match version(&connection)? {
            0 => return Err(Error::Missing(format!("{} is not a log", path.display()))),
            found if found > MIGRATIONS.len() => return Err(newer(path, found)),
            _ => {}
        }
        Ok(Self { connection, path: path.to_owned(), identity: None, lease: None, _serving: None })
    }

    /// Folds the write-ahead log into the file, which is complete without others from then on.
    ///
    /// That takes being alone: whoever else has the file open makes it fail, and nothing is changed.
    pub(crate) fn into_one_file(self) -> Result<()> {
        let mode: String = self.connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
        match mode.as_str() {
            "delete" => Ok(()),
            _ => Err(Error::InUse(format!("{} is open elsewhere; close it first", self.path.display()))),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the file grow to so many pages of 4 kB at most: beyond, it is as if the disk were full.
    pub fn limit(&mut self, pages: u32) -> Result<()> {
        self.connection.pragma_update(None, "max_page_count", pages)?;
        Ok(())
    }

    /// A copy of the whole log as it is now, in a new file; others may go on writing meanwhile.
    ///
    /// The copy is there completely or not at all.
    pub fn backup(&self, to: &Path) -> Result<()> {
        if to.exists() {
            return Err(Error::Missing(format!("{} is there already", to.display())));
        }
        copy(&self.connection, to)
    }

    /// A copy of the log beside it under a name that nothing has yet, before something is done to it.
    pub fn keep_copy(&self, before: &str) -> Result<PathBuf> {
        let free =
            (1_u32..).map(|n| added(&self.path, &format!(".before-{before}-{n}"))).find(|to| !to.exists());
        let to = free.ok_or_else(|| Error::storage("no name is left for a copy of the log"))?;
        copy(&self.connection, &to)?;
        Ok(to)
    }

    /// Whether the file that is written is the one others would find.
    fn check_place(&self) -> Result<()> {
        still_there(&self.path, self.identity)
    }
}

fn still_there(path: &Path, identity: Option<(u64, u64)>) -> Result<()> {
    if identity.is_none() || identity == files::identity(path) {
        return Ok(());
    }
    let what =
        format!("{} was deleted or replaced while it was open; put it back and start again", path.display());
    Err(Error::Storage(Trouble::new(Why::Gone, what)))
}

/// Pages in the write-ahead log still hold what was deleted: folds it in and cuts it off, unless somebody reads them.
pub fn fold_in(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(MOMENT)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(PATIENCE)?;
    let settled = !busy?;
    if settled && let Some(path) = connection.path() {
        // SQLite cuts the file off and does not sync that: after a loss of power it would hold again what was erased.
        files::sync(&added(Path::new(path), "-wal")).map_err(|e| {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC);
            rusqlite::Error::SqliteFailure(
                code,
                Some(format!("the write-ahead file could not be synced: {e}")),
            )
        })?;
    }
    Ok(settled)
}

/// A log that was there and is gone must not be begun anew: SQLite would throw away the rows beside it, and nobody would
/// notice that all others are missing.
fn refuse_to_begin_anew(path: &Path) -> Result<()> {
    let begun = Instant::now();
    while !path.exists() {
        let Some(trace) = Lease::trace(path) else { return Ok(()) };
        // Somebody else may be beginning it at this moment.
        if begun.elapsed() > lease::PATIENCE {
            let (log, trace) = (path.display(), trace.display());
            let what = format!(
                "{log} is gone, but there was one: {trace} is still there; put the log back or restore a backup, or move \
                 {trace} away to begin a new one"
            );
            return Err(Error::Storage(Trouble::new(Why::Gone, what)));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn present(path: &Path) -> Result<&Path> {
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::Missing(format!("there is no log at {}", path.display()))),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// The address of a file that does not change while it is read.
fn immutable(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)
        .map_err(|e| Error::with_file(format!("cannot read {}", path.display()), &e))?;
    // What means something in an address is written as its number.
    let escaped: String = path.to_string_lossy().chars().fold(String::new(), |mut text, c| {
        match c {
            '%' => text += "%25",
            '?' => text += "%3f",
            '#' => text += "%23",
            c => text.push(c),
        }
        text
    });
    Ok(PathBuf::from(format!("file:{escaped}?immutable=1")))
}

/// Writes a consistent copy beside `to`, syncs it, and moves it there in one step.
fn copy(connection: &Connection, to: &Path) -> Result<()> {
    let part = added(to, ".part");
    let _ = std::fs::remove_file(&part);
    let io = |e: std::io::Error| Error::with_file(format!("cannot write {}", to.display()), &e);
    files::create(&part).map_err(io)?;
    {
        let mut target = Connection::open(&part)?;
        // Nobody knows of the copy until it is whole, so it needs neither a journal nor a sync per step: each would stand in
        // line with the syncs of everybody who answers meanwhile. It is synced once, below.
        target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
        // In one step: between two, every row somebody else adds would make it begin anew.
        rusqlite::backup::Backup::new(connection, &mut target)?.step(-1)?;
        // The copy is one file without a log of its own.
        target.execute_batch("PRAGMA journal_mode = DELETE;")?;
    }
    files::sync(&part).map_err(io)?;
    std::fs::rename(&part, to).map_err(io)?;
    files::sync_name(to);
    Ok(())
}

fn version(connection: &Connection) -> Result<usize> {
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

fn newer(path: &Path, found: usize) -> Error {
    let what = format!(
        "{} was written by a newer release (format {found}; this release knows {})",
        path.display(),
        MIGRATIONS.len()
    );
    Error::storage(what)
}

fn migrate(connection: &mut Connection, path: &Path, keep: bool) -> Result<()> {
    let found = version(connection)?;
    if found > MIGRATIONS.len() {
        return Err(newer(path, found));
    }
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    // All steps at once: nobody sees a log between two releases. Another process may have been faster.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    // Of a log that was set aside, that is a copy already.
    if keep && found > 0 && found < MIGRATIONS.len() {
        // While nobody else writes, and so nobody else copies. SQLite copies from a connection that does not write.
        let source = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        copy(&source, &added(path, &format!(".before-{}", MIGRATIONS.len())))?;
    }
    for (step, statements) in MIGRATIONS.iter().enumerate().skip(found) {
        transaction.execute_batch(statements)?;
        transaction.pragma_update(None, "user_version", step + 1)?;
    }
    Ok(transaction.commit()?)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let salt: Option<Hash> = row.get(8)?;
    let body: Option<String> = row.get(9)?;
    Ok(Row {
        position: row.get(0)?,
        session: row.get(1)?,
        seq: row.get(2)?,
        key: row.get(3)?,
        at: row.get(4)?,
        commitment: row.get(5)?,
        previous: row.get(6)?,
        hash: row.get(7)?,
        payload: salt.zip(body).map(|(salt, body)| Payload { salt, body }),
    })
}

fn head(connection: &Connection) -> Result<Head> {
    let last = connection
        .prepare_cached("SELECT position, hash FROM event ORDER BY position DESC LIMIT 1")?
        .query_row([], |row| Ok(Head { position: row.get(0)?, hash: row.get(1)? }))
        .optional()?;
    Ok(last.unwrap_or_default())
}

fn session(connection: &Connection, session: &str) -> Result<Vec<Row>> {
    let mut statement =
        connection.prepare_cached(&format!("{COLUMNS} WHERE e.session = ?1 ORDER BY e.seq"))?;
    let rows = statement.query_map([session], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn spent(connection: &Connection, session: &str) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM spent WHERE session = ?1")?;
    Ok(statement.query_row([session], |row| row.get::<_, u64>(0))? > 0)
}

impl Reader for SqliteStore {
    fn session(&self, name: &str) -> Result<Vec<Row>> {
        session(&self.connection, name)
    }

    fn sessions(&self) -> Result<Vec<String>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT session FROM event WHERE seq = 1 AND session <> ?1 ORDER BY position")?;
        let sessions = statement.query_map([COMMON_SESSION], |row| row.get(0))?;
        Ok(sessions.collect::<rusqlite::Result<_>>()?)
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{COLUMNS} WHERE e.position > ?1 ORDER BY e.position"))?;
        for row in statement.query_map([position], read)? {
            if !look(row?) {
                break;
            }
        }
        Ok(())
    }

    fn head(&self) -> Result<Head> {
        head(&self.connection)
    }

    fn spent(&self) -> Result<BTreeSet<String>> {
        if version(&self.connection)? < 2 {
            // A copy from before there were such names, which is only read.
            return Ok(BTreeSet::new());
        }
        let mut statement = self.connection.prepare_cached("SELECT session FROM spent")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    fn foreign(&self) -> Result<Vec<String>> {
        let mut statement =
            self.connection.prepare_cached("SELECT type, name FROM sqlite_schema ORDER BY rowid")?;
        let all = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let all: Vec<(String, String)> = all.collect::<rusqlite::Result<_>>()?;
        let ours = |name: &str| OURS.contains(&name) || name.starts_with("sqlite_autoindex_");
        let foreign = all.into_iter().filter(|(_, name)| !ours(name));
        let mut foreign: Vec<String> = foreign.map(|(kind, name)| format!("{kind} {name:?}")).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM payload p LEFT JOIN event e ON e.position = p.position WHERE e.position IS NULL",
        )?;
        match statement.query_row([], |row| row.get::<_, u64>(0))? {
            0 => {}
            1 => foreign.push("an event without a row".to_owned()),
            many => foreign.push(format!("{many} events without a row")),
        }
        Ok(foreign)
    }

    fn is_spent(&self, session: &str) -> Result<bool> {
        Ok(version(&self.connection)? >= 2 && spent(&self.connection, session)?)
    }
}

impl Store for SqliteStore {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        self.check_place()?;
        let mut open = Open(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?);
        match work(&mut open) {
            true => Ok(open.0.commit()?),
            false => Ok(open.0.rollback()?),
        }
    }

    fn opener(&self) -> Opener {
        let (path, used) = (self.path.clone(), self.lease.is_some());
        Arc::new(move || {
            Ok(Box::new(match used {
                true => Self::open_existing(&path)?,
                false => Self::reading(&path)?,
            }))
        })
    }

    fn settle(&mut self) -> Result<bool> {
        let (settled, mark) = (fold_in(&self.connection), added(&self.path, UNSETTLED));
        // Without the mark nobody is told of it later, which keeps nobody from trying again.
        let _ = match settled {
            Ok(true) => std::fs::remove_file(mark),
            _ => files::create(&mark).map(drop),
        };
        Ok(settled?)
    }

    fn is_unsettled(&self) -> bool {
        added(&self.path, UNSETTLED).exists()
    }

    fn prober(&self) -> Probe {
        let (path, identity) = (self.path.clone(), self.identity);
        Box::new(move || {
            still_there(&path, identity)?;
            // Not kept open: the last one who closes a log tidies up, and that should be whoever writes it.
            let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(lease::PATIENCE)?;
            connection.execute_batch("PRAGMA synchronous = FULL;")?;
            // The number of the format, written again: a transaction like any other, and nothing is changed by it.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
            Ok(transaction.commit()?)
        })
    }

    fn backup(&self, to: &Path) -> Result<()> {
        Self::backup(self, to)
    }

    fn aside(&self) -> Result<Vec<PathBuf>> {
        crate::erasure::aside(&self.path)
    }
}

/// The rows during a transaction.
struct Open<'a>(Transaction<'a>);

impl Table for Open<'_> {
    fn head(&self) -> Result<Head> {
        head(&self.0)
    }

    fn session(&self, name: &str) -> Result<Vec<Row>> {
        session(&self.0, name)
    }

    fn begun(&self) -> Result<u64> {
        let mut statement =
            self.0.prepare_cached("SELECT count(*) FROM event WHERE seq = 1 AND session <> ?1")?;
        Ok(statement.query_row([COMMON_SESSION], |row| row.get(0))?)
    }

    fn keyed(&self, session: &str, key: &str) -> Result<Option<Row>> {
        let mut statement =
            self.0.prepare_cached(&format!("{COLUMNS} WHERE e.session = ?1 AND e.key = ?2"))?;
        Ok(statement.query_row([session, key], read).optional()?)
    }

    fn last(&self, session: &str) -> Result<Last> {
        let mut statement = self.0.prepare_cached(
            "SELECT (SELECT max(seq) FROM event WHERE session = ?1), p.position IS NULL \
             FROM event e LEFT JOIN payload p ON p.position = e.position WHERE e.session = ?1 AND e.seq = 1",
        )?;
        let last = statement.query_row([session], |row| Ok(Last { seq: row.get(0)?, erased: row.get(1)? }));
        match last.optional()? {
            Some(last) => Ok(last),
            None => Ok(Last { seq: 0, erased: spent(&self.0, session)? }),
        }
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        self.0
            .prepare_cached(
                "INSERT INTO event (position, session, seq, key, at, commitment, previous, hash) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                row.position,
                row.session,
                row.seq,
                row.key,
                row.at,
                row.commitment,
                row.previous,
                row.hash
            ])?;
        if let Some(payload) = &row.payload {
            self.0
                .prepare_cached("INSERT INTO payload (position, salt, body) VALUES (?1, ?2, ?3)")?
                .execute(params![row.position, payload.salt, payload.body])?;
        }
        Ok(())
    }

    fn forget(&mut self, session: &str, name: &str) -> Result<()> {
        self.0.execute(
            "DELETE FROM payload WHERE position IN (SELECT position FROM event WHERE session = ?1)",
            [session],
        )?;
        self.0.execute(
            "UPDATE event SET session = ?2, key = CAST(seq AS TEXT), at = 0 WHERE session = ?1",
            [session, name],
        )?;
        Ok(())
    }

    fn spend(&mut self, session: &str) -> Result<()> {
        self.0.execute("INSERT OR IGNORE INTO spent (session) VALUES (?1)", [session])?;
        Ok(())
    }

    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.0.execute(
            "UPDATE payload SET salt = ?2, body = ?3 WHERE position = ?1",
            params![position, payload.salt, payload.body],
        )?;
        Ok(())
    }
}
