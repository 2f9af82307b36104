//! A question as people read it: whole numbers of cases, in the table's own words.

use super::case::{self, Case};
use super::cells::{Cell, Cells};
use super::length::Length;
use super::trade::{self, Trade};
use crate::counts::{DIFFERENT, Pair, SIZES, grouped, people_for};
use crate::prompt::Presented;
use crate::render::{Noun, Wording};
use crate::sides::Sides;
use crate::table::Table;
use crate::terminal::Terminal;
use equipoise::engine::Adaptive;
use equipoise::space::OperatingPoint;
use equipoise::{Answered, Measure, Query, View};
use std::io::Write;

/// What is asked about each pair.
const QUESTION: &str = "Which classifier would you rather have?";

/// Mistakes beyond these are summed up.
const MOST_ROWS: usize = 20;

/// Sentences about gaps between groups.
const MOST_GAPS: usize = 3;

/// What a table calls its classes and groups, and what points of the questions mean.
pub struct Words {
    pub(super) classes: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) view: View,
    positive_prior: f64,
    /// Where two kinds of error are traded: around what.
    around: Option<OperatingPoint>,
    /// How many cases an interview counts in at least; none where every question has a size of its own, because a search
    /// comes to pairs that are ever more alike.
    least: Option<u64>,
    /// Whether single cases are asked about.
    cases: bool,
}

/// A question rounded to whole numbers.
pub enum Shown {
    /// Two classes as shares of everybody.
    Two(Pair),
    /// Two kinds of error are traded, all else being equal.
    Trade(Trade),
    /// Any entries of the confusion matrix.
    Cells(Cells),
    /// One case: to act or not to.
    Case(Case),
}

impl Shown {
    /// The pair as shown, in the coordinates of the question.
    pub fn to_query(&self) -> Query {
        match self {
            Shown::Two(pair) => pair.to_query(),
            Shown::Trade(trade) => trade.query.clone(),
            Shown::Case(case) => case.query.clone(),
            Shown::Cells(cells) => {
                let [first, second] = [0, 1].map(|side| cells.point(side));
                Query::new(first, second)
            }
        }
    }
}

impl Words {
    /// The words of a table, for questions of a view.
    pub fn new(classes: &[String], groups: &[String], view: View, positive_prior: f64) -> Self {
        let (classes, groups) = (classes.to_vec(), groups.to_vec());
        Self { classes, groups, view, positive_prior, around: None, least: None, cases: false }
    }

