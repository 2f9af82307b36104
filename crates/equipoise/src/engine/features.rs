//! How a point enters a metric that is linear in unknown weights.
//!
//! All families but fractions are $\langle\theta, z(r)\rangle$ for a feature map z. Coordinates are taken relative to the
//! middle of the space and in units of its radius, $x = (r-o)/\rho$, and quadratic features carry factors that make the
//! length of $\theta$ the length of the coefficients, so that a round prior favours no family member.

use crate::linalg::{Matrix, applied, plus, scaled, times, zeros};
use crate::metric::{Fair, Family, Metric, Pair, Polynomial, Quadratic, Sense, factorial, pairs};
use crate::rates::GroupShares;
use crate::search::Monomials;
use crate::view::View;

/// A feature map, and the way back from weights to a metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    view: View,
    centre: Vec<f64>,
    radius: f64,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Linear,
    Quadratic,
    Polynomial(Monomials),
    GroupFair(GroupShares),
    GroupFairQuadratic(GroupShares),
}

impl Features {
    /// $z = x$.
    pub fn linear(view: View, centre: Vec<f64>, radius: f64) -> Self {
        Self { view, centre, radius, kind: Kind::Linear }
    }

    /// $z = (x, x x^T)$.
    pub fn quadratic(view: View, centre: Vec<f64>, radius: f64) -> Self {
        Self { view, centre, radius, kind: Kind::Quadratic }
    }

    /// All monomials of x up to a degree.
    pub fn polynomial(view: View, centre: Vec<f64>, radius: f64, degree: usize) -> Self {
        let monomials = Monomials::new(view.dimension(), degree);
        Self { view, centre, radius, kind: Kind::Polynomial(monomials) }
    }

    /// $z = (\sum_g \tau^g \odot x^g, |x^u - x^v| \ldots)$.
    pub fn group_fair(view: View, centre: Vec<f64>, radius: f64, shares: GroupShares) -> Self {
        Self { view, centre, radius, kind: Kind::GroupFair(shares) }
    }

    /// $z = (\sum_g \tau^g \odot x^g, (x^u - x^v)(x^u - x^v)^T \ldots)$.
    pub fn group_fair_quadratic(view: View, centre: Vec<f64>, radius: f64, shares: GroupShares) -> Self {
        Self { view, centre, radius, kind: Kind::GroupFairQuadratic(shares) }
    }

    /// What points are.
    pub fn view(&self) -> View {
        self.view
    }

