//! Models in the order of a metric, and how sure that order is.
//!
//! Two things are uncertain: what the models do, since their confusion matrices come from a sample, and what is
//! wanted, since the metric comes from answers. Both arrive as draws, and every statement is a share of draws:
//! bootstrap draws of the matrices from the caller, [`Metric::draws`] of the posterior for the metric.

use crate::decide::threshold::Requirement;
use crate::decide::{Spread, check_level};
use crate::error::{Error, Result, check, refuse};
use crate::metric::{Attribute, Family, Metric, Sense, Transform};
use crate::rates::GroupConfusions;
use crate::view::{Measure, Point};
use serde::Serialize;

/// The probability that intervals and the statement of separation have unless told otherwise.
pub const LEVEL: f64 = 0.95;

/// Names in a sentence; nobody reads more.
const MOST_NAMED: usize = 12;

/// A model to rank: its confusion matrix, and draws of it that show how much another sample could differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    name: String,
    confusions: GroupConfusions,
    draws: Vec<GroupConfusions>,
    attributes: Vec<Attributed>,
    cases: f64,
}

/// Where an attribute of a model comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Attributed {
    /// Somebody said so: a latency, a price.
    Given(f64),
    /// A rate of its confusion matrix.
    Rate(Requirement),
    /// The value of a metric at its confusion matrix.
    Value(Box<Metric>),
}

impl Candidate {
    /// A model known exactly.
    pub fn new(name: impl Into<String>, confusions: GroupConfusions) -> Self {
        Self {
            name: name.into(),
            confusions,
            draws: Vec::new(),
            attributes: Vec::new(),
            cases: f64::INFINITY,
        }
    }

    /// A candidate of any kind that is known by its attributes alone: there is no confusion matrix to look at.
    pub fn by_attributes(name: impl Into<String>, values: &[f64]) -> Self {
        let nothing = GroupConfusions::new(2, vec![vec![0.25; 4]]).expect("shares that sum to 1");
        let given = values.iter().map(|value| Attributed::Given(*value)).collect();
        Self::new(name, nothing).with_attributes(given, f64::INFINITY)
    }

    /// The same model with attributes, in the order of a metric of attributes, which is what it takes to be judged by one.
    ///
    /// `cases` are the rows that rates were measured on. Where the logarithm or the odds of a rate count, it is taken to be at least
    /// half a case away from 0 and from 1: no sample shows that something never happens.
    ///
    /// ```
    /// use equipoise::metric::{Attribute, Direction};
    /// use equipoise::{GroupConfusions, Metric, decide::rank::{Attributed, Candidate}};
    /// let accuracy = Attribute::guessed("accuracy", Direction::Maximize, &[0.8, 0.9])?;
    /// let latency = Attribute::guessed("latency_ms", Direction::Minimize, &[20.0, 40.0])?;
    /// let metric = Metric::attributes(vec![accuracy, latency], vec![3.0, 1.0])?;
    /// let matrix = GroupConfusions::new(2, vec![vec![0.5, 0.05, 0.1, 0.35]])?;
    /// let measured = Attributed::Value(Box::new(Metric::accuracy(2)?));
    /// let model = Candidate::new("forest", matrix.clone()).with_attributes(vec![measured, Attributed::Given(25.0)], 400.0);
    /// assert!((model.value(&metric, &matrix)? - (3.0 * 0.5 + 0.75)).abs() < 1e-12);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn with_attributes(self, attributes: Vec<Attributed>, cases: f64) -> Self {
        Self { attributes, cases, ..self }
    }

    /// What a metric says of this model, were this its confusion matrix.
    pub fn value(&self, metric: &Metric, matrix: &GroupConfusions) -> Result<f64> {
        Ok(metric.value(&self.point(metric, matrix)?))
    }

    /// The attributes of this model, were this its confusion matrix, in the order in which they were given.
    pub fn attributes(&self, matrix: &GroupConfusions) -> Result<Vec<f64>> {
        let name = &self.name;
        let each = self.attributes.iter().enumerate().map(|(n, attribute)| match attribute {
            Attributed::Given(value) => Ok(*value),
            Attributed::Value(metric) => metric.of(matrix),
            Attributed::Rate(rate) => rate.value_of(matrix)?.ok_or_else(|| {
                Error::Mismatch(format!("{rate}, attribute {} of model {name}, has no value", n + 1))
            }),
        });
        each.collect()
    }

    /// The point at which a metric is asked.
    fn point(&self, metric: &Metric, matrix: &GroupConfusions) -> Result<Point> {
        let Family::Attributes(family) = metric.family() else {
            return metric.view().of(matrix);
        };
        refuse!(
            self.attributes.is_empty(),
            "model {} has no attributes, but the metric is about those of candidates",
            self.name
        );
        check::length(
            &format!("attributes of model {}", self.name),
            self.attributes.len(),
            family.attributes().len(),
        )?;
        let least = 0.5 / self.cases;
        let seen = |((value, from), of): ((f64, &Attributed), &Attribute)| match (from, of.transform) {
            (Attributed::Given(_), _) | (_, Transform::Linear) => value,
            (_, Transform::Log) => value.max(least),
            (_, Transform::Logit) => value.clamp(least, 1.0 - least),
        };
        let values = self.attributes(matrix)?;
        Ok(values.into_iter().zip(&self.attributes).zip(family.attributes()).map(seen).collect())
    }

    /// The same model with draws of its confusion matrix.
    ///
    /// Draw n of every model belongs to the same resampling of the rows, so that models measured on the same rows
    /// are compared on the same rows.
    pub fn with_draws(self, draws: Vec<GroupConfusions>) -> Self {
        Self { draws, ..self }
    }

    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The draws of its confusion matrix.
    pub fn draws(&self) -> &[GroupConfusions] {
        &self.draws
    }

    /// What the model does, as measured.
    pub fn confusions(&self) -> &GroupConfusions {
        &self.confusions
    }
}

