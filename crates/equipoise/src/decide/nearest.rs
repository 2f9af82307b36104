//! Which metric with a name orders classifiers most like a given one.
//!
//! "Your answers are closest to F2, to a cost of 7:1": names people know, each with how well it agrees. Agreement is
//! Kendall's $\tau_b$ over a set of classifiers, so it speaks about decisions, not about coefficients. The set is a pool of
//! models, or [`achievable`] classifiers of a population.

use crate::decide::agreement::kendall_tau;
use crate::decide::rank::list;
use crate::error::{Result, check, refuse};
use crate::metric::{Metric, Named, rounded};
use crate::population::{AskError, Confusions, PostShift};
use crate::rates::{GroupConfusions, Prevalence};
use rand::{Rng, RngExt};
use serde::Serialize;

/// A rounder parameter is preferred if it costs no more agreement than this.
const TIDY: f64 = 5e-3;
/// Agreement that prints as 1.000. Where three metrics have it, the classifiers are too few or too alike to tell names apart.
const SAME: f64 = 0.9995;

/// A metric with a name and how well it agrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The metric.
    #[serde(flatten)]
    pub named: Named,
    /// Its name in words.
    pub words: String,
    /// Kendall's $\tau_b$ between its order and the given one, 1 for the same order.
    pub kendall: f64,
}

/// The metrics with names, best agreement first.
///
/// With two classes these are accuracy, balanced accuracy, G-mean, Jaccard, the best F-beta and the best cost ratio; with
/// more, accuracy, balanced accuracy, G-mean, and for each class accuracy with the best weight of that class. Parameters are
/// searched on a grid from 1/128 to 128 that is refined around the best, and rounded where that costs no agreement to speak of.
///
/// ```
/// use equipoise::{Metric, decide::nearest, population::Logistic};
/// use rand::SeedableRng;
/// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
/// let pool = nearest::achievable(&Logistic::new(5.0)?, 100, &mut random)?;
/// let cost = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,7]}"#;
/// let found = nearest::nearest(&Metric::from_json(cost)?, &pool)?;
/// assert_eq!(found[0].words, "a 7:1 cost");
/// assert!(found[0].kendall > 0.999);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn nearest(metric: &Metric, pool: &[GroupConfusions]) -> Result<Vec<Agreement>> {
    check::at_least("the number of classifiers", pool.len(), 2, "at least 2")?;
    let values = pool
        .iter()
        .map(|matrix| Ok(metric.sense().sign() * metric.of(matrix)?))
        .collect::<Result<Vec<f64>>>()?;
    check::all_finite("the metric at the classifiers", &values)?;
    refuse!(
        values.iter().all(|v| *v == values[0]),
        "the metric gives every classifier the same value, expected at least two values"
    );
    let prevalences: Vec<Prevalence> = pool.iter().map(GroupConfusions::prevalence).collect();
    // No agreement where the named metric has no value or no order.
    let agreement = |named: Named| -> Option<f64> {
        let value = |(matrix, prevalence): (_, &Prevalence)| named.metric(prevalence).ok()?.of(matrix).ok();
        let found = pool.iter().zip(&prevalences).map(|it| value(it).filter(|v| v.is_finite()));
        kendall_tau(&values, &found.collect::<Option<Vec<f64>>>()?).ok()?
    };
    let mut candidates = vec![Named::Accuracy, Named::BalancedAccuracy, Named::GMean];
    if metric.view().classes() == 2 {
        candidates.push(Named::Jaccard);
        candidates.extend(best_member(|beta| Named::FBeta { beta }, &agreement));
        candidates.extend(best_member(|ratio| Named::CostRatio { ratio }, &agreement));
    } else {
        for class in 0..metric.view().classes() {
            candidates.extend(best_member(|weight| Named::ClassWeight { class, weight }, &agreement));
        }
    }
    let judged = |named: Named| {
        let words = named.words(metric.class_names());
        agreement(named).map(|kendall| Agreement { named, words, kendall })
    };
    let mut found: Vec<Agreement> = candidates.into_iter().filter_map(judged).collect();
    found.sort_by(|a, b| b.kendall.total_cmp(&a.kendall));
    Ok(found)
}

