//! The questions of a table, as a page asks them: the interview of `elicit`, one answer at a time.

use super::loaded::unfinished;
use super::session::Place;
use crate::args::Asking;
use crate::commands::elicit::asker::Asker;
use crate::commands::elicit::question::Shown;
use crate::commands::elicit::record::{self, Saved};
use crate::commands::elicit::task::{Task, Who};
use crate::counts::{Counts, grouped};
use crate::tables::TableColumns;
use anyhow::Result;
use equipoise::{AnyPlan, Interview, Outcome, Preference, Query, Step};
use equipoise_data::{Sample, Table};
use equipoise_server::open::{self as view, Branch, Choice, Flow, Kind, Systems};
use std::path::{Path, PathBuf};

/// So many more questions are asked of whoever goes on.
const MORE: usize = 15;

/// An interview that is going on, or has come to its end.
pub struct Asked {
    /// What is asked about.
    pub task: Task,
    /// Who puts it into words.
    pub asker: Asker,
    /// The answers.
    pub interview: Interview<AnyPlan>,
    /// Where they are kept.
    pub save: PathBuf,
}

impl Asked {
    /// Begins the questions, or goes on with answers of before; `most` questions at most.
    pub fn begin(
        place: &Place,
        columns: &TableColumns,
        sample: &Sample<Table>,
        (family, most): (Option<&str>, usize),
        seed: Option<u64>,
    ) -> Result<Self> {
        let (save, about) = (place.answers(), (place.path.as_path(), columns));
        if unfinished(&save).is_some() {
            let saved = Saved::read(&save)?;
            // Answers about other classifiers stay where they are.
            if let Ok((task, answers)) =
                Task::resumed(&Asking::default(), about, sample.clone().into(), &saved, &save)
            {
                return Ok(Self::of(task, answers, save));
            }
        }
        let save = free(&save, |path| record::refuse_to_lose_answers(path).is_ok());
        let asking = Asking { family: family.map(str::to_owned), budget: Some(most), ..Asking::default() };
        let task = Task::new(&asking, about, sample.clone().into(), Who::Real, seed)?;
        record::write(&save, &task, &[])?;
        Ok(Self::of(task, vec![], save))
    }

    fn of(task: Task, answers: Vec<equipoise::Answered>, save: PathBuf) -> Self {
        let asker = Asker::new(&task);
        let interview = Interview::with_transcript(task.plan.clone(), answers);
        Self { task, asker, interview, save }
    }

    /// The same with more questions.
    pub fn more(&self, place: &Place, columns: &TableColumns) -> Result<Self> {
        let asked = self.task.number("budget").unwrap_or(0.0) as usize;
        let asking = Asking { budget: Some(asked + MORE), ..Asking::default() };
        let (saved, about) = (Saved::read(&self.save)?, (place.path.as_path(), columns));
        let sample = self.task.sample.in_memory()?.clone();
        let (task, answers) = Task::resumed(&asking, about, sample.into(), &saved, &self.save)?;
        Ok(Self::of(task, answers, self.save.clone()))
    }

    /// The question that comes next, or what came out.
    pub fn step(&self) -> Result<Step<Outcome>> {
        Ok(self.interview.step()?)
    }

    /// The number of the question that comes next.
    fn number(&self) -> usize {
        self.interview.transcript().len() + 1
    }

    /// Takes an answer; one to another question than this changes nothing, since it was sent twice.
    pub fn answer(&mut self, number: usize, choice: Choice) -> Result<()> {
        let Step::Ask(query) = self.interview.step()? else { return Ok(()) };
        if number != self.number() {
            return Ok(());
        }
        let side = match choice {
            Choice::A => Preference::First,
            Choice::B => Preference::Second,
            Choice::CannotTell => Preference::CannotTell,
        };
        let (_, presented) = self.asker.present(self.interview.transcript(), &query);
        self.interview.answer(presented.answer(side))?;
        self.keep()
    }

    /// Takes the last answer back, if it is the one before this question; 0 stands for the end.
    pub fn undo(&mut self, number: usize) -> Result<()> {
        let at = match self.interview.step()? {
            Step::Ask(_) => self.number(),
            Step::Done(_) => 0,
        };
        if number == at && self.interview.undo().is_some() {
            self.keep()?;
        }
        Ok(())
    }

    fn keep(&self) -> Result<()> {
        record::write(&self.save, &self.task, self.interview.transcript())
    }

    /// A question as the page shows it.
    pub fn view(&self, query: &Query) -> view::Question {
        let transcript = self.interview.transcript();
        let (shown, _) = self.asker.present(transcript, query);
        let (number, words) = (self.number(), &self.asker.words);
        let length = self.asker.length(transcript).map(|length| length.at_least(number));
        let all = length.map_or(number, |length| length.questions());
        view::Question {
            number,
            of: length.map(|length| length.to_string()).unwrap_or_default(),
            done: 100 * transcript.len() / all.max(1),
            out_of: match &shown {
                Shown::Two(pair) => format!("Out of {} cases", grouped(pair.people)),
                Shown::Trade(trade) => format!("Out of {} of each class", grouped(trade.out_of)),
                Shown::Cells(cells) => format!("Out of {} of {}", grouped(cells.out_of), words.of()),
                // The page asks about classifiers; a case would be told by the sentence alone.
                Shown::Case(_) => String::new(),
            },
            difference: words.difference(&shown),
            gaps: words.gaps(&shown),
            systems: match &shown {
                Shown::Two(pair) => {
                    Systems::Flows(Box::new([&pair.first, &pair.second].map(|counts| self.flow(counts))))
                }
                Shown::Trade(trade) => {
                    let kind = |(kind, counts): (usize, &[u64; 2])| Kind {
                        what: words.kind_of(kind),
                        counts: *counts,
                    };
                    Systems::Kinds(trade.counts.iter().enumerate().map(kind).collect())
                }
                Shown::Cells(cells) => {
                    let rows = cells.rows(usize::MAX);
                    Systems::Kinds(
                        rows.iter().map(|c| Kind { what: words.mistake(c), counts: c.counts }).collect(),
                    )
                }
                Shown::Case(_) => Systems::Kinds(vec![]),
            },
            can_undo: !transcript.is_empty(),
        }
    }

    fn flow(&self, counts: &Counts) -> Flow {
        let words = self.asker.words.two();
        let alarms = counts.false_alarms();
        let alarm = if alarms == 1 { words.false_alarm.one } else { words.false_alarm.many };
        let branch = |name, right, wrong| Branch { name, right, wrong };
        Flow {
            branches: [
                branch(words.positive, (words.found, counts.found), (words.missed, counts.missed())),
                branch(words.negative, (words.cleared, counts.cleared), (alarm, alarms)),
            ],
        }
    }
}

/// The first of `name`, `name-2`, `name-3` that may be written.
pub fn free(path: &Path, may: impl Fn(&Path) -> bool) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let numbered = |n: usize| path.with_file_name(format!("{stem}-{n}.{ending}"));
    match may(path) {
        true => path.to_owned(),
        false => (2..1_000).map(numbered).find(|path| may(path)).unwrap_or_else(|| numbered(1_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_is_not_written_over() {
        let place = Path::new("x/val.interview.json");
        assert_eq!(free(place, |_| true), place);
        let taken = |path: &Path| {
            !["val.interview.json", "val.interview-2.json"]
                .map(|n| Path::new("x").join(n))
                .contains(&path.to_owned())
        };
        assert_eq!(free(place, taken), Path::new("x/val.interview-3.json"));
    }
}
