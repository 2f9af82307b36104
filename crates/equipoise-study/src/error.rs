//! What can go wrong, one sentence each.

use crate::participant::Refusal;
use equipoise_log::{Damage, Trouble, Why};

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
    /// The log could not be used; nothing was acknowledged.
    #[error(transparent)]
    Log(equipoise_log::Error),
    /// Contact data could not be read or written.
    #[error("the contact data could not be used: {0}")]
    Contacts(Trouble),
    /// Something else was locked under the version of the study.
    #[error("the study changed after version {version} was locked; set version = {} and lock it", version.saturating_add(1))]
    Changed {
        /// The version that was locked.
        version: u64,
    },
    /// `check` finds an error in the study: this one.
    #[error("the study should not be run like this: {0}")]
    Unfit(String),
    /// Somebody else has changed a file meanwhile.
    #[error("{0}")]
    Overtaken(String),
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

    /// Something the study could not read or write.
    pub fn storage(what: impl Into<String>) -> Self {
        Self::Log(equipoise_log::Error::Storage(Trouble::new(Why::Other, what)))
    }

    /// What is the matter with the files of the study, if that is it.
    pub fn why(&self) -> Option<Why> {
        match self {
            Self::Log(error) => error.why(),
            Self::Contacts(trouble) => Some(trouble.why),
            _ => None,
        }
    }
}

impl From<equipoise_log::Error> for Error {
    fn from(error: equipoise_log::Error) -> Self {
        match error {
            equipoise_log::Error::Damaged(damage) => Self::Damaged(damage),
            equipoise_log::Error::Conflict => Refusal::NotNow(error.to_string()).into(),
            equipoise_log::Error::Erased => Refusal::Left.into(),
            equipoise_log::Error::Missing(what) => Self::Missing(what),
            equipoise_log::Error::Another(what) => Self::Another(what),
            error => Self::Log(error),
        }
    }
}

/// Shorthand used throughout the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
