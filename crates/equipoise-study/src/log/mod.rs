//! The log: rows that are only ever added, each sealed to the one before.
//!
//! A row commits to its event by `SHA-256(salt, event)` and the chain runs over the commitments. Salt and event lie
//! apart and can be deleted: what is left proves that there was something, and nobody can guess what.

mod chain;
mod hold;
mod memory;
mod sqlite;
mod writer;

pub use chain::{Damage, Head, Receipt, Verified, verify, verify_receipt};
pub(crate) use hold::Hold;
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
pub(crate) use sqlite::added;
pub use writer::Writer;

use crate::error::Result;
use crate::event::Event;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The session the study's own events belong to: locks and erasures.
pub const STUDY_SESSION: &str = "study";

/// SHA-256.
pub type Hash = [u8; 32];

/// A row before it has its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Whose event it is.
    pub session: String,
    /// Its number within the session, from 1 on without gaps.
    pub seq: u64,
    /// Makes sending it twice harmless.
    pub key: String,
    /// When, in milliseconds since 1970, by the server's clock.
    pub at: i64,
    /// What hides the event from guesses.
    pub salt: Hash,
    /// The event, as JSON.
    pub body: String,
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place, from 1 on without gaps.
    pub position: u64,
    /// Whose event it is.
    pub session: String,
    /// Its number within the session.
    pub seq: u64,
    /// What it was sent with.
    pub key: String,
    /// When, by the server's clock.
    pub at: i64,
    /// `SHA-256(salt, event)`.
    pub commitment: Hash,
    /// The hash of the row before; zeros for the first.
    pub previous: Hash,
    /// The hash of all of the above.
    pub hash: Hash,
    /// Salt and event; nothing after an erasure.
    pub payload: Option<Payload>,
}

/// The part of a row that can be erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// What hides the event from guesses.
    pub salt: Hash,
    /// The event, as JSON.
    pub body: String,
}

impl Payload {
    /// What a row that holds it commits to: `SHA-256(salt, event)`.
    pub fn commitment(&self) -> Hash {
        chain::commitment(self)
    }
}

impl Row {
    /// The event; `None` after an erasure.
    pub fn event(&self) -> Result<Option<Event>> {
        let Some(payload) = &self.payload else { return Ok(None) };
        let event = serde_json::from_str(&payload.body)
            .map_err(|e| Damage::at(self.position, format!("the event cannot be read: {e}")))?;
        Ok(Some(event))
    }

    /// What proves that the row was there.
    pub fn receipt(&self) -> Receipt {
        Receipt { position: self.position, hash: self.hash }
    }
}

/// What became of a group of drafts.
#[derive(Debug, Clone, PartialEq)]
pub enum Appended {
    /// They are rows now, synced to disk.
    New(Vec<Row>),
    /// The first one's key is there already: nothing was added.
    Known(Row),
    /// Another event has its number: somebody else was faster. Nothing was added.
    Taken(Row),
}

/// Where rows are kept.
///
/// When `append` returns `Ok`, the rows survive a crash of the process and a loss of power. When it returns `Err`,
/// nothing is promised and nothing may be acknowledged; sending the same keys again is harmless.
pub trait Store: Send {
    /// Adds groups of drafts in order, all in one transaction. Within a group it is all or nothing.
    fn append(&mut self, groups: &[Vec<Draft>]) -> Result<Vec<Appended>>;

    /// All rows of a session, by number.
    fn session(&self, session: &str) -> Result<Vec<Row>>;

    /// Every participant's session, in the order of their first events.
    fn sessions(&self) -> Result<Vec<String>>;

    /// Every row, in order, until `look` fails.
    fn each(&self, look: &mut dyn FnMut(Row) -> Result<()>) -> Result<()>;

    /// Every row after a place, in order, until `look` fails.
    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        self.each(&mut |row| if row.position > position { look(row) } else { Ok(()) })
    }

    /// Whether something could be written and synced now; changes nothing. A store that never refuses need not ask.
    fn probe(&mut self) -> Result<()> {
        Ok(())
    }

    /// Logs that were set aside beside this one. What is erased here is erased there, too.
    fn kept(&self) -> Result<Vec<PathBuf>> {
        Ok(vec![])
    }

    /// The last row's place and hash.
    fn head(&self) -> Result<Head>;

    /// Puts another payload in the place of a row's for good, and adds `record`, which says so.
    fn replace(&mut self, position: u64, payload: Payload, record: Draft) -> Result<Row>;

    /// Deletes the payloads of a session for good, and adds `record`, which says so.
    fn erase(&mut self, session: &str, record: Draft) -> Result<Row>;
}

/// Every row of a store.
pub fn rows(store: &dyn Store) -> Result<Vec<Row>> {
    let mut all = vec![];
    store.each(&mut |row| {
        all.push(row);
        Ok(())
    })?;
    Ok(all)
}
