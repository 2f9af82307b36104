//! Respondents that try to break an adaptive plan: stubborn, contrary, undecided, forever undoing.
//!
//! They watch the plan's state through [`Oracle::keep`], check every question they are asked, and report the first
//! that is not a number, not feasible, or was asked before.

use crate::AnyPlan;
use crate::ask::{Answer, Oracle, Plan as _, Preference, Query, Snapshot};
use crate::engine::Inquiry;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How an adversary answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adversary {
    /// Always the first.
    First,
    /// Always the second.
    Second,
    /// In turns.
    Alternating,
    /// What the answers so far make less likely.
    Contrary,
    /// Whatever leaves the posterior widest.
    Widest,
    /// Mostly "can't tell".
    Undecided,
    /// By coin, and takes back a third of the answers.
    Undoing,
}

impl Adversary {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::First,
        Self::Second,
        Self::Alternating,
        Self::Contrary,
        Self::Widest,
        Self::Undecided,
        Self::Undoing,
    ];

    /// Asks an adversary until the plan ends; how many answers were given, those taken back included, or what broke.
    pub fn endure(self, plan: &AnyPlan, seed: u64) -> Result<usize, String> {
        let mut respondent = Respondent {
            manner: self,
            plan,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            states: vec![],
            asked: vec![],
            answers: 0,
        };
        // Every run after the first goes on where an answer was taken back.
        let outcome = loop {
            match plan.run(&mut respondent) {
                Ok(outcome) => break outcome,
                Err(Stop::Undone) => {}
                Err(Stop::Broken(what)) => return Err(what),
            }
        };
        let coefficients = outcome.metric.coefficients();
        if coefficients.iter().any(|x| !x.is_finite()) {
            return Err(format!("a coefficient of the result is not a number: {coefficients:?}"));
        }
        Ok(respondent.answers)
    }
}

struct Respondent<'a> {
    manner: Adversary,
    plan: &'a AnyPlan,
    random: Xoshiro256PlusPlus,
    /// One after every answer that stands.
    states: Vec<Snapshot>,
    asked: Vec<Query>,
    answers: usize,
}

enum Stop {
    Undone,
    Broken(String),
}

impl Respondent<'_> {
    /// Whether a question may be asked.
    fn inspect(&self, query: &Query) -> Result<(), String> {
        let feasible = |point: &[f64]| match self.plan {
            AnyPlan::Adaptive(plan) => plan.may_ask_about(point),
            _ => true,
        };
        let number = self.asked.len() + 1;
        for point in [&query.first, &query.second] {
            if point.iter().any(|x| !x.is_finite()) {
                return Err(format!("question {number} has a coordinate that is not a number"));
            }
            if !feasible(point) {
                return Err(format!("question {number} is not feasible: {point:?}"));
            }
        }
        match self.asked.iter().position(|asked| asked.is_same_pair(query, 1e-9)) {
            Some(n) => Err(format!("question {number} repeats question {}", n + 1)),
            None => Ok(()),
        }
    }

    /// Whether each answer is likely, and how wide the posterior is after it, as far as the state can be seen.
    fn prospects(&self, query: &Query) -> Option<[(f64, f64); 2]> {
        let Inquiry { belief, .. } = self.states.last()?.get()?;
        let first = belief.chance_of_first(query);
        let after = |preference: Preference, chance: f64| {
            let mut belief = belief.clone();
            belief.take(query, &preference.into());
            (chance, belief.width().value())
        };
        Some([after(Preference::First, first), after(Preference::Second, 1.0 - first)])
    }
}

impl Oracle for Respondent<'_> {
    type Err = Stop;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Stop> {
        self.inspect(query).map_err(Stop::Broken)?;
        let either = |first: bool| if first { Preference::First } else { Preference::Second };
        let coin = self.random.random_bool(0.5);
        let preference = match self.manner {
            Adversary::First => Preference::First,
            Adversary::Second => Preference::Second,
            Adversary::Alternating => either(self.answers.is_multiple_of(2)),
            Adversary::Contrary => either(self.prospects(query).map_or(coin, |[a, b]| a.0 < b.0)),
            Adversary::Widest => either(self.prospects(query).map_or(coin, |[a, b]| a.1 > b.1)),
            Adversary::Undecided if self.random.random_bool(0.8) => Preference::CannotTell,
            Adversary::Undecided => either(coin),
            Adversary::Undoing => {
                if !self.states.is_empty() && self.random.random_bool(1.0 / 3.0) {
                    let left = self.random.random_range(0..self.states.len());
                    // Mostly one answer, now and then many.
                    let left = if self.random.random_bool(0.9) { self.states.len() - 1 } else { left };
                    self.states.truncate(left);
                    self.asked.truncate(left);
                    return Err(Stop::Undone);
                }
                either(coin)
            }
        };
        self.asked.push(query.clone());
        self.answers += 1;
        Ok(preference.into())
    }

    fn recall(&mut self) -> Option<Snapshot> {
        self.states.last().cloned()
    }

    fn keep(&mut self, state: &mut dyn FnMut() -> Snapshot) {
        self.states.push(state());
    }
}
