//! The log in one SQLite file.
//!
//! Write-ahead log with `synchronous = FULL`: a transaction that has returned is on the disk. `secure_delete` overwrites
//! what is erased. Statements are fixed texts; nothing a user sends becomes SQL.

use super::{Appended, Draft, Hash, Head, Payload, Row, STUDY_SESSION, Store};
use crate::error::{Error, Result};
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
}

impl SqliteStore {
    /// Opens a log, or begins one.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::with_flags(path.as_ref(), OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a log that must be there.
    pub fn open_existing(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.is_file() {
            return Err(Error::Missing(format!("there is no log at {}", path.display())));
        }
        Self::with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    fn with_flags(path: &Path, flags: OpenFlags) -> Result<Self> {
        let mut connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;",
        )?;
        migrate(&mut connection, path)?;
        Ok(Self { connection, path: path.to_owned() })
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
        let exists = |path: &Path| Error::Missing(format!("{} is there already", path.display()));
        if to.exists() {
            return Err(exists(to));
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

/// Writes a consistent copy beside `to`, syncs it, and moves it there in one step.
fn copy(connection: &Connection, to: &Path) -> Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let _ = std::fs::remove_file(&part);
    let io = |e: std::io::Error| Error::Storage(format!("cannot write {}: {e}", to.display()));
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

fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let version = |connection: &Connection| -> Result<usize> {
        Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    };
    let found = version(connection)?;
    if found > MIGRATIONS.len() {
        let what = format!(
            "{} was written by a newer release (format {found}; this release knows {})",
            path.display(),
            MIGRATIONS.len()
        );
        return Err(Error::Storage(what));
    }
    if found > 0 && found < MIGRATIONS.len() {
        let mut before = path.as_os_str().to_owned();
        before.push(format!(".before-{}", MIGRATIONS.len()));
        copy(connection, Path::new(&before))?;
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
