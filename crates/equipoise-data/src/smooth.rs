//! A smooth boundary for two classes (Section 8.1.1).
//!
//! The boundary of a small table is a staircase: many questions would compare a classifier with itself. The thesis
//! fits the law $\eta(x) = 1/(1+e^{ax+b})$, $x \sim U[-1,1]$, whose boundary has no steps. It says that all its
//! points are feasible; they need not be, so here they are checked against the hull of the table.

use crate::boundary::Boundary;
use crate::space::between;
use equipoise::Error;
use equipoise::population::{AskError, Confusions as _, Logistic, Population};
use equipoise::space::{Binary, Polygon};

/// Thresholds at which the law and the table are compared.
const THRESHOLDS: usize = 1000;

/// A law fitted to the boundary of a two-class table.
///
/// The fit makes the squared distance between the (true positive, true negative) of the table and of the law,
/// summed over equal thresholds of the probability, as small as can be.
#[derive(Debug, Clone)]
pub struct Smooth {
    law: Logistic,
    distance: f64,
    outside: f64,
    positive_prior: f64,
    hull: Polygon,
}

impl Smooth {
    /// Fits the law to a table of two classes.
    pub fn fit<P: Population>(population: &P) -> Result<Self, AskError<P::Err>> {
        let boundary = Boundary::of(population, 0, 1).map_err(AskError::Population)?;
        let space = between(population, &boundary)?;
        let Some(hull) = space.hull() else {
            return Err(Error::Mismatch("a space without a hull".into()).into());
        };
        let seen: Vec<(f64, [f64; 2])> = thresholds()
            .map(|threshold| (threshold, boundary.at_threshold(threshold)))
            .map(|(threshold, [negative, positive])| (threshold, [positive, negative]))
            .collect();
        let prior = space.positive_prior();
        let (law, squares) = fit(&seen, prior)?;
        let beyond = |cut: usize| distance(hull, law.at_cut(cut_at(cut)));
        let outside = (0..=THRESHOLDS).map(beyond).fold(0.0, f64::max);
        let distance = (squares / THRESHOLDS as f64).sqrt();
        Ok(Self { law, distance, outside, positive_prior: prior, hull: hull.clone() })
    }

    /// The fitted law.
    pub fn law(&self) -> &Logistic {
        &self.law
    }

    /// The root of the mean squared distance between table and law at equal thresholds.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// The largest distance by which the law's boundary leaves the hull of the table: 0 if every point is feasible.
    pub fn outside(&self) -> f64 {
        self.outside
    }

    /// The law's own set, refused if its boundary leaves the hull by more than `tolerance`.
    pub fn within(&self, tolerance: f64) -> equipoise::Result<Binary> {
        if self.outside > tolerance {
            let what = format!(
                "the smooth boundary leaves what the table allows by {:.2e}, expected at most {tolerance:.2e}",
                self.outside
            );
            return Err(Error::Mismatch(what));
        }
        Ok(Binary::from_law(self.law.clone()))
    }

    /// What the law and the table both allow: smooth where the law's boundary is feasible, and feasible everywhere.
    pub fn pulled(&self) -> equipoise::Result<Binary> {
        let [positive, negative] = [self.positive_prior, 1.0 - self.positive_prior];
        let upper = (0..=THRESHOLDS).map(|cut| self.law.at_cut(cut_at(cut)));
        let law_prior = self.law.prevalence().class_priors();
        let lower = (0..=THRESHOLDS).map(|cut| {
            let [tp, tn] = self.law.at_cut(cut_at(cut));
            [law_prior[1] - tp, law_prior[0] - tn]
        });
        let smooth = Polygon::hull(upper.chain(lower).collect())?;
        let mut common = intersection(&smooth, &self.hull);
        // "Always" and "never" are classifiers whatever the law says.
        common.extend([[positive, 0.0], [0.0, negative]]);
        Binary::from_hull(self.positive_prior, Polygon::hull(common)?)
    }
}

fn thresholds() -> impl Iterator<Item = f64> {
    (0..THRESHOLDS).map(|n| (n as f64 + 0.5) / THRESHOLDS as f64)
}

fn cut_at(n: usize) -> f64 {
    -1.0 + 2.0 * n as f64 / THRESHOLDS as f64
}

