//! What came out of an elicitation: a sentence, the weights with their intervals, the nearest names, how it ended.

use super::asker::Asker;
use super::goal::{self, Goal};
use super::gravity::Gravity;
use super::question::Words;
use super::record;
use super::rule::Follows;
use super::task::Task;
use crate::ratio::two_digits;
use crate::render::letter;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{coefficients, metrics};
use anyhow::Result;
use equipoise::ask::{Finding, NoiseModel};
use equipoise::decide::agreement::kendall_tau;
use equipoise::decide::nearest::{self, Agreement};
use equipoise::metric::Family;
use equipoise::population::{Confusions as _, Population as _};
use equipoise::{Answered, GroupConfusions, Measure, Metric, Outcome, Spread};
use equipoise_data::Note;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Where the text of "Recovered", "Questions" and the like begins.
const INDENT: usize = 11;
/// Metrics with more weights than this are cut short in text; JSON has them all.
const MOST_ROWS: usize = 40;
/// Draws from the posterior behind an interval.
const DRAWS: usize = 2000;
/// Classifiers that a nearest metric is looked up with.
const POOL: usize = 200;
/// The probability of the intervals of weights.
const LEVEL: f64 = 0.95;
/// Answers that contradict the others are told in full up to this many.
const MOST_DISAGREEING: usize = 3;

/// What `--json` prints.
#[derive(Serialize)]
pub struct Report<'a> {
    format: u64,
    done: bool,
    table: &'a str,
    space: Space<'a>,
    family: &'static str,
    method: String,
    /// Missing where the answers look like chance: nobody is told that they hold it.
    metric: Option<Metric>,
    sentence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<Ratio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gravity: Option<Gravity>,
    weights: Vec<Weight>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Follows>,
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<Regret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<Hidden>,
    nearest: Vec<Agreement>,
    questions: usize,
    ended: String,
    goal: Goal,
    noise: Noise,
    identifiable: bool,
    /// Whether the exit code is 1.
    needs_attention: bool,
    remarks: Vec<String>,
    notes: &'a [Note],
    metric_file: Option<String>,
    transcript_file: String,
}

#[derive(Serialize)]
struct Space<'a> {
    kind: String,
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
}

/// How much more the rule that follows costs than the best one, as a share.
#[derive(Serialize)]
struct Regret {
    expected: f64,
    /// With 95 % certainty no more than this.
    bound: f64,
    sentence: String,
}

impl Regret {
    /// Of a ratio that the answers bound on one side nobody knows what the rule costs beyond what these data tell.
    fn of([expected, bound]: [f64; 2], ratio: Option<&Ratio>) -> Self {
        let bound = bound.max(expected);
        let told = goal::regret_in_words(expected, bound);
        let beyond = match ratio.map(|ratio| (ratio.low, ratio.high)) {
            Some((Some(low), None)) => Some(("above", low)),
            Some((Some(low), Some(high))) if low <= 0.0 => Some(("below", high)),
            _ => None,
        };
        let sentence = match beyond {
            Some((side, end)) => {
                let end = two_digits(end);
                format!("{told}; more if your ratio is far {side} {end}, which these data do not tell")
            }
            None => told,
        };
        Self { expected, bound, sentence }
    }
}

/// How answers were believed to come about.
#[derive(Serialize)]
struct Noise {
    assumed: NoiseModel,
    sentence: String,
}

/// How many false alarms a missed case is worth.
#[derive(Serialize)]
struct Ratio {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    level: Option<f64>,
}

/// A coefficient with a name.
#[derive(Serialize)]
struct Weight {
    name: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Spread>,
    /// Of a weight on an error rate: what one case costs, the dearest kind of mistake costing 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    per_case: Option<f64>,
}

/// What the simulated expert holds.
#[derive(Serialize)]
struct Hidden {
    metric: Metric,
    ratio: Option<f64>,
    /// Whether the interval of the ratio holds it.
    inside: Option<bool>,
    /// The angle between both metrics, if they are of one family.
    angle: Option<f64>,
    /// How alike both order classifiers that the table allows.
    kendall_tau: Option<f64>,
}

/// What the report is about besides the outcome.
pub struct About<'a> {
    pub task: &'a Task,
    pub asker: &'a Asker,
    pub transcript: &'a [Answered],
    pub hidden: Option<Metric>,
    pub notes: &'a [Note],
    pub metric_file: String,
    pub transcript_file: String,
}

