//! The flow chart of a two-class system: truth on the left, prediction on the right (G3).

use crate::language::{Language, Words, fill};
use crate::sentence::{self, Mistakes};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::shown::largest_remainder;
use equipoise_study::study::{Direction, Variant};

#[derive(Template)]
#[template(path = "flow.html")]
struct Flow {
    words: &'static Words,
    id: &'static str,
    name: String,
    caption: String,
    branches: [Branch; 2],
    reversed: bool,
    errors_only: bool,
    bars: bool,
    icons: Option<String>,
}

/// One true class and what is predicted for it.
struct Branch {
    truth: String,
    total: String,
    sign: &'static str,
    correct: End,
    mistake: End,
    correct_ribbon: String,
    mistake_ribbon: String,
    bar: String,
    /// How many of ten people are in it, and of ten of those predicted right: its boxes are as high.
    tenths: [u64; 2],
    pictogram: String,
}

struct End {
    count: String,
    rate: String,
    what: String,
}

/// One system; `cells` are truth by truth, and of each truth the predictions.
pub fn html(
    study: &Study,
    cells: &[u64],
    id: &'static str,
    letter: &str,
    variant: Variant,
    language: Language,
) -> String {
    let people: u64 = cells.iter().sum();
    let numbers = language.numbers();
    let name = sentence::system(study, letter, language);
    let values = [
        ("system", name.as_str()),
        ("count", &numbers.count(people)),
        ("people", study.task.people.r#in(language.tag())),
    ];
    let flow = Flow {
        words: language.words(),
        id,
        caption: fill(language.words().table_caption, &values),
        // The positive class first: its people are who the system is for.
        branches: [1, 0].map(|truth| branch(study, cells, truth, language)),
        reversed: study.direction == Direction::PredictionFirst,
        errors_only: variant == Variant::ErrorsOnly,
        bars: variant == Variant::FlowBar,
        icons: (variant == Variant::Icons).then(|| icons(study, cells, language)),
        name,
    };
    flow.render().expect("templates write to a string")
}

/// What is right and what is wrong about the cases of a class: words and counts.
pub type Ends<'a> = [(&'a str, u64); 2];

/// A system of no study, in words of its own: of each class, the positive one first, its name and its ends.
pub fn of_words(id: &'static str, letter: &str, caption: String, classes: [(&str, Ends); 2]) -> String {
    let [positive, negative] = classes;
    let people = [positive.1, negative.1].as_flattened().iter().map(|(_, count)| count).sum();
    let flow = Flow {
        words: Language::English.words(),
        id,
        name: format!("System {letter}"),
        caption,
        branches: [(1, positive), (0, negative)]
            .map(|(truth, (name, ends))| drawn(truth, name, ends, people, Language::English)),
        reversed: false,
        errors_only: false,
        bars: false,
        icons: None,
    };
    flow.render().expect("templates write to a string")
}

