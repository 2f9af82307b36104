//! Two classes, one number: the cost ratio, with its exact posterior on a grid.
//!
//! A linear two-class metric is its cost ratio: how many false alarms one missed case is worth. One number is few
//! enough for a grid, and so are the two numbers that describe how a person errs: how steeply the chance of the better
//! answer rises with the difference, and how often an answer has nothing to do with the question. The posterior of all
//! three together is exact (to the grid), so that the interval of the ratio allows for not knowing the noise.

use super::roll_out::RollOut;
use super::{Belief, Width};
use crate::ask::{Answer, Answered, Chances, Finding, NoiseModel, Preference, Query};
use crate::engine::check::{STANDS_OUT, contradicted};
use crate::engine::normal::entropy;
use crate::engine::progress::Imagined;
use crate::metric::{Metric, RatioInterval, Sense};
use crate::space::{Binary, Space as _};

/// Grid places: ratios from 1/200 to 200, evenly in the logarithm.
const RATIOS: usize = 801;

/// A log ratio beyond which every boundary has ended.
const FAR: f64 = 60.0;

/// How far questions may reach from the best classifier towards the ends of the boundary.
pub(super) const REACHES: [f64; 4] = [0.1, 0.3, 0.6, 0.95];

/// Questions are even to a ratio with one of these shares of the posterior below it.
pub(super) const SHARES: [f64; 3] = [0.3, 0.5, 0.7];

/// Ratios in either tail of this weight are left off where a rough answer will do.
const RULED_OUT: f64 = 1e-5;

/// Questions closer than this in every coordinate are the same question.
const SAME: f64 = 1e-9;

/// Ratios from 1/200 to 200.
pub const LARGEST_RATIO: f64 = 200.0;

/// The ratios of a grid: evenly spaced logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    step: f64,
}

impl Scale {
    /// All ratios of the population.
    fn full() -> Self {
        let range = LARGEST_RATIO.ln();
        Self { low: -range, step: 2.0 * range / (RATIOS - 1) as f64 }
    }

    /// The logarithm of the ratio at a place.
    fn at(self, place: f64) -> f64 {
        self.low + self.step * place
    }

    /// The log ratio below which a share of the masses lies, linear within a grid cell.
    pub fn quantile(self, masses: &[f64], share: f64) -> f64 {
        let last = (masses.len() - 1) as f64;
        let mut below = 0.0;
        for (place, mass) in masses.iter().enumerate() {
            if below + mass >= share && *mass > 0.0 {
                let within = (share - below) / mass - 0.5;
                return self.at((place as f64 + within).clamp(0.0, last));
            }
            below += mass;
        }
        self.at(last)
    }

    /// How likely the threshold is within `tolerance` of the one the middle of the masses leads to.
    pub fn threshold_settled(self, masses: &[f64], tolerance: f64) -> f64 {
        let threshold = |log_ratio: f64| 1.0 / (1.0 + log_ratio.exp());
        let chosen = threshold(self.quantile(masses, 0.5));
        let near = |place: &usize| (threshold(self.at(*place as f64)) - chosen).abs() <= tolerance;
        (0..masses.len()).filter(near).map(|place| masses[place]).sum()
    }
}

/// A joint posterior of the cost ratio and the noise.
///
/// ```
/// use equipoise::{Preference, Query, engine::Adaptive, population::Logistic, space::Binary};
/// let mut belief = Adaptive::ratio(Binary::from_law(Logistic::new(5.0)?)).start();
/// let query = belief.questions(0).next().unwrap();
/// assert!(belief.bits(&query) > 0.5 && belief.bits(&query) < 1.0); // nobody is certain to answer right
/// belief.take(&query, &Preference::First.into());
/// assert!(belief.quantile(0.5).unwrap() > 2.0); // the first point has more true positives
/// // Whoever prefers a classifier that is worse in both respects was not looking: nothing is learnt of the ratio.
/// let (ratio, before) = (belief.quantile(0.5).unwrap(), belief.noise().unwrap().lapse());
/// belief.take_check(&Query::new(vec![0.4, 0.4], vec![0.3, 0.3]), &Preference::Second.into());
/// assert!(belief.noise().unwrap().lapse() > 1.2 * before);
/// assert!((belief.quantile(0.5).unwrap() / ratio).ln().abs() < 0.1);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Grid {
    space: Binary,
    unit: f64,
    scale: Scale,
    noises: Vec<NoiseModel>,
    /// Logarithm of the posterior, noise by noise, ratio by ratio.
    logs: Vec<Vec<f64>>,
    /// The posterior itself, kept in step with `logs`.
    masses: Vec<Vec<f64>>,
    /// The same without the noise.
    marginal: Vec<f64>,
    answered: Vec<Answered>,
    /// Whether the person has ever said "can't tell".
    hesitates: bool,
}

