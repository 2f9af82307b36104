//! Two classes, one number: the cost ratio, with its exact posterior on a grid.
//!
//! A linear two-class metric is its cost ratio: how many false alarms one missed case is worth. One number is few
//! enough for a grid, and so is what describes how a person errs: whether they go by ratios or by differences, how steeply the
//! chance of the better answer rises with them, and how often an answer has nothing to do with the question. The posterior of
//! all together is exact (to the grid), so that the interval of the ratio allows for not knowing the noise.
//!
//! Where the noise is known, pairs come from the whole boundary, and the most telling one is asked. Of people, whose noise is
//! not, only what somebody would build is asked, and what saves most regret of the threshold that follows.

use super::roll_out::RollOut;
use super::scale::Scale;
use super::{Belief, Regret, Width};
use crate::ask::{Answer, Answered, Chances, Finding, Gap, NoiseModel, Preference, Query};
use crate::engine::check::{STANDS_OUT, contradicted};
use crate::engine::normal::entropy;
use crate::engine::progress::Imagined;
use crate::metric::{Metric, RatioInterval, Sense};
use crate::space::{Binary, Plausible, Space as _};
use std::sync::Arc;

/// A log ratio beyond which every boundary has ended.
const FAR: f64 = 60.0;

/// How far questions may reach from the best classifier towards the ends of the boundary, and of people: how far apart they are,
/// of what is plausible.
const REACHES: [f64; 4] = [0.1, 0.3, 0.6, 0.95];
const REACHES_FOR_PEOPLE: [f64; 1] = [1.0];
/// Questions are even to a ratio with one of these shares of the posterior below it.
const SHARES: [f64; 3] = [0.3, 0.5, 0.7];
pub(super) const SHARES_FOR_PEOPLE: [f64; 5] = [0.15, 0.3, 0.5, 0.7, 0.85];

/// Nobody makes no errors that matter: regrets are relative to at least this much of the dearest answer.
const LEAST_COST: f64 = 1e-3;

/// An answer is never quite impossible.
const LEAST_CHANCE: f64 = 1e-12;

/// Nor is anything that could be believed: later answers may still speak for it.
const LEAST_MASS: f64 = 1e-300;

/// Ratios in either tail of this weight are left off where a rough answer will do.
const RULED_OUT: f64 = 1e-5;

/// Questions closer than this in every coordinate are the same question.
pub(super) const SAME: f64 = 1e-9;

/// A joint posterior of the cost ratio and the noise.
///
/// ```
/// use equipoise::{Preference, Query, engine::Adaptive, population::Logistic, space::Binary};
/// let mut belief = Adaptive::ratio(Binary::from_law(Logistic::new(5.0)?)).start();
/// let query = belief.questions(0).next().unwrap();
/// assert!(belief.bits(&query) > 0.5 && belief.bits(&query) < 1.0); // nobody is certain to answer right
/// let (before, finds_more) = (belief.quantile(0.5).unwrap(), query.first[0] > query.second[0]);
/// belief.take(&query, &Preference::First.into());
/// assert_eq!(belief.quantile(0.5).unwrap() > before, finds_more); // who likes to find more holds a larger ratio
/// // Whoever prefers a classifier that is worse in both respects was not looking.
/// let before = belief.noise().unwrap().lapse();
/// belief.take_check(&Query::new(vec![0.4, 0.4], vec![0.3, 0.3]), &Preference::Second.into());
/// assert!(belief.noise().unwrap().lapse() > 1.2 * before);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Grid {
    pub(super) space: Binary,
    unit: f64,
    scale: Scale,
    /// The weights of the ratio at every place, of length 1.
    weights: Arc<[[f64; 2]]>,
    noises: Vec<NoiseModel>,
    /// The posterior, noise by noise, ratio by ratio.
    masses: Vec<Vec<f64>>,
    /// The same without the noise.
    marginal: Vec<f64>,
    pub(super) answered: Vec<Answered>,
    /// Whether the person has ever said "can't tell".
    hesitates: bool,
    /// What people are asked about; nothing where the noise is known, or where nothing is plausible.
    pub(super) room: Option<Arc<Plausible>>,
    /// Where single cases are asked about: the smallest and the largest risk.
    pub(super) risks: Option<[f64; 2]>,
    /// What the best classifier costs whoever holds a ratio, place by place.
    pub(super) least: Vec<f64>,
    /// By how much likelier the answers were found, one after the other, than tosses of a coin: the logarithm.
    evidence: f64,
}

