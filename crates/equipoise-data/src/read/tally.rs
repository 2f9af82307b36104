//! One question to all rows of a table, answered piece by piece: here in the order of the rows, or elsewhere in any order and put
//! together.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of tables made here, and rows that were read fit in 64 bits"
)]

use super::cells::Cells;
use super::column::{Column, LabelCoder, Met, Moved};
use super::columns::{Choice, Want};
use super::layout::Layout;
use super::{first_fault, open_one};
use crate::error::{Error, Kind, Result, plural};
use crate::kernel;
use crate::sample::rows_of;
use crate::table::{Rescaled, Table};
use equipoise::population::{Classifier, PostShift, Rule, Score, resampling};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Some rows of one of the files of a table, as somebody elsewhere is told which ones to count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The file, by its full path.
    pub file: PathBuf,
    /// Which piece of the file.
    pub within: usize,
    /// The number of its first row in the whole table.
    pub first: u64,
    /// Rows of the table that come before the file.
    pub before: u64,
    /// How many rows it has.
    pub rows: u64,
}

/// Somewhere else that reads the pieces of a table and counts what is asked of them: a cluster.
///
/// It makes a [`Tally`] of the question wherever it likes, has each read some of the pieces, merges them, and gives back the state of
/// the last. Every piece must have been read once, which is checked.
pub trait Elsewhere: Send + Sync {
    /// The state of a tally of this question that all pieces went into.
    fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>>;
}

/// What is asked of all rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Question {
    /// Which labels there are.
    Labels,
    /// All that is known of a table before anything else is asked; of every so many rows the scores are kept.
    Everything { every: usize },
    /// What rules say of the rows.
    Confusions { rules: Vec<Asked> },
    /// Rows by score.
    Profile { score: (usize, Option<usize>) },
    /// What rules say of rows drawn again.
    Draws { rules: Vec<Asked>, seed: u64, draws: Vec<u64>, attempt: u64 },
    /// About so many of all the rows.
    Sample { rows: usize, all: usize, seed: u64 },
}

/// A rule on its way: numbers by their bits, since JSON has no infinity.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Asked {
    PostShift(usize, Vec<Vec<u64>>),
    Threshold(Vec<u64>),
    /// As its document.
    Classifier(String),
}

impl Asked {
    /// Rules that look at other columns than those of probabilities and groups are not asked about piece by piece.
    pub fn rules(rules: &[Rule], groups: usize) -> Result<Vec<Self>> {
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
        let asked = |rule: &Rule| match rule {
            Rule::PostShift(rule) => {
                let matrices = if rule.is_per_group() { groups } else { 1 };
                Ok(Self::PostShift(
                    rule.classes(),
                    (0..matrices).map(|group| bits(rule.rewards(group))).collect(),
                ))
            }
            Rule::Threshold(at) => Ok(Self::Threshold(bits(at))),
            Rule::Classifier(classifier) if classifier.columns().is_empty() => {
                Ok(Self::Classifier(classifier.to_json()))
            }
            Rule::Labels(_) | Rule::Classifier(_) => {
                let expected = "weights of classes or a threshold; a smaller table is read as a whole";
                Err(Error::new(Kind::Mismatch, "a rule that looks at other columns", expected))
            }
        };
        rules.iter().map(asked).collect()
    }

    fn rule(&self) -> Result<Rule> {
        let numbers = |bits: &Vec<u64>| bits.iter().copied().map(f64::from_bits).collect::<Vec<f64>>();
        match self {
            Self::PostShift(classes, rewards) => {
                let rule = PostShift::per_group(*classes, rewards.iter().map(numbers).collect());
                rule.map(Rule::PostShift).map_err(|error| foreign(&error))
            }
            Self::Threshold(at) => Ok(Rule::Threshold(numbers(at))),
            Self::Classifier(document) => {
                let classifier = Classifier::from_json(document).map_err(|error| foreign(&error))?;
                Ok(Rule::Classifier(Box::new(classifier)))
            }
        }
    }
}

/// A question, and how the columns of files become rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    pub choice: Choice,
    /// Once the labels are known.
    pub layout: Option<Layout>,
    pub question: Question,
    /// Whether the table is of several files, of which messages name the one.
    pub many: bool,
}

