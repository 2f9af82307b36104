//! The last page: every template has something to tell, and the page tells what the report would, or why it does not.

use equipoise_log::{MemoryStore, Writer};
use equipoise_pages::language::Language;
use equipoise_pages::page::{Frame, ResultPage, Told, render};
use equipoise_report::person;
use equipoise_study::event::{Answered, Choice};
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::{Design, Event, Participant, Question, Service, Step, Study, template};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::sync::Arc;

const DEVICE: &str = "sample";

/// A participant of a template who has answered like this, up to the result.
fn through(
    name: &str,
    change: impl FnOnce(&mut Study),
    mut choose: impl FnMut(&Question) -> Choice,
) -> Participant {
    let mut study = Study::parse(template::find(name).unwrap().text).unwrap();
    change(&mut study);
    let design = Arc::new(Design::new(study, Path::new("../equipoise-study/src/templates")).unwrap());
    let (log, clock) = (Writer::start(MemoryStore::new()), TestClock::default());
    let service = Service::new(design.clone(), log, clock, TestRandom::new(7));
    let session = service.invite(1).unwrap().remove(0).session;
    loop {
        let event = match service.look(&session, Participant::step).unwrap() {
            Step::Language => Event::LanguageChosen { language: "en".to_owned() },
            Step::Consent => Event::ConsentGiven {
                text: service.look(&session, Participant::consent_hash).unwrap(),
                device: DEVICE.to_owned(),
                external: Default::default(),
            },
            Step::Questionnaire(position) => {
                Event::QuestionnaireAnswered { position, answers: Default::default() }
            }
            Step::StatedCost(when) => {
                Event::StatedCost { when, ratio: Some(10.0), low: Some(5.0), high: None }
            }
            Step::Consequences => Event::ConsequencesRead,
            Step::Picture { question, .. } => {
                Event::PictureAnswered { question, option: design.study().picture[question].correct }
            }
            Step::Practice(number) => Event::PracticeDone { number, choice: Choice::A },
            Step::Compare => {
                let (asked, choice) = service
                    .look(&session, |participant| {
                        participant.pending().map(|question| (question.seq, choose(question)))
                    })
                    .unwrap()
                    .unwrap();
                Event::Answered(Answered {
                    asked,
                    choice,
                    response_ms: Some(4_000),
                    hidden_ms: 0,
                    rates: false,
                    pressed_left: None,
                })
            }
            Step::Finish => Event::Completed,
            Step::Result | Step::Screened | Step::Withdrawn => break,
        };
        let key = format!("sample-{}", service.look(&session, Participant::events).unwrap());
        service.record(&session, DEVICE, &key, &event).unwrap();
    }
    service.look(&session, Participant::clone).unwrap()
}

/// Somebody with an opinion: missed cases weigh six times as much, and of more kinds each as much as the next.
fn decided(question: &Question) -> Choice {
    let shown = &question.asked.shown;
    // What the programs of the template have at most.
    if let Some([a, b]) = &shown.values {
        let cost = |values: &[f64]| {
            values.iter().zip([41.0, 158.0, 30.0, 12.0]).map(|(x, most)| x / most).sum::<f64>()
        };
        return if cost(a) < cost(b) { Choice::A } else { Choice::B };
    }
    let cost = |cells: &[u64]| match shown.classes {
        2 if shown.groups == 1 => 6 * cells[2] + cells[1],
        _ => shown.mistakes().map(|(g, t, p)| cells[shown.cell(g, t, p)]).sum(),
    };
    if cost(&shown.a) < cost(&shown.b) { Choice::A } else { Choice::B }
}

fn page(participant: &Participant, language: Language) -> String {
    let frame = Frame::outside(participant.design().study(), language);
    render(&ResultPage::new(frame, participant, "57-9f86d081884c7d65".to_owned(), None))
}

