//! One thread that writes, so that many answers share one sync of the disk.
//!
//! Whoever appends waits until the transaction that holds their rows has been synced: sharing changes how long that
//! takes, never what is promised.

use crate::error::{Error, Result, Trouble, Why};
use crate::store::{Opener, Probe, Reader, Store};
use crate::transaction::{Appended, Transaction};
use crate::{Group, Row};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// At most this many groups share a transaction.
const MOST: usize = 64;
/// Rows that were written so short a time ago show that rows are written.
const LATELY: Duration = Duration::from_secs(1);

/// For so long what a lost connection kept from being written is tried again.
const AGAIN: Duration = Duration::from_secs(5);

type Reply = Box<dyn FnOnce(Result<Appended>) + Send>;
type Errand = Box<dyn FnOnce(&mut dyn Store) + Send>;

enum Job {
    Append(Group, Reply),
    With(Errand),
}

/// A handle on the writing thread; clones share it. The thread ends with the last handle.
#[derive(Clone)]
pub struct Writer {
    jobs: Sender<Job>,
    opener: Opener,
    prober: Arc<Mutex<Probe>>,
    shared: bool,
    pulse: Arc<Mutex<Pulse>>,
}

/// How the writing thread is, for those who would rather not ask it.
#[derive(Debug, Clone, Copy, Default)]
struct Pulse {
    /// When it began what it is at.
    busy: Option<Instant>,
    /// When it last wrote something.
    written: Option<Instant>,
    /// When and why it could not, if that was so the last time.
    trouble: Option<(Instant, Why)>,
    ended: bool,
}

/// Says that the thread has ended, however it does.
struct Last<'a>(&'a Mutex<Pulse>);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        lock(self.0).ended = true;
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// Starts the thread.
    pub fn start(store: impl Store + 'static) -> Self {
        Self::start_boxed(Box::new(store))
    }

    /// The same for a store of any kind.
    pub fn start_boxed(store: Box<dyn Store>) -> Self {
        let (jobs, inbox) = channel();
        let (opener, prober) = (store.opener(), Arc::new(Mutex::new(store.prober())));
        let writer = Self { jobs, opener, prober, shared: store.is_shared(), pulse: Arc::default() };
        let pulse = writer.pulse.clone();
        std::thread::spawn(move || work(store, &inbox, &pulse));
        writer
    }

    /// Whether other servers write the same log ([`Store::is_shared`]).
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// When and why groups could not be written, if that was so the last time.
    pub fn trouble(&self) -> Option<(Instant, Why)> {
        lock(&self.pulse).trouble
    }

    /// Whether something could be written now. The writing thread is not asked, since it has people to write for: what it
    /// did last tells, and if that is a while ago somebody beside it tries ([`Store::prober`]). It is failing if it has been
    /// at one thing for longer than `patience`.
    pub fn probe(&self, patience: Duration) -> Result<()> {
        let Pulse { busy, written, ended, .. } = *lock(&self.pulse);
        if ended {
            return Err(stopped());
        }
        if busy.is_some_and(|since| since.elapsed() >= patience) {
            let what = "the log has not taken a row for some time";
            return Err(Error::Storage(Trouble::new(Why::Busy, what)));
        }
        match written.is_some_and(|at| at.elapsed() < LATELY) {
            true => Ok(()),
            false => (lock(&self.prober))(),
        }
    }

    /// Appends a group; returns when it is synced.
    pub fn append(&self, group: Group) -> Result<Appended> {
        let (tell, told) = channel();
        let reply = Box::new(move |result| drop(tell.send(result)));
        self.jobs.send(Job::Append(group, reply)).map_err(|_| stopped())?;
        told.recv().map_err(|_| stopped())?
    }

    /// The rows of a session.
    pub fn session(&self, session: &str) -> Result<Vec<Row>> {
        let session = session.to_owned();
        self.with(move |store| store.session(&session))
    }

    /// A way to read the log beside the writing thread.
    pub fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        (self.opener)()
    }

    /// How to read it so as often as somebody likes.
    pub fn opener(&self) -> Opener {
        self.opener.clone()
    }

    /// Anything else with the store, between two transactions.
    pub fn with<T: Send + 'static, E: From<Error> + Send + 'static>(
        &self,
        f: impl FnOnce(&mut dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (tell, told) = channel();
        let errand = Box::new(move |store: &mut dyn Store| drop(tell.send(f(store))));
        self.jobs.send(Job::With(errand)).map_err(|_| stopped())?;
        told.recv().map_err(|_| stopped())?
    }
}

fn stopped() -> Error {
    Error::storage("the writing thread has ended")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(mut store: Box<dyn Store>, inbox: &Receiver<Job>, pulse: &Mutex<Pulse>) {
    let _last = Last(pulse);
    while let Ok(job) = inbox.recv() {
        lock(pulse).busy = Some(Instant::now());
        let mut next = Some(job);
        let (mut groups, mut replies) = (vec![], vec![]);
        // Whatever came in during the last sync goes into this one.
        while let Some(job) = next.take() {
            match job {
                Job::Append(group, reply) => {
                    groups.push(group);
                    replies.push(reply);
                    next = if groups.len() < MOST { inbox.try_recv().ok() } else { None };
                }
                Job::With(errand) => {
                    commit(&mut *store, &std::mem::take(&mut groups), std::mem::take(&mut replies), pulse);
                    errand(&mut *store);
                }
            }
        }
        commit(&mut *store, &groups, replies, pulse);
        lock(pulse).busy = None;
    }
}

/// Adds groups in one transaction. Refusing one holds up no other; anything else fails them all.
fn commit(store: &mut dyn Store, groups: &[Group], replies: Vec<Reply>, pulse: &Mutex<Pulse>) {
    if groups.is_empty() {
        return;
    }
    let begun = Instant::now();
    let (done, all) = loop {
        match add(store, groups) {
            // Nothing was kept, and whoever sent it would do no more than send it again.
            (Err(error), _) if error.why() == Some(Why::Lost) && begun.elapsed() < AGAIN => {}
            added => break added,
        }
    };
    {
        let (mut pulse, now) = (lock(pulse), Instant::now());
        pulse.trouble = done.as_ref().err().map(|error| (now, error.why().unwrap_or(Why::Other)));
        if done.is_ok() {
            pulse.written = Some(now);
        }
    }
    match done {
        Ok(()) => replies.into_iter().zip(all).for_each(|(reply, result)| reply(result)),
        Err(error) => replies.into_iter().for_each(|reply| reply(Err(error.clone()))),
    }
}

/// What became of the transaction, and of each group in it.
fn add(store: &mut dyn Store, groups: &[Group]) -> (Result<()>, Vec<Result<Appended>>) {
    let (mut all, mut failed) = (vec![], None);
    let kept = store.transact(&mut |table| {
        let mut log = Transaction::new(table);
        for group in groups {
            match log.append(group) {
                Err(error) if !error.is_refusal() => {
                    failed = Some(error);
                    return false;
                }
                result => all.push(result),
            }
        }
        true
    });
    (failed.map_or(kept, Err), all)
}
