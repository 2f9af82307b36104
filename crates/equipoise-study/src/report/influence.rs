//! Why this metric: the answers that moved the estimate most (RP-05).

use crate::belief::Belief;
use crate::event::{Choice, Purpose};
use crate::numbers::{significant, two_digits};
use crate::participant::{Participant, Question, take};
use serde::Serialize;

/// How many answers are named.
const NAMED: usize = 3;

/// What one answer did to the estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Influence {
    /// The comparison's number.
    pub question: usize,
    /// What was chosen.
    pub choice: Choice,
    /// Two classes: the ratio without it.
    pub without: Option<f64>,
    /// Two classes: the ratio had the other been chosen; nothing for "can't tell".
    pub had_it_been_the_other: Option<f64>,
    /// By how many degrees the weights turn without it.
    pub turned: f64,
    /// In words.
    pub sentence: String,
    /// The answer, as participant and event.
    pub rows: super::Rows,
}

/// The answers without which the estimate would be furthest away.
pub(super) fn influences(participant: &Participant) -> Vec<Influence> {
    let design = participant.design();
    let answers: Vec<(&Question, Choice)> =
        participant.questions().iter().filter_map(|q| Some((q, q.answer.as_ref()?.choice))).collect();
    let with = |changed: usize, to: Option<Choice>| -> Belief {
        let mut belief = design.belief();
        for (n, (question, choice)) in answers.iter().enumerate() {
            match (n == changed, to) {
                (true, Some(other)) => take(design, &mut belief, &question.asked, other),
                (true, None) => {}
                (false, _) => take(design, &mut belief, &question.asked, *choice),
            }
        }
        belief
    };
    let estimate = participant.belief().metric().coefficients();
    // Checks tell how somebody errs, not what they hold.
    let mut all: Vec<(usize, Belief, f64)> = (0..answers.len())
        .filter(|&n| answers[n].0.asked.purpose == Purpose::Elicitation)
        .map(|n| {
            let without = with(n, None);
            let turned = degrees(&estimate, &without.metric().coefficients());
            (n, without, turned)
        })
        .collect();
    // Of two classes what counts is the factor, not the angle, which is small for large ratios.
    let moved =
        |belief: &Belief, turned: f64| match (belief.quantile(0.5), participant.belief().quantile(0.5)) {
            (Some(without), Some(with)) => (without / with).ln().abs(),
            _ => turned,
        };
    all.sort_by(|a, b| moved(&b.1, b.2).total_cmp(&moved(&a.1, a.2)));
    all.truncate(NAMED);
    all.into_iter()
        .map(|(n, without, turned)| {
            let (question, choice) = answers[n];
            let other = match choice {
                Choice::A => Some(Choice::B),
                Choice::B => Some(Choice::A),
                Choice::CannotTell => None,
            };
            let other = other.and_then(|other| with(n, Some(other)).quantile(0.5));
            let without = without.quantile(0.5);
            Influence {
                question: question.asked.number,
                choice,
                without,
                had_it_been_the_other: other,
                turned,
                sentence: sentence(participant, question, choice, without, other, turned),
                rows: super::Rows::of(participant, |q| q.seq == question.seq),
            }
        })
        .collect()
}

fn degrees(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let sizes = (dot(a, a) * dot(b, b)).sqrt();
    if sizes > 0.0 { (dot(a, b) / sizes).clamp(-1.0, 1.0).acos().to_degrees() } else { 0.0 }
}

/// "In question 9 you chose the system with 7 missed cancers and 82 false alarms over the one with 19 and 39; had you chosen the
/// other, the estimate would be 3.9."
fn sentence(
    participant: &Participant,
    question: &Question,
    choice: Choice,
    without: Option<f64>,
    other: Option<f64>,
    turned: f64,
) -> String {
    let number = question.asked.number;
    let shown = &question.asked.shown;
    let study = participant.design().study();
    let start = match (choice, shown.classes, shown.groups) {
        (Choice::CannotTell, ..) => format!("In question {number} you could not tell"),
        (_, 2, 1) => {
            let (taken, left) = if choice == Choice::A { (&shown.a, &shown.b) } else { (&shown.b, &shown.a) };
            let name = |truth: usize, predicted: usize| {
                study.mistake(truth, predicted).map_or("mistakes", |mistake| mistake.many.r#in("en"))
            };
            format!(
                "In question {number} you chose the system with {} {} and {} {} over the one with {} and {}",
                taken[2],
                name(1, 0),
                taken[1],
                name(0, 1),
                left[2],
                left[1]
            )
        }
        _ => format!("In question {number} you chose system {}", if choice == Choice::A { "A" } else { "B" }),
    };
    // A digit more where two do not show the difference.
    let estimate = participant.belief().quantile(0.5).map(two_digits);
    let told = |x: f64| {
        let two = two_digits(x);
        if Some(&two) == estimate.as_ref() { significant(x, 3) } else { two }
    };
    match (other, without) {
        (Some(other), _) => {
            format!("{start}; had you chosen the other, the estimate would be {}.", told(other))
        }
        (None, Some(without)) => {
            format!("{start}; without it the estimate would be {}.", told(without))
        }
        (None, None) => {
            format!("{start}; without it the weights would turn by {} degrees.", two_digits(turned))
        }
    }
}
