//! What the pages say, one file per language.
//!
//! A language is a [`Words`]: a struct with a field per sentence, so a missing sentence does not compile. Sentences
//! with numbers or names in them have `{holes}`; the tests see to it that every language has the same holes. What a
//! study says about its own subject (classes, mistakes, consent) is in the study file, not here.

mod english;
mod french;
mod german;
mod number;
mod pseudo;
mod spanish;
mod words;

pub use number::{Numbers, sign};
pub use words::{Forms, Words};

use serde::{Deserialize, Serialize};

/// A language the pages are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[serde(rename = "en")]
    English,
    /// German, in the polite form.
    #[serde(rename = "de")]
    German,
    /// French, in the polite form.
    #[serde(rename = "fr")]
    French,
    /// Spanish, in the polite form.
    #[serde(rename = "es")]
    Spanish,
    /// English with accents, forty per cent longer and from right to left: shows what a translation may break.
    #[serde(rename = "en-XA")]
    Pseudo,
}

impl Language {
    /// The languages people are offered.
    pub const OFFERED: [Self; 4] = [Self::English, Self::German, Self::Spanish, Self::French];

    /// Reads a tag such as `de` or `de-AT`; `None` for a language we do not have.
    pub fn from_tag(tag: &str) -> Option<Self> {
        if tag.eq_ignore_ascii_case("en-XA") {
            return Some(Self::Pseudo);
        }
        let primary = tag.split('-').next().unwrap_or_default();
        Self::OFFERED.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The first language of an `Accept-Language` header that is among those on offer.
    pub fn accepted(header: &str, offered: &[Self]) -> Option<Self> {
        let tags = header.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
        tags.filter_map(Self::from_tag).find(|language| offered.contains(language))
    }

    /// The tag of the `lang` attribute.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Pseudo => "en-XA",
        }
    }

    /// What it calls itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::French => "Français",
            Self::Spanish => "Español",
            Self::Pseudo => "Þšéüðö",
        }
    }

    /// The `dir` attribute.
    pub fn direction(self) -> &'static str {
        if self == Self::Pseudo { "rtl" } else { "ltr" }
    }

    /// Its sentences.
    pub fn words(self) -> &'static Words {
        match self {
            Self::English => &english::WORDS,
            Self::German => &german::WORDS,
            Self::French => &french::WORDS,
            Self::Spanish => &spanish::WORDS,
            Self::Pseudo => pseudo::words(),
        }
    }

    /// How it writes numbers.
    pub fn numbers(self) -> Numbers {
        match self {
            Self::English | Self::Pseudo => Numbers { thousands: ",", decimal: ".", percent: "\u{a0}%" },
            Self::German | Self::Spanish => Numbers { thousands: ".", decimal: ",", percent: "\u{a0}%" },
            // A narrow no-break space between thousands, as French typography has it.
            Self::French => Numbers { thousands: "\u{202f}", decimal: ",", percent: "\u{202f}%" },
        }
    }

    /// Which form a noun takes after a count.
    pub fn plural(self, count: u64) -> Plural {
        let singular = match self {
            Self::English | Self::German | Self::Spanish | Self::Pseudo => count == 1,
            Self::French => count < 2,
        };
        if singular { Plural::One } else { Plural::Other }
    }

    /// Which form a noun takes after a number of tenths: English says 1 point and 1.5 points, French 1,5 point.
    pub fn plural_of_tenths(self, tenths: u64) -> Plural {
        match (self, tenths % 10) {
            (Self::French, _) | (_, 0) => self.plural(tenths / 10),
            _ => Plural::Other,
        }
    }
}

/// The form of a noun after a number. English, German and French need no more than these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plural {
    /// After 1, and in French after 0.
    One,
    /// After any other number.
    Other,
}

