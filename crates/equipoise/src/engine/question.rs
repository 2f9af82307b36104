//! Which question splits the posterior best?
//!
//! A question is a pair of feasible points; what counts is w, the difference of their features. The expected gain of
//! knowing the sign of $\langle w, \theta\rangle$ is measured by how much it narrows the *direction* of the weights:
//! $g(z)\,|P\Sigma w|^2 / (w^T\Sigma w + s^2)$, where $P$ removes the direction already known and $g(z)$ is largest for
//! even odds. In a ball every w is reachable and the best is the widest axis across the mean. Elsewhere the best of
//! what is reachable is taken.

use super::aim::Points;
use super::belief::sites::Sites;
use super::features::Features;
use super::normal::{density, distribution};
use super::probit::Probit;
use crate::ask::Query;
use crate::linalg::{
    Matrix, applied, cholesky, direction, dot, eigen, inverse_transposed, norm, plus, products, scaled,
    transposed, zeros,
};
use crate::metric::pairs;
use crate::rates::GroupShares;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Sets of coordinates tried when only a few may differ.
const MOST_SUPPORTS: usize = 60;

/// Where questions may come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// Any two points of a ball (of every group's ball, for group families).
    Ball,
    /// Any two of these points: candidate models, or boundary classifiers of a table.
    Points(Points),
}

/// What is known of the direction of the weights.
#[derive(Debug, Clone)]
pub struct Direction {
    /// Unit mean.
    pub mean: Vec<f64>,
    /// Eigenvalues of the tangent covariance, smallest first: squared angles.
    pub squared_angles: Vec<f64>,
    /// The axis of each.
    pub axes: Vec<Vec<f64>>,
}

impl Direction {
    /// $T = (I-hh^T)\Sigma(I-hh^T)/|\mu|^2$.
    pub fn of(posterior: &Sites) -> Self {
        let d = posterior.dimension();
        let length = norm(posterior.mean());
        let Some(mean) = direction(posterior.mean()) else {
            // No mean yet: every direction is as good.
            let mut axis = vec![0.0; d];
            axis[0] = 1.0;
            return Self { mean: axis.clone(), squared_angles: vec![1.0; d], axes: vec![axis; d] };
        };
        let spread = posterior.spread(&mean);
        let along = dot(&mean, &spread);
        let mut tangent = zeros(d);
        for (i, row) in posterior.covariance().iter().enumerate() {
            for j in 0..d {
                let entry = row[j] - mean[i] * spread[j] - spread[i] * mean[j] + mean[i] * mean[j] * along;
                tangent[i][j] = entry / (length * length);
            }
        }
        let (squared_angles, axes) = eigen(&tangent);
        Self { mean, squared_angles, axes }
    }

    /// The axis along which least is known.
    pub fn widest(&self) -> &[f64] {
        self.axes.last().expect("at least one weight")
    }

    /// A random tangent direction, wide axes more likely.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let zero = vec![0.0; self.mean.len()];
        self.axes.iter().zip(&self.squared_angles).fold(zero, |sum, (axis, squared)| {
            let normal: f64 = StandardNormal.sample(random);
            // Cubing the widths leans towards the widest axes.
            plus(&sum, normal * squared.max(0.0).powf(1.5), axis)
        })
    }

    /// The angle that holds the truth with probability .95: a chi-squared fit to the tangent covariance
    /// (Satterthwaite's scale and degrees of freedom, Wilson and Hilferty's quantile).
    pub fn radius(&self) -> f64 {
        let sum: f64 = self.squared_angles.iter().map(|x| x.max(0.0)).sum();
        let squares: f64 = self.squared_angles.iter().map(|x| x * x).sum();
        if sum <= 0.0 {
            return 0.0;
        }
        let (scale, freedom) = (squares / sum, sum * sum / squares);
        let shrink = 2.0 / (9.0 * freedom);
        (scale * freedom * (1.0 - shrink + 1.645 * shrink.sqrt()).powi(3)).sqrt()
    }
}

