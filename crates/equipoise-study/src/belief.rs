//! What the answers of one participant say about the metric, through either engine.

use equipoise::engine::{Adaptive, AdaptiveRatio, RatioPosterior, Session};
use equipoise::metric::RatioInterval;
use equipoise::{Answer, Measure, Metric, Preference, Query, Sense, View};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A posterior of the metric. The same answers in the same order give the same belief, to the last bit.
#[derive(Debug, Clone)]
pub struct Belief {
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Ratio(Box<RatioPosterior>),
    Weights { session: Box<Session>, seed: u64 },
}

impl Belief {
    pub(crate) fn ratio(plan: &AdaptiveRatio) -> Self {
        Self::of_ratio(plan.start())
    }

    pub(crate) fn of_ratio(posterior: RatioPosterior) -> Self {
        Self { engine: Engine::Ratio(Box::new(posterior)) }
    }

    pub(crate) fn weights(plan: &Adaptive, seed: u64) -> Self {
        Self { engine: Engine::Weights { session: Box::new(plan.start()), seed } }
    }

    /// Takes an answer in: about the pair as shown.
    pub fn take(&mut self, query: &Query, preference: Preference, shown: Query) {
        let answer = Answer { preference, shown: Some(shown) };
        match &mut self.engine {
            Engine::Ratio(posterior) => posterior.take(query, &answer),
            Engine::Weights { session, .. } => session.take(query, &answer),
        }
    }

    /// Takes in the answer to a check: it tells how the person errs, nothing about the metric.
    pub fn take_check(&mut self, query: &Query, preference: Preference, shown: Query) {
        let answer = Answer { preference, shown: Some(shown) };
        match &mut self.engine {
            Engine::Ratio(posterior) => posterior.take_check(query, &answer),
            Engine::Weights { session, .. } => session.take_check(query, &answer),
        }
    }

    /// The most telling question, with the bits it is expected to tell.
    pub fn question(&self) -> Option<(f64, Query)> {
        self.questions().next()
    }

    /// The most telling question with the bits it is expected to tell, and others for whoever cannot ask it.
    pub fn questions(&self) -> Box<dyn Iterator<Item = (f64, Query)> + '_> {
        match &self.engine {
            Engine::Ratio(posterior) => Box::new(posterior.question().into_iter()),
            Engine::Weights { session, seed } => {
                Box::new(session.questions(*seed).map(|query| (session.expected_bits(&query), query)))
            }
        }
    }

    /// Two classes: the posterior of the ratio.
    pub(crate) fn posterior(&self) -> Option<&RatioPosterior> {
        match &self.engine {
            Engine::Ratio(posterior) => Some(posterior),
            Engine::Weights { .. } => None,
        }
    }

    /// Two classes: how likely an answer about a pair is; nothing for "can't tell".
    pub fn chance(&self, shown: &Query, preference: Preference) -> Option<f64> {
        let first = self.posterior()?.chance_of_first(shown);
        match preference {
            Preference::First => Some(first),
            Preference::Second => Some(1.0 - first),
            Preference::CannotTell => None,
        }
    }

    /// Otherwise: the session with what is known of the weights.
    pub(crate) fn session(&self) -> Option<&Session> {
        match &self.engine {
            Engine::Ratio(_) => None,
            Engine::Weights { session, .. } => Some(session),
        }
    }

    /// Two classes: the cost ratio below which a share of the posterior lies.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        match &self.engine {
            Engine::Ratio(posterior) => Some(posterior.quantile(share)),
            Engine::Weights { .. } => None,
        }
    }

    /// Two classes: the posterior on evenly spaced logarithms of the ratio, each with its probability.
    pub fn density(&self) -> Option<Vec<(f64, f64)>> {
        match &self.engine {
            Engine::Ratio(posterior) => Some(posterior.density()),
            Engine::Weights { .. } => None,
        }
    }

    /// Metrics drawn from the posterior, all of one size; the same belief gives the same draws.
    ///
    /// Of two classes they are the middles of equally likely parts of the posterior, in order.
    pub fn draws(&self, count: usize) -> Vec<Metric> {
        match &self.engine {
            Engine::Ratio(posterior) => {
                let part = |n: usize| ratio_metric(posterior.quantile((n as f64 + 0.5) / count as f64));
                (0..count).map(part).collect()
            }
            Engine::Weights { session, .. } => {
                session.metric().draws(count, &mut Xoshiro256PlusPlus::seed_from_u64(0))
            }
        }
    }

    /// How wide it still is: the factor between the ends of the 95 % interval, or the angle.
    pub fn spread(&self) -> Spread {
        match &self.engine {
            Engine::Ratio(posterior) => Spread::Factor(posterior.quantile(0.975) / posterior.quantile(0.025)),
            Engine::Weights { session, .. } => Spread::Angle(session.radius()),
        }
    }

    /// The metric, with its interval or posterior.
    pub fn metric(&self) -> Metric {
        match &self.engine {
            Engine::Ratio(posterior) => {
                let [low, middle, high] = [0.025, 0.5, 0.975].map(|share| posterior.quantile(share));
                let metric = ratio_metric(middle);
                let interval = RatioInterval::new(low, Some(high), 0.95);
                interval.and_then(|interval| metric.clone().with_interval(interval)).unwrap_or(metric)
            }
            Engine::Weights { session, .. } => session.metric(),
        }
    }
}

/// The two-class metric with a cost ratio, its weights of length 1.
pub fn ratio_metric(ratio: f64) -> Metric {
    let view = View::new(Measure::Binary, 2, 1).expect("two classes");
    Metric::linear(view, Sense::Utility, vec![ratio, 1.0]).expect("positive weights").normal_form()
}

/// How wide a belief is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Two classes: the factor between the ends of the 95 % interval of the cost ratio.
    Factor(f64),
    /// Otherwise: the angle that holds the weights with 95 % certainty.
    Angle(f64),
}
