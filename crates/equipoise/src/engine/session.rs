//! One adaptive elicitation in progress: posterior, next question, and when to stop.

use super::ask::{Chooser, Direction, Reach};
use super::decision::Decision;
use super::draws::draws;
use super::features::Features;
use super::models::{self, Model};
use super::posterior::Posterior;
use super::probit::{Probit, Said};
use super::stop::expected_bits;
use crate::ask::{Answer, Answered, NoiseModel, Preference, Query};
use crate::linalg::{direction, dot, norm, plus, scaled};
use crate::metric::Metric;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many other questions are tried when the best has been asked before.
const NEW_TRIES: u64 = 16;

/// How far questions about the noise are tilted, in radians.
const TILTS: [f64; 6] = [0.03, 0.06, 0.12, 0.25, 0.5, 1.0];

/// How often all answers are revisited when they are taken in at once.
const ALL_SWEEPS: usize = 30;

/// The state of an adaptive elicitation after some answers.
#[derive(Debug, Clone)]
pub struct Session {
    chooser: Chooser,
    signs: Option<Vec<f64>>,
    posterior: Posterior,
    known: Direction,
    /// The pairs as they were asked, so that none is asked again.
    asked: Vec<Query>,
    /// What was said of each.
    answers: Vec<Answer>,
    /// Models of unknown noise; empty when the noise is known.
    models: Vec<Model>,
    /// Whether the person has ever said "can't tell": from then on a choice also says that it was not too close.
    hesitates: bool,
    /// The angle wanted, where the noise is unknown.
    tolerance: Option<f64>,
}

impl Session {
    /// Before the first question; `signs` of the weights where they are known, and the angle wanted.
    pub(super) fn start(
        features: Features,
        reach: Reach,
        noise: NoiseModel,
        signs: Option<Vec<f64>>,
        tolerance: f64,
    ) -> Self {
        let dimension = features.dimension();
        let of = |noise: NoiseModel| {
            // Answers with a slope of their own tell something of the length of the weights.
            let precision = if noise.slope().is_finite() { dimension as f64 } else { 1.0 };
            prior(dimension, precision, signs.as_deref())
        };
        let models: Vec<Model> = match noise {
            NoiseModel::Unknown => models::all().map(|noise| Model::new(noise, of(noise))).collect(),
            _ => vec![],
        };
        let (probit, posterior) = match models.first() {
            Some(model) => (model.probit(), model.posterior.clone()),
            None => (Probit::of(noise, tolerance), of(noise)),
        };
        let known = Direction::of(&posterior);
        let tolerance = (!models.is_empty()).then_some(tolerance / noise.caution());
        let chooser = Chooser { features, reach, probit, rows_that_differ: None };
        let (asked, answers, hesitates) = (vec![], vec![], false);
        Self { chooser, signs, posterior, known, asked, answers, models, hesitates, tolerance }
    }

    /// The same where the two points of a question may differ in so many coordinates only.
    pub(super) fn with_rows_that_differ(mut self, rows: Option<usize>) -> Self {
        self.chooser.rows_that_differ = rows;
        self
    }

    /// The noise as far as it is known: estimated slope and lapse rate, where the plan was told nothing.
    pub fn noise(&self) -> Option<NoiseModel> {
        models::estimate(&self.models)
    }

    /// Somebody who could have given these answers: their weights, and their noise where it is not `known`.
    pub(super) fn person(
        &self,
        known: NoiseModel,
        random: &mut Xoshiro256PlusPlus,
    ) -> (Vec<f64>, NoiseModel) {
        let model = models::draw(&self.models, random.random());
        let posterior = model.map_or(&self.posterior, |model| &model.posterior);
        let weights = draws(posterior, 1, random.random()).remove(0);
        (weights, model.map_or(known, |model| model.noise))
    }

    /// The same with fewer models: for looking ahead, where speed counts.
    pub(super) fn thinned(&self) -> Self {
        Self { models: models::one_per_slope(&self.models), ..self.clone() }
    }

    /// How many answers have been taken in.
    pub fn asked(&self) -> usize {
        self.asked.len()
    }

    /// The angle that holds the truth with probability .95.
    pub fn radius(&self) -> f64 {
        match self.models.is_empty() {
            true => self.known.radius(),
            false => models::radius(&self.models, &self.known.mean),
        }
    }

    /// How answers are read; as the likeliest model does, where the noise is unknown.
    pub(super) fn probit(&self) -> Probit {
        self.chooser.probit
    }

    /// Half the difference of the features of a pair.
    pub(super) fn difference(&self, query: &Query) -> Vec<f64> {
        self.chooser.difference(query)
    }

