//! How many questions are left: a range, from imagined answers.
//!
//! People are drawn from the posterior, each answers until the stop rule ends it, and the 5 % and 95 % quantiles of how
//! long they take are the range. The roll-outs run on a thinned posterior and ask one plain question per step, so that
//! the whole costs a few milliseconds.

use super::people;
use super::ratio::{RatioPosterior, difference};
use super::ratio_plan::AdaptiveRatio;
use crate::oracle::{Preference, Query};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// How many people are imagined.
const PEOPLE: usize = 40;

/// Every so many places of the fine grid stand for one of the roll-outs.
const THINNING: [usize; 2] = [8, 3];

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
            questions: vec![None; CELLS + 1],
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        let mut lengths: Vec<usize> = (0..PEOPLE).map(|n| roll_out.length(n)).collect();
        lengths.sort_unstable();
        let at = |share: f64| lengths[(share * (PEOPLE - 1) as f64).round() as usize];
        Left { low: at(0.05), high: at(0.95) }
    }
}

struct RollOut<'a> {
    plan: &'a AdaptiveRatio,
    start: RatioPosterior,
    most: usize,
    reach: f64,
    /// Even questions by ratio, worked out when first needed.
    questions: Vec<Option<Option<Query>>>,
    random: Xoshiro256PlusPlus,
}

impl RollOut<'_> {
    /// How many questions the n-th person takes.
    fn length(&mut self, n: usize) -> usize {
        // Evenly spread shares instead of independent draws: a smoother range for the same cost.
        let share = (n as f64 + self.random.random::<f64>()) / PEOPLE as f64;
        let (log_ratio, noise) = self.start.draw(share);
        let mut posterior = self.start.clone();
        for asked in 0..self.most {
            let Some(query) = self.question(&posterior) else { return asked.max(1) };
            let rule = self.plan.least_information();
            if asked > 0 && (self.over(&posterior) || posterior.information(&query) < rule) {
                return asked;
            }
            let t = difference(&query, log_ratio) / posterior.unit();
            let first = self.random.random::<f64>() < noise.chance_of_first(t);
            posterior.take(&query, &if first { Preference::First } else { Preference::Second }.into());
        }
        self.most
    }

    /// Whether enough is known; the budget is counted elsewhere.
    fn over(&self, posterior: &RatioPosterior) -> bool {
        self.plan.settled(posterior).is_some_and(|rule| rule != "budget")
    }

    /// Two classifiers that are about equally good to the middle of the posterior.
    fn question(&mut self, posterior: &RatioPosterior) -> Option<Query> {
        let range = people::LARGEST_RATIO.ln();
        let place = (posterior.quantile(0.5).ln() / range + 1.0) * 0.5;
        let cell = (place * CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / CELLS as f64 - 1.0)).exp();
        let reach = self.reach;
        self.questions[cell].get_or_insert_with(|| posterior.chord(ratio, reach)).clone()
    }
}
