//! A study before it begins: simulated people take all of it, in memory, and what comes out is held against what they hold.

use equipoise::ask::{NoiseModel, Simulated};
use equipoise::engine::Width;
use equipoise::testing::people;
use equipoise::{AnyPlan, Metric, Oracle as _, Preference, Sense};
use equipoise_log::{MemoryStore, Writer};
use equipoise_report::refused;
use equipoise_study::event::{Asked, Event, Purpose};
use equipoise_study::length::{DEVICE, Pace, does, person};
use equipoise_study::people::Conduct;
use equipoise_study::seams::{Clock, TestRandom};
use equipoise_study::{Design, Participant, Result, Service, Stopped};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that moves by twelve seconds at every look: nobody is in a hurry.
#[derive(Debug, Default)]
struct Unhurried(AtomicI64);

impl Clock for Unhurried {
    fn now(&self) -> i64 {
        self.0.fetch_add(12_000, Ordering::Relaxed)
    }
}

/// Who takes a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Who {
    /// One of the three below that err in a known way, by turns.
    Anybody,
    /// Somebody who goes by ratios: s = 3, 3 % of answers have nothing to do with the question.
    Standard,
    /// The same, less sure: s = 2, 5 %.
    Blunt,
    /// Somebody who goes by differences, as sure as the population of people is.
    ByDifferences,
    /// Somebody who errs like this, in units of the study's space.
    Erring(NoiseModel),
    /// Tosses a coin.
    Coin,
    /// Always takes the first system on the page.
    AlwaysA,
    /// Takes the first, then the second, then the first.
    InTurn,
}

impl Who {
    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Who::Anybody => "anybody",
            Who::Standard => "by ratios (s 3, slips 3 %)",
            Who::Blunt => "by ratios, blunt (s 2, slips 5 %)",
            Who::ByDifferences => "by differences",
            Who::Erring(_) => "with this noise",
            Who::Coin => "tosses a coin",
            Who::AlwaysA => "always the first",
            Who::InTurn => "first and second in turn",
        }
    }

    fn noise(self, seed: u64, random: &mut Xoshiro256PlusPlus) -> Option<NoiseModel> {
        // A lapse is half of the share of answers that have nothing to do with the question.
        match self {
            Who::Anybody => {
                [Who::Standard, Who::Blunt, Who::ByDifferences][seed as usize % 3].noise(seed, random)
            }
            Who::Standard => Some(NoiseModel::Relative { slope: 3.0, lapse: 0.015 }),
            Who::Blunt => Some(NoiseModel::Relative { slope: 2.0, lapse: 0.025 }),
            Who::ByDifferences => Some(people::noise_by_difference(random)),
            Who::Erring(noise) => Some(noise),
            Who::Coin | Who::AlwaysA | Who::InTurn => None,
        }
    }
}

/// How one simulated participant fared.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsed {
    /// Comparisons, checks included.
    pub comparisons: usize,
    /// Those that elicit.
    pub elicited: usize,
    /// Pages and minutes.
    pub pace: Pace,
    /// Why they ended.
    pub stopped: Option<Stopped>,
    /// Two classes: the ratio held.
    pub ratio: Option<f64>,
    /// Two classes: the logarithm of the factor between found and true ratio; otherwise the angle between the weights.
    pub error: f64,
    /// Whether the 95 % interval, or angle, holds the truth.
    pub inside: bool,
    /// More weights: the share of them within their 95 % intervals.
    pub weights_inside: Option<f64>,
    /// Two classes: how much more the threshold that follows costs the person than the best one, as a share. Candidates: by how
    /// much the named one falls short of the best, as a share of what lies between best and worst.
    pub regret: Option<f64>,
    /// Whether the report would refuse a metric.
    pub refused: bool,
    /// By which factor the answers are likelier than a coin's.
    pub against_chance: Option<f64>,
    /// Whether there was a flag.
    pub flagged: bool,
    /// All comparisons in order: why each was asked, and how many the page said are left with it.
    pub course: Vec<(Purpose, [usize; 2])>,
    /// Systems that were shown, and those among them that nobody would build: below half of the best Youden index of two
    /// classes, wrong more often than always answering one class of more.
    pub shown: usize,
    /// See above.
    pub degenerate: usize,
    /// Comparisons that do not differ in exactly two rows.
    pub not_two_rows: usize,
    /// Out of how many people the comparisons were shown; more than one is a mistake.
    pub totals: Vec<u64>,
    /// The longest that choosing a question or taking in an answer took, in milliseconds.
    pub slowest_ms: f64,
}