/// What a question has come to after some of the pieces.
pub struct Tally {
    plan: Plan,
    rules: Vec<Rule>,
    /// Whether pieces come in the order of the rows, so that sums can be as well.
    in_order: bool,
    labels: Vec<LabelCoder>,
    cells: Cells,
    random: Option<(Xoshiro256PlusPlus, u64)>,
    pub(super) found: Found,
}

/// All of a tally that goes over a wire as it is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Found {
    /// The first rows of the pieces that were read, and the number of their rows.
    pieces: Vec<u64>,
    rows: u64,
    /// What is wrong with the earliest rows that something is wrong with.
    fault: Option<(u64, Error)>,
    labels: Vec<Vec<Met>>,
    combinations: BTreeSet<Vec<String>>,
    /// Sums over rows. Weights that come in any order are added up piece by piece, and the pieces in their order at the end: the sum is
    /// the same whoever was faster.
    sums: BTreeMap<u64, Vec<f64>>,
    /// Whether some probability of the first of two classes is not what is missing to 1, to the last bit.
    pub sums_differ: bool,
    /// Whether some probability is neither 0 nor 1.
    pub soft: bool,
    /// Which rows they are ([`Table::fingerprint`]).
    pub fingerprint: u64,
    pub rescaled: Rescaled,
    pub moved: Moved,
    /// Scores of some rows, and whether these are positive.
    pub looked_at: Vec<(f64, bool)>,
    drawn: BTreeMap<u64, Drawn>,
}

/// Rows that were drawn of a piece.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Drawn {
    pub truth: Vec<u8>,
    pub columns: Vec<Vec<f64>>,
    pub codes: Vec<u16>,
    pub weights: Vec<f64>,
    /// Which of them are only here because they are the first of their class and group in the piece.
    pub spare: Vec<bool>,
}

impl Tally {
    /// Of a question as [`Elsewhere::ask`] is told it.
    pub fn new(question: &str) -> Result<Self> {
        let plan = serde_json::from_str(question).map_err(|error| foreign(&error))?;
        Self::of(plan, false)
    }

    pub(super) fn of(plan: Plan, in_order: bool) -> Result<Self> {
        let rules = match &plan.question {
            Question::Confusions { rules } | Question::Draws { rules, .. } => {
                rules.iter().map(Asked::rule).collect::<Result<_>>()?
            }
            _ => vec![],
        };
        let cells = Cells::new(plan.layout.as_ref().map_or(1, Layout::group_count));
        let mut tally =
            Self { plan, rules, in_order, labels: vec![], cells, random: None, found: Found::default() };
        if matches!(tally.plan.question, Question::Labels) {
            tally.labels = tally.wants().iter().map(|want| LabelCoder::new(want.part)).collect();
        }
        Ok(tally)
    }

    /// The columns the question is about.
    pub(super) fn wants(&self) -> Vec<Want> {
        let Choice { wants, parts, .. } = &self.plan.choice;
        match self.plan.question {
            Question::Labels => {
                let places = std::iter::once(parts.truth).chain(parts.groups.iter().copied());
                places.map(|place| wants[place].clone()).collect()
            }
            _ => wants.clone(),
        }
    }

    /// Reads a piece and adds it. What is wrong with the rows is part of the answer.
    pub fn read(&mut self, piece: &Piece) {
        if self.found.fault.is_some() {
            return;
        }
        let columns =
            self.columns(piece).map_err(|error| match self.plan.many && error.place.file.is_none() {
                true => error.file(piece.file.display().to_string()),
                false => error,
            });
        if let Err(error) = columns.and_then(|columns| self.add(piece.first, columns)) {
            self.found.fault = Some((piece.first, error));
        }
    }

    fn columns(&self, piece: &Piece) -> Result<Vec<Column>> {
        let source = open_one(&piece.file).map_err(|error| match error.kind {
            Kind::Unreadable => {
                let found = format!("a file that an executor cannot read ({})", error.found);
                Error::new(Kind::Unreadable, found, "the same files under the same paths on every machine")
            }
            _ => error,
        })?;
        let rows = source.pieces()?.get(piece.within).copied();
        if rows != Some(piece.rows as usize) {
            let found = "other rows than where the command runs";
            return Err(Error::new(Kind::Mismatch, found, "the same files on every machine"));
        }
        let wants = self.wants().into_iter().map(|want| {
            let position = source.header().find(&want.name)?;
            Ok(Want { position, ..want })
        });
        let wants = wants.collect::<Result<Vec<_>>>()?;
        let columns = source.read_piece(piece.within, &wants)?;
        match first_fault(&wants, &columns) {
            Some(error) => Err(error),
            None => Ok(columns.into_iter().map(|column| column.after(piece.before)).collect()),
        }
    }

