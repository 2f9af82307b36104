//! A question as people and programs read it: whole numbers of cases, in the table's own words.

use crate::counts::{Counts, Pair, SIZES, grouped};
use crate::render::{Noun, Wording};
use crate::table::Table;
use crate::terminal::Terminal;
use equipoise::{Measure, Query, View};
use serde::Serialize;
use std::io::Write;

/// What is asked about each pair.
const QUESTION: &str = "Which classifier would you rather have?";

/// Mistakes beyond these are summed up.
const MOST_ROWS: usize = 20;

/// Sentences about gaps between groups.
const MOST_GAPS: usize = 3;

/// Rounding may change the difference between two classifiers by this share of its length.
const FAITHFUL: f64 = 0.1;

/// What a table calls its classes and groups, and what points of the questions mean.
pub struct Words {
    classes: Vec<String>,
    groups: Vec<String>,
    view: View,
    positive_prior: f64,
}

/// A question rounded to whole numbers.
pub enum Shown {
    /// Two classes as shares of everybody.
    Two(Pair),
    /// Any entries of the confusion matrix.
    Cells(Cells),
}

/// Counts of both classifiers, cell by cell.
pub struct Cells {
    out_of: u64,
    cells: Vec<Cell>,
    view: View,
}

#[derive(Clone, Copy)]
struct Cell {
    group: usize,
    truth: usize,
    estimate: usize,
    /// In the first and in the second classifier.
    counts: [u64; 2],
}

impl Cell {
    fn more(&self) -> i64 {
        self.counts[1] as i64 - self.counts[0] as i64
    }
}

impl Shown {
    /// The pair as shown, in the coordinates of the question.
    pub fn to_query(&self) -> Query {
        match self {
            Shown::Two(pair) => pair.to_query(),
            Shown::Cells(cells) => {
                let [first, second] = [0, 1].map(|side| cells.point(side));
                Query::new(first, second)
            }
        }
    }
}

impl Cells {
    fn new(query: &Query, view: View) -> Self {
        let truth: Vec<f64> = query.second.iter().zip(&query.first).map(|(b, a)| b - a).collect();
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let is_faithful = |shown: &Self| {
            let [first, second] = [0, 1].map(|side| shown.point(side));
            let missed: Vec<f64> =
                first.iter().zip(&second).zip(&truth).map(|((a, b), truth)| b - a - truth).collect();
            length(&missed) <= FAITHFUL * length(&truth)
        };
        let at = |out_of: u64| Self::rounded(query, view, out_of);
        SIZES.into_iter().map(at).find(is_faithful).unwrap_or_else(|| at(SIZES[SIZES.len() - 1]))
    }

    /// Every cell in whole numbers. Where the entries are error rates, what is left of a class is predicted correctly,
    /// and the counts of a class add up.
    fn rounded(query: &Query, view: View, out_of: u64) -> Self {
        let entries = view.entries();
        let whole = matches!(view.measure(), Measure::OffDiagonalRates | Measure::GroupRates);
        let mut cells: Vec<Cell> = vec![];
        if whole {
            let k = view.classes();
            for (block, row) in entries.chunks(k - 1).enumerate() {
                let (group, truth, _) = row[0];
                let at = block * (k - 1)..(block + 1) * (k - 1);
                let [first, second] =
                    [&query.first, &query.second].map(|point| shares_of(&point[at.clone()], out_of));
                let estimates = row.iter().map(|entry| entry.2).chain([truth]);
                for (n, estimate) in estimates.enumerate() {
                    cells.push(Cell { group, truth, estimate, counts: [first[n], second[n]] });
                }
            }
        } else {
            let count = |x: f64| (x.max(0.0) * out_of as f64).round() as u64;
            for (n, &(group, truth, estimate)) in entries.iter().enumerate() {
                let counts = [count(query.first[n]), count(query.second[n])];
                cells.push(Cell { group, truth, estimate, counts });
            }
        }
        Self { out_of, cells, view }
    }

    fn point(&self, side: usize) -> Vec<f64> {
        let entry = |(group, truth, estimate): (usize, usize, usize)| {
            let found =
                self.cells.iter().find(|c| (c.group, c.truth, c.estimate) == (group, truth, estimate));
            found.map_or(0.0, |cell| cell.counts[side] as f64 / self.out_of as f64)
        };
        self.view.entries().into_iter().map(entry).collect()
    }

