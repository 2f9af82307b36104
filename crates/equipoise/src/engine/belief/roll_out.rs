//! People imagined to go on from a grid.
//!
//! They answer on a thinned grid, which keeps what it has worked out about a question and reconsiders what kind of question to
//! ask only now and then, so that the whole costs some milliseconds.

use super::Width;
use super::grid::{Grid, gap, weights_of};
use super::scale::LARGEST_RATIO;
use crate::ask::{NoiseModel, Query};
use crate::engine::normal::entropy;
use crate::engine::plan::Adaptive;
use crate::engine::progress::Imagined;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many people are imagined.
const PEOPLE: usize = 79;

/// Roll-outs know so many ratios; every so many of the noises stand for one of theirs.
const THINNING: (usize, usize) = (120, 4);

/// After so many questions it is reconsidered what kind of question tells most.
const RECONSIDER: usize = 3;

/// Roll-outs look up their questions by the ratio to which both classifiers are alike, to this many parts of its range.
const CELLS: usize = 400;

/// One question of the roll-outs, and how likely "first" is under every noise and ratio of the thinned grid.
struct Prospect {
    query: Query,
    first: Vec<f64>,
}

impl Prospect {
    /// Expected information about the ratio, in bits, and how likely "first" is.
    fn information(&self, masses: &[f64], marginal: &[f64]) -> (f64, f64) {
        let firsts = self.firsts(masses, marginal);
        let first: f64 = firsts.iter().sum();
        let doubt = |(joint, mass): (&f64, &f64)| match *mass > 1e-7 {
            true => mass * entropy((joint / mass).clamp(0.0, 1.0)),
            false => 0.0,
        };
        let doubt: f64 = firsts.iter().zip(marginal).map(doubt).sum();
        (entropy(first.clamp(0.0, 1.0)) - doubt, first)
    }

    /// The mass of every ratio together with "first".
    fn firsts(&self, masses: &[f64], marginal: &[f64]) -> Vec<f64> {
        let mut firsts = vec![0.0; marginal.len()];
        for (masses, chances) in masses.chunks(marginal.len()).zip(self.first.chunks(marginal.len())) {
            for (sum, (mass, p)) in firsts.iter_mut().zip(masses.iter().zip(chances)) {
                *sum += mass * p;
            }
        }
        firsts
    }

    /// How good a question the plan would find it: by what it saves people, or by what it tells.
    fn worth(&self, start: &Grid, masses: &[f64], marginal: &[f64]) -> f64 {
        let bits = self.information(masses, marginal).0;
        if !start.is_for_people() {
            return bits;
        }
        let firsts = self.firsts(masses, marginal);
        let likely = (0..marginal.len()).filter(|place| marginal[*place] > 1e-7);
        let chance = |place: usize| (firsts[place] / marginal[place]).clamp(0.0, 1.0);
        start.worth(likely.map(|place| (place, marginal[place], chance(place))), bits)
    }
}

/// People who go on from a grid.
pub struct RollOut {
    start: Grid,
    /// Even questions by ratio and reach, worked out when first needed.
    prospects: Vec<Option<Option<Prospect>>>,
    /// The logarithm of the ratio and the noise of whoever answers.
    person: (f64, NoiseModel),
    /// What is believed of them, noise by noise, ratio by ratio.
    masses: Vec<f64>,
    /// The same without the noise.
    marginal: Vec<f64>,
    /// What kind of question is asked: by share and reach.
    kind: (usize, usize),
}

impl From<&Grid> for RollOut {
    fn from(grid: &Grid) -> Self {
        let start = grid.thinned(THINNING.0, THINNING.1);
        let prospects = (0..(CELLS + 1) * grid.kinds().1.len()).map(|_| None).collect();
        let (masses, marginal) = (start.masses().concat(), start.marginal().to_vec());
        Self { prospects, person: start.draw(0.5, 0.5), masses, marginal, kind: (0, 0), start }
    }
}

