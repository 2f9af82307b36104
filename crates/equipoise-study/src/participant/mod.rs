//! Where one participant is: a fold of their events.

mod allows;
mod heard;

pub use allows::Refusal;
pub(crate) use heard::Heard;
pub use heard::{as_planned, take};

use crate::belief::Belief;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::event::{Answered, Asked, Event, Invited, ItemAnswer, Purpose, When};
use crate::forecast::{Imagining, is_due_after};
use crate::progress::Known;
use crate::schedule::{self, Stopped};
use crate::shown::Shown;
use crate::study::Position;
use equipoise_log::{Damage, Row};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Attempts at a question of the learning phase, before its worked answer is shown and the study goes on.
pub const ATTEMPTS: usize = 2;

/// What a participant sees next (study flow, in this order; parts a study has not are left out).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Choose a language; left out where there is one only.
    Language,
    /// Read and agree.
    Consent,
    /// Items about the participant.
    Questionnaire(Position),
    /// How bad one mistake is in units of the other.
    StatedCost(When),
    /// The consequence cards.
    Consequences,
    /// A question of the learning phase.
    Picture {
        /// Which, counted from 0.
        question: usize,
        /// Wrong answers to it so far.
        wrong: usize,
    },
    /// A practice comparison, counted from 0.
    Practice(usize),
    /// A comparison: [`Participant::pending`] is on the screen.
    Compare,
    /// Everything is answered; say so with [`Event::Completed`].
    Finish,
    /// The result and the receipt.
    Result,
    /// The participant is not whom the panel was asked for.
    Screened,
    /// The participant has left.
    Withdrawn,
}

/// A comparison and its answer. Those taken back are not here.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// `seq` of its [`Event::Asked`].
    pub seq: u64,
    /// What was shown.
    pub asked: Asked,
    /// When it was shown, by the server's clock.
    pub asked_at: i64,
    /// What was answered; nothing while it is on the screen.
    pub answer: Option<Answered>,
    /// `seq` of that answer.
    pub answer_seq: Option<u64>,
    /// When the answer came, by the server's clock.
    pub answered_at: Option<i64>,
}

impl Question {
    /// How long it was on the screen by the server's clock, in milliseconds: from being written down to being answered.
    pub fn elapsed_ms(&self) -> Option<u64> {
        Some(self.answered_at?.saturating_sub(self.asked_at).max(0) as u64)
    }
}

/// A stated cost.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Stated {
    /// The number; nothing for "I can't say".
    pub ratio: Option<f64>,
    /// The least it might be.
    pub low: Option<f64>,
    /// The most it might be.
    pub high: Option<f64>,
}

/// A participant's state.
#[derive(Debug, Clone)]
pub struct Participant {
    design: Arc<Design>,
    session: String,
    invited: Option<Invited>,
    language: Option<String>,
    consent: Option<String>,
    external: BTreeMap<String, String>,
    device: Option<String>,
    answers: BTreeMap<Position, BTreeMap<String, ItemAnswer>>,
    stated: BTreeMap<When, (u64, Stated)>,
    read: bool,
    picture: (usize, usize),
    practice: usize,
    questions: Vec<Question>,
    /// Worked out when somebody asks: of most people in a log only how far they are is asked. Half a megabyte, which a copy of this
    /// person shares until an answer changes it.
    heard: OnceLock<Arc<Heard>>,
    next: OnceLock<Option<Asked>>,
    imagining: Imagining,
    retracted: usize,
    cards_opened: usize,
    rates: bool,
    completed: bool,
    withdrawn: bool,
    erased: bool,
    events: u64,
}

impl Participant {
    /// Before the first event.
    pub fn new(design: Arc<Design>, session: &str) -> Self {
        Self {
            design,
            session: session.to_owned(),
            invited: None,
            language: None,
            consent: None,
            external: BTreeMap::new(),
            device: None,
            answers: BTreeMap::new(),
            stated: BTreeMap::new(),
            read: false,
            picture: (0, 0),
            practice: 0,
            questions: vec![],
            heard: OnceLock::new(),
            next: OnceLock::new(),
            imagining: Imagining::Now,
            retracted: 0,
            cards_opened: 0,
            rates: false,
            completed: false,
            withdrawn: false,
            erased: false,
            events: 0,
        }
    }

    /// Somebody who was erased, and of whom nothing is known but that.
    pub(crate) fn erased_one(design: Arc<Design>, session: &str) -> Self {
        Self { erased: true, ..Self::new(design, session) }
    }

