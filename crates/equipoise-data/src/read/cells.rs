//! A profile that grows: every different score, or parts of [0, 1] once they are too many.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "rows of one table: its columns are of one length"
)]

use crate::table::Table;
use equipoise::population::{Cell, Profile, Score};
use rayon::prelude::*;

/// Cells up to which a profile has every different score; more are counted in parts of [0, 1].
pub(super) const MOST_CELLS: usize = 1 << 22;

/// Bytes of a cell on its way.
const BYTES: usize = 8 + 8 + 4 + 2 + 1;

pub(super) struct Cells {
    cells: Vec<Cell>,
    groups: usize,
    bucketed: bool,
}

impl Cells {
    pub fn new(groups: usize) -> Self {
        Self { cells: vec![], groups, bucketed: false }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn size(&self) -> usize {
        self.cells.len() * size_of::<Cell>()
    }

    pub fn add(&mut self, table: &Table, score: Score) {
        let cell = |row: usize| {
            let truth = usize::from(table.truth()[row]);
            let (score, positive) = score.of(truth, |class| table.probabilities(class)[row])?;
            Some(Cell { score, weight: table.weight(row), rows: 1, group: table.group(row) as u16, positive })
        };
        let mut more: Vec<Cell> = (0..table.rows()).into_par_iter().filter_map(cell).collect();
        more.par_sort_unstable_by(Cell::order);
        let more = self.joined(more).into_cells();
        self.take(more);
    }

    fn take(&mut self, more: Vec<Cell>) {
        let mut all = std::mem::take(&mut self.cells);
        all.extend(more);
        let joined = self.joined(all);
        let too_many = !self.bucketed && joined.cells().len() > MOST_CELLS;
        self.bucketed |= too_many;
        self.cells = match too_many {
            true => self.joined(joined.into_cells()).into_cells(),
            false => joined.into_cells(),
        };
    }

    fn joined(&self, cells: Vec<Cell>) -> Profile {
        match self.bucketed {
            true => Profile::in_buckets(cells, self.groups, 0.0),
            false => Profile::new(cells, self.groups, 0.0),
        }
    }

    pub fn profile(self, total: f64) -> Profile {
        match self.bucketed {
            true => Profile::in_buckets(self.cells, self.groups, total),
            false => Profile::new(self.cells, self.groups, total),
        }
    }

    /// Everything as bytes.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.reserve(1 + self.cells.len() * BYTES);
        to.push(u8::from(self.bucketed));
        for cell in &self.cells {
            to.extend_from_slice(&cell.score.to_le_bytes());
            to.extend_from_slice(&cell.weight.to_le_bytes());
            to.extend_from_slice(&cell.rows.to_le_bytes());
            to.extend_from_slice(&cell.group.to_le_bytes());
            to.push(u8::from(cell.positive));
        }
    }

    /// Adds cells that were written elsewhere; `None` if they cannot have been.
    pub fn merge(&mut self, bytes: &[u8]) -> Option<()> {
        fn number<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            let (number, rest) = bytes.split_first_chunk::<N>()?;
            *bytes = rest;
            Some(*number)
        }
        let (&bucketed, mut rest) = bytes.split_first()?;
        let mut more = Vec::with_capacity(rest.len() / BYTES);
        while !rest.is_empty() {
            let (score, weight) = (number(&mut rest)?, number(&mut rest)?);
            let (rows, group, [positive]) = (number(&mut rest)?, number(&mut rest)?, number::<1>(&mut rest)?);
            more.push(Cell {
                score: f64::from_le_bytes(score),
                weight: f64::from_le_bytes(weight),
                rows: u32::from_le_bytes(rows),
                group: u16::from_le_bytes(group),
                positive: positive == 1,
            });
        }
        self.bucketed |= bucketed == 1;
        self.take(more);
        Some(())
    }
}
