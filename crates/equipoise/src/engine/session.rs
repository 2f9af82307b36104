//! One adaptive elicitation in progress: posterior, next question, and when to stop.

use super::ask::{Chooser, Direction, Fuzz};
use super::decision::Decision;
use super::draws::draws;
use super::posterior::{Evidence, Posterior};
use super::ratio::Noise;
use super::rivals::{self, Rival};
use super::stop::expected_bits;
use crate::ask::Answered;
use crate::ask::{Answer, Preference, Query};
use crate::linalg::{direction, dot, norm, plus, scaled};
use crate::metric::Metric;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How answers are believed to come about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerModel {
    /// Precision of the round prior.
    pub prior_precision: f64,
    /// $s^2$ in units of w.
    pub variance: f64,
    /// How often an answer has nothing to do with the question.
    pub lapse: f64,
    /// The largest difference, in units of w, that may pass as "can't tell".
    pub indifference: f64,
}

impl AnswerModel {
    /// Every answer is right; `resolution` is the angle the search goes down to.
    pub fn exact(resolution: f64) -> Self {
        Self {
            prior_precision: 1.0,
            variance: (resolution / 20.0).powi(2),
            lapse: 0.0,
            indifference: resolution,
        }
    }

    /// A share of the answers is wrong, whatever the question. Understating it is much worse than overstating it, the more
    /// so the larger it is, so the model adds .07 and a fifth.
    pub fn flips(probability: f64, resolution: f64) -> Self {
        Self { lapse: (0.07 + 1.2 * probability).min(0.4), ..Self::exact(resolution) }
    }

    /// Right with probability $1/(1+e^{-\beta\,\text{difference}})$, differences in units of the space's radius.
    ///
    /// A probit with scale 1/(.6267 beta) comes closest to the logistic curve; .8 keeps on the safe side.
    pub fn logistic(slope: f64, dimension: usize) -> Self {
        // w is half the difference.
        let scale = 0.5 / (0.6267 * 0.8 * slope);
        Self {
            prior_precision: dimension as f64,
            variance: scale * scale,
            lapse: 0.0,
            indifference: 0.5 / slope,
        }
    }

    /// The slope a logistic model was made from.
    pub(super) fn slope(&self) -> f64 {
        0.5 / self.indifference
    }

    /// What the choice of questions needs to know.
    pub fn fuzz(&self) -> Fuzz {
        Fuzz { variance: self.variance, lapse: self.lapse }
    }
}

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
    model: AnswerModel,
    signs: Option<Vec<f64>>,
    posterior: Posterior,
    known: Direction,
    /// The pairs as they were asked, so that none is asked again.
    asked: Vec<Query>,
    /// What was said of each.
    answers: Vec<Answer>,
    /// Models of unknown noise; empty when the noise is known.
    rivals: Vec<Rival>,
    /// The angle wanted, where the noise is unknown.
    tolerance: Option<f64>,
}

impl Session {
    /// Before the first question; `signs` of the weights where they are known.
    pub fn start(chooser: Chooser, model: AnswerModel, signs: Option<Vec<f64>>) -> Self {
        let posterior = prior(chooser.features.dimension(), model.prior_precision, signs.as_deref());
        let known = Direction::of(&posterior);
        Self {
            chooser,
            model,
            signs,
            posterior,
            known,
            asked: vec![],
            answers: vec![],
            rivals: vec![],
            tolerance: None,
        }
    }

    /// The same start with unknown noise: models that compete, each with the lapse rate it believes in.
    pub(super) fn with_rivals(mut self, models: Vec<(AnswerModel, f64)>, tolerance: f64) -> Self {
        let start = |(model, lapse): (AnswerModel, f64)| {
            let dimension = self.chooser.features.dimension();
            Rival::new(model, lapse, prior(dimension, model.prior_precision, self.signs.as_deref()))
        };
        self.rivals = models.into_iter().map(start).collect();
        self.tolerance = (!self.rivals.is_empty()).then_some(tolerance);
        self
    }

    /// The noise as far as it is known: estimated slope and lapse rate, where the plan was told nothing.
    pub fn noise(&self) -> Option<Noise> {
        rivals::estimate(&self.rivals)
    }

