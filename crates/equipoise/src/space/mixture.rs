//! The mixture of extreme points behind a feasible point.
//!
//! Wolfe's minimum-norm-point algorithm: it needs nothing of a set but its extreme points in given directions,
//! and expresses the nearest feasible point as a mixture of at most dimension + 1 of them.

use super::Space;
use crate::linalg::{Singular, dot, norm, plus};
use crate::view::Point;

/// The feasible point nearest to a target, as a mixture of extreme points.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Probability of each part; they sum to 1.
    pub shares: Vec<f64>,
    /// The direction whose extreme point each part is.
    pub directions: Vec<Vec<f64>>,
    /// The extreme points.
    pub parts: Vec<Point>,
    /// How far the mixture is from the target: 0 (to rounding) exactly for feasible points.
    pub distance: f64,
}

impl Mixture {
    /// The mixed point.
    pub fn point(&self) -> Point {
        let zero = vec![0.0; self.parts[0].len()];
        self.shares.iter().zip(&self.parts).fold(zero, |sum, (share, part)| plus(&sum, *share, part))
    }
}

/// Finds the mixture nearest to `target` among all that `best` can make.
///
/// `best` returns the extreme point in a direction. Stops when the distance falls below `tolerance`, or when
/// no extreme point brings it closer.
pub fn nearest(target: &[f64], tolerance: f64, best: impl Fn(&[f64]) -> Point) -> Mixture {
    let start: Vec<f64> = vec![1.0; target.len()];
    let part = best(&start);
    let mut mixture =
        Mixture { shares: vec![1.0], directions: vec![start], parts: vec![part], distance: 0.0 };
    for _ in 0..100 * (target.len() + 10) {
        let gap = plus(&mixture.point(), -1.0, target);
        mixture.distance = norm(&gap);
        if mixture.distance <= tolerance {
            break;
        }
        let towards: Vec<f64> = gap.iter().map(|g| -g / mixture.distance).collect();
        let part = best(&towards);
        // No feasible point is closer to the target than `reach` in this direction.
        let reach = -dot(&towards, &plus(&part, -1.0, target));
        let known = mixture.parts.iter().any(|p| norm(&plus(p, -1.0, &part)) <= 1e-15);
        if known || mixture.distance - reach <= 1e-12 * mixture.distance.max(1e-3) {
            break;
        }
        mixture.shares.push(0.0);
        mixture.directions.push(towards);
        mixture.parts.push(part);
        settle(&mut mixture, target);
    }
    mixture
}

/// Moves the shares to the nearest point of the parts' hull, dropping parts that are not needed.
fn settle(mixture: &mut Mixture, target: &[f64]) {
    while mixture.parts.len() > 1 {
        let wanted = affine_minimiser(&mixture.parts, target);
        if wanted.iter().all(|&w| w > 1e-14) {
            mixture.shares = wanted;
            return;
        }
        // As far towards the wanted shares as all stay non-negative.
        let mut step = 1.0_f64;
        for (have, want) in mixture.shares.iter().zip(&wanted) {
            if *want <= 1e-14 && have > want {
                step = step.min(have / (have - want));
            }
        }
        for (have, want) in mixture.shares.iter_mut().zip(&wanted) {
            *have += step * (want - *have);
        }
        let smallest = (0..mixture.shares.len())
            .filter(|&n| wanted[n] <= 1e-14)
            .min_by(|&a, &b| mixture.shares[a].total_cmp(&mixture.shares[b]))
            .expect("some share was not positive");
        mixture.shares.remove(smallest);
        mixture.directions.remove(smallest);
        mixture.parts.remove(smallest);
        let total: f64 = mixture.shares.iter().sum();
        mixture.shares.iter_mut().for_each(|s| *s = s.max(0.0) / total);
    }
    mixture.shares = vec![1.0];
}

/// Shares (of any sign, summing to 1) whose mixture is nearest to the target.
fn affine_minimiser(parts: &[Point], target: &[f64]) -> Vec<f64> {
    // Relative to the first part: min |g0 + sum_n s_n (p_n - p_0)| over s.
    let edges: Vec<Vec<f64>> = parts[1..].iter().map(|p| plus(p, -1.0, &parts[0])).collect();
    let rows: Vec<Vec<f64>> = (0..target.len()).map(|i| edges.iter().map(|e| e[i]).collect()).collect();
    let right = plus(target, -1.0, &parts[0]);
    let rest = Singular::of(&rows, edges.len()).solve(&right, 1e-13);
    [vec![1.0 - rest.iter().sum::<f64>()], rest].concat()
}

/// How far a point is from a space's set; 0 (to rounding) for feasible points.
pub(super) fn distance_outside<S: Space>(space: &S, point: &[f64]) -> f64 {
    if point.len() != space.view().dimension() || point.iter().any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    nearest(point, 1e-13, |direction| space.best(direction)).distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_of_a_cube_is_a_mixture_of_its_corners() {
        let corner = |d: &[f64]| d.iter().map(|x| if *x > 0.0 { 1.0 } else { 0.0 }).collect::<Vec<_>>();
        let inside = nearest(&[0.2, 0.9, 0.4, 0.7], 1e-12, corner);
        assert!(inside.distance <= 1e-12 && inside.parts.len() <= 5);
        assert!((inside.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let outside = nearest(&[0.2, 1.5, 0.4, -0.5], 1e-12, corner);
        assert!((outside.distance - 0.5_f64.sqrt()).abs() < 1e-9);
    }
}
