//! Tables that do not fit memory: read piece by piece, and only counted.
//!
//! The labels are read first, then everything once for the totals and, of two classes, the score profile, which answers all that
//! is asked of them ([`Counted`]). What needs rows, draws of them or more than two classes, goes over the files again. Rows are
//! decided by the same kernel in the same order as rows in memory, so that the numbers are the same.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of tables made here, and rows that were read fit in 64 bits"
)]

use super::assemble::{Classes, said_turned};
use super::columns::{Choice, Columns};
use super::layout::Layout;
use super::pieces::{Cells, Count, Files, Labels, MOST_CELLS};
use super::{Source, many, open};
use crate::counted::Counted;
use crate::error::{Error, Kind, Result, plural};
use crate::kernel;
use crate::note::{Note, Reading};
use crate::sample::{Sample, shares};
use crate::table::{self, Groups, Table};
use equipoise::population::{
    Ask, AskError, Basis, Confusions, Population, Profile, Rule, Score, Totals, resampling,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::Path;

/// A table that stays in its files.
pub struct Streamed {
    files: Files,
    totals: Totals,
    prevalence: Prevalence,
    /// Rows by the probability of the second of two classes.
    profile: Option<Profile>,
    /// The same as a population, where the other probability is what is missing to 1.
    counted: Option<Counted>,
    hard: bool,
    fingerprint: u64,
}

/// Reads a table of predictions piece by piece, without keeping its rows; `None` if it has to be read as a whole: files other than
/// Parquet, rows that are to be left out, columns that are recognised by their values.
///
/// ```no_run
/// use equipoise::population::{Population, Score};
/// use equipoise_data::{Columns, read};
/// if let Some(reading) = read::stream("parts/", &Columns::guess())? {
///     println!("{} rows", reading.data.totals()?.overall().rows);
/// }
/// # Ok::<(), equipoise_data::Error>(())
/// ```
pub fn stream(path: impl AsRef<Path>, columns: &Columns) -> Result<Option<Reading<Streamed>>> {
    let file = many::named(path.as_ref());
    let named = |error: Error| match error.place.file {
        Some(_) => error,
        None => error.file(file.clone()),
    };
    let source = open(path.as_ref(), false).map_err(named)?;
    let (Ok(pieces), Ok(choice)) = (source.pieces(), columns.choose(source.header())) else {
        return Ok(None);
    };
    if columns.drops_missing() || pieces.is_empty() {
        return Ok(None);
    }
    match Streamed::of(source, file.clone(), choice, pieces, columns) {
        // A column of predicted classes is found out by reading it as a whole.
        Err(error) if matches!(error.kind, Kind::NotANumber | Kind::OutOfRange) => Ok(None),
        read => read.map(Some).map_err(named),
    }
}

impl Streamed {
    fn of(
        source: Box<dyn Source>,
        file: String,
        mut choice: Choice,
        pieces: Vec<usize>,
        columns: &Columns,
    ) -> Result<Reading<Self>> {
        let (format, mut chosen) = (Note::Choice(source.format()), std::mem::take(&mut choice.notes));
        let labels = Labels::read(&*source, &choice, pieces.len())?;
        let mut classes = Classes::of(columns, &choice, &labels.truth)?;
        chosen.append(&mut classes.notes);
        let by_order = classes.by_order;
        let (layout, about_groups) =
            Layout::new(columns, &choice, classes, labels.groups, &labels.combinations)?;
        let files = Files { source, file, choice, layout, pieces };
        let Count { totals, profile, sums_to_one, hard, fingerprint, rescaled, moved, area } =
            files.count()?;
        let (names, groups) = (&files.layout.classes, &files.layout.groups);

        let in_pieces = format!(
            "streamed: {} in {}, of which only counts are kept",
            plural(files.rows() as u64, "row"),
            plural(files.pieces.len() as u64, "piece")
        );
        let mut notes = vec![format, Note::Choice(in_pieces)];
        notes.append(&mut chosen);
        notes.extend(moved.note());
        notes.extend(rescaled.note());
        let (wants, scores) = (&files.choice.wants, &files.choice.parts.scores);
        let scores: Vec<&str> = scores.iter().map(|score| wants[score.want].name.as_str()).collect();
        notes.extend(area.map(|area| said_turned(area, &scores, names, by_order)));
        notes.extend(about_groups);
        if !groups.is_empty() {
            notes.extend(table::findings(names, groups, &totals));
        }
        if profile.as_ref().is_some_and(Profile::is_bucketed) {
            notes.push(Note::Change(format!(
                "more than {MOST_CELLS} counts by score: scores are counted in {} equal parts of [0, 1]",
                Profile::BUCKETS
            )));
        }
        let counted = match profile.clone().filter(|_| sums_to_one) {
            Some(profile) => Some(Counted::new(names.clone(), groups.clone(), profile, totals.clone())?),
            None => None,
        };
        let prevalence = totals.prevalence().map_err(|error| odd(&error))?;
        Ok(Reading { data: Self { files, totals, prevalence, profile, counted, hard, fingerprint }, notes })
    }

    /// The class names, the positive one of two last.
    pub fn class_names(&self) -> &[String] {
        &self.files.layout.classes
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        &self.files.layout.groups
    }

    /// Whether every probability is 0 or 1: predicted classes rather than probabilities.
    pub fn is_hard(&self) -> bool {
        self.hard
    }

    /// A number that tells its rows from others, as [`Table::fingerprint`] does.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn each(&self, take: impl FnMut(usize, Table)) -> Result<()> {
        self.files.each(take).map_err(|error| match error.place.file {
            Some(_) => error,
            None => error.file(self.files.file.clone()),
        })
    }

    fn check(&self, rules: &[Rule]) -> Result<()> {
        for rule in rules {
            rule.check(self.classes(), self.groups()).map_err(|error| odd(&error))?;
            if matches!(rule, Rule::Labels(_) | Rule::Classifier(_)) {
                let expected = "weights of classes or a threshold; a smaller table is read as a whole";
                return Err(Error::new(Kind::Mismatch, "a rule that looks at other columns", expected));
            }
        }
        Ok(())
    }
}

