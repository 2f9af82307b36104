//! The rule that follows from a metric, what it does on the table, and what would change it.

use super::question::Words;
use super::task::Task;
use crate::counts::grouped;
use crate::ratio::two_digits;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::decide::threshold::{decision_text, rewards};
use equipoise::metric::Family;
use equipoise::population::{Cell, Confusions as _, Population as _, PostShift, Rule, Score};
use equipoise::rates::Confusion;
use equipoise::{GroupConfusions, Metric, Spread};
use serde::Serialize;
use std::io::Write;

/// Cases are told in so many.
const CASES: f64 = 1_000.0;

/// Where the threshold that follows from calibrated probabilities costs this many times as much on the table as the best one there,
/// the probabilities are not, and that one is told.
const MUCH_DEARER: f64 = 1.25;

/// Of more classes, where the rule that follows from the probabilities costs this many times as much as the one whose regret is
/// told, that one is told.
const DEARER: f64 = 1.1;

/// Of more classes than this a rule is too long for a sentence.
const MOST_CLASSES: usize = 4;

/// The probability of the intervals.
const LEVEL: f64 = 0.95;

/// Regrets are relative to at least this much of the dearest answer.
const LEAST: f64 = 1e-3;

/// What follows from a linear metric.
#[derive(Debug, Serialize)]
pub struct Follows {
    /// The rule in a sentence.
    pub sentence: String,
    /// What would change it, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Of 1,000 cases of each true class (a row), how many are predicted as each class; more than two classes only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_1000: Vec<Vec<u64>>,
    /// Where it is not the rule that follows from the probabilities: what each is multiplied by, for each class that may be
    /// predicted (a column); the largest sum is predicted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewards: Vec<Vec<f64>>,
    #[serde(skip)]
    classes: Vec<String>,
    /// Of a threshold that follows from the probabilities: what it is regretted if they are right, on average and with 95 % certainty.
    #[serde(skip)]
    pub regret: Option<[f64; 2]>,
}

impl Follows {
    /// The rule of a metric; `None` for metrics that no rule of thresholds is the best for.
    ///
    /// What is known of it: draws of its weights, of two classes ratios with how likely they are.
    pub fn of(
        metric: &Metric,
        (draws, ratios): (&[Metric], &[(f64, f64)]),
        task: &Task,
        words: &Words,
    ) -> Result<Option<Self>> {
        if !matches!(metric.family(), Family::Linear(_)) || metric.view().groups() > 1 {
            return Ok(None);
        }
        match (metric.cost_ratio(), metric.view().classes()) {
            (Some(ratio), 2) => Self::threshold(metric, ratio, ratios, task, words).map(Some),
            (_, 2) => Ok(None),
            _ => Self::of_many(metric, draws, task, words).map(Some),
        }
    }

    fn threshold(
        metric: &Metric,
        ratio: f64,
        held: &[(f64, f64)],
        task: &Task,
        words: &Words,
    ) -> Result<Self> {
        let priors = task.sample.prevalence().class_priors();
        let found = task.sample.confusions(&[rewards(metric, priors)?.into()])?;
        let overall = found[0].overall();
        let from = |ratio: f64| format!("{} %", two_digits(100.0 / (1.0 + ratio)));
        let rule = |threshold: &str, overall: &Confusion| {
            let [missed, alarms] = [(1, 0), (0, 1)].map(|(i, j)| (CASES * overall.get(i, j)).round() as u64);
            let (positive, alarm) = (words.class(1), words.two().false_alarm);
            let alarm = if alarms == 1 { alarm.one } else { alarm.many };
            let (missed, alarms) = (grouped(missed), grouped(alarms));
            format!(
                "predict {positive} from a probability of {threshold} on: of 1,000 cases {missed} missed, {alarms} {alarm}"
            )
        };
        let cost = |overall: &Confusion| ratio * overall.get(1, 0) + overall.get(0, 1);
        let profile = task.sample.score_profile(Score::Class(1))?;
        let best = profile.best(metric, &[])?.found();
        if let Some(best) =
            best.filter(|best| cost(&overall) > MUCH_DEARER * cost(&best.confusions.overall()))
        {
            let (threshold, times) =
                (two_digits(100.0 * best.cut.threshold), cost(&overall) / cost(&best.confusions.overall()));
            let dearer = match times.is_finite() {
                true => format!("is {} times as dear here", two_digits(times)),
                false => "makes mistakes here".to_owned(),
            };
            let sentence = format!(
                "{}; the probabilities are not calibrated: the threshold that would follow from them, {}, {dearer}",
                rule(&format!("{threshold} %"), &best.confusions.overall()),
                from(ratio)
            );
            return Ok(Self::of_two(sentence, None, None));
        }
        let sentence = rule(&from(ratio), &overall);
        let ends = metric.interval().and_then(|interval| Some([interval.low(), interval.high()?]));
        let changes = ends.map(|[low, high]| {
            let ([low, high], [first, last]) = ([low, high].map(two_digits), [low, high].map(from));
            format!("at a ratio of {low} the rule would begin at {first}, at {high} at {last}")
        });
        Ok(Self::of_two(sentence, changes, regret_by_probabilities(ratio, held, profile.cells())))
    }