    /// The same for the questions of an adaptive plan, which are all told in one number of cases.
    pub fn of_plan(self, plan: &Adaptive) -> Self {
        if plan.risks().is_some() {
            return Self { cases: true, ..self };
        }
        let around = plan.operating_point().cloned();
        let least = match &around {
            Some(space) => trade::out_of(space),
            None if plan.is_ratio() => people_for(plan, self.positive_prior),
            None => SIZES[1],
        };
        Self { around, least: Some(least), ..self }
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

    /// A question after others of the same interview, as it is shown: in whole numbers, on its sides.
    pub fn present(&self, sides: Sides, asked: &[Answered], query: &Query) -> (Shown, Presented) {
        let turn = if self.cases { case::turn(query) } else { sides.of(asked.len() + 1) };
        let shown = self.shown(asked, &turn.pair(query));
        let pair = turn.pair(&shown.to_query());
        (shown, Presented { turn, shown: Some(pair) })
    }

    /// A question in whole numbers, after others of the same interview.
    ///
    /// One whose numbers would be the same in the number of cases so far is told in more, and so are those after it.
    pub fn shown(&self, asked: &[Answered], query: &Query) -> Shown {
        if self.cases {
            return Shown::Case(Case::of(query));
        }
        let size = |least: u64| {
            let all = asked.iter().map(|answered| &answered.query).chain([query]);
            all.map(|query| self.size(query)).fold(least, u64::max)
        };
        let size = self.least.map(size);
        match (&self.around, self.view.measure(), size) {
            (Some(space), ..) => Shown::Trade(Trade::new(query, space, size.unwrap_or(SIZES[1]))),
            (None, Measure::Binary, None) => Shown::Two(Pair::new(query, self.positive_prior)),
            (None, Measure::Binary, Some(size)) => Shown::Two(Pair::among(query, self.positive_prior, size)),
            _ => {
                let size = size.unwrap_or_else(|| self.size(query));
                Shown::Cells(Cells::rounded(query, self.view, size))
            }
        }
    }

    /// The fewest cases in which the classifiers of a question differ.
    fn size(&self, query: &Query) -> u64 {
        match (&self.around, self.view.measure()) {
            (Some(space), _) => Trade::size(query, space),
            (None, Measure::Binary) => Pair::fewest(query, self.positive_prior, DIFFERENT),
            _ => Cells::size(query, self.view),
        }
    }

    /// What the numbers are counted in.
    pub fn of(&self) -> &'static str {
        if self.cases {
            return "cases of this risk";
        }
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
        length: Option<Length>,
        shown: &Shown,
        terminal: Terminal,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let number = match length {
            Some(length) => format!("{number} {}", length.at_least(number)),
            None => number.to_string(),
        };
        match shown {
            Shown::Two(pair) => {
                let heading = format!("Question {number}, out of {} cases", grouped(pair.people));
                writeln!(out, "{}", terminal.bold(&heading))?;
                write!(out, "{}", self.two().charts(pair, terminal))?;
            }
            Shown::Trade(trade) => {
                let heading = format!("Question {number}, out of {} of each class", grouped(trade.out_of));
                writeln!(out, "{}", terminal.bold(&heading))?;
                let mut table = Table::new(terminal, ["", "A", "B", "difference"]);
                let all = trade.counts.len() <= MOST_ROWS;
                for (kind, counts) in trade.counts.iter().enumerate() {
                    let [a, b] = counts.map(grouped);
                    let more = counts[1] as i64 - counts[0] as i64;
                    let more = if more == 0 { "same".to_owned() } else { signed(more) };
                    if all || counts[0] != counts[1] {
                        table.row([self.kind_of(kind), a, b, more]);
                    }
                }
                write!(out, "{table}")?;
            }
            Shown::Case(case) => {
                writeln!(out, "{}", terminal.bold(&format!("Question {number}")))?;
                return self.case(case).iter().try_for_each(|line| writeln!(out, "  {line}"));
            }
            Shown::Cells(cells) => {
                let heading = format!("Question {number}, out of {} of {}", grouped(cells.out_of), self.of());
                writeln!(out, "{}", terminal.bold(&heading))?;
                let rows = cells.rows(MOST_ROWS);
                let mut table = Table::new(terminal, ["", "A", "B", "difference"]);
                for cell in &rows {
                    let [a, b] = cell.counts.map(grouped);
                    let more = if cell.more() == 0 { "same".to_owned() } else { signed(cell.more()) };
                    table.row([self.mistake(cell), a, b, more]);
                }
                write!(out, "{table}")?;
                if cells.all_rows() > rows.len() {
                    let (more, most) = (cells.all_rows() - rows.len(), rows.iter().map(Cell::more));
                    let most = most.map(i64::unsigned_abs).min().unwrap_or(0);
                    writeln!(out, " and {more} more that differ by at most {}", grouped(most))?;
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
    pub fn mistake(&self, cell: &Cell) -> String {
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
    pub fn difference(&self, shown: &Shown) -> String {
        let cells = match shown {
            Shown::Two(pair) => return self.two().difference(pair),
            Shown::Trade(trade) => return self.traded(trade),
            Shown::Case(case) => return self.case(case).join(" "),
            Shown::Cells(cells) => cells,
        };
        let told: Vec<String> = cells
            .rows(MOST_ROWS)
            .iter()
            .filter(|cell| cell.more() != 0)
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
            false => format!("With B there are {}.", listed(&told)),
        }
    }

    /// What sets the two classifiers of a trade apart: every kind that differs.
    fn traded(&self, trade: &Trade) -> String {
        let told = trade.differing().map(|kind| {
            let [a, b] = trade.counts[kind];
            let (count, rates) = (grouped(a.abs_diff(b)), self.view.classes() * (self.view.classes() - 1));
            match kind < rates {
                true => format!("{count} {} {}", if b > a { "more" } else { "fewer" }, self.kind_of(kind)),
                false => {
                    let wider = if b > a { "wider" } else { "narrower" };
                    format!("{}, {count} {wider}", self.kind_of(kind))
                }
            }
        });
        let told: Vec<String> = told.collect();
        match told.is_empty() {
            true => "A and B make the same mistakes.".to_owned(),
            false => format!("With B: {}; all else is the same.", listed(&told)),
        }
    }

    /// "benign predicted as malignant", or how far two groups are apart in it.
    pub fn kind_of(&self, kind: usize) -> String {
        let pairs: Vec<(usize, usize)> = equipoise::rates::off_diagonal_pairs(self.view.classes()).collect();
        let (truth, estimate) = pairs[kind % pairs.len()];
        let what = format!("{} predicted as {}", self.class(truth), self.class(estimate));
        match kind < pairs.len() {
            true => what,
            false => format!("{what}: gap between {} and {}", self.group(0), self.group(1)),
        }
    }

    /// How far apart the groups are, where that changes.
    pub fn gaps(&self, shown: &Shown) -> Vec<String> {
        let Shown::Cells(cells) = shown else { return vec![] };
        let sentence = |(a, b, apart): (Cell, Cell, [u64; 2])| {
            let (u, v) = (self.group(a.group), self.group(b.group));
            let ([first, second], what) = (apart.map(grouped), self.kind(&a));
            format!("{what}: {u} and {v} are {first} apart with A, {second} with B.")
        };
        cells.gaps().into_iter().take(MOST_GAPS).map(sentence).collect()
    }
}

/// "a, b, and c".
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one}, and {other}"),
        [some @ .., last] => format!("{}, and {last}", some.join(", ")),
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
    fn close_classifiers_are_shown_among_more_cases() {
        let point = |step: f64| vec![0.3 + step, 0.3 - 0.7 * step, 0.33, 0.3, 0.3, 0.3 + 0.2 * step];
        let out_of = |step: f64| match words(1).shown(&[], &Query::new(point(0.0), point(step))) {
            Shown::Cells(cells) => cells.out_of,
            Shown::Two(_) | Shown::Trade(_) | Shown::Case(_) => 0,
        };
        assert_eq!([0.1, 0.001, 1e-9].map(out_of), [1_000, 10_000, 1_000_000]);
    }

    #[test]
    fn what_was_shown_reads_back_as_the_counts_say() {
        let query =
            Query::new(vec![0.3333, 0.3, 0.33, 0.3, 0.3, 0.3], vec![0.25, 0.3, 0.39, 0.3, 0.3, 0.2507]);
        let shown = words(1).shown(&[], &query);
        assert_eq!(shown.to_query().first, [0.333, 0.3, 0.33, 0.3, 0.3, 0.3]);
        assert_eq!(shown.to_query().second[5], 0.251);
        assert_eq!(
            words(1).difference(&shown),
            "With B there are 83 fewer cat predicted as dog, 60 more dog predicted as cat, and 49 fewer class 7 predicted as \
             dog."
        );
    }

    #[test]
    fn groups_are_told_apart_and_their_gaps_named() {
        let first = vec![0.3; 12];
        let mut second = first.clone();
        second[1] = 0.36;
        let shown = words(2).shown(&[], &Query::new(first, second));
        assert_eq!(
            words(2).difference(&shown),
            "With B there are 60 more cat predicted as class 7 among inside."
        );
        assert_eq!(
            words(2).gaps(&shown),
            ["cat predicted as class 7: inside and outside are 0 apart with A, 60 with B."]
        );
        let line = serde_json::to_value(words(2).line(4, Some(Length::About(12)), &shown)).unwrap();
        assert_eq!(line["of"], "each class in each group");
        assert_eq!(
            line["second"][1],
            serde_json::json!({
                "truth": "cat", "estimate": "7", "group": "inside", "count": 360, "share_of_class": 0.36,
            })
        );
        assert_eq!(line["of_about"], 12);
        let sum: u64 = (0..3).map(|n| line["second"][n]["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, 1000);
    }
}
