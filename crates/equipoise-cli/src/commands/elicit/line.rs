//! A question as programs read it: one JSON object.

use super::cells::{Cell, Cells};
use super::length::Length;
use super::question::{Shown, Words};
use crate::counts::{Counts, Pair};
use serde::Serialize;

/// One cell of a classifier, for a program.
#[derive(Serialize)]
struct Record<'a> {
    truth: &'a str,
    estimate: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    count: u64,
    /// Of all cases of this true class, in this group.
    share_of_class: f64,
}

/// A question, for a program.
#[derive(Serialize)]
pub struct Line<'a> {
    format: u64,
    question: usize,
    /// About how many questions there are in all, or at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_about: Option<usize>,
    /// Of a single case: first is to act on it, second is not to.
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    out_of: u64,
    of: &'static str,
    first: Vec<Record<'a>>,
    second: Vec<Record<'a>>,
    difference: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
}

impl Words {
    /// A question for a program.
    pub fn line(&self, question: usize, length: Option<Length>, shown: &Shown) -> Line<'_> {
        let record = |group: usize, truth: usize, estimate: usize, count: u64, of_class: u64| Record {
            truth: &self.classes[truth],
            estimate: &self.classes[estimate],
            group: self.groups.get(group).filter(|_| self.view.groups() > 1).map(String::as_str),
            count,
            share_of_class: if of_class > 0 { count as f64 / of_class as f64 } else { 0.0 },
        };
        let of_cells = |cells: &Cells| {
            let records = |side: usize| {
                let of = |c: &Cell| record(c.group, c.truth, c.estimate, c.counts[side], cells.out_of);
                cells.cells.iter().map(of).collect::<Vec<_>>()
            };
            (cells.out_of, records(0), records(1))
        };
        let of_pair = |pair: &Pair| {
            let records = |counts: &Counts| {
                let cells = [
                    (0, 0, counts.cleared),
                    (0, 1, counts.false_alarms()),
                    (1, 0, counts.missed()),
                    (1, 1, counts.found),
                ];
                let of_class = [counts.negatives, counts.positives];
                cells.map(|(i, j, count)| record(0, i, j, count, of_class[i])).into()
            };
            (pair.people, records(&pair.first), records(&pair.second))
        };
        let (out_of, first, second) = match shown {
            Shown::Two(pair) => of_pair(pair),
            Shown::Case(case) => of_pair(&case.pair()),
            Shown::Trade(trade) => of_cells(&Cells::rounded(&trade.query, self.view, trade.out_of)),
            Shown::Cells(cells) => of_cells(cells),
        };
        Line {
            format: equipoise::FORMAT,
            question,
            of_about: length.map(|length| length.at_least(question).questions()),
            risk: match shown {
                Shown::Case(case) => Some(case.risk),
                _ => None,
            },
            out_of,
            of: self.of(),
            first,
            second,
            difference: self.difference(shown),
            gaps: self.gaps(shown),
        }
    }
}