    fn of_two(sentence: String, changes: Option<String>, regret: Option<[f64; 2]>) -> Self {
        Self { sentence, changes, per_1000: vec![], rewards: vec![], classes: vec![], regret }
    }

    fn of_many(metric: &Metric, draws: &[Metric], task: &Task, words: &Words) -> Result<Self> {
        let priors = task.sample.prevalence().class_priors();
        let k = priors.len();
        let weights = metric.coefficients();
        let rule_of = |weights: &[f64]| -> Result<Rule> {
            Ok(rewards(&metric.with_coefficients(weights)?, priors)?.into())
        };
        // Each weight at either end of its interval, the others as they are.
        let mut others = vec![];
        for kind in 0..weights.len() {
            let drawn: Vec<f64> = draws.iter().map(|draw| draw.coefficients()[kind]).collect();
            let Some(Spread { low, high, .. }) = Spread::of(&drawn, LEVEL) else { continue };
            for end in [low, high] {
                let mut moved = weights.clone();
                moved[kind] = end.max(0.0);
                if end > 0.0 || moved.iter().any(|weight| *weight > 0.0) {
                    others.push((kind, end, moved));
                }
            }
        }
        let mut rules = vec![rule_of(&weights)?, Rule::most_likely(k)?];
        for (.., moved) in &others {
            rules.push(rule_of(moved)?);
        }
        let found = task.sample.confusions(&rules)?;
        if let Some(fitting) = Self::fitting(metric, [&found[0], &found[1]], task)? {
            return Ok(fitting);
        }
        let found: Vec<Confusion> = found.iter().map(|matrix| matrix.overall()).collect();
        let sentence =
            format!("predict the class whose mistakes cost least; {}", otherwise(&found[0], &found[1]));
        let moved = others.iter().zip(&found[2..]).map(|(other, matrix)| (apart(&found[0], matrix), other));
        let most = moved.max_by(|a, b| a.0.total_cmp(&b.0));
        let changes = most.filter(|(cases, _)| *cases >= 0.5).map(|(cases, (kind, end, _))| {
            let (name, times) = (words.kind_of(*kind), end / weights[*kind]);
            let times = match times {
                times if times >= 1.0 => format!("{} times as bad as found", two_digits(times)),
                times if times > 0.0 => format!("{} times less bad than found", two_digits(1.0 / times)),
                _ => "not bad at all".to_owned(),
            };
            format!(
                "most, if {name} were {times}, which the answers leave open: {} of 1,000 cases would be decided otherwise",
                grouped(cases.round() as u64)
            )
        });
        let (per_1000, classes) = (per_1000(&found[0], priors), task.sample.class_names().to_vec());
        Ok(Self { sentence, changes, per_1000, rewards: vec![], classes, regret: None })
    }

    /// The rule whose regret is told, where the one that follows from the probabilities is much dearer on the table: they are not
    /// calibrated. `follows` and `most_likely` are what that one does, and what predicting the most likely class does.
    fn fitting(
        metric: &Metric,
        [follows, most_likely]: [&GroupConfusions; 2],
        task: &Task,
    ) -> Result<Option<Self>> {
        let Some(space) = task.operating_point() else { return Ok(None) };
        let weights = metric.coefficients();
        let least =
            space.best_kinds(&weights).map(|kinds| kinds.iter().zip(&weights).map(|(x, w)| x * w).sum());
        let (least, dear): (f64, f64) = (least.unwrap_or(f64::NAN), metric.of(follows)?);
        // A rule that is not known to be cheaper is not told.
        if least.is_nan() || dear <= DEARER * least {
            return Ok(None);
        }
        let (priors, names) = (task.sample.prevalence().class_priors(), task.sample.class_names());
        let k = priors.len();
        let mut rules = vec![];
        for weights in space.weights_of_rules() {
            // As it is told.
            rules.push(short(&rewards(&metric.with_coefficients(&weights)?, priors)?)?);
        }
        for class in 0..k {
            rules.push(PostShift::new(k, (0..k * k).map(|n| f64::from(u8::from(n % k == class))).collect())?);
        }
        let asked: Vec<Rule> = rules.iter().cloned().map(Rule::from).collect();
        let found = task.sample.confusions(&asked)?;
        let costs = found.iter().map(|matrix| Ok(metric.of(matrix)?)).collect::<Result<Vec<f64>>>()?;
        let Some(best) = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])) else {
            return Ok(None);
        };
        let (rule, overall) = (&rules[best], found[best].overall());
        let decision = match (best + k).checked_sub(rules.len()) {
            Some(class) => format!("always predict {}", names[class]),
            None if k > MOST_CLASSES => {
                "predict the class with the largest sum of weighted probabilities (--json has the weights)"
                    .to_owned()
            }
            None => {
                let text = decision_text(rule, names)?.replacen("Predict", "predict", 1);
                text.replacen(":\n  ", " (", 1).replace("\n  ", "; ") + ")"
            }
        };
        let dearer = match dear / costs[best] {
            times if times.is_finite() => format!("is {} times as dear here", two_digits(times)),
            _ => "makes mistakes here".to_owned(),
        };
        let sentence = format!(
            "{decision}; {}. The probabilities are not calibrated: the rule that would follow from them {dearer}",
            otherwise(&overall, &most_likely.overall())
        );
        Ok(Some(Self {
            sentence,
            changes: None,
            per_1000: per_1000(&overall, priors),
            rewards: rule.rewards(0).chunks(k).map(<[f64]>::to_vec).collect(),
            classes: names.to_vec(),
            regret: None,
        }))
    }

    /// Writes what the rule does on the table, where a sentence would not do.
    pub fn write(&self, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        self.table(terminal).map_or(Ok(()), |table| writeln!(out, "{table}"))
    }

    /// What the rule does on the table; nothing for two classes, where the sentence says it.
    pub fn table(&self, terminal: Terminal) -> Option<Table> {
        if self.per_1000.is_empty() {
            return None;
        }
        let headings = std::iter::once("your rule, of 1,000 each".to_owned())
            .chain(self.classes.iter().map(|class| format!("as {class}")));
        let mut table = Table::new(terminal, headings);
        for (class, row) in self.classes.iter().zip(&self.per_1000) {
            table.row(std::iter::once(class.clone()).chain(row.iter().map(|count| grouped(*count))));
        }
        Some(table)
    }
}

