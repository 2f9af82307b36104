//! What an interview remembers makes it fast and changes nothing.

mod common;

use equipoise::AnyPlan;
use equipoise::{Interview, Preference, Step};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn adaptive() -> Vec<AnyPlan> {
    // Fractions take long and are remembered like the others.
    let adaptive =
        |plan: &AnyPlan| matches!(plan, AnyPlan::Adaptive(plan) if plan.kind() != "linear_fractional");
    common::all_plans(0.2).into_iter().filter(adaptive).collect()
}

#[test]
fn remembered_steps_are_replayed_steps_to_the_last_bit() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    for plan in adaptive() {
        for _ in 0..3 {
            let mut interview = Interview::new(plan.clone());
            for _ in 0..25 {
                match interview.step().unwrap() {
                    Step::Ask(_) if random.random_bool(0.7) => {
                        let any = [Preference::First, Preference::Second, Preference::CannotTell];
                        interview.answer(any[random.random_range(0..3)]).unwrap();
                    }
                    // Now and then more answers are taken back than states are kept.
                    _ => (0..random.random_range(1..7)).for_each(|_| drop(interview.undo())),
                }
                let replayed = Interview::with_transcript(plan.clone(), interview.transcript().to_vec());
                assert_eq!(interview.step(), replayed.step());
            }
        }
    }
}

#[test]
fn answering_undoing_and_answering_is_answering() {
    for plan in adaptive() {
        let mut straight = Interview::new(plan.clone());
        let mut detour = Interview::new(plan);
        for n in 0..8 {
            if let Step::Done(_) = straight.step().unwrap() {
                break;
            }
            let answer = if n % 3 == 0 { Preference::First } else { Preference::Second };
            straight.answer(answer).unwrap();
            detour.answer(answer.reversed()).unwrap();
            assert_ne!(straight, detour);
            detour.undo();
            detour.answer(answer).unwrap();
            assert_eq!(straight, detour);
            assert_eq!(straight.step(), detour.step());
        }
    }
}

#[test]
fn a_changed_answer_is_not_mistaken_for_a_remembered_one() {
    for plan in adaptive() {
        let mut interview = Interview::new(plan.clone());
        for _ in 0..4 {
            interview.answer(Preference::First).unwrap();
        }
        let copy = interview.clone();
        interview.undo();
        interview.answer(Preference::Second).unwrap();
        let replayed = Interview::with_transcript(plan, interview.transcript().to_vec());
        assert_eq!(interview.step(), replayed.step());
        assert_ne!(interview, copy);
        interview.forget();
        assert_eq!(interview.step(), replayed.step());
    }
}
