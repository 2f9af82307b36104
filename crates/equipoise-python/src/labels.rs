//! Columns of labels: arrays of any integer type, read where they lie, whole or in chunks.

use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows per task: small enough for the cache.
pub const CHUNK: usize = 1 << 16;

/// A contiguous NumPy array of integers or booleans, borrowed.
pub enum Labels<'py> {
    I64(PyReadonlyArray1<'py, i64>),
    I32(PyReadonlyArray1<'py, i32>),
    U8(PyReadonlyArray1<'py, u8>),
    Bool(PyReadonlyArray1<'py, bool>),
    I8(PyReadonlyArray1<'py, i8>),
    I16(PyReadonlyArray1<'py, i16>),
    U16(PyReadonlyArray1<'py, u16>),
    U32(PyReadonlyArray1<'py, u32>),
}

/// A column: one array, or the arrays that make it up one after another, as Arrow has them.
pub enum Column<'py> {
    Whole(Labels<'py>),
    Chunks(Vec<Labels<'py>>),
}

/// By trying one type after the other. Not derived: that puts every failure into words on the way, and whatever makes words
/// asks Python for signals, so that a Ctrl-C was lost there.
impl<'py> FromPyObject<'_, 'py> for Labels<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        macro_rules! first_of {
            ($($kind:ident: $number:ty),*) => { $(
                if let Ok(array) = object.cast::<PyArray1<$number>>() {
                    return Ok(Self::$kind(array.try_readonly()?));
                }
            )* };
        }
        first_of!(I64: i64, I32: i32, U8: u8, Bool: bool, I8: i8, I16: i16, U16: u16, U32: u32);
        Err(PyTypeError::new_err("expected an array of integers or booleans"))
    }
}

impl<'py> FromPyObject<'_, 'py> for Column<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(whole) => Ok(Self::Whole(whole)),
            Err(_) => object.extract().map(Self::Chunks),
        }
    }
}

/// The memory of an array, for threads that know nothing of Python.
#[derive(Clone, Copy)]
pub enum Slice<'a> {
    I64(&'a [i64]),
    I32(&'a [i32]),
    U8(&'a [u8]),
    Bool(&'a [bool]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    U32(&'a [u32]),
}

impl Labels<'_> {
    fn slice(&self) -> PyResult<Slice<'_>> {
        Ok(match self {
            Self::I64(array) => Slice::I64(array.as_slice()?),
            Self::I32(array) => Slice::I32(array.as_slice()?),
            Self::U8(array) => Slice::U8(array.as_slice()?),
            Self::Bool(array) => Slice::Bool(array.as_slice()?),
            Self::I8(array) => Slice::I8(array.as_slice()?),
            Self::I16(array) => Slice::I16(array.as_slice()?),
            Self::U16(array) => Slice::U16(array.as_slice()?),
            Self::U32(array) => Slice::U32(array.as_slice()?),
        })
    }
}

impl Column<'_> {
    /// The memory of its arrays, in order.
    pub fn slices(&self) -> PyResult<Vec<Slice<'_>>> {
        match self {
            Self::Whole(labels) => Ok(vec![labels.slice()?]),
            Self::Chunks(chunks) => chunks.iter().map(Labels::slice).collect(),
        }
    }
}

/// An integer type a label may have.
pub trait Label: Copy + Send + Sync {
    /// The label as a number wide enough for all of them.
    fn wide(self) -> i64;
}

macro_rules! label {
    ($($kind:ty),*) => { $(impl Label for $kind {
        #[inline]
        fn wide(self) -> i64 {
            self as i64
        }
    })* };
}

label!(i64, i32, u8, bool, i8, i16, u16, u32);

/// Runs the same expression on the slice inside, whichever its type.
macro_rules! with_slice {
    ($labels:expr, $slice:ident => $body:expr) => {
        match $labels {
            $crate::labels::Slice::I64($slice) => $body,
            $crate::labels::Slice::I32($slice) => $body,
            $crate::labels::Slice::U8($slice) => $body,
            $crate::labels::Slice::Bool($slice) => $body,
            $crate::labels::Slice::I8($slice) => $body,
            $crate::labels::Slice::I16($slice) => $body,
            $crate::labels::Slice::U16($slice) => $body,
            $crate::labels::Slice::U32($slice) => $body,
        }
    };
}
pub(crate) use with_slice;

