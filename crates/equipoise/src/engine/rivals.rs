//! Unknown noise: several models of how answers err, each with a posterior of its own.
//!
//! All rivals take in every answer. Before it does, each says how likely it found the answer; the product of these
//! chances over all answers is its evidence (the chain rule of probability), so slope and lapse rate are estimated while
//! the questions are asked. The likeliest rival chooses questions and gives the estimate. The radius is that of the most
//! cautious rival, measured around the estimate, once the most cautious are passed over who together are hardly likely:
//! understating the noise is much worse than overstating it. When the likeliest rival is content with the angle and
//! others are not, questions are asked that tell the two camps apart.

use super::ask::Direction;
use super::normal::distribution;
use super::posterior::{Evidence, Posterior};
use super::ratio::Noise;
use super::session::AnswerModel;
use super::stop::entropy;
use crate::linalg::{angle, dot};

/// The most cautious rivals are passed over if they are less likely than this, all together.
const PASSED_OVER: f64 = 0.05;

/// A rival speaks for all of its slope if it is at least so likely, beside the likeliest of them.
const SPEAKS: f64 = 0.3;

/// Rivals less likely than this retire: they will not come back, and every one that stays costs a posterior per answer.
const RETIRED: f64 = 1e-6;

/// Slopes, in units of the ball, and lapse rates of the rivals.
const SLOPES: [f64; 4] = [4.0, 10.0, 25.0, 100.0];
const LAPSES: [f64; 3] = [0.0, 0.05, 0.1];

/// The models that compete and their lapse rates as they are believed, the most usual first.
///
/// As with known noise, the posterior allows for more lapses than are believed; the evidence is of the belief.
pub(super) fn models(resolution: f64, dimension: usize) -> Vec<(AnswerModel, f64)> {
    let both = SLOPES.iter().rev().flat_map(|slope| LAPSES.map(|lapse| (*slope, lapse)));
    both.map(|(slope, lapse)| {
        let sloped = AnswerModel::logistic(slope, dimension);
        let flips = AnswerModel::flips(lapse, resolution);
        (AnswerModel { lapse: flips.lapse, ..sloped }, lapse)
    })
    .collect()
}

/// One model with what it has learnt.
#[derive(Debug, Clone)]
pub(super) struct Rival {
    pub model: AnswerModel,
    pub posterior: Posterior,
    pub known: Direction,
    lapse: f64,
    evidence: f64,
}

impl Rival {
    pub fn new(model: AnswerModel, lapse: f64, posterior: Posterior) -> Self {
        let known = Direction::of(&posterior);
        Self { model, posterior, known, lapse, evidence: 0.0 }
    }

    /// How likely this rival finds it that $\langle w, \theta\rangle$ is found positive.
    fn chance(&self, w: &[f64]) -> f64 {
        let variance = dot(w, &self.posterior.spread(w)) + self.model.variance;
        let z = dot(w, self.posterior.mean()) / variance.max(1e-300).sqrt();
        (self.lapse + (1.0 - 2.0 * self.lapse) * distribution(z)).max(1e-12)
    }

    /// How people err according to it.
    pub fn noise(&self) -> Noise {
        Noise { slope: self.model.slope(), lapse: self.lapse }
    }

    /// The angle around `estimate` that this rival finds wide enough for 95 %.
    pub fn need(&self, estimate: &[f64]) -> f64 {
        // Two independent errors: its own, and how far it is from the estimate.
        self.known.radius().hypot(angle(&self.known.mean, estimate))
    }

    /// Counts an answer as evidence of the noise. "Can't tell" is none: rivals differ in what they call close.
    pub fn judge(&mut self, w: &[f64], evidence: &Evidence) {
        if let Evidence::Positive { .. } = evidence {
            self.evidence += self.chance(w).ln();
        }
    }

    /// Takes an answer in.
    pub fn take(&mut self, w: Vec<f64>, evidence: Evidence) {
        self.judge(&w, &evidence);
        self.posterior.add(w, evidence);
        self.posterior.settle(3, 1e-6);
        self.known = Direction::of(&self.posterior);
    }
}

/// The likeliest rival.
pub(super) fn leader(rivals: &[Rival]) -> Option<&Rival> {
    // Ties go to the first, the most usual.
    rivals.iter().reduce(|best, rival| if rival.evidence > best.evidence { rival } else { best })
}

