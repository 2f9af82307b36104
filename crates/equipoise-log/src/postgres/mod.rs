//! The log in a PostgreSQL database, which several servers write.
//!
//! Whoever writes holds a lock of the database until the transaction ends, so that rows have their places without gaps and in
//! the order they were written. What a row says is sealed with a secret of its session: deleted text stays in a database's
//! files for a while, and with the secret gone it is noise. Statements are fixed texts; nothing a user sends becomes SQL.

mod link;
mod schema;
mod seal;
mod table;
mod tls;

pub use link::Database;

use crate::chain::Head;
use crate::error::{Error, Result};
use crate::store::{Opener, Probe, Reader, Store, Table};
use crate::{COMMON_SESSION, Hash, Row};
pub(crate) use link::Link;
use link::Session;
pub(crate) use schema::BESIDE;
use seal::Secret;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows that are read at a time.
const PAGE: i64 = 1000;

const OF_SESSION: &str = "SELECT e.position, s.name, e.seq, e.commitment, e.previous, e.hash, e.sealed, s.secret \
     FROM log_session s JOIN event e ON e.session = s.id WHERE s.name = $1 ORDER BY e.seq";
const AFTER: &str = "SELECT e.position, s.name, e.seq, e.commitment, e.previous, e.hash, e.sealed, s.secret \
     FROM event e JOIN log_session s ON s.id = e.session WHERE e.position > $1 ORDER BY e.position LIMIT $2";

/// A log in a database.
pub struct PostgresStore {
    database: Database,
    link: Link,
    /// Whether rows are being read as of one moment.
    reading: Cell<bool>,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.database).finish()
    }
}

impl PostgresStore {
    /// Opens a log, or begins one; brings its tables up to date.
    pub fn open(database: &Database) -> Result<Self> {
        let (store, own) = (Self::connected(database)?, database.clone());
        store.link.call(move |session| schema::migrate(session, &own))?;
        Ok(store)
    }

    /// Opens a log that must be there.
    pub fn open_existing(database: &Database) -> Result<Self> {
        let (store, own) = (Self::connected(database)?, database.clone());
        match store.link.call(move |session| schema::check(session, &own))? {
            0 => Err(Error::Missing(format!("there is no log in {database}"))),
            _ => Self::open(database),
        }
    }

    /// Reads something; on a new connection if the old one was lost, unless that would be another moment.
    fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.reading.get() {
            true => self.link.call(work),
            false => self.link.read(work),
        }
    }

    fn connected(database: &Database) -> Result<Self> {
        Ok(Self { database: database.clone(), link: Link::open(database)?, reading: Cell::new(false) })
    }

    /// The connection, for small tables beside the log.
    pub(crate) fn into_link(self) -> Link {
        self.link
    }

    /// Whether the database says that it does not sync what it writes: then nothing survives a loss of power.
    pub fn forgets(&self) -> Result<bool> {
        self.link.read(|session| {
            let found = session.query("SELECT current_setting('fsync') = 'off'", &[])?;
            Ok(found.first().map(|row| row.try_get(0)).transpose()? == Some(true))
        })
    }
}

/// A place or a number, which no database has too many of.
fn number(found: i64) -> Result<u64> {
    u64::try_from(found).map_err(|_| Error::storage("the database has a number below zero"))
}

fn stored(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::storage("a number is too large for the database"))
}

fn hash(row: &postgres::Row, column: usize) -> Result<Hash> {
    let bytes: &[u8] = row.try_get(column)?;
    bytes.try_into().map_err(|_| Error::storage("the database has a hash of another length"))
}

fn secret(row: &postgres::Row, column: usize) -> Result<Option<Secret>> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let wrong = |_| Error::storage("the database has a secret of another length");
    bytes.map(|bytes| bytes.try_into().map_err(wrong)).transpose()
}

fn read(found: &postgres::Row) -> Result<Row> {
    let (position, seq) = (number(found.try_get(0)?)?, number(found.try_get(2)?)?);
    let sealed: Option<&[u8]> = found.try_get(6)?;
    let said = match sealed.zip(secret(found, 7)?) {
        Some((sealed, secret)) => Some(seal::open(&secret, position, sealed)?),
        None => None,
    };
    let (key, at, payload) =
        said.map_or_else(|| (seq.to_string(), 0, None), |said| (said.key, said.at, Some(said.payload)));
    let (commitment, previous, hash) = (hash(found, 3)?, hash(found, 4)?, hash(found, 5)?);
    Ok(Row { position, session: found.try_get(1)?, seq, key, at, commitment, previous, hash, payload })
}

fn session(session: &mut Session, name: &str) -> Result<Vec<Row>> {
    session.query(OF_SESSION, &[&name])?.iter().map(read).collect()
}

fn head(session: &mut Session) -> Result<Head> {
    let found = session.query("SELECT position, hash FROM event ORDER BY position DESC LIMIT 1", &[])?;
    match found.first() {
        Some(row) => Ok(Head { position: number(row.try_get(0)?)?, hash: hash(row, 1)? }),
        None => Ok(Head::default()),
    }
}

