//! In which direction does the metric grow? A search for the slope of a linear function on a ball.
//!
//! Every procedure for linear, group-fair, quadratic and polynomial metrics comes down to slopes. Two searches:
//!
//! * **paper** (Algorithm 4.2): points on the surface of the ball, one angle at a time, by interval search. The
//!   best value of angle j depends only on later angles, so one *backward* sweep is exact; the printed forward
//!   order needs several cycles (and more than the claimed two from q = 12 on).
//! * **antipodal** (ours): compare $z + ru$ with $z - ru$, u tangent to the angle. The answer is the sign of
//!   $\langle\nabla\phi, u\rangle$; even-order terms cancel, so curvature causes no bias and one question halves an
//!   angle.

use super::interval::{Halving, Interval, checked_tolerance};
use crate::ask::{Oracle, Query};
use crate::document::Object;
use crate::error::{Result, check};
use crate::linalg::{plus, scaled};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The order in which a cycle visits the angles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// First angle first, as printed.
    Forward,
    /// Last angle first: exact in one cycle for a linear metric.
    Backward,
}

/// How a slope is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Method {
    /// The papers' coordinate-wise interval search on the surface of the ball.
    Paper {
        /// How often every angle is searched.
        cycles: usize,
        /// In which order.
        order: Order,
        /// Comparisons per halving.
        queries_per_halving: Halving,
    },
    /// Bisection on antipodal pairs.
    Antipodal,
}

/// A slope search: its method, and the angle it stops at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlopeSearch {
    #[serde(flatten)]
    method: Method,
    tolerance: f64,
}

/// What is known of the signs of the slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Signs<'a> {
    /// Nothing.
    Unknown,
    /// +1 or -1 for every coordinate.
    Known(&'a [f64]),
}

/// A ball: where a slope is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball<'a> {
    /// Its centre.
    pub centre: &'a [f64],
    /// Its radius.
    pub radius: f64,
}

impl SlopeSearch {
    /// The papers' search, one angle at a time with this many cycles and comparisons per halving: every angle is narrowed to
    /// `tolerance` radians.
    pub fn paper(cycles: usize, queries_per_halving: Halving, tolerance: f64) -> Result<Self> {
        Self::new(Method::Paper { cycles, order: Order::Forward, queries_per_halving }, tolerance)
    }

    /// The same from the last angle to the first.
    pub fn backward(cycles: usize, queries_per_halving: Halving, tolerance: f64) -> Result<Self> {
        Self::new(Method::Paper { cycles, order: Order::Backward, queries_per_halving }, tolerance)
    }

    /// Bisection on antipodal pairs.
    pub fn antipodal(tolerance: f64) -> Result<Self> {
        Self::new(Method::Antipodal, tolerance)
    }

    fn new(method: Method, tolerance: f64) -> Result<Self> {
        checked_tolerance(tolerance)?;
        if let Method::Paper { cycles, .. } = method {
            let ok = (1..=100).contains(&cycles);
            check::number("cycles", cycles as f64, ok, "a whole number from 1 to 100")?;
        }
        Ok(Self { method, tolerance })
    }

    /// How it searches.
    pub(super) fn method(&self) -> Method {
        self.method
    }

