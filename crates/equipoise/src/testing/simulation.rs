//! A simulated elicitation described by one document: space, hidden metric, noise, plan and seed.

use crate::AnyPlan;
use crate::ask::{Counting, Finding, NoiseModel, Outcome, Plan, Simulated};
use crate::document::{self, FORMAT, Object};
use crate::error::Result;
use crate::metric::{Difference, Metric};
use crate::space::AnySpace;
use serde::Serialize;

/// A simulation file:
/// `{"format":1,"space":{...},"oracle":{"metric":{...},"noise":{"kind":"none"}},"plan":{...},"seed":7}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    metric: Metric,
    noise: NoiseModel,
    plan: AnyPlan,
    seed: u64,
}

/// What a simulation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    format: u64,
    /// The elicited metric.
    pub metric: Metric,
    /// How many comparisons were asked.
    pub queries: usize,
    /// Distance to the hidden metric; `None` if the two are of different families.
    pub error: Option<Difference>,
    /// Whether the answers single the metric out.
    pub identifiable: bool,
    /// Remarks, as sentences.
    pub notes: Vec<String>,
    /// The same remarks, for programs.
    pub findings: Vec<Finding>,
}

impl Simulation {
    /// Reads a simulation file.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut object = Object::new(document::parse(text)?, "")?;
        object.check_format()?;
        let space = AnySpace::from_part(object.part("space")?, "space")?;
        let mut oracle = Object::new(object.part("oracle")?, "oracle")?;
        let shares = match &space {
            AnySpace::GroupSphere(space) => Some(space.prevalence().clone()),
            _ => None,
        };
        let metric = Metric::from_part(oracle.part("metric")?, "oracle.metric", shares.as_ref())?;
        let noise = match oracle.optional("noise")? {
            Some(value) => NoiseModel::from_part(value, "oracle.noise")?,
            None => NoiseModel::Exact,
        };
        oracle.finish()?;
        let plan = AnyPlan::from_parts(space, object.part("plan")?, "plan")?;
        let seed = object.optional("seed")?.unwrap_or(0);
        object.finish()?;
        Self::new(metric, noise, plan, seed)
    }

    /// A simulation; the metric must be measured in the coordinates the plan asks about.
    pub fn new(metric: Metric, noise: NoiseModel, plan: AnyPlan, seed: u64) -> Result<Self> {
        plan.view().expect("the plan's space", metric.view(), "oracle.metric")?;
        Ok(Self { metric, noise: noise.checked()?, plan, seed })
    }

    /// Replaces the seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The hidden metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// How the oracle errs.
    pub fn noise(&self) -> NoiseModel {
        self.noise
    }

    /// Where its mistakes are drawn from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The plan.
    pub fn plan(&self) -> &AnyPlan {
        &self.plan
    }

    /// Asks the simulated oracle until the plan is done.
    pub fn run(&self) -> Report {
        let oracle =
            Simulated::with_noise(self.metric.clone(), self.noise, self.seed).expect("checked when made");
        let mut oracle = Counting::new(oracle);
        let Ok(Outcome { metric, findings }) = self.plan.run(&mut oracle);
        Report {
            format: FORMAT,
            queries: oracle.asked(),
            error: metric.difference(&self.metric),
            identifiable: findings.iter().all(|finding| !finding.is_ambiguity()),
            notes: findings.iter().map(ToString::to_string).collect(),
            findings,
            metric,
        }
    }
}
