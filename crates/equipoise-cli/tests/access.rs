//! Tokens for scripts, who participants are, and their rights: with the real binary.

mod place;

use place::{Place, Run};
use serde_json::Value;

const PASSWORD: &str = "three small boats\n";

/// What a command printed, at any width, if it did what it should.
trait Told {
    fn told(self) -> String;
}

impl Told for Run {
    #[track_caller]
    fn told(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        self.out
    }
}

/// A locked study that keeps what a panel passes along, with an owner and a viewer.
fn study(name: &str) -> Place {
    let place = Place::new(name);
    place.line("study new cancer").told();
    let text = place.read("cancer/study.toml");
    assert!(text.contains("[completion]"), "{text}");
    place.write(
        "cancer/study.toml",
        &text.replace("[completion]", "[completion]\nparameters = [\"PROLIFIC_PID\"]"),
    );
    place.line("study lock cancer").told();
    for (account, role) in [("ana", "owner"), ("vic", "viewer")] {
        place.run_with(&["study", "account", "add", "cancer", account, "--role", role], PASSWORD).told();
    }
    place
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let place = study("access-tokens");
    let add = |rest: &str| place.line(&format!("study account token add cancer {rest}"));
    let said = add("ana --name nightly --scope export --scope read:aggregate --days 30").told();
    let (token, sentence) = said.split_once('\n').unwrap();
    assert!(token.starts_with("eqp_") && token.len() == 44, "{token}");
    assert_eq!(
        sentence,
        "It may read read:aggregate, export for 30 days.\nKeep it now: it is printed once and kept nowhere.\n"
    );
    let list = place.line("study account token list cancer").told();
    assert!(list.contains("nightly") && list.contains("never") && !list.contains(token), "{list}");
    let document = place.line("study account token list cancer --json").json();
    assert_eq!(document["tokens"][0]["scopes"], "read:aggregate export");
    assert_eq!(document["tokens"][0]["expired"], false);
    add("ana --name nightly --scope export --days 30").fails(2, "there is a token \"nightly\" already");
    add("eva --name more --scope export --days 30").fails(2, "there is no account \"eva\"");
    add("vic --name more --scope export --days 30").fails(2, "vic is viewer and may not give a token export");
    add("ana --name Nightly --scope export --days 30").fails(
        2,
        "\"Nightly\" cannot be the name of a token, expected up to 40 lower-case letters, digits, hyphens, points or \
         underscores",
    );
    for (wrong, word) in [
        ("ana --name more --scope write --days 30", "read:aggregate, read:answers, export"),
        ("ana --name more --scope export --days 0", "1..=365"),
        ("ana --name more --scope export --days 366", "1..=365"),
        ("ana --name more --scope export", "--days"),
        ("ana --name more --days 3", "--scope"),
    ] {
        let run = add(wrong);
        assert!(run.code == Some(2) && run.err.contains(word) && run.out.is_empty(), "{wrong}: {}", run.err);
    }
    let gone = place.line("study account token revoke cancer nightly").told();
    assert_eq!(gone, "The token nightly is revoked; it opens nothing any more.\n");
    place.line("study account token revoke cancer nightly").fails(2, "there is no token \"nightly\"");
    assert!(place.line("study account token list cancer").told().starts_with("No tokens"));
}

#[test]
fn who_participants_are_is_for_the_owner_and_nowhere_in_the_clear() {
    let place = study("access-contacts");
    place.write("people.txt", "canary-ana@example.org\n\n  canary-ben, desk 4  \n");
    let said = place.line("study invite cancer --for people.txt --out links.csv").told();
    assert_eq!(said, "Wrote 2 links to links.csv.\n");
    let links = place.read("links.csv");
    assert!(
        links.starts_with("participant,link,contact\n1,http") && links.contains(",\"canary-ben, desk 4\"\n"),
        "{links}"
    );
    let known = place.line("study contacts cancer --json").json();
    assert_eq!(known["contacts"][1]["known"]["contact"], "canary-ben, desk 4", "{known}");
    assert!(place.line("study contacts cancer").told().contains("canary-ana@example.org"));
    for file in std::fs::read_dir(place.0.join("cancer")).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        let found = bytes.windows(7).any(|window| window == b"canary-");
        assert!(!found, "{} holds contact data in the clear", file.path().display());
    }
    for command in ["study export cancer --json", "study report cancer --json", "study watch cancer --json"] {
        let run = place.line(command);
        // Nobody has answered, so a report finds no metric.
        assert_eq!(run.code, Some(i32::from(command.starts_with("study report"))), "{command}");
        assert!(!run.out.contains("canary-") && !run.err.contains("canary-"), "{command}");
    }
    place.line("study backup cancer copy.sqlite").told();
    assert!(
        !String::from_utf8_lossy(&std::fs::read(place.0.join("copy.sqlite")).unwrap()).contains("canary-")
    );
    // All there is about one of them.
    let person = place.line("study export-person cancer 2").json();
    assert_eq!(
        (&person["participant"], &person["events"][0]["event"]["event"]),
        (&2.into(), &"invited".into())
    );
    assert_eq!(person["contact"]["contact"], "canary-ben, desk 4");
    let said = place.line("study export-person cancer 2 --out two.json").told();
    assert_eq!(said, "Wrote all there is about participant 2 to two.json: 1 event.\n");
    #[cfg(unix)]
    for file in ["two.json", "links.csv"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(place.0.join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "others can read {file}");
    }
    let again: Value = serde_json::from_str(&place.read("two.json")).unwrap();
    assert_eq!(again["events"], person["events"]);
    place.line("study export-person cancer 9").fails(2, "there is no participant 9");
    // Whoever is erased is forgotten.
    place.line("study erase cancer 2 --yes").told();
    let known = place.line("study contacts cancer --json").json();
    assert_eq!(known["contacts"].as_array().unwrap().len(), 1, "{known}");
    place.line("study export-person cancer 2").fails(2, "there is no participant 2");
    place
        .line("study contacts cancer --forget")
        .fails(2, "this deletes who every participant is, for good; add --yes");
    let said = place.line("study contacts cancer --forget --yes").told();
    assert_eq!(said, "Contact data of 1 participant are deleted, and their key; all answers stay.\n");
    assert!(!place.has("cancer/contacts.key") && !place.has("cancer/contacts.sqlite"));
    assert_eq!(place.line("study contacts cancer").told(), "Nobody said who participants are.\n");
    place.line("study verify cancer").told();
}

