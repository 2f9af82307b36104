//! Columns of labels: arrays of any integer type, read where they lie.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows per task: small enough for the cache.
const CHUNK: usize = 1 << 16;

/// A contiguous NumPy array of integers or booleans, borrowed.
#[derive(FromPyObject)]
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
            $crate::labels::Labels::I64(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::I32(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::U8(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::Bool(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::I8(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::I16(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::U16(array) => {
                let $slice = array.as_slice()?;
                $body
            }
            $crate::labels::Labels::U32(array) => {
                let $slice = array.as_slice()?;
                $body
            }
        }
    };
}
pub(crate) use with_slice;

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
pub fn distinct(py: Python<'_>, labels: Labels<'_>) -> PyResult<Option<Vec<i64>>> {
    with_slice!(&labels, slice => Ok(py.detach(|| distinct_in(slice))))
}

fn distinct_in<T: Label>(slice: &[T]) -> Option<Vec<i64>> {
    let Some(first) = slice.first() else { return Some(vec![]) };
    // Most columns stay near their first label, and one pass does.
    if let Some(low) = first.wide().checked_sub(WIDEST / 2)
        && let Some(found) = seen_from(slice, low, WIDEST as usize)
    {
        return Some(found);
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
    let mut labels = parts?.concat();
    labels.sort_unstable();
    labels.dedup();
    Some(labels)
}