    /// Where it stops.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    pub(crate) fn read(object: &mut Object, default: Self) -> Result<Self> {
        let usual = if default.method == Method::Antipodal { "antipodal" } else { "paper" };
        let word = object.word("method", &METHODS, usual)?;
        let method = match (word.as_str(), default.method) {
            ("antipodal", _) => Method::Antipodal,
            (_, Method::Antipodal) => {
                Method::Paper { cycles: 2, order: Order::Forward, queries_per_halving: Halving::Four }
            }
            (_, paper) => paper,
        };
        let method = match method {
            Method::Antipodal => Method::Antipodal,
            Method::Paper { cycles, order, queries_per_halving } => Method::Paper {
                cycles: object.or("cycles", cycles)?,
                order: object.or("order", order)?,
                queries_per_halving: object.or("queries_per_halving", queries_per_halving)?,
            },
        };
        let tolerance = object.or("tolerance", default.tolerance)?;
        crate::document::at(&object.place(), Self::new(method, tolerance))
    }

    /// The unit direction in which points of a ball are liked better, as far as the oracle's answers tell.
    pub fn slope<O: Oracle>(&self, centre: &[f64], radius: f64, oracle: &mut O) -> Result<Vec<f64>, O::Err> {
        self.run(Ball { centre, radius }, Signs::Unknown, oracle)
    }

    /// The same with what is known of the signs.
    pub(crate) fn run<O: Oracle>(
        &self,
        ball: Ball<'_>,
        signs: Signs<'_>,
        oracle: &mut O,
    ) -> Result<Vec<f64>, O::Err> {
        match self.method {
            Method::Antipodal => self.bisect(ball, signs, oracle),
            Method::Paper { cycles, order, queries_per_halving } => {
                let found;
                let signs = match signs {
                    Signs::Known(signs) => signs,
                    Signs::Unknown => {
                        found = orthant(ball, oracle)?;
                        &found
                    }
                };
                self.sweep(ball, signs, cycles, order, queries_per_halving, oracle)
            }
        }
    }

    /// Algorithm 4.2.
    fn sweep<O: Oracle>(
        &self,
        ball: Ball<'_>,
        signs: &[f64],
        cycles: usize,
        order: Order,
        halving: Halving,
        oracle: &mut O,
    ) -> Result<Vec<f64>, O::Err> {
        // The start the papers leave open: quadrant midpoints. Backward, the first search of an angle does not depend
        // on earlier ones; at right angles they leave the later coordinates their full length.
        let start = match order {
            Order::Forward => FRAC_PI_4,
            Order::Backward => FRAC_PI_2,
        };
        let mut angles = vec![start; signs.len() - 1];
        for turn in 0..cycles * angles.len() {
            let j = match order {
                Order::Forward => turn % angles.len(),
                Order::Backward => angles.len() - 1 - turn % angles.len(),
            };
            let line = Line::along(&angles, j, signs);
            let point = |angle: f64| plus(ball.centre, ball.radius, &line.at(angle));
            let found = Interval::new(0.0, FRAC_PI_2).search(self.tolerance, halving, |x, y| {
                Ok(oracle.prefer(&Query::new(point(x), point(y)))?.preference.is_first())
            })?;
            angles[j] = found.middle();
        }
        Ok(direction_of(&angles, signs))
    }

    fn bisect<O: Oracle>(
        &self,
        ball: Ball<'_>,
        signs: Signs<'_>,
        oracle: &mut O,
    ) -> Result<Vec<f64>, O::Err> {
        let q = ball.centre.len();
        let mut grows_along = |tangent: &[f64]| {
            let ends = [ball.radius, -ball.radius].map(|r| plus(ball.centre, r, tangent));
            let [first, second] = ends;
            Ok(oracle.prefer(&Query::new(first, second))?.preference.is_first())
        };
        // The slope within the coordinates seen so far, last ones first.
        let mut tail = axis(q, q - 1);
        for j in (0..q - 1).rev() {
            let range = match signs {
                Signs::Known(signs) => {
                    if j == q - 2 {
                        tail = scaled(&tail, signs[q - 1]);
                    }
                    Interval::new(0.0, FRAC_PI_2)
                }
                Signs::Unknown if j == q - 2 => quadrant(grows_along(&axis(q, j))?, grows_along(&tail)?),
                Signs::Unknown => Interval::new(0.0, PI),
            };
            let head = match signs {
                Signs::Known(signs) => scaled(&axis(q, j), signs[j]),
                Signs::Unknown => axis(q, j),
            };
            let found = range.bisect(self.tolerance, |angle| {
                let (sin, cos) = angle.sin_cos();
                grows_along(&plus(&scaled(&head, -sin), cos, &tail))
            })?;
            let (sin, cos) = found.middle().sin_cos();
            tail = plus(&scaled(&head, cos), sin, &tail);
        }
        Ok(tail)
    }
}

/// The words of a plan document for how slopes are searched.
pub(super) const METHODS: [&str; 3] = ["paper", "antipodal", "adaptive"];

/// q questions that tell the sign of every coordinate of the slope (UAI 2022 appendix, Algorithm 2).
fn orthant<O: Oracle>(ball: Ball<'_>, oracle: &mut O) -> Result<Vec<f64>, O::Err> {
    let q = ball.centre.len();
    let all_positive = vec![1.0 / (q as f64).sqrt(); q];
    let mut signs = vec![1.0; q];
    for i in 0..q {
        let mut flipped = all_positive.clone();
        flipped[i] = -flipped[i];
        let point = |direction: &[f64]| plus(ball.centre, ball.radius, direction);
        let query = Query::new(point(&all_positive), point(&flipped));
        if !oracle.prefer(&query)?.preference.is_first() {
            signs[i] = -1.0;
        }
    }
    Ok(signs)
}

