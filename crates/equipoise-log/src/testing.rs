//! For tests: a store that fails on request ([`Faulty`]), and one that seals rows as older releases did ([`Before`]).

use crate::chain::{Head, seal_of_before};
use crate::error::{Error, Result};
use crate::store::{Opener, Probe, Reader, Store, Table};
use crate::transaction::Last;
use crate::{Payload, Row, Trouble, Why};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a transaction goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing was written: an input error, a full disk, a lock held for too long.
    Before(Error),
    /// Everything was written, but whoever asked is told that it failed: a sync whose result is not known.
    After(Error),
}

impl Fault {
    /// A disk without room.
    pub fn full() -> Self {
        Self::Before(Error::Storage(Trouble::new(Why::Full, "database or disk is full")))
    }

    /// Something a disk says when it breaks.
    pub fn broken() -> Error {
        Error::storage("disk I/O error")
    }
}

/// A store whose transactions fail when `plan` says so, which is asked before each.
pub struct Faulty<S, F> {
    /// Shared with whoever finds out how it is.
    held: Arc<Mutex<(S, F)>>,
}

impl<S: Store, F: FnMut(&mut S) -> Option<Fault> + Send> Faulty<S, F> {
    /// A store that fails by a plan.
    pub fn new(inner: S, plan: F) -> Self {
        Self { held: Arc::new(Mutex::new((inner, plan))) }
    }
}

impl<S, F> Faulty<S, F> {
    fn held(&self) -> MutexGuard<'_, (S, F)> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn transact<S: Store, F: FnMut(&mut S) -> Option<Fault>>(
    held: &mut (S, F),
    work: &mut dyn FnMut(&mut dyn Table) -> bool,
) -> Result<()> {
    let (inner, plan) = held;
    match plan(inner) {
        None => inner.transact(work),
        Some(Fault::Before(error)) => Err(error),
        Some(Fault::After(error)) => inner.transact(work).and(Err(error)),
    }
}

impl<S: Store, F> Reader for Faulty<S, F> {
    fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.held().0.session(session)
    }

    fn sessions(&self) -> Result<Vec<String>> {
        self.held().0.sessions()
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        self.held().0.each_after(position, look)
    }

    fn head(&self) -> Result<Head> {
        self.held().0.head()
    }

    fn spent(&self) -> Result<BTreeSet<String>> {
        self.held().0.spent()
    }
}

impl<S: Store + 'static, F: FnMut(&mut S) -> Option<Fault> + Send + 'static> Store for Faulty<S, F> {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        transact(&mut self.held(), work)
    }

    fn opener(&self) -> Opener {
        self.held().0.opener()
    }

    fn prober(&self) -> Probe {
        let held = self.held.clone();
        Box::new(move || transact(&mut held.lock().unwrap_or_else(PoisonError::into_inner), &mut |_| true))
    }
}

/// A store whose rows are sealed as releases before salted seals did it.
#[derive(Debug)]
pub struct Before<S>(pub S);

impl<S: Store> Reader for Before<S> {
    fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.0.session(session)
    }

    fn sessions(&self) -> Result<Vec<String>> {
        self.0.sessions()
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        self.0.each_after(position, look)
    }

    fn head(&self) -> Result<Head> {
        self.0.head()
    }

    fn spent(&self) -> Result<BTreeSet<String>> {
        self.0.spent()
    }
}

impl<S: Store> Store for Before<S> {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        self.0.transact(&mut |table| work(&mut TableBefore(table)))
    }

    fn opener(&self) -> Opener {
        self.0.opener()
    }

    fn settle(&mut self) -> Result<bool> {
        self.0.settle()
    }
}

struct TableBefore<'a>(&'a mut dyn Table);

impl Table for TableBefore<'_> {
    fn head(&self) -> Result<Head> {
        self.0.head()
    }

    fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.0.session(session)
    }

    fn begun(&self) -> Result<u64> {
        self.0.begun()
    }

    fn keyed(&self, session: &str, key: &str) -> Result<Option<Row>> {
        self.0.keyed(session, key)
    }

    fn last(&self, session: &str) -> Result<Last> {
        self.0.last(session)
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let mut row = Row { previous: self.0.head()?.hash, ..row.clone() };
        row.hash = seal_of_before(&row);
        self.0.insert(&row)
    }

    fn forget(&mut self, session: &str, name: &str) -> Result<()> {
        self.0.forget(session, name)
    }

    fn spend(&mut self, session: &str) -> Result<()> {
        self.0.spend(session)
    }

    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.0.replace(position, payload)
    }
}
