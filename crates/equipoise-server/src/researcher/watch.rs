//! A study as it is now, kept up to date from the log's new rows, and shared by everybody who watches.
//!
//! Bringing it up to date reads the rows since the last time and looks only at the participants they belong to. However
//! many watch, it is done at most twice a second; so watchers cost participants next to nothing (RS-06).

use super::news::{Changed, New};
use equipoise_log::{Reader, each_after};
use equipoise_study::event::Admin;
use equipoise_study::people::{self, Conduct, Person};
use equipoise_study::{Participant, Result, Service, Step};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// What is older is brought up to date before it is shown.
const FRESH: Duration = Duration::from_millis(500);
/// So many rows take seconds to be worked out.
const LONG: u64 = 5_000;
/// The posterior of a ratio is kept at every so many places of its grid.
const THINNED: usize = 4;

/// One participant, as watchers see them.
#[derive(Debug, Clone)]
pub struct Line {
    /// What the log calls them.
    pub session: String,
    /// Where they are.
    pub person: Person,
    /// Whether they opened their link.
    pub opened: bool,
    /// Whether they agreed to take part.
    pub consented: bool,
    /// Whether all is done.
    pub completed: bool,
    /// Whether they have left, or were erased.
    pub gone: bool,
    /// Whether they belong to the version of the study that is served.
    pub current: bool,
    /// Whether the study's exclusion rule names them.
    pub excluded: bool,
    /// Why no metric is reported, of somebody who is done and has none: as in the report.
    pub refused: Option<String>,
    /// The posterior of the cost ratio: logarithms and densities; empty for other studies.
    pub density: Vec<(f64, f64)>,
    /// More classes or groups: what the dearest mistake is worth to them, or the dearest gap; empty otherwise.
    pub worth: String,
    /// When they were last heard of.
    pub last_at: i64,
    /// When they opened their link.
    pub came_at: Option<i64>,
    /// When they were done.
    pub done_at: Option<i64>,
}

/// When somebody was heard of: first, at the end, and last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) came: Option<i64>,
    pub(super) done: Option<i64>,
    pub(super) last: i64,
}

impl Line {
    /// Somebody, with what is known of them or, `counted`, only how far they are.
    pub(super) fn of(participant: &Participant, times: Times, counted: bool) -> Self {
        let mut person = if counted { Person::at_a_glance(participant) } else { Person::of(participant) };
        let known = !counted && person.answers > 0;
        // Whoever still answers may yet be understood.
        let done = matches!(participant.step(), Step::Finish | Step::Result);
        let refused = (known && done).then(|| equipoise_report::refused(participant)).flatten();
        if refused.is_some() {
            (person.ratio, person.angle, person.best) = (None, None, None);
        }
        let posterior = (known && refused.is_none()).then(|| participant.belief().density()).flatten();
        let density = posterior.map_or(vec![], |masses| density(&masses));
        let worth = match (&refused, known && person.ratio.is_none()) {
            (Some(_), _) => "no metric".to_owned(),
            (None, true) => dearest(participant),
            (None, false) => String::new(),
        };
        let gone = participant.withdrawn() || participant.erased();
        Self {
            session: participant.session().to_owned(),
            opened: participant.events() > 1,
            consented: participant.consented(),
            completed: participant.completed(),
            gone,
            current: participant
                .invited()
                .is_some_and(|invited| invited.study == participant.design().hash()),
            excluded: Conduct::of(participant).excluded,
            refused: refused.map(|refused| refused.to_string()),
            density,
            worth,
            last_at: times.last,
            came_at: times.came.filter(|_| !gone),
            done_at: times.done.filter(|_| !gone),
            person,
        }
    }

    /// Somebody who is simulated, who came and was done at these times.
    pub fn simulated(participant: &Participant, [came, done]: [i64; 2]) -> Self {
        Self::of(participant, Times { came: Some(came), done: Some(done), last: done }, false)
    }

    /// The same with what is known of somebody of whom only this much was told.
    pub fn worked_out(&self, participant: &Participant) -> Self {
        let times = Times { came: self.came_at, done: self.done_at, last: self.last_at };
        Self::of(participant, times, false)
    }

    /// Whether there is something to show of them.
    pub fn counts(&self) -> bool {
        self.current && !self.gone && self.person.answers > 0
    }

    /// Whether they belong to what all hold together: not who is done without a metric, nor whom the study's rule excludes.
    pub fn speaks(&self) -> bool {
        self.counts() && !self.excluded && self.refused.is_none()
    }
}

/// What weighs most for somebody whose metric has several weights: the best candidate where there are some, a gap, where there are groups, otherwise a mistake.
fn dearest(participant: &Participant) -> String {
    if let Some(best) = people::best(participant) {
        return format!("the best is {} with probability {:.2}", best.name, best.probability);
    }
    if participant.design().is_choice() {
        return "no candidate is named yet".to_owned();
    }
    let worths = equipoise_report::worths(participant.design(), &participant.belief().metric());
    let first = worths.iter().find(|worth| worth.gap).or_else(|| worths.first());
    first.map_or(String::new(), equipoise_report::Worth::clause)
}

/// Probabilities of evenly spaced logarithms of ratios as densities, at fewer places.
pub fn density(masses: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let [first, second, ..] = masses else { return vec![] };
    let step = second.0 - first.0;
    masses
        .chunks(THINNED)
        .map(|chunk| {
            let mass: f64 = chunk.iter().map(|(_, mass)| mass).sum();
            (chunk[chunk.len() / 2].0, mass / (step * chunk.len() as f64))
        })
        .collect()
}

