//! How few questions could possibly do: an answer is one bit.

/// The bits needed to single out a direction in `dimension` weights to within `angle`, every direction equally likely:
/// the logarithm of how many caps of that angle fit on the sphere (on one orthant, if the signs are known).
pub fn floor_bits(dimension: usize, angle: f64, signs_known: bool) -> f64 {
    let n = dimension as f64;
    // A cap is a stack of spheres of one dimension less: integrate sin^(n-2) by Simpson's rule.
    let steps = 200;
    let height = |i: usize| (angle * i as f64 / steps as f64).sin().powi(dimension as i32 - 2);
    let weight = |i: usize| if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
    let integral: f64 =
        (0..=steps).map(|i| weight(i) * height(i)).sum::<f64>() * angle / (3.0 * steps as f64);
    let cap = log_surface(n - 1.0) + integral.ln();
    let orthants = if signs_known { n * 2.0_f64.ln() } else { 0.0 };
    (log_surface(n) - orthants - cap) / 2.0_f64.ln()
}

/// The same for the pencil of a linear-fractional metric on a ball of that many coordinates, every pencil without a pole in
/// the ball equally likely, to within the largest angle between the two planes.
///
/// With $n = q - 1$: pencils are a unit gradient and a flattest member at most 45 degrees from the constants,
/// a volume of $|S^{q-1}|\,|S^{q-2}|\,2^{-n/2}/n$ in $2n$ dimensions; a ball of angle $\varepsilon$ around one is the set of
/// $2 \times n$ matrices of norm at most $\varepsilon$, a volume of $(2\pi\varepsilon^2)^n/(n+1)!$.
pub fn pencil_floor_bits(coordinates: usize, angle: f64) -> f64 {
    let (q, n) = (coordinates as f64, coordinates as f64 - 1.0);
    let all = log_surface(q) + log_surface(n) - 0.5 * n * 2.0_f64.ln() - n.ln();
    let near = n * (2.0 * std::f64::consts::PI * angle * angle).ln() - libm::lgamma(n + 2.0);
    (all - near) / 2.0_f64.ln()
}

/// ln of the surface of the unit sphere in n dimensions.
fn log_surface(n: f64) -> f64 {
    2.0_f64.ln() + 0.5 * n * std::f64::consts::PI.ln() - libm::lgamma(0.5 * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_floors() {
        let expected = [(2, 6.3), (3, 12.3), (6, 29.8), (12, 64.2), (20, 109.7), (30, 166.4)];
        for (dimension, bits) in expected {
            assert!((floor_bits(dimension, 0.01, true) - bits).abs() < 0.06, "{dimension}");
        }
        assert!((floor_bits(6, 0.01, false) - 35.8).abs() < 0.05);
        assert!((pencil_floor_bits(3, 0.01) - 28.2).abs() < 0.05);
        assert!((pencil_floor_bits(6, 0.01) - 67.5).abs() < 0.05);
        // In the plane an interval is an interval.
        let plane = (std::f64::consts::FRAC_PI_2 / 0.2).log2();
        assert!((floor_bits(2, 0.1, true) - plane).abs() < 1e-12);
    }
}
