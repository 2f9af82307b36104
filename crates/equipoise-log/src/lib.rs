#![forbid(unsafe_code)]
//! A log: rows that are only ever added, each sealed to the one before.
//!
//! The log knows sessions and bytes; what an event means is its writer's business. A row commits to its event by
//! `SHA-256(salt, event)` and the chain runs over the commitments. Salt and event lie apart and can be deleted: what is
//! left proves that there was something, and nobody can guess what.
//!
//! ```
//! use equipoise_log::{Appended, Entry, Group, MemoryStore, transact, verify};
//!
//! let mut store = MemoryStore::new();
//! let entry = Entry { key: "k1".to_owned(), at: 0, salt: [7; 32], body: "{}".to_owned() };
//! let group = Group { session: "ana".to_owned(), after: Some(0), entries: vec![entry.clone()] };
//! let added = transact(&mut store, |log| log.append(&group))?;
//! assert!(matches!(added, Appended::New(_)));
//! transact(&mut store, |log| log.erase("ana", entry))?;
//! assert!(transact(&mut store, |log| log.append(&group)).is_err(), "nothing comes after an erasure");
//! assert_eq!(verify(&store, &mut |_, sealed| Ok(sealed))?.erased, 1);
//! # Ok::<(), equipoise_log::Error>(())
//! ```
//!
//! What is where: [`Store`] what a store must do, [`Transaction`] the rules that hold in any store, [`MemoryStore`],
//! [`SqliteStore`] and, with the feature `postgres`, `PostgresStore` the stores, [`Tables`] small tables beside a log, [`Writer`] one thread that writes for many, [`verify`] the chain, [`erase`] and [`restore`]
//! what must not come back, [`files`] files of their owner alone, `testing` what any store must pass.

#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod chain;
mod copy;
mod erasure;
mod error;
pub mod files;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
pub mod hex;
mod lease;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod restore;
mod sqlite;
mod store;
mod tables;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;
mod writer;

pub use chain::{Damage, Head, Receipt, Verified, verify, verify_receipt};
pub use erasure::{aside, erase, erase_aside, erased, is_unfinished, repair, settled};
pub use error::{Error, Result, Trouble, Why};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{Database, PostgresStore};
pub use restore::{Judge, Restored, restore, restore_into};
pub use sqlite::{SqliteStore, fold_in};
pub use store::{Opener, Probe, Reader, Store, Table, each, each_after, rows};
pub use tables::{Found, Tables, Value};
pub use transaction::{Appended, Last, TOMBSTONE, Transaction, transact};
pub use writer::Writer;

/// The session of rows that are nobody's in particular.
pub const COMMON_SESSION: &str = "study";

/// SHA-256.
pub type Hash = [u8; 32];

/// An event before it has its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Makes sending it twice harmless.
    pub key: String,
    /// When, in milliseconds since 1970, by the server's clock.
    pub at: i64,
    /// What hides the event from guesses.
    pub salt: Hash,
    /// The event.
    pub body: String,
}

/// Entries of one session that are added together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Whose they are.
    pub session: String,
    /// How many rows of the session their writer has seen; if there are others by now, nothing is added.
    pub after: Option<u64>,
    /// In order.
    pub entries: Vec<Entry>,
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place, from 1 on without gaps.
    pub position: u64,
    /// Whose event it is.
    pub session: String,
    /// Its number within the session, from 1 on without gaps.
    pub seq: u64,
    /// What it was sent with.
    pub key: String,
    /// When, by the server's clock.
    pub at: i64,
    /// `SHA-256(salt, event)`.
    pub commitment: Hash,
    /// The hash of the row before; zeros for the first.
    pub previous: Hash,
    /// The hash of all of the above.
    pub hash: Hash,
    /// Salt and event; nothing after an erasure.
    pub payload: Option<Payload>,
}

/// The part of a row that can be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// What hides the event from guesses.
    pub salt: Hash,
    /// The event.
    pub body: String,
}

impl Payload {
    /// What a row that holds it commits to: `SHA-256(salt, event)`.
    pub fn commitment(&self) -> Hash {
        chain::commitment(self)
    }
}

impl Row {
    /// What proves that the row was there.
    pub fn receipt(&self) -> Receipt {
        Receipt { position: self.position, hash: self.hash }
    }
}