impl Grid {
    /// Every ratio on the grid equally likely, every noise that may be true as likely as it is listed.
    pub fn new(space: Binary, noise: NoiseModel) -> Self {
        match noise {
            NoiseModel::Unknown => {
                let room = Plausible::of(&space).map(Arc::new);
                Self { room, ..Self::of_models(space, &NoiseModel::population()) }
            }
            known => Self::of_models(space, &[(known, 1.0)]),
        }
    }

    /// The same for questions about single cases with risks in a range: to act on one, or not.
    ///
    /// Acting on cases of risk $s$ has the true positives $s$ and no true negatives, leaving them $1-s$ true negatives, so a case is a
    /// comparison like any other. Among people who may be asked are those alone who go by ratios: nothing about a case but its odds
    /// is more or less.
    pub fn of_cases(space: Binary, noise: NoiseModel, risks: [f64; 2]) -> Self {
        let by_ratio = |(model, _): &(NoiseModel, f64)| matches!(model, NoiseModel::Relative { .. });
        let models = match noise {
            NoiseModel::Unknown => NoiseModel::population().into_iter().filter(by_ratio).collect(),
            known => vec![(known, 1.0)],
        };
        Self { risks: Some(risks), ..Self::of_models(space, &models) }
    }

    fn of_models(space: Binary, models: &[(NoiseModel, f64)]) -> Self {
        let unit = crate::search::inscribed_radius(&space);
        let masses = models.iter().map(|(_, weight)| vec![*weight; Scale::full().places()]).collect();
        let noises = models.iter().map(|(noise, _)| *noise).collect();
        Self::from_masses(space, unit, Scale::full(), noises, masses)
    }

