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
const PEOPLE: usize = 64;

/// Every so many places of the fine grid stand for one of the roll-outs.
const THINNING: [usize; 2] = [8, 3];

/// How far the questions of roll-outs reach; what the full choice picks most of the time.
const REACH: f64 = 0.6;

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
        if self.next(posterior).is_err() {
            return Left { low: 0, high: 0 };
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let rough = posterior.thinned(THINNING[0], THINNING[1]);
        let mut questions = Questions::new(&rough);
        let most = self.most_questions().saturating_sub(posterior.asked()).max(1);
        let mut lengths: Vec<usize> = (0..PEOPLE)
            .map(|n| {
                // Evenly spread shares instead of independent draws: a smoother range for the same cost.
                let share = (n as f64 + random.random::<f64>()) / PEOPLE as f64;
                self.roll_out(&rough, share, most, &mut questions, &mut random)
            })
            .collect();
        lengths.sort_unstable();
        let at = |share: f64| lengths[(share * (PEOPLE - 1) as f64).round() as usize];
        Left { low: at(0.05), high: at(0.95) }
    }

    /// How many questions a person drawn at this share of the posterior takes.
    fn roll_out(
        &self,
        start: &RatioPosterior,
        share: f64,
        most: usize,
        questions: &mut Questions,
        random: &mut Xoshiro256PlusPlus,
    ) -> usize {
        let (log_ratio, noise) = start.draw(share);
        let mut posterior = start.clone();
        for asked in 1..most {
            let Some(query) = questions.at(&posterior) else { return asked - 1 };
            let t = difference(&query, log_ratio) / posterior.unit();
            let first = random.random::<f64>() < noise.chance_of_first(t);
            let answer = if first { Preference::First } else { Preference::Second };
            posterior.take(&query, &answer.into());
            if self.settled(&posterior).is_some() {
                return asked;
            }
        }
        most
    }
}

/// Even questions by ratio, worked out when first needed.
struct Questions {
    known: Vec<Option<Option<Query>>>,
}

impl Questions {
    const CELLS: usize = 400;

    fn new(_: &RatioPosterior) -> Self {
        Self { known: vec![None; Self::CELLS + 1] }
    }

    /// Two classifiers that are about equally good to the middle of the posterior.
    fn at(&mut self, posterior: &RatioPosterior) -> Option<Query> {
        let range = people::LARGEST_RATIO.ln();
        let middle = posterior.quantile(0.5).ln();
        let cell = ((middle / range + 1.0) * 0.5 * Self::CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / Self::CELLS as f64 - 1.0)).exp();
        self.known[cell].get_or_insert_with(|| posterior.chord(ratio, REACH)).clone()
    }
}
