//! What a crowd is asked about: which questions there are, and what there is to decide between.

use super::log_weights::Person;
use crate::ask::Query;
use crate::metric::Metric;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;

/// Questions are even to a person with one of these shares of the crowd below.
pub(super) const SHARES: [f64; 3] = [0.2, 0.5, 0.8];

/// Points whose kinds are disliked, in proportion to weights that are not negative; questions about them; and rules, which are
/// points to decide between.
pub trait Setting: Debug + Send + Sync {
    /// How many kinds there are.
    fn dimension(&self) -> usize;

    /// The unit of differences.
    fn unit(&self) -> f64;

    /// How much of each kind a point has.
    fn kinds_of(&self, point: &[f64]) -> Vec<f64>;

    /// The kinds of what there is to decide between.
    fn rules(&self) -> &[Vec<f64>];

    /// The places of the rules that may be the best, or the worst, for somebody in the crowd.
    fn in_play(&self, _people: &[Person]) -> Vec<usize> {
        (0..self.rules().len()).collect()
    }

    /// What a person's best rule is taken to cost them, and what their regrets are shares of, if their best and their worst
    /// rule cost them this.
    fn stake(&self, least: f64, most: f64) -> [f64; 2];

    /// How much dearer than what there is now the best constant answer is.
    fn room(&self, _weights: &[f64]) -> f64 {
        0.0
    }

    /// Questions that may be telling, after so many answers.
    fn questions(&self, people: &[Person], heard: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Query>;

    /// A question off those, whose answer may be foreseen.
    fn foreseen(&self, people: &[Person], random: &mut Xoshiro256PlusPlus) -> Option<Query>;

    /// Questions in which a rule stands against another, the ones first that cost least for some weights.
    fn held_against(&self, _rule: usize, _weights: &[f64]) -> Vec<Query> {
        vec![]
    }

    /// Whether rules have names, so that one of them is the answer.
    fn has_names(&self) -> bool {
        false
    }

    /// The metric with these weights.
    fn metric(&self, weights: &[f64]) -> Metric;
}

/// The logarithms of the rates at which two kinds are even to shares of the crowd.
pub(super) fn even_rates(people: &[Person], [i, j]: [usize; 2]) -> [f64; SHARES.len()] {
    let mut rates: Vec<f64> = people.iter().map(|p| p.logs[i] - p.logs[j]).collect();
    SHARES.map(|share| {
        let place = (share * people.len() as f64) as usize;
        *rates.select_nth_unstable_by(place, f64::total_cmp).1
    })
}
