//! Quadratic metrics: $\phi = \langle a, r\rangle + \tfrac12 r^T B r$ (Algorithm 6.1).
//!
//! Around o the metric is $\langle d, r-o\rangle + \tfrac12 (r-o)^T B (r-o)$ with $d = a + Bo$. Slopes at o and at
//! $o \pm h e_j$ are $d$ and $d \pm hB e_j$, each known up to its length only. The lengths follow from the symmetry of
//! B and from $+$ and $-$ slopes averaging to d.

use super::interval::Halving;
use super::linear::beyond_reach;
use super::slope::{Ball, Signs, SlopeSearch};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::document::Object;
use crate::error::{Result, check};
use crate::linalg::{Matrix, Singular, applied, dot, plus, scaled, symmetric, zeros};
use crate::metric::{Metric, Sense};
use crate::space::{Space, Sphere};
use serde::{Deserialize, Serialize};

/// How d and B are put together from slopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reconstruction {
    /// Ours: all lengths at once, as the smallest singular vector of the symmetry conditions. No division.
    Scales,
    /// Eq. (6.18), corrected: ratios to the first coordinate.
    ///
    /// # Departures
    /// $hB_{ij}/d_1 = F_{ij}(1 + F_{j1} - F_{j0}) - F_{i0} + F_{ij}F_{j1}\beta$; the print has stray and missing factors.
    Formula,
}

/// Elicits a quadratic metric, a cost of error rates.
pub type Quadratic = FromSlopes<Sphere>;

/// A plan that puts a metric together from slopes in small balls: [`Quadratic`], and its sibling for groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FromSlopes<S> {
    pub(crate) space: S,
    #[serde(flatten)]
    pub(super) search: SlopeSearch,
    inner_radius: f64,
    reconstruction: Reconstruction,
}

/// A space with a ball in it for every group.
pub trait Round {
    /// That ball.
    fn of_one_group(&self) -> Sphere;
}

impl Round for Sphere {
    fn of_one_group(&self) -> Sphere {
        self.clone()
    }
}

impl<S: Round> FromSlopes<S> {
    /// The UAI search (three cycles, at most three questions per halving) in balls a tenth of the space's, with our
    /// reconstruction.
    pub fn new(space: S, tolerance: f64) -> Result<Self> {
        let search = SlopeSearch::paper(3, Halving::Three, tolerance)?;
        let inner_radius = 0.1 * space.of_one_group().radius();
        Ok(Self { space, search, inner_radius, reconstruction: Reconstruction::Scales })
    }

    /// Another slope search.
    pub fn search(self, search: SlopeSearch) -> Self {
        Self { search, ..self }
    }

    /// $\varrho$: the radius of the balls in which slopes are searched.
    pub fn inner_radius(self, inner_radius: f64) -> Result<Self> {
        let inner_radius = checked_inner_radius(inner_radius, self.space.of_one_group().radius())?;
        Ok(Self { inner_radius, ..self })
    }

    /// Slopes are put together by the formula of the paper, corrected.
    pub fn by_formula(self) -> Self {
        Self { reconstruction: Reconstruction::Formula, ..self }
    }

    pub(crate) fn read(mut object: Object, space: S) -> Result<Self> {
        let mut plan = Self::new(space, 0.01)?;
        plan.search = SlopeSearch::read(&mut object, plan.search)?;
        plan = object.change("inner_radius", plan, Self::inner_radius)?;
        plan.reconstruction = object.or("reconstruction", plan.reconstruction)?;
        object.finish()?;
        Ok(plan)
    }

    /// d and B around the centre of the ball that the oracle is asked about.
    pub(super) fn shape<O: Oracle>(
        &self,
        findings: &mut Vec<Finding>,
        oracle: &mut O,
    ) -> Result<Shape, O::Err> {
        let ball = self.space.of_one_group();
        let around =
            Around { centre: &ball.centre(), radius: ball.radius(), inner_radius: self.inner_radius };
        let slopes = around.slopes(&self.search, self.reconstruction, oracle)?;
        Ok(slopes.reconstruct(self.reconstruction, self.search.tolerance(), findings))
    }
}

pub(super) fn checked_inner_radius(inner: f64, outer: f64) -> Result<f64> {
    let ok = inner > 0.0 && inner < outer;
    check::number("inner_radius", inner, ok, "a number greater than 0 and less than the space's radius")
}

impl Plan for Quadratic {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let o = self.space.centre();
        let mut findings = beyond_reach(&self.space);
        let Shape { linear, matrix } = self.shape(&mut findings, oracle)?;
        // a = d - Bo.
        let linear = plus(&linear, -1.0, &applied(&matrix, &o));
        let metric =
            Metric::quadratic(self.space.view(), Sense::Cost, linear, matrix).expect("d is not zero");
        Ok(Outcome { metric: metric.normal_form(), findings })
    }
}

