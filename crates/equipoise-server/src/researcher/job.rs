//! The report as a job of its own: one at a time, whoever waits for it or has stopped waiting, and kept for the answers it
//! was made from.

use equipoise_log::Opener;
use equipoise_report::{self as report, Progress, Report};
use equipoise_study::{Design, Error, Everybody, Result, Service};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request waits this long; the job goes on, and the next request finds what it made.
const PATIENCE: Duration = Duration::from_secs(3);
/// While people answer, a report this old is new enough: it says which rows it was made from.
const RECENT: Duration = Duration::from_secs(60);
/// A report that nobody has asked for in this time is not made to the end: the pages ask every few seconds.
const ABANDONED: Duration = Duration::from_secs(120);

/// What a report is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Of {
    /// The last row of data.
    pub data: u64,
    /// Whether it says which answers mattered most.
    pub why: bool,
    /// How many have left or were erased: nothing of them may be in it, however recent it is.
    pub gone: usize,
}

/// The job.
#[derive(Debug, Default)]
pub struct Job {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    made: Option<(Of, Instant, Arc<Report>)>,
    failed: Option<Error>,
}

/// A report that is being made.
#[derive(Debug, Clone, Copy)]
pub struct Running {
    /// Since when.
    pub since: Instant,
    /// How far it is.
    pub progress: Progress,
    asked: Instant,
    stopped: bool,
}

/// What came of asking for a report.
#[derive(Debug)]
pub enum Asked {
    /// Here it is.
    Made(Arc<Report>),
    /// It is being made, and not ready.
    Running(Running),
}

/// Told how far a report is, says whether it goes on.
type GoesOn<'a> = &'a dyn Fn(Progress) -> bool;

impl Job {
    /// The report, if it is there or ready soon; begins to make it if nobody has.
    pub fn report(self: &Arc<Self>, service: &Arc<Service>, of: Of) -> Result<Asked> {
        let service = service.clone();
        self.ask(of, PATIENCE, move |goes_on| {
            made(service.design(), service.writer().opener(), of.why, goes_on)
        })
    }

    /// Ends the report that is being made; whether there was one.
    pub fn stop(&self) -> bool {
        match &mut self.state().running {
            Some(running) => {
                running.stopped = true;
                true
            }
            None => false,
        }
    }