/// Chooses questions for a feature map and a reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Chooser {
    /// From points to features.
    pub features: Features,
    /// What may be asked.
    pub reach: Reach,
    /// How answers err.
    pub probit: Probit,
    /// In how many coordinates the two points of a question may differ at most.
    pub rows_that_differ: Option<usize>,
}

impl Chooser {
    /// The difference of features of a pair, halved so that opposite points of the ball give a unit vector.
    pub fn difference(&self, query: &Query) -> Vec<f64> {
        let z = |point: &[f64]| self.features.at(&self.features.relative(point));
        scaled(&plus(&z(&query.first), -1.0, &z(&query.second)), 0.5)
    }

    /// The most telling question after those that were asked; `seed` varies the candidates from question to question.
    pub fn best(&self, posterior: &Sites, known: &Direction, asked: &[Query], seed: u64) -> Option<Query> {
        match &self.reach {
            Reach::Points(list) => self.best_of_points(list, posterior, known, asked, seed),
            Reach::Ball if self.features.is_linear() && self.rows_that_differ.is_none() => {
                Some(self.pair(&vec![0.0; known.mean.len()], known.widest()))
            }
            Reach::Ball if self.features.is_absolute() => {
                self.best_of_groups(known.widest(), posterior, known, seed)
            }
            Reach::Ball => self.best_of_centres(posterior, known, seed),
        }
    }

