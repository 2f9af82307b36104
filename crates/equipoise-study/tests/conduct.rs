//! Promises about conducting a study: the flow, undo, sides, checks, keys, devices, and what comes out.

mod common;

use common::{DEVICE, Simulant, service, walk};
use equipoise_study::event::{Choice, Event, Purpose, Side};
use equipoise_study::people;
use equipoise_study::shown::Dominance;
use equipoise_study::{Error, Participant, Recorded, Refusal, Step, template};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

fn bits(participant: &Participant) -> Vec<u64> {
    [0.025, 0.2, 0.5, 0.9, 0.975]
        .iter()
        .filter_map(|s| participant.belief().quantile(*s))
        .map(f64::to_bits)
        .collect()
}

#[test]
fn every_template_can_be_walked_to_its_end() {
    for template in template::TEMPLATES {
        let service = service(template.name, 5);
        let session = service.invite(1).unwrap().remove(0).session;
        walk(&service, &session, &mut Simulant::new(6.0, 20.0, 1), usize::MAX);
        let checks = service.design().study().checks.clone();
        service
            .look(&session, |participant| {
                assert_eq!(participant.step(), Step::Result);
                let count = |wanted: fn(Purpose) -> bool| {
                    participant.questions().iter().filter(|q| wanted(q.asked.purpose)).count()
                };
                assert_eq!(count(|p| p == Purpose::Evaluation), checks.evaluation, "{}", template.name);
                assert_eq!(count(|p| p == Purpose::Dominated), checks.dominated, "{}", template.name);
                assert_eq!(
                    count(|p| matches!(p, Purpose::Repeat { .. })),
                    checks.repeats,
                    "{}",
                    template.name
                );
                assert!(count(|p| p == Purpose::Elicitation) <= service.design().study().stop.cap);
            })
            .unwrap();
    }
}

#[test]
fn sides_are_balanced_and_only_checks_are_dominated() {
    let (mut left, mut all) = (0, 0);
    for seed in 0..12 {
        let service = service("binary-cancer", seed);
        let session = service.invite(1).unwrap().remove(0).session;
        walk(&service, &session, &mut Simulant::new(6.0, 20.0, seed), usize::MAX);
        service
            .look(&session, |participant| {
                let mut balance = 0_i32;
                for question in participant.questions() {
                    let asked = &question.asked;
                    balance += if asked.fewer_missed == Side::A { 1 } else { -1 };
                    assert!(balance.abs() <= 2, "imbalance {balance} at {}", asked.number);
                    let a_fewer = asked.shown.a_misses_fewer().unwrap();
                    assert_eq!(a_fewer, asked.fewer_missed == Side::A);
                    match asked.purpose {
                        Purpose::Dominated => assert_ne!(asked.shown.dominance(), Dominance::Neither),
                        Purpose::Repeat { of } => {
                            let first = &participant.questions()[of - 1].asked;
                            assert_eq!(first.shown, asked.shown.swapped());
                            assert!(asked.number - of > 5, "{} repeats {of}", asked.number);
                        }
                        _ => assert_eq!(asked.shown.dominance(), Dominance::Neither),
                    }
                    if asked.purpose == Purpose::Elicitation {
                        let earlier = &participant.questions()[..asked.number - 1];
                        assert!(
                            earlier.iter().all(|q| q.asked.shown != asked.shown),
                            "{} was shown",
                            asked.number
                        );
                    }
                    left += usize::from(a_fewer);
                    all += 1;
                }
            })
            .unwrap();
    }
    println!("fewer missed on side A in {left} of {all}");
}

