//! What is known in the middle of an interview.

use crate::ratio::{Agreeing, two_digits};
use equipoise::engine::{Adaptive, Belief};
use equipoise::{Answer, Answered, AnyPlan};
use std::borrow::Cow;
use std::cell::RefCell;

/// What the answers so far come to, kept up to date as they come and go.
pub struct Known<'a> {
    plan: Cow<'a, AnyPlan>,
    belief: RefCell<Option<Box<dyn Belief>>>,
}

impl<'a> Known<'a> {
    /// Nothing yet.
    pub fn new(plan: &'a AnyPlan) -> Self {
        Self { plan: Cow::Borrowed(plan), belief: RefCell::default() }
    }

    /// The same for whoever outlives the plan.
    pub fn of(plan: AnyPlan) -> Known<'static> {
        Known { plan: Cow::Owned(plan), belief: RefCell::default() }
    }

    /// The plan that asks.
    pub fn plan(&self) -> &AnyPlan {
        &self.plan
    }

    /// What an adaptive plan believes after a transcript.
    fn with_belief<T>(
        &self,
        transcript: &[Answered],
        job: impl FnOnce(&Adaptive, &dyn Belief) -> T,
    ) -> Option<T> {
        let AnyPlan::Adaptive(plan) = self.plan.as_ref() else { return None };
        let mut kept = self.belief.borrow_mut();
        // An answer that was taken back, or a probe, which the belief does not hear.
        if kept.as_ref().is_some_and(|belief| !transcript.starts_with(belief.answered())) {
            *kept = None;
        }
        let belief = kept.get_or_insert_with(|| plan.start());
        for Answered { query, preference, shown } in &transcript[belief.answered().len()..] {
            if plan.is_checking(belief.as_ref()) {
                break;
            }
            belief.take(query, &Answer { preference: *preference, shown: shown.clone() });
        }
        Some(job(plan, belief.as_ref()))
    }

    /// About how many questions there are in all; `None` where nobody can tell.
    pub fn about(&self, transcript: &[Answered]) -> Option<usize> {
        self.with_belief(transcript, |plan, belief| plan.about(belief)).flatten()
    }

    /// Two classes: the ends of the 95 % interval of the cost ratio.
    pub fn interval(&self, transcript: &[Answered]) -> Option<[f64; 2]> {
        let ends =
            |_: &Adaptive, belief: &dyn Belief| Some([belief.quantile(0.025)?, belief.quantile(0.975)?]);
        self.with_belief(transcript, ends).flatten()
    }

    /// What the answers so far say, in a sentence; `None` where a search has nothing to say before its end.
    pub fn so_far(&self, transcript: &[Answered]) -> Option<String> {
        if let AnyPlan::BinaryLinear(_) = self.plan.as_ref() {
            let agreeing = Agreeing::with(transcript).map(|agreeing| agreeing.to_string());
            let agreeing = agreeing.unwrap_or_else(|| "none agrees with all answers".to_owned());
            return Some(format!("Your cost ratio so far: {agreeing}."));
        }
        let sentence = |plan: &Adaptive, belief: &dyn Belief| {
            if plan.kind() == "linear_fractional" {
                return None;
            }
            if belief.answered().len() < transcript.len() {
                return Some(
                    "The last questions check whether fixed weights explain your answers.".to_owned(),
                );
            }
            Some(match (belief.quantile(0.025), belief.quantile(0.975), belief.regret()) {
                (Some(low), Some(high), _) => {
                    format!("Your cost ratio so far: {} to {} (95 %).", two_digits(low), two_digits(high))
                }
                (.., Some(regret)) => format!(
                    "The rule that follows so far is expected to cost {} % more than the best one for you.",
                    two_digits(100.0 * regret.expected)
                ),
                _ => {
                    let angle = belief.width().value().to_degrees().min(180.0);
                    format!("Your weights are known to within {} degrees (95 %).", two_digits(angle))
                }
            })
        };
        self.with_belief(transcript, sentence).flatten()
    }

    /// Whether the answers set no end to how many of one kind are as bad as one of a graver one.
    pub fn leaves_open(&self, transcript: &[Answered], graver: usize, other: usize) -> bool {
        self.with_belief(transcript, |_, belief| belief.leaves_open(graver, other)).unwrap_or(false)
    }

    /// Two classes: cost ratios, each with how likely it is; none where there is no belief of that kind.
    pub fn ratios(&self, transcript: &[Answered]) -> Vec<(f64, f64)> {
        let density =
            self.with_belief(transcript, |_, belief| belief.density()).flatten().unwrap_or_default();
        density.into_iter().map(|(log, mass)| (log.exp(), mass)).collect()
    }

    /// Metrics that the answers allow, as the belief draws them; none where there is no belief of its own kind.
    pub fn draws(&self, transcript: &[Answered], count: usize) -> Option<Vec<equipoise::Metric>> {
        self.with_belief(transcript, |_, belief| belief.draws(count))
    }
}