    /// From all rows of a session.
    pub fn fold(design: Arc<Design>, session: &str, rows: &[Row]) -> Result<Self> {
        let mut participant = Self::new(design, session);
        rows.iter().try_for_each(|row| participant.take(row))?;
        Ok(participant)
    }

    /// Takes the next row of the session.
    pub fn take(&mut self, row: &Row) -> Result<()> {
        match Event::in_row(row)? {
            // Servers of older releases went on writing for people whom a command had erased.
            Some(event) if !self.erased => {
                let damaged = |e: Error| Error::Damaged(Damage::at(row.position, e.to_string()));
                self.apply(row.at, &event).map_err(damaged)
            }
            _ => {
                self.events += 1;
                self.erased = true;
                Ok(())
            }
        }
    }

    /// Takes an event that is in the log.
    pub fn apply(&mut self, at: i64, event: &Event) -> Result<()> {
        self.events += 1;
        self.next = OnceLock::new();
        match event {
            Event::Locked { .. } | Event::Erased { .. } | Event::ContactMoved { .. } | Event::Admin(_) => {}
            Event::Invited(invited) => self.invited = Some(invited.clone()),
            Event::LanguageChosen { language } => self.language = Some(language.clone()),
            Event::ConsentGiven { text, device, external } => {
                self.consent = Some(text.clone());
                self.device = Some(device.clone());
                self.external = external.clone();
            }
            Event::DeviceTaken { device } => self.device = Some(device.clone()),
            Event::QuestionnaireAnswered { position, answers } => {
                self.answers.insert(*position, answers.clone());
            }
            Event::StatedCost { when, ratio, low, high } => {
                let stated = Stated { ratio: *ratio, low: *low, high: *high };
                self.stated.insert(*when, (self.events, stated));
            }
            Event::ConsequencesRead => self.read = true,
            Event::CardOpened { .. } => self.cards_opened += 1,
            Event::PictureAnswered { question, option } => self.picture(*question, *option),
            Event::PracticeDone { number, .. } => self.practice = number + 1,
            Event::Asked(asked) => self.asked(at, asked)?,
            Event::Answered(answered) => self.answered(at, answered)?,
            Event::Retracted { asked } => self.retract(*asked)?,
            Event::RatesToggled { rates } => self.rates = *rates,
            Event::Withdrawn => self.withdrawn = true,
            Event::Completed => self.completed = true,
        }
        Ok(())
    }

    fn picture(&mut self, question: usize, option: usize) {
        let right = self.design.study().picture.get(question).is_some_and(|q| q.correct == option);
        let wrong = self.picture.1 + 1;
        self.picture = if right || wrong >= ATTEMPTS { (question + 1, 0) } else { (question, wrong) };
    }

    fn asked(&mut self, at: i64, asked: &Asked) -> Result<()> {
        let repeats = match asked.purpose {
            Purpose::Repeat { of } => (1..=self.questions.len()).contains(&of),
            _ => true,
        };
        if !repeats || !self.design.frame().fits(&asked.query, &asked.shown) {
            let Shown { classes, groups, .. } = asked.shown;
            let view = self.design.frame().view();
            let what = format!(
                "a comparison of another study (classes: {classes}, groups: {groups}), expected one of the study file's \
                 (classes: {}, groups: {})",
                view.classes(),
                view.groups()
            );
            return Err(Error::Another(what));
        }
        self.forget_imagined();
        self.questions.push(Question {
            seq: self.events,
            asked: asked.clone(),
            asked_at: at,
            answer: None,
            answer_seq: None,
            answered_at: None,
        });
        Ok(())
    }

    fn answered(&mut self, at: i64, answered: &Answered) -> Result<()> {
        let Some(question) =
            self.questions.last_mut().filter(|q| q.seq == answered.asked && q.answer.is_none())
        else {
            return Err(Refusal::AnotherComparison.into());
        };
        question.answer = Some(answered.clone());
        question.answer_seq = Some(self.events);
        question.answered_at = Some(at);
        if let Some(heard) = self.heard.get_mut()
            && question.asked.purpose != Purpose::Evaluation
        {
            Arc::make_mut(heard).take(&self.design, &question.asked, answered.choice);
        }
        Ok(())
    }

