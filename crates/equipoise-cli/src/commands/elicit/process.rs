//! A program that answers the questions of a task.

use super::answerer::Answerer;
use super::asker::Asker;
use crate::program::Program;
use anyhow::Result;
use equipoise::{Answer, Answered, Query};

/// The running program, and whoever puts its questions into words.
pub struct Process<'a> {
    asker: &'a Asker,
    program: Program,
}

impl<'a> Process<'a> {
    /// Starts a shell command.
    pub fn start(command: &str, within: f64, asker: &'a Asker) -> Result<Self> {
        Ok(Self { asker, program: Program::start(command, within)? })
    }
}

impl Answerer for Process<'_> {
    fn answer(&mut self, asked: &[Answered], query: &Query) -> Result<Answer> {
        let (shown, presented) = self.asker.present(asked, query);
        let (question, length) = (asked.len() + 1, self.asker.length(asked));
        let side = self.program.ask(question, &self.asker.words.line(question, length, &shown))?;
        Ok(presented.answer(side))
    }
}
