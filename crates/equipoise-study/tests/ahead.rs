//! Nobody waits for what is imagined of them: a server does that while they think.

mod common;

use common::{DEVICE, Simulant};
use equipoise_log::{MemoryStore, Writer};
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::{Design, Service, Step, Study};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Somebody takes part; a pause before each answer is for thinking. How long answers took together, how many there were,
/// and how often it was imagined anew how many are left.
fn taken(service: &Service, pause: Duration) -> (Duration, usize, usize) {
    let session = service.invite(1).unwrap().remove(0).session;
    let mut person = Simulant::new(4.0, 20.0, 5);
    let (mut waited, mut answers, mut number) = (Duration::ZERO, 0, 0);
    loop {
        let (event, compares) =
            service.look(&session, |p| (person.next(p), p.step() == Step::Compare)).unwrap();
        let Some(event) = event else { break };
        if compares {
            std::thread::sleep(pause);
        }
        number += 1;
        let begun = Instant::now();
        service.record(&session, DEVICE, &format!("k{number}"), &event).unwrap();
        if compares {
            waited += begun.elapsed();
            answers += 1;
        }
    }
    let imagined = service.peek(&session, |p| {
        p.questions().iter().filter(|question| !question.asked.imagined.is_empty()).count()
    });
    (waited, answers, imagined.unwrap())
}

/// A study on a ball, where imagining takes longest.
fn service() -> Service {
    let study = Study::parse(include_str!("fixtures/ball.toml")).unwrap();
    let design = Arc::new(Design::new(study, Path::new(".")).unwrap());
    Service::new(design, Writer::start(MemoryStore::new()), TestClock::default(), TestRandom::new(3))
}

#[test]
fn what_is_imagined_holds_up_no_answer() {
    // What else the machine does may take the thread's time: one quiet moment of three will do, and people think longer each time.
    let held_up = |tried: &u32| {
        let (at_once, answers, imagined) = taken(&service(), Duration::ZERO);
        assert!(answers > 20 && imagined >= 2, "{answers} answers, imagined {imagined} times");
        let pause = (4 << tried) * at_once / answers as u32;
        let (ahead, others, imagined) = taken(&service().forecasting_meanwhile(), pause);
        println!(
            "{answers} answers took {at_once:?}; with a thread that imagines ahead {others} took {ahead:?}"
        );
        assert!(others > 20, "{others} answers");
        ahead * 2 >= at_once || imagined < 2
    };
    assert!((0..3_u32).take_while(held_up).count() < 3, "answers wait for what is imagined");
}
