//! Simulated people take part over HTTP, and what they hold is found.

use equipoise_server::cohort::{Part, Person, take_part};
use equipoise_server::participant::{Participants, Settings, app};
use equipoise_study::event::{Choice, Event, Purpose};
use equipoise_study::log::{MemoryStore, Writer, rows, verify};
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Desk, Study, template};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// As many as a test may take; `EQUIPOISE_COHORT=200` takes more.
fn people() -> usize {
    std::env::var("EQUIPOISE_COHORT").ok().and_then(|count| count.parse().ok()).unwrap_or(20)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cohort_answers_over_http_and_its_ratios_are_covered() {
    let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    let design = Arc::new(Design::new(study, Path::new(".")).unwrap());
    let desk =
        Arc::new(Desk::new(design, Writer::start(MemoryStore::new()), SystemClock, TestRandom::new(11)));
    let invitations = desk.invite(people()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let settings = Settings { origin: format!("http://{address}") };
    let state = Participants::new(desk.clone(), settings);
    tokio::spawn(async { axum::serve(listener, app(state)).await });

    let mut parts = vec![];
    for (place, invitation) in invitations.iter().enumerate() {
        // Ratios from 1.5 to 24, evenly on a logarithmic scale.
        let ratio = 1.5 * 16_f64.powf(place as f64 / (people().max(2) - 1) as f64);
        let (token, session) = (invitation.token.clone(), invitation.session.clone());
        let task = tokio::spawn(async move {
            let mut person = Person::new(ratio, 20.0, Duration::ZERO, place as u64);
            let mut part = Part::default();
            take_part(address, &token, &mut person, &mut part).await.map(|()| part)
        });
        parts.push((ratio, session, task));
    }
    let (mut covered, mut counts, mut acknowledged) = (0, vec![], 0);
    // Evaluation questions, and how many of their answers the found ratio, and "fewest missed", predict.
    let (mut evaluations, mut by_ratio, mut by_missed) = (0, 0, 0);
    for (ratio, session, task) in parts {
        let part = task.await.unwrap().expect("everybody gets to the end");
        assert!(part.finished && part.page.contains("class=\"receipt\""), "{}", part.page);
        acknowledged += part.answers.len();
        desk.look(&session, |participant| {
            let questions = participant.questions();
            assert_eq!(questions.len(), part.answers.len());
            let [low, middle, high] =
                [0.025, 0.5, 0.975].map(|share| participant.belief().quantile(share).unwrap());
            covered += usize::from((low..=high).contains(&ratio));
            counts.push(
                questions.iter().filter(|question| question.asked.purpose == Purpose::Elicitation).count(),
            );
            for question in questions.iter().filter(|question| question.asked.purpose == Purpose::Evaluation)
            {
                let shown = &question.asked.shown;
                let cost = |ratio: f64, cells: &[u64]| ratio * cells[2] as f64 + cells[1] as f64;
                let predicted = |ratio: f64| {
                    if cost(ratio, &shown.a) < cost(ratio, &shown.b) { Choice::A } else { Choice::B }
                };
                let choice = question.answer.as_ref().unwrap().choice;
                evaluations += 1;
                by_ratio += usize::from(predicted(middle) == choice);
                by_missed += usize::from(predicted(1e9) == choice);
            }
        })
        .unwrap();
    }
    counts.sort_unstable();
    println!(
        "{covered} of {} ratios covered; median of {} comparisons that elicit; of {evaluations} evaluation answers the \
         found ratios predict {by_ratio}, \"fewest missed\" {by_missed}",
        people(),
        counts[counts.len() / 2]
    );
    // 95 % of intervals should cover; fewer than 75 % of 20 would happen once in three thousand times.
    assert!(covered * 4 >= people() * 3, "{covered} of {}", people());
    assert!(by_ratio > by_missed, "{by_ratio} against {by_missed}");
    assert!(counts[counts.len() / 2] <= 25);
    let stored = desk.writer().with(|store| rows(store)).unwrap();
    let answers =
        stored.iter().filter(|row| matches!(row.event().unwrap(), Some(Event::Answered(_)))).count();
    assert_eq!(answers, acknowledged, "every acknowledged answer is in the log, once");
    desk.writer().with(|store| verify(store)).unwrap();
}
