//! From people to a model: several rules side by side, and how often two people would choose differently.

use super::{Estimate, Experts, metric_at};
use equipoise::Metric;
use equipoise_study::candidates::Models;
use equipoise_study::ratio_metric;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// What a group's metrics say about the models of the study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Together {
    /// The probability that two people of the group, picked at random, prefer different models.
    pub disagreement: Estimate,
    /// How many people prefer each model, most first.
    pub preferred: Vec<Preferred>,
    /// The rules side by side.
    pub choices: Vec<Choice>,
    /// Whether the rules choose different models.
    pub rules_differ: bool,
    /// That, in a sentence.
    pub sentence: String,
    /// What there is to choose from: a model, or a candidate.
    #[serde(skip)]
    pub one: &'static str,
    /// Everybody's model, in the order of the people.
    #[serde(skip)]
    pub by_person: Vec<String>,
}

/// A model and its friends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preferred {
    /// The model.
    pub model: String,
    /// How many people choose it at their estimate.
    pub people: usize,
    /// How many that is expected to be, their uncertainty allowed for.
    pub expected: f64,
}

/// A way from people to one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The typical metric: of two classes, the pooled mean of the log ratio.
    Mean,
    /// The median: of two classes the middle ratio, otherwise weight by weight.
    Median,
    /// The model most people prefer.
    Majority,
    /// The model whose largest regret, over people, is least.
    MinimaxRegret,
}

impl Rule {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Mean => "pooled mean",
            Rule::Median => "median",
            Rule::Majority => "majority",
            Rule::MinimaxRegret => "minimax regret",
        }
    }
}

/// What a rule chooses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The rule.
    pub rule: Rule,
    /// The models it chooses: more than one if they are tied.
    pub models: Vec<String>,
    /// Two classes: the ratio it judges by, for the rules that have one.
    pub ratio: Option<f64>,
    /// How much the chosen model costs whoever it suits least, in units of their metric.
    pub largest_regret: f64,
}

pub(super) fn together(
    one: &'static str,
    models: &Models,
    experts: &Experts,
    metrics: &[&Metric],
    draws: &dyn Fn(usize) -> Vec<Metric>,
) -> Option<Together> {
    let names = models.names();
    let likings = |metric: &Metric| models.likings(metric);
    let by_person: Vec<Vec<f64>> = metrics.iter().map(|metric| likings(metric)).collect();
    let chosen: Vec<usize> = by_person.iter().map(|likings| best(likings)[0]).collect();
    let regret = |model: usize| {
        let of = |likings: &Vec<f64>| top(likings) - likings[model];
        by_person.iter().map(of).fold(0.0, f64::max)
    };
    let mean = &experts.typical;
    let median = match experts.ratio {
        Some(_) => {
            ratio_metric(middle(metrics.iter().filter_map(|metric| metric.cost_ratio()).map(f64::ln)).exp())
        }
        None => {
            let of = |person: &&Metric| -> Vec<f64> {
                let weights = person.coefficients();
                let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt().max(1e-300);
                weights.iter().map(|w| w / length).collect()
            };
            let all: Vec<Vec<f64>> = metrics.iter().map(of).collect();
            let weights: Vec<f64> = (0..all[0].len()).map(|n| middle(all.iter().map(|w| w[n]))).collect();
            metric_at(metrics.first()?, &weights)
        }
    };
    let mut votes = vec![0; names.len()];
    chosen.iter().for_each(|model| votes[*model] += 1);
    let regrets: Vec<f64> = (0..names.len()).map(regret).collect();
    let choice = |rule: Rule, picked: Vec<usize>, ratio: Option<f64>| Choice {
        rule,
        largest_regret: picked.iter().map(|model| regrets[*model]).fold(0.0, f64::max),
        models: picked.into_iter().map(|model| names[model].clone()).collect(),
        ratio,
    };
    let most = votes.iter().copied().max().unwrap_or(0);
    let choices = vec![
        choice(Rule::Mean, best(&likings(mean)), experts.ratio.and_then(|_| mean.cost_ratio())),
        choice(Rule::Median, best(&likings(&median)), experts.ratio.and_then(|_| median.cost_ratio())),
        choice(Rule::Majority, (0..votes.len()).filter(|n| votes[*n] == most).collect(), None),
        choice(Rule::MinimaxRegret, best(&regrets.iter().map(|r| -r).collect::<Vec<_>>()), None),
    ];
    let rules_differ = choices.iter().any(|choice| choice.models != choices[0].models);
    let sentence = sentence(one, &choices, rules_differ);
    let (disagreement, expected) = disagreement(names.len(), &likings, metrics.len(), draws)?;
    let mut preferred: Vec<Preferred> = names
        .iter()
        .enumerate()
        .map(|(n, model)| Preferred { model: model.clone(), people: votes[n], expected: expected[n] })
        .collect();
    preferred.sort_by(|a, b| b.expected.total_cmp(&a.expected));
    let by_person = chosen.iter().map(|model| names[*model].clone()).collect();
    Some(Together { disagreement, preferred, choices, rules_differ, sentence, one, by_person })
}

