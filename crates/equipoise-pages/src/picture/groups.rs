//! Groups: of each kind of mistake how many overall and how far the groups are apart, in an order that stays. Each system has
//! an axis with the groups as dots, so that the gap is a length; all axes of a table have one scale, and all numbers one unit
//! (UX-10). What is behind it, group by group with the true sizes of the groups, is folded below.

use crate::language::{Language, Words, fill, sign};
use crate::sentence::{self, Mistakes};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::groups::{Shares, gap, kinds, tenths};
use equipoise_study::shown::Shown;

/// The mark of each group's dot in words; beyond these, dots look alike.
const MARKS: [&str; 2] = ["●", "○"];

#[derive(Template)]
#[template(path = "groups.html")]
struct Groups {
    words: &'static Words,
    /// The systems.
    names: Vec<String>,
    /// How many columns the table has.
    columns: usize,
    /// The groups with their marks.
    legend: Vec<(&'static str, String)>,
    parts: Vec<Part>,
}

struct Part {
    title: String,
    /// Overall, and the gap.
    rows: Vec<Row>,
    /// Of each system the groups on an axis.
    axes: Vec<String>,
    /// Group by group.
    groups: Vec<Row>,
    /// What the gaps are in.
    mistakes: String,
    gaps: Vec<String>,
}

struct Row {
    name: String,
    more: String,
    /// Each system's number.
    numbers: Vec<String>,
    /// How many more or fewer B has.
    change: Option<String>,
    /// Whether it differs between the systems.
    differs: bool,
}

impl Row {
    fn new(name: String, more: String, tenths: &[u64], language: Language) -> Self {
        let change = match *tenths {
            [a, b] if a == b => Some(language.words().same.to_owned()),
            [a, b] => Some(format!("{}{}", sign(a, b), tenth(language, a.abs_diff(b)))),
            _ => None,
        };
        Self {
            name,
            more,
            numbers: tenths.iter().map(|found| tenth(language, *found)).collect(),
            change,
            differs: tenths.windows(2).any(|pair| pair[0] != pair[1]),
        }
    }
}

/// How many of 100 of a class have a mistake in all groups together, in tenths.
fn overall(study: &Study, shown: &Shown, cells: &[u64], truth: usize, predicted: usize) -> u64 {
    let groups = 0..shown.groups;
    let found = match Shares::of(study) {
        Some(shares) => shares.overall(shown, cells, truth, predicted),
        // Not known how large they are: as if they were alike.
        None => {
            let all: u64 = groups.map(|group| cells[shown.cell(group, truth, predicted)]).sum();
            all as f64 / shown.groups as f64
        }
    };
    (1_000.0 * found / shown.people.max(1) as f64).round() as u64
}

/// The difference between the systems: of each kind of mistake, overall and in the gap (UX-11). Every row that differs is named.
pub fn difference(study: &Study, shown: &Shown, language: Language) -> String {
    let words = language.words();
    let mut parts = vec![];
    for (truth, predicted) in kinds(shown) {
        let mistakes = Mistakes::of(study, truth, predicted, language).many;
        let [a, b] = [&shown.a, &shown.b].map(|cells| overall(study, shown, cells, truth, predicted));
        if a != b {
            let sentence = if b > a { words.rate_more } else { words.rate_fewer };
            parts
                .push(fill(sentence, &[("count", &tenth(language, a.abs_diff(b))), ("mistakes", &mistakes)]));
        }
        let [a, b] = [&shown.a, &shown.b].map(|cells| gap(shown, cells, truth, predicted).0);
        if a != b {
            let sentence = if b > a { words.gap_larger } else { words.gap_smaller };
            let by = a.abs_diff(b);
            let points = words.points.of(language.plural_of_tenths(by));
            let points = fill(points, &[("count", &tenth(language, by))]);
            parts.push(fill(sentence, &[("mistakes", &mistakes), ("points", &points)]));
        }
    }
    match parts.is_empty() {
        true => words.difference_none.to_owned(),
        false => fill(words.difference, &[("system", "B"), ("list", &sentence::list(language, &parts))]),
    }
}

/// Tenths as the language writes them, without a decimal that is nought.
fn tenth(language: Language, tenths: u64) -> String {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}{}{rest}", language.numbers().decimal),
    }
}

/// All parts of the picture.
pub fn html(study: &Study, shown: &Shown, language: Language) -> String {
    drawn(study, shown, &[&shown.a, &shown.b], language)
}

/// One system alone.
pub fn single(study: &Study, shown: &Shown, language: Language) -> String {
    drawn(study, shown, &[&shown.a], language)
}

