//! Reading tables of predictions and confusion matrices from the files people have.
//!
//! A format finds the columns of a file and hands over their cells. Everything else is shared: which column
//! plays which part, what a cell may be, how the columns become a [`Table`]. So the same data give the
//! same table and the same message whatever format they come in.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_lengths;
mod assemble;
mod column;
mod columns;
mod csv;
mod format;
mod json_lines;
mod label;
mod parquet;
mod records;

#[cfg(feature = "arrow")]
pub use arrow::table_from_batches;
pub use columns::Columns;

use crate::confusions::ModelConfusions;
use crate::error::{Error, Kind, Result, list};
use crate::note::{Note, Reading};
use crate::table::Table;
use column::{Column, Part};
use columns::{Header, Want};
use format::{Format, Input};
use std::path::Path;

/// Reads a table of predictions.
///
/// The format is told by the content or the name: CSV (comma, semicolon or tab) and JSON Lines, both also
/// gzip-compressed, Parquet, and Arrow files and streams with the feature `arrow`. The notes say what was
/// guessed or changed; nothing is dropped: a row that cannot be used is an error.
///
/// ```no_run
/// use equipoise_data::{Columns, read};
/// let reading = read::table("val.parquet", &Columns::guess().groups(["sex"]))?;
/// reading.notes.iter().for_each(|note| eprintln!("{note}"));
/// println!("{} rows of {:?}", reading.data.rows(), reading.data.classes());
/// # Ok::<(), equipoise_data::Error>(())
/// ```
pub fn table(path: impl AsRef<Path>, columns: &Columns) -> Result<Reading<Table>> {
    with_source(path.as_ref(), |source| {
        let read = |wants: &[Want]| source.read(wants, &|name| columns.would_guess(name));
        let Some((columns, note)) = called_like_classes(source.header(), columns, read) else {
            return table_from(source.header(), columns, read);
        };
        let mut reading = table_from(source.header(), &columns, read)?;
        reading.notes.insert(0, note);
        Ok(reading)
    })
}

/// Reads confusion matrices from long records `{model, group, truth, estimate, count}`, in any format.
///
/// The column `group` may be absent. Cells that are absent count 0, and the notes say how many. All models
/// must have the same classes and groups.
///
/// ```no_run
/// use equipoise_data::read;
/// for model in read::confusions("pool.csv")?.data {
///     println!("{}: {:?}", model.name(), model.confusions()?.overall().diagonal());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn confusions(path: impl AsRef<Path>) -> Result<Reading<Vec<ModelConfusions>>> {
    with_source(path.as_ref(), records::read)
}

/// Reads columns of numbers by their names, as they are: features, bases of the optimiser, scores without truth.
///
/// ```no_run
/// use equipoise_data::read;
/// let columns = read::numbers("val.csv", &["private", "income"])?.data;
/// println!("{} rows", columns[0].len());
/// # Ok::<(), equipoise_data::Error>(())
/// ```
pub fn numbers<S: AsRef<str>>(path: impl AsRef<Path>, names: &[S]) -> Result<Reading<Vec<Vec<f64>>>> {
    with_source(path.as_ref(), |source| {
        let want = |name: &S| {
            let name = name.as_ref();
            Ok(Want { position: source.header().find(name)?, name: name.to_owned(), part: Part::Number })
        };
        let wants = names.iter().map(want).collect::<Result<Vec<_>>>()?;
        let columns = source.read(&wants, &|_| false)?;
        check(&wants, &columns)?;
        let values = |column: Column| match column {
            Column::Numbers { values, .. } => values,
            Column::Labels { .. } => Vec::new(),
        };
        Ok(Reading { data: columns.into_iter().map(values).collect(), notes: Vec::new() })
    })
}

/// What the formats have in common: named columns that can be read by their part.
pub(crate) trait Source {
    /// What to say about the format.
    fn format(&self) -> String;

    /// The names of the columns.
    fn header(&self) -> &Header;

    /// Reads the wanted columns, in their order. Bad cells become faults of their column.
    ///
    /// `matters` tells whether a column that is not in the header would have been used had it been there.
    fn read(&self, wants: &[Want], matters: &dyn Fn(&str) -> bool) -> Result<Vec<Column>>;