    /// What may differ between classifiers, most different first.
    fn by_difference(&self) -> Vec<Cell> {
        let errors = self.view.measure().lists_errors();
        let mut cells: Vec<Cell> =
            self.cells.iter().copied().filter(|cell| !errors || cell.truth != cell.estimate).collect();
        cells.sort_by_key(|cell| std::cmp::Reverse(cell.more().unsigned_abs()));
        cells
    }

    /// How far groups are apart in a kind of mistake, with each classifier; the largest changes first.
    fn gaps(&self) -> Vec<(Cell, Cell, [u64; 2])> {
        let cells = self.by_difference();
        let mut gaps = vec![];
        for (n, a) in cells.iter().enumerate() {
            for b in &cells[n + 1..] {
                if (a.truth, a.estimate) == (b.truth, b.estimate) {
                    let apart = [0, 1].map(|side| a.counts[side].abs_diff(b.counts[side]));
                    let (a, b) = if a.group < b.group { (*a, *b) } else { (*b, *a) };
                    gaps.push((a, b, apart));
                }
            }
        }
        gaps.retain(|(_, _, apart)| apart[0] != apart[1]);
        gaps.sort_by_key(|(_, _, apart)| std::cmp::Reverse(apart[0].abs_diff(apart[1])));
        gaps
    }
}

/// Shares of one class, and what is left of it, as whole numbers that add up: the largest remainders are rounded up.
fn shares_of(errors: &[f64], out_of: u64) -> Vec<u64> {
    let rest = (1.0 - errors.iter().sum::<f64>()).max(0.0);
    let exact: Vec<f64> = errors.iter().copied().chain([rest]).map(|x| x.max(0.0) * out_of as f64).collect();
    // A hair below a whole number is that number.
    let mut counts: Vec<u64> = exact.iter().map(|x| (x + 1e-9).floor() as u64).collect();
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&a, &b| (exact[b] - counts[b] as f64).total_cmp(&(exact[a] - counts[a] as f64)));
    let missing = out_of.saturating_sub(counts.iter().sum());
    order.into_iter().cycle().take(missing as usize).for_each(|n| counts[n] += 1);
    counts
}

/// One cell of a classifier, for a program.
#[derive(Serialize)]
struct Record<'a> {
    truth: &'a str,
    estimate: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    count: u64,
    rate: f64,
}

/// A question, for a program.
#[derive(Serialize)]
pub struct Line<'a> {
    format: u64,
    question: usize,
    out_of: u64,
    of: &'static str,
    first: Vec<Record<'a>>,
    second: Vec<Record<'a>>,
    difference: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
}

impl Words {
    /// The words of a table, for questions of a view.
    pub fn new(classes: &[String], groups: &[String], view: View, positive_prior: f64) -> Self {
        Self { classes: classes.to_vec(), groups: groups.to_vec(), view, positive_prior }
    }

    /// The words of a two-class task.
    pub fn two(&self) -> Wording {
        let [negative, positive] = [0, 1].map(|class| self.class(class));
        Wording {
            question: QUESTION.to_owned(),
            people: "cases".to_owned(),
            case: Noun::new(&format!("{positive} case"), &format!("{positive} cases")),
            positive,
            negative,
            found: "found".to_owned(),
            missed: "missed".to_owned(),
            cleared: "cleared".to_owned(),
            false_alarm: Noun::new("false alarm", "false alarms"),
        }
    }

    /// A class in a sentence: its name, or "class 1" where the name alone would not read.
    pub fn class(&self, class: usize) -> String {
        let name = &self.classes[class];
        let is_word =
            name.chars().count() > 2 && name.chars().all(|c| c.is_alphabetic() || " -_".contains(c));
        let is_answer = ["yes", "true", "false", "pos", "neg"].contains(&name.to_lowercase().as_str());
        if is_word && !is_answer { name.clone() } else { format!("class {name}") }
    }

    fn group(&self, group: usize) -> String {
        self.groups.get(group).cloned().unwrap_or_else(|| format!("group {group}"))
    }

    /// A question in whole numbers.
    pub fn shown(&self, query: &Query) -> Shown {
        match self.view.measure() {
            Measure::Binary => Shown::Two(Pair::new(query, self.positive_prior)),
            _ => Shown::Cells(Cells::new(query, self.view)),
        }
    }

