//! Simulated people, to see what the pages could look like before anybody has come. They are in no log and in no export.

use super::watch::{Line, Seen};
use equipoise_report::group::{Experts, experts};
use equipoise_report::refused;
use equipoise_study::{Belief, Design, Participant, length};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// So many.
pub const PEOPLE: usize = 20;
/// They come so long after each other, in milliseconds.
const APART: i64 = 7 * 60 * 60 * 1000;

/// Simulated people, once they have answered.
#[derive(Debug, Default)]
pub struct Sample {
    begun: AtomicBool,
    found: OnceLock<Arc<Found>>,
}

/// What they came to.
#[derive(Debug, Default)]
pub struct Found {
    /// As pages see people; nothing of them is hidden.
    pub seen: Arc<Seen>,
    /// What they hold together.
    pub together: Option<Arc<Experts>>,
    people: Vec<Participant>,
}

impl Found {
    /// One of them.
    pub fn person(&self, number: u64) -> Option<&Participant> {
        self.people.iter().find(|person| number_of(person) == number)
    }
}

impl Sample {
    /// What they came to; nothing while they are answering, which begins with the first who asks. They came until now.
    pub fn found(self: &Arc<Self>, design: &Arc<Design>, now: i64) -> Option<Arc<Found>> {
        if let Some(found) = self.found.get() {
            return Some(found.clone());
        }
        if !self.begun.swap(true, Ordering::SeqCst) {
            let (sample, design) = (self.clone(), design.clone());
            std::thread::spawn(move || {
                let work = || answered(&design, now);
                let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_default();
                sample.found.get_or_init(|| Arc::new(found));
            });
        }
        None
    }
}

fn number_of(person: &Participant) -> u64 {
    person.invited().map_or(0, |invited| invited.number)
}

fn answered(design: &Arc<Design>, now: i64) -> Found {
    let (mut people, mut lines, mut done_at) = (vec![], vec![], now);
    for (pace, person) in length::rehearse(design, PEOPLE).into_iter().rev() {
        let came_at = done_at - (1000.0 * pace.seconds) as i64;
        lines.push(Arc::new(Line::simulated(&person, [came_at, done_at])));
        people.push(person);
        done_at -= APART;
    }
    lines.reverse();
    people.reverse();
    let with_metric = people.iter().filter(|person| refused(person).is_none());
    let beliefs: Vec<(u64, &Belief)> =
        with_metric.map(|person| (number_of(person), person.belief())).collect();
    let together = experts(design, &beliefs).map(Arc::new);
    Found { seen: Arc::new(Seen { people: lines, ..Seen::default() }), together, people }
}
