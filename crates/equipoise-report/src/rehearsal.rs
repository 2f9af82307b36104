//! A study before it begins: simulated people take all of it, in memory, and what comes out is held against what they hold.

use crate::{against_chance, refused};
use equipoise::ask::NoiseModel;
use equipoise::engine::Width;
use equipoise::testing::people::{self, Expert};
use equipoise::{Metric, Preference};
use equipoise_log::{MemoryStore, Writer};
use equipoise_study::event::{Answered, Choice, Event, Purpose};
use equipoise_study::people::Conduct;
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::{Design, Participant, Result, Service, Step, Stopped};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// How one simulated participant fared.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// Comparisons, checks included.
    pub comparisons: usize,
    /// Those that elicit.
    pub elicited: usize,
    /// Why they ended.
    pub stopped: Option<Stopped>,
    /// Two classes: the ratio held.
    pub ratio: Option<f64>,
    /// Two classes: the logarithm of the factor between found and true ratio; otherwise the angle between the weights.
    pub error: f64,
    /// Whether the 95 % interval, or angle, holds the truth.
    pub inside: bool,
    /// Whether the report would refuse a metric.
    pub refused: bool,
    /// Two classes: by which factor the answers are likelier than a coin's.
    pub against_chance: Option<f64>,
    /// Whether there was a flag.
    pub flagged: bool,
    /// All comparisons in order: why each was asked, and how many the page said are left with it.
    pub course: Vec<(Purpose, [usize; 2])>,
}

/// Lets somebody drawn from the population of people take the study; `noise` instead of theirs, if it is given.
pub fn rehearse(design: &Arc<Design>, noise: Option<NoiseModel>, seed: u64) -> Result<Rehearsed> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let noise = noise.unwrap_or_else(|| people::noise(&mut random));
    let (metric, unit) = people::metric(&design.plan(), &mut random).expect("studies adapt to the answers");
    let mut expert = Expert::new(metric.clone(), unit, noise, random.random());
    let writer = Writer::start(MemoryStore::new());
    let service = Service::new(design.clone(), writer, TestClock::default(), TestRandom::new(seed));
    let invitation = service.invite(1)?.remove(0);
    for step in 0.. {
        let next = service.look(&invitation.session, |participant| next(participant, &mut expert))?;
        let Some(event) = next else { break };
        service.record(&invitation.session, DEVICE, &step.to_string(), &event)?;
    }
    service.look(&invitation.session, |participant| judge(participant, &metric))
}

/// The device everything is sent from.
const DEVICE: &str = "rehearsal";

/// What somebody does next; nothing at the end.
fn next(participant: &Participant, expert: &mut Expert) -> Option<Event> {
    Some(match participant.step() {
        Step::Language => {
            Event::LanguageChosen { language: participant.design().study().languages[0].clone() }
        }
        Step::Consent => Event::ConsentGiven {
            text: participant.consent_hash(),
            device: DEVICE.to_owned(),
            external: Default::default(),
        },
        Step::Questionnaire(position) => {
            Event::QuestionnaireAnswered { position, answers: Default::default() }
        }
        Step::StatedCost(when) => Event::StatedCost { when, ratio: None, low: None, high: None },
        Step::Consequences => Event::ConsequencesRead,
        Step::Picture { question, .. } => {
            let option = participant.design().study().picture[question].correct;
            Event::PictureAnswered { question, option }
        }
        Step::Practice(number) => Event::PracticeDone { number, choice: Choice::B },
        Step::Compare => {
            let question = participant.pending()?;
            // About the whole numbers on the screen, not what they were rounded from.
            let shown = participant.design().frame().query(&question.asked.shown);
            let choice = match expert.choose(&shown) {
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
        Step::Result | Step::Withdrawn => return None,
    })
}

fn judge(participant: &Participant, held: &Metric) -> Rehearsed {
    let answered = participant.questions().iter().filter(|question| question.answer.is_some());
    let elicited = answered.clone().filter(|question| question.asked.purpose == Purpose::Elicitation).count();
    let course = answered.clone().map(|q| (q.asked.purpose, q.asked.left.unwrap_or_default())).collect();
    let belief = participant.belief();
    let ratio = belief.quantile(0.5).and_then(|_| held.cost_ratio());
    let (error, inside) = match (ratio, belief.width()) {
        (Some(ratio), _) => {
            let at = |share| belief.quantile(share).unwrap_or(f64::NAN);
            ((at(0.5) / ratio).ln().abs(), at(0.025) <= ratio && ratio <= at(0.975))
        }
        (None, Width::Angle(radius)) => {
            let angle = belief.metric().difference(held).map_or(f64::NAN, |difference| difference.angle);
            (angle, angle <= radius)
        }
        (None, Width::Factor(_)) => (f64::NAN, false),
    };
    Rehearsed {
        comparisons: answered.count(),
        elicited,
        stopped: participant.stopped(),
        ratio,
        error,
        inside,
        refused: refused(participant).is_some(),
        against_chance: against_chance(participant),
        flagged: !Conduct::of(participant).flags.is_empty(),
        course,
    }
}