#[test]
fn taking_answers_back_leaves_no_trace_in_belief_or_next_question() {
    // The same final answers, straight and by detours, must give the same bits and the same next pair.
    for seed in 0..6 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let service = service("binary-cancer", seed);
        let session = service.invite(1).unwrap().remove(0).session;
        let length = random.random_range(3..14);
        walk(&service, &session, &mut Simulant::new(3.0, 20.0, seed), length);
        let straight = service.look(&session, Participant::clone).unwrap();
        let choices: Vec<Choice> =
            straight.questions().iter().filter_map(|q| q.answer.as_ref()).map(|a| a.choice).collect();
        let mut detours = 0;
        while detours < 4 {
            let back = random.random_range(1..=choices.len());
            for _ in 0..back {
                let asked = service.look(&session, |p| p.last_answered().unwrap().seq).unwrap();
                let key = format!("undo-{}", random.random::<u64>());
                service.record(&session, DEVICE, &key, &Event::Retracted { asked }).unwrap();
            }
            // First the other way round, perhaps, then as before.
            for n in choices.len() - back..choices.len() {
                let mut answer = |choice: Choice| {
                    let asked = service.look(&session, |p| p.pending().unwrap().seq).unwrap();
                    let key = format!("again-{}", random.random::<u64>());
                    let event = Event::Answered(equipoise_study::event::Answered {
                        asked,
                        choice,
                        response_ms: None,
                        hidden_ms: 0,
                        rates: false,
                        pressed_left: None,
                    });
                    service.record(&session, DEVICE, &key, &event).unwrap();
                    asked
                };
                if n % 2 == 0 {
                    let other = if choices[n] == Choice::A { Choice::B } else { Choice::CannotTell };
                    let asked = answer(other);
                    let key = format!("back-{asked}-{n}-{detours}");
                    service.record(&session, DEVICE, &key, &Event::Retracted { asked }).unwrap();
                }
                let mut random =
                    Xoshiro256PlusPlus::seed_from_u64(seed ^ ((n as u64) << 20) ^ ((detours as u64) << 40));
                let asked = service.look(&session, |p| p.pending().unwrap().seq).unwrap();
                let event = Event::Answered(equipoise_study::event::Answered {
                    asked,
                    choice: choices[n],
                    response_ms: None,
                    hidden_ms: 0,
                    rates: false,
                    pressed_left: None,
                });
                service
                    .record(&session, DEVICE, &format!("final-{}", random.random::<u64>()), &event)
                    .unwrap();
            }
            detours += 1;
            let now = service.look(&session, Participant::clone).unwrap();
            assert_eq!(bits(&now), bits(&straight));
            let pending = |p: &Participant| p.pending().map(|q| q.asked.clone());
            assert_eq!(pending(&now), pending(&straight));
            // And the same again when everything is read from the log.
            service.forget(&session);
            let folded = service.look(&session, Participant::clone).unwrap();
            assert_eq!(bits(&folded), bits(&straight));
        }
    }
}

#[test]
fn a_key_counts_once_and_the_first_choice_stands() {
    let service = service("binary-cancer", 3);
    let session = service.invite(1).unwrap().remove(0).session;
    let mut simulant = Simulant::new(6.0, 20.0, 3);
    walk(&service, &session, &mut simulant, 4);
    let event = service.look(&session, |p| simulant.answer(p)).unwrap();
    let Event::Answered(mut other) = event.clone() else { panic!("an answer") };
    other.choice = Choice::CannotTell;
    let first = service.record(&session, DEVICE, "same", &event).unwrap();
    assert!(matches!(first, Recorded::New(_)));
    for _ in 0..50 {
        let again = service.record(&session, DEVICE, "same", &Event::Answered(other.clone())).unwrap();
        assert_eq!(again, Recorded::Known(first.receipt(), Box::new(event.clone())));
    }
    // Another key for a question that is answered is refused.
    let late = service.record(&session, DEVICE, "other", &Event::Answered(other)).unwrap_err();
    assert!(matches!(late, Error::Refused(Refusal::AnotherComparison)), "{late}");
    assert_eq!(service.look(&session, |p| p.questions().len()).unwrap(), 6);
}

#[test]
fn the_newest_device_writes_and_older_ones_may_take_it_back() {
    let service = service("binary-cancer", 4);
    let session = service.invite(1).unwrap().remove(0).session;
    let mut simulant = Simulant::new(6.0, 20.0, 4);
    walk(&service, &session, &mut simulant, 2);
    let laptop = Event::DeviceTaken { device: "laptop".to_owned() };
    service.record(&session, "laptop", "take", &laptop).unwrap();
    let event = service.look(&session, |p| simulant.answer(p)).unwrap();
    let refused = service.record(&session, DEVICE, "a", &event).unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::ContinuedElsewhere)));
    service.record(&session, "laptop", "b", &event).unwrap();
    let phone = Event::DeviceTaken { device: DEVICE.to_owned() };
    service.record(&session, DEVICE, "take back", &phone).unwrap();
    walk(&service, &session, &mut simulant, 6);
}