/// What a model is worth, with intervals from each source of uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The metric at the measured confusion matrix.
    pub value: f64,
    /// The mean over the draws of matrices and metric together.
    pub expected: f64,
    /// The interval from sampling and from the metric's posterior together; `None` without any draws.
    pub interval: Option<Spread>,
    /// The interval from sampling alone.
    pub sampling: Option<Spread>,
    /// The interval from the metric's posterior alone.
    pub metric: Option<Spread>,
}

/// One model in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The name of the model.
    pub name: String,
    /// Its position in the list that was ranked, counted from 0.
    pub index: usize,
    /// What it is worth.
    pub score: Score,
    /// The probability of being the best model; models tied for best share it.
    pub probability_best: f64,
    /// The mean place, 1 for the best; tied models share theirs.
    pub expected_rank: f64,
    /// How far it falls short of the best model, on average, in units of the metric.
    pub expected_regret: f64,
}

/// Models in the order of their expected utility, best first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The models.
    pub standings: Vec<Standing>,
    /// `better[i][j]` is the probability that the model in place i is better than the one in place j; ties count half.
    pub better: Vec<Vec<f64>>,
    /// The probability asked of intervals and of the leader.
    pub level: f64,
    /// Models that may be better than the leader, in the order of their probability of being best.
    ///
    /// Empty if the leader is best with probability `level`. Otherwise the shortest list that, with the leader, holds the
    /// best model with that probability.
    pub not_separable: Vec<String>,
}

/// Values a metric and its draws give to models and their draws.
pub(super) struct Values {
    /// `both[model][n]`: matrix draw n by metric draw n, the shorter list repeated.
    pub(super) both: Vec<Vec<f64>>,
    pub(super) sampling: Vec<Vec<f64>>,
    pub(super) metric: Vec<Vec<f64>>,
    point: Vec<f64>,
}

