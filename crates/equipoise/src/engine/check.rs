//! Does a linear metric explain the answers? And which answers stand out?
//!
//! Two tests of the same transcript. The *misfit*: before each answer the linear posterior says how likely either answer is;
//! summed over all answers, the surprise should be what the posterior itself expects. The *comparison*: the same is
//! done with a quadratic metric, and the evidence of the two is compared, in bits.
//!
//! Questions across the middle of a ball, which a linear elicitation asks, say nothing of curvature: its part is the same
//! at both ends. So a few [`probe`]s off the middle have to be asked before the comparison can tell anything.

use super::ask::{Chooser, Reach};
use super::features::Features;
use super::normal::distribution;
use super::plan::Answers;
use super::posterior::Posterior;
use super::session::Session;
use crate::elicit::{Finding, SignKnowledge};
use crate::interview::Answered;
use crate::linalg::{norm, plus, scaled};
use crate::oracle::{Answer, Preference, Query};
use crate::space::{Space, Sphere};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A surprise this unlikely is a misfit.
const MISFIT: f64 = 0.01;
/// Evidence, in bits, from which on the quadratic metric is preferred.
const DECISIVE: f64 = 5.0;
/// An answer stands out if, lapses aside, all the others leave it at most this chance.
const STANDS_OUT: f64 = 0.05;
/// How many pairs a probe is chosen from.
const CANDIDATES: usize = 200;

/// What the check of a transcript found.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// How likely answers of a linear metric surprise at least as much.
    pub p_value: f64,
    /// Evidence for a quadratic metric over a linear one.
    pub bits: f64,
    /// Answers that contradict the others, counted from 0, the most surprising first, with the chance they had.
    pub surprising: Vec<(usize, f64)>,
}

impl Check {
    /// Checks a transcript of comparisons in a ball, with answers believed to err like this.
    ///
    /// `signs` is what the plan knew: a question that is even to whoever knows the signs is not to whoever does not.
    /// The comparison leaves them out, because a quadratic metric has none to know.
    pub fn linear(space: &Sphere, answers: Answers, signs: SignKnowledge, transcript: &[Answered]) -> Self {
        let [mut linear, mut quadratic] = rivals(space, answers);
        let known = match signs {
            SignKnowledge::Monotone => linear_features(space).known_signs(),
            SignKnowledge::Unknown => None,
        };
        // The sites of known signs come before those of the answers.
        let before = known.as_ref().map_or(0, Vec::len);
        let mut signed = start(linear_features(space), answers, known);
        let (mut surplus, mut variance, mut bits) = (0.0, 0.0, 0.0);
        for answered in transcript {
            let answer = Answer { preference: answered.preference, shown: answered.shown.clone() };
            if answered.preference != Preference::CannotTell {
                let shown = answered.shown.as_ref().unwrap_or(&answered.query);
                let first = answered.preference == Preference::First;
                let of = |session: &Session| session.chance_of_first(shown).clamp(1e-9, 1.0 - 1e-9);
                let chance = |p: f64| if first { p } else { 1.0 - p };
                let p = of(&signed);
                let expected = -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
                surplus -= chance(p).ln() + expected;
                variance += p * (1.0 - p) * (p / (1.0 - p)).ln().powi(2);
                bits += (chance(of(&quadratic)) / chance(of(&linear))).log2();
            }
            for session in [&mut signed, &mut linear, &mut quadratic] {
                session.take(&answered.query, &answer);
            }
        }
        let p_value = if variance > 0.0 { distribution(-surplus / variance.sqrt()) } else { 1.0 };
        let mut surprising: Vec<(usize, f64)> = (0..transcript.len())
            .filter_map(|n| Some((n, signed.posterior().chance_without(before + n)?)))
            .filter(|(_, chance)| *chance < STANDS_OUT)
            .collect();
        surprising.sort_by(|a, b| a.1.total_cmp(&b.1));
        Self { p_value, bits, surprising }
    }

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
        if !self.surprising.is_empty() {
            let mut answers: Vec<usize> = self.surprising.iter().map(|(n, _)| n + 1).collect();
            answers.sort_unstable();
            findings.push(Finding::Contradicted { answers });
        }
        findings
    }
}

/// The pair that best tells a linear metric from a quadratic one after these answers.
///
/// Both predict the answer; the best of many random pairs is the one on which the predictions differ most (the
/// Jensen-Shannon divergence).
pub fn probe(space: &Sphere, answers: Answers, transcript: &[Answered], seed: u64) -> Query {
    let [mut linear, mut quadratic] = rivals(space, answers);
    for answered in transcript {
        let answer = Answer { preference: answered.preference, shown: answered.shown.clone() };
        linear.take(&answered.query, &answer);
        quadratic.take(&answered.query, &answer);
    }
    let stream = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(transcript.len() as u64 + 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(stream));
    let mut point = || {
        let direction: Vec<f64> = space.centre().iter().map(|_| StandardNormal.sample(&mut random)).collect();
        let length = random.random::<f64>().powf(0.25) * space.radius() / norm(&direction).max(1e-12);
        plus(&space.centre(), 1.0, &scaled(&direction, length))
    };
    let candidates: Vec<Query> = (0..CANDIDATES).map(|_| Query::new(point(), point())).collect();
    let score = |query: &Query| {
        let (a, b) = (linear.chance_of_first(query), quadratic.chance_of_first(query));
        let entropy = |p: f64| {
            let part = |x: f64| if x > 0.0 { -x * x.ln() } else { 0.0 };
            part(p) + part(1.0 - p)
        };
        entropy(0.5 * (a + b)) - 0.5 * (entropy(a) + entropy(b))
    };
    candidates.into_iter().max_by(|a, b| score(a).total_cmp(&score(b))).expect("many candidates")
}

/// Both families before the first answer, signs unknown so that neither starts with an advantage.
fn rivals(space: &Sphere, answers: Answers) -> [Session; 2] {
    let quadratic = Features::quadratic(space.view(), space.centre(), space.radius());
    [linear_features(space), quadratic].map(|features| start(features, answers, None))
}

fn linear_features(space: &Sphere) -> Features {
    Features::linear(space.view(), space.centre(), space.radius())
}

fn start(features: Features, answers: Answers, signs: Option<Vec<f64>>) -> Session {
    let model = answers.model(0.01, features.dimension());
    Session::start(
        Chooser { features, reach: Reach::Ball, fuzz: model.fuzz(), rows_that_differ: None },
        model,
        signs,
    )
}

impl Session {
    /// How likely the first of two points is preferred, after the answers so far.
    pub fn chance_of_first(&self, query: &Query) -> f64 {
        let model = self.model();
        chance(self.posterior(), &self.difference(query), model.variance, model.lapse)
    }
}

/// How likely $\langle w, \theta\rangle$ is found positive.
fn chance(posterior: &Posterior, w: &[f64], variance: f64, lapse: f64) -> f64 {
    let total = crate::linalg::dot(w, &posterior.spread(w)) + variance;
    let z = crate::linalg::dot(w, posterior.mean()) / total.max(1e-300).sqrt();
    lapse + (1.0 - 2.0 * lapse) * distribution(z)
}