#[test]
fn a_list_of_people_that_cannot_be_used_invites_nobody() {
    let place = study("access-labels");
    let invite = || place.line("study invite cancer --for people.txt");
    invite().fails(3, "cannot read people.txt: no such file or directory");
    place.write("people.txt", &format!("ana\n{}\n", "x".repeat(201)));
    invite().fails(2, "people.txt: line 2: it has 201 characters, expected 1 to 200");
    place.write("people.txt", "ana\nb\u{7}n\n");
    invite().fails(2, "people.txt: line 2: it has the control character '\\u{7}'");
    for nothing in ["", "\n  \n"] {
        place.write("people.txt", nothing);
        invite().fails(2, "people.txt has no lines, expected one for each participant");
    }
    let long = std::fs::File::create(place.0.join("people.txt")).unwrap();
    long.set_len(17 << 20).unwrap();
    invite().fails(2, "people.txt has more than 16 MB, expected a line for each participant");
    #[cfg(unix)]
    place
        .line("study invite cancer --for /dev/zero")
        .fails(2, "/dev/zero is neither a file nor a pipe, expected a line for each participant");
    let both = place.line("study invite cancer --for people.txt --count 3");
    assert!(both.code == Some(2) && both.err.contains("cannot be used with"), "{}", both.err);
    assert_eq!(place.line("study verify cancer --json").json()["sessions"], 0);
}

#[test]
fn a_lost_key_is_said_before_anybody_is_asked() {
    let place = study("access-key");
    place.write("people.txt", "ana\n");
    place.line("study invite cancer --for people.txt").told();
    std::fs::remove_file(place.0.join("cancer/contacts.key")).unwrap();
    for command in ["study serve cancer --listen 127.0.0.1:0", "study contacts cancer"] {
        let run = place.line(command);
        assert!(
            run.code == Some(3) && run.err.contains("contacts.sqlite is there without its key"),
            "{}",
            run.err
        );
    }
    // What needs no names goes on, and what cannot be read can be deleted.
    place.line("study export cancer").told();
    place.line("study invite cancer").told();
    place.line("study erase cancer 1 --yes").told();
    place.line("study contacts cancer --forget --yes").told();
    place.line("study contacts cancer").told();
}

#[test]
fn how_long_data_are_kept_is_in_the_study_and_the_record() {
    let place = Place::new("access-retention");
    place.line("study new cancer").told();
    let none = "The study file has no [retention]: nothing is deleted by itself.\n";
    place.line("study lock cancer").told();
    place.line("study invite cancer").told();
    assert_eq!(place.line("study retain cancer").told(), none);
    let record = place.line("study processing cancer").told();
    assert!(record.contains("the study file has no limit"), "{record}");
    let text = place.read("cancer/study.toml");
    place
        .write("cancer/study.toml", &format!("{text}\n[retention]\ncontact_days = 30\nanswers_days = 365\n"));
    let said = place.line("study retain cancer").told();
    assert_eq!(
        said,
        "Due: the contact data of 0 participants, and all of 0 participants. Add --yes to delete it.\n"
    );
    let done = place.line("study retain cancer --yes --json").json();
    assert_eq!((&done["people"], &done["deleted"]), (&0.into(), &true.into()), "{done}");
    assert_eq!(
        place.line("study processing cancer --out r.md").told(),
        "Wrote the record of processing to r.md.\n"
    );
    assert!(place.read("r.md").contains("Everything else of theirs: deleted 365 days after"));
    place.write("cancer/study.toml", &format!("{text}\n[retention]\ncontact_days = 0\n"));
    let run = place.line("study retain cancer");
    assert!(run.code == Some(2) && run.err.contains("expected a number in [1, 36500]"), "{}", run.err);
}

