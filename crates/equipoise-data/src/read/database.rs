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

use super::assemble::{Classes, said_turned};
use super::column::{self, LabelCoder, Met, Part};
use super::columns::{Choice, Columns, Header, Scale};
use super::layout::Layout;
use super::statements::{Decides, Dialect, Statements};
use super::turned;
use crate::counted::Counted;
use crate::error::{Error, Kind, Result, list, name, plural};
use crate::note::{Note, Reading};
use crate::sample::{Sample, shares};
use crate::table::{self, MOST_CLASSES, Table};
use equipoise::population::{
    Ask, AskError, Basis, Cell, Confusions, Population, Profile, Rule, Score, Total, Totals,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise::stream;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Groups beyond which a column is taken for something else.
const MOST_GROUPS: u64 = 1_000;
/// Rules in one statement: more are slower together than one after the other.
const MOST_RULES: usize = 8;
/// Counts up to which models are drawn again together.
const MOST_COUNTS: usize = 1 << 16;

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Missing,
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// True or false.
    Boolean(bool),
}

impl Value {
    fn cell(&self) -> column::Cell<'_> {
        match self {
            Value::Missing => column::Cell::Missing,
            Value::Integer(value) => column::Cell::Integer(*value),
            Value::Number(value) => column::Cell::Float(*value),
            Value::Text(text) => column::Cell::Text(text.as_bytes()),
            Value::Boolean(value) => column::Cell::Boolean(*value),
        }
    }

    fn number(&self) -> Result<f64> {
        match self {
            Value::Integer(value) => Ok(*value as f64),
            Value::Number(value) => Ok(*value),
            // Drivers hand decimals over as text.
            Value::Text(text) => text.parse().map_err(|_| self.odd("a number")),
            Value::Missing | Value::Boolean(_) => Err(self.odd("a number")),
        }
    }

    fn count(&self) -> Result<u64> {
        match self {
            Value::Integer(value) => u64::try_from(*value).map_err(|_| self.odd("a count")),
            _ => match self.number()? {
                value if value >= 0.0 && value.fract() == 0.0 && value < 9e15 => Ok(value as u64),
                _ => Err(self.odd("a count")),
            },
        }
    }

    fn odd(&self, expected: &str) -> Error {
        Error::new(Kind::Format, format!("an answer of {self:?}"), expected)
    }
}

/// Whoever answers statements.
pub trait Answers: Send + Sync {
    /// How statements are written for it.
    fn dialect(&self) -> Dialect;

    /// What columns a statement answers with.
    fn columns(&self, statement: &str) -> Result<Vec<String>>;

    /// The rows of an answer; an error where there are more than `most`, so that rows of the table itself do not leave it.
    fn answer(&self, statement: &str, most: usize) -> Result<Vec<Vec<Value>>>;
}

/// A table that stays in a database.
pub struct Database {
    answers: Box<dyn Answers>,
    statements: Statements,
    layout: Layout,
    totals: Totals,
    prevalence: Prevalence,
    /// Everything there is to know of two classes.
    counted: Option<Counted>,
    file: String,
}

impl Database {
    /// Counts a table, which may be named within a schema as `schema.table`.
    ///
    /// ```no_run
    /// # fn database() -> Box<dyn equipoise_data::read::Answers> { unimplemented!() }
    /// use equipoise::population::Population;
    /// use equipoise_data::{Columns, read::Database};
    /// let reading = Database::count(database(), "predictions", &Columns::guess())?;
    /// println!("{} rows", reading.data.totals()?.overall().rows);
    /// # Ok::<(), equipoise_data::Error>(())
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
        let parts = table.split('.').map(|part| dialect.quoted(part)).collect::<Result<Vec<_>>>()?;
        let from = parts.join(".");
        let header = Header(header(&*answers, table)?);
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
        let rows = asked.check(&statements)?;
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
        let mut elsewhere = Self { answers, statements, layout, totals, prevalence, counted: None, file };
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

