//! What comparisons reveal of a fraction: an oriented plane of affine functions.
//!
//! In coordinates $x$ of the ball, a fraction is $\langle u, X\rangle/\langle v, X\rangle$ with $X = (x, 1)$. Of two
//! points, the first is liked better where
//!
//! $$ \langle u, X\rangle\langle v, Y\rangle - \langle u, Y\rangle\langle v, X\rangle > 0, $$
//!
//! which depends on $u \wedge v$ alone: the plane of $u$ and $v$, and its orientation. It is linear in $u \wedge v$, so
//! with $x = c + d$ and $y = c - d$ it is linear in $d$.

use crate::linalg::{direction, dot, norm, normals, plus, scaled};
use crate::metric::{Family, LinearFractional, Metric, Sense};
use crate::space::{Space, Sphere};
use rand::{Rng, RngExt};
use std::f64::consts::FRAC_1_SQRT_2;

/// An oriented plane, by an orthonormal basis: a function above the line, and one below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Pencil {
    above: Vec<f64>,
    below: Vec<f64>,
}

impl Pencil {
    /// The plane of two functions, each given by its slopes and its value at the centre; `None` if they are parallel.
    pub fn new(above: &[f64], below: &[f64]) -> Option<Self> {
        let above = direction(above)?;
        let rest = plus(below, -dot(below, &above), &above);
        // Twice is enough for orthogonality to the last digits.
        let rest = plus(&rest, -dot(&rest, &above), &above);
        let parallel = norm(&rest) <= 1e-12 * norm(below);
        let below = direction(&rest).filter(|_| !parallel)?;
        Some(Self { above, below })
    }

    /// The liking a linear-fractional metric stands for, in units of a ball.
    #[cfg(any(test, feature = "testing"))]
    pub fn of(metric: &Metric, ball: &Sphere) -> Option<Self> {
        let Family::LinearFractional(fraction) = metric.family() else { return None };
        let (centre, radius) = (ball.centre(), ball.radius());
        let affine = |weights: &[f64], offset: f64, sign: f64| -> Vec<f64> {
            let at_centre = dot(weights, &centre) + offset;
            let slopes = weights.iter().map(|w| radius * w);
            slopes.chain([at_centre]).map(|value| sign * value).collect()
        };
        let above = affine(fraction.numerator(), 0.0, metric.sense().sign());
        Self::new(&above, &affine(fraction.denominator(), fraction.denominator_offset(), 1.0))
    }

    /// Any plane with a member that is positive on the whole ball, all equally likely.
    pub fn draw(coordinates: usize, random: &mut impl Rng) -> Self {
        loop {
            let (gradient, tilt) = (normals(coordinates, random), normals(coordinates, random));
            let Some(gradient) = direction(&gradient) else { continue };
            let Some(tilt) = direction(&plus(&tilt, -dot(&tilt, &gradient), &gradient)) else { continue };
            // The sine of the angle of the flattest member to the constants is at most that of 45 degrees; the measure
            // of planes grows with its power.
            let share = random.random::<f64>().powf(1.0 / (coordinates as f64 - 1.0).max(1.0));
            let sine = FRAC_1_SQRT_2 * share;
            let above: Vec<f64> = gradient.into_iter().chain([0.0]).collect();
            let slopes = tilt.iter().map(|t| t * sine);
            let below: Vec<f64> = slopes.chain([(1.0 - sine * sine).sqrt()]).collect();
            return Self { above, below };
        }
    }

    /// The metric a pencil stands for, in the gauge of the ball: of the fractions whose value at the origin is 0, the one
    /// with the flattest denominator, which is 1 at the centre.
    pub fn metric(&self, ball: &Sphere) -> Metric {
        let q = ball.view().dimension();
        let coefficients = self.coefficients(ball);
        let (numerator, rest) = coefficients.split_at(q);
        let family = LinearFractional::new(numerator.to_vec(), rest[..q].to_vec(), rest[q]);
        let family = Family::LinearFractional(family.expect("a numerator that is not zero"));
        Metric::new(ball.view(), sense(ball), family).expect("one weight per coordinate").normal_form()
    }