fn is_spent(session: &mut Session, name: &str) -> Result<bool> {
    Ok(!session.query("SELECT 1 FROM spent WHERE session = $1", &[&name])?.is_empty())
}

impl Reader for PostgresStore {
    fn session(&self, name: &str) -> Result<Vec<Row>> {
        let name = name.to_owned();
        self.read(move |link| session(link, &name))
    }

    fn length(&self, name: &str) -> Result<u64> {
        let name = name.to_owned();
        self.read(move |session| {
            let found = session.query(
                "SELECT coalesce(max(e.seq), 0) FROM log_session s JOIN event e ON e.session = s.id WHERE s.name = $1",
                &[&name],
            )?;
            number(found.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(0))
        })
    }

    fn sessions(&self) -> Result<Vec<String>> {
        self.read(|session| {
            let found = session.query(
                "SELECT s.name FROM event e JOIN log_session s ON s.id = e.session \
                 WHERE e.seq = 1 AND s.name <> $1 ORDER BY e.position",
                &[&COMMON_SESSION],
            )?;
            found.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        // Whoever looks may read the log, too: as of the same moment.
        let moment = Moment::begin(self)?;
        let mut last = stored(position)?;
        loop {
            let page: Vec<Row> = self
                .link
                .call(move |session| session.query(AFTER, &[&last, &PAGE])?.iter().map(read).collect())?;
            let whole = page.len() as i64 == PAGE;
            for row in page {
                last = stored(row.position)?;
                if !look(row) {
                    return moment.end();
                }
            }
            if !whole {
                return moment.end();
            }
        }
    }

    fn head(&self) -> Result<Head> {
        self.read(head)
    }

    fn spent(&self) -> Result<BTreeSet<String>> {
        self.read(|session| {
            let found = session.query("SELECT session FROM spent", &[])?;
            found.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    fn is_spent(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.read(move |session| is_spent(session, &name))
    }
}

/// A log as it is at one moment; ends however the reading does.
struct Moment<'a> {
    store: &'a PostgresStore,
    own: bool,
}

impl<'a> Moment<'a> {
    fn begin(store: &'a PostgresStore) -> Result<Self> {
        let own = !store.reading.get();
        if own {
            // With the lock on the secrets that an erasure waits for: what is read now can be read to the end.
            store.link.read(|session| {
                session.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
                session.batch("SET LOCAL idle_in_transaction_session_timeout = 0")?;
                session.batch("LOCK TABLE log_session IN ACCESS SHARE MODE").inspect_err(|_| {
                    let _ = session.batch("ROLLBACK");
                })
            })?;
            store.reading.set(true);
        }
        Ok(Self { store, own })
    }

    fn end(self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        if self.own {
            self.store.reading.set(false);
            // Nothing was written: however it ends, nothing is lost.
            let _ = self.store.link.call(|session| session.batch("COMMIT"));
        }
    }
}

impl Store for PostgresStore {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        let transaction = self.link.call(|session| session.begin(schema::WRITING))?;
        let begun = Begun(&self.link);
        let keep = work(&mut table::Open::new(&self.link));
        match keep {
            true => {
                std::mem::forget(begun);
                self.link.call(move |session| session.commit(&transaction))
            }
            // What is not kept need not be told so by a database that is gone.
            false => Ok(()),
        }
    }

    fn opener(&self) -> Opener {
        let database = self.database.clone();
        Arc::new(move || Ok(Box::new(Self::connected(&database)?)))
    }

    /// The small table of secrets is written anew into a file of its own, and the old one deleted. Whoever reads is in the way.
    fn settle(&mut self) -> Result<bool> {
        self.link.read(|session| session.vacuum(&["log_session"]))
    }

    fn prober(&self) -> Probe {
        let (database, mut link) = (self.database.clone(), None);
        Box::new(move || {
            let link: &Link = match &mut link {
                Some(link) => link,
                none => none.insert(Link::open(&database)?),
            };
            // A transaction like any other, and nothing is changed by it.
            link.read(|session| {
                session.batch("SET lock_timeout = '2s'")?;
                session.execute("UPDATE format SET version = version", &[]).map(drop)
            })
        })
    }

    fn is_shared(&self) -> bool {
        true
    }

    /// The lock is held as long as the connection: whoever dies leads no more.
    fn leads(&mut self) -> Result<bool> {
        self.link.read(|session| {
            let found = session.query(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() \
                 AND classid = $1::int::oid AND objid = $2::int::oid) OR pg_try_advisory_lock($1::int, $2::int)",
                &[&schema::LOCKS, &schema::LEADING],
            )?;
            Ok(found.first().map(|row| row.try_get(0)).transpose()? == Some(true))
        })
    }
}

/// A transaction that is not kept unless it is forgotten.
struct Begun<'a>(&'a Link);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let _ = self.0.call(|session| session.batch("ROLLBACK"));
    }
}