/// What the threshold of a ratio is regretted by whoever holds one of these ratios, if the probabilities are right: on average of
/// people, as they are before anything is answered, and with 95 % certainty (see `Belief::regret`).
///
/// The boundary of a table with few cases of a class has few corners, and the same corner is the best for ratios that are far apart.
/// The threshold between them is regretted all the same.
fn regret_by_probabilities(ratio: f64, held: &[(f64, f64)], cells: &[Cell]) -> Option<[f64; 2]> {
    let mut scores: Vec<(f64, f64)> = cells.iter().map(|cell| (cell.score, cell.mass())).collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Below each score: how many positives are missed, and how many negatives are cleared.
    let mut sums = vec![(0.0, 0.0)];
    for (score, mass) in &scores {
        let (missed, cleared) = sums.last().copied().unwrap_or_default();
        sums.push((missed + mass * score, cleared + mass * (1.0 - score)));
    }
    let (positives, negatives) = *sums.last()?;
    let cost = |threshold_of: f64, ratio: f64| {
        let (missed, cleared) =
            sums[scores.partition_point(|(score, _)| *score < 1.0 / (1.0 + threshold_of))];
        ratio * missed + negatives - cleared
    };
    let regret = |held: f64| {
        let least = cost(held, held).max(LEAST * (held * positives).max(negatives));
        (cost(ratio, held) / least - 1.0).max(0.0)
    };
    let mut regrets: Vec<(f64, f64)> = held.iter().map(|(held, mass)| (regret(*held), *mass)).collect();
    let people = |(held, mass): &(f64, f64)| mass / held.ln().cosh();
    let average = regrets.iter().zip(held).map(|((regret, _), held)| regret * people(held)).sum::<f64>()
        / held.iter().map(people).sum::<f64>();
    regrets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    let bound = regrets.iter().find(|(_, mass)| {
        below += mass;
        below >= LEVEL
    });
    average.is_finite().then_some([average, bound.map_or(average, |(regret, _)| *regret)])
}

/// Of 1,000 cases, how many two rules decide differently, at least.
fn apart(a: &Confusion, b: &Confusion) -> f64 {
    let k = a.classes();
    let cells = (0..k * k).map(|n| (a.get(n / k, n % k) - b.get(n / k, n % k)).abs());
    0.5 * CASES * cells.sum::<f64>()
}

/// How far a rule is from predicting the most likely class, in words.
fn otherwise(rule: &Confusion, most_likely: &Confusion) -> String {
    format!(
        "at least {} of 1,000 cases are decided otherwise than by the most likely class",
        grouped(apart(rule, most_likely).round() as u64)
    )
}

/// Of 1,000 cases of each true class, how many are predicted as each class.
fn per_1000(overall: &Confusion, priors: &[f64]) -> Vec<Vec<u64>> {
    let k = priors.len();
    let of_class = |i: usize| (0..k).map(move |j| (CASES * overall.get(i, j) / priors[i]).round() as u64);
    (0..k).map(|i| of_class(i).collect()).collect()
}

/// Nearly the same rule with weights of at most 1, of three digits.
fn short(rule: &PostShift) -> Result<PostShift> {
    let all = rule.rewards(0);
    let largest = all.iter().fold(f64::MIN_POSITIVE, |most, reward| most.max(reward.abs()));
    let rounded = |reward: &f64| (1e3 * reward / largest).round() / 1e3;
    Ok(PostShift::new(rule.classes(), all.iter().map(rounded).collect())?)
}
