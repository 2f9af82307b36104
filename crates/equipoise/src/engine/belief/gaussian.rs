//! Weights of features: a Gaussian over them, or one for every noise model that may be true.

use super::draws::draws;
use super::models::{self, Model};
use super::sites::Sites;
use super::{Belief, Width};
use crate::ask::{Answer, Answered, NoiseModel, Preference, Query};
use crate::engine::aim::Decision;
use crate::engine::features::Features;
use crate::engine::plan::Adaptive;
use crate::engine::probit::{Probit, Said};
use crate::engine::progress::Imagined;
use crate::engine::question::{Chooser, Direction, Reach};
use crate::linalg::{direction, dot, norm, plus, scaled, symmetric, zeros};
use crate::metric::Metric;
use crate::seed::stream;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many other questions are tried when the best has been asked before.
const NEW_TRIES: u64 = 16;

/// How far questions about the noise are tilted, in radians.
const TILTS: [f64; 6] = [0.03, 0.06, 0.12, 0.25, 0.5, 1.0];

/// How often all answers are revisited when they are taken in at once.
const ALL_SWEEPS: usize = 30;

/// What is believed of the weights of a metric that is linear in its features.
#[derive(Debug, Clone)]
pub struct Gaussian {
    chooser: Chooser,
    noise: NoiseModel,
    signs: Option<Vec<f64>>,
    posterior: Sites,
    known: Direction,
    answered: Vec<Answered>,
    /// Models of unknown noise; empty when the noise is known.
    models: Vec<Model>,
    /// Whether the person has ever said "can't tell": from then on a choice also says that it was not too close.
    hesitates: bool,
    /// The angle wanted, where the noise is unknown.
    tolerance: Option<f64>,
}

impl Gaussian {
    /// Before the first question; `signs` of the weights where they are known, and the angle wanted.
    pub fn new(
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
        let (answered, hesitates) = (vec![], false);
        Self { chooser, noise, signs, posterior, known, answered, models, hesitates, tolerance }
    }

    /// The same where the two points of a question may differ in so many coordinates only.
    pub fn with_rows_that_differ(mut self, rows: Option<usize>) -> Self {
        self.chooser.rows_that_differ = rows;
        self
    }

    /// The angle that holds the truth with probability .95.
    fn radius(&self) -> f64 {
        match self.models.is_empty() {
            true => self.known.radius(),
            false => models::radius(&self.models, &self.known.mean),
        }
    }

    /// Half the difference of the features of a pair.
    pub fn difference(&self, query: &Query) -> Vec<f64> {
        self.chooser.difference(query)
    }

    /// The posterior.
    pub fn posterior(&self) -> &Sites {
        &self.posterior
    }

    /// The unit weights of the liking, clipped to the signs that are known.
    fn weights(&self) -> Vec<f64> {
        let Some(signs) = &self.signs else { return self.known.mean.clone() };
        let clip = |(w, s): (&f64, &f64)| if w * s > 0.0 { *w } else { 0.0 };
        let clipped: Vec<f64> = self.known.mean.iter().zip(signs).map(clip).collect();
        direction(&clipped).unwrap_or_else(|| self.known.mean.clone())
    }

