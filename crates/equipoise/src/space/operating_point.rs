//! Questions around a real classifier: two kinds of error are traded, all else stays as it is.
//!
//! People compare two things at a time. From a classifier they would recognise, pulled a little inside what is achievable, one
//! kind of error is given for another along a straight line in both directions, as far as the data allow. Both ends are
//! achievable, exactly two numbers differ, and neither is a classifier that nobody would build.

use super::ray::{Ray, cast};
use super::{Achievable, Space};
use crate::document::{Object, make};
use crate::error::{Error, Result, check};
use crate::linalg::{dot, normals, plus, scaled};
use crate::population::{AskError, Confusions};
use crate::rates::{GroupShares, off_diagonal_pairs};
use crate::view::{Measure, Point, View};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// The logarithms of the rates at which how far one kind can be traded for another is known.
const LOG_RATES: [f64; 7] = [-3.6, -2.4, -1.2, 0.0, 1.2, 2.4, 3.6];

/// How far the classifier is pulled towards the toss of a coin: the least of these that leaves room.
const PULLS: [f64; 6] = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4];

/// Room is left if in nine of ten trades at even rates the ends are this far apart: 5 in 100.
const ROOM: f64 = 0.05;

/// A trade is worth asking about if its ends are this far apart: 1 in 100.
pub(crate) const LEAST_SPAN: f64 = 0.01;

/// Of more kinds of error than this, those that occur most are traded.
const MOST_KINDS: usize = 14;

/// How often the data are asked for the extreme points behind the ends that were found.
const ROUNDS: usize = 1;

/// Directions that the data are asked about at a time.
const BATCH: usize = 400;

/// How far one kind of error can be traded for another, all else being equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TradeOff {
    /// The kinds.
    pub kinds: [usize; 2],
    /// For each rate, how much more, and how much less, there can be of the first kind.
    reach: Vec<[f64; 2]>,
}

/// An operating point: a classifier to ask around, and how far each two kinds of error can be traded from there.
///
/// A kind is an error rate, or with groups an overall error rate or, after those, how far two groups are apart in one.
///
/// ```
/// use equipoise::{Measure, population::Softmax, space::{Achievable, OperatingPoint, Space}};
/// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
/// let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
/// let (_, errors) = set.extreme(&[-1.0; 6], 0)?; // a classifier somebody has
/// let space = OperatingPoint::around(&set, &errors)?;
/// assert!(space.contains(&space.centre(), 1e-9) && set.contains(&space.centre(), 1e-9));
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "operating_point")]
pub struct OperatingPoint {
    classes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    prevalence: Option<GroupShares>,
    point: Point,
    trade_offs: Vec<TradeOff>,
    /// The kinds of rules that are the best for somebody: what there is to decide between.
    rules: Vec<Vec<f64>>,
}

impl OperatingPoint {
    /// Asks around a classifier of the population with these errors: it exists, so it is achievable.
    pub fn around<P: Confusions + ?Sized>(
        set: &Achievable<'_, P>,
        errors: &[f64],
    ) -> Result<Self, AskError<P::Err>> {
        check::length("the operating point", errors.len(), set.view.dimension())?;
        if set.groups() > 2 {
            let what =
                format!("there are {} groups, expected 2 to ask around an operating point", set.groups());
            return Err(Error::Mismatch(what).into());
        }
        for (n, rate) in errors.iter().enumerate() {
            check::unit(&format!("rate {n} of the operating point"), *rate)?;
        }
        let mut corners = Corners::new(set, errors).map_err(AskError::Population)?;
        let mut found = None;
        for pull in PULLS {
            let point = plus(&scaled(errors, 1.0 - pull), pull, &set.coin());
            let mut space = Self::at(set, point);
            space.find_reach(set, &mut corners, &[0.0], 1).map_err(AskError::Population)?;
            let enough = space.has_room();
            found = Some(space);
            if enough {
                break;
            }
        }
        let mut space = found.expect("at least one pull");
        space.find_reach(set, &mut corners, &LOG_RATES, ROUNDS).map_err(AskError::Population)?;
        space.trade_offs.retain(|trade| trade.span() >= LEAST_SPAN);
        space.rules = space.best_rules(set).map_err(AskError::Population)?;
        Ok(space.checked()?)
    }

