//! What classifiers that predict two classes reach on a table: thresholds of a sorted ratio.
//!
//! With two classes these are all there are. With more they are the faces of the set of diagonals
//! (Proposition 4.2). After sorting, the point of any pair of weights takes one binary search.

use crate::steps::Steps;
use equipoise::population::{Population, Profile, Score, accepts};
use equipoise::space::Polygon;
use rayon::prelude::*;

/// The rows of two classes by rising $\eta_b / (\eta_a + \eta_b)$, and what each threshold gets right.
///
/// ```
/// use equipoise_data::{Boundary, Sample, Table};
/// let classes = vec!["no".to_owned(), "yes".to_owned()];
/// let scores = vec![0.1, 0.3, 0.6, 0.8];
/// let rest = scores.iter().map(|p| 1.0 - p).collect();
/// let sample = Sample::new(Table::new(classes, vec![0, 1, 0, 1], vec![rest, scores])?.data)?;
/// let Ok(boundary) = Boundary::of(&sample, 0, 1);
/// assert_eq!(boundary.at([0.5, 0.5]), [0.25, 0.25]); // one "no" and one "yes" are right
/// assert_eq!(boundary.hull()?.extreme([1.0, 1.1]), [0.25, 0.5]); // a threshold of 0.2 is better
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Boundary {
    steps: Steps,
    total: f64,
}

impl Boundary {
    /// What thresholds between two different classes of a population reach; rows of others are wrong whichever of the two is
    /// predicted.
    pub fn of<P: Population>(population: &P, a: usize, b: usize) -> Result<Self, P::Err> {
        Ok(Self::new(&population.score_profile(Score::between(a, b, population.classes()))?))
    }

    /// The same from the scores of the second class.
    pub fn new(profile: &Profile) -> Self {
        Self { steps: Steps::new(profile), total: profile.total() }
    }

    /// Correct predictions (of `a`, of `b`) when `a` is predicted where $w_a \eta_a \ge w_b \eta_b$.
    ///
    /// It is the best point for these weights where the probabilities are those of the labels; what is best on the
    /// table itself is the corner of the [`hull`](Self::hull).
    pub fn at(&self, weights: [f64; 2]) -> [f64; 2] {
        let [wa, wb] = weights;
        let is_a = |share: f64| wa * (1.0 - share) >= wb * share;
        if wa + wb >= 0.0 {
            self.first_below(self.steps.while_score(is_a))
        } else {
            let [a, b] = self.steps.first(self.steps.while_score(|share| !is_a(share)));
            self.scaled([self.steps.total()[0] - a, b])
        }
    }

    /// Correct predictions when `b` is predicted from this share on: $\eta_b / (\eta_a + \eta_b) \ge$ `threshold`.
    pub fn at_threshold(&self, threshold: f64) -> [f64; 2] {
        self.first_below(self.steps.while_score(|share| !accepts(share, threshold)))
    }

    /// All that thresholds, in either direction, and draws between them reach.
    pub fn hull(&self) -> equipoise::Result<Polygon> {
        const CHUNK: usize = 1 << 18;
        let chunks = (0..=self.steps.len() / CHUNK).into_par_iter();
        let corners: Vec<[f64; 2]> = chunks
            .flat_map_iter(|n| self.corners(n * CHUNK..((n + 1) * CHUNK).min(self.steps.len() + 1)))
            .collect();
        let [a, b] = self.scaled(self.steps.total());
        let turned = corners.iter().map(|corner| [a - corner[0], b - corner[1]]);
        Polygon::hull(turned.chain(corners.iter().copied()).collect())
    }

    /// Corners of the hull of some thresholds: few, however many thresholds there are.
    fn corners(&self, thresholds: std::ops::Range<usize>) -> Vec<[f64; 2]> {
        let (mut upper, mut lower) = (vec![], vec![]);
        for below in thresholds {
            let point = self.first_below(below);
            extend(&mut upper, point, -1.0);
            extend(&mut lower, point, 1.0);
        }
        upper.extend(lower);
        upper
    }

    /// The lowest scores are predicted to be `a`, the others `b`.
    fn first_below(&self, scores: usize) -> [f64; 2] {
        let [a, b] = self.steps.first(scores);
        self.scaled([a, self.steps.total()[1] - b])
    }

    fn scaled(&self, point: [f64; 2]) -> [f64; 2] {
        point.map(|x| (x / self.total).max(0.0))
    }
}

/// Adds the next point, from left to right, to one side of a hull: it turns to the given side at every corner.
fn extend(side: &mut Vec<[f64; 2]>, point: [f64; 2], turn: f64) {
    while let [.., a, b] = side[..] {
        let cross = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]);
        if cross * turn > 0.0 {
            break;
        }
        side.pop();
    }
    side.push(point);
}
