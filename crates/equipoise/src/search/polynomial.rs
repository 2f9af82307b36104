//! Polynomial metrics of any degree, from the slopes at many points at once.
//!
//! # Departures
//! Section 6.6 elicits a polynomial by recursion over quadratic approximations, each with its own bias. We pool: the
//! gradient at every centre z is linear in the unknown coefficients and must be parallel to the slope f found there,
//! $(I - ff^T)\nabla\phi(z) = 0$. The coefficients are the null vector of all these equations; with exact slopes it is
//! exact.

use super::interval::Halving;
use super::linear::beyond_reach;
use super::quadratic::{Around, checked_inner_radius};
use super::slope::SlopeSearch;
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::document::Object;
use crate::error::{Result, check};
use crate::linalg::{Singular, dot, norm, plus, scaled};
use crate::metric::{self, Family, Metric, Sense, factorial};
use crate::space::{Space, Sphere};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Elicits a polynomial metric, a cost of error rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Polynomial {
    pub(crate) space: Sphere,
    #[serde(flatten)]
    search: SlopeSearch,
    degree: usize,
    inner_radius: f64,
    seed: u64,
}

impl Polynomial {
    /// Antipodal slopes in balls a tenth of the space's.
    pub fn new(space: Sphere, degree: usize, tolerance: f64) -> Result<Self> {
        let search = SlopeSearch::antipodal(tolerance)?;
        check::number("degree", degree as f64, (1..=20).contains(&degree), "a whole number from 1 to 20")?;
        // Unknown coefficients: all ways to pick up to `degree` of q rates, with repetition.
        let q = space.centre().len();
        let unknowns = (1..=degree).fold(1.0, |count, n| count * (q + n) as f64 / n as f64) - 1.0;
        let ok = unknowns <= 3000.0;
        check::number(
            "the number of unknown coefficients",
            unknowns,
            ok,
            "at most 3000 (fewer classes or degrees)",
        )?;
        let inner_radius = 0.1 * space.radius();
        Ok(Self { space, search, degree, inner_radius, seed: 0 })
    }

    /// Another slope search.
    pub fn search(self, search: SlopeSearch) -> Self {
        Self { search, ..self }
    }

    /// The radius of the balls in which slopes are searched.
    pub fn inner_radius(self, inner_radius: f64) -> Result<Self> {
        let inner_radius = checked_inner_radius(inner_radius, self.space.radius())?;
        Ok(Self { inner_radius, ..self })
    }

    /// The seed of the centres.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Sphere) -> Result<Self> {
        let degree = object.or("degree", 3)?;
        let mut plan = crate::document::at(&object.place(), Self::new(space, degree, 1e-3))?;
        let paper = SlopeSearch::paper(3, Halving::Three, 1e-3)?;
        let default = if object.is("method", "paper") { paper } else { plan.search };
        plan.search = SlopeSearch::read(&mut object, default)?;
        plan = object.change("inner_radius", plan, Self::inner_radius)?;
        plan.seed = object.or("seed", plan.seed)?;
        object.finish()?;
        Ok(plan)
    }

    /// The middle, both ends of every axis, then seeded points of the ball until there are twice as many equations
    /// as unknowns. In units of the step.
    fn centres(&self, monomials: usize) -> Vec<Vec<f64>> {
        let q = self.space.centre().len();
        let mut centres = vec![vec![0.0; q]];
        for j in 0..q {
            for sign in [1.0, -1.0] {
                let mut centre = vec![0.0; q];
                centre[j] = sign;
                centres.push(centre);
            }
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let wanted = (2 * monomials).div_ceil(q - 1);
        while centres.len() < wanted {
            let towards: Vec<f64> = (0..q).map(|_| StandardNormal.sample(&mut random)).collect();
            let length = random.random::<f64>().powf(1.0 / q as f64) / norm(&towards);
            centres.push(scaled(&towards, length));
        }
        centres
    }
}