    /// A telling question other than the best: along a random direction, where the best has nothing random about it.
    pub(super) fn another(
        &self,
        posterior: &Sites,
        known: &Direction,
        asked: &[Query],
        seed: u64,
    ) -> Option<Query> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        match &self.reach {
            Reach::Points(list) => self.best_of_points(list, posterior, known, asked, seed),
            Reach::Ball if self.features.is_linear() => {
                let n = known.mean.len();
                let supports = self.supports(n, &mut random);
                let support = &supports[random.random_range(0..supports.len())];
                let (mut any, mut mean) = (vec![0.0; n], vec![0.0; n]);
                for &i in support {
                    any[i] = StandardNormal.sample(&mut random);
                    mean[i] = known.mean[i];
                }
                // Even odds: across what is known of the coordinates that differ.
                let across =
                    direction(&mean).map_or(any.clone(), |mean| plus(&any, -dot(&any, &mean), &mean));
                Some(self.pair(&vec![0.0; n], &direction(&across)?))
            }
            Reach::Ball if self.features.is_absolute() => {
                let wanted = known.draw(&mut random);
                self.best_of_groups(&wanted, posterior, known, seed)
            }
            Reach::Ball => self.best_of_centres(posterior, known, seed),
        }
    }

    /// The pair turned, by an angle, so that its first point should be liked better. Points that agree in a coordinate go
    /// on agreeing; `None` where only the points of a list can be asked about.
    pub(super) fn tilted(&self, even: &Query, posterior: &Sites, angle: f64) -> Option<Query> {
        if self.reach != Reach::Ball {
            return None;
        }
        let [first, second] = [&even.first, &even.second].map(|point| self.features.relative(point));
        let middle = scaled(&plus(&first, 1.0, &second), 0.5);
        let half = scaled(&plus(&first, -1.0, &second), 0.5);
        let uphill: Vec<f64> = if self.features.is_absolute() {
            // All groups move together, so that the differences between them stay as they were chosen.
            let groups = self.features.view().groups();
            posterior.mean()[..half.len() / groups].repeat(groups)
        } else {
            let slopes = self.features.slopes(&middle);
            let along = slopes.iter().zip(&half).map(|(slope, h)| (dot(slope, posterior.mean()), h));
            along.map(|(rise, h)| if h.abs() > 1e-9 { rise } else { 0.0 }).collect()
        };
        let uphill = scaled(&direction(&uphill)?, norm(&half));
        let half = plus(&scaled(&half, angle.cos()), angle.sin(), &uphill);
        Some(self.pair(&middle, &scaled(&half, self.room(&middle, &half).min(1.0))))
    }

    /// The expected narrowing by a pair whose features differ by 2w.
    pub(super) fn score(&self, w: &[f64], posterior: &Sites, known: &Direction) -> f64 {
        let spread = posterior.spread(w);
        let variance = dot(w, &spread) + self.probit.variance;
        if variance <= 0.0 {
            return 0.0;
        }
        let z = dot(w, posterior.mean()) / variance.sqrt();
        let slack = 1.0 - 2.0 * self.probit.lapse;
        let odds = self.probit.lapse + slack * distribution(z);
        let evenness = (slack * density(z)).powi(2) / (odds * (1.0 - odds)).max(1e-300);
        let across = plus(&spread, -dot(&spread, &known.mean), &known.mean);
        evenness * dot(&across, &across) / variance
    }

    /// Two points of the ball around a middle: `middle` plus and minus `half`, both relative.
    fn pair(&self, middle: &[f64], half: &[f64]) -> Query {
        let [first, second] = [1.0, -1.0].map(|sign| self.features.absolute(&plus(middle, sign, half)));
        Query::new(first, second)
    }

    /// How far one may go from `middle` in both directions along `half` without leaving any group's ball.
    fn room(&self, middle: &[f64], half: &[f64]) -> f64 {
        let q = half.len() / self.features.view().groups();
        let mut room = f64::INFINITY;
        for (c, d) in middle.chunks(q).zip(half.chunks(q)) {
            let (cc, cd, dd) = (dot(c, c), dot(c, d).abs(), dot(d, d));
            if dd > 0.0 {
                // |c + t d| = 1 in the worse direction.
                room = room.min((-cd + (cd * cd + dd * (1.0 - cc).max(0.0)).sqrt()) / dd);
            }
        }
        room
    }

    /// Smooth features: around a middle c, features differ by A(c) d, so for every c the best d solves a generalised
    /// eigenproblem among those with even odds. The best of several middles is taken.
    fn best_of_centres(&self, posterior: &Sites, known: &Direction, seed: u64) -> Option<Query> {
        let n = self.features.view().dimension();
        let mut middles = vec![vec![0.0; n]];
        let q = n / self.features.view().groups();
        for j in 0..n {
            for sign in [0.9, -0.9] {
                let mut middle = vec![0.0; n];
                middle[j] = sign;
                middles.push(middle);
            }
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..10 {
            let mut middle: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
            for part in middle.chunks_mut(q) {
                let length = 0.95 * random.random::<f64>().powf(1.0 / q as f64) / norm(part).max(1e-12);
                part.iter_mut().for_each(|x| *x *= length);
            }
            middles.push(middle);
        }
        if self.features.is_linear() {
            // What differs does not depend on the middle.
            middles.truncate(1);
        }
        let supports = self.supports(n, &mut random);
        let candidates = middles.iter().flat_map(|middle| {
            let slopes = self.features.slopes(middle);
            let found = supports.iter().map(move |support| {
                let chosen: Vec<Vec<f64>> = support.iter().map(|&i| slopes[i].clone()).collect();
                let short = best_direction(&chosen, posterior, &known.mean, self.probit.variance)?;
                let mut half = vec![0.0; n];
                support.iter().zip(short).for_each(|(&i, value)| half[i] = value);
                let half = self.evened(middle, &half, &slopes, support, posterior);
                let query = self.pair(middle, &scaled(&half, self.room(middle, &half)));
                Some((self.score(&self.difference(&query), posterior, known), query))
            });
            found.flatten().collect::<Vec<_>>()
        });
        candidates.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, query)| query)
    }

    /// The sets of coordinates in which two points may differ: all of them, or those of the size allowed (some, if there
    /// are very many).
    fn supports(&self, n: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<usize>> {
        let Some(size) = self.rows_that_differ.filter(|size| *size < n) else {
            return vec![(0..n).collect()];
        };
        let count = (0..size).fold(1.0, |count, i| count * (n - i) as f64 / (i + 1) as f64);
        if count <= MOST_SUPPORTS as f64 {
            return subsets(n, size);
        }
        let draw = |_| {
            let mut places: Vec<usize> = (0..n).collect();
            (0..size).for_each(|i| places.swap(i, random.random_range(i..n)));
            places.truncate(size);
            places
        };
        (0..MOST_SUPPORTS).map(draw).collect()
    }

    /// Turns a step until neither end is expected to be liked better, where features are curved so much that a step
    /// across the slope is not enough.
    fn evened(
        &self,
        middle: &[f64],
        half: &[f64],
        slopes: &[Vec<f64>],
        support: &[usize],
        posterior: &Sites,
    ) -> Vec<f64> {
        if self.features.is_quadratic_at_most() {
            return half.to_vec();
        }
        let mut tilt = vec![0.0; half.len()];
        support.iter().for_each(|&i| tilt[i] = dot(&slopes[i], posterior.mean()));
        let Some(tilt) = direction(&tilt) else { return half.to_vec() };
        let turned = |angle: f64| plus(&scaled(half, angle.cos()), angle.sin() * norm(half), &tilt);
        let ahead = |angle: f64| {
            let half = turned(angle);
            let query = self.pair(middle, &scaled(&half, self.room(middle, &half)));
            dot(&self.difference(&query), posterior.mean())
        };
        let (mut low, mut high) = (-1.5, 1.5);
        if ahead(low) > 0.0 || ahead(high) < 0.0 {
            return half.to_vec();
        }
        for _ in 0..40 {
            let between = 0.5 * (low + high);
            if ahead(between) < 0.0 { low = between } else { high = between }
        }
        turned(0.5 * (low + high))
    }

    /// Absolute differences between groups: realise the wanted w coordinate by coordinate.
    fn best_of_groups(
        &self,
        wanted: &[f64],
        posterior: &Sites,
        known: &Direction,
        seed: u64,
    ) -> Option<Query> {
        let shares = self.features.shares()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut candidates = vec![];
        if shares.groups() == 2 {
            candidates.extend(realise(wanted, shares));
        } else {
            // Not every direction is reachable: try mixtures of wide axes, and keep what comes closest.
            for turn in 0..40 {
                let wanted = if turn == 0 { wanted.to_vec() } else { known.draw(&mut random) };
                if shares.groups() == 3 {
                    candidates.extend(realise(&wanted, shares));
                } else {
                    (0..10).for_each(|_| candidates.push(random_profiles(&wanted, shares, &mut random)));
                }
            }
        }
        let q = self.features.view().dimension() / shares.groups();
        let scored = candidates.into_iter().map(|(first, second)| {
            let (first, second) = self.balanced(first, second, posterior);
            let longest = first.chunks(q).chain(second.chunks(q)).map(norm).fold(1e-300, f64::max);
            let [first, second] =
                [first, second].map(|profile| self.features.absolute(&scaled(&profile, 1.0 / longest)));
            let query = Query::new(first, second);
            (self.score(&self.difference(&query), posterior, known), query)
        });
        scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, query)| query)
    }

    /// Moves all groups of both profiles together until neither is expected to be liked better.
    ///
    /// Differences between groups stay, so any pair of profiles can be made even.
    fn balanced(&self, first: Vec<f64>, second: Vec<f64>, posterior: &Sites) -> (Vec<f64>, Vec<f64>) {
        let groups = self.features.view().groups();
        let q = first.len() / groups;
        let w = scaled(&plus(&self.features.at(&first), -1.0, &self.features.at(&second)), 0.5);
        let performance = &posterior.mean()[..q];
        let size = dot(performance, performance);
        if size <= 0.0 {
            return (first, second);
        }
        let shift = scaled(performance, -dot(&w, posterior.mean()) / size).repeat(groups);
        (plus(&first, 1.0, &shift), plus(&second, -1.0, &shift))
    }
}