impl<'a> Report<'a> {
    pub fn new(about: About<'a>, outcome: Outcome) -> Result<Self> {
        let About { task, asker, transcript, hidden, notes, metric_file, transcript_file } = about;
        let words = &asker.words;
        let names = task.sample.class_names().to_vec();
        let identifiable = outcome.identifiable();
        let goal = Goal::of(&outcome, task, &transcript_file);
        let objects = outcome
            .findings
            .iter()
            .any(|finding| matches!(finding, Finding::NotLinear { .. } | Finding::ProbesObject { .. }));
        let regret = outcome.findings.iter().find_map(|finding| match *finding {
            Finding::Regret { expected, bound } => Some([expected, bound]),
            _ => None,
        });
        let chance = outcome.findings.iter().find(|finding| matches!(finding, Finding::LikeChance { .. }));
        let chance = chance.map(ToString::to_string);
        let mut remarks = remarks(&outcome, asker, transcript);
        if objects {
            remarks
                .push("other families may explain them: --family quadratic, or linear_fractional".to_owned());
        }
        let (assumed, sentence) = goal::assumed(task);
        let metric = outcome.metric.with_class_names(names)?.with_provenance(provenance(task, transcript)?);
        let ratio = ratio(&metric);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let pool = nearest::achievable(&task.sample, POOL, &mut random)?;
        let space = task.plan_document()["space"].clone();
        let crowd = task.operating_point().and_then(|_| asker.known.draws(transcript, DRAWS));
        let draws = crowd.unwrap_or_else(|| metric.draws(DRAWS, &mut Xoshiro256PlusPlus::seed_from_u64(1)));
        let open = |graver, other| asker.known.leaves_open(transcript, graver, other);
        let ratios = asker.known.ratios(transcript);
        let rule = Follows::of(&metric, (&draws, &ratios), task, words)?;
        // Of the corners of the table's boundary, and of the threshold that is told: whichever is more.
        let told = rule.as_ref().and_then(|rule| rule.regret).unwrap_or_default();
        let regret = regret.map(|found| Regret::of([0, 1].map(|n| found[n].max(told[n])), ratio.as_ref()));
        let mut report = Self {
            format: equipoise::FORMAT,
            done: true,
            table: &task.table,
            space: Space {
                kind: space["kind"].as_str().unwrap_or_default().to_owned(),
                fingerprint: &task.space,
                radius: space["radius"].as_f64(),
            },
            family: task.plan.kind(),
            method: task.setting("method").unwrap_or_else(|| "paper".to_owned()),
            sentence: ratio.as_ref().map(|ratio| exchange(ratio, words)),
            gravity: Gravity::of(&metric, &draws, open, task, words),
            weights: weights(&metric, task, &draws),
            rule,
            regret,
            hidden: hidden.map(|hidden| compare(hidden, &metric, ratio.as_ref(), &pool)),
            ratio,
            // A metric that is the same everywhere has no neighbours.
            nearest: nearest::nearest(&metric, &pool).unwrap_or_default(),
            metric: Some(metric),
            questions: transcript.len(),
            ended: goal.ended.clone(),
            needs_attention: !identifiable || !goal.met || objects,
            goal,
            noise: Noise { assumed, sentence },
            identifiable,
            remarks,
            notes,
            metric_file: Some(metric_file),
            transcript_file,
        };
        if let Some(chance) = chance {
            report.withhold(chance);
        }
        Ok(report)
    }

    /// Says nothing of a metric: the answers look like those of somebody who does not look.
    fn withhold(&mut self, why: String) {
        (self.metric, self.metric_file, self.ratio, self.gravity) = (None, None, None, None);
        (self.rule, self.regret) = (None, None);
        // More questions, or a goal that is easier to reach, would help nobody.
        self.goal.missing = None;
        self.weights.clear();
        self.nearest.clear();
        self.remarks.retain(|remark| *remark != why);
        self.sentence = Some(format!("no metric: {why}"));
    }

    /// The metric with where it comes from, unless the answers look like chance.
    pub fn metric(&self) -> Option<&Metric> {
        self.metric.as_ref()
    }

    /// Whether the answers do not single the metric out, or the questions ended too soon.
    pub fn needs_attention(&self) -> bool {
        self.needs_attention
    }

    /// Writes the report for a person.
    pub fn write(&self, quiet: bool, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        let entry = |name: &str, text: &str| terminal.entry(INDENT, name, text);
        match (&self.sentence, &self.gravity) {
            (Some(sentence), _) => {
                writeln!(out, "{}", terminal.bold(entry("Recovered", sentence).trim_end()))?;
            }
            (None, Some(gravity)) => gravity.write(terminal, out)?,
            (None, None) => self.write_weights(terminal, out)?,
        }
        if let (Some(rule), false) = (&self.rule, quiet) {
            rule.write(terminal, out)?;
        }
        let said = self.entries();
        let told = said.iter().filter(|(name, _)| !quiet || ["Rule", "Regret", "Missing"].contains(name));
        told.into_iter().try_for_each(|(name, text)| write!(out, "{}", entry(name, text)))
    }

