//! Confusion counts from columns of labels: one parallel pass, nothing copied.

use crate::error::value_error;
use crate::labels::{Label, Labels, Places, with_slice};
use numpy::{PyArray1, PyArray3, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows per task: small enough for the cache, large enough that the counts are few.
const CHUNK: usize = 1 << 16;

/// Counts, or sums of weights, by group, true class and estimated class.
///
/// `labels` are the classes in order. `groups` holds a place from 0 to `group_count` - 1 per row.
#[pyfunction]
#[pyo3(signature = (truth, estimate, labels, weights=None, groups=None, group_count=1))]
pub fn confusion_counts<'py>(
    py: Python<'py>,
    truth: Labels<'py>,
    estimate: Labels<'py>,
    labels: Vec<i64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u16>>,
    group_count: usize,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let places = Places::new(&labels).ok_or_else(|| {
        value_error("labels are too far apart; expected integers within 65536 of each other")
    })?;
    let (weights, groups) = (
        weights.as_ref().map(|w| w.as_slice()).transpose()?,
        groups.as_ref().map(|g| g.as_slice()).transpose()?,
    );
    let k = labels.len();
    let counts = with_slice!(&truth, truth => with_slice!(&estimate, estimate => {
        let rows = Rows { truth, estimate, weights, groups };
        rows.check_lengths(group_count)?;
        py.detach(|| rows.counts(&places, k, group_count))
    }))
    .map_err(value_error)?;
    PyArray1::from_vec(py, counts).reshape([group_count, k, k])
}

struct Rows<'a, T, E> {
    truth: &'a [T],
    estimate: &'a [E],
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u16]>,
}

impl<T: Label, E: Label> Rows<'_, T, E> {
    fn check_lengths(&self, group_count: usize) -> PyResult<()> {
        let rows = self.truth.len();
        let lengths = [
            ("y_pred", Some(self.estimate.len())),
            ("sample_weight", self.weights.map(<[f64]>::len)),
            ("sensitive_features", self.groups.map(<[u16]>::len)),
        ];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| *length != rows) {
                return Err(value_error(format!("{name} has {length} rows, expected {rows} as in y_true")));
            }
        }
        match self.groups.and_then(|groups| groups.iter().position(|g| *g as usize >= group_count)) {
            Some(row) => Err(value_error(format!("row {row} is in no group"))),
            None => Ok(()),
        }
    }

    /// The chunks are summed in their order, so the same rows always give the same bits.
    fn counts(&self, places: &Places, k: usize, groups: usize) -> Result<Vec<f64>, String> {
        let parts: Vec<Result<Vec<f64>, String>> = (0..self.truth.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|n| self.chunk(n * CHUNK, places, k, groups))
            .collect();
        let mut sums = vec![0.0; groups * k * k];
        for part in parts {
            sums.iter_mut().zip(part?).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }

    /// One more row and column than there are classes take what is not among the labels.
    fn chunk(&self, start: usize, places: &Places, k: usize, groups: usize) -> Result<Vec<f64>, String> {
        let (end, wide) = ((start + CHUNK).min(self.truth.len()), k + 1);
        let (truth, estimate) = (&self.truth[start..end], &self.estimate[start..end]);
        let cells = truth.iter().zip(estimate).map(|(i, j)| places.of(i.wide()) * wide + places.of(j.wide()));
        let size = wide * wide;
        let counted: Vec<f64> = match (self.groups, self.weights) {
            (None, None) => {
                // Neighbouring rows often fall into the same cell, and counts of their own need not wait for it.
                let mut lanes = vec![[0_u32; 4]; size];
                cells.enumerate().for_each(|(row, cell)| lanes[cell][row % 4] += 1);
                lanes.iter().map(|lane| f64::from(lane.iter().sum::<u32>())).collect()
            }
            (codes, weights) => {
                let mut sums = vec![0.0; groups * size];
                for (n, cell) in cells.enumerate() {
                    let group = codes.map_or(0, |codes| usize::from(codes[start + n]));
                    sums[group * size + cell] += weights.map_or(1.0, |weights| weights[start + n]);
                }
                sums
            }
        };
        let is_absent =
            |row: &usize| places.of(truth[*row].wide()) == k || places.of(estimate[*row].wide()) == k;
        let strange = counted
            .iter()
            .enumerate()
            .any(|(n, &count)| (n % wide == k || n / wide % wide == k) && count != 0.0);
        if strange && let Some(row) = (0..truth.len()).find(is_absent) {
            let (name, label) = match places.of(truth[row].wide()) == k {
                true => ("y_true", truth[row].wide()),
                false => ("y_pred", estimate[row].wide()),
            };
            let row = start + row;
            return Err(format!("{name} has the label {label} in row {row}, which is not among the labels"));
        }
        let kept = |(n, _): &(usize, f64)| n % wide != k && n / wide % wide != k;
        Ok(counted.into_iter().enumerate().filter(kept).map(|(_, count)| count).collect())
    }
}