fn odd(error: &equipoise::Error) -> Error {
    Error::new(Kind::Mismatch, error.to_string(), "a table of classes that all have rows")
}

impl Confusions for Streamed {
    type Err = Error;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>> {
        self.check(rules)?;
        if let Some(counted) = &self.counted {
            let Ok(found) = counted.confusions(rules);
            return Ok(found);
        }
        let (k, groups) = (self.classes(), self.groups());
        let mut sums = vec![vec![0.0; groups * k * k]; rules.len()];
        let none = vec![Cow::default(); rules.len()];
        self.each(|_, table| {
            for (sum, counts) in sums.iter_mut().zip(kernel::counts(&table, table.weights(), rules, &none)) {
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        })?;
        let total = self.totals.overall().weight;
        Ok(sums.iter().map(|counts| shares(counts, k, total)).collect())
    }
}

impl Population for Streamed {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> Result<Profile> {
        if let (Some(profile), Score::Class(1)) = (&self.profile, score) {
            return Ok(profile.clone());
        }
        if let Some(counted) = &self.counted {
            let Ok(found) = counted.score_profile(score);
            return Ok(found);
        }
        let mut cells = Cells::new(self.groups());
        self.each(|_, table| cells.add(&table, score))?;
        Ok(cells.profile(self.totals.overall().weight))
    }

    /// One pass over the files for all draws and rules.
    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>> {
        self.check(rules)?;
        let (k, entries) = (self.classes(), self.groups() * self.classes() * self.classes());
        let none = vec![Cow::default(); rules.len()];
        let mut drawn: Vec<Option<Vec<GroupConfusions>>> = vec![None; draws];
        for attempt in 0.. {
            let missing: Vec<usize> = (0..draws).filter(|&draw| drawn[draw].is_none()).collect();
            if missing.is_empty() {
                break;
            }
            let mut counts = vec![vec![vec![0.0; entries]; rules.len()]; missing.len()];
            self.each(|first, table| {
                let slots = kernel::slots(&table, rules, &none);
                counts.par_iter_mut().zip(&missing).for_each(|(counts, &draw)| {
                    let times = resampling(seed, draw as u64, attempt);
                    for row in 0..table.rows() {
                        let weight = times((first + row) as u64) * table.weight(row);
                        counts
                            .iter_mut()
                            .zip(&slots)
                            .for_each(|(counts, slots)| counts[slots[row] as usize] += weight);
                    }
                });
            })?;
            for (counts, draw) in counts.iter().zip(missing) {
                // A draw that comes to nothing, as of a tiny table, is tried again.
                let weighs = |counts: &Vec<f64>| counts.iter().sum::<f64>() > 0.0;
                let matrices =
                    || counts.iter().map(|counts| shares(counts, k, counts.iter().sum())).collect();
                drawn[draw] = counts.iter().all(weighs).then(matrices);
            }
        }
        Ok(drawn.into_iter().flatten().collect())
    }

    fn moments(&self, _: &[Basis]) -> std::result::Result<Ask<'_, Error>, AskError<Error>> {
        let expected = "a table that fits memory, for optimisation";
        Err(AskError::Population(Error::new(Kind::Mismatch, "a table that is streamed", expected)))
    }

    /// The rows that [`Table::subsample`] would draw.
    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>> {
        let all = self.files.rows();
        let share = rows as f64 / all as f64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let k = self.classes();
        let mut seen = vec![false; k * self.groups()];
        let (mut truth, mut columns) = (vec![], vec![vec![]; k]);
        let (mut codes, mut weights) = (vec![], vec![]);
        self.each(|_, table| {
            for (row, &class) in table.truth().iter().enumerate() {
                let drawn = all <= rows || random.random::<f64>() < share;
                let (cell, weighs) = (table.group(row) * k + usize::from(class), table.weight(row) > 0.0);
                if drawn || (weighs && !seen[cell]) {
                    truth.push(class);
                    (0..k).for_each(|class| columns[class].push(table.probabilities(class)[row]));
                    codes.push(table.group(row) as u16);
                    weights.push(table.weight(row));
                }
                seen[cell] |= weighs;
            }
        })?;
        let mut part = Table::new(self.files.layout.classes.clone(), truth, columns)?.data;
        if !self.files.layout.groups.is_empty() {
            part = part.with_groups(Groups::new(self.files.layout.groups.clone(), codes)?)?;
        }
        if self.totals.weighted {
            part = part.with_weights(weights)?;
        }
        Sample::new(part).map_err(|error| odd(&error))
    }
}