impl Grid {
    /// Every ratio on the grid equally likely, every noise that may be true as likely as it is listed.
    pub fn new(space: Binary, noise: NoiseModel) -> Self {
        match noise {
            NoiseModel::Unknown => Self::of_models(space, &NoiseModel::population()),
            known => Self::of_models(space, &[(known, 1.0)]),
        }
    }

    fn of_models(space: Binary, models: &[(NoiseModel, f64)]) -> Self {
        let unit = crate::search::inscribed_radius(&space);
        let logs = models.iter().map(|(_, weight)| vec![weight.ln(); RATIOS]).collect();
        let noises = models.iter().map(|(noise, _)| *noise).collect();
        Self::from_logs(space, unit, Scale::full(), noises, logs)
    }

    fn from_logs(
        space: Binary,
        unit: f64,
        scale: Scale,
        noises: Vec<NoiseModel>,
        logs: Vec<Vec<f64>>,
    ) -> Self {
        let (masses, marginal, answered, hesitates) = (vec![], vec![], vec![], false);
        let mut made = Self { space, unit, scale, noises, logs, masses, marginal, answered, hesitates };
        made.refresh();
        made
    }

    /// The same belief on about `most` places: ratios that are as good as ruled out are left off, and neighbours stand
    /// together for each other; so does every `noises`-th noise.
    ///
    /// For what is only worth a rough answer, such as guessing how many questions are left.
    pub(super) fn thinned(&self, most: usize, noises: usize) -> Self {
        let mut below = 0.0;
        let possible: Vec<usize> = (0..self.marginal.len())
            .filter(|place| {
                below += self.marginal[*place];
                below > RULED_OUT && below - self.marginal[*place] < 1.0 - RULED_OUT
            })
            .collect();
        let (first, last) = (possible.first().copied().unwrap_or(0), possible.last().copied().unwrap_or(0));
        let stride = (last + 1 - first).div_ceil(most);
        let middle = first as f64 + 0.5 * (stride - 1) as f64;
        let scale = Scale { low: self.scale.at(middle), step: self.scale.step * stride as f64 };
        let together = |rows: &[Vec<f64>]| -> Vec<f64> {
            let mut sums = vec![0.0_f64; (last + 1 - first).div_ceil(stride)];
            for row in rows {
                row[first..=last].iter().enumerate().for_each(|(n, mass)| sums[n / stride] += mass);
            }
            sums.into_iter().map(|mass| mass.max(1e-300).ln()).collect()
        };
        let logs = self.masses.chunks(noises).map(together).collect();
        let noises = self.noises.chunks(noises).map(|near| near[near.len() / 2]).collect();
        Self::from_logs(self.space.clone(), self.unit, scale, noises, logs)
    }

    /// The radius of the largest disc inside the achievable set: the unit of differences.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The difference of two points in the disc's units, under the ratio at a grid place.
    fn difference(&self, query: &Query, place: usize) -> f64 {
        difference(query, self.scale.at(place as f64)) / self.unit
    }

    fn differences(&self, query: &Query) -> Vec<f64> {
        (0..self.logs[0].len()).map(|place| self.difference(query, place)).collect()
    }

    /// How likely answer n is right to all the others, noise aside; `None` for "can't tell".
    fn chance_without(&self, n: usize) -> Option<f64> {
        let Answered { query, preference, shown } = self.answered.get(n)?;
        let sign = match preference {
            Preference::First => 1.0,
            Preference::Second => -1.0,
            Preference::CannotTell => return None,
        };
        let differences = self.differences(shown.as_ref().unwrap_or(query));
        let hesitates = self.answered[..n].iter().any(|other| other.preference == Preference::CannotTell);
        let (mut right, mut all) = (0.0, 0.0);
        for (noise, masses) in self.noises.iter().zip(&self.masses) {
            for (mass, t) in masses.iter().zip(&differences) {
                let without = mass / chance(noise, *t, *preference, hesitates);
                all += without;
                right += if sign * t > 0.0 { without } else { 0.0 };
            }
        }
        (all > 0.0).then(|| right / all)
    }