    /// Without trades yet.
    fn at<P: Confusions + ?Sized>(set: &Achievable<'_, P>, point: Point) -> Self {
        let prevalence = (set.groups() > 1).then(|| set.population.prevalence().group_shares().clone());
        let mut space =
            Self { classes: set.view.classes(), prevalence, point, trade_offs: vec![], rules: vec![] };
        space.trade_offs = space.pairs(&set.errors_by_kind());
        space
    }

    /// The kinds that are traded: all of a few, of many those that occur most.
    fn pairs(&self, occur: &[f64]) -> Vec<TradeOff> {
        let (q, all) = (occur.len(), self.dimension());
        let now = self.kinds_of(&self.point);
        let mut kinds: Vec<usize> = (0..all).collect();
        if q > MOST_KINDS {
            kinds.sort_by(|&a, &b| (occur[b] * now[b]).total_cmp(&(occur[a] * now[a])));
            kinds.truncate(MOST_KINDS);
            kinds.sort_unstable();
        }
        let both = |n: usize| kinds[n + 1..].iter().map(move |&j| (n, j));
        let pairs = (0..kinds.len()).flat_map(both).map(|(n, j)| [kinds[n], j]);
        // One gap against one rate: two gaps against each other are hard to picture.
        let pairs = pairs.filter(|[i, _]| *i < q);
        pairs.map(|kinds| TradeOff { kinds, reach: vec![] }).collect()
    }

    /// Casts a ray for every trade, rate and direction, and asks the data for better corners where they end.
    fn find_reach<P: Confusions + ?Sized>(
        &mut self,
        set: &Achievable<'_, P>,
        corners: &mut Corners,
        log_rates: &[f64],
        rounds: usize,
    ) -> Result<(), P::Err> {
        let steps: Vec<Vec<f64>> = (0..self.dimension()).map(|kind| self.step(kind)).collect();
        let along = |trade: &TradeOff, log_rate: f64| {
            let [i, j] = trade.kinds;
            let rate = log_rate.exp();
            // Long rays are cast as precisely as short ones.
            scaled(&plus(&steps[i], -rate, &steps[j]), 1.0 / rate.hypot(1.0))
        };
        let mut rays: Vec<Ray> = vec![];
        for round in 0..=rounds {
            rays.clear();
            for trade in &self.trade_offs {
                for log_rate in log_rates {
                    let along = along(trade, *log_rate);
                    rays.push(Ray::new(self.point.clone(), along.clone(), 1e-11));
                    rays.push(Ray::new(self.point.clone(), scaled(&along, -1.0), 1e-11));
                }
            }
            let Ok(()) = cast(&mut rays, |asked| {
                Ok::<_, Infallible>(asked.iter().map(|(_, direction)| corners.best(direction)).collect())
            });
            if round < rounds {
                let stride = rays.len().div_ceil(BATCH);
                let normals: Vec<&[f64]> =
                    rays.iter().skip(round % stride).step_by(stride).map(Ray::normal).collect();
                corners.add(set, &normals)?;
            }
        }
        let (error, most) = (set.errors_by_kind(), set.most_errors());
        let room = most - dot(&error, &self.kinds_of(&self.point));
        let gaps = self.gaps();
        for (trade, rays) in self.trade_offs.iter_mut().zip(rays.chunks(2 * log_rates.len())) {
            let [i, j] = trade.kinds;
            let of_error = |kind: usize| error.get(kind).copied().unwrap_or(0.0);
            let gap = |kind: usize| gaps.get(kind).copied().unwrap_or(f64::INFINITY);
            let reach = |(pair, log_rate): (&[Ray], &f64)| {
                let rate = log_rate.exp();
                let slope = of_error(i) - rate * of_error(j);
                let limit = |ray: &Ray, sign: f64| {
                    let length = if ray.miss() <= 1e-9 { ray.length() / rate.hypot(1.0) } else { 0.0 };
                    // No worse than always predicting one class, and no gap beyond zero: it would grow again.
                    let plausible =
                        if sign * slope > 0.0 { room.max(0.0) / (sign * slope) } else { f64::INFINITY };
                    let closing = if sign > 0.0 { gap(j) / rate } else { gap(i) };
                    // A digit inside, so that what is written is achievable.
                    let most = length.min(plausible).min(closing) - 1e-9;
                    (most.max(0.0) * 1e6).floor() / 1e6
                };
                [limit(&pair[0], 1.0), limit(&pair[1], -1.0)]
            };
            trade.reach = rays.chunks(2).zip(log_rates).map(reach).collect();
        }
        Ok(())
    }

