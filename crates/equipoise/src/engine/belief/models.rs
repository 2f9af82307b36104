//! Unknown noise: several models of how answers err, each with a posterior of its own.
//!
//! Every noise model takes in every answer. Before it does, it says how likely it found the answer; the product of these
//! chances over all answers is its evidence (the chain rule of probability), so slope and lapse rate are estimated while
//! the questions are asked. The likeliest model chooses questions and gives the estimate. The radius is that of the most
//! cautious model, measured around the estimate, once the most cautious are passed over that together are hardly likely:
//! understating the noise is much worse than overstating it. When the likeliest model is content with the angle and
//! others are not, questions are asked that tell the two sorts apart.

use super::sites::Sites;
use crate::ask::NoiseModel;
use crate::engine::normal::entropy;
use crate::engine::probit::{Probit, Said, careful};
use crate::engine::question::Direction;
use crate::linalg::{angle, dot};

/// The most cautious models are passed over if they are less likely than this, all together.
const PASSED_OVER: f64 = 0.05;

/// A model speaks for all of its slope if it is at least so likely, beside the likeliest of them.
const SPEAKS: f64 = 0.3;

/// Models less likely than this retire: they will not come back, and every one that stays costs a posterior per answer.
const RETIRED: f64 = 1e-6;

/// Slopes, in units of the ball, and lapse rates of the models.
const SLOPES: [f64; 4] = [4.0, 10.0, 25.0, 100.0];
const LAPSES: [f64; 3] = [0.0, 0.05, 0.1];

/// The noise models that compete, the most usual first.
pub(super) fn all() -> impl Iterator<Item = NoiseModel> {
    let both = SLOPES.iter().rev().flat_map(|slope| LAPSES.map(|lapse| (*slope, lapse)));
    both.map(|(slope, lapse)| NoiseModel::Absolute { slope, lapse })
}

/// How a posterior reads answers under one of them. As with known noise, it allows for more lapses than are believed in; the
/// evidence is of the belief.
pub(super) fn reading(model: NoiseModel) -> Probit {
    Probit { lapse: careful(model.lapse()), ..Probit::of(model, 0.0) }
}

/// One noise model with what it has learnt.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub noise: NoiseModel,
    pub posterior: Sites,
    pub known: Direction,
    evidence: f64,
}

impl Model {
    pub fn new(noise: NoiseModel, posterior: Sites) -> Self {
        let known = Direction::of(&posterior);
        Self { noise, posterior, known, evidence: 0.0 }
    }

    /// How a posterior reads answers under it.
    pub fn probit(&self) -> Probit {
        reading(self.noise)
    }

    /// How likely it finds it that $\langle w, \theta\rangle$ is found positive.
    fn chance(&self, w: &[f64]) -> f64 {
        self.chance_of(w, self.probit().decided(), Said::Positive)
    }

    /// The same of any answer, with the lapses that are believed in and not those that are allowed for.
    fn chance_of(&self, w: &[f64], probit: Probit, said: Said) -> f64 {
        let probit = Probit { lapse: self.noise.lapse(), ..probit };
        probit.chance(said, dot(w, self.posterior.mean()), dot(w, &self.posterior.spread(w))).max(1e-12)
    }

    /// The angle around `estimate` that it finds wide enough for 95 %.
    pub fn need(&self, estimate: &[f64]) -> f64 {
        // Two independent errors: its own, and how far it is from the estimate.
        self.known.radius().hypot(angle(&self.known.mean, estimate))
    }

    /// Counts an answer as evidence of the noise.
    pub fn judge(&mut self, w: &[f64], probit: Probit, said: Said) {
        self.evidence += self.chance_of(w, probit, said).ln();
    }

    /// Takes an answer in.
    pub fn take(&mut self, w: Vec<f64>, probit: Probit, said: Said) {
        self.judge(&w, probit, said);
        self.posterior.add(w, probit, said);
        self.posterior.settle(3, 1e-6);
        self.known = Direction::of(&self.posterior);
    }
}

