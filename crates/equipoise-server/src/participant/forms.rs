//! What forms send, checked: either an event for the log or what is wrong with the form.

use crate::form::Fields;
use equipoise_pages::language::{Language, fill};
use equipoise_pages::page::{Field, Typed};
use equipoise_study::Study;
use equipoise_study::event::{Choice, Event, ItemAnswer, When};
use equipoise_study::study::{Item, ItemKind, Position};
use std::collections::BTreeMap;

impl Fields {
    /// The button that was pressed.
    pub fn choice(&self) -> Option<Choice> {
        match self.get("choice") {
            "a" => Some(Choice::A),
            "b" => Some(Choice::B),
            "cannot_tell" => Some(Choice::CannotTell),
            _ => None,
        }
    }
}

/// A number as people of a language type it: both marks are taken, so that nobody has to switch keyboards.
fn typed_number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    plain.replace(',', ".").parse().ok().filter(|number: &f64| number.is_finite())
}

/// A stated cost, or what is wrong with it.
pub fn stated(fields: &Fields, when: When, language: Language) -> Result<Event, (Typed, String)> {
    if fields.get("say") == "nothing" {
        return Ok(Event::StatedCost { when, ratio: None, low: None, high: None });
    }
    let words = language.words();
    let typed = Typed {
        ratio: fields.get("ratio").to_owned(),
        low: fields.get("low").to_owned(),
        high: fields.get("high").to_owned(),
    };
    let positive = |text: &str| typed_number(text).filter(|number| *number > 0.0 && *number < 1e12);
    let Some(ratio) = positive(&typed.ratio) else { return Err((typed, words.stated_missing.to_owned())) };
    // An end that was left empty is open; one that cannot be read is wrong.
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        text => positive(text).map(Some),
    };
    match (end(&typed.low), end(&typed.high)) {
        (Some(low), Some(high))
            if low.is_none_or(|low| low <= ratio) && high.is_none_or(|high| high >= ratio) =>
        {
            Ok(Event::StatedCost { when, ratio: Some(ratio), low, high })
        }
        _ => Err((typed, words.stated_range_wrong.to_owned())),
    }
}

/// A part of the questionnaire, or its items with what is wrong with them.
pub fn questionnaire(
    fields: &Fields,
    study: &Study,
    position: Position,
    language: Language,
) -> Result<Event, Vec<Field>> {
    let mut answers = BTreeMap::new();
    let mut items = vec![];
    for item in study.items(position) {
        let mut field = filled(fields, item, language);
        match answer(fields, item, &field, language) {
            Ok(Some(answer)) => drop(answers.insert(item.id.clone(), answer)),
            Ok(None) => {}
            Err(problem) => field.problem = Some(problem),
        }
        items.push(field);
    }
    if items.iter().any(|item| item.problem.is_some()) {
        return Err(items);
    }
    Ok(Event::QuestionnaireAnswered { position, answers })
}

/// The item with what was sent, so that nothing has to be typed twice.
fn filled(fields: &Fields, item: &Item, language: Language) -> Field {
    let name = format!("item.{}", item.id);
    let mut field = Field::empty(item, language);
    field.value = fields.get(&name).to_owned();
    field.chosen = fields.all(&name).filter_map(|value| value.parse().ok()).collect();
    let declined =
        field.value == "decline" && matches!(item.kind, ItemKind::Single { .. } | ItemKind::Scale { .. });
    field.declined = item.sensitive && (declined || fields.get(&format!("decline.{}", item.id)) == "yes");
    field
}

fn answer(
    fields: &Fields,
    item: &Item,
    field: &Field,
    language: Language,
) -> Result<Option<ItemAnswer>, String> {
    let words = language.words();
    if field.declined {
        return Ok(Some(ItemAnswer::Declined(())));
    }
    let chosen = |options: &[equipoise_study::Text], place: usize| {
        options.get(place).map(|option| option.r#in(language.tag()).to_owned())
    };
    let answer = match &item.kind {
        ItemKind::Number { least, most } => {
            let number = typed_number(&field.value).filter(|number| (*least..=*most).contains(number));
            let ends = [least, most].map(|end| end.to_string());
            let wrong = fill(words.number_between, &[("low", &ends[0]), ("high", &ends[1])]);
            ItemAnswer::Number(number.ok_or(wrong)?)
        }
        ItemKind::Scale { steps, .. } => {
            let step = field.chosen.first().filter(|step| (1..=*steps).contains(*step));
            ItemAnswer::Number(*step.ok_or(words.choose_one)? as f64)
        }
        ItemKind::Single { options } => {
            let option = field.chosen.first().and_then(|place| chosen(options, *place));
            ItemAnswer::Text(option.ok_or(words.choose_one)?)
        }
        ItemKind::Multiple { options } => {
            let all: Option<Vec<String>> = field.chosen.iter().map(|place| chosen(options, *place)).collect();
            ItemAnswer::Several(all.ok_or(words.choose_one)?)
        }
        ItemKind::Text { most } => {
            // Browsers send the end of a line as two characters, and count one.
            let sent = fields.get(&format!("item.{}", item.id)).replace("\r\n", "\n");
            let (text, count) = (sent.trim().to_owned(), sent.trim().chars().count());
            if count > *most {
                let [most, count] = [*most, count].map(|number| number.to_string());
                return Err(fill(words.text_too_long, &[("most", &most), ("count", &count)]));
            }
            if text.is_empty() {
                // Words are welcome, not owed.
                return if item.sensitive { Err(words.text_needed.to_owned()) } else { Ok(None) };
            }
            ItemAnswer::Text(text)
        }
    };
    Ok(Some(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        Fields::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn numbers_are_read_with_either_mark() {
        let cases = [
            ("6", Some(6.0)),
            ("6,5", Some(6.5)),
            (" 6.5 ", Some(6.5)),
            ("1 000", Some(1000.0)),
            ("inf", None),
        ];
        for (text, expected) in cases {
            assert_eq!(typed_number(text), expected, "{text}");
        }
        assert_eq!(typed_number("six"), None);
    }

    #[test]
    fn a_stated_cost_is_a_number_a_range_or_nothing() {
        let read = |pairs: &[(&str, &str)]| stated(&fields(pairs), When::Before, Language::English);
        let said = |ratio, low, high| Event::StatedCost { when: When::Before, ratio, low, high };
        assert_eq!(read(&[("say", "nothing"), ("ratio", "x")]).unwrap(), said(None, None, None));
        assert_eq!(read(&[("ratio", "10")]).unwrap(), said(Some(10.0), None, None));
        let range = read(&[("ratio", "10"), ("low", "5"), ("high", "20")]);
        assert_eq!(range.unwrap(), said(Some(10.0), Some(5.0), Some(20.0)));
        for wrong in ["", "0", "-3", "many"] {
            assert!(read(&[("ratio", wrong)]).is_err(), "{wrong}");
        }
        assert!(read(&[("ratio", "10"), ("low", "20")]).is_err());
        assert!(read(&[("ratio", "10"), ("high", "few")]).is_err());
    }

    #[test]
    fn keys_are_plain_and_kept_apart() {
        assert_eq!(fields(&[("key", "answer-7-0")]).key().unwrap(), "web-answer-7-0");
        for wrong in ["", "a b", "x'; drop", &"x".repeat(65)] {
            assert_eq!(fields(&[("key", wrong)]).key(), None);
        }
    }
}
