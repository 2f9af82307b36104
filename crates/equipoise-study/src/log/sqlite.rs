//! The log in one SQLite file.
//!
//! Write-ahead log with `synchronous = FULL`: a transaction that has returned is on the disk. `secure_delete` overwrites
//! what is erased. Statements are fixed texts; nothing a user sends becomes SQL.

use super::{Appended, Draft, Hash, Head, Hold, Payload, Row, STUDY_SESSION, Store};
use crate::error::{Error, Result};
use crate::private;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the file came to be what it is, step by step; `user_version` counts the steps taken.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_log.sql")];

const COLUMNS: &str = "SELECT e.position, e.session, e.seq, e.key, e.at, e.commitment, e.previous, e.hash, p.salt, p.body \
     FROM event e LEFT JOIN payload p ON p.position = e.position ";

/// A log in a file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// Dropped after the connection, so that nobody finds the log free while it is being closed.
    _hold: Option<Hold>,
}

impl SqliteStore {
    /// Opens a log, or begins one. Nobody can replace it while it is open.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let hold = Hold::shared(path)?;
        private::protect(path)
            .map_err(|e| Error::Storage(format!("cannot write {}: {e}", path.display())))?;
        Self::writing(path, Some(hold))
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
            Err(Error::Unwritable(_)) => Self::reading(path),
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

    fn writing(path: &Path, hold: Option<Hold>) -> Result<Self> {
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // SQLite is content with reading where the file's rights allow no more.
        if connection.is_readonly(rusqlite::MAIN_DB)? {
            return Err(Error::Unwritable(format!("{} cannot be written", path.display())));
        }
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;",
        )?;
        migrate(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned(), _hold: hold })
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
        Ok(Self { connection, path: path.to_owned(), _hold: None })
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

    /// Pages in the write-ahead log still hold what was deleted: folds it in and cuts it off.
    fn fold_in(&self) -> Result<()> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    fn insert(transaction: &Transaction<'_>, row: &Row) -> Result<()> {
        transaction
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
            transaction
                .prepare_cached("INSERT INTO payload (position, salt, body) VALUES (?1, ?2, ?3)")?
                .execute(params![row.position, payload.salt, payload.body])?;
        }
        Ok(())
    }
}

fn present(path: &Path) -> Result<&Path> {
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::Missing(format!("there is no log at {}", path.display()))),
    }
}

/// The path with something added to its name.
pub(crate) fn added(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

/// The address of a file that does not change while it is read.
fn immutable(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)
        .map_err(|e| Error::Storage(format!("cannot read {}: {e}", path.display())))?;
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
    let io = |e: std::io::Error| Error::Storage(format!("cannot write {}: {e}", to.display()));
    private::create(&part).map_err(io)?;
    {
        let mut target = Connection::open(&part)?;
        rusqlite::backup::Backup::new(connection, &mut target)?.run_to_completion(
            1000,
            Duration::ZERO,
            None,
        )?;
        // The copy is one file without a log of its own.
        target.execute_batch("PRAGMA journal_mode = DELETE;")?;
    }
    std::fs::File::open(&part).and_then(|file| file.sync_all()).map_err(io)?;
    std::fs::rename(&part, to).map_err(io)
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
    Error::Storage(what)
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let found = version(connection)?;
    if found > MIGRATIONS.len() {
        return Err(newer(path, found));
    }
    if found > 0 && found < MIGRATIONS.len() {
        copy(connection, &added(path, &format!(".before-{}", MIGRATIONS.len())))?;
    }
    for (step, statements) in MIGRATIONS.iter().enumerate().skip(found) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        if version(&transaction)? == step {
            transaction.execute_batch(statements)?;
            transaction.pragma_update(None, "user_version", step + 1)?;
        }
        transaction.commit()?;
    }
    Ok(())
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

impl Store for SqliteStore {
    fn append(&mut self, groups: &[Vec<Draft>]) -> Result<Vec<Appended>> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut head = head(&transaction)?;
        let mut all = vec![];
        for group in groups {
            let mut found = None;
            if let Some(draft) = group.first() {
                found = transaction
                    .prepare_cached(&format!("{COLUMNS} WHERE e.session = ?1 AND e.key = ?2"))?
                    .query_row(params![draft.session, draft.key], read)
                    .optional()?
                    .map(Appended::Known);
            }
            for draft in group {
                if found.is_none() {
                    found = transaction
                        .prepare_cached(&format!("{COLUMNS} WHERE e.session = ?1 AND e.seq = ?2"))?
                        .query_row(params![draft.session, draft.seq], read)
                        .optional()?
                        .map(Appended::Taken);
                }
            }
            if let Some(found) = found {
                all.push(found);
                continue;
            }
            let mut rows = vec![];
            for draft in group {
                let row = head.extend(draft.clone());
                Self::insert(&transaction, &row)?;
                rows.push(row);
            }
            all.push(Appended::New(rows));
        }
        transaction.commit()?;
        Ok(all)
    }

    fn session(&self, session: &str) -> Result<Vec<Row>> {
        let mut statement =
            self.connection.prepare_cached(&format!("{COLUMNS} WHERE e.session = ?1 ORDER BY e.seq"))?;
        let rows = statement.query_map([session], read)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn sessions(&self) -> Result<Vec<String>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT session FROM event WHERE seq = 1 AND session <> ?1 ORDER BY position")?;
        let sessions = statement.query_map([STUDY_SESSION], |row| row.get(0))?;
        Ok(sessions.collect::<rusqlite::Result<_>>()?)
    }

    fn each(&self, look: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        self.each_after(0, look)
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{COLUMNS} WHERE e.position > ?1 ORDER BY e.position"))?;
        for row in statement.query_map([position], read)? {
            look(row?)?;
        }
        Ok(())
    }

    fn probe(&mut self) -> Result<()> {
        // The number of the format, written again: a transaction like any other, and nothing is changed by it.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
        Ok(transaction.commit()?)
    }

    fn kept(&self) -> Result<Vec<PathBuf>> {
        crate::erasure::kept(&self.path)
    }

    fn head(&self) -> Result<Head> {
        head(&self.connection)
    }

    fn replace(&mut self, position: u64, payload: Payload, record: Draft) -> Result<Row> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "UPDATE payload SET salt = ?2, body = ?3 WHERE position = ?1",
            params![position, payload.salt, payload.body],
        )?;
        close(transaction, record).and_then(|row| self.fold_in().map(|()| row))
    }

    fn erase(&mut self, session: &str, record: Draft) -> Result<Row> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "DELETE FROM payload WHERE position IN (SELECT position FROM event WHERE session = ?1)",
            [session],
        )?;
        close(transaction, record).and_then(|row| self.fold_in().map(|()| row))
    }
}

/// Adds the row that says what was done, and commits.
fn close(transaction: Transaction<'_>, record: Draft) -> Result<Row> {
    let row = head(&transaction)?.extend(record);
    SqliteStore::insert(&transaction, &row)?;
    transaction.commit()?;
    Ok(row)
}