    /// The radius of the space.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The word for the family in documents.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Linear => "linear",
            Kind::Quadratic => "quadratic",
            Kind::Polynomial(_) => "polynomial",
            Kind::GroupFair(_) => "group_fair",
            Kind::GroupFairQuadratic(_) => "group_fair_quadratic",
        }
    }

    /// The degree of a polynomial.
    pub fn degree(&self) -> Option<usize> {
        match &self.kind {
            Kind::Polynomial(monomials) => monomials.exponents().last().map(|e| degree_of(e)),
            _ => None,
        }
    }

    /// The group shares of a group family.
    pub fn shares(&self) -> Option<&GroupShares> {
        match &self.kind {
            Kind::GroupFair(shares) | Kind::GroupFairQuadratic(shares) => Some(shares),
            _ => None,
        }
    }

    /// Whether differences between groups enter by their size alone.
    pub fn is_absolute(&self) -> bool {
        matches!(self.kind, Kind::GroupFair(_))
    }

    /// Whether z is x itself.
    pub fn is_linear(&self) -> bool {
        self.kind == Kind::Linear
    }

    /// Whether the difference of z between c + d and c - d is linear in d.
    pub fn is_quadratic_at_most(&self) -> bool {
        !matches!(self.kind, Kind::Polynomial(_) | Kind::GroupFair(_))
    }

    /// Error rates of one group, or all coordinates.
    fn width(&self) -> usize {
        self.view.dimension() / self.view.groups()
    }

    /// Number of weights.
    pub fn dimension(&self) -> usize {
        let q = self.width();
        let pairs = self.view.groups() * (self.view.groups() - 1) / 2;
        match &self.kind {
            Kind::Linear => q,
            Kind::Quadratic => q + q * (q + 1) / 2,
            Kind::Polynomial(monomials) => monomials.exponents().len(),
            Kind::GroupFair(_) => q + pairs * q,
            Kind::GroupFairQuadratic(_) => q + pairs * q * (q + 1) / 2,
        }
    }

    /// $x = (r - o)/\rho$.
    pub fn relative(&self, point: &[f64]) -> Vec<f64> {
        scaled(&plus(point, -1.0, &self.centre), 1.0 / self.radius)
    }

    /// $r = o + \rho x$.
    pub fn absolute(&self, x: &[f64]) -> Vec<f64> {
        plus(&self.centre, self.radius, x)
    }

    /// z at x.
    pub fn at(&self, x: &[f64]) -> Vec<f64> {
        let q = self.width();
        let mut z = Vec::with_capacity(self.dimension());
        match &self.kind {
            Kind::Linear => z.extend_from_slice(x),
            Kind::Quadratic => {
                z.extend_from_slice(x);
                push_products(x, &mut z);
            }
            Kind::Polynomial(monomials) => z.extend(times(&monomials.values(x), &factors(monomials))),
            Kind::GroupFair(shares) | Kind::GroupFairQuadratic(shares) => {
                z.extend(overall(x, shares));
                for [u, v] in pairs(shares.groups()) {
                    let gap = plus(&x[u * q..][..q], -1.0, &x[v * q..][..q]);
                    match self.kind {
                        Kind::GroupFair(_) => z.extend(gap.iter().map(|d| d.abs())),
                        _ => push_products(&gap, &mut z),
                    }
                }
            }
        }
        z
    }

    /// $\partial z/\partial x$ at x, one row per coordinate of x.
    pub fn slopes(&self, x: &[f64]) -> Vec<Vec<f64>> {
        if let Kind::Polynomial(monomials) = &self.kind {
            let factors = factors(monomials);
            return monomials.gradients(x).iter().map(|row| times(row, &factors)).collect();
        }
        // Quadratic features: central differences are exact.
        let step = 0.5;
        (0..x.len())
            .map(|i| {
                let mut moved = x.to_vec();
                moved[i] += step;
                let up = self.at(&moved);
                moved[i] = x[i] - step;
                scaled(&plus(&up, -1.0, &self.at(&moved)), 0.5 / step)
            })
            .collect()
    }

    /// The sign every weight of a *liking* has, if it is known: errors and unfairness are disliked.
    pub fn known_signs(&self) -> Option<Vec<f64>> {
        let sign = if self.view.measure().lists_errors() { -1.0 } else { 1.0 };
        match self.kind {
            Kind::Linear | Kind::GroupFair(_) => Some(vec![sign; self.dimension()]),
            Kind::Quadratic | Kind::Polynomial(_) | Kind::GroupFairQuadratic(_) => None,
        }
    }

    /// The metric whose liking has these weights.
    pub fn metric(&self, weights: &[f64]) -> Metric {
        let q = self.width();
        let sense = if self.view.measure().lists_errors() { Sense::Cost } else { Sense::Utility };
        // From liking of x to value of r: z is homogeneous of degree 1 or 2 in x.
        let value = scaled(weights, sense.sign());
        let linear = scaled(&value[..q], 1.0 / self.radius);
        let made = match &self.kind {
            Kind::Linear => Metric::linear(self.view, sense, linear),
            Kind::Quadratic => {
                let matrix = matrix_of(&value[q..], q, self.radius);
                // <d, r - o> + (r - o)'B(r - o)/2: a = d - Bo.
                Quadratic::new(plus(&linear, -1.0, &applied(&matrix, &self.centre)), matrix)
                    .and_then(|family| Metric::new(self.view, sense, Family::Quadratic(family)))
            }
            Kind::Polynomial(monomials) => self
                .polynomial_of(&value, monomials)
                .and_then(|family| Metric::new(self.view, sense, Family::Polynomial(family))),
            Kind::GroupFair(shares) => {
                let weights = |(groups, part): ([usize; 2], &[f64])| {
                    let weights: Vec<f64> = part.iter().map(|b| (b / self.radius).max(0.0)).collect();
                    Pair { groups, violation: weights }
                };
                let fairness: Vec<_> =
                    pairs(shares.groups()).zip(value[q..].chunks(q)).map(weights).collect();
                let unfair = fairness.iter().any(|pair| pair.violation.iter().any(|b| *b > 0.0));
                let performance = linear.iter().map(|a| a.max(0.0)).collect();
                Fair::new(performance, fairness, if unfair { 0.5 } else { 0.0 }, shares.clone())
                    .and_then(|family| Metric::new(self.view, sense, Family::GroupFair(family)))
            }
            Kind::GroupFairQuadratic(shares) => {
                let size = q * (q + 1) / 2;
                let squared = |(groups, part): ([usize; 2], &[f64])| Pair {
                    groups,
                    violation: matrix_of(part, q, self.radius),
                };
                let fairness: Vec<_> =
                    pairs(shares.groups()).zip(value[q..].chunks(size)).map(squared).collect();
                Fair::new(linear, fairness, 0.5, shares.clone())
                    .and_then(|family| Metric::new(self.view, sense, Family::GroupFairQuadratic(family)))
            }
        };
        // Weights that are all zero say nothing; the neutral answer is to weigh everything alike.
        made.unwrap_or_else(|_| self.metric(&vec![sense.sign(); self.dimension()])).normal_form()
    }

    /// The polynomial of r whose monomials in x have these weights.
    fn polynomial_of(&self, value: &[f64], monomials: &Monomials) -> crate::Result<Polynomial> {
        let coefficients = times(value, &factors(monomials));
        Polynomial::new(monomials.tensors(&coefficients, &self.centre, self.radius))
    }

    /// The coefficients of the metric with these weights, in the order of [`Metric::coefficients`] and up to one common
    /// factor: a linear map, so that it carries a covariance along.
    pub fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let q = self.width();
        let sign = if self.view.measure().lists_errors() { -1.0 } else { 1.0 };
        let value = scaled(weights, sign);
        let upper = |matrix: &Matrix| -> Vec<f64> { (0..q).flat_map(|i| matrix[i][i..].to_vec()).collect() };
        let linear = scaled(&value[..q], 1.0 / self.radius);
        match &self.kind {
            Kind::Linear | Kind::GroupFair(_) => scaled(&value, 1.0 / self.radius),
            Kind::Quadratic => {
                let matrix = matrix_of(&value[q..], q, self.radius);
                [plus(&linear, -1.0, &applied(&matrix, &self.centre)), upper(&matrix)].concat()
            }
            Kind::Polynomial(monomials) => self
                .polynomial_of(&value, monomials)
                .and_then(|family| Metric::new(self.view, Sense::Cost, Family::Polynomial(family)))
                .map_or_else(|_| vec![0.0; self.dimension()], |metric| metric.coefficients()),
            Kind::GroupFairQuadratic(_) => {
                let parts = value[q..].chunks(q * (q + 1) / 2);
                let matrices = parts.flat_map(|part| upper(&matrix_of(part, q, self.radius)));
                linear.into_iter().chain(matrices).collect()
            }
        }
    }

    /// The unit weights of a metric's liking: the truth a simulation compares with. `None` for another family.
    pub fn weights(&self, metric: &Metric) -> Option<Vec<f64>> {
        if metric.view() != &self.view {
            return None;
        }
        let q = self.width();
        let value = match (&self.kind, metric.family()) {
            (Kind::Linear, Family::Linear(f)) => scaled(f.weights(), self.radius),
            (Kind::Quadratic, Family::Quadratic(f)) => {
                let at_centre = applied(f.quadratic(), &self.centre);
                let mut value = scaled(&plus(f.linear(), 1.0, &at_centre), self.radius);
                push_entries(f.quadratic(), self.radius, 1.0, &mut value);
                value
            }
            (Kind::Polynomial(monomials), Family::Polynomial(f)) => {
                if self.degree() != Some(f.degree()) {
                    return None;
                }
                // Around the origin of r first, then the derivatives at the centre.
                let entry = |e: &Vec<u32>| {
                    let places = (0..q).flat_map(|i| std::iter::repeat_n(i, e[i] as usize));
                    let place = places.fold(0, |place, i| place * q + i);
                    f.tensors()[degree_of(e) - 1][place] / factorials(e)
                };
                let around_origin: Vec<f64> = monomials.exponents().iter().map(entry).collect();
                let entry = |(e, factor): (&Vec<u32>, f64)| {
                    let derivative = monomials.derivative(&around_origin, e, &self.centre);
                    derivative * self.radius.powi(degree_of(e) as i32) / (factorials(e) * factor)
                };
                monomials.exponents().iter().zip(factors(monomials)).map(entry).collect()
            }
            (Kind::GroupFair(_), Family::GroupFair(f)) => {
                let mut value = scaled(f.performance(), (1.0 - f.trade_off()) * self.radius);
                for pair in f.fairness() {
                    value.extend(pair.violation.iter().map(|b| b * f.trade_off() * self.radius));
                }
                value
            }
            (Kind::GroupFairQuadratic(_), Family::GroupFairQuadratic(f)) => {
                let mut value = scaled(f.performance(), (1.0 - f.trade_off()) * self.radius);
                for pair in f.fairness() {
                    push_entries(&pair.violation, self.radius, f.trade_off(), &mut value);
                }
                value
            }
            _ => return None,
        };
        debug_assert_eq!(value.len(), self.dimension().max(q));
        crate::linalg::direction(&scaled(&value, metric.sense().sign()))
    }
}

