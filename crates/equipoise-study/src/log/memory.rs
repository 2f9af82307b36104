//! A log in memory, for tests and simulations.

use super::{Appended, Draft, Head, Payload, Row, STUDY_SESSION, Store};
use crate::error::Result;

/// Rows in a list.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    /// All rows. Public so that a test can tamper with them.
    pub rows: Vec<Row>,
}

impl MemoryStore {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, draft: Draft) -> Row {
        let mut head =
            self.rows.last().map_or(Head::default(), |row| Head { position: row.position, hash: row.hash });
        let row = head.extend(draft);
        self.rows.push(row.clone());
        row
    }
}

impl Store for MemoryStore {
    fn append(&mut self, groups: &[Vec<Draft>]) -> Result<Vec<Appended>> {
        let mut all = vec![];
        for group in groups {
            let of = |draft: &Draft| {
                self.rows.iter().rev().filter({
                    let session = draft.session.clone();
                    move |row| row.session == session
                })
            };
            let known = group.first().and_then(|draft| of(draft).find(|row| row.key == draft.key).cloned());
            let taken = group.iter().find_map(|draft| of(draft).find(|row| row.seq == draft.seq).cloned());
            all.push(match (known, taken) {
                (Some(row), _) => Appended::Known(row),
                (None, Some(row)) => Appended::Taken(row),
                (None, None) => Appended::New(group.iter().map(|draft| self.add(draft.clone())).collect()),
            });
        }
        Ok(all)
    }

    fn session(&self, session: &str) -> Result<Vec<Row>> {
        Ok(self.rows.iter().filter(|row| row.session == session).cloned().collect())
    }

    fn sessions(&self) -> Result<Vec<String>> {
        let first = self.rows.iter().filter(|row| row.seq == 1 && row.session != STUDY_SESSION);
        Ok(first.map(|row| row.session.clone()).collect())
    }

    fn each(&self, look: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        self.rows.iter().cloned().try_for_each(look)
    }

    fn head(&self) -> Result<Head> {
        Ok(self.rows.last().map_or(Head::default(), |row| Head { position: row.position, hash: row.hash }))
    }

    fn replace(&mut self, position: u64, payload: Payload, record: Draft) -> Result<Row> {
        self.rows
            .iter_mut()
            .filter(|row| row.position == position)
            .for_each(|row| row.payload = Some(payload.clone()));
        Ok(self.add(record))
    }

    fn erase(&mut self, session: &str, record: Draft) -> Result<Row> {
        self.rows.iter_mut().filter(|row| row.session == session).for_each(|row| row.payload = None);
        Ok(self.add(record))
    }
}
