//! How long a study takes: a few simulated people go through it, and their screens are timed by what there is to read.

use crate::belief::ratio_metric;
use crate::design::Design;
use crate::event::{Answered, Asked, Choice, Event, Invited, When};
use crate::participant::{Participant, Step};
use crate::study::{Position, Study, Variant};
use crate::text::Text;
use equipoise::ask::{NoiseModel, Simulated};
use equipoise::{Metric, Oracle as _, Preference};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::sync::Arc;

/// People who are simulated.
const PEOPLE: usize = 12;

/// Seconds per word read, at 200 words a minute.
const WORD: f64 = 0.3;
/// Seconds to find the button of any page.
const PAGE: f64 = 2.0;
/// Seconds to look at two systems, read what differs, and decide. The thesis' people took about so long once they had begun;
/// it is an assumption until a pilot says otherwise.
const COMPARISON: f64 = 12.0;
/// Seconds to look at a picture and answer a question about it.
const PICTURE: f64 = 15.0;
/// Seconds to fill in an item: to tick something, and to write something.
const TICK: f64 = 5.0;
const WRITE: f64 = 25.0;

/// How long a study takes people who read it all and do as they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Length {
    /// Comparisons of whoever is in the middle, checks included.
    pub comparisons: usize,
    /// Nine of ten have no more than these.
    pub comparisons_p90: usize,
    /// Pages of whoever is in the middle.
    pub screens: usize,
    /// Minutes of whoever is in the middle.
    pub minutes: usize,
    /// Nine of ten need no more than these.
    pub minutes_p90: usize,
}

/// What somebody has been through.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// Pages that were shown.
    pub screens: usize,
    /// Comparisons among them.
    pub comparisons: usize,
    /// Seconds, by what there was to read and do.
    pub seconds: f64,
}

impl Pace {
    /// One more page: the one a participant is at.
    pub fn see(&mut self, participant: &Participant) {
        let study = participant.design().study();
        let words = |text: &Text| text.r#in(participant.language()).split_whitespace().count() as f64;
        let items = |position: Position| -> f64 {
            let each = study.items(position).map(|item| match item.kind {
                crate::study::ItemKind::Text { .. } => WRITE,
                _ => TICK,
            });
            each.sum()
        };
        let (screens, seconds) = match participant.step() {
            Step::Language => (1, PAGE),
            Step::Consent => {
                (1, PAGE + WORD * (words(&study.consent.text) + words(&study.task.introduction)))
            }
            Step::Questionnaire(position) => (1, PAGE + items(position)),
            Step::StatedCost(_) => {
                (1, PAGE + TICK + WORD * study.stated_cost.as_ref().map_or(0.0, |s| words(&s.question)))
            }
            Step::Consequences => {
                let explained = study.task.attributes.iter().filter_map(|has| has.explanation.as_ref());
                let texts = study.consequences.iter().map(|card| &card.text).chain(explained);
                (1, PAGE + WORD * texts.map(words).sum::<f64>())
            }
            Step::Picture { question, .. } => {
                (1, PAGE + PICTURE + WORD * words(&study.picture[question].question))
            }
            Step::Practice(_) => (1, COMPARISON),
            Step::Compare => {
                self.comparisons += 1;
                // Before the first there is a page that says so.
                let begins = usize::from(self.comparisons == 1 && !study.practice.is_empty());
                (1 + begins, COMPARISON + PAGE * begins as f64)
            }
            Step::Finish | Step::Result => (1, PAGE),
            Step::Screened | Step::Withdrawn => (0, 0.0),
        };
        self.screens += screens;
        self.seconds += seconds;
    }
}

impl Length {
    /// Lets some people take the study. They hold what people may hold, and err as people do: some by ratios, some by
    /// differences.
    pub(crate) fn rehearsed(design: &Design) -> Self {
        let design = Arc::new(design.clone());
        let held = held(&design, PEOPLE).into_iter().enumerate();
        let paces: Vec<Pace> = held.map(|(n, metric)| walk(&design, metric, n).0).collect();
        Self::of(&paces)
    }

    /// Of so many who have been through it.
    pub fn of(paces: &[Pace]) -> Self {
        let at = |of: fn(&Pace) -> f64, share: f64| {
            let mut all: Vec<f64> = paces.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get((share * all.len().saturating_sub(1) as f64).round() as usize).copied().unwrap_or(0.0)
        };
        let minutes = |share| (at(|pace| pace.seconds, share) / 60.0).round().max(1.0) as usize;
        Self {
            comparisons: at(|pace| pace.comparisons as f64, 0.5) as usize,
            comparisons_p90: at(|pace| pace.comparisons as f64, 0.9) as usize,
            screens: at(|pace| pace.screens as f64, 0.5) as usize,
            minutes: minutes(0.5),
            minutes_p90: minutes(0.9),
        }
    }

    /// Whether a promise of so many minutes is kept: within a fifth, or a minute, of what whoever is in the middle needs.
    pub fn keeps(&self, minutes: f64) -> bool {
        let off = (minutes - self.minutes as f64).abs();
        off <= 0.2 * self.minutes as f64 + 1e-9 || off <= 1.0 && self.minutes <= 5
    }
}

