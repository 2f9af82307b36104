//! Simulated participants who walk through a whole study.
#![allow(dead_code, reason = "each test uses a part")]

use equipoise::space::{Binary, Space as _};
use equipoise_log::{MemoryStore, Store, Writer};
use equipoise_study::event::{Answered, Choice, Event, When};
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::{Design, Participant, Question, Service, Step, Study, template};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const DEVICE: &str = "phone";

/// A number from the surroundings, or the usual one.
pub fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a whole number"))
}

/// Shares among a few people vary with the seed, so the seed does not.
pub const SEED: u64 = 17;

/// Where the tables of the templates are; tests of other crates use this file, too.
pub fn templates() -> PathBuf {
    [".", "../equipoise-study"]
        .map(|place| Path::new(place).join("src/templates"))
        .into_iter()
        .find(|p| p.is_dir())
        .unwrap()
}

pub fn design(template: &str) -> Arc<Design> {
    let study = Study::parse(template::find(template).unwrap().text).unwrap();
    Arc::new(Design::new(study, &templates()).unwrap())
}

pub fn service(template: &str, seed: u64) -> Service {
    service_on(template, MemoryStore::new(), seed)
}

pub fn service_on(template: &str, store: impl Store + 'static, seed: u64) -> Service {
    Service::new(design(template), Writer::start(store), TestClock::default(), TestRandom::new(seed))
}

/// Somebody with a cost ratio and logistic noise in units of the query ball.
pub struct Simulant {
    pub ratio: f64,
    pub slope: f64,
    pub random: Xoshiro256PlusPlus,
    /// The radius of the query ball, once it is known.
    unit: Option<f64>,
}

/// The largest disc around the centre of a two-class set: the unit of noise.
fn radius(space: &Binary) -> f64 {
    let centre = space.centre();
    let support = |step: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(step) / 4096.0).sin_cos();
        let [found, cleared] = space.extreme([cos, sin]);
        cos * (found - centre[0]) + sin * (cleared - centre[1])
    };
    (0..4096).map(support).fold(f64::MAX, f64::min)
}

impl Simulant {
    pub fn new(ratio: f64, slope: f64, seed: u64) -> Self {
        Self { ratio, slope, random: Xoshiro256PlusPlus::seed_from_u64(seed), unit: None }
    }

    /// The choice between the integers on the screen.
    pub fn choose(&mut self, participant: &Participant, question: &Question) -> Choice {
        let design = participant.design();
        let query = design.frame().query(&question.asked.shown);
        let a = match design.binary() {
            Some(space) => {
                let norm = self.ratio.hypot(1.0);
                let value = |p: &[f64]| (self.ratio * p[0] + p[1]) / norm;
                (value(&query.first) - value(&query.second)) / *self.unit.get_or_insert_with(|| radius(space))
            }
            // Attributes in the order of the file, each worth less than the one before it.
            None if design.is_choice() => {
                let attributes = design.frame().candidates().unwrap().attributes();
                let value = |p: &[f64]| -> f64 {
                    let worths = attributes.iter().zip(p).map(|(attribute, x)| attribute.worth(*x));
                    worths.enumerate().map(|(n, worth)| self.ratio.powi(-(n as i32)) * worth).sum()
                };
                value(&query.first) - value(&query.second)
            }
            None => {
                let sum = |p: &[f64]| p.iter().enumerate().map(|(n, x)| -(n as f64 + 1.0) * x).sum::<f64>();
                sum(&query.first) - sum(&query.second)
            }
        };
        let chance = 1.0 / (1.0 + (-self.slope * a).exp());
        if self.random.random::<f64>() < chance { Choice::A } else { Choice::B }
    }

    pub fn answer(&mut self, participant: &Participant) -> Event {
        let question = participant.pending().unwrap();
        let choice = self.choose(participant, question);
        let response_ms = Some(self.random.random_range(800..9000));
        Event::Answered(Answered {
            asked: question.seq,
            choice,
            response_ms,
            hidden_ms: 0,
            rates: false,
            pressed_left: None,
        })
    }

    /// The event for whatever comes next; `None` at the end.
    pub fn next(&mut self, participant: &Participant) -> Option<Event> {
        Some(match participant.step() {
            Step::Language => Event::LanguageChosen { language: "en".to_owned() },
            Step::Consent => Event::ConsentGiven {
                text: participant.consent_hash(),
                device: DEVICE.to_owned(),
                external: Default::default(),
            },
            Step::Questionnaire(position) => {
                Event::QuestionnaireAnswered { position, answers: Default::default() }
            }
            Step::StatedCost(when) => {
                // People state a round number some way off.
                let off = if when == When::Before { 0.3 } else { 0.7 };
                Event::StatedCost { when, ratio: Some((self.ratio * off).max(0.1)), low: None, high: None }
            }
            Step::Consequences => Event::ConsequencesRead,
            Step::Picture { question, .. } => {
                let option = participant.design().study().picture[question].correct;
                Event::PictureAnswered { question, option }
            }
            Step::Practice(number) => Event::PracticeDone { number, choice: Choice::B },
            Step::Compare => self.answer(participant),
            Step::Finish => Event::Completed,
            Step::Result | Step::Screened | Step::Withdrawn => return None,
        })
    }
}

/// Walks one participant through the study, until `most` comparisons are answered or all is done.
pub fn walk(service: &Service, session: &str, simulant: &mut Simulant, most: usize) {
    loop {
        let event = service
            .look(session, |participant| {
                let answered = participant.questions().iter().filter(|q| q.answer.is_some()).count();
                if answered >= most { None } else { simulant.next(participant) }
            })
            .unwrap();
        let Some(event) = event else { break };
        let key = format!("key-{}", simulant.random.random::<u64>());
        service.record(session, DEVICE, &key, &event).unwrap();
    }
}
