//! Who somebody is stays out of the log: for new studies, for logs of older releases, and after an erasure.

mod common;

use common::{Simulant, service_on, walk};
use equipoise_log::testing::{Before, Fault, Faulty};
use equipoise_log::{
    COMMON_SESSION, Entry, Group, MemoryStore, Payload, Row, SqliteStore, TOMBSTONE, Writer, rows, transact,
};
use equipoise_study::contacts::{Contact, Contacts, LABEL};
use equipoise_study::event::{Action, Admin, Event};
use equipoise_study::retention::Retention;
use equipoise_study::seams::{Clock, SystemClock, SystemRandom, TestClock, TestRandom};
use equipoise_study::{
    Design, Error, Service, Step, Study, Tidied, export, people, restore, template, verify, verify_of,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const CANARY: &str = "canary-7d1e";

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("equipoise-apart-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn on_disk(directory: &Path) -> Service {
    let store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
    service_on("binary-cancer", store, 5).with_contacts(Contacts::beside(directory))
}

/// The same, as a release before salted seals wrote it.
fn on_disk_before(directory: &Path) -> Service {
    let store = Before(SqliteStore::open(directory.join("log.sqlite")).unwrap());
    service_on("binary-cancer", store, 5).with_contacts(Contacts::beside(directory))
}

fn holds_canary(directory: &Path) -> bool {
    let files = std::fs::read_dir(directory).unwrap().flatten();
    files
        .filter_map(|file| std::fs::read(file.path()).ok())
        .any(|bytes| bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()))
}

fn panel(value: &str) -> Contact {
    [("PROLIFIC_PID".to_owned(), value.to_owned())].into()
}

fn consent(service: &Service, session: &str, external: Contact) -> Event {
    let language = Event::LanguageChosen { language: "en".to_owned() };
    service.record(session, "phone", "language", &language).unwrap();
    let text = service.look(session, |p| p.consent_hash()).unwrap();
    Event::ConsentGiven { text, device: "phone".to_owned(), external }
}

