//! The cost ratio of a two-class metric, elicited adaptively.

use super::check::{STANDS_OUT, contradicted};
use super::ratio::{RatioPosterior, Scale};
use crate::ask::{Finding, NoiseModel, Oracle, Outcome, Plan, Query, keep, recall};
use crate::document::{self, Object};
use crate::error::{Result, check};
use crate::metric::{Metric, RatioInterval, Sense};
use crate::space::{Binary, Space};
use serde::{Deserialize, Serialize};

/// Elicits a two-class cost ratio from pairs of boundary classifiers, with an interval.
///
/// It stops when the 95 % interval is narrow in the only sense that matters for a ratio: its ends differ by at most the
/// factor `width`; or, if a [`Settled`] is given, when the threshold it leads to is settled; or when no question is
/// expected to tell as much as `floor` bits; or after `budget` questions. The result says which.
///
/// With `answers` left out, or unknown, nothing is assumed of the person but a population of people
/// ([`NoiseModel::population`]), which the answers narrow down.
///
/// ```
/// use equipoise::{Metric, Plan, engine::AdaptiveRatio, ask::Simulated, population::Logistic, space::Binary};
/// let hidden = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[6,1]}"#;
/// let plan = AdaptiveRatio::new(Binary::from_law(Logistic::with_offset(21.0, 6.3)?))?;
/// let Ok(outcome) = plan.run(&mut Simulated::new(Metric::from_json(hidden)?));
/// assert!((outcome.metric.cost_ratio().unwrap() / 6.0).ln().abs() < 0.2);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdaptiveRatio {
    pub(crate) space: Binary,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_answers")]
    answers: Option<NoiseModel>,
    width: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Settled>,
    floor: f64,
    budget: usize,
}

/// When the threshold a ratio leads to counts as settled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// How far the threshold may be off: a difference of risks.
    pub tolerance: f64,
    /// How likely it must be within the tolerance.
    pub certainty: f64,
}

impl Settled {
    fn checked(self) -> Result<Self> {
        let ok = self.tolerance > 0.0 && self.tolerance < 1.0;
        check::number("decision.tolerance", self.tolerance, ok, "a number strictly between 0 and 1")?;
        let ok = (0.5..1.0).contains(&self.certainty);
        check::number("decision.certainty", self.certainty, ok, "a number in [0.5, 1)")?;
        Ok(self)
    }
}

impl AdaptiveRatio {
    /// Ends within a factor of 1.6, at most 40 questions, none that tells less than .01 bit, nothing assumed of the
    /// person.
    pub fn new(space: Binary) -> Result<Self> {
        let (width, floor, budget) = (1.6, 0.01, 40);
        Ok(Self { space, method: "adaptive", answers: None, width, decision: None, floor, budget })
    }

    /// How answers are believed to come about.
    pub fn answers(self, answers: NoiseModel) -> Result<Self> {
        Ok(Self { answers: Some(answers.believable()?), ..self })
    }

    /// By which factor the ends of the interval may differ.
    pub fn width(self, width: f64) -> Result<Self> {
        check::number("width", width, (1.05..=100.0).contains(&width), "a number in [1.05, 100]")?;
        Ok(Self { width, ..self })
    }

    /// Also stops when the threshold is settled.
    pub fn decision(self, decision: Settled) -> Result<Self> {
        Ok(Self { decision: Some(decision.checked()?), ..self })
    }

    /// Asks nothing that is expected to tell less than this, in bits.
    pub fn floor(self, bits: f64) -> Result<Self> {
        check::number("floor", bits, (0.0..=1.0).contains(&bits), "a number of bits in [0, 1]")?;
        Ok(Self { floor: bits, ..self })
    }

    /// At most this many questions.
    pub fn budget(self, questions: usize) -> Result<Self> {
        let ok = (1..=10_000).contains(&questions);
        check::number("budget", questions as f64, ok, "a whole number from 1 to 10000")?;
        Ok(Self { budget: questions, ..self })
    }

