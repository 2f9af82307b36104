//! Groups: overall mistakes first, then each kind of mistake group by group out of the same hundred, with its gap, and
//! the true sizes of the groups (UX-10).

use crate::language::{Language, Words, fill};
use crate::sentence::{self, Mistakes};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::groups::{Differs, Shares, gap, kinds, tenths};
use equipoise_study::shown::Shown;

#[derive(Template)]
#[template(path = "groups.html")]
struct Groups {
    words: &'static Words,
    names: (String, String),
    parts: Vec<Part>,
}

struct Part {
    title: String,
    scale: String,
    rows: Vec<Row>,
    gaps: Vec<String>,
}

struct Row {
    name: String,
    size: String,
    a: String,
    b: String,
    dots: String,
}

/// The difference between the systems: mistakes overall, then gaps (UX-11).
pub fn difference(study: &Study, shown: &Shown, language: Language) -> String {
    let (words, numbers) = (language.words(), language.numbers());
    let mut parts = vec![];
    if let Some(shares) = Shares::of(study) {
        let [a, b] = [&shown.a, &shown.b].map(|cells| shares.mistakes(shown, cells).round() as u64);
        let sentence = if b > a { words.overall_more } else { words.overall_fewer };
        if a != b {
            parts.push(fill(sentence, &[("count", &numbers.count(a.abs_diff(b)))]));
        }
    }
    for (truth, predicted) in kinds(shown) {
        let [a, b] = [&shown.a, &shown.b].map(|cells| gap(shown, cells, truth, predicted).0);
        let sentence = if b > a { words.gap_larger } else { words.gap_smaller };
        if a != b {
            let mistakes = Mistakes::of(study, truth, predicted, language).many;
            let points = points(language, a.abs_diff(b));
            parts.push(fill(sentence, &[("mistakes", &mistakes), ("points", &points)]));
        }
    }
    if parts.is_empty() {
        return words.difference_none.to_owned();
    }
    let sentence = fill(words.difference, &[("system", "B"), ("list", &sentence::list(language, &parts))]);
    // What is the same is said first, so that nobody looks for it.
    match Shares::of(study).map(|shares| shares.differs(shown)) {
        Some(Differs::Performance) => format!("{} {sentence}", words.gaps_same),
        Some(Differs::Gaps) => format!("{} {sentence}", words.overall_same),
        Some(Differs::TradeOff) | None => sentence,
    }
}

/// Tenths as the language writes them, without a decimal that is nought.
fn points(language: Language, tenths: u64) -> String {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}{}{rest}", language.numbers().decimal),
    }
}

/// All parts of the picture.
pub fn html(study: &Study, shown: &Shown, language: Language) -> String {
    let names = ["A", "B"].map(|letter| sentence::system(study, letter, language));
    let mut parts: Vec<Part> = overall(study, shown, language).into_iter().collect();
    parts.extend(kinds(shown).map(|kind| part(study, shown, kind, &names, language)));
    Groups { words: language.words(), names: names.into(), parts }
        .render()
        .expect("templates write to a string")
}

fn overall(study: &Study, shown: &Shown, language: Language) -> Option<Part> {
    let (words, numbers) = (language.words(), language.numbers());
    let shares = Shares::of(study)?;
    let [a, b] = [&shown.a, &shown.b].map(|cells| shares.mistakes(shown, cells).round());
    let people = study.task.people.r#in(language.tag());
    let thousand = numbers.count(1_000);
    let title = fill(words.out_of, &[("count", &thousand), ("people", people)]);
    Some(Part {
        title: format!("{} ({title})", words.table_wrong),
        scale: thousand,
        rows: vec![Row {
            name: words.overall.to_owned(),
            size: String::new(),
            a: numbers.count(a as u64),
            b: numbers.count(b as u64),
            dots: dots(a / 10.0, b / 10.0),
        }],
        gaps: vec![],
    })
}

fn part(
    study: &Study,
    shown: &Shown,
    (truth, predicted): (usize, usize),
    names: &[String; 2],
    language: Language,
) -> Part {
    let (words, tag) = (language.words(), language.tag());
    let group_name = |group: usize| study.task.groups[group].name.r#in(tag);
    let mistakes = Mistakes::of(study, truth, predicted, language).many;
    let class = study.task.classes[truth].truth.r#in(tag);
    let row = |group: usize| {
        let [a, b] = [&shown.a, &shown.b].map(|cells| tenths(shown, cells, group, truth, predicted));
        let size = Shares::of(study).map_or(String::new(), |shares| {
            let count = language.numbers().count(shares.size(group).round() as u64);
            let whole = language.numbers().count(1_000);
            fill(words.group_size, &[("count", &count), ("whole", &whole)])
        });
        Row {
            name: group_name(group).to_owned(),
            size,
            a: points(language, a),
            b: points(language, b),
            dots: dots(a as f64 / 10.0, b as f64 / 10.0),
        }
    };
    let gaps = [&shown.a, &shown.b].into_iter().zip(names).map(|(cells, name)| {
        match gap(shown, cells, truth, predicted) {
            (0, ..) => fill(words.gap_none, &[("system", name)]),
            (size, most, least) => fill(
                words.gap_more,
                &[
                    ("system", name),
                    ("points", &points(language, size)),
                    ("group", group_name(most)),
                    ("other", group_name(least)),
                ],
            ),
        }
    });
    Part {
        title: fill(words.per_hundred, &[("mistakes", &mistakes), ("class", class)]),
        scale: "100".to_owned(),
        rows: (0..shown.groups).map(row).collect(),
        gaps: gaps.collect(),
    }
}

/// A on a filled and B on a hollow dot, both on the scale from 0 to 100.
fn dots(a: f64, b: f64) -> String {
    let at = |value: f64| 8.0 + 1.84 * value.clamp(0.0, 100.0);
    let (a, b) = (at(a), at(b));
    format!(
        "<svg class=\"dots\" viewBox=\"0 0 200 32\" preserveAspectRatio=\"xMinYMid\" aria-hidden=\"true\"><path class=\"axis\" d=\"M8 16H192M8 10V22M192 10V22\"/>\
         <path class=\"join\" d=\"M{a:.1} 16H{b:.1}\"/><circle class=\"dot-a\" cx=\"{a:.1}\" cy=\"16\" r=\"6\"/>\
         <rect class=\"dot-b\" x=\"{:.1}\" y=\"11\" width=\"10\" height=\"10\"/></svg>",
        b - 5.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gap_is_between_the_groups_it_names(cells in proptest::collection::vec(0_u64..=100, 6)) {
            // Three groups, two classes: so many of 100 in each are mistaken.
            let a: Vec<u64> = cells.iter().enumerate().flat_map(|(row, &wrong)| {
                if row % 2 == 0 { [100 - wrong, wrong] } else { [wrong, 100 - wrong] }
            }).collect();
            let shown = Shown { people: 100, classes: 2, groups: 3, a: a.clone(), b: a };
            for (truth, predicted) in kinds(&shown) {
                let (size, most, least) = gap(&shown, &shown.a, truth, predicted);
                let rates: Vec<u64> = (0..3).map(|group| cells[2 * group + truth]).collect();
                prop_assert_eq!(size, 10 * (rates.iter().max().unwrap() - rates.iter().min().unwrap()));
                prop_assert_eq!(size, 10 * (rates[most] - rates[least]));
            }
        }
    }
}
