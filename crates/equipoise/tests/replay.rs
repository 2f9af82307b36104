//! A stepped interview is the same procedure as a direct run, for every plan.

mod common;

use equipoise::AnyPlan;
use equipoise::ask::{Counting, Finding, NoiseModel, Simulated};
use equipoise::{Answer, Interview, Oracle, Outcome, Plan, Preference, Query, Step};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type AnyOracle<'a> = Box<dyn FnMut(&Query) -> Preference + 'a>;

/// Runs directly, then step by step with a JSON round trip at every step.
#[track_caller]
fn check(plan: &AnyPlan, oracle: impl Fn() -> Simulated) {
    let mut direct = Counting::new(oracle());
    let Ok(expected) = plan.run(&mut direct);
    let mut answers = oracle();
    let mut interview = Interview::new(plan.clone());
    let outcome: Outcome = loop {
        let text = interview.to_json();
        interview = Interview::from_json(&text).unwrap();
        assert_eq!(interview.to_json(), text, "a document reads back as it was written");
        match interview.step().unwrap() {
            Step::Ask(query) => {
                let Ok(answer) = answers.prefer(&query);
                interview.answer(answer).unwrap();
            }
            Step::Done(outcome) => break outcome,
        }
    };
    assert_eq!(interview.transcript().len(), direct.asked());
    assert_eq!(outcome, expected);
}

#[test]
fn every_plan_gives_the_same_result_stepped_as_direct() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for plan in common::all_plans(0.2) {
        let metric = common::random_metric(&plan, &mut random);
        check(&plan, || Simulated::new(metric.clone()));
        let noise = NoiseModel::Flip { probability: 0.2 };
        check(&plan, || Simulated::with_noise(metric.clone(), noise, 5).unwrap());
    }
}

#[test]
fn undo_takes_back_exactly_one_answer() {
    for plan in common::all_plans(0.5) {
        let mut interview = Interview::new(plan);
        for _ in 0..3 {
            interview.answer(Preference::First).unwrap();
        }
        let before = interview.clone();
        if let Step::Done(_) = interview.step().unwrap() {
            continue;
        }
        let asked = interview.step().unwrap();
        interview.answer(Preference::Second).unwrap();
        let undone = interview.undo().unwrap();
        assert_eq!(undone.preference, Preference::Second);
        assert_eq!(interview, before);
        assert_eq!(interview.step().unwrap(), asked);
    }
    let mut empty = Interview::new(common::all_plans(0.5).remove(0));
    assert!(empty.undo().is_none());
}

#[test]
fn a_transcript_of_another_plan_is_reported() {
    let plans = common::all_plans(0.3);
    let mut interview = Interview::new(plans[0].clone());
    for _ in 0..4 {
        interview.answer(Preference::First).unwrap();
    }
    let other = Interview::with_transcript(plans[7].clone(), interview.transcript().to_vec());
    assert_eq!(other.step().unwrap_err().number, 1);
    // One answer changed: the questions after it are no longer the planned ones.
    let mut changed = interview.transcript().to_vec();
    changed[3].query.first[0] += 1e-6;
    let number = Interview::with_transcript(plans[0].clone(), changed).step().unwrap_err().number;
    assert_eq!(number, 4);
    // Answers beyond the plan's end.
    while let Step::Ask(_) = interview.step().unwrap() {
        interview.answer(Preference::First).unwrap();
    }
    let mut longer = interview.transcript().to_vec();
    longer.push(longer[0].clone());
    let number = longer.len();
    assert_eq!(Interview::with_transcript(plans[0].clone(), longer).step().unwrap_err().number, number);
}

#[test]
fn a_pair_shown_with_other_coordinates_is_no_answer_to_the_question() {
    for plan in common::all_plans(0.3) {
        let mut interview = Interview::new(plan.clone());
        let Step::Ask(mut shown) = interview.step().unwrap() else { continue };
        shown.first.push(0.1);
        let answer = Answer { preference: Preference::CannotTell, shown: Some(shown.clone()) };
        assert_eq!(interview.answer(answer).unwrap_err().number, 1);
        interview.answer(Preference::CannotTell).unwrap();
        let mut transcript = interview.transcript().to_vec();
        transcript[0].shown = Some(shown);
        let changed = Interview::with_transcript(plan, transcript);
        assert_eq!(changed.step().unwrap_err().number, 1);
        let refused = Interview::<AnyPlan>::from_json(&changed.to_json()).unwrap_err().to_string();
        assert!(refused.contains("transcript[0].shown has another number of entries"), "{refused}");
    }
}

/// Follows every possible transcript of a coarse plan to its end, by answering, recursing and undoing.
fn every_transcript(interview: &mut Interview<AnyPlan>, left: &mut usize) {
    if *left == 0 {
        return;
    }
    match interview.step().unwrap() {
        Step::Ask(_) => {
            for preference in [Preference::First, Preference::Second] {
                interview.answer(preference).unwrap();
                every_transcript(interview, left);
                interview.undo().unwrap();
            }
        }
        Step::Done(outcome) => {
            *left -= 1;
            assert_finite(&outcome);
        }
    }
}

/// Metrics come out in a normal form, so a huge number is as wrong as one that is not finite.
#[track_caller]
fn assert_finite(outcome: &Outcome) {
    let mut numbers = outcome.metric.coefficients();
    if let Some(posterior) = outcome.metric.posterior() {
        numbers.extend(posterior.mean().iter().chain(posterior.covariance().iter().flatten()));
    }
    if let Some(interval) = outcome.metric.interval() {
        numbers.extend([interval.low(), interval.high().unwrap_or(interval.low())]);
    }
    for finding in &outcome.findings {
        if let Finding::Stopped { radius, .. } = finding {
            numbers.push(*radius);
        }
    }
    assert!(!numbers.is_empty() && numbers.iter().all(|x| x.abs() < 1e6), "{numbers:?}");
}

#[test]
fn every_transcript_of_a_coarse_plan_comes_to_an_end() {
    for plan in common::all_plans(1.0) {
        // Plans of a dozen questions are walked completely, longer ones for their first 3000 transcripts; the engine
        // thinks about every question, so fewer.
        let thinks = serde_json::to_string(&plan).unwrap().contains("adaptive");
        every_transcript(&mut Interview::new(plan), &mut if thinks { 64 } else { 3000 });
    }
}

#[test]
fn every_plan_ends_for_every_oracle() {
    let mut turn = 0_u64;
    for plan in common::all_plans(0.05) {
        for seed in 0..4 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let any = [Preference::First, Preference::Second, Preference::CannotTell];
            let mut oracles: [AnyOracle; 5] = [
                Box::new(|_: &Query| Preference::First),
                Box::new(|_: &Query| Preference::Second),
                Box::new(|_: &Query| Preference::CannotTell),
                Box::new(|_: &Query| {
                    turn += 1;
                    if turn.is_multiple_of(2) { Preference::First } else { Preference::Second }
                }),
                Box::new(move |_: &Query| any[random.random_range(0..3)]),
            ];
            for oracle in &mut oracles {
                let Ok(outcome) = plan.run(oracle);
                assert_finite(&outcome);
            }
            // Contradicts itself: the better point by one metric on even questions, the worse on odd ones.
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let metric = common::random_metric(&plan, &mut random);
            let mut asked = 0;
            let mut contrary = |query: &Query| {
                asked += 1;
                let first = metric.liking(&query.first) > metric.liking(&query.second);
                if first == (asked % 2 == 0) { Preference::First } else { Preference::Second }
            };
            let Ok(outcome) = plan.run(&mut contrary);
            assert_finite(&outcome);
        }
    }
}