    /// Brings the posterior in step with its logarithm.
    fn refresh(&mut self) {
        let top = self.logs.iter().flatten().fold(f64::MIN, |m, x| m.max(*x));
        self.logs.iter_mut().flatten().for_each(|log| *log -= top);
        self.masses = self.logs.iter().map(|logs| logs.iter().map(|log| log.exp()).collect()).collect();
        let total: f64 = self.masses.iter().flatten().sum();
        self.marginal = vec![0.0; self.logs[0].len()];
        for row in &mut self.masses {
            for (mass, sum) in row.iter_mut().zip(&mut self.marginal) {
                *mass /= total;
                *sum += *mass;
            }
        }
    }

    /// The ratio below which a share of the posterior lies.
    fn at(&self, share: f64) -> f64 {
        self.scale.quantile(&self.marginal, share).exp()
    }

    /// The metric with a cost ratio, its weights of length 1.
    fn metric_of(&self, ratio: f64) -> Metric {
        let metric = Metric::linear(self.space.view(), Sense::Utility, vec![ratio, 1.0]);
        metric.expect("positive weights").normal_form()
    }

    /// The ratios of the grid.
    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    /// The posterior, noise by noise, ratio by ratio.
    pub(super) fn masses(&self) -> &[Vec<f64>] {
        &self.masses
    }

    /// The posterior of the ratio alone.
    pub(super) fn marginal(&self) -> &[f64] {
        &self.marginal
    }

    /// How likely the first of two points is chosen, noise by noise, ratio by ratio, in one list.
    pub(super) fn chances_of_first(&self, query: &Query) -> Vec<f64> {
        let differences = self.differences(query);
        let of_noise =
            |noise: &NoiseModel| differences.iter().map(|t| noise.chance_of_first(*t)).collect::<Vec<_>>();
        self.noises.iter().flat_map(of_noise).collect()
    }

    /// A person drawn from the posterior by two even shares: the logarithm of their ratio, and their noise.
    pub(super) fn draw(&self, mut share: f64, within: f64) -> (f64, NoiseModel) {
        for (noise, row) in self.noises.iter().zip(&self.masses) {
            for (place, mass) in row.iter().enumerate() {
                if share < *mass {
                    return (self.scale.at(place as f64 + within - 0.5), *noise);
                }
                share -= mass;
            }
        }
        (self.at(0.5).ln(), self.noises[0])
    }

    /// Two boundary classifiers that are equally good under a ratio, one on either side of its best one.
    ///
    /// One of them is `reach` of the way from the best classifier to the end of the boundary (everybody accepted, or
    /// nobody), measured in what it gives up; the other is its counterpart.
    pub(super) fn chord(&self, ratio: f64, reach: f64) -> Option<Query> {
        let (sin, cos) = (1.0 / ratio).atan().sin_cos();
        let value = |p: [f64; 2]| cos * p[0] + sin * p[1];
        let at = |log_ratio: f64| self.space.at_angle((-log_ratio).exp().atan());
        let best = value(at(ratio.ln()));
        let ends = [FAR, -FAR];
        let loss = ends.map(|end| best - value(at(end)));
        // The end that is less bad limits how much both can give up.
        let level = best - reach * loss[0].min(loss[1]);
        let [first, second] = ends.map(|end| {
            let (mut near, mut far) = (ratio.ln(), end);
            for _ in 0..50 {
                let half = 0.5 * (near + far);
                if value(at(half)) >= level { near = half } else { far = half }
            }
            at(near)
        });
        let apart = (first[0] - second[0]).abs() + (first[1] - second[1]).abs() > 1e-9;
        apart.then(|| Query::new(first.to_vec(), second.to_vec()))
    }
}

impl Belief for Grid {
    fn answered(&self) -> &[Answered] {
        &self.answered
    }

