//! Simulated people, to see what results could look like before anybody has come. They are in no log and in no export.

use equipoise_report::group::{Experts, experts};
use equipoise_report::refused;
use equipoise_study::{Belief, Design, length};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// So many.
pub const PEOPLE: usize = 20;

/// What they came to, once they have answered.
#[derive(Debug, Default)]
pub struct Sample {
    begun: AtomicBool,
    found: OnceLock<Option<Arc<Experts>>>,
}

impl Sample {
    /// What they came to; nothing while they are answering, which begins with the first who asks.
    pub fn found(self: &Arc<Self>, design: &Arc<Design>) -> Option<Option<Arc<Experts>>> {
        if let Some(found) = self.found.get() {
            return Some(found.clone());
        }
        if !self.begun.swap(true, Ordering::SeqCst) {
            let (sample, design) = (self.clone(), design.clone());
            std::thread::spawn(move || {
                let work = || answered(&design);
                let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(None);
                sample.found.get_or_init(|| found.map(Arc::new));
            });
        }
        None
    }
}

fn answered(design: &Arc<Design>) -> Option<Experts> {
    let people = length::rehearse(design, PEOPLE);
    let with_metric = people.iter().filter(|person| refused(person).is_none());
    let beliefs: Vec<(u64, &Belief)> = with_metric
        .map(|person| (person.invited().map_or(0, |invited| invited.number), person.belief()))
        .collect();
    experts(design, &beliefs)
}
