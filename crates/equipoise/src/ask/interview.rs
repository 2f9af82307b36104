//! Any plan as ask-and-answer: a plan and the answers given so far.
//!
//! An [`Interview`] replays its transcript through the plan's own `run`. When the recorded answers are used up the
//! replaying oracle says "please ask this", and `?` carries the question out. So prompts, pages and Python share one
//! implementation of every procedure; an interview fits in a JSON file, can be resumed anywhere, and undo is dropping
//! the last answer.
//!
//! A plan that thinks about every question can keep its state between steps in a [`Memory`], so that a step costs one
//! question however many came before. The memory is never needed and may be dropped at any time: results are the same.

use super::{Answer, Memory, Oracle, Plan, Preference, Query, Snapshot};
use crate::document::{self, FORMAT, Object};
use crate::error::{Error, Result};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// Recorded questions may differ from replayed ones by this much in a coordinate: rounding across machines.
const SAME_QUESTION: f64 = 1e-9;

/// One answered question of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// What the plan asked.
    pub query: Query,
    /// What was answered.
    pub preference: Preference,
    /// The pair as the person saw it, where it was rounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Query>,
}

impl Answered {
    /// An answer to a planned question.
    pub(crate) fn new(query: &Query, answer: &Answer) -> Self {
        let Answer { preference, shown } = answer.clone();
        Self { query: query.clone(), preference, shown }
    }

    /// What was answered.
    pub(crate) fn answer(&self) -> Answer {
        Answer { preference: self.preference, shown: self.shown.clone() }
    }

    /// What was answered, if it was to this question, which is counted from 1.
    ///
    /// What was shown counts as another question where it has more or fewer entries.
    pub fn answer_to(&self, number: usize, planned: &Query) -> Result<Answer, Divergence> {
        let Answered { query, preference, shown } = self.clone();
        let diverged = |recorded| Err(Divergence { number, recorded, planned: planned.clone() });
        match shown {
            _ if !query.is_close(planned, SAME_QUESTION) => diverged(query),
            Some(shown) if !shown.is_like(planned) => diverged(shown),
            shown => Ok(Answer { preference, shown }),
        }
    }

    /// What is wrong with it, whatever the plan.
    fn check(&self, place: &str) -> Result<()> {
        let parts = [("query", Some(&self.query)), ("shown", self.shown.as_ref())];
        for (name, pair) in parts.into_iter().filter_map(|(name, pair)| Some((name, pair?))) {
            if pair.first.iter().chain(&pair.second).any(|x| !x.is_finite()) {
                let what = format!("{place}.{name} has an entry that is not a finite number");
                return Err(Error::Document(what));
            }
            if !pair.is_like(&self.query) {
                let what = format!("{place}.{name} has another number of entries than {place}.query");
                return Err(Error::Document(what));
            }
        }
        Ok(())
    }
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<T> {
    /// This question.
    Ask(Query),
    /// Nothing: this came out.
    Done(T),
}

/// The recorded questions are not the ones the plan asks: another plan, space or release made the transcript.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "answer {number} of the transcript was given to another question than the plan asks: another plan, space or release \
     made it"
)]
pub struct Divergence {
    /// Which answer, counted from 1.
    pub number: usize,
    /// The question in the transcript.
    pub recorded: Query,
    /// The question the plan asks.
    pub planned: Query,
}

/// A plan and the answers so far.
///
/// ```
/// use equipoise::{Interview, Preference, Step, search, population::Logistic, space::Binary};
/// let plan = search::BinaryLinear::new(Binary::from_law(Logistic::new(5.0)?), 0.1)?;
/// let mut interview = Interview::new(plan);
/// let outcome = loop {
///     match interview.step()? {
///         Step::Ask(query) => {
///             // Whoever values true positives (the first coordinate) alone:
///             let first = query.first[0] > query.second[0];
///             interview.answer(if first { Preference::First } else { Preference::Second })?;
///         }
///         Step::Done(outcome) => break outcome,
///     }
/// };
/// assert!(!outcome.identifiable()); // the best classifier accepts everybody: weights beyond some ratio look alike
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Interview<P> {
    plan: P,
    transcript: Vec<Answered>,
    memory: Mutex<Memory>,
}

impl<P: Clone> Clone for Interview<P> {
    fn clone(&self) -> Self {
        let (plan, transcript) = (self.plan.clone(), self.transcript.clone());
        Self { plan, transcript, memory: Mutex::new(self.with_memory(|memory| memory.clone())) }
    }
}

/// What is remembered of earlier steps makes no difference.
impl<P: PartialEq> PartialEq for Interview<P> {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.transcript == other.transcript
    }
}