    /// Whether nearly all trades leave room at even rates.
    fn has_room(&self) -> bool {
        let mut spans: Vec<f64> =
            self.trade_offs.iter().map(|trade| trade.reach.iter().flatten().sum()).collect();
        spans.sort_by(f64::total_cmp);
        spans.get(spans.len() / 10).is_some_and(|span| *span >= ROOM)
    }

    /// Rules that are the best for somebody who dislikes every kind, and the constant ones.
    fn best_rules<P: Confusions + ?Sized>(&self, set: &Achievable<'_, P>) -> Result<Vec<Vec<f64>>, P::Err> {
        let q = set.errors();
        let against = |(weights, pulls): (Vec<f64>, Vec<f64>)| -> Vec<f64> {
            self.prices(&weights, &pulls).iter().map(|price| -price).collect()
        };
        let drawn: Vec<Vec<f64>> = self.drawn_weights().into_iter().map(against).collect();
        let mut points: Vec<Point> = vec![vec![]; drawn.len()];
        for group in 0..set.groups() {
            let batch: Vec<&[f64]> = drawn.iter().map(|weights| &weights[group * q..][..q]).collect();
            for (point, part) in points.iter_mut().zip(set.best_points(&batch, group)?) {
                point.extend(part);
            }
        }
        points.extend((0..self.classes).map(|class| set.always(class)));
        let rounded = |z: Vec<f64>| z.iter().map(|x| (x * 1e6).round() / 1e6).collect::<Vec<_>>();
        let mut rules: Vec<Vec<f64>> = points.iter().map(|point| rounded(self.kinds_of(point))).collect();
        rules.sort_by(|a, b| a.partial_cmp(b).expect("finite rates"));
        rules.dedup();
        Ok(rules)
    }

    /// Weights on kinds of people whose best rules stand for all, and with which part of its price each gap pulls: the same
    /// every time.
    fn drawn_weights(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let all = self.dimension();
        let gaps = if self.prevalence.is_some() { all / 2 } else { 0 };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let draw = |_| {
            let weights: Vec<f64> = normals(all, &mut random).iter().map(|w| w.abs()).collect();
            // Where the best rule closes a gap altogether, its price pulls with a part of itself.
            let pulls: Vec<f64> = (0..gaps).map(|_| random.random_range(-1.0..=1.0)).collect();
            (weights, pulls)
        };
        (0..(60 * all).clamp(300, 900)).map(draw).collect()
    }

    /// Without groups: weights on kinds for each of which a best rule is among those there are to decide between, so that
    /// whoever has the data can build it.
    pub fn weights_of_rules(&self) -> Vec<Vec<f64>> {
        match self.prevalence {
            None => self.drawn_weights().into_iter().map(|(weights, _)| weights).collect(),
            Some(_) => vec![],
        }
    }

    /// What one more of each entry of a point costs whoever has these weights on kinds, if each gap pulls with this part of
    /// its price.
    fn prices(&self, weights: &[f64], pulls: &[f64]) -> Vec<f64> {
        let Some(shares) = &self.prevalence else { return weights.to_vec() };
        let q = weights.len() - pulls.len();
        let price = |(n, group): (usize, usize)| {
            let side = if group == 0 { 1.0 } else { -1.0 };
            shares.get(group, n / (self.classes - 1)) * weights[n] + side * pulls[n] * weights[q + n]
        };
        (0..shares.groups()).flat_map(|group| (0..q).map(move |n| (n, group))).map(price).collect()
    }

    /// Two classes have two kinds of error, three have six; groups add as many gaps.
    pub fn dimension(&self) -> usize {
        let q = self.classes * (self.classes - 1);
        if self.prevalence.is_some() { 2 * q } else { q }
    }

    /// How much dearer the best rule for an estimate of the weights on kinds is than the best rule for the weights themselves.
    /// `more` are kinds of rules to choose from besides those that are listed.
    #[cfg(any(test, feature = "testing"))]
    pub fn regret(&self, estimate: &[f64], weights: &[f64], more: &[Vec<f64>]) -> f64 {
        let costs = |weights: &[f64]| {
            self.rules.iter().chain(more).map(|rule| dot(weights, rule)).collect::<Vec<_>>()
        };
        let (by_estimate, by_weights) = (costs(estimate), costs(weights));
        let chosen = (0..by_estimate.len()).min_by(|&a, &b| by_estimate[a].total_cmp(&by_estimate[b]));
        let least = by_weights.iter().copied().fold(f64::INFINITY, f64::min);
        let most = by_weights.iter().copied().fold(0.0, f64::max);
        // A perfect rule costs nothing, of which nothing is a share.
        chosen.map_or(0.0, |chosen| (by_weights[chosen] - least) / least.max(1e-3 * most))
    }