    /// The line of a text file a row, counted from 0, begins on.
    fn line(&self, row: u64) -> Option<u64> {
        let _ = row;
        None
    }
}

/// Opens a file, uses it, and puts its name and the line into an error.
fn with_source<T>(path: &Path, make: impl FnOnce(&dyn Source) -> Result<Reading<T>>) -> Result<Reading<T>> {
    let named = |error: Error| error.file(path.display().to_string());
    let source = open(path).map_err(named)?;
    let located = |error: Error| match (error.place.row, error.place.line) {
        (Some(row), None) => match source.line(row - 1) {
            Some(line) => error.line(line),
            None => error,
        },
        _ => error,
    };
    let mut reading = make(&*source).map_err(|error| named(located(error)))?;
    reading.notes.insert(0, Note::Choice(source.format()));
    Ok(reading)
}

fn open(path: &Path) -> Result<Box<dyn Source>> {
    let input = Input::open(path)?;
    Ok(match input.format {
        Format::Csv => Box::new(csv::Csv::open(input)?),
        Format::JsonLines => Box::new(json_lines::JsonLines::open(input)?),
        Format::Parquet => Box::new(parquet::Parquet::open(input)?),
        #[cfg(feature = "arrow")]
        Format::Arrow => Box::new(arrow::Arrow::open(input)?),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => {
            let expected = "CSV, JSON Lines or Parquet (this build is without the feature `arrow`)";
            return Err(Error::new(Kind::Format, "an Arrow file", expected));
        }
    })
}

/// Chooses columns of a header, reads them, and makes the table.
fn table_from(
    header: &Header,
    columns: &Columns,
    read: impl FnOnce(&[Want]) -> Result<Vec<Column>>,
) -> Result<Reading<Table>> {
    let mut choice = columns.choose(header)?;
    let read = read(&choice.wants)?;
    check(&choice.wants, &read)?;
    let mut reading = assemble::table(columns, &choice, read)?;
    reading.notes.splice(0..0, choice.notes.drain(..));
    Ok(reading)
}

/// Columns called like the classes, such as `0` and `1`, where nothing else looks like probabilities.
fn called_like_classes(
    header: &Header,
    columns: &Columns,
    read: impl FnOnce(&[Want]) -> Result<Vec<Column>>,
) -> Option<(Columns, Note)> {
    if columns.choose(header).is_ok() {
        return None;
    }
    let truth = columns.choose_truth(header).ok()?;
    let Column::Labels { coder, .. } = read(&[truth]).ok()?.into_iter().next()? else { return None };
    let classes = assemble::sorted(coder.met.into_iter().map(|met| met.name).collect());
    let columns = columns.called_like(&classes, header)?;
    let names = list(columns.score_columns(&classes)?);
    Some((columns, Note::Choice(format!("probability columns: {names} (guessed, called like the classes)"))))
}

/// The first bad cell, by row and then by column, or the absence of rows.
fn check(wants: &[Want], columns: &[Column]) -> Result<()> {
    if let Some(error) = first_fault(wants, columns) {
        return Err(error);
    }
    match columns.first().map(Column::len) {
        Some(0) | None => Err(Error::new(Kind::Empty, "no rows", "at least one row")),
        Some(_) => Ok(()),
    }
}

fn first_fault(wants: &[Want], columns: &[Column]) -> Option<Error> {
    let faults =
        wants.iter().zip(columns).filter_map(|(want, column)| Some((want, column.faults().first()?)));
    let (want, fault) = faults.min_by_key(|(_, fault)| fault.row)?;
    let expected = match fault.kind {
        Kind::Duplicate => "each key once".to_owned(),
        Kind::Encoding => format!("{}, in UTF-8", want.part.expected()),
        Kind::Count if want.part == Part::Class => "far fewer different classes".to_owned(),
        Kind::Count => "far fewer different values".to_owned(),
        Kind::NotANumber if fault.found.contains(',') => {
            format!("{}, with a decimal point", want.part.expected())
        }
        _ => want.part.expected().to_owned(),
    };
    Some(fault.error(expected).column(&want.name))
}
