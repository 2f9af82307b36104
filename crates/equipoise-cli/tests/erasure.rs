//! Erasure and invitations beside others who write, with the real binary, and logs that older releases left behind.

mod place;

use equipoise_log::{SqliteStore, Writer};
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Error, Refusal, Service, Step, Study};
use place::Place;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

/// What a server has of a study.
fn serving(directory: &Path) -> Service {
    let text = std::fs::read_to_string(directory.join("study.toml")).unwrap();
    let design = Arc::new(Design::new(Study::parse(&text).unwrap(), directory).unwrap());
    let writer = Writer::start(SqliteStore::open(directory.join("log.sqlite")).unwrap());
    Service::new(design, writer, SystemClock, TestRandom::new(5))
}

#[test]
fn whoever_is_erased_beside_a_running_server_stays_erased_and_the_study_goes_on() {
    let place = Place::new("erasure-beside");
    place.line("new s").ok();
    place.line("lock --study s").ok();
    let service = serving(&place.0.join("s"));
    let [one, other] = [0, 1].map(|_| service.invite(1).unwrap().remove(0).session);
    let language = |language: &str| Event::LanguageChosen { language: language.to_owned() };
    service.record(&one, "phone", "k1", &language("en")).unwrap();
    place.line("erase --study s 1 --yes").ok();
    // The server has them in memory and learns of it from the log.
    let refused = service.record(&one, "phone", "k2", &language("de")).unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::Left)), "{refused}");
    assert_eq!(service.look(&one, |person| person.step()).unwrap(), Step::Withdrawn);
    service.record(&other, "phone", "k1", &language("en")).unwrap();
    let watched = place.line("watch --study s --json").json();
    assert_eq!((&watched["invited"], &watched["erased"]), (&2.into(), &1.into()));
    assert_eq!(place.line("report --study s").code, Some(1), "nobody has a metric, and that is all");
    place.line("verify --study s").ok();
}

#[test]
fn three_invitations_at_once_give_every_link_a_number_of_its_own() {
    let place = Place::new("erasure-invite");
    place.line("new s").ok();
    place.line("lock --study s").ok();
    let invite = || {
        let mut command = place.command(&["invite", "--study", "s", "--count", "25", "--json"]);
        command.stdout(Stdio::piped()).spawn().expect("the binary starts")
    };
    let running: Vec<_> = (0..3).map(|_| invite()).collect();
    let mut numbers = BTreeSet::new();
    for child in running {
        let done = child.wait_with_output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one JSON document");
        numbers.extend(
            told["links"].as_array().unwrap().iter().map(|link| link["participant"].as_u64().unwrap()),
        );
    }
    assert!(numbers.into_iter().eq(1..=75));
}

/// A log that a release without tombstones wrote: participant 1 was erased beside a server that went on writing for them,
/// participant 2 was erased and that was all, 3 has answered, 4 has not come.
#[test]
fn a_log_of_an_older_release_opens_and_what_was_broken_in_it_is_repaired() {
    let place = Place::new("erasure-older");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before-tombstones");
    for file in ["study.toml", "study.lock", "log.sqlite"] {
        std::fs::copy(from.join(file), place.0.join(file)).unwrap();
    }
    let watched = place.line("watch --json").json();
    assert_eq!(
        (&watched["invited"], &watched["erased"], &watched["answers"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert_eq!(place.line("report").code, Some(1), "two answers make no metric, and that is all");
    assert_eq!(place.line("export").out.lines().count(), 3, "a line for each answer, and one above them");
    let verified = place.line("verify");
    assert_eq!(verified.code, Some(1), "{}{}", verified.out, verified.err);
    assert!(verified.out.contains("6 events came in of people who had been erased"), "{}", verified.out);
    let repaired = place.line("verify --repair").ok();
    assert!(
        repaired.contains("a copy of the log is") && place.has("log.sqlite.before-repair-1"),
        "{repaired}"
    );
    for log in ["log.sqlite", "log.sqlite.before-repair-1"] {
        let held = SqliteStore::open_copy(place.0.join(log)).unwrap();
        assert_eq!(equipoise_study::verify(&held).unwrap().stray, 0, "{log}");
    }
    let verified = place.line("verify --repair").ok();
    assert!(!verified.contains("copy") && !place.has("log.sqlite.before-repair-2"), "{verified}");
    assert_eq!(place.line("watch --json").json()["answers"], 2);
    place.line("erase 3 --yes").ok();
    assert_eq!(place.line("erase 1 --yes").code, Some(2), "erased already");
    assert_eq!(place.line("watch --json").json()["erased"], 3);
}