    /// Somebody who could have given these answers: their weights, and their noise where it is not `known`.
    pub(super) fn person(&self, known: Option<Noise>, random: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Noise) {
        let rival = rivals::draw(&self.rivals, random.random());
        let posterior = rival.map_or(&self.posterior, |rival| &rival.posterior);
        let weights = draws(posterior, 1, random.random()).remove(0);
        let noise = known.or(rival.map(Rival::noise));
        (weights, noise.expect("noise is known unless rivals compete"))
    }

    /// The same with fewer models: for looking ahead, where speed counts.
    pub(super) fn thinned(&self) -> Self {
        Self { rivals: rivals::one_per_slope(&self.rivals), ..self.clone() }
    }

    /// How many answers have been taken in.
    pub fn asked(&self) -> usize {
        self.asked.len()
    }

    /// The angle that holds the truth with probability .95.
    pub fn radius(&self) -> f64 {
        match self.rivals.is_empty() {
            true => self.known.radius(),
            false => rivals::radius(&self.rivals, &self.known.mean),
        }
    }

    /// The model of answers in use; the likeliest, where the noise is unknown.
    pub fn model(&self) -> AnswerModel {
        self.model
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

    /// A question that tells rival models apart, if the likeliest is content with the angle and others are not.
    ///
    /// Questions with even odds say next to nothing of how people err: sharp and blunt alike answer them either way. The
    /// best question is tilted until one side should be liked better, and rivals differ in how surely. Every second
    /// question stays as it was, because narrowing the angle can be the shorter way to content everybody.
    fn about_the_noise(&self, even: &Query) -> Option<Query> {
        let tolerance = self.tolerance?;
        if self.asked.len().is_multiple_of(2) || self.known.radius() > tolerance {
            return None;
        }
        let tilted = TILTS.iter().filter_map(|tilt| self.chooser.tilted(even, &self.posterior, *tilt));
        let tilted = tilted.filter(|query| !self.is_obvious(query));
        let content = |_, rival: &Rival| usize::from(rival.need(&self.known.mean) <= tolerance);
        let bits = |query: &Query| rivals::bits(&self.rivals, &self.chooser.difference(query), content);
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
        let about_the_noise = rivals::bits(&self.rivals, &w, |n, _| n);
        expected_bits(&w, &self.posterior, self.model.fuzz()) + about_the_noise
    }

    /// The likeliest best of a list of points, and how likely it is; `None` where questions come from a ball.
    pub fn decision(&self, seed: u64) -> Option<Decision> {
        self.chooser.decision(&self.posterior, seed)
    }

    /// Takes an answer in. The pair as it was shown is what the answer is about.
    pub fn take(&mut self, query: &Query, answer: &Answer) {
        let (w, evidence) = self.evidence(query, answer, &self.model);
        if self.rivals.is_empty() {
            self.posterior.add(w, evidence);
            self.posterior.settle(3, 1e-6);
            self.known = Direction::of(&self.posterior);
        } else {
            for mut rival in std::mem::take(&mut self.rivals) {
                let (w, evidence) = self.evidence(query, answer, &rival.model);
                rival.take(w, evidence);
                self.rivals.push(rival);
            }
            self.rivals = rivals::remaining(std::mem::take(&mut self.rivals));
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
            let (w, evidence) = self.evidence(query, &answer, &self.model);
            self.posterior.add(w, evidence);
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
        for mut rival in std::mem::take(&mut self.rivals) {
            let (w, evidence) = self.evidence(query, answer, &rival.model);
            rival.judge(&w, &evidence);
            self.rivals.push(rival);
        }
        self.follow_leader();
    }

    /// What an answer says under a model.
    fn evidence(&self, query: &Query, answer: &Answer, model: &AnswerModel) -> (Vec<f64>, Evidence) {
        let w = self.chooser.difference(answer.shown.as_ref().unwrap_or(query));
        let AnswerModel { variance, lapse, indifference, .. } = *model;
        match answer.preference {
            Preference::First => (w, Evidence::Positive { variance, lapse }),
            Preference::Second => (scaled(&w, -1.0), Evidence::Positive { variance, lapse }),
            Preference::CannotTell => (w, Evidence::Within { half_width: indifference, variance, lapse }),
        }
    }

    /// Questions and estimates are the likeliest rival's.
    fn follow_leader(&mut self) {
        if let Some(leader) = rivals::leader(&self.rivals) {
            self.model = leader.model;
            self.chooser.fuzz = leader.model.fuzz();
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
            posterior.add(axis, Evidence::Positive { variance: 0.0, lapse: 0.0 });
        }
        posterior.settle(100, 1e-6);
    }
    posterior
}
