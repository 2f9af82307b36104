//! A two-class question as text: two flow charts from truth to prediction, and their difference in words.

use crate::counts::{Counts, Pair, grouped};
use crate::ratio::two_digits;
use crate::terminal::Terminal;
use equipoise::Preference;
use equipoise_study::exchange::{Amount, Exchange};

/// Below this many columns the two systems stand one above the other, even if they would just fit.
pub const SIDE_BY_SIDE: usize = 80;

/// The words of a task, so that the same charts serve any two classes.
#[derive(Debug, Clone)]
pub struct Wording {
    /// What is asked about each pair.
    pub question: String,
    /// Who the numbers count: "people".
    pub people: String,
    /// The positive class, after a number: "with cancer".
    pub positive: String,
    /// The negative class, after a number: "without".
    pub negative: String,
    /// Positives predicted as positive: "found".
    pub found: String,
    /// Positives predicted as negative: "missed".
    pub missed: String,
    /// Negatives predicted as negative: "cleared".
    pub cleared: String,
    /// Negatives predicted as positive.
    pub false_alarm: Noun,
    /// What a miss misses.
    pub case: Noun,
}

/// A countable thing.
#[derive(Debug, Clone)]
pub struct Noun {
    /// One of it.
    pub one: String,
    /// Several.
    pub many: String,
}

impl Noun {
    /// The thing in singular and plural.
    pub fn new(one: &str, many: &str) -> Self {
        Self { one: one.to_owned(), many: many.to_owned() }
    }

    fn counted(&self, count: u64) -> &str {
        if count == 1 { &self.one } else { &self.many }
    }
}

impl Wording {
    /// Both charts, side by side if they fit.
    pub fn charts(&self, pair: &Pair, terminal: Terminal) -> String {
        let [first, second] = [("System A", pair.first), ("System B", pair.second)]
            .map(|(title, counts)| self.chart(title, &counts, terminal));
        let widest = |chart: &[String]| chart.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let column = ((terminal.width - 2) / 2).max(widest(&first) + 2);
        if terminal.width < SIDE_BY_SIDE || 2 + column + widest(&second) > terminal.width {
            return indented(first.iter().chain(&second), terminal);
        }
        let joined: Vec<String> =
            first.iter().zip(&second).map(|(left, right)| format!("{left:<column$}{right}")).collect();
        indented(joined.iter(), terminal)
    }

    /// One system: truth on the left, prediction on the right (guideline G3).
    fn chart(&self, title: &str, counts: &Counts, terminal: Terminal) -> Vec<String> {
        let numbers = [counts.positives, counts.negatives].map(grouped);
        let wide = numbers.iter().map(String::len).max().unwrap_or(0);
        let truths = [(&numbers[0], &self.positive), (&numbers[1], &self.negative)]
            .map(|(number, class)| format!("{number:>wide$} {class}"));
        let reach = truths.iter().map(|truth| truth.chars().count()).max().unwrap_or(0);
        let [fork, turn] = if terminal.unicode { ["─┬─▶", " └─▶"] } else { ["-+->", " `->"] };
        let to = |truth: &str, arrow: &str, count: u64, what: &str| {
            format!("{truth:<reach$} {arrow} {:>wide$} {what}", grouped(count))
        };
        vec![
            title.to_owned(),
            to(&truths[0], fork, counts.found, &self.found),
            to("", turn, counts.missed(), &self.missed),
            to(&truths[1], fork, counts.cleared, &self.cleared),
            to("", turn, counts.false_alarms(), self.false_alarm.counted(counts.false_alarms())),
        ]
    }

    /// "B misses 4 fewer cancers and raises 31 more false alarms."
    pub fn difference(&self, pair: &Pair) -> String {
        let misses = compared(pair.first.missed(), pair.second.missed(), &self.case);
        let alarms = compared(pair.first.false_alarms(), pair.second.false_alarms(), &self.false_alarm);
        if pair.first == pair.second {
            return "A and B make the same mistakes.".to_owned();
        }
        format!("B misses {misses} and raises {alarms}.")
    }

    /// A system's mistakes in a few words: "19 missed, 39 false alarms".
    pub fn mistakes(&self, counts: &Counts) -> String {
        let alarms = counts.false_alarms();
        format!(
            "{} {}, {} {}",
            grouped(counts.missed()),
            self.missed,
            grouped(alarms),
            self.false_alarm.counted(alarms)
        )
    }

    /// "you accept about 6.1 false alarms to avoid one missed cancer (95 % interval 4.8 to 7.9)", told from the dearer mistake;
    /// one end alone where the answers do not set the other. `ends` are those of the interval, the upper one infinite if there
    /// is none.
    pub fn exchange(&self, ratio: f64, ends: Option<[f64; 2]>) -> String {
        let (alarm, case) = (&self.false_alarm, &self.case);
        let exchange = ends.map_or_else(|| Exchange::at(ratio), |ends| Exchange::within(ratio, ends));
        let missed = [&case.one, &case.many].map(|case| format!("{} {case}", self.missed));
        let alarms = [&alarm.one, &alarm.many].map(String::clone);
        let [[dear, _], [_, cheap]] = exchange.dearer_first(missed, alarms);
        let interval =
            |[low, high]: [f64; 2]| format!(" (95 % interval {} to {})", two_digits(low), two_digits(high));
        match exchange.amount {
            Amount::About(about, range) => {
                let range = range.map_or(String::new(), interval);
                format!("you accept about {} {cheap} to avoid one {dear}{range}", two_digits(about))
            }
            Amount::AtLeast(low) => format!(
                "you accept at least {} {cheap} to avoid one {dear}; your answers do not set an upper limit",
                two_digits(low)
            ),
            Amount::Unsettled => {
                let range = ends.filter(|ends| ends[1].is_finite()).map_or(String::new(), interval);
                format!("your answers do not settle which mistake is worse{range}")
            }
        }
    }
}

