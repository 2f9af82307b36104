//! Participants in memory: the log is the truth, and whoever is here can be dropped at any time.

use crate::participant::Participant;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// From so many participants in memory on, half a megabyte each, those who have not been asked for in a while go; of them the
/// log is read when they come again.
const FEW: usize = 128;
/// That while: longer than anybody thinks about a comparison.
const IDLE: Duration = Duration::from_secs(120);
/// There are never more than so many but for those being looked at: as many as are promised to be able to answer at once.
const MOST: usize = 500;
/// When there is no room, so many go: enough that it is done seldom. Everybody who goes and comes again costs a reading of the
/// log and all that followed from their answers, and in a class they come again all at once.
const GO: usize = MOST / 16;
/// Of those who are done never more than so many: they look at the last page, and nothing hurries them.
const MOST_DONE: usize = 32;

/// Participants in memory, with when each was last asked for.
#[derive(Default)]
pub(crate) struct Cache(HashMap<String, (Arc<Mutex<Participant>>, Instant)>);

impl Cache {
    /// Somebody, if they are there.
    pub(crate) fn get(&mut self, session: &str) -> Option<Arc<Mutex<Participant>>> {
        let (found, asked) = self.0.get_mut(session)?;
        *asked = Instant::now();
        Some(found.clone())
    }

    /// Keeps a participant, unless somebody else was faster.
    pub(crate) fn keep(&mut self, participant: Participant) -> Arc<Mutex<Participant>> {
        self.make_room(Instant::now());
        let session = participant.session().to_owned();
        let new = || (Arc::new(Mutex::new(participant)), Instant::now());
        self.0.entry(session).or_insert_with(new).0.clone()
    }

    /// Whether somebody is there.
    pub(crate) fn has(&self, session: &str) -> bool {
        self.0.contains_key(session)
    }

    /// Drops somebody; the next look reads the log.
    pub(crate) fn forget(&mut self, session: &str) {
        self.0.remove(session);
    }

    fn make_room(&mut self, now: Instant) {
        if self.0.len() < MOST_DONE {
            return;
        }
        let done = |found: &Mutex<Participant>| found.try_lock().is_ok_and(|person| person.completed());
        let mut times: Vec<Instant> =
            self.0.values().filter(|(found, _)| done(found)).map(|(_, asked)| *asked).collect();
        if times.len() >= MOST_DONE {
            let middle = *times.select_nth_unstable(MOST_DONE / 2).1;
            self.0
                .retain(|_, (found, asked)| *asked > middle || Arc::strong_count(found) > 1 || !done(found));
        }
        if self.0.len() < FEW {
            return;
        }
        self.drop_until(now.checked_sub(IDLE));
        if self.0.len() >= MOST {
            // Whoever is done needs the place least.
            self.0.retain(|_, (found, _)| Arc::strong_count(found) > 1 || !done(found));
        }
        if self.0.len() >= MOST {
            let mut times: Vec<Instant> = self.0.values().map(|(_, asked)| *asked).collect();
            let last = *times.select_nth_unstable(self.0.len() - MOST + GO).1;
            self.drop_until(Some(last));
        }
    }

    fn drop_until(&mut self, last: Option<Instant>) {
        let Some(last) = last else { return };
        // Nobody who is being looked at: there would be two of them.
        self.0.retain(|_, (found, asked)| *asked > last || Arc::strong_count(found) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, Event, Study, template};

    #[test]
    fn memory_is_given_back_and_nobody_is_lost_who_is_being_looked_at() {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        let design = Arc::new(Design::new(study, std::path::Path::new("src/templates")).unwrap());
        let mut cache = Cache::default();
        let come =
            |cache: &mut Cache, n: usize| cache.keep(Participant::new(design.clone(), &format!("s{n}")));
        let held = come(&mut cache, 0);
        for n in 1..3 * MOST {
            come(&mut cache, n);
            assert!(cache.0.len() <= MOST, "{}", cache.0.len());
            assert!(n < MOST || cache.0.len() > MOST - MOST / 8, "{} went for one", MOST - cache.0.len());
        }
        assert!(Arc::ptr_eq(&cache.get("s0").unwrap(), &held));
        assert!(cache.get("s1").is_none() && cache.get(&format!("s{}", 3 * MOST - 1)).is_some());
        // Those who are done are the first to go.
        for n in 0..3 * MOST_DONE {
            let mut somebody = Participant::new(design.clone(), &format!("done{n}"));
            somebody.apply(0, &Event::Completed).unwrap();
            cache.keep(somebody);
        }
        let kept = cache.0.values().filter(|(found, _)| found.lock().unwrap().completed()).count();
        assert!((1..=MOST_DONE).contains(&kept), "{kept}");
        // When all have gone home, one who comes is enough.
        drop(held);
        cache.make_room(Instant::now() + 2 * IDLE);
        assert!(cache.0.is_empty());
    }
}
