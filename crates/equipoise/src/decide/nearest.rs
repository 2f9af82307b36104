//! Which metric with a name orders classifiers most like a given one.
//!
//! "Your answers are closest to F2, to a cost of 7:1": names people know, each with how well it agrees. Agreement is
//! Kendall's $\tau_b$ over a set of classifiers, so it speaks about decisions, not about coefficients. The set is a pool of
//! models, or [`achievable`] classifiers of a population.

use crate::decide::agreement::kendall_tau;
use crate::decide::rank::list;
use crate::error::{Error, Result, check};
use crate::metric::Metric;
use crate::population::{Population, PostShift};
use crate::rates::{Confusion, GroupConfusions};
use rand::{Rng, RngExt};
use serde::Serialize;

/// A rounder parameter is preferred if it costs no more agreement than this.
const TIDY: f64 = 5e-3;

/// A metric people know by name. Class 1 is the positive one of two classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Known {
    /// The share of correct predictions.
    Accuracy,
    /// The mean recall.
    BalancedAccuracy,
    /// The geometric mean of the recalls.
    GMean,
    /// $TP / (TP + FN + FP)$.
    Jaccard,
    /// $(1+\beta^2) TP / ((1+\beta^2) TP + \beta^2 FN + FP)$.
    FBeta {
        /// $\beta$.
        beta: f64,
    },
    /// The cost $FP + c\,FN$.
    CostRatio {
        /// $c$: how many false alarms one missed case costs.
        ratio: f64,
    },
    /// Accuracy with one class weighing more or less than the others.
    ClassWeight {
        /// The class.
        class: usize,
        /// Its weight; the others have 1.
        weight: f64,
    },
}

impl Known {
    /// How much a holder of this metric likes a classifier; `None` where it has no value.
    pub fn liking(&self, confusion: &Confusion) -> Option<f64> {
        let k = confusion.classes();
        let recalls = || -> Option<Vec<f64>> {
            let (priors, hits) = (confusion.class_priors(), confusion.diagonal());
            hits.iter().zip(&priors).map(|(hit, prior)| (*prior > 0.0).then(|| hit / prior)).collect()
        };
        let binary = || (k == 2).then(|| [(1, 1), (1, 0), (0, 1)].map(|(i, j)| confusion.get(i, j)));
        let value = match *self {
            Known::Accuracy => confusion.diagonal().iter().sum(),
            Known::BalancedAccuracy => recalls()?.iter().sum::<f64>() / k as f64,
            Known::GMean => recalls()?.iter().product::<f64>().powf(1.0 / k as f64),
            Known::Jaccard => {
                let [tp, fn_, fp] = binary()?;
                tp / (tp + fn_ + fp)
            }
            Known::FBeta { beta } => {
                let [tp, fn_, fp] = binary()?;
                let b2 = beta * beta;
                (1.0 + b2) * tp / ((1.0 + b2) * tp + b2 * fn_ + fp)
            }
            Known::CostRatio { ratio } => {
                let [_, fn_, fp] = binary()?;
                -(fp + ratio * fn_)
            }
            Known::ClassWeight { class, weight } => {
                let hits = confusion.diagonal();
                hits.iter().sum::<f64>() + (weight - 1.0) * hits.get(class)?
            }
        };
        value.is_finite().then_some(value)
    }

    /// The name in words.
    pub fn name(&self, class_names: Option<&[String]>) -> String {
        match *self {
            Known::Accuracy => "accuracy".to_owned(),
            Known::BalancedAccuracy => "balanced accuracy".to_owned(),
            Known::GMean => "the G-mean".to_owned(),
            Known::Jaccard => "the Jaccard index".to_owned(),
            Known::FBeta { beta } => format!("F{beta}"),
            Known::CostRatio { ratio } if ratio >= 1.0 => format!("a {ratio}:1 cost"),
            Known::CostRatio { ratio } => format!("a 1:{} cost", rounded(1.0 / ratio, 3)),
            Known::ClassWeight { class, weight } => {
                let named = class_names.and_then(|names| names.get(class)).cloned();
                let class = named.unwrap_or_else(|| format!("class {class}"));
                format!("accuracy with {class} counted {weight} times")
            }
        }
    }
}

/// A known metric and how well it agrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The metric.
    #[serde(flatten)]
    pub known: Known,
    /// Its name in words.
    pub words: String,
    /// Kendall's $\tau_b$ between its order and the given one, 1 for the same order.
    pub kendall: f64,
}

