//! Several classes: a row per kind of mistake, in an order that stays from one comparison to the next (UX-09).

use crate::language::{Language, Words, fill};
use crate::sentence::{self, Mistakes};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::shown::Shown;

/// So many rows are shown whatever differs; of more, those that are the same in both systems are folded away.
const ROWS: usize = 6;

#[derive(Template)]
#[template(path = "kinds.html")]
struct Kinds {
    words: &'static Words,
    names: Vec<String>,
    rows: Vec<Row>,
    folded: Option<String>,
    matrices: Vec<Matrix>,
}

struct Row {
    what: String,
    amounts: Vec<Amount>,
    /// Whether it differs between the systems.
    differs: bool,
    /// How many more or fewer B has, as counts and as rates.
    change: Option<(String, String)>,
}

struct Amount {
    count: String,
    rate: String,
    meter: String,
}

struct Matrix {
    name: String,
    predicted: Vec<String>,
    rows: Vec<MatrixRow>,
}

struct MatrixRow {
    truth: String,
    cells: Vec<String>,
}

/// The kinds of mistake that are shown, in their order: (truth, prediction, A, B). What is not shown is the same in A and B.
fn in_order(study: &Study, shown: &Shown) -> Vec<(usize, usize, u64, u64)> {
    let mut kinds = sentence::counted(study, shown);
    if kinds.len() > ROWS {
        kinds.retain(|(.., a, b)| a != b);
    }
    kinds
}

/// The table of mistakes, and all numbers folded below it.
pub fn html(study: &Study, shown: &Shown, language: Language) -> String {
    table(study, shown, &["A", "B"], &in_order(study, shown), language)
}

/// One system alone, with nothing left out.
pub fn single(study: &Study, shown: &Shown, language: Language) -> String {
    table(study, shown, &["A"], &sentence::counted(study, shown), language)
}

fn table(
    study: &Study,
    shown: &Shown,
    letters: &[&str],
    kinds: &[(usize, usize, u64, u64)],
    language: Language,
) -> String {
    let (words, numbers) = (language.words(), language.numbers());
    let pair = letters.len() == 2;
    let most_of_all = kinds.iter().map(|(.., a, _)| *a).max().unwrap_or(0).max(1);
    let row = |&(truth, predicted, a, b): &(usize, usize, u64, u64)| {
        let of_class = shown.of_class(0, truth);
        // Of two systems a row has its own scale: what differs is seen, however few there are. What is the same has no bar.
        let most = if pair { a.max(b) } else { most_of_all };
        let amount = |count: u64| Amount {
            count: numbers.count(count),
            rate: numbers.percent(count, of_class),
            meter: if pair && a == b {
                String::new()
            } else {
                super::meter(100.0 * count as f64 / most.max(1) as f64)
            },
        };
        let kind = Mistakes::of(study, truth, predicted, language);
        let amounts = [a, b].into_iter().take(letters.len()).map(amount).collect();
        let same = || words.same.to_owned();
        let change = pair.then(|| {
            let by = (numbers.change(a, b), numbers.change_of_shares(a, b, of_class));
            (by.0.unwrap_or_else(same), by.1.unwrap_or_else(same))
        });
        Row { what: sentence::capital(&kind.many), amounts, differs: a != b, change }
    };
    let folded = shown.mistakes().count() - kinds.len();
    let names: Vec<String> = letters.iter().map(|letter| sentence::system(study, letter, language)).collect();
    let kinds = Kinds {
        words,
        rows: kinds.iter().map(row).collect(),
        folded: (folded > 0).then(|| {
            let count = numbers.count(folded as u64);
            fill(words.others_same.at(language, folded as u64), &[("count", &count)])
        }),
        matrices: names
            .iter()
            .zip([&shown.a, &shown.b])
            .map(|(name, cells)| matrix(study, shown, cells, name, language))
            .collect(),
        names,
    };
    kinds.render().expect("templates write to a string")
}

