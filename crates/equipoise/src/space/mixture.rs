//! The mixture of extreme points behind a feasible point.
//!
//! Wolfe's algorithm ("Finding the nearest point in a polytope", Mathematical Programming 11, 1976): it needs
//! nothing of a set but its extreme points in given directions, and expresses the nearest feasible point as a
//! mixture of at most dimension + 1 of them.

use super::Space;
use crate::linalg::{direction, dot, least_squares, norm, plus};
use crate::view::Point;
use std::convert::Infallible;

/// Turns without progress, per coordinate, after which a point counts as out of reach. Beside a corner of a law with five
/// classes more than 240 turns in 20 coordinates were seen before it went on.
const PATIENCE: usize = 20;

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

/// The mixture within `tolerance` of `target`, or `None`, known as soon as a plane keeps them further apart.
pub fn within(target: &[f64], tolerance: f64, best: impl Fn(&[f64]) -> Point) -> Option<Mixture> {
    let best = |directions: &[Vec<f64>]| Ok(vec![(directions[0].clone(), best(&directions[0]))]);
    let Ok(found): Result<_, Infallible> = all_within(&[target], tolerance, best);
    found.and_then(|mut mixtures| mixtures.pop())
}

/// The same for several targets, each of a set of its own. The extreme points of all sets are asked for together, so
/// that one pass over data answers: `best` gets a direction for each set, and returns the points with the directions
/// they are to be known by.
pub(super) fn all_within<E>(
    targets: &[&[f64]],
    tolerance: f64,
    best: impl Fn(&[Vec<f64>]) -> Result<Vec<(Vec<f64>, Point)>, E>,
) -> Result<Option<Vec<Mixture>>, E> {
    let anywhere: Vec<Vec<f64>> = targets.iter().map(|target| vec![1.0; target.len()]).collect();
    let parts = best(&anywhere)?.into_iter().zip(targets);
    let mut searches: Vec<Search> =
        parts.map(|((known_as, part), target)| Search::new(known_as, part, target)).collect();
    loop {
        let asked: Vec<Option<Vec<f64>>> =
            searches.iter().map(|search| search.ask(tolerance, PATIENCE)).collect();
        if asked.iter().all(Option::is_none) {
            break;
        }
        // Sets that are done are asked something they have answered before.
        let known = |n: usize| searches[n].mixture.directions[0].clone();
        let directions: Vec<Vec<f64>> =
            asked.iter().enumerate().map(|(n, ask)| ask.clone().unwrap_or_else(|| known(n))).collect();
        for (n, (known_as, part)) in best(&directions)?.into_iter().enumerate() {
            if let Some(asked) = &asked[n] {
                searches[n].tell_as(asked, known_as, part, targets[n]);
            }
        }
        if searches.iter().any(|search| search.at_least > tolerance) {
            break;
        }
    }
    let mixtures: Vec<Mixture> = searches.into_iter().map(|search| search.mixture).collect();
    Ok(mixtures.iter().all(|mixture| mixture.distance <= tolerance).then_some(mixtures))
}

/// Wolfe's algorithm, one extreme point at a time; the target may move between them.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub mixture: Mixture,
    /// What is missing from the mixture to the target.
    gap: Vec<f64>,
    /// How far the target is from the whole set, at least.
    at_least: f64,
    /// The difference between that and the mixture's distance some turns ago, and how many.
    milestone: f64,
    turns: usize,
}

impl Search {
    /// Starts from the extreme point in a direction.
    pub fn new(direction: Vec<f64>, part: Point, target: &[f64]) -> Self {
        let gap = plus(target, -1.0, &part);
        let distance = norm(&gap);
        let mixture = Mixture { shares: vec![1.0], directions: vec![direction], parts: vec![part], distance };
        Self { mixture, gap, at_least: 0.0, milestone: distance, turns: 0 }
    }

    /// The direction whose extreme point is wanted next; `None` once within `tolerance`, or no wiser for long.
    pub fn ask(&self, tolerance: f64, patience: usize) -> Option<Vec<f64>> {
        // Rounding ends the progress; most slow stretches before that are shorter than five turns a coordinate.
        let go_on = self.mixture.distance > tolerance && self.turns < patience * (self.gap.len() + 10);
        if go_on { direction(&self.gap) } else { None }
    }

    /// Takes in an extreme point, and settles on the mixture nearest to the target.
    pub fn tell(&mut self, direction: Vec<f64>, part: Point, target: &[f64]) {
        self.tell_as(&direction.clone(), direction, part, target);
    }

    /// The same for an extreme point that is known by another direction than the one asked.
    fn tell_as(&mut self, asked: &[f64], known_as: Vec<f64>, part: Point, target: &[f64]) {
        // All of the set lies behind the plane through its extreme point.
        self.at_least = self.at_least.max(dot(asked, &plus(target, -1.0, &part)));
        self.mixture.shares.push(0.0);
        self.mixture.directions.push(known_as);
        self.mixture.parts.push(part);
        self.gap = self.mixture.settle(target);
        self.mixture.distance = norm(&self.gap);
        let open = self.mixture.distance - self.at_least;
        if open < 0.9 * self.milestone {
            (self.milestone, self.turns) = (open, 0);
        } else {
            self.turns += 1;
        }
    }
}

