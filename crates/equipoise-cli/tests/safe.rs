//! What must never happen to a study's data, with the real binary: lost, overwritten, read by others, rewritten.
#![cfg(unix)]

mod place;

use equipoise_log::{Reader as _, SqliteStore, Writer};
use equipoise_study::event::{Answered, Choice, Event};
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Service, Step, Study};
use place::{Place, Run};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

/// A study that is locked, with some places.
fn study(name: &str, template: &str) -> Place {
    let place = Place::new(name);
    place.run(&["study", "new", "s", "--template", template]).ok();
    place.line("study lock s").ok();
    place
}

fn mode(place: &Place, file: &str) -> u32 {
    std::fs::metadata(place.0.join(file)).expect(file).mode() & 0o777
}

fn service(directory: &Path) -> Service {
    let text = std::fs::read_to_string(directory.join("study.toml")).unwrap();
    let design = Arc::new(Design::new(Study::parse(&text).unwrap(), directory).unwrap());
    let writer = Writer::start(SqliteStore::open_existing(directory.join("log.sqlite")).unwrap());
    Service::new(design, writer, SystemClock, TestRandom::new(5))
}

/// Somebody answers the first comparisons.
fn answers(directory: &Path, count: usize) {
    let service = service(directory);
    let session = service.invite(1).unwrap().remove(0).session;
    let mut answered = 0;
    for key in 0.. {
        let event = service.look(&session, |person| match person.step() {
            Step::Language => Event::LanguageChosen { language: "en".to_owned() },
            Step::Consent => Event::ConsentGiven {
                text: person.consent_hash(),
                device: "phone".to_owned(),
                external: Default::default(),
            },
            Step::Questionnaire(position) => {
                Event::QuestionnaireAnswered { position, answers: Default::default() }
            }
            Step::StatedCost(when) => Event::StatedCost { when, ratio: None, low: None, high: None },
            Step::Consequences => Event::ConsequencesRead,
            Step::Picture { question, .. } => Event::PictureAnswered { question, option: 0 },
            Step::Practice(number) => Event::PracticeDone { number, choice: Choice::A },
            _ => Event::Answered(Answered {
                asked: person.pending().expect("a comparison").seq,
                choice: Choice::A,
                response_ms: None,
                hidden_ms: 0,
                rates: false,
                pressed_left: None,
            }),
        });
        let event = event.unwrap();
        answered += usize::from(matches!(event, Event::Answered(_)));
        service.record(&session, "phone", &format!("key-{key}"), &event).unwrap();
        if answered == count {
            return;
        }
    }
}