/// The letter of the system that was chosen.
pub fn letter(preference: Preference) -> &'static str {
    match preference {
        Preference::First => "A",
        Preference::Second => "B",
        Preference::CannotTell => "can't tell",
    }
}

/// How many more or fewer the second has.
fn compared(first: u64, second: u64, what: &Noun) -> String {
    let (count, word) = match second.cmp(&first) {
        std::cmp::Ordering::Less => (first - second, "fewer"),
        std::cmp::Ordering::Greater => (second - first, "more"),
        std::cmp::Ordering::Equal => return format!("as many {}", what.many),
    };
    format!("{} {word} {}", grouped(count), what.counted(count))
}

/// Lines two columns in, the titles stressed.
fn indented<'a>(lines: impl Iterator<Item = &'a String>, terminal: Terminal) -> String {
    lines
        .map(|line| {
            let line = if line.starts_with("System ") { terminal.bold(line) } else { line.clone() };
            format!("  {line}\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::Query;

    fn wording() -> Wording {
        crate::commands::demo::wording()
    }

    fn pair(first: [f64; 2], second: [f64; 2]) -> Pair {
        Pair::new(&Query::new(first.to_vec(), second.to_vec()), 0.35)
    }

    const WIDE: Terminal = Terminal { width: 80, colour: false, unicode: true };

    #[test]
    fn charts_stand_side_by_side_within_eighty_columns() {
        let text = wording().charts(&pair([0.331, 0.611], [0.343, 0.568]), WIDE);
        assert_eq!(
            text,
            "  System A                               System B\n  \
             350 with cancer ─┬─▶ 331 found         350 with cancer ─┬─▶ 343 found\n  \
             \u{20}                └─▶  19 missed                         └─▶   7 missed\n  \
             650 without     ─┬─▶ 611 cleared       650 without     ─┬─▶ 568 cleared\n  \
             \u{20}                └─▶  39 false alarms                   └─▶  82 false alarms\n"
        );
        let many = wording().charts(&pair([0.331_000_01, 0.611], [0.331_001, 0.610_99]), WIDE);
        assert!(many.contains("350,000 with cancer"), "{many}");
        assert!(many.lines().all(|line| line.chars().count() <= 80), "{many}");
    }

    #[test]
    fn a_narrow_or_plain_terminal_gets_one_chart_above_the_other_in_ascii() {
        let narrow = Terminal { width: 60, colour: false, unicode: false };
        let text = wording().charts(&pair([0.331, 0.611], [0.343, 0.568]), narrow);
        assert_eq!(text.lines().count(), 10);
        assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 60), "{text}");
    }

    #[test]
    fn the_difference_has_a_sentence_for_every_sign() {
        let sentence = |second: [f64; 2]| wording().difference(&pair([0.331, 0.611], second));
        assert_eq!(sentence([0.343, 0.568]), "B misses 12 fewer cancers and raises 43 more false alarms.");
        assert_eq!(sentence([0.330, 0.612]), "B misses 1 more cancer and raises 1 fewer false alarm.");
        assert_eq!(sentence([0.331, 0.568]), "B misses as many cancers and raises 43 more false alarms.");
        assert_eq!(sentence([0.343, 0.611]), "B misses 12 fewer cancers and raises as many false alarms.");
        assert_eq!(sentence([0.331, 0.611]), "A and B make the same mistakes.");
    }

    #[test]
    fn the_exchange_is_told_from_the_dearer_mistake() {
        let told = |ratio, low, high| wording().exchange(ratio, Some([low, high]));
        assert_eq!(
            told(6.13, 5.9, 6.3),
            "you accept about 6.1 false alarms to avoid one missed cancer (95 % interval 5.9 to 6.3)"
        );
        assert_eq!(
            told(0.2, 0.1, 0.5),
            "you accept about 5.0 missed cancers to avoid one false alarm (95 % interval 2.0 to 10)"
        );
        assert_eq!(
            wording().exchange(6.0, None),
            "you accept about 6.0 false alarms to avoid one missed cancer"
        );
    }

    #[test]
    fn what_the_answers_leave_open_is_told_from_one_end() {
        let told = |ratio, low, high| wording().exchange(ratio, Some([low, high]));
        assert_eq!(
            told(250.0, 63.0, f64::INFINITY),
            "you accept at least 63 false alarms to avoid one missed cancer; your answers do not set an upper limit"
        );
        assert_eq!(
            told(1.2, 0.6, 2.5),
            "your answers do not settle which mistake is worse (95 % interval 0.60 to 2.5)"
        );
    }

    #[test]
    fn nobody_is_labelled() {
        // Guideline G6: a person's truth is not the system's label.
        let text = format!("{:?}", wording());
        assert!(!text.to_lowercase().contains("label"), "{text}");
    }
}