fn axis(q: usize, i: usize) -> Vec<f64> {
    (0..q).map(|n| if n == i { 1.0 } else { 0.0 }).collect()
}

fn quadrant(cosine_positive: bool, sine_positive: bool) -> Interval {
    let low = match (cosine_positive, sine_positive) {
        (true, true) => 0.0,
        (false, true) => FRAC_PI_2,
        (false, false) => PI,
        (true, false) => PI + FRAC_PI_2,
    };
    Interval::new(low, low + FRAC_PI_2)
}

/// $a_i = s_i \prod_{j<i} \sin\theta_j \cos\theta_i$, the last one a product of sines (Section 4.2.2).
fn direction_of(angles: &[f64], signs: &[f64]) -> Vec<f64> {
    let mut product = 1.0;
    let mut direction = Vec::with_capacity(signs.len());
    for (angle, sign) in angles.iter().zip(signs) {
        direction.push(sign * product * angle.cos());
        product *= angle.sin();
    }
    direction.push(signs[angles.len()] * product);
    direction
}

/// The directions reached by moving one angle: before it nothing changes, after it all scales together.
struct Line {
    before: Vec<f64>,
    at: f64,
    after: Vec<f64>,
}

impl Line {
    fn along(angles: &[f64], j: usize, signs: &[f64]) -> Self {
        let mut level = angles.to_vec();
        level[j] = 0.0;
        let start = direction_of(&level, signs);
        level[j] = FRAC_PI_2;
        let end = direction_of(&level, signs);
        Self { before: start[..j].to_vec(), at: start[j], after: end[j + 1..].to_vec() }
    }

    fn at(&self, angle: f64) -> Vec<f64> {
        let (sin, cos) = angle.sin_cos();
        let mut direction = Vec::with_capacity(self.before.len() + 1 + self.after.len());
        direction.extend_from_slice(&self.before);
        direction.push(self.at * cos);
        direction.extend(self.after.iter().map(|x| x * sin));
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Counting, Preference};
    use crate::linalg::{angle, direction, dot};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn search(search: SlopeSearch, slope: &[f64], signs: Signs<'_>) -> (f64, usize) {
        let centre = vec![0.3; slope.len()];
        let answer = |query: &Query| match dot(slope, &query.first) > dot(slope, &query.second) {
            true => Preference::First,
            false => Preference::Second,
        };
        let mut oracle = Counting::new(answer);
        let Ok(found) = search.run(Ball { centre: &centre, radius: 0.1 }, signs, &mut oracle);
        (angle(&found, slope), oracle.asked())
    }

    fn random_slope(q: usize, signed: bool, seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let low = if signed { -1.0 } else { 0.0 };
        direction(&(0..q).map(|_| random.random_range(low..1.0)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_backward_sweep_and_the_antipodal_search_find_any_slope() {
        for q in [2, 3, 6, 12, 20] {
            for seed in 0..20 {
                let slope = random_slope(q, true, seed);
                let backward =
                    Method::Paper { cycles: 1, order: Order::Backward, queries_per_halving: Halving::Four };
                for method in [backward, Method::Antipodal] {
                    let found = search(SlopeSearch::new(method, 1e-4).unwrap(), &slope, Signs::Unknown);
                    assert!(found.0 < 1e-4 * (q as f64).sqrt(), "{method:?} q {q} seed {seed}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn question_counts_are_the_published_ones() {
        let paper = SlopeSearch::paper(2, Halving::Four, 0.01).unwrap();
        for (q, expected) in [(6, 320), (12, 704)] {
            let slope = random_slope(q, false, 5);
            assert_eq!(search(paper, &slope, Signs::Known(&vec![1.0; q])).1, expected);
        }
        // 2 + ceil(log2(pi / 2 eps)) + (q - 2) ceil(log2(pi / eps))
        let antipodal = SlopeSearch::antipodal(1e-3).unwrap();
        assert_eq!(search(antipodal, &random_slope(6, true, 5), Signs::Unknown).1, 2 + 11 + 4 * 12);
        let known = search(antipodal, &random_slope(6, false, 5), Signs::Known(&[1.0; 6]));
        assert!(known.1 == 5 * 11 && known.0 < 2e-3, "{known:?}");
    }
}