    /// The coefficients of that metric, in the order of [`Metric::coefficients`], scaled so that the gradient at the
    /// centre has length 1 in units of the ball.
    pub fn coefficients(&self, ball: &Sphere) -> Vec<f64> {
        let (centre, radius) = (ball.centre(), ball.radius());
        let (gradient, tilt) = self.gauge();
        let origin = scaled(&centre, -1.0 / radius);
        let below = 1.0 + dot(&tilt, &origin);
        // Where the denominator vanishes at the origin, no fraction of the pencil has a value there.
        let below = if below.abs() < 1e-9 { 1e-9 } else { below };
        let value = dot(&gradient, &origin) / below;
        let numerator = scaled(&plus(&gradient, -value, &tilt), sense(ball).sign() / radius);
        let denominator = scaled(&tilt, 1.0 / radius);
        let offset = 1.0 - dot(&denominator, &centre);
        [numerator, denominator, vec![offset]].concat()
    }

    /// The function above the line.
    pub fn above(&self) -> &[f64] {
        &self.above
    }

    /// The function below the line.
    pub fn below(&self) -> &[f64] {
        &self.below
    }

    /// Whether some member is positive on the whole ball, so that the fraction has no pole there.
    pub fn has_no_pole(&self) -> bool {
        let last = self.above.len() - 1;
        self.above[last].powi(2) + self.below[last].powi(2) > 0.5
    }

    /// Half of what the first of two points is ahead by; positive if it is liked better.
    pub fn ahead(&self, first: &[f64], second: &[f64]) -> f64 {
        let (u, v) = (&self.above, &self.below);
        0.5 * (dot(u, first) * dot(v, second) - dot(u, second) * dot(v, first))
    }

    /// $u \wedge v$: one number per pair of coordinates; of length 1.
    pub fn wedge(&self) -> Vec<f64> {
        wedge(&self.above, &self.below)
    }

    /// The gradient at the centre, of length 1, and the slopes of the flattest denominator that is 1 at the centre.
    ///
    /// The member that vanishes at the centre is at right angles to the flattest one, whatever basis the plane is given by.
    pub fn gauge(&self) -> (Vec<f64>, Vec<f64>) {
        let last = self.above.len() - 1;
        let (u, v) = (self.above[last], self.below[last]);
        let length = u.hypot(v).max(1e-300);
        let gradient = plus(&scaled(&self.above, v / length), -u / length, &self.below);
        let flattest = plus(&scaled(&self.above, u / length), v / length, &self.below);
        (gradient[..last].to_vec(), scaled(&flattest[..last], 1.0 / length))
    }

    /// The largest angle between the members of two planes; more than a right angle if their orientations differ.
    pub fn angle(&self, other: &Pencil) -> f64 {
        let chart = Chart::around(self);
        match chart.coordinates(other) {
            Some(coordinates) => largest_stretch(&coordinates).atan(),
            None => std::f64::consts::PI,
        }
    }
}

fn sense(ball: &Sphere) -> Sense {
    if ball.view().measure().lists_errors() { Sense::Cost } else { Sense::Utility }
}

/// $a \wedge b$.
pub fn wedge(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len()).flat_map(|i| (i + 1..a.len()).map(move |j| a[i] * b[j] - a[j] * b[i])).collect()
}

/// Coordinates on the planes near one: how far each of its two basis vectors leans in each direction across it.
#[derive(Debug, Clone)]
pub struct Chart {
    /// An orthonormal basis, the plane's own first.
    pub frame: Vec<Vec<f64>>,
}

impl Chart {
    /// Around a plane.
    pub fn around(pencil: &Pencil) -> Self {
        let size = pencil.above.len();
        let mut frame = vec![pencil.above.clone(), pencil.below.clone()];
        // The axes that stick out most from what is there make the best conditioned rest.
        while frame.len() < size {
            let rest = |i: usize| {
                let mut axis = vec![0.0; size];
                axis[i] = 1.0;
                let once = frame.iter().fold(axis, |a, f| plus(&a, -dot(&a, f), f));
                frame.iter().fold(once, |a, f| plus(&a, -dot(&a, f), f))
            };
            let rests = (0..size).map(rest);
            let longest = rests.max_by(|a, b| norm(a).total_cmp(&norm(b))).expect("at least two coordinates");
            frame.push(direction(&longest).expect("the frame does not yet span the space"));
        }
        Self { frame }
    }

