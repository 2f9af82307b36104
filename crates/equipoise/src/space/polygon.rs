//! A convex polygon: what finitely many classifiers and the draws between them reach in the plane.

use crate::error::{Error, Result, check};
use serde::Serialize;

/// The convex hull of points in the plane, its corners counter-clockwise from the lowest.
///
/// ```
/// use equipoise::space::Polygon;
/// let hull = Polygon::hull(vec![[0.0, 0.0], [1.0, 0.0], [0.2, 0.2], [0.0, 1.0], [0.7, 0.7]])?;
/// assert_eq!(hull.vertices(), [[0.0, 0.0], [1.0, 0.0], [0.7, 0.7], [0.0, 1.0]]);
/// assert_eq!(hull.extreme([1.0, 1.0]), [0.7, 0.7]);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Polygon {
    vertices: Vec<[f64; 2]>,
}

impl Polygon {
    /// The hull of any finite points, at least one. Points on an edge are not corners; a hull may be flat.
    ///
    /// Andrew's monotone chain (1979). The hull of a hull's corners is the same hull, to the last bit.
    pub fn hull(mut points: Vec<[f64; 2]>) -> Result<Self> {
        check::at_least("vertices", points.len(), 1, "at least 1")?;
        for (n, point) in points.iter().enumerate() {
            check::all_finite(&format!("vertices[{n}]"), point)?;
        }
        // From the lowest; among those, from the leftmost.
        points.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
        points.dedup();
        let mut vertices = half(points.iter());
        if points.len() > 1 {
            let back = half(points.iter().rev());
            vertices.pop();
            vertices.extend(&back[..back.len() - 1]);
        }
        Ok(Self { vertices })
    }

    /// The corners, counter-clockwise.
    pub fn vertices(&self) -> &[[f64; 2]] {
        &self.vertices
    }

    /// The corner with the largest weighted sum of coordinates, found by bisection over the edges.
    ///
    /// Along an edge that the weights do not care about, it is the first corner counter-clockwise.
    pub fn extreme(&self, weights: [f64; 2]) -> [f64; 2] {
        self.vertices[self.extreme_index(weights)]
    }

    /// A boundary point that moves along the edges without a stop as the weights turn.
    ///
    /// Every corner is extreme for a range of weights. In the middle of the range the point is the corner, at the ends
    /// the middle of the edge there. Questions about such points never compare a classifier with itself, and a search
    /// for the best of them ends at the best corner, in the middle of its range.
    pub fn facing(&self, weights: [f64; 2]) -> [f64; 2] {
        let corner = self.extreme(weights);
        let ([before, after], [edge_in, edge_out]) = (self.room(weights), self.edges_at(weights));
        let range = before + after;
        let share = if range > 0.0 { before / range - 0.5 } else { 0.0 };
        let edge = if share < 0.0 { edge_in } else { edge_out };
        [0, 1].map(|c| corner[c] + share * edge[c])
    }

    /// How far the weights can turn clockwise, and counter-clockwise, until another corner is extreme: two angles.
    pub fn room(&self, weights: [f64; 2]) -> [f64; 2] {
        let [normal_in, normal_out] = self.edges_at(weights).map(|[x, y]| [y, -x]);
        [turn(normal_in, weights), turn(weights, normal_out)]
    }

    /// The edges that meet at the extreme corner: into it and out of it.
    fn edges_at(&self, weights: [f64; 2]) -> [[f64; 2]; 2] {
        let (n, at) = (self.vertices.len(), self.extreme_index(weights));
        [self.edge((at + n - 1) % n), self.edge(at)]
    }

    /// Whether a point is inside or within `tolerance` of every edge's line.
    pub fn contains(&self, point: [f64; 2], tolerance: f64) -> bool {
        let n = self.vertices.len();
        let out = |at: usize| {
            let edge = self.edge(at);
            let length = edge[0].hypot(edge[1]);
            cross(edge, minus(point, self.vertices[at])) < -tolerance * length
        };
        match n {
            1 => distance(point, self.vertices[0]) <= tolerance,
            2 => !(0..2).any(out) && between(point, self.vertices[0], self.vertices[1], tolerance),
            _ => !(0..n).any(out),
        }
    }

    fn extreme_index(&self, weights: [f64; 2]) -> usize {
        // Walking counter-clockwise the sum grows while edges turn less than the weights' left normal.
        let normal = [-weights[1], weights[0]];
        let (mut low, mut high) = (0, self.vertices.len());
        while low < high {
            let middle = (low + high) / 2;
            if turns_less(self.edge(middle), normal) { low = middle + 1 } else { high = middle }
        }
        low % self.vertices.len()
    }

    /// The edge that leaves a corner.
    fn edge(&self, at: usize) -> [f64; 2] {
        minus(self.vertices[(at + 1) % self.vertices.len()], self.vertices[at])
    }
}