    pub(crate) fn read(mut object: Object, space: Binary) -> Result<Self> {
        let place = object.place();
        object.kind("kind", &["linear"])?;
        object.kind("method", &["adaptive"])?;
        let mut plan = Self::new(space)?;
        if object.has("answers") {
            plan.answers = Some(NoiseModel::read_answers(&mut object)?.unwrap_or(NoiseModel::Exact));
        }
        if let Some(width) = object.optional("width")? {
            plan = document::at(&place, plan.width(width))?;
        }
        if let Some(decision) = object.optional("decision")? {
            plan = document::at(&place, plan.decision(decision))?;
        }
        if let Some(floor) = object.optional("floor")? {
            plan = document::at(&place, plan.floor(floor))?;
        }
        if let Some(budget) = object.optional("budget")? {
            plan = document::at(&place, plan.budget(budget))?;
        }
        object.finish()?;
        Ok(plan)
    }

    /// The posterior before the first question.
    pub fn start(&self) -> RatioPosterior {
        let space = self.space.clone();
        match self.answers {
            None | Some(NoiseModel::Unknown) => RatioPosterior::person(space),
            Some(known) => RatioPosterior::new(space, &[(known, 1.0)]),
        }
    }
}

fn as_answers<S: serde::Serializer>(
    answers: &Option<NoiseModel>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    answers.map(NoiseModel::to_answers).serialize(serializer)
}

impl AdaptiveRatio {
    /// The budget.
    pub(super) fn most_questions(&self) -> usize {
        self.budget
    }

    /// The least information worth a question.
    pub(super) fn least_information(&self) -> f64 {
        self.floor
    }

    /// The rule that says enough is known, if one does; whether more can be asked is another question.
    pub(super) fn settled(&self, posterior: &RatioPosterior) -> Option<&'static str> {
        let over = (posterior.asked() >= self.budget).then_some("budget");
        self.settled_by(posterior.scale(), posterior.marginal()).or(over)
    }

    /// The same for the posterior of a ratio over a grid, budget aside.
    pub(super) fn settled_by(&self, scale: Scale, marginal: &[f64]) -> Option<&'static str> {
        if scale.quantile(marginal, 0.975) - scale.quantile(marginal, 0.025) <= self.width.ln() {
            return Some("width");
        }
        let Settled { tolerance, certainty } = self.decision?;
        (scale.threshold_settled(marginal, tolerance) >= certainty).then_some("decision")
    }

    /// What to ask now, or the rule that ends the questions.
    pub fn next(&self, posterior: &RatioPosterior) -> std::result::Result<Query, &'static str> {
        if let Some(rule) = self.settled(posterior) {
            return Err(rule);
        }
        match posterior.question() {
            Some((bits, query)) if bits >= self.floor => Ok(query),
            Some(_) => Err("information floor"),
            None => Err("nothing left to ask"),
        }
    }

    /// What the answers came to.
    fn outcome(&self, posterior: &RatioPosterior, rule: &str) -> Outcome {
        let [low, middle, high] = [0.025, 0.5, 0.975].map(|share| posterior.quantile(share));
        let metric =
            Metric::linear(self.space.view(), Sense::Utility, vec![middle, 1.0]).expect("positive weights");
        let questions = posterior.asked();
        let mut findings = vec![
            Finding::Stopped { rule: rule.to_owned(), questions, radius: (high / low).ln() },
            Finding::RatioInterval { low, high, level: 0.95 },
        ];
        let stands_out = |n: &usize| posterior.chance_without(*n).is_some_and(|chance| chance < STANDS_OUT);
        findings.extend(contradicted((0..questions).filter(stands_out)));
        let metric = metric.normal_form();
        // The interval travels with the metric, so that ranking and thresholds allow for it.
        let interval = RatioInterval::new(low, Some(high), 0.95);
        let metric = interval.and_then(|i| metric.clone().with_interval(i)).unwrap_or(metric);
        Outcome { metric, findings }
    }
}

impl Plan for AdaptiveRatio {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        let mut posterior = recall(oracle).unwrap_or_else(|| self.start());
        loop {
            match self.next(&posterior) {
                Ok(query) => {
                    let answer = oracle.prefer(&query)?;
                    posterior.take(&query, &answer);
                    keep(oracle, &posterior);
                }
                Err(rule) => return Ok(self.outcome(&posterior, rule)),
            }
        }
    }
}
