//! Asking somebody real: each question in words, on its sides, with how long it all takes.

use super::known::Known;
use super::length::{Length, of_search};
use super::question::{Shown, Words};
use super::task::Task;
use crate::prompt::Presented;
use equipoise::population::Confusions as _;
use equipoise::{Answered, Query};
use std::cell::Cell;

/// The words for the questions of a task.
pub fn words_of(task: &Task) -> Words {
    let table = task.sample.table();
    let groups = table.groups().map_or(&[][..], |groups| groups.names());
    let prior = task.sample.prevalence().class_priors()[1];
    let words = Words::new(table.classes(), groups, task.plan.view(), prior);
    match task.adaptive() {
        Some(plan) => words.of_plan(plan),
        None => words,
    }
}

/// What turns the questions of a task into something that can be answered.
pub struct Asker<'a> {
    task: &'a Task,
    /// The words of the table.
    pub words: Words,
    /// What the answers so far say.
    pub known: Known<'a>,
    /// How long a search is, which does not change.
    search: Cell<Option<usize>>,
}

impl<'a> Asker<'a> {
    /// Whoever asks the questions of a task.
    pub fn new(task: &'a Task) -> Self {
        let words = words_of(task);
        Self { task, words, known: Known::new(&task.plan), search: Cell::default() }
    }

    /// The question after some answers, as it is shown: in whole numbers, on its sides.
    pub fn present(&self, asked: &[Answered], query: &Query) -> (Shown, Presented) {
        self.words.present(self.task.sides, asked, query)
    }

    /// How many questions there are in all, after some answers.
    pub fn length(&self, transcript: &[Answered]) -> Option<Length> {
        let Some(plan) = self.task.adaptive() else {
            let known = self.search.get();
            let search = known.unwrap_or_else(|| of_search(&self.task.plan, transcript));
            self.search.set(Some(search));
            return Some(Length::About(search));
        };
        let looks_ahead = plan.is_ratio() || plan.operating_point().is_some();
        let about = looks_ahead.then(|| self.known.about(transcript)).flatten();
        let probes = self.task.number("probes").map_or(0, |probes| probes as usize);
        let most = self.task.number("budget").map(|budget| Length::AtMost(budget as usize));
        about.map(|questions| Length::About(questions + probes)).or(most)
    }
}
