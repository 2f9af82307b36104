//! What the log cannot know about its own rows: which of them are data, which may be written anew, whose they are.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::seams::{Clock, Random};
use crate::study::Study;
use equipoise_log::{COMMON_SESSION, Damage, Entry, Reader, Restored, Row, Verified, each, hex};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Checks the log of a study: see [`equipoise_log::verify`].
///
/// A consent may have been written anew without its contact data; a later row says so and commits to the new event.
/// What researchers did is not data.
pub fn verify(log: &dyn Reader) -> Result<Verified> {
    Ok(checked(log)?.0)
}

/// The same, knowing the study: a consent that was written anew must be to a text of the study. Otherwise whoever writes
/// the log could put another one in its place.
pub fn verify_of(log: &dyn Reader, study: &Study) -> Result<Verified> {
    let (verified, anew) = checked(log)?;
    let texts: BTreeSet<String> =
        study.languages.iter().map(|language| consent_hash(study, language)).collect();
    for (position, session, text) in anew {
        let first = log.session(&session)?.into_iter().next();
        let invited = first.as_ref().map(Event::in_row).transpose()?.flatten();
        // Nothing is known of texts of other versions.
        let known = matches!(invited, Some(Event::Invited(invited)) if invited.version == study.version);
        if known && !texts.contains(&text) {
            return Err(Damage::at(position, "was written anew as a consent to another text").into());
        }
    }
    Ok(verified)
}

/// SHA-256 of the consent text in a language.
pub(crate) fn consent_hash(study: &Study, language: &str) -> String {
    hex::encode(&Sha256::digest(study.consent.text.r#in(language).as_bytes()))
}

/// A consent that was written anew: where, whose, and to which text.
type Anew = (u64, String, String);

/// A log that agrees with itself, and the consents that were written anew.
fn checked(log: &dyn Reader) -> Result<(Verified, Vec<Anew>)> {
    let mut anew = vec![];
    // Rows with another event than they were sealed with, and what later rows say about that.
    let (mut other, mut moved) = (BTreeMap::new(), BTreeMap::new());
    let verified = equipoise_log::verify(log, &mut |row, sealed| {
        let common = row.session == COMMON_SESSION;
        // Most rows need not be read.
        let event = match common || !sealed {
            true => Event::in_row(row)?,
            false => None,
        };
        match event {
            Some(Event::ConsentGiven { external, text, .. }) if !common && external.is_empty() => {
                anew.push((row.position, row.session.clone(), text));
                let payload = row.payload.as_ref();
                other.insert(row.position, payload.map(|payload| hex::encode(&payload.commitment())));
            }
            _ if !sealed => return Err(Damage::other_event(row.position)),
            Some(Event::Admin(_)) => return Ok(false),
            Some(Event::ContactMoved { position, commitment }) => {
                moved.insert(position, Some(commitment));
            }
            _ => {}
        }
        Ok(true)
    })?;
    match other.iter().find(|(position, found)| moved.get(position) != Some(found)) {
        Some((position, _)) => Err(Damage::other_event(*position).into()),
        None => Ok((verified, anew)),
    }
}

/// What ends the session of somebody who is erased.
pub(crate) fn tombstone(clock: &dyn Clock, random: &dyn Random) -> Result<Entry> {
    let event = Event::Erased { session: String::new() };
    event.to_entry(equipoise_log::TOMBSTONE, clock.now(), random)
}

/// Puts a backup in the place of a study's log: see [`equipoise_log::restore`].
///
/// `study` are hashes the study is known by; a backup that holds none of them, nor begins as the log does, is another
/// study's.
pub fn restore(
    backup: &Path,
    to: &Path,
    study: &[String],
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<Restored> {
    equipoise_log::restore(backup, to, &Judge { study, clock, random })
}

/// Puts a backup into a store that holds nothing yet: see [`equipoise_log::restore_into`].
pub fn restore_into(
    backup: &Path,
    store: &mut dyn equipoise_log::Store,
    study: &[String],
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<Restored> {
    equipoise_log::restore_into(backup, store, &Judge { study, clock, random })
}

/// Erases somebody in a log that was set aside; says whether there was anything of theirs in it.
pub fn erase_aside(log: &Path, session: &str, clock: &dyn Clock, random: &dyn Random) -> Result<bool> {
    Ok(equipoise_log::erase_aside(log, session, &tombstone(clock, random)?)?)
}

/// Deletes what came in of people after they were erased: see [`equipoise_log::repair`].
pub fn repair(store: &mut dyn equipoise_log::Store, clock: &dyn Clock, random: &dyn Random) -> Result<usize> {
    equipoise_log::repair(store, |_| tombstone(clock, random))
}

struct Judge<'a> {
    study: &'a [String],
    clock: &'a dyn Clock,
    random: &'a dyn Random,
}

impl equipoise_log::Judge for Judge<'_> {
    type Err = Error;

    fn verify(&self, log: &dyn Reader) -> Result<Verified> {
        verify(log)
    }

    fn belongs(&self, backup: &dyn Reader, log: Option<&dyn Reader>) -> Result<bool> {
        let mut known: BTreeSet<String> = self.study.iter().cloned().collect();
        if let Some(log) = log {
            known.extend(studies(log)?);
        }
        let theirs = studies(backup)?;
        Ok(theirs.is_empty() || !theirs.is_disjoint(&known))
    }

    fn tombstone(&self, _: &str) -> Result<Entry> {
        tombstone(self.clock, self.random)
    }
}

/// Hashes of the studies a log was locked for and invited to.
fn studies(log: &dyn Reader) -> Result<BTreeSet<String>> {
    let mut hashes = BTreeSet::new();
    each(log, |row| {
        match Event::in_row(&row)? {
            Some(Event::Locked { hash, .. }) => drop(hashes.insert(hash)),
            Some(Event::Invited(invited)) => drop(hashes.insert(invited.study)),
            _ => {}
        }
        Ok::<_, Error>(())
    })?;
    Ok(hashes)
}

/// Whom a number stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbered {
    /// The participant of this session.
    Session(String),
    /// Somebody who was erased.
    Erased,
    /// Nobody yet.
    Nobody,
}

/// Whom a number stands for in a log.
pub fn numbered(log: &dyn Reader, number: u64) -> Result<Numbered> {
    let sessions = log.sessions()?;
    for session in &sessions {
        let first = log.session(session)?.into_iter().next();
        if let Some(Event::Invited(invited)) = first.as_ref().map(Event::in_row).transpose()?.flatten()
            && invited.number == number
        {
            return Ok(Numbered::Session(session.clone()));
        }
    }
    // The number went with the invitation, but numbers follow the order of invitations.
    let place = number.checked_sub(1).and_then(|place| sessions.get(place as usize));
    Ok(if place.is_some() { Numbered::Erased } else { Numbered::Nobody })
}

impl Event {
    /// The event of a row; `None` after an erasure.
    pub fn in_row(row: &Row) -> Result<Option<Self>, Damage> {
        let Some(payload) = &row.payload else { return Ok(None) };
        let unread = |e| Damage::at(row.position, format!("the event cannot be read: {e}"));
        serde_json::from_str(&payload.body).map(Some).map_err(unread)
    }

    /// As the log keeps it.
    pub fn body(&self) -> String {
        serde_json::to_string(self).expect("events are plain data")
    }

    /// On its way into the log.
    pub(crate) fn to_entry(&self, key: impl Into<String>, at: i64, random: &dyn Random) -> Result<Entry> {
        let mut salt = [0; 32];
        random.fill(&mut salt)?;
        Ok(Entry { key: key.into(), at, salt, body: self.body() })
    }
}