    /// The kinds of the rule that is the best for whoever has these weights on kinds.
    pub fn best_kinds(&self, weights: &[f64]) -> Option<&[f64]> {
        let cost = |rule: &&Vec<f64>| dot(weights, rule);
        self.rules.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).map(Vec::as_slice)
    }

    /// The group shares, if groups are told apart.
    pub fn prevalence(&self) -> Option<&GroupShares> {
        self.prevalence.as_ref()
    }

    /// The kinds of a point: its error rates; with groups the overall ones, then how far the groups are apart.
    pub fn kinds_of(&self, point: &[f64]) -> Vec<f64> {
        let Some(shares) = &self.prevalence else { return point.to_vec() };
        let (one, other) = point.split_at(point.len() / 2);
        let share = |group: usize, n: usize| shares.get(group, n / (self.classes - 1));
        let overall = (0..one.len()).map(|n| share(0, n) * one[n] + share(1, n) * other[n]);
        let gaps = one.iter().zip(other).map(|(a, b)| (a - b).abs());
        overall.chain(gaps).collect()
    }

    /// How far the groups are apart at the operating point, in the places of the gaps.
    fn gaps(&self) -> Vec<f64> {
        match &self.prevalence {
            None => vec![],
            Some(_) => {
                let mut kinds = self.kinds_of(&self.point);
                let q = kinds.len() / 2;
                kinds[..q].fill(f64::INFINITY);
                kinds
            }
        }
    }

    /// The change of a point that raises one kind by one and leaves the others as they are, near the operating point.
    fn step(&self, kind: usize) -> Vec<f64> {
        let mut step = vec![0.0; self.point.len()];
        let q = self.classes * (self.classes - 1);
        match &self.prevalence {
            None => step[kind] = 1.0,
            Some(_) if kind < q => (step[kind], step[q + kind]) = (1.0, 1.0),
            Some(shares) => {
                let n = kind - q;
                let share = |group: usize| shares.get(group, n / (self.classes - 1));
                let side = if self.point[n] >= self.point[q + n] { 1.0 } else { -1.0 };
                (step[n], step[q + n]) = (side * share(1), -side * share(0));
            }
        }
        step
    }

    /// The trades.
    pub(crate) fn trade_offs(&self) -> &[TradeOff] {
        &self.trade_offs
    }

    /// The kinds of the rules there are to decide between.
    pub(crate) fn rules(&self) -> &[Vec<f64>] {
        &self.rules
    }

    /// The two ends of a trade at a rate (so many of the second kind for one of the first), each as far from the operating point
    /// as its share of the room: the first end has more of the first kind.
    pub(crate) fn ends(&self, trade: &TradeOff, log_rate: f64, shares: [f64; 2]) -> Option<(Point, Point)> {
        let ([more, less], rate) = trade.reach_at(log_rate)?;
        let [i, j] = trade.kinds;
        let along = plus(&self.step(i), -rate, &self.step(j));
        let end = |length: f64| plus(&self.point, length, &along);
        Some((end(more * shares[0]), end(-less * shares[1])))
    }

    /// The kinds of always predicting one class, class by class.
    pub(crate) fn constants(&self) -> Vec<Vec<f64>> {
        let gaps = if self.prevalence.is_some() { self.classes * (self.classes - 1) } else { 0 };
        let always = |class: usize| {
            let rates = off_diagonal_pairs(self.classes).map(move |(_, j)| f64::from(u8::from(j == class)));
            rates.chain(std::iter::repeat_n(0.0, gaps)).collect()
        };
        (0..self.classes).map(always).collect()
    }

    /// The smaller of the two differences between the ends of a trade, in nearly all trades: what must be told apart in whole
    /// numbers.
    pub fn smallest_difference(&self) -> f64 {
        let inner = 1..LOG_RATES.len() - 1;
        let mut found: Vec<f64> = (self.trade_offs.iter())
            .flat_map(|trade| {
                inner.clone().map(|n| trade.reach[n].iter().sum::<f64>() * LOG_RATES[n].exp().min(1.0))
            })
            .filter(|difference| *difference > 0.0)
            .collect();
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 10).copied().unwrap_or(LEAST_SPAN)
    }

    /// Half of what is usually between the ends of a trade: the unit of differences.
    pub(crate) fn radius(&self) -> f64 {
        let even = LOG_RATES.len() / 2;
        let mut halves: Vec<f64> = (self.trade_offs.iter())
            .map(|trade| 0.5 * std::f64::consts::SQRT_2 * trade.reach[even].iter().sum::<f64>())
            .collect();
        halves.sort_by(f64::total_cmp);
        halves[halves.len() / 2].max(LEAST_SPAN)
    }

    fn checked(self) -> Result<Self> {
        let (groups, all) = (self.prevalence.as_ref().map_or(1, GroupShares::groups), self.dimension());
        check::at_least("classes", self.classes, 2, "at least 2")?;
        check::number("groups", groups as f64, groups <= 2, "at most 2")?;
        if let Some(shares) = &self.prevalence {
            check::length("classes of prevalence", shares.classes(), self.classes)?;
            check::length("groups of prevalence", shares.groups(), 2)?;
        }
        check::length("point", self.point.len(), self.classes * (self.classes - 1) * groups)?;
        for (n, value) in self.point.iter().enumerate() {
            check::unit(&format!("point[{n}]"), *value)?;
        }
        if self.trade_offs.is_empty() {
            let what = "no kind of error can be traded for another by as much as 1 in 100 with all else equal: these \
                        predictions are too few or too alike to ask about around this classifier";
            return Err(Error::Mismatch(what.to_owned()));
        }
        for (n, trade) in self.trade_offs.iter().enumerate() {
            let [i, j] = trade.kinds;
            if i >= j || j >= all {
                let what =
                    format!("trade_offs[{n}].kinds is [{i}, {j}], expected two kinds below {all}, in order");
                return Err(Error::Mismatch(what));
            }
            check::length(&format!("trade_offs[{n}].reach"), trade.reach.len(), LOG_RATES.len())?;
            check::nonnegative(&format!("trade_offs[{n}].reach"), &trade.reach.concat())?;
        }
        check::at_least("rules", self.rules.len(), 2, "at least 2")?;
        for (n, rule) in self.rules.iter().enumerate() {
            check::length(&format!("rules[{n}]"), rule.len(), all)?;
            check::nonnegative(&format!("rules[{n}]"), rule)?;
        }
        Ok(self)
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, {
            classes: usize,
            prevalence: Option<GroupShares>,
            point: Point,
            trade_offs: Vec<TradeOff>,
            rules: Vec<Vec<f64>>
        } => Self { classes, prevalence, point, trade_offs, rules }.checked())
    }
}