    fn take(&mut self, query: &Query, answer: &Answer) {
        let differences = self.differences(answer.shown.as_ref().unwrap_or(query));
        self.hesitates |= answer.preference == Preference::CannotTell;
        for (noise, logs) in self.noises.iter().zip(&mut self.logs) {
            for (log, t) in logs.iter_mut().zip(&differences) {
                *log += chance(noise, *t, answer.preference, self.hesitates).ln();
            }
        }
        let Answer { preference, shown } = answer.clone();
        self.answered.push(Answered { query: query.clone(), preference, shown });
        self.refresh();
    }

    // It moves the noise alone. What each noise believes of the ratio stays as it is; only how much each noise counts
    // changes, by how likely it found the answer.
    fn take_check(&mut self, query: &Query, answer: &Answer) {
        let differences = self.differences(answer.shown.as_ref().unwrap_or(query));
        self.hesitates |= answer.preference == Preference::CannotTell;
        for (n, noise) in self.noises.iter().enumerate() {
            let (mut mass, mut likely) = (0.0, 0.0);
            for (m, t) in self.masses[n].iter().zip(&differences) {
                mass += m;
                likely += m * chance(noise, *t, answer.preference, self.hesitates);
            }
            if mass > 0.0 {
                self.logs[n].iter_mut().for_each(|log| *log += (likely / mass).ln());
            }
        }
        self.refresh();
    }

    fn questions(&self, _seed: u64) -> Box<dyn Iterator<Item = Query> + '_> {
        let mut best: Option<(f64, Query)> = None;
        for share in SHARES {
            let ratio = self.at(share);
            for reach in REACHES {
                let Some(query) = self.chord(ratio, reach) else { continue };
                let gain = self.bits(&query);
                let better = best.as_ref().is_none_or(|(top, _)| gain > *top);
                if better && !self.answered.iter().any(|other| other.query.is_same_pair(&query, SAME)) {
                    best = Some((gain, query));
                }
            }
        }
        Box::new(best.map(|(_, query)| query).into_iter())
    }

    // About the ratio, noise averaged out.
    fn bits(&self, query: &Query) -> f64 {
        let (mut first, mut uncertainty, mut total) = (0.0, 0.0, 0.0);
        // Two hundred places of the grid are plenty for a choice; they stand for all the others by their own total, or what
        // piles up at an end of the grid would count for more or less than it is.
        let stride = (self.marginal.len() / 200).max(1);
        for (place, mass) in self.marginal.iter().enumerate().step_by(stride) {
            if *mass < 1e-7 {
                continue;
            }
            let t = self.difference(query, place);
            let of_noise = self.noises.iter().zip(&self.masses);
            let joint: f64 = of_noise.map(|(noise, row)| row[place] * noise.chance_of_first(t)).sum();
            first += joint;
            uncertainty += mass * entropy((joint / mass).clamp(0.0, 1.0));
            total += mass;
        }
        if total > 0.0 { entropy((first / total).clamp(0.0, 1.0)) - uncertainty / total } else { 0.0 }
    }

    fn chance_of_first(&self, query: &Query) -> f64 {
        let masses = self.masses.iter().flatten();
        masses.zip(self.chances_of_first(query)).map(|(mass, chance)| mass * chance).sum()
    }

    fn width(&self) -> Width {
        Width::Factor(self.at(0.975) / self.at(0.025))
    }

    fn metric(&self) -> Metric {
        let metric = self.metric_of(self.at(0.5));
        // The interval travels with the metric, so that ranking and thresholds allow for it.
        let interval = RatioInterval::new(self.at(0.025), Some(self.at(0.975)), 0.95);
        interval.and_then(|interval| metric.clone().with_interval(interval)).unwrap_or(metric)
    }

    // The middles of equally likely parts of the posterior, in order.
    fn draws(&self, count: usize) -> Vec<Metric> {
        (0..count).map(|n| self.metric_of(self.at((n as f64 + 0.5) / count as f64))).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let interval = Finding::RatioInterval { low: self.at(0.025), high: self.at(0.975), level: 0.95 };
        let stands_out = |n: &usize| self.chance_without(*n).is_some_and(|chance| chance < STANDS_OUT);
        let contradicted = contradicted((0..self.answered.len()).filter(stands_out));
        [interval].into_iter().chain(contradicted).collect()
    }

    fn noise(&self) -> Option<NoiseModel> {
        let (mut log_slope, mut lapse) = (0.0, 0.0);
        for (noise, row) in self.noises.iter().zip(&self.masses) {
            let share: f64 = row.iter().sum();
            log_slope += share * noise.slope().ln();
            lapse += share * noise.lapse();
        }
        (self.noises.len() > 1).then(|| NoiseModel::Absolute { slope: log_slope.exp(), lapse })
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        Some(self.at(share))
    }

    fn density(&self) -> Option<Vec<(f64, f64)>> {
        let place = |(place, mass): (usize, &f64)| (self.scale.at(place as f64), *mass);
        Some(self.marginal.iter().enumerate().map(place).collect())
    }

    fn threshold_settled(&self, tolerance: f64) -> Option<f64> {
        Some(self.scale.threshold_settled(&self.marginal, tolerance))
    }

    fn imagined(&self) -> Option<Box<dyn Imagined>> {
        Some(Box::new(RollOut::from(self)))
    }

    fn boxed(&self) -> Box<dyn Belief> {
        Box::new(self.clone())
    }
}

