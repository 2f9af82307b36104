//! Reading tables of predictions and confusion matrices from the files people have.
//!
//! A format finds the columns of a file and hands over their cells. Everything else is shared: which column
//! plays which part, what a cell may be, how the columns become a [`Table`]. So the same data give the
//! same table and the same message whatever format they come in.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits, from 1"
)]

#[cfg(feature = "adbc")]
mod adbc;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_lengths;
mod assemble;
mod cells;
mod column;
mod columns;
mod csv;
mod database;
mod format;
mod json_lines;
mod label;
mod layout;
mod many;
mod parquet;
mod pieces;
mod records;
#[cfg(feature = "object-store")]
mod remote;
#[cfg(not(feature = "object-store"))]
#[path = "remote_absent.rs"]
mod remote;
mod statements;
mod stream;
mod tally;
mod turned;

#[cfg(feature = "adbc")]
pub use adbc::Adbc;
#[cfg(feature = "arrow")]
pub use arrow::table_from_batches;
pub use columns::{Columns, Scale};
pub use database::{Answers, Database, Value, columns as columns_in_database};
pub use statements::{Decides, Dialect, Statements};
pub use stream::{Streamed, elsewhere, stream};
pub use tally::{Elsewhere, Piece, Tally};

use crate::confusions::ModelConfusions;
use crate::error::{Error, Kind, Result, list, plural};
use crate::note::{Note, Reading};
use crate::table::{Groups, Table};
use column::{Column, NumberCheck, Part};
use columns::{Header, Score, Want};
use format::{Format, Input};
use many::Many;
use std::path::{Path, PathBuf};

/// Reads a table of predictions.
///
/// The format is told by the content or the name: CSV (comma, semicolon or tab) and JSON Lines, both also
/// gzip-compressed, Parquet, and Arrow files and streams with the feature `arrow`. The notes say what was
/// guessed or changed; nothing is dropped unless [`Columns::drop_missing`] says so: a row that cannot be used is an error.
///
/// A path may also be a folder or a pattern with `*` and `?`, whose files are then one table, `-` or another pipe, which is
/// read once and remembered, and with the feature `object-store` an address such as `s3://bucket/folder`, of Parquet.
///
/// ```no_run
/// use equipoise_data::{Columns, read};
/// let reading = read::table("val.parquet", &Columns::guess().groups(["sex"]))?;
/// reading.notes.iter().for_each(|note| eprintln!("{note}"));
/// println!("{} rows of {:?}", reading.data.rows(), reading.data.classes());
/// # Ok::<(), equipoise_data::Error>(())
/// ```
pub fn table(path: impl AsRef<Path>, columns: &Columns) -> Result<Reading<Table>> {
    with_source(path.as_ref(), columns.drops_missing(), |source| {
        let read = |wants: &[Want]| source.read(wants, &|name| columns.would_guess(name));
        if let Some((columns, note)) = called_like_classes(source.header(), columns, read) {
            let mut reading = table_from(source.header(), &columns, read)?;
            reading.notes.insert(0, note);
            return Ok(reading);
        }
        match table_from(source.header(), columns, read) {
            Err(error) if matches!(error.kind, Kind::NotANumber | Kind::OutOfRange) => {
                predicted_classes(source.header(), columns, read).unwrap_or(Err(error))
            }
            reading => reading,
        }
    })
}

/// The names of the columns of a table.
pub fn header(path: impl AsRef<Path>) -> Result<Vec<String>> {
    with_source(path.as_ref(), true, |source| Ok(Reading { data: source.header().0.clone(), notes: vec![] }))
        .map(|reading| reading.data)
}

/// The files behind a path: itself, those of a folder, or those that fit a pattern with `*` and `?`.
pub fn files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    many::files(path.as_ref()).map_err(|error| error.file(many::named(path.as_ref())))
}

/// Whether a path is an address in an object store, whose tables are streamed.
pub fn is_address(path: impl AsRef<Path>) -> bool {
    remote::is_address(path.as_ref())
}

/// Reads columns as text, such as the ids of rows.
pub fn texts<S: AsRef<str>>(path: impl AsRef<Path>, names: &[S]) -> Result<Vec<Vec<String>>> {
    let texts = |source: &dyn Source| {
        let want = |name: &S| source.header().find(name.as_ref());
        let positions = names.iter().map(want).collect::<Result<Vec<_>>>()?;
        if let Some(texts) = source.texts(&positions) {
            return texts;
        }
        let columns = named(source, names, Part::Model)?;
        let texts = |column: Column| match column {
            Column::Labels { codes, coder } => {
                codes.iter().map(|&code| coder.met[usize::from(code)].name.clone()).collect()
            }
            Column::Numbers { .. } => Vec::new(),
        };
        Ok(columns.into_iter().map(texts).collect())
    };
    let read = |source: &dyn Source| texts(source).map(|data| Reading { data, notes: vec![] });
    with_source(path.as_ref(), false, read).map(|reading| reading.data)
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
    with_source(path.as_ref(), false, records::read)
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
    with_source(path.as_ref(), false, |source| {
        let data = values(named(source, names, Part::Number)?);
        Ok(Reading { data, notes: Vec::new() })
    })
}