/// Checks that a hull of correct predictions of two classes lies within their priors and reaches the classifiers
/// that always predict one of them. Rounding of sums is allowed for.
pub(super) fn within_priors(hull: &Polygon, priors: [f64; 2]) -> Result<()> {
    const ROUNDING: f64 = 1e-9;
    for vertex in &hull.vertices {
        for c in 0..2 {
            let ok = (-ROUNDING..=priors[c] + ROUNDING).contains(&vertex[c]);
            // The hull has its own order, so the vertex is named by where it lies.
            let field = || format!("entry {c} of the vertex [{}, {}]", vertex[0], vertex[1]);
            if !ok {
                check::number(&field(), vertex[c], ok, "at least 0, at most the prior")?;
            }
        }
    }
    if [[priors[0], 0.0], [0.0, priors[1]]].iter().all(|&always| hull.contains(always, ROUNDING)) {
        return Ok(());
    }
    let what = "vertices leave out a classifier that always predicts the same class";
    Err(Error::Mismatch(what.to_owned()))
}

/// One side of the hull of sorted points, both ends included.
fn half<'a>(points: impl Iterator<Item = &'a [f64; 2]>) -> Vec<[f64; 2]> {
    let mut side: Vec<[f64; 2]> = vec![];
    for &point in points {
        while let [.., a, b] = side[..] {
            if cross(minus(b, a), minus(point, a)) > 0.0 {
                break;
            }
            side.pop();
        }
        side.push(point);
    }
    side
}

/// Whether `a` comes before `b` on the way round from the direction (1, 0), counter-clockwise.
fn turns_less(a: [f64; 2], b: [f64; 2]) -> bool {
    let below = |d: [f64; 2]| d[1] < 0.0 || (d[1] == 0.0 && d[0] < 0.0);
    match (below(a), below(b)) {
        (false, true) => true,
        (true, false) => false,
        _ => cross(a, b) > 0.0,
    }
}

/// The angle from one direction to another, counter-clockwise; rounding does not make it negative.
fn turn(from: [f64; 2], to: [f64; 2]) -> f64 {
    let dot = from[0] * to[0] + from[1] * to[1];
    cross(from, to).max(0.0).atan2(dot)
}

fn between(point: [f64; 2], a: [f64; 2], b: [f64; 2], tolerance: f64) -> bool {
    (0..2).all(|c| point[c] >= a[c].min(b[c]) - tolerance && point[c] <= a[c].max(b[c]) + tolerance)
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// Points on a grid (many in line) from a simple generator.
    fn points(seed: u64, count: usize) -> Vec<[f64; 2]> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 9) as f64 / 8.0
        };
        (0..count).map(|_| [next(), next()]).collect()
    }

    #[test]
    fn no_point_beats_the_extreme_corner_in_any_direction() -> Result<()> {
        for seed in 0..200 {
            let points = points(seed, 1 + seed as usize % 12);
            let hull = Polygon::hull(points.clone())?;
            for step in 0..64 {
                let (sin, cos) = (TAU * f64::from(step) / 64.0).sin_cos();
                let value = |p: &[f64; 2]| cos * p[0] + sin * p[1];
                let best = points.iter().map(value).fold(f64::MIN, f64::max);
                let found = value(&hull.extreme([cos, sin]));
                assert!((found - best).abs() < 1e-12, "{points:?} {step}: {found} {best}");
            }
        }
        Ok(())
    }

    #[test]
    fn the_hull_of_a_hull_is_the_same_hull() -> Result<()> {
        for seed in 0..200 {
            let points = points(seed, 1 + seed as usize % 20);
            let hull = Polygon::hull(points.clone())?;
            assert_eq!(Polygon::hull(hull.vertices().to_vec())?, hull);
            assert!(points.iter().all(|&point| hull.contains(point, 1e-12)));
            assert!(!hull.contains([1.5, 0.5], 1e-3));
        }
        Ok(())
    }

    #[test]
    fn points_faced_go_round_the_boundary_once() -> Result<()> {
        for seed in 0..100 {
            let hull = Polygon::hull(points(seed, 3 + seed as usize % 12))?;
            let n = hull.vertices().len();
            let steps = 5000;
            let faced = |step: usize| {
                let (sin, cos) = (TAU * step as f64 / steps as f64).sin_cos();
                hull.facing([cos, sin])
            };
            let walked: f64 = (0..steps).map(|step| distance(faced(step), faced(step + 1))).sum();
            let around: f64 = (0..n).map(|at| hull.edge(at)).map(|edge| edge[0].hypot(edge[1])).sum();
            // Corners between two steps are cut.
            assert!(walked <= around + 1e-9 && walked > 0.98 * around, "{seed}: {walked} {around}");
            assert!((0..steps).all(|step| hull.contains(faced(step), 1e-12)));
        }
        Ok(())
    }

    #[test]
    fn a_corner_of_a_square_is_best_for_a_quarter_turn() -> Result<()> {
        let square = Polygon::hull(vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])?;
        let (sin, cos) = (0.3_f64).sin_cos();
        let [before, after] = square.room([cos, sin]);
        assert!((before - 0.3).abs() < 1e-12 && (before + after - TAU / 4.0).abs() < 1e-12);
        assert_eq!(square.facing([1.0, 1.0]), [1.0, 1.0]);
        Ok(())
    }

    #[test]
    fn points_that_are_none_are_named() {
        let says = |points| Polygon::hull(points).unwrap_err().to_string();
        assert_eq!(says(vec![]), "vertices is 0, expected at least 1");
        assert_eq!(says(vec![[0.0, f64::NAN]]), "vertices[0][1] is NaN, expected a finite number");
    }
}
