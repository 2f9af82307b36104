//! Deleting what a participant sent, so that the chain stays whole and a restored backup forgets it too.

use crate::desk::body;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::log::{Draft, Hash, Row, STUDY_SESSION, Store};
use std::collections::BTreeSet;

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