/// A study as it is now.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// How many rows of the log it has taken in.
    pub rows: u64,
    /// The last row that is not about what researchers did.
    pub data: u64,
    /// Everybody, in the order of invitations.
    pub people: Vec<Arc<Line>>,
    /// What researchers did, oldest first: when, and what.
    pub actions: Vec<(i64, Admin)>,
    /// Whether researchers may see which way results point.
    pub blinded: bool,
    /// When each version was locked.
    pub locked: Vec<(i64, u64, String)>,
}

impl Seen {
    /// How many of everybody are so.
    pub fn count(&self, wanted: impl Fn(&Line) -> bool) -> usize {
        self.people.iter().filter(|line| wanted(line)).count()
    }

    /// Answers that stand.
    pub fn answers(&self) -> usize {
        self.people.iter().map(|line| line.person.answers).sum()
    }

    /// A participant by number.
    pub fn person(&self, number: u64) -> Option<&Arc<Line>> {
        self.people.iter().find(|line| line.person.number == Some(number))
    }
}

/// Keeps [`Seen`] up to date.
pub struct Watch {
    service: Arc<Service>,
    /// Beside the thread that writes, so that reading holds nobody up.
    log: Mutex<Box<dyn Reader + Send>>,
    now: Mutex<Kept>,
    /// The same without what is known of anybody, which is there at once after a start.
    counted: Mutex<Kept>,
    /// Whether what is known of everybody is being worked out.
    catching_up: AtomicBool,
    /// What was seen before is too old to be shown: somebody has changed the log since.
    changed: Mutex<Option<Instant>>,
}

/// What was seen last, and when.
type Kept = (Option<Instant>, Arc<Seen>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// Watches a study.
    pub fn new(service: Arc<Service>) -> Result<Self> {
        let log = Mutex::new(service.writer().reader()?);
        Ok(Self {
            service,
            log,
            now: Mutex::default(),
            counted: Mutex::default(),
            catching_up: AtomicBool::new(false),
            changed: Mutex::default(),
        })
    }

    /// Reads the log for something that takes its time, so that those who watch need not wait for it.
    pub fn read<T>(&self, f: impl FnOnce(&dyn Reader) -> Result<T>) -> Result<T> {
        f(&*self.service.writer().reader()?)
    }

    /// The study as it is now, give or take half a second.
    pub fn now(&self) -> Result<Arc<Seen>> {
        self.kept(&self.now, false)
    }

    /// The study as it is now; nothing, where so much was answered since it was last looked at that it takes a while. Then it
    /// is worked out meanwhile, for whoever asks again.
    pub fn soon(self: &Arc<Self>) -> Result<Option<Arc<Seen>>> {
        if self.catching_up.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let counted = self.counted()?.rows;
        let known = match self.now.try_lock() {
            Ok(now) => now.1.rows,
            // Somebody else began while how far everybody is was counted: nobody waits for that.
            Err(TryLockError::WouldBlock) if self.catching_up.load(Ordering::SeqCst) => return Ok(None),
            Err(_) => lock(&self.now).1.rows,
        };
        let behind = counted.saturating_sub(known);
        if behind < LONG {
            return self.now().map(Some);
        }
        if !self.catching_up.swap(true, Ordering::SeqCst) {
            let watch = self.clone();
            std::thread::spawn(move || {
                // Whatever goes wrong is told to whoever asks next.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watch.now()));
                watch.catching_up.store(false, Ordering::SeqCst);
            });
        }
        Ok(None)
    }

    /// How far everybody is, and nothing of what their answers say: reading a long log for that takes a moment, all else
    /// takes half a minute.
    pub fn counted(&self) -> Result<Arc<Seen>> {
        self.kept(&self.counted, true)
    }

    fn kept(&self, kept: &Mutex<Kept>, counted: bool) -> Result<Arc<Seen>> {
        let mut now = lock(kept);
        let (last, changed) = (now.0, *lock(&self.changed));
        if last.is_some_and(|at| at.elapsed() < FRESH && changed.is_none_or(|changed| changed < at)) {
            return Ok(now.1.clone());
        }
        let begun = Instant::now();
        now.1 = self.caught_up(&now.1, counted)?;
        // What took long to find out is shown for a while all the same, unless it is known to be old.
        let known = changed == *lock(&self.changed);
        now.0 = Some(if known { Instant::now() } else { begun });
        Ok(now.1.clone())
    }

    /// How far everybody is, with everything that is in the log by now: for somebody who has just changed it. Nobody waits for what
    /// is being worked out meanwhile.
    pub fn at_once(&self) -> Result<Arc<Seen>> {
        *lock(&self.changed) = Some(Instant::now());
        self.counted()
    }

    fn caught_up(&self, seen: &Arc<Seen>, counted: bool) -> Result<Arc<Seen>> {
        let mut new = New::since(seen, counted.then(|| self.service.design()));
        let gone = {
            let log = lock(&self.log);
            each_after(&**log, seen.rows, |row| new.take(row))?;
            if new.is_empty() {
                return Ok(seen.clone());
            }
            new.without_erased(&**log)?
        };
        gone.iter().for_each(|session| self.service.forget(session));
        let (mut next, changed) = new.changed();
        for changed in changed {
            let (place, Changed { session, seq, times, line }) = changed?;
            let line = match line {
                Some(line) => line,
                None => self.line(&session, seq, times, counted)?,
            };
            match next.people.get_mut(place) {
                Some(known) => *known = Arc::new(line),
                None => next.people.push(Arc::new(line)),
            }
        }
        Ok(Arc::new(next))
    }

    fn line(&self, session: &str, seq: u64, times: Times, counted: bool) -> Result<Line> {
        let stale = self.service.peek(session, |participant| participant.events() < seq)?;
        if stale {
            // Another process wrote to the log; what this one has in memory is old.
            self.service.forget(session);
        }
        self.service.peek(session, |participant| Line::of(participant, times, counted))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
