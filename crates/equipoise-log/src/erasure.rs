//! Deleting what a session holds, so that the chain stays whole and nothing comes back.

use crate::chain::erasure;
use crate::error::{Error, Result, Trouble, Why};
use crate::sqlite::SqliteStore;
use crate::store::{Reader, Store, each};
use crate::transaction::{TOMBSTONE, transact};
use crate::{Entry, Group, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long somebody who reads is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long they are by somebody who only asks whether all is done.
const MOMENT: Duration = Duration::from_millis(500);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Erases a session, also in logs that were set aside; in the same transaction it may get a `last` event, which goes with
/// the others. What is left to do is in [`settled`].
pub fn erase(store: &mut dyn Store, session: &str, last: Option<Entry>, tombstone: &Entry) -> Result<Row> {
    let row = transact(store, |log| {
        if let Some(entry) = last {
            log.append(&Group { session: session.to_owned(), after: None, entries: vec![entry] })?;
        }
        log.erase(session, tombstone.clone())
    })?;
    for path in store.aside()? {
        let done = erase_aside(&path, session, tombstone);
        done.map_err(|e| Error::storage(format!("erased, but not in {}: {e}", path.display())))?;
    }
    Ok(row)
}

/// Waits until no file holds what was erased: `settle` is [`Store::settle`], tried again as long as somebody reads.
///
/// Between two tries others may write. Whoever reads for longer than ten seconds makes it fail, in a sentence.
pub fn settled<E: From<Error>>(settle: impl FnMut() -> Result<bool, E>) -> Result<(), E> {
    settled_within(PATIENCE, settle)
}

/// Whether files may still hold what was erased, since somebody read them whenever the last step was tried, and does so now.
pub fn is_unfinished(store: &mut dyn Store) -> bool {
    store.is_unsettled() && settled_within(MOMENT, || store.settle()).is_err()
}

fn settled_within<E: From<Error>>(
    patience: Duration,
    mut settle: impl FnMut() -> Result<bool, E>,
) -> Result<(), E> {
    let begun = Instant::now();
    while !settle()? {
        if begun.elapsed() > patience {
            let what = "somebody reads it, so what was erased is still in its files; \
                        let them end, and erase again";
            return Err(Error::Storage(Trouble::new(Why::Busy, what)).into());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Erases somebody in a log that was set aside; says whether there was anything of theirs in it.
pub fn erase_aside(log: &Path, session: &str, tombstone: &Entry) -> Result<bool> {
    let mut store = SqliteStore::open_apart(log)?;
    let held = store.session(session)?.iter().any(holds);
    if held {
        transact(&mut store, |log| log.erase(session, tombstone.clone()))?;
    }
    store.into_one_file()?;
    Ok(held)
}

/// Whether a row has something that an erasure takes.
fn holds(row: &Row) -> bool {
    row.payload.is_some() && row.key != TOMBSTONE
}

/// Sessions that were erased, by the names they had and by those their rows have now.
pub fn erased(reader: &dyn Reader) -> Result<BTreeSet<String>> {
    let mut sessions = reader.spent()?;
    each(reader, |row| {
        sessions.extend(erasure(&row));
        Ok::<_, Error>(())
    })?;
    Ok(sessions)
}

/// Deletes what came in of people after they were erased, and ends their sessions with a tombstone: how many people.
///
/// A server of an older release could go on writing for somebody whom a command had erased.
pub fn repair<E: From<Error>>(
    store: &mut dyn Store,
    mut tombstone: impl FnMut(&str) -> Result<Entry, E>,
) -> Result<usize, E> {
    let (gone, mut held) = (erased(store)?, BTreeMap::new());
    each(store, |row| {
        if holds(&row) && gone.contains(&row.session) {
            *held.entry(row.session).or_insert(0) += 1;
        }
        Ok::<_, Error>(())
    })?;
    for session in held.keys() {
        erase(store, session, None, &tombstone(session)?)?;
    }
    settled(|| store.settle().map_err(E::from))?;
    Ok(held.len())
}

/// Logs that were set aside beside a log, by a restore or by a newer release. Nothing reads them but erasures.
pub fn aside(log: &Path) -> Result<Vec<PathBuf>> {
    let unread = |e: std::io::Error| Error::with_file(format!("cannot look beside {}", log.display()), &e);
    let Some(name) = log.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(vec![]);
    };
    let directory = log.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut found = vec![];
    for entry in std::fs::read_dir(directory.unwrap_or(Path::new("."))).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let other = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // SQLite's own files and locks go with the log they are named after.
        let ending = other.strip_prefix(&name).unwrap_or_default();
        let aside = ending.starts_with(".replaced") || ending.starts_with(".before-");
        if aside && ![".lock", "-wal", "-shm", "-journal", ".part"].iter().any(|own| ending.ends_with(own)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_reads_for_ever_is_not_waited_for_that_long() {
        let mut tries = 0;
        let settle = || {
            tries += 1;
            Ok(false)
        };
        let given_up: Result<()> = settled_within(Duration::from_millis(50), settle);
        assert_eq!(given_up.unwrap_err().why(), Some(Why::Busy));
        assert!(tries > 1);
    }
}
