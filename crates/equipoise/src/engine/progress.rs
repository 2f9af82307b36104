//! How many questions are left: a range, from imagined answers.
//!
//! People are drawn from the posterior, each answers until the stop rule ends it, and the shortest range that holds nine
//! tenths of how long they take is the range. The roll-outs run on a thinned posterior, keep what they have worked out
//! about a question, and reconsider what kind of question to ask only now and then, so that the whole costs some
//! milliseconds.

use super::ratio::{LARGEST_RATIO, REACHES, RatioPosterior, SHARES, difference, entropy};
use super::ratio_plan::AdaptiveRatio;
use crate::ask::Query;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// How many people are imagined.
const PEOPLE: usize = 79;

/// The share of them that the range holds.
const HELD: f64 = 0.9;

/// Of fewer people the range holds all.
const FEW: usize = 30;

/// Roll-outs know so many ratios; every so many of the noises stand for one of theirs.
const THINNING: (usize, usize) = (120, 3);

/// After so many questions it is reconsidered what kind of question tells most.
const RECONSIDER: usize = 3;

/// Roll-outs look up their questions by the ratio to which both classifiers are alike, to this many parts of its range.
const CELLS: usize = 400;

/// By how much the upper end may rise after an answer.
const MOST_RISE: usize = 2;

/// A range of how many questions are left: it holds the true number about nine times in ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Left {
    /// At least so many.
    pub low: usize,
    /// At most so many.
    pub high: usize,
}

impl Left {
    /// The shortest range that holds nine tenths of imagined lengths, which are in order; nothing is left where there are
    /// none.
    ///
    /// Equal tails would not do: many people are asked as many questions as allowed, and no tail lies beyond those. The
    /// shortest of few ranges would be too short by chance, so few people are held all.
    pub fn holding(lengths: &[usize]) -> Self {
        let most = lengths.len();
        let held = if most < FEW { most } else { (HELD * most as f64).ceil() as usize };
        let ranges =
            lengths.windows(held.max(1)).map(|held| Left { low: held[0], high: held[held.len() - 1] });
        ranges.min_by_key(|range| range.high - range.low).unwrap_or(Left { low: 0, high: 0 })
    }

    /// As it is shown after an answer, if `before` was shown before it: the upper end rises by 2 at most, because a count
    /// that jumps up is worse than one that is late. Not for "can't tell" or undo, after which more may well be left.
    pub fn after(self, before: Left) -> Self {
        let high = self.high.min(before.high + MOST_RISE);
        Self { low: self.low.min(high), high }
    }
}

impl AdaptiveRatio {
    /// How many questions are left after what the posterior has taken in; the same for the same seed.
    pub fn questions_left(&self, posterior: &RatioPosterior, seed: u64) -> Left {
        Left::holding(&self.lengths_left(posterior, seed))
    }

    /// How many more questions each of some imagined people takes, in order; none if the questions are over. The same for
    /// the same seed.
    pub fn lengths_left(&self, posterior: &RatioPosterior, seed: u64) -> Vec<usize> {
        if self.next(posterior).is_err() {
            return vec![];
        }
        let mut roll_out = RollOut {
            plan: self,
            start: posterior.thinned(THINNING.0, THINNING.1),
            most: self.most_questions().saturating_sub(posterior.asked()).max(1),
            prospects: (0..(CELLS + 1) * REACHES.len()).map(|_| None).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        let mut lengths: Vec<usize> = (0..PEOPLE).map(|n| roll_out.length(n)).collect();
        lengths.sort_unstable();
        lengths
    }
}

/// One question of the roll-outs, and how likely "first" is under every noise and ratio of the thinned grid.
struct Prospect {
    query: Query,
    first: Vec<f64>,
}

impl Prospect {
    /// Expected information about the ratio, in bits, and how likely "first" is.
    fn information(&self, masses: &[f64], marginal: &[f64]) -> (f64, f64) {
        let mut firsts = vec![0.0; marginal.len()];
        for (masses, chances) in masses.chunks(marginal.len()).zip(self.first.chunks(marginal.len())) {
            for (sum, (mass, p)) in firsts.iter_mut().zip(masses.iter().zip(chances)) {
                *sum += mass * p;
            }
        }
        let first: f64 = firsts.iter().sum();
        let doubt = |(joint, mass): (&f64, &f64)| match *mass > 1e-7 {
            true => mass * entropy((joint / mass).clamp(0.0, 1.0)),
            false => 0.0,
        };
        let doubt: f64 = firsts.iter().zip(marginal).map(doubt).sum();
        (entropy(first.clamp(0.0, 1.0)) - doubt, first)
    }
}

struct RollOut<'a> {
    plan: &'a AdaptiveRatio,
    start: RatioPosterior,
    most: usize,
    /// Even questions by ratio and reach, worked out when first needed.
    prospects: Vec<Option<Option<Prospect>>>,
    random: Xoshiro256PlusPlus,
}