/// All sets of `size` of the first n numbers.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    match (n, size) {
        (_, 0) => vec![vec![]],
        _ if size > n => vec![],
        _ => {
            let with = subsets(n - 1, size - 1).into_iter().map(|set| [&set[..], &[n - 1]].concat());
            subsets(n - 1, size).into_iter().chain(with).collect()
        }
    }
}

/// The step d that narrows most among those with even odds, where features differ by the combination of `slopes`
/// with the entries of d.
pub(super) fn best_direction(
    slopes: &[Vec<f64>],
    posterior: &Sites,
    mean: &[f64],
    variance: f64,
) -> Option<Vec<f64>> {
    let n = slopes.len();
    let spreads: Vec<Vec<f64>> = slopes.iter().map(|row| posterior.spread(row)).collect();
    let tilt = direction(&applied(slopes, posterior.mean()));
    let off = |v: &[f64]| match &tilt {
        Some(t) => plus(v, -dot(v, t), t),
        None => v.to_vec(),
    };
    let across: Vec<Vec<f64>> = spreads.iter().map(|s| plus(s, -dot(s, mean), mean)).collect();
    let (gain, mut cost) = (products(&across, &across), products(slopes, &spreads));
    (0..n).for_each(|i| cost[i][i] += variance);
    // Both forms within the even-odds subspace, rows first and then columns; outside it the cost is 1 and the gain 0.
    let half = |matrix: &Matrix| transposed(&matrix.iter().map(|row| off(row)).collect::<Matrix>());
    let (gain, mut cost) = (half(&half(&gain)), half(&half(&cost)));
    if let Some(t) = &tilt {
        for (row, t_i) in cost.iter_mut().zip(t) {
            row.iter_mut().zip(t).for_each(|(entry, t_j)| *entry += t_i * t_j);
        }
    }
    let floor = 1e-12 * (0..n).map(|i| cost[i][i]).fold(0.0, f64::max);
    (0..n).for_each(|i| cost[i][i] += floor);
    // C = L^-1 G L^-T; row j of the inverse is column j of L^-1, that is, row j of L^-T.
    let columns = transposed(&inverse_transposed(&cholesky(&cost)?));
    let gained: Matrix = columns.iter().map(|c| applied(&gain, c)).collect();
    let top = eigen(&products(&columns, &gained)).1.pop()?;
    let found = columns.iter().zip(&top).fold(vec![0.0; n], |sum, (c, t)| plus(&sum, *t, c));
    direction(&found)
}

