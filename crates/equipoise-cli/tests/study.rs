//! The commands of a study, with the real binary: from a template to a backup.

use equipoise_log::{SqliteStore, Writer};
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Service, Study};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory for the test");
    path
}

/// Output, error and exit code.
fn run(directory: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
    let output = command.args(arguments).current_dir(directory).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().expect("a code"))
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    let (out, err, code) = run(directory, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).expect("one JSON document")
}

/// Somebody opens the link and chooses a language, as a server would record it.
fn open_link(directory: &Path, token: &str) {
    let study = Study::parse(&std::fs::read_to_string(directory.join("study.toml")).unwrap()).unwrap();
    let design = Arc::new(Design::new(study, directory).unwrap());
    let writer = Writer::start(SqliteStore::open_existing(directory.join("log.sqlite")).unwrap());
    let service = Service::new(design, writer, SystemClock, TestRandom::new(1));
    let session = service.open(token).unwrap().expect("the link opens");
    let event = Event::LanguageChosen { language: "de".to_owned() };
    service.record(&session, "phone", "key", &event).unwrap();
}

#[test]
fn a_study_from_its_template_to_a_restored_backup() {
    let directory = place("study-whole");
    assert_eq!(run(&directory, &["study", "new", "cancer"]).2, 0);
    assert_eq!(run(&directory, &["study", "new", "cancer"]).2, 2, "a study is never written over");
    let inside = directory.join("cancer");
    assert_eq!(json(&inside, &["study", "check", "."])["ready"], true);
    let (_, err, code) = run(&inside, &["study", "invite", "."]);
    assert_eq!(
        (code, err.as_str()),
        (2, "error: the study is not locked yet; do it with: equipoise study lock .\n")
    );
    let hash = json(&inside, &["study", "lock", "."])["hash"].clone();
    assert_eq!(json(&inside, &["study", "lock", "."])["hash"], hash, "locking twice changes nothing");
    let links =
        json(&inside, &["study", "invite", ".", "--count", "3", "--url", "https://study.example.org/"]);
    let link = links["links"][1]["link"].as_str().unwrap();
    let token = link.strip_prefix("https://study.example.org/s/").unwrap();
    open_link(&inside, token);
    assert_eq!(json(&inside, &["study", "watch", "."])["people"][1]["step"], "consent");
    // The lock, three invitations, a language; and that links were made and that somebody watched.
    assert_eq!(json(&inside, &["study", "verify", "."])["rows"], 7);
    assert_eq!(json(&inside, &["study", "backup", ".", "copy.sqlite"])["rows"], 7);
    assert_eq!(run(&inside, &["study", "erase", ".", "2"]).2, 2, "erasing asks for --yes");
    let receipt = json(&inside, &["study", "erase", ".", "2", "--yes"])["receipt"].clone();
    assert_eq!(run(&inside, &["study", "verify", ".", "--receipt", receipt.as_str().unwrap()]).2, 0);
    assert_eq!(json(&inside, &["study", "restore", ".", "copy.sqlite"])["erased_again"], 1);
    assert_eq!(json(&inside, &["study", "verify", "."])["erased"], 1);
    assert_eq!(run(&inside, &["study", "export", "."]).0.lines().count(), 1, "a header and no answers yet");
    let said = json(&inside, &["study", "export", ".", "--table", "questionnaire"]);
    assert_eq!(said["questionnaire"].as_array().unwrap().len(), 0);
    assert_eq!(json(&inside, &["study", "export", ".", "--as", "parquet", "--out", "a.parquet"])["rows"], 0);
    assert!(std::fs::read(inside.join("a.parquet")).unwrap().starts_with(b"PAR1"));
    let files = json(&inside, &["study", "export", ".", "--as", "psych-ds", "--out", "set"])["files"].clone();
    for file in files.as_array().unwrap() {
        assert!(inside.join("set").join(file.as_str().unwrap()).is_file(), "{file}");
    }
    assert!(files.to_string().contains("data/study-cancer_version-1_table-answers_data.csv"), "{files}");
    for (arguments, sentence) in [
        (
            ["study", "export", ".", "--as", "psych-ds", "--out", "set"],
            "error: set is there already, expected a new directory\n",
        ),
        (
            ["study", "export", ".", "--as", "psych-ds", "--out", "-"],
            "error: a data set is a directory; name it with --out\n",
        ),
    ] {
        let (_, err, code) = run(&inside, &arguments);
        assert_eq!((code, err.as_str()), (2, sentence));
    }
    assert!(run(&inside, &["study", "report", "."]).0.starts_with("Nobody has answered"));
}