impl TradeOff {
    /// The most that lies between two ends, over the rates.
    fn span(&self) -> f64 {
        let smaller = |(reach, log_rate): (&[f64; 2], &f64)| (reach[0] + reach[1]) * log_rate.exp().min(1.0);
        self.reach.iter().zip(&LOG_RATES).map(smaller).fold(0.0, f64::max)
    }

    /// How much more and how much less of the first kind there can be at a rate, and the rate: the nearest one if it lies
    /// beyond those that are known. `None` without room.
    pub(crate) fn reach_at(&self, log_rate: f64) -> Option<([f64; 2], f64)> {
        let last = LOG_RATES.len() - 1;
        let log_rate = log_rate.clamp(LOG_RATES[0], LOG_RATES[last]);
        let place = ((log_rate - LOG_RATES[0]) / (LOG_RATES[1] - LOG_RATES[0])).floor() as usize;
        let [here, next] = [place.min(last - 1), place.min(last - 1) + 1];
        let [low, high, rate] = [LOG_RATES[here], LOG_RATES[next], log_rate].map(f64::exp);
        // Where the ray meets the line between the two ends that are known.
        let meet = |side: usize| {
            let [a, b] = [self.reach[here][side], self.reach[next][side]];
            let below = (high - rate) * b + (rate - low) * a;
            if below > 0.0 { a * b * (high - low) / below } else { 0.0 }
        };
        let reach = [meet(0), meet(1)];
        (reach[0] + reach[1] > 0.0).then_some((reach, rate))
    }
}