/// The known metrics, best agreement first.
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
    if values.iter().all(|v| *v == values[0]) {
        let what = "the metric gives every classifier the same value, expected at least two values";
        return Err(Error::Mismatch(what.to_owned()));
    }
    let overall: Vec<Confusion> = pool.iter().map(GroupConfusions::overall).collect();
    // No agreement where the known metric has no value or no order.
    let agreement = |known: Known| -> Option<f64> {
        let likings = overall.iter().map(|matrix| known.liking(matrix)).collect::<Option<Vec<_>>>()?;
        kendall_tau(&values, &likings).ok()?
    };
    let mut candidates = vec![Known::Accuracy, Known::BalancedAccuracy, Known::GMean];
    if metric.view().classes() == 2 {
        candidates.push(Known::Jaccard);
        candidates.extend(best_member(|beta| Known::FBeta { beta }, &agreement));
        candidates.extend(best_member(|ratio| Known::CostRatio { ratio }, &agreement));
    } else {
        for class in 0..metric.view().classes() {
            candidates.extend(best_member(|weight| Known::ClassWeight { class, weight }, &agreement));
        }
    }
    let judged = |known: Known| {
        let words = known.name(metric.class_names());
        agreement(known).map(|kendall| Agreement { known, words, kendall })
    };
    let mut found: Vec<Agreement> = candidates.into_iter().filter_map(judged).collect();
    found.sort_by(|a, b| b.kendall.total_cmp(&a.kendall));
    Ok(found)
}

/// The best few in a sentence.
///
/// ```
/// use equipoise::decide::nearest::{Agreement, Known, sentence};
/// let of = |known: Known, kendall| Agreement { known, words: known.name(None), kendall };
/// let found = [of(Known::FBeta { beta: 2.0 }, 0.981), of(Known::CostRatio { ratio: 7.0 }, 0.97)];
/// assert_eq!(sentence(&found), "The metric orders classifiers most like F2 (Kendall tau 0.981), then a 7:1 cost (0.970).");
/// ```
pub fn sentence(found: &[Agreement]) -> String {
    let [first, rest @ ..] = found else {
        return "No metric with a name orders these classifiers.".to_owned();
    };
    let start =
        format!("The metric orders classifiers most like {} (Kendall tau {:.3})", first.words, first.kendall);
    let others: Vec<String> =
        rest.iter().take(2).map(|a| format!("{} ({:.3})", a.words, a.kendall)).collect();
    if others.is_empty() { start + "." } else { format!("{start}, then {}.", list(&others, "and")) }
}

/// Classifiers a population allows: random rules that weigh the classes, and mixtures of two such rules.
pub fn achievable<P>(population: &P, count: usize, random: &mut impl Rng) -> Result<Vec<GroupConfusions>>
where
    P: Population + ?Sized,
{
    let k = population.classes();
    let mut rule = || {
        let weights: Vec<f64> = (0..k).map(|_| random.random_range(-4.0_f64..4.0).exp2()).collect();
        PostShift::diagonal(&weights)
    };
    let rules = (0..2 * count).map(|_| rule()).collect::<Result<Vec<_>>>()?;
    let matrices = population.confusions(&rules);
    let mix = |pair: &[GroupConfusions], share: f64| {
        let entry = |g: usize, n: usize| {
            let [a, b] = [0, 1].map(|p| pair[p].get(g, n / k, n % k));
            share * a + (1.0 - share) * b
        };
        let groups = (0..pair[0].groups()).map(|g| (0..k * k).map(|n| entry(g, n)).collect());
        GroupConfusions::new(k, groups.collect())
    };
    let shares: Vec<f64> = (0..count).map(|n| if n % 2 == 0 { 1.0 } else { random.random() }).collect();
    matrices.chunks_exact(2).zip(shares).map(|(pair, share)| mix(pair, share)).collect()
}

/// The member of a one-parameter family with the best agreement.
fn best_member(member: impl Fn(f64) -> Known, agreement: &impl Fn(Known) -> Option<f64>) -> Option<Known> {
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
    let inverted = exact < 1.0 && matches!(member(exact), Known::CostRatio { .. });
    let round = |digits| if inverted { 1.0 / rounded(1.0 / exact, digits) } else { rounded(exact, digits) };
    let mut tidy = (1..=3).map(round);
    let good = |x: &f64| agreement(member(*x)).is_some_and(|tau| tau >= top - TIDY);
    Some(member(tidy.find(good).unwrap_or(exact)))
}

/// A positive number with this many significant digits.
fn rounded(x: f64, digits: i32) -> f64 {
    let places = digits - 1 - x.log10().floor() as i32;
    if places >= 0 {
        let factor = 10_f64.powi(places);
        (x * factor).round() / factor
    } else {
        let factor = 10_f64.powi(-places);
        (x / factor).round() * factor
    }
}