impl Mixture {
    /// Moves the shares to the nearest point of the parts' hull, dropping parts that are not needed, and
    /// returns what is still missing to the target.
    fn settle(&mut self, target: &[f64]) -> Vec<f64> {
        loop {
            let (wanted, gap) = affine_minimiser(&self.parts, target);
            // How far towards the wanted shares until this one is used up.
            let room = |n: usize| {
                if self.shares[n] > 0.0 { self.shares[n] / (self.shares[n] - wanted[n]) } else { 0.0 }
            };
            let emptied = (0..wanted.len()).filter(|&n| wanted[n] <= 0.0);
            let Some(first) = emptied.min_by(|&a, &b| room(a).total_cmp(&room(b))) else {
                self.shares = wanted;
                return gap;
            };
            let step = room(first);
            for (have, want) in self.shares.iter_mut().zip(&wanted) {
                *have = (*have + step * (want - *have)).max(0.0);
            }
            self.shares.remove(first);
            self.directions.remove(first);
            self.parts.remove(first);
        }
    }
}

/// Shares (of any sign, summing to 1) whose mixture is nearest to the target, and what is missing to it.
fn affine_minimiser(parts: &[Point], target: &[f64]) -> (Vec<f64>, Vec<f64>) {
    // Relative to the part nearest to the target: where parts crowd around a target on a smooth boundary,
    // differences are exact, and a gap of 1e-12 still has digits that say where to look next.
    let gaps: Vec<Vec<f64>> = parts.iter().map(|part| plus(target, -1.0, part)).collect();
    let closer = |a: &usize, b: &usize| norm(&gaps[*a]).total_cmp(&norm(&gaps[*b]));
    let origin = (0..parts.len()).min_by(closer).unwrap_or(0);
    let others = (0..parts.len()).filter(|&n| n != origin);
    let edges: Vec<Vec<f64>> = others.map(|n| plus(&parts[n], -1.0, &parts[origin])).collect();
    let (mut shares, gap) = least_squares(&edges, &gaps[origin]);
    shares.insert(origin, 1.0 - shares.iter().sum::<f64>());
    (shares, gap)
}

/// Whether a point is within `tolerance` of a space's set.
pub(super) fn reaches<S: Space>(space: &S, point: &[f64], tolerance: f64) -> bool {
    point.len() == space.view().dimension()
        && point.iter().all(|x| x.is_finite())
        && within(point, tolerance, |direction| space.best(direction)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comes nearer until within `tolerance`, or until what is known of the distance is `enough`.
    fn approach(
        target: &[f64],
        tolerance: f64,
        best: impl Fn(&[f64]) -> Point,
        enough: impl Fn(f64, f64) -> bool,
    ) -> Mixture {
        let anywhere = vec![1.0; target.len()];
        let part = best(&anywhere);
        let mut search = Search::new(anywhere, part, target);
        while let Some(towards) = search.ask(tolerance, PATIENCE) {
            let part = best(&towards);
            search.tell(towards, part, target);
            if enough(search.mixture.distance, search.at_least) {
                break;
            }
        }
        search.mixture
    }

    /// The nearest mixture of all, also for a target out of reach.
    fn nearest(target: &[f64], tolerance: f64, best: impl Fn(&[f64]) -> Point) -> Mixture {
        approach(target, tolerance, best, |distance, at_least| at_least >= (1.0 - 1e-12) * distance)
    }

    #[test]
    fn a_point_of_a_cube_is_a_mixture_of_its_corners() {
        let corner = |d: &[f64]| d.iter().map(|x| if *x > 0.0 { 1.0 } else { 0.0 }).collect::<Vec<_>>();
        let inside = nearest(&[0.2, 0.9, 0.4, 0.7], 1e-12, corner);
        assert!(inside.distance <= 1e-12 && inside.parts.len() <= 5);
        assert!((inside.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let outside = nearest(&[0.2, 1.5, 0.4, -0.5], 1e-12, corner);
        assert!((outside.distance - 0.5_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_point_on_a_round_surface_is_found() {
        let ball = |d: &[f64]| direction(d).unwrap();
        let on = direction(&[0.2, -0.9, 0.4, 0.7, 1.0, -0.1]).unwrap();
        let found = nearest(&on, 1e-12, ball);
        assert!(found.distance <= 1e-12 && found.parts.len() <= 7);
        let beyond: Vec<f64> = on.iter().map(|x| 1.000_001 * x).collect();
        assert!((nearest(&beyond, 1e-12, ball).distance - 1e-6).abs() < 1e-12);
        assert!(within(&beyond, 0.9e-6, ball).is_none() && within(&beyond, 1.1e-6, ball).is_some());
    }
}