/// What so many people hold, as people may. Weights of people are sizes of normal numbers; the ratio of two of them is at its
/// n-th part a tangent.
fn held(design: &Design, people: usize) -> Vec<Metric> {
    let ratio = |n: usize| (std::f64::consts::FRAC_PI_2 * (n as f64 + 0.5) / people as f64).tan();
    match design.binary() {
        Some(_) => (0..people).map(|n| ratio_metric(ratio(n))).collect(),
        None => design.belief().draws(people),
    }
}

/// So many simulated people who have been through the study, in memory: what its results could look like.
pub fn rehearse(design: &Arc<Design>, people: usize) -> Vec<(Pace, Participant)> {
    let held = held(design, people).into_iter().enumerate();
    held.map(|(n, metric)| walk(design, metric, n)).collect()
}

/// The noise of the n-th person: by ratios, a little bluntly by ratios, by differences.
fn noise(n: usize) -> NoiseModel {
    match n % 3 {
        0 => NoiseModel::Relative { slope: 3.0, lapse: 0.015 },
        1 => NoiseModel::Relative { slope: 2.0, lapse: 0.025 },
        _ => NoiseModel::Absolute { slope: 15.0, lapse: 0.02 },
    }
}

/// Somebody takes the study in memory; nothing is logged.
fn walk(design: &Arc<Design>, metric: Metric, n: usize) -> (Pace, Participant) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(design.study().seed ^ n as u64);
    let mut participant = Participant::new(design.clone(), "rehearsal");
    let mut pace = Pace::default();
    let Ok(mut person) = person(design, metric, noise(n), random.random()) else {
        return (pace, participant);
    };
    let invited = Invited {
        study: design.hash().to_owned(),
        version: design.study().version,
        number: n as u64 + 1,
        variant: Variant::Flow,
        seed: random.random(),
        panel: false,
    };
    // At the times it would take them.
    let take = |participant: &mut Participant, pace: &Pace, event: &Event| {
        participant.apply((1000.0 * pace.seconds) as i64, event).is_ok()
    };
    take(&mut participant, &pace, &Event::Invited(invited));
    // Some hundred steps at most; whatever is wrong, it ends.
    for _ in 0..1_000 {
        if let (Step::Compare, None, Some(asked)) =
            (participant.step(), participant.pending(), participant.next_question().cloned())
        {
            take(&mut participant, &pace, &Event::Asked(asked));
        }
        pace.see(&participant);
        let Some(event) = does(&participant, |participant, asked| {
            let Ok(answer) = person.prefer(&participant.design().frame().query(&asked.shown));
            answer.preference
        }) else {
            break;
        };
        if !take(&mut participant, &pace, &event) {
            break;
        }
    }
    (pace, participant)
}

/// Somebody with a metric, who errs like this in units of the study's space.
pub fn person(design: &Design, metric: Metric, noise: NoiseModel, seed: u64) -> equipoise::Result<Simulated> {
    let size = metric.coefficients().iter().map(|w| w * w).sum::<f64>().sqrt().max(1e-12);
    Simulated::with_noise(metric, noise.in_units_of(size * design.ball()), seed)
}

/// What somebody who does as they are asked does next; nothing at the end.
pub fn does(
    participant: &Participant,
    mut choose: impl FnMut(&Participant, &Asked) -> Preference,
) -> Option<Event> {
    let study: &Study = participant.design().study();
    Some(match participant.step() {
        Step::Language => Event::LanguageChosen { language: study.languages[0].clone() },
        Step::Consent => Event::ConsentGiven {
            text: participant.consent_hash(),
            device: DEVICE.to_owned(),
            external: Default::default(),
        },
        Step::Questionnaire(position) => {
            Event::QuestionnaireAnswered { position, answers: Default::default() }
        }
        Step::StatedCost(when @ (When::Before | When::After)) => {
            Event::StatedCost { when, ratio: None, low: None, high: None }
        }
        Step::Consequences => Event::ConsequencesRead,
        Step::Picture { question, .. } => {
            Event::PictureAnswered { question, option: study.picture[question].correct }
        }
        Step::Practice(number) => Event::PracticeDone { number, choice: Choice::B },
        Step::Compare => {
            let question = participant.pending()?;
            // About the whole numbers on the screen, not what they were rounded from.
            let choice = match choose(participant, &question.asked) {
                Preference::First => Choice::A,
                Preference::Second => Choice::B,
                Preference::CannotTell => Choice::CannotTell,
            };
            Event::Answered(Answered {
                asked: question.seq,
                choice,
                response_ms: None,
                hidden_ms: 0,
                rates: false,
                pressed_left: None,
            })
        }
        Step::Finish => Event::Completed,
        Step::Result | Step::Screened | Step::Withdrawn => return None,
    })
}

/// The device everything is sent from.
pub const DEVICE: &str = "rehearsal";
