//! How what is known of a participant narrowed, answer by answer.

use crate::belief::Belief;
use crate::event::Purpose;
use crate::participant::{Participant, take};
use crate::people::ratio;
use equipoise::engine::Width;

/// What was known after an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// The comparison's number.
    pub question: usize,
    /// Two classes: estimate and ends of the 95 % interval of the cost ratio.
    pub ratio: Option<[f64; 3]>,
    /// How wide that is.
    pub width: Width,
}

impl Known {
    pub(crate) fn after(question: usize, belief: &Belief) -> Self {
        Self { question, ratio: ratio(belief), width: belief.width() }
    }
}

/// What was known after each answer that elicits, in order. Of more than two classes it costs as much as all the answers did.
pub fn progress(participant: &Participant) -> Vec<Known> {
    let design = participant.design();
    if design.binary().is_some() {
        return participant.narrowed().to_vec();
    }
    let mut belief = design.belief();
    let mut all = vec![];
    for question in participant.questions() {
        let Some(answer) = &question.answer else { continue };
        take(design, &mut belief, &question.asked, answer.choice);
        if question.asked.purpose == Purpose::Elicitation {
            all.push(Known::after(question.asked.number, &belief));
        }
    }
    all
}