    /// What the numbers are counted in.
    fn of(&self) -> &'static str {
        match self.view.measure() {
            Measure::GroupRates => "each class in each group",
            Measure::OffDiagonalRates | Measure::DiagonalRates => "each class",
            _ => "all cases",
        }
    }

    /// Writes a question for a person.
    pub fn write(
        &self,
        number: usize,
        shown: &Shown,
        terminal: Terminal,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        match shown {
            Shown::Two(pair) => {
                let heading = format!("Question {number}, out of {} cases", grouped(pair.people));
                writeln!(out, "{}", terminal.bold(&heading))?;
                write!(out, "{}", self.two().charts(pair, terminal))?;
            }
            Shown::Cells(cells) => {
                let heading = format!("Question {number}, out of {} of {}", grouped(cells.out_of), self.of());
                writeln!(out, "{}", terminal.bold(&heading))?;
                let rows = cells.by_difference();
                let mut table = Table::new(terminal, ["", "A", "B", "difference"]);
                for cell in rows.iter().take(MOST_ROWS) {
                    let [a, b] = cell.counts.map(grouped);
                    table.row([self.mistake(cell), a, b, signed(cell.more())]);
                }
                write!(out, "{table}")?;
                if let Some(next) = rows.get(MOST_ROWS) {
                    let (more, most) = (rows.len() - MOST_ROWS, grouped(next.more().unsigned_abs()));
                    writeln!(out, " and {more} more that differ by at most {most}")?;
                }
            }
        }
        for sentence in std::iter::once(self.difference(shown)).chain(self.gaps(shown)) {
            for line in crate::terminal::wrap(&sentence, terminal.width.saturating_sub(2)) {
                writeln!(out, "  {line}")?;
            }
        }
        writeln!(out, "  {QUESTION}")
    }

    /// "women: benign predicted as malignant".
    fn mistake(&self, cell: &Cell) -> String {
        let group =
            if self.view.groups() > 1 { format!("{}: ", self.group(cell.group)) } else { String::new() };
        group + &self.kind(cell)
    }

    /// "benign predicted as malignant".
    fn kind(&self, cell: &Cell) -> String {
        let (truth, estimate) = (self.class(cell.truth), self.class(cell.estimate));
        match cell.truth == cell.estimate {
            true => format!("{truth} recognised"),
            false => format!("{truth} predicted as {estimate}"),
        }
    }

    /// What sets the two apart, in a sentence.
    fn difference(&self, shown: &Shown) -> String {
        let cells = match shown {
            Shown::Two(pair) => return self.two().difference(pair),
            Shown::Cells(cells) => cells,
        };
        let told: Vec<String> = cells
            .by_difference()
            .iter()
            .filter(|cell| cell.more() != 0)
            .take(2)
            .map(|cell| {
                let word = if cell.more() > 0 { "more" } else { "fewer" };
                let among = match self.view.groups() {
                    1 => String::new(),
                    _ => format!(" among {}", self.group(cell.group)),
                };
                let (count, what) = (grouped(cell.more().unsigned_abs()), self.kind(cell));
                format!("{count} {word} {what}{among}")
            })
            .collect();
        match told.is_empty() {
            true => "A and B make the same mistakes.".to_owned(),
            false => format!("With B there are {}.", told.join(", and ")),
        }
    }

    /// How far apart the groups are, where that changes.
    fn gaps(&self, shown: &Shown) -> Vec<String> {
        let Shown::Cells(cells) = shown else { return vec![] };
        let sentence = |(a, b, apart): (Cell, Cell, [u64; 2])| {
            let (u, v) = (self.group(a.group), self.group(b.group));
            let ([first, second], what) = (apart.map(grouped), self.kind(&a));
            format!("{what}: {u} and {v} are {first} apart with A, {second} with B.")
        };
        cells.gaps().into_iter().take(MOST_GAPS).map(sentence).collect()
    }

    /// A question for a program.
    pub fn line(&self, question: usize, shown: &Shown) -> Line<'_> {
        let record = |group: usize, truth: usize, estimate: usize, count: u64, out_of: u64| Record {
            truth: &self.classes[truth],
            estimate: &self.classes[estimate],
            group: self.groups.get(group).filter(|_| self.view.groups() > 1).map(String::as_str),
            count,
            rate: count as f64 / out_of as f64,
        };
        let (out_of, first, second) = match shown {
            Shown::Two(pair) => {
                let records = |counts: &Counts| {
                    let cells = [
                        (0, 0, counts.cleared),
                        (0, 1, counts.false_alarms()),
                        (1, 0, counts.missed()),
                        (1, 1, counts.found),
                    ];
                    cells
                        .map(|(truth, estimate, count)| record(0, truth, estimate, count, pair.people))
                        .into()
                };
                (pair.people, records(&pair.first), records(&pair.second))
            }
            Shown::Cells(cells) => {
                let records = |side: usize| {
                    let of = |c: &Cell| record(c.group, c.truth, c.estimate, c.counts[side], cells.out_of);
                    cells.cells.iter().map(of).collect()
                };
                (cells.out_of, records(0), records(1))
            }
        };
        Line {
            format: equipoise::FORMAT,
            question,
            out_of,
            of: self.of(),
            first,
            second,
            difference: self.difference(shown),
            gaps: self.gaps(shown),
        }
    }
}