/// Two group profiles whose features differ along w, where that is possible.
///
/// In one coordinate, the absolute differences of two groups can be anything; those of three groups are sums over cuts
/// $c_1, c_2, c_3 \ge 0$ of which at least one is zero (the group in the middle). So a wanted difference of cuts can be
/// split into its positive part for one profile and its negative part for the other unless all three have one sign; then
/// the smallest is left out.
fn realise(w: &[f64], shares: &GroupShares) -> Option<(Vec<f64>, Vec<f64>)> {
    let (m, k) = (shares.groups(), shares.classes());
    let q = k * (k - 1);
    let (mut first, mut second) = (vec![0.0; m * q], vec![0.0; m * q]);
    for i in 0..q {
        let share = |g: usize| shares.get(g, i / (k - 1));
        let gaps: Vec<f64> = w[q + i..].iter().step_by(q).copied().collect();
        let cuts = match m {
            2 => vec![gaps[0], 0.0],
            // Pairs come in the order 01, 02, 12.
            _ => {
                let mut cuts = vec![
                    0.5 * (gaps[0] + gaps[1] - gaps[2]),
                    0.5 * (gaps[0] + gaps[2] - gaps[1]),
                    0.5 * (gaps[1] + gaps[2] - gaps[0]),
                ];
                if cuts.iter().all(|c| *c > 0.0) || cuts.iter().all(|c| *c < 0.0) {
                    let smallest = (0..3).min_by(|&a, &b| cuts[a].abs().total_cmp(&cuts[b].abs()))?;
                    cuts[smallest] = 0.0;
                }
                cuts
            }
        };
        for (profile, sign) in [(&mut first, 1.0), (&mut second, -1.0)] {
            let part: Vec<f64> = cuts.iter().map(|c| (sign * c).max(0.0)).collect();
            // Groups with a cut move apart to either side of the one without; two cuts go to opposite sides.
            let mut side = 1.0;
            let mut values = vec![0.0; m];
            for g in 0..m {
                if part[g] > 0.0 {
                    values[g] = side * part[g];
                    side = -side;
                }
            }
            // Shift all groups so that the overall rate is half the wanted difference.
            let overall: f64 = (0..m).map(|g| share(g) * values[g]).sum();
            for g in 0..m {
                profile[g * q + i] = values[g] - overall + sign * 0.5 * w[i];
            }
        }
    }
    Some((first, second))
}

