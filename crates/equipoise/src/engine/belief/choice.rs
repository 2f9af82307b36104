//! A crowd that is asked about candidates: two attributes are traded first, then candidates that are still likely the best are
//! compared with each other.

use super::log_weights::Person;
use super::setting::{Setting, even_rates};
use crate::ask::Query;
use crate::linalg::dot;
use crate::metric::Metric;
use crate::space::Candidates;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The larger of two differences that are traded, as a share of its range; and the least that the smaller may be.
const SPAN: f64 = 0.8;
const LEAST_SPAN: f64 = 0.03;
/// Half of what lies between the ends of an even trade: the unit of differences.
pub const UNIT: f64 = 0.5 * SPAN * std::f64::consts::SQRT_2;
/// Nobody weighs all candidates alike: regrets are shares of at least this much of the worst one's cost.
const LEAST_RANGE: f64 = 1e-6;
/// So many of those who are likely the best are compared with each other; and of real candidates only, so many.
const RIVALS: usize = 6;
const REAL: usize = 22;
/// Of more candidates than this, those are in play that are among the best of somebody in a part of the crowd.
const FEW: usize = 400;
const ASKED: usize = 200;
const BEST_OF_EACH: usize = 3;

/// Candidates, and how far each is from the better ends.
#[derive(Debug)]
pub struct Choice {
    space: Candidates,
    rules: Vec<Vec<f64>>,
    /// All else stays at the middle of what candidates have.
    middle: Vec<f64>,
}

impl Choice {
    /// Among these.
    pub fn new(space: Candidates) -> Self {
        let rules: Vec<Vec<f64>> =
            space.members().iter().map(|member| space.kinds_of(&member.point)).collect();
        let median = |n: usize| {
            let mut column: Vec<f64> = rules.iter().map(|rule| 1.0 - rule[n]).collect();
            column.sort_by(f64::total_cmp);
            column[column.len() / 2]
        };
        let middle = (0..space.attributes().len()).map(median).collect();
        Self { space, rules, middle }
    }

    /// Two imagined points that differ in two attributes, the second worth e^rate of the first: the first point is better in the
    /// first attribute.
    fn trade(&self, [i, j]: [usize; 2], log_rate: f64) -> Query {
        let most = (SPAN / LEAST_SPAN).ln();
        let rate = log_rate.clamp(-most, most).exp();
        // So much of the first for so much of the second is even.
        let [of_i, of_j] = if rate > 1.0 { [SPAN / rate, SPAN] } else { [SPAN, SPAN * rate] };
        let mut ends = [self.middle.clone(), self.middle.clone()];
        for (end, sign) in ends.iter_mut().zip([0.5, -0.5]) {
            end[i] = 0.5 + sign * of_i;
            end[j] = 0.5 - sign * of_j;
        }
        let [first, second] = self.space.imagined(ends.each_ref().map(Vec::as_slice));
        Query::new(first, second)
    }

    /// The places of the candidates that are the best of most people, the most first.
    fn likely(&self, people: &[Person], count: usize) -> Vec<usize> {
        let mut votes = vec![0_usize; self.rules.len()];
        people.iter().for_each(|person| votes[person.best] += 1);
        let mut order: Vec<usize> = (0..votes.len()).filter(|&n| votes[n] > 0).collect();
        order.sort_by_key(|&n| (usize::MAX - votes[n], n));
        order.truncate(count);
        order
    }

    fn real(&self, [i, j]: [usize; 2]) -> Option<Query> {
        let [a, b] = [&self.rules[i], &self.rules[j]];
        let covers = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| x <= y);
        let [first, second] = [i, j].map(|n| self.space.members()[n].point.clone());
        (!covers(a, b) && !covers(b, a)).then(|| Query::new(first, second))
    }
}

fn turned(query: Query, turn: bool) -> Query {
    if turn { Query::new(query.second, query.first) } else { query }
}

impl Setting for Choice {
    fn dimension(&self) -> usize {
        self.space.attributes().len()
    }

    fn unit(&self) -> f64 {
        UNIT
    }

    fn kinds_of(&self, point: &[f64]) -> Vec<f64> {
        self.space.kinds_of(point)
    }

    fn rules(&self) -> &[Vec<f64>] {
        &self.rules
    }

