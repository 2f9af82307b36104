//! How bad one mistake is in units of the other, as people put it (G7).

use super::{Frame, Problem};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::event::When;

/// What was typed, as it was typed.
#[derive(Debug, Clone, Default)]
pub struct Typed {
    /// The number.
    pub ratio: String,
    /// The least it might be.
    pub low: String,
    /// The most it might be.
    pub high: String,
}

/// The question for a stated cost.
#[derive(Debug, Template)]
#[template(path = "stated.html")]
pub struct StatedCost {
    frame: Frame,
    title: &'static str,
    introduction: &'static str,
    when: &'static str,
    before: String,
    after: String,
    spoken: String,
    ratio: String,
    low: String,
    high: String,
    problems: Vec<Problem>,
}

impl StatedCost {
    /// `problems` is what is wrong with what was typed.
    pub fn new(frame: Frame, study: &Study, when: When, typed: Typed, problems: Vec<String>) -> Self {
        let words = frame.words();
        let question =
            study.stated_cost.as_ref().map_or("", |stated| stated.question.r#in(frame.language.tag()));
        // The study file has the number's place as a blank to fill in.
        let (before, after) = question.split_once("___").unwrap_or((question, ""));
        let (title, introduction, word) = match when {
            When::Before => (words.stated_before, words.stated_before_intro, "before"),
            When::After => (words.stated_after, words.stated_after_intro, "after"),
        };
        Self {
            title,
            introduction,
            when: word,
            before: before.trim().to_owned(),
            after: after.trim_matches(|c: char| c.is_whitespace() || c == '_').to_owned(),
            spoken: question.replace("___", "…"),
            ratio: typed.ratio,
            low: typed.low,
            high: typed.high,
            problems: problems.into_iter().map(|problem| ("ratio".to_owned(), problem)).collect(),
            frame,
        }
    }
}
