//! Parquet through the column reader of the `parquet` crate, without Arrow.
//!
//! Each column of each row group is one task; tasks run in parallel and decode straight into their stretch
//! of the final column, so the table is in memory once. What was noticed is folded together in file order:
//! the result does not depend on which task ends first.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the rows a file claims are added up with a check before anything is made of them, and wanted columns are of its header"
)]

use super::Source;
use super::column::{Cell, Column, LabelCoder, NumberCheck, Part};
use super::columns::{Header, Want};
use super::format::{Format, Input, fits_in_memory, open, shielded};
use super::remote::Object;
use crate::error::{Error, Kind, Result};
use bytes::{Buf as _, Bytes};
use parquet::basic::{Compression, ConvertedType, LogicalType};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Values decoded at a time, few enough to stay in cache.
const BATCH: usize = 1 << 14;
/// Rows of a piece, where a file is read in pieces: a few columns of them take some tens of megabytes.
const PIECE: usize = 1 << 20;

/// A Parquet file whose footer has been read.
pub(crate) struct Parquet {
    place: Place,
    metadata: Arc<ParquetMetaData>,
    header: Header,
    /// For each column of the header its place among the stored columns; none if it is nested.
    leaves: Vec<Option<usize>>,
}

/// Where the bytes are.
enum Place {
    Here(Input),
    Remote(Arc<Object>),
}

/// Some bytes of a file, at the place they have there.
pub(crate) struct Stretch {
    pub(crate) start: u64,
    pub(crate) bytes: Bytes,
}

