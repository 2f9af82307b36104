//! Whether the answers could be a coin's.
//!
//! Every answer is predicted from those before it by the model behind the estimate, which assumes somebody who mostly knows
//! what they prefer; a coin predicts each with one half. The factor between the two is the evidence against the coin.
//! Whatever is asked, a coin reaches a factor of k at most once in k times, and in fact far less often.

use equipoise::{Answer, Preference};
use equipoise_study::event::{Asked, Choice, Purpose};
use equipoise_study::numbers::two_digits;
use equipoise_study::{Belief, Participant, as_planned, take};

/// A factor below this does not clearly beat the coin. A larger one would refuse people who err much but do hold something.
pub(crate) const CLEARLY: f64 = 3.0;

/// That the answers look like chance, and by how little they do not.
pub(crate) fn sentence(factor: f64) -> String {
    let than = match factor < 1.0 {
        true => "they are likelier from a coin than from somebody with a preference".to_owned(),
        false => format!(
            "they are only {} times likelier from somebody with a preference than from a coin",
            two_digits(factor)
        ),
    };
    format!("these answers look like chance: {than}")
}

/// By which factor the answers are likelier from somebody with a cost ratio than from a coin; `None` where the engine does
/// not tell how likely an answer is, and where nobody chose anything.
///
/// Answers that evaluate come last: they are in no estimate, so the whole of it may predict them.
pub fn against_chance(participant: &Participant) -> Option<f64> {
    let design = participant.design();
    design.binary()?;
    let mut belief = design.belief();
    let mut sum = None;
    let mut weigh = |belief: &Belief, asked: &Asked, choice: Choice| {
        let first = belief.chance_of_first(&as_planned(design, asked));
        let chance = match asked.preference(choice) {
            Preference::First => first,
            Preference::Second => 1.0 - first,
            Preference::CannotTell => return,
        };
        sum = Some(sum.unwrap_or(0.0) + (2.0 * chance).ln());
    };
    let answered = || {
        let questions = participant.questions().iter();
        questions.filter_map(|question| Some((&question.asked, question.answer.as_ref()?.choice)))
    };
    let evaluates = |asked: &Asked| asked.purpose == Purpose::Evaluation;
    for (asked, choice) in answered().filter(|(asked, _)| !evaluates(asked)) {
        weigh(&belief, asked, choice);
        take(design, &mut belief, asked, choice);
    }
    for (asked, choice) in answered().filter(|(asked, _)| evaluates(asked)) {
        weigh(&belief, asked, choice);
        // Only here, and only to predict the next one.
        let shown = Some(as_planned(design, asked));
        belief.take(&asked.query, &Answer { preference: asked.preference(choice), shown });
    }
    sum.map(f64::exp)
}
