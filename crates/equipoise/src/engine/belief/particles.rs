//! What the answers say about a fraction: a cloud of pencils that agree with them.
//!
//! Fractions are not linear in any small set of weights, so one Gaussian will not do. A few hundred pencils drawn from
//! the posterior will: after every answer the cloud is resampled by how well each member explains it, then every member
//! is moved about by steps that leave the posterior as it is, so that copies part. Far apart members take random steps
//! of many sizes; once the cloud is on one side, members slide along random lines through coordinates around its middle,
//! in the shape of the cloud.

use super::pencil::{Chart, Pencil, gram, largest_stretch};
use super::slice::slide;
use crate::engine::probit::{Probit, Said};
use crate::linalg::{Matrix, applied, cholesky, dot, eigen, normals, plus, zeros};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Members of the cloud.
const MEMBERS: usize = 500;
/// Random steps of every member after an answer, while some are far apart.
const STEPS: usize = 12;
/// Lines every member slides along after an answer, per coordinate.
const LINES_PER_COORDINATE: f64 = 1.0;
/// How far a step along a line may go, in standard deviations, and how often a shorter one is tried.
const WIDTH: f64 = 3.0;
const TRIES: usize = 30;
/// Members count as near if their angle to the middle has at most this tangent.
const NEAR: f64 = 3.0;

/// An answer: two points as $(x, 1)$ in units of the ball, and what was said of them.
#[derive(Debug, Clone)]
struct Seen {
    first: Vec<f64>,
    second: Vec<f64>,
    probit: Probit,
    said: Said,
}

/// Pencils drawn from the posterior.
#[derive(Debug, Clone)]
pub struct Particles {
    members: Vec<Pencil>,
    seen: Vec<Seen>,
    random: Xoshiro256PlusPlus,
}

impl Particles {
    /// Before any answer: pencils without a pole in the ball, all equally likely.
    pub fn new(coordinates: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let members = (0..MEMBERS).map(|_| Pencil::draw(coordinates, &mut random)).collect();
        Self { members, seen: vec![], random }
    }

    /// The pencils.
    pub fn members(&self) -> &[Pencil] {
        &self.members
    }

    /// The plane nearest to all members: the two longest axes of their average projector, oriented like most of them.
    pub fn middle(&self) -> Pencil {
        let size = self.members[0].above().len();
        let mut projector = zeros(size);
        for vector in self.members.iter().flat_map(|member| [member.above(), member.below()]) {
            for (row, y) in projector.iter_mut().zip(vector) {
                row.iter_mut().zip(vector).for_each(|(p, x)| *p += y * x);
            }
        }
        let mut axes = eigen(&projector).1;
        let (below, above) = (axes.pop().expect("three or more"), axes.pop().expect("three or more"));
        let wedge = super::pencil::wedge(&above, &below);
        let votes: f64 = self.members.iter().map(|member| dot(&member.wedge(), &wedge)).sum();
        let made = if votes >= 0.0 { Pencil::new(&above, &below) } else { Pencil::new(&below, &above) };
        made.unwrap_or_else(|| self.members[0].clone())
    }

    /// The angle around the middle that holds this share of the members.
    pub fn radius(&self, share: f64) -> f64 {
        let middle = self.middle();
        let mut angles: Vec<f64> = self.members.iter().map(|member| middle.angle(member)).collect();
        angles.sort_by(f64::total_cmp);
        angles[((angles.len() - 1) as f64 * share).round() as usize]
    }

    /// Takes an answer in: $t > 0$ or $|t|$ small, t being how far the first point is ahead.
    pub fn take(&mut self, first: Vec<f64>, second: Vec<f64>, probit: Probit, said: Said) {
        let log = |member: &Pencil| probit.log_chance(said, member.ahead(&first, &second));
        let logs: Vec<f64> = self.members.iter().map(log).collect();
        self.seen.push(Seen { first, second, probit, said });
        self.resample(&logs);
        self.stir();
    }

    /// As many members, each about as often as it is likely.
    fn resample(&mut self, logs: &[f64]) {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chances: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let step = chances.iter().sum::<f64>() / MEMBERS as f64;
        let mut pointer = step * self.random.random::<f64>();
        let (mut below, mut next) = (0.0, vec![]);
        for (member, chance) in self.members.iter().zip(&chances) {
            below += chance;
            while pointer < below && next.len() < MEMBERS {
                next.push(member.clone());
                pointer += step;
            }
        }
        // Rounding may leave the last place empty.
        while next.len() < MEMBERS {
            next.push(self.members[next.len()].clone());
        }
        self.members = next;
    }