impl RollOut<'_> {
    /// How many questions the n-th person takes.
    fn length(&mut self, n: usize) -> usize {
        // Evenly spread shares instead of independent draws: a smoother range for the same cost.
        let share = (n as f64 + self.random.random::<f64>()) / PEOPLE as f64;
        let (log_ratio, noise) = self.start.draw(share, self.random.random());
        let mut masses = self.start.masses().concat();
        let mut marginal = self.start.marginal().to_vec();
        let mut kind = (0, 0);
        for asked in 0..self.most {
            if asked > 0 && self.plan.settled_by(self.start.scale(), &marginal).is_some() {
                return asked;
            }
            if asked % RECONSIDER == 0 {
                kind = self.best_kind(&masses, &marginal);
            }
            let chance: f64 = self.random.random();
            let (unit, floor) = (self.start.unit(), self.plan.least_information());
            let Some(prospect) = self.prospect(&marginal, kind) else { return asked.max(1) };
            let (bits, first) = prospect.information(&masses, &marginal);
            if asked > 0 && bits < floor {
                return asked;
            }
            let t = difference(&prospect.query, log_ratio) / unit;
            let is_first = chance < noise.chance_of_first(t);
            let total = if is_first { first } else { 1.0 - first }.max(1e-300);
            marginal.fill(0.0);
            let places = marginal.len();
            for (n, (mass, p)) in masses.iter_mut().zip(&prospect.first).enumerate() {
                *mass *= if is_first { *p } else { 1.0 - *p } / total;
                marginal[n % places] += *mass;
            }
        }
        self.most
    }

    /// Which of the questions that the plan itself considers tells most now: by share and reach.
    fn best_kind(&mut self, masses: &[f64], marginal: &[f64]) -> (usize, usize) {
        let mut best = (f64::MIN, (0, 0));
        for share in 0..SHARES.len() {
            for reach in 0..REACHES.len() {
                if let Some(prospect) = self.prospect(marginal, (share, reach)) {
                    let (bits, _) = prospect.information(masses, marginal);
                    best = if bits > best.0 { (bits, (share, reach)) } else { best };
                }
            }
        }
        best.1
    }

    /// Two classifiers that are about equally good to a ratio with a share of the posterior below it.
    fn prospect(&mut self, marginal: &[f64], (share, reach): (usize, usize)) -> Option<&Prospect> {
        let range = LARGEST_RATIO.ln();
        let place = (self.start.scale().quantile(marginal, SHARES[share]) / range + 1.0) * 0.5;
        // The last place of a thinned grid stands for its neighbours too and may lie beyond the range by some of a step.
        let cell = (place.clamp(0.0, 1.0) * CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / CELLS as f64 - 1.0)).exp();
        let start = &self.start;
        let work_out = || {
            let query = start.chord(ratio, REACHES[reach])?;
            Some(Prospect { first: start.chances_of_first(&query), query })
        };
        self.prospects[cell * REACHES.len() + reach].get_or_insert_with(work_out).as_ref()
    }
}
