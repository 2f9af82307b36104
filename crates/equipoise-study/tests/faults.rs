//! Storage that fails and clocks that jump: nothing that was acknowledged is lost, nothing is there twice, and all goes on
//! once the fault is over.

mod common;

use common::{DEVICE, Simulant, design, walk};
use equipoise_log::testing::{Fault, Faulty};
use equipoise_log::{Appended, Entry, Group, MemoryStore, SqliteStore, Why, Writer, rows, transact};
use equipoise_study::event::Event;
use equipoise_study::seams::{Clock, TestClock, TestRandom};
use equipoise_study::{Error, Participant, Service, Step, verify};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Mutex;

/// Walks to the end, sending whatever failed again with the same key, as the pages do. The receipts that were given.
fn stubborn(service: &Service, session: &str, simulant: &mut Simulant) -> (Vec<String>, usize) {
    let (mut receipts, mut failures) = (vec![], 0);
    for step in 0.. {
        let looked = service.look(session, |participant| {
            let over = participant.questions().iter().filter(|q| q.answer.is_some()).count() >= 12;
            if over { None } else { simulant.next(participant) }
        });
        // Looking writes the comparison before it is seen; that may fail too.
        let event = match looked {
            Ok(Some(event)) => event,
            Ok(None) => return (receipts, failures),
            Err(_) => {
                failures += 1;
                service.forget(session);
                continue;
            }
        };
        loop {
            match service.record(session, DEVICE, &format!("key-{step}"), &event) {
                Ok(recorded) => {
                    receipts.push(recorded.receipt().to_string());
                    break;
                }
                Err(Error::Log(_)) => failures += 1,
                Err(error) => panic!("{error}"),
            }
            assert!(failures < 5, "it must go on once the fault is over");
        }
    }
    unreachable!()
}

#[test]
fn a_failed_write_is_never_acknowledged_and_never_there_twice() {
    let mut tried = 0;
    for fault in [Fault::Before(Fault::broken()), Fault::After(Fault::broken())] {
        // Every write of the walk fails once: the first is the invitation.
        for fails in 2..40 {
            let (mut writes, now) = (0, fault.clone());
            let store = Faulty::new(MemoryStore::new(), move |_: &mut MemoryStore| {
                writes += 1;
                (writes == fails).then(|| now.clone())
            });
            let service = Service::new(
                design("binary-cancer"),
                Writer::start(store),
                TestClock::default(),
                TestRandom::new(2),
            );
            let session = service.invite(1).unwrap().remove(0).session;
            let (receipts, failures) = stubborn(&service, &session, &mut Simulant::new(5.0, 20.0, 1));
            if failures == 0 {
                break;
            }
            tried += 1;
            let all = service.writer().with(|store| rows(store)).unwrap();
            let answers: Vec<u64> = all
                .iter()
                .filter_map(|row| match Event::in_row(row).unwrap() {
                    Some(Event::Answered(answer)) => Some(answer.asked),
                    _ => None,
                })
                .collect();
            let once: std::collections::BTreeSet<&u64> = answers.iter().collect();
            assert_eq!((answers.len(), once.len()), (12, 12), "{fault:?} at write {fails}");
            let stored: Vec<String> = all.iter().map(|row| row.receipt().to_string()).collect();
            assert!(receipts.iter().all(|receipt| stored.contains(receipt)), "{fault:?} at write {fails}");
            service.writer().with(|store| verify(store)).unwrap();
        }
    }
    println!("{tried} writes failed, none was acknowledged, none is there twice");
    // Every write of a walk to the end, which has some twenty, before and after it is made.
    assert!(tried >= 30, "{tried}");
}

