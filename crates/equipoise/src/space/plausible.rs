//! Two classes: the classifiers that somebody would build, and pairs of them that are equally good to a cost ratio.
//!
//! A classifier that flags or misses nearly everybody tells much about a ratio and is nothing that people have seen. What is
//! asked of people keeps at least half of the best Youden index (true positive rate + true negative rate - 1) there is.

use super::Binary;

/// Shown classifiers keep at least this share of the best Youden index.
const SHARE: f64 = 0.5;

/// Both rates of a pair differ by at least this much: 1 in 100.
const LEAST: f64 = 0.01;

/// A smooth boundary is taken at so many angles.
const ANGLES: usize = 360;

/// Logarithms of ratios beyond which nothing is asked.
const FAR: f64 = 12.0;

/// Two classifiers: the first has more true positives.
type Pair = [[f64; 2]; 2];

/// The convex set of (true positive, true negative) pairs whose Youden index is at least half of the best.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plausible {
    /// Its corners, in order.
    corners: Vec<[f64; 2]>,
    priors: [f64; 2],
    /// The logarithms of the ratios to which two of them are equally good and far enough apart to be told apart.
    range: [f64; 2],
}

impl Plausible {
    /// `None` where no two such classifiers differ by as much as 1 in 100 in both rates.
    pub fn of(space: &Binary) -> Option<Self> {
        let positive = space.positive_prior();
        let priors = [positive, 1.0 - positive];
        let boundary: Vec<[f64; 2]> = match space.hull() {
            Some(hull) => hull.vertices().to_vec(),
            None => {
                let angle = |n: usize| std::f64::consts::TAU * n as f64 / ANGLES as f64;
                (0..ANGLES).map(|n| space.extreme([angle(n).cos(), angle(n).sin()])).collect()
            }
        };
        let youden = |p: &[f64; 2]| p[0] / priors[0] + p[1] / priors[1] - 1.0;
        let level = SHARE * youden(&space.extreme([1.0 / priors[0], 1.0 / priors[1]])).max(0.0);
        let mut corners = vec![];
        for (n, here) in boundary.iter().enumerate() {
            let next = &boundary[(n + 1) % boundary.len()];
            let [a, b] = [youden(here) - level, youden(next) - level];
            if a >= 0.0 {
                corners.push(*here);
            }
            if a * b < 0.0 {
                // Where the edge crosses the level.
                corners.push([0, 1].map(|c| here[c] + a / (a - b) * (next[c] - here[c])));
            }
        }
        let mut made = Self { corners, priors, range: [0.0; 2] };
        // The widest range of ratios around one that works.
        let works = |log: f64| made.longest(log).is_some_and(|(pair, _)| made.is_readable(&pair));
        let start = (0..=40)
            .map(|n| 0.25 * f64::from((n + 1) / 2) * if n % 2 == 0 { 1.0 } else { -1.0 })
            .find(|log| works(*log))?;
        let end = |far: f64| {
            let (mut inside, mut outside) = (start, far);
            for _ in 0..40 {
                let middle = 0.5 * (inside + outside);
                if works(middle) { inside = middle } else { outside = middle }
            }
            inside
        };
        made.range = [end(-FAR), end(FAR)];
        Some(made)
    }

    fn is_readable(&self, [one, other]: &Pair) -> bool {
        (0..2).all(|c| (one[c] - other[c]).abs() / self.priors[c] >= LEAST)
    }

    /// The nearest ratio, in its logarithm, that can be asked about.
    pub fn clamp(&self, log_ratio: f64) -> f64 {
        log_ratio.clamp(self.range[0], self.range[1])
    }

    /// Two classifiers as far apart as there are, equally good to a ratio (the nearest one that can be asked about); the first
    /// has more true positives. `share` of the way apart, around their middle.
    pub fn pair(&self, log_ratio: f64, share: f64) -> Option<Pair> {
        let ([one, other], _) = self.longest(self.clamp(log_ratio))?;
        let middle = [0, 1].map(|c| 0.5 * (one[c] + other[c]));
        let towards = |end: [f64; 2]| [0, 1].map(|c| middle[c] + share * (end[c] - middle[c]));
        Some([towards(one), towards(other)])
    }