    fn from_masses(
        space: Binary,
        unit: f64,
        scale: Scale,
        noises: Vec<NoiseModel>,
        masses: Vec<Vec<f64>>,
    ) -> Self {
        let weights = (0..masses[0].len()).map(|place| weights_of(scale.at(place as f64))).collect();
        let (marginal, answered, hesitates) = (vec![], vec![], false);
        let (room, risks, least, evidence) = (None, None, vec![], 0.0);
        let mut made = Self {
            space,
            unit,
            scale,
            weights,
            noises,
            masses,
            marginal,
            answered,
            hesitates,
            room,
            risks,
            least,
            evidence,
        };
        made.least = (0..made.masses[0].len()).map(|place| made.least_cost(place)).collect();
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
            sums
        };
        let masses = self.masses.chunks(noises).map(together).collect();
        let noises = self.noises.chunks(noises).map(|near| near[near.len() / 2]).collect();
        let (room, risks) = (self.room.clone(), self.risks);
        Self { room, risks, ..Self::from_masses(self.space.clone(), self.unit, scale, noises, masses) }
    }

    /// What a classifier costs somebody with these weights on missed cases and false alarms.
    pub(super) fn cost(&self, weights: [f64; 2], point: &[f64]) -> f64 {
        let positive = self.space.positive_prior();
        weights[0] * (positive - point[0]) + weights[1] * (1.0 - positive - point[1])
    }

    /// The weights of the ratio at a place, of length 1.
    pub(super) fn weights_at(&self, place: usize) -> [f64; 2] {
        self.weights[place]
    }

    fn least_cost(&self, place: usize) -> f64 {
        let (weights, positive) = (self.weights_at(place), self.space.positive_prior());
        let dearest = (weights[0] * positive).max(weights[1] * (1.0 - positive));
        self.cost(weights, &self.space.best(&weights)).max(LEAST_COST * dearest)
    }

    /// What the threshold of the middle ratio is regretted, by a posterior on the places of this grid.
    ///
    /// The bound is to hold for whoever answers, so there every ratio was as likely as another before the first answer. Whether
    /// enough is known goes by how much is regretted on average: of people the two costs are sizes of normal numbers, as those of
    /// more kinds of error are, and the logarithm of their ratio has the density $1/(\pi\cosh x)$.
    pub(super) fn regret_of(&self, marginal: &[f64]) -> Regret {
        let middle = self.space.best(&weights_of(self.scale.quantile(marginal, 0.5)));
        let mut regrets: Vec<(f64, f64)> = vec![];
        let (mut expected, mut people) = (0.0, 0.0);
        for (place, mass) in marginal.iter().enumerate() {
            let regret = (self.cost(self.weights_at(place), &middle) / self.least[place] - 1.0).max(0.0);
            let held = if self.is_for_people() { mass / self.scale.at(place as f64).cosh() } else { *mass };
            (expected, people) = (expected + held * regret, people + held);
            regrets.push((regret, *mass));
        }
        regrets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0.0;
        let bound = regrets.iter().find(|(_, mass)| {
            below += mass;
            below >= 0.95
        });
        Regret::new(expected / people, bound.map_or(0.0, |(regret, _)| *regret))
    }

    /// Some places, their masses, and how likely "first" is there, noise averaged out.
    ///
    /// Two hundred places are plenty for a choice; they stand for all the others by their own total, or what piles up at an
    /// end of the grid would count for more or less than it is.
    pub(super) fn chances_by_place(&self, query: &Query) -> impl Iterator<Item = (usize, f64, f64)> {
        let stride = (self.marginal.len() / 200).max(1);
        let likely = self.marginal.iter().enumerate().step_by(stride).filter(|(_, mass)| **mass >= 1e-7);
        likely.map(|(place, mass)| {
            let gap = self.gap(query, place);
            let of_noise = self.noises.iter().zip(&self.masses);
            let joint: f64 = of_noise.map(|(noise, row)| row[place] * noise.chance_of_first(gap)).sum();
            (place, *mass, (joint / mass).clamp(0.0, 1.0))
        })
    }

    /// The radius of the largest disc inside the achievable set: the unit of differences.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// How much better the first of two points is, in the disc's units, under the ratio at a grid place.
    fn gap(&self, query: &Query, place: usize) -> Gap {
        gap(query, self.weights[place], self.unit)
    }

    fn gaps(&self, query: &Query) -> Vec<Gap> {
        (0..self.marginal.len()).map(|place| self.gap(query, place)).collect()
    }

    /// How likely answer n is right to all the others, noise aside; `None` for "can't tell".
    fn chance_without(&self, n: usize) -> Option<f64> {
        let Answered { query, preference, shown } = self.answered.get(n)?;
        let sign = match preference {
            Preference::First => 1.0,
            Preference::Second => -1.0,
            Preference::CannotTell => return None,
        };
        let gaps = self.gaps(shown.as_ref().unwrap_or(query));
        let hesitates = self.answered[..n].iter().any(|other| other.preference == Preference::CannotTell);
        let (mut right, mut all) = (0.0, 0.0);
        for (noise, masses) in self.noises.iter().zip(&self.masses) {
            for (mass, gap) in masses.iter().zip(&gaps) {
                let without = mass / chance(noise, *gap, *preference, hesitates);
                all += without;
                right += if sign * gap.ahead > 0.0 { without } else { 0.0 };
            }
        }
        (all > 0.0).then(|| right / all)
    }

    /// Has the posterior sum to 1 again.
    fn refresh(&mut self) {
        self.marginal = vec![0.0; self.masses[0].len()];
        for row in &self.masses {
            self.marginal.iter_mut().zip(row).for_each(|(sum, mass)| *sum += mass);
        }
        let total: f64 = self.marginal.iter().sum();
        self.marginal.fill(0.0);
        for row in &mut self.masses {
            for (mass, sum) in row.iter_mut().zip(&mut self.marginal) {
                *mass = (*mass / total).max(LEAST_MASS);
                *sum += *mass;
            }
        }
    }

    /// The ratio below which a share of the posterior lies.
    pub(super) fn at(&self, share: f64) -> f64 {
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
        self.chances(query, Preference::First, false)
    }

    /// How likely an answer is, noise by noise, ratio by ratio, in one list; never quite impossible.
    fn chances(&self, query: &Query, preference: Preference, hesitates: bool) -> Vec<f64> {
        let gaps = self.gaps(query);
        let mut all = Vec::with_capacity(self.noises.len() * gaps.len());
        // People who differ in their lapses alone find the same differences.
        for alike in self.noises.chunk_by(NoiseModel::is_as_steep) {
            let seen: Vec<Chances> =
                gaps.iter().map(|gap| alike[0].without_lapses(*gap, hesitates)).collect();
            for noise in alike {
                all.extend(seen.iter().map(|seen| of(noise.with_lapses(*seen, hesitates), preference)));
            }
        }
        all
    }

    /// How likely something is, from how likely it is everywhere.
    fn chance_by(&self, chances: &[f64]) -> f64 {
        // Place by place first: sums that do not wait for each other.
        let mut sums = vec![0.0; self.marginal.len()];
        for (row, chances) in self.masses.iter().zip(chances.chunks(sums.len())) {
            for ((sum, mass), chance) in sums.iter_mut().zip(row).zip(chances) {
                *sum += mass * chance;
            }
        }
        sums.iter().sum()
    }

    /// Weighs an answer against a coin: how likely it is, noise by noise, ratio by ratio.
    fn hear(&mut self, query: &Query, answer: &Answer) -> Vec<f64> {
        let (heard, preference) = (answer.shown.as_ref().unwrap_or(query), answer.preference);
        self.hesitates |= preference == Preference::CannotTell;
        let chances = self.chances(heard, preference, self.hesitates);
        // Against a coin nobody hesitates.
        self.evidence += match (preference, self.hesitates) {
            (Preference::CannotTell, _) => 0.0,
            (_, true) => super::evidence_of(self.chance_of_first(heard), preference),
            (_, false) => super::evidence_of(self.chance_by(&chances), Preference::First),
        };
        chances
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

    /// Whether a pair has been asked, sides aside.
    pub(super) fn was_asked(&self, query: &Query) -> bool {
        self.answered.iter().any(|other| other.query.is_same_pair(query, SAME))
    }

    /// Whether people are asked, of whom nothing is known.
    pub(super) fn is_for_people(&self) -> bool {
        self.room.is_some() || self.risks.is_some() && self.noises.len() > 1
    }

    /// What kinds of question there are: shares of the posterior below the ratio they are even to, and reaches.
    pub(super) fn kinds(&self) -> (&'static [f64], &'static [f64]) {
        match self.room.is_some() || self.risks.is_some() {
            true => (&SHARES_FOR_PEOPLE, &REACHES_FOR_PEOPLE),
            false => (&SHARES, &REACHES),
        }
    }

    /// Two classifiers that are equally good under a ratio, as far apart as `reach` says.
    pub(super) fn even(&self, ratio: f64, reach: f64) -> Option<Query> {
        if let Some(risks) = self.risks {
            return Some(self.case(ratio, risks));
        }
        let Some(room) = &self.room else { return self.chord(ratio, reach) };
        room.pair(ratio.ln(), reach).map(|[one, other]| Query::new(one.to_vec(), other.to_vec()))
    }

    /// Two boundary classifiers that are equally good under a ratio, one on either side of its best one.
    ///
    /// One of them is `reach` of the way from the best classifier to the end of the boundary (everybody accepted, or
    /// nobody), measured in what it gives up; the other is its counterpart.
    fn chord(&self, ratio: f64, reach: f64) -> Option<Query> {
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
        let chances = self.hear(query, answer);
        for (row, chances) in self.masses.iter_mut().zip(chances.chunks(self.marginal.len())) {
            row.iter_mut().zip(chances).for_each(|(mass, chance)| *mass *= chance);
        }
        self.answered.push(Answered::new(query, answer));
        self.refresh();
    }

    // It moves the noise alone. What each noise believes of the ratio stays as it is; only how much each noise counts
    // changes, by how likely it found the answer.
    fn take_check(&mut self, query: &Query, answer: &Answer) {
        let chances = self.hear(query, answer);
        for (row, chances) in self.masses.iter_mut().zip(chances.chunks(self.marginal.len())) {
            let mass: f64 = row.iter().sum();
            let likely: f64 = row.iter().zip(chances).map(|(mass, chance)| mass * chance).sum();
            if mass > 0.0 {
                row.iter_mut().for_each(|m| *m *= likely / mass);
            }
        }
        self.refresh();
    }

    fn questions(&self, seed: u64) -> Box<dyn Iterator<Item = Query> + '_> {
        if self.risks.is_some() {
            return Box::new(self.questions_about_cases(seed).into_iter());
        }
        if self.room.is_some() {
            return Box::new(self.questions_for_people(seed).into_iter());
        }
        let mut best: Option<(f64, Query)> = None;
        for share in SHARES {
            let ratio = self.at(share);
            for reach in REACHES {
                let Some(query) = self.chord(ratio, reach) else { continue };
                let gain = self.bits(&query);
                let better = best.as_ref().is_none_or(|(top, _)| gain > *top);
                if better && !self.was_asked(&query) {
                    best = Some((gain, query));
                }
            }
        }
        Box::new(best.map(|(_, query)| query).into_iter())
    }

    // About the ratio, noise averaged out.
    fn bits(&self, query: &Query) -> f64 {
        bits_of(self.chances_by_place(query))
    }

    fn chance_of_first(&self, query: &Query) -> f64 {
        self.chance_by(&self.chances_of_first(query))
    }

    fn width(&self) -> Width {
        Width::Factor(self.at(0.975) / self.at(0.025))
    }

    fn metric(&self) -> Metric {
        let metric = self.metric_of(self.at(0.5));
        // The interval travels with the metric, so that ranking and thresholds allow for it.
        let [low, high] = self.scale.ends(&self.marginal).map(|end| end.map(f64::exp));
        let interval = RatioInterval::new(low.unwrap_or(0.0), high, 0.95);
        interval.and_then(|interval| metric.clone().with_interval(interval)).unwrap_or(metric)
    }

    // The middles of equally likely parts of the posterior, in order.
    fn draws(&self, count: usize) -> Vec<Metric> {
        let shares = (0..count).map(|n| (n as f64 + 0.5) / count as f64);
        self.scale.quantiles(&self.marginal, shares).map(|log| self.metric_of(log.exp())).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let interval = match self.scale.ends(&self.marginal).map(|end| end.map(f64::exp)) {
            [Some(low), Some(high)] => Finding::RatioInterval { low, high, level: 0.95 },
            [at_least, at_most] => Finding::RatioBeyond { at_least, at_most, level: 0.95 },
        };
        let stands_out = |n: &usize| self.chance_without(*n).is_some_and(|chance| chance < STANDS_OUT);
        let contradicted = contradicted((0..self.answered.len()).filter(stands_out));
        [interval].into_iter().chain(contradicted).collect()
    }

    // Of the likelier kind of people.
    fn noise(&self) -> Option<NoiseModel> {
        let mut kinds = [(0.0, 0.0, 0.0); 2];
        for (noise, row) in self.noises.iter().zip(&self.masses) {
            let share: f64 = row.iter().sum();
            let (kind, slope) = match noise {
                NoiseModel::Relative { slope, .. } => (0, *slope),
                other => (1, other.slope()),
            };
            let (all, log_slope, lapse) = &mut kinds[kind];
            *all += share;
            *log_slope += share * slope.ln();
            *lapse += share * noise.lapse();
        }
        let by_ratio = kinds[0].0 > kinds[1].0;
        let (all, log_slope, lapse) = kinds[usize::from(!by_ratio)];
        let (slope, lapse) = ((log_slope / all).exp(), lapse / all);
        (self.noises.len() > 1).then_some(match by_ratio {
            true => NoiseModel::Relative { slope, lapse },
            false => NoiseModel::Absolute { slope, lapse },
        })
    }

    fn regret(&self) -> Option<Regret> {
        Some(self.regret_of(&self.marginal))
    }

    fn evidence(&self) -> f64 {
        self.evidence
    }

    fn ratio_ends(&self) -> Option<[Option<f64>; 2]> {
        Some(self.scale.ends(&self.marginal).map(|end| end.map(f64::exp)))
    }

    fn probe(&self, heard: usize, seed: u64) -> Option<Query> {
        match self.risks {
            Some(_) => self.probe_about_cases(heard, seed),
            None => self.probe_for_people(heard, seed),
        }
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
fn chance(noise: &NoiseModel, gap: Gap, preference: Preference, hesitates: bool) -> f64 {
    of(noise.chances(gap, hesitates), preference)
}

fn of(Chances { first, second, cannot_tell }: Chances, preference: Preference) -> f64 {
    match preference {
        Preference::First => first,
        Preference::Second => second,
        Preference::CannotTell => cannot_tell,
    }
    .max(LEAST_CHANCE)
}

/// What a question tells of the ratio, from places, their masses, and how likely "first" is there.
pub(super) fn bits_of(chances: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    let (mut first, mut uncertainty, mut total) = (0.0, 0.0, 0.0);
    for (_, mass, chance) in chances {
        first += mass * chance;
        uncertainty += mass * entropy(chance);
        total += mass;
    }
    if total > 0.0 { entropy((first / total).clamp(0.0, 1.0)) - uncertainty / total } else { 0.0 }
}

/// Weights of length 1 with the logarithm of a ratio.
pub(super) fn weights_of(log_ratio: f64) -> [f64; 2] {
    let (sin, cos) = (-log_ratio).exp().atan().sin_cos();
    [cos, sin]
}

/// How much better the first point is to whoever has these weights, of length 1, in units of `unit`.
pub(super) fn gap(query: &Query, weights: [f64; 2], unit: f64) -> Gap {
    let parts = [0, 1].map(|c| weights[c] * (query.first[c] - query.second[c]));
    Gap::new((parts[0] + parts[1]) / unit, parts.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Logistic;

    /// Against the same integral written plainly, on a grid fifty times as fine.
    #[test]
    fn quantiles_are_those_of_a_fine_integration() {
        let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
        let noises = [
            (NoiseModel::Absolute { slope: 5.0, lapse: 0.02 }, 0.3),
            (NoiseModel::Absolute { slope: 20.0, lapse: 0.1 }, 0.4),
            (NoiseModel::Relative { slope: 3.0, lapse: 0.03 }, 0.3),
        ];
        let mut posterior = Grid::of_models(space, &noises);
        let unit = posterior.unit();
        let ahead = |query: &Query, log_ratio: f64| {
            let ratio = log_ratio.exp();
            let gain = ratio * (query.first[0] - query.second[0]) + query.first[1] - query.second[1];
            gain / ratio.hypot(1.0) / unit
        };
        // More true positives against more true negatives, or the other way round.
        let times = |query: &Query, log_ratio: f64| {
            let (more, less) = (query.first[0] - query.second[0], query.second[1] - query.first[1]);
            if more > 0.0 { log_ratio + (more / less).ln() } else { (less / more).ln() - log_ratio }
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
                        let odds = match noise {
                            NoiseModel::Relative { slope, .. } => slope * times(query, log_ratio),
                            other => other.slope() * ahead(query, log_ratio),
                        };
                        let right = 1.0 / (1.0 + (-sign * odds).exp());
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

    /// Against every threshold there is, with the posterior summed place by place.
    #[test]
    fn the_regret_is_that_of_all_thresholds_tried() {
        let corners =
            vec![[0.0, 0.7], [0.08, 0.69], [0.15, 0.66], [0.2, 0.6], [0.27, 0.4], [0.3, 0.0], [0.1, 0.0]];
        let space = Binary::from_hull(0.3, crate::space::Polygon::hull(corners.clone()).unwrap()).unwrap();
        let mut belief = Grid::new(space, NoiseModel::Unknown);
        for preference in [Preference::First, Preference::Second, Preference::Second, Preference::First] {
            let query = belief.questions(1).next().unwrap();
            belief.take(&query, &preference.into());
        }
        let density = belief.density().unwrap();
        let cost = |ratio: f64, p: &[f64; 2]| ratio * (0.3 - p[0]) + 0.7 - p[1];
        let best = |ratio: f64| {
            corners.iter().copied().min_by(|a, b| cost(ratio, a).total_cmp(&cost(ratio, b))).unwrap()
        };
        let chosen = best(belief.at(0.5));
        let mut regrets: Vec<(f64, f64)> = (density.iter())
            .map(|(log, mass)| (cost(log.exp(), &chosen) / cost(log.exp(), &best(log.exp())) - 1.0, *mass))
            .collect();
        // Two costs that are sizes of normal numbers have a ratio like this.
        let held = |log: f64, mass: f64| mass / log.cosh();
        let people: f64 = density.iter().map(|(log, mass)| held(*log, *mass)).sum();
        let expected: f64 = (density.iter().zip(&regrets))
            .map(|((log, mass), (regret, _))| held(*log, *mass) / people * regret)
            .sum();
        regrets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let found = belief.regret().unwrap();
        assert!((found.expected - expected).abs() < 1e-9, "{found:?} {expected}");
        let above = |x: f64| regrets.iter().filter(|(r, _)| *r > x).map(|(_, mass)| mass).sum::<f64>();
        assert!(above(found.bound + 1e-9) <= 0.05 + 1e-9);
        assert!(above(found.bound - 1e-9) >= 0.05 - 1e-9 || found.bound == found.expected);
    }
}
