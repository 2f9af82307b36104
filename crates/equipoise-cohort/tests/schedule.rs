//! What a schedule gives away, and whether what it says is left is left: whole studies of simulated people.
//!
//! The figures of many people: `SESSIONS=2000 cargo test --release -p equipoise-cohort --test schedule -- --ignored
//! --nocapture`, with `TEMPLATE` and `EQUIPOISE_SEED` to choose what and who.

#[path = "../../equipoise-study/tests/common/mod.rs"]
mod common;

use common::{SEED, setting};
use equipoise::ask::NoiseModel;
use equipoise::testing::random;
use equipoise_cohort::rehearsal::{Rehearsed, Who, rehearse};
use equipoise_study::Design;
use equipoise_study::event::Purpose;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most comparisons somebody may be asked, by their places.
const MOST: usize = 200;

/// So many people take the study, on all cores.
fn take_part(design: &Arc<Design>, who: Who, sessions: usize, seed: u64) -> Vec<Rehearsed> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut all = vec![];
        while let n = next.fetch_add(1, Ordering::Relaxed)
            && n < sessions
        {
            all.push(rehearse(design, who, seed.wrapping_add(n as u64)).unwrap());
        }
        all
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// How often each place holds a question of one kind and of the other.
type Places = [Vec<f64>; 2];

/// How well a place tells two kinds apart, if a place counts for more the later it is, or by a score of its own: the chance
/// that a question of the first kind has the higher score.
fn area(places: &Places, score: impl Fn(usize) -> f64) -> f64 {
    let [first, second] = places;
    let (mut won, mut all) = (0.0, 0.0);
    for (p, x) in first.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        for (q, y) in second.iter().enumerate().filter(|(_, y)| **y > 0.0) {
            let wins = match score(p).total_cmp(&score(q)) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            };
            won += x * y * wins;
            all += x * y;
        }
    }
    if all > 0.0 { won / all } else { 0.5 }
}

fn places<'a>(sessions: impl Iterator<Item = &'a Rehearsed>, kinds: [fn(Purpose) -> bool; 2]) -> Places {
    let mut places: Places = [vec![0.0; MOST], vec![0.0; MOST]];
    for session in sessions {
        for (place, (purpose, _)) in session.course.iter().enumerate() {
            for (counts, kind) in places.iter_mut().zip(kinds) {
                counts[place] += f64::from(u8::from(kind(*purpose)));
            }
        }
    }
    places
}

/// What places tell about two kinds of question, each with its standard error.
#[derive(Debug)]
struct Told {
    /// Over all sessions: later places are of the first kind.
    overall: [f64; 2],
    /// The same within a session, on average.
    within: [f64; 2],
    /// By whatever rule half of the sessions teach, on the other half.
    learnt: f64,
}

fn told(sessions: &[Rehearsed], kinds: [fn(Purpose) -> bool; 2]) -> Told {
    let place = |place: usize| place as f64;
    let spread = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0);
        [mean, (variance / values.len() as f64).sqrt()]
    };
    let parts: Vec<f64> = sessions
        .chunks(sessions.len().div_ceil(10))
        .map(|part| area(&places(part.iter(), kinds), place))
        .collect();
    let each: Vec<f64> =
        sessions.iter().map(|session| area(&places(std::iter::once(session), kinds), place)).collect();
    let (taught, tested) = sessions.split_at(sessions.len() / 2);
    let [first, second] = places(taught.iter(), kinds);
    let share = |place: usize| first[place] / (first[place] + second[place]).max(1.0);
    Told {
        overall: [area(&places(sessions.iter(), kinds), place), spread(&parts)[1]],
        within: spread(&each),
        learnt: area(&places(tested.iter(), kinds), share),
    }
}

/// In how many steps the number that was left is in the range that was shown; by how much its upper end rose at most.
fn ranges(sessions: &[Rehearsed]) -> (usize, usize, usize) {
    let (mut inside, mut steps, mut rise) = (0, 0, 0);
    for session in sessions {
        let mut before = usize::MAX;
        for (place, (_, [low, high])) in session.course.iter().enumerate() {
            inside += usize::from((*low..=*high).contains(&(session.course.len() - place)));
            steps += 1;
            rise = rise.max(high.saturating_sub(before));
            before = *high;
        }
    }
    (inside, steps, rise)
}

