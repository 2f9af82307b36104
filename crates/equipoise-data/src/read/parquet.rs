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

mod decode;

use super::Source;
use super::column::Column;
use super::columns::{Header, Want};
use super::format::{Format, Input, fits_in_memory, open, shielded};
use super::remote::Object;
use crate::error::{Error, Kind, Result};
use bytes::{Buf as _, Bytes};
use decode::{Meaning, Noticed, Storage, Task, fill};
use parquet::basic::Compression;
use parquet::column::page::PageReader;
use parquet::column::reader::get_column_reader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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

fn damaged(what: &str) -> Error {
    Format::Parquet.damaged(what)
}
