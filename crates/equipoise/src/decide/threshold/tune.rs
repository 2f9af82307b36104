//! A rule for many classes, tuned on a population.

use super::requirement::Requirement;
use super::sweep::{Infeasible, Outcome, Rating, Reach, as_matrices};
use crate::error::{Result, check};
use crate::metric::Metric;
use crate::population::{AskError, Confusions, PostShift};
use crate::rates::GroupConfusions;
use serde::Serialize;

/// Factors tried for a class at a time, in one pass.
const TRIED: usize = 33;
/// The first factors tried reach from 1/30 to 30; later ones lie a quarter as far around the best.
const REACH: f64 = 3.4;
const ROUNDS: usize = 6;

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
}

/// Looks for a better rule by counting the probability of one class after another more or less often.
///
/// With calibrated probabilities the rule of [`rewards`](super::rewards) is best and nothing is found; where a class is
/// predicted too often, or requirements ask for more of it, its factor says by how much. A search, not a proof: never
/// worse on the population than the rule at the start if that meets the requirements.
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
) -> Result<Outcome<Tuned>, AskError<P::Err>> {
    let (k, groups) = (population.classes(), population.groups());
    check::length("classes of the rule", rule.classes(), k)?;
    requirements.iter().try_for_each(|requirement| requirement.check(k, groups))?;
    let mut reached: Vec<Option<f64>> = vec![None; requirements.len()];
    let mut best: Option<(Rating, Vec<f64>, GroupConfusions)> = None;
    let mut attempt = |batch: Vec<Vec<f64>>, best: &mut Option<(Rating, Vec<f64>, GroupConfusions)>| {
        let rules = batch.iter().map(|factors| scaled(rule, factors)).collect::<Result<Vec<_>>>()?;
        let found = population.shifted(&rules).map_err(AskError::Population)?;
        for (factors, confusions) in batch.into_iter().zip(found) {
            let mut violation = 0.0;
            for (requirement, reached) in requirements.iter().zip(&mut reached) {
                let value = requirement.value_of(&confusions)?;
                violation += requirement.missed_by(value);
                *reached = requirement.better(*reached, value);
            }
            let rating = Rating { violation, liking: metric.sense().sign() * metric.of(&confusions)? };
            if rating.liking.is_finite() && rating.beats(best.as_ref().map(|(rating, ..)| rating)) {
                *best = Some((rating, factors, confusions));
            }
        }
        Ok::<(), AskError<P::Err>>(())
    };
    attempt(vec![vec![1.0; k]], &mut best)?;
    for round in 0..ROUNDS {
        let reach = REACH * 0.25_f64.powi(round as i32);
        for class in 0..k {
            let from = best.as_ref().map_or(vec![1.0; k], |(_, factors, _)| factors.clone());
            let step = |n: usize| reach * (2.0 * n as f64 / (TRIED - 1) as f64 - 1.0);
            let other = |n: usize| {
                let mut factors = from.clone();
                factors[class] *= step(n).exp();
                factors
            };
            attempt((0..TRIED).map(other).collect(), &mut best)?;
        }
    }
    let Some((rating, factors, confusions)) = best else { return Err(super::sweep::no_value().into()) };
    if rating.violation > 0.0 {
        let reach = |(requirement, best): (&Requirement, Option<f64>)| Reach {
            requirement: requirement.to_string(),
            best,
            enough: best.is_some_and(|best| requirement.is_met(best)),
        };
        let requirements = requirements.iter().zip(reached).map(reach).collect();
        return Ok(Outcome::Infeasible(Infeasible { requirements }));
    }
    let value = metric.of(&confusions)?;
    Ok(Outcome::Found(Tuned { rule: scaled(rule, &factors)?, factors, value, confusions }))
}

/// The rule for probabilities multiplied by factors.
fn scaled(rule: &PostShift, factors: &[f64]) -> Result<PostShift> {
    let k = rule.classes();
    let entry = |(n, reward): (usize, &f64)| reward * factors[n / k];
    PostShift::new(k, rule.rewards(0).iter().enumerate().map(entry).collect())
}
