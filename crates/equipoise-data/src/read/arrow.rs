//! Arrow: files, streams, and record batches handed over in memory.

use super::column::{Cell, Column};
use super::columns::{Columns, Header, Want};
use super::format::{Format, Input, shielded};
use super::{Source, arrow_lengths, table_from};
use crate::error::Result;
use crate::note::Reading;
use crate::table::Table;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use std::io::BufReader;

/// Makes a table of record batches in memory, as data frames hand them over.
///
/// Only the columns that are used are looked at. Messages have rows and columns but no file.
pub fn table_from_batches(batches: impl RecordBatchReader, columns: &Columns) -> Result<Reading<Table>> {
    let header = header(&batches.schema());
    table_from(&header, columns, |wants| {
        let positions: Vec<usize> = wants.iter().map(|want| want.position).collect();
        read(batches, wants, &positions)
    })
}

/// An Arrow file or stream whose schema has been read.
pub(crate) struct Arrow {
    input: Input,
    header: Header,
}

impl Arrow {
    pub(crate) fn open(input: Input) -> Result<Self> {
        let check = if is_file(&input) { arrow_lengths::check_file } else { arrow_lengths::check_stream };
        shielded(Format::Arrow, || Ok::<_, ArrowError>(input.stored().and_then(check)))??;
        let header = header(&batches(&input, None)?.schema());
        Ok(Self { input, header })
    }
}

impl Source for Arrow {
    fn format(&self) -> String {
        self.input.said(if is_file(&self.input) { "" } else { " stream" })
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], _: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        let mut projection: Vec<usize> = wants.iter().map(|want| want.position).collect();
        projection.sort_unstable();
        let place = |want: &Want| projection.partition_point(|&position| position < want.position);
        let positions: Vec<usize> = wants.iter().map(place).collect();
        read(batches(&self.input, Some(projection))?, wants, &positions)
    }
}

fn is_file(input: &Input) -> bool {
    input.head.starts_with(b"ARROW1")
}

fn header(schema: &Schema) -> Header {
    Header(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// The batches of a file or stream, with these columns only.
fn batches(input: &Input, projection: Option<Vec<usize>>) -> Result<Box<dyn RecordBatchReader>> {
    let file = BufReader::with_capacity(1 << 18, input.stored()?);
    shielded(Format::Arrow, || {
        Ok::<_, ArrowError>(if is_file(input) {
            Box::new(FileReader::try_new(file, projection)?) as Box<dyn RecordBatchReader>
        } else {
            Box::new(StreamReader::try_new(file, projection)?)
        })
    })
}

/// Reads the wanted columns, which stand at these positions of the batches.
fn read(mut batches: impl RecordBatchReader, wants: &[Want], positions: &[usize]) -> Result<Vec<Column>> {
    let mut columns: Vec<Column> = wants.iter().map(|want| Column::new(want.part)).collect();
    let mut row = 0;
    while let Some(batch) = shielded(Format::Arrow, || batches.next().transpose())? {
        shielded(Format::Arrow, || append(&batch, positions, row, &mut columns))?;
        row += batch.num_rows() as u64;
    }
    Ok(columns)
}

fn append(
    batch: &RecordBatch,
    positions: &[usize],
    row: u64,
    columns: &mut [Column],
) -> std::result::Result<(), ArrowError> {
    for (column, &position) in columns.iter_mut().zip(positions) {
        append_array(batch.column(position), row, column);
    }
    Ok(())
}

/// Appends an array to a column; the usual types in a loop of their own.
fn append_array(array: &dyn Array, row: u64, column: &mut Column) {
    match array.data_type() {
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            each(array, row, column, |n| Cell::Float(values.value(n)));
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            each(array, row, column, |n| Cell::Float(values.value(n).into()));
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>();
            each(array, row, column, |n| Cell::Integer(values.value(n)));
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            each(array, row, column, |n| Cell::Text(values.value(n).as_bytes()));
        }
        _ => each(array, row, column, |n| cell(array, n)),
    }
}

#[inline]
fn each<'a>(array: &dyn Array, first: u64, column: &mut Column, value: impl Fn(usize) -> Cell<'a>) {
    for n in 0..array.len() {
        let cell = if array.is_null(n) { Cell::Missing } else { value(n) };
        column.push(first + n as u64, cell);
    }
}

/// One value of an array of any type.
fn cell(array: &dyn Array, n: usize) -> Cell<'_> {
    if array.is_null(n) {
        return Cell::Missing;
    }
    match array.data_type() {
        DataType::Null => Cell::Missing,
        DataType::Boolean => Cell::Boolean(array.as_boolean().value(n)),
        DataType::Int8 => Cell::Integer(array.as_primitive::<Int8Type>().value(n).into()),
        DataType::Int16 => Cell::Integer(array.as_primitive::<Int16Type>().value(n).into()),
        DataType::Int32 => Cell::Integer(array.as_primitive::<Int32Type>().value(n).into()),
        DataType::Int64 => Cell::Integer(array.as_primitive::<Int64Type>().value(n)),
        DataType::UInt8 => Cell::Integer(array.as_primitive::<UInt8Type>().value(n).into()),
        DataType::UInt16 => Cell::Integer(array.as_primitive::<UInt16Type>().value(n).into()),
        DataType::UInt32 => Cell::Integer(array.as_primitive::<UInt32Type>().value(n).into()),
        DataType::UInt64 => unsigned(array.as_primitive::<UInt64Type>().value(n)),
        DataType::Float16 => Cell::Float(array.as_primitive::<Float16Type>().value(n).to_f64()),
        DataType::Float32 => Cell::Float(array.as_primitive::<Float32Type>().value(n).into()),
        DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(n)),
        DataType::Decimal128(_, scale) => {
            let whole = array.as_primitive::<Decimal128Type>().value(n);
            Cell::Float(whole as f64 / 10_f64.powi(i32::from(*scale)))
        }
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(n).as_bytes()),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(n).as_bytes()),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(n).as_bytes()),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            match cell(dictionary.keys(), n) {
                Cell::Integer(key) => cell(dictionary.values(), key as usize),
                other => other,
            }
        }
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, _) => Cell::Other("a date or time"),
        _ => Cell::Other("a nested or unknown value"),
    }
}

fn unsigned(value: u64) -> Cell<'static> {
    i64::try_from(value).map_or(Cell::Float(value as f64), Cell::Integer)
}
