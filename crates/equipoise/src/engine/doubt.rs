//! Does somebody look at the questions, and do weights explain what they say?
//!
//! The most telling question is one whose answer is open, so answers to such questions look like tosses of a coin whoever gives
//! them: nothing but a question with a foreseen answer tells a person from a coin. So a few probes follow, off the place of
//! the other questions, which are foreseen if a linear metric explains the other answers. Each answer is predicted by those
//! before it; the product of the predictions over that of a coin is the evidence. A slip is followed by more probes, so that
//! one does not decide; three lucky ones do not either, where all answers together are likelier from a coin. Whoever always chooses the same side, or in turns, is found out by that.

use super::belief::{Belief, evidence};
use super::rivals::rival;
use crate::ask::{Answer, Answered, Finding, Guess, NoiseModel, Preference, Query};
use crate::space::Candidates;

/// Probes end when their answers are this much likelier from somebody with a metric than from a coin.
const CLEARLY: f64 = 3.0;
/// Or this much less likely.
const OBJECTION: f64 = 0.1;
/// Answers to probes that are this much less likely at their end object.
const OBJECTS: f64 = 0.8;
/// And so do all answers together, where a coin is likelier to have given them, by a little.
const LIKE_A_COIN: f64 = 0.8;
/// After a slip, at most so many more probes, and so many that the questions leave room for.
const MORE: usize = 5;
pub(super) const ROOM: usize = 2;
/// Of whoever decides less often than this it is not known what they hold: what comes out is what anybody is thought to.
const DECIDED: f64 = 0.2;
/// A habit of sides must explain the answers this much better than a metric to be believed.
const HABIT: f64 = 20.0;

/// The questions after the questions: probes, and what they say of the answers. The estimate stays as it is.
#[derive(Debug, Clone)]
pub struct Doubt {
    belief: Box<dyn Belief>,
    least: usize,
    most: usize,
    seed: u64,
    /// What the elicitation itself has against a coin.
    before: f64,
    /// The logarithm of how much likelier the answers to probes are from somebody with a metric than from a coin.
    evidence: f64,
    heard: usize,
    wrong: usize,
    /// Candidates with attributes, of which something else than weights may be thought.
    candidates: Option<(Candidates, NoiseModel)>,
}

impl Doubt {
    /// After the questions, at least so many probes, and no more than there may be questions.
    pub(super) fn new(belief: &dyn Belief, [least, most]: [usize; 2], seed: u64) -> Self {
        let before = belief.evidence();
        let (belief, candidates) = (belief.boxed(), None);
        Self {
            belief,
            least,
            most: most.min(least + MORE),
            seed,
            before,
            evidence: 0.0,
            heard: 0,
            wrong: 0,
            candidates,
        }
    }

    /// Of somebody who chose among candidates, and errs like this.
    pub(super) fn among(self, candidates: Candidates, noise: NoiseModel) -> Self {
        Self { candidates: Some((candidates, noise)), ..self }
    }

    /// The next probe, if one more is wanted: as many as the plan says, and a few more where they leave doubt.
    pub fn probe(&self) -> Option<Query> {
        let decided = self.evidence >= CLEARLY.ln() || self.evidence <= OBJECTION.ln();
        let enough = self.heard >= self.least && decided || self.heard >= self.most;
        if self.least == 0 || enough { None } else { self.belief.probe(self.heard, self.seed) }
    }

    /// Hears the answer to a probe.
    pub fn hear(&mut self, query: &Query, answer: &Answer) {
        let found = evidence(self.belief.as_ref(), query, answer);
        self.evidence += found;
        self.wrong += usize::from(found < 0.0);
        self.heard += 1;
        self.belief.take(query, answer);
    }

