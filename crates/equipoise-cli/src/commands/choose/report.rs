//! What came out of a choice: the best candidate, how sure it is, the order of the others, and what attributes weigh.

use super::read::Front;
use super::words::Words;
use crate::table::Table;
use crate::terminal::Terminal;
use equipoise::ask::Finding;
use equipoise::metric::{Attribute, Direction, Transform};
use equipoise::space::Candidates;
use equipoise::{Metric, Outcome};
use serde::Serialize;
use std::io::Write;

/// Candidates that are listed for people.
const LISTED: usize = 10;

/// The named candidate.
#[derive(Debug, Serialize)]
pub struct Best {
    pub name: String,
    pub probability: f64,
    /// By how much it is expected to fall short of the best, as a share of what lies between best and worst.
    pub regret: f64,
    /// At most so much with 95 % certainty.
    pub regret_bound: f64,
}

/// A candidate in the order of the metric.
#[derive(Debug, Serialize)]
pub struct Ranked {
    name: String,
    /// 0 where everything is at the worse end of its range, 1 where everything is at the better one.
    value: f64,
    low: f64,
    high: f64,
    /// How likely it is the best.
    probability: f64,
}

/// What an attribute weighs over the range that was shown, as a share of all.
#[derive(Debug, Serialize)]
struct Weight {
    attribute: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    direction: Direction,
    transform: Transform,
    range: [f64; 2],
    weight: f64,
    low: f64,
    high: f64,
}

/// Who is nowhere better than another.
#[derive(Debug, Serialize)]
struct Dominated<'a> {
    name: &'a str,
    by: &'a str,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    format: u64,
    done: bool,
    table: String,
    candidates: usize,
    pub best: Best,
    ranking: Vec<Ranked>,
    weights: Vec<Weight>,
    dominated: Vec<Dominated<'a>>,
    pub questions: usize,
    /// Whether as much is known as was wanted.
    pub enough: bool,
    stopped_by: String,
    findings: Vec<String>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_file: Option<String>,
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

impl<'a> Report<'a> {
    /// Where everything was decided without a question.
    pub fn without_questions(table: String, name: &str, front: &'a Front) -> Self {
        let best = Best { name: name.to_owned(), probability: 1.0, regret: 0.0, regret_bound: 0.0 };
        Self {
            format: equipoise::FORMAT,
            done: true,
            table,
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
            metric_file: None,
            transcript_file: None,
        }
    }

