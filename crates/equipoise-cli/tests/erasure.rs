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
    place.line("study new s").ok();
    place.line("study lock s").ok();
    let service = serving(&place.0.join("s"));
    let [one, other] = [0, 1].map(|_| service.invite(1).unwrap().remove(0).session);
    let language = |language: &str| Event::LanguageChosen { language: language.to_owned() };
    service.record(&one, "phone", "k1", &language("en")).unwrap();
    place.line("study erase s 1 --yes").ok();
    // The server has them in memory and learns of it from the log.
    let refused = service.record(&one, "phone", "k2", &language("de")).unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::Left)), "{refused}");
    assert_eq!(service.look(&one, |person| person.step()).unwrap(), Step::Withdrawn);
    service.record(&other, "phone", "k1", &language("en")).unwrap();
    let watched = place.line("study watch s --json").json();
    assert_eq!((&watched["invited"], &watched["erased"]), (&2.into(), &1.into()));
    assert_eq!(place.line("study report s").code, Some(1), "nobody has a metric, and that is all");
    place.line("study verify s").ok();
}

#[test]
fn three_invitations_at_once_give_every_link_a_number_of_its_own() {
    let place = Place::new("erasure-invite");
    place.line("study new s").ok();
    place.line("study lock s").ok();
    let invite = || {
        let mut command = place.command(&["study", "invite", "s", "--count", "25", "--json"]);
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
    let watched = place.line("study watch . --json").json();
    assert_eq!(
        (&watched["invited"], &watched["erased"], &watched["answers"]),
        (&4.into(), &2.into(), &2.into())
    );
    assert_eq!(place.line("study report .").code, Some(1), "two answers make no metric, and that is all");
    assert_eq!(
        place.line("study export .").out.lines().count(),
        3,
        "a line for each answer, and one above them"
    );
    let verified = place.line("study verify .");
    assert_eq!(verified.code, Some(1), "{}{}", verified.out, verified.err);
    assert!(verified.out.contains("6 events came in of people who had been erased"), "{}", verified.out);
    let repaired = place.line("study verify . --repair").ok();
    assert!(
        repaired.contains("a copy of the log is") && place.has("log.sqlite.before-repair-1"),
        "{repaired}"
    );
    for log in ["log.sqlite", "log.sqlite.before-repair-1"] {
        let held = SqliteStore::open_copy(place.0.join(log)).unwrap();
        assert_eq!(equipoise_study::verify(&held).unwrap().stray, 0, "{log}");
    }
    let verified = place.line("study verify . --repair").ok();
    assert!(!verified.contains("copy") && !place.has("log.sqlite.before-repair-2"), "{verified}");
    assert_eq!(place.line("study watch . --json").json()["answers"], 2);
    place.line("study erase . 3 --yes").ok();
    assert_eq!(place.line("study erase . 1 --yes").code, Some(2), "erased already");
    assert_eq!(place.line("study watch . --json").json()["erased"], 3);
}

/// Whether a text is anywhere in the files of a directory, and how often.
fn found(directory: &Path, text: &str) -> usize {
    // Whoever closes the log takes its write-ahead file along.
    let files =
        std::fs::read_dir(directory).unwrap().flatten().filter_map(|file| std::fs::read(file.path()).ok());
    files.map(|bytes| bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()).sum()
}

#[test]
fn whoever_kept_the_links_does_not_find_the_rows_of_somebody_erased_and_nothing_is_left_behind_a_reader() {
    let place = Place::new("erasure-unlinked");
    place.line("study new s").ok();
    place.line("study lock s").ok();
    let directory = place.0.join("s");
    let service = serving(&directory);
    let [one, other] = [0, 1].map(|_| service.invite(1).unwrap().remove(0));
    for invitation in [&one, &other] {
        let text = service.look(&invitation.session, |person| person.consent_hash()).unwrap();
        let language = Event::LanguageChosen { language: "en".to_owned() };
        let device = format!("canary-device-{}", invitation.number);
        let consent = Event::ConsentGiven { text, device: device.clone(), external: Default::default() };
        for event in [language, consent] {
            let key = format!("canary-key-{}-{}", invitation.number, event.body().len());
            service.record(&invitation.session, &device, &key, &event).unwrap();
        }
    }
    drop(service);
    assert!(found(&directory, "canary-device-1") > 0 && found(&directory, "canary-key-1") > 0);
    // Somebody reads the log for a second, and longer than it takes to erase.
    let reader = rusqlite::Connection::open(directory.join("log.sqlite")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let rows: u64 = reader.query_row("SELECT count(*) FROM payload", [], |row| row.get(0)).unwrap();
    assert!(rows > 5);
    let begun = std::time::Instant::now();
    let erasing =
        place.command(&["study", "erase", "s", "1", "--yes"]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    reader.execute_batch("ROLLBACK").unwrap();
    assert!(erasing.wait_with_output().unwrap().status.success());
    assert!(begun.elapsed().as_secs_f64() > 1.0, "said to be erased while it could be read");
    for canary in ["canary-device-1", "canary-key-1"] {
        assert_eq!(found(&directory, canary), 0, "{canary}");
    }
    assert!(found(&directory, "canary-device-2") > 0);
    assert_eq!(found(&directory, &one.session), 1, "only that nothing may come under this name again");
    let log = SqliteStore::open_copy(directory.join("log.sqlite")).unwrap();
    equipoise_log::each(&log, |row| {
        let blank = row.payload.is_none();
        assert!(row.session != one.session && (!blank || row.at == 0), "{row:?}");
        Ok::<_, equipoise_log::Error>(())
    })
    .unwrap();
    drop(log);
    // The link says that they have left, and nothing begins under it.
    let service = serving(&directory);
    assert_eq!(service.open(&one.token).unwrap().as_deref(), Some(one.session.as_str()));
    assert_eq!(service.look(&one.session, |person| person.step()).unwrap(), Step::Withdrawn);
    let again = service.invite_token(one.token.clone()).unwrap_err();
    assert!(matches!(again, Error::Refused(Refusal::Left)), "{again}");
    assert_eq!(service.invite(1).unwrap()[0].number, 3, "numbers go on");
    drop(service);
    place.line("study verify s").ok();
    let watched = place.line("study watch s --json").json();
    assert_eq!((&watched["invited"], &watched["erased"]), (&3.into(), &1.into()));
    place.line("study erase s 1 --yes").fails(2, "participant 1 was erased already");
}

#[test]
fn an_erasure_that_somebody_is_in_the_way_of_is_told_and_finished() {
    let place = Place::new("erasure-unfinished");
    place.line("study new s").ok();
    place.line("study lock s").ok();
    let directory = place.0.join("s");
    let service = serving(&directory);
    let [one, _] = [0, 1].map(|_| service.invite(1).unwrap().remove(0));
    let language = Event::LanguageChosen { language: "en".to_owned() };
    service.record(&one.session, "canary-device", "canary-key", &language).unwrap();
    drop(service);
    let read = || {
        let reader = rusqlite::Connection::open(directory.join("log.sqlite")).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM payload", [], |row| row.get::<_, u64>(0)).unwrap();
        reader
    };
    let reader = read();
    let waited = place.line("study erase s 1 --yes");
    waited.fails(
        3,
        "the log could not be used: somebody reads it, so what was erased is still in its files; let them end, and erase again",
    );
    // Nothing looks into the files here before they end: closing a file drops the locks of this whole process on it.
    let verified = place.line("study verify s");
    assert_eq!(verified.code, Some(1), "{}", verified.err);
    assert!(verified.out.contains("1 erased") && verified.out.contains("may still hold what was erased"));
    assert_eq!(place.line("study verify s --json").document(1)["unfinished_erasure"], true);
    let watched = place.line("study watch s").ok_wide();
    assert!(watched.contains("its files may still hold what was erased"), "{watched}");
    assert_eq!(place.line("study watch s --json").json()["unfinished_erasure"], true);
    drop(reader);
    let told = place.line("study erase s 1 --yes").ok();
    assert_eq!(told, "Participant 1 was erased already; what was erased is gone from the files now, too.\n");
    assert_eq!(found(&directory, "canary-key"), 0);
    place.line("study erase s 1 --yes").fails(2, "participant 1 was erased already");
    for line in ["study verify s", "study watch s"] {
        assert!(!place.line(line).ok_wide().contains("still hold"), "{line}");
    }
    let audit = SqliteStore::open_copy(directory.join("log.sqlite")).unwrap();
    let bodies = equipoise_log::rows(&audit).unwrap().into_iter().filter_map(|row| row.payload);
    assert_eq!(bodies.filter(|payload| payload.body.contains("\"participant\":1")).count(), 1);
    drop(audit);
    // Whoever only verifies ends it as well, as soon as nobody reads any more.
    let reader = read();
    assert_eq!(place.line("study erase s 2 --yes").code, Some(3));
    drop(reader);
    place.line("study verify s").ok();
    place.line("study erase s 2 --yes").fails(2, "participant 2 was erased already");
}
