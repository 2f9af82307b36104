//! What came out of a choice: the best candidate, how sure it is, the order of the others, and what attributes weigh.

use super::front::Front;
use equipoise::ask::Finding;
use equipoise::metric::{Attribute, Direction, Family, Transform};
use equipoise::space::Candidates;
use equipoise::{Metric, Outcome};
use serde::Serialize;

/// The named candidate.
#[derive(Debug, Serialize)]
pub struct Best {
    /// Its name.
    pub name: String,
    /// How likely it is the best.
    pub probability: f64,
    /// By how much it is expected to fall short of the best, as a share of what lies between best and worst.
    pub regret: f64,
    /// At most so much with 95 % certainty.
    pub regret_bound: f64,
}

/// A candidate in the order of the metric.
#[derive(Debug, Serialize)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// 0 where everything is at the worse end of its range, 1 where everything is at the better one.
    pub value: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// How likely it is the best.
    pub probability: f64,
}

/// What an attribute weighs over the range that was shown, as a share of all.
#[derive(Debug, Serialize)]
pub struct Weight {
    /// Its name.
    pub attribute: String,
    /// What it is counted in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// On which scale differences count alike.
    pub transform: Transform,
    /// The range that was shown.
    pub range: [f64; 2],
    /// The share.
    pub weight: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// Who is nowhere better than another.
#[derive(Debug, Serialize)]
pub struct Dominated<'a> {
    /// Whose name.
    pub name: &'a str,
    /// The other's.
    pub by: &'a str,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Chosen<'a> {
    /// How many rows the table has.
    pub candidates: usize,
    /// The named candidate.
    pub best: Best,
    /// Those that were asked about, best first.
    pub ranking: Vec<Ranked>,
    /// In the order of the attributes.
    pub weights: Vec<Weight>,
    /// Who is nowhere better than another.
    pub dominated: Vec<Dominated<'a>>,
    /// How many questions were answered.
    pub questions: usize,
    /// Whether as much is known as was wanted.
    pub enough: bool,
    /// The rule that ended the questions.
    pub stopped_by: String,
    /// What is to be said besides the numbers.
    pub findings: Vec<String>,
    /// What was guessed of the table, or left out.
    pub notes: &'a [String],
}

/// The middle and the ends of the 95 % interval.
fn interval(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let at = |share: f64| values.get((share * values.len() as f64) as usize).copied().unwrap_or(mean);
    [mean, at(0.025), at(0.975)]
}

/// Weights that sum to 1.
fn shares(metric: &Metric) -> Vec<f64> {
    let weights = metric.coefficients();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Candidates by their value to a metric of attributes, best first; draws are what is believed of the metric.
///
/// ```
/// use equipoise::{Metric, metric::{Attribute, Direction}};
/// let latency = Attribute::guessed("latency_ms", Direction::Minimize, &[40.0, 60.0])?;
/// let recall = Attribute::guessed("recall", Direction::Maximize, &[0.8, 0.9])?;
/// let metric = Metric::attributes(vec![latency, recall], vec![1.0, 3.0])?;
/// let ranking = equipoise_choice::ranked(&metric, &[], &[("fast", &[40.0, 0.8]), ("good", &[60.0, 0.9])])?;
/// assert_eq!((ranking[0].name.as_str(), ranking[0].value), ("good", 0.75));
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn ranked(metric: &Metric, draws: &[Metric], named: &[(&str, &[f64])]) -> equipoise::Result<Vec<Ranked>> {
    let Family::Attributes(family) = metric.family() else { return Ok(vec![]) };
    for (_, point) in named {
        family.attributes().iter().zip(*point).try_for_each(|(attribute, x)| attribute.check(*x))?;
    }
    let drawn: Vec<Vec<f64>> = draws.iter().map(shares).collect();
    Ok(in_order(family.attributes(), &shares(metric), &drawn, named))
}

fn in_order(
    attributes: &[Attribute],
    estimate: &[f64],
    drawn: &[Vec<f64>],
    named: &[(&str, &[f64])],
) -> Vec<Ranked> {
    let worth = |point: &[f64]| attributes.iter().zip(point).map(|(a, x)| a.worth(*x)).collect();
    let worths: Vec<Vec<f64>> = named.iter().map(|(_, point)| worth(point)).collect();
    let value = |weights: &[f64], worth: &[f64]| weights.iter().zip(worth).map(|(w, v)| w * v).sum::<f64>();
    // Without draws the metric is taken for what is believed.
    let known = [estimate.to_vec()];
    let drawn = if drawn.is_empty() { &known } else { drawn };
    let mut votes = vec![0_usize; worths.len()];
    for weights in drawn {
        let values = worths.iter().map(|worth| value(weights, worth)).enumerate();
        let best =
            values.fold((0, f64::NEG_INFINITY), |best, other| if other.1 > best.1 { other } else { best });
        votes[best.0] += 1;
    }
    let mut order: Vec<usize> = (0..worths.len()).collect();
    let points: Vec<f64> = worths.iter().map(|worth| value(estimate, worth)).collect();
    order.sort_by(|&a, &b| points[b].total_cmp(&points[a]).then(a.cmp(&b)));
    let ranked = |n: &usize| {
        let [_, low, high] = interval(drawn.iter().map(|weights| value(weights, &worths[*n])).collect());
        let probability = votes[*n] as f64 / drawn.len() as f64;
        Ranked { name: named[*n].0.to_owned(), value: points[*n], low, high, probability }
    };
    order.iter().map(ranked).collect()
}

impl<'a> Chosen<'a> {
    /// Where everything was decided without a question.
    pub fn without_questions(name: &str, front: &'a Front) -> Self {
        let best = Best { name: name.to_owned(), probability: 1.0, regret: 0.0, regret_bound: 0.0 };
        Self {
            candidates: front.rows,
            best,
            ranking: vec![],
            weights: vec![],
            dominated: dominated(front),
            questions: 0,
            enough: true,
            stopped_by: "dominance".to_owned(),
            findings: vec![],
            notes: &front.notes,
        }
    }

    /// What an outcome says of the candidates, with draws from what is believed.
    pub fn new(
        front: &'a Front,
        candidates: &Candidates,
        outcome: &Outcome,
        draws: &[Metric],
        questions: usize,
    ) -> Self {
        let named: Vec<(&str, &[f64])> =
            candidates.members().iter().map(|member| (member.name.as_str(), &member.point[..])).collect();
        let drawn: Vec<Vec<f64>> = draws.iter().map(shares).collect();
        let estimate = shares(&outcome.metric);
        let weight = |(n, attribute): (usize, &Attribute)| {
            let [_, low, high] = interval(drawn.iter().map(|weights| weights[n]).collect());
            let Attribute { name, unit, direction, transform, range } = attribute.clone();
            Weight { attribute: name, unit, direction, transform, range, weight: estimate[n], low, high }
        };
        let mut best = Best { name: String::new(), probability: 0.0, regret: 0.0, regret_bound: 0.0 };
        let mut stopped_by = String::new();
        for finding in &outcome.findings {
            match finding {
                Finding::BestOfPool { name, probability } => {
                    (best.name, best.probability) = (name.clone(), *probability);
                }
                Finding::ChoiceRegret { expected, bound } => {
                    (best.regret, best.regret_bound) = (*expected, *bound)
                }
                Finding::Stopped { rule, .. } => stopped_by.clone_from(rule),
                _ => {}
            }
        }
        let said = |finding: &&Finding| {
            !matches!(
                finding,
                Finding::BestOfPool { .. } | Finding::ChoiceRegret { .. } | Finding::Stopped { .. }
            )
        };
        let enough = outcome.identifiable() && matches!(stopped_by.as_str(), "decision" | "regret");
        Self {
            candidates: front.rows,
            best,
            ranking: in_order(candidates.attributes(), &estimate, &drawn, &named),
            weights: candidates.attributes().iter().enumerate().map(weight).collect(),
            dominated: dominated(front),
            questions,
            enough,
            stopped_by,
            findings: outcome.findings.iter().filter(said).map(ToString::to_string).collect(),
            notes: &front.notes,
        }
    }
}

fn dominated(front: &Front) -> Vec<Dominated<'_>> {
    front.dominated.iter().map(|(name, by)| Dominated { name, by }).collect()
}
