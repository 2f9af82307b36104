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
    let flow = Flow {
        words: Language::English.words(),
        id,
        name: format!("System {letter}"),
        caption,
        branches: [(1, positive), (0, negative)]
            .map(|(truth, (name, ends))| drawn(truth, name, ends, Language::English)),
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
    drawn(truth, class.truth.r#in(tag), ends, language)
}

fn drawn(
    truth: usize,
    name: &str,
    [(right, correct), (wrong, mistaken)]: Ends,
    language: Language,
) -> Branch {
    let (total, numbers) = (correct + mistaken, language.numbers());
    let end = |count: u64, what: &str| End {
        count: numbers.count(count),
        rate: numbers.percent(count, total),
        what: what.to_owned(),
    };
    let [correct_ribbon, mistake_ribbon] = ribbons(correct, total);
    Branch {
        truth: name.to_owned(),
        total: numbers.count(total),
        sign: sign(truth),
        correct: end(correct, right),
        mistake: end(mistaken, wrong),
        correct_ribbon,
        mistake_ribbon,
        bar: bar(correct, total, truth),
    }
}

/// Stripes for missed cases, dots for false alarms.
pub fn sign(truth: usize) -> &'static str {
    if truth == 1 { "first" } else { "second" }
}

/// The two bands from the truth to its predictions, in a square of 100. At the truth their heights are in proportion;
/// each ends in the middle of its box.
fn ribbons(correct: u64, total: u64) -> [String; 2] {
    const HEIGHT: f64 = 92.0;
    // A band of nobody is not drawn, and one of a few can still be seen.
    let share = if total == 0 { 0.5 } else { correct as f64 / total as f64 };
    let split = match share {
        0.0 | 1.0 => HEIGHT * share,
        share => (HEIGHT * share).clamp(1.5, HEIGHT - 1.5),
    };
    let band = |top: f64, bottom: f64, middle: f64| {
        let half = (bottom - top) * 0.45 / 2.0;
        let (upper, lower) = (middle - half, middle + half);
        format!(
            "M0 {top:.1}C50 {top:.1} 50 {upper:.1} 100 {upper:.1}L100 {lower:.1}C50 {lower:.1} 50 {bottom:.1} 0 {bottom:.1}Z"
        )
    };
    [band(4.0, 4.0 + split, 24.0), band(4.0 + split, 4.0 + HEIGHT, 76.0)]
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
        let [correct, mistake] = ribbons(75, 100);
        assert!(correct.starts_with("M0 4.0") && mistake.starts_with("M0 73.0"), "{correct} {mistake}");
    }
}