fn drawn(study: &Study, shown: &Shown, systems: &[&[u64]], language: Language) -> String {
    let rates = kinds(shown).flat_map(|(truth, predicted)| {
        let of = move |cells: &&[u64]| {
            let of_group = |group| tenths(shown, cells, group, truth, predicted);
            (0..shown.groups).map(of_group).collect::<Vec<u64>>()
        };
        systems.iter().flat_map(of).collect::<Vec<u64>>()
    });
    // One scale for the whole table, up to the next ten.
    let most = rates.max().unwrap_or(0).div_ceil(100).max(1) * 100;
    let parts = kinds(shown).map(|kind| part(study, shown, kind, systems, most, language)).collect();
    let names: Vec<String> = ["A", "B"]
        .iter()
        .take(systems.len())
        .map(|letter| sentence::system(study, letter, language))
        .collect();
    let marks = MARKS.iter().chain(std::iter::repeat(&MARKS[1]));
    let groups = study.task.groups.iter().map(|group| group.name.r#in(language.tag()).to_owned());
    let legend = marks.copied().zip(groups).collect();
    let columns = if names.len() == 2 { 4 } else { 2 };
    Groups { words: language.words(), names, columns, legend, parts }
        .render()
        .expect("templates write to a string")
}

fn part(
    study: &Study,
    shown: &Shown,
    (truth, predicted): (usize, usize),
    systems: &[&[u64]],
    most: u64,
    language: Language,
) -> Part {
    let (words, tag) = (language.words(), language.tag());
    let group_name = |group: usize| study.task.groups[group].name.r#in(tag);
    let mistakes = Mistakes::of(study, truth, predicted, language).many;
    let class = study.task.classes[truth].truth.r#in(tag);
    let row = |group: usize| {
        let found: Vec<u64> =
            systems.iter().map(|cells| tenths(shown, cells, group, truth, predicted)).collect();
        let size = Shares::of(study).map_or(String::new(), |shares| {
            let count = language.numbers().count(shares.size(group).round() as u64);
            let whole = language.numbers().count(1_000);
            fill(words.group_size, &[("count", &count), ("whole", &whole)])
        });
        Row::new(sentence::capital(group_name(group)), size, &found, language)
    };
    let found: Vec<(u64, usize, usize)> =
        systems.iter().map(|cells| gap(shown, cells, truth, predicted)).collect();
    let gaps = found.iter().zip(["A", "B"]).map(|(gap, letter)| {
        let name = sentence::system(study, letter, language);
        match *gap {
            (0, ..) => fill(words.gap_none, &[("system", &name)]),
            (size, most, least) => fill(
                words.gap_more,
                &[
                    ("system", &name),
                    ("points", &tenth(language, size)),
                    ("group", group_name(most)),
                    ("other", group_name(least)),
                ],
            ),
        }
    });
    // For whom there are more is said with the row where it is the same for both systems.
    let mut toward: Vec<(usize, usize)> =
        found.iter().filter(|(size, ..)| *size > 0).map(|(_, most, least)| (*most, *least)).collect();
    toward.dedup();
    let named = match toward[..] {
        [(most, least)] => {
            fill(words.gap_toward, &[("group", group_name(most)), ("other", group_name(least))])
        }
        _ => String::new(),
    };
    let all: Vec<u64> = systems.iter().map(|cells| overall(study, shown, cells, truth, predicted)).collect();
    let sizes: Vec<u64> = found.iter().map(|(size, ..)| *size).collect();
    Part {
        title: sentence::capital(&fill(words.per_hundred, &[("mistakes", &mistakes), ("class", class)])),
        rows: vec![
            Row::new(words.overall.to_owned(), String::new(), &all, language),
            Row::new(words.gap_short.to_owned(), named, &sizes, language),
        ],
        axes: systems
            .iter()
            .map(|cells| {
                let of = |group| tenths(shown, cells, group, truth, predicted);
                axis(&(0..shown.groups).map(of).collect::<Vec<u64>>(), most)
            })
            .collect(),
        groups: (0..shown.groups).map(row).collect(),
        gaps: gaps.collect(),
        mistakes: sentence::capital(&mistakes),
    }
}

/// The groups on an axis from 0 to the most, in tenths: the line between them is the gap.
fn axis(rates: &[u64], most: u64) -> String {
    let at = |rate: u64| 6.0 + 88.0 * rate as f64 / most as f64;
    let [least, largest] = [rates.iter().min(), rates.iter().max()].map(|end| at(end.copied().unwrap_or(0)));
    let dots: String = (rates.iter().enumerate())
        .map(|(group, rate)| {
            let class = if group == 0 { "first" } else { "other" };
            format!("<circle class=\"{class}\" cx=\"{:.1}%\" cy=\"12\" r=\"6\"/>", at(*rate))
        })
        .collect();
    format!(
        "<svg class=\"dots\"><line class=\"scale\" x1=\"6%\" y1=\"12\" x2=\"94%\" y2=\"12\"/>\
         <line class=\"scale\" x1=\"6%\" y1=\"7\" x2=\"6%\" y2=\"17\"/>\
         <line class=\"scale\" x1=\"94%\" y1=\"7\" x2=\"94%\" y2=\"17\"/>\
         <line class=\"gap\" x1=\"{least:.1}%\" y1=\"12\" x2=\"{largest:.1}%\" y2=\"12\"/>{dots}\
         <text x=\"6%\" y=\"31\" text-anchor=\"middle\">0</text>\
         <text x=\"94%\" y=\"31\" text-anchor=\"middle\">{}</text></svg>",
        most / 10
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::template;
    use proptest::prelude::*;

    /// So many of 100 suited women and men are turned away; nobody else is mistaken.
    fn turned_away(a: [u64; 2], b: [u64; 2]) -> Shown {
        let cells = |[women, men]: [u64; 2]| vec![100, 0, women, 100 - women, 100, 0, men, 100 - men];
        Shown { people: 100, classes: 2, groups: 2, a: cells(a), b: cells(b), values: None }
    }

    /// The template with its table, which tells how large the groups are.
    fn hiring() -> Study {
        let study = Study::parse(template::find("group-fair-hiring").unwrap().text).unwrap();
        let place = std::path::Path::new("../equipoise-study/src/templates");
        equipoise_study::Design::new(study, place).unwrap().study().clone()
    }

    #[test]
    fn one_point_is_singular_and_groups_need_no_quotes() {
        let study = hiring();
        let said = |a, b, language| difference(&study, &turned_away(a, b), language);
        let one = said([20, 10], [19, 10], Language::English);
        // 170 of 390 suited applicants are women. So 14.4 and 13.9 of 100 are shown, and the sentence is of what is shown.
        assert_eq!(
            one,
            "With B: 0.5 fewer suited applicants turned away per 100 and a gap in suited applicants turned away 1 point \
             smaller."
        );
        let many = said([20, 10], [30, 10], Language::English);
        assert!(many.starts_with("With B: 4.3 more suited") && many.ends_with("10 points larger."), "{many}");
        for (language, one, many) in [
            (Language::German, "um 1 Punkt größerer", "um 10 Punkte größerer"),
            (Language::French, "plus grand de 1 point.", "plus grand de 10 points."),
            (Language::Spanish, "1 punto mayor", "10 puntos mayor"),
        ] {
            let told = [[21, 10], [30, 10]].map(|b| said([20, 10], b, language));
            assert!(told[0].contains(one) && told[1].contains(many), "{told:?}");
        }
        let page = html(&study, &turned_away([20, 10], [30, 10]), Language::English);
        assert!(page.contains("10 more per 100 for women than for men."), "{page}");
        assert!(page.contains(">Suited applicants turned away, per 100 who are suited<"), "{page}");
    }

    #[test]
    fn one_system_has_one_column() {
        let study = hiring();
        let shown = turned_away([20, 10], [20, 10]);
        let columns = |page: &str| page.matches("<td class=\"amount big\">").count();
        // Everyone, the gap, and two groups for each of two kinds of mistake.
        assert_eq!(columns(&single(&study, &shown, Language::English)), 8);
        assert_eq!(columns(&html(&study, &shown, Language::English)), 16);
    }

    #[test]
    fn the_gap_is_a_length_on_one_scale_in_the_whole_table() {
        let page = html(&hiring(), &turned_away([40, 20], [30, 20]), Language::English);
        let lengths: Vec<f64> = page
            .split("class=\"gap\" x1=\"")
            .skip(1)
            .map(|line| {
                let (from, rest) = line.split_once('%').unwrap();
                let to = rest.split_once("x2=\"").unwrap().1.split('%').next().unwrap();
                to.parse::<f64>().unwrap() - from.parse::<f64>().unwrap()
            })
            .collect();
        // Suited applicants in A and in B, then unsuited ones, of whom nobody is mistaken.
        assert_eq!(lengths.len(), 4, "{page}");
        assert!((lengths[0] - 2.0 * lengths[1]).abs() < 0.2, "gaps of 20 and 10: {lengths:?}");
        assert_eq!(lengths[2..], [0.0, 0.0]);
        assert_eq!(page.matches(">40</text>").count(), 4, "one scale");
        assert!(page.contains("<td class=\"change\">−10</td>"), "{page}");
    }

    proptest! {
        #[test]
        fn the_gap_is_between_the_groups_it_names(cells in proptest::collection::vec(0_u64..=100, 6)) {
            // Three groups, two classes: so many of 100 in each are mistaken.
            let a: Vec<u64> = cells.iter().enumerate().flat_map(|(row, &wrong)| {
                if row % 2 == 0 { [100 - wrong, wrong] } else { [wrong, 100 - wrong] }
            }).collect();
            let shown = Shown { people: 100, classes: 2, groups: 3, a: a.clone(), b: a, values: None };
            for (truth, predicted) in kinds(&shown) {
                let (size, most, least) = gap(&shown, &shown.a, truth, predicted);
                let rates: Vec<u64> = (0..3).map(|group| cells[2 * group + truth]).collect();
                prop_assert_eq!(size, 10 * (rates.iter().max().unwrap() - rates.iter().min().unwrap()));
                prop_assert_eq!(size, 10 * (rates[most] - rates[least]));
            }
        }
    }
}
