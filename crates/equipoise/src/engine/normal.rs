//! The standard normal distribution, accurate far into its tails.

use crate::quadrature::nodes;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// $\phi(z)$.
pub fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// $\Phi(z)$.
pub fn distribution(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// $\phi(z)/\Phi(z)$: how steeply $\ln\Phi$ rises.
pub fn hazard(z: f64) -> f64 {
    if z > -8.0 {
        return density(z) / distribution(z);
    }
    // Mills' ratio as a continued fraction, where the distribution itself underflows.
    let x = -z;
    (1..=30).rev().fold(x, |below, n| x + f64::from(n) / below)
}

/// The entropy of a coin, in bits.
pub fn entropy(chance: f64) -> f64 {
    let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
    part(chance) + part(1.0 - chance)
}

/// Panels that an interval is integrated by.
const PANELS: usize = 4;

/// Values of less than $e^{-40}$ of the largest change no digit of an integral.
const NEGLIGIBLE: f64 = 40.0;

/// Probability, mean and variance of a standard normal number within `[low, low + width]`, where the upper end is at least
/// as far from 0 as the lower one.
///
/// Differences of distribution functions lose all digits where both are near 1, and so do the textbook formulas of mean
/// and variance. Integrating the density relative to its largest value in the interval loses none.
pub fn between(low: f64, width: f64) -> (f64, f64, f64) {
    // The density is largest at `peak`; from there it falls as exp(-peak u - u^2/2).
    let peak = low.max(0.0);
    let reach = 2.0 * NEGLIGIBLE / (peak + (peak * peak + 2.0 * NEGLIGIBLE).sqrt());
    let (start, end) = ((low - peak).max(-reach), (low - peak + width).min(reach));
    let edge = |n: usize| start + (end - start) * n as f64 / PANELS as f64;
    let relative = |(u, weight): (f64, f64)| (u, weight * (-u * (peak + 0.5 * u)).exp());
    let values: Vec<(f64, f64)> =
        (0..PANELS).flat_map(|n| nodes(edge(n), edge(n + 1))).map(relative).collect();
    let mass: f64 = values.iter().map(|(_, value)| value).sum();
    let mean = values.iter().map(|(u, value)| u * value).sum::<f64>() / mass;
    let variance = values.iter().map(|(u, value)| (u - mean).powi(2) * value).sum::<f64>() / mass;
    (density(peak) * mass, peak + mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The midpoint rule in ln(x - low), which resolves every scale: slow and independent.
    fn referee(low: f64, width: f64) -> [f64; 3] {
        let (from, to, steps) = ((1e-12 * width).min(1e-9 / (1.0 + low.abs())).ln(), width.ln(), 100_000);
        let step = (to - from) / f64::from(steps);
        let sums = |about: f64| {
            (0..steps).fold([0.0; 3], |[mass, first, second], n| {
                let y = (from + (f64::from(n) + 0.5) * step).exp();
                // Relative to the density at `low`, or at 0 if that is within.
                let value = y * step * (-y * (low + 0.5 * y) - 0.5 * low.min(0.0).powi(2)).exp();
                [mass + value, first + value * (y - about), second + value * (y - about).powi(2)]
            })
        };
        let [mass, first, _] = sums(0.0);
        let [_, _, second] = sums(first / mass);
        [density(low.max(0.0)) * mass, low + first / mass, second / mass]
    }

    #[test]
    fn intervals_have_the_moments_of_a_fine_integration() {
        for width in [1e-9, 1e-4, 0.1, 1.0, 7.0, 40.0, 1e4] {
            // The referee cannot resolve a peak in the middle of thousands of deviations.
            for low in [-0.5, -0.3, -1e-3].iter().filter(|_| width < 100.0) {
                check(low * width, width);
            }
            for low in [0.0, 1e-3, 0.5, 3.0, 8.5, 20.0, 37.0, 300.0, 1e5] {
                check(low, width);
            }
        }
        fn check(low: f64, width: f64) {
            let (mass, mean, variance) = between(low, width);
            let expected = referee(low, width);
            let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-7 * expected.abs() + 1e-300;
            assert!(near(mass, expected[0]), "{low} {width}: {mass:e} {expected:?}");
            // Means are compared on the scale of the spread around them, beside the digits the place itself has.
            let slack = 1e-7 * variance.sqrt() + 1e-15 * low.abs();
            assert!((mean - expected[1]).abs() <= slack, "{low} {width}: {mean:e} {expected:?}");
            assert!(near(variance, expected[2]), "{low} {width}: {variance:e} {expected:?}");
        }
    }

    #[test]
    fn hazards_agree_where_both_forms_hold() {
        for (z, expected) in
            [(0.0, 0.797_884_560_802_865_4), (-5.0, 5.186_503_967_125_84), (-20.0, 20.049_753_068_527_85)]
        {
            assert!((hazard(z) / expected - 1.0).abs() < 1e-9, "{z}: {}", hazard(z));
        }
        assert!((hazard(-8.0 - 1e-12) / hazard(-8.0 + 1e-12) - 1.0).abs() < 1e-9);
        assert!(hazard(-1e6).is_finite() && hazard(40.0) < 1e-300);
    }
}
