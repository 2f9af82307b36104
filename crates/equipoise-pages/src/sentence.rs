//! Sentences made from the numbers on the screen.
//!
//! Nouns come from the study file in singular and plural, and the catalogue puts them where no language here inflects
//! them ("With B: 12 fewer missed cancers"), so that any study reads well in any language without a grammar.

use crate::language::{Language, Plural, fill};
use equipoise_study::Study;
use equipoise_study::exchange::{Amount, Exchange};
use equipoise_study::shown::Shown;
use std::cmp::Ordering;

/// What a kind of mistake is called after a count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    /// One of it.
    pub one: String,
    /// Several.
    pub many: String,
    /// In a picture.
    pub short: String,
}

impl Mistakes {
    /// The study's name for a kind of mistake; without one, "said benign, really malignant".
    pub fn of(study: &Study, truth: usize, predicted: usize, language: Language) -> Self {
        let tag = language.tag();
        if let Some(mistake) = study.mistake(truth, predicted) {
            let [one, many, short] =
                [&mistake.one, &mistake.many, &mistake.short].map(|text| text.r#in(tag).to_owned());
            return Self { one, many, short };
        }
        let [said, really] = [&study.task.classes[predicted].predicted, &study.task.classes[truth].truth];
        let values = [("said", said.r#in(tag)), ("really", really.r#in(tag))];
        let kind = fill(language.words().mistake_kind, &values);
        Self { one: kind.clone(), many: kind.clone(), short: kind }
    }

    /// The form after a count.
    pub fn counted(&self, language: Language, count: u64) -> &str {
        match language.plural(count) {
            Plural::One => &self.one,
            Plural::Other => &self.many,
        }
    }
}

/// "System A".
pub fn system(study: &Study, letter: &str, language: Language) -> String {
    format!("{} {letter}", study.task.system.r#in(language.tag()))
}

/// "12 fewer missed cancers": what the second has, compared with the first.
pub fn compared(language: Language, first: u64, second: u64, mistakes: &Mistakes) -> String {
    let words = language.words();
    let (sentence, count) = match second.cmp(&first) {
        Ordering::Less => (words.fewer, first - second),
        Ordering::Greater => (words.more, second - first),
        Ordering::Equal => return fill(words.as_many, &[("mistakes", &mistakes.many)]),
    };
    let number = language.numbers().count(count);
    fill(sentence, &[("count", &number), ("mistakes", mistakes.counted(language, count))])
}

/// The text as the start of a heading.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// "a, b and c".
pub fn list(language: Language, parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} {} {last}", most.join(", "), language.words().and),
    }
}

/// The kinds of mistake: truth, prediction, how many in A and in B. Of more than two classes in the order in which the study
/// lists them, which is by gravity and stays from one comparison to the next.
pub(crate) fn counted(study: &Study, shown: &Shown) -> Vec<(usize, usize, u64, u64)> {
    let mut kinds: Vec<_> = (shown.mistakes())
        .map(|(group, truth, predicted)| {
            let cell = shown.cell(group, truth, predicted);
            (truth, predicted, shown.a[cell], shown.b[cell])
        })
        .collect();
    if shown.classes > 2 {
        let is = |name: &str, class: usize| study.class(name) == Some(class);
        kinds.sort_by_key(|(truth, predicted, ..)| {
            let mut listed = study.task.mistakes.iter();
            listed.position(|m| is(&m.truth, *truth) && is(&m.predicted, *predicted)).unwrap_or(usize::MAX)
        });
    }
    kinds
}

/// The difference between the systems on the screen: "With B: 12 fewer missed cancers and 43 more false alarms."
///
/// Of two classes both mistakes are always named, in the order that was drawn for the question; of more, all that differ, in
/// the order of the rows.
pub fn difference(study: &Study, shown: &Shown, missed_first: bool, language: Language) -> String {
    let words = language.words();
    let mut kinds = counted(study, shown);
    if kinds.iter().all(|(.., a, b)| a == b) {
        return words.difference_none.to_owned();
    }
    if shown.classes > 2 {
        kinds.retain(|(.., a, b)| a != b);
    } else if !missed_first {
        kinds.reverse();
    }
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(truth, predicted, a, b)| {
            compared(language, a, b, &Mistakes::of(study, truth, predicted, language))
        })
        .collect();
    fill(words.difference, &[("system", "B"), ("list", &list(language, &parts))])
}

/// What a cost ratio and its interval say: the sentence, and the interval where the sentence does not hold it already.
///
/// By the rule of [`Exchange`] (RP-01 to RP-03).
pub fn exchange(
    study: &Study,
    [low, middle, high]: [f64; 3],
    language: Language,
) -> (String, Option<String>) {
    let (words, numbers) = (language.words(), language.numbers());
    let exchange = Exchange::within(middle, [low, high]);
    let [dear, cheap] =
        exchange.dearer_first(Mistakes::of(study, 1, 0, language), Mistakes::of(study, 0, 1, language));
    let sentence = |sentence: &str, amount: f64| {
        let amount = numbers.two_digits(amount);
        fill(sentence, &[("amount", &amount), ("cheap", &cheap.many), ("dear", &dear.one)])
    };
    match exchange.amount {
        Amount::Unsettled => (words.unsettled.to_owned(), None),
        Amount::AtLeast(low) => (sentence(words.exchange_at_least, low), None),
        Amount::About(about, range) => {
            let interval = range.map(|ends| {
                let [low, high] = ends.map(|end| numbers.two_digits(end));
                fill(words.interval, &[("low", &low), ("high", &high)])
            });
            (sentence(words.exchange, about), interval)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::template;

    fn cancer() -> Study {
        Study::parse(template::find("binary-cancer").unwrap().text).unwrap()
    }

    /// 100 missed and 200 false alarms in A; in B so many more or fewer.
    fn shown(missed: i64, alarms: i64) -> Shown {
        let cells = |missed: i64, alarms: i64| {
            [650 - alarms, alarms, missed, 350 - missed].map(|n| n as u64).to_vec()
        };
        Shown {
            people: 1_000,
            classes: 2,
            groups: 1,
            a: cells(100, 200),
            b: cells(100 + missed, 200 + alarms),
            values: None,
        }
    }

    #[test]
    fn the_difference_has_a_sentence_for_every_sign_and_plural_in_every_language() {
        let study = cancer();
        let mut golden = String::new();
        for language in Language::OFFERED {
            for missed in [-12, -1, 0, 1, 12] {
                for alarms in [-43, -1, 0, 1, 43] {
                    for first in [true, false] {
                        let sentence = difference(&study, &shown(missed, alarms), first, language);
                        golden.push_str(&format!(
                            "{} {missed:+} {alarms:+} {first}: {sentence}\n",
                            language.tag()
                        ));
                    }
                }
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/differences.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &golden).unwrap();
        }
        assert_eq!(golden, std::fs::read_to_string(path).unwrap(), "UPDATE_GOLDEN=1 rewrites it");
    }

    #[test]
    fn the_exchange_is_told_from_the_dearer_mistake() {
        let told = |ends| exchange(&cancer(), ends, Language::English);
        let (sentence, interval) = told([4.8, 6.13, 7.9]);
        assert_eq!(sentence, "You accept about 6.1 extra false alarms to avoid one missed cancer.");
        assert_eq!(interval.unwrap(), "95\u{a0}% interval: 4.8 to 7.9");
        let (sentence, interval) = told([0.125, 0.2, 0.25]);
        assert_eq!(sentence, "You accept about 5.0 extra missed cancers to avoid one false alarm.");
        assert_eq!(interval.unwrap(), "95\u{a0}% interval: 4.0 to 8.0");
    }

    #[test]
    fn what_is_not_settled_is_not_told() {
        let told = |ends| exchange(&cancer(), ends, Language::English).0;
        assert_eq!(told([0.8, 1.5, 2.0]), "Your answers do not settle which mistake you consider worse.");
        let open = told([20.0, 90.0, 4000.0]);
        assert!(open.starts_with("You accept at least 20 extra false alarms"), "{open}");
    }

    #[test]
    fn lists_end_in_and() {
        let parts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(Language::English, &parts), "a, b and c");
        assert_eq!(list(Language::German, &parts[..2]), "a und b");
        assert_eq!(list(Language::French, &parts[..1]), "a");
    }
}