fn matrix(study: &Study, shown: &Shown, cells: &[u64], name: &str, language: Language) -> Matrix {
    let (tag, numbers) = (language.tag(), language.numbers());
    let classes = &study.task.classes;
    let row = |truth: usize| MatrixRow {
        truth: classes[truth].truth.r#in(tag).to_owned(),
        cells: (0..shown.classes)
            .map(|predicted| numbers.count(cells[shown.cell(0, truth, predicted)]))
            .collect(),
    };
    Matrix {
        name: name.to_owned(),
        predicted: classes.iter().map(|class| class.predicted.r#in(tag).to_owned()).collect(),
        rows: (0..shown.classes).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::template;
    use proptest::prelude::*;

    #[test]
    fn one_system_has_one_column_and_every_kind_of_mistake() {
        let study = Study::parse(template::find("multiclass-triage").unwrap().text).unwrap();
        let cells = vec![40, 12, 8, 6, 20, 4, 2, 3, 5];
        let shown = Shown { people: 100, classes: 3, groups: 1, a: cells.clone(), b: cells, values: None };
        let page = single(&study, &shown, Language::English);
        assert_eq!(page.matches("<td class=\"amount\">").count(), 6, "{page}");
        assert!(!page.contains("System B") && !page.contains("the same in A and B"), "{page}");
        // The row the study's first question asks about, as its explanation quotes it.
        assert!(page.contains(">Emergencies taken for routine<"), "{page}");
        assert!(study.picture[0].explanation.r#in("en").contains("\"Emergencies taken for routine\" says 2"));
    }

    #[test]
    fn rows_stand_in_the_order_of_the_study_and_say_by_how_much_they_differ() {
        let mut study = Study::parse(template::find("multiclass-triage").unwrap().text).unwrap();
        let shown = Shown {
            people: 100,
            classes: 3,
            groups: 1,
            a: vec![40, 12, 8, 6, 20, 4, 2, 3, 5],
            b: vec![40, 12, 8, 1, 25, 4, 4, 3, 3],
            values: None,
        };
        let named = |study: &Study| -> Vec<String> {
            let page = html(study, &shown, Language::English);
            let rows = page.split("<th scope=\"row\">").skip(1).take(6);
            rows.map(|row| row.split('<').next().unwrap().to_owned()).collect()
        };
        let before = named(&study);
        assert_eq!(before[0], "Emergencies taken for routine");
        study.task.mistakes.reverse();
        let after = named(&study);
        assert!(before.iter().rev().eq(&after), "{after:?}");
        let page = html(&study, &shown, Language::English);
        assert!(page.contains(">+2<") && page.contains(">−5<"), "{page}");
        // Four kinds are the same: grey, without bars.
        assert_eq!((page.matches("class=\"same\"").count(), page.matches("class=\"meter\"").count()), (4, 4));
    }

    proptest! {
        #[test]
        fn nothing_that_differs_is_folded_away(
            classes in 3_usize..=8,
            cells in proptest::collection::vec((0_u64..50, 0_u64..50, any::<bool>()), 64),
        ) {
            let cells = &cells[..classes * classes];
            let a: Vec<u64> = cells.iter().map(|(a, ..)| *a).collect();
            let b = cells.iter().map(|(a, b, same)| if *same { *a } else { *b }).collect();
            let shown = Shown { people: 1_000, classes, groups: 1, a, b, values: None };
            let study = Study::parse(template::find("multiclass-triage").unwrap().text).unwrap();
            let all = sentence::counted(&study, &shown);
            let kinds = in_order(&study, &shown);
            prop_assert!(all.iter().filter(|(.., a, b)| a != b).all(|kind| kinds.contains(kind)));
            // What is shown is shown in the order of all.
            let places: Vec<usize> = kinds.iter().filter_map(|kind| all.iter().position(|k| k == kind)).collect();
            prop_assert!(places.is_sorted());
        }
    }
}
