//! Which of a list of points is the best, and how sure that is.

use super::posterior::Posterior;
use crate::linalg::{cholesky, dot, plus};
use crate::metric::random::normals;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Draws that are tried for the signs that are known before signs are simply put right.
const TRIES: usize = 50;

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
pub fn best(row: &[f64]) -> usize {
    (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("at least one point")
}

/// Weights drawn from the posterior, with the signs that are known.
pub fn draws(posterior: &Posterior, signs: Option<&[f64]>, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let d = posterior.dimension();
    let covariance: Vec<f64> = (0..d).flat_map(|i| posterior.covariance(i).to_vec()).collect();
    let shape = cholesky(&covariance, d).unwrap_or_else(|| vec![0.0; d * d]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw = || {
        let steps = normals(d, &mut random);
        let moved: Vec<f64> = shape.chunks(d).map(|row| dot(row, &steps)).collect();
        plus(posterior.mean(), 1.0, &moved)
    };
    let mut fitting = || {
        let Some(signs) = signs else { return draw() };
        for _ in 0..TRIES {
            let drawn = draw();
            if drawn.iter().zip(signs).all(|(w, s)| w * s >= 0.0) {
                return drawn;
            }
        }
        draw().iter().zip(signs).map(|(w, s)| s * w.abs()).collect()
    };
    (0..count).map(|_| fitting()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_moments_and_the_signs() {
        let posterior = Posterior::from_moments(vec![1.0, -2.0], vec![0.25, 0.1, 0.1, 0.16]);
        let drawn = draws(&posterior, None, 4000, 3);
        let mean: f64 = drawn.iter().map(|w| w[0]).sum::<f64>() / 4000.0;
        let product: f64 = drawn.iter().map(|w| (w[0] - 1.0) * (w[1] + 2.0)).sum::<f64>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.05 && (product - 0.1).abs() < 0.02, "{mean} {product}");
        let signed = draws(&posterior, Some(&[1.0, -1.0]), 200, 3);
        assert!(signed.iter().all(|w| w[0] >= 0.0 && w[1] <= 0.0));
    }

    #[test]
    fn the_decision_counts_votes() {
        let likings =
            vec![vec![0.0, 1.0, 0.5], vec![0.0, 2.0, 0.5], vec![3.0, 1.0, 3.0], vec![0.0, 1.0, 0.0]];
        assert_eq!(Decision::of(&likings), Decision { best: 1, probability: 0.75 });
    }
}
