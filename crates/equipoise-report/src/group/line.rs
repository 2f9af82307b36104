//! People on a line: each one's answers as a likelihood on evenly spaced places, and what they have in common.

use crate::jobs::all;
use serde::Serialize;

/// Places of the line. A step is then a twentieth of a unit of the log ratio, below what comparisons resolve.
const PLACES: usize = 201;

/// How many spreads between people are considered.
const SPREADS: usize = 24;

/// How much better (in BIC) one more cluster must explain the answers: strong evidence by the usual reading (Kass and
/// Raftery 1995).
const STRONG: f64 = 6.0;

/// The most clusters looked for.
const MOST_CLUSTERS: usize = 3;

/// Rounds of the search for clusters.
const ROUNDS: usize = 80;

/// People who are added up by one thread, before those are.
const TOGETHER: usize = 64;

/// A likelihood of this share of its top is none.
const NOTHING: f64 = 1e-12;

/// People's likelihoods on common places.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    first: f64,
    step: f64,
    people: Vec<Vec<f64>>,
}

/// What the population is like, and each person in its light.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// Probabilities of the typical place, place by place.
    pub typical: Vec<f64>,
    /// Spreads between people with their probabilities.
    pub spread: Vec<(f64, f64)>,
    /// Each person's posterior given everybody's answers.
    pub shrunk: Vec<Vec<f64>>,
}

/// People who answer alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Where its middle is.
    pub middle: f64,
    /// The share of people in it.
    pub share: f64,
}

/// How many clusters there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// From low to high.
    pub clusters: Vec<Cluster>,
    /// The spread within a cluster.
    pub spread: f64,
    /// Per person, how likely they are in each cluster.
    pub members: Vec<Vec<f64>>,
    /// How much better (in BIC) 2, 3, ... clusters explain the answers than one fewer.
    pub gains: Vec<f64>,
}

/// One person's likelihood on the places of a line: what is kept of a posterior.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Thinned {
    low: f64,
    step: f64,
    sums: Vec<f64>,
}

impl Thinned {
    /// From a posterior under an even prior, on evenly spaced places.
    pub(crate) fn of(density: &[(f64, f64)]) -> Option<Self> {
        let (low, high) = (density.first()?.0, density.last()?.0);
        let step = (high - low) / (PLACES - 1) as f64;
        let mut sums = vec![0.0; PLACES];
        for (place, mass) in density {
            sums[(((place - low) / step).round() as usize).min(PLACES - 1)] += mass;
        }
        // The half cells at the ends.
        sums[0] *= 2.0;
        sums[PLACES - 1] *= 2.0;
        Some(Self { low, step, sums })
    }
}

impl Line {
    /// From posteriors under an even prior, each on the same evenly spaced places.
    pub fn of_densities(densities: &[Vec<(f64, f64)>]) -> Option<Self> {
        let thinned: Vec<Thinned> = densities.iter().filter_map(|density| Thinned::of(density)).collect();
        Self::of_thinned(thinned.iter())
    }