#[test]
fn nothing_but_the_language_is_stored_before_consent() {
    let service = service("binary-cancer", 6);
    let session = service.invite(1).unwrap().remove(0).session;
    let toggle = Event::RatesToggled { rates: true };
    assert!(service.record(&session, DEVICE, "early", &toggle).is_err());
    let taken = Event::DeviceTaken { device: DEVICE.to_owned() };
    assert!(service.record(&session, DEVICE, "early device", &taken).is_err());
    let language = Event::LanguageChosen { language: "de".to_owned() };
    service.record(&session, DEVICE, "language", &language).unwrap();
    let wrong =
        Event::ConsentGiven { text: "0".repeat(64), device: DEVICE.to_owned(), external: Default::default() };
    assert!(service.record(&session, DEVICE, "wrong text", &wrong).is_err());
    assert_eq!(service.look(&session, Participant::events).unwrap(), 2);
}

#[test]
fn whoever_always_presses_the_same_side_is_flagged_and_few_others_are() {
    let service = service("binary-cancer", 41);
    let flagged = |session: &str| {
        service
            .look(session, |p| people::Conduct::of(p).flags.iter().any(|flag| flag.contains("one side")))
            .unwrap()
    };
    let (mut caught, mut wronged, people) = (0, 0, 20);
    for (n, invitation) in service.invite(2 * people).unwrap().into_iter().enumerate() {
        let mut simulant = Simulant::new(2.0 + n as f64 / 4.0, 20.0, n as u64);
        if n % 2 == 0 {
            walk(&service, &invitation.session, &mut simulant, 12);
            wronged += usize::from(flagged(&invitation.session));
            continue;
        }
        while service.look(&invitation.session, Participant::step).unwrap() != Step::Compare {
            let event = service.look(&invitation.session, |p| simulant.next(p)).unwrap().unwrap();
            let key = format!("k{}", simulant.random.random::<u64>());
            service.record(&invitation.session, DEVICE, &key, &event).unwrap();
        }
        for answer in 0..12 {
            let asked = service.look(&invitation.session, |p| p.pending().unwrap().seq).unwrap();
            let event = Event::Answered(equipoise_study::event::Answered {
                asked,
                choice: Choice::A,
                response_ms: None,
                hidden_ms: 0,
                rates: false,
                pressed_left: Some(true),
            });
            service.record(&invitation.session, DEVICE, &format!("left-{answer}"), &event).unwrap();
        }
        caught += usize::from(flagged(&invitation.session));
    }
    println!("flagged: {caught} of {people} who always press left, {wronged} of {people} who read");
    assert!(caught * 100 >= 95 * people && wronged <= 1);
}

#[test]
fn sides_are_even_over_many_sessions() {
    // Balance is of the schedule alone, so it can be looked at without anybody answering (UX-15).
    let service = service("binary-cancer", 51);
    let (mut left, mut all) = (0_usize, 0_usize);
    for invitation in service.invite(60).unwrap() {
        let mut simulant = Simulant::new(f64::from(1 + (all % 20) as u32), 20.0, all as u64);
        walk(&service, &invitation.session, &mut simulant, 16);
        service
            .look(&invitation.session, |participant| {
                let sides: Vec<Side> =
                    participant.questions()[..16].iter().map(|q| q.asked.fewer_missed).collect();
                let mut balance = 0_i32;
                for side in &sides {
                    balance += if *side == Side::A { 1 } else { -1 };
                    assert!(balance.abs() <= 2);
                }
                left += sides.iter().filter(|side| **side == Side::A).count();
                all += sides.len();
            })
            .unwrap();
    }
    println!("fewer missed on side A in {left} of {all}");
    assert!((left as f64 / all as f64 - 0.5).abs() < 0.02, "{left} of {all}");
}

/// What was worked out for an earlier answer is used for later ones; whoever is read from the log anew has none of it.
#[test]
fn whether_somebody_is_in_memory_changes_no_question() {
    for seed in 0..3 {
        let [kept, anew] = [false, true].map(|anew| {
            let service = service("binary-cancer", seed);
            let session = service.invite(1).unwrap().remove(0).session;
            let mut person = Simulant::new(6.0, 20.0, seed);
            for number in 0.. {
                if anew {
                    service.forget(&session);
                }
                let Some(event) = service.look(&session, |p| person.next(p)).unwrap() else { break };
                service.record(&session, DEVICE, &format!("k{number}"), &event).unwrap();
            }
            let asked = |p: &Participant| p.questions().iter().map(|q| q.asked.clone()).collect::<Vec<_>>();
            service.peek(&session, asked).unwrap()
        });
        assert!(kept.iter().filter(|asked| asked.purpose == Purpose::Evaluation).count() > 2);
        assert_eq!(kept, anew);
    }
}