    /// Moves every member by steps that leave the posterior as it is.
    fn stir(&mut self) {
        let chart = Chart::around(&self.middle());
        let coordinates = |member: &Pencil| chart.coordinates(member).filter(|t| largest_stretch(t) < NEAR);
        let near: Vec<Option<Vec<f64>>> = self.members.iter().map(coordinates).collect();
        let far = near.iter().filter(|t| t.is_none()).count();
        if far > 0 {
            self.wander();
        }
        if far < MEMBERS / 5 {
            let spread: Vec<&Vec<f64>> = near.iter().flatten().collect();
            let lines = Lines::new(&chart, &spread, &self.seen);
            for member in &mut self.members {
                let start = chart.coordinates(member).filter(|t| largest_stretch(t) < NEAR);
                let Some(t) = start else { continue };
                let slid = lines.slide(t, &mut self.random);
                if let Some(moved) = chart.plane(&slid) {
                    *member = moved;
                }
            }
        }
    }

    /// Random steps in all directions, of many sizes: a step there is as likely as the step back.
    fn wander(&mut self) {
        let random = &mut self.random;
        for member in &mut self.members {
            let mut log = log_of_all(&self.seen, member);
            for _ in 0..STEPS {
                let size = 10.0_f64.powf(random.random_range(-2.0..0.0));
                let mut moved = |x: &[f64]| plus(x, size, &normals(x.len(), random));
                let (above, below) = (moved(member.above()), moved(member.below()));
                let Some(next) = Pencil::new(&above, &below).filter(Pencil::has_no_pole) else { continue };
                let next_log = log_of_all(&self.seen, &next);
                if random.random::<f64>().ln() < next_log - log {
                    (*member, log) = (next, next_log);
                }
            }
        }
    }
}

fn log_of_all(seen: &[Seen], pencil: &Pencil) -> f64 {
    seen.iter().map(|s| s.probit.log_chance(s.said, pencil.ahead(&s.first, &s.second))).sum()
}

/// All answers in the coordinates of a chart, and the shape of the cloud there: what sliding along lines needs.
struct Lines<'a> {
    seen: &'a [Seen],
    /// First and second point of every answer in the frame of the chart.
    points: Vec<[Vec<f64>; 2]>,
    /// The constant function in that frame.
    constant: Vec<f64>,
    /// L with $LL^T$ = covariance of the cloud.
    shape: Matrix,
}

impl<'a> Lines<'a> {
    fn new(chart: &Chart, spread: &[&Vec<f64>], seen: &'a [Seen]) -> Self {
        let n = spread[0].len();
        let zero = vec![0.0; n];
        let mean = spread.iter().fold(zero, |sum, t| plus(&sum, 1.0 / spread.len() as f64, t));
        let mut covariance = zeros(n);
        for t in spread {
            let away = plus(t, -1.0, &mean);
            for i in 0..n {
                for j in 0..=i {
                    covariance[i][j] += away[i] * away[j] / spread.len() as f64;
                }
            }
        }
        let widest = (0..n).map(|i| covariance[i][i]).fold(1e-24, f64::max);
        // Copies of one member have no shape of their own.
        (0..n).for_each(|i| covariance[i][i] += 1e-6 * widest);
        let shape = cholesky(&covariance).unwrap_or_else(|| {
            let mut round = zeros(n);
            (0..n).for_each(|i| round[i][i] = widest.sqrt());
            round
        });
        let in_frame = |x: &[f64]| applied(&chart.frame, x);
        let points = seen.iter().map(|s| [in_frame(&s.first), in_frame(&s.second)]).collect();
        let mut constant = vec![0.0; chart.frame.len()];
        *constant.last_mut().expect("at least three") = 1.0;
        Self { seen, points, constant: in_frame(&constant), shape }
    }