/// Two random profiles that lean the way w does.
fn random_profiles(w: &[f64], shares: &GroupShares, random: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Vec<f64>) {
    let (m, k) = (shares.groups(), shares.classes());
    let q = k * (k - 1);
    let mut profile = |sign: f64| {
        let mut values = vec![0.0; m * q];
        for i in 0..q {
            // A random split of the groups in this coordinate, scaled by how much the pairs it separates matter.
            let apart: Vec<bool> = (0..m).map(|_| random.random_bool(0.5)).collect();
            let wanted: f64 = pairs(m)
                .enumerate()
                .filter(|(_, [u, v])| apart[*u] != apart[*v])
                .map(|(n, _)| sign * w[q + n * q + i])
                .sum();
            let size = wanted.max(0.0) * random.random_range(0.2..1.0);
            let share = |g: usize| shares.get(g, i / (k - 1));
            let overall: f64 = (0..m).filter(|&g| apart[g]).map(|g| share(g) * size).sum();
            for g in 0..m {
                values[g * q + i] = if apart[g] { size } else { 0.0 } - overall + sign * 0.5 * w[i];
            }
        }
        values
    };
    (profile(1.0), profile(-1.0))
}

#[cfg(test)]
mod tests {
    use super::super::probit::Said;
    use super::*;
    use crate::linalg::{angle, normals};
    use crate::view::{Measure, View};

