//! A log in memory, for tests and simulations.

use crate::chain::Head;
use crate::error::Result;
use crate::store::{Opener, Reader, Store, Table};
use crate::transaction::Last;
use crate::{COMMON_SESSION, Payload, Row};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows in a list; clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Clone, Default)]
struct Held {
    rows: Vec<Row>,
    spent: BTreeSet<String>,
}

impl MemoryStore {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows as they are, also such as no log would have.
    pub fn from_rows(rows: Vec<Row>) -> Self {
        Self { held: Arc::new(Mutex::new(Held { rows, spent: BTreeSet::new() })) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of(rows: &[Row], session: &str) -> Vec<Row> {
    rows.iter().filter(|row| row.session == session).cloned().collect()
}

fn is_first(row: &&Row) -> bool {
    row.seq == 1 && row.session != COMMON_SESSION
}

impl Reader for MemoryStore {
    fn session(&self, session: &str) -> Result<Vec<Row>> {
        Ok(of(&self.held().rows, session))
    }

    fn sessions(&self) -> Result<Vec<String>> {
        Ok(self.held().rows.iter().filter(is_first).map(|row| row.session.clone()).collect())
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        // A copy: whoever looks may read the log, too.
        let rows: Vec<Row> = self.held().rows.iter().filter(|row| row.position > position).cloned().collect();
        rows.into_iter().all(look);
        Ok(())
    }

    fn head(&self) -> Result<Head> {
        Ok(Head::of(self.held().rows.last()))
    }

    fn spent(&self) -> Result<BTreeSet<String>> {
        Ok(self.held().spent.clone())
    }
}

impl Store for MemoryStore {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        let mut held = self.held();
        let length = held.rows.len();
        let mut open = Open { held: &mut held, before: vec![], spent: vec![] };
        if !work(&mut open) {
            let Open { held, before, spent } = open;
            before.into_iter().rev().for_each(|(place, row)| held.rows[place] = row);
            held.rows.truncate(length);
            held.spent.retain(|session| !spent.contains(session));
        }
        Ok(())
    }

    fn opener(&self) -> Opener {
        let log = self.clone();
        Arc::new(move || Ok(Box::new(log.clone())))
    }
}

/// The rows during a transaction, those it changed as they were before, and names it spent.
struct Open<'a> {
    held: &'a mut Held,
    before: Vec<(usize, Row)>,
    spent: Vec<String>,
}

impl Open<'_> {
    fn change(&mut self, wanted: impl Fn(&Row) -> bool, change: impl Fn(&mut Row)) {
        for (place, row) in self.held.rows.iter_mut().enumerate().filter(|(_, row)| wanted(row)) {
            self.before.push((place, row.clone()));
            change(row);
        }
    }
}

impl Table for Open<'_> {
    fn head(&self) -> Result<Head> {
        Ok(Head::of(self.held.rows.last()))
    }

    fn session(&self, session: &str) -> Result<Vec<Row>> {
        Ok(of(&self.held.rows, session))
    }

    fn begun(&self) -> Result<u64> {
        Ok(self.held.rows.iter().filter(is_first).count() as u64)
    }

    fn keyed(&self, session: &str, key: &str) -> Result<Option<Row>> {
        Ok(self.held.rows.iter().rev().find(|row| row.session == session && row.key == key).cloned())
    }

    fn last(&self, session: &str) -> Result<Last> {
        let mut own = self.held.rows.iter().filter(|row| row.session == session);
        let Some(first) = own.next() else {
            return Ok(Last { seq: 0, erased: self.held.spent.contains(session) });
        };
        Ok(Last { seq: own.next_back().unwrap_or(first).seq, erased: first.payload.is_none() })
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        self.held.rows.push(row.clone());
        Ok(())
    }

    fn forget(&mut self, session: &str, name: &str) -> Result<()> {
        let blank = |row: &mut Row| {
            (row.session, row.key, row.at) = (name.to_owned(), row.seq.to_string(), 0);
            row.payload = None;
        };
        self.change(|row| row.session == session, blank);
        Ok(())
    }

    fn spend(&mut self, session: &str) -> Result<()> {
        if self.held.spent.insert(session.to_owned()) {
            self.spent.push(session.to_owned());
        }
        Ok(())
    }

    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.change(|row| row.position == position, |row| row.payload = Some(payload.clone()));
        Ok(())
    }
}
