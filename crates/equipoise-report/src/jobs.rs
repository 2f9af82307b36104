//! Work on all processors, the same whoever does which part.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What each of so many jobs makes, in their order; `None` if it is not to go on. `goes_on` is told how many are done, often.
pub(crate) fn each<T: Send>(
    jobs: usize,
    goes_on: &dyn Fn(usize) -> bool,
    job: impl Fn(usize) -> T + Sync,
) -> Option<Vec<T>> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(jobs);
    let mut made: Vec<Option<T>> = (0..jobs).map(|_| None).collect();
    let whole = std::thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        for _ in 0..threads {
            let (tell, next, stopped, job) = (tell.clone(), &next, &stopped, &job);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= jobs || tell.send((place, job(place))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        for done in 0..jobs {
            if !goes_on(done) {
                stopped.store(true, Ordering::Relaxed);
                return false;
            }
            // A thread that panicked says nothing; the scope passes that on.
            let Ok((place, one)) = told.recv() else { return false };
            made[place] = Some(one);
        }
        true
    });
    if whole { made.into_iter().collect() } else { None }
}

/// The same of work that nobody stops.
pub(crate) fn all<T: Send>(jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    each(jobs, &|_| true, job).unwrap_or_default()
}