/// Lets somebody take the study; `seed` decides what they hold and where they err.
pub fn rehearse(design: &Arc<Design>, who: Who, seed: u64) -> Result<Rehearsed> {
    let Taken { service, session, held, pace, slowest_ms } = taken(design, who, seed)?;
    service.look(&session, |participant| Rehearsed { pace, slowest_ms, ..judge(participant, &held) })
}

/// What somebody who takes the study does and is asked, in the order of the log, after having been invited.
pub(crate) fn events(design: &Arc<Design>, who: Who, seed: u64) -> Result<Vec<Event>> {
    let Taken { service, session, .. } = taken(design, who, seed)?;
    let rows = service.writer().session(&session)?;
    Ok(rows.iter().skip(1).filter_map(|row| Event::in_row(row).transpose()).collect::<Result<_, _>>()?)
}

/// A study that somebody has taken, in memory.
struct Taken {
    service: Service,
    session: String,
    held: Metric,
    pace: Pace,
    slowest_ms: f64,
}

fn taken(design: &Arc<Design>, who: Who, seed: u64) -> Result<Taken> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let noise = who.noise(seed, &mut random);
    let held = held(design, &mut random);
    let mut somebody: Option<Simulated> = match noise {
        Some(noise) => Some(person(design, held.clone(), noise, random.random())?),
        None => None,
    };
    let writer = Writer::start(MemoryStore::new());
    let service = Service::new(design.clone(), writer, Unhurried::default(), TestRandom::new(seed));
    let session = service.invite(1)?.remove(0).session;
    let (mut pace, mut slowest_ms) = (Pace::default(), 0.0_f64);
    for step in 0.. {
        let next = service.look(&session, |participant| {
            pace.see(participant);
            does(participant, |participant, asked| match (&mut somebody, who) {
                (Some(somebody), _) => {
                    let Ok(answer) = somebody.prefer(&participant.design().frame().query(&asked.shown));
                    answer.preference
                }
                (None, Who::AlwaysA) => Preference::First,
                (None, Who::InTurn) if asked.number % 2 == 1 => Preference::First,
                (None, Who::InTurn) => Preference::Second,
                (None, _) if random.random() => Preference::First,
                (None, _) => Preference::Second,
            })
        })?;
        let Some(event) = next else { break };
        let begun = std::time::Instant::now();
        service.record(&session, DEVICE, &step.to_string(), &event)?;
        // The next question is chosen when the page is drawn.
        service.look(&session, |participant| participant.step())?;
        slowest_ms = slowest_ms.max(1000.0 * begun.elapsed().as_secs_f64());
    }
    Ok(Taken { service, session, held, pace, slowest_ms })
}

/// What somebody holds: weights that are sizes of normal numbers; on a ball, what the plan thinks possible.
fn held(design: &Design, random: &mut Xoshiro256PlusPlus) -> Metric {
    let AnyPlan::Adaptive(plan) = design.plan() else { return design.belief().metric() };
    let mut costs = |count: usize| -> Vec<f64> {
        StandardNormal.sample_iter(&mut *random).take(count).map(|w: f64| w.abs().max(1e-3)).collect()
    };
    let found = match plan.operating_point() {
        Some(space) => people::metric_of(&plan, &costs(space.dimension())),
        None if design.is_choice() => {
            let attributes = plan.candidates().map_or(&[][..], |candidates| candidates.attributes());
            Metric::attributes(attributes.to_vec(), costs(attributes.len())).ok()
        }
        None if plan.is_ratio() => Metric::linear(plan.view(), Sense::Utility, costs(2)).ok(),
        None => people::metric(&AnyPlan::Adaptive(plan), random).map(|(metric, _)| metric),
    };
    found.unwrap_or_else(|| design.belief().metric())
}

