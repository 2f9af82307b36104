//! Models in the order of a metric, and how sure that order is.
//!
//! Two things are uncertain: what the models do, since their confusion matrices come from a sample, and what is
//! wanted, since the metric comes from answers. Both arrive as draws, and every statement is a share of draws:
//! bootstrap draws of the matrices from the caller, [`Metric::draws`] of the posterior for the metric.

use crate::decide::{Spread, check_level};
use crate::error::{Error, Result, check, refuse};
use crate::metric::{Metric, Sense};
use crate::rates::GroupConfusions;
use serde::Serialize;

/// The probability that intervals and the statement of separation have unless told otherwise.
pub const LEVEL: f64 = 0.95;

/// A model to rank: its confusion matrix, and draws of it that show how much another sample could differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    name: String,
    confusions: GroupConfusions,
    draws: Vec<GroupConfusions>,
}

impl Candidate {
    /// A model known exactly.
    pub fn new(name: impl Into<String>, confusions: GroupConfusions) -> Self {
        Self { name: name.into(), confusions, draws: Vec::new() }
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
struct Values {
    /// `both[model][n]`: matrix draw n by metric draw n, the shorter list repeated.
    both: Vec<Vec<f64>>,
    sampling: Vec<Vec<f64>>,
    metric: Vec<Vec<f64>>,
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
        let (level, others) = (100.0 * self.level, list(&self.not_separable, "or"));
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
    fn of(models: &[Candidate], metric: &Metric, metric_draws: &[Metric]) -> Result<Self> {
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
                metric.view().of(matrix).map_err(|e| Error::Mismatch(format!("model {}: {e}", model.name)))
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

    fn score(&self, model: usize, level: f64) -> Score {
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
