//! For tests: what any store must hold ([`conformance`]), and a store that fails on request ([`Faulty`]).

pub mod conformance;

use crate::chain::Head;
use crate::error::{Error, Result};
use crate::store::{Reader, Store, Table};
use crate::{Row, Trouble, Why};

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
    inner: S,
    plan: F,
}

impl<S: Store, F: FnMut(&mut S) -> Option<Fault> + Send> Faulty<S, F> {
    /// A store that fails by a plan.
    pub fn new(inner: S, plan: F) -> Self {
        Self { inner, plan }
    }
}

impl<S: Store, F> Reader for Faulty<S, F> {
    fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.inner.session(session)
    }

    fn sessions(&self) -> Result<Vec<String>> {
        self.inner.sessions()
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        self.inner.each_after(position, look)
    }

    fn head(&self) -> Result<Head> {
        self.inner.head()
    }
}

impl<S: Store, F: FnMut(&mut S) -> Option<Fault> + Send> Store for Faulty<S, F> {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        match (self.plan)(&mut self.inner) {
            None => self.inner.transact(work),
            Some(Fault::Before(error)) => Err(error),
            Some(Fault::After(error)) => self.inner.transact(work).and(Err(error)),
        }
    }

    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        self.inner.reader()
    }

    fn probe(&mut self) -> Result<()> {
        self.transact(&mut |_| true)
    }
}