    fn in_play(&self, people: &[Person]) -> Vec<usize> {
        if self.rules.len() <= FEW {
            return (0..self.rules.len()).collect();
        }
        let mut kept = vec![];
        for person in people.iter().step_by(people.len().div_ceil(ASKED)) {
            let mut best: Vec<(f64, usize)> = vec![];
            let (mut dearest, mut worst) = (f64::NEG_INFINITY, 0);
            for (n, rule) in self.rules.iter().enumerate() {
                let cost = dot(&person.weights, rule);
                if cost > dearest {
                    (dearest, worst) = (cost, n);
                }
                if best.len() < BEST_OF_EACH || best.last().is_some_and(|(last, _)| cost < *last) {
                    let place = best.partition_point(|(other, _)| *other <= cost);
                    best.insert(place, (cost, n));
                    best.truncate(BEST_OF_EACH);
                }
            }
            kept.push(worst);
            kept.extend(best.iter().map(|(_, n)| *n));
        }
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Regrets are shares of what lies between the best candidate and the worst.
    fn stake(&self, least: f64, most: f64) -> [f64; 2] {
        [least, (most - least).max(LEAST_RANGE * most).max(f64::MIN_POSITIVE)]
    }

    fn questions(&self, people: &[Person], heard: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Query> {
        let d = self.dimension();
        let mut questions = vec![];
        if !self.space.is_only_real() {
            for j in 1..d {
                for i in 0..j {
                    let even = even_rates(people, [i, j]);
                    let trades = even.map(|rate| self.trade([i, j], rate));
                    questions.extend(trades.map(|query| turned(query, random.random_bool(0.5))));
                }
            }
        }
        // Trades of two attributes come first: they are easier.
        if self.space.is_only_real() || heard >= d {
            let count = if self.space.is_only_real() { REAL } else { RIVALS };
            let mut rivals = self.likely(people, count);
            // Where few are likely, others still tell something.
            while self.space.is_only_real() && rivals.len() < count.min(self.rules.len()) {
                let other = random.random_range(0..self.rules.len());
                if !rivals.contains(&other) {
                    rivals.push(other);
                }
            }
            for (n, &j) in rivals.iter().enumerate() {
                let pairs = rivals[..n].iter().filter_map(|&i| self.real([i, j]));
                questions.extend(pairs.map(|query| turned(query, random.random_bool(0.5))));
            }
        }
        questions
    }

    /// Two points that differ in three attributes, or, of real ones only, two candidates.
    fn foreseen(&self, _people: &[Person], random: &mut Xoshiro256PlusPlus) -> Option<Query> {
        let d = self.dimension();
        if self.space.is_only_real() || d < 3 {
            let [i, j] = [0, 1].map(|_| random.random_range(0..self.rules.len()));
            return self.real([i, j]);
        }
        let mut ends = [self.middle.clone(), self.middle.clone()];
        let mut places: Vec<usize> = (0..d).collect();
        let mut signs = vec![];
        for n in 0..3 {
            places.swap(n, random.random_range(n..d));
            let (half, sign) = (0.5 * SPAN * random.random_range(0.15..1.0), random.random_bool(0.5));
            let step = if sign { half } else { -half };
            (ends[0][places[n]], ends[1][places[n]]) = (0.5 + step, 0.5 - step);
            signs.push(sign);
        }
        let trade = signs.contains(&true) && signs.contains(&false);
        let [first, second] = self.space.imagined(ends.each_ref().map(Vec::as_slice));
        trade.then(|| Query::new(first, second))
    }

    fn held_against(&self, rule: usize, weights: &[f64]) -> Vec<Query> {
        let costs: Vec<f64> = self.rules.iter().map(|rule| dot(weights, rule)).collect();
        let mut others: Vec<usize> = (0..self.rules.len()).filter(|&n| n != rule).collect();
        others.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        others.into_iter().filter_map(|n| self.real([rule, n])).collect()
    }

    fn has_names(&self) -> bool {
        true
    }

    fn metric(&self, weights: &[f64]) -> Metric {
        let attributes = self.space.attributes().to_vec();
        Metric::attributes(attributes, weights.to_vec())
            .expect("weights above zero for attributes that were checked")
    }
}
