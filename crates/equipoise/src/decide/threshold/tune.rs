//! A rule for many classes, tuned on a population.

use super::requirement::Requirement;
use super::sweep::{Infeasible, Optimum, Rating, Reach, as_matrices, no_value};
use crate::error::{Result, check};
use crate::metric::Metric;
use crate::population::{AskError, Confusions, PostShift};
use crate::rates::GroupConfusions;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Logarithms of factors reach from minus this to this: from 1/60 to 60.
const REACH: f64 = 4.1;
/// Points on an axis of the first grid, for two and for three classes; with more classes points are drawn.
const SIDES: [usize; 2] = [257, 25];
const DRAWN: usize = 500;
/// The search narrows around so many of the best rules that are apart, until factors differ by less than this.
const CENTRES: usize = 4;
const FINEST: f64 = 0.002;
const MOST_ROUNDS: usize = 25;
/// Grids that may find the search wrong; each that does is searched from.
const MOST_GRIDS: usize = 8;

/// The best rule found near another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// How many times the probability of each class counts, compared with the rule at the start.
    pub factors: Vec<f64>,
    /// The rule.
    #[serde(skip)]
    pub rule: PostShift,
    /// The metric there.
    pub value: f64,
    /// The confusion matrix there.
    #[serde(serialize_with = "as_matrices")]
    pub confusions: GroupConfusions,
    /// How many rules were tried.
    pub tried: usize,
    /// How many of them were tried last, all over the range of factors, without finding a better one; 0 if one was found
    /// each time.
    pub confirmed_by: usize,
}

/// Looks for a better rule by counting the probabilities of the classes more or less often.
///
/// With calibrated probabilities the rule of [`rewards`](super::rewards) is best and nothing is found; where a class is
/// predicted too often, or requirements ask for more of it, its factor says by how much. Factors from 1/60 to 60 are tried
/// on a grid, then ever closer around the best few; then on a grid laid elsewhere, and if that finds a better rule all over
/// again. A search, not a proof: never worse on the population than the rule at the start if that meets the requirements.
///
/// ```
/// use equipoise::{Metric, population::{PostShift, Softmax}, decide::threshold::{Requirement, tune}};
/// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
/// let names = ["a", "b", "c"].map(str::to_owned);
/// let needed = [Requirement::parse("recall:a>=0.9", &names, &[])?];
/// let most_likely = PostShift::diagonal(&[1.0; 3])?;
/// let tuned = tune(&law, &most_likely, &Metric::accuracy(3)?, &needed)?.found().unwrap();
/// assert!(tuned.confusions.rates(0)?.get(0, 0) >= 0.9);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn tune<P: Confusions + ?Sized>(
    population: &P,
    rule: &PostShift,
    metric: &Metric,
    requirements: &[Requirement],
) -> Result<Optimum<Tuned>, AskError<P::Err>> {
    let (k, groups) = (population.classes(), population.groups());
    check::length("classes of the rule", rule.classes(), k)?;
    requirements.iter().try_for_each(|requirement| requirement.check(k, groups))?;
    let reached = vec![None; requirements.len()];
    let mut search = Search { population, rule, metric, requirements, reached, best: vec![], tried: 0 };
    search.attempt(vec![vec![0.0; k]])?;
    search.attempt(grid(k, 0))?;
    let mut confirmed_by = 0;
    for number in 1..=MOST_GRIDS {
        search.narrow(k)?;
        let before = search.tried;
        if !search.attempt(grid(k, number))? {
            confirmed_by = search.tried - before;
            break;
        }
    }
    let Search { reached, mut best, tried, .. } = search;
    if best.is_empty() {
        return Err(no_value().into());
    }
    let Attempt { rating, logs, confusions } = best.swap_remove(0);
    if rating.violation > 0.0 {
        let reach = |(requirement, best): (&Requirement, Option<f64>)| Reach {
            requirement: requirement.to_string(),
            best,
            enough: best.is_some_and(|best| requirement.is_met(best)),
        };
        let requirements = requirements.iter().zip(reached).map(reach).collect();
        return Ok(Optimum::Infeasible(Infeasible { requirements }));
    }
    let value = metric.of(&confusions)?;
    let factors = logs.iter().map(|log| log.exp()).collect();
    let rule = scaled(rule, &logs)?;
    Ok(Optimum::Found(Tuned { rule, factors, value, confusions, tried, confirmed_by }))
}

struct Search<'a, P: ?Sized> {
    population: &'a P,
    rule: &'a PostShift,
    metric: &'a Metric,
    requirements: &'a [Requirement],
    /// How far each requirement could be met.
    reached: Vec<Option<f64>>,
    /// The best rules so far, best first.
    best: Vec<Attempt>,
    tried: usize,
}

