//! Deleting what a participant sent, so that the chain stays whole and a restored backup forgets it too.

use crate::desk::body;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::log::{Draft, Hash, Row, STUDY_SESSION, SqliteStore, Store, Verified, verify};
use crate::seams::{Clock, Random};
use std::collections::BTreeSet;
use std::path::Path;

/// Deletes a session's events and writes down that this was done.
pub(crate) fn erase(
    store: &mut dyn Store,
    session: &str,
    at: i64,
    salt: Hash,
    record: &Event,
) -> Result<Row> {
    if session == STUDY_SESSION || store.session(session)?.is_empty() {
        return Err(Error::Missing("there is no such participant".to_owned()));
    }
    let seq = store.session(STUDY_SESSION)?.len() as u64 + 1;
    let key = format!("erased-{seq}");
    let draft = Draft { session: STUDY_SESSION.to_owned(), seq, key, at, salt, body: body(record) };
    store.erase(session, draft)
}

/// Sessions that were erased.
pub fn erased(store: &dyn Store) -> Result<BTreeSet<String>> {
    let mut sessions = BTreeSet::new();
    for row in store.session(STUDY_SESSION)? {
        if let Some(Event::Erased { session }) = row.event()? {
            sessions.insert(session);
        }
    }
    Ok(sessions)
}

/// Puts a backup in the place of a log, after checking it, and erases again whoever was erased since it was made.
///
/// The log that was there is kept beside it with `.replaced` added to its name; it is read for erasures only.
pub fn restore(
    backup: &Path,
    to: &Path,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<(Verified, usize)> {
    let copy = SqliteStore::open_existing(backup)?;
    verify(&copy)?;
    let mut gone = BTreeSet::new();
    if to.exists() {
        let current = SqliteStore::open_existing(to)?;
        gone = erased(&current)?;
        drop(current);
        let mut aside = to.as_os_str().to_owned();
        aside.push(".replaced");
        let io = |e: std::io::Error| Error::Storage(format!("cannot move {} aside: {e}", to.display()));
        std::fs::rename(to, &aside).map_err(io)?;
    }
    copy.backup(to)?;
    let mut store = SqliteStore::open_existing(to)?;
    let already = erased(&store)?;
    let mut again = 0;
    for session in gone.difference(&already) {
        // Whoever was invited after the backup is not in it.
        if !store.session(session)?.is_empty() {
            let mut salt = [0; 32];
            random.fill(&mut salt)?;
            let record = Event::Erased { session: session.clone() };
            erase(&mut store, session, clock.now(), salt, &record)?;
            again += 1;
        }
    }
    Ok((verify(&store)?, again))
}