/// Least squares over the slope and the place where both classes are equally likely, by descent from several starts.
fn fit(seen: &[(f64, [f64; 2])], prior: f64) -> equipoise::Result<(Logistic, f64)> {
    let law = |[slope, middle]: [f64; 2]| Logistic::with_offset(slope.exp(), -middle * slope.exp()).ok();
    let squares = |at: [f64; 2]| law(at).map_or(f64::INFINITY, |law| squares(&law, seen));
    let starts = [1.0, 5.0, 20.0, 80.0].map(|slope: f64| descend([slope.ln(), 2.0 * prior - 1.0], squares));
    let best = starts.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let found = best.and_then(|(at, squares)| law(at).map(|law| (law, squares)));
    found.ok_or_else(|| Error::Mismatch("no smooth boundary fits the table".to_owned()))
}

fn squares(law: &Logistic, seen: &[(f64, [f64; 2])]) -> f64 {
    let square = |(threshold, [tp, tn]): &(f64, [f64; 2])| {
        // Accept where the probability is at least the threshold.
        let cut = (((1.0 - threshold) / threshold).ln() - law.offset()) / law.slope();
        let [x, y] = law.at_cut(cut);
        (x - tp).powi(2) + (y - tn).powi(2)
    };
    seen.iter().map(square).sum()
}

/// The simplex search of Nelder and Mead (1965) in the plane: no derivatives, and 2 parameters only.
fn descend(start: [f64; 2], value: impl Fn([f64; 2]) -> f64) -> ([f64; 2], f64) {
    let corner = |at: [f64; 2]| (at, value(at));
    let mut corners = [start, [start[0] + 0.5, start[1]], [start[0], start[1] + 0.1]].map(corner);
    for _ in 0..400 {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [best, good, worst] = corners;
        let size = (worst.0[0] - best.0[0]).abs() + (worst.0[1] - best.0[1]).abs();
        if size < 1e-10 {
            break;
        }
        let middle = [0, 1].map(|c| 0.5 * (best.0[c] + good.0[c]));
        let along = |step: f64| corner([0, 1].map(|c| middle[c] + step * (middle[c] - worst.0[c])));
        let reflected = along(1.0);
        corners[2] = if reflected.1 < best.1 {
            let expanded = along(2.0);
            if expanded.1 < reflected.1 { expanded } else { reflected }
        } else if reflected.1 < good.1 {
            reflected
        } else {
            along(if reflected.1 < worst.1 { 0.5 } else { -0.5 })
        };
        if corners[2].1 > worst.1 {
            corners = [best.0, half_way(best.0, good.0), half_way(best.0, worst.0)].map(corner);
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners[0]
}

fn half_way(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|c| 0.5 * (a[c] + b[c]))
}

/// The distance of a point from a convex set; 0 inside.
fn distance(hull: &Polygon, point: [f64; 2]) -> f64 {
    if hull.contains(point, 0.0) {
        return 0.0;
    }
    edges(hull).map(|[a, b]| to_segment(point, a, b)).fold(f64::INFINITY, f64::min)
}

fn edges(hull: &Polygon) -> impl Iterator<Item = [[f64; 2]; 2]> {
    let corners = hull.vertices();
    (0..corners.len()).map(|n| [corners[n], corners[(n + 1) % corners.len()]])
}

fn to_segment(point: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (along, from) = ([b[0] - a[0], b[1] - a[1]], [point[0] - a[0], point[1] - a[1]]);
    let length = along[0] * along[0] + along[1] * along[1];
    let share = if length > 0.0 { (along[0] * from[0] + along[1] * from[1]) / length } else { 0.0 };
    let share = share.clamp(0.0, 1.0);
    (from[0] - share * along[0]).hypot(from[1] - share * along[1])
}

/// The corners of what two convex sets share: one is cut by the lines of the other's edges (Sutherland and Hodgman
/// 1974).
fn intersection(first: &Polygon, second: &Polygon) -> Vec<[f64; 2]> {
    let mut corners = first.vertices().to_vec();
    for [a, b] in edges(second) {
        let left = |p: [f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
        let mut kept = Vec::with_capacity(corners.len() + 1);
        for n in 0..corners.len() {
            let (here, next) = (corners[n], corners[(n + 1) % corners.len()]);
            let (at_here, at_next) = (left(here), left(next));
            if at_here >= 0.0 {
                kept.push(here);
            }
            if (at_here > 0.0 && at_next < 0.0) || (at_here < 0.0 && at_next > 0.0) {
                let share = at_here / (at_here - at_next);
                kept.push([0, 1].map(|c| here[c] + share * (next[c] - here[c])));
            }
        }
        corners = kept;
    }
    corners
}