impl Length for Stretch {
    fn len(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

impl ChunkReader for Stretch {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> std::result::Result<Self::T, ParquetError> {
        Ok(self.get_bytes(start, self.len().saturating_sub(start) as usize)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> std::result::Result<Bytes, ParquetError> {
        let from = start.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let stretch = from.and_then(|from| Some(from..from.checked_add(length)?));
        match stretch.filter(|stretch| stretch.end <= self.bytes.len()) {
            Some(stretch) => Ok(self.bytes.slice(stretch)),
            None => Err(ParquetError::EOF("a column that goes on beyond its end".to_owned())),
        }
    }
}

impl Parquet {
    pub(crate) fn open(input: Input) -> Result<Self> {
        let metadata = match &input.piped {
            Some(bytes) => {
                shielded(Format::Parquet, || ParquetMetaDataReader::new().parse_and_finish(bytes))?
            }
            None => {
                let file = open(&input.path)?;
                shielded(Format::Parquet, || ParquetMetaDataReader::new().parse_and_finish(&file))?
            }
        };
        Self::of(Place::Here(input), Arc::new(metadata))
    }

    /// In an object store.
    pub(crate) fn remote(object: Arc<Object>) -> Result<Self> {
        let metadata = object.metadata();
        Self::of(Place::Remote(object), metadata)
    }

    fn of(place: Place, metadata: Arc<ParquetMetaData>) -> Result<Self> {
        let schema = metadata.file_metadata().schema_descr();
        let header =
            Header(schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect());
        let mut leaves = vec![None; header.0.len()];
        for leaf in 0..schema.num_columns() {
            let column = schema.column(leaf);
            if column.path().parts().len() == 1 && column.max_rep_level() == 0 {
                leaves[schema.get_column_root_idx(leaf)] = Some(leaf);
            }
        }
        Ok(Self { place, metadata, header, leaves })
    }

    /// How many rows each row group has.
    fn group_rows(&self) -> Result<Vec<usize>> {
        let rows = |group: &RowGroupMetaData| {
            usize::try_from(group.num_rows()).map_err(|_| damaged("a negative row count"))
        };
        self.metadata.row_groups().iter().map(rows).collect()
    }

    /// Decodes one column of one row group, from what was fetched of it where it has to be fetched.
    fn run(&self, task: &mut Task<'_>, fetched: Option<Stretch>) -> Result<()> {
        let group = self.metadata.row_group(task.group);
        let chunk = group.column(task.leaf);
        let rows = task.output.len();
        if chunk.num_values() != rows as i64 {
            return Err(damaged("a column with another number of values than the row group has rows"));
        }
        let foreign = match chunk.compression() {
            Compression::BROTLI(_) => Some("Brotli compression"),
            Compression::LZO => Some("LZO compression"),
            _ => None,
        };
        if let Some(found) = foreign {
            return Err(Error::new(Kind::Format, found, "Snappy, Zstandard, LZ4, gzip or no compression"));
        }
        let fetched = match (&self.place, fetched) {
            // Each task has its own file handle: clones of one handle share their position.
            (Place::Here(Input { piped: None, path, .. }), _) => Fetched::File(open(path)?),
            (Place::Here(Input { piped: Some(bytes), .. }), _) => {
                Fetched::Bytes(Stretch { start: 0, bytes: bytes.clone() })
            }
            (Place::Remote(_), Some(stretch)) => Fetched::Bytes(stretch),
            (Place::Remote(_), None) => return Err(damaged("a column that was not fetched")),
        };
        shielded(Format::Parquet, || {
            let pages: Box<dyn PageReader> = match fetched {
                Fetched::File(file) => {
                    Box::new(SerializedPageReader::new(Arc::new(file), chunk, rows, None)?)
                }
                Fetched::Bytes(bytes) => {
                    Box::new(SerializedPageReader::new(Arc::new(bytes), chunk, rows, None)?)
                }
            };
            let column = group.schema_descr().column(task.leaf);
            let meaning = Meaning::of(&column);
            fill(get_column_reader(column, pages), meaning, task)
        })
    }
}

impl Source for Parquet {
    fn format(&self) -> String {
        match &self.place {
            Place::Here(input) => input.said(""),
            Place::Remote(_) => "format: Parquet, in an object store".to_owned(),
        }
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], _: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        self.read_groups(0..self.metadata.num_row_groups(), wants)
    }

    fn pieces(&self) -> Result<Vec<usize>> {
        Ok(self.runs()?.into_iter().map(|(_, rows)| rows).collect())
    }

    fn read_piece(&self, piece: usize, wants: &[Want]) -> Result<Vec<Column>> {
        match self.runs()?.get(piece) {
            Some((groups, _)) => self.read_groups(groups.clone(), wants),
            None => Err(damaged("fewer row groups than before")),
        }
    }
}

impl Parquet {
    /// Runs of row groups that are read at a time, and how many rows each has.
    fn runs(&self) -> Result<Vec<(Range<usize>, usize)>> {
        let mut runs: Vec<(Range<usize>, usize)> = vec![];
        for (group, rows) in self.group_rows()?.into_iter().enumerate() {
            match runs.last_mut() {
                Some((run, sum)) if sum.saturating_add(rows) <= PIECE => {
                    run.end = group + 1;
                    *sum += rows;
                }
                _ => runs.push((group..group + 1, rows)),
            }
        }
        Ok(runs)
    }

    /// The columns of some row groups, one after the other; rows are numbered from the start of the file.
    fn read_groups(&self, groups: Range<usize>, wants: &[Want]) -> Result<Vec<Column>> {
        let all = self.group_rows()?;
        let before = all[..groups.start].iter().try_fold(0_u64, |sum, &rows| sum.checked_add(rows as u64));
        let before = before.ok_or_else(|| damaged("more rows than can be counted"))?;
        let group_rows = &all[groups.clone()];
        let rows = group_rows.iter().try_fold(0_usize, |sum, &rows| sum.checked_add(rows));
        let bytes = |rows: usize| rows.checked_mul(wants.len() * size_of::<f64>());
        let rows = rows.filter(|&rows| bytes(rows).is_some_and(fits_in_memory));
        let rows = rows.ok_or_else(|| damaged("more rows than memory can hold"))?;
        let leaf = |want: &Want| {
            let nested = || {
                let expected =
                    format!("{}; a list is written as a column for each class", want.part.expected());
                Error::new(Kind::Column, "a nested column", expected).column(&want.name)
            };
            self.leaves[want.position].ok_or_else(nested)
        };
        let leaves: Vec<usize> = wants.iter().map(leaf).collect::<Result<_>>()?;

        let mut storage: Vec<Storage> = wants.iter().map(|want| Storage::new(want.part, rows)).collect();
        let mut tasks = Vec::with_capacity(group_rows.len() * wants.len());
        for ((want, storage), &leaf) in wants.iter().zip(&mut storage).zip(&leaves) {
            let own = storage.tasks(want.part, leaf, group_rows).into_iter();
            tasks.extend(own.map(|task| Task {
                group: task.group + groups.start,
                first_row: task.first_row + before,
                ..task
            }));
        }
        let fetched = self.fetched(&tasks)?;
        let results: Vec<Result<()>> =
            tasks.par_iter_mut().zip(fetched).map(|(task, fetched)| self.run(task, fetched)).collect();
        for (n, result) in results.into_iter().enumerate() {
            result.map_err(|error| error.column(&wants[n / group_rows.len()].name))?;
        }
        let mut noticed: Vec<Noticed> = tasks.into_iter().map(|task| task.output.noticed()).collect();
        let columns = wants.iter().zip(storage);
        Ok(columns
            .map(|(want, storage)| {
                storage.into_column(want.part, noticed.drain(..group_rows.len()), group_rows)
            })
            .collect())
    }
}

impl Parquet {
    /// The stored columns of tasks, all asked for together, where they are elsewhere.
    fn fetched(&self, tasks: &[Task<'_>]) -> Result<Vec<Option<Stretch>>> {
        let Place::Remote(object) = &self.place else { return Ok(tasks.iter().map(|_| None).collect()) };
        let range = |task: &Task<'_>| {
            let (start, length) = self.metadata.row_group(task.group).column(task.leaf).byte_range();
            start..start.saturating_add(length)
        };
        let ranges = shielded(Format::Parquet, || Ok::<_, ParquetError>(tasks.iter().map(range).collect()))?;
        Ok(object.stretches(ranges)?.into_iter().map(Some).collect())
    }
}

/// The bytes of a column.
enum Fetched {
    File(std::fs::File),
    Bytes(Stretch),
}

/// A column under construction.
enum Storage {
    Numbers(Vec<f64>),
    Labels(Vec<u16>),
}

impl Storage {
    fn new(part: Part, rows: usize) -> Self {
        if part.is_number() { Self::Numbers(vec![0.0; rows]) } else { Self::Labels(vec![0; rows]) }
    }

    /// One task for each row group, each with its stretch of the column.
    fn tasks<'a>(&'a mut self, part: Part, leaf: usize, group_rows: &[usize]) -> Vec<Task<'a>> {
        let outputs: Vec<Output<'a>> = match self {
            Self::Numbers(values) => {
                let stretch = |values| Output::Numbers { values, check: NumberCheck::new(part) };
                stretches(values, group_rows).map(stretch).collect()
            }
            Self::Labels(codes) => {
                let stretch = |codes| Output::Labels { codes, coder: Box::new(LabelCoder::new(part)) };
                stretches(codes, group_rows).map(stretch).collect()
            }
        };
        let mut first_row = 0;
        let mut tasks = Vec::with_capacity(outputs.len());
        for (group, output) in outputs.into_iter().enumerate() {
            tasks.push(Task { group, leaf, first_row, output });
            first_row += group_rows[group] as u64;
        }
        tasks
    }