/// $\sum_g \tau^g \odot x^g$.
fn overall(x: &[f64], shares: &GroupShares) -> Vec<f64> {
    let q = x.len() / shares.groups();
    let mut sum = vec![0.0; q];
    for (g, part) in x.chunks(q).enumerate() {
        for (n, value) in part.iter().enumerate() {
            sum[n] += shares.get(g, n / (shares.classes() - 1)) * value;
        }
    }
    sum
}

/// $x_i^2/2$ and $x_i x_j/\sqrt2$: weights on them have the length of the matrix.
fn push_products(x: &[f64], z: &mut Vec<f64>) {
    for i in 0..x.len() {
        for j in i..x.len() {
            let factor = if i == j { 0.5 } else { std::f64::consts::FRAC_1_SQRT_2 };
            z.push(factor * x[i] * x[j]);
        }
    }
}

fn degree_of(exponents: &[u32]) -> usize {
    exponents.iter().sum::<u32>() as usize
}

fn factorials(exponents: &[u32]) -> f64 {
    exponents.iter().map(|e| factorial(*e as usize)).product()
}

/// $\sqrt{n}/t!$ for a monomial of degree t that n entries of the tensor share: weights have the length of the tensors.
fn factors(monomials: &Monomials) -> Vec<f64> {
    let factor = |e: &Vec<u32>| 1.0 / (factorial(degree_of(e)) * factorials(e)).sqrt();
    monomials.exponents().iter().map(factor).collect()
}