    fn retract(&mut self, asked: u64) -> Result<()> {
        // What was on the screen since is void: it followed from the answer that is taken back.
        while self.questions.last().is_some_and(|question| question.answer.is_none()) {
            self.questions.pop();
        }
        let Some(question) = self.questions.last_mut().filter(|question| question.seq == asked) else {
            return Err(Refusal::AnotherComparison.into());
        };
        (question.answer, question.answer_seq, question.answered_at) = (None, None, None);
        self.retracted += 1;
        // Worked out anew: what was known before takes half a megabyte of everybody, and few take anything back.
        self.heard = OnceLock::new();
        self.forget_imagined();
        Ok(())
    }

    /// What comes next.
    pub fn step(&self) -> Step {
        let study = self.design.study();
        if self.withdrawn || self.erased {
            return Step::Withdrawn;
        }
        if self.completed {
            // Whoever is through was at every step before, and takes nothing back.
            return Step::Result;
        }
        let asks = |position: Position| {
            study.items(position).next().is_some() && !self.answers.contains_key(&position)
        };
        let states = |when: When| study.stated_cost.is_some() && !self.stated.contains_key(&when);
        if self.language.is_none() && study.languages.len() > 1 {
            Step::Language
        } else if self.consent.is_none() {
            Step::Consent
        } else if asks(Position::Before) {
            Step::Questionnaire(Position::Before)
        } else if self.is_screened_out() {
            Step::Screened
        } else if states(When::Before) {
            Step::StatedCost(When::Before)
        } else if !self.read && study.has_cards() {
            Step::Consequences
        } else if self.picture.0 < study.picture.len() {
            Step::Picture { question: self.picture.0, wrong: self.picture.1 }
        } else if self.practice < study.practice.len() {
            Step::Practice(self.practice)
        } else if self.pending().is_some() || self.next_question().is_some() {
            Step::Compare
        } else if states(When::After) {
            Step::StatedCost(When::After)
        } else if asks(Position::Task) {
            Step::Questionnaire(Position::Task)
        } else if asks(Position::After) {
            Step::Questionnaire(Position::After)
        } else {
            Step::Finish
        }
    }

    /// Whether a panel sent them.
    pub fn came_by_panel(&self) -> bool {
        self.invited.as_ref().is_some_and(|invited| invited.panel)
    }

    /// Whether what they said before the task keeps them out. Whoever was invited by hand was chosen by hand.
    pub fn is_screened_out(&self) -> bool {
        let study = self.design.study();
        let panel = study.panel.as_ref().filter(|_| self.came_by_panel());
        panel
            .zip(self.answers.get(&Position::Before))
            .is_some_and(|(panel, told)| panel.screens_out(study, told))
    }

    /// The comparison on the screen.
    pub fn pending(&self) -> Option<&Question> {
        self.questions.last().filter(|question| question.answer.is_none())
    }

    /// The comparison to put on the screen, if none is there and one is left.
    pub fn next_question(&self) -> Option<&Asked> {
        let invited = self.invited.as_ref()?;
        if self.pending().is_some() {
            return None;
        }
        self.next
            .get_or_init(|| {
                schedule::next(&self.design, invited, &self.questions, self.heard(), &self.imagining)
            })
            .as_ref()
    }

    /// How many questions that elicit are answered.
    pub(crate) fn elicited(&self) -> usize {
        let answered = self.questions.iter().filter(|question| question.answer.is_some());
        answered.filter(|question| question.asked.purpose == Purpose::Elicitation).count()
    }

    /// From now on people like this one are imagined while they think, by whoever asks [`Participant::to_imagine`].
    pub(crate) fn forecast_meanwhile(&mut self) {
        self.imagining = Imagining::Meanwhile(None);
    }

    fn forget_imagined(&mut self) {
        if let Imagining::Meanwhile(lengths) = &mut self.imagining {
            *lengths = None;
        }
    }

    /// The comparison on the screen, if it is time to imagine how many are left after it.
    pub(crate) fn to_imagine(&self) -> Option<u64> {
        let pending = self.pending().filter(|_| matches!(self.imagining, Imagining::Meanwhile(None)))?;
        is_due_after(&self.questions).then_some(pending.seq)
    }

    /// What was imagined while a comparison was on the screen; of no use after its answer.
    pub(crate) fn imagined(&mut self, seq: u64, lengths: Option<Vec<usize>>) {
        if self.to_imagine() == Some(seq) {
            self.imagining = Imagining::Meanwhile(lengths);
        }
    }

