//! Several servers of one study, and commands beside one, each with what it keeps in memory: the log they share is the truth.

use super::{Service, lock};
use crate::error::{Error, Result};
use crate::participant::{Participant, Refusal};
use std::sync::Mutex;

/// Somebody for whom several servers write at the same moment is tried this often again.
const AGAIN: usize = 5;

impl Service {
    /// Whether this server does what is to be done once, where there are several ([`equipoise_log::Store::leads`]).
    pub fn leads(&self) -> Result<bool> {
        Ok(self.writer.with(|store| store.leads())?)
    }

    /// Where several servers write, another one may have been faster, for the same person on another device or for the same
    /// request sent again: then what this one kept is read anew, and it is done on that.
    pub(super) fn again_after_others<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        let mut done = work();
        for _ in 0..if self.writer.is_shared() { AGAIN } else { 0 } {
            if !done.as_ref().is_err_and(is_conflict) {
                break;
            }
            done = work();
        }
        done
    }

    /// Drops from memory somebody whom a command beside this server has erased. Commands write nothing else of people, so this one
    /// look at the log is enough where there are no other servers; it is taken once for each request.
    pub(super) fn notice_erasure(&self, session: &str) -> Result<()> {
        if !self.writer.is_shared()
            && self.cache().has(session)
            && self.read(|log| Ok(log.is_spent(session)?))?
        {
            self.forget(session);
        }
        Ok(())
    }

    /// Whether somebody is as far as they are in memory: another server may have written for them since.
    pub(super) fn is_as_kept(&self, found: &Mutex<Participant>) -> Result<bool> {
        // Whoever is in memory stays as they are until this is known, so that nobody is taken for old who has just gone on.
        let participant = lock(found);
        let session = participant.session();
        let rows = self.read(|log| Ok(log.length(session)?))?;
        Ok(rows == participant.events())
    }
}

/// Whether a log has moved on without this process knowing.
fn is_conflict(error: &Error) -> bool {
    matches!(error, Error::Refused(Refusal::NotNow(sentence)) if *sentence == equipoise_log::Error::Conflict.to_string())
}
