//! The chain that seals the log, receipts from it, and what verifying it finds.

use super::{Draft, Hash, Payload, Row, STUDY_SESSION, Store};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::hex;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The end of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// How many rows there are.
    pub position: u64,
    /// The hash of the last; zeros for an empty log.
    pub hash: Hash,
}

/// Proof that a row was in the log: its place and hash.
///
/// As text `12-9f86d081884c7d65`: the place, and 64 bits of the hash in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Where.
    pub position: u64,
    /// The row's hash.
    pub hash: Hash,
}

impl std::fmt::Display for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.position, hex::encode(&self.hash[..8]))
    }
}

/// What is wrong with a log, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {position} of the log: {what}")]
pub struct Damage {
    /// The row.
    pub position: u64,
    /// What does not agree.
    pub what: String,
}

impl Damage {
    pub(crate) fn at(position: u64, what: impl Into<String>) -> Self {
        Self { position, what: what.into() }
    }
}

/// A log that agrees with itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many rows.
    pub rows: u64,
    /// How many participants have rows.
    pub sessions: usize,
    /// How many were erased.
    pub erased: usize,
    /// The hash of the last row, in hexadecimal.
    pub head: String,
    /// The hash of the last row that is not about what researchers did: looking at a log does not change it.
    pub data_head: String,
}

/// The commitment to an event.
pub(super) fn commitment(payload: &Payload) -> Hash {
    let mut hash = Sha256::new();
    hash.update(payload.salt);
    hash.update(payload.body.as_bytes());
    hash.finalize().into()
}

/// The hash of a row, from all that it says.
fn seal(row: &Row) -> Hash {
    let mut hash = Sha256::new();
    hash.update(b"equipoise event 1\n");
    hash.update(row.previous);
    hash.update(row.position.to_be_bytes());
    for text in [&row.session, &row.key] {
        // With their lengths, so that no two rows read alike.
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(row.seq.to_be_bytes());
    hash.update(row.at.to_be_bytes());
    hash.update(row.commitment);
    hash.finalize().into()
}

impl Head {
    /// The row a draft becomes at the end of this log.
    pub(super) fn extend(&mut self, draft: Draft) -> Row {
        let Draft { session, seq, key, at, salt, body } = draft;
        let payload = Payload { salt, body };
        let commitment = commitment(&payload);
        let (position, previous) = (self.position + 1, self.hash);
        let payload = Some(payload);
        let mut row = Row { position, session, seq, key, at, commitment, previous, hash: [0; 32], payload };
        row.hash = seal(&row);
        *self = Self { position, hash: row.hash };
        row
    }
}

const OTHER: &str = "has another event than it was sealed with";

/// Checks every row: its place, its number within the session, its seal, and its event.
///
/// A consent may have been written anew without its contact data; a later row says so and commits to the new event.
///
/// Any row changed, removed, swapped or put in is found. Rows cut from the end are found only against something kept
/// outside: a receipt, or the head printed in an export or a report.
pub fn verify(store: &dyn Store) -> Result<Verified> {
    let (mut head, mut data) = (Head::default(), [0; 32]);
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    let (mut empty, mut erased) = (BTreeMap::new(), BTreeSet::new());
    // Rows with another event than they were sealed with, and what later rows say about that.
    let (mut other, mut moved) = (BTreeMap::new(), BTreeMap::new());
    store.each(&mut |row| {
        let wrong = |what: &str| Err(Error::Damaged(Damage::at(head.position + 1, what)));
        if row.position != head.position + 1 {
            return wrong(&format!("is missing: row {} comes next", row.position));
        }
        if row.previous != head.hash {
            return wrong("does not follow from the row before");
        }
        if seal(&row) != row.hash {
            return wrong("was changed: its hash is not that of its contents");
        }
        let seq = next.entry(row.session.clone()).or_insert(1);
        if row.seq != *seq {
            return wrong(&format!("has number {} in its session, expected {seq}", row.seq));
        }
        *seq += 1;
        match &row.payload {
            Some(payload) if commitment(payload) != row.commitment => {
                let found = hex::encode(&commitment(payload));
                let bare = matches!(row.event(), Ok(Some(Event::ConsentGiven { external, .. })) if external.is_empty());
                if row.session == STUDY_SESSION || !bare {
                    return wrong(OTHER);
                }
                other.insert(row.position, found);
            }
            Some(_) if row.session == STUDY_SESSION => match row.event()? {
                Some(Event::Admin(_)) => {}
                Some(Event::Erased { session }) => {
                    erased.insert(session);
                    data = row.hash;
                }
                Some(Event::ContactMoved { position, commitment }) => {
                    moved.insert(position, commitment);
                    data = row.hash;
                }
                _ => data = row.hash,
            },
            Some(_) => data = row.hash,
            None => {
                empty.entry(row.session.clone()).or_insert(row.position);
                data = row.hash;
            }
        }
        head = Head { position: row.position, hash: row.hash };
        Ok(())
    })?;
    for (position, found) in &other {
        if moved.get(position) != Some(found) {
            return Err(Damage::at(*position, OTHER).into());
        }
    }
    for (session, position) in &empty {
        if !erased.contains(session) {
            return Err(Damage::at(*position, "has no event, and no erasure says why").into());
        }
    }
    let sessions = next.keys().filter(|session| *session != STUDY_SESSION).count();
    let (rows, erased, head) = (head.position, erased.len(), hex::encode(&head.hash));
    Ok(Verified { rows, sessions, erased, head, data_head: hex::encode(&data) })
}

/// Whether the log holds the row a receipt stands for; `Err` says what is there instead.
pub fn verify_receipt(store: &dyn Store, receipt: &str) -> Result<Row> {
    let broken =
        || Error::Missing(format!("\"{receipt}\" is not a receipt, expected one like 12-9f86d081884c7d65"));
    let (position, digits) = receipt.trim().split_once('-').ok_or_else(broken)?;
    let position: u64 = position.parse().map_err(|_| broken())?;
    let hash = hex::decode(digits).filter(|hash| (8..=32).contains(&hash.len())).ok_or_else(broken)?;
    let mut found = None;
    store.each(&mut |row| {
        if row.position == position {
            found = Some(row);
        }
        Ok(())
    })?;
    match found {
        None => Err(Damage::at(position, "is not there: the log was cut after the receipt was given").into()),
        Some(row) if row.hash.starts_with(&hash) => Ok(row),
        Some(_) => Err(Damage::at(position, "is not the one the receipt was given for").into()),
    }
}