fn branch(study: &Study, cells: &[u64], truth: usize, language: Language) -> Branch {
    let (other, tag) = (1 - truth, language.tag());
    let class = &study.task.classes[truth];
    let mistake = Mistakes::of(study, truth, other, language).short;
    let ends = [(class.predicted.r#in(tag), cells[3 * truth]), (mistake.as_str(), cells[truth + 1])];
    drawn(truth, class.truth.r#in(tag), ends, cells.iter().sum(), language)
}

fn drawn(
    truth: usize,
    name: &str,
    [(right, correct), (wrong, mistaken)]: Ends,
    people: u64,
    language: Language,
) -> Branch {
    let (total, numbers) = (correct + mistaken, language.numbers());
    let end = |count: u64, what: &str| End {
        count: numbers.count(count),
        rate: numbers.percent(count, total),
        what: what.to_owned(),
    };
    let tenths = [tenths(total, people), tenths(correct, total)];
    let [correct_ribbon, mistake_ribbon] = ribbons(correct, total, tenths);
    Branch {
        truth: name.to_owned(),
        total: numbers.count(total),
        sign: sign(truth),
        correct: end(correct, right),
        mistake: end(mistaken, wrong),
        correct_ribbon,
        mistake_ribbon,
        bar: bar(correct, total, truth),
        tenths,
        pictogram: pictogram(total, mistaken, people),
    }
}

/// Stripes for missed cases, dots for false alarms.
pub fn sign(truth: usize) -> &'static str {
    if truth == 1 { "first" } else { "second" }
}

/// Of ten, so many; none and all are one and nine, since every box has words in it.
fn tenths(part: u64, whole: u64) -> u64 {
    ((10 * part + whole / 2) / whole.max(1)).clamp(1, 9)
}

/// How high all boxes of a system are together, the least a box is, and what is between two: in rem, as the style sheet has it.
const ALL: f64 = 19.0;
const LEAST: f64 = 3.6;
const BETWEEN: f64 = 0.4;

/// The two bands from the truth to its predictions, in a square of 100. At the truth their heights are in proportion; each ends
/// in its box, no higher than that.
fn ribbons(correct: u64, total: u64, [of_all, right]: [u64; 2]) -> [String; 2] {
    const HEIGHT: f64 = 92.0;
    // A band of nobody is not drawn, and one of a few can still be seen.
    let share = if total == 0 { 0.5 } else { correct as f64 / total as f64 };
    let split = match share {
        0.0 | 1.0 => HEIGHT * share,
        share => (HEIGHT * share).clamp(1.5, HEIGHT - 1.5),
    };
    let height = (ALL * of_all as f64 / 10.0).max(2.0 * LEAST + BETWEEN);
    let room = height - BETWEEN;
    let first = (room * right as f64 / 10.0).clamp(LEAST, room - LEAST);
    let [first, second] = [first, room - first].map(|rem| 100.0 * rem / height);
    let band = |top: f64, bottom: f64, middle: f64, most: f64| {
        let half = (bottom - top).min(0.9 * most) / 2.0;
        let (upper, lower) = (middle - half, middle + half);
        format!(
            "M0 {top:.1}C50 {top:.1} 50 {upper:.1} 100 {upper:.1}L100 {lower:.1}C50 {lower:.1} 50 {bottom:.1} 0 {bottom:.1}Z"
        )
    };
    [
        band(4.0, 4.0 + split, first / 2.0, first),
        band(4.0 + split, 4.0 + HEIGHT, 100.0 - second / 2.0, second),
    ]
}

/// So many people of a hundred as symbols, those with a mistake filled: where there is no room for bands. What is less than one
/// symbol is a part of one.
fn pictogram(total: u64, mistaken: u64, people: u64) -> String {
    const COLUMNS: f64 = 20.0;
    let symbols = |count: u64| 100.0 * count as f64 / people.max(1) as f64;
    let (all, wrong) = (symbols(total), symbols(mistaken));
    let rows = (all / COLUMNS).ceil().max(1.0);
    // A line per row; its dashes are the symbols.
    let lines = |from: f64, to: f64| -> String {
        let row = |n: f64| {
            let [start, end] = [from, to].map(|at| 10.0 * (at - COLUMNS * n).clamp(0.0, COLUMNS));
            // A line that begins inside a symbol would begin with a whole dash.
            let (whole, y) = (10.0 * (start / 10.0).floor(), 10.0 * n + 5.0);
            (end > start).then(|| format!("M{whole:.0} {y:.0}H{end:.1}"))
        };
        (0..rows as u64).filter_map(|n| row(n as f64)).collect()
    };
    format!(
        "<svg class=\"pictogram\" viewBox=\"0 0 198 {:.0}\"><path class=\"correct\" d=\"{}\"/><path class=\"mistake\" d=\"{}\"/></svg>",
        10.0 * rows,
        lines(wrong, all),
        lines(0.0, wrong)
    )
}

/// A bar split in correct and mistaken, for those who would rather see lengths.
fn bar(correct: u64, total: u64, truth: usize) -> String {
    let split = if total == 0 { 0.0 } else { 300.0 * correct as f64 / total as f64 };
    let rest = 300.0 - split;
    let pattern = pattern(truth);
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 300 16\" preserveAspectRatio=\"none\"><defs>{pattern}</defs>\
         <rect class=\"correct\" width=\"{split:.1}\" height=\"16\"/>\
         <rect x=\"{split:.1}\" width=\"{rest:.1}\" height=\"16\" fill=\"url(#{}-pattern)\" stroke=\"currentColor\"/></svg>",
        sign(truth)
    )
}

fn pattern(truth: usize) -> String {
    let drawn = match truth {
        1 => "<path d=\"M-1 5L5-1M1 7L7 1\" stroke=\"currentColor\" stroke-width=\"1.5\"/>",
        _ => "<circle cx=\"3\" cy=\"3\" r=\"1.5\" fill=\"currentColor\"/>",
    };
    format!(
        "<pattern id=\"{}-pattern\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">{drawn}</pattern>",
        sign(truth)
    )
}

/// At most this many symbols are drawn; beyond, each stands for several people.
const SYMBOLS: u64 = 1_000;

/// A symbol per person: filled for one kind of mistake, hollow for the other, pale for correct.
fn icons(study: &Study, cells: &[u64], language: Language) -> String {
    let people: u64 = cells.iter().sum();
    let symbols = people.clamp(1, SYMBOLS);
    let shares: Vec<f64> = [cells[2], cells[1], cells[3], cells[0]].map(|count| count as f64).to_vec();
    let counts = largest_remainder(symbols, &shares);
    let columns = if symbols > 100 { 50 } else { 20 };
    let rows = symbols.div_ceil(columns);
    let mut place = 0;
    let mut paths = String::new();
    let classes = ["first-symbol", "second-symbol", "correct", "correct"];
    for (count, class) in counts.iter().zip(classes) {
        let squares: String = (place..place + count)
            .map(|at| format!("M{} {}h7v7h-7z", 10 * (at % columns) + 1, 10 * (at / columns) + 1))
            .collect();
        place += count;
        paths.push_str(&format!("<path class=\"{class}\" d=\"{squares}\"/>"));
    }
    let (width, height) = (10 * columns, 10 * rows);
    let svg = format!("<svg class=\"icons\" viewBox=\"0 0 {width} {height}\">{paths}</svg>");
    if people <= SYMBOLS {
        return svg;
    }
    let each = language.numbers().count(people / symbols);
    let note = fill(
        language.words().icon_each,
        &[("count", &each), ("people", study.task.people.r#in(language.tag()))],
    );
    format!("{svg}<p class=\"hint\">{}</p>", equipoise_plot::escape(&note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::template;

    fn drawn(cells: &[u64], variant: Variant) -> String {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        html(&study, cells, "a", "A", variant, Language::English)
    }

    #[test]
    fn the_table_has_the_numbers_of_the_chart() {
        let page = drawn(&[611, 39, 19, 331], Variant::Flow);
        for number in
            ["350", "650", "331", "611", "19", "39", "94.6\u{a0}%", "5.4\u{a0}%", "6.0\u{a0}%", "94.0\u{a0}%"]
        {
            assert!(page.matches(number).count() >= 2, "{number} in chart and table: {page}");
        }
    }

    #[test]
    fn truth_comes_before_prediction() {
        let page = drawn(&[611, 39, 19, 331], Variant::Flow);
        assert!(page.find(">350<").unwrap() < page.find(">331<").unwrap(), "{page}");
    }

    #[test]
    fn every_variant_is_drawn_and_an_empty_cell_is_no_trouble() {
        for variant in [Variant::Flow, Variant::FlowBar, Variant::ErrorsOnly, Variant::Icons] {
            for cells in [[611, 39, 19, 331], [0, 0, 5, 5], [100, 0, 0, 0], [99_000, 500, 1, 499]] {
                let page = drawn(&cells, variant);
                assert!(!page.contains("NaN") && !page.contains("inf"), "{variant:?} {cells:?}");
            }
        }
    }

    #[test]
    fn ribbons_are_as_thick_as_their_share() {
        let [correct, mistake] = ribbons(75, 100, [5, 8]);
        assert!(correct.starts_with("M0 4.0") && mistake.starts_with("M0 73.0"), "{correct} {mistake}");
    }

    #[test]
    fn boxes_are_as_high_as_people_are_many_and_symbols_as_many() {
        let page = drawn(&[611, 39, 19, 331], Variant::Flow);
        // 350 and 650 of 1,000; nearly all of both are right.
        for class in ["branch of-4", "branch of-7", "ends of-9"] {
            assert!(page.contains(class), "{class}: {page}");
        }
        let drawn = pictogram(350, 19, 1_000);
        // 35 symbols in rows of 20, of which 1.9 are filled.
        assert!(
            drawn.contains("viewBox=\"0 0 198 20\"") && drawn.contains("class=\"mistake\" d=\"M0 5H19.0\""),
            "{drawn}"
        );
        assert!(drawn.contains("M0 15H150.0"), "{drawn}");
        assert!(!pictogram(0, 0, 0).contains("NaN"));
    }
}