    /// The finished column: what was noticed in the row groups is folded in their order.
    fn into_column(self, part: Part, noticed: impl Iterator<Item = Noticed>, group_rows: &[usize]) -> Column {
        match self {
            Self::Numbers(values) => {
                let mut check = NumberCheck::new(part);
                noticed.for_each(|noticed| {
                    if let Noticed::Numbers(later) = noticed {
                        check.absorb(later)
                    }
                });
                Column::Numbers { values, check }
            }
            Self::Labels(mut codes) => {
                let mut coder = LabelCoder::new(part);
                for (stretch, noticed) in stretches(&mut codes, group_rows).zip(noticed) {
                    let Noticed::Labels(later) = noticed else { continue };
                    let renamed = coder.absorb(*later);
                    for code in stretch.iter_mut().filter(|code| **code != LabelCoder::NONE) {
                        *code = renamed[usize::from(*code)];
                    }
                }
                Column::Labels { codes, coder: Box::new(coder) }
            }
        }
    }
}

/// The stretch of a column that belongs to each row group.
fn stretches<'a, T>(mut rest: &'a mut [T], group_rows: &[usize]) -> impl Iterator<Item = &'a mut [T]> {
    group_rows.iter().map(move |&rows| {
        let (stretch, after) = std::mem::take(&mut rest).split_at_mut(rows);
        rest = after;
        stretch
    })
}

