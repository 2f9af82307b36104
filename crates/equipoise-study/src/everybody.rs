//! Everybody in a log, one at a time: of ten thousand people at once there are some hundred megabytes.

use crate::design::Design;
use crate::error::Result;
use crate::participant::Participant;
use equipoise_log::{Opener, Reader};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// People who are asked for when their turn comes, on any thread, and may be asked for again.
pub trait People: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Somebody, counted from 0 in the order of invitations; nobody where they are gone.
    fn person(&self, n: usize) -> Result<Option<Participant>>;
}

impl People for &[Participant] {
    fn count(&self) -> usize {
        self.len()
    }

    fn person(&self, n: usize) -> Result<Option<Participant>> {
        Ok(self.get(n).cloned())
    }
}

/// The people of a log as it was when it had so many rows. Whoever is erased meanwhile is gone.
pub struct Everybody {
    design: Arc<Design>,
    rows: u64,
    sessions: Vec<String>,
    open: Opener,
    /// Ways to read the log that nobody uses at the moment.
    readers: Mutex<Vec<Box<dyn Reader + Send>>>,
}

impl std::fmt::Debug for Everybody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Everybody").field("people", &self.sessions.len()).finish_non_exhaustive()
    }
}

impl Everybody {
    /// Who is in the first so many rows of a log.
    pub fn of(design: &Arc<Design>, open: Opener, rows: u64) -> Result<Self> {
        let reader = open()?;
        let sessions = reader.sessions()?;
        Ok(Self { design: design.clone(), rows, sessions, open, readers: Mutex::new(vec![reader]) })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Reader + Send>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl People for Everybody {
    fn count(&self) -> usize {
        self.sessions.len()
    }

    fn person(&self, n: usize) -> Result<Option<Participant>> {
        let Some(session) = self.sessions.get(n) else { return Ok(None) };
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => (self.open)()?,
        };
        let mut rows = reader.session(session)?;
        self.idle().push(reader);
        // What was answered since does not belong to what the head of these rows seals.
        rows.retain(|row| row.position <= self.rows);
        if rows.is_empty() {
            return Ok(None);
        }
        Participant::fold(self.design.clone(), session, &rows).map(Some)
    }
}