/// A server on the study, once it takes requests.
fn serve(place: &Place) -> Child {
    let mut server = place
        .command(&["study", "serve", "s", "--listen", "127.0.0.1:0", "--invite", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    // All it says, so that it does not write to somebody who has gone.
    let lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said: Vec<String> = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
    assert!(said[0].starts_with("Serving"), "{said:?}");
    server
}

#[test]
fn nothing_is_restored_under_a_running_server() {
    let place = study("safe-restore", "binary-cancer");
    let mut server = serve(&place);
    place.line("study backup s copy.sqlite").ok();
    answers(&place.0.join("s"), 3);
    let rows = place.line("study verify s --json").json()["rows"].clone();
    let refused = place.line("study restore s copy.sqlite");
    refused.fails(2, "the study is in use: a server or another command has its log open; stop it first");
    assert_eq!(place.line("study verify s --json").json()["rows"], rows);
    // A server that is killed leaves no lock behind.
    server.kill().unwrap();
    server.wait().unwrap();
    place.line("study restore s copy.sqlite").ok();
    place.line("study verify s").ok();
    answers(&place.0.join("s"), 1);
    place.line("study verify s").ok();
}

#[test]
fn logs_that_were_replaced_are_all_kept_and_erased_too() {
    let place = study("safe-kept", "binary-cancer");
    place.line("study backup s empty.sqlite").ok();
    answers(&place.0.join("s"), 2);
    place.line("study backup s one.sqlite").ok();
    let rows = place.line("study verify s --json").json()["rows"].as_u64().unwrap();
    let told = place.line("study restore s empty.sqlite").ok();
    // All but that the study was locked.
    let lost = rows - 1;
    assert!(
        told.contains(&format!("{lost} rows of the log that was there are not in the backup.")),
        "{told}"
    );
    let told = place.line("study restore s one.sqlite").ok();
    assert!(told.contains("1 row of the log that was there is not in the backup."), "{told}");
    let kept = ["s/log.sqlite.replaced-1", "s/log.sqlite.replaced-2"];
    assert!(kept.iter().all(|file| place.has(file)));
    let first = SqliteStore::open_copy(place.0.join(kept[0])).unwrap();
    assert_eq!(first.sessions().unwrap().len(), 1, "the log with the answers is the first one kept");
    drop(first);
    let said = place.line("study erase s 1 --yes").ok();
    assert!(said.contains("Erased in s/log.sqlite.replaced-1 as well."), "{said}");
    for file in kept.iter().chain(&["s/log.sqlite"]) {
        let bytes = std::fs::read(place.0.join(file)).unwrap();
        let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
        assert!(!holds(b"consent_given"), "{file} still holds what was erased");
    }
    place.line("study erase s 1 --yes").fails(2, "participant 1 was erased already");
    place.line("study erase s 9 --yes").fails(2, "there is no participant 9");
}

#[test]
fn links_are_never_written_over_and_nobody_else_reads_them() {
    let place = study("safe-links", "binary-cancer");
    place.line("study invite s --out links.csv").ok();
    let links = place.read("links.csv");
    place.line("study invite s --out links.csv").fails(2, "links.csv is there already, expected a new file");
    assert_eq!(place.read("links.csv"), links);
    assert_eq!(place.line("study invite s --out no/links.csv").code, Some(3));
    let people = place.line("study watch s --json").json()["invited"].clone();
    assert_eq!(people, 1, "what was refused used up no place");
    let _server = Stopped(serve(&place));
    place.line("study backup s copy.sqlite").ok();
    for file in ["links.csv", "copy.sqlite", "s/log.sqlite", "s/log.sqlite-wal", "s/log.sqlite-shm"] {
        assert_eq!(mode(&place, file), 0o600, "{file}");
    }
    for url in ["nonsense", "javascript:alert1"] {
        assert_eq!(place.run(&["study", "invite", "s", "--url", url]).code, Some(2));
    }
}

#[test]
fn what_is_no_part_of_a_log_is_found_and_so_is_one_without_rows() {
    let place = study("safe-foreign", "binary-cancer");
    answers(&place.0.join("s"), 1);
    place.line("study verify s").ok();
    let log = place.0.join("s/log.sqlite");
    let whole = place.0.join("whole.sqlite");
    place.line("study backup s whole.sqlite").ok();
    for (statement, found) in [
        ("CREATE TRIGGER quiet AFTER INSERT ON event BEGIN SELECT 1; END", "trigger \"quiet\""),
        ("CREATE TABLE notes (body TEXT)", "table \"notes\""),
        (
            "INSERT INTO payload (position, salt, body) VALUES (9000, zeroblob(32), 'left behind')",
            "an event without a row",
        ),
    ] {
        let connection = rusqlite::Connection::open(&log).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        connection.execute_batch(statement).unwrap();
        drop(connection);
        place
            .line("study verify s")
            .fails(4, &format!("what is no part of a log is in it: {found}; restore a backup"));
        std::fs::copy(&whole, &log).unwrap();
        place.line("study verify s").ok();
    }
    std::fs::remove_file(&log).unwrap();
    drop(SqliteStore::open_existing(&whole).unwrap());
    for file in ["s/log.sqlite.lock", "s/log.sqlite-wal", "s/log.sqlite-shm"] {
        let _ = std::fs::remove_file(place.0.join(file));
    }
    drop(SqliteStore::open(&log).unwrap());
    place.line("study verify s").fails(
        4,
        "the log has no rows, and study.lock says that there were some: put the log back or restore a backup",
    );
}

#[test]
fn nothing_is_written_over_a_file_of_the_study() {
    let place = study("safe-outputs", "binary-cancer");
    answers(&place.0.join("s"), 2);
    place.write("people.txt", "ann\n");
    place.line("study invite s --for people.txt --out links.csv").ok();
    let account = ["study", "account", "add", "s", "ann", "--role", "owner"];
    assert_eq!(place.run_with(&account, "three small boats").code, Some(0));
    std::os::unix::fs::symlink("s/log.sqlite", place.0.join("innocent.csv")).unwrap();
    std::os::unix::fs::symlink("s", place.0.join("other")).unwrap();
    // Whoever has the log open keeps the files beside it.
    let reader = rusqlite::Connection::open(place.0.join("s/log.sqlite")).unwrap();
    reader.query_row("SELECT count(*) FROM event", [], |row| row.get::<_, u64>(0)).unwrap();
    let own = [
        "study.toml",
        "study.lock",
        "cancer.csv",
        "log.sqlite",
        "log.sqlite-wal",
        "log.sqlite-shm",
        "log.sqlite.lock",
        "accounts.sqlite",
        "contacts.sqlite",
        "contacts.key",
    ];
    let held = || own.map(|file| std::fs::read(place.0.join("s").join(file)).expect(file));
    let before = held();
    let refuse = |line: &str, file: &str| {
        place
            .line(&format!("{line} {file}"))
            .fails(2, &format!("{file} is a file of the study, expected another name"));
    };
    for file in own {
        refuse("study export s --out", &format!("s/{file}"));
    }
    let (log, new) = ("s/log.sqlite", "s/log.sqlite.serving.lock");
    for line in [
        "study report s --html",
        "study export-person s 1 --out",
        "study processing s --out",
        "study export s --as parquet --out",
        "study export s --as json-lines --table questionnaire --out",
        "study export s --as psych-ds --out",
        "study backup s",
        "study invite s --out",
    ] {
        for file in [log, new, "innocent.csv", "other/cancer.csv", "s/../s/study.toml"] {
            refuse(line, file);
        }
    }
    assert!(held() == before, "something was written, if only to the audit log");
    for _ in 0..2 {
        place.line("study export s --out s/answers.csv").ok_wide();
    }
    place.line("study backup s s/monday.sqlite").ok_wide();
    place.line("study verify s").ok();
}

struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn answers_of_another_study_are_an_error_and_never_a_panic() {
    let place = study("safe-another", "multiclass-triage");
    answers(&place.0.join("s"), 2);
    place.line("study backup s triage.sqlite").ok();
    place.line("study new c").ok();
    place.line("study lock c").ok();
    place
        .line("study restore c triage.sqlite")
        .fails(4, "triage.sqlite is a backup of another study, expected one of this study");
    for file in ["study.toml", "cancer.csv"] {
        std::fs::copy(place.0.join("c").join(file), place.0.join("s").join(file)).unwrap();
    }
    for command in ["watch", "report"] {
        let Run { code, err, .. } = place.run(&["study", command, "s"]);
        assert_eq!(code, Some(4), "{command}: {err}");
        assert!(err.contains("a comparison of another study"), "{err}");
    }
}

#[test]
fn a_preregistration_cannot_be_rewritten() {
    let place = study("safe-lock", "binary-cancer");
    let text = place.read("s/study.toml");
    std::fs::remove_file(place.0.join("s/study.lock")).unwrap();
    place.write("s/study.toml", &text.replace("regret = 0.04 ", "regret = 0.03 "));
    place
        .line("study lock s")
        .fails(2, "the study changed after version 1 was locked; set version = 2 and lock it");
    assert!(!place.has("s/study.lock"));
    place.line("study new t").ok();
    let text = place.read("t/study.toml");
    place.write("t/study.toml", &text.replacen("predicted as", "labelled as", 1));
    let Run { code, err, .. } = place.line("study lock t");
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("the study should not be run like this") && err.lines().count() == 1, "{err}");
    assert!(!place.has("t/study.lock") && !place.has("t/log.sqlite"));
}

#[test]
fn what_is_done_on_the_command_line_is_in_the_audit() {
    let place = study("safe-audit", "binary-cancer");
    place.line("study invite s").ok();
    place.line("study backup s copy.sqlite").ok();
    place.line("study restore s copy.sqlite").ok();
    let first = place.line("study report s").text(1);
    assert_eq!(place.line("study report s").text(1), first, "looking changes no bytes");
    let table = place.line("study export s --json").json();
    assert_eq!(place.line("study export s --json").json(), table, "looking changes no bytes");
    place.line("study watch s").ok();
    place.line("study erase s 1 --yes").ok();
    let store = SqliteStore::open_copy(place.0.join("s/log.sqlite")).unwrap();
    let actions: Vec<String> = store
        .session("study")
        .unwrap()
        .iter()
        .filter_map(|row| match Event::in_row(row).unwrap() {
            Some(Event::Admin(admin)) => {
                assert_eq!(admin.account, "command line");
                let action = serde_json::to_value(&admin.action).unwrap();
                Some(action["page"].as_str().or(action["deed"].as_str()).unwrap().to_owned())
            }
            _ => None,
        })
        .collect();
    assert_eq!(actions, ["made_links", "restored", "report", "exported", "watch", "erased"]);
}

#[test]
fn a_study_that_can_only_be_read_is_read() {
    use std::os::unix::process::CommandExt as _;
    let place = study("safe-read", "binary-cancer");
    answers(&place.0.join("s"), 1);
    // The thread that wrote closes the log a moment later.
    let begun = std::time::Instant::now();
    while place.has("s/log.sqlite-wal") && begun.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let rights = |mode: u32, file: &str| {
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(place.0.join(file), rights).unwrap();
    };
    for file in ["study.toml", "study.lock", "log.sqlite", "log.sqlite.lock"] {
        rights(0o444, &format!("s/{file}"));
    }
    rights(0o555, "s");
    // Whoever may do everything is stopped by no rights; then somebody else reads.
    let root = std::fs::metadata(&place.0).unwrap().uid() == 0;
    for command in ["watch", "verify", "report", "export"] {
        let mut command = place.command(&["study", command, "s"]);
        if root {
            command.uid(65_534);
        }
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        // A report of one answer may have no metric, which is a finding.
        assert!(output.status.code() < Some(2) && err.is_empty(), "{command:?}: {:?} {err}", output.status);
    }
    rights(0o755, "s");
}

#[test]
fn what_is_wrong_is_said_in_words_people_use() {
    let place = study("safe-words", "binary-cancer");
    let text = place.read("s/study.toml");
    assert!(text.contains("\nname = \"s\""), "a study is called after its directory");
    let wrong = |from: &str, to: &str, expected: &str| {
        assert!(text.contains(from), "{from}");
        place.write("s/study.toml", &text.replacen(from, to, 1));
        let Run { code, err, .. } = place.line("study check s");
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(expected) && err.contains(": line "), "{err}");
    };
    wrong("cap = 20", "cap = -3", "found -3, expected a whole number from 0 on");
    wrong("seed = ", "seed = -", "expected a whole number from 0 on");
    wrong("version = 1 ", "version = 0 ", "version is 0, expected a whole number from 1 on");
    wrong("regret = 0.04", "width = 1e300", "stop.width is 1e300, expected");
    wrong("systems = [[50, 15, 5, 30]]", "systems = [[50, 15, 5, 31]]", "sums to 101, expected 100");
    wrong("file = \"cancer.csv\"", "file = 3", "space.file is of another kind, expected a string");
    place.write("s/study.toml", "");
    place.line("study check s").fails(3, "s/study.toml is empty, expected a study");
    place.line("study check .").fails(3, "cannot read ./study.toml: there is no study");
    place.write("s/study.toml", &text);
    let draft = Place::new("safe-draft");
    draft.line("study new s").ok();
    for line in ["study watch s", "study report s", "study erase s 1 --yes", "study export s"] {
        draft.line(line).fails(2, "the study is not locked yet; do it with: equipoise study lock s");
    }
    place
        .line("study verify s --receipt nonsense")
        .fails(2, "\"nonsense\" is not a receipt, expected one like 12-9f86d081884c7d65");
    for (line, expected) in [
        ("demo --seed abc", "expected a whole number from 0 to"),
        ("demo --seed -1", "expected a whole number from 0 to"),
        ("study serve s --origin nonsense", "expected http:// or https:// and a host"),
    ] {
        let Run { code, err, .. } = place.line(line);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(expected) && !err.contains("'-- "), "{err}");
    }
    let said = place.line("study invite s --out links.csv").ok();
    assert_eq!(said, "Wrote 1 link to links.csv.\n");
    let names: String = (0..3_000).map(|n| format!("{},0.{},g{}\n", n % 2, n % 9 + 1, n / 2)).collect();
    place.write("names.csv", &format!("y,score,group\n{names}"));
    for line in ["inspect names.csv", "score names.csv --metric accuracy"] {
        let Run { code, err, .. } = place.line(line);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("found 1500 groups, expected at most 1000"), "{err}");
    }
    assert_eq!(place.line("simulate x.json --repeat 1000000000").code, Some(2));
    place.write("t.csv", "y,score\na,0.1\nb,0.9\n");
    assert_eq!(place.line("inspect t.csv --truth nosuch").code, Some(2));
    assert_eq!(place.line("inspect t.csv --positive blue").code, Some(2));
}