    /// Whatever the family: a tilted pair is feasible, favours its first point, and differs where it differed before.
    #[test]
    fn tilted_pairs_favour_the_first_point_and_stay_feasible() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let shares = crate::testing::random::shares(2, 3, &mut random);
        let diagonal = View::new(Measure::DiagonalRates, 5, 1).unwrap();
        let grouped = View::new(Measure::GroupRates, 2, 3).unwrap();
        for (features, rows_that_differ) in [
            (Features::linear(diagonal, vec![0.5; 5], 0.1), None),
            (Features::linear(diagonal, vec![0.5; 5], 0.1), Some(3)),
            (Features::quadratic(diagonal, vec![0.5; 5], 0.1), None),
            (Features::group_fair(grouped, vec![0.5; 6], 0.1, shares), None),
        ] {
            let probit = Probit { variance: 1e-4, ..Probit::CERTAIN };
            let groups = features.view().groups();
            let chooser = Chooser { features, reach: Reach::Ball, probit, rows_that_differ };
            let mut posterior = Sites::new(chooser.features.dimension(), 1.0);
            let some: Vec<f64> =
                (0..posterior.dimension()).map(|_| StandardNormal.sample(&mut random)).collect();
            posterior.add(some, Probit { variance: 0.01, ..Probit::CERTAIN }, Said::Positive);
            posterior.settle(20, 1e-9);
            let even = chooser.best(&posterior, &Direction::of(&posterior), &[], 1).unwrap();
            let ahead = |query: &Query| dot(&chooser.difference(query), posterior.mean());
            for angle in [0.05, 0.3, 1.0] {
                let tilted = chooser.tilted(&even, &posterior, angle).unwrap();
                assert!(ahead(&tilted) > ahead(&even) + 1e-3, "{angle}: {} {}", ahead(&even), ahead(&tilted));
                for point in [&tilted.first, &tilted.second] {
                    let relative = chooser.features.relative(point);
                    assert!(relative.chunks(relative.len() / groups).all(|part| norm(part) <= 1.0 + 1e-9));
                }
                let differs = |query: &Query, i: usize| (query.first[i] - query.second[i]).abs() > 1e-9;
                assert!(
                    (0..even.first.len()).all(|i| groups > 1 || differs(&even, i) || !differs(&tilted, i))
                );
            }
        }
    }

    /// Of thirty coordinates all but one: thirty sets, though there are a thousand million smaller ones.
    #[test]
    fn sets_of_coordinates_are_listed_without_the_smaller_ones() {
        assert_eq!(subsets(4, 2), [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
        let view = View::new(Measure::OffDiagonalRates, 6, 1).unwrap();
        let features = Features::linear(view, vec![0.5; 30], 0.1);
        let probit = Probit { variance: 1e-4, ..Probit::CERTAIN };
        let chooser = Chooser { features, reach: Reach::Ball, probit, rows_that_differ: Some(29) };
        let found = chooser.supports(30, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        assert!(found.len() == 30 && found.iter().all(|set| set.len() == 29));
    }

    #[test]
    fn two_groups_reach_every_direction_and_three_most() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        for m in [2, 3] {
            let shares = crate::testing::random::shares(2, m, &mut random);
            let view = View::new(Measure::GroupRates, 2, m).unwrap();
            let features = Features::group_fair(view, vec![0.0; 2 * m], 1.0, shares.clone());
            let mut exact = 0;
            for _ in 0..50 {
                let w: Vec<f64> =
                    (0..features.dimension()).map(|_| StandardNormal.sample(&mut random)).collect();
                let (first, second) = realise(&w, &shares).unwrap();
                let found = plus(&features.at(&first), -1.0, &features.at(&second));
                exact += usize::from(angle(&found, &w) < 1e-9);
            }
            assert!(if m == 2 { exact == 50 } else { exact > 10 }, "{m}: {exact}");
        }
    }

    /// Brute force over all steps of even odds.
    #[test]
    fn the_best_direction_is_the_best_of_very_many() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let probit = Probit { variance: 0.05, ..Probit::CERTAIN };
        for d in [3, 4, 6] {
            let mut posterior = Sites::new(d, 1.0);
            for _ in 0..d {
                posterior.add(normals(d, &mut random), probit, Said::Positive);
            }
            posterior.settle(30, 1e-9);
            let mean = Direction::of(&posterior).mean;
            let slopes: Vec<Vec<f64>> = (0..3).map(|_| normals(d, &mut random)).collect();
            let change = |step: &[f64]| {
                slopes.iter().zip(step).fold(vec![0.0; d], |sum, (slope, x)| plus(&sum, *x, slope))
            };
            let value = |step: &[f64]| {
                let w = change(step);
                let spread = posterior.spread(&w);
                let across = plus(&spread, -dot(&spread, &mean), &mean);
                dot(&across, &across) / (dot(&w, &spread) + probit.variance * dot(step, step))
            };
            let found = best_direction(&slopes, &posterior, &mean, probit.variance).unwrap();
            assert!(dot(&change(&found), posterior.mean()).abs() < 1e-9);
            let tilt: Vec<f64> = slopes.iter().map(|slope| dot(slope, posterior.mean())).collect();
            let tilt = direction(&tilt).unwrap();
            let steps = (0..20_000).map(|_| normals(3, &mut random));
            let best = steps.map(|step| value(&plus(&step, -dot(&step, &tilt), &tilt))).fold(0.0, f64::max);
            assert!(best <= value(&found) * (1.0 + 1e-9), "{d}: {best} {}", value(&found));
            assert!(best >= value(&found) * 0.999, "{d}: {best} {}", value(&found));
        }
    }
}
