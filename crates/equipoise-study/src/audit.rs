//! What is written down about a study as a whole: that it was locked, and what researchers did (RS-07).

use crate::error::{Error, Result};
use crate::event::{Admin, Event};
use crate::hex;
use crate::log::{Appended, Draft, Row, STUDY_SESSION, Store};
use crate::seams::{Clock, Random};
use crate::service::body;

/// How often another process may be faster before we give up.
const TRIES: usize = 100;

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
    let mut salt = [0; 32];
    random.fill(&mut salt)?;
    for _ in 0..TRIES {
        let seq = store.session(STUDY_SESSION)?.len() as u64 + 1;
        let (session, key) = (STUDY_SESSION.to_owned(), key.to_owned());
        let draft = Draft { session, seq, key, at, salt, body: body(event) };
        match store.append(&[vec![draft]])?.remove(0) {
            Appended::New(mut rows) => return Ok(rows.remove(0)),
            Appended::Known(row) => return Ok(row),
            // A server and a command may write at the same time; the number is the other's now.
            Appended::Taken(_) => {}
        }
    }
    Err(Error::Storage("others write to the log all the time".to_owned()))
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
    for row in store.session(STUDY_SESSION)?.into_iter().rev() {
        // A clock that was set back begins a new sitting.
        let recent = (0..SITTING).contains(&(now - row.at));
        if recent && row.event()? == Some(Event::Admin(admin.clone())) {
            return Ok(());
        }
    }
    note(store, admin, clock, random).map(drop)
}

/// Versions that were locked, with their hashes, in the order of the log.
pub fn locks(store: &dyn Store) -> Result<Vec<(u64, String)>> {
    let mut found = vec![];
    for row in store.session(STUDY_SESSION)? {
        if let Some(Event::Locked { version, hash }) = row.event()? {
            found.push((version, hash));
        }
    }
    Ok(found)
}