    /// Adds a piece that has been read, whose first row has this number.
    pub(super) fn add(&mut self, first: u64, columns: Vec<Column>) -> Result<()> {
        let rows = columns.first().map_or(0, Column::len) as u64;
        self.found.pieces.push(first);
        self.found.rows += rows;
        if rows == 0 {
            return Ok(());
        }
        let Some(layout) = &self.plan.layout else { return self.add_labels(columns) };
        let within = |error: Error| match error.place.row {
            Some(row) => error.row(row + first),
            None => error,
        };
        let (table, rescaled, moved) = layout.table(&self.plan.choice, columns).map_err(within)?;
        match &self.plan.question {
            Question::Labels => {}
            &Question::Everything { every } => {
                self.found.rescaled = self.found.rescaled.and(rescaled);
                self.found.moved.absorb(moved);
                self.add_everything(first, every, &table);
            }
            Question::Confusions { .. } => self.add_confusions(first, &table)?,
            &Question::Profile { score: (a, b) } => {
                self.cells.add(&table, b.map_or(Score::Class(a), |b| Score::Share(a, b)));
            }
            Question::Draws { seed, draws, attempt, .. } => {
                let (seed, attempt, draws) = (*seed, *attempt, draws.clone());
                self.add_draws(first, seed, &draws, attempt, &table)?;
            }
            &Question::Sample { rows, all, seed } => self.add_sample(first, rows, all, seed, &table),
        }
        Ok(())
    }

    fn add_labels(&mut self, columns: Vec<Column>) -> Result<()> {
        let mut codes = vec![];
        for (coder, column) in self.labels.iter_mut().zip(columns) {
            let Column::Labels { codes: own, coder: later } = column else { continue };
            codes.push((own, coder.absorb(*later)));
        }
        self.check_labels()?;
        if let [_, groups @ ..] = &codes[..]
            && groups.len() > 1
        {
            let rows = groups.first().map_or(0, |(own, _)| own.len());
            let of_row = |row: usize| -> Vec<u16> {
                groups.iter().map(|(own, renamed)| renamed[usize::from(own[row])]).collect()
            };
            let (mut different, mut last) = (BTreeSet::new(), vec![]);
            for row in 0..rows {
                let combination = of_row(row);
                if combination != last {
                    different.insert(combination.clone());
                    last = combination;
                }
            }
            let name = |(coder, &code): (&LabelCoder, &u16)| coder.met[usize::from(code)].name.clone();
            let names = |codes: Vec<u16>| self.labels[1..].iter().zip(&codes).map(name).collect();
            self.found.combinations.extend(different.into_iter().map(names));
        }
        Ok(())
    }

    fn check_labels(&self) -> Result<()> {
        let too_many = |(coder, want): (&LabelCoder, Want)| {
            let fault = coder.faults.first()?;
            Some(fault.error("far fewer different values").column(&want.name))
        };
        self.labels.iter().zip(self.wants()).find_map(too_many).map_or(Ok(()), Err)
    }

    /// The place sums of rows of a piece go to.
    fn sums(&mut self, first: u64, length: usize) -> &mut Vec<f64> {
        let exact = self.in_order || self.plan.choice.parts.weight.is_none();
        self.found.sums.entry(if exact { 0 } else { first }).or_insert_with(|| vec![0.0; length])
    }