impl<P> Interview<P> {
    fn with_memory<T>(&self, job: impl FnOnce(&mut Memory) -> T) -> T {
        // A panic while it was held leaves at worst a state too many, which is compared before it is used.
        job(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets what earlier steps computed; the next one replays everything.
    pub fn forget(&mut self) {
        self.with_memory(|memory| *memory = Memory::default());
    }
}

impl<P: Plan> Interview<P> {
    /// Nothing answered yet.
    pub fn new(plan: P) -> Self {
        Self::with_transcript(plan, vec![])
    }

    /// From a transcript kept elsewhere.
    pub fn with_transcript(plan: P, transcript: Vec<Answered>) -> Self {
        Self { plan, transcript, memory: Mutex::default() }
    }

    /// The plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    /// The answers so far.
    pub fn transcript(&self) -> &[Answered] {
        &self.transcript
    }

    /// The next question, or what came out.
    pub fn step(&self) -> Result<Step<P::Output>, Divergence> {
        self.with_memory(|memory| self.step_from(memory))
    }

    fn step_from(&self, memory: &mut Memory) -> Result<Step<P::Output>, Divergence> {
        let mut replay = Replay { recorded: &self.transcript, next: 0, memory };
        match self.plan.run(&mut replay) {
            Ok(output) if replay.next == self.transcript.len() => Ok(Step::Done(output)),
            // The plan ended with answers left over: it is not the plan that asked for them.
            Ok(_) => {
                let recorded = self.transcript[replay.next].query.clone();
                let planned = Query::new(vec![], vec![]);
                Err(Divergence { number: replay.next + 1, recorded, planned })
            }
            Err(Stopped::Ask(query)) => Ok(Step::Ask(query)),
            Err(Stopped::Diverged(divergence)) => Err(*divergence),
        }
    }

    /// Records the answer to the question [`step`](Self::step) asks; does nothing when there is none.
    pub fn answer(&mut self, answer: impl Into<Answer>) -> Result<(), Divergence> {
        if let Step::Ask(query) = self.step()? {
            let Answer { preference, shown } = answer.into();
            let answered = Answered { query, preference, shown };
            answered.answer_to(self.transcript.len() + 1, &answered.query)?;
            self.transcript.push(answered);
        }
        Ok(())
    }

    /// Takes the last answer back and returns it.
    pub fn undo(&mut self) -> Option<Answered> {
        self.transcript.pop()
    }
}

impl<P: Plan + Serialize> Interview<P> {
    /// The interview as a document: `{"format": 1, "plan": ..., "transcript": [...]}`.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a, P> {
            format: u64,
            plan: &'a P,
            transcript: &'a [Answered],
        }
        let document = Document { format: FORMAT, plan: &self.plan, transcript: &self.transcript };
        serde_json::to_string(&document).expect("plans and answers are plain data")
    }
}

impl<P: Plan + DeserializeOwned> Interview<P> {
    /// Reads an interview document.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut object = Object::new(document::parse(text)?, "")?;
        object.check_format()?;
        let plan =
            serde_json::from_value(object.part("plan")?).map_err(|e| Error::Document(e.to_string()))?;
        let transcript: Option<Vec<Answered>> = object.optional("transcript")?;
        object.finish()?;
        let transcript = transcript.unwrap_or_default();
        for (n, answered) in transcript.iter().enumerate() {
            answered.check(&format!("transcript[{n}]"))?;
        }
        Ok(Self { plan, transcript, memory: Mutex::default() })
    }
}

/// Answers from a transcript; stops the plan when it is used up.
struct Replay<'a> {
    recorded: &'a [Answered],
    next: usize,
    memory: &'a mut Memory,
}

enum Stopped {
    Ask(Query),
    Diverged(Box<Divergence>),
}

impl Oracle for Replay<'_> {
    type Err = Stopped;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Stopped> {
        let Some(answered) = self.recorded.get(self.next) else {
            return Err(Stopped::Ask(query.clone()));
        };
        self.next += 1;
        answered.answer_to(self.next, query).map_err(|divergence| Stopped::Diverged(Box::new(divergence)))
    }

    fn recall(&mut self) -> Option<Snapshot> {
        let (taken, state) = self.memory.recall(self.recorded)?;
        self.next = taken;
        Some(state)
    }

    fn keep(&mut self, state: &mut dyn FnMut() -> Snapshot) {
        // While replaying there is nothing to gain: only the newest states are gone back to.
        if self.next + Memory::DEPTH > self.recorded.len() {
            self.memory.keep(&self.recorded[..self.next], state());
        }
    }
}