    /// Draws of several models that are columns of one table, each with its rule: by model, then by draw. All are decided on the
    /// same rows, which are drawn again together. `None` where they are of different tables, rows have weights, or there would be
    /// too many counts.
    pub fn resampled_together(
        models: &[(&Self, &Rule)],
        seed: u64,
        draws: usize,
    ) -> Result<Option<Vec<Vec<GroupConfusions>>>> {
        let Some((first, _)) = models.first() else { return Ok(None) };
        let (k, groups) = (first.classes(), first.groups());
        let same = |(other, _): &(&Self, &Rule)| {
            let (a, b) = (&first.statements, &other.statements);
            a.table == b.table
                && a.truth == b.truth
                && a.groups == b.groups
                && a.weight.is_none()
                && b.weight.is_none()
                && first.layout.classes == other.layout.classes
        };
        let most = u32::try_from(models.len()).ok().and_then(|models| k.checked_pow(models));
        let most = most.and_then(|labels| labels.checked_mul(k * groups)).filter(|&most| most <= MOST_COUNTS);
        let decides = |(model, rule): &(&Self, &Rule)| {
            let decides = match rule {
                Rule::Threshold(at) if at.len() == 1 => Decides::From(at[0]),
                Rule::PostShift(rule) if !rule.is_per_group() => Decides::By(rule.rewards(0).to_vec()),
                _ => return None,
            };
            Some((model.statements.scores.clone(), decides))
        };
        let decided = models.iter().map(decides).collect::<Option<Vec<_>>>();
        let (true, Some(most), Some(decided)) = (models.iter().all(same), most, decided) else {
            return Ok(None);
        };
        first.drawn_together(&decided, most, seed, draws).map(Some).map_err(|error| first.named(error))
    }

    fn drawn_together(
        &self,
        decided: &[(Vec<String>, Decides)],
        most: usize,
        seed: u64,
        draws: usize,
    ) -> Result<Vec<Vec<GroupConfusions>>> {
        let (k, keys) = (self.classes(), 1 + self.statements.groups.len());
        let width = keys + decided.len() + 1;
        let found = self.asked().table(&self.statements.decided(k, decided)?, most, width)?;
        // Where a count goes in the matrix of each model.
        let mut counts: Vec<(Vec<usize>, f64)> = vec![];
        let mut sum = 0;
        for row in &found {
            let (group, class) = place(&self.statements, &self.layout, row)?;
            let rows = row[width - 1].count()?;
            sum += rows;
            let mut places = vec![];
            for label in &row[keys..width - 1] {
                let label = label.count()?.min(k as u64 - 1) as usize;
                places.push((usize::from(group) * k + class) * k + label);
            }
            counts.push((places, rows as f64));
        }
        adds_up(sum, self.rows())?;
        // Answers come in any order.
        counts.sort_by(|a, b| a.0.cmp(&b.0));
        let mut drawn = vec![Vec::with_capacity(draws); decided.len()];
        for draw in 0..draws {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, draw as u64));
            let taken = poisson(&mut random, counts.iter().map(|(_, rows)| *rows));
            let total = taken.iter().sum();
            for (model, drawn) in drawn.iter_mut().enumerate() {
                let mut matrix = vec![0.0; self.groups() * k * k];
                counts.iter().zip(&taken).for_each(|((places, _), times)| matrix[places[model]] += times);
                drawn.push(shares(&matrix, k, total));
            }
        }
        Ok(drawn)
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
        let width = keys + 2 + usize::from(self.totals.weighted);
        let most = most * self.layout.classes.len() * self.layout.group_count();
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
            let weight = if self.totals.weighted { row[keys + 2].number()? / rows as f64 } else { 1.0 };
            let value = row[keys].number()?;
            let value = if in_parts { value / f64::from(Profile::BUCKETS) } else { value };
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::new(Kind::OutOfRange, format!("a score of {value}"), "one in [0, 1]"));
            }
            let cell = Cell { score: value, weight, rows: 0, group, positive };
            let mut left = rows;
            while left > 0 {
                let some = left.min(u64::from(u32::MAX));
                cells.push(Cell { rows: some as u32, ..cell });
                left -= some;
            }
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
        let found = self.asked().table(&self.statements.confusions(k, matrices)?, k * groups, width)?;
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

/// The columns of a table.
fn header(answers: &dyn Answers, table: &str) -> Result<Vec<String>> {
    let dialect = answers.dialect();
    let parts = table.split('.').map(|part| dialect.quoted(part)).collect::<Result<Vec<_>>>()?;
    answers.columns(&["SELECT * FROM ", &parts.join("."), " WHERE 1 = 0"].concat())
}