impl Imagined for RollOut {
    fn people(&self) -> usize {
        PEOPLE
    }

    fn begin(&mut self, n: usize, random: &mut Xoshiro256PlusPlus) {
        // Evenly spread shares instead of independent draws: a smoother range for the same cost.
        let share = (n as f64 + random.random::<f64>()) / PEOPLE as f64;
        self.person = self.start.draw(share, random.random());
        (self.masses, self.marginal) = (self.start.masses().concat(), self.start.marginal().to_vec());
        self.kind = (0, 0);
    }

    fn step(&mut self, asked: usize, plan: &Adaptive, random: &mut Xoshiro256PlusPlus) -> bool {
        let scale = self.start.scale();
        if asked > 0 {
            let [low, high] = [0.025, 0.975].map(|share| scale.quantile(&self.marginal, share));
            let settled = |tolerance| Some(scale.threshold_settled(&self.marginal, tolerance));
            let set = scale.ends(&self.marginal).iter().all(Option::is_some);
            let width = Width::Factor(if set { (high - low).exp() } else { f64::INFINITY });
            let little = |most: f64| set && self.start.regret_of(&self.marginal).expected <= most;
            if plan.enough(width, settled).is_some() || plan.regret_at_most().is_some_and(little) {
                return false;
            }
        }
        if asked.is_multiple_of(RECONSIDER) {
            self.kind = self.best_kind();
        }
        let chance: f64 = random.random();
        let place = self.prospect(self.kind);
        let Some(prospect) = self.prospects[place].as_ref().and_then(Option::as_ref) else {
            return asked == 0;
        };
        let (bits, first) = prospect.information(&self.masses, &self.marginal);
        if asked > 0 && plan.floor().is_some_and(|floor| bits < floor) {
            return false;
        }
        let (log_ratio, noise) = self.person;
        let is_first =
            chance < noise.chance_of_first(gap(&prospect.query, weights_of(log_ratio), self.start.unit()));
        let total = if is_first { first } else { 1.0 - first }.max(1e-300);
        let places = self.marginal.len();
        self.marginal.fill(0.0);
        for (n, (mass, p)) in self.masses.iter_mut().zip(&prospect.first).enumerate() {
            *mass *= if is_first { *p } else { 1.0 - *p } / total;
            self.marginal[n % places] += *mass;
        }
        true
    }
}

impl RollOut {
    /// Which of the questions that the plan itself considers it would ask now: by share and reach.
    fn best_kind(&mut self) -> (usize, usize) {
        let mut best = (f64::MIN, (0, 0));
        let (shares, reaches) = self.start.kinds();
        for share in 0..shares.len() {
            for reach in 0..reaches.len() {
                let place = self.prospect((share, reach));
                if let Some(prospect) = self.prospects[place].as_ref().and_then(Option::as_ref) {
                    let worth = prospect.worth(&self.start, &self.masses, &self.marginal);
                    best = if worth > best.0 { (worth, (share, reach)) } else { best };
                }
            }
        }
        best.1
    }

    /// Where two classifiers are listed that are about equally good to a ratio with a share of the posterior below it.
    fn prospect(&mut self, (share, reach): (usize, usize)) -> usize {
        let (shares, reaches) = self.start.kinds();
        let range = LARGEST_RATIO.ln();
        let place = (self.start.scale().quantile(&self.marginal, shares[share]) / range + 1.0) * 0.5;
        // The last place of a thinned grid stands for its neighbours too and may lie beyond the range by some of a step.
        let cell = (place.clamp(0.0, 1.0) * CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / CELLS as f64 - 1.0)).exp();
        let start = &self.start;
        let work_out = || {
            let query = start.even(ratio, reaches[reach])?;
            Some(Prospect { first: start.chances_of_first(&query), query })
        };
        let place = cell * reaches.len() + reach;
        self.prospects[place].get_or_insert_with(work_out);
        place
    }
}
