//! How many questions are left: a range, from imagined answers.
//!
//! People are drawn from the posterior, each answers until the stop rule ends it, and how long they take is the
//! range. The roll-outs run on a thinned posterior and ask one plain question per step, so that
//! the whole costs a few milliseconds.

use super::people;
use super::ratio::{RatioPosterior, difference, entropy, quantile};
use super::ratio_plan::AdaptiveRatio;
use crate::oracle::Query;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// How many people are imagined.
const PEOPLE: usize = 40;

/// The share of roll-outs beyond either end. Less than the 5 % the range stands for: plain questions make roll-outs
/// more alike than the real thing.
const TAIL: f64 = 0.03;

/// Every so many places of the fine grid stand for one of the roll-outs.
const THINNING: [usize; 2] = [5, 3];

/// Roll-outs look up their questions by the middle ratio, to this many parts of its range.
const CELLS: usize = 400;

/// A range of how many questions are left, with probability .9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Left {
    /// At least, but for one time in twenty.
    pub low: usize,
    /// At most, but for one time in twenty.
    pub high: usize,
}

impl AdaptiveRatio {
    /// How many questions are left after what the posterior has taken in; the same for the same seed.
    pub fn questions_left(&self, posterior: &RatioPosterior, seed: u64) -> Left {
        let none = Left { low: 0, high: 0 };
        if self.settled(posterior).is_some() {
            return none;
        }
        // How far questions should reach depends on the person; what suits now will suit later.
        let Some((bits, reach, _)) = posterior.choose() else { return none };
        if bits < self.least_information() {
            return none;
        }
        let mut roll_out = RollOut {
            plan: self,
            start: posterior.thinned(THINNING[0], THINNING[1]),
            most: self.most_questions().saturating_sub(posterior.asked()).max(1),
            reach,
            prospects: (0..=CELLS).map(|_| None).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        let mut lengths: Vec<usize> = (0..PEOPLE).map(|n| roll_out.length(n)).collect();
        lengths.sort_unstable();
        let at = |share: f64| lengths[(share * (PEOPLE - 1) as f64).round() as usize];
        Left { low: at(TAIL), high: at(1.0 - TAIL) }
    }
}

/// One question of the roll-outs, and how likely "first" is under every noise and ratio of the thinned grid.
struct Prospect {
    query: Query,
    first: Vec<f64>,
}

struct RollOut<'a> {
    plan: &'a AdaptiveRatio,
    start: RatioPosterior,
    most: usize,
    reach: f64,
    /// Even questions by ratio, worked out when first needed.
    prospects: Vec<Option<Option<Prospect>>>,
    random: Xoshiro256PlusPlus,
}

impl RollOut<'_> {
    /// How many questions the n-th person takes.
    fn length(&mut self, n: usize) -> usize {
        // Evenly spread shares instead of independent draws: a smoother range for the same cost.
        let share = (n as f64 + self.random.random::<f64>()) / PEOPLE as f64;
        let (log_ratio, noise) = self.start.draw(share);
        let mut masses = self.start.masses().concat();
        let mut marginal = self.start.marginal().to_vec();
        for asked in 0..self.most {
            if asked > 0 && self.plan.settled_by(&marginal).is_some() {
                return asked;
            }
            let chance: f64 = self.random.random();
            let (unit, floor) = (self.start.unit(), self.plan.least_information());
            let Some(prospect) = self.prospect(&marginal) else { return asked.max(1) };
            let places = marginal.len();
            let mut firsts = vec![0.0; places];
            for (n, (mass, p)) in masses.iter().zip(&prospect.first).enumerate() {
                firsts[n % places] += mass * p;
            }
            let first: f64 = firsts.iter().sum();
            let doubt = |(joint, mass): (&f64, &f64)| match *mass > 1e-7 {
                true => mass * entropy((joint / mass).clamp(0.0, 1.0)),
                false => 0.0,
            };
            let doubt: f64 = firsts.iter().zip(&marginal).map(doubt).sum();
            if asked > 0 && entropy(first.clamp(0.0, 1.0)) - doubt < floor {
                return asked;
            }
            let t = difference(&prospect.query, log_ratio) / unit;
            let is_first = chance < noise.chance_of_first(t);
            let total = if is_first { first } else { 1.0 - first }.max(1e-300);
            marginal.fill(0.0);
            for (n, (mass, p)) in masses.iter_mut().zip(&prospect.first).enumerate() {
                *mass *= if is_first { *p } else { 1.0 - *p } / total;
                marginal[n % places] += *mass;
            }
        }
        self.most
    }

    /// Two classifiers that are about equally good to the middle of the posterior.
    fn prospect(&mut self, marginal: &[f64]) -> Option<&Prospect> {
        let range = people::LARGEST_RATIO.ln();
        let place = (quantile(marginal, 0.5) / range + 1.0) * 0.5;
        let cell = (place * CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / CELLS as f64 - 1.0)).exp();
        let (start, reach) = (&self.start, self.reach);
        let work_out = || {
            let query = start.chord(ratio, reach)?;
            Some(Prospect { first: start.chances_of_first(&query), query })
        };
        self.prospects[cell].get_or_insert_with(work_out).as_ref()
    }
}
