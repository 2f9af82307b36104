//! What a question should settle: the weights, or which of a list of points is the best.

use super::belief::draws::draws;
use super::belief::sites::Sites;
use super::normal::{distribution, entropy};
use super::question::{Chooser, Direction, Reach};
use crate::ask::Query;
use crate::linalg::{dot, norm};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// All pairs of this many points are compared; of longer lists, pairs among a sample.
const MOST_POINTS: usize = 64;
/// Draws from the posterior when pairs are compared by what they tell about the best point.
const DRAWS: usize = 300;
/// Draws when it is asked how sure the best point is.
const DRAWS_FOR_A_DECISION: usize = 1000;

/// What a question should settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// The direction of the weights.
    Weights,
    /// Which point is the best.
    Decision,
}

/// A list of points to ask about.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// The points.
    pub points: Vec<Vec<f64>>,
    /// The sign of every weight, if known: then a point that is nowhere worse is better, and nobody need be asked.
    pub signs: Option<Vec<f64>>,
    /// What questions should settle.
    pub aim: Aim,
}

/// The likeliest best of a list of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Its place in the list.
    pub best: usize,
    /// How likely it is the best.
    pub probability: f64,
}

impl Decision {
    /// From the likings of all points under weights drawn from the posterior, one row per draw.
    pub fn of(likings: &[Vec<f64>]) -> Self {
        let mut votes = vec![0_usize; likings[0].len()];
        likings.iter().for_each(|row| votes[best(row)] += 1);
        let best = (0..votes.len()).rev().max_by_key(|&n| votes[n]).expect("at least one point");
        Self { best, probability: votes[best] as f64 / likings.len() as f64 }
    }
}

/// The place of the largest entry, the first of several.
fn best(row: &[f64]) -> usize {
    (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("at least one point")
}

impl Chooser {
    /// The best pair of the list that has not been asked; `None` if no pair is left that could tell anything.
    pub(super) fn best_of_points(
        &self,
        list: &Points,
        posterior: &Sites,
        known: &Direction,
        asked: &[Query],
        seed: u64,
    ) -> Option<Query> {
        let drawn = draws(posterior, DRAWS, seed);
        let likings = self.likings(&list.points, &drawn);
        let sample = self.sample(list, &likings, seed);
        let information = Information::new(&likings, self);
        let mut best: Option<((f64, f64), Query)> = None;
        for (n, &i) in sample.iter().enumerate() {
            for &j in &sample[n + 1..] {
                let query = Query::new(list.points[i].clone(), list.points[j].clone());
                let w = self.difference(&query);
                if norm(&w) <= 1e-12 || !self.may_be_asked(list, &query, &w, asked) {
                    continue;
                }
                let narrowing = self.score(&w, posterior, known);
                let value = match list.aim {
                    Aim::Weights => (narrowing, 0.0),
                    Aim::Decision => (information.about_the_best(i, j), narrowing),
                };
                if best.as_ref().is_none_or(|(top, _)| value > *top) {
                    best = Some((value, query));
                }
            }
        }
        best.filter(|((first, second), _)| first + second > 0.0).map(|(_, query)| query)
    }

    /// The likeliest best point, and how likely it is; `None` unless questions come from a list of points.
    pub(super) fn decision(&self, posterior: &Sites, seed: u64) -> Option<Decision> {
        let Reach::Points(list) = &self.reach else { return None };
        let drawn = draws(posterior, DRAWS_FOR_A_DECISION, seed);
        Some(Decision::of(&self.likings(&list.points, &drawn)))
    }

    /// How much each point is liked under each of the drawn weights.
    fn likings(&self, points: &[Vec<f64>], draws: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let features: Vec<Vec<f64>> =
            points.iter().map(|point| self.features.at(&self.features.relative(point))).collect();
        draws.iter().map(|weights| features.iter().map(|z| dot(weights, z)).collect()).collect()
    }

    fn may_be_asked(&self, list: &Points, query: &Query, w: &[f64], asked: &[Query]) -> bool {
        let same = |other: &Query| other.is_same_pair(query, 1e-12);
        let dominated = list.signs.as_ref().is_some_and(|signs| {
            let better = w.iter().zip(signs).all(|(w, s)| w * s >= 0.0);
            better || w.iter().zip(signs).all(|(w, s)| w * s <= 0.0)
        });
        let differ = query.first.iter().zip(&query.second).filter(|(a, b)| (*a - *b).abs() > 1e-9).count();
        !dominated && self.rows_that_differ.is_none_or(|most| differ <= most) && !asked.iter().any(same)
    }

    /// The points whose pairs are compared: those that may be the best first, then others at random.
    fn sample(&self, list: &Points, likings: &[Vec<f64>], seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..list.points.len()).collect();
        if order.len() <= MOST_POINTS {
            return order;
        }
        let mut votes = vec![0_usize; order.len()];
        if list.aim == Aim::Decision {
            likings.iter().for_each(|row| votes[best(row)] += 1);
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let chance: Vec<f64> = order.iter().map(|_| random.random()).collect();
        order.sort_by(|&a, &b| votes[b].cmp(&votes[a]).then(chance[a].total_cmp(&chance[b])));
        order.truncate(MOST_POINTS);
        order
    }
}

/// What draws from the posterior say about the best point, and about answers.
struct Information<'a> {
    likings: &'a [Vec<f64>],
    best: Vec<usize>,
    scale: f64,
    lapse: f64,
}

impl<'a> Information<'a> {
    fn new(likings: &'a [Vec<f64>], chooser: &Chooser) -> Self {
        let best = likings.iter().map(|row| best(row)).collect();
        let scale = chooser.probit.variance.sqrt().max(1e-300);
        Self { likings, best, scale, lapse: chooser.probit.lapse }
    }

    /// Bits that the comparison of two points is expected to tell about which point is the best: the entropy of the
    /// answer, less its average entropy once the best point is known.
    fn about_the_best(&self, i: usize, j: usize) -> f64 {
        let points = self.likings[0].len();
        let (mut first, mut count) = (vec![0.0; points], vec![0.0; points]);
        for (row, best) in self.likings.iter().zip(&self.best) {
            let z = 0.5 * (row[i] - row[j]) / self.scale;
            first[*best] += self.lapse + (1.0 - 2.0 * self.lapse) * distribution(z);
            count[*best] += 1.0;
        }
        let total = self.likings.len() as f64;
        let given: f64 = first
            .iter()
            .zip(&count)
            .filter(|(_, count)| **count > 0.0)
            .map(|(first, count)| count / total * entropy(first / count))
            .sum();
        (entropy(first.iter().sum::<f64>() / total) - given).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_counts_votes() {
        let likings =
            vec![vec![0.0, 1.0, 0.5], vec![0.0, 2.0, 0.5], vec![3.0, 1.0, 3.0], vec![0.0, 1.0, 0.0]];
        assert_eq!(Decision::of(&likings), Decision { best: 1, probability: 0.75 });
    }
}
