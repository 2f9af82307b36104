//! A crowd that is asked around an operating point: kinds of error are traded, and rules are what could be built.

use super::log_weights::Person;
use super::setting::{Setting, even_rates};
use crate::ask::Query;
use crate::engine::features::Features;
use crate::linalg::{dot, scaled};
use crate::metric::Metric;
use crate::space::{LEAST_SPAN, OperatingPoint, Space as _, TradeOff};
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Nobody makes no errors that matter: regrets are relative to at least this much of the dearest rule.
const LEAST_COST: f64 = 1e-3;
/// Of those who would rather have the classifier as it is than any constant answer, this share at most is shown something worse.
const DISLIKE: f64 = 0.2;
/// But systems are at least this share of the room apart.
const LEAST_SHARE: f64 = 0.3;

/// An operating point, and the features whose weights are wanted.
#[derive(Debug)]
pub struct Around {
    space: OperatingPoint,
    features: Features,
    now: Vec<f64>,
    constants: Vec<Vec<f64>>,
}

impl Around {
    /// Around this point.
    pub fn new(space: OperatingPoint, features: Features) -> Self {
        let (now, constants) = (space.kinds_of(&space.centre()), space.constants());
        Self { space, features, now, constants }
    }

    /// How far either end of a trade may go: as far as most people who like the operating point better than any constant answer
    /// still like the end better.
    fn shares(&self, people: &[Person], trade: &TradeOff, log_rate: f64) -> [f64; 2] {
        let Some(([more, less], rate)) = trade.reach_at(log_rate) else { return [1.0; 2] };
        let [i, j] = trade.kinds;
        // What the whole way costs a person, and the share of it that they have room for.
        let limit = |length: f64| {
            let mut limits: Vec<f64> = (people.iter())
                .filter(|person| person.room > 0.0)
                .map(|person| {
                    let dearer = length * (person.weights[i] - rate * person.weights[j]);
                    if dearer > 0.0 { person.room / dearer } else { f64::INFINITY }
                })
                .collect();
            if limits.is_empty() {
                return 1.0;
            }
            let place = (DISLIKE * limits.len() as f64) as usize;
            let (_, most, _) = limits.select_nth_unstable_by(place, f64::total_cmp);
            most.clamp(LEAST_SHARE, 1.0)
        };
        let shares = [limit(more), limit(-less)];
        let apart = (shares[0] * more + shares[1] * less) * rate.min(1.0);
        if apart < LEAST_SPAN { [1.0; 2] } else { shares }
    }
}

impl Setting for Around {
    fn dimension(&self) -> usize {
        self.space.dimension()
    }

    fn unit(&self) -> f64 {
        self.space.radius()
    }

    fn kinds_of(&self, point: &[f64]) -> Vec<f64> {
        self.space.kinds_of(point)
    }

    fn rules(&self) -> &[Vec<f64>] {
        self.space.rules()
    }

    /// Regrets are shares of what the best rule costs.
    fn stake(&self, least: f64, most: f64) -> [f64; 2] {
        [least.max(LEAST_COST * most); 2]
    }

    fn room(&self, weights: &[f64]) -> f64 {
        let cost = |rule: &Vec<f64>| dot(weights, rule);
        self.constants.iter().map(cost).fold(f64::INFINITY, f64::min) - cost(&self.now)
    }

    fn questions(&self, people: &[Person], _heard: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Query> {
        let mut questions = vec![];
        for trade in self.space.trade_offs() {
            for even in even_rates(people, trade.kinds) {
                let Some((one, other)) = self.space.ends(trade, even, self.shares(people, trade, even))
                else {
                    continue;
                };
                let turned = random.random_bool(0.5);
                questions.push(if turned { Query::new(one, other) } else { Query::new(other, one) });
            }
        }
        questions
    }

    /// A pair that differs in three kinds: an end of one trade and an end of another that shares a kind with it, each at a rate
    /// that is even to somebody.
    fn foreseen(&self, people: &[Person], random: &mut Xoshiro256PlusPlus) -> Option<Query> {
        let trades = self.space.trade_offs();
        let [a, b] = [0, 1].map(|_| &trades[random.random_range(0..trades.len())]);
        let mut end = |trade: &TradeOff| {
            let logs = &people[random.random_range(0..people.len())].logs;
            let rate = logs[trade.kinds[0]] - logs[trade.kinds[1]];
            let (one, other) = self.space.ends(trade, rate, self.shares(people, trade, rate))?;
            Some(if random.random_bool(0.5) { one } else { other })
        };
        let query = Query::new(end(a)?, end(b)?);
        let [first, second] = [&query.first, &query.second].map(|point| self.kinds_of(point));
        let parts: Vec<f64> =
            first.iter().zip(&second).map(|(a, b)| b - a).filter(|part| part.abs() > 1e-12).collect();
        let told_apart = parts.iter().all(|part| part.abs() >= LEAST_SPAN);
        let trade = parts.iter().any(|part| *part > 0.0) && parts.iter().any(|part| *part < 0.0);
        (parts.len() == 3 && told_apart && trade).then_some(query)
    }

    fn metric(&self, weights: &[f64]) -> Metric {
        self.features.metric(&scaled(weights, -1.0))
    }
}
