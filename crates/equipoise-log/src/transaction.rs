//! What may be done to a log, all or nothing: the rules that hold in any store.

use crate::chain::Head;
use crate::error::{Error, Result};
use crate::store::{Store, Table};
use crate::{COMMON_SESSION, Entry, Group, Hash, Payload, Row, hex};
use sha2::{Digest as _, Sha256};

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
    /// Whether it was erased, which also leaves a session without rows. Older releases left the rows where they were,
    /// without their events.
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

    /// Whether the session of this name was erased.
    pub fn is_erased(&self, session: &str) -> Result<bool> {
        Ok(self.table.last(session)?.erased)
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

    /// Deletes all events of a session for good, with its name, keys and times: whoever knows the name does not find the
    /// rows any more. They end with a tombstone under a name that nobody had, whose key is [`TOMBSTONE`].
    pub fn erase(&mut self, session: &str, tombstone: Entry) -> Result<Row> {
        match self.table.last(session)? {
            Last { seq: 0, erased: true } => Err(Error::Erased),
            Last { seq, .. } if seq > 0 && session != COMMON_SESSION => {
                let mut head = self.head()?;
                let rows = self.table.session(session)?;
                let name = nobody(&tombstone.salt, &head, rows.iter().map(|row| &row.commitment));
                self.table.forget(session, &name)?;
                self.table.spend(session)?;
                let entry = Entry { key: TOMBSTONE.to_owned(), ..tombstone };
                let row = head.extend(&name, seq + 1, entry);
                self.table.insert(&row)?;
                Ok(row)
            }
            _ => Err(Error::Missing("there is no such participant".to_owned())),
        }
    }

    /// Puts another payload in the place of a row's for good: of a row that an older release has sealed, without its salt.
    /// Whoever does that must add a row that says so: see [`verify`](crate::verify).
    pub fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.table.replace(position, payload)
    }

    /// The last row's place and hash.
    pub fn head(&self) -> Result<Head> {
        self.table.head()
    }
}

/// How names of erased sessions begin that say which rows were erased. Older ones lack the number.
pub(crate) const NOBODY: &str = "erased-2-";

/// A name that nobody had, from the salt of a tombstone, its place, and what the erased rows had committed to: it leads to
/// nothing but that, and the tombstone, which is sealed with it, says which rows were erased.
pub(crate) fn nobody<'a>(salt: &Hash, head: &Head, commitments: impl Iterator<Item = &'a Hash>) -> String {
    let mut hash = Sha256::new();
    hash.update(b"equipoise erased 2\n");
    hash.update(salt);
    hash.update(head.position.to_be_bytes());
    commitments.for_each(|commitment| hash.update(commitment));
    format!("{NOBODY}{}", hex::encode(&hash.finalize()[..16]))
}

/// Does something to a log, all or nothing: an error leaves it as it was.
pub fn transact<T, E: From<Error>>(
    store: &mut dyn Store,
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
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