/// The best few in a sentence.
///
/// ```
/// use equipoise::{decide::nearest::{Agreement, sentence}, metric::Named};
/// let of = |named: Named, kendall| Agreement { named, words: named.words(None), kendall };
/// let found = [of(Named::FBeta { beta: 2.0 }, 0.981), of(Named::CostRatio { ratio: 7.0 }, 0.97)];
/// assert_eq!(sentence(&found), "The metric orders classifiers most like F2 (Kendall tau 0.981), then a 7:1 cost (0.970).");
/// ```
pub fn sentence(found: &[Agreement]) -> String {
    let [first, rest @ ..] = found else {
        return "No metric with a name orders these classifiers.".to_owned();
    };
    if found.get(2).is_some_and(|third| third.kendall >= SAME) {
        return "These classifiers are too few or too alike to tell metrics with names apart.".to_owned();
    }
    let start =
        format!("The metric orders classifiers most like {} (Kendall tau {:.3})", first.words, first.kendall);
    let others: Vec<String> =
        rest.iter().take(2).map(|a| format!("{} ({:.3})", a.words, a.kendall)).collect();
    if others.is_empty() { start + "." } else { format!("{start}, then {}.", list(&others, "and")) }
}

/// Classifiers a population allows: random rules that weigh the classes, and mixtures of two such rules.
pub fn achievable<P: Confusions + ?Sized>(
    population: &P,
    count: usize,
    random: &mut impl Rng,
) -> Result<Vec<GroupConfusions>, AskError<P::Err>> {
    let k = population.classes();
    let mut rule = || {
        let weights: Vec<f64> = (0..k).map(|_| random.random_range(-4.0_f64..4.0).exp2()).collect();
        PostShift::diagonal(&weights)
    };
    let rules = (0..2 * count).map(|_| rule()).collect::<Result<Vec<_>>>()?;
    let matrices = population.shifted(&rules).map_err(AskError::Population)?;
    let mix = |pair: &[GroupConfusions], share: f64| {
        let entry = |g: usize, n: usize| {
            let [a, b] = [0, 1].map(|p| pair[p].get(g, n / k, n % k));
            share * a + (1.0 - share) * b
        };
        let groups = (0..pair[0].groups()).map(|g| (0..k * k).map(|n| entry(g, n)).collect());
        GroupConfusions::new(k, groups.collect())
    };
    let shares: Vec<f64> = (0..count).map(|n| if n % 2 == 0 { 1.0 } else { random.random() }).collect();
    Ok(matrices.chunks_exact(2).zip(shares).map(|(pair, share)| mix(pair, share)).collect::<Result<_>>()?)
}

/// The member of a one-parameter family with the best agreement.
fn best_member(member: impl Fn(f64) -> Named, agreement: &impl Fn(Named) -> Option<f64>) -> Option<Named> {
    let at = |log: f64| agreement(member(log.exp2()));
    let (mut centre, mut step, mut best) = (0.0, 0.25, None);
    for half_width in [28, 8, 8, 8] {
        let logs: Vec<f64> = (-half_width..=half_width).map(|n| centre + step * f64::from(n)).collect();
        let found: Vec<f64> = logs.iter().map(|&log| at(log).unwrap_or(f64::NEG_INFINITY)).collect();
        let top = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return None;
        }
        // The order changes in steps: take the middle of the first run that is as good as any.
        let start = found.iter().position(|&f| f == top)?;
        let run = found[start..].iter().take_while(|&&f| f == top).count();
        let middle = logs[start + (run - 1) / 2];
        if best.is_none_or(|(_, before)| top >= before) {
            best = Some((middle, top));
            centre = middle;
        }
        step /= 4.0;
    }
    let (log, top) = best?;
    let exact = log.exp2();
    // A ratio below 1 is told the other way round, 1:4 for 0.25.
    let inverted = exact < 1.0 && matches!(member(exact), Named::CostRatio { .. });
    let round = |digits| if inverted { 1.0 / rounded(1.0 / exact, digits) } else { rounded(exact, digits) };
    let mut tidy = (1..=3).map(round);
    let good = |x: &f64| agreement(member(*x)).is_some_and(|tau| tau >= top - TIDY);
    Some(member(tidy.find(good).unwrap_or(exact)))
}
