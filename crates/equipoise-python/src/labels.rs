//! Columns of labels: arrays of any integer type, read where they lie.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

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
/// What the table says of a label that is not there.
pub const ABSENT: u16 = u16::MAX;

/// From a label to its place in a list of labels.
pub struct Places {
    lowest: i64,
    table: Vec<u16>,
}

impl Places {
    /// `None` if the labels are too far apart for a table, or too many.
    pub fn new(labels: &[i64]) -> Option<Self> {
        let (lowest, highest) = (*labels.iter().min()?, *labels.iter().max()?);
        let width = highest.checked_sub(lowest)?;
        if width >= WIDEST || labels.len() >= ABSENT as usize {
            return None;
        }
        let mut table = vec![ABSENT; width as usize + 1];
        for (place, label) in labels.iter().enumerate() {
            table[(label - lowest) as usize] = place as u16;
        }
        Some(Self { lowest, table })
    }

    /// The place of a label, or [`ABSENT`].
    #[inline]
    pub fn of(&self, label: i64) -> u16 {
        // A label below the lowest wraps around to beyond the highest.
        let offset = label.wrapping_sub(self.lowest) as u64;
        self.table.get(offset as usize).copied().unwrap_or(ABSENT)
    }
}

/// The labels that occur, sorted; `None` if they are too far apart to be found in one pass.
#[pyfunction]
pub fn distinct(py: Python<'_>, labels: Labels<'_>) -> PyResult<Option<Vec<i64>>> {
    with_slice!(&labels, slice => Ok(py.detach(|| distinct_in(slice))))
}

fn distinct_in<T: Label>(slice: &[T]) -> Option<Vec<i64>> {
    use rayon::prelude::*;
    let range = slice
        .par_chunks(1 << 16)
        .map(|chunk| {
            chunk.iter().fold((i64::MAX, i64::MIN), |(low, high), label| {
                (low.min(label.wide()), high.max(label.wide()))
            })
        })
        .reduce(|| (i64::MAX, i64::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (low, high) = range;
    if low > high {
        return Some(vec![]);
    }
    if high.checked_sub(low)? >= WIDEST {
        return None;
    }
    let width = (high - low) as usize + 1;
    let seen = slice
        .par_chunks(1 << 16)
        .fold(
            || vec![false; width],
            |mut seen, chunk| {
                for label in chunk {
                    seen[(label.wide() - low) as usize] = true;
                }
                seen
            },
        )
        .reduce(
            || vec![false; width],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
                a
            },
        );
    Some(seen.iter().zip(low..).filter(|(seen, _)| **seen).map(|(_, label)| label).collect())
}