/// The matrix in units of r whose weights on products are given in units of x.
fn matrix_of(weights: &[f64], q: usize, radius: f64) -> Matrix {
    let mut matrix = zeros(q);
    let mut next = weights.iter();
    for i in 0..q {
        for j in i..q {
            let weight = next.next().expect("one weight per product") / (radius * radius);
            let entry = if i == j { weight } else { weight * std::f64::consts::FRAC_1_SQRT_2 };
            matrix[i][j] = entry;
            matrix[j][i] = entry;
        }
    }
    matrix
}

fn push_entries(matrix: &Matrix, radius: f64, factor: f64, value: &mut Vec<f64>) {
    for i in 0..matrix.len() {
        for j in i..matrix.len() {
            let weight = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
            value.push(factor * weight * matrix[i][j] * radius * radius);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{angle, dot};
    use crate::testing::random;
    use crate::view::Measure;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Weights of a metric, as features see them, order points like the metric does, and lead back to it.
    #[track_caller]
    fn check(features: &Features, metric: &Metric, random: &mut Xoshiro256PlusPlus) {
        let weights = features.weights(metric).unwrap();
        assert_eq!(weights.len(), features.dimension());
        assert!(features.metric(&weights).difference(metric).unwrap().angle < 1e-7);
        assert!(angle(&features.coefficients(&weights), &metric.coefficients()) < 1e-7);
        let mut point = || -> Vec<f64> {
            (0..features.view().dimension()).map(|_| random.random_range(0.2..0.5)).collect()
        };
        let (a, b, c, d) = (point(), point(), point(), point());
        let liking = |p: &[f64]| dot(&weights, &features.at(&features.relative(p)));
        let ratio = (metric.liking(&a) - metric.liking(&b)) / (liking(&a) - liking(&b));
        let again = (metric.liking(&c) - metric.liking(&d)) / (liking(&c) - liking(&d));
        assert!((ratio / again - 1.0).abs() < 1e-6 && ratio > 0.0, "{ratio} {again}");
        assert!(angle(&weights, &features.weights(&features.metric(&weights)).unwrap()) < 1e-7);
    }

    #[test]
    fn weights_and_metrics_are_two_forms_of_the_same() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let view = View::new(Measure::OffDiagonalRates, 3, 1).unwrap();
        let centre = vec![1.0 / 3.0; 6];
        check(&Features::linear(view, centre.clone(), 0.2), &random::linear(view, &mut random), &mut random);
        let metric = random::quadratic(view, &mut random);
        check(&Features::quadratic(view, centre.clone(), 0.2), &metric, &mut random);
        let metric = random::polynomial(view, 3, &mut random);
        check(&Features::polynomial(view, centre, 0.2, 3), &metric, &mut random);
        let shares = random::shares(2, 3, &mut random);
        let view = View::new(Measure::GroupRates, 2, 3).unwrap();
        let centre = vec![0.5; 6];
        let metric = random::group_fair(&shares, 0.4, &mut random);
        check(&Features::group_fair(view, centre.clone(), 0.2, shares.clone()), &metric, &mut random);
        let metric = random::group_fair_quadratic(&shares, 0.4, &mut random);
        check(&Features::group_fair_quadratic(view, centre, 0.2, shares), &metric, &mut random);
    }
}