    /// The posterior.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The unit weights of the liking, clipped to the signs that are known.
    pub fn weights(&self) -> Vec<f64> {
        let Some(signs) = &self.signs else { return self.known.mean.clone() };
        let clip = |(w, s): (&f64, &f64)| if w * s > 0.0 { *w } else { 0.0 };
        let clipped: Vec<f64> = self.known.mean.iter().zip(signs).map(clip).collect();
        direction(&clipped).unwrap_or_else(|| self.known.mean.clone())
    }

    /// The metric the weights stand for, with its posterior.
    pub fn metric(&self) -> Metric {
        let features = &self.chooser.features;
        let metric = features.metric(&self.weights());
        // From weights to the document's coefficients is a linear map and a factor; see what it does to each axis.
        let d = self.posterior.dimension();
        let mean = features.coefficients(&self.weights());
        let found = metric.coefficients();
        let factor = dot(&found, &mean) / dot(&mean, &mean);
        let scale = factor / norm(self.posterior.mean()).max(1e-300);
        let image: Vec<Vec<f64>> = (0..d)
            .map(|i| {
                let mut axis = vec![0.0; d];
                axis[i] = scale;
                features.coefficients(&axis)
            })
            .collect();
        let spread: Vec<Vec<f64>> = (0..d)
            .map(|i| {
                let row = self.posterior.covariance(i);
                let zero = vec![0.0; found.len()];
                row.iter().zip(&image).fold(zero, |sum, (c, v)| plus(&sum, *c, v))
            })
            .collect();
        let mut covariance = vec![vec![0.0; found.len()]; found.len()];
        for (axis, spread) in image.iter().zip(&spread) {
            for i in 0..found.len() {
                for j in 0..found.len() {
                    covariance[i][j] += axis[i] * spread[j];
                }
            }
        }
        // Rounding leaves the two triangles a digit apart.
        for i in 0..found.len() {
            for j in 0..i {
                let both = 0.5 * (covariance[i][j] + covariance[j][i]);
                (covariance[i][j], covariance[j][i]) = (both, both);
            }
        }
        let Ok(posterior) = crate::metric::Posterior::new(found, covariance) else { return metric };
        let posterior = if self.signs.is_some() { posterior.with_known_signs() } else { posterior };
        metric.clone().with_posterior(posterior).unwrap_or(metric)
    }

    /// The most telling question now; `None` if nothing that may be asked tells anything.
    pub fn question(&self, seed: u64) -> Option<Query> {
        self.questions(seed).next()
    }

