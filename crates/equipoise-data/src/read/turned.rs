//! Whether probabilities are those of the other class.
#![allow(clippy::indexing_slicing, reason = "rows of one table: its columns are of one length")]

use crate::table::Table;

/// Rows that are enough to tell.
const ENOUGH: usize = 100_000;
/// How many standard errors below one half are no accident.
const SURE: f64 = 3.0;

/// The area under the ROC curve of a table of two classes, if it is so far below one half that scores and classes do not fit.
///
/// The area is the probability that a positive row has a higher score than a negative one, ties counted half; of large tables
/// every so many rows are looked at.
pub(crate) fn turned(table: &Table) -> Option<f64> {
    if table.classes().len() != 2 {
        return None;
    }
    let scores = table.probabilities(1);
    let rows = (0..table.rows()).step_by(every(table.rows()));
    area(rows.map(|row| (scores[row], table.truth()[row] == 1, table.weight(row))).collect())
}

/// Every how many rows are looked at.
pub(crate) fn every(rows: usize) -> usize {
    rows.div_ceil(ENOUGH).max(1)
}

/// The same from scores, whether they are of positive rows, and weights.
pub(crate) fn area(mut rows: Vec<(f64, bool, f64)>) -> Option<f64> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut ahead, mut weights, mut counts) = (0.0, 0.0, [0.0; 2], [0.0_f64; 2]);
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let of = |class: bool| run.iter().filter(|row| row.1 == class).map(|row| row.2).sum::<f64>();
        let (negative, positive) = (of(false), of(true));
        ahead += positive * (below + 0.5 * negative);
        below += negative;
        weights = [weights[0] + negative, weights[1] + positive];
        run.iter().for_each(|row| counts[usize::from(row.1)] += 1.0);
    }
    let area = ahead / (weights[0] * weights[1]);
    let error = ((counts[0] + counts[1] + 1.0) / (12.0 * counts[0] * counts[1])).sqrt();
    (area + SURE * error < 0.5).then_some(area)
}
