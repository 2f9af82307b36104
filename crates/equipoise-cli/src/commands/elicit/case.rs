//! Questions about single cases: which risks there are, and the words.

use super::question::Words;
use crate::counts::Pair;
use crate::fault::Fault;
use crate::files;
use crate::ratio::two_digits;
use crate::rows::Rows;
use crate::sides::Turn;
use anyhow::Result;
use equipoise::population::{Population as _, Score};
use equipoise::{AnyPlan, Query};
use std::path::Path;

/// Nobody tells rarer or surer cases apart.
const LEAST: f64 = 0.001;

/// Programs are told what becomes of so many cases of the risk.
const CASES: u64 = 10_000;

/// The plan for questions about cases whose risks lie among those of a table.
pub fn plan(plan: AnyPlan, sample: &Rows, table: &Path) -> Result<AnyPlan> {
    let AnyPlan::Adaptive(plan) = plan else { return Err(only_for_a_ratio()) };
    if !plan.is_ratio() {
        return Err(only_for_a_ratio());
    }
    let profile = sample.score_profile(Score::Class(1))?;
    let risks = profile.cells().iter().map(|cell| cell.score);
    let inner = risks.filter(|risk| *risk > 0.0 && *risk < 1.0);
    let [low, high] = inner.fold([1.0, 0.0], |[low, high]: [f64; 2], risk| [low.min(risk), high.max(risk)]);
    let (low, high) = (two_digits_up(low.max(LEAST)), 1.0 - two_digits_up((1.0 - high).max(LEAST)));
    if low >= high {
        let what = format!(
            "{}: --ask cases asks about risks among those of the table, but its probabilities are all alike, or 0 and 1",
            files::name(table)
        );
        return Err(Fault::usage(what).into());
    }
    Ok(AnyPlan::Adaptive(plan.about_cases([low, high])?))
}

fn only_for_a_ratio() -> anyhow::Error {
    let what = "--ask cases is for the linear metric of two classes and the adaptive method: more classes have no one risk";
    Fault::usage(what).into()
}

/// The next number of two digits.
fn two_digits_up(x: f64) -> f64 {
    let steps = 10_f64.powf(1.0 - x.log10().floor());
    (x * steps - 1e-9).ceil() / steps
}

/// A case as it is shown: acting on it first, leaving it second.
pub struct Case {
    /// The risk.
    pub risk: f64,
    /// To act or not to, in the coordinates of the question.
    pub query: Query,
}

impl Case {
    /// The case of a question, whichever way round.
    pub fn of(query: &Query) -> Self {
        let query = turn(query).pair(query);
        Self { risk: query.first[0], query }
    }

    /// What becomes of many such cases.
    pub fn pair(&self) -> Pair {
        Pair::among(&self.query, self.risk, CASES)
    }

    /// "14 %".
    pub fn percent(&self) -> String {
        // Sure cases by what is missing to certainty, or they would all be 100 %.
        match self.risk > 0.9 {
            true => format!("{:.1} %", 100.0 * self.risk),
            false => format!("{} %", two_digits(100.0 * self.risk)),
        }
    }
}

/// Acting is always the first: keys that change their meaning from case to case would be mistaken.
pub fn turn(query: &Query) -> Turn {
    Turn::new(query.first[0] == 0.0)
}

impl Words {
    /// What is asked about a case.
    pub(super) fn case(&self, case: &Case) -> [String; 2] {
        let (positive, risk) = (self.class(1), case.percent());
        let told = format!("A case with a risk of {risk} of being {positive}.");
        let act = format!("Act on it as if it were {positive} (1, A), or not (2, B)?");
        [told, act]
    }
}
