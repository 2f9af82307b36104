//! What may be done to a log, all or nothing: the rules that hold in any store.

use crate::chain::Head;
use crate::error::{Error, Result};
use crate::store::{Store, Table};
use crate::{COMMON_SESSION, Entry, Group, Payload, Row};

/// The key of the row that says that its session was erased; nothing comes after it.
pub const TOMBSTONE: &str = "erased";

/// What became of a group of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// They are rows now.
    New(Vec<Row>),
    /// The first one's key is there already: nothing was added.
    Known(Row),
}

/// How far a session is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Last {
    /// The number of its last row; 0 for none.
    pub seq: u64,
    /// Whether it was erased: an erasure takes the first event with all others.
    pub erased: bool,
}

/// A log while nobody else writes.
pub struct Transaction<'a> {
    table: &'a mut dyn Table,
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transaction")
    }
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(table: &'a mut dyn Table) -> Self {
        Self { table }
    }

    /// All rows of a session, by number.
    pub fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.table.session(session)
    }

    /// How many sessions have begun without the common one: whoever comes next has this number plus 1.
    pub fn begun(&self) -> Result<u64> {
        self.table.begun()
    }

    /// Adds a group, all or nothing, and numbers its rows.
    pub fn append(&mut self, group: &Group) -> Result<Appended> {
        let last = self.table.last(&group.session)?;
        if last.erased {
            return Err(Error::Erased);
        }
        if let Some(entry) = group.entries.first()
            && let Some(row) = self.table.keyed(&group.session, &entry.key)?
        {
            return Ok(Appended::Known(row));
        }
        if group.after.is_some_and(|seen| seen != last.seq) {
            return Err(Error::Conflict);
        }
        let head = &mut self.table.head()?;
        let entries = (last.seq + 1..).zip(&group.entries);
        let rows: Vec<Row> =
            entries.map(|(seq, entry)| head.extend(&group.session, seq, entry.clone())).collect();
        rows.iter().try_for_each(|row| self.table.insert(row))?;
        Ok(Appended::New(rows))
    }

    /// Deletes all events of a session for good, and ends it with a tombstone whose key is [`TOMBSTONE`]. Whoever was
    /// erased already keeps the tombstone there is.
    pub fn erase(&mut self, session: &str, tombstone: Entry) -> Result<Row> {
        let Last { seq, .. } = self.table.last(session)?;
        if session == COMMON_SESSION || seq == 0 {
            return Err(Error::Missing("there is no such participant".to_owned()));
        }
        self.table.forget(session)?;
        if let Some(row) = self.table.keyed(session, TOMBSTONE)? {
            return Ok(row);
        }
        let entry = Entry { key: TOMBSTONE.to_owned(), ..tombstone };
        let row = self.head()?.extend(session, seq + 1, entry);
        self.table.insert(&row)?;
        Ok(row)
    }

    /// Puts another payload in the place of a row's for good. Whoever does that must add a row that says so: see
    /// [`verify`](crate::verify).
    pub fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.table.replace(position, payload)
    }

    fn head(&self) -> Result<Head> {
        self.table.head()
    }
}

/// Does something to a log, all or nothing: an error leaves it as it was.
pub fn transact<T, E: From<Error>>(
    store: &mut dyn Store,
    work: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let (mut work, mut done) = (Some(work), None);
    let kept = store.transact(&mut |table| {
        done = work.take().map(|work| work(&mut Transaction::new(table)));
        matches!(done, Some(Ok(_)))
    });
    match done {
        Some(Ok(value)) => kept.map(|()| value).map_err(E::from),
        Some(Err(error)) => Err(error),
        None => Err(kept.err().unwrap_or_else(|| Error::storage("the store did nothing")).into()),
    }
}
