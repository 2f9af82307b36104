//! What the answers of one participant say, taken in one by one.

use super::Question;
use crate::belief::Belief;
use crate::design::Design;
use crate::event::{Asked, Choice, Purpose};
use crate::progress::Known;
use crate::shown::Shown;
use equipoise::{Answer, Preference, Query};
use std::sync::OnceLock;

/// No answer speaks against somebody as if it could not have been given.
const LEAST_CHANCE: f64 = 1e-6;

/// What the answers so far say.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) belief: Belief,
    /// The logarithm of how much likelier the answers are from somebody with a preference than from a coin.
    pub(super) evidence: Option<f64>,
    /// Two classes: what was known after each answer that elicits. Of more classes that takes longer than it is worth here.
    pub(super) narrowed: Vec<Known>,
    /// The next question that elicits, once it was looked for. Answers that change no belief leave it as it is, unless it was asked
    /// meanwhile: finding it is most of what an answer costs.
    pub(crate) telling: OnceLock<Option<(Query, Shown)>>,
}

impl Heard {
    /// All that was answered, from the start and in order: a belief is the same bits however it was come by.
    pub(super) fn of(design: &Design, questions: &[Question]) -> Self {
        let (belief, evidence, narrowed) = (design.belief(), None, vec![]);
        let mut heard = Self { belief, evidence, narrowed, telling: OnceLock::new() };
        for question in questions {
            if let Some(answer) = &question.answer {
                heard.take(design, &question.asked, answer.choice);
            }
        }
        heard
    }

    /// The logarithm of how likely an answer is to the belief, against one half; `None` for "can't tell".
    pub(super) fn weight(&self, design: &Design, asked: &Asked, choice: Choice) -> Option<f64> {
        if !design.tells_chances() {
            return None;
        }
        let first = || self.belief.chance_of_first(&as_planned(design, asked));
        let chance = match asked.preference(choice) {
            Preference::First => first(),
            Preference::Second => 1.0 - first(),
            Preference::CannotTell => return None,
        };
        Some((2.0 * chance.max(LEAST_CHANCE)).ln())
    }

    /// Weighs an answer and takes it in.
    pub(super) fn take(&mut self, design: &Design, asked: &Asked, choice: Choice) {
        if asked.purpose == Purpose::Evaluation {
            return;
        }
        self.telling = OnceLock::new();
        let before = self.belief.evidence();
        take(design, &mut self.belief, asked, choice);
        if design.tells_chances() && choice != Choice::CannotTell {
            // The belief has weighed the answer by what it knew before.
            let weight = (self.belief.evidence() - before).max((2.0 * LEAST_CHANCE).ln());
            self.evidence = Some(self.evidence.unwrap_or(0.0) + weight);
        }
        if design.binary().is_some() && asked.purpose == Purpose::Elicitation {
            self.narrowed.push(Known::after(asked.number, &self.belief));
        }
    }
}

/// Takes the answer to a question into a belief: the integers that were shown, in the order they were planned.
///
/// Evaluation answers are kept out; other checks tell how the person errs.
pub fn take(design: &Design, belief: &mut Belief, asked: &Asked, choice: Choice) {
    let answer = Answer { preference: asked.preference(choice), shown: Some(as_planned(design, asked)) };
    match asked.purpose {
        Purpose::Elicitation => belief.take(&asked.query, &answer),
        Purpose::Dominated | Purpose::Repeat { .. } => belief.take_check(&asked.query, &answer),
        Purpose::Evaluation => {}
    }
}

/// The integers that were shown, in the order they were planned.
pub fn as_planned(design: &Design, asked: &Asked) -> Query {
    match asked.swapped {
        true => design.frame().query(&asked.shown.swapped()),
        false => design.frame().query(&asked.shown),
    }
}
