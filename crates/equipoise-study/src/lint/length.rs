//! Whether a study takes as long as its consent text promises.

use super::Lints;
use crate::design::Design;
use crate::length::Length;
use crate::text::Text;

/// Numbers as words, for promises of minutes in the languages of the templates.
const WORDS: [(&str, f64); 10] = [
    ("five fünf cinco cinq", 5.0),
    ("six sechs seis", 6.0),
    ("seven sieben siete", 7.0),
    ("eight acht ocho huit", 8.0),
    ("nine neun nueve neuf", 9.0),
    ("ten zehn diez dix", 10.0),
    ("twelve zwölf", 12.0),
    ("fifteen fünfzehn quince quinze", 15.0),
    ("twenty zwanzig veinte vingt", 20.0),
    ("thirty dreißig", 30.0),
];

impl Lints<'_> {
    /// What the consent text promises is what a rehearsal finds.
    pub(super) fn length(&mut self, design: &Design) {
        let Some(length) = design.known_length() else { return };
        let Length { comparisons, minutes, .. } = *length;
        if minutes > 20 {
            let what = format!("about {comparisons} comparisons and {minutes} minutes, expected at most 20");
            self.say("length", false, what);
        }
        let found: Vec<(String, Option<f64>)> = match &self.study.consent.text {
            Text::Plain(text) => vec![("consent.text".to_owned(), promised(text))],
            Text::ByLanguage(texts) => {
                texts.iter().map(|(tag, text)| (format!("consent.text.{tag}"), promised(text))).collect()
            }
        };
        for (place, promise) in found {
            match promise {
                Some(promise) if length.keeps(promise) => {}
                Some(promise) => {
                    let what =
                        format!("{place} promises {promise} minutes, expected about {minutes} as rehearsed");
                    self.say("length", false, what);
                }
                None => {
                    let what =
                        format!("{place} does not say how long it takes, expected about {minutes} minutes");
                    self.say("length", false, what);
                }
            }
        }
    }
}

/// How many minutes a text promises: the number before the word; of a range its middle.
fn promised(text: &str) -> Option<f64> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let number = |word: &str| -> Option<f64> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let ends: Option<Vec<f64>> = word.split(['-', '–', '—']).map(|end| end.parse().ok()).collect();
        match ends.as_deref() {
            Some([only]) => Some(*only),
            Some([low, high]) => Some(0.5 * (low + high)),
            _ => WORDS
                .iter()
                .find(|(names, _)| names.split(' ').any(|name| name == word))
                .map(|(_, number)| *number),
        }
    };
    words.windows(2).filter(|pair| pair[1].starts_with("minut")).find_map(|pair| number(&pair[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_of_minutes_are_found_in_every_language() {
        for (text, expected) in [
            ("It takes about 8 minutes.", Some(8.0)),
            ("It takes about fifteen minutes. You may stop after two.", Some(15.0)),
            ("Das dauert 8-10 Minuten.", Some(9.0)),
            ("Dura unos quince minutos.", Some(15.0)),
            ("Cela prend environ vingt minutes", Some(20.0)),
            ("You can stop within minutes.", None),
            ("It takes a while.", None),
        ] {
            assert_eq!(promised(text), expected, "{text}");
        }
    }
}
