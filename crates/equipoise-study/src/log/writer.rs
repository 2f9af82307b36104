//! One thread that writes, so that many answers share one sync of the disk.
//!
//! Whoever appends waits until the transaction that holds their rows has been synced: sharing changes how long that
//! takes, never what is promised.

use super::{Appended, Draft, Row, Store};
use crate::error::{Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};

/// At most this many groups share a transaction.
const MOST: usize = 64;

type Reply<T> = Box<dyn FnOnce(Result<T>) + Send>;
type Errand = Box<dyn FnOnce(&mut dyn Store) + Send>;

enum Job {
    Append(Vec<Draft>, Reply<Appended>),
    Session(String, Reply<Vec<Row>>),
    With(Errand),
}

/// A handle on the writing thread; clones share it. The thread ends with the last handle.
#[derive(Clone)]
pub struct Writer {
    jobs: Sender<Job>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// Starts the thread.
    pub fn start(store: impl Store + 'static) -> Self {
        let (jobs, inbox) = channel();
        std::thread::spawn(move || work(store, &inbox));
        Self { jobs }
    }

    /// Appends a group; returns when it is synced.
    pub fn append(&self, group: Vec<Draft>) -> Result<Appended> {
        self.wait(|reply| Job::Append(group, reply))
    }

    /// Appends a group; `then` is called on the writing thread when it is synced, and must not block.
    pub fn append_then(&self, group: Vec<Draft>, then: impl FnOnce(Result<Appended>) + Send + 'static) {
        if let Err(unsent) = self.jobs.send(Job::Append(group, Box::new(then)))
            && let Job::Append(_, then) = unsent.0
        {
            then(Err(stopped()));
        }
    }

    /// The rows of a session.
    pub fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.wait(|reply| Job::Session(session.to_owned(), reply))
    }

    /// Anything else with the store, between two transactions.
    pub fn with<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut dyn Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.wait(|reply: Reply<T>| Job::With(Box::new(move |store| reply(f(store)))))
    }

    fn wait<T: Send + 'static>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T> {
        let (tell, told) = channel();
        let reply = Box::new(move |result| drop(tell.send(result)));
        self.jobs.send(job(reply)).map_err(|_| stopped())?;
        told.recv().map_err(|_| stopped())?
    }
}

fn stopped() -> Error {
    Error::Storage("the writing thread has ended".to_owned())
}

fn work(mut store: impl Store, inbox: &Receiver<Job>) {
    while let Ok(job) = inbox.recv() {
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
                other => {
                    commit(&mut store, std::mem::take(&mut groups), std::mem::take(&mut replies));
                    match other {
                        Job::Session(session, reply) => reply(store.session(&session)),
                        Job::With(f) => f(&mut store),
                        Job::Append(..) => unreachable!("matched above"),
                    }
                }
            }
        }
        commit(&mut store, groups, replies);
    }
}

fn commit(store: &mut impl Store, groups: Vec<Vec<Draft>>, replies: Vec<Reply<Appended>>) {
    if groups.is_empty() {
        return;
    }
    match store.append(&groups) {
        Ok(all) => replies.into_iter().zip(all).for_each(|(reply, appended)| reply(Ok(appended))),
        Err(error) => {
            let sentence = match error {
                Error::Storage(sentence) => sentence,
                other => other.to_string(),
            };
            replies.into_iter().for_each(|reply| reply(Err(Error::Storage(sentence.clone()))));
        }
    }
}
