//! Whether the study can go on: the log takes rows, and the disk has room.

use equipoise_log::Why;
use equipoise_study::Service;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// What is older is found out anew.
const FRESH: Duration = Duration::from_secs(2);
/// A log that takes no row within this time is failing.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer that could not be written so short a time ago is no good sign.
const LATELY: Duration = Duration::from_secs(5);
/// Less room than this is worth a banner.
const LITTLE: u64 = 500_000_000;

/// How the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Why the log takes no rows, if it does not.
    pub failing: Option<Failing>,
    /// Bytes free where the log is; nothing if that is not known.
    pub free: Option<u64>,
}

/// Why the log takes no rows. Codes only: the log of a server is no place for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The disk is full.
    Full,
    /// The file cannot be written, or the thread that writes has ended.
    Unwritable,
    /// The file was deleted or replaced while it was open.
    Gone,
}

impl Failing {
    /// A word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Full => "disk_full",
            Self::Unwritable => "log_unwritable",
            Self::Gone => "log_gone",
        }
    }

    fn of(why: Option<Why>) -> Self {
        match why {
            Some(Why::Full) => Self::Full,
            Some(Why::Gone) => Self::Gone,
            _ => Self::Unwritable,
        }
    }

    /// What has happened, and what to do.
    fn sentence(self) -> &'static str {
        match self {
            Self::Full => "the disk is full; make room",
            Self::Unwritable => "the log cannot be written; look at its disk and its permissions",
            Self::Gone => {
                "the log was deleted or replaced while it is served; stop the server, put the log back and start again"
            }
        }
    }
}

impl State {
    /// What researchers should see at the top of every page.
    pub fn banner(&self) -> Option<String> {
        let kept = "what was acknowledged is kept, and participants are asked to try again";
        match (self.failing, self.free) {
            (Some(Failing::Full), _) => {
                Some(format!("The disk is full: no answer can be written. Make room; {kept}."))
            }
            (Some(Failing::Unwritable), _) => {
                Some(format!("The log cannot be written. Look at its disk and its permissions; {kept}."))
            }
            (Some(Failing::Gone), _) => Some(format!(
                "The log was deleted or replaced while it is served. Stop the server, put the log back and start again; {kept}."
            )),
            (None, Some(free)) if free < LITTLE => Some(format!(
                "The disk has {} MB left. Make room before it is full.",
                equipoise_study::numbers::grouped(free / 1_000_000)
            )),
            (None, _) => None,
        }
    }
}

/// Finds out how the server is, at most every other second.
#[derive(Debug)]
pub struct Health {
    directory: Option<PathBuf>,
    last: Mutex<Option<(Instant, State)>>,
    /// Held by the one who finds out; others are told what was found before.
    asking: Mutex<()>,
}

impl Health {
    /// Of a log in a directory.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, last: Mutex::default(), asking: Mutex::default() }
    }

    /// How the server is now, give or take two seconds: tries to write, and looks how much room there is.
    pub fn now(&self, service: &Service) -> State {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |known: &(Instant, State)| known.0.elapsed() < FRESH;
        let known = *last();
        let _asking = match (known, self.asking.try_lock()) {
            (Some(known), Err(TryLockError::WouldBlock)) => return known.1,
            (None, Err(TryLockError::WouldBlock)) => {
                self.asking.lock().unwrap_or_else(PoisonError::into_inner)
            }
            (_, Err(TryLockError::Poisoned(held))) => held.into_inner(),
            (_, Ok(held)) => held,
        };
        let known = *last();
        if let Some((_, state)) = known.filter(fresh) {
            return state;
        }
        let writer = service.writer();
        // A disk may have room for a try and none for an answer: what became of the last answers counts as well.
        let lately = writer.trouble().filter(|(at, _)| at.elapsed() < LATELY).map(|(_, why)| why);
        let failing = match (writer.probe(PATIENCE), lately) {
            (Ok(()), None) => None,
            (Ok(()), lately) => Some(Failing::of(lately)),
            (Err(error), _) => Some(Failing::of(error.why())),
        };
        let before = known.and_then(|(_, state)| state.failing);
        if failing != before {
            // One line a change, with nothing of anybody's in it.
            match failing {
                Some(failing) => eprintln!(
                    "warning: no answer can be saved: {} ({}); what was acknowledged is kept",
                    failing.sentence(),
                    failing.code()
                ),
                None => eprintln!("equipoise: answers are saved again"),
            }
        }
        let state = State { failing, free: self.free() };
        *last() = Some((Instant::now(), state));
        state
    }

    /// Whether there is something to find out: what people sent could not be written a moment ago, or nothing could the last time.
    /// Asks nobody.
    pub fn is_in_doubt(&self, service: &Service) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|(_, state)| state.failing.is_some())
            || service.writer().trouble().is_some_and(|(at, _)| at.elapsed() < LATELY)
    }

    #[cfg(unix)]
    fn free(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(self.directory.as_deref()?).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    #[cfg(not(unix))]
    fn free(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_says_what_to_do() {
        let state = |failing, free| State { failing, free }.banner();
        assert_eq!(state(None, None), None);
        assert_eq!(state(None, Some(LITTLE)), None);
        assert_eq!(
            state(None, Some(123_456_789)).unwrap(),
            "The disk has 123 MB left. Make room before it is full."
        );
        assert!(state(Some(Failing::Full), None).unwrap().starts_with("The disk is full"));
        assert!(state(Some(Failing::Unwritable), Some(0)).unwrap().starts_with("The log cannot be written"));
    }
}