/// A ball and the smaller balls inside it where slopes are searched.
pub(super) struct Around<'a> {
    pub centre: &'a [f64],
    pub radius: f64,
    pub inner_radius: f64,
}

impl Around<'_> {
    /// h: how far the outer centres are from the middle.
    pub fn step(&self) -> f64 {
        self.radius - self.inner_radius
    }

    /// The unit slope of the cost at `centre + offset`.
    pub fn slope<O: Oracle>(
        &self,
        offset: &[f64],
        search: &SlopeSearch,
        oracle: &mut O,
    ) -> Result<Vec<f64>, O::Err> {
        let centre = plus(self.centre, 1.0, offset);
        let ball = Ball { centre: &centre, radius: self.inner_radius };
        Ok(scaled(&search.run(ball, Signs::Unknown, oracle)?, -1.0))
    }

    /// Lines 2 to 6 of Algorithm 6.1; our reconstruction uses the slope at every $o - he_j$, the formula the first.
    pub fn slopes<O: Oracle>(
        &self,
        search: &SlopeSearch,
        reconstruction: Reconstruction,
        oracle: &mut O,
    ) -> Result<LocalSlopes, O::Err> {
        let q = self.centre.len();
        let offset = |j: usize, sign: f64| {
            let mut offset = vec![0.0; q];
            offset[j] = sign * self.step();
            offset
        };
        let middle = self.slope(&vec![0.0; q], search, oracle)?;
        let mut plus_slopes = vec![];
        for j in 0..q {
            plus_slopes.push(self.slope(&offset(j, 1.0), search, oracle)?);
        }
        let mut minus_slopes = vec![];
        let minus_count = if reconstruction == Reconstruction::Scales { q } else { 1 };
        for j in 0..minus_count {
            minus_slopes.push(self.slope(&offset(j, -1.0), search, oracle)?);
        }
        Ok(LocalSlopes { step: self.step(), middle, plus: plus_slopes, minus: minus_slopes })
    }
}

/// Slopes of a quadratic function at o and at $o \pm h e_j$; their lengths mean nothing.
#[derive(Debug, Clone)]
pub struct LocalSlopes {
    /// h.
    pub step: f64,
    /// At o.
    pub middle: Vec<f64>,
    /// At $o + h e_j$.
    pub plus: Vec<Vec<f64>>,
    /// At $o - h e_j$; possibly only for the first few j.
    pub minus: Vec<Vec<f64>>,
}

/// The quadratic function $\langle d, x\rangle + \tfrac12 x^T B x$ with $\|d\| = 1$.
#[derive(Debug, Clone)]
pub struct Shape {
    /// d.
    pub linear: Vec<f64>,
    /// B.
    pub matrix: Matrix,
}

impl LocalSlopes {
    /// d and B; `resolution` is how finely the slopes are known.
    pub fn reconstruct(&self, how: Reconstruction, resolution: f64, findings: &mut Vec<Finding>) -> Shape {
        let matrix = match how {
            Reconstruction::Scales => self.by_scales(resolution, findings),
            Reconstruction::Formula => self.formula(),
        };
        let finite = matrix.iter().flatten().all(|b| b.is_finite());
        let matrix = if finite {
            symmetric(&matrix)
        } else {
            let what = "the matrix has no finite value; set to 0".to_owned();
            findings.push(Finding::Inconsistent { what });
            zeros(self.middle.len())
        };
        Shape { linear: self.middle.clone(), matrix }
    }

    /// Unknown lengths c0, c_j, c_j^- of all slopes: $d = c_0 f_0$ and $d \pm hBe_j = c^\pm_j f^\pm_j$.
    fn by_scales(&self, resolution: f64, findings: &mut Vec<Finding>) -> Matrix {
        let q = self.middle.len();
        let columns = 1 + q + self.minus.len();
        let (f0, f) = (&self.middle, &self.plus);
        let mut rows = vec![];
        for i in 0..q {
            for j in i + 1..q {
                // Symmetry: c_j f_ij - c_i f_ji = c_0 (f_i0 - f_j0).
                let mut row = vec![0.0; columns];
                row[1 + j] = f[j][i];
                row[1 + i] = -f[i][j];
                row[0] = -(f0[i] - f0[j]);
                rows.push(row);
            }
        }
        for (j, minus) in self.minus.iter().enumerate() {
            for i in 0..q {
                // Both sides average to the middle: c_j f_j + c_j^- f_j^- = 2 c_0 f_0.
                let mut row = vec![0.0; columns];
                row[1 + j] = f[j][i];
                row[1 + q + j] = minus[i];
                row[0] = -2.0 * f0[i];
                rows.push(row);
            }
        }
        let system = Singular::of(&rows, columns);
        let conditioning = system.values[columns - 2] / system.values[0];
        let lengths = if conditioning > resolution.max(1e-9) {
            let smallest = &system.vectors[columns - 1];
            scaled(smallest, 1.0 / smallest[0])
        } else {
            // Two or more solutions: the one with the smallest matrix.
            findings.push(Finding::OrdinallyLinear { conditioning });
            self.smallest_matrix(&rows, columns, resolution)
        };
        (0..q).map(|i| (0..q).map(|j| (lengths[1 + j] * f[j][i] - f0[i]) / self.step).collect()).collect()
    }

