//! What a store of rows must be able to do: little enough that a database server can.

use crate::chain::Head;
use crate::error::{Error, Result};
use crate::transaction::Last;
use crate::{Payload, Row};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens a way to read a log, on any thread and without asking whoever writes.
pub type Opener = Arc<dyn Fn() -> Result<Box<dyn Reader + Send>> + Send + Sync>;

/// Whether something could be written and synced now; changes nothing.
pub type Probe = Box<dyn FnMut() -> Result<()> + Send>;

/// Reads a log. Readers are apart from the writer: however long one takes, rows are added meanwhile.
pub trait Reader {
    /// All rows of a session, by number.
    fn session(&self, session: &str) -> Result<Vec<Row>>;

    /// How many rows a session has.
    fn length(&self, session: &str) -> Result<u64> {
        Ok(self.session(session)?.len() as u64)
    }

    /// Every session but the common one, in the order of their first rows.
    fn sessions(&self) -> Result<Vec<String>>;

    /// Every row after a place, in order and as of one moment, as long as `look` wants more.
    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()>;

    /// The last row's place and hash.
    fn head(&self) -> Result<Head>;

    /// Names of sessions that were erased; their rows have another one since.
    fn spent(&self) -> Result<BTreeSet<String>>;

    /// What is where the log is kept and no part of it, such as `trigger "x"`. It may change rows, or hold what was erased.
    fn foreign(&self) -> Result<Vec<String>> {
        Ok(vec![])
    }

    /// Whether the session of this name was erased.
    fn is_spent(&self, session: &str) -> Result<bool> {
        Ok(self.spent()?.contains(session))
    }
}

/// Where rows are kept.
///
/// When `transact` returns `Ok`, what was done survives a crash of the process and a loss of power. When it returns
/// `Err`, nothing is promised and nothing may be acknowledged; sending the same keys again is harmless.
pub trait Store: Reader + Send {
    /// Calls `work` once, with nobody else writing meanwhile, and keeps what it did if it says so; otherwise nothing.
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()>;

    /// How others read the same log: whoever has that does not need the store, which may be busy.
    fn opener(&self) -> Opener;

    /// Another way to read the same log, for another thread.
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        (self.opener())()
    }

    /// Makes sure that no file holds what was erased; `false` if somebody who reads is in the way, and it must be tried
    /// again. Holds nobody up for long.
    fn settle(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Whether [`Store::settle`] failed the last time anybody tried, so that a file may still hold what was erased.
    fn is_unsettled(&self) -> bool {
        false
    }

    /// How somebody beside the store finds out whether something could be written: one who waits for nobody. A store that
    /// never refuses need not ask.
    fn prober(&self) -> Probe {
        Box::new(|| Ok(()))
    }

    /// Whether something could be written and synced now; changes nothing.
    fn probe(&self) -> Result<()> {
        (self.prober())()
    }

    /// Whether other servers write the same log: then what one of them keeps of it in memory may be old.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether this is the one of several servers that does what is to be done once, such as deleting what is past its time.
    fn leads(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// A copy of the whole log as it is now, in a new SQLite file; others may go on writing meanwhile.
    ///
    /// The copy is there completely or not at all.
    fn backup(&self, to: &Path) -> Result<()> {
        crate::copy::to_file(&*self.reader()?, to)
    }

    /// Logs that were set aside beside this one. What is erased here is erased there, too.
    fn aside(&self) -> Result<Vec<PathBuf>> {
        Ok(vec![])
    }
}

/// The rows during a transaction. What may be done with them is in [`Transaction`](crate::Transaction), the same for
/// every store.
pub trait Table {
    /// The last row's place and hash.
    fn head(&self) -> Result<Head>;

    /// All rows of a session, by number.
    fn session(&self, session: &str) -> Result<Vec<Row>>;

    /// How many sessions there are without the common one.
    fn begun(&self) -> Result<u64>;

    /// The row a key of a session stands for.
    fn keyed(&self, session: &str, key: &str) -> Result<Option<Row>>;

    /// How far a session is.
    fn last(&self, session: &str) -> Result<Last>;

    /// Adds a row.
    fn insert(&mut self, row: &Row) -> Result<()>;

    /// Deletes the payloads of a session, and what its rows say of it: they get another name, their number for a key, and
    /// no time. The seal they had stays, and with it the chain.
    fn forget(&mut self, session: &str, name: &str) -> Result<()>;

    /// Remembers that the session of this name was erased.
    fn spend(&mut self, session: &str) -> Result<()>;

    /// Puts another payload in the place of a row's.
    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()>;
}

/// Every row, in order, until `look` fails.
pub fn each<E: From<Error>>(reader: &dyn Reader, look: impl FnMut(Row) -> Result<(), E>) -> Result<(), E> {
    each_after(reader, 0, look)
}

/// Every row after a place, in order, until `look` fails.
pub fn each_after<E: From<Error>>(
    reader: &dyn Reader,
    position: u64,
    mut look: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let mut looked = Ok(());
    reader.each_after(position, &mut |row| {
        looked = look(row);
        looked.is_ok()
    })?;
    looked
}

/// Every row of a log.
pub fn rows(reader: &dyn Reader) -> Result<Vec<Row>> {
    let mut all = vec![];
    reader.each_after(0, &mut |row| {
        all.push(row);
        true
    })?;
    Ok(all)
}