struct Attempt {
    rating: Rating,
    /// The logarithms of the factors.
    logs: Vec<f64>,
    confusions: GroupConfusions,
}

impl<P: Confusions + ?Sized> Search<'_, P> {
    /// Tries a batch of rules in one question; says whether one of them is the best so far.
    fn attempt(&mut self, batch: Vec<Vec<f64>>) -> Result<bool, AskError<P::Err>> {
        const KEPT: usize = 100;
        let rules = batch.iter().map(|logs| scaled(self.rule, logs)).collect::<Result<Vec<_>>>()?;
        let found = self.population.shifted(&rules).map_err(AskError::Population)?;
        self.tried += rules.len();
        let before = self.best.first().map(|attempt| attempt.rating);
        for (logs, confusions) in batch.into_iter().zip(found) {
            let mut violation = 0.0;
            for (requirement, reached) in self.requirements.iter().zip(&mut self.reached) {
                let value = requirement.value_of(&confusions)?;
                violation += requirement.missed_by(value);
                *reached = requirement.better(*reached, value);
            }
            let rating =
                Rating { violation, liking: self.metric.sense().sign() * self.metric.of(&confusions)? };
            // Of equally good rules the first stays in front.
            let place = self.best.partition_point(|attempt| !rating.beats(Some(&attempt.rating)));
            if rating.liking.is_finite() && place < KEPT {
                self.best.insert(place, Attempt { rating, logs, confusions });
                self.best.truncate(KEPT);
            }
        }
        Ok(self.best.first().is_some_and(|attempt| attempt.rating.beats(before.as_ref())))
    }

    /// Tries factors ever closer around the best few rules that are apart, of one class and of two at a time: where a
    /// requirement binds, the way to a better rule changes two.
    fn narrow(&mut self, k: usize) -> Result<(), AskError<P::Err>> {
        let mut reach = match SIDES.get(k - 2) {
            Some(&side) => 2.0 * REACH / (side - 1) as f64,
            None => 1.0,
        };
        // Of two and three classes one factor says nothing: a common one changes no decision.
        let axes = if k <= 3 { k - 1 } else { k };
        let pair: &[f64] = if k <= 3 { &[-1.0, -0.5, 0.5, 1.0] } else { &[-1.0, 1.0] };
        for _ in 0..MOST_ROUNDS {
            if reach <= FINEST {
                break;
            }
            let mut centres: Vec<Vec<f64>> = vec![];
            for attempt in &self.best {
                let apart = |other: &Vec<f64>| {
                    other.iter().zip(&attempt.logs).any(|(a, b)| (a - b).abs() > 1.5 * reach)
                };
                if centres.len() < CENTRES && centres.iter().all(apart) {
                    centres.push(attempt.logs.clone());
                }
            }
            let mut batch = vec![];
            for centre in centres {
                let moved = |moves: &[(usize, f64)]| {
                    let mut logs = centre.clone();
                    moves.iter().for_each(|&(class, by)| logs[class] += by * reach);
                    logs
                };
                for a in 0..axes {
                    batch.extend((1..=8).flat_map(|n| [n, -n]).map(|n| moved(&[(a, f64::from(n) / 8.0)])));
                    for b in 0..a {
                        let both = pair.iter().flat_map(|&x| pair.iter().map(move |&y| (x, y)));
                        batch.extend(both.map(|(x, y)| moved(&[(a, x), (b, y)])));
                    }
                }
            }
            // A step that helped may be taken again before steps get smaller.
            if !self.attempt(batch)? || k <= 3 {
                reach /= 2.0;
            }
        }
        Ok(())
    }
}

/// Logarithms of factors all over their range; every number has a grid of its own.
fn grid(k: usize, number: usize) -> Vec<Vec<f64>> {
    let Some(side) = SIDES.get(k - 2).map(|side| side + 2 * number) else {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(number as u64);
        let mut drawn = |reach: f64| (0..k).map(|_| random.random_range(-reach..reach)).collect();
        // Most rules of interest are not far from the start.
        return (0..DRAWN).map(|n| drawn(REACH * [0.1, 0.25, 0.5, 1.0][n % 4])).collect();
    };
    let at = |n: usize| REACH * (2.0 * n as f64 / (side - 1) as f64 - 1.0);
    let point = |n: usize| match k {
        2 => vec![at(n), 0.0],
        _ => vec![at(n / side), at(n % side), 0.0],
    };
    (0..side.pow(k as u32 - 1)).map(point).collect()
}

/// The rule for probabilities multiplied by factors.
fn scaled(rule: &PostShift, logs: &[f64]) -> Result<PostShift> {
    let k = rule.classes();
    let entry = |(n, reward): (usize, &f64)| reward * logs[n / k].exp();
    PostShift::new(k, rule.rewards(0).iter().enumerate().map(entry).collect())
}
