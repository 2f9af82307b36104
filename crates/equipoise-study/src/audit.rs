//! What is written down about a study as a whole: that it was locked, and what researchers did (RS-07).

use crate::error::Result;
use crate::event::{Action, Admin, Event};
use crate::seams::{Clock, Random};
use equipoise_log::{Appended, COMMON_SESSION, Group, Reader, Row, Store, hex, transact};

/// Looks at the same thing within this time are one sitting, in milliseconds.
const SITTING: i64 = 10 * 60 * 1000;

/// Writes down an event of the study itself; returns the row that was there if the key is known.
pub(crate) fn write(
    store: &mut dyn Store,
    key: &str,
    event: &Event,
    at: i64,
    random: &dyn Random,
) -> Result<Row> {
    let entries = vec![event.to_entry(key, at, random)?];
    let group = Group { session: COMMON_SESSION.to_owned(), after: None, entries };
    Ok(match transact(store, |log| log.append(&group))? {
        Appended::New(mut rows) => rows.remove(0),
        Appended::Known(row) => row,
    })
}

/// Writes down what a researcher did.
pub fn note(store: &mut dyn Store, admin: Admin, clock: &dyn Clock, random: &dyn Random) -> Result<Row> {
    let mut draw = [0; 7];
    random.fill(&mut draw)?;
    write(store, &format!("admin-{}", hex::encode(&draw)), &Event::Admin(admin), clock.now(), random)
}

/// Writes down that somebody looked, unless the same look was written within the last ten minutes.
pub fn look(store: &mut dyn Store, admin: Admin, clock: &dyn Clock, random: &dyn Random) -> Result<()> {
    let now = clock.now();
    for row in store.session(COMMON_SESSION)?.into_iter().rev() {
        // A clock that was set back begins a new sitting.
        let recent = (0..SITTING).contains(&(now - row.at));
        if recent && Event::in_row(&row)? == Some(Event::Admin(admin.clone())) {
            return Ok(());
        }
    }
    note(store, admin, clock, random).map(drop)
}

/// Whether results are hidden from researchers.
pub fn blinded(log: &dyn Reader) -> Result<bool> {
    let mut hidden = false;
    for row in log.session(COMMON_SESSION)? {
        if let Some(Event::Admin(Admin { action: Action::Blinded { blinded }, .. })) = Event::in_row(&row)? {
            hidden = blinded;
        }
    }
    Ok(hidden)
}

/// Versions that were locked, with their hashes, in the order of the log.
pub fn locks(log: &dyn Reader) -> Result<Vec<(u64, String)>> {
    let mut found = vec![];
    for row in log.session(COMMON_SESSION)? {
        if let Some(Event::Locked { version, hash }) = Event::in_row(&row)? {
            found.push((version, hash));
        }
    }
    Ok(found)
}
