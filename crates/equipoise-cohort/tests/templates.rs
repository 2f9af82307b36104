//! What the templates ask people, and what comes out: systems that somebody would build, two rows at a time, few enough.
//!
//! The figures of many people: `SESSIONS=200 cargo test --release -p equipoise-cohort --test templates -- --ignored
//! --nocapture`, with `TEMPLATE`, `REGRET`, `CAP` and `EQUIPOISE_SEED` to choose what, until when and who.

#[path = "../../equipoise-study/tests/common/mod.rs"]
mod common;

use common::setting;
use equipoise::testing::random;
use equipoise_cohort::rehearsal::{Rehearsed, Who, rehearse};
use equipoise_study::Design;
use equipoise_study::length::Length;
use equipoise_study::template::TEMPLATES;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

fn share(sessions: &[Rehearsed], of: impl Fn(&Rehearsed) -> bool) -> f64 {
    sessions.iter().filter(|session| of(session)).count() as f64 / sessions.len() as f64
}

fn middle(sessions: &[Rehearsed], of: impl Fn(&Rehearsed) -> usize) -> usize {
    let mut all: Vec<usize> = sessions.iter().map(of).collect();
    all.sort_unstable();
    all[(all.len() - 1) / 2]
}

/// Prints what was found, and asserts what holds for every session.
fn tell(design: &Design, who: Who, sessions: &[Rehearsed]) {
    let sum = |of: fn(&Rehearsed) -> usize| sessions.iter().map(of).sum::<usize>();
    let (shown, degenerate, rows) = (sum(|s| s.shown), sum(|s| s.degenerate), sum(|s| s.not_two_rows));
    let length = Length::of(&sessions.iter().map(|session| session.pace).collect::<Vec<_>>());
    let inside: f64 =
        sessions.iter().map(|s| s.weights_inside.unwrap_or(f64::from(u8::from(s.inside)))).sum::<f64>()
            / sessions.len() as f64;
    println!(
        "{} {}, {} sessions: elicit {}, comparisons {} (90 %: {}), screens {}, minutes {}; interval holds {:.1} %; refused \
         {:.1} %; {degenerate} of {shown} systems degenerate, {rows} comparisons not of two rows; slowest {:.0} ms; ended {:?}",
        design.study().name,
        who.word(),
        sessions.len(),
        middle(sessions, |s| s.elicited),
        length.comparisons,
        length.comparisons_p90,
        length.screens,
        length.minutes,
        100.0 * inside,
        100.0 * share(sessions, |s| s.refused),
        sessions.iter().map(|s| s.slowest_ms).fold(0.0, f64::max),
        sessions.iter().fold(std::collections::BTreeMap::<String, usize>::new(), |mut all, s| {
            *all.entry(format!("{:?}", s.stopped)).or_default() += 1;
            all
        }),
    );
    let mut regrets: Vec<f64> = sessions.iter().filter_map(|s| s.regret).collect();
    regrets.sort_by(f64::total_cmp);
    if let Some(p90) = regrets.get(9 * regrets.len() / 10) {
        let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
        println!("  regret of what follows: mean {mean:.4}, 90 %: {p90:.4}");
    }
    let mut evidence: Vec<f64> = sessions.iter().filter_map(|s| Some(s.against_chance?.ln())).collect();
    evidence.sort_by(f64::total_cmp);
    let at = |share: f64| {
        evidence.get((share * (evidence.len() - 1) as f64).round() as usize).copied().unwrap_or(0.0)
    };
    println!(
        "  log factor against chance, 1/5/10/50/90/95/99 %: {:.1?}",
        [0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99].map(at)
    );
    assert_eq!((degenerate, rows), (0, 0), "{}", design.study().name);
    assert!(sessions.iter().all(|session| session.totals.len() == 1), "one denominator per session");
}

#[test]
fn templates_ask_what_people_can_answer() {
    for template in TEMPLATES {
        let design = common::design(template.name);
        let sessions = take_part(&design, Who::Anybody, 4, 1);
        tell(&design, Who::Anybody, &sessions);
        let length = design.length();
        println!("  {length:?}");
        // Checks included; of candidates with four attributes more has to be known.
        let most = match () {
            () if design.binary().is_some() => 20,
            () if design.is_choice() => 30,
            () => 28,
        };
        assert!(length.comparisons <= most, "{length:?}");
        if design.binary().is_some() {
            assert!(length.screens <= 30, "{length:?}");
        }
        let promised = |lint: &equipoise_study::lint::Lint| lint.rule == "length";
        assert!(!equipoise_study::lint::lint(&design).iter().any(promised), "{}", template.name);
    }
}

#[test]
fn whoever_does_not_look_gets_no_metric() {
    for template in TEMPLATES {
        let design = common::design(template.name);
        for who in [Who::AlwaysA, Who::InTurn] {
            let sessions = take_part(&design, who, 2, 5);
            tell(&design, who, &sessions);
            assert_eq!(share(&sessions, |s| s.refused), 1.0, "{} {}", template.name, who.word());
        }
        // A coin looks like somebody now and then: about once in forty.
        let coins = take_part(&design, Who::Coin, 6, 5);
        tell(&design, Who::Coin, &coins);
        assert!(share(&coins, |s| s.refused) >= 5.0 / 6.0, "{}", template.name);
    }
}

#[test]
#[ignore = "prints the figures of many people; takes minutes"]
fn figures_of_many_people() {
    let only = std::env::var("TEMPLATE").ok();
    let (count, seed) = (setting("SESSIONS", 200) as usize, random::seed());
    println!("seed {seed}");
    for template in TEMPLATES.into_iter().filter(|t| only.as_deref().is_none_or(|only| only == t.name)) {
        let mut study = equipoise_study::Study::parse(template.text).unwrap();
        if let Ok(regret) = std::env::var("REGRET") {
            study.stop.regret = Some(regret.parse().expect("a number"));
        }
        study.stop.cap = setting("CAP", study.stop.cap as u64) as usize;
        let design = Arc::new(Design::new(study, &common::templates()).unwrap());
        println!("{} out of {}, {:?}", template.name, design.people(), design.length());
        for who in [Who::Standard, Who::Blunt, Who::ByDifferences, Who::Coin, Who::AlwaysA, Who::InTurn] {
            tell(&design, who, &take_part(&design, who, count, seed));
        }
    }
}
