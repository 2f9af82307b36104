//! The cost ratio of a two-class metric, elicited adaptively.

use super::plan::Answers;
use super::ratio::{Noise, RatioPosterior};
use crate::document::{self, Object};
use crate::elicit::{Finding, Outcome, Plan};
use crate::error::{Result, check};
use crate::metric::{Metric, RatioInterval, Sense};
use crate::oracle::Oracle;
use crate::space::{Binary, Space};
use serde::Serialize;

/// Elicits a two-class cost ratio from pairs of boundary classifiers, with an interval.
///
/// It stops when the 95 % interval is narrow in the only sense that matters for a ratio: its ends differ by at most the
/// factor `width`. With `answers` left out nothing is assumed of the person but a plausible range of noise, which the
/// answers narrow.
///
/// ```
/// use equipoise::{Metric, Plan, engine::AdaptiveRatio, oracle::Simulated, population::Logistic, space::Binary};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Answers>,
    width: f64,
    budget: usize,
}

impl AdaptiveRatio {
    /// Ends within a factor of 1.6, at most 60 questions, nothing assumed of the person.
    pub fn new(space: Binary) -> Result<Self> {
        Ok(Self { space, method: "adaptive", answers: None, width: 1.6, budget: 60 })
    }

    /// How answers are believed to come about.
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// By which factor the ends of the interval may differ.
    pub fn width(self, width: f64) -> Result<Self> {
        check::number("width", width, (1.05..=100.0).contains(&width), "a number in [1.05, 100]")?;
        Ok(Self { width, ..self })
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
            plan.answers = Some(Answers::read(&mut object)?);
        }
        if let Some(width) = object.optional("width")? {
            plan = document::at(&place, plan.width(width))?;
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
            None => RatioPosterior::person(space),
            Some(Answers::Exact) => {
                RatioPosterior::new(space, &[(Noise { slope: f64::INFINITY, lapse: 0.0 }, 1.0)])
            }
            Some(Answers::Flip { probability }) => {
                RatioPosterior::new(space, &[(Noise { slope: f64::INFINITY, lapse: probability }, 1.0)])
            }
            Some(Answers::Logistic { slope }) => {
                RatioPosterior::new(space, &[(Noise { slope, lapse: 0.0 }, 1.0)])
            }
        }
    }
}

impl Plan for AdaptiveRatio {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        let mut posterior = self.start();
        let mut questions = 0;
        let rule = loop {
            if posterior.quantile(0.975) / posterior.quantile(0.025) <= self.width {
                break "width";
            }
            if questions >= self.budget {
                break "budget";
            }
            // A question that tells less than a thousandth of a bit is not worth a person's time.
            let Some((_, query)) = posterior.question().filter(|(bits, _)| *bits > 1e-3) else {
                break "nothing left to ask";
            };
            let answer = oracle.prefer(&query)?;
            posterior.take(&query, &answer);
            questions += 1;
        };
        let [low, middle, high] = [0.025, 0.5, 0.975].map(|share| posterior.quantile(share));
        let metric =
            Metric::linear(self.space.view(), Sense::Utility, vec![middle, 1.0]).expect("positive weights");
        let findings = vec![
            Finding::Stopped { rule: rule.to_owned(), questions, radius: (high / low).ln() },
            Finding::RatioInterval { low, high, level: 0.95 },
        ];
        let metric = metric.normal_form();
        // The interval travels with the metric, so that ranking and thresholds allow for it.
        let interval = RatioInterval::new(low, Some(high), 0.95);
        let metric = interval.and_then(|i| metric.clone().with_interval(i)).unwrap_or(metric);
        Ok(Outcome { metric, findings })
    }
}
