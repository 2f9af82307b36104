//! The engine as a plan: asks until the plan says that enough is known, then probes, then says what came out.

use super::belief::{Belief, Regret, Width};
use super::check::FamilyCheck;
use super::doubt::Doubt;
use super::plan::{Adaptive, IDLE, IDLE_OF_A_RATIO, NOTHING_LEFT};
use super::stop::Stop;
use crate::ask::{Answer, Answered, Finding, Oracle, Outcome, Plan, keep, recall};
use crate::error::Result;

/// Where a run is: asking, or checking what the answers came to.
#[derive(Debug, Clone)]
pub(crate) struct Inquiry {
    pub belief: Box<dyn Belief>,
    /// The rule that ended the questions, and the check that hears the probes after it.
    check: Option<(&'static str, Check)>,
    probed: usize,
}

/// What hears the probes.
#[derive(Debug, Clone)]
enum Check {
    /// On a ball.
    Family(Box<FamilyCheck>),
    /// Of people.
    Doubt(Doubt),
}

impl Check {
    fn findings(&self) -> Vec<Finding> {
        match self {
            Check::Family(check) => check.verdict().findings(),
            Check::Doubt(doubt) => doubt.findings(),
        }
    }
}

impl Adaptive {
    /// The check that hears the probes after a belief that has come to its end.
    fn check(&self, belief: &dyn Belief) -> Option<Check> {
        if self.asks_people() {
            return Some(Check::Doubt(self.doubt(belief)));
        }
        let space = self.linear_ball().filter(|_| self.probes > 0)?;
        let check = FamilyCheck::new(space, self.noise(), belief.noise(), self.signs, belief.answered());
        Some(Check::Family(Box::new(check)))
    }

    fn outcome(&self, inquiry: &Inquiry, rule: &str) -> Outcome {
        let belief = inquiry.belief.as_ref();
        let asked = belief.answered().len();
        let radius = match self.taken_for(belief.width()) {
            Width::Factor(factor) => factor.ln(),
            Width::Angle(radius) => radius,
        };
        let questions = asked + inquiry.probed;
        let mut findings = vec![Finding::Stopped { rule: rule.to_owned(), questions, radius }];
        if let (Some(names), Some(decision)) = (self.names(), belief.decision(self.seed)) {
            let name = names[decision.best].to_owned();
            findings.push(Finding::BestOfPool { name, probability: decision.probability });
            let level = |stop: &Stop| match stop {
                Stop::Decision { level } => Some(*level),
                _ => None,
            };
            if let (NOTHING_LEFT, Some(level)) = (rule, self.stops.iter().find_map(level)) {
                findings.push(Finding::PairsUsedUp { pairs: asked, level });
            }
        }
        if let (Some(regret), Some(_)) = (belief.regret(), self.regret_at_most()) {
            let Regret { expected, bound } = regret;
            findings.push(match self.candidates() {
                Some(_) => Finding::ChoiceRegret { expected, bound },
                None => Finding::Regret { expected, bound },
            });
        }
        // Of a pool, pairs that are used up are said above.
        let idle = [IDLE, IDLE_OF_A_RATIO, NOTHING_LEFT].contains(&rule) && self.names().is_none();
        if idle {
            findings.push(Finding::GoalMissed { rule: rule.to_owned() });
        }
        if let Some(kind) = belief.beyond().filter(|_| self.asks_people() && self.candidates().is_none()) {
            findings.push(Finding::WeightBeyond { kind });
        }
        findings.extend(belief.findings());
        if let Some((_, check)) = &inquiry.check {
            findings.extend(check.findings());
        }
        Outcome { metric: belief.metric(), findings }
    }
}

impl Plan for Adaptive {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let begin = || Inquiry { belief: self.start(), check: None, probed: 0 };
        let mut inquiry: Inquiry = recall(oracle).unwrap_or_else(begin);
        let rule = loop {
            if let Some((rule, _)) = inquiry.check {
                break rule;
            }
            match self.next(inquiry.belief.as_ref()) {
                Ok(query) => {
                    let answer = oracle.prefer(&query)?;
                    inquiry.belief.take(&query, &answer);
                    keep(oracle, &inquiry);
                }
                Err(rule) => {
                    inquiry.check = self.check(inquiry.belief.as_ref()).map(|check| (rule, check));
                    break rule;
                }
            }
        };
        while let Some((_, check)) = &mut inquiry.check {
            let probe = match check {
                Check::Family(check) => {
                    (inquiry.probed < self.probes).then(|| check.probe(self.rows_that_differ, self.seed))
                }
                Check::Doubt(doubt) => doubt.probe(),
            };
            let Some(query) = probe else { break };
            let answer = oracle.prefer(&query)?;
            match check {
                Check::Family(check) => {
                    let Answer { preference, shown } = answer;
                    check.hear(&Answered { query, preference, shown });
                }
                Check::Doubt(doubt) => doubt.hear(&query, &answer),
            }
            inquiry.probed += 1;
            keep(oracle, &inquiry);
        }
        Ok(self.outcome(&inquiry, rule))
    }
}
