//! Rows that stay in a database, which is asked for counts and nothing else.
//!
//! Which column plays which part is decided as for files. Of two classes one score profile answers everything ([`Counted`]); of
//! more the database is asked whenever a rule is to be counted. After every statement the counts are added up, and must be as
//! many as there are rows.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "answers are checked for their width, codes are of labels that were met, and rows that were counted fit in 64 bits"
)]

mod answers;
mod together;

pub use answers::{Answers, Value, columns};

use super::assemble::{Classes, said_turned};
use super::columns::{Columns, Header, Scale};
use super::layout::Layout;
use super::statements::Statements;
use super::stream::all_rows_only;
use super::turned;
use crate::counted::Counted;
use crate::error::{Error, Kind, Result, list, plural};
use crate::note::{Note, Reading};
use crate::sample::{Sample, moments_of_all, shares};
use crate::table::{self, Table};
use answers::{Asked, Labels, adds_up, found, place, totals};
use equipoise::population::{
    Ask, AskError, Basis, Cell, Confusions, Population, Profile, Rule, Score, Totals,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise::stream;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rules in one statement: more are slower together than one after the other.
const MOST_RULES: usize = 8;

/// A table that stays in a database.
pub struct Database {
    answers: Box<dyn Answers>,
    statements: Statements,
    layout: Layout,
    totals: Totals,
    prevalence: Prevalence,
    /// How many different combinations of class and groups there are, as they are written: what differs in spaces around it is
    /// one class here.
    written: usize,
    /// Everything there is to know of two classes.
    counted: Option<Counted>,
    file: String,
}

impl Database {
    /// Counts a table, which may be named within a schema as `schema.table`.
    ///
    /// ```
    /// use equipoise::population::Population;
    /// use equipoise_data::{Columns, Error, read::{Answers, Database}};
    /// fn rows(database: Box<dyn Answers>) -> Result<(), Error> {
    ///     let reading = Database::count(database, "predictions", &Columns::guess())?;
    ///     println!("{} rows", reading.data.totals()?.overall().rows);
    ///     Ok(())
    /// }
    /// ```
    pub fn count(answers: Box<dyn Answers>, table: &str, columns: &Columns) -> Result<Reading<Self>> {
        let file = format!("table {table}");
        let named = |error: Error| if error.place.file.is_some() { error } else { error.file(file.clone()) };
        Self::of(answers, table, file.clone(), columns).map_err(named)
    }

    fn of(answers: Box<dyn Answers>, table: &str, file: String, columns: &Columns) -> Result<Reading<Self>> {
        if columns.scores_are() != Scale::Probability {
            let expected = "probabilities; a view brings others to that, such as SELECT y, p / 100.0 AS p";
            return Err(Error::new(Kind::OutOfRange, "another scale in a database", expected));
        }
        let dialect = answers.dialect();
        let (from, names) = found(&*answers, table)?;
        let header = Header(names);
        let mut choice = columns.choose(&header)?;
        let mut chosen = std::mem::take(&mut choice.notes);
        let column = |want: usize| choice.wants[want].name.clone();
        let mut statements = Statements {
            dialect,
            table: from,
            truth: column(choice.parts.truth),
            scores: choice.parts.scores.iter().map(|score| column(score.want)).collect(),
            groups: choice.parts.groups.iter().map(|&want| column(want)).collect(),
            weight: choice.parts.weight.map(column),
            heaviest: 0.0,
        };
        let asked = Asked { answers: &*answers };
        if columns.drops_missing() {
            let all = asked.one(&statements.rows())?;
            statements.table = statements.without_missing()?;
            let left_out = all - asked.one(&statements.rows())?.min(all);
            if left_out > 0 {
                let all = plural(all, "row");
                chosen.push(Note::Change(format!("{left_out} of {all} without a value left out")));
            }
        }
        let rows;
        (rows, statements.heaviest) = asked.check(&statements)?;
        let found = asked.totals(&statements, rows)?;
        let labels = Labels::met(&choice, &found)?;
        let mut classes = Classes::of(columns, &choice, &labels.truth)?;
        chosen.append(&mut classes.notes);
        let by_order = classes.by_order;
        statements.scores = classes.columns.iter().map(|&want| column(want)).collect();
        if let Some(sums) = statements.sums()? {
            let count = asked.one(&sums)?;
            if count > 0 {
                let what = format!("sums other than 1 in {count} of {}", plural(rows, "row"));
                let expected = format!("columns {} that sum to 1", list(&statements.scores));
                return Err(Error::new(Kind::Sum, what, expected));
            }
        }
        let (layout, about_groups) =
            Layout::new(columns, &choice, classes, labels.groups, &labels.combinations)?;
        let totals = totals(&statements, &layout, &found)?;
        let fetched = format!("in a database: {}, of which only counts are fetched", plural(rows, "row"));
        let mut notes = vec![Note::Choice(fetched)];
        notes.append(&mut chosen);
        notes.extend(about_groups);
        if !layout.groups.is_empty() {
            notes.extend(table::findings(&layout.classes, &layout.groups, &totals));
        }
        let prevalence = totals.prevalence().map_err(|error| odd(&error))?;
        let written = found.len();
        let mut elsewhere =
            Self { answers, statements, layout, totals, prevalence, written, counted: None, file };
        if elsewhere.layout.classes.len() == 2 {
            let profile = elsewhere.asked_profile(Score::Class(1))?;
            if profile.is_bucketed() {
                let parts = Profile::BUCKETS;
                notes.push(Note::Change(format!(
                    "more than {parts} different scores: they are counted in {parts} equal parts of [0, 1]"
                )));
            }
            // As many as are looked at in a file.
            let every = turned::every(rows as usize) as u32;
            let some = |cell: &Cell| {
                let row = (cell.score, cell.positive, cell.weight);
                std::iter::repeat_n(row, cell.rows.div_ceil(every) as usize)
            };
            let area = turned::area(profile.cells().iter().flat_map(some).collect());
            let scores: Vec<&str> = elsewhere.statements.scores.iter().map(String::as_str).collect();
            let names = &elsewhere.layout.classes;
            notes.extend(area.map(|area| said_turned(area, &scores, names, by_order)));
            let (names, groups) = (names.clone(), elsewhere.layout.groups.clone());
            elsewhere.counted = Some(Counted::new(names, groups, profile, elsewhere.totals.clone())?);
        }
        Ok(Reading { data: elsewhere, notes })
    }

    /// The class names, the positive one of two last.
    pub fn class_names(&self) -> &[String] {
        &self.layout.classes
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        &self.layout.groups
    }

    /// Whether every probability is 0 or 1, where that is known.
    pub fn is_hard(&self) -> bool {
        let sure = |cell: &Cell| cell.score == 0.0 || cell.score == 1.0;
        self.counted.as_ref().is_some_and(|counted| counted.profile().cells().iter().all(sure))
    }

    fn asked(&self) -> Asked<'_> {
        Asked { answers: &*self.answers }
    }

    fn rows(&self) -> u64 {
        self.totals.overall().rows
    }

    fn named(&self, error: Error) -> Error {
        if error.place.file.is_some() { error } else { error.file(self.file.clone()) }
    }

    fn asked_profile(&self, score: Score) -> Result<Profile> {
        let different = self.asked().one(&self.statements.different(score)?)?;
        let in_parts = different > u64::from(Profile::BUCKETS);
        let most = different.min(u64::from(Profile::BUCKETS) + 1) as usize;
        let keys = 1 + self.statements.groups.len();
        let width = keys + 2 + if self.totals.weighted { 2 } else { 0 };
        let most = most * self.written;
        let found = self.asked().table(&self.statements.profile(score, in_parts)?, most, width)?;
        let mut cells = vec![];
        let mut sum = 0;
        for row in &found {
            let (group, class) = place(&self.statements, &self.layout, row)?;
            let rows = row[keys + 1].count()?;
            sum += rows;
            let positive = match score {
                Score::Class(of) => class == of,
                Score::Share(other, of) if class == of || class == other => class == of,
                Score::Share(..) => continue,
            };
            let (weight, squares) = match self.totals.weighted {
                true => (row[keys + 2].number()?, row[keys + 3].number()?),
                false => (rows as f64, rows as f64),
            };
            let value = row[keys].number()?;
            let value = if in_parts { value / f64::from(Profile::BUCKETS) } else { value };
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::new(Kind::OutOfRange, format!("a score of {value}"), "one in [0, 1]"));
            }
            let cell = Cell { score: value, weight: 1.0, rows: 0, group, positive };
            cells.extend(cell.counted(rows, weight, squares));
        }
        adds_up(sum, self.rows())?;
        let (groups, total) = (self.layout.group_count(), self.totals.overall().weight);
        Ok(match in_parts {
            true => Profile::in_buckets(cells, groups, total),
            false => Profile::new(cells, groups, total),
        })
    }

    /// What rules of more than two classes count, by group, true class and estimated class.
    fn asked_counts(&self, rules: &[Rule]) -> Result<Vec<Vec<f64>>> {
        let (k, groups) = (self.layout.classes.len(), self.layout.group_count());
        let mut wanted: Vec<Vec<Vec<f64>>> = vec![];
        for rule in rules {
            rule.check(k, groups).map_err(|error| odd(&error))?;
            let Rule::PostShift(rule) = rule else { return Err(other_columns()) };
            // Every matrix is tried on all rows; of one that is for a group, the rows of that group are taken.
            let parts = if rule.is_per_group() { groups } else { 1 };
            wanted.push((0..parts).map(|group| rule.rewards(group).to_vec()).collect());
        }
        let mut different: Vec<Vec<f64>> = vec![];
        for matrix in wanted.iter().flatten() {
            if !different.contains(matrix) {
                different.push(matrix.clone());
            }
        }
        let mut counted = vec![];
        for some in different.chunks(MOST_RULES) {
            counted.extend(self.counted_by(some)?);
        }
        let of_matrix = |matrix: &Vec<f64>| different.iter().position(|other| other == matrix).unwrap_or(0);
        let of_rule = |matrices: Vec<Vec<f64>>| {
            let of_group = |group: usize| {
                let table = &counted[of_matrix(&matrices[group.min(matrices.len() - 1)])];
                table[group * k * k..(group + 1) * k * k].to_vec()
            };
            (0..groups).flat_map(of_group).collect()
        };
        Ok(wanted.into_iter().map(of_rule).collect())
    }

    fn counted_by(&self, matrices: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let (k, groups) = (self.layout.classes.len(), self.layout.group_count());
        let keys = 1 + self.statements.groups.len();
        let width = keys + 1 + matrices.len() * k;
        let found = self.asked().table(&self.statements.confusions(k, matrices)?, self.written, width)?;
        let mut counts = vec![vec![0.0; groups * k * k]; matrices.len()];
        let mut sum = 0;
        for row in &found {
            let (group, class) = place(&self.statements, &self.layout, row)?;
            let rows = row[keys].count()?;
            sum += rows;
            for (matrix, counts) in counts.iter_mut().enumerate() {
                let first = keys + 1 + matrix * k;
                let mut all = 0.0;
                for estimate in 0..k {
                    let count = row[first + estimate].number()?;
                    counts[(usize::from(group) * k + class) * k + estimate] += count;
                    all += count;
                }
                if !self.totals.weighted && all != rows as f64 {
                    let found = format!("{all} of {} counted by a rule", plural(rows, "row"));
                    return Err(Error::new(Kind::Mismatch, found, "every row once"));
                }
            }
        }
        adds_up(sum, self.rows())?;
        Ok(counts)
    }

    fn needs_rows(&self, what: &str) -> Error {
        let found = format!("{what} of {} classes", self.layout.classes.len());
        let expected = "2 classes, since the rows stay in the database";
        self.named(Error::new(Kind::Mismatch, found, expected))
    }
}

