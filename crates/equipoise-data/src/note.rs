//! What a reader wants known about a table it could read.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Something read, and what should be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    /// What was read.
    pub data: T,
    /// What was guessed, changed and found on the way, in that order.
    pub notes: Vec<Note>,
}

impl<T> Reading<T> {
    /// The notes that call for attention.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().filter_map(|note| match note {
            Note::Finding(sentence) => Some(sentence.as_str()),
            _ => None,
        })
    }

    /// The same notes about something made from the data.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Reading<U> {
        Reading { data: make(self.data), notes: self.notes }
    }
}

/// One sentence about a table, by what it asks of the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
pub enum Note {
    /// A choice made for the caller: a guessed column, a sniffed delimiter.
    Choice(String),
    /// Values that were changed, and by how much.
    Change(String),
    /// Something the table lacks that a later step may need.
    Finding(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(sentence) | Self::Change(sentence) | Self::Finding(sentence) => {
                f.write_str(sentence)
            }
        }
    }
}
