//! Asking somebody real: each question in words, on its sides, with how long it all takes.

use super::known::Known;
use super::length::{Length, of_search};
use super::question::{Shown, Words};
use super::task::Task;
use crate::prompt::Presented;
use crate::sides::Sides;
use equipoise::population::Confusions as _;
use equipoise::{Answered, AnyPlan, Query};
use std::cell::Cell;

/// The words for the questions of a task.
pub fn words_of(task: &Task) -> Words {
    let (classes, groups) = (task.sample.class_names(), task.sample.group_names());
    let prior = task.sample.prevalence().class_priors()[1];
    let words = Words::new(classes, groups, task.plan.view(), prior);
    match task.adaptive() {
        Some(plan) => words.of_plan(plan),
        None => words,
    }
}

/// What turns the questions of a task into something that can be answered.
pub struct Asker {
    /// The words of the table.
    pub words: Words,
    /// What the answers so far say.
    pub known: Known<'static>,
    sides: Sides,
    /// Questions that check the answers, and the most there may be in all.
    probes: usize,
    budget: Option<usize>,
    /// How long a search is, which does not change.
    search: Cell<Option<usize>>,
}

impl Asker {
    /// Whoever asks the questions of a task.
    pub fn new(task: &Task) -> Self {
        let number = |field: &str| task.number(field).map(|number| number as usize);
        Self {
            words: words_of(task),
            known: Known::of(task.plan.clone()),
            sides: task.sides,
            probes: number("probes").unwrap_or(0),
            budget: number("budget"),
            search: Cell::default(),
        }
    }

    /// The question after some answers, as it is shown: in whole numbers, on its sides.
    pub fn present(&self, asked: &[Answered], query: &Query) -> (Shown, Presented) {
        self.words.present(self.sides, asked, query)
    }

    /// How many questions there are in all, after some answers.
    pub fn length(&self, transcript: &[Answered]) -> Option<Length> {
        let AnyPlan::Adaptive(plan) = self.known.plan() else {
            let known = self.search.get();
            let search = known.unwrap_or_else(|| of_search(self.known.plan(), transcript));
            self.search.set(Some(search));
            return Some(Length::About(search));
        };
        let looks_ahead = plan.is_ratio() || plan.operating_point().is_some();
        let about = looks_ahead.then(|| self.known.about(transcript)).flatten();
        about.map(|questions| Length::About(questions + self.probes)).or(self.budget.map(Length::AtMost))
    }
}