/// Reads columns of probabilities by their names, whatever their scale: one per class, or that of the positive class.
pub fn probabilities<S: AsRef<str>>(
    path: impl AsRef<Path>,
    names: &[S],
    scale: Scale,
) -> Result<Reading<Vec<Vec<f64>>>> {
    with_source(path.as_ref(), false, |source| {
        let mut data = values(named(source, names, scale.part())?);
        assemble::rescale(scale, &mut data)?;
        Ok(Reading { data, notes: Vec::new() })
    })
}

fn values(columns: Vec<Column>) -> Vec<Vec<f64>> {
    let values = |column: Column| match column {
        Column::Numbers { values, .. } => values,
        Column::Labels { .. } => Vec::new(),
    };
    columns.into_iter().map(values).collect()
}

/// Reads group columns by their names, crossed.
pub fn groups<S: AsRef<str>>(path: impl AsRef<Path>, names: &[S]) -> Result<Reading<Groups>> {
    with_source(path.as_ref(), false, |source| {
        let columns = named(source, names, Part::Group)?;
        let parts = columns.into_iter().map(assemble::groups).collect::<Result<Vec<_>>>()?;
        Ok(Reading { data: Groups::cross(parts)?, notes: Vec::new() })
    })
}

/// Columns by their names, free of bad cells.
fn named<S: AsRef<str>>(source: &dyn Source, names: &[S], part: Part) -> Result<Vec<Column>> {
    let want = |name: &S| {
        let name = name.as_ref();
        Ok(Want { position: source.header().find(name)?, name: name.to_owned(), part })
    };
    let wants = names.iter().map(want).collect::<Result<Vec<_>>>()?;
    let columns = source.read(&wants, &|_| false)?;
    check(&wants, &columns)?;
    Ok(columns)
}

/// What the formats have in common: named columns that can be read by their part.
pub(crate) trait Source: Send + Sync {
    /// What to say about the format.
    fn format(&self) -> String;

    /// The names of the columns.
    fn header(&self) -> &Header;

    /// Reads the wanted columns, in their order. Bad cells become faults of their column.
    ///
    /// `matters` tells whether a column that is not in the header would have been used had it been there.
    fn read(&self, wants: &[Want], matters: &dyn Fn(&str) -> bool) -> Result<Vec<Column>>;

    /// How many rows the pieces have that can be read one by one; a file that cannot be read so is not streamed.
    fn pieces(&self) -> Result<Vec<usize>> {
        Err(Error::new(Kind::Format, "a file that is read as a whole", "Parquet, which is read in pieces"))
    }

    /// Reads the wanted columns of one piece.
    fn read_piece(&self, piece: usize, wants: &[Want]) -> Result<Vec<Column>> {
        let _ = piece;
        self.read(wants, &|_| false)
    }

    /// The cells of columns as they are written, where a format has them in writing.
    fn texts(&self, positions: &[usize]) -> Option<Result<Vec<Vec<String>>>> {
        let _ = positions;
        None
    }

    /// The line of a text file a row, counted from 0, begins on.
    fn line(&self, row: u64) -> Option<u64> {
        let _ = row;
        None
    }
}

/// Opens a file, uses it, and puts its name and the line into an error that does not have them yet.
fn with_source<T>(
    path: &Path,
    lenient: bool,
    make: impl FnOnce(&dyn Source) -> Result<Reading<T>>,
) -> Result<Reading<T>> {
    let named = |error: Error| match error.place.file {
        Some(_) => error,
        None => error.file(many::named(path)),
    };
    let source = open(path, lenient).map_err(named)?;
    let located = |error: Error| match (error.place.row, error.place.line) {
        (Some(row), None) if error.place.file.is_none() => match source.line(row - 1) {
            Some(line) => error.line(line),
            None => error,
        },
        _ => error,
    };
    let mut reading = make(&*source).map_err(|error| named(located(error)))?;
    reading.notes.insert(0, Note::Choice(source.format()));
    Ok(reading)
}

/// Opens a table. Missing values in one of several files are for the caller to judge if `lenient`, and errors otherwise.
fn open(path: &Path, lenient: bool) -> Result<Box<dyn Source>> {
    let mut files = many::files(path)?;
    match files.len() {
        1 if !path.is_dir() => open_one(&files.remove(0)),
        _ => Ok(Box::new(Many::open(files, lenient)?)),
    }
}

