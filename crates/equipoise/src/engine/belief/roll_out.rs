//! People imagined to go on from a grid.
//!
//! They answer on a thinned grid, which keeps what it has worked out about a question and reconsiders what kind of question to
//! ask only now and then, so that the whole costs some milliseconds.

use super::Width;
use super::grid::{Grid, LARGEST_RATIO, REACHES, SHARES, difference};
use crate::ask::{NoiseModel, Query};
use crate::engine::normal::entropy;
use crate::engine::plan::Adaptive;
use crate::engine::progress::Imagined;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many people are imagined.
const PEOPLE: usize = 79;

/// Roll-outs know so many ratios; every so many of the noises stand for one of theirs.
const THINNING: (usize, usize) = (120, 3);

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
        let prospects = (0..(CELLS + 1) * REACHES.len()).map(|_| None).collect();
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
            if plan.enough(Width::Factor((high - low).exp()), settled).is_some() {
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
        let t = difference(&prospect.query, log_ratio) / self.start.unit();
        let is_first = chance < noise.chance_of_first(t);
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
    /// Which of the questions that the plan itself considers tells most now: by share and reach.
    fn best_kind(&mut self) -> (usize, usize) {
        let mut best = (f64::MIN, (0, 0));
        for share in 0..SHARES.len() {
            for reach in 0..REACHES.len() {
                let place = self.prospect((share, reach));
                if let Some(prospect) = self.prospects[place].as_ref().and_then(Option::as_ref) {
                    let (bits, _) = prospect.information(&self.masses, &self.marginal);
                    best = if bits > best.0 { (bits, (share, reach)) } else { best };
                }
            }
        }
        best.1
    }

    /// Where two classifiers are listed that are about equally good to a ratio with a share of the posterior below it.
    fn prospect(&mut self, (share, reach): (usize, usize)) -> usize {
        let range = LARGEST_RATIO.ln();
        let place = (self.start.scale().quantile(&self.marginal, SHARES[share]) / range + 1.0) * 0.5;
        // The last place of a thinned grid stands for its neighbours too and may lie beyond the range by some of a step.
        let cell = (place.clamp(0.0, 1.0) * CELLS as f64).round() as usize;
        let ratio = (range * (2.0 * cell as f64 / CELLS as f64 - 1.0)).exp();
        let start = &self.start;
        let work_out = || {
            let query = start.chord(ratio, REACHES[reach])?;
            Some(Prospect { first: start.chances_of_first(&query), query })
        };
        let place = cell * REACHES.len() + reach;
        self.prospects[place].get_or_insert_with(work_out);
        place
    }
}