    pub(crate) fn of_thinned<'a>(people: impl Iterator<Item = &'a Thinned>) -> Option<Self> {
        let mut people = people.peekable();
        let Thinned { low, step, .. } = **people.peek()?;
        Some(Self { first: low, step, people: people.map(|person| person.sums.clone()).collect() })
    }

    /// From estimates with standard deviations.
    pub fn of_normals(people: &[(f64, f64)]) -> Option<Self> {
        let low = people.iter().map(|(mean, sd)| mean - 4.0 * sd).reduce(f64::min)?;
        let high = people.iter().map(|(mean, sd)| mean + 4.0 * sd).reduce(f64::max)?;
        let step = ((high - low) / (PLACES - 1) as f64).max(1e-12);
        let likelihood = |(mean, sd): &(f64, f64)| {
            let sd = sd.max(0.5 * step);
            let at = |place: usize| (low + step * place as f64 - mean) / sd;
            (0..PLACES).map(|place| (-0.5 * at(place).powi(2)).exp()).collect()
        };
        Some(Self { first: low, step, people: people.iter().map(likelihood).collect() })
    }

    /// The value at a place.
    pub fn at(&self, place: usize) -> f64 {
        self.first + self.step * place as f64
    }

    /// The value below which a share of the masses lies, even within a step.
    pub fn quantile(&self, masses: &[f64], share: f64) -> f64 {
        let total: f64 = masses.iter().sum();
        let mut below = 0.0;
        for (place, mass) in masses.iter().enumerate() {
            if *mass > 0.0 && below + mass >= share * total {
                let within = (share * total - below) / mass - 0.5;
                let value = self.first + self.step * (place as f64 + within);
                return value.clamp(self.first, self.at(masses.len() - 1));
            }
            below += mass;
        }
        self.at(masses.len().saturating_sub(1))
    }

    /// A normal curve around 0 by number of steps from it, cut off where it is nothing.
    fn kernel(&self, spread: f64) -> Vec<f64> {
        let at = |n: usize| (-0.5 * (n as f64 * self.step / spread).powi(2)).exp();
        (0..PLACES).map(at).take_while(|height| *height > 1e-8).collect()
    }

    /// Each person is a draw from a normal population whose middle may be anywhere and whose spread is, before any
    /// answer, half-normal with scale 1. Everything is summed over a grid.
    pub fn population(&self) -> Population {
        let weights = self.weights();
        let shrunk = all(self.people.len(), |n| self.shrunk(&self.people[n], &weights));
        let typical = self.middles(&weights);
        let spread = weights.chunks(PLACES).zip(0..).map(|(row, n)| (self.spread(n), row.iter().sum()));
        Population { typical, spread: spread.collect(), shrunk }
    }

    /// The typical place alone.
    pub(crate) fn typical(&self) -> Vec<f64> {
        self.middles(&self.weights())
    }

    fn middles(&self, weights: &[f64]) -> Vec<f64> {
        let mut typical = vec![0.0; PLACES];
        for row in weights.chunks(PLACES) {
            typical.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
        }
        typical
    }

    /// The spreads between people that are considered: even in the logarithm.
    fn spread(&self, n: usize) -> f64 {
        let (least, most) = (0.5 * self.step, 3.0_f64);
        least * (most / least).powf(n as f64 / (SPREADS - 1) as f64)
    }

    /// How likely every spread with every middle is, given everybody's answers.
    fn weights(&self) -> Vec<f64> {
        let kernels: Vec<Vec<f64>> = (0..SPREADS).map(|n| self.kernel(self.spread(n))).collect();
        let norms: Vec<f64> = kernels
            .iter()
            .flat_map(|kernel| (0..PLACES).map(|middle| around(middle, kernel).map(|(_, k)| k).sum::<f64>()))
            .collect();
        // So many people at a time, whoever adds them up: sums are the same bits on any number of processors.
        let some: Vec<&[Vec<f64>]> = self.people.chunks(TOGETHER).collect();
        let sums = all(some.len(), |n| {
            let mut logs = vec![0.0; SPREADS * PLACES];
            for person in some[n] {
                let support = Support::of(person);
                for (place, log) in logs.iter_mut().enumerate() {
                    let sum = support.sum(place % PLACES, &kernels[place / PLACES]);
                    *log += (sum / norms[place]).max(1e-300).ln();
                }
            }
            logs
        });
        let mut logs: Vec<f64> = (0..SPREADS * PLACES)
            .map(|place| {
                let spread = self.spread(place / PLACES);
                // The places of the grid are even in the logarithm of the spread.
                spread.ln() - 0.5 * spread * spread
            })
            .collect();
        for sum in &sums {
            logs.iter_mut().zip(sum).for_each(|(log, more)| *log += more);
        }
        let top = logs.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// One person's posterior given everybody's answers.
    fn shrunk(&self, person: &[f64], weights: &[f64]) -> Vec<f64> {
        let support = Support::of(person);
        let mut shrunk = vec![0.0; PLACES];
        for (n, row) in weights.chunks(PLACES).enumerate() {
            let kernel = self.kernel(self.spread(n));
            for (middle, weight) in row.iter().enumerate().filter(|(_, weight)| **weight >= 1e-7) {
                let sum = support.sum(middle, &kernel);
                if sum > 0.0 {
                    support
                        .around(middle, &kernel)
                        .for_each(|(x, k)| shrunk[x] += weight * k * person[x] / sum);
                }
            }
        }
        shrunk
    }

    /// As many clusters as the answers give strong evidence of.
    ///
    /// A cluster is a normal population of its own; all have the same spread. Clusters are added one at a time as long as BIC, on
    /// the likelihoods of the people's answers, gets better by a clear margin.
    pub fn clusters(&self) -> Clusters {
        let criterion = |fit: &Fit, clusters: usize| {
            -2.0 * fit.log + (2 * clusters) as f64 * (self.people.len().max(1) as f64).ln()
        };
        let mut best = self.fit(1);
        let mut gains = vec![];
        let mut settled = false;
        for count in 2..=MOST_CLUSTERS.min(self.people.len()) {
            let fit = self.fit(count);
            let gain = criterion(&best, count - 1) - criterion(&fit, count);
            gains.push(gain);
            settled |= gain < STRONG;
            if settled {
                break;
            }
            best = fit;
        }
        let mut order: Vec<usize> = (0..best.middles.len()).collect();
        order.sort_by(|a, b| best.middles[*a].total_cmp(&best.middles[*b]));
        let cluster = |n: &usize| Cluster { middle: best.middles[*n], share: best.shares[*n] };
        Clusters {
            clusters: order.iter().map(cluster).collect(),
            spread: best.spread,
            members: best.members.iter().map(|row| order.iter().map(|n| row[*n]).collect()).collect(),
            gains,
        }
    }

    /// The likeliest so many clusters, by expectation and maximisation from several starts.
    fn fit(&self, count: usize) -> Fit {
        let mut middles: Vec<f64> = self.people.iter().map(|person| self.quantile(person, 0.5)).collect();
        middles.sort_by(f64::total_cmp);
        let quantiles: Vec<f64> =
            (0..count).map(|n| middles[(2 * n + 1) * middles.len() / (2 * count)]).collect();
        let mut gaps: Vec<usize> = (1..middles.len()).collect();
        gaps.sort_by(|a, b| (middles[*b] - middles[b - 1]).total_cmp(&(middles[*a] - middles[a - 1])));
        let mut cuts: Vec<usize> = gaps.into_iter().take(count - 1).collect();
        cuts.extend([0, middles.len()]);
        cuts.sort_unstable();
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let parted: Vec<f64> = cuts.windows(2).map(|ends| mean(&middles[ends[0]..ends[1]])).collect();
        let starts = if count == 1 { vec![parted] } else { vec![quantiles, parted] };
        let fits = starts.into_iter().filter(|start| start.len() == count).map(|start| self.climb(start));
        fits.reduce(|best, fit| if fit.log > best.log { fit } else { best }).unwrap_or_default()
    }

    fn climb(&self, middles: Vec<f64>) -> Fit {
        let count = middles.len();
        let mut fit = Fit {
            middles,
            shares: vec![1.0 / count as f64; count],
            spread: 0.3 / count as f64,
            ..Default::default()
        };
        for _ in 0..ROUNDS {
            let before = fit.log;
            let (mut mass, mut sum, mut square) = (vec![0.0; count], vec![0.0; count], 0.0);
            (fit.log, fit.members) = (0.0, vec![]);
            let curves: Vec<Vec<f64>> = fit
                .middles
                .iter()
                .map(|middle| {
                    let height = |x: usize| (-0.5 * ((self.at(x) - middle) / fit.spread).powi(2)).exp();
                    let curve: Vec<f64> = (0..PLACES).map(height).collect();
                    let norm: f64 = curve.iter().sum();
                    curve.iter().map(|height| height / norm.max(1e-300)).collect()
                })
                .collect();
            for person in &self.people {
                let mut parts = vec![];
                for (n, curve) in curves.iter().enumerate() {
                    let (mut chance, mut first, mut second) = (0.0, 0.0, 0.0);
                    for (x, (k, likelihood)) in curve.iter().zip(person).enumerate() {
                        let (joint, off) = (k * likelihood, self.at(x) - fit.middles[n]);
                        chance += joint;
                        first += joint * off;
                        second += joint * off * off;
                    }
                    parts.push((
                        fit.shares[n] * chance,
                        first / chance.max(1e-300),
                        second / chance.max(1e-300),
                    ));
                }
                let total: f64 = parts.iter().map(|part| part.0).sum::<f64>().max(1e-300);
                fit.log += total.ln();
                fit.members.push(parts.iter().map(|part| part.0 / total).collect());
                for (n, (chance, first, second)) in parts.into_iter().enumerate() {
                    let share = chance / total;
                    mass[n] += share;
                    sum[n] += share * first;
                    square += share * second;
                }
            }
            let people = self.people.len() as f64;
            let mut moved = 0.0;
            for n in 0..count {
                if mass[n] > 1e-9 {
                    let step = sum[n] / mass[n];
                    fit.middles[n] += step;
                    moved += mass[n] * step * step;
                }
                fit.shares[n] = mass[n] / people;
            }
            // Finer than the grid cannot be told.
            fit.spread = ((square - moved) / people).max(0.0).sqrt().max(0.75 * self.step);
            if (fit.log - before).abs() < 1e-6 {
                break;
            }
        }
        fit
    }
}

