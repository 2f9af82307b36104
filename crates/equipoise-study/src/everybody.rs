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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seams::{SystemClock, TestRandom};
    use crate::{Event, Service, Study, template};
    use equipoise_log::{Entry, Group, MemoryStore, Writer};

    #[test]
    fn people_are_as_they_were_at_the_head_and_whoever_is_erased_is_gone() {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        let design = Arc::new(Design::new(study, std::path::Path::new("src/templates")).unwrap());
        let writer = Writer::start(MemoryStore::new());
        let service = Service::new(design.clone(), writer, SystemClock, TestRandom::new(3));
        let invited = service.invite(3).unwrap();
        let consent = |n: usize| {
            let (text, device) = ("hash".to_owned(), "device".to_owned());
            let event = Event::ConsentGiven { text, device, external: Default::default() };
            let entries = vec![Entry { key: "k".to_owned(), at: 5, salt: [3; 32], body: event.body() }];
            service
                .writer()
                .append(Group { session: invited[n].session.clone(), after: Some(1), entries })
                .unwrap();
        };
        consent(0);
        let rows = service.writer().reader().unwrap().head().unwrap().position;
        // Both come after the head.
        consent(1);
        service.invite(1).unwrap();
        let everybody = Everybody::of(&design, service.writer().opener(), rows).unwrap();
        let consented = |n: usize| everybody.person(n).unwrap().map(|person| person.consented());
        assert_eq!(everybody.count(), 4);
        assert_eq!([0, 1, 2, 3].map(consented), [Some(true), Some(false), Some(false), None]);
        service.erase(&invited[0].session).unwrap();
        assert_eq!([0, 1].map(consented), [None, Some(false)]);
    }
}
