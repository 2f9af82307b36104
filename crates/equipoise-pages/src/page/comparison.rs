//! Two systems and a question.

use super::{Frame, MistakeCards, cards, cards_title};
use crate::language::{Language, fill};
use crate::{picture, sentence};
use askama::Template;
use equipoise_study::shown::Shown;
use equipoise_study::study::{Exercise, Variant};
use equipoise_study::{Participant, Question, Study};

/// After so many answers people may hide what is correct (G4).
const MISTAKES_ONLY_AFTER: usize = 3;

/// A comparison, or a practice one.
#[derive(Debug, Template)]
#[template(path = "comparison.html")]
pub struct Comparison {
    frame: Frame,
    number: String,
    left: Option<String>,
    done: Option<u64>,
    saved: bool,
    /// What to know first, and more about it.
    note: Option<(String, String)>,
    question: String,
    /// Nothing with groups: their parts have different totals, and each says its own.
    out_of: Option<String>,
    out_of_changed: bool,
    difference: String,
    picture: String,
    folded: String,
    names: (String, String),
    action: &'static str,
    query: String,
    undo_key: String,
    can_undo: bool,
    toggles: bool,
    rates: bool,
    offer_mistakes_only: bool,
    cards: Vec<MistakeCards>,
    cards_title: &'static str,
    /// The keys that do something here.
    keys: String,
}

/// How far the undo exercise has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// Not answered yet.
    Nothing,
    /// Answered once: now undo.
    Answered,
    /// Undone: now answer for good.
    Undone,
}

impl Tried {
    /// As the address carries it.
    pub fn word(self) -> &'static str {
        match self {
            Tried::Nothing => "",
            Tried::Answered => "answered",
            Tried::Undone => "undone",
        }
    }

    /// From the address; anything unknown is the beginning.
    pub fn from_word(word: &str) -> Self {
        match word {
            "answered" => Tried::Answered,
            "undone" => Tried::Undone,
            _ => Tried::Nothing,
        }
    }
}

impl Comparison {
    /// The question on a participant's screen; `left` are the fewest and the most that are expected to follow.
    pub fn asked(
        frame: Frame,
        participant: &Participant,
        question: &Question,
        left: Option<(usize, usize)>,
    ) -> Self {
        let (study, language) = (participant.design().study(), frame.language);
        let words = language.words();
        let shown = &question.asked.shown;
        let earlier = &participant.questions()[..participant.questions().len() - 1];
        let numbers = language.numbers();
        let left_words = left.map(|(low, high)| {
            let [few, many] = [low, high].map(|count| numbers.count(count as u64));
            match (low, high) {
                (_, 0) => words.left_none.to_owned(),
                (0, _) => fill(words.left_most, &[("high", &many)]),
                (low, high) if low == high => fill(words.left_about, &[("high", &many)]),
                _ => fill(words.left_range, &[("low", &few), ("high", &many)]),
            }
        });
        let asked = earlier.len() as u64;
        Self {
            number: fill(words.question_number, &[("number", &numbers.count(question.asked.number as u64))]),
            left: left_words,
            done: left.map(|(_, high)| 100 * asked / (asked + 1 + high as u64)),
            saved: !earlier.is_empty(),
            // Where there was practice, it is said that this is none any more.
            note: (earlier.is_empty() && participant.retracted() == 0 && !study.practice.is_empty())
                .then(|| (words.begin_title.to_owned(), words.begin_text.to_owned())),
            out_of_changed: earlier.last().is_some_and(|last| last.asked.shown.people != shown.people),
            action: "/answer",
            query: question.seq.to_string(),
            undo_key: format!("undo-{}-{}", question.seq, participant.retracted()),
            can_undo: participant.may_undo(),
            rates: participant.rates(),
            offer_mistakes_only: earlier.len() >= MISTAKES_ONLY_AFTER
                && picture::has_correct_ends(shown)
                && question.asked.variant != Variant::ErrorsOnly,
            ..Self::drawn(frame, study, shown, question.asked.variant, question.asked.missed_first, language)
        }
    }

    /// A practice comparison.
    pub fn practice(frame: Frame, participant: &Participant, index: usize, tried: Tried) -> Self {
        let (study, language) = (participant.design().study(), frame.language);
        let words = language.words();
        let practice = &study.practice[index];
        let [number, total] =
            [index + 1, study.practice.len()].map(|count| language.numbers().count(count as u64));
        let note = match (practice.exercise, tried) {
            (Exercise::Dominated, _) => words.practice_choose,
            (Exercise::CannotTell, _) => words.practice_tell,
            (Exercise::Undo, Tried::Nothing) => words.practice_undo,
            (Exercise::Undo, Tried::Answered) => words.practice_undo_now,
            (Exercise::Undo, Tried::Undone) => words.practice_undone,
        };
        let shown = practice_pair(study, index);
        let variant = participant.invited().map_or(Variant::Flow, |invited| invited.variant);
        let drawn = Self::drawn(frame, study, &shown, variant, true, language);
        Self {
            number: fill(words.practice_number, &[("number", &number), ("total", &total)]),
            note: Some((words.practice_note.to_owned(), note.to_owned())),
            action: "/practice",
            query: format!("{index}.{}", tried.word()),
            undo_key: format!("practice-undo-{index}"),
            can_undo: tried == Tried::Answered,
            ..drawn
        }
    }

    fn drawn(
        mut frame: Frame,
        study: &Study,
        shown: &Shown,
        variant: Variant,
        missed_first: bool,
        language: Language,
    ) -> Self {
        let tag = language.tag();
        let values =
            [("count", &*language.numbers().count(shown.people)), ("people", study.task.people.r#in(tag))];
        let cards = cards(study, language);
        frame.help = !cards.is_empty();
        let [picture, folded] = picture::asked(study, shown, variant, language);
        let words = language.words();
        let keys = [
            (true, words.keys_answer),
            (picture::has_rates(shown), words.keys_rates),
            (!folded.is_empty(), words.keys_numbers),
            (frame.help, words.keys_help),
        ];
        let keys: Vec<&str> = keys.into_iter().filter_map(|(there, key)| there.then_some(key)).collect();
        Self {
            frame,
            number: String::new(),
            left: None,
            done: None,
            saved: false,
            note: None,
            question: study.task.question.r#in(tag).to_owned(),
            out_of: (shown.groups == 1 && shown.values.is_none())
                .then(|| fill(language.words().out_of, &values)),
            out_of_changed: false,
            difference: picture::difference(study, shown, missed_first, language),
            picture,
            folded,
            names: (sentence::system(study, "A", language), sentence::system(study, "B", language)),
            action: "/answer",
            query: String::new(),
            undo_key: String::new(),
            can_undo: false,
            toggles: picture::has_rates(shown),
            rates: false,
            offer_mistakes_only: false,
            cards,
            cards_title: cards_title(study, language),
            keys: format!("{}.", keys.join(", ")),
        }
    }
}

/// The systems of a practice comparison.
fn practice_pair(study: &Study, index: usize) -> Shown {
    let practice = &study.practice[index];
    shown(study, &practice.a, &practice.b)
}

/// Cells of the study file as a pair on the screen.
pub(super) fn shown(study: &Study, a: &[u64], b: &[u64]) -> Shown {
    let (classes, groups) = (study.task.classes.len(), study.task.groups.len().max(1));
    let people = match groups {
        1 => a.iter().sum(),
        // With groups it is out of so many of each class in each group.
        _ => a[..classes].iter().sum(),
    };
    Shown { people, classes, groups, a: a.to_vec(), b: b.to_vec(), values: None }
}