/// The names of the columns of a table in a database.
pub fn columns(answers: &dyn Answers, table: &str) -> Result<Vec<String>> {
    header(answers, table).map_err(|error| error.file(format!("table {table}")))
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

fn adds_up(found: u64, rows: u64) -> Result<()> {
    match found == rows {
        true => Ok(()),
        false => Err(Error::new(
            Kind::Mismatch,
            format!("{} after {rows} before", plural(found, "row")),
            "a table that does not change while it is counted",
        )),
    }
}

/// Statements and their answers.
struct Asked<'a> {
    answers: &'a dyn Answers,
}

impl Asked<'_> {
    /// Rows of so many cells.
    fn table(&self, statement: &str, most: usize, width: usize) -> Result<Vec<Vec<Value>>> {
        let found = self.answers.answer(statement, most)?;
        match found.iter().find(|row| row.len() != width) {
            Some(row) => {
                let found = format!("an answer of {}", plural(row.len() as u64, "column"));
                Err(Error::new(Kind::Format, found, format!("{width}")))
            }
            None => Ok(found),
        }
    }

    /// One count.
    fn one(&self, statement: &str) -> Result<u64> {
        match self.table(statement, 1, 1)?.first() {
            Some(row) => row[0].count(),
            None => Err(Error::new(Kind::Format, "an empty answer", "a count")),
        }
    }

    /// How many rows there are, all of which can be used.
    fn check(&self, statements: &Statements) -> Result<u64> {
        let wanted = statements.wanted();
        let (scores, groups) = (&statements.scores, &statements.groups);
        let width = 2 + wanted.len() + scores.len() + usize::from(statements.weight.is_some()) + groups.len();
        let found = self.table(&statements.check()?, 1, width)?;
        let Some(counts) = found.first() else {
            return Err(Error::new(Kind::Format, "an empty answer", "counts"));
        };
        let counts = counts.iter().map(Value::count).collect::<Result<Vec<_>>>()?;
        let (rows, classes) = (counts[0], counts[1]);
        if rows == 0 {
            return Err(Error::new(Kind::Empty, "no rows", "at least one row"));
        }
        let all = plural(rows, "row");
        let mut left = counts[2..].iter().copied();
        for name in &wanted {
            let missing = left.next().unwrap_or(0);
            if missing > 0 {
                let found = format!("no value in {missing} of {all}");
                return Err(Error::new(Kind::Missing, found, "one in every row").column(*name));
            }
        }
        for name in scores {
            let outside = left.next().unwrap_or(0);
            if outside > 0 {
                return Err(self.no_probability(statements, name, outside, &all)?);
            }
        }
        if let Some(weight) = &statements.weight
            && left.next().unwrap_or(0) > 0
        {
            let found = "a weight below 0 or without end";
            return Err(Error::new(Kind::OutOfRange, found, Part::Weight.expected()).column(weight));
        }
        if classes > MOST_CLASSES as u64 {
            let expected = format!("at most {MOST_CLASSES} classes");
            return Err(Error::new(Kind::Count, format!("{classes} different values"), expected)
                .column(&statements.truth));
        }
        for name in groups {
            let different = left.next().unwrap_or(0);
            if different > MOST_GROUPS {
                let expected = format!("at most {MOST_GROUPS} groups");
                return Err(
                    Error::new(Kind::Count, format!("{different} different values"), expected).column(name)
                );
            }
        }
        Ok(rows)
    }

    fn no_probability(&self, statements: &Statements, name: &str, rows: u64, all: &str) -> Result<Error> {
        let range = self.table(&statements.range(name)?, 1, 2)?;
        let range = range.first().map(|row| (row[0].number(), row[1].number()));
        let (low, high) = match range {
            Some((Ok(low), Ok(high))) => (low, high),
            _ => (f64::NAN, f64::NAN),
        };
        let helps = match () {
            () if low >= 0.0 && high > 5.0 && high <= 100.0 => {
                "; percentages are divided by 100.0 in a view, and that is asked"
            }
            () if low < 0.0 => "; logits become 1 / (1 + EXP(-x)) in a view, and that is asked",
            () => "",
        };
        let found = format!("numbers from {low} to {high}, outside [0, 1] in {rows} of {all}");
        Ok(Error::new(Kind::OutOfRange, found, format!("{}{helps}", Part::Probability.expected()))
            .column(name))
    }

    fn totals(&self, statements: &Statements, rows: u64) -> Result<Vec<Vec<Value>>> {
        let keys = 1 + statements.groups.len();
        let width = keys + 1 + if statements.weight.is_some() { 2 } else { 0 };
        let most = MOST_CLASSES * MOST_GROUPS as usize;
        let found = self.table(&statements.totals()?, most, width)?;
        let mut sum = 0;
        for row in &found {
            sum += row[keys].count()?;
        }
        adds_up(sum, rows)?;
        Ok(found)
    }
}

