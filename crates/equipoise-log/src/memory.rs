//! A log in memory, for tests and simulations.

use crate::chain::Head;
use crate::error::Result;
use crate::store::{Reader, Store, Table};
use crate::transaction::{Last, TOMBSTONE};
use crate::{COMMON_SESSION, Payload, Row};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows in a list; clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    rows: Arc<Mutex<Vec<Row>>>,
}

impl MemoryStore {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows as they are, also such as no log would have.
    pub fn from_rows(rows: Vec<Row>) -> Self {
        Self { rows: Arc::new(Mutex::new(rows)) }
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(of(&self.rows(), session))
    }

    fn sessions(&self) -> Result<Vec<String>> {
        Ok(self.rows().iter().filter(is_first).map(|row| row.session.clone()).collect())
    }

    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        // A copy: whoever looks may read the log, too.
        let rows: Vec<Row> = self.rows().iter().filter(|row| row.position > position).cloned().collect();
        rows.into_iter().all(look);
        Ok(())
    }

    fn head(&self) -> Result<Head> {
        Ok(Head::of(self.rows().last()))
    }
}

impl Store for MemoryStore {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        let mut rows = self.rows();
        let length = rows.len();
        let mut open = Open { rows: &mut rows, before: vec![] };
        if !work(&mut open) {
            let Open { rows, before } = open;
            before.into_iter().rev().for_each(|(place, payload)| rows[place].payload = payload);
            rows.truncate(length);
        }
        Ok(())
    }

    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        Ok(Box::new(self.clone()))
    }
}

/// The rows during a transaction, and the payloads they had before it.
struct Open<'a> {
    rows: &'a mut Vec<Row>,
    before: Vec<(usize, Option<Payload>)>,
}

impl Open<'_> {
    fn put(&mut self, wanted: impl Fn(&Row) -> bool, payload: Option<&Payload>) {
        for (place, row) in self.rows.iter_mut().enumerate().filter(|(_, row)| wanted(row)) {
            self.before.push((place, std::mem::replace(&mut row.payload, payload.cloned())));
        }
    }
}

impl Table for Open<'_> {
    fn head(&self) -> Result<Head> {
        Ok(Head::of(self.rows.last()))
    }

    fn session(&self, session: &str) -> Result<Vec<Row>> {
        Ok(of(self.rows, session))
    }

    fn begun(&self) -> Result<u64> {
        Ok(self.rows.iter().filter(is_first).count() as u64)
    }

    fn keyed(&self, session: &str, key: &str) -> Result<Option<Row>> {
        Ok(self.rows.iter().rev().find(|row| row.session == session && row.key == key).cloned())
    }

    fn last(&self, session: &str) -> Result<Last> {
        let mut own = self.rows.iter().filter(|row| row.session == session);
        let Some(first) = own.next() else { return Ok(Last::default()) };
        Ok(Last { seq: own.next_back().unwrap_or(first).seq, erased: first.payload.is_none() })
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        self.rows.push(row.clone());
        Ok(())
    }

    fn forget(&mut self, session: &str) -> Result<()> {
        self.put(|row| row.session == session && row.key != TOMBSTONE, None);
        Ok(())
    }

    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        self.put(|row| row.position == position, Some(payload));
        Ok(())
    }
}
