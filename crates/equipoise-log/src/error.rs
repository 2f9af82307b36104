//! What can go wrong with a log, one sentence each.

use crate::chain::Damage;

/// Why something could not be done with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log could not be read or written; nothing was acknowledged.
    #[error("the log could not be used: {0}")]
    Storage(Trouble),
    /// The log does not agree with itself.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// Somebody else uses the log, and what was asked for needs it alone.
    #[error("{0}")]
    InUse(String),
    /// The session has other rows than its writer has seen. Nothing was added.
    #[error("another request was faster, try again")]
    Conflict,
    /// The session was erased and takes no rows. Nothing was added.
    #[error("this participant was erased")]
    Erased,
    /// Something that was asked for is not there.
    #[error("{0}")]
    Missing(String),
    /// A backup is of another log.
    #[error("{0}")]
    Another(String),
}

/// Shorthand used throughout the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file or a database could not be used, for programs and in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Trouble {
    /// What a program can tell apart.
    pub why: Why,
    /// What people read.
    pub sentence: String,
}

/// What a program can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There is no room left.
    Full,
    /// Somebody else held a lock for too long.
    Busy,
    /// It may be read but not written.
    Unwritable,
    /// The file is not what it was when it was written.
    Damaged,
    /// The file was deleted or replaced while it was open.
    Gone,
    /// The connection to a database was lost, and nothing was kept: it can be tried again.
    Lost,
    /// Anything else.
    Other,
}

impl Trouble {
    /// Trouble, and what to say about it.
    pub fn new(why: Why, sentence: impl Into<String>) -> Self {
        Self { why, sentence: sentence.into() }
    }

    /// Trouble with a file; `doing` says with what, such as "cannot write log.sqlite".
    pub fn with_file(doing: impl std::fmt::Display, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let why = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Why::Full,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Why::Unwritable,
            _ => Why::Other,
        };
        Self::new(why, format!("{doing}: {error}"))
    }
}

impl Error {
    /// Whether nothing was wrong with the store: it would not do what was asked for, and all else can go on.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Conflict | Self::Erased)
    }

    /// What is the matter with the store, if that is it.
    pub fn why(&self) -> Option<Why> {
        match self {
            Self::Storage(trouble) => Some(trouble.why),
            _ => None,
        }
    }

    pub(crate) fn storage(sentence: impl Into<String>) -> Self {
        Self::Storage(Trouble::new(Why::Other, sentence))
    }

    pub(crate) fn with_file(doing: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::Storage(Trouble::with_file(doing, error))
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let why = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Why::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Why::Busy,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Why::Unwritable,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Why::Damaged,
            _ => Why::Other,
        };
        Self::new(why, error.to_string())
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.into())
    }
}