    /// What there is to say besides the metric itself, each sentence under its name.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let rule = self.rule.as_ref();
        let nearest = (!self.nearest.is_empty()).then(|| metrics::nearest(&self.nearest));
        let mut all = vec![
            ("Rule", rule.map(|rule| rule.sentence.clone())),
            ("Regret", self.regret.as_ref().map(|regret| regret.sentence.clone())),
            ("Changes", rule.and_then(|rule| rule.changes.clone())),
            ("Hidden", self.hidden.as_ref().map(|hidden| self.compared(hidden))),
            ("Nearest", nearest),
            ("Questions", Some(format!("{}; {}", self.questions, self.ended))),
            ("Assumed", Some(self.noise.sentence.clone())),
            ("Missing", self.goal.missing.clone()),
        ];
        all.extend(self.remarks.iter().map(|remark| ("Note", Some(remark.clone()))));
        all.push(("Metric", self.metric_file.clone()));
        all.push(("Answers", Some(self.transcript_file.clone())));
        all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }

    /// The metric in a sentence: what is accepted for what; nothing where weights say it.
    pub fn sentence(&self) -> Option<&str> {
        self.sentence.as_deref()
    }

    /// How bad each mistake is, where there are more than two kinds.
    pub fn gravity(&self) -> Option<&Gravity> {
        self.gravity.as_ref()
    }

    /// The rule that follows.
    pub fn rule(&self) -> Option<&Follows> {
        self.rule.as_ref()
    }

    /// Whether as much is known as was wanted.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    fn write_weights(&self, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        let kind = self.family.replace('_', " ");
        let sense = self.metric.as_ref().map_or(String::new(), |metric| format!(", a {:?}", metric.sense()));
        let heading = format!("Your {kind} metric{}", sense.to_lowercase());
        writeln!(out, "{}\n", terminal.bold(&heading))?;
        let intervals = self.weights.iter().any(|weight| weight.interval.is_some());
        let per_case = self.weights.iter().any(|weight| weight.per_case.is_some());
        let headings =
            [("weight", true), ("value", true), ("95 % interval", intervals), ("per case", per_case)];
        let mut table =
            Table::new(terminal, headings.into_iter().filter(|(_, shown)| *shown).map(|(name, _)| name));
        for weight in self.weights.iter().take(MOST_ROWS) {
            let mut row = vec![weight.name.clone(), number(weight.value)];
            if intervals {
                let range = |spread: Spread| format!("{} to {}", number(spread.low), number(spread.high));
                row.push(weight.interval.map_or("-".to_owned(), range));
            }
            if per_case {
                row.push(weight.per_case.map_or("-".to_owned(), |cost| format!("{cost:.2}")));
            }
            table.row(row);
        }
        write!(out, "{table}")?;
        if self.weights.len() > MOST_ROWS {
            writeln!(out, " and {} more; --json prints all", self.weights.len() - MOST_ROWS)?;
        }
        writeln!(out)?;
        if per_case {
            let text = "Weights are for error rates, the share of a true class; \"per case\" is what one mistake costs, \
                        the dearest kind costing 1.";
            writeln!(out, "{}\n", terminal.paragraph(text))?;
        }
        Ok(())
    }

    fn compared(&self, hidden: &Hidden) -> String {
        match (hidden.ratio, hidden.inside, hidden.angle) {
            (Some(ratio), Some(inside), _) => {
                let where_ = if inside { "inside" } else { "outside" };
                format!("{} (what the simulated expert holds, {where_} the interval)", two_digits(ratio))
            }
            (Some(ratio), None, _) => format!("{} (what the simulated expert holds)", two_digits(ratio)),
            (None, _, angle) => {
                let far =
                    angle.map(|angle| format!(" is {} degrees away and", two_digits(angle.to_degrees())));
                let alike = match hidden.kendall_tau {
                    Some(tau) => format!(" orders classifiers alike with Kendall tau {tau:.3}"),
                    None => " has no order of these classifiers".to_owned(),
                };
                format!("what the simulated expert holds{}{alike}", far.unwrap_or_default())
            }
        }
    }
}

/// Where a metric comes from.
fn provenance(task: &Task, transcript: &[Answered]) -> Result<Map<String, Value>> {
    let mut from = Map::new();
    let mut put = |field: &str, value: Value| from.insert(field.to_owned(), value);
    put("made_by", json!(concat!("equipoise ", env!("CARGO_PKG_VERSION"))));
    put("table", json!(task.table));
    put("rows", json!(task.sample.totals()?.overall().rows));
    put("space", json!(task.space));
    put("transcript", json!(record::fingerprint(task, transcript)?));
    put("questions", json!(transcript.len()));
    put("method", json!(task.setting("method")));
    Ok(from)
}

