//! What a database answers, and what is checked of it: cells, counts that add up, labels that were met.

use super::super::column::{self, LabelCoder, Met, Part};
use super::super::columns::Choice;
use super::super::layout::Layout;
use super::super::statements::{Dialect, Statements};
use crate::error::{Error, Kind, Result, name, plural};
use crate::table::MOST_CLASSES;
use equipoise::population::{Total, Totals};

/// Groups beyond which a column is taken for something else.
const MOST_GROUPS: u64 = 1_000;

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

    pub(super) fn number(&self) -> Result<f64> {
        match self {
            Value::Integer(value) => Ok(*value as f64),
            Value::Number(value) => Ok(*value),
            // Drivers hand decimals over as text.
            Value::Text(text) => text.parse().map_err(|_| self.odd("a number")),
            Value::Missing | Value::Boolean(_) => Err(self.odd("a number")),
        }
    }

    pub(super) fn count(&self) -> Result<u64> {
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

/// What stands behind FROM for a table, and its columns. A dot stands between schema and table, unless there is a table whose name has it:
/// tables that were loaded from files are called `val.csv`.
pub(super) fn found(answers: &dyn Answers, table: &str) -> Result<(String, Vec<String>)> {
    let dialect = answers.dialect();
    let columns = |from: &str| answers.columns(&["SELECT * FROM ", from, " WHERE 1 = 0"].concat());
    let parts = table.split('.').map(|part| dialect.quoted(part)).collect::<Result<Vec<_>>>()?;
    let from = parts.join(".");
    match columns(&from) {
        Ok(columns) => Ok((from, columns)),
        Err(error) if parts.len() > 1 => {
            let whole = dialect.quoted(table)?;
            // Whoever may not read the one with a dot is told so.
            let told = |other: Error| if other.found.contains("denied") { other } else { error };
            columns(&whole).map(|columns| (whole, columns)).map_err(told)
        }
        Err(error) => Err(error),
    }
}

/// The names of the columns of a table in a database.
pub fn columns(answers: &dyn Answers, table: &str) -> Result<Vec<String>> {
    let found = found(answers, table).map_err(|error| error.file(format!("table {table}")))?;
    Ok(found.1)
}

pub(super) fn adds_up(found: u64, rows: u64) -> Result<()> {
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
pub(super) struct Asked<'a> {
    pub(super) answers: &'a dyn Answers,
}

impl Asked<'_> {
    /// Rows of so many cells.
    pub(super) fn table(&self, statement: &str, most: usize, width: usize) -> Result<Vec<Vec<Value>>> {
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
    pub(super) fn one(&self, statement: &str) -> Result<u64> {
        match self.table(statement, 1, 1)?.first() {
            Some(row) => row[0].count(),
            None => Err(Error::new(Kind::Format, "an empty answer", "a count")),
        }
    }

    /// How many rows there are, all of which can be used, and the largest weight.
    pub(super) fn check(&self, statements: &Statements) -> Result<(u64, f64)> {
        let wanted = statements.wanted();
        let (scores, groups) = (&statements.scores, &statements.groups);
        let weighted = usize::from(statements.weight.is_some());
        let counted = 2 + wanted.len() + scores.len() + weighted + groups.len();
        let found = self.table(&statements.check()?, 1, counted + weighted)?;
        let Some(answer) = found.first() else {
            return Err(Error::new(Kind::Format, "an empty answer", "counts"));
        };
        let counts = answer[..counted].iter().map(Value::count).collect::<Result<Vec<_>>>()?;
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
        Ok((rows, answer.get(counted).map_or(Ok(0.0), Value::number)?))
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

    pub(super) fn totals(&self, statements: &Statements, rows: u64) -> Result<Vec<Vec<Value>>> {
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
pub(super) struct Labels {
    pub(super) truth: Vec<Met>,
    pub(super) groups: Vec<Vec<Met>>,
    pub(super) combinations: Vec<Vec<u16>>,
}

impl Labels {
    pub(super) fn met(choice: &Choice, found: &[Vec<Value>]) -> Result<Self> {
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
pub(super) fn place(statements: &Statements, layout: &Layout, row: &[Value]) -> Result<(u16, usize)> {
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
pub(super) fn totals(statements: &Statements, layout: &Layout, found: &[Vec<Value>]) -> Result<Totals> {
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
