//! A made-up language for tests: accents show what is not in the catalogue, length what does not fit, and the
//! direction what assumes left to right.

use super::{Language, Words};
use std::sync::LazyLock;

static WORDS: LazyLock<Words> = LazyLock::new(|| Language::English.words().map(|text| accented(text).leak()));

/// The English sentences, changed once and kept.
pub fn words() -> &'static Words {
    &WORDS
}

/// The sentence with accents, two fifths longer; holes stay as they are.
fn accented(sentence: &str) -> String {
    let mut text = String::from("[");
    let (mut in_hole, mut letters) = (false, 0);
    for character in sentence.chars() {
        match character {
            '{' => in_hole = true,
            '}' => in_hole = false,
            _ => letters += usize::from(!in_hole),
        }
        text.push(if in_hole { character } else { with_accent(character) });
    }
    // Words, not one long one: real translations break across lines.
    for step in 0..letters * 2 / 5 {
        text.push(if step % 6 == 0 { ' ' } else { '~' });
    }
    text.push(']');
    text
}

fn with_accent(letter: char) -> char {
    match letter {
        'a' => 'á',
        'e' => 'é',
        'i' => 'í',
        'o' => 'ö',
        'u' => 'ü',
        'A' => 'Å',
        'E' => 'É',
        'n' => 'ñ',
        's' => 'š',
        'c' => 'ç',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sentences_grow_and_holes_stay() {
        let text = super::accented("about {low} left");
        assert!(text.starts_with("[ábö") && text.contains("{low}"), "{text}");
        assert!(text.chars().count() >= 16 * 7 / 5 - 3, "{text}");
    }
}