fn sentence(one: &str, choices: &[Choice], differ: bool) -> String {
    let mut picks: Vec<(String, Vec<&str>)> = vec![];
    for choice in choices {
        let models = choice.models.join(" or ");
        match picks.iter_mut().find(|(found, _)| *found == models) {
            Some((_, rules)) => rules.push(choice.rule.name()),
            None => picks.push((models, vec![choice.rule.name()])),
        }
    }
    let said = |(models, rules): &(String, Vec<&str>)| format!("{models} by {}", rules.join(", "));
    match differ {
        true => format!(
            "The rules do not agree on a {one}: {}. Which rule to follow is for people to decide.",
            picks.iter().map(said).collect::<Vec<_>>().join("; ")
        ),
        false => format!("All four rules choose {}.", choices[0].models.join(" or ")),
    }
}

fn top(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The best places, all of them if tied.
fn best(values: &[f64]) -> Vec<usize> {
    let top = top(values);
    let slack = 1e-12 * top.abs().max(1.0);
    (0..values.len()).filter(|n| values[*n] >= top - slack).collect()
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
    }
}

/// Over draws of everybody's metric: the share of pairs with different models, and the expected friends of each model.
fn disagreement(
    models: usize,
    likings: &dyn Fn(&Metric) -> Vec<f64>,
    people: usize,
    draws: &dyn Fn(usize) -> Vec<Metric>,
) -> Option<(Estimate, Vec<f64>)> {
    // Draws come in order; mixed up, draw n of one person says nothing about draw n of another.
    let chosen: Vec<Vec<usize>> = (0..people)
        .map(|n| {
            let mut chosen: Vec<usize> = draws(n).iter().map(|metric| best(&likings(metric))[0]).collect();
            chosen.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(n as u64));
            chosen
        })
        .collect();
    let (count, people) = (chosen.first()?.len(), people as f64);
    let mut expected = vec![0.0; models];
    let mut shares: Vec<f64> = vec![];
    for draw in 0..count {
        let mut votes = vec![0.0; models];
        chosen.iter().for_each(|person| votes[person[draw]] += 1.0);
        let same: f64 = votes.iter().map(|v: &f64| v * (v - 1.0)).sum::<f64>() / (people * (people - 1.0));
        shares.push(1.0 - same);
        expected.iter_mut().zip(&votes).for_each(|(sum, v)| *sum += v / count as f64);
    }
    let interval = equipoise::Spread::of(&shares, 0.95)?;
    let estimate = shares.iter().sum::<f64>() / count as f64;
    Some((Estimate { estimate, low: interval.low, high: interval.high }, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::GroupConfusions;

    fn matrix(false_alarms: f64, missed: f64) -> GroupConfusions {
        GroupConfusions::new(2, vec![vec![0.7 - false_alarms, false_alarms, missed, 0.3 - missed]]).unwrap()
    }

    #[test]
    fn two_clusters_disagree_on_every_mixed_pair() {
        // Above a ratio of 2 the second model is better.
        let measured = [matrix(0.02, 0.10), matrix(0.20, 0.01)];
        let likings = |metric: &Metric| -> Vec<f64> {
            let sign = metric.sense().sign();
            measured.iter().map(|matrix| sign * metric.of(matrix).unwrap()).collect()
        };
        let people = [vec![ratio_metric(1.0); 50], vec![ratio_metric(9.0); 50], vec![ratio_metric(9.0); 50]];
        let (found, expected) = disagreement(2, &likings, people.len(), &|n| people[n].clone()).unwrap();
        assert!((found.estimate - 2.0 / 3.0).abs() < 1e-9);
        assert!((expected[0] - 1.0).abs() < 1e-9 && (expected[1] - 2.0).abs() < 1e-9);
    }

    #[test]
    fn ties_are_kept() {
        assert_eq!(best(&[1.0, 3.0, 3.0]), [1, 2]);
        assert_eq!(middle([3.0, 1.0, 2.0, 10.0].into_iter()), 2.5);
    }
}
