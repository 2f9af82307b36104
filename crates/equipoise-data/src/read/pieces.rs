//! The files of a table that is read piece by piece: which labels there are, how a piece becomes rows, and counts that grow.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and rows that were read fit in 64 bits"
)]

use super::column::{Column, LabelCoder, Met, Moved};
use super::columns::{Choice, Want};
use super::layout::Layout;
use super::{Source, first_fault, turned};
use crate::error::{Error, Kind, Result, name};
use crate::table::{Rescaled, Table};
use equipoise::population::{Cell, Profile, Score, Totals};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Cells up to which a profile has every different score; more are counted in parts of [0, 1].
pub(super) const MOST_CELLS: usize = 1 << 22;

/// Files, and how their columns become rows.
pub(super) struct Files {
    pub source: Box<dyn Source>,
    /// What the table is called in a message.
    pub file: String,
    pub choice: Choice,
    pub layout: Layout,
    /// How many rows each piece has.
    pub pieces: Vec<usize>,
}

/// What one pass over everything comes to.
pub(super) struct Count {
    pub totals: Totals,
    /// Rows by the probability of the second of two classes.
    pub profile: Option<Profile>,
    /// Whether the probability of the first of two classes is what is missing to 1, to the last bit.
    pub sums_to_one: bool,
    /// Whether every probability is 0 or 1.
    pub hard: bool,
    /// Which rows they are ([`Table::fingerprint`]).
    pub fingerprint: u64,
    pub rescaled: Rescaled,
    pub moved: Moved,
    /// The area under the ROC curve where scores are turned round.
    pub area: Option<f64>,
}

impl Files {
    pub fn rows(&self) -> usize {
        self.pieces.iter().sum()
    }

    /// Calls with every piece, as a table with all the classes and groups there are, and the number of its first row.
    pub fn each(&self, mut take: impl FnMut(usize, Table)) -> Result<()> {
        let mut first = 0;
        for (piece, rows) in self.pieces.iter().enumerate() {
            let (table, ..) = self.piece(piece, first)?;
            take(first, table);
            first += rows;
        }
        Ok(())
    }

    fn piece(&self, piece: usize, first: usize) -> Result<(Table, Rescaled, Moved)> {
        let columns = self.source.read_piece(piece, &self.choice.wants)?;
        if let Some(error) = first_fault(&self.choice.wants, &columns) {
            return Err(error);
        }
        let within = |error: Error| match error.place.row {
            Some(row) => error.row(row + first as u64),
            None => error,
        };
        self.layout.table(&self.choice, columns).map_err(within)
    }

    /// Everything once.
    pub fn count(&self) -> Result<Count> {
        let two = self.layout.classes.len() == 2;
        let mut count = Count {
            totals: Totals::new(
                self.layout.classes.len(),
                self.layout.group_count(),
                self.choice.parts.weight.is_some(),
            ),
            profile: None,
            sums_to_one: true,
            hard: true,
            fingerprint: 0,
            rescaled: Rescaled::default(),
            moved: Moved::default(),
            area: None,
        };
        let (mut looked_at, every) = (vec![], turned::every(self.rows()));
        let (mut cells, mut first) = (Cells::new(self.layout.group_count()), 0);
        for (piece, rows) in self.pieces.iter().enumerate() {
            let (table, rescaled, moved) = self.piece(piece, first)?;
            count.rescaled = count.rescaled.and(rescaled);
            count.moved.absorb(moved);
            count.fingerprint = table.fingerprint(count.fingerprint);
            // In the order of the rows, so that sums of weights are those of a table in memory.
            for (row, &class) in table.truth().iter().enumerate() {
                count.totals.cells[table.group(row)][usize::from(class)].add(table.weight(row));
            }
            let of_class = |class: usize| table.probabilities(class);
            let sure = |class: usize| of_class(class).iter().all(|&p| p == 0.0 || p == 1.0);
            count.hard &= (0..table.classes().len()).all(sure);
            if two {
                let (no, yes) = (of_class(0), of_class(1));
                count.sums_to_one &= no.par_iter().zip(yes).all(|(no, yes)| *no == 1.0 - yes);
                let some = (first.next_multiple_of(every) - first..table.rows()).step_by(every);
                looked_at.extend(some.map(|row| (yes[row], table.truth()[row] == 1, 1.0)));
                cells.add(&table, Score::Class(1));
            }
            first += rows;
        }
        self.check(&count.totals)?;
        if two {
            count.profile = Some(cells.profile(count.totals.overall().weight));
            count.area = turned::area(looked_at);
        }
        Ok(count)
    }