/// How likely each rival is.
pub(super) fn shares(rivals: &[Rival]) -> Vec<f64> {
    let top = rivals.iter().fold(f64::MIN, |top, rival| top.max(rival.evidence));
    let weights: Vec<f64> = rivals.iter().map(|rival| (rival.evidence - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The rival at a share of all.
pub(super) fn draw(rivals: &[Rival], mut share: f64) -> Option<&Rival> {
    let drawn = rivals.iter().zip(shares(rivals)).find(|(_, own)| {
        share -= own;
        share < 0.0
    });
    drawn.map(|(rival, _)| rival).or(rivals.last())
}

/// One rival for every slope, with the evidence of all: a third of the cost.
///
/// The one with most lapses speaks for the others if it is not much less likely: it decides how long sessions take.
pub(super) fn one_per_slope(rivals: &[Rival]) -> Vec<Rival> {
    let mut spokesmen: Vec<Rival> = vec![];
    // Rivals of a slope come in the order of their lapse rates.
    for rivals in rivals.chunk_by(|a, b| a.model.slope() == b.model.slope()) {
        let top = rivals.iter().fold(f64::MIN, |top, rival| top.max(rival.evidence));
        let total: f64 = rivals.iter().map(|rival| (rival.evidence - top).exp()).sum();
        let speaks = |rival: &&Rival| rival.evidence >= top + SPEAKS.ln();
        if let Some(rival) = rivals.iter().rev().find(speaks) {
            spokesmen.push(Rival { evidence: top + total.ln(), ..rival.clone() });
        }
    }
    spokesmen
}

/// What the answer to a question is expected to tell about which camp of rivals is right, in bits.
pub(super) fn bits(rivals: &[Rival], w: &[f64], camp: impl Fn(usize, &Rival) -> usize) -> f64 {
    // Content or not makes two camps, however few rivals are left.
    let mut camps = vec![(0.0, 0.0); rivals.len().max(2)];
    for (n, (rival, share)) in rivals.iter().zip(shares(rivals)).enumerate() {
        let (weight, chance) = &mut camps[camp(n, rival)];
        *weight += share;
        *chance += share * rival.chance(w);
    }
    let known: f64 = camps
        .iter()
        .filter(|(weight, _)| *weight > 0.0)
        .map(|(weight, chance)| weight * entropy(chance / weight))
        .sum();
    (entropy(camps.iter().map(|(_, chance)| chance).sum()) - known).max(0.0)
}

/// Those that are not beyond hope.
pub(super) fn remaining(rivals: Vec<Rival>) -> Vec<Rival> {
    let shares = shares(&rivals);
    rivals.into_iter().zip(shares).filter(|(_, share)| *share >= RETIRED).map(|(rival, _)| rival).collect()
}

/// The angle around `estimate` that all rivals but a few find wide enough for 95 %.
///
/// The few are counted together: one slope believed in with several lapse rates is no less likely for being split.
pub(super) fn radius(rivals: &[Rival], estimate: &[f64]) -> f64 {
    let mut needs: Vec<(f64, f64)> =
        rivals.iter().map(|rival| rival.need(estimate)).zip(shares(rivals)).collect();
    needs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut passed_over = 0.0;
    let widest = needs.into_iter().find(|(_, share)| {
        passed_over += share;
        passed_over > PASSED_OVER
    });
    widest.map_or(0.0, |(need, _)| need)
}

/// The expected slope (geometric, in units of the ball) and lapse rate.
pub(super) fn estimate(rivals: &[Rival]) -> Option<Noise> {
    let weighted = rivals.iter().zip(shares(rivals));
    let (mut log_slope, mut lapse) = (0.0, 0.0);
    for (rival, share) in weighted {
        log_slope += share * rival.model.slope().ln();
        lapse += share * rival.lapse;
    }
    (!rivals.is_empty()).then(|| Noise { slope: log_slope.exp(), lapse })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_has_nothing_to_be_told_from() {
        let (model, lapse) = models(0.1, 2)[0];
        let rivals = [Rival::new(model, lapse, Posterior::new(2, 1.0))];
        for camp in [0, 1] {
            assert!(bits(&rivals, &[1.0, 0.0], |_, _| camp) < 1e-12);
        }
    }
}