    fn add_everything(&mut self, first: u64, every: usize, table: &Table) {
        self.found.fingerprint = self.found.fingerprint.wrapping_add(table.fingerprint(first));
        let (k, groups) = (table.classes().len(), self.cells.groups());
        let sums = self.sums(first, groups * k * 3);
        // In the order of the rows, so that sums of weights are those of a table in memory.
        for (row, &class) in table.truth().iter().enumerate() {
            let (weight, place) = (table.weight(row), (table.group(row) * k + usize::from(class)) * 3);
            sums[place] += 1.0;
            sums[place + 1] += weight;
            sums[place + 2] += weight * weight;
        }
        let of_class = |class: usize| table.probabilities(class);
        let sure = |class: usize| of_class(class).iter().all(|&p| p == 0.0 || p == 1.0);
        self.found.soft |= !(0..k).all(sure);
        if k == 2 {
            let (no, yes) = (of_class(0), of_class(1));
            self.found.sums_differ |= no.par_iter().zip(yes).any(|(no, yes)| *no != 1.0 - yes);
            let some = (first.next_multiple_of(every as u64) - first) as usize..table.rows();
            self.found.looked_at.extend(some.step_by(every).map(|row| (yes[row], table.truth()[row] == 1)));
            self.cells.add(table, Score::Class(1));
        }
    }

    fn add_confusions(&mut self, first: u64, table: &Table) -> Result<()> {
        let counts = kernel::counts(table, table.weights(), &self.rules, &labels(table, &self.rules)?);
        let counts = counts.concat();
        self.sums(first, counts.len()).iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        Ok(())
    }

    fn add_draws(&mut self, first: u64, seed: u64, draws: &[u64], attempt: u64, table: &Table) -> Result<()> {
        let slots = kernel::slots(table, &self.rules, &labels(table, &self.rules)?);
        let k = table.classes().len();
        let entries = self.cells.groups() * k * k;
        let of_draw = slots.len() * entries;
        let sums = self.sums(first, draws.len() * of_draw);
        sums.par_chunks_mut(of_draw.max(1)).zip(draws).for_each(|(counts, &draw)| {
            let times = resampling(seed, draw, attempt);
            for row in 0..table.rows() {
                let weight = times(first + row as u64) * table.weight(row);
                let counts = counts.chunks_mut(entries.max(1)).zip(&slots);
                counts.for_each(|(counts, slots)| counts[slots[row] as usize] += weight);
            }
        });
        Ok(())
    }

    /// The rows that [`Table::subsample`] would draw, and the first of every class and group.
    fn add_sample(&mut self, first: u64, rows: usize, all: usize, seed: u64, table: &Table) {
        let share = rows as f64 / all as f64;
        // One number for each row of the table, whoever draws it: those of earlier rows are passed over.
        let (mut random, passed) = match self.random.take() {
            Some((random, next)) if next <= first => (random, next),
            _ => (Xoshiro256PlusPlus::seed_from_u64(seed), 0),
        };
        for _ in passed..first {
            let _: f64 = random.random();
        }
        let k = table.classes().len();
        let mut seen = vec![false; k * self.cells.groups()];
        let mut part = Drawn { columns: vec![vec![]; k], ..Drawn::default() };
        for (row, &class) in table.truth().iter().enumerate() {
            let drawn = random.random::<f64>() < share || all <= rows;
            let (cell, weighs) = (table.group(row) * k + usize::from(class), table.weight(row) > 0.0);
            if drawn || (weighs && !seen[cell]) {
                part.truth.push(class);
                (0..k).for_each(|class| part.columns[class].push(table.probabilities(class)[row]));
                part.codes.push(table.group(row) as u16);
                part.weights.push(table.weight(row));
                part.spare.push(!drawn);
            }
            seen[cell] |= weighs;
        }
        self.random = Some((random, first + table.rows() as u64));
        self.found.drawn.insert(first, part);
    }

    /// Everything, to be merged elsewhere.
    pub fn state(&mut self) -> Vec<u8> {
        self.found.labels = self.labels.iter().map(|coder| coder.met.clone()).collect();
        let mut state = serde_json::to_vec(&self.found).unwrap_or_default();
        state.push(b'\n');
        self.cells.write(&mut state);
        state
    }