/// What one model is worth.
///
/// ```
/// use equipoise::{GroupConfusions, Metric, decide::rank};
/// let accuracy = Metric::accuracy(2)?;
/// let matrix = |wrong: f64| GroupConfusions::new(2, vec![vec![0.5, wrong, 0.1, 0.4 - wrong]]);
/// let draws = [0.04, 0.05, 0.06].map(matrix).into_iter().collect::<Result<_, _>>()?;
/// let model = rank::Candidate::new("forest", matrix(0.05)?).with_draws(draws);
/// let score = rank::score(&model, &accuracy, &[], 0.5)?;
/// assert!((score.value - 0.85).abs() < 1e-12 && score.metric.is_none());
/// assert!((score.sampling.unwrap().low - 0.845).abs() < 1e-12);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn score(model: &Candidate, metric: &Metric, metric_draws: &[Metric], level: f64) -> Result<Score> {
    check_level(level)?;
    let values = Values::of(std::slice::from_ref(model), metric, metric_draws)?;
    Ok(values.score(0, level))
}

/// Ranks models by a metric.
///
/// `metric_draws` are draws of the same metric ([`Metric::draws`]) and may be empty, as may be the draws of the
/// models; then that source counts as certain. Draw n of the matrices meets draw n of the metric; the shorter list is
/// repeated.
///
/// ```
/// use equipoise::{GroupConfusions, Metric, decide::rank};
/// let model = |name: &str, fp: f64, fn_: f64| {
///     let matrix = GroupConfusions::new(2, vec![vec![0.7 - fp, fp, fn_, 0.3 - fn_]])?;
///     Ok::<_, equipoise::Error>(rank::Candidate::new(name, matrix))
/// };
/// let models = [model("bold", 0.20, 0.01)?, model("timid", 0.02, 0.10)?];
/// let cost = Metric::from_json(
///     r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6]}"#)?;
/// let ranking = rank::rank(&models, &cost, &[], rank::LEVEL)?;
/// assert_eq!(ranking.standings[0].name, "bold");
/// assert!((ranking.standings[1].expected_regret - (0.62 - 0.26)).abs() < 1e-12);
/// assert_eq!(ranking.statement(), "bold is best with probability 1.00.");
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn rank(models: &[Candidate], metric: &Metric, metric_draws: &[Metric], level: f64) -> Result<Ranking> {
    check::at_least("the number of models", models.len(), 1, "at least 1")?;
    check_level(level)?;
    let values = Values::of(models, metric, metric_draws)?;
    let draws = values.both[0].len();
    let count = models.len();
    let sign = metric.sense().sign();

    let mut better = vec![vec![0.0; count]; count];
    let (mut best, mut places, mut regret) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for n in 0..draws {
        let liking: Vec<f64> = values.both.iter().map(|row| sign * row[n]).collect();
        let top = liking.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied = liking.iter().filter(|&&l| l == top).count() as f64;
        for i in 0..count {
            best[i] += if liking[i] == top { 1.0 / tied } else { 0.0 };
            regret[i] += top - liking[i];
            places[i] += 0.5;
            for j in 0..count {
                let win = match () {
                    () if liking[i] > liking[j] => 1.0,
                    () if liking[i] == liking[j] => 0.5,
                    () => 0.0,
                };
                better[i][j] += win;
                // A model is behind every better one and half behind its equals, itself among them.
                places[i] += 1.0 - win;
            }
        }
    }
    let mean = |sum: f64| sum / draws as f64;
    let mut standings: Vec<Standing> = (0..count)
        .map(|i| Standing {
            name: models[i].name.clone(),
            index: i,
            score: values.score(i, level),
            probability_best: mean(best[i]),
            expected_rank: mean(places[i]),
            expected_regret: mean(regret[i]),
        })
        .collect();
    standings.sort_by(|a, b| (sign * b.score.expected).total_cmp(&(sign * a.score.expected)));
    let order: Vec<usize> = standings.iter().map(|s| s.index).collect();
    let better = order.iter().map(|&i| order.iter().map(|&j| mean(better[i][j])).collect()).collect();
    let not_separable = close_to_the_best(&standings, level);
    Ok(Ranking { standings, better, level, not_separable })
}

/// The shortest list of models that, with the leader, holds the best one with probability `level`.
fn close_to_the_best(standings: &[Standing], level: f64) -> Vec<String> {
    let mut covered = standings[0].probability_best;
    let mut others: Vec<&Standing> = standings[1..].iter().collect();
    others.sort_by(|a, b| b.probability_best.total_cmp(&a.probability_best));
    let mut close = Vec::new();
    for other in others {
        // Sums of shares of draws miss by rounding.
        if covered >= level - 1e-12 {
            break;
        }
        covered += other.probability_best;
        close.push(other.name.clone());
    }
    close
}