    /// A question that tells noise models apart, if the likeliest is content with the angle and others are not.
    ///
    /// Questions with even odds say next to nothing of how people err: sharp and blunt alike answer them either way. The
    /// best question is tilted until one side should be liked better, and models differ in how surely. Every second
    /// question stays as it was, because narrowing the angle can be the shorter way to content everybody.
    fn about_the_noise(&self, even: &Query) -> Option<Query> {
        let tolerance = self.tolerance?;
        if self.answered.len().is_multiple_of(2) || self.known.radius() > tolerance {
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
        self.answered.iter().any(|answered| answered.query.is_same_pair(query, 1e-9))
    }

    /// Takes many answers in at once: cheaper than one by one, and all that is needed where nothing is asked in between.
    ///
    /// For known noise only.
    pub fn take_all(&mut self, transcript: &[Answered]) {
        for answered in transcript {
            self.hesitates |= answered.preference == Preference::CannotTell;
            let (w, probit, said) = self.evidence(&answered.query, &answered.answer(), self.chooser.probit);
            self.posterior.add(w, probit, said);
            self.answered.push(answered.clone());
        }
        self.posterior.settle(ALL_SWEEPS, 1e-6);
        self.known = Direction::of(&self.posterior);
    }

    /// How likely the first of two points is preferred, with another lapse rate than the posterior allows for.
    pub fn chance_with(&self, query: &Query, lapse: f64) -> f64 {
        let w = self.difference(query);
        let probit = Probit { lapse, ..self.chooser.probit.decided() };
        probit.chance(Said::Positive, dot(&w, self.posterior.mean()), dot(&w, &self.posterior.spread(&w)))
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

impl Belief for Gaussian {
    fn answered(&self) -> &[Answered] {
        &self.answered
    }

    fn take(&mut self, query: &Query, answer: &Answer) {
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
        self.answered.push(Answered::new(query, answer));
    }

    fn take_check(&mut self, query: &Query, answer: &Answer) {
        self.hesitates |= answer.preference == Preference::CannotTell;
        for mut model in std::mem::take(&mut self.models) {
            let (w, probit, said) = self.evidence(query, answer, model.probit());
            model.judge(&w, probit, said);
            self.models.push(model);
        }
        self.follow_leader();
    }

    fn questions(&self, seed: u64) -> Box<dyn Iterator<Item = Query> + '_> {
        let seed = stream(seed, self.answered.len() as u64);
        let asked: Vec<Query> = self.answered.iter().map(|answered| answered.query.clone()).collect();
        let best = self.chooser.best(&self.posterior, &self.known, &asked, seed);
        let best = best.map(|even| self.about_the_noise(&even).unwrap_or(even));
        let tries = if best.is_some() { NEW_TRIES } else { 0 };
        // "Can't tell" can leave the posterior without a direction to prefer: anything new, then.
        let others = (1..=tries).filter_map(move |n| {
            self.chooser.another(&self.posterior, &self.known, &asked, seed.wrapping_add(n))
        });
        Box::new(best.into_iter().chain(others).filter(|query| !self.has_asked(query)))
    }

    fn bits(&self, query: &Query) -> f64 {
        let w = self.chooser.difference(query);
        let about_the_noise = models::bits(&self.models, &w, |n, _| n);
        self.posterior.bits(&w, self.chooser.probit) + about_the_noise
    }

    fn chance_of_first(&self, query: &Query) -> f64 {
        self.chance_with(query, self.chooser.probit.lapse)
    }

    fn width(&self) -> Width {
        Width::Angle(self.radius())
    }

    fn metric(&self) -> Metric {
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
        let spread = |row: &Vec<f64>| {
            let zero = vec![0.0; found.len()];
            row.iter().zip(&image).fold(zero, |sum, (c, v)| plus(&sum, *c, v))
        };
        let spread: Vec<Vec<f64>> = self.posterior.covariance().iter().map(spread).collect();
        let mut covariance = zeros(found.len());
        for (axis, spread) in image.iter().zip(&spread) {
            for i in 0..found.len() {
                for j in 0..found.len() {
                    covariance[i][j] += axis[i] * spread[j];
                }
            }
        }
        // Rounding leaves the two triangles a digit apart.
        let Ok(posterior) = crate::metric::Posterior::new(found, symmetric(&covariance)) else {
            return metric;
        };
        let posterior = if self.signs.is_some() { posterior.with_known_signs() } else { posterior };
        metric.clone().with_posterior(posterior).unwrap_or(metric)
    }

    fn noise(&self) -> Option<NoiseModel> {
        models::estimate(&self.models)
    }

    fn decision(&self, seed: u64) -> Option<Decision> {
        self.chooser.decision(&self.posterior, seed)
    }

    fn imagined(&self) -> Option<Box<dyn Imagined>> {
        let thinned = Self { models: models::one_per_slope(&self.models), ..self.clone() };
        let person = (self.weights(), self.noise);
        Some(Box::new(Played { from: self.clone(), belief: thinned.clone(), thinned, person }))
    }

    fn boxed(&self) -> Box<dyn Belief> {
        Box::new(self.clone())
    }
}

/// People drawn from a belief, whose sessions go on from it by the plan's own questions and rules.
struct Played {
    from: Gaussian,
    /// The same with fewer models: speed counts here.
    thinned: Gaussian,
    /// The belief of the session being played.
    belief: Gaussian,
    /// Weights and noise of whoever answers.
    person: (Vec<f64>, NoiseModel),
}

/// How many people are imagined. The next one falls among them with a chance of 23/25.
const PEOPLE: usize = 24;

impl Imagined for Played {
    fn people(&self) -> usize {
        PEOPLE
    }

    fn begin(&mut self, _n: usize, random: &mut Xoshiro256PlusPlus) {
        let model = models::draw(&self.from.models, random.random());
        let posterior = model.map_or(&self.from.posterior, |model| &model.posterior);
        let weights = draws(posterior, 1, random.random()).remove(0);
        self.person = (weights, model.map_or(self.from.noise, |model| model.noise));
        self.belief = self.thinned.clone();
    }

    fn step(&mut self, _asked: usize, plan: &Adaptive, random: &mut Xoshiro256PlusPlus) -> bool {
        let Ok(query) = plan.next(&self.belief) else { return false };
        let (weights, noise) = &self.person;
        // w is half the difference.
        let ahead = 2.0 * dot(&self.belief.difference(&query), weights) / norm(weights).max(1e-300);
        let is_first = random.random::<f64>() < noise.chance_of_first(ahead);
        self.belief.take(&query, &if is_first { Preference::First } else { Preference::Second }.into());
        true
    }
}

/// What is believed before the first answer.
fn prior(dimension: usize, precision: f64, signs: Option<&[f64]>) -> Sites {
    let mut posterior = Sites::new(dimension, precision);
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
