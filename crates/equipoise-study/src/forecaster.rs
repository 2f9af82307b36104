//! A thread that imagines how many comparisons are left for people while they think: nobody waits for it.

use crate::design::Design;
use crate::participant::Participant;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// People who wait to be imagined; when there are more, what was imagined of them before has to do.
const WAITING: usize = 64;

/// By how much it yields to threads somebody waits for, as `nice` counts: after a class has answered, all of them are imagined.
#[cfg(target_os = "linux")]
const YIELDING: i32 = 10;

/// A handle on the thread, which ends with it.
pub(crate) struct Forecaster(SyncSender<Weak<Mutex<Participant>>>);

impl Forecaster {
    /// Starts the thread. First it imagines somebody of whom nothing is known, as everybody is when they come.
    pub(crate) fn start(design: Arc<Design>) -> Self {
        let (people, waiting) = sync_channel::<Weak<Mutex<Participant>>>(WAITING);
        std::thread::spawn(move || {
            // Behind those who wait: of one thread on Linux only; elsewhere it would be the whole program's.
            #[cfg(target_os = "linux")]
            let _ = rustix::process::nice(YIELDING);
            design.lengths_left(&design.belief(), 0, 0);
            for place in waiting {
                if let Some(place) = place.upgrade() {
                    imagine(&place);
                }
            }
        });
        Self(people)
    }

    /// Imagines somebody, soon, if not too many are waiting.
    pub(crate) fn imagine(&self, place: &Arc<Mutex<Participant>>) {
        let _ = self.0.try_send(Arc::downgrade(place));
    }
}

fn imagine(place: &Mutex<Participant>) {
    let lock = || place.lock().unwrap_or_else(PoisonError::into_inner);
    let (seq, belief, seed, asked, design) = {
        let participant = lock();
        let (Some(seq), Some(invited)) = (participant.to_imagine(), participant.invited()) else { return };
        (
            seq,
            participant.belief().clone(),
            invited.seed,
            participant.elicited(),
            participant.design().clone(),
        )
    };
    // Without the lock: an answer that comes meanwhile is taken.
    let lengths = design.lengths_left(&belief, asked, seed);
    lock().imagined(seq, lengths);
}