#[test]
fn a_locked_study_that_changes_needs_a_new_version() {
    let directory = place("study-versions");
    run(&directory, &["study", "new", "cancer"]);
    let inside = directory.join("cancer");
    json(&inside, &["study", "lock", "."]);
    let file = inside.join("study.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("regret = 0.04 ", "regret = 0.03 ")).unwrap();
    for command in ["lock", "invite"] {
        let (_, err, code) = run(&inside, &["study", command, "."]);
        let expected = "error: the study changed after version 1 was locked; set version = 2 and lock it\n";
        assert_eq!((code, err.as_str()), (2, expected));
        // Whoever looks is told, too.
        let (out, _, code) = run(&inside, &["study", "check", "."]);
        assert!(code == 1 && out.contains("the study changed after version 1 was locked"), "{code} {out}");
        let (_, err, _) = run(&inside, &["study", "report", "."]);
        assert!(err.contains("note: the study changed after version 1 was locked"), "{err}");
    }
    std::fs::write(
        &file,
        text.replace("regret = 0.04 ", "regret = 0.03 ").replace("version = 1 ", "version = 2 "),
    )
    .unwrap();
    assert_eq!(json(&inside, &["study", "lock", "."])["version"], 2);
    std::fs::write(&file, text.replace("cap = 20", "cap = \"many\"")).unwrap();
    let (_, err, code) = run(&inside, &["study", "check", "."]);
    let line = 1 + text.lines().position(|line| line.starts_with("cap = 20")).unwrap();
    assert_eq!(code, 2);
    assert!(err.starts_with(&format!("error: ./study.toml: line {line}: ")), "{err}");
}

#[test]
fn a_report_of_a_study_that_was_changed_says_whose_answers_it_leaves_out() {
    let directory = place("study-changed");
    run(&directory, &["study", "new", "cancer"]);
    let inside = directory.join("cancer");
    json(&inside, &["study", "lock", "."]);
    answered(&inside, 3);
    let file = inside.join("study.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("regret = 0.04 ", "regret = 0.03 ")).unwrap();
    let (out, err, _) = run(&inside, &["study", "report", "."]);
    assert!(err.contains("note: the study changed after version 1 was locked"), "{err}");
    assert!(
        out.starts_with(
            "Nobody has answered a comparison of this version of the study yet; people were invited"
        ),
        "{out}"
    );
}

#[test]
fn a_changed_log_ends_in_exit_code_4() {
    let directory = place("study-damage");
    run(&directory, &["study", "new", "cancer"]);
    let inside = directory.join("cancer");
    json(&inside, &["study", "lock", "."]);
    json(&inside, &["study", "invite", ".", "--count", "2"]);
    // A backup is one file; the log itself may still have rows in its write-ahead file.
    json(&inside, &["study", "backup", ".", "whole.sqlite"]);
    let file = inside.join("log.sqlite");
    for old in ["log.sqlite-wal", "log.sqlite-shm"] {
        let _ = std::fs::remove_file(inside.join(old));
    }
    std::fs::rename(inside.join("whole.sqlite"), &file).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(9).position(|window| window == b"\"number\":").expect("an invitation in the file");
    bytes[at + 9] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    for command in ["verify", "export", "report"] {
        let (_, err, code) = run(&inside, &["study", command, "."]);
        assert_eq!(code, 4, "{command}: {err}");
    }
}

#[test]
fn a_report_is_the_same_page_in_every_process() {
    let directory = place("study-report");
    run(&directory, &["study", "new", "cancer"]);
    let inside = directory.join("cancer");
    json(&inside, &["study", "lock", "."]);
    answered(&inside, 2);
    for name in ["first.html", "again.html"] {
        let (out, err, code) = run(&inside, &["study", "report", ".", "--html", name]);
        assert_eq!((code, out.as_str()), (0, format!("Report: {name}\n").as_str()), "{err}");
    }
    let read = |name: &str| std::fs::read_to_string(inside.join(name)).unwrap();
    assert!(read("first.html") == read("again.html"));
    let study = Study::parse(&read("study.toml")).unwrap();
    let design = Arc::new(Design::new(study, &inside).unwrap());
    let store = SqliteStore::open_existing(inside.join("log.sqlite")).unwrap();
    let head = equipoise_study::verify(&store).unwrap().data_head;
    let people = equipoise_study::people::participants(&design, &store).unwrap();
    let options = equipoise_report::Options { why: true, ..Default::default() };
    let report = equipoise_report::report(&design, &people, &head, &options);
    assert!(
        equipoise_report::html(&design, &report) == read("first.html"),
        "this process writes another page"
    );
    assert_eq!(json(&inside, &["study", "report", ".", "--participant", "2"])["people"][0]["participant"], 2);
    let (_, err, code) = run(&inside, &["study", "report", ".", "--participant", "9"]);
    let expected = "error: participant 9 has answered no comparison of this version of the study\n";
    assert_eq!((code, err.as_str()), (2, expected));
    assert_eq!(json(&inside, &["study", "report", ".", "--shared"])["people"].as_array().unwrap().len(), 0);
}

/// Some people choose the system that misses fewer, every time.
fn answered(directory: &Path, count: usize) {
    use equipoise_study::Step;
    use equipoise_study::event::{Answered, Choice, Side};
    let study = Study::parse(&std::fs::read_to_string(directory.join("study.toml")).unwrap()).unwrap();
    let design = Arc::new(Design::new(study, directory).unwrap());
    let writer = Writer::start(SqliteStore::open_existing(directory.join("log.sqlite")).unwrap());
    let service = Service::new(design, writer, SystemClock, TestRandom::new(2));
    for invitation in service.invite(count).unwrap() {
        for step in 0.. {
            let next = service.look(&invitation.session, |participant| {
                Some(match participant.step() {
                    Step::Language => Event::LanguageChosen { language: "en".to_owned() },
                    Step::Consent => Event::ConsentGiven {
                        text: participant.consent_hash(),
                        device: "phone".to_owned(),
                        external: Default::default(),
                    },
                    Step::Questionnaire(position) => {
                        Event::QuestionnaireAnswered { position, answers: Default::default() }
                    }
                    Step::StatedCost(when) => {
                        Event::StatedCost { when, ratio: Some(10.0), low: None, high: None }
                    }
                    Step::Consequences => Event::ConsequencesRead,
                    Step::Picture { question, .. } => Event::PictureAnswered { question, option: 0 },
                    Step::Practice(number) => Event::PracticeDone { number, choice: Choice::A },
                    Step::Compare => {
                        let question = participant.pending().expect("a comparison is on the screen");
                        let fewer = question.asked.fewer_missed == Side::A;
                        Event::Answered(Answered {
                            asked: question.seq,
                            choice: if fewer { Choice::A } else { Choice::B },
                            response_ms: Some(2_000),
                            hidden_ms: 0,
                            rates: false,
                            pressed_left: None,
                        })
                    }
                    Step::Finish => Event::Completed,
                    Step::Result | Step::Screened | Step::Withdrawn => return None,
                })
            });
            let Some(event) = next.unwrap() else { break };
            service.record(&invitation.session, "phone", &format!("key-{step}"), &event).unwrap();
        }
    }
}
