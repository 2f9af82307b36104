//! M: how many answers that were kept out of the estimate each metric predicts (RP-06, RP-07).

use crate::person::Ratio;
use crate::rows::Rows;
use equipoise::{Metric, Preference};
use equipoise_study::event::{Choice, Purpose};
use equipoise_study::numbers::{sign_test, two_digits, wilson};
use equipoise_study::people::{Conduct, chose_fewer_missed};
use equipoise_study::{Participant, Question, Stated, ratio_metric};
use serde::Serialize;
use std::cmp::Ordering;

/// M: how many of the evaluation answers each metric predicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fidelity {
    /// Evaluation questions answered with a choice.
    pub answers: usize,
    /// By what they are predicted.
    #[serde(flatten)]
    pub shares: Shares,
    /// The exact paired test of elicited against stated: the probability of so uneven a split by chance.
    pub elicited_against_stated: Option<f64>,
    /// The evaluation answers.
    pub rows: Rows,
    /// The repeats.
    pub repeat_rows: Rows,
}

/// How many evaluation answers each metric predicts: one person's, or those of several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shares {
    /// The elicited metric.
    pub elicited: Option<Agreement>,
    /// The cost stated before.
    pub stated: Option<Agreement>,
    /// Always the system that misses fewer.
    pub fewest_missed: Option<Agreement>,
    /// Always the system with fewer mistakes.
    pub fewest_mistakes: Option<Agreement>,
    /// The ceiling: how often people agree with themselves.
    pub own_repeats: Option<Agreement>,
}

impl Shares {
    /// All that are known, each with what it is called.
    pub(crate) fn named(&self) -> Vec<(&'static str, Agreement)> {
        let all = [
            ("the elicited metric", self.elicited),
            ("the cost stated before", self.stated),
            ("always fewest missed", self.fewest_missed),
            ("always fewest mistakes", self.fewest_mistakes),
            ("ceiling: own repeats answered alike", self.own_repeats),
        ];
        all.into_iter().filter_map(|(name, share)| Some((name, share?))).collect()
    }

    /// Those of several people together.
    pub(crate) fn pooled<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let pooled = |of: fn(&Self) -> Option<Agreement>| {
            let sums =
                all.clone().filter_map(of).fold((0, 0), |(agree, total), a| (agree + a.agree, total + a.of));
            Agreement::new(sums.0, sums.1)
        };
        Self {
            elicited: pooled(|f| f.elicited),
            stated: pooled(|f| f.stated),
            fewest_missed: pooled(|f| f.fewest_missed),
            fewest_mistakes: pooled(|f| f.fewest_mistakes),
            own_repeats: pooled(|f| f.own_repeats),
        }
    }
}

/// So many of so many, with the share and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// So many.
    pub agree: usize,
    /// Of so many.
    pub of: usize,
    /// The share.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Agreement {
    pub(crate) fn new(agree: usize, of: usize) -> Option<Self> {
        wilson(agree, of).map(|[share, low, high]| Self { agree, of, share, low, high })
    }
}

/// What was stated beside what was elicited (G7).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatedAgainstElicited {
    /// The ratio stated before the comparisons.
    pub stated: f64,
    /// The one elicited.
    pub elicited: f64,
    /// Elicited over stated.
    pub factor: f64,
    /// The exact paired test on evaluation answers.
    pub test: Option<f64>,
    /// All of it in a sentence.
    pub sentence: String,
    /// What was stated.
    pub rows: Rows,
}

/// Which of the two shown systems a metric likes better; `None` for a tie.
pub(crate) fn likes(participant: &Participant, metric: &Metric, question: &Question) -> Option<Preference> {
    let query = participant.design().frame().query(&question.asked.shown);
    let [a, b] = [&query.first, &query.second].map(|point| metric.liking(point));
    match a.total_cmp(&b) {
        Ordering::Greater => Some(Preference::First),
        Ordering::Less => Some(Preference::Second),
        Ordering::Equal => None,
    }
}

