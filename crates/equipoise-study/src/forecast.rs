//! How many questions that elicit are still to come for a participant, as far as it can be known: people like them are
//! imagined, and how many questions each of those would still be asked.
//!
//! Imagining takes tens of milliseconds, so it is done after every few answers. In between nothing is imagined, but
//! something is known: that the questions have not ended. People who would have been through by now are left out of those
//! imagined before.

use crate::belief::Belief;
use crate::design::Design;
use crate::event::{Choice, Invited, Purpose};
use crate::participant::Question;
use crate::schedule::count;
use equipoise::engine::Left;

/// After so many answers that elicit it is imagined anew how many are left.
const REFRESH: usize = 5;

/// By how much the most that is left may rise from one comparison to the next (UX-18).
const RISE: usize = 2;

/// By how much more than expected questions that elicit are drawn. Long sessions have more of them, and late places are of
/// long sessions only: drawn just as often as expected, they would be told by a late place over all sessions (UX-01). Within
/// a session they come too early for that bound (ADR 84).
const EARLIER: f64 = 1.1;

/// When people are imagined.
#[derive(Debug, Clone, Default)]
pub(crate) enum Imagining {
    /// When the next comparison is chosen: the same answers lead to the same comparison.
    #[default]
    Now,
    /// While the last comparison is on the screen, so that nobody waits for it. What was imagined then, if that was done in
    /// time; otherwise what was imagined before has to do.
    Meanwhile(Option<Vec<usize>>),
}

/// Whether it will be time to imagine anew once the last of these comparisons is answered.
pub(crate) fn is_due_after(questions: &[Question]) -> bool {
    let elicited = |questions: &[Question]| count(questions, |purpose| purpose == Purpose::Elicitation);
    let before = questions.iter().rposition(|question| !question.asked.imagined.is_empty());
    before.is_none_or(|place| elicited(&questions[place..]) >= REFRESH)
}

/// The questions that elicit that are still to come.
#[derive(Debug)]
pub(crate) struct Forecast {
    /// What goes into the log: the lengths, where they were imagined just now.
    pub(crate) imagined: Vec<usize>,
    lengths: Lengths,
}

/// How many more questions that elicit.
#[derive(Debug)]
enum Lengths {
    /// None.
    Over,
    /// Of imagined people, in order.
    Imagined(Vec<usize>),
    /// At most so many; nobody was imagined.
    AtMost(usize),
}

impl Forecast {
    /// No question elicits any more.
    pub(crate) fn over() -> Self {
        Self { imagined: vec![], lengths: Lengths::Over }
    }

    /// After these answers, of which more are to come.
    pub(crate) fn of(
        design: &Design,
        invited: &Invited,
        answered: &[Question],
        belief: &Belief,
        imagining: &Imagining,
    ) -> Self {
        let elicited = |questions: &[Question]| count(questions, |purpose| purpose == Purpose::Elicitation);
        let asked = elicited(answered);
        let before = answered.iter().rposition(|question| !question.asked.imagined.is_empty());
        if let Some(place) = before {
            let since = asked - elicited(&answered[..place]);
            if since < REFRESH || matches!(imagining, Imagining::Meanwhile(None)) {
                let lengths = after(&answered[place].asked.imagined, since);
                return Self { imagined: vec![], lengths: Lengths::Imagined(lengths) };
            }
        }
        if let Imagining::Meanwhile(Some(lengths)) = imagining {
            let since = elicited(answered.last().map_or(&[], std::slice::from_ref));
            let lengths = after(lengths, since);
            return Self { imagined: lengths.clone(), lengths: Lengths::Imagined(lengths) };
        }
        match design.lengths_left(belief, asked, invited.seed) {
            Some(lengths) => Self { imagined: lengths.clone(), lengths: Lengths::Imagined(lengths) },
            None => {
                let most = design.study().stop.cap.saturating_sub(asked).max(1);
                Self { imagined: vec![], lengths: Lengths::AtMost(most) }
            }
        }
    }

    /// How much they weigh against the checks that are due, in the draw of what comes next.
    pub(crate) fn weight(&self) -> f64 {
        match &self.lengths {
            Lengths::Over => 0.0,
            Lengths::Imagined(lengths) => {
                EARLIER * lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
            }
            // It is more often near the most than near the least.
            Lengths::AtMost(most) => (1 + 2 * most) as f64 / 3.0,
        }
    }

    /// How many comparisons are left with the next one, from and to: these and the checks that are due (UX-17). Never many
    /// more than was said with the last one, unless that could not be told.
    pub(crate) fn left(&self, checks: usize, last: Option<&Question>) -> [usize; 2] {
        let Left { low, high } = match &self.lengths {
            Lengths::Over => Left { low: 0, high: 0 },
            Lengths::Imagined(lengths) => Left::holding(lengths),
            Lengths::AtMost(most) => Left { low: 1, high: *most },
        };
        let [low, mut high] = [low, high].map(|end| (end + checks).max(1));
        let told = |question: &&Question| {
            question.answer.as_ref().is_some_and(|answer| answer.choice != Choice::CannotTell)
        };
        if let Some([_, before]) = last.filter(told).and_then(|question| question.asked.left) {
            high = high.min(before + RISE);
        }
        [low.min(high), high]
    }
}

/// How many are left of imagined lengths after so many more answers; whoever would be through is left out.
fn after(lengths: &[usize], since: usize) -> Vec<usize> {
    let left: Vec<usize> =
        lengths.iter().filter(|length| **length > since).map(|length| length - since).collect();
    // Everybody imagined would be through: soon, then.
    if left.is_empty() { vec![1, 2] } else { left }
}