/// How likely an answer is, never quite impossible.
fn chance(noise: &NoiseModel, t: f64, preference: Preference, hesitates: bool) -> f64 {
    let Chances { first, second, cannot_tell } = noise.chances(t.into(), hesitates);
    match preference {
        Preference::First => first,
        Preference::Second => second,
        Preference::CannotTell => cannot_tell,
    }
    .max(1e-12)
}

/// How much better the first point is to whoever holds a ratio, for weights of length 1.
pub(super) fn difference(query: &Query, log_ratio: f64) -> f64 {
    let (sin, cos) = (-log_ratio).exp().atan().sin_cos();
    cos * (query.first[0] - query.second[0]) + sin * (query.first[1] - query.second[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Logistic;

    /// Against the same integral written plainly, on a grid fifty times as fine.
    #[test]
    fn quantiles_are_those_of_a_fine_integration() {
        let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
        let noise = |slope: f64, lapse: f64| NoiseModel::Absolute { slope, lapse };
        let noises = [(noise(5.0, 0.02), 0.3), (noise(20.0, 0.1), 0.7)];
        let mut posterior = Grid::of_models(space, &noises);
        let unit = posterior.unit();
        let ahead = |query: &Query, log_ratio: f64| {
            let ratio = log_ratio.exp();
            let gain = ratio * (query.first[0] - query.second[0]) + query.first[1] - query.second[1];
            gain / ratio.hypot(1.0) / unit
        };
        let mut asked: Vec<(Query, f64)> = vec![];
        for n in 0..10 {
            let query = posterior.questions(0).next().unwrap();
            // Somebody with a ratio of 6 who errs once.
            let is_first = (ahead(&query, 6_f64.ln()) > 0.0) != (n == 3);
            posterior.take(&query, &if is_first { Preference::First } else { Preference::Second }.into());
            asked.push((query, if is_first { 1.0 } else { -1.0 }));
            let (range, steps) = (200_f64.ln(), 40_000);
            let at = |step: usize| range * (2.0 * (step as f64 + 0.5) / steps as f64 - 1.0);
            let likelihood = |log_ratio: f64| -> f64 {
                let of_noise = |(noise, weight): &(NoiseModel, f64)| {
                    asked.iter().fold(*weight, |product, (query, sign)| {
                        let right = 1.0 / (1.0 + (-noise.slope() * sign * ahead(query, log_ratio)).exp());
                        product * (noise.lapse() + (1.0 - 2.0 * noise.lapse()) * right)
                    })
                };
                noises.iter().map(of_noise).sum()
            };
            let masses: Vec<f64> = (0..steps).map(|step| likelihood(at(step))).collect();
            let total: f64 = masses.iter().sum();
            for share in [0.025, 0.5, 0.975] {
                let mut below = 0.0;
                let reaches = |mass: &f64| {
                    below += mass / total;
                    below >= share
                };
                let exact = at(masses.iter().position(reaches).unwrap());
                let found = posterior.at(share).ln();
                assert!((found - exact).abs() < 0.5 * posterior.scale().step, "{n} {share}: {found} {exact}");
            }
        }
    }
}