    /// Slice sampling along random lines.
    fn slide(&self, mut t: Vec<f64>, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let n = t.len();
        let lines = (LINES_PER_COORDINATE * n as f64).ceil() as usize;
        // Values of the two functions at both points of every answer, here and per unit along the line.
        let value = |t: &[f64], point: &[f64], own: f64| own + dot(t, &point[2..]);
        let values = |t: &[f64], own: f64| -> Vec<[f64; 4]> {
            let (u, v) = t.split_at(n / 2);
            let four = |[x, y]: &[Vec<f64>; 2]| {
                [
                    value(u, x, own * x[0]),
                    value(v, x, own * x[1]),
                    value(u, y, own * y[0]),
                    value(v, y, own * y[1]),
                ]
            };
            self.points.iter().map(four).collect()
        };
        let mut here = values(&t, 1.0);
        let mut log = self.log_density(&t, &here, f64::NEG_INFINITY);
        for _ in 0..lines {
            let along = applied(&self.shape, &normals(n, random));
            let slopes = values(&along, 0.0);
            let found = slide(log, WIDTH, TRIES, random, |step, level| {
                let moved = plus(&t, step, &along);
                let there = here.iter().zip(&slopes);
                let there: Vec<[f64; 4]> =
                    there.map(|(h, s)| std::array::from_fn(|i| h[i] + step * s[i])).collect();
                (self.log_density(&moved, &there, level), (moved, there))
            });
            if let Some((there_log, (moved, there))) = found {
                (t, here, log) = (moved, there, there_log);
            }
        }
        t
    }

    /// The logarithm of the posterior density in coordinates; `NEG_INFINITY` as soon as it is below `level`.
    fn log_density(&self, t: &[f64], values: &[[f64; 4]], level: f64) -> f64 {
        let n = t.len() / 2;
        let [a, b, c] = gram(t);
        let determinant = a * c - b * b;
        // Is the constant function near enough to the plane that some member has no zero in the ball?
        let (u, v) = (
            self.constant[0] + dot(&t[..n], &self.constant[2..]),
            self.constant[1] + dot(&t[n..], &self.constant[2..]),
        );
        if (c * u * u - 2.0 * b * u * v + a * v * v) / determinant <= 0.5 || largest_stretch(t) >= NEAR {
            return f64::NEG_INFINITY;
        }
        // Equal measure of planes, as it looks in these coordinates.
        let mut log = -0.5 * (n as f64 + 2.0) * determinant.ln();
        let scale = 0.5 / determinant.sqrt();
        for ([ux, vx, uy, vy], seen) in values.iter().zip(self.seen) {
            log += seen.probit.log_chance(seen.said, scale * (ux * vy - uy * vx));
            if log < level {
                return f64::NEG_INFINITY;
            }
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_1_SQRT_2, TAU};

    /// In two coordinates a pencil is a direction in space, so that the posterior is an integral over a sphere.
    #[test]
    fn a_cloud_in_the_plane_has_the_moments_of_a_grid() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut point = || {
            let [x, y]: [f64; 2] = normals(2, &mut random).try_into().unwrap();
            let length = x.hypot(y).max(1.0);
            vec![x / length, y / length, 1.0]
        };
        let probes: Vec<[Vec<f64>; 2]> = (0..3).map(|_| [point(), point()]).collect();
        let seen: Vec<Seen> = (0..6)
            .map(|n| {
                let unsure = Probit { variance: 0.02, lapse: 0.05, half_width: 0.1 };
                let (probit, said) =
                    if n == 4 { (unsure, Said::Within) } else { (unsure.decided(), Said::Positive) };
                Seen { first: point(), second: point(), probit, said }
            })
            .collect();
        let mut exact = [0.0; 3];
        let mut mass = 0.0;
        for cell in 0..100 * 300 {
            // Planes are even over the normals, of which those near the constants have a pole.
            let z = FRAC_1_SQRT_2 * ((f64::from(cell / 300) + 0.5) / 50.0 - 1.0);
            let (sin, cos) = (TAU * (f64::from(cell % 300) + 0.5) / 300.0).sin_cos();
            let flat = (1.0 - z * z).sqrt();
            // Two vectors whose product is the normal.
            let pencil = Pencil::new(&[-sin, cos, 0.0], &[-z * cos, -z * sin, flat]).unwrap();
            assert!(pencil.has_no_pole());
            let weight = log_of_all(&seen, &pencil).exp();
            mass += weight;
            probes.iter().zip(&mut exact).for_each(|([x, y], sum)| *sum += weight * pencil.ahead(x, y));
        }
        // One cloud is off by .027 (standard deviation), so many of them are by a third of the bound.
        let seeds = 64;
        let mut found = [0.0; 3];
        for seed in 0..seeds {
            let mut cloud = Particles::new(2, seed);
            for Seen { first, second, probit, said } in &seen {
                cloud.take(first.clone(), second.clone(), *probit, *said);
            }
            let share = 1.0 / (seeds as usize * MEMBERS) as f64;
            for member in cloud.members() {
                probes.iter().zip(&mut found).for_each(|([x, y], sum)| *sum += share * member.ahead(x, y));
            }
        }
        for (found, exact) in found.iter().zip(exact) {
            assert!((found - exact / mass).abs() < 0.01, "{found} {}", exact / mass);
        }
    }
}