/// How often rows are there in a draw, by how many are counted together; tried again if that comes to nothing.
fn poisson(random: &mut Xoshiro256PlusPlus, counts: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    loop {
        let times = |count: f64| Poisson::new(count).map_or(0.0, |law| law.sample(random));
        let taken: Vec<f64> = counts.clone().map(times).collect();
        if taken.iter().any(|&times| times > 0.0) {
            return taken;
        }
    }
}

fn other_columns() -> Error {
    let expected = "weights of classes or a threshold, since the rows stay in the database";
    Error::new(Kind::Mismatch, "a rule that looks at other columns", expected)
}

fn odd(error: &equipoise::Error) -> Error {
    Error::new(Kind::Mismatch, error.to_string(), "a table of classes that all have rows")
}

impl Confusions for Database {
    type Err = Error;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>> {
        if let Some(counted) = &self.counted {
            for rule in rules {
                rule.check(self.classes(), self.groups()).map_err(|error| self.named(odd(&error)))?;
                let looks_at_columns = match rule {
                    Rule::Labels(_) => true,
                    Rule::Classifier(classifier) => !classifier.columns().is_empty(),
                    Rule::PostShift(_) | Rule::Threshold(_) => false,
                };
                if looks_at_columns {
                    return Err(self.named(other_columns()));
                }
            }
            let Ok(found) = counted.confusions(rules);
            return Ok(found);
        }
        let counts = self.asked_counts(rules).map_err(|error| self.named(error))?;
        let total = self.totals.overall().weight;
        Ok(counts.iter().map(|counts| shares(counts, self.classes(), total)).collect())
    }
}