/// The labels that occur.
struct Labels {
    truth: Vec<Met>,
    groups: Vec<Vec<Met>>,
    combinations: Vec<Vec<u16>>,
}

impl Labels {
    fn met(choice: &Choice, found: &[Vec<Value>]) -> Result<Self> {
        let places = std::iter::once(choice.parts.truth).chain(choice.parts.groups.clone());
        let wants: Vec<_> = places.map(|place| &choice.wants[place]).collect();
        let mut coders: Vec<LabelCoder> = wants.iter().map(|want| LabelCoder::new(want.part)).collect();
        let mut combinations = vec![];
        for row in found {
            let count = row[wants.len()].count()?;
            let mut codes = vec![];
            for (coder, value) in coders.iter_mut().zip(row) {
                let code = coder.code(0, value.cell());
                if let Some(met) = coder.met.get_mut(usize::from(code)) {
                    met.rows += count.saturating_sub(1);
                }
                codes.push(code);
            }
            combinations.push(codes.split_off(1));
        }
        for (coder, want) in coders.iter().zip(&wants) {
            if let Some(fault) = coder.faults.first() {
                let found = fault.found.as_str();
                return Err(Error::new(fault.kind, found, want.part.expected()).column(&want.name));
            }
        }
        combinations.sort();
        combinations.dedup();
        let mut met = coders.into_iter().map(|coder| coder.met);
        Ok(Self { truth: met.next().unwrap_or_default(), groups: met.collect(), combinations })
    }
}

/// The group and the class of an answer's row, which begins with them.
fn place(statements: &Statements, layout: &Layout, row: &[Value]) -> Result<(u16, usize)> {
    let changed = || {
        let expected = "a table that does not change while it is counted";
        Error::new(Kind::Mismatch, "a label that was not there before", expected)
    };
    let label = |part: Part, value: &Value| {
        LabelCoder::new(part).name(value.cell()).map(|name| name.into_owned()).map_err(|_| changed())
    };
    let class = label(Part::Class, &row[0])?;
    let class = layout.classes.iter().position(|name| *name == class).ok_or_else(changed)?;
    let groups = row[1..=statements.groups.len()].iter().map(|value| label(Part::Group, value));
    let group = layout.group(&groups.collect::<Result<Vec<_>>>()?).ok_or_else(changed)?;
    Ok((group, class))
}

/// Rows and weights by group and class; every class needs some.
fn totals(statements: &Statements, layout: &Layout, found: &[Vec<Value>]) -> Result<Totals> {
    let weighted = statements.weight.is_some();
    let keys = 1 + statements.groups.len();
    let mut totals = Totals::new(layout.classes.len(), layout.group_count(), weighted);
    for row in found {
        let (group, class) = place(statements, layout, row)?;
        let rows = row[keys].count()?;
        let (weight, squares) = match weighted {
            true => (row[keys + 1].number()?, row[keys + 2].number()?),
            false => (rows as f64, rows as f64),
        };
        let cell = &mut totals.cells[usize::from(group)][class];
        *cell = cell.and(Total { rows, weight, squares });
    }
    for (class, label) in layout.classes.iter().enumerate() {
        let total = totals.of_class(class);
        if total.rows == 0 {
            let found = format!("no row of class {}", name(label));
            let error = Error::new(Kind::ClassWithoutRows, found, "at least one row of every class");
            return Err(error.column(&statements.truth));
        }
        if !(total.weight > 0.0 && total.weight.is_finite()) {
            let found = format!("a total weight of {} for class {}", total.weight, name(label));
            let error = Error::new(Kind::OutOfRange, found, "a finite total above 0 for every class");
            return Err(statements.weight.iter().fold(error, |error, weight| error.column(weight)));
        }
    }
    Ok(totals)
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
                if matches!(rule, Rule::Labels(_) | Rule::Classifier(_)) {
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
            return Err(AskError::Population(self.needs_rows("optimisation")));
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