fn ratio(metric: &Metric) -> Option<Ratio> {
    let value = metric.cost_ratio()?;
    let interval = metric.interval();
    Some(Ratio {
        value,
        low: interval.map(|interval| interval.low()),
        high: interval.and_then(|interval| interval.high()),
        level: interval.map(|interval| interval.level()),
    })
}

/// The exchange between the two mistakes, in a sentence.
fn exchange(ratio: &Ratio, words: &Words) -> String {
    let ends = ratio.low.map(|low| [low, ratio.high.unwrap_or(f64::INFINITY)]);
    words.two().exchange(ratio.value, ends)
}

/// The coefficients with names, intervals from the posterior and, for costs of error rates, the price of one case.
fn weights(metric: &Metric, task: &Task, draws: &[Metric]) -> Vec<Weight> {
    let metric = metric.normal_form();
    let named = coefficients::named(&metric);
    let mut drawn: Vec<Vec<f64>> = vec![vec![]; named.len()];
    for draw in draws {
        let values = coefficients::named(&draw.normal_form());
        drawn.iter_mut().zip(values).for_each(|(all, (_, value))| all.push(value));
    }
    let priors = task.sample.prevalence().class_priors();
    let view = metric.view();
    let linear = matches!(metric.family(), Family::Linear(_)) && view.measure() == Measure::OffDiagonalRates;
    let cost = |n: usize, value: f64| value / priors[view.entries()[n].1];
    let dearest = if linear {
        named.iter().enumerate().map(|(n, (_, v))| cost(n, *v)).fold(0.0, f64::max)
    } else {
        0.0
    };
    let weight = |(n, (name, value)): (usize, (String, f64))| Weight {
        name: with_group_names(name, task),
        value,
        interval: Spread::of(&drawn[n], LEVEL),
        per_case: (dearest > 0.0).then(|| cost(n, value) / dearest),
    };
    named.into_iter().enumerate().map(weight).collect()
}

/// "women and men: ..." for "groups 0 and 1: ...".
fn with_group_names(name: String, task: &Task) -> String {
    let groups = task.sample.group_names();
    let named = || {
        let (pair, rest) = name.strip_prefix("groups ")?.split_once(": ")?;
        let (u, v) = pair.split_once(" and ")?;
        let group = |number: &str| groups.get(number.parse::<usize>().ok()?);
        Some(format!("{} and {}: {rest}", group(u)?, group(v)?))
    };
    named().unwrap_or(name.clone())
}

fn compare(hidden: Metric, found: &Metric, ratio: Option<&Ratio>, pool: &[GroupConfusions]) -> Hidden {
    let held = hidden.cost_ratio();
    let inside = ratio.and_then(|ratio| Some((ratio.low?..=ratio.high?).contains(&held?)));
    let alike = hidden.view() == found.view();
    let angle = found.difference(&hidden).filter(|_| alike).map(|difference| difference.angle);
    let angle = angle.filter(|angle| angle.is_finite());
    let likings = |metric: &Metric| -> Option<Vec<f64>> {
        pool.iter().map(|matrix| Some(metric.sense().sign() * metric.of(matrix).ok()?)).collect()
    };
    let both = likings(&hidden).zip(likings(found));
    let kendall_tau = both.and_then(|(a, b)| kendall_tau(&a, &b).ok().flatten());
    Hidden { metric: hidden, ratio: held, inside, angle, kendall_tau }
}

/// What else there is to say; an answer that contradicts the others is told with its question.
fn remarks(outcome: &Outcome, asker: &Asker, transcript: &[Answered]) -> Vec<String> {
    let told = |finding: &&Finding| {
        !matches!(finding, Finding::Stopped { .. } | Finding::RatioInterval { .. } | Finding::Regret { .. })
    };
    let mut remarks = vec![];
    for finding in outcome.findings.iter().filter(told) {
        remarks.push(finding.to_string());
        let Finding::Contradicted { answers } = finding else { continue };
        for &number in answers.iter().take(MOST_DISAGREEING) {
            let Some(answered) = transcript.get(number.wrapping_sub(1)) else { continue };
            let (shown, presented) = asker.present(&transcript[..number - 1], &answered.query);
            let chosen = letter(presented.turn.preference(answered.preference));
            let difference = asker.words.difference(&shown);
            remarks.push(format!("answer {number} was {chosen}. {difference}"));
        }
    }
    remarks
}

/// Three decimals, and no minus before a zero.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0.000".to_owned() } else { text }
}