    /// Whether the last answer can still be taken back: nothing after the comparisons has been answered.
    pub fn may_undo(&self) -> bool {
        self.last_answered().is_some()
            && !self.stated.contains_key(&When::After)
            && !self.answers.contains_key(&Position::Task)
            && !self.answers.contains_key(&Position::After)
            && !self.completed
    }

    /// The last comparison that has an answer.
    pub fn last_answered(&self) -> Option<&Question> {
        self.questions.iter().rev().find(|question| question.answer.is_some())
    }

    /// SHA-256 of the consent text in the participant's language.
    pub fn consent_hash(&self) -> String {
        crate::integrity::consent_hash(self.design.study(), self.language())
    }

    /// Why the questions that elicit ended; `None` while they go on.
    pub fn stopped(&self) -> Option<Stopped> {
        let rule = schedule::stopped(&self.design, &self.questions, self.belief());
        let over = self.pending().is_none() && self.next_question().is_none() && self.invited.is_some();
        rule.or(over.then_some(Stopped::NothingLeft))
    }

    /// About how many comparisons are left with the one on the screen, from and to: for "about 5-9 left" (UX-17).
    pub fn left(&self) -> (usize, usize) {
        let asked = self.pending().map(|question| &question.asked).or_else(|| self.next_question());
        let [low, high] = asked.and_then(|asked| asked.left).unwrap_or_default();
        (low, high)
    }

    /// The study.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The place in the study; `None` before the invitation is read, or after an erasure.
    pub fn invited(&self) -> Option<&Invited> {
        self.invited.as_ref()
    }

    /// The language, by default the study's first.
    pub fn language(&self) -> &str {
        self.language.as_deref().unwrap_or(&self.design.study().languages[0])
    }

    /// Which device holds the lease.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// What a panel passed along, where a log of an older release still holds it.
    pub fn external(&self) -> &BTreeMap<String, String> {
        &self.external
    }

    /// Whether consent was given.
    pub fn consented(&self) -> bool {
        self.consent.is_some()
    }

    /// Answers to the questionnaire.
    pub fn answers(&self, position: Position) -> Option<&BTreeMap<String, ItemAnswer>> {
        self.answers.get(&position)
    }

    /// A stated cost.
    pub fn stated(&self, when: When) -> Option<Stated> {
        self.stated.get(&when).map(|(_, stated)| *stated)
    }

    /// `seq` of the event that stated it.
    pub fn stated_seq(&self, when: When) -> Option<u64> {
        self.stated.get(&when).map(|(seq, _)| *seq)
    }

    /// All comparisons that stand, in order; the last may be on the screen.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What the answers say.
    pub fn belief(&self) -> &Belief {
        &self.heard().belief
    }

    /// Two classes: what was known after each answer that elicits, in order.
    pub(crate) fn narrowed(&self) -> &[Known] {
        &self.heard().narrowed
    }

    fn heard(&self) -> &Heard {
        self.heard.get_or_init(|| Arc::new(Heard::of(&self.design, &self.questions)))
    }

    /// By which factor the answers are likelier from somebody with a preference than from a coin: each is predicted from those
    /// before it, and those that evaluate, which are in no estimate, from all the others. `None` where the engine does not tell
    /// how likely an answer is, and where nobody chose anything.
    pub fn against_chance(&self) -> Option<f64> {
        let heard = self.heard();
        let evaluates = |question: &&Question| question.asked.purpose == Purpose::Evaluation;
        let evaluated = self.questions.iter().filter(evaluates).filter_map(|question| {
            let choice = question.answer.as_ref()?.choice;
            heard.weight(&self.design, &question.asked, choice)
        });
        let sum = evaluated.fold(heard.evidence, |sum, weight| Some(sum.unwrap_or(0.0) + weight));
        sum.map(f64::exp)
    }

    /// How many answers were taken back.
    pub fn retracted(&self) -> usize {
        self.retracted
    }

    /// Whether the view was last switched to rates.
    pub fn rates(&self) -> bool {
        self.rates
    }

    /// Whether all is done.
    pub fn completed(&self) -> bool {
        self.completed
    }

    /// Whether the participant has left.
    pub fn withdrawn(&self) -> bool {
        self.withdrawn
    }

    /// Whether the participant's data were erased.
    pub fn erased(&self) -> bool {
        self.erased
    }

    /// How many events there are; the next has this number plus 1.
    pub fn events(&self) -> u64 {
        self.events
    }
}