/// One column of one row group to decode.
struct Task<'a> {
    group: usize,
    leaf: usize,
    first_row: u64,
    output: Output<'a>,
}

enum Output<'a> {
    Numbers { values: &'a mut [f64], check: NumberCheck },
    Labels { codes: &'a mut [u16], coder: Box<LabelCoder> },
}

enum Noticed {
    Numbers(NumberCheck),
    Labels(Box<LabelCoder>),
}

impl Output<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len(),
            Self::Labels { codes, .. } => codes.len(),
        }
    }

    fn noticed(self) -> Noticed {
        match self {
            Self::Numbers { check, .. } => Noticed::Numbers(check),
            Self::Labels { coder, .. } => Noticed::Labels(coder),
        }
    }
}

/// What the stored numbers of a column mean.
#[derive(Clone, Copy)]
enum Meaning {
    Plain,
    Unsigned,
    /// A whole number to be divided by this power of ten.
    Decimal(f64),
    Half,
    Time,
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Self {
        use ConvertedType as Converted;
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Decimal(_)), _) | (None, Converted::DECIMAL) => {
                Self::Decimal(10_f64.powi(column.type_scale()))
            }
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Self::Unsigned,
            (None, Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32 | Converted::UINT_64) => {
                Self::Unsigned
            }
            (Some(LogicalType::Float16), _) => Self::Half,
            (Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)), _) => Self::Time,
            (None, Converted::DATE | Converted::TIME_MILLIS | Converted::TIME_MICROS) => Self::Time,
            (None, Converted::TIMESTAMP_MILLIS | Converted::TIMESTAMP_MICROS) => Self::Time,
            _ => Self::Plain,
        }
    }
}

type Decoded = std::result::Result<(), ParquetError>;

/// Decodes a column chunk into the output of its task.
fn fill(reader: ColumnReader, meaning: Meaning, task: &mut Task<'_>) -> Decoded {
    use ColumnReader as Stored;
    use Meaning::{Decimal, Half, Plain, Time, Unsigned};
    const TIME: Cell<'static> = Cell::Other("a date or time");
    match (reader, meaning) {
        (Stored::BoolColumnReader(reader), _) => drain(reader, task, |&v| Cell::Boolean(v)),
        (Stored::Int32ColumnReader(reader), Plain | Half) => {
            drain(reader, task, |&v| Cell::Integer(v.into()))
        }
        (Stored::Int32ColumnReader(reader), Unsigned) => {
            drain(reader, task, |&v| Cell::Integer(v.cast_unsigned().into()))
        }
        (Stored::Int32ColumnReader(reader), Decimal(by)) => {
            drain(reader, task, move |&v| Cell::Float(f64::from(v) / by))
        }
        (Stored::Int32ColumnReader(reader), Time) => drain(reader, task, |_| TIME),
        (Stored::Int64ColumnReader(reader), Plain | Half) => drain(reader, task, |&v| Cell::Integer(v)),
        (Stored::Int64ColumnReader(reader), Unsigned) => {
            drain(
                reader,
                task,
                |&v| if v < 0 { Cell::Float(v.cast_unsigned() as f64) } else { Cell::Integer(v) },
            )
        }
        (Stored::Int64ColumnReader(reader), Decimal(by)) => {
            drain(reader, task, move |&v| Cell::Float(v as f64 / by))
        }
        (Stored::Int64ColumnReader(reader), Time) => drain(reader, task, |_| TIME),
        (Stored::Int96ColumnReader(reader), _) => drain(reader, task, |_| TIME),
        (Stored::FloatColumnReader(reader), _) => drain(reader, task, |&v| Cell::Float(v.into())),
        (Stored::DoubleColumnReader(reader), _) => drain(reader, task, |&v| Cell::Float(v)),
        (Stored::ByteArrayColumnReader(reader), Decimal(by)) => drain(reader, task, move |v| {
            big_endian(v.data()).map_or(Cell::Text(v.data()), |v| Cell::Float(v as f64 / by))
        }),
        (Stored::ByteArrayColumnReader(reader), _) => drain(reader, task, |v| Cell::Text(v.data())),
        (Stored::FixedLenByteArrayColumnReader(reader), Decimal(by)) => {
            drain(reader, task, move |v: &FixedLenByteArray| {
                big_endian(v.data()).map_or(Cell::Text(v.data()), |v| Cell::Float(v as f64 / by))
            })
        }
        (Stored::FixedLenByteArrayColumnReader(reader), Half) => {
            drain(reader, task, |v: &FixedLenByteArray| match *v.data() {
                [low, high] => Cell::Float(half(u16::from_le_bytes([low, high]))),
                _ => Cell::Other("bytes"),
            })
        }
        (Stored::FixedLenByteArrayColumnReader(reader), _) => {
            drain(reader, task, |v: &FixedLenByteArray| Cell::Text(v.data()))
        }
    }
}

