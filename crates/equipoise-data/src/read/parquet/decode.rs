//! Stored values decoded into their stretch of a column.

use super::super::column::{Cell, Column, LabelCoder, NumberCheck, Part};
use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

/// Values decoded at a time, few enough to stay in cache.
const BATCH: usize = 1 << 14;

/// A column under construction.
pub(super) enum Storage {
    Numbers(Vec<f64>),
    Labels(Vec<u16>),
}

impl Storage {
    pub(super) fn new(part: Part, rows: usize) -> Self {
        if part.is_number() { Self::Numbers(vec![0.0; rows]) } else { Self::Labels(vec![0; rows]) }
    }

    /// One task for each row group, each with its stretch of the column.
    pub(super) fn tasks<'a>(&'a mut self, part: Part, leaf: usize, group_rows: &[usize]) -> Vec<Task<'a>> {
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
    pub(super) fn into_column(
        self,
        part: Part,
        noticed: impl Iterator<Item = Noticed>,
        group_rows: &[usize],
    ) -> Column {
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
pub(super) struct Task<'a> {
    pub(super) group: usize,
    pub(super) leaf: usize,
    pub(super) first_row: u64,
    pub(super) output: Output<'a>,
}

pub(super) enum Output<'a> {
    Numbers { values: &'a mut [f64], check: NumberCheck },
    Labels { codes: &'a mut [u16], coder: Box<LabelCoder> },
}

pub(super) enum Noticed {
    Numbers(NumberCheck),
    Labels(Box<LabelCoder>),
}

impl Output<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len(),
            Self::Labels { codes, .. } => codes.len(),
        }
    }

    pub(super) fn noticed(self) -> Noticed {
        match self {
            Self::Numbers { check, .. } => Noticed::Numbers(check),
            Self::Labels { coder, .. } => Noticed::Labels(coder),
        }
    }
}

/// What the stored numbers of a column mean.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Plain,
    Unsigned,
    /// A whole number to be divided by this power of ten.
    Decimal(f64),
    Half,
    Time,
}

impl Meaning {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
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

pub(super) type Decoded = std::result::Result<(), ParquetError>;

/// Decodes a column chunk into the output of its task.
pub(super) fn fill(reader: ColumnReader, meaning: Meaning, task: &mut Task<'_>) -> Decoded {
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
