//! What the answers say: a posterior of the metric, kept in one of three ways.
//!
//! One number fits on a [`grid`]; weights of features are a [`gaussian`]; a fraction is a [`cloud`] of what it may be; weights
//! asked about two at a time, by somebody whose noise is unknown, are a crowd of [`log_weights`].

pub(super) mod around;
pub(super) mod choice;
pub(super) mod cloud;
pub(super) mod draws;
mod for_cases;
mod for_people;
pub(super) mod gaussian;
pub(super) mod grid;
pub(super) mod log_weights;
mod mistaken;
mod models;
mod particles;
pub(super) mod pencil;
pub(super) mod prior;
mod roll_out;
pub(super) mod scale;
pub(super) mod setting;
pub(crate) mod sites;
mod slice;

use super::aim::Decision;
use super::progress::Imagined;
use crate::ask::{Answer, Answered, Finding, NoiseModel, Preference, Query};
use crate::metric::Metric;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;

/// What is believed of a metric after some answers. The same answers in the same order give the same belief, to the last bit.
pub trait Belief: Debug + Send + Sync {
    /// The answers that have been taken in, checks left out.
    fn answered(&self) -> &[Answered];

    /// Takes an answer in. The pair as it was shown is what the answer is about.
    fn take(&mut self, query: &Query, answer: &Answer);

    /// Takes in the answer to a check, a dominated pair or a repeat: it tells how the person errs, nothing of the metric.
    ///
    /// Without effect where the noise is known.
    fn take_check(&mut self, query: &Query, answer: &Answer);

    /// The most telling question now, and others for whoever cannot ask it; none if nothing that may be asked tells anything.
    fn questions(&self, seed: u64) -> Box<dyn Iterator<Item = Query> + '_>;

    /// What the answer to a question is expected to tell, in bits.
    fn bits(&self, query: &Query) -> f64;

    /// How likely the first of two points is preferred, by somebody who never says "can't tell".
    fn chance_of_first(&self, query: &Query) -> f64;

    /// The candidate that would be named against one that exists, if it has not been held against any yet.
    fn unconfirmed(&self) -> Option<Query> {
        None
    }

    /// How wide it still is.
    fn width(&self) -> Width;

    /// The best estimate, with its interval or posterior.
    fn metric(&self) -> Metric;

    /// Metrics drawn from it, all of one size; the same belief gives the same draws.
    fn draws(&self, count: usize) -> Vec<Metric> {
        self.metric().draws(count, &mut Xoshiro256PlusPlus::seed_from_u64(0))
    }

    /// What there is to say of the answers, besides why they ended.
    fn findings(&self) -> Vec<Finding> {
        vec![]
    }

    /// The noise as far as it is estimated, where nothing was known of it.
    fn noise(&self) -> Option<NoiseModel> {
        None
    }

    /// The likeliest best of a list of points, and how likely it is; `None` where questions come from elsewhere.
    fn decision(&self, _seed: u64) -> Option<Decision> {
        None
    }

    /// What deciding now would be regretted; `None` where nothing is to be decided.
    fn regret(&self) -> Option<Regret> {
        None
    }

    /// By how much likelier the answers so far were found, each by those before it, than tosses of a coin: the logarithm. Zero
    /// where that is not told.
    fn evidence(&self) -> f64 {
        0.0
    }

    /// Whether the answers set no end to how many of one kind are as bad as one of another: somebody to whom the other is beyond
    /// comparison would have given them too.
    fn leaves_open(&self, _graver: usize, _other: usize) -> bool {
        false
    }

    /// The kind that outweighs all others by more than can be told, if one does.
    fn beyond(&self) -> Option<usize> {
        None
    }

    /// A question off those that were asked, whose answer is hardly open if the metric explains them, after so many others;
    /// `None` where there are none.
    fn probe(&self, _heard: usize, _seed: u64) -> Option<Query> {
        None
    }

    /// Two classes: the ends of the 95 % interval of the cost ratio. An end that the answers have not set is none.
    fn ratio_ends(&self) -> Option<[Option<f64>; 2]> {
        None
    }

    /// Two classes: the cost ratio below which a share of the posterior lies.
    fn quantile(&self, _share: f64) -> Option<f64> {
        None
    }

    /// Two classes: evenly spaced logarithms of the ratio, each with its probability.
    ///
    /// The prior is even on the same places, so this is also the likelihood, up to a factor.
    fn density(&self) -> Option<Vec<(f64, f64)>> {
        None
    }

    /// Two classes: how likely the threshold is within `tolerance` of the one the middle ratio leads to.
    fn threshold_settled(&self, _tolerance: f64) -> Option<f64> {
        None
    }

    /// People who could have given these answers, to imagine how they go on; `None` where that takes too long.
    fn imagined(&self) -> Option<Box<dyn Imagined>> {
        None
    }

    /// A copy.
    fn boxed(&self) -> Box<dyn Belief>;
}

impl Clone for Box<dyn Belief> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// By how much likelier a belief finds an answer than a coin does: the logarithm. Nothing for "can't tell".
pub(super) fn evidence(belief: &dyn Belief, query: &Query, answer: &Answer) -> f64 {
    evidence_of(belief.chance_of_first(answer.shown.as_ref().unwrap_or(query)), answer.preference)
}

/// The same from how likely "first" was.
pub(super) fn evidence_of(first: f64, preference: Preference) -> f64 {
    let chance = match preference {
        Preference::First => first,
        Preference::Second => 1.0 - first,
        Preference::CannotTell => 0.5,
    };
    (2.0 * chance.max(1e-12)).ln()
}

/// How much dearer the rule that would be chosen now is than the best one for the person, as a share of what that costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regret {
    /// On average.
    pub expected: f64,
    /// It is no more than this with 95 % certainty.
    pub bound: f64,
}

impl Regret {
    /// An average, and what 95 of 100 regret at most. Where a few would regret much the average is the larger of the two: then
    /// it is the bound as well, which holds all the more.
    fn new(expected: f64, of_most: f64) -> Self {
        let expected = expected.max(0.0);
        Self { expected, bound: of_most.max(expected) }
    }
}

/// How wide a belief is, or may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// Two classes: the factor between the ends of the 95 % interval of the cost ratio.
    Factor(f64),
    /// Otherwise: the angle that holds the weights with 95 % certainty.
    Angle(f64),
}

impl Width {
    /// The number.
    pub fn value(self) -> f64 {
        let (Width::Factor(value) | Width::Angle(value)) = self;
        value
    }
}