/// Hands every value of a column chunk, or its absence, to the output.
fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    task: &mut Task<'_>,
    cell: impl for<'v> Fn(&'v T::T) -> Cell<'v>,
) -> Decoded {
    let first = task.first_row;
    match &mut task.output {
        Output::Numbers { values, check } => each(&mut reader, values, |row, value| {
            check.value(first + row, value.map_or(Cell::Missing, &cell))
        }),
        Output::Labels { codes, coder } => {
            each(&mut reader, codes, |row, value| coder.code(first + row, value.map_or(Cell::Missing, &cell)))
        }
    }
}

fn each<T: DataType, O>(
    reader: &mut ColumnReaderImpl<T>,
    output: &mut [O],
    mut make: impl FnMut(u64, Option<&T::T>) -> O,
) -> Decoded {
    let (mut values, mut present, mut done) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH), 0);
    while done < output.len() {
        values.clear();
        present.clear();
        let most = BATCH.min(output.len() - done);
        let (rows, _, _) = reader.read_records(most, Some(&mut present), None, &mut values)?;
        if rows == 0 {
            return Err(ParquetError::EOF(format!("{done} values instead of {}", output.len())));
        }
        let end = done + rows;
        let Some(stretch) = output.get_mut(done..end) else {
            return Err(ParquetError::General("more values than were asked for".to_owned()));
        };
        let stretch = stretch.iter_mut().zip(done as u64..);
        if values.len() == rows {
            stretch.zip(&values).for_each(|((out, row), value)| *out = make(row, Some(value)));
        } else {
            let mut values = values.iter();
            for ((out, row), &level) in stretch.zip(&present) {
                *out = make(row, if level > 0 { values.next() } else { None });
            }
        }
        done += rows;
    }
    Ok(())
}

/// A number of up to 16 bytes, the most significant first, in two's complement.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = *bytes.first()? >= 0x80;
    let start = if negative { -1 } else { 0 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(start, |number, &byte| (number << 8) | i128::from(byte)))
}

/// A number in half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    sign * match exponent {
        0 => fraction * 2_f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    }
}

fn damaged(what: &str) -> Error {
    Format::Parquet.damaged(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        assert_eq!(half(0x3800), 0.5);
        assert_eq!(half(0x3555), 0.333251953125);
        assert_eq!(half(0xbc00), -1.0);
        assert_eq!(half(0x0001), 2_f64.powi(-24));
        assert_eq!(half(0x7c00), f64::INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn stored_decimals_keep_their_sign() {
        assert_eq!(big_endian(&[0x01, 0x00]), Some(256));
        assert_eq!(big_endian(&[0xff, 0xfe]), Some(-2));
        assert_eq!(big_endian(&[]), None);
        assert_eq!(big_endian(&[0; 17]), None);
    }
}
