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
    /// The heads of the columns: the mark of the system's dots, and its letter.
    columns: Vec<(&'static str, &'static str)>,
    parts: Vec<Part>,
}

struct Part {
    title: String,
    rows: Vec<Row>,
    /// What the gaps are in.
    mistakes: String,
    gaps: Vec<String>,
}

struct Row {
    name: String,
    size: String,
    /// Each system's number.
    numbers: Vec<String>,
    dots: String,
}

/// The difference between the systems: mistakes overall, then gaps (UX-11).
pub fn difference(study: &Study, shown: &Shown, language: Language) -> String {
    let (words, numbers) = (language.words(), language.numbers());
    let mut parts = vec![];
    if let Some(shares) = Shares::of(study) {
        let [a, b] = [&shown.a, &shown.b].map(|cells| shares.mistakes(shown, cells).round() as u64);
        let sentence = if b > a { &words.overall_more } else { &words.overall_fewer };
        let by = a.abs_diff(b);
        if by > 0 {
            parts.push(fill(sentence.at(language, by), &[("count", &numbers.count(by))]));
        }
    }
    for (truth, predicted) in kinds(shown) {
        let [a, b] = [&shown.a, &shown.b].map(|cells| gap(shown, cells, truth, predicted).0);
        let sentence = if b > a { words.gap_larger } else { words.gap_smaller };
        if a != b {
            let mistakes = Mistakes::of(study, truth, predicted, language).many;
            let by = a.abs_diff(b);
            let points = words.points.of(language.plural_of_tenths(by));
            let points = fill(points, &[("count", &tenth(language, by))]);
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
    let mut parts: Vec<Part> = overall(study, shown, systems, language).into_iter().collect();
    parts.extend(kinds(shown).map(|kind| part(study, shown, kind, systems, language)));
    let columns = [("●", "A"), ("□", "B")].into_iter().take(systems.len()).collect();
    Groups { words: language.words(), columns, parts }.render().expect("templates write to a string")
}

fn overall(study: &Study, shown: &Shown, systems: &[&[u64]], language: Language) -> Option<Part> {
    let (words, numbers) = (language.words(), language.numbers());
    let shares = Shares::of(study)?;
    let found: Vec<f64> = systems.iter().map(|cells| shares.mistakes(shown, cells).round()).collect();
    let people = study.task.people.r#in(language.tag());
    let thousand = numbers.count(1_000);
    let title = fill(words.out_of, &[("count", &thousand), ("people", people)]);
    Some(Part {
        title: format!("{} ({title})", words.table_wrong),
        rows: vec![Row {
            name: words.overall.to_owned(),
            size: String::new(),
            numbers: found.iter().map(|mistakes| numbers.count(*mistakes as u64)).collect(),
            dots: dots(&found.iter().map(|mistakes| mistakes / 10.0).collect::<Vec<f64>>()),
        }],
        mistakes: String::new(),
        gaps: vec![],
    })
}

fn part(
    study: &Study,
    shown: &Shown,
    (truth, predicted): (usize, usize),
    systems: &[&[u64]],
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
        Row {
            name: sentence::capital(group_name(group)),
            size,
            numbers: found.iter().map(|found| tenth(language, *found)).collect(),
            dots: dots(&found.iter().map(|found| *found as f64 / 10.0).collect::<Vec<f64>>()),
        }
    };
    let gaps = systems.iter().zip(["A", "B"]).map(|(cells, letter)| {
        let name = sentence::system(study, letter, language);
        match gap(shown, cells, truth, predicted) {
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
    Part {
        title: sentence::capital(&fill(words.per_hundred, &[("mistakes", &mistakes), ("class", class)])),
        rows: (0..shown.groups).map(row).collect(),
        gaps: gaps.collect(),
        mistakes: sentence::capital(&mistakes),
    }
}

/// A on a filled and B on a hollow dot, both on the scale from 0 to 100.
fn dots(values: &[f64]) -> String {
    let at = |value: &f64| 8.0 + 1.84 * value.clamp(0.0, 100.0);
    let mut marks = String::new();
    if let [a, b] = values {
        marks += &format!("<path class=\"join\" d=\"M{:.1} 16H{:.1}\"/>", at(a), at(b));
    }
    if let Some(a) = values.first() {
        marks += &format!("<circle class=\"dot-a\" cx=\"{:.1}\" cy=\"16\" r=\"6\"/>", at(a));
    }
    if let Some(b) = values.get(1) {
        let left = at(b) - 5.0;
        marks += &format!("<rect class=\"dot-b\" x=\"{left:.1}\" y=\"11\" width=\"10\" height=\"10\"/>");
    }
    format!(
        "<svg class=\"dots\" viewBox=\"0 0 200 32\" preserveAspectRatio=\"xMinYMid\" aria-hidden=\"true\">\
         <path class=\"axis\" d=\"M8 16H192M8 10V22M192 10V22\"/>{marks}</svg>"
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
        Shown { people: 100, classes: 2, groups: 2, a: cells(a), b: cells(b) }
    }

    #[test]
    fn one_point_is_singular_and_groups_need_no_quotes() {
        let study = Study::parse(template::find("group-fair-hiring").unwrap().text).unwrap();
        // 120 of 1,000 applicants are suited women.
        let said = |a, b, language| difference(&study, &turned_away(a, b), language);
        let one = said([20, 10], [19, 10], Language::English);
        assert_eq!(
            one,
            "With B: 1 fewer mistake per 1,000 overall and a gap in suited applicants turned away 1 point smaller."
        );
        let many = said([20, 10], [30, 10], Language::English);
        assert!(
            many.starts_with("With B: 12 more mistakes") && many.ends_with("10 points larger."),
            "{many}"
        );
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
        let study = Study::parse(template::find("group-fair-hiring").unwrap().text).unwrap();
        let shown = turned_away([20, 10], [20, 10]);
        let columns = |page: &str| page.matches("<td class=\"big\">").count();
        // Everyone, and two groups for each of two kinds of mistake.
        assert_eq!(columns(&single(&study, &shown, Language::English)), 5);
        assert_eq!(columns(&html(&study, &shown, Language::English)), 10);
    }

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
