//! Putting a backup in the place of a log, so that whoever was erased since stays erased.

use crate::chain::Verified;
use crate::erasure::erased;
use crate::error::{Error, Result};
use crate::files::{self, added};
use crate::lease::Lease;
use crate::sqlite::SqliteStore;
use crate::store::{Reader, Store, Table, each};
use crate::transaction::transact;
use crate::{Entry, Hash};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// The log as it is now.
    pub verified: Verified,
    /// How many people were erased again.
    pub again: usize,
    /// How many rows of the log that was there are not in the backup.
    pub lost: u64,
    /// Where the log is that was there before.
    pub kept: Option<PathBuf>,
}

/// What only the writer of a log's events knows.
pub trait Judge {
    /// What goes wrong in it.
    type Err: From<Error>;
    /// Checks a log.
    fn verify(&self, log: &dyn Reader) -> Result<Verified, Self::Err>;
    /// Whether a backup that does not begin as the log does may take its place all the same.
    fn belongs(&self, backup: &dyn Reader, log: Option<&dyn Reader>) -> Result<bool, Self::Err>;
    /// What says that a session was erased.
    fn tombstone(&self, session: &str) -> Result<Entry, Self::Err>;
}

/// Puts a backup in the place of a log, after checking it, and erases again whoever was erased since it was made.
///
/// Rows are copied into a new file, so that nothing else a backup may hold comes with them. The log that was there is
/// kept beside it with `.replaced-1` added to its name, or the next number. Nobody else may have the log open.
pub fn restore<J: Judge>(backup: &Path, to: &Path, judge: &J) -> Result<Restored, J::Err> {
    let copy = SqliteStore::open_copy(backup)?;
    judge.verify(&copy)?;
    let _alone = Lease::alone(to)?;
    let rows = added(to, "-wal");
    if !to.exists() && std::fs::metadata(&rows).is_ok_and(|found| found.len() > 0) {
        // SQLite would take them for rows of the backup.
        let what = format!("{} holds rows of a log that is gone; move it away first", rows.display());
        return Err(Error::storage(what).into());
    }
    let unread = |e: Error| {
        let what = format!(
            "{} cannot be read, so nobody knows who was erased since the backup; move it away if nobody was: {e}",
            to.display()
        );
        Error::storage(what)
    };
    let current = match to.exists() {
        true => Some(SqliteStore::open_apart(to).map_err(unread)?),
        false => None,
    };
    let gone = current.as_ref().map_or(Ok(BTreeSet::new()), |log| erased(log)).map_err(unread)?;
    let begins_alike = match &current {
        Some(current) => first(current)? == first(&copy)?,
        None => false,
    };
    if !begins_alike && !judge.belongs(&copy, current.as_ref().map(|log| log as &dyn Reader))? {
        let what = format!("{} is a backup of another study, expected one of this study", backup.display());
        return Err(Error::Another(what).into());
    }
    let lost = current.as_ref().map_or(Ok(0), |log| missing(log, &copy)).map_err(unread)?;
    // All is done beside the log; until the last step it stays what it was.
    let beside = added(to, ".restoring");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(added(&beside, ending));
    }
    let mut store = SqliteStore::begin_apart(&beside)?;
    let mut spent = copy.spent()?;
    for session in current.as_ref().map(Reader::spent).transpose()?.unwrap_or_default() {
        // Whoever is in the backup is erased below.
        if copy.session(&session)?.is_empty() {
            spent.insert(session);
        }
    }
    let mut copied = Ok(());
    store.transact(&mut |table| {
        copied = fill(table, &copy, &spent);
        copied.is_ok()
    })?;
    copied?;
    let mut again = 0;
    for session in gone.difference(&erased(&store)?) {
        // Whoever was invited after the backup is not in it.
        if !store.session(session)?.is_empty() {
            let tombstone = judge.tombstone(session)?;
            transact(&mut store, |log| log.erase(session, tombstone))?;
            again += 1;
        }
    }
    let verified = judge.verify(&store)?;
    store.into_one_file()?;
    let kept = match current {
        Some(current) => {
            current.into_one_file()?;
            Some(set_aside(to)?)
        }
        None => None,
    };
    std::fs::rename(&beside, to)
        .map_err(|e| Error::with_file(format!("cannot put the backup at {}", to.display()), &e))?;
    files::sync_name(to);
    Ok(Restored { verified, again, lost, kept })
}

/// Puts a backup into a store that holds nothing yet, after checking it.
pub fn restore_into<J: Judge>(backup: &Path, store: &mut dyn Store, judge: &J) -> Result<Restored, J::Err> {
    let copy = SqliteStore::open_copy(backup)?;
    judge.verify(&copy)?;
    if !judge.belongs(&copy, None)? {
        let what = format!("{} is a backup of another study, expected one of this study", backup.display());
        return Err(Error::Another(what).into());
    }
    let mut copied = Ok(());
    store.transact(&mut |table| {
        copied = table.head().and_then(|head| match head.position {
            0 => fill(table, &copy, &copy.spent()?),
            rows => Err(Error::InUse(format!("there is a log of {rows} rows already, expected none"))),
        });
        copied.is_ok()
    })?;
    copied?;
    Ok(Restored { verified: judge.verify(store)?, again: 0, lost: 0, kept: None })
}

/// Puts all rows of a log into an empty one.
fn fill(table: &mut dyn Table, log: &dyn Reader, spent: &BTreeSet<String>) -> Result<()> {
    each(log, |row| table.insert(&row))?;
    spent.iter().try_for_each(|session| table.spend(session))
}

/// Gives a log a second name that nothing has yet.
fn set_aside(log: &Path) -> Result<PathBuf> {
    for number in 1_u32.. {
        let aside = added(log, &format!(".replaced-{number}"));
        if aside.exists() {
            continue;
        }
        // With two names for a moment there is always a log; not every file system can.
        match std::fs::hard_link(log, &aside).or_else(|_| std::fs::rename(log, &aside)) {
            Ok(()) => return Ok(aside),
            Err(e) => return Err(Error::with_file(format!("cannot move {} aside", log.display()), &e)),
        }
    }
    Err(Error::storage("no name is left for the log that was there"))
}

/// How many rows of a log are not in another one. Rows are sealed to the ones before, so two logs part once, if they do.
fn missing(log: &dyn Reader, other: &dyn Reader) -> Result<u64> {
    let mut seals = vec![];
    each(other, |row| {
        seals.push(row.hash);
        Ok::<_, Error>(())
    })?;
    let mut missing = 0;
    let mut theirs = seals.into_iter();
    each(log, |row| {
        missing += u64::from(theirs.next() != Some(row.hash));
        Ok::<_, Error>(())
    })?;
    Ok(missing)
}

/// The seal of the first row: salted, so no two logs have the same.
fn first(log: &dyn Reader) -> Result<Option<Hash>> {
    let mut seal = None;
    log.each_after(0, &mut |row| {
        seal = Some(row.hash);
        false
    })?;
    Ok(seal)
}