    /// Every class needs rows, and some weight.
    fn check(&self, totals: &Totals) -> Result<()> {
        let (wants, parts) = (&self.choice.wants, &self.choice.parts);
        for (class, label) in self.layout.classes.iter().enumerate() {
            let total = totals.of_class(class);
            if total.rows == 0 {
                let found = format!("no row of class {}", name(label));
                let error = Error::new(Kind::ClassWithoutRows, found, "at least one row of every class");
                return Err(error.column(&wants[parts.truth].name));
            }
            if let Some(weight) = parts.weight
                && !(total.weight > 0.0 && total.weight.is_finite())
            {
                let found = format!("a total weight of {} for class {}", total.weight, name(label));
                let error = Error::new(Kind::OutOfRange, found, "a finite total above 0 for every class");
                return Err(error.column(&wants[weight].name));
            }
        }
        Ok(())
    }
}

/// The labels that occur.
pub(super) struct Labels {
    pub truth: Vec<Met>,
    pub groups: Vec<Vec<Met>>,
    /// Which combinations of groups there are, where they are crossed.
    pub combinations: Vec<Vec<u16>>,
}

impl Labels {
    pub fn read(source: &dyn Source, choice: &Choice, pieces: usize) -> Result<Self> {
        let places: Vec<usize> =
            std::iter::once(choice.parts.truth).chain(choice.parts.groups.clone()).collect();
        let wants: Vec<Want> = places.iter().map(|&place| choice.wants[place].clone()).collect();
        let mut all: Vec<LabelCoder> = wants.iter().map(|want| LabelCoder::new(want.part)).collect();
        let mut combinations = BTreeSet::new();
        for piece in 0..pieces {
            let columns = source.read_piece(piece, &wants)?;
            if let Some(error) = first_fault(&wants, &columns) {
                return Err(error);
            }
            let mut codes = vec![];
            for (coder, column) in all.iter_mut().zip(columns) {
                let Column::Labels { codes: own, coder: later } = column else { continue };
                codes.push((own, coder.absorb(*later)));
            }
            if wants.len() > 2 {
                let rows = codes.first().map_or(0, |(own, _)| own.len());
                let of_row = |row: usize| -> Vec<u16> {
                    codes[1..].iter().map(|(own, renamed)| renamed[usize::from(own[row])]).collect()
                };
                let mut last = vec![];
                for row in 0..rows {
                    let combination = of_row(row);
                    if combination != last {
                        combinations.insert(combination.clone());
                        last = combination;
                    }
                }
            }
        }
        if let Some(error) = all.iter().zip(&wants).find_map(|(coder, want)| {
            let fault = coder.faults.first()?;
            Some(fault.error("far fewer different values").column(&want.name))
        }) {
            return Err(error);
        }
        let mut met = all.into_iter().map(|coder| coder.met);
        let truth = met.next().unwrap_or_default();
        Ok(Self { truth, groups: met.collect(), combinations: combinations.into_iter().collect() })
    }
}

/// A profile that grows: every different score, or parts of [0, 1] once they are too many.
pub(super) struct Cells {
    cells: Vec<Cell>,
    groups: usize,
    bucketed: bool,
}

impl Cells {
    pub fn new(groups: usize) -> Self {
        Self { cells: vec![], groups, bucketed: false }
    }

    pub fn add(&mut self, table: &Table, score: Score) {
        let cell = |row: usize| {
            let truth = usize::from(table.truth()[row]);
            let (score, positive) = score.of(truth, |class| table.probabilities(class)[row])?;
            Some(Cell { score, weight: table.weight(row), rows: 1, group: table.group(row) as u16, positive })
        };
        let mut more: Vec<Cell> = (0..table.rows()).into_par_iter().filter_map(cell).collect();
        more.par_sort_unstable_by(Cell::order);
        let mut all = std::mem::take(&mut self.cells);
        all.extend_from_slice(self.joined(more).cells());
        let joined = self.joined(all);
        let too_many = !self.bucketed && joined.cells().len() > MOST_CELLS;
        self.bucketed |= too_many;
        self.cells = match too_many {
            true => self.joined(joined.cells().to_vec()).cells().to_vec(),
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
}