#[test]
fn a_full_disk_is_said_and_gone_when_there_is_room_again() {
    let directory = std::env::temp_dir().join(format!("equipoise-full-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
    store.limit(24).unwrap();
    let body = format!("{{\"event\":\"language_chosen\",\"language\":\"{}\"}}", "x".repeat(3_000));
    let append = |store: &mut SqliteStore, seq: u64| {
        let entries = vec![Entry { key: format!("k{seq}"), at: 0, salt: [1; 32], body: body.clone() }];
        let group = Group { session: "s".to_owned(), after: Some(seq - 1), entries };
        transact(store, |log| log.append(&group))
    };
    let full = (1..100).find_map(|seq| append(&mut store, seq).err().map(|error| (seq, error)));
    let (seq, error) = full.expect("96 kB are not endless");
    assert!(error.why() == Some(Why::Full), "{error}");
    // What was acknowledged is there and can be read; the rest goes in when there is room.
    assert_eq!(verify(&store).unwrap().rows, seq - 1);
    store.limit(4_000).unwrap();
    assert!(matches!(append(&mut store, seq).unwrap(), Appended::New(_)));
    assert_eq!(verify(&store).unwrap().rows, seq);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A clock that jumps by up to ten years either way, and sometimes stands still.
struct Jumping(Mutex<(Xoshiro256PlusPlus, i64)>);

impl Clock for Jumping {
    fn now(&self) -> i64 {
        let mut state = self.0.lock().unwrap();
        let year = 365 * 24 * 3_600_000_i64;
        let jump = match state.0.random_range(0..5) {
            0 => 0,
            1 => state.0.random_range(-3_600_000..3_600_000),
            2 => -100,
            _ => state.0.random_range(-10 * year..10 * year),
        };
        state.1 = state.1.saturating_add(jump);
        state.1
    }
}

#[test]
fn clocks_may_jump_and_nothing_comes_of_it() {
    let run = |clock: Box<dyn Clock>| {
        struct Boxed(Box<dyn Clock>);
        impl Clock for Boxed {
            fn now(&self) -> i64 {
                self.0.now()
            }
        }
        let service = Service::new(
            design("binary-cancer"),
            Writer::start(MemoryStore::new()),
            Boxed(clock),
            TestRandom::new(6),
        );
        let session = service.invite(1).unwrap().remove(0).session;
        walk(&service, &session, &mut Simulant::new(4.0, 20.0, 6), usize::MAX);
        // Read again from the log: order is by number, never by time.
        service.forget(&session);
        service.writer().with(|store| verify(store)).unwrap();
        service
            .look(&session, |participant: &Participant| {
                assert_eq!(participant.step(), Step::Result);
                let choices: Vec<_> =
                    participant.questions().iter().map(|q| q.answer.clone().unwrap().choice).collect();
                (choices, participant.belief().quantile(0.5).unwrap().to_bits())
            })
            .unwrap()
    };
    let straight = run(Box::<TestClock>::default());
    for seed in 0..6 {
        let jumping = Jumping(Mutex::new((Xoshiro256PlusPlus::seed_from_u64(seed), 1_800_000_000_000)));
        assert_eq!(run(Box::new(jumping)), straight, "seed {seed}");
    }
}

#[test]
fn whoever_withdraws_is_erased_in_the_same_step_or_still_there() {
    let fail = std::sync::Arc::new(Mutex::new(None));
    let plan = fail.clone();
    let store = Faulty::new(MemoryStore::new(), move |_: &mut MemoryStore| plan.lock().unwrap().take());
    let service =
        Service::new(design("binary-cancer"), Writer::start(store), TestClock::default(), TestRandom::new(2));
    let [one, other, third] = [0, 1, 2].map(|_| service.invite(1).unwrap().remove(0).session);
    for session in [&one, &other, &third] {
        walk(&service, session, &mut Simulant::new(4.0, 20.0, 1), 2);
    }
    let withdraw = |session: &str| service.record(session, DEVICE, "bye", &Event::Withdrawn);
    let left = |session: &str| {
        let rows = service.writer().session(session).unwrap();
        rows.iter().filter(|row| row.payload.is_some()).count()
    };
    let all = left(&one);
    *fail.lock().unwrap() = Some(Fault::Before(Fault::broken()));
    assert!(withdraw(&one).is_err());
    assert_eq!(left(&one), all, "it failed: everything is there");
    withdraw(&one).unwrap();
    assert_eq!(left(&one), 0, "nothing is found under their name");
    assert_eq!(service.look(&one, Participant::step).unwrap(), Step::Withdrawn);
    // Written, but nobody was told: whoever sends it again has left.
    *fail.lock().unwrap() = Some(Fault::After(Fault::broken()));
    assert!(withdraw(&other).is_err());
    assert_eq!(left(&other), 0);
    assert!(matches!(withdraw(&other), Err(Error::Refused(equipoise_study::Refusal::Left))));
    // As older releases left it when they were killed half way.
    let body = Event::Withdrawn.body();
    let entries = vec![Entry { key: "bye".to_owned(), at: 0, salt: [1; 32], body }];
    service.writer().append(Group { session: third.clone(), after: None, entries }).unwrap();
    assert_eq!((service.finish_withdrawals().unwrap(), left(&third)), (1, 0));
    assert_eq!(service.finish_withdrawals().unwrap(), 0);
    assert_eq!(service.writer().with(|store| verify(store)).unwrap().erased, 3);
}