fn judge(participant: &Participant, held: &Metric) -> Rehearsed {
    let design = participant.design();
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
            let apart = belief.metric().difference(held).map(|difference| difference.angle);
            let angle = apart.unwrap_or_else(|| angle(&belief.metric().coefficients(), &held.coefficients()));
            (angle, angle <= radius)
        }
        (None, Width::Factor(_)) => (f64::NAN, false),
    };
    let mut totals: Vec<u64> = answered.clone().map(|question| question.asked.shown.people).collect();
    totals.sort_unstable();
    totals.dedup();
    let systems = |asked: &Asked| {
        let query = design.frame().query(&asked.shown);
        [query.first, query.second]
    };
    let degenerate =
        answered.clone().flat_map(|q| systems(&q.asked)).filter(|p| is_degenerate(design, p)).count();
    // Candidates that are there differ in whatever they differ in.
    let two_rows = |asked: &Asked| match design.is_choice() {
        true => asked.shown.differing() >= 2,
        false => design.frame().rows(&asked.shown).iter().filter(|[a, b]| a != b).count() == 2,
    };
    Rehearsed {
        comparisons: answered.clone().count(),
        elicited,
        pace: Pace::default(),
        stopped: participant.stopped(),
        ratio,
        error,
        inside,
        weights_inside: (design.is_around() || design.is_choice()).then(|| weights_inside(participant, held)),
        regret: regret(participant, held),
        refused: refused(participant).is_some(),
        against_chance: participant.against_chance(),
        flagged: !Conduct::of(participant).flags.is_empty(),
        course,
        shown: 2 * answered.clone().count(),
        degenerate,
        not_two_rows: answered.filter(|question| !two_rows(&question.asked)).count(),
        totals,
        slowest_ms: 0.0,
    }
}

/// The angle between two lists of weights.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).clamp(-1.0, 1.0).acos()
}

/// What the threshold for the estimate, or the candidate, costs whoever holds a metric, beyond the best one for them.
fn regret(participant: &Participant, held: &Metric) -> Option<f64> {
    if let Some(models) = participant.design().models().filter(|_| participant.design().is_choice()) {
        let (own, found) = (models.likings(held), models.likings(&participant.belief().metric()));
        let named = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]))?;
        let (low, high) = own.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        return Some((high - own[named]) / (high - low));
    }
    let space = participant.design().binary()?;
    let (prior, ratio) = (space.positive_prior(), held.cost_ratio()?);
    let cost = |[found, cleared]: [f64; 2]| ratio * (prior - found) + 1.0 - prior - cleared;
    let best = |ratio: f64| space.extreme([ratio, 1.0]);
    let least = cost(best(ratio)).max(1e-9);
    Some(cost(best(participant.belief().metric().cost_ratio()?)) / least - 1.0)
}

/// Whether nobody would build a system, as it is shown; rounding to whole people is allowed for.
fn is_degenerate(design: &Design, point: &[f64]) -> bool {
    let round = 2.0 / design.people() as f64;
    if let (Some(least), Some(space)) = (design.least_youden(), design.binary()) {
        let prior = space.positive_prior();
        return point[0] / prior + point[1] / (1.0 - prior) - 1.0 < least - round / prior.min(1.0 - prior);
    }
    let AnyPlan::Adaptive(plan) = design.plan() else { return false };
    let Some(space) = plan.operating_point() else { return false };
    let (kinds, priors) = (space.kinds_of(point), design.frame().class_shares());
    let k = priors.len();
    let error: f64 = (0..k * (k - 1)).map(|n| priors[n / (k - 1)] * kinds[n]).sum();
    let most = priors.iter().copied().fold(0.0, f64::max);
    error > 1.0 - most + round
}

/// The share of weights within their 95 % intervals, as shares of their sum.
fn weights_inside(participant: &Participant, held: &Metric) -> f64 {
    let shares = |weights: &[f64]| -> Vec<f64> {
        let sum: f64 = weights.iter().map(|w| w.abs()).sum();
        weights.iter().map(|w| w.abs() / sum).collect()
    };
    let drawn: Vec<Vec<f64>> =
        participant.belief().draws(1000).iter().map(|metric| shares(&metric.coefficients())).collect();
    let truth = shares(&held.coefficients());
    let holds = |n: usize| {
        let mut of: Vec<f64> = drawn.iter().map(|draw| draw[n]).collect();
        of.sort_by(f64::total_cmp);
        let at = |share: f64| of[(share * (of.len() - 1) as f64).round() as usize];
        at(0.025) <= truth[n] && truth[n] <= at(0.975)
    };
    (0..truth.len()).filter(|n| holds(*n)).count() as f64 / truth.len() as f64
}
