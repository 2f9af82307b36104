//! Does a linear metric explain the answers? And which answers stand out?
//!
//! Two tests of the same transcript. The *misfit*: before each answer the linear posterior says how likely either answer is;
//! summed over all answers, the surprise should be what the posterior itself expects. The *comparison*: a linear and a
//! quadratic metric that have taken in the same answers say how likely they find the answers to a few probes, and their
//! evidence is compared, in bits.
//!
//! Questions across the middle of a ball, which a linear elicitation asks, say nothing of curvature: its part is the same
//! at both ends. So probes are pairs off the middle, and before some have been asked the comparison has nothing to tell.

use super::belief::Belief as _;
use super::belief::gaussian::Gaussian;
use super::features::Features;
use super::normal::{distribution, entropy};
use super::question::Reach;
use crate::ask::{Answered, DECISIVE, Finding, NoiseModel, Preference, Query, SLOPES};
use crate::linalg::{dot, norm, plus, scaled};
use crate::search::SignKnowledge;
use crate::seed::stream;
use crate::space::{Space, Sphere};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A surprise this unlikely is a misfit.
const MISFIT: f64 = 0.01;
/// An answer stands out if, lapses aside, all the others leave it at most this chance.
pub(super) const STANDS_OUT: f64 = 0.05;
/// How many pairs a probe is chosen from.
const CANDIDATES: usize = 300;
/// Whatever a plan is told, nobody is taken to be right every time: one slip must not look like curvature.
const LEAST_LAPSES: f64 = 0.02;
/// The resolution of differences, in units of the ball.
const RESOLUTION: f64 = 0.01;

/// The most coefficients of a quadratic metric that is compared with: beyond, a probe would take seconds.
pub(super) const MOST_COEFFICIENTS: usize = 100;

/// The number of coefficients of a quadratic metric over so many coordinates.
pub(super) fn coefficients(coordinates: usize) -> usize {
    coordinates + coordinates * (coordinates + 1) / 2
}

/// What the check of a family found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// How likely answers of a linear metric surprise at least as much.
    pub p_value: f64,
    /// Evidence for a quadratic metric over a linear one.
    pub bits: f64,
    /// Answers that contradict the others, counted from 0, the most surprising first, with the chance they had.
    pub surprising: Vec<(usize, f64)>,
}

impl Verdict {
    /// Whether a linear metric explains the answers.
    pub fn is_linear(&self) -> bool {
        self.p_value >= MISFIT && self.bits < DECISIVE
    }

    /// What there is to say.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![];
        if !self.is_linear() {
            findings.push(Finding::NotLinear { p_value: self.p_value, bits: self.bits });
        }
        findings.extend(contradicted(self.surprising.iter().map(|(n, _)| *n)));
        findings
    }
}

/// The finding for answers that contradict the others, counted from 0; none for none.
pub(super) fn contradicted(answers: impl Iterator<Item = usize>) -> Option<Finding> {
    let mut answers: Vec<usize> = answers.map(|n| n + 1).collect();
    answers.sort_unstable();
    (!answers.is_empty()).then_some(Finding::Contradicted { answers })
}

/// A linear and a quadratic metric that hear the same answers.
#[derive(Debug, Clone)]
pub struct FamilyCheck {
    space: Sphere,
    /// Knows the signs the plan knew: a question that is even to whoever knows them is not to whoever does not.
    signed: Gaussian,
    /// Without signs, which a quadratic metric does not have either.
    linear: Gaussian,
    quadratic: Gaussian,
    /// The lapse rate that is believed in; the posteriors allow for more.
    lapse: f64,
    /// Sites of known signs, which come before those of the answers.
    signs: usize,
    heard: usize,
    surplus: f64,
    variance: f64,
    bits: f64,
}

impl FamilyCheck {
    /// After these answers of an elicitation in a ball, believed to err like this; `estimated` is the noise where the plan
    /// did not know it.
    pub fn new(
        space: &Sphere,
        answers: NoiseModel,
        estimated: Option<NoiseModel>,
        signs: SignKnowledge,
        transcript: &[Answered],
    ) -> Self {
        let linear = Features::linear(space.view(), space.centre(), space.radius());
        let quadratic = Features::quadratic(space.view(), space.centre(), space.radius());
        let known = match signs {
            SignKnowledge::Monotone => linear.known_signs(),
            SignKnowledge::Unknown => None,
        };
        let noise = believed(answers, estimated);
        let begin = |features: Features, signs: Option<Vec<f64>>| {
            Gaussian::new(features, Reach::Ball, noise, signs, RESOLUTION)
        };
        let mut check = Self {
            space: space.clone(),
            signs: known.as_ref().map_or(0, Vec::len),
            signed: begin(linear.clone(), known),
            linear: begin(linear, None),
            quadratic: begin(quadratic, None),
            lapse: noise.lapse(),
            heard: 0,
            surplus: 0.0,
            variance: 0.0,
            bits: 0.0,
        };
        transcript.iter().for_each(|answered| check.weigh(answered));
        // Answers across the middle tell the two apart by nothing, so they are taken in all at once, which is cheaper.
        check.linear.take_all(transcript);
        check.quadratic.take_all(transcript);
        check
    }

