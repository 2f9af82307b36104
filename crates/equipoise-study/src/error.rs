//! What can go wrong, one sentence each.

use crate::log::Damage;
use crate::participant::Refusal;

/// Why something about a study could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The study file says something that cannot be used.
    #[error("line {line}: {what}")]
    Study {
        /// The line, counted from 1.
        line: usize,
        /// What was found, and what was expected.
        what: String,
    },
    /// The core could not use a number or a document.
    #[error(transparent)]
    Core(#[from] equipoise::Error),
    /// A table or a pool of confusion matrices could not be read.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    /// A participant may not do this now.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log does not agree with itself.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The log could not be read or written; nothing was acknowledged.
    #[error("the log could not be used: {0}")]
    Storage(String),
    /// Contact data could not be read or written.
    #[error("the contact data could not be used: {0}")]
    Contacts(String),
    /// The log may be read but not written.
    #[error("the log could not be used: {0}")]
    Unwritable(String),
    /// Somebody else uses the log, and what was asked for needs it alone.
    #[error("{0}")]
    InUse(String),
    /// A log is that of another study.
    #[error("{0}")]
    Another(String),
    /// Something that was asked for is not there.
    #[error("{0}")]
    Missing(String),
}

impl Error {
    /// An error about a line of the study file.
    pub(crate) fn study(line: usize, what: impl Into<String>) -> Self {
        Self::Study { line, what: what.into() }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

/// Shorthand used throughout the crate.
pub type Result<T> = std::result::Result<T, Error>;
