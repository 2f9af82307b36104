//! Parquet through the column writer of the `parquet` crate, without Arrow.

use super::{Cell, Column, Kind, Table};
use crate::error::{Error, Result};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Rows written at a time: a row group.
const GROUP: usize = 1 << 16;

pub(super) fn write(table: &Table) -> Result<Vec<u8>> {
    file(table).map_err(|e| Error::storage(format!("cannot write Parquet: {e}")))
}

fn file(table: &Table) -> Result<Vec<u8>, ParquetError> {
    let fields = table.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(table.name).with_fields(fields).build()?);
    // The name of the program that wrote it is fixed, so that the same log gives the same bytes.
    let properties = WriterProperties::builder()
        .set_created_by("equipoise".to_owned())
        .set_compression(Compression::ZSTD(Default::default()))
        .build();
    let mut bytes = vec![];
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    for rows in table.rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        for (place, column) in table.columns.iter().enumerate() {
            let Some(mut writer) = group.next_column()? else { break };
            write_column(&mut writer, column.kind, rows.iter().map(|row| &row[place]))?;
            writer.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let plain = |physical: Physical, logical: Option<LogicalType>| {
        Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    match column.kind {
        Kind::Whole => plain(Physical::INT64, None),
        Kind::Real => plain(Physical::DOUBLE, None),
        Kind::Text => plain(Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Time => {
            let unit = TimeUnit::MILLIS;
            plain(Physical::INT64, Some(LogicalType::timestamp(true, unit)))
        }
        Kind::Counts => {
            let element = Type::primitive_type_builder("element", Physical::INT64)
                .with_repetition(Repetition::REQUIRED);
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(element.build()?)]);
            let whole = Type::group_type_builder(column.name)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list.build()?)]);
            whole.build().map(Arc::new)
        }
    }
}

/// Values, and for each row whether it has one; lists also where a new row begins.
fn write_column<'a>(
    writer: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<(), ParquetError> {
    let (mut there, mut begins) = (vec![], vec![]);
    let (mut whole, mut real, mut texts) = (vec![], vec![], vec![]);
    for cell in cells {
        if let Cell::Counts(counts) = cell {
            there.extend(std::iter::repeat_n(1, counts.len()));
            begins.extend((0..counts.len()).map(|n| i16::from(n > 0)));
            whole.extend(counts.iter().map(|count| *count as i64));
            if counts.is_empty() {
                there.push(0);
                begins.push(0);
            }
            continue;
        }
        there.push(i16::from(*cell != Cell::Nothing));
        match cell {
            Cell::Whole(number) => whole.push(*number as i64),
            Cell::Time(time) => whole.push(*time),
            Cell::Real(number) => real.push(*number),
            Cell::Text(text) => texts.push(ByteArray::from(text.as_str())),
            Cell::Nothing | Cell::Counts(_) => {}
        }
    }
    match kind {
        Kind::Whole | Kind::Time => writer.typed::<Int64Type>().write_batch(&whole, Some(&there), None)?,
        Kind::Real => writer.typed::<DoubleType>().write_batch(&real, Some(&there), None)?,
        Kind::Text => writer.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None)?,
        Kind::Counts => writer.typed::<Int64Type>().write_batch(&whole, Some(&there), Some(&begins))?,
    };
    Ok(())
}