fn signed(more: i64) -> String {
    match more {
        0 => "0".to_owned(),
        1.. => format!("+{}", grouped(more.unsigned_abs())),
        _ => format!("-{}", grouped(more.unsigned_abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(groups: usize) -> Words {
        let measure = if groups > 1 { Measure::GroupRates } else { Measure::OffDiagonalRates };
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let view = View::new(measure, 3, groups).unwrap();
        Words::new(&names(&["cat", "dog", "7"]), &names(&["inside", "outside"])[..groups.max(2)], view, 0.5)
    }

    #[test]
    fn counts_of_a_class_add_up_however_they_round() {
        for step in 0..1000 {
            let a = f64::from(step) / 1000.0 * 0.6;
            for b in [0.0, 0.123_45, 1.0 / 3.0, 0.4] {
                let counts = shares_of(&[a, b], 1000);
                assert_eq!(counts.iter().sum::<u64>(), 1000);
                assert!(
                    (counts[0] as f64 - 1000.0 * a).abs() < 1.0
                        && (counts[1] as f64 - 1000.0 * b).abs() < 1.0
                );
            }
        }
    }

    #[test]
    fn close_classifiers_are_shown_among_more_cases() {
        let point = |step: f64| vec![0.3 + step, 0.3 - 0.7 * step, 0.33, 0.3, 0.3, 0.3 + 0.2 * step];
        let out_of = |step: f64| match words(1).shown(&Query::new(point(0.0), point(step))) {
            Shown::Cells(cells) => cells.out_of,
            Shown::Two(_) => 0,
        };
        assert_eq!([0.1, 0.001, 1e-9].map(out_of), [1_000, 10_000, 1_000_000]);
    }

    #[test]
    fn what_was_shown_reads_back_as_the_counts_say() {
        let query =
            Query::new(vec![0.3333, 0.3, 0.33, 0.3, 0.3, 0.3], vec![0.25, 0.3, 0.39, 0.3, 0.3, 0.2507]);
        let shown = words(1).shown(&query);
        assert_eq!(shown.to_query().first, [0.333, 0.3, 0.33, 0.3, 0.3, 0.3]);
        assert_eq!(shown.to_query().second[5], 0.251);
        assert_eq!(
            words(1).difference(&shown),
            "With B there are 83 fewer cat predicted as dog, and 60 more dog predicted as cat."
        );
    }

    #[test]
    fn groups_are_told_apart_and_their_gaps_named() {
        let first = vec![0.3; 12];
        let mut second = first.clone();
        second[1] = 0.36;
        let shown = words(2).shown(&Query::new(first, second));
        assert_eq!(
            words(2).difference(&shown),
            "With B there are 60 more cat predicted as class 7 among inside."
        );
        assert_eq!(
            words(2).gaps(&shown),
            ["cat predicted as class 7: inside and outside are 0 apart with A, 60 with B."]
        );
        let line = serde_json::to_value(words(2).line(4, &shown)).unwrap();
        assert_eq!(line["of"], "each class in each group");
        assert_eq!(
            line["second"][1],
            serde_json::json!({
                "truth": "cat", "estimate": "7", "group": "inside", "count": 360, "rate": 0.36,
            })
        );
        let sum: u64 = (0..3).map(|n| line["second"][n]["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, 1000);
    }
}