impl Population for Database {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> Result<Profile> {
        match &self.counted {
            Some(counted) => {
                let Ok(found) = counted.score_profile(score);
                Ok(found)
            }
            None => self.asked_profile(score).map_err(|error| self.named(error)),
        }
    }

    /// Rows are drawn again by how many of them a rule counts alike: each is there as often as a Poisson variable says, as
    /// rows in memory are, so together they are there as often as one of their number says. Rules are drawn each for itself.
    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>> {
        if let Some(counted) = &self.counted {
            let Ok(found) = counted.resampled(rules, seed, draws);
            return Ok(found);
        }
        if self.totals.weighted {
            return Err(self.needs_rows("drawing weighted rows again"));
        }
        let counts = self.asked_counts(rules).map_err(|error| self.named(error))?;
        let drawn = |random: &mut Xoshiro256PlusPlus, counts: &Vec<f64>| {
            let taken = poisson(random, counts.iter().copied());
            shares(&taken, self.classes(), taken.iter().sum())
        };
        let draw = |number: usize| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, number as u64));
            counts.iter().map(|counts| drawn(&mut random, counts)).collect()
        };
        Ok((0..draws).map(draw).collect())
    }

    fn moments(&self, bases: &[Basis]) -> std::result::Result<Ask<'_, Error>, AskError<Error>> {
        let Some(counted) = &self.counted else {
            all_rows_only(bases)?;
            let (k, total) = (self.classes(), self.totals.overall().weight);
            return Ok(Box::new(move |rules| {
                let rules = rules.iter().map(|rule| rule.post_shift().map(Rule::from));
                let rules = rules.collect::<equipoise::Result<Vec<_>>>().map_err(|error| odd(&error))?;
                let counts = self.asked_counts(&rules).map_err(|error| self.named(error))?;
                Ok(counts.iter().map(|counts| moments_of_all(counts, k, total)).collect())
            }));
        };
        let ask = counted.moments(bases).map_err(equipoise::Error::from)?;
        Ok(Box::new(move |rules| {
            let Ok(found) = ask(rules);
            Ok(found)
        }))
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>> {
        let counted = self.counted.as_ref().ok_or_else(|| self.needs_rows("a sample"))?;
        let Ok(found) = counted.sample(rows, seed);
        Ok(found)
    }
}
