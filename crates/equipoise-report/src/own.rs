//! What participants are told about their own answers: what the report would tell, and nothing where it refuses.

use crate::choice::{Share, shares};
use crate::models::models;
use crate::rates::{ExchangeRate, GapPrice, exchange_rates, gap_prices};
use crate::refused::{Refused, refused};
use crate::rows::Rows;
use crate::sentence::Voice;
use equipoise::Metric;
use equipoise::rates::off_diagonal_pairs;
use equipoise_study::people::ratio;
use equipoise_study::{Design, Participant};

/// Of so many people it is told how many mistakes there are.
const PEOPLE: f64 = 1000.0;

/// Draws of what somebody holds.
const DRAWS: usize = 1000;

/// What somebody's answers say.
#[derive(Debug, Clone, PartialEq)]
pub enum Own {
    /// Nothing, and why.
    Refused(Refused),
    /// Two classes: how many false alarms a missed case is worth.
    Ratio {
        /// The estimate and the ends of its 95 % interval.
        ratio: [f64; 3],
        /// What the best system for that does.
        best: Option<Best>,
    },
    /// More classes or groups.
    Weights {
        /// Every kind of mistake in units of one of them, dearest first.
        rates: Vec<ExchangeRate>,
        /// Groups: what closing each gap is worth.
        gaps: Vec<GapPrice>,
        /// What the best system for that does.
        best: Option<Best>,
    },
    /// Candidates with attributes.
    Choice {
        /// The one that is likeliest the best.
        name: String,
        /// How likely.
        probability: f64,
        /// What each attribute weighs, in the order of the study.
        shares: Vec<Share>,
    },
}

/// What the best system for somebody does.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Of each kind, in the order in which comparisons list them.
    pub mistakes: Vec<BestMistake>,
}

/// One kind of mistake of the best system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestMistake {
    /// The true and the predicted class.
    pub kind: [usize; 2],
    /// How many there are of 1,000 people; with groups, of 100 of the true class.
    pub many: f64,
    /// With groups: how far they are apart, in points.
    pub gap: Option<f64>,
}

/// What a participant's answers say.
pub fn own(participant: &Participant) -> Own {
    if let Some(refused) = refused(participant) {
        return Own::Refused(refused);
    }
    let (design, metric) = (participant.design(), participant.belief().metric());
    let draws = || participant.belief().draws(DRAWS);
    if let Some(ranked) = design.is_choice().then(|| models(design, &metric, &draws())).flatten()
        && let Some(best) = ranked.likeliest()
    {
        let (name, probability) = (best.name.clone(), best.probability_best);
        return Own::Choice { name, probability, shares: shares(design, &metric) };
    }
    if let Some(ratio) = ratio(participant.belief()) {
        return Own::Ratio { ratio, best: best_of_two(design, &metric) };
    }
    let (rows, number) = (Rows::default(), participant.invited().map_or(0, |invited| invited.number));
    let voice = Voice::of_participant(number);
    Own::Weights {
        rates: exchange_rates(design, &metric, &rows),
        gaps: gap_prices(design, &metric, &voice, &rows),
        best: best_of_many(design, &metric),
    }
}

/// Two classes: the corner of what is achievable.
fn best_of_two(design: &Design, metric: &Metric) -> Option<Best> {
    let space = design.binary()?;
    let weights: [f64; 2] = metric.coefficients().try_into().ok()?;
    let ([found, cleared], prior) = (space.extreme(weights), space.positive_prior());
    let many = |share: f64| (PEOPLE * share).max(0.0);
    let missed = BestMistake { kind: [1, 0], many: many(prior - found), gap: None };
    let alarms = BestMistake { kind: [0, 1], many: many(1.0 - prior - cleared), gap: None };
    Some(Best { mistakes: vec![missed, alarms] })
}

/// More classes or groups: the best of the rules that are known to be the best for somebody.
fn best_of_many(design: &Design, metric: &Metric) -> Option<Best> {
    let kinds = design.best_kinds(metric)?;
    let classes = design.frame().view().classes();
    let q = classes * (classes - 1);
    let shares = design.frame().class_shares();
    let mut mistakes: Vec<BestMistake> = off_diagonal_pairs(classes)
        .enumerate()
        .map(|(n, (truth, predicted))| {
            let gap = kinds.get(q + n).map(|gap| 100.0 * gap);
            let of = if gap.is_some() { 100.0 } else { PEOPLE * shares[truth] };
            BestMistake { kind: [truth, predicted], many: of * kinds[n], gap }
        })
        .collect();
    // As comparisons do: from the last class on.
    mistakes.sort_by_key(|mistake| std::cmp::Reverse(mistake.kind[0]));
    Some(Best { mistakes })
}