    /// What an outcome says of the candidates, with draws from what is believed.
    pub fn new(
        table: String,
        front: &'a Front,
        candidates: &Candidates,
        outcome: &Outcome,
        draws: &[Metric],
        questions: usize,
    ) -> Self {
        let worths: Vec<Vec<f64>> = {
            let worth =
                |point: &[f64]| candidates.attributes().iter().zip(point).map(|(a, x)| a.worth(*x)).collect();
            candidates.members().iter().map(|member| worth(&member.point)).collect()
        };
        let drawn: Vec<Vec<f64>> = draws.iter().map(shares).collect();
        let value =
            |weights: &[f64], worth: &[f64]| weights.iter().zip(worth).map(|(w, v)| w * v).sum::<f64>();
        let mut votes = vec![0_usize; worths.len()];
        for weights in &drawn {
            let values = worths.iter().map(|worth| value(weights, worth)).enumerate();
            let best = values
                .fold((0, f64::NEG_INFINITY), |best, other| if other.1 > best.1 { other } else { best });
            votes[best.0] += 1;
        }
        let estimate = shares(&outcome.metric);
        let mut order: Vec<usize> = (0..worths.len()).collect();
        let points: Vec<f64> = worths.iter().map(|worth| value(&estimate, worth)).collect();
        order.sort_by(|&a, &b| points[b].total_cmp(&points[a]).then(a.cmp(&b)));
        let ranked = |n: &usize| {
            let [_, low, high] = interval(drawn.iter().map(|weights| value(weights, &worths[*n])).collect());
            let probability = votes[*n] as f64 / drawn.len().max(1) as f64;
            Ranked { name: candidates.members()[*n].name.clone(), value: points[*n], low, high, probability }
        };
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
            format: equipoise::FORMAT,
            done: true,
            table,
            candidates: front.rows,
            best,
            ranking: order.iter().map(ranked).collect(),
            weights: candidates.attributes().iter().enumerate().map(weight).collect(),
            dominated: dominated(front),
            questions,
            enough,
            stopped_by,
            findings: outcome.findings.iter().filter(said).map(ToString::to_string).collect(),
            notes: &front.notes,
            metric_file: None,
            transcript_file: None,
        }
    }

    /// Writes it for people.
    pub fn write(
        &self,
        words: Option<&Words>,
        quiet: bool,
        terminal: Terminal,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let Best { name, probability, regret, regret_bound } = &self.best;
        if self.questions == 0 && self.ranking.is_empty() {
            let sentence = format!(
                "{name} is at least as good as every other candidate in everything: there is nothing to ask."
            );
            writeln!(out, "{}", terminal.bold(&terminal.paragraph(&sentence)))?;
        } else {
            let sentence = format!("Your best candidate: {name} (probability {probability:.2}).");
            writeln!(out, "{}", terminal.bold(&terminal.paragraph(&sentence)))?;
            let sentence = format!(
                "After {} questions it is expected to fall short of your best by {:.1} % of what lies between the best and the \
                 worst (with 95 % certainty by at most {:.1} %).",
                self.questions,
                100.0 * regret,
                100.0 * regret_bound
            );
            writeln!(out, "{}\n", terminal.paragraph(&sentence))?;
            let mut table = Table::new(terminal, ["candidate", "value", "95 %", "best with probability"]);
            for ranked in self.ranking.iter().take(LISTED) {
                table.row([
                    ranked.name.clone(),
                    format!("{:.3}", ranked.value),
                    format!("{:.3} to {:.3}", ranked.low, ranked.high),
                    format!("{:.2}", ranked.probability),
                ]);
            }
            write!(out, "{table}")?;
            if self.ranking.len() > LISTED {
                writeln!(out, "and {} more, see --json", self.ranking.len() - LISTED)?;
            }
            writeln!(out)?;
            let mut table = Table::new(terminal, ["attribute", "over the range shown", "weighs", "95 %"]);
            for (n, weight) in self.weights.iter().enumerate() {
                let end = |x: f64| {
                    words.and_then(|words| words.said.get(n)).map_or(x.to_string(), |said| said.number(x))
                };
                let [from, to] = match weight.direction {
                    Direction::Minimize => [weight.range[1], weight.range[0]],
                    Direction::Maximize => weight.range,
                };
                let scale = match weight.transform {
                    Transform::Linear => "",
                    Transform::Log => ", by ratio",
                    Transform::Logit => ", by odds",
                };
                let label = words
                    .and_then(|words| words.said.get(n))
                    .map_or(weight.attribute.clone(), |said| said.label.clone());
                table.row([
                    label,
                    format!("{} to {}{scale}", end(from), end(to)),
                    format!("{:.0} %", 100.0 * weight.weight),
                    format!("{:.0} to {:.0} %", 100.0 * weight.low, 100.0 * weight.high),
                ]);
            }
            write!(out, "{table}")?;
            let sentence = "A weight is that of the whole range of its attribute; other ranges would have given other weights.";
            writeln!(out, "{}", terminal.paragraph(sentence))?;
        }
        if !self.dominated.is_empty() {
            let listed: Vec<String> =
                self.dominated.iter().take(LISTED).map(|d| format!("{} (by {})", d.name, d.by)).collect();
            let more = self.dominated.len().saturating_sub(LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let sentence = format!("Nowhere better than another: {}{more}.", listed.join(", "));
            writeln!(out, "{}", terminal.paragraph(&sentence))?;
        }
        if !self.enough {
            let sentence =
                format!("Less is known than was wanted: the questions ended by {}.", self.stopped_by);
            writeln!(out, "{}", terminal.paragraph(&sentence))?;
        }
        for finding in &self.findings {
            writeln!(out, "{}", terminal.paragraph(&format!("note: {finding}")))?;
        }
        if !quiet {
            for note in self.notes {
                writeln!(out, "{}", terminal.paragraph(&format!("note: {note}")))?;
            }
            let files = [("Metric", &self.metric_file), ("Answers", &self.transcript_file)];
            for (what, file) in files {
                if let Some(file) = file {
                    writeln!(out, "{what}: {file}")?;
                }
            }
        }
        Ok(())
    }
}

fn dominated(front: &Front) -> Vec<Dominated<'_>> {
    front.dominated.iter().map(|(name, by)| Dominated { name, by }).collect()
}