/// Extreme points of each group that the data have been asked for: their hull is achievable.
struct Corners(Vec<Vec<Point>>);

impl Corners {
    /// The operating point itself, the constants, and the best points in some directions.
    fn new<P: Confusions + ?Sized>(set: &Achievable<'_, P>, errors: &[f64]) -> Result<Self, P::Err> {
        let q = set.errors();
        let parts = |point: Point| point.chunks(q).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let mut corners = Self(vec![vec![]; set.groups()]);
        for point in
            std::iter::once(errors.to_vec()).chain((0..set.view.classes()).map(|class| set.always(class)))
        {
            corners.0.iter_mut().zip(parts(point)).for_each(|(corners, part)| corners.push(part));
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let count = (20 * q).clamp(100, BATCH);
        let mut towards = |n: usize| -> Vec<f64> {
            let anywhere = normals(q * set.groups(), &mut random);
            // Mostly those that dislike errors: the classifier lies there.
            if n.is_multiple_of(4) { anywhere } else { anywhere.iter().map(|x| -x.abs()).collect() }
        };
        let directions: Vec<Vec<f64>> = (0..count).map(&mut towards).collect();
        corners.add(set, &directions.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        Ok(corners)
    }

    fn add<P: Confusions + ?Sized>(
        &mut self,
        set: &Achievable<'_, P>,
        directions: &[&[f64]],
    ) -> Result<(), P::Err> {
        let q = set.errors();
        for (group, corners) in self.0.iter_mut().enumerate() {
            let batch: Vec<&[f64]> =
                directions.iter().map(|direction| &direction[group * q..][..q]).collect();
            let batch: Vec<&[f64]> =
                batch.into_iter().filter(|part| part.iter().any(|x| *x != 0.0)).collect();
            corners.extend(set.best_points(&batch, group)?);
            corners.sort_by(|a, b| a.partial_cmp(b).expect("finite rates"));
            corners.dedup();
        }
        Ok(())
    }

    /// The best corner in a direction, group by group.
    fn best(&self, direction: &[f64]) -> Point {
        let q = direction.len() / self.0.len();
        let best = |(corners, part): (&Vec<Point>, &[f64])| -> Point {
            let value = |corner: &&Point| dot(part, corner);
            corners.iter().max_by(|a, b| value(a).total_cmp(&value(b))).expect("constants").clone()
        };
        self.0.iter().zip(direction.chunks(q)).flat_map(best).collect()
    }
}

impl<P: Confusions + ?Sized> Achievable<'_, P> {
    /// The toss of a coin, in every group.
    fn coin(&self) -> Point {
        (0..self.groups()).flat_map(|group| self.centre_of(group)).collect()
    }

    /// Always predicting one class, in every group.
    fn always(&self, class: usize) -> Point {
        (0..self.groups()).flat_map(|group| self.constant(class, group)).collect()
    }

    /// What one of each kind of error adds to the share of cases that are wrong.
    fn errors_by_kind(&self) -> Vec<f64> {
        let priors = self.population.prevalence().class_priors();
        off_diagonal_pairs(priors.len()).map(|(truth, _)| priors[truth]).collect()
    }

    /// The share of cases that are wrong if the most frequent class is always predicted.
    fn most_errors(&self) -> f64 {
        1.0 - self.population.prevalence().class_priors().iter().copied().fold(0.0, f64::max)
    }
}

impl Space for OperatingPoint {
    fn view(&self) -> View {
        let (measure, groups) = match &self.prevalence {
            None => (Measure::OffDiagonalRates, 1),
            Some(shares) => (Measure::GroupRates, shares.groups()),
        };
        View::new(measure, self.classes, groups).expect("checked when made")
    }

    fn centre(&self) -> Point {
        self.point.clone()
    }

    /// The best end of a trade.
    fn best(&self, weights: &[f64]) -> Point {
        let ends =
            self.trade_offs.iter().flat_map(|trade| LOG_RATES.map(|rate| self.ends(trade, rate, [1.0; 2])));
        let points = ends.flatten().flat_map(|(one, other)| [one, other]);
        let value = |point: &Point| dot(weights, point);
        points.max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or_else(|| self.centre())
    }

    /// Whether a trade leads there.
    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        if point.len() != self.point.len() || point.iter().any(|x| !x.is_finite()) {
            return false;
        }
        super::mixture::reaches(self, point, tolerance)
    }
}