/// Prints what was found.
fn tell(name: &str, sessions: &[Rehearsed]) -> ([Told; 2], f64, usize) {
    let elicits = |purpose| purpose == Purpose::Elicitation;
    let evaluates = |purpose| purpose == Purpose::Evaluation;
    let repeats = |purpose| matches!(purpose, Purpose::Repeat { .. });
    let others = |purpose| matches!(purpose, Purpose::Elicitation | Purpose::Evaluation);
    println!("{name}, {} sessions", sessions.len());
    let [evaluation, repeat] = [told(sessions, [elicits, evaluates]), told(sessions, [repeats, others])];
    for (what, told) in [("elicitation from evaluation", &evaluation), ("repeats from both", &repeat)] {
        let Told { overall: [overall, error], within: [within, within_error], learnt } = told;
        println!(
            "  place tells {what}: AUC {overall:.3} (s.e. {error:.3}), within sessions {within:.3} ({within_error:.3}), by a \
             learnt rule {learnt:.3}"
        );
    }
    let (inside, steps, rise) = ranges(sessions);
    let held = inside as f64 / steps as f64;
    println!(
        "  what was left was in the range in {:.1} % of {steps} steps; it rose by {rise} at most",
        100.0 * held
    );
    let spread = |of: fn(&Rehearsed) -> usize| {
        let mut all: Vec<usize> = sessions.iter().map(of).collect();
        all.sort_unstable();
        [0.05, 0.5, 0.8, 0.9, 0.95].map(|share| all[(share * (all.len() - 1) as f64) as usize])
    };
    let beyond = |most: usize| {
        sessions.iter().filter(|session| session.comparisons > most).count() as f64 / sessions.len() as f64
    };
    println!(
        "  questions that elicit, 5/50/80/90/95 %: {:?}; comparisons {:?}, above 40 in {:.1} %",
        spread(|session| session.elicited),
        spread(|session| session.comparisons),
        100.0 * beyond(40)
    );
    let share = |of: fn(&Rehearsed) -> bool| {
        100.0 * sessions.iter().filter(|session| of(session)).count() as f64 / sessions.len() as f64
    };
    println!(
        "  the interval holds the truth in {:.1} %, refused {:.1} %, flagged {:.1} %",
        share(|session| session.inside),
        share(|session| session.refused),
        share(|session| session.flagged)
    );
    ([evaluation, repeat], held, rise)
}

#[test]
fn places_tell_little_and_ranges_hold() {
    let sessions = take_part(&common::design("binary-cancer"), Who::Anybody, 24, SEED);
    let ([evaluation, repeat], held, rise) = tell("24 people", &sessions);
    // Of so few the areas are known to about .03, the share to about .03.
    assert!((evaluation.overall[0] - 0.5).abs() <= 0.15, "{evaluation:?}");
    // A repeat follows what it repeats by five comparisons at least: anywhere from the sixth to the last of eighteen it is later
    // than a comparison anywhere among them in .65 of all cases.
    assert!((repeat.overall[0] - 0.65).abs() <= 0.15, "{repeat:?}");
    assert!(held >= 0.75 && rise <= 2, "{held} {rise}");
}

#[test]
#[ignore = "prints the figures of many people; takes minutes"]
fn figures_of_many_people() {
    let template = std::env::var("TEMPLATE").unwrap_or_else(|_| "binary-cancer".to_owned());
    let (count, seed) = (setting("SESSIONS", 2000) as usize, random::seed());
    let sessions = take_part(&common::design(&template), Who::Anybody, count, seed);
    let (told, held, rise) = tell(&format!("{template}, seed {seed}"), &sessions);
    // Over all sessions. Within a session questions that elicit come too early for this bound (ADR 84).
    for told in told {
        assert!((0.45..=0.55).contains(&told.overall[0]), "{told:?}");
    }
    assert!((0.87..=0.93).contains(&held) && rise <= 2);
}

/// How often the answers are not clearly likelier than a coin's, and how often a metric is reported.
fn tell_chance(who: &str, sessions: &[Rehearsed]) {
    let share = |of: &dyn Fn(&Rehearsed) -> bool| {
        100.0 * sessions.iter().filter(|session| of(session)).count() as f64 / sessions.len() as f64
    };
    let below = |factor: f64| share(&|session| session.against_chance.is_some_and(|found| found < factor));
    println!(
        "  {who}: a metric is reported for {:.1} %; the factor against chance is below 3, 10, 20, 100 in {:.1}, {:.1}, \
         {:.1}, {:.1} %",
        share(&|session| !session.refused),
        below(3.0),
        below(10.0),
        below(20.0),
        below(100.0)
    );
}

#[test]
#[ignore = "prints how often people who toss coins are given a metric; takes minutes"]
fn figures_of_coins() {
    let (count, seed) = (setting("SESSIONS", 500) as usize, random::seed());
    let design = common::design("binary-cancer");
    println!("seed {seed}, {count} sessions each");
    let coins = take_part(&design, Who::Coin, count, seed);
    tell_chance("coins", &coins);
    tell_chance("the population", &take_part(&design, Who::Anybody, count, seed));
    for slope in [5.0, 10.0, 20.0] {
        let noise = NoiseModel::Absolute { slope, lapse: 0.025 };
        tell_chance(&format!("slope {slope}"), &take_part(&design, Who::Erring(noise), count, seed));
    }
    let given = coins.iter().filter(|session| !session.refused).count();
    assert!(given as f64 <= 0.05 * count as f64 + 2.0 * (0.05 * 0.95 * count as f64).sqrt());
}

/// Whoever clicks at random is asked enough for a report to say so, whatever the study.
fn questions_do_not_run_out(people: u64) {
    for template in equipoise_study::template::TEMPLATES {
        for seed in 0..people {
            let rehearsed = rehearse(&common::design(template.name), Who::Coin, seed).unwrap();
            assert!(rehearsed.elicited >= 8, "{} {seed}: {}", template.name, rehearsed.elicited);
        }
    }
}

#[test]
fn questions_do_not_run_out_for_somebody_who_clicks_at_random() {
    questions_do_not_run_out(1);
}

#[test]
#[ignore = "more of the same, for a minute"]
fn questions_do_not_run_out_for_people_who_click_at_random() {
    questions_do_not_run_out(5);
}