/// Two people of 1970, by a clock for tests.
#[cfg(unix)]
fn two_of_1970(place: &Place) {
    use equipoise_log::{SqliteStore, Writer};
    use equipoise_study::contacts::Contacts;
    use equipoise_study::seams::{TestClock, TestRandom};
    use equipoise_study::{Design, Service, Study};
    let directory = place.0.join("cancer");
    let study = Study::parse(&place.read("cancer/study.toml")).unwrap();
    let design = std::sync::Arc::new(Design::new(study, &directory).unwrap());
    let writer = Writer::start(SqliteStore::open(directory.join("log.sqlite")).unwrap());
    let service = Service::new(design, writer, TestClock::default(), TestRandom::new(4));
    let service = service.with_contacts(Contacts::beside(&directory));
    service.invite_people(&["ana".to_owned(), "ben".to_owned()]).unwrap();
}

#[cfg(unix)]
#[test]
fn a_clock_far_beyond_the_log_deletes_nothing_until_somebody_says_it_is_right() {
    use std::io::{BufRead as _, BufReader};
    let place = Place::new("access-clock");
    place.line("study new cancer").told();
    let text = place.read("cancer/study.toml");
    place.write("cancer/study.toml", &format!("{text}\n[retention]\nanswers_days = 365\n"));
    two_of_1970(&place);
    place.line("study lock cancer").told();
    let erased = || place.line("study verify cancer --json").json()["erased"].clone();
    let mut server = place
        .command(&["study", "serve", "cancer", "--listen", "127.0.0.1:0", "--invite", "1"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut said).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(said.contains("nothing is deleted by itself"), "{said}");
    assert_eq!(erased(), 0);
    let due = place.line("study retain cancer").told();
    assert!(due.contains("all of 2 participants") && due.contains("seen nothing after 1970-01-01"), "{due}");
    place.line("study retain cancer --yes").told();
    assert_eq!(erased(), 2);
}

#[cfg(unix)]
#[test]
fn a_study_that_is_served_deletes_what_is_past_its_time_by_itself() {
    use equipoise_study::contacts::Contacts;
    let place = Place::new("access-timer");
    place.line("study new cancer").told();
    let text = place.read("cancer/study.toml");
    place.write("cancer/study.toml", &format!("{text}\n[retention]\nanswers_days = 365\n"));
    place.line("study lock cancer").told();
    let directory = place.0.join("cancer");
    two_of_1970(&place);
    place.line("study invite cancer").told();
    let erased = || place.line("study verify cancer --json").json()["erased"].clone();
    assert_eq!(erased(), 0);
    let mut server = place
        .command(&["study", "serve", "cancer", "--listen", "127.0.0.1:0"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the binary runs");
    let begun = std::time::Instant::now();
    while erased() != 2 && begun.elapsed() < std::time::Duration::from_secs(30) {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let stop = std::process::Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(stop.success() && server.wait().unwrap().success());
    assert_eq!(erased(), 2, "the one who was invited today stays");
    assert!(Contacts::beside(&directory).sessions().unwrap().is_empty());
}

#[test]
fn contact_data_that_cannot_be_read_keep_nobody_from_being_erased() {
    let place = Place::new("access-damaged");
    place.line("study new cancer").told();
    place.line("study lock cancer").told();
    place.write("people.txt", "Ana\nBen\n");
    place.line("study invite cancer --for people.txt").told();
    place.write("cancer/contacts.sqlite", "nonsense");
    let said = place.line("study erase cancer 1 --yes");
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    assert!(said.err.contains("the contact data could not be used"), "{}", said.err);
    assert_eq!(place.line("study watch cancer --json").json()["erased"], 1);
}

#[test]
fn commands_hide_what_is_blinded() {
    use equipoise_study::event::{Action, Admin};
    use equipoise_study::seams::{SystemClock, SystemRandom};
    let place = Place::new("access-blinded");
    place.line("study new cancer").told();
    place.line("study lock cancer").told();
    place.line("study invite cancer").told();
    {
        let mut store = equipoise_log::SqliteStore::open(place.0.join("cancer/log.sqlite")).unwrap();
        let blinded = Admin::new("ana", Action::Blinded { blinded: true });
        equipoise_study::audit::note(&mut store, blinded, &SystemClock, &SystemRandom).unwrap();
    }
    for command in ["report", "export"] {
        let said = place.run(&["study", command, "cancer"]);
        assert!(said.code == Some(2) && said.out.is_empty(), "{}", said.out);
        assert!(said.err.contains("the study is blinded, so results are hidden"), "{}", said.err);
    }
    assert!(place.line("study watch cancer").told().contains("hidden"));
    place.line("study export cancer --unblinded").told();
    let log = equipoise_log::SqliteStore::open_copy(place.0.join("cancer/log.sqlite")).unwrap();
    let last = equipoise_log::Reader::session(&log, "study").unwrap().pop().unwrap();
    assert!(last.payload.unwrap().body.contains("csv, unblinded"), "it is written down");
}
