//! Questions that teach the picture.

use super::comparison::shown;
use super::{Frame, Problem};
use crate::language::fill;
use crate::picture;
use askama::Template;
use equipoise_study::Study;
use equipoise_study::study::Variant;

/// Where somebody is with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearnState {
    /// Not answered.
    Open,
    /// Wrong once: one more try.
    Again,
    /// Right.
    Right,
    /// Wrong twice: the answer is shown, and it goes on.
    Worked,
}

impl LearnState {
    fn is_open(self) -> bool {
        matches!(self, LearnState::Open | LearnState::Again)
    }
}

/// A question of the learning phase, or what there is to say about its answer.
#[derive(Debug, Template)]
#[template(path = "learn.html")]
pub struct Learn {
    frame: Frame,
    explained: Vec<String>,
    picture: String,
    /// Whether it is of two systems.
    pair: bool,
    index: usize,
    number: String,
    question: String,
    options: Vec<String>,
    answer: String,
    explanation: String,
    state: LearnState,
    problems: Vec<Problem>,
}

impl Learn {
    /// `unanswered` says that nothing was chosen.
    pub fn new(frame: Frame, study: &Study, index: usize, state: LearnState, unanswered: bool) -> Self {
        let (language, words) = (frame.language, frame.words());
        let tag = language.tag();
        let asked = &study.picture[index];
        let people = asked.systems.first().map_or(0, |cells| shown(study, cells, cells).people);
        let explained = if index == 0 { picture::explained(study, language, people) } else { vec![] };
        let picture = match asked.systems.as_slice() {
            [] => String::new(),
            [only] => picture::single(study, &shown(study, only, only), language),
            [a, b, ..] => picture::pair(study, &shown(study, a, b), Variant::Flow, language),
        };
        let [number, total] =
            [index + 1, study.picture.len()].map(|count| language.numbers().count(count as u64));
        let options: Vec<String> = asked.options.iter().map(|option| option.r#in(tag).to_owned()).collect();
        Self {
            explained,
            picture,
            pair: asked.systems.len() > 1,
            index,
            number: fill(words.learn_number, &[("number", &number), ("total", &total)]),
            question: asked.question.r#in(tag).to_owned(),
            answer: fill(words.worked, &[("answer", &options[asked.correct])]),
            explanation: asked.explanation.r#in(tag).to_owned(),
            options,
            state,
            problems: if unanswered {
                vec![("option".to_owned(), words.choose_one.to_owned())]
            } else {
                vec![]
            },
            frame,
        }
    }
}
