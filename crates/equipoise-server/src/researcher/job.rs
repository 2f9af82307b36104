//! The report as a job of its own: one at a time, whoever waits for it or has stopped waiting, and kept for the answers it
//! was made from.

use equipoise_log::Reader;
use equipoise_report::{self as report, Report};
use equipoise_study::{Design, Error, Result, Service, people};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request waits this long; the job goes on, and the next request finds what it made.
const PATIENCE: Duration = Duration::from_secs(15);
/// While people answer, a report this old is new enough: it says which rows it was made from.
const RECENT: Duration = Duration::from_secs(60);

/// What a report is made from: the last row of data, and whether it says which answers mattered most.
pub type Of = (u64, bool);

/// The job.
#[derive(Debug, Default)]
pub struct Job {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Instant>,
    made: Option<(Of, Instant, Arc<Report>)>,
    failed: Option<Error>,
}

/// What came of asking for a report.
#[derive(Debug)]
pub enum Asked {
    /// Here it is.
    Made(Arc<Report>),
    /// It has been made for so long, and is not ready.
    Running(Duration),
}

impl Job {
    /// The report, if it is there or ready soon; begins to make it if nobody has.
    pub fn report(self: &Arc<Self>, service: &Arc<Service>, of: Of) -> Result<Asked> {
        let service = service.clone();
        self.ask(of, PATIENCE, move || {
            let log = service.writer().reader()?;
            made(service.design(), &*log, of.1)
        })
    }

    fn ask(
        self: &Arc<Self>,
        of: Of,
        patience: Duration,
        make: impl FnOnce() -> Result<Report> + Send + 'static,
    ) -> Result<Asked> {
        let (begun, mut make) = (Instant::now(), Some(make));
        let mut state = self.state();
        loop {
            if let Some((from, at, report)) = &state.made
                && (*from == of || (from.1 == of.1 && at.elapsed() < RECENT))
            {
                return Ok(Asked::Made(report.clone()));
            }
            if let Some(error) = state.failed.take() {
                return Err(error);
            }
            match (state.running, make.take()) {
                (None, Some(make)) => {
                    state.running = Some(Instant::now());
                    let job = self.clone();
                    std::thread::spawn(move || job.run(of, make));
                }
                (None, None) => return Err(Error::storage("the report could not be made")),
                (Some(_), unused) => make = unused,
            }
            let Some(left) = patience.checked_sub(begun.elapsed()) else {
                let since = state.running.unwrap_or(begun);
                return Ok(Asked::Running(since.elapsed()));
            };
            state = self.ended.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self, of: Of, make: impl FnOnce() -> Result<Report>) {
        // A panic must not leave the job running for ever.
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(make));
        let mut state = self.state();
        state.running = None;
        match made {
            Ok(Ok(report)) => state.made = Some((of, Instant::now(), Arc::new(report))),
            Ok(Err(error)) => state.failed = Some(error),
            Err(_) => state.failed = Some(Error::storage("the report could not be made")),
        }
        self.ended.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The report of the log as it is.
fn made(design: &Arc<Design>, log: &dyn Reader, why: bool) -> Result<Report> {
    let head = equipoise_study::verify(log)?.data_head;
    let everybody = people::participants(design, log)?;
    let options = report::Options { why, ..report::Options::default() };
    Ok(report::report(design, &everybody, &head, &options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_log::MemoryStore;
    use equipoise_study::{Study, template};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn however_many_ask_it_is_made_once_and_kept() {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        let design =
            Arc::new(Design::new(study, std::path::Path::new("../equipoise-study/src/templates")).unwrap());
        let (job, runs) = (Arc::new(Job::default()), Arc::new(AtomicUsize::new(0)));
        let ask = |of: Of, patience: u64| {
            let (runs, design) = (runs.clone(), design.clone());
            job.ask(of, Duration::from_millis(patience), move || {
                runs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(300));
                made(&design, &MemoryStore::new(), false)
            })
        };
        // Five who do not wait: one job.
        for _ in 0..5 {
            assert!(matches!(ask((1, false), 10).unwrap(), Asked::Running(_)));
        }
        assert!(matches!(ask((1, false), 20_000).unwrap(), Asked::Made(_)));
        assert!(matches!(ask((1, false), 0).unwrap(), Asked::Made(_)));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        // Somebody has answered since: what was made a moment ago will do; with reasons it is another report.
        assert!(matches!(ask((2, false), 0).unwrap(), Asked::Made(_)));
        assert!(matches!(ask((2, true), 20_000).unwrap(), Asked::Made(_)));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        // What goes wrong is told once, and the next one tries again.
        let broken = || Err(Error::storage("no disk"));
        assert!(job.ask((3, false), Duration::from_secs(20), broken).is_err());
        assert!(matches!(ask((3, false), 20_000).unwrap(), Asked::Made(_)));
    }
}