#[test]
fn contact_data_go_to_a_file_of_their_own_and_with_whoever_is_erased() {
    let directory = directory("own-file");
    let service = on_disk(&directory);
    let labels = [format!("{CANARY} one"), format!("{CANARY} two")];
    let invitations = service.invite_people(&labels).unwrap();
    for invitation in &invitations {
        let event = consent(&service, &invitation.session, panel(CANARY));
        service.record(&invitation.session, "phone", "consent", &event).unwrap();
        walk(&service, &invitation.session, &mut Simulant::new(4.0, 20.0, 1), 3);
    }
    let first = invitations[0].session.clone();
    let known = service.contacts().get(&first).unwrap().unwrap();
    assert_eq!((known[LABEL].as_str(), known["PROLIFIC_PID"].as_str()), (labels[0].as_str(), CANARY));
    assert!(!holds_canary(&directory), "a file holds contact data in the clear");
    let exported = service.writer().with(|store| {
        Ok::<_, Error>(export::answers(store)?.csv() + &export::questionnaire(store)?.json_lines())
    });
    assert!(!exported.unwrap().contains(CANARY));
    // All there is about somebody, for them: every event, and who they are.
    let place = first.clone();
    let own = service.writer().with(move |store| store.session(&place)).unwrap();
    let person = service.look(&first, |p| export::person(p, &own, &known)).unwrap().unwrap();
    assert_eq!((person.participant, person.events.len(), &person.contact), (1, own.len(), &known));
    for (told, row) in person.events.iter().zip(&own) {
        let event: Event = serde_json::from_value(told.event.clone()).unwrap();
        assert_eq!(Some(event), Event::in_row(row).unwrap(), "event {} is not what the log has", row.seq);
    }
    assert!(person.agreed_to.unwrap().contains("research"), "the text they agreed to");
    service.erase(&first).unwrap();
    assert_eq!(service.contacts().get(&first).unwrap(), None);
    assert!(service.contacts().get(&invitations[1].session).unwrap().is_some());
    let design = service.design().clone();
    let left = service.writer().with(move |store| {
        let all = people::participants(&design, store)?;
        let person = all.iter().find(|person| person.erased()).unwrap();
        let rows = store.session(person.session())?;
        Ok::<_, Error>(export::person(person, &rows, &Contact::new()).is_err())
    });
    assert!(left.unwrap(), "there is something left to tell");
    // A copy of the file from before brings it back; putting things in order deletes it again.
    service.contacts().add(&first, &panel(CANARY)).unwrap();
    assert_eq!(service.tidy_contacts().unwrap(), Tidied { moved: 0, removed: 1 });
    assert_eq!(service.contacts().get(&first).unwrap(), None);
    drop(service);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A log as older releases wrote it: what a panel passed along is in the consent.
fn old_log(service: &Service, people: usize) -> Vec<String> {
    let mut sessions = vec![];
    for (n, invitation) in service.invite(people).unwrap().into_iter().enumerate() {
        let session = invitation.session;
        let event = consent(service, &session, panel(&format!("{CANARY}-{n}")));
        let (place, body) = (session.clone(), serde_json::to_string(&event).unwrap());
        let entries = vec![Entry { key: "consent".to_owned(), at: 7, salt: [7; 32], body }];
        service.writer().append(Group { session: place, after: None, entries }).unwrap();
        service.forget(&session);
        walk(service, &session, &mut Simulant::new(4.0, 20.0, n as u64), 4);
        sessions.push(session);
    }
    sessions
}

#[test]
fn contact_data_in_a_log_of_an_older_release_are_moved_and_the_chain_stays_whole() {
    let directory = directory("moved");
    let service = on_disk_before(&directory);
    let sessions = old_log(&service, 3);
    assert!(holds_canary(&directory), "the canary must be there before it can be gone");
    let old: Vec<Row> = service.writer().with(|store| rows(store)).unwrap();
    assert!(verify(&MemoryStore::from_rows(old.clone())).is_ok());
    let before =
        service.look(&sessions[1], |p| (p.step(), p.questions().to_vec(), p.external().clone())).unwrap();
    assert_eq!(before.2, panel(&format!("{CANARY}-1")), "an old log is readable as it is");
    let backup = directory.join("old.backup");
    SqliteStore::open_existing(directory.join("log.sqlite")).unwrap().backup(&backup).unwrap();
    assert_eq!(service.tidy_contacts().unwrap(), Tidied { moved: 3, removed: 0 });
    assert_eq!(service.tidy_contacts().unwrap(), Tidied::default(), "twice is as good as once");
    let saved = std::fs::read(&backup).unwrap();
    std::fs::remove_file(&backup).unwrap();
    assert!(!holds_canary(&directory), "a file holds contact data in the clear");
    let after =
        service.look(&sessions[1], |p| (p.step(), p.questions().to_vec(), p.external().clone())).unwrap();
    assert_eq!((after.0, &after.1), (before.0, &before.1), "answers are what they were");
    assert_eq!(after.2, Contact::new());
    assert_eq!(service.contacts().get(&sessions[1]).unwrap(), Some(panel(&format!("{CANARY}-1"))));
    let new: Vec<Row> = service.writer().with(|store| rows(store)).unwrap();
    assert!(verify(&MemoryStore::from_rows(new.clone())).is_ok());
    // Receipts that were given before are for the same rows.
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(old.receipt(), new.receipt());
    }
    drop(service);
    // A backup from before can be restored, and is put in order again.
    std::fs::write(&backup, saved).unwrap();
    restore(&backup, &directory.join("log.sqlite"), &[], &SystemClock, &SystemRandom).unwrap();
    assert_eq!(on_disk(&directory).tidy_contacts().unwrap().moved, 3);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn moving_contact_data_excuses_no_other_change() {
    let service = service_on("binary-cancer", Before(MemoryStore::new()), 6);
    old_log(&service, 2);
    service.tidy_contacts().unwrap();
    let good: Vec<Row> = service.writer().with(|store| rows(store)).unwrap();
    assert!(verify(&MemoryStore::from_rows(good.clone())).is_ok());
    let find = |word: &str| {
        let holds = |row: &Row| row.payload.as_ref().unwrap().body.contains(word);
        good.iter().position(holds).unwrap()
    };
    let (consent, answer, record) = (find("consent_given"), find("\"answered\""), find("contact_moved"));
    let tampered = |change: &dyn Fn(&mut Vec<Row>)| {
        let mut rows = good.clone();
        change(&mut rows);
        match verify(&MemoryStore::from_rows(rows)) {
            Err(Error::Damaged(damage)) => damage.position,
            other => panic!("{other:?}"),
        }
    };
    let place = consent as u64 + 1;
    // Another consent than the one that was written down.
    assert_eq!(tampered(&|rows| rows[consent].payload.as_mut().unwrap().salt[0] ^= 1), place);
    let other = |rows: &mut Vec<Row>| {
        let body = &mut rows[consent].payload.as_mut().unwrap().body;
        *body = body.replace("\"phone\"", "\"tablet\"");
    };
    assert_eq!(tampered(&other), place);
    // An answer in the place of a consent; and the record changed to fit.
    let swap = |rows: &mut Vec<Row>| rows[consent].payload = rows[answer].payload.clone();
    assert_eq!(tampered(&swap), place);
    let fit = |rows: &mut Vec<Row>| rows[record].payload.as_mut().unwrap().body.push(' ');
    assert_eq!(tampered(&fit), record as u64 + 1);
    // A record that is sealed as it should be does not excuse a changed answer.
    let payload = Payload {
        salt: [1; 32],
        body: good[answer].payload.as_ref().unwrap().body.replace(":\"a\"", ":\"b\""),
    };
    let commitment: String = payload.commitment().iter().map(|byte| format!("{byte:02x}")).collect();
    let event = Event::ContactMoved { position: answer as u64 + 1, commitment };
    let mut store = MemoryStore::from_rows(good.clone());
    let entries = vec![Entry { key: "x".to_owned(), at: 0, salt: [2; 32], body: event.body() }];
    let group = Group { session: COMMON_SESSION.to_owned(), after: None, entries };
    let changed = transact(&mut store, |log| {
        log.replace(answer as u64 + 1, &payload)?;
        log.append(&group)
    });
    changed.unwrap();
    match verify(&store) {
        Err(Error::Damaged(damage)) => assert_eq!(damage.position, answer as u64 + 1),
        other => panic!("{other:?}"),
    }
    // Nor does one excuse a consent to another text, for whoever knows the study.
    let study = service.design().study();
    assert!(verify_of(&MemoryStore::from_rows(good.clone()), study).is_ok());
    let Some(Event::ConsentGiven { device, external, .. }) = Event::in_row(&good[consent]).unwrap() else {
        panic!("no consent")
    };
    let other = Event::ConsentGiven { text: "00".repeat(32), device, external };
    let payload = Payload { salt: [1; 32], body: other.body() };
    let commitment: String = payload.commitment().iter().map(|byte| format!("{byte:02x}")).collect();
    let event = Event::ContactMoved { position: place, commitment };
    let mut store = MemoryStore::from_rows(good.clone());
    let entries = vec![Entry { key: "x".to_owned(), at: 0, salt: [2; 32], body: event.body() }];
    let group = Group { session: COMMON_SESSION.to_owned(), after: None, entries };
    transact(&mut store, |log| {
        log.replace(place, &payload)?;
        log.append(&group)
    })
    .unwrap();
    assert!(verify(&store).is_ok(), "it was written anew as if contact data had been moved");
    match verify_of(&store, study) {
        Err(Error::Damaged(damage)) => assert_eq!(damage.position, place),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_kept_of_somebody_whose_consent_could_not_be_written() {
    let refuse = Arc::new(AtomicBool::new(false));
    let full = refuse.clone();
    let store = Faulty::new(MemoryStore::new(), move |_: &mut MemoryStore| {
        full.load(Ordering::SeqCst).then(Fault::full)
    });
    let design = common::design("binary-cancer");
    let service = Service::new(design, Writer::start(store), TestClock::default(), TestRandom::new(2));
    let [plain, labelled] = [service.invite(1).unwrap(), service.invite_people(&["Ana".to_owned()]).unwrap()]
        .map(|mut invitations| invitations.remove(0).session);
    for (session, left) in
        [(&plain, None), (&labelled, Some(Contact::from([(LABEL.to_owned(), "Ana".to_owned())])))]
    {
        let event = consent(&service, session, panel("x"));
        refuse.store(true, Ordering::SeqCst);
        assert!(service.record(session, "phone", "consent", &event).is_err());
        assert_eq!(service.contacts().get(session).unwrap(), left);
        refuse.store(false, Ordering::SeqCst);
        service.record(session, "phone", "consent", &event).unwrap();
        assert_eq!(service.contacts().get(session).unwrap().unwrap()["PROLIFIC_PID"], "x");
        assert_ne!(service.look(session, |p| p.step()).unwrap(), Step::Consent);
    }
}

#[test]
fn a_wrong_clock_erases_nobody_and_its_own_rows_do_not_make_it_right() {
    const DAY: i64 = 86_400_000;
    let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    study.retention = Retention { contact_days: Some(30), answers_days: Some(3650) };
    let design = Arc::new(Design::new(study, Path::new("src/templates")).unwrap());
    let store = MemoryStore::new();
    let start = |ahead: i64| {
        let writer = Writer::start(store.clone());
        Service::new(design.clone(), writer, Ahead(TestClock::default(), ahead), TestRandom::new(2))
    };
    let service = start(0);
    service.invite(3).unwrap();
    // Eleven years too late, and the server writes a row before it looks at what is due.
    let (service, wrong) = (start(11 * 365 * DAY), 11 * 365 * DAY + 5_000);
    service.invite(1).unwrap();
    let refused = service.retain(wrong, "server", false).unwrap();
    assert!(refused.doubt.is_some_and(|sure| sure < DAY) && refused.people.len() == 3);
    assert_eq!(verify(&store).unwrap().erased, 0);
    // The owner says that the clock is right: it is written down, and the clock is believed from then on.
    service.retain(wrong, "owner", true).unwrap();
    assert_eq!(verify(&store).unwrap().erased, 3);
    assert_eq!(service.due(wrong + DAY).unwrap().doubt, None);
    let actions: Vec<Admin> = rows(&store)
        .unwrap()
        .iter()
        .filter_map(|row| match Event::in_row(row).unwrap() {
            Some(Event::Admin(admin)) => Some(admin),
            _ => None,
        })
        .collect();
    assert_eq!(actions, [Admin::new("owner", Action::Retained { contacts: 0, people: 3 })]);
    // A study that is served and quiet stays in no doubt: that the clock was right is written down now and then.
    for month in 1..12 {
        let due = service.retain(wrong + 40 * month * DAY, "server", false).unwrap();
        assert_eq!(due.doubt, None, "month {month}");
    }
}

/// A clock for tests that is too fast by so many milliseconds.
struct Ahead(TestClock, i64);

impl Clock for Ahead {
    fn now(&self) -> i64 {
        self.0.now() + self.1
    }
}

#[test]
fn what_is_past_its_time_is_deleted_to_the_day() {
    const DAY: i64 = 86_400_000;
    let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    let bare = study.hash(&[]);
    study.retention = Retention { contact_days: Some(30), answers_days: Some(365) };
    assert_ne!(study.hash(&[]), bare, "how long data are kept is part of the lock");
    study.retention = Retention::default();
    assert_eq!(study.hash(&[]), bare, "a study without the rule has the hash it always had");
    study.retention = Retention { contact_days: Some(30), answers_days: Some(365) };
    let design = Arc::new(Design::new(study, Path::new("src/templates")).unwrap());
    let service =
        Service::new(design, Writer::start(MemoryStore::new()), TestClock::default(), TestRandom::new(2));
    let labels = ["Ana".to_owned(), "Ben".to_owned()];
    let invitations = service.invite_people(&labels).unwrap();
    walk(&service, &invitations[0].session, &mut Simulant::new(4.0, 20.0, 1), 3);
    let last = |session: &str| {
        let place = session.to_owned();
        service.writer().with(move |store| store.session(&place)).unwrap().last().unwrap().at
    };
    let (ana, ben) = (invitations[0].session.clone(), invitations[1].session.clone());
    let count = |now: i64| service.due(now).map(|due| (due.contacts.len(), due.people.len())).unwrap();
    assert_eq!(count(0), (0, 0));
    assert_eq!(count(last(&ben) + 30 * DAY - 1), (0, 0));
    assert_eq!(count(last(&ben) + 30 * DAY), (1, 0), "counted is from when each was last heard of");
    assert_eq!(count(last(&ana) + 30 * DAY), (2, 0));
    service.retain(last(&ana) + 30 * DAY, "server", false).unwrap();
    assert_eq!(service.contacts().sessions().unwrap().len(), 0);
    assert_eq!(count(last(&ana) + 31 * DAY), (0, 0), "nothing is due twice");
    assert_eq!(count(last(&ana) + 365 * DAY), (0, 2));
    // A year later by the clock, and the log has seen nothing for eleven months: it may be the clock.
    let late = last(&ben) + 365 * DAY;
    let refused = service.retain(late, "server", false).unwrap();
    assert!(refused.doubt.is_some() && refused.people.len() == 1);
    assert_eq!(count(late), (0, 1), "a clock in doubt deletes nothing");
    service.retain(late, "owner", true).unwrap();
    let gone = |session: &String| {
        let place = session.clone();
        let rows = service.writer().with(move |store| store.session(&place)).unwrap();
        rows.iter().all(|row| row.payload.is_none() || row.key == TOMBSTONE)
    };
    assert!(gone(&ben) && !gone(&ana));
    assert_eq!(count(last(&ana) + 365 * DAY), (0, 1));
    assert!(service.writer().with(|store| verify(store)).is_ok());
    // A clock far off the mark in the other direction deletes nothing.
    assert_eq!(count(i64::MIN), (0, 0));
}

#[test]
fn how_long_is_checked_when_the_study_is_read() {
    let text = template::find("binary-cancer").unwrap().text;
    let read = |more: &str| Study::parse(&format!("{text}\n[retention]\n{more}\n"));
    assert_eq!(read("contact_days = 30").unwrap().retention.contact_days, Some(30));
    for (more, sentence) in [
        ("contact_days = 0", "retention.contact_days is 0, expected a number in [1, 36500]"),
        ("answers_days = 99999", "retention.answers_days is 99999, expected a number in [1, 36500]"),
        ("answer_days = 3", "unknown field answer_days, expected contact_days or answers_days"),
        ("contact_days = -1", "found -1, expected a whole number from 0 on"),
    ] {
        let wrong = read(more).unwrap_err().to_string();
        assert!(wrong.contains(sentence) && wrong.starts_with("line "), "{wrong}");
    }
}