    /// The most telling question, and others for whoever cannot ask it; none that has been asked.
    pub fn questions(&self, seed: u64) -> impl Iterator<Item = Query> {
        let seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(self.asked.len() as u64 + 1));
        let best = self.chooser.best(&self.posterior, &self.known, &self.asked, seed);
        let best = best.map(|even| self.about_the_noise(&even).unwrap_or(even));
        let tries = if best.is_some() { NEW_TRIES } else { 0 };
        // "Can't tell" can leave the posterior without a direction to prefer: anything new, then.
        let others = (1..=tries).filter_map(move |n| {
            self.chooser.another(&self.posterior, &self.known, &self.asked, seed.wrapping_add(n))
        });
        best.into_iter().chain(others).filter(|query| !self.has_asked(query))
    }

    /// A question that tells noise models apart, if the likeliest is content with the angle and others are not.
    ///
    /// Questions with even odds say next to nothing of how people err: sharp and blunt alike answer them either way. The
    /// best question is tilted until one side should be liked better, and models differ in how surely. Every second
    /// question stays as it was, because narrowing the angle can be the shorter way to content everybody.
    fn about_the_noise(&self, even: &Query) -> Option<Query> {
        let tolerance = self.tolerance?;
        if self.asked.len().is_multiple_of(2) || self.known.radius() > tolerance {
            return None;
        }
        let tilted = TILTS.iter().filter_map(|tilt| self.chooser.tilted(even, &self.posterior, *tilt));
        let tilted = tilted.filter(|query| !self.is_obvious(query));
        let content = |_, model: &Model| usize::from(model.need(&self.known.mean) <= tolerance);
        let bits = |query: &Query| models::bits(&self.models, &self.chooser.difference(query), content);
        let valued = tilted.map(|query| (bits(&query), query));
        valued.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, query)| query)
    }

    /// Whether one point is nowhere worse, as far as signs are known: nobody should be asked such a thing.
    fn is_obvious(&self, query: &Query) -> bool {
        let Some(signs) = &self.signs else { return false };
        let w = self.chooser.difference(query);
        let gains = |sign: f64| w.iter().zip(signs).all(|(w, s)| sign * w * s >= -1e-12);
        gains(1.0) || gains(-1.0)
    }

    /// Whether a pair has been asked, to within rounding, sides swapped or not.
    fn has_asked(&self, query: &Query) -> bool {
        self.asked.iter().any(|asked| asked.is_same_pair(query, 1e-9))
    }

    /// What the answer to a question is expected to tell about the weights, and about the noise if it is unknown, in bits.
    pub fn expected_bits(&self, query: &Query) -> f64 {
        let w = self.chooser.difference(query);
        let about_the_noise = models::bits(&self.models, &w, |n, _| n);
        expected_bits(&w, &self.posterior, self.chooser.probit) + about_the_noise
    }

    /// The likeliest best of a list of points, and how likely it is; `None` where questions come from a ball.
    pub fn decision(&self, seed: u64) -> Option<Decision> {
        self.chooser.decision(&self.posterior, seed)
    }

    /// Takes an answer in. The pair as it was shown is what the answer is about.
    pub fn take(&mut self, query: &Query, answer: &Answer) {
        self.hesitates |= answer.preference == Preference::CannotTell;
        if self.models.is_empty() {
            let (w, probit, said) = self.evidence(query, answer, self.chooser.probit);
            self.posterior.add(w, probit, said);
            self.posterior.settle(3, 1e-6);
            self.known = Direction::of(&self.posterior);
        } else {
            for mut model in std::mem::take(&mut self.models) {
                let (w, probit, said) = self.evidence(query, answer, model.probit());
                model.take(w, probit, said);
                self.models.push(model);
            }
            self.models = models::remaining(std::mem::take(&mut self.models));
            self.follow_leader();
        }
        self.record(query, answer);
    }

    /// Takes many answers in at once: cheaper than one by one, and all that is needed where nothing is asked in between.
    ///
    /// For known noise only.
    pub(super) fn take_all(&mut self, transcript: &[Answered]) {
        for Answered { query, preference, shown } in transcript {
            let answer = Answer { preference: *preference, shown: shown.clone() };
            self.hesitates |= *preference == Preference::CannotTell;
            let (w, probit, said) = self.evidence(query, &answer, self.chooser.probit);
            self.posterior.add(w, probit, said);
            self.record(query, &answer);
        }
        self.posterior.settle(ALL_SWEEPS, 1e-6);
        self.known = Direction::of(&self.posterior);
    }

    fn record(&mut self, query: &Query, answer: &Answer) {
        self.asked.push(query.clone());
        self.answers.push(answer.clone());
    }

    /// The answers that have been taken in.
    pub fn transcript(&self) -> Vec<Answered> {
        let both = self.asked.iter().cloned().zip(self.answers.iter().cloned());
        both.map(|(query, Answer { preference, shown })| Answered { query, preference, shown }).collect()
    }

    /// Takes in the answer to a check, a dominated pair or a repeat: it tells how the person errs, nothing else.
    ///
    /// Without effect where the noise is known.
    pub fn take_check(&mut self, query: &Query, answer: &Answer) {
        self.hesitates |= answer.preference == Preference::CannotTell;
        for mut model in std::mem::take(&mut self.models) {
            let (w, probit, said) = self.evidence(query, answer, model.probit());
            model.judge(&w, probit, said);
            self.models.push(model);
        }
        self.follow_leader();
    }

    /// What an answer says, to a reading.
    fn evidence(&self, query: &Query, answer: &Answer, probit: Probit) -> (Vec<f64>, Probit, Said) {
        let w = self.chooser.difference(answer.shown.as_ref().unwrap_or(query));
        let probit = if self.hesitates { probit } else { probit.decided() };
        match answer.preference {
            Preference::First => (w, probit, Said::Positive),
            Preference::Second => (scaled(&w, -1.0), probit, Said::Positive),
            Preference::CannotTell => (w, probit, Said::Within),
        }
    }

    /// Questions and estimates are the likeliest model's.
    fn follow_leader(&mut self) {
        if let Some(leader) = models::leader(&self.models) {
            self.chooser.probit = leader.probit();
            self.posterior = leader.posterior.clone();
            self.known = leader.known.clone();
        }
    }
}

/// What is believed before the first answer.
fn prior(dimension: usize, precision: f64, signs: Option<&[f64]>) -> Posterior {
    let mut posterior = Posterior::new(dimension, precision);
    if let Some(signs) = signs {
        for (i, sign) in signs.iter().enumerate() {
            let mut axis = vec![0.0; dimension];
            axis[i] = *sign;
            posterior.add(axis, Probit::CERTAIN, Said::Positive);
        }
        posterior.settle(100, 1e-6);
    }
    posterior
}