#[test]
fn every_template_has_a_result_to_show_in_every_language() {
    for template in template::TEMPLATES {
        let participant = through(template.name, |_| {}, decided);
        for language in Language::OFFERED {
            let page = page(&participant, language);
            let words = language.words();
            // Candidates are named; there is no mistake to be the unit of an axis.
            let is_choice = participant.design().is_choice();
            assert!(page.contains("class=\"answer\""), "{}", template.name);
            assert!(is_choice || page.contains("class=\"axis\""), "{}", template.name);
            let follows = if is_choice { words.chosen_weighs } else { words.best_title };
            assert!(page.contains(follows), "{}: nothing follows\n{page}", template.name);
            assert!(page.contains("href=\"/result.svg\""), "{}: nothing to keep", template.name);
            assert!(!page.contains('{') && !page.contains("NaN"), "{}: {page}", template.name);
            let drawn = Told::new(&participant, language).unwrap().picture("Study", "1-a", language);
            let dot = is_choice || drawn.contains("class=\"dot found\"");
            assert!(drawn.starts_with("<svg xmlns=") && dot, "{drawn}");
            assert!(!drawn.contains("NaN") && drawn.contains(words.receipt_title), "{drawn}");
        }
    }
}

#[test]
fn of_two_classes_the_ratio_both_guesses_and_the_best_system_are_told() {
    let participant = through("binary-cancer", |_| {}, decided);
    let page = page(&participant, Language::English);
    for part in [
        "extra false alarms to avoid one missed cancer",
        "Your first guess",
        "Your guess at the end",
        "at least 5.0",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let follows = page.split_once("class=\"follows\">").unwrap().1.split('<').next().unwrap();
    println!("{follows}");
    assert!(follows.contains("missed cancer") && follows.ends_with("among 1,000 people."), "{follows}");
}

#[test]
fn of_more_kinds_the_weights_are_in_order_and_of_groups_a_gap_has_its_price() {
    let triage = page(&through("multiclass-triage", |_| {}, decided), Language::English);
    // Six kinds of mistake, one of them the unit.
    assert_eq!(triage.matches("class=\"mark\"").count(), 6, "{triage}");
    let places: Vec<f64> = triage
        .split("<circle class=\"dot")
        .skip(1)
        .map(|part| part.split_once("cx=\"").unwrap().1.split('%').next().unwrap().parse().unwrap())
        .collect();
    assert!(places.windows(2).all(|pair| pair[0] >= pair[1]), "not in order: {places:?}");
    let hiring = page(&through("group-fair-hiring", |_| {}, decided), Language::English);
    assert!(
        hiring
            .contains("To shrink the gap in suited applicants turned away between women and men by 1 point")
    );
    assert!(hiring.contains("more of them per 1,000 applicants"), "{hiring}");
}

#[test]
fn the_page_tells_what_the_report_tells_and_says_why_where_that_refuses() {
    let mut refusals = vec![];
    for template in template::TEMPLATES {
        for seed in 0..6 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Some toss coins, some mostly know what they want.
            let careless = seed % 2 == 0;
            let participant = through(
                template.name,
                |_| {},
                |question| match random.random_bool(0.5) {
                    true if careless => Choice::A,
                    false if careless => Choice::B,
                    _ => decided(question),
                },
            );
            let (page, report) = (page(&participant, Language::English), person(&participant, false));
            match report.refusal {
                None => assert!(page.contains("class=\"answer\""), "{}: {page}", report.sentence),
                Some(why) => {
                    assert!(page.contains("no result follows from them: "), "{why}: {page}");
                    assert!(!page.contains("class=\"answer\"") && !page.contains("class=\"axis\""), "{page}");
                    assert!(!page.contains("result.svg"), "there is nothing to keep: {page}");
                    refusals.push(why);
                }
            }
        }
    }
    println!("{} refused: {refusals:?}", refusals.len());
    assert!(refusals.len() >= 4, "{refusals:?}");
    let one_side = through("binary-cancer", |_| {}, |_| Choice::A);
    assert!(page(&one_side, Language::English).contains("no result follows from them: "));
}

#[test]
fn a_study_that_shows_no_result_says_so() {
    let silent = through("binary-cancer", |study| study.completion.show_result = false, decided);
    let page = page(&silent, Language::English);
    assert!(
        page.contains("The research team will look at them") && !page.contains("class=\"answer\""),
        "{page}"
    );
}
