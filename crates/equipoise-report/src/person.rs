//! What one participant's answers say.

use crate::choice::{self, Share};
use crate::consistency::{Consistency, consistency};
use crate::fidelity::{Fidelity, StatedAgainstElicited, fidelity, stated_against_elicited};
use crate::influence::{Influence, influences};
use crate::models::{ModelReport, models};
use crate::rates::{ExchangeRate, GapPrice, exchange_rates, gap_prices};
use crate::refused::refused;
use crate::rows::Rows;
use crate::sentence;
use crate::threshold::{ThresholdReport, threshold};
use crate::times::{Slope, TimePoint, response_times};
use equipoise_study::event::{Purpose, When};
use equipoise_study::people::{Conduct, ratio};
use equipoise_study::{Participant, Stated, Stopped, exchange, progress};
use serde::Serialize;

/// Draws of the metric for rankings and thresholds.
const DRAWS: usize = 1000;

/// A probability of this share of the highest is a line on the ground.
const SEEN: f64 = 0.002;

/// What one participant's answers say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonReport {
    /// Counted from 1 in the order of invitations.
    pub participant: u64,
    /// The one-sentence answer.
    pub sentence: String,
    /// Why no metric is reported, if none is.
    pub refusal: Option<String>,
    /// Two classes: how many false alarms a missed case is worth, with its 95 % interval.
    pub ratio: Option<Ratio>,
    /// More classes or groups: every kind of mistake in units of one of them, dearest first.
    pub rates: Vec<ExchangeRate>,
    /// Groups: what closing each gap is worth.
    pub gaps: Vec<GapPrice>,
    /// Candidates with attributes: what each attribute weighs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// The metric with its posterior; nothing where it is refused.
    pub metric: Option<serde_json::Value>,
    /// More classes or groups: the weights themselves, and the trade-off of group metrics.
    pub weights: Vec<Weight>,
    /// Groups: the share of fairness in the metric.
    pub trade_off: Option<f64>,
    /// Answers the estimate is made of.
    pub answers: usize,
    /// Why the questions ended.
    pub stopped: Option<Stopped>,
    /// How well it predicts.
    pub fidelity: Fidelity,
    /// What was stated before and after.
    pub stated: [Option<Stated>; 2],
    /// Two classes: both side by side.
    pub stated_against_elicited: Option<StatedAgainstElicited>,
    /// How the participant answered.
    pub conduct: Conduct,
    /// Answers that do not go together.
    pub consistency: Consistency,
    /// Response times against how close the choice was.
    pub response_times: Option<Slope>,
    /// Each of them.
    pub times: Vec<TimePoint>,
    /// The answers that moved the estimate most.
    pub why: Vec<Influence>,
    /// Two classes: the interval after each answer.
    pub trace: Vec<TracePoint>,
    /// Two classes: the posterior where it is more than nothing, (logarithm of the ratio, probability).
    #[serde(skip)]
    pub density: Vec<(f64, f64)>,
    /// The models of the study by this metric.
    pub models: Option<ModelReport>,
    /// The threshold for this metric.
    pub threshold: Option<ThresholdReport>,
    /// The answers behind the estimate, as participant and event.
    pub rows: Rows,
}

/// A ratio with its 95 % interval; an end that the answers do not set is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The middle of the posterior.
    pub estimate: f64,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A coefficient of the metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weight {
    /// What it weighs.
    pub name: String,
    /// The weight, of all of length 1.
    pub weight: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
}

/// The estimate after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TracePoint {
    /// The comparison's number.
    pub question: usize,
    /// The estimate with its 95 % interval: estimate, low, high.
    pub ratio: [f64; 3],
}

/// What one participant's answers say. `why` costs a replay of all answers per
/// answer.
pub fn person(participant: &Participant, why: bool) -> PersonReport {
    let conduct = Conduct::of(participant);
    let design = participant.design();
    let elicited = |purpose: Purpose| purpose == Purpose::Elicitation;
    let rows = Rows::with_purpose(participant, elicited);
    let answers = rows.0.len();
    let bounds = ratio(participant.belief());
    let refusal = refused(participant).map(|refused| refused.to_string());
    let ratio = bounds.map(|[estimate, low, high]| Ratio {
        estimate,
        low: exchange::set(low),
        high: exchange::set(high),
    });
    let metric = participant.belief().metric();
    let number = participant.invited().map_or(0, |invited| invited.number);
    let voice = sentence::Voice::of_participant(number);
    let stated = [When::Before, When::After].map(|when| participant.stated(when));
    let (rates, gaps) = match ratio {
        Some(_) => (vec![], vec![]),
        None => (exchange_rates(design, &metric, &rows), gap_prices(design, &metric, &voice, &rows)),
    };
    let shares = choice::shares(design, &metric);
    let fidelity = fidelity(participant, &metric, stated[0]);
    let draws = if refusal.is_none() && (design.models().is_some() || design.binary().is_some()) {
        participant.belief().draws(DRAWS)
    } else {
        vec![]
    };
    let (times, slope) = response_times(participant, &metric);
    let ranked = refusal.is_none().then(|| models(design, &metric, &draws)).flatten();
    let cut = refusal.is_none().then(|| threshold(design, &metric, &draws)).flatten();
    let sentence = match (&refusal, ratio) {
        (Some(refusal), _) => format!("No metric is reported: {refusal}."),
        (None, Some(ratio)) => sentence::binary(design.study(), &voice, ratio),
        (None, None) if design.is_choice() => choice::sentence(&voice, &shares, ranked.as_ref()),
        (None, None) => sentence::weights(&voice, &rates, &gaps),
    };
    PersonReport {
        participant: number,
        sentence,
        metric: match refusal {
            None => serde_json::from_str(&metric.to_json()).ok(),
            Some(_) => None,
        },
        weights: if ratio.is_none() { sentence::raw_weights(participant, &metric) } else { vec![] },
        trade_off: sentence::trade_off(&metric),
        stated_against_elicited: ratio
            .filter(|_| refusal.is_none())
            .and_then(|ratio| stated_against_elicited(participant, ratio, stated[0], &fidelity)),
        refusal,
        ratio,
        rates,
        gaps,
        shares,
        answers,
        stopped: participant.stopped(),
        fidelity,
        stated,
        conduct,
        consistency: consistency(participant, &metric),
        response_times: slope,
        times,
        why: if why { influences(participant) } else { vec![] },
        trace: trace(participant),
        density: density(participant),
        models: ranked,
        threshold: cut,
        rows,
    }
}

/// As much of the posterior as can be seen in a picture: there may be many people.
fn density(participant: &Participant) -> Vec<(f64, f64)> {
    let all = participant.belief().density().unwrap_or_default();
    let top = all.iter().map(|(_, mass)| *mass).fold(0.0, f64::max);
    all.into_iter().filter(|(_, mass)| *mass > SEEN * top).collect()
}

/// The interval after each answer that elicits.
fn trace(participant: &Participant) -> Vec<TracePoint> {
    let known = progress(participant).into_iter();
    known.filter_map(|known| Some(TracePoint { question: known.question, ratio: known.ratio? })).collect()
}