    /// The same close to the best classifier for that ratio: `share` as far apart.
    pub fn near_best(&self, log_ratio: f64, share: f64) -> Option<Pair> {
        let log_ratio = self.clamp(log_ratio);
        let (longest, level) = self.longest(log_ratio)?;
        let weights = weights(log_ratio);
        let apart = |pair: &Pair| (pair[0][0] - pair[1][0]).hypot(pair[0][1] - pair[1][1]);
        let top = self.corners.iter().map(|p| value(weights, *p)).fold(f64::MIN, f64::max);
        let wanted = share * apart(&longest);
        // Level lines above the longest one are shorter and shorter.
        let (mut low, mut high, mut found) = (level, top, longest);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            match self.across(weights, middle).filter(|pair| apart(pair) >= wanted && self.is_readable(pair))
            {
                Some(pair) => (low, found) = (middle, pair),
                None => high = middle,
            }
        }
        Some(found)
    }

    /// The longest line of equally good classifiers, and its level: it passes through a corner.
    fn longest(&self, log_ratio: f64) -> Option<(Pair, f64)> {
        let weights = weights(log_ratio);
        let mut best: Option<(f64, (Pair, f64))> = None;
        for corner in &self.corners {
            let level = value(weights, *corner);
            let Some(pair) = self.across(weights, level) else { continue };
            let apart = (pair[0][0] - pair[1][0]).hypot(pair[0][1] - pair[1][1]);
            if apart > 1e-9 && best.as_ref().is_none_or(|(most, _)| apart > *most) {
                best = Some((apart, (pair, level)));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Where a level line of the weights enters and leaves.
    fn across(&self, weights: [f64; 2], level: f64) -> Option<Pair> {
        let mut ends: Vec<[f64; 2]> = vec![];
        for (n, here) in self.corners.iter().enumerate() {
            let next = self.corners[(n + 1) % self.corners.len()];
            let [a, b] = [value(weights, *here) - level, value(weights, next) - level];
            if a == 0.0 {
                ends.push(*here);
            } else if a * b < 0.0 {
                ends.push([0, 1].map(|c| here[c] + a / (a - b) * (next[c] - here[c])));
            }
        }
        let most = |c: usize| ends.iter().copied().max_by(|a, b| a[c].total_cmp(&b[c]));
        Some([most(0)?, most(1)?])
    }
}

/// Weights of length 1 with a ratio.
fn weights(log_ratio: f64) -> [f64; 2] {
    let (sin, cos) = (-log_ratio).exp().atan().sin_cos();
    [cos, sin]
}

fn value(weights: [f64; 2], point: [f64; 2]) -> f64 {
    weights[0] * point[0] + weights[1] * point[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Logistic;
    use crate::space::{Polygon, Space as _};

    fn spaces() -> [Binary; 2] {
        let corners = vec![[0.0, 0.7], [0.1, 0.68], [0.2, 0.6], [0.27, 0.4], [0.3, 0.0], [0.1, 0.0]];
        let hull = Binary::from_hull(0.3, Polygon::hull(corners).unwrap()).unwrap();
        [Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap()), hull]
    }

    #[test]
    fn pairs_are_achievable_plausible_and_even() {
        for space in spaces() {
            let (room, prior) = (Plausible::of(&space).unwrap(), space.positive_prior());
            let youden = |p: &[f64]| p[0] / prior + p[1] / (1.0 - prior) - 1.0;
            let half = 0.5 * youden(&space.best(&[1.0 / prior, 1.0 / (1.0 - prior)]));
            for n in -30..=30 {
                let log = 0.2 * f64::from(n);
                for pair in [room.pair(log, 1.0), room.pair(log, 0.6), room.near_best(log, 0.3)] {
                    let [one, other] = pair.unwrap();
                    for point in [one, other] {
                        assert!(space.contains(&point, 1e-9), "{point:?}");
                        assert!(youden(&point) >= half - 1e-9, "{} below {half}", youden(&point));
                    }
                    assert!(one[0] > other[0] && one[1] < other[1], "a trade: {one:?} {other:?}");
                    let ratio = (other[1] - one[1]) / (one[0] - other[0]);
                    assert!((ratio.ln() - room.clamp(log)).abs() < 1e-6, "{ratio} {log}");
                }
            }
        }
    }

    /// Against every pair of many points of the boundary.
    #[test]
    fn no_pair_is_further_apart() {
        for space in spaces() {
            let room = Plausible::of(&space).unwrap();
            let edge: Vec<[f64; 2]> = (room.corners.iter().enumerate())
                .flat_map(|(n, a)| {
                    let b = room.corners[(n + 1) % room.corners.len()];
                    (0..20).map(move |k| [0, 1].map(|c| a[c] + f64::from(k) / 20.0 * (b[c] - a[c])))
                })
                .collect();
            for log in [-1.0, 0.0, 0.7, 1.5] {
                let [one, other] = room.pair(log, 1.0).unwrap();
                let found = (one[0] - other[0]).hypot(one[1] - other[1]);
                let w = weights(log);
                for a in &edge {
                    for b in &edge {
                        let apart = (a[0] - b[0]).hypot(a[1] - b[1]);
                        let even = (value(w, *a) - value(w, *b)).abs() < 1e-4 * apart;
                        assert!(!even || apart < found + 2e-3, "{apart} {found}");
                    }
                }
            }
        }
    }
}