/// Clusters while they are looked for.
#[derive(Debug, Clone, Default)]
struct Fit {
    middles: Vec<f64>,
    shares: Vec<f64>,
    spread: f64,
    members: Vec<Vec<f64>>,
    log: f64,
}

/// Places around a middle with the height of the curve there.
fn around(middle: usize, kernel: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    let reach = kernel.len() - 1;
    let (from, to) = (middle.saturating_sub(reach), (middle + reach).min(PLACES - 1));
    (from..=to).map(move |x| (x, kernel[x.abs_diff(middle)]))
}

/// Where somebody's likelihood is more than nothing: most of the line is far from what they hold.
struct Support<'a> {
    person: &'a [f64],
    from: usize,
    to: usize,
}

impl<'a> Support<'a> {
    fn of(person: &'a [f64]) -> Self {
        let least = NOTHING * person.iter().copied().fold(0.0, f64::max);
        let there = |x: &usize| person[*x] > least;
        let from = (0..PLACES).find(there).unwrap_or(0);
        let to = (0..PLACES).rev().find(there).unwrap_or(PLACES - 1);
        Self { person, from, to }
    }

    /// Places of it around a middle with the height of the curve there.
    fn around(&self, middle: usize, kernel: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let reach = kernel.len() - 1;
        let (from, to) = (middle.saturating_sub(reach).max(self.from), (middle + reach).min(self.to));
        (from..=to).map(move |x| (x, kernel[x.abs_diff(middle)]))
    }

