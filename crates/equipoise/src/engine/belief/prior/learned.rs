//! What others are like, from what each of them said.

use super::{Bell, Prior};
use crate::engine::belief::log_weights::{LogWeights, Person, Said};
use crate::linalg::{cholesky, inverse_of_positive, plus, zeros};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is learnt of other people: from so many who are drawn, in so many rounds.
const DRAWN: usize = 8000;
const ROUNDS: usize = 10;
/// The size of weights says nothing, only their ratios do: this is its variance, for steps to have a place to go.
const OF_SIZE: f64 = 0.25;
/// No weight is known to a hair from others, nor how many go by ratios, nor how discerning somebody is.
const LEAST_VARIANCE: f64 = 1e-3;
const LEAST_SHARE: f64 = 0.02;

impl Bell {
    fn new(mean: Vec<f64>, covariance: &[Vec<f64>]) -> Option<Self> {
        Some(Self { mean, root: cholesky(covariance)?, precision: inverse_of_positive(covariance)? })
    }
}

impl Prior {
    /// The same people, of whom this share goes by ratios.
    pub fn by_ratio(self, share: f64) -> Self {
        Self { by_ratio: share, ..self }
    }

    /// What others are like, from what each of them said: everybody drawn counts as much as they could have been each of them
    /// (expectation-maximisation by importance sampling). Beside it, the logarithm of how likely they
    /// said all that, as the last round but one found it.
    pub(crate) fn learned(self, others: &[Vec<Said>], nobody: &LogWeights, seed: u64) -> (Self, f64) {
        let (unit, dimension) = (nobody.unit, nobody.setting.dimension());
        let (mut prior, mut likely_all) = (self, 0.0);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..ROUNDS {
            let drawn: Vec<Person> =
                (0..DRAWN).map(|_| Person::draw(&prior, dimension, &mut random)).collect();
            let mut shares = vec![0.0; DRAWN];
            likely_all = 0.0;
            for other in others {
                let fits: Vec<f64> =
                    drawn.iter().map(|p| other.iter().map(|said| said.fit(p, unit, false)).sum()).collect();
                let top = fits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let likely: Vec<f64> = fits.iter().map(|fit| (fit - top).exp()).collect();
                let all = likely.iter().sum::<f64>() * others.len() as f64;
                likely_all += top + (likely.iter().sum::<f64>() / DRAWN as f64).ln();
                shares.iter_mut().zip(likely).for_each(|(share, own)| *share += own / all);
            }
            prior = prior.refitted(&drawn, &shares).unwrap_or(prior);
        }
        (prior, likely_all)
    }

    /// The same shape, fitted to people who count by their shares.
    fn refitted(&self, drawn: &[Person], shares: &[f64]) -> Option<Self> {
        let d = drawn.first()?.logs.len();
        let centred = |person: &Person| {
            let mean = person.logs.iter().sum::<f64>() / d as f64;
            person.logs.iter().map(|log| log - mean).collect::<Vec<f64>>()
        };
        let logs: Vec<Vec<f64>> = drawn.iter().map(centred).collect();
        let mean = logs.iter().zip(shares).fold(vec![0.0; d], |sum, (x, share)| plus(&sum, *share, x));
        let mut covariance = zeros(d);
        for (x, share) in logs.iter().zip(shares) {
            let from = plus(x, -1.0, &mean);
            for (row, a) in covariance.iter_mut().zip(&from) {
                row.iter_mut().zip(&from).for_each(|(entry, b)| *entry += share * a * b);
            }
        }
        for (i, row) in covariance.iter_mut().enumerate() {
            row.iter_mut().for_each(|entry| *entry += OF_SIZE / d as f64);
            row[i] += LEAST_VARIANCE;
        }
        let mut by_ratio = self.by_ratio;
        let mut slopes = self.slopes;
        for ratio in [false, true] {
            let alike = || {
                let of = |(person, share): (&Person, &f64)| Some((person.erring?, *share));
                drawn.iter().zip(shares).filter_map(of).filter(move |(erring, _)| erring.by_ratio == ratio)
            };
            let all: f64 = alike().map(|(_, share)| share).sum();
            if all < LEAST_SHARE {
                continue;
            }
            let middle = alike().map(|(erring, share)| share * erring.log_slope).sum::<f64>() / all;
            let variance =
                alike().map(|(erring, share)| share * (erring.log_slope - middle).powi(2)).sum::<f64>() / all;
            slopes[usize::from(ratio)] = [middle, (variance + LEAST_VARIANCE).sqrt()];
            if ratio && (0.0 < self.by_ratio && self.by_ratio < 1.0) {
                by_ratio = all.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
            }
        }
        let slips = |(person, share): (&Person, &f64)| Some((person.erring?.slips * share, *share));
        let (slips, all) =
            drawn.iter().zip(shares).filter_map(slips).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let careful = if all > 0.0 { careful_at(slips / all) } else { self.careful };
        Some(Self { weights: Some(Bell::new(mean, &covariance)?), by_ratio, slopes, careful })
    }
}

/// How fast slips grow rarer where the roots of their shares have this mean.
fn careful_at(mean: f64) -> f64 {
    // Nobody's slips are known to a hair, either.
    let mean = mean.clamp(0.05, 0.5);
    let at = |k: f64| 1.0 / k - 1.0 / k.exp_m1();
    let [mut few, mut many] = [1e-6, 25.0];
    for _ in 0..60 {
        let middle = 0.5 * (few + many);
        if at(middle) > mean { few = middle } else { many = middle }
    }
    0.5 * (few + many)
}