    /// Adds what another tally of the same question has come to.
    pub fn merge(&mut self, state: &[u8]) -> Result<()> {
        let end = state.iter().position(|&byte| byte == b'\n').ok_or_else(|| foreign(&"no tally"))?;
        let (text, cells) = state.split_at(end);
        let mut other: Found = serde_json::from_slice(text).map_err(|error| foreign(&error))?;
        self.cells.merge(&cells[1..]).ok_or_else(|| foreign(&"counts that are cut off"))?;
        for (coder, met) in self.labels.iter_mut().zip(std::mem::take(&mut other.labels)) {
            coder.absorb_met(met);
        }
        let found = &mut self.found;
        found.pieces.append(&mut other.pieces);
        found.rows += other.rows;
        found.fault = match (found.fault.take(), other.fault) {
            (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
        found.combinations.append(&mut other.combinations);
        for (key, sums) in other.sums {
            let mine = found.sums.entry(key).or_insert_with(|| vec![0.0; sums.len()]);
            mine.iter_mut().zip(sums).for_each(|(mine, sum)| *mine += sum);
        }
        found.sums_differ |= other.sums_differ;
        found.soft |= other.soft;
        found.fingerprint = found.fingerprint.wrapping_add(other.fingerprint);
        found.rescaled = found.rescaled.and(other.rescaled);
        found.moved.absorb(other.moved);
        found.looked_at.append(&mut other.looked_at);
        found.drawn.append(&mut other.drawn);
        Ok(())
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let sums = self.found.sums.values().map(Vec::len).sum::<usize>();
        let drawn = self.found.drawn.values().map(|drawn| drawn.truth.len()).sum::<usize>();
        self.cells.size() + 8 * sums + 32 * drawn + 16 * self.found.looked_at.len()
    }

    /// Fails unless every one of these pieces, by first row and number of rows, went in once, and nothing is wrong with any.
    pub(super) fn complete(&mut self, pieces: impl Iterator<Item = (u64, u64)>) -> Result<()> {
        if let Some((_, error)) = self.found.fault.take() {
            return Err(error);
        }
        let (firsts, rows): (Vec<u64>, Vec<u64>) = pieces.unzip();
        self.found.pieces.sort_unstable();
        let all: u64 = rows.iter().sum();
        if self.found.pieces != firsts || self.found.rows != all {
            let found = format!(
                "{} in {} counted",
                plural(self.found.rows, "row"),
                plural(self.found.pieces.len() as u64, "piece")
            );
            let expected = format!("{all} in {}: the answer is not used", firsts.len());
            return Err(Error::new(Kind::Mismatch, found, expected));
        }
        self.check_labels()
    }

    /// Sums over all rows.
    pub(super) fn summed(&self) -> Vec<f64> {
        let mut pieces = self.found.sums.values();
        let mut all = pieces.next().cloned().unwrap_or_default();
        for sums in pieces {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
        all
    }

    pub(super) fn into_cells(self) -> Cells {
        self.cells
    }

    /// The rows that were drawn, in their order, piece by piece.
    pub(super) fn drawn(&self) -> impl Iterator<Item = &Drawn> {
        self.found.drawn.values()
    }

    /// The labels of the true classes, those of every column of groups, and which of the latter occur together.
    pub(super) fn into_labels(self) -> (Vec<Met>, Vec<Vec<Met>>, Vec<Vec<u16>>) {
        let in_order = |coder: LabelCoder| {
            let mut met = coder.met;
            met.sort_by_key(|met| met.first_row);
            met
        };
        let mut labels = self.labels.into_iter().map(in_order);
        let truth = labels.next().unwrap_or_default();
        let groups: Vec<Vec<Met>> = labels.collect();
        let code = |(met, name): (&Vec<Met>, &String)| {
            met.iter().position(|met| met.name == *name).unwrap_or(0) as u16
        };
        let codes = |names: &Vec<String>| groups.iter().zip(names).map(code).collect();
        let combinations = self.found.combinations.iter().map(codes).collect();
        (truth, groups, combinations)
    }
}

/// What classifiers say of the rows; nothing for other rules, which the kernel decides.
fn labels(table: &Table, rules: &[Rule]) -> Result<Vec<Cow<'static, [u8]>>> {
    let of_rule = |rule: &Rule| match rule {
        Rule::Classifier(classifier) => {
            let labels = rows_of(table).and_then(|rows| classifier.predict(rows.scores()));
            labels.map(Cow::Owned).map_err(|error| foreign(&error))
        }
        _ => Ok(Cow::default()),
    };
    rules.iter().map(of_rule).collect()
}

/// What comes from a program of another version, or not from one of ours.
fn foreign(what: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Format, what.to_string(), "what the same version of equipoise writes")
}
