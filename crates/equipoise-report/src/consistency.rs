//! Answers that do not go together: listed, never hidden.

use crate::fidelity::{chosen, likes};
use crate::rows::Rows;
use equipoise::{Metric, Preference};
use equipoise_study::event::Purpose;
use equipoise_study::{Participant, Question};
use serde::Serialize;

/// How many contradictions are listed.
const LISTED: usize = 5;

/// Answers that do not go together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consistency {
    /// Two classes: pairs of answers that no single ratio explains, the worst first, at most five.
    pub contradictions: Vec<Contradiction>,
    /// How many such pairs there are.
    pub contradicting_pairs: usize,
    /// Repeats that were answered differently: (comparison, its repeat).
    pub changed: Vec<[usize; 2]>,
    /// Answers the estimate does not predict, checks left out.
    pub against: Vec<Against>,
    /// Of so many answers.
    pub answers: usize,
    /// The answers listed here.
    pub rows: Rows,
}

/// Two answers that no single ratio explains.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Contradiction {
    /// The answer that asks for a high ratio.
    pub high: usize,
    /// It is right for ratios of at least this.
    pub at_least: f64,
    /// The answer that asks for a low one.
    pub low: usize,
    /// It is right for ratios of at most this.
    pub at_most: f64,
}

/// An answer the estimate does not predict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// The comparison's number.
    pub question: usize,
    /// How much better the other system is by the estimate, in units of the metric.
    pub by: f64,
}

pub(crate) fn consistency(participant: &Participant, metric: &Metric) -> Consistency {
    let questions = participant.questions();
    let counts = |q: &&Question| q.asked.purpose != Purpose::Dominated && chosen(q).is_some();
    let answered: Vec<&Question> = questions.iter().filter(counts).collect();
    let mut pairs = contradictions(&answered);
    let changed: Vec<[usize; 2]> = answered
        .iter()
        .filter_map(|question| {
            let Purpose::Repeat { of } = question.asked.purpose else { return None };
            let first = questions.get(of - 1)?;
            let straight = |q: &Question| q.answer.as_ref().map(|answer| q.asked.preference(answer.choice));
            (straight(first)? != straight(question)?).then_some([of, question.asked.number])
        })
        .collect();
    let against: Vec<Against> = answered
        .iter()
        .filter(|question| likes(participant, metric, question) == chosen(question).map(Preference::reversed))
        .map(|question| {
            let query = participant.design().frame().query(&question.asked.shown);
            let by = (metric.liking(&query.first) - metric.liking(&query.second)).abs();
            Against { question: question.asked.number, by }
        })
        .collect();
    let contradicting_pairs = pairs.len();
    pairs.truncate(LISTED);
    let listed = |q: &Question| {
        let number = q.asked.number;
        pairs.iter().any(|pair| pair.high == number || pair.low == number)
            || changed.iter().flatten().any(|n| *n == number)
            || against.iter().any(|against| against.question == number)
    };
    let rows = Rows::of(participant, listed);
    Consistency {
        contradictions: pairs,
        contradicting_pairs,
        changed,
        against,
        answers: answered.len(),
        rows,
    }
}

/// Two classes: each answer is right for ratios on one side of what it trades.
fn contradictions(answered: &[&Question]) -> Vec<Contradiction> {
    let (mut lows, mut highs) = (vec![], vec![]);
    for question in answered {
        let shown = &question.asked.shown;
        if (shown.classes, shown.groups) != (2, 1) {
            return vec![];
        }
        let (taken, left) = match chosen(question) {
            Some(Preference::First) => (&shown.a, &shown.b),
            _ => (&shown.b, &shown.a),
        };
        let missed = left[2] as f64 - taken[2] as f64;
        let alarms = taken[1] as f64 - left[1] as f64;
        // So many false alarms more for so many missed cases fewer, or the other way round.
        if missed > 0.0 && alarms > 0.0 {
            highs.push((question.asked.number, alarms / missed));
        } else if missed < 0.0 && alarms < 0.0 {
            lows.push((question.asked.number, alarms / missed));
        }
    }
    let mut pairs: Vec<Contradiction> = highs
        .iter()
        .flat_map(|&(high, at_least)| {
            lows.iter().map(move |&(low, at_most)| Contradiction { high, at_least, low, at_most })
        })
        .filter(|pair| pair.at_least > pair.at_most)
        .collect();
    pairs.sort_by(|a, b| (b.at_least / b.at_most).total_cmp(&(a.at_least / a.at_most)));
    pairs
}