    fn ask(
        self: &Arc<Self>,
        of: Of,
        patience: Duration,
        make: impl FnOnce(GoesOn<'_>) -> Result<Option<Report>> + Send + 'static,
    ) -> Result<Asked> {
        let (begun, mut make) = (Instant::now(), Some(make));
        let mut state = self.state();
        loop {
            if let Some((from, at, report)) = &state.made
                && (*from == of || (Of { data: of.data, ..*from } == of && at.elapsed() < RECENT))
            {
                return Ok(Asked::Made(report.clone()));
            }
            if let Some(error) = state.failed.take() {
                return Err(error);
            }
            let now = Instant::now();
            let running = match (&mut state.running, make.take()) {
                (none @ None, Some(make)) => {
                    let job = self.clone();
                    std::thread::spawn(move || job.run(of, make));
                    let progress = Progress::default();
                    *none.insert(Running { since: now, progress, asked: now, stopped: false })
                }
                (None, None) => return Err(Error::Missing("the report was stopped".to_owned())),
                (Some(running), unused) => {
                    make = unused;
                    running.asked = now;
                    *running
                }
            };
            let Some(left) = patience.checked_sub(begun.elapsed()) else {
                return Ok(Asked::Running(running));
            };
            state = self.ended.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self, of: Of, make: impl FnOnce(GoesOn<'_>) -> Result<Option<Report>>) {
        let goes_on = |progress: Progress| match &mut self.state().running {
            Some(running) => {
                running.progress = progress;
                !running.stopped && running.asked.elapsed() < ABANDONED
            }
            None => false,
        };
        // A panic must not leave the job running for ever.
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| make(&goes_on)));
        let mut state = self.state();
        state.running = None;
        match made {
            Ok(Ok(Some(report))) => state.made = Some((of, Instant::now(), Arc::new(report))),
            // Nobody wanted it any more.
            Ok(Ok(None)) => {}
            Ok(Err(error)) => state.failed = Some(error),
            Err(_) => state.failed = Some(Error::storage("the report could not be made")),
        }
        self.ended.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The report of the log as it is; nothing if nobody wants it any more.
fn made(design: &Arc<Design>, log: Opener, why: bool, goes_on: GoesOn<'_>) -> Result<Option<Report>> {
    let verified = equipoise_study::verify(&*log()?)?;
    let everybody = Everybody::of(design, log, verified.rows)?;
    let options = report::Options { why, ..report::Options::default() };
    report::report_while(design, &everybody, &verified.data_head, &options, goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_log::{MemoryStore, Store as _};
    use equipoise_study::{Study, template};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn of(data: u64, why: bool) -> Of {
        Of { data, why, gone: 0 }
    }

    #[test]
    fn however_many_ask_it_is_made_once_and_kept() {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        let design =
            Arc::new(Design::new(study, std::path::Path::new("../equipoise-study/src/templates")).unwrap());
        let (job, runs) = (Arc::new(Job::default()), Arc::new(AtomicUsize::new(0)));
        let ask = |of: Of, patience: u64| {
            let (runs, design) = (runs.clone(), design.clone());
            job.ask(of, Duration::from_millis(patience), move |goes_on| {
                runs.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(300));
                made(&design, MemoryStore::new().opener(), false, goes_on)
            })
        };
        // Five who do not wait: one job.
        for _ in 0..5 {
            assert!(matches!(ask(of(1, false), 10).unwrap(), Asked::Running(_)));
        }
        assert!(matches!(ask(of(1, false), 20_000).unwrap(), Asked::Made(_)));
        assert!(matches!(ask(of(1, false), 0).unwrap(), Asked::Made(_)));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        // Somebody has answered since: what was made a moment ago will do; with reasons it is another report.
        assert!(matches!(ask(of(2, false), 0).unwrap(), Asked::Made(_)));
        assert!(matches!(ask(of(2, true), 20_000).unwrap(), Asked::Made(_)));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        // Nobody who has left is in what is shown.
        assert!(matches!(ask(Of { gone: 1, ..of(3, true) }, 0).unwrap(), Asked::Running(_)));
        assert!(matches!(ask(Of { gone: 1, ..of(3, true) }, 20_000).unwrap(), Asked::Made(_)));
        // What goes wrong is told once, and the next one tries again.
        let broken = |_: GoesOn<'_>| Err(Error::storage("no disk"));
        assert!(job.ask(of(3, false), Duration::from_secs(20), broken).is_err());
        assert!(matches!(ask(of(3, false), 20_000).unwrap(), Asked::Made(_)));
    }

    #[test]
    fn it_says_how_far_it_is_and_ends_when_it_is_told_to() {
        let job = Arc::new(Job::default());
        let (tell, told) = std::sync::mpsc::channel();
        let ask = |patience: u64| {
            let tell = tell.clone();
            job.ask(of(1, false), Duration::from_millis(patience), move |goes_on| {
                // As many people as it takes.
                let ended = (0..1_000_000).find(|done| {
                    std::thread::sleep(Duration::from_millis(1));
                    !goes_on(Progress { done: *done, of: 1_000_000 })
                });
                tell.send(ended).unwrap();
                Ok(None)
            })
        };
        let far = |asked: Asked| match asked {
            Asked::Running(running) => running.progress.done,
            Asked::Made(_) => panic!("nobody made it"),
        };
        let first = far(ask(10).unwrap());
        let mut later = first;
        while later <= first {
            later = far(ask(20).unwrap());
        }
        assert!(job.stop());
        let ended = told.recv_timeout(Duration::from_secs(20)).expect("it goes on");
        assert!(ended.is_some_and(|done| done >= later));
        // What it made is put away a moment later; then there is none any more.
        assert!((0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            !job.stop()
        }));
    }
}
