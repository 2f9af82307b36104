//! Confusion counts from columns of labels: one parallel pass, nothing copied.

use crate::error::value_error;
use crate::labels::{CHUNK, Column, Label, Places, Slice, with_slice};
use numpy::{PyArray1, PyArray3, PyArrayMethods as _, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Counts, or sums of weights, by group, true class and estimated class.
///
/// `labels` are the classes in order. `groups` holds a place from 0 to `group_count` - 1 per row.
#[pyfunction]
#[pyo3(signature = (truth, estimate, labels, weights=None, groups=None, group_count=1))]
pub fn confusion_counts<'py>(
    py: Python<'py>,
    truth: Column<'py>,
    estimate: Column<'py>,
    labels: Vec<i64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    groups: Option<PyReadonlyArray1<'py, u16>>,
    group_count: usize,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let places = Places::new(&labels).ok_or_else(|| {
        value_error("labels are too far apart; expected integers within 65536 of each other")
    })?;
    let table = Table {
        truth: truth.slices()?,
        estimate: estimate.slices()?,
        weights: weights.as_ref().map(|w| w.as_slice()).transpose()?,
        groups: groups.as_ref().map(|g| g.as_slice()).transpose()?,
    };
    table.check(group_count).map_err(value_error)?;
    let k = labels.len();
    let counts = py.detach(|| table.counts(&places, k, group_count)).map_err(value_error)?;
    PyArray1::from_vec(py, counts).reshape([group_count, k, k])
}

/// The columns, each in as many pieces as it came in.
struct Table<'a> {
    truth: Vec<Slice<'a>>,
    estimate: Vec<Slice<'a>>,
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u16]>,
}

/// Rows that lie in one piece of either column.
struct Part {
    /// The first of them, in the whole table.
    row: usize,
    count: usize,
    /// The piece, and the place in it.
    truth: (usize, usize),
    estimate: (usize, usize),
}

fn length(pieces: &[Slice<'_>]) -> usize {
    pieces.iter().map(Slice::len).sum()
}

impl Table<'_> {
    fn check(&self, group_count: usize) -> Result<(), String> {
        let rows = length(&self.truth);
        let lengths = [
            ("y_pred", Some(length(&self.estimate))),
            ("sample_weight", self.weights.map(<[f64]>::len)),
            ("sensitive_features", self.groups.map(<[u16]>::len)),
        ];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| *length != rows) {
                return Err(format!("{name} has {length} rows, expected {rows} as in y_true"));
            }
        }
        match self.groups.and_then(|groups| groups.iter().position(|g| *g as usize >= group_count)) {
            Some(row) => Err(format!("row {row} is in no group")),
            None => Ok(()),
        }
    }

    /// The rows in order, at most `CHUNK` at a time: nothing is joined where the columns are cut differently.
    fn parts(&self) -> Vec<Part> {
        let (mut truth, mut estimate, mut row, mut parts) = ((0, 0), (0, 0), 0, Vec::new());
        while truth.0 < self.truth.len() && estimate.0 < self.estimate.len() {
            let left =
                [self.truth[truth.0].len() - truth.1, self.estimate[estimate.0].len() - estimate.1, CHUNK];
            let count = left.into_iter().min().unwrap_or(0);
            if count > 0 {
                parts.push(Part { row, count, truth, estimate });
            }
            row += count;
            truth = if left[0] == count { (truth.0 + 1, 0) } else { (truth.0, truth.1 + count) };
            estimate = if left[1] == count { (estimate.0 + 1, 0) } else { (estimate.0, estimate.1 + count) };
        }
        parts
    }

    /// The parts are summed in their order, so the same rows always give the same bits.
    fn counts(&self, places: &Places, k: usize, groups: usize) -> Result<Vec<f64>, String> {
        let counted: Vec<Result<Vec<f64>, String>> =
            self.parts().into_par_iter().map(|part| self.part(&part, places, k, groups)).collect();
        let mut sums = vec![0.0; groups * k * k];
        for part in counted {
            sums.iter_mut().zip(part?).for_each(|(sum, count)| *sum += count);
        }
        Ok(sums)
    }

    fn part(&self, part: &Part, places: &Places, k: usize, groups: usize) -> Result<Vec<f64>, String> {
        let (truth, estimate) = (self.truth[part.truth.0], self.estimate[part.estimate.0]);
        with_slice!(truth, truth => with_slice!(estimate, estimate => {
            let rows = Rows {
                first: part.row,
                truth: &truth[part.truth.1..][..part.count],
                estimate: &estimate[part.estimate.1..][..part.count],
                weights: self.weights.map(|weights| &weights[part.row..][..part.count]),
                groups: self.groups.map(|groups| &groups[part.row..][..part.count]),
            };
            rows.counts(places, k, groups)
        }))
    }
}

struct Rows<'a, T, E> {
    first: usize,
    truth: &'a [T],
    estimate: &'a [E],
    weights: Option<&'a [f64]>,
    groups: Option<&'a [u16]>,
}

impl<T: Label, E: Label> Rows<'_, T, E> {
    /// One more row and column than there are classes take what is not among the labels.
    fn counts(&self, places: &Places, k: usize, groups: usize) -> Result<Vec<f64>, String> {
        let (wide, truth, estimate) = (k + 1, self.truth, self.estimate);
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
                    let group = codes.map_or(0, |codes| usize::from(codes[n]));
                    sums[group * size + cell] += weights.map_or(1.0, |weights| weights[n]);
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
            let row = self.first + row;
            return Err(format!("{name} has the label {label} in row {row}, which is not among the labels"));
        }
        let kept = |(n, _): &(usize, f64)| n % wide != k && n / wide % wide != k;
        Ok(counted.into_iter().enumerate().filter(kept).map(|(_, count)| count).collect())
    }
}
