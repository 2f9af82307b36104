//! The chain that seals the log, receipts from it, and what verifying it finds.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "positions and rows are counted here from 0, whatever a row says of itself"
)]

use crate::error::{Error, Result};
use crate::store::{Reader, each};
use crate::transaction::{NOBODY, TOMBSTONE, nobody};
use crate::{COMMON_SESSION, Entry, Hash, Payload, Row, hex};
use serde::{Deserialize, Serialize};
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
    /// Damage at a row.
    pub fn at(position: u64, what: impl Into<String>) -> Self {
        Self { position, what: what.into() }
    }

    /// A row whose event was changed.
    pub fn other_event(position: u64) -> Self {
        Self::at(position, "has another event than it was sealed with")
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
    /// Events of people who were erased, which came after that: [`repair`](crate::repair) deletes them.
    #[serde(skip_serializing_if = "is_zero")]
    pub stray: u64,
    /// The hash of the last row, in hexadecimal.
    pub head: String,
    /// The hash of the last row that is not about what researchers did: looking at a log does not change it.
    pub data_head: String,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The commitment to an event.
pub(crate) fn commitment(payload: &Payload) -> Hash {
    let mut hash = Sha256::new();
    hash.update(payload.salt);
    hash.update(payload.body.as_bytes());
    hash.finalize().into()
}

/// The hash of a row, from all that it says and from the salt of its event.
///
/// The salt goes with the event: of a row that was erased, nobody can try out whose it was and when by computing hashes.
fn seal(row: &Row) -> Option<Hash> {
    let payload = row.payload.as_ref()?;
    Some(sealed_with(b"equipoise event 2\n", row).chain_update(payload.salt).finalize().into())
}

/// The hash of a row as releases before sealed it, without the salt.
pub(crate) fn seal_of_before(row: &Row) -> Hash {
    sealed_with(b"equipoise event 1\n", row).finalize().into()
}

fn sealed_with(format: &[u8], row: &Row) -> Sha256 {
    let mut hash = Sha256::new();
    hash.update(format);
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
    hash
}

impl Head {
    /// The head of a log whose last row this is.
    pub(crate) fn of(last: Option<&Row>) -> Self {
        last.map_or(Self::default(), |row| Self { position: row.position, hash: row.hash })
    }

    /// The row an entry becomes at the end of this log.
    pub fn extend(&mut self, session: &str, seq: u64, entry: Entry) -> Row {
        let Entry { key, at, salt, body } = entry;
        let payload = Payload { salt, body };
        let (position, previous, session) = (self.position + 1, self.hash, session.to_owned());
        let (commitment, payload) = (commitment(&payload), Some(payload));
        let mut row = Row { position, session, seq, key, at, commitment, previous, hash: [0; 32], payload };
        row.hash = seal(&row).unwrap_or_default();
        *self = Self { position, hash: row.hash };
        row
    }
}

/// What releases before tombstones wrote about an erasure, among the common rows.
#[derive(Deserialize)]
struct Erasure {
    session: String,
}

/// Whose erasure a row speaks of.
pub(crate) fn erasure(row: &Row) -> Option<String> {
    if row.session != COMMON_SESSION {
        return (row.key == TOMBSTONE).then(|| row.session.clone());
    }
    let payload = row.payload.as_ref().filter(|_| row.key.starts_with("erased-"))?;
    serde_json::from_str(&payload.body).ok().map(|Erasure { session }| session)
}

/// What was found of a session.
#[derive(Default)]
struct Session {
    rows: u64,
    /// Rows that hold an event; a tombstone does not count.
    events: u64,
    /// The first row without an event.
    empty: Option<u64>,
    /// The last row that was blanked by an erasure, so that its seal cannot be checked.
    blank: Option<u64>,
    /// Where its tombstone is.
    end: Option<u64>,
    /// What the rows without an event committed to.
    commitments: Vec<Hash>,
}

/// Whether a row is what an erasure leaves. How many there are is known all the same: the tombstone that comes after them
/// is sealed with its number, and none is numbered twice.
fn is_blank(row: &Row) -> bool {
    row.payload.is_none() && row.at == 0 && row.key == row.seq.to_string() && row.session != COMMON_SESSION
}

/// Checks every row: its place, its number within the session, its seal, and its event.
///
/// `look` sees every row with an event, and whether that is the one it was sealed with. It says whether the row is data,
/// and with an error that the event must not be what it is: a log does not know what may be written anew.
///
/// Any row changed, removed, swapped or put in is found. Rows cut from the end are found only against something kept
/// outside: a receipt, or the head printed in an export or a report.
pub fn verify(
    reader: &dyn Reader,
    look: &mut dyn FnMut(&Row, bool) -> Result<bool, Damage>,
) -> Result<Verified> {
    let (mut head, mut data) = (Head::default(), [0; 32]);
    let (mut sessions, mut erased): (BTreeMap<String, Session>, BTreeSet<String>) = Default::default();
    each(reader, |row| {
        let wrong = |what: &str| Err(Error::Damaged(Damage::at(head.position + 1, what)));
        if row.position != head.position + 1 {
            return wrong(&format!("is missing: row {} comes next", row.position));
        }
        if row.previous != head.hash {
            return wrong("does not follow from the row before");
        }
        let sealed = seal(&row) == Some(row.hash) || seal_of_before(&row) == row.hash;
        if !sealed && !is_blank(&row) {
            return wrong("was changed: its hash is not that of its contents");
        }
        let session = sessions.entry(row.session.clone()).or_default();
        session.rows += 1;
        if row.seq != session.rows {
            let expected = session.rows;
            return wrong(&format!("has number {} in its session, expected {expected}", row.seq));
        }
        let is_data = match &row.payload {
            Some(payload) => look(&row, commitment(payload) == row.commitment)?,
            None => true,
        };
        if !sealed {
            session.blank = Some(row.position);
        }
        match erasure(&row) {
            Some(whose) => {
                let salt = row.payload.as_ref().map_or([0; 32], |payload| payload.salt);
                if row.session.starts_with(NOBODY)
                    && row.session != nobody(&salt, &head, session.commitments.iter())
                {
                    return wrong("does not speak of the rows that were erased");
                }
                session.end = Some(row.position);
                erased.insert(whose);
            }
            None if row.payload.is_some() => session.events += 1,
            None => {
                session.empty.get_or_insert(row.position);
                session.commitments.push(row.commitment);
            }
        }
        head = Head::of(Some(&row));
        if is_data {
            data = head.hash;
        }
        Ok(())
    })?;
    let unexplained = |(name, session): (&String, &Session)| {
        let late = session.blank.filter(|at| session.end.is_none_or(|end| end < *at));
        late.or(session.empty.filter(|_| !erased.contains(name)))
    };
    if let Some(position) = sessions.iter().find_map(unexplained) {
        return Err(Damage::at(position, "has no event, and no erasure says why").into());
    }
    // Older releases named the session elsewhere in the log, which may have another name since.
    erased.retain(|name| sessions.contains_key(name));
    let stray = erased.iter().filter_map(|name| sessions.get(name)).map(|session| session.events).sum();
    sessions.remove(COMMON_SESSION);
    Ok(Verified {
        rows: head.position,
        sessions: sessions.len(),
        erased: erased.len(),
        stray,
        head: hex::encode(&head.hash),
        data_head: hex::encode(&data),
    })
}

/// The row a receipt stands for; `Err` says what is there instead.
pub fn verify_receipt(reader: &dyn Reader, receipt: &str) -> Result<Row> {
    let broken =
        || Error::Missing(format!("\"{receipt}\" is not a receipt, expected one like 12-9f86d081884c7d65"));
    let (position, digits) = receipt.trim().split_once('-').ok_or_else(broken)?;
    let position: u64 = position.parse().map_err(|_| broken())?;
    let hash = hex::decode(digits).filter(|hash| (8..=32).contains(&hash.len())).ok_or_else(broken)?;
    let mut found = None;
    reader.each_after(position.saturating_sub(1), &mut |row| {
        found = Some(row);
        false
    })?;
    match found.filter(|row| row.position == position) {
        None => Err(Damage::at(position, "is not there: the log was cut after the receipt was given").into()),
        Some(row) if row.hash.starts_with(&hash) => Ok(row),
        Some(_) => Err(Damage::at(position, "is not the one the receipt was given for").into()),
    }
}