impl Slice<'_> {
    /// How many labels there are.
    pub fn len(&self) -> usize {
        with_slice!(self, slice => slice.len())
    }
}

/// Labels farther apart than this are not looked up in a table.
const WIDEST: i64 = 1 << 16;

/// From a label to its place in a list of labels; a label that is not there has the place after the last.
pub struct Places {
    lowest: i64,
    table: Vec<u16>,
    absent: u16,
}

impl Places {
    /// `None` if the labels are too far apart for a table, or too many.
    pub fn new(labels: &[i64]) -> Option<Self> {
        let (lowest, highest) = (*labels.iter().min()?, *labels.iter().max()?);
        let width = highest.checked_sub(lowest)?;
        if width >= WIDEST || labels.len() >= usize::from(u16::MAX) {
            return None;
        }
        let absent = labels.len() as u16;
        let mut table = vec![absent; width as usize + 1];
        for (place, label) in labels.iter().enumerate() {
            table[(label - lowest) as usize] = place as u16;
        }
        Some(Self { lowest, table, absent })
    }

    /// The place of a label.
    #[inline]
    pub fn of(&self, label: i64) -> usize {
        // A label below the lowest wraps around to beyond the highest.
        let offset = label.wrapping_sub(self.lowest) as u64;
        usize::from(self.table.get(offset as usize).copied().unwrap_or(self.absent))
    }
}

/// The labels that occur, sorted; `None` if they are too far apart to be found in one pass.
#[pyfunction]
pub fn distinct(py: Python<'_>, labels: Column<'_>) -> PyResult<Option<Vec<i64>>> {
    let slices = labels.slices()?;
    Ok(py.detach(|| {
        let parts = slices.par_iter().map(|slice| with_slice!(slice, slice => distinct_in(slice)));
        parts.collect::<Option<Vec<_>>>().map(union)
    }))
}

/// Windows around the first label that are tried, narrow ones first: most columns are classes from 0 on.
const WINDOWS: [i64; 2] = [1 << 8, WIDEST];

fn distinct_in<T: Label>(slice: &[T]) -> Option<Vec<i64>> {
    let Some(first) = slice.first() else { return Some(vec![]) };
    for width in WINDOWS {
        if let Some(low) = first.wide().checked_sub(width / 2)
            && let Some(found) = seen_from(slice, low, width as usize)
        {
            return Some(found);
        }
    }
    let range = |chunk: &[T]| {
        chunk
            .iter()
            .fold((i64::MAX, i64::MIN), |(low, high), label| (low.min(label.wide()), high.max(label.wide())))
    };
    let (low, high) = slice
        .par_chunks(CHUNK)
        .map(range)
        .reduce(|| (i64::MAX, i64::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    if high.checked_sub(low)? >= WIDEST {
        return None;
    }
    seen_from(slice, low, (high - low) as usize + 1)
}

/// The labels that occur, if all are among the `width` from `low` on.
fn seen_from<T: Label>(slice: &[T], low: i64, width: usize) -> Option<Vec<i64>> {
    let parts: Option<Vec<Vec<i64>>> = slice
        .par_chunks(slice.len().div_ceil(4 * rayon::current_num_threads()).max(CHUNK))
        .map(|part| {
            let mut seen = vec![false; width];
            for label in part {
                let label = label.wide();
                *seen.get_mut(label.wrapping_sub(low) as u64 as usize)? = true;
            }
            Some(seen.iter().zip(low..).filter(|(seen, _)| **seen).map(|(_, label)| label).collect())
        })
        .collect();
    parts.map(union)
}

/// Everything that occurs in some list, once, sorted.
fn union(lists: Vec<Vec<i64>>) -> Vec<i64> {
    let mut all = lists.concat();
    all.sort_unstable();
    all.dedup();
    all
}