    /// What the likelihood is under the curve: to the right of its middle, and to the left.
    fn sum(&self, middle: usize, kernel: &[f64]) -> f64 {
        let (right, left) = (middle.max(self.from), middle.min(self.to + 1));
        let mut sum = 0.0;
        if right <= self.to && right - middle < kernel.len() {
            sum += dot(self.person[right..=self.to].iter(), &kernel[right - middle..]);
        }
        if self.from < left && middle - left + 1 < kernel.len() {
            sum += dot(self.person[self.from..left].iter().rev(), &kernel[middle - left + 1..]);
        }
        sum
    }
}

/// As far as both go, in four sums: one would wait for itself.
fn dot<'a>(values: impl Iterator<Item = &'a f64>, heights: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (n, (value, height)) in values.zip(heights).enumerate() {
        sums[n % 4] += value * height;
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(people: &[f64], sd: f64) -> Line {
        Line::of_normals(&people.iter().map(|x| (*x, sd)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn sums_under_a_curve_are_those_place_by_place() {
        let line = normals(&[1.0, 2.0, 2.5], 0.1);
        for person in &line.people {
            let support = Support::of(person);
            for spread in [0.02, 0.1, 0.5, 3.0] {
                let kernel = line.kernel(spread);
                for middle in 0..PLACES {
                    let plain: f64 = around(middle, &kernel).map(|(x, k)| k * person[x]).sum();
                    let found = support.sum(middle, &kernel);
                    assert!((found - plain).abs() <= 1e-9, "{spread} {middle}: {found} {plain}");
                }
            }
        }
    }

    #[test]
    fn known_people_have_their_own_mean_and_spread() {
        let people = [0.1, 0.9, 1.4, 2.2, 2.9, 3.5];
        // On a line much longer than the people are apart, as log ratios are.
        let at = |place: usize| 0.02 * place as f64 - 5.0;
        let density = |person: &f64| -> Vec<(f64, f64)> {
            (0..501).map(|n| (at(n), (-0.5 * ((at(n) - person) / 0.05).powi(2)).exp())).collect()
        };
        let line = Line::of_densities(&people.iter().map(density).collect::<Vec<_>>()).unwrap();
        let found = line.population();
        let mean = people.iter().sum::<f64>() / 6.0;
        let middle = line.quantile(&found.typical, 0.5);
        assert!((middle - mean).abs() < 0.1, "{middle} {mean}");
        let expected: f64 = found.spread.iter().map(|(spread, mass)| spread * mass).sum();
        assert!((expected - 1.27).abs() < 0.35, "{expected}");
        // Well known, so hardly moved.
        for (person, shrunk) in people.iter().zip(&found.shrunk) {
            assert!((line.quantile(shrunk, 0.5) - person).abs() < 0.05);
        }
    }

    #[test]
    fn people_of_whom_little_is_known_are_moved_to_the_others() {
        let line = Line::of_normals(&[(1.0, 0.1), (1.1, 0.1), (0.9, 0.1), (1.0, 0.1), (3.0, 1.5)]).unwrap();
        let found = line.population();
        assert!(line.quantile(&found.shrunk[4], 0.5) < 1.8);
    }

    #[test]
    fn clusters_are_told_apart_and_one_is_not_split() {
        let two = normals(&[1.0, 1.1, 1.2, 0.9, 1.05, 3.3, 3.4, 3.5, 3.45, 3.3], 0.15).clusters();
        assert_eq!(two.clusters.len(), 2);
        assert!((two.clusters[0].middle - 1.05).abs() < 0.1 && (two.clusters[1].middle - 3.39).abs() < 0.1);
        assert!(two.members[0][0] > 0.99 && two.members[9][1] > 0.99);
        let one = normals(&[1.0, 1.1, 1.2, 0.9, 1.05, 1.3, 1.4, 0.7, 0.8, 1.15], 0.15).clusters();
        assert_eq!(one.clusters.len(), 1);
    }
}