/// The likeliest model.
pub(super) fn leader(models: &[Model]) -> Option<&Model> {
    // Ties go to the first, the most usual.
    models.iter().reduce(|best, model| if model.evidence > best.evidence { model } else { best })
}

/// How likely each model is.
pub(super) fn shares(models: &[Model]) -> Vec<f64> {
    let top = models.iter().fold(f64::MIN, |top, model| top.max(model.evidence));
    let weights: Vec<f64> = models.iter().map(|model| (model.evidence - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The model at a share of all.
pub(super) fn draw(models: &[Model], mut share: f64) -> Option<&Model> {
    let drawn = models.iter().zip(shares(models)).find(|(_, own)| {
        share -= own;
        share < 0.0
    });
    drawn.map(|(model, _)| model).or(models.last())
}

/// One model for every slope, with the evidence of all: a third of the cost.
///
/// The one with most lapses speaks for the others if it is not much less likely: it decides how long sessions take.
pub(super) fn one_per_slope(models: &[Model]) -> Vec<Model> {
    let mut speakers: Vec<Model> = vec![];
    // Models of a slope come in the order of their lapse rates.
    for models in models.chunk_by(|a, b| a.noise.slope() == b.noise.slope()) {
        let top = models.iter().fold(f64::MIN, |top, model| top.max(model.evidence));
        let total: f64 = models.iter().map(|model| (model.evidence - top).exp()).sum();
        let speaks = |model: &&Model| model.evidence >= top + SPEAKS.ln();
        if let Some(model) = models.iter().rev().find(speaks) {
            speakers.push(Model { evidence: top + total.ln(), ..model.clone() });
        }
    }
    speakers
}

/// What the answer to a question is expected to tell about which sort of models is right, in bits.
pub(super) fn bits(models: &[Model], w: &[f64], sort: impl Fn(usize, &Model) -> usize) -> f64 {
    // Content or not makes two sorts, however few models are left.
    let mut sorts = vec![(0.0, 0.0); models.len().max(2)];
    for (n, (model, share)) in models.iter().zip(shares(models)).enumerate() {
        let (weight, chance) = &mut sorts[sort(n, model)];
        *weight += share;
        *chance += share * model.chance(w);
    }
    let known: f64 = sorts
        .iter()
        .filter(|(weight, _)| *weight > 0.0)
        .map(|(weight, chance)| weight * entropy(chance / weight))
        .sum();
    (entropy(sorts.iter().map(|(_, chance)| chance).sum()) - known).max(0.0)
}

/// Those that are not beyond hope.
pub(super) fn remaining(models: Vec<Model>) -> Vec<Model> {
    let shares = shares(&models);
    models.into_iter().zip(shares).filter(|(_, share)| *share >= RETIRED).map(|(model, _)| model).collect()
}

/// The angle around `estimate` that all models but a few find wide enough for 95 %.
///
/// The few are counted together: one slope believed in with several lapse rates is no less likely for being split.
pub(super) fn radius(models: &[Model], estimate: &[f64]) -> f64 {
    let mut needs: Vec<(f64, f64)> =
        models.iter().map(|model| model.need(estimate)).zip(shares(models)).collect();
    needs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut passed_over = 0.0;
    let widest = needs.into_iter().find(|(_, share)| {
        passed_over += share;
        passed_over > PASSED_OVER
    });
    widest.map_or(0.0, |(need, _)| need)
}

/// The expected slope (geometric, in units of the ball) and lapse rate.
pub(super) fn estimate(models: &[Model]) -> Option<NoiseModel> {
    let weighted = models.iter().zip(shares(models));
    let (mut log_slope, mut lapse) = (0.0, 0.0);
    for (model, share) in weighted {
        log_slope += share * model.noise.slope().ln();
        lapse += share * model.noise.lapse();
    }
    (!models.is_empty()).then(|| NoiseModel::Absolute { slope: log_slope.exp(), lapse })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_has_nothing_to_be_told_from() {
        let models = [Model::new(all().next().unwrap(), Sites::new(2, 1.0))];
        for sort in [0, 1] {
            assert!(bits(&models, &[1.0, 0.0], |_, _| sort) < 1e-12);
        }
    }
}
