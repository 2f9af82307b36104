//! The files of a table that is read piece by piece, here or elsewhere.
#![allow(clippy::arithmetic_side_effects, reason = "rows that were read fit in 64 bits")]

use super::column::Moved;
use super::columns::Choice;
use super::layout::Layout;
use super::tally::{Elsewhere, Piece, Plan, Question, Tally};
use super::{Source, first_fault, many, open_one, turned};
use crate::error::{Error, Kind, Result, name};
use crate::table::Rescaled;
use equipoise::population::{Profile, Total, Totals};
use std::path::{Path, PathBuf};

/// Files, and how their columns become rows.
pub(super) struct Files {
    pub source: Box<dyn Source>,
    /// What the table is called in a message.
    pub file: String,
    pub choice: Choice,
    /// Once the labels are known.
    pub layout: Option<Layout>,
    /// How many rows each piece has.
    pub pieces: Vec<usize>,
    /// Who counts, if not we.
    pub elsewhere: Option<Remote>,
}

/// Somewhere else, and what pieces are called there.
pub(super) struct Remote {
    place: Box<dyn Elsewhere>,
    pieces: Vec<Piece>,
    /// The files, as the caller named them and in full.
    names: Vec<(PathBuf, PathBuf)>,
}

impl Remote {
    pub fn new(path: &Path, place: Box<dyn Elsewhere>) -> Result<Self> {
        let (mut pieces, mut names, mut before) = (vec![], vec![], 0);
        for file in many::files(path)? {
            let within = |error: Error| error.file(file.display().to_string());
            let full = std::fs::canonicalize(&file).map_err(|error| {
                within(Error::new(Kind::Unreadable, error.to_string(), "a file that can be read"))
            })?;
            let mut first = before;
            for (within, rows) in
                open_one(&file).and_then(|source| source.pieces()).map_err(within)?.into_iter().enumerate()
            {
                let rows = rows as u64;
                pieces.push(Piece { file: full.clone(), within, first, before, rows });
                first += rows;
            }
            before = first;
            names.push((file, full));
        }
        Ok(Self { place, pieces, names })
    }

    fn ask(&self, plan: Plan) -> Result<Tally> {
        let question = serde_json::to_string(&plan)
            .map_err(|error| Error::new(Kind::Format, error.to_string(), "a question that can be sent"))?;
        let mut tally = Tally::of(plan, false)?;
        tally.merge(&self.place.ask(&question, &self.pieces)?)?;
        Ok(tally)
    }

    /// An error with the name that the caller gave a file.
    fn named(&self, mut error: Error) -> Error {
        let is = |full: &Path| error.place.file.as_deref().is_some_and(|file| Path::new(file) == full);
        if let Some((file, _)) = self.names.iter().find(|(_, full)| is(full)) {
            error.place.file = Some(file.display().to_string());
        }
        error
    }
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
    /// Which rows they are.
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

    pub fn classes(&self) -> &[String] {
        self.layout.as_ref().map_or(&[], |layout| &layout.classes)
    }

    pub fn groups(&self) -> &[String] {
        self.layout.as_ref().map_or(&[], |layout| &layout.groups)
    }

    /// What a question comes to over all pieces, each of which was counted once.
    pub fn ask(&self, question: Question) -> Result<Tally> {
        let many = self.elsewhere.as_ref().is_some_and(|remote| remote.names.len() > 1);
        let plan = Plan { choice: self.choice.clone(), layout: self.layout.clone(), question, many };
        let mut first = 0;
        let firsts = self.pieces.iter().map(|&rows| {
            first += rows as u64;
            (first - rows as u64, rows as u64)
        });
        let pieces: Vec<(u64, u64)> = firsts.collect();
        let Some(remote) = &self.elsewhere else {
            let mut tally = Tally::of(plan, true)?;
            let wants = tally.wants();
            for (piece, &(first, _)) in pieces.iter().enumerate() {
                let columns = self.source.read_piece(piece, &wants)?;
                if let Some(error) = first_fault(&wants, &columns) {
                    return Err(error);
                }
                tally.add(first, columns)?;
            }
            return tally.complete(pieces.into_iter()).map(|()| tally);
        };
        let mut tally = remote.ask(plan)?;
        tally.complete(pieces.into_iter()).map_err(|error| remote.named(error))?;
        Ok(tally)
    }

    /// Everything once.
    pub fn count(&self) -> Result<Count> {
        let every = turned::every(self.rows());
        let mut tally = self.ask(Question::Everything { every })?;
        let weighted = self.choice.parts.weight.is_some();
        let mut totals = Totals::new(self.classes().len(), self.groups().len().max(1), weighted);
        let sums = tally.summed();
        for (total, sums) in totals.cells.iter_mut().flatten().zip(sums.chunks_exact(3)) {
            if let &[rows, weight, squares] = sums {
                *total = Total { rows: rows as u64, weight, squares };
            }
        }
        self.check(&totals)?;
        let looked_at = std::mem::take(&mut tally.found.looked_at);
        let found = &tally.found;
        let mut count = Count {
            totals,
            profile: None,
            sums_to_one: !found.sums_differ,
            hard: !found.soft,
            fingerprint: found.fingerprint,
            rescaled: found.rescaled,
            moved: found.moved,
            area: None,
        };
        if self.classes().len() == 2 {
            count.area =
                turned::area(looked_at.into_iter().map(|(score, positive)| (score, positive, 1.0)).collect());
            count.profile = Some(tally.into_cells().profile(count.totals.overall().weight));
        }
        Ok(count)
    }

    /// Every class needs rows, and some weight.
    fn check(&self, totals: &Totals) -> Result<()> {
        let column = |want: usize| self.choice.wants.get(want).map_or("", |want| want.name.as_str());
        for (class, label) in self.classes().iter().enumerate() {
            let total = totals.of_class(class);
            if total.rows == 0 {
                let found = format!("no row of class {}", name(label));
                let error = Error::new(Kind::ClassWithoutRows, found, "at least one row of every class");
                return Err(error.column(column(self.choice.parts.truth)));
            }
            if let Some(weight) = self.choice.parts.weight
                && !(total.weight > 0.0 && total.weight.is_finite())
            {
                let found = format!("a total weight of {} for class {}", total.weight, name(label));
                let error = Error::new(Kind::OutOfRange, found, "a finite total above 0 for every class");
                return Err(error.column(column(weight)));
            }
        }
        Ok(())
    }
}