    /// The coordinates of a plane, those of the first basis vector first; `None` if it is a quarter turn away or more.
    pub fn coordinates(&self, pencil: &Pencil) -> Option<Vec<f64>> {
        let (u, v) = (&pencil.above, &pencil.below);
        let along = |x: &[f64], n: usize| dot(x, &self.frame[n]);
        let [a, b, c, d] = [along(u, 0), along(u, 1), along(v, 0), along(v, 1)];
        let determinant = a * d - b * c;
        if determinant <= 1e-9 {
            return None;
        }
        let across = 2..self.frame.len();
        let first = across.clone().map(|n| (d * along(u, n) - b * along(v, n)) / determinant);
        let second = across.clone().map(|n| (a * along(v, n) - c * along(u, n)) / determinant);
        Some(first.chain(second).collect())
    }

    /// The plane with these coordinates.
    pub fn plane(&self, coordinates: &[f64]) -> Option<Pencil> {
        let (first, second) = coordinates.split_at(coordinates.len() / 2);
        let lean = |own: &Vec<f64>, by: &[f64]| {
            self.frame[2..].iter().zip(by).fold(own.clone(), |sum, (axis, t)| plus(&sum, *t, axis))
        };
        Pencil::new(&lean(&self.frame[0], first), &lean(&self.frame[1], second))
    }
}

/// $I + tt^T$ for the two rows of coordinates: its entries (1,1), (1,2) and (2,2).
pub fn gram(coordinates: &[f64]) -> [f64; 3] {
    let (first, second) = coordinates.split_at(coordinates.len() / 2);
    [1.0 + dot(first, first), dot(first, second), 1.0 + dot(second, second)]
}

/// The largest singular value of the two rows: the tangent of the largest angle to the chart's middle.
pub fn largest_stretch(coordinates: &[f64]) -> f64 {
    let [a, b, c] = gram(coordinates);
    let spread = (0.25 * (a - c).powi(2) + b * b).sqrt();
    (0.5 * (a + c) + spread - 1.0).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random;
    use crate::view::Measure;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_pencil_orders_points_like_the_metric_it_comes_from() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for measure in [Measure::OffDiagonalRates, Measure::DiagonalRates] {
            let ball = Sphere::new(measure, 3, 0.2).unwrap();
            let metric = random::linear_fractional(ball.view(), &mut random);
            let pencil = Pencil::of(&metric, &ball).unwrap();
            assert!(pencil.has_no_pole());
            assert!(Pencil::of(&pencil.metric(&ball), &ball).unwrap().angle(&pencil) < 1e-9);
            for _ in 0..50 {
                let [x, y] = [0, 1].map(|_| random::normals(ball.view().dimension(), &mut random));
                let [x, y] = [x, y].map(|x| scaled(&x, 1.0 / norm(&x)));
                let [r, s] = [&x, &y].map(|x| plus(&ball.centre(), ball.radius(), x));
                let [x, y] = [x, y].map(|mut x| {
                    x.push(1.0);
                    x
                });
                let liked = metric.liking(&r) > metric.liking(&s);
                assert_eq!(pencil.ahead(&x, &y) > 0.0, liked);
                let linear = dot(&wedge(&x, &y), &pencil.wedge());
                assert!((0.5 * linear - pencil.ahead(&x, &y)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn charts_lead_there_and_back() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        for coordinates in [2, 3, 6] {
            let middle = Pencil::draw(coordinates, &mut random);
            let chart = Chart::around(&middle);
            assert!(middle.has_no_pole() && middle.angle(&middle) < 1e-12);
            let steps = scaled(&random::normals(2 * (coordinates - 1), &mut random), 0.1);
            let moved = chart.plane(&steps).unwrap();
            let back = chart.coordinates(&moved).unwrap();
            assert!(norm(&plus(&steps, -1.0, &back)) < 1e-12);
            assert!((moved.angle(&middle) - middle.angle(&moved)).abs() < 1e-12);
            let turned = Pencil::new(&moved.below, &moved.above).unwrap();
            assert!(turned.angle(&middle) > 3.0, "the opposite liking is far away");
        }
    }

    #[test]
    fn the_flattest_denominator_is_one_at_the_centre_and_across_the_gradient() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let pencil = Pencil::draw(4, &mut random);
        let (gradient, tilt) = pencil.gauge();
        assert!((norm(&gradient) - 1.0).abs() < 1e-12 && dot(&gradient, &tilt).abs() < 1e-12);
        assert!(norm(&tilt) < 1.0);
        let extended = |v: &[f64], last: f64| [v, &[last]].concat();
        let again = Pencil::new(&extended(&gradient, 0.0), &extended(&tilt, 1.0)).unwrap();
        assert!(again.angle(&pencil) < 1e-12);
    }
}