impl Plan for Polynomial {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let o = self.space.centre();
        let around = Around { centre: &o, radius: self.space.radius(), inner_radius: self.inner_radius };
        let monomials = Monomials::new(o.len(), self.degree);
        let mut slopes = vec![];
        for centre in self.centres(monomials.exponents.len()) {
            let slope = around.slope(&scaled(&centre, around.step()), &self.search, oracle)?;
            slopes.push((centre, slope));
        }
        let mut findings = beyond_reach(&self.space);
        let coefficients = monomials.fit(&slopes, self.search.tolerance(), &mut findings);
        let tensors = monomials.tensors(&coefficients, &o, around.step());
        let family = metric::Polynomial::new(tensors).unwrap_or_else(|_| {
            let what =
                "no polynomial with finite coefficients fits; reduced to its slope at the centre".to_owned();
            findings.push(Finding::Inconsistent { what });
            let mut tensors = vec![slopes[0].1.clone()];
            tensors.extend((2..=self.degree).map(|t| vec![0.0; o.len().pow(t as u32)]));
            metric::Polynomial::new(tensors).expect("a unit vector")
        });
        let metric = Metric::new(self.space.view(), Sense::Cost, Family::Polynomial(family));
        Ok(Outcome { metric: metric.expect("one per rate").normal_form(), findings })
    }
}

/// The monomials of a polynomial without constant, in coordinates x = (r - o) / step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Monomials {
    exponents: Vec<Vec<u32>>,
}

impl Monomials {
    pub fn new(variables: usize, degree: usize) -> Self {
        let mut exponents = vec![];
        for total in 1..=degree {
            compositions(variables, total as u32, &mut vec![], &mut exponents);
        }
        Self { exponents }
    }

    /// The power of every variable in each monomial, lower degrees first.
    pub fn exponents(&self) -> &[Vec<u32>] {
        &self.exponents
    }

    /// Every monomial at x.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        let value = |e: &Vec<u32>| e.iter().zip(x).map(|(e, x)| x.powi(*e as i32)).product();
        self.exponents.iter().map(value).collect()
    }

    /// The gradient of every monomial at x, one row per variable.
    pub fn gradients(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let power = |e: &[u32], skip: Option<usize>| -> f64 {
            let lowered = |i: usize| if skip == Some(i) { e[i] - 1 } else { e[i] };
            (0..x.len()).map(|i| x[i].powi(lowered(i) as i32)).product()
        };
        let entry =
            |i: usize, e: &Vec<u32>| if e[i] == 0 { 0.0 } else { f64::from(e[i]) * power(e, Some(i)) };
        (0..x.len()).map(|i| self.exponents.iter().map(|e| entry(i, e)).collect()).collect()
    }

    /// The coefficients whose gradients are parallel to the slopes.
    pub fn fit(
        &self,
        slopes: &[(Vec<f64>, Vec<f64>)],
        resolution: f64,
        findings: &mut Vec<Finding>,
    ) -> Vec<f64> {
        let count = self.exponents.len();
        let mut rows = vec![];
        for (x, f) in slopes {
            let gradients = self.gradients(x);
            let zero = vec![0.0; count];
            let along = gradients.iter().zip(f).fold(zero, |sum, (row, fi)| plus(&sum, *fi, row));
            rows.extend(gradients.iter().zip(f).map(|(row, fi)| plus(row, -fi, &along)));
        }
        let system = Singular::of(&rows, count);
        let conditioning = if count > 1 { system.values[count - 2] / system.values[0] } else { 1.0 };
        let coefficients = if conditioning > (0.1 * resolution).max(1e-9) {
            system.vectors[count - 1].clone()
        } else {
            findings.push(Finding::AmbiguousPolynomial { conditioning });
            self.lowest(&system, (0.1 * resolution).max(1e-9))
        };
        // The null vector has no sign; the slopes do.
        let agreement: f64 = slopes
            .iter()
            .map(|(x, f)| {
                let gradient: Vec<f64> =
                    self.gradients(x).iter().map(|row| dot(row, &coefficients)).collect();
                dot(&gradient, f)
            })
            .sum();
        if agreement < 0.0 { scaled(&coefficients, -1.0) } else { coefficients }
    }

    /// Among several solutions, the one closest to linear: higher terms as small as the null space allows.
    fn lowest(&self, system: &Singular, relative: f64) -> Vec<f64> {
        let null = &system.vectors[system.rank(relative)..];
        let is_higher = |e: &Vec<u32>| e.iter().sum::<u32>() > 1;
        let higher: Vec<Vec<f64>> = (0..self.exponents.len())
            .filter(|&n| is_higher(&self.exponents[n]))
            .map(|n| null.iter().map(|v| v[n]).collect())
            .collect();
        let mix = Singular::of(&higher, null.len()).vectors.pop().expect("the null space is not empty");
        let zero = vec![0.0; self.exponents.len()];
        null.iter().zip(mix).fold(zero, |sum, (v, m)| plus(&sum, m, v))
    }

    /// The symmetric tensors around the origin of r of the polynomial in x = (r - o) / step.
    ///
    /// $T_t$ is the t-th derivative at r = 0.
    pub fn tensors(&self, coefficients: &[f64], o: &[f64], step: f64) -> Vec<Vec<f64>> {
        let q = o.len();
        let degree = self.exponents.last().map_or(1, |e| e.iter().sum::<u32>()) as usize;
        let origin: Vec<f64> = o.iter().map(|c| -c / step).collect();
        (1..=degree)
            .map(|t| {
                let entry = |n: usize| {
                    // How often each variable is differentiated.
                    let mut orders = vec![0_u32; q];
                    (0..t).for_each(|p| orders[n / q.pow(p as u32) % q] += 1);
                    self.derivative(coefficients, &orders, &origin) / step.powi(t as i32)
                };
                (0..q.pow(t as u32)).map(entry).collect()
            })
            .collect()
    }

    /// The derivative of the polynomial at x, each variable taken as often as `orders` says.
    pub fn derivative(&self, coefficients: &[f64], orders: &[u32], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (c, e) in coefficients.iter().zip(&self.exponents) {
            if e.iter().zip(orders).any(|(e, d)| e < d) {
                continue;
            }
            let factor = |i: usize| {
                let (e, d) = (e[i], orders[i]);
                factorial(e as usize) / factorial((e - d) as usize) * x[i].powi((e - d) as i32)
            };
            sum += c * (0..x.len()).map(factor).product::<f64>();
        }
        sum
    }
}

