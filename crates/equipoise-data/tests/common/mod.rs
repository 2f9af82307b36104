//! Writers for the tests, so that binary files need not be kept.
#![allow(dead_code, missing_docs)]

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place for files a test makes.
pub fn scratch(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A column with gaps.
#[derive(Debug, Clone)]
pub enum Values {
    Float(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Int(Vec<Option<i32>>),
    Long(Vec<Option<i64>>),
    Boolean(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
    /// Days since 1970.
    Date(Vec<Option<i32>>),
    /// A whole number of thousandths.
    Decimal(Vec<Option<i32>>),
    /// A list of numbers in every row.
    List(Vec<Option<f64>>),
}

impl Values {
    pub fn doubles(values: &[f64]) -> Self {
        Self::Double(values.iter().copied().map(Some).collect())
    }

    pub fn ints(values: &[i32]) -> Self {
        Self::Int(values.iter().copied().map(Some).collect())
    }

    pub fn texts<S: ToString>(values: &[S]) -> Self {
        Self::Text(values.iter().map(|text| Some(text.to_string())).collect())
    }

    fn len(&self) -> usize {
        match self {
            Self::Float(v) => v.len(),
            Self::Double(v) | Self::List(v) => v.len(),
            Self::Int(v) | Self::Date(v) | Self::Decimal(v) => v.len(),
            Self::Long(v) => v.len(),
            Self::Boolean(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    fn declaration(&self, name: &str, repetition: &str) -> String {
        let (kind, logical) = match self {
            Self::Float(_) => ("float", ""),
            Self::Double(_) => ("double", ""),
            Self::Int(_) => ("int32", ""),
            Self::Long(_) => ("int64", ""),
            Self::Boolean(_) => ("boolean", ""),
            Self::Text(_) => ("binary", " (UTF8)"),
            Self::Date(_) => ("int32", " (DATE)"),
            Self::Decimal(_) => ("int32", " (DECIMAL(9,3))"),
            Self::List(_) => return format!("repeated double {name};"),
        };
        format!("{repetition} {kind} {name}{logical};")
    }
}

/// How a Parquet file is laid out.
pub struct Layout {
    pub rows_per_group: usize,
    pub required: bool,
    pub properties: WriterProperties,
}

impl Default for Layout {
    fn default() -> Self {
        Self { rows_per_group: 1000, required: false, properties: WriterProperties::default() }
    }
}

pub fn parquet(columns: &[(&str, Values)], layout: Layout) -> Vec<u8> {
    let repetition = if layout.required { "required" } else { "optional" };
    let fields: String = columns.iter().map(|(name, values)| values.declaration(name, repetition)).collect();
    let schema = Arc::new(parse_message_type(&format!("message table {{ {fields} }}")).unwrap());
    let properties: WriterPropertiesPtr = Arc::new(layout.properties);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let rows = columns[0].1.len();
    let mut start = 0;
    while start < rows {
        let end = rows.min(start + layout.rows_per_group);
        let mut group = writer.next_row_group().unwrap();
        for (_, values) in columns {
            write_chunk(&mut group, values, start..end, layout.required);
        }
        group.close().unwrap();
        start = end;
    }
    writer.into_inner().unwrap()
}

macro_rules! write_typed {
    ($column:ident, $kind:ty, $values:expr, $range:ident, $required:ident, $repeated:expr, $convert:expr) => {{
        let slice = &$values[$range];
        let levels: Vec<i16> = slice.iter().map(|value| value.is_some() as i16).collect();
        let present: Vec<_> = slice.iter().flatten().map($convert).collect();
        let repetition = vec![0; slice.len()];
        let levels = if $required && !$repeated { None } else { Some(&levels[..]) };
        let repetition = if $repeated { Some(&repetition[..]) } else { None };
        $column.typed::<$kind>().write_batch(&present, levels, repetition).unwrap();
    }};
}

fn write_chunk(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &Values,
    range: std::ops::Range<usize>,
    required: bool,
) {
    let mut column = group.next_column().unwrap().unwrap();
    match values {
        Values::Float(v) => write_typed!(column, FloatType, v, range, required, false, |&v| v),
        Values::Double(v) => write_typed!(column, DoubleType, v, range, required, false, |&v| v),
        Values::List(v) => write_typed!(column, DoubleType, v, range, required, true, |&v| v),
        Values::Int(v) | Values::Date(v) | Values::Decimal(v) => {
            write_typed!(column, Int32Type, v, range, required, false, |&v| v)
        }
        Values::Long(v) => write_typed!(column, Int64Type, v, range, required, false, |&v| v),
        Values::Boolean(v) => write_typed!(column, BoolType, v, range, required, false, |&v| v),
        Values::Text(v) => {
            write_typed!(column, ByteArrayType, v, range, required, false, |v: &String| ByteArray::from(
                v.as_str()
            ))
        }
    }
    column.close().unwrap();
}

#[cfg(feature = "arrow")]
pub mod arrow {
    use super::Values;
    use arrow_array::*;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use std::sync::Arc;

    fn array(values: &Values) -> ArrayRef {
        match values.clone() {
            Values::Float(v) => Arc::new(Float32Array::from(v)),
            Values::Double(v) => Arc::new(Float64Array::from(v)),
            Values::Int(v) => Arc::new(Int32Array::from(v)),
            Values::Long(v) => Arc::new(Int64Array::from(v)),
            Values::Boolean(v) => Arc::new(BooleanArray::from(v)),
            Values::Text(v) => Arc::new(StringArray::from(v)),
            Values::Date(v) => Arc::new(Date32Array::from(v)),
            Values::Decimal(v) => {
                let v: Vec<Option<i128>> = v.into_iter().map(|v| v.map(i128::from)).collect();
                Arc::new(Decimal128Array::from(v).with_precision_and_scale(9, 3).unwrap())
            }
            Values::List(v) => {
                let lists = v.into_iter().map(|v| Some(vec![v]));
                Arc::new(ListArray::from_iter_primitive::<types::Float64Type, _, _>(lists))
            }
        }
    }

    /// The columns as batches of at most so many rows.
    pub fn batches(columns: &[(&str, Values)], rows: usize) -> Vec<RecordBatch> {
        let whole = RecordBatch::try_from_iter_with_nullable(
            columns.iter().map(|(name, values)| (*name, array(values), true)),
        )
        .unwrap();
        let starts = (0..whole.num_rows()).step_by(rows);
        starts.map(|start| whole.slice(start, rows.min(whole.num_rows() - start))).collect()
    }

    pub fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let schema = batches[0].schema();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    }

    pub fn stream(batches: &[RecordBatch]) -> Vec<u8> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    }
}