fn open_one(path: &Path) -> Result<Box<dyn Source>> {
    if remote::is_address(path) {
        return Ok(Box::new(parquet::Parquet::remote(remote::open(path)?)?));
    }
    let input = Input::open(path)?;
    Ok(match input.format {
        Format::Csv => Box::new(csv::Csv::open(input)?),
        Format::JsonLines => Box::new(json_lines::JsonLines::open(input)?),
        Format::Parquet => Box::new(parquet::Parquet::open(input)?),
        #[cfg(feature = "arrow")]
        Format::Arrow => Box::new(arrow::Arrow::open(input)?),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => {
            let expected = "CSV, JSON Lines or Parquet (Arrow needs a build with `--features arrow`)";
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
    let mut read = read(&choice.wants)?;
    if columns.drops_missing() {
        choice.notes.extend(drop_missing(&mut read, choice.parts.truth));
    }
    check(&choice.wants, &read)?;
    let mut reading = assemble::table(columns, &choice, read)?;
    reading.notes.splice(0..0, choice.notes.drain(..));
    Ok(reading)
}

/// Leaves rows out that lack a value in any column, and says how many; nothing if something else is wrong.
fn drop_missing(columns: &mut Vec<Column>, truth: usize) -> Option<Note> {
    let rows = columns.first().map_or(0, Column::len);
    if columns.iter().any(|column| !column.faults().only_missing() || column.len() != rows) {
        return None;
    }
    let lacks = |row: usize| columns.iter().enumerate().any(|(n, column)| column.is_missing(row, n == truth));
    let kept: Vec<bool> = (0..rows).map(|row| !lacks(row)).collect();
    let dropped = kept.iter().filter(|&&kept| !kept).count();
    if dropped == 0 || dropped == rows {
        return None;
    }
    *columns = std::mem::take(columns).into_iter().map(|column| column.keep(&kept)).collect();
    Some(Note::Change(format!("{dropped} of {} without a value left out", plural(rows as u64, "row"))))
}

/// The table whose only column of probabilities has predicted classes instead: probabilities of 0 and 1.
fn predicted_classes(
    header: &Header,
    columns: &Columns,
    read: impl FnOnce(&[Want]) -> Result<Vec<Column>>,
) -> Option<Result<Reading<Table>>> {
    let mut choice = columns.choose(header).ok()?;
    let [score] = &choice.parts.scores[..] else { return None };
    let (at, column) = (score.want, score.column.clone());
    choice.wants[at].part = Part::Class;
    let mut read = read(&choice.wants).ok()?;
    if columns.drops_missing() {
        choice.notes.extend(drop_missing(&mut read, choice.parts.truth));
    }
    check(&choice.wants, &read).ok()?;
    let (Column::Labels { coder: truth, .. }, Column::Labels { codes, coder }) =
        (&read[choice.parts.truth], &read[at])
    else {
        return None;
    };
    let classes = assemble::sorted(truth.met.iter().map(|met| met.name.clone()).collect());
    if classes.len() < 2 || coder.met.iter().any(|met| !classes.contains(&met.name)) {
        return None;
    }
    let sure = |class: &String| -> Vec<f64> {
        let is = |&code: &u16| coder.met[usize::from(code)].name == *class;
        codes.iter().map(|code| f64::from(u8::from(is(code)))).collect()
    };
    let values: Vec<Vec<f64>> = classes.iter().map(sure).collect();
    choice.parts.scores.clear();
    choice.parts.scores_guessed = false;
    for (class, values) in classes.into_iter().zip(values) {
        choice.parts.scores.push(Score { want: read.len(), column: class.clone() });
        choice.wants.push(Want { position: at, name: class, part: Part::Probability });
        read.push(Column::Numbers { values, check: NumberCheck::new(Part::Probability) });
    }
    let what = format!("column {column} has predicted classes, which are taken as probabilities of 0 and 1");
    choice.notes.push(Note::Choice(what));
    // Classes are in the columns by their names now, whatever the scale of other columns.
    let columns = columns.clone().scale(Scale::Probability);
    Some(assemble::table(&columns, &choice, read).map(|mut reading| {
        reading.notes.splice(0..0, choice.notes.drain(..));
        reading
    }))
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
        wants.iter().zip(columns).filter_map(|(want, column)| Some((want, column, column.faults().first()?)));
    let (want, column, fault) = faults.min_by_key(|(_, _, fault)| fault.row)?;
    let looks_like = match column {
        Column::Numbers { check, .. } => check.looks_like(),
        Column::Labels { .. } => None,
    };
    let expected = match fault.kind {
        Kind::Duplicate => "each key once".to_owned(),
        Kind::Encoding => format!("{}, in UTF-8", want.part.expected()),
        Kind::Count if want.part == Part::Class => "far fewer different classes".to_owned(),
        Kind::Count => "far fewer different values".to_owned(),
        Kind::NotANumber if fault.found.starts_with("\"[") || fault.found.ends_with("a list") => {
            format!("{}; a list of them is written as a column for each class", want.part.expected())
        }
        Kind::NotANumber if fault.found.contains(',') => {
            format!("{}, with a decimal point", want.part.expected())
        }
        Kind::NotANumber if want.part == Part::Probability && fault.found.ends_with("%\"") => {
            format!("{}; the column looks like percentages", want.part.expected())
        }
        Kind::OutOfRange => match looks_like {
            Some(what) => format!("{}; the column looks like {what}", want.part.expected()),
            None => want.part.expected().to_owned(),
        },
        _ => want.part.expected().to_owned(),
    };
    Some(fault.error(expected).column(&want.name))
}