/// All ways to write `total` as a sum over `variables` places.
fn compositions(variables: usize, total: u32, start: &mut Vec<u32>, out: &mut Vec<Vec<u32>>) {
    if start.len() + 1 == variables {
        let mut whole = start.clone();
        whole.push(total);
        out.push(whole);
        return;
    }
    for first in (0..=total).rev() {
        start.push(first);
        compositions(variables, total - first, start, out);
        start.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::direction;

    #[test]
    fn exact_slopes_give_the_exact_polynomial() {
        for (q, degree) in [(2, 2), (2, 3), (3, 3), (6, 3), (2, 5), (3, 4)] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(q as u64 * 10 + degree as u64);
            let monomials = Monomials::new(q, degree);
            let truth: Vec<f64> =
                (0..monomials.exponents.len()).map(|_| random.random_range(-1.0..1.0)).collect();
            let ball = Sphere::new(crate::Measure::DiagonalRates, q, 0.1).unwrap();
            let plan = Polynomial::new(ball, degree, 1e-3).unwrap();
            let slope = |x: &Vec<f64>| {
                let gradient: Vec<f64> = monomials.gradients(x).iter().map(|row| dot(row, &truth)).collect();
                direction(&gradient).unwrap()
            };
            let slopes: Vec<_> =
                plan.centres(truth.len()).into_iter().map(|x| (x.clone(), slope(&x))).collect();
            let mut findings = vec![];
            let found = monomials.fit(&slopes, 1e-12, &mut findings);
            let error = norm(&plus(&found, -1.0, &direction(&truth).unwrap()));
            assert!(error < 1e-9 && findings.is_empty(), "q {q} degree {degree}: {error} {findings:?}");
        }
    }

    #[test]
    fn tensors_describe_the_same_function() {
        let (o, step) = (vec![0.3, 0.4], 0.15);
        let monomials = Monomials::new(2, 3);
        let coefficients: Vec<f64> = (0..9).map(|n| (f64::from(n) * 0.9).cos()).collect();
        let family = metric::Polynomial::new(monomials.tensors(&coefficients, &o, step)).unwrap();
        let view = crate::View::new(crate::Measure::OffDiagonalRates, 2, 1).unwrap();
        let metric = Metric::new(view, Sense::Cost, Family::Polynomial(family)).unwrap();
        let direct = |r: &[f64]| -> f64 {
            let x: Vec<f64> = r.iter().zip(&o).map(|(r, o)| (r - o) / step).collect();
            let term = |e: &Vec<u32>| -> f64 { (0..2).map(|i| x[i].powi(e[i] as i32)).product() };
            coefficients.iter().zip(&monomials.exponents).map(|(c, e)| c * term(e)).sum()
        };
        let (a, b) = ([0.2, 0.5], [0.35, 0.31]);
        let found = metric.value(&a) - metric.value(&b);
        assert!((found - (direct(&a) - direct(&b))).abs() < 1e-9);
    }
}