    /// Solves for lengths with $c_0 = 1$, staying as close as the equations allow to lengths that make B small.
    fn smallest_matrix(&self, rows: &[Vec<f64>], columns: usize, resolution: f64) -> Vec<f64> {
        // c_j = <f_j, f_0> makes column j of B as small as it can be.
        let near = |slopes: &[Vec<f64>]| slopes.iter().map(|f| dot(f, &self.middle)).collect::<Vec<_>>();
        let start = [vec![1.0], near(&self.plus), near(&self.minus)].concat();
        let right: Vec<f64> = rows.iter().map(|row| -dot(row, &start)).collect();
        let tails: Vec<Vec<f64>> = rows.iter().map(|row| row[1..].to_vec()).collect();
        let step = Singular::of(&tails, columns - 1).solve(&right, resolution.max(1e-9));
        [vec![1.0], plus(&start[1..], 1.0, &step)].concat()
    }

    /// Eq. (6.18), corrected, with $d_1 = f_{10}$ so that $d = f_0$ keeps its sign.
    fn formula(&self) -> Matrix {
        let q = self.middle.len();
        let ratio = |f: &[f64], i: usize| f[i] / f[0];
        let (f0, f, f1_minus) = (&self.middle, &self.plus, &self.minus[0]);
        let (minus21, plus21, zero21) = (ratio(f1_minus, 1), ratio(&f[0], 1), ratio(f0, 1));
        let beta = (minus21 + plus21 - 2.0 * zero21) / (minus21 - plus21);
        let entry = |i: usize, j: usize| {
            let (f_ij, f_j1) = (ratio(&f[j], i), ratio(&f[0], j));
            let scaled = f_ij * (1.0 + f_j1 - ratio(f0, j)) - ratio(f0, i) + f_ij * f_j1 * beta;
            scaled * f0[0] / self.step
        };
        (0..q).map(|i| (0..q).map(|j| entry(i, j)).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{direction, norm};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn random_shape(q: usize, seed: u64) -> (Vec<f64>, Matrix) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let linear = direction(&(0..q).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<_>>()).unwrap();
        let raw: Matrix = (0..q).map(|_| (0..q).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        (linear, symmetric(&raw))
    }

    fn exact_slopes(linear: &[f64], matrix: &Matrix, step: f64) -> LocalSlopes {
        let at = |j: usize, sign: f64| {
            let slope: Vec<f64> = (0..linear.len()).map(|i| linear[i] + sign * step * matrix[i][j]).collect();
            direction(&slope).unwrap()
        };
        let q = linear.len();
        LocalSlopes {
            step,
            middle: linear.to_vec(),
            plus: (0..q).map(|j| at(j, 1.0)).collect(),
            minus: (0..q).map(|j| at(j, -1.0)).collect(),
        }
    }

    #[test]
    fn exact_slopes_give_the_exact_matrix() {
        for q in [2, 3, 6, 12, 20] {
            for seed in 0..5 {
                let (linear, matrix) = random_shape(q, seed);
                let slopes = exact_slopes(&linear, &matrix, 0.18);
                for how in [Reconstruction::Scales, Reconstruction::Formula] {
                    let mut findings = vec![];
                    let shape = slopes.reconstruct(how, 1e-12, &mut findings);
                    let error = norm(&plus(&shape.matrix.concat(), -1.0, &matrix.concat()));
                    assert!(error < 1e-9, "{how:?} q {q} seed {seed}: {error}");
                    assert!(findings.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_matrix_along_the_slope_is_reported_and_left_out() {
        let (linear, _) = random_shape(6, 3);
        let outer: Matrix = linear.iter().map(|a| scaled(&linear, 0.7 * a)).collect();
        let mut findings = vec![];
        let slopes = exact_slopes(&linear, &outer, 0.18);
        let shape = slopes.reconstruct(Reconstruction::Scales, 1e-6, &mut findings);
        assert!(matches!(findings[..], [Finding::OrdinallyLinear { .. }]));
        assert!(norm(&shape.matrix.concat()) < 1e-6);
    }
}