/// Puts values into the `{holes}` of a sentence.
pub fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(sentence.len() + 32);
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((hole, tail)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        let value = values.iter().find(|(name, _)| *name == hole);
        debug_assert!(value.is_some(), "nothing to put into {{{hole}}} of {sentence:?}");
        filled.push_str(value.map_or("", |(_, value)| value));
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn holes(sentence: &str) -> BTreeSet<&str> {
        sentence.split('{').skip(1).map(|part| part.split('}').next().unwrap()).collect()
    }

    #[test]
    fn every_language_says_everything_with_the_same_holes() {
        let english = Language::English.words().all();
        for language in [Language::German, Language::Spanish, Language::French, Language::Pseudo] {
            for ((key, original), (_, translated)) in english.iter().zip(language.words().all()) {
                assert!(!translated.trim().is_empty(), "{key} is empty in {}", language.tag());
                assert_eq!(holes(original), holes(translated), "{key} in {}: {translated}", language.tag());
            }
        }
    }

    #[test]
    fn translations_differ_from_the_english() {
        // Words that are the same in two languages, or are no words at all.
        let shared = ["pause", "pause_title", "points.one", "points.other"];
        for language in [Language::German, Language::Spanish, Language::French] {
            let pairs = Language::English.words().all().into_iter().zip(language.words().all());
            for ((key, original), (_, translated)) in pairs {
                let same = original == translated && !shared.contains(&key);
                assert!(!same, "{key} is not translated into {}: {original}", language.tag());
            }
        }
    }

    #[test]
    fn nobody_is_labelled() {
        // Guideline G6: a system predicts; what is true of a person is not its label.
        let banned = ["label", "etikett", "étiquet", "gekennzeichnet", "etiquet"];
        for language in Language::OFFERED {
            for (key, sentence) in language.words().all() {
                let lower = sentence.to_lowercase();
                assert!(!banned.iter().any(|word| lower.contains(word)), "{key}: {sentence}");
            }
        }
    }

    #[test]
    fn per_cent_is_written_one_way_in_all_places() {
        for language in Language::OFFERED {
            let percent = language.numbers().percent;
            assert!(percent.ends_with('%') && percent.chars().count() == 2, "{}", language.tag());
            for (key, sentence) in language.words().all() {
                let mut before = ' ';
                for character in sentence.chars() {
                    let bare =
                        character == '%' && (before.is_ascii_digit() || before == ' ' || before == '}');
                    assert!(!bare, "{key} in {}: {sentence}", language.tag());
                    before = character;
                }
            }
        }
    }

    #[test]
    fn a_study_is_checked_for_the_languages_there_are() {
        let pages = equipoise_study::lint::PAGES;
        let known = Language::OFFERED.into_iter().chain([Language::Pseudo]).map(Language::tag);
        assert!(pages.len() == known.clone().count() && known.clone().all(|tag| pages.contains(&tag)));
    }

    #[test]
    fn holes_are_filled_and_stray_braces_kept() {
        assert_eq!(fill("{a} of {b}", &[("a", "1"), ("b", "{x}")]), "1 of {x}");
        assert_eq!(fill("no end {", &[]), "no end {");
    }

    #[test]
    fn the_browser_may_ask_for_a_language() {
        let offered = Language::OFFERED;
        assert_eq!(Language::accepted("nl, de-CH;q=0.8, en", &offered), Some(Language::German));
        assert_eq!(Language::accepted("de, fr", &[Language::English]), None);
        assert_eq!(Language::accepted("", &offered), None);
    }

    #[test]
    fn french_nothing_is_singular() {
        assert_eq!(Language::French.plural(0), Plural::One);
        assert_eq!(Language::German.plural(0), Plural::Other);
        assert_eq!(Language::English.plural(1), Plural::One);
        let after = |language: Language| [10, 15, 20].map(|tenths| language.plural_of_tenths(tenths));
        assert_eq!(after(Language::English), [Plural::One, Plural::Other, Plural::Other]);
        assert_eq!(after(Language::French), [Plural::One, Plural::One, Plural::Other]);
    }
}