impl Ranking {
    /// Whether the leader is best with the probability asked for.
    pub fn is_separable(&self) -> bool {
        self.not_separable.is_empty()
    }

    /// Who leads, and whether that is settled, in a sentence.
    pub fn statement(&self) -> String {
        let leader = &self.standings[0];
        let (name, probability) = (&leader.name, leader.probability_best);
        if self.is_separable() {
            return format!("{name} is best with probability {probability:.2}.");
        }
        let named = &self.not_separable[..self.not_separable.len().min(MOST_NAMED)];
        let others = match self.not_separable.len() - named.len() {
            0 => list(named, "or"),
            more => format!("{} or one of {more} more", named.join(", ")),
        };
        let level = 100.0 * self.level;
        format!(
            "Not separable at {level:.0} %: {name} leads and is best with probability {probability:.2}, but the best may be {others}."
        )
    }

    /// The expected utilities in the order in which the models were given, for comparison with another ranking by
    /// [`kendall_tau`](crate::decide::agreement::kendall_tau) or [`ndcg`](crate::decide::agreement::ndcg). Larger is better.
    pub fn utilities(&self, sense: Sense) -> Vec<f64> {
        let mut utilities = vec![0.0; self.standings.len()];
        for standing in &self.standings {
            utilities[standing.index] = sense.sign() * standing.score.expected;
        }
        utilities
    }
}

impl Values {
    pub(super) fn of(models: &[Candidate], metric: &Metric, metric_draws: &[Metric]) -> Result<Self> {
        for (n, draw) in metric_draws.iter().enumerate() {
            refuse!(
                draw.view() != metric.view() || draw.sense() != metric.sense(),
                "draw {n} of the metric has another view or sense than the metric"
            );
        }
        let resamples = models[0].draws.len();
        let mut values = Self { both: vec![], sampling: vec![], metric: vec![], point: vec![] };
        for model in models {
            check::length(&format!("draws of model {}", model.name), model.draws.len(), resamples)?;
            let point = |matrix: &GroupConfusions| {
                let point = model.point(metric, matrix);
                point.map_err(|e| match metric.view().measure() {
                    // These name the model already.
                    Measure::Attributes => e,
                    _ => Error::Mismatch(format!("model {}: {e}", model.name)),
                })
            };
            let value = |metric: &Metric, point: &[f64]| {
                let value = metric.value(point);
                let field = || format!("the metric at model {}", model.name);
                if value.is_finite() { Ok(value) } else { check::finite(&field(), value) }
            };
            let measured = point(&model.confusions)?;
            let drawn = model.draws.iter().map(point).collect::<Result<Vec<_>>>()?;
            let draws = resamples.max(metric_draws.len()).max(1);
            let matrix = |n: usize| if drawn.is_empty() { &measured } else { &drawn[n % drawn.len()] };
            let wanted = |n: usize| {
                if metric_draws.is_empty() { metric } else { &metric_draws[n % metric_draws.len()] }
            };
            values.point.push(value(metric, &measured)?);
            values.both.push((0..draws).map(|n| value(wanted(n), matrix(n))).collect::<Result<_>>()?);
            values.sampling.push(drawn.iter().map(|p| value(metric, p)).collect::<Result<_>>()?);
            values.metric.push(metric_draws.iter().map(|m| value(m, &measured)).collect::<Result<_>>()?);
        }
        Ok(values)
    }

    pub(super) fn score(&self, model: usize, level: f64) -> Score {
        let both = &self.both[model];
        let uncertain = !(self.sampling[model].is_empty() && self.metric[model].is_empty());
        Score {
            value: self.point[model],
            expected: both.iter().sum::<f64>() / both.len() as f64,
            interval: Spread::of(both, level).filter(|_| uncertain),
            sampling: Spread::of(&self.sampling[model], level),
            metric: Spread::of(&self.metric[model], level),
        }
    }
}

/// Names in a sentence: "a", "a or b", "a, b or c".
pub(crate) fn list(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}