    /// What there is to say.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = vec![];
        let answers = self.belief.answered();
        let decided = answers.iter().filter(|answered| answered.preference != Preference::CannotTell).count();
        if (decided as f64) < DECIDED * answers.len() as f64 {
            findings.push(Finding::LikeChance { factor: 0.0, than: Guess::Undecided });
            return findings;
        }
        let total = self.before + self.evidence;
        let habit = [(Guess::Side, side(answers)), (Guess::Turns, turns(answers))];
        let habit = habit.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
        if let Some((than, found)) = habit.filter(|(_, found)| found - total.max(0.0) > HABIT.ln()) {
            findings.push(Finding::LikeChance { factor: (total - found).exp(), than });
            return findings;
        }
        if self.heard > 0 && self.evidence < OBJECTS.ln() {
            findings.push(Finding::ProbesObject { wrong: self.wrong, probes: self.heard });
        } else if self.heard > 0 && self.candidates.is_none() && total < LIKE_A_COIN.ln() {
            // A few probes are answered as foreseen by luck; questions before them that went against what was found are not.
            findings.push(Finding::LikeChance { factor: total.exp(), than: Guess::Coin });
        }
        if let Some((candidates, noise)) = self.candidates.as_ref().filter(|_| self.heard > 0) {
            findings.extend(rival(candidates, *noise, self.belief.answered(), self.seed));
        }
        findings
    }
}

/// By how much likelier answers are from somebody who mostly chooses one side than from a coin: the logarithm. How often they
/// choose the first is anything between never and always.
fn side(answers: &[Answered]) -> f64 {
    habit(answers.iter().filter_map(|answered| match answered.preference {
        Preference::First => Some(true),
        Preference::Second => Some(false),
        Preference::CannotTell => None,
    }))
}

/// The same of somebody who mostly changes sides, or mostly stays.
fn turns(answers: &[Answered]) -> f64 {
    let sides: Vec<Preference> = answers
        .iter()
        .map(|answered| answered.preference)
        .filter(|preference| *preference != Preference::CannotTell)
        .collect();
    habit(sides.windows(2).map(|pair| pair[0] != pair[1]))
}

/// The logarithm of $2^n\,k!\,(n-k)!/(n+1)!$, for k of n.
fn habit(answers: impl Iterator<Item = bool>) -> f64 {
    let mut counts = [0.0, 0.0];
    // One after the other: each is as likely as those before it say (Laplace).
    answers.fold(0.0, |sum, answer| {
        let chance = (counts[usize::from(answer)] + 1.0) / (counts[0] + counts[1] + 2.0);
        counts[usize::from(answer)] += 1.0;
        sum + (2.0_f64 * chance).ln()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out of "can't tell" alone is what anybody is thought to hold.
    #[test]
    fn whoever_hardly_decides_holds_nothing_that_is_known() {
        use crate::engine::Adaptive;
        use crate::population::Logistic;
        use crate::space::Binary;
        let plan = Adaptive::ratio(Binary::from_law(Logistic::with_offset(4.0, 1.0).unwrap()));
        for (every, withheld) in [(usize::MAX, true), (6, true), (2, false)] {
            let (mut belief, mut asked) = (plan.start(), 0);
            let mut say = || {
                asked += 1;
                let preference = if asked % every == 0 { Preference::First } else { Preference::CannotTell };
                Answer { preference, shown: None }
            };
            while let Ok(query) = plan.next(&*belief) {
                belief.take(&query, &say());
            }
            let doubts = plan.doubts(&*belief, |_| say());
            let found = doubts
                .iter()
                .any(|doubt| matches!(doubt, Finding::LikeChance { than: Guess::Undecided, .. }));
            assert_eq!(found, withheld, "every {every}: {doubts:?}");
        }
    }

    #[test]
    fn a_habit_has_the_evidence_of_its_formula() {
        // 2^5 3! 2! / 6!
        let found = habit([true, false, true, true, false].into_iter());
        assert!((found - (32.0_f64 * 12.0 / 720.0).ln()).abs() < 1e-12);
        assert!(habit([true; 12].into_iter()) > HABIT.ln());
    }
}
