//! Drawing the rows of a table again, without keeping the draws.

use rand::{Rng, RngExt};

/// A Poisson number with mean 1, by going through its distribution.
///
/// How often a row is taken when as many rows as there are get drawn with replacement, for all but the smallest tables
/// (Chamandy et al. 2012). It needs no access to other rows, so a table of any size is drawn again in one pass.
///
/// ```
/// use rand::SeedableRng;
/// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
/// let draws: Vec<f64> = (0..10_000).map(|_| equipoise::decide::resample::poisson(&mut random)).collect();
/// assert!((draws.iter().sum::<f64>() / 10_000.0 - 1.0).abs() < 0.05);
/// ```
pub fn poisson(random: &mut impl Rng) -> f64 {
    let mut left: f64 = random.random();
    let (mut count, mut probability) = (0.0, (-1.0_f64).exp());
    while left >= probability && count < 20.0 {
        left -= probability;
        count += 1.0;
        probability /= count;
    }
    count
}