/// What was chosen; `None` for "can't tell".
pub(crate) fn chosen(question: &Question) -> Option<Preference> {
    match question.answer.as_ref()?.choice {
        Choice::A => Some(Preference::First),
        Choice::B => Some(Preference::Second),
        Choice::CannotTell => None,
    }
}

pub(crate) fn fidelity(participant: &Participant, metric: &Metric, stated: Option<Stated>) -> Fidelity {
    let counts = |q: &Question| q.asked.purpose == Purpose::Evaluation && chosen(q).is_some();
    let evaluated: Vec<&Question> = participant.questions().iter().filter(|q| counts(q)).collect();
    let hits = |metric: &Metric| -> Vec<bool> {
        evaluated.iter().map(|q| likes(participant, metric, q) == chosen(q)).collect()
    };
    let agreement = |hits: &[bool]| Agreement::new(hits.iter().filter(|hit| **hit).count(), hits.len());
    let elicited = hits(metric);
    let stated = stated
        .and_then(|stated| stated.ratio)
        .filter(|_| participant.design().binary().is_some())
        .map(|ratio| hits(&ratio_metric(ratio)));
    let fewest: Vec<bool> = evaluated.iter().map(|q| chose_fewer_missed(q) == Some(true)).collect();
    let total = |cells: &[u64], q: &Question| -> u64 {
        let shown = &q.asked.shown;
        shown.mistakes().map(|(g, t, p)| cells[shown.cell(g, t, p)]).sum()
    };
    let accurate: Vec<bool> = evaluated
        .iter()
        .map(|q| match total(&q.asked.shown.a, q).cmp(&total(&q.asked.shown.b, q)) {
            Ordering::Less => chosen(q) == Some(Preference::First),
            Ordering::Greater => chosen(q) == Some(Preference::Second),
            Ordering::Equal => false,
        })
        .collect();
    let test = stated.as_ref().map(|stated| {
        let only = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| **a && !**b).count();
        sign_test(only(&elicited, stated), only(stated, &elicited))
    });
    let repeats = Conduct::of(participant).repeats;
    // Candidates with attributes make no mistakes that could be fewest.
    let is_choice = participant.design().is_choice();
    Fidelity {
        answers: evaluated.len(),
        shares: Shares {
            elicited: agreement(&elicited),
            stated: stated.as_deref().and_then(agreement),
            fewest_missed: agreement(&fewest).filter(|_| !is_choice),
            fewest_mistakes: agreement(&accurate).filter(|_| !is_choice),
            own_repeats: Agreement::new(repeats.count, repeats.of),
        },
        elicited_against_stated: test,
        rows: Rows::of(participant, counts),
        repeat_rows: Rows::with_purpose(participant, |purpose| matches!(purpose, Purpose::Repeat { .. })),
    }
}

pub(crate) fn stated_against_elicited(
    participant: &Participant,
    ratio: Ratio,
    stated: Option<Stated>,
    fidelity: &Fidelity,
) -> Option<StatedAgainstElicited> {
    let stated = stated?.ratio?;
    let told =
        |x: f64| if x >= 1.0 { format!("{}:1", two_digits(x)) } else { format!("1:{}", two_digits(1.0 / x)) };
    let predicts =
        |agreement: Option<Agreement>| agreement.map(|a| format!(" predicts {} of {}", a.agree, a.of));
    let sentence = format!(
        "Stated {}{}, elicited {}{}{}.",
        told(stated),
        predicts(fidelity.shares.stated).unwrap_or_default(),
        told(ratio.estimate),
        predicts(fidelity.shares.elicited).unwrap_or_default(),
        fidelity
            .elicited_against_stated
            .map_or(String::new(), |p| format!(" (exact paired test, p = {p:.2})"))
    );
    Some(StatedAgainstElicited {
        stated,
        elicited: ratio.estimate,
        factor: ratio.estimate / stated,
        test: fidelity.elicited_against_stated,
        sentence,
        rows: Rows::stated(participant),
    })
}
