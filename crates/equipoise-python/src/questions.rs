//! What is asked of predictions, in memory or elsewhere, on the way between Python and the core.

use crate::error::value_error;
use crate::metric::Metric;
use equipoise::decide::threshold::{self, Bootstrap, Optimum, Requirement, Tuned};
use equipoise::population::{PostShift, Profile, Rule, Total, Totals};
use equipoise::{GroupConfusions, Metric as Judge};
use equipoise_data::on_all_cores;
use numpy::{PyReadonlyArray3, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

/// Thresholds, one or one per group, their value, and whether they are surely the best; or why there are none.
pub type Thresholds = Result<(Vec<f64>, f64, bool), String>;

/// How much is drawn to tell how sure a threshold is.
#[derive(Clone, Copy)]
pub struct Doubt {
    pub draws: usize,
    pub level: f64,
    pub seed: u64,
}

/// Joint shares of groups and classes.
pub fn shares(totals: &Totals) -> Vec<Vec<f64>> {
    let all = totals.overall().weight;
    let of_group = |group: &Vec<Total>| group.iter().map(|cell| cell.weight / all).collect();
    totals.cells.iter().map(of_group).collect()
}

pub fn requirements(texts: &[String], classes: &[String], groups: &[String]) -> PyResult<Vec<Requirement>> {
    let parse = |text: &String| Requirement::parse(text, classes, groups);
    texts.iter().map(parse).collect::<equipoise::Result<_>>().map_err(value_error)
}

/// Two classes, as thresholds need them.
pub fn two_classes(classes: usize) -> equipoise::Result<()> {
    match classes {
        2 => Ok(()),
        _ => {
            let what = format!("a threshold is for 2 classes, but y_true has {classes}");
            Err(equipoise::Error::Mismatch(what))
        }
    }
}

/// Thresholds for a metric of two classes, one for all or one per group, as a document.
pub fn advise(
    profile: &Profile,
    metric: &Judge,
    requirements: &[Requirement],
    per_group: bool,
    Doubt { draws, level, seed }: Doubt,
) -> equipoise::Result<String> {
    let metric_draws = metric.draws(draws, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let metric_draws = &metric_draws[..];
    let doubt =
        Bootstrap { metric_draws, resamples: draws, seed, level, run: on_all_cores, ..Bootstrap::default() };
    let mut document = json!(profile.advise(metric, requirements, doubt)?);
    if per_group {
        document["per_group"] = json!(profile.advise_per_group(metric, requirements, doubt)?);
    }
    Ok(document.to_string())
}

/// The best threshold on the rows, or the best ones per group, without uncertainty.
pub fn best_thresholds(
    profile: &Profile,
    metric: &Judge,
    requirements: &[Requirement],
    per_group: bool,
) -> equipoise::Result<Thresholds> {
    if per_group {
        return Ok(match profile.best_per_group(metric, requirements)? {
            Optimum::Found(best) => {
                Ok((best.cuts.iter().map(|cut| cut.threshold).collect(), best.value, best.exact))
            }
            Optimum::Infeasible(why) => Err(why.to_string()),
        });
    }
    Ok(match profile.best(metric, requirements)? {
        Optimum::Found(best) => Ok((vec![best.cut.threshold], best.value, true)),
        Optimum::Infeasible(why) => Err(why.to_string()),
    })
}

/// The decision curve at threshold probabilities: net benefit, that of treating all, of treating none.
pub fn decision_curve(profile: &Profile, thresholds: &[f64]) -> equipoise::Result<Vec<(f64, f64, f64)>> {
    let curve = profile.decision_curve(thresholds)?;
    Ok(curve.iter().map(|[benefit, all]| (*benefit, *all, 0.0)).collect())
}

/// The rule whose neighbours are asked about: "model" is the most likely class, "balanced" has classes weighed alike, "metric" is
/// the best rule for a metric.
pub fn rule_around(rule: &str, metric: Option<&Metric>, priors: &[f64]) -> PyResult<Rule> {
    match (rule, metric) {
        ("model", _) => Rule::most_likely(priors.len()).map_err(value_error),
        ("balanced", _) => {
            let weights: Vec<f64> = priors.iter().map(|prior| 1.0 / prior).collect();
            Ok(PostShift::diagonal(&weights).map_err(value_error)?.into())
        }
        (_, Some(metric)) => Ok(threshold::rewards(&metric.0, priors).map_err(value_error)?.into()),
        _ => Err(value_error("around is a metric, but there is none")),
    }
}

/// The reward matrix that is best for a linear metric where probabilities are calibrated, and the rule in words.
pub fn bayes_rule(metric: &Metric, priors: &[f64], classes: &[String]) -> PyResult<(Vec<f64>, String)> {
    let rule = threshold::rewards(&metric.0, priors).map_err(value_error)?;
    let words = threshold::decision_text(&rule, classes).map_err(value_error)?;
    Ok((rule.rewards(0).to_vec(), words))
}

/// Factors, rewards and value of the best rule found by weighing the classes' probabilities.
pub fn tuned(found: Optimum<Tuned>) -> PyResult<(Vec<f64>, Vec<f64>, f64)> {
    match found {
        Optimum::Found(tuned) => Ok((tuned.factors, tuned.rule.rewards(0).to_vec(), tuned.value)),
        Optimum::Infeasible(why) => {
            Err(value_error(why.to_string().replace("no threshold meets", "no rule found meets")))
        }
    }
}

/// Rules for so many classes and groups: a reward matrix per group, or one.
pub fn rules(rules: &[PyReadonlyArray3<'_, f64>], k: usize, groups: usize) -> PyResult<Vec<Rule>> {
    let rules = rules.iter().map(post_shift).collect::<PyResult<Vec<_>>>()?;
    match rules.iter().find(|rule| rule.classes() != k || !rule.serves(groups)) {
        Some(rule) => Err(value_error(format!(
            "a rule is for {} classes, expected {k} with one reward matrix, or one for each of {groups} groups",
            rule.classes()
        ))),
        None => Ok(rules.into_iter().map(Rule::from).collect()),
    }
}

/// Rules that predict the second of two classes from a probability on.
pub fn cuts(thresholds: &[f64]) -> Vec<Rule> {
    thresholds.iter().map(|&at| Rule::Threshold(vec![at])).collect()
}

pub fn post_shift(rewards: &PyReadonlyArray3<'_, f64>) -> PyResult<PostShift> {
    let shape = rewards.shape().to_vec();
    if shape[1] != shape[2] {
        return Err(value_error(format!("rewards have shape {shape:?}, expected (groups, k, k)")));
    }
    let matrices = rewards.as_slice()?.chunks((shape[1] * shape[2]).max(1)).map(<[f64]>::to_vec).collect();
    PostShift::per_group(shape[1], matrices).map_err(value_error)
}

/// Shares by rule, group, true class and estimated class, one after the other.
pub fn flat(confusions: &[GroupConfusions]) -> Vec<f64> {
    let mut all = Vec::new();
    for matrix in confusions {
        let k = matrix.classes();
        for group in 0..matrix.groups() {
            all.extend((0..k * k).map(|n| matrix.get(group, n / k, n % k)));
        }
    }
    all
}