    /// Hears the answer to a probe.
    pub fn hear(&mut self, answered: &Answered) {
        if answered.preference != Preference::CannotTell {
            let of = |belief: &Gaussian| chance_of(belief, answered, self.lapse).1;
            self.bits += (of(&self.quadratic) / of(&self.linear)).log2();
        }
        self.linear.take(&answered.query, &answered.answer());
        self.quadratic.take(&answered.query, &answered.answer());
        self.weigh(answered);
    }

    /// Counts how surprising an answer is to whoever knows the signs.
    fn weigh(&mut self, answered: &Answered) {
        if answered.preference != Preference::CannotTell {
            let (p, chance) = chance_of(&self.signed, answered, self.lapse);
            let expected = -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
            self.surplus -= chance.ln() + expected;
            self.variance += p * (1.0 - p) * (p / (1.0 - p)).ln().powi(2);
        }
        self.signed.take(&answered.query, &answered.answer());
        self.heard += 1;
    }

    /// What the answers come to.
    pub fn verdict(&self) -> Verdict {
        let spread = self.variance.sqrt();
        let p_value = if spread > 0.0 { distribution(-self.surplus / spread) } else { 1.0 };
        let mut surprising: Vec<(usize, f64)> = (0..self.heard)
            .filter_map(|n| Some((n, self.signed.posterior().chance_without(self.signs + n)?)))
            .filter(|(_, chance)| *chance < STANDS_OUT)
            .collect();
        surprising.sort_by(|a, b| a.1.total_cmp(&b.1));
        Verdict { p_value, bits: self.bits, surprising }
    }

    /// The pair that best tells the two apart, `rows` coordinates of which may differ.
    ///
    /// Both predict the answer; the best of many random pairs is the one on which the predictions differ most (the
    /// Jensen-Shannon divergence).
    pub fn probe(&self, rows: Option<usize>, seed: u64) -> Query {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, self.heard as u64));
        let score = |query: &Query| {
            let chance = |belief: &Gaussian| belief.chance_of_first(query).clamp(0.0, 1.0);
            let (a, b) = (chance(&self.linear), chance(&self.quadratic));
            entropy(0.5 * (a + b)) - 0.5 * (entropy(a) + entropy(b))
        };
        let candidates = (0..CANDIDATES).map(|_| self.any_pair(rows, &mut random));
        candidates.max_by(|a, b| score(a).total_cmp(&score(b))).expect("many candidates")
    }

    /// A point of the ball, outer ones more often, and another on a line through it.
    fn any_pair(&self, rows: Option<usize>, random: &mut Xoshiro256PlusPlus) -> Query {
        let q = self.space.view().dimension();
        let first = crate::linalg::normals(q, random);
        let first = scaled(&first, random.random::<f64>().powf(0.25) / norm(&first).max(1e-12));
        let mut along = crate::linalg::normals(q, random);
        let mut places: Vec<usize> = (0..q).collect();
        for n in 0..rows.map_or(0, |rows| q.saturating_sub(rows)) {
            places.swap(n, random.random_range(n..q));
            along[places[n]] = 0.0;
        }
        // Where the line leaves the ball: |first + t along| = 1.
        let (aa, ab, bb) = (dot(&first, &first), dot(&first, &along), dot(&along, &along).max(1e-12));
        let root = (ab * ab + bb * (1.0 - aa).max(0.0)).sqrt();
        let t = random.random_range(0.0..=1.0) * 2.0 * root - ab - root;
        let point = |x: &[f64]| plus(&self.space.centre(), (1.0 - 1e-9) * self.space.radius(), x);
        Query::new(point(&first), point(&plus(&first, t / bb, &along)))
    }
}

/// How the check believes answers to come about.
fn believed(answers: NoiseModel, estimated: Option<NoiseModel>) -> NoiseModel {
    let noise = match answers {
        NoiseModel::Unknown => estimated.unwrap_or(NoiseModel::Absolute { slope: SLOPES[0], lapse: 0.0 }),
        known => known,
    };
    let (slope, lapse) = (noise.slope(), noise.lapse().max(LEAST_LAPSES));
    match slope.is_finite() {
        true => NoiseModel::Absolute { slope, lapse },
        false => NoiseModel::Flip { probability: lapse },
    }
}

/// How likely a belief finds "first" with this lapse rate, and the answer that was given.
fn chance_of(belief: &Gaussian, answered: &Answered, lapse: f64) -> (f64, f64) {
    let shown = answered.shown.as_ref().unwrap_or(&answered.query);
    let first = belief.chance_with(shown, lapse);
    (first, if answered.preference == Preference::First { first } else { 1.0 - first })
}
