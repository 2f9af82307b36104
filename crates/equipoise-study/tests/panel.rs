//! People whom a panel sends to one address: who gets a place, and who is known by it afterwards.

mod common;

use common::{DEVICE, Simulant, templates, walk};
use equipoise_log::{MemoryStore, SqliteStore, Store, Writer, rows};
use equipoise_study::contacts::{Contact, Contacts};
use equipoise_study::event::{Event, ItemAnswer};
use equipoise_study::seams::{Clock, TestRandom};
use equipoise_study::study::{Panel, Position};
use equipoise_study::{Design, Entered, Error, Refusal, Service, Step, Study, session_of, template};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const MINUTE: i64 = 60_000;

/// A clock that is set.
#[derive(Debug, Clone, Default)]
struct Set(Arc<AtomicI64>);

impl Clock for Set {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Set {
    fn to(&self, minutes: i64) {
        self.0.store(minutes * MINUTE, Ordering::SeqCst);
    }
}

fn panel(more: &str) -> Panel {
    let text = format!("{}\n[panel]\nid = \"PID\"\n{more}", template::find("binary-cancer").unwrap().text);
    Study::parse(&text).unwrap().panel.unwrap()
}

fn serve(more: &str, store: impl Store + 'static, clock: &Set) -> Arc<Service> {
    let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    study.panel = Some(panel(more));
    let design = Arc::new(Design::new(study, &templates()).unwrap());
    Arc::new(Service::new(design, Writer::start(store), clock.clone(), TestRandom::new(5)))
}

fn session(entered: &Entered) -> String {
    match entered {
        Entered::Open(token) | Entered::Done(token) => session_of(token),
        other => panic!("{other:?}"),
    }
}

fn agree(service: &Service, session: &str) -> Result<(), Error> {
    let choose = Event::LanguageChosen { language: "en".to_owned() };
    service.record(session, DEVICE, "language", &choose)?;
    let text = service.look(session, |person| person.consent_hash())?;
    let external = Contact::from([("PID".to_owned(), "canary".to_owned())]);
    let consent = Event::ConsentGiven { text, device: DEVICE.to_owned(), external };
    service.record(session, DEVICE, "consent", &consent).map(drop)
}

#[test]
fn one_name_is_one_place_however_many_come_at_once() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("panel-race");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let service =
        serve("quota = 7", SqliteStore::open(directory.join("log.sqlite")).unwrap(), &Set::default());
    // Twelve names, each from eight devices at the same moment.
    let come = |n: usize| service.enter(&format!("person-{}", n % 12)).unwrap();
    let entered: Vec<(usize, Entered)> = std::thread::scope(|scope| {
        let come = &come;
        let all: Vec<_> = (0..96).map(|n| scope.spawn(move || (n % 12, come(n)))).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sessions: BTreeSet<String> =
        entered.iter().filter(|(_, e)| matches!(e, Entered::Open(_))).map(|(_, e)| session(e)).collect();
    assert_eq!(sessions.len(), 7, "the quota holds");
    let log = service.writer().with(|store| store.sessions()).unwrap();
    assert_eq!(log.into_iter().collect::<BTreeSet<_>>(), sessions, "and the log has no more places");
    for person in 0..12 {
        let own: BTreeSet<Option<String>> = entered
            .iter()
            .filter(|(n, _)| *n == person)
            .map(|(_, e)| matches!(e, Entered::Open(_)).then(|| session(e)))
            .collect();
        assert_eq!(own.len(), 1, "whoever has a place has it on every device, and whoever has none has none");
    }
    assert_eq!(service.panel_taken().unwrap(), 7);
}

#[test]
fn a_quota_holds_across_a_restart_and_links_of_ones_own_do_not_count() {
    let clock = Set::default();
    let store = MemoryStore::new();
    let (first, contacts) = (serve("quota = 2", store, &clock), Contacts::in_memory());
    drop(contacts);
    first.invite(3).unwrap();
    let [one, two] = ["one", "two"].map(|name| first.enter(name).unwrap());
    assert_ne!(session(&one), session(&two));
    assert_eq!(first.enter("three").unwrap(), Entered::Full);
    assert_eq!(first.enter("one").unwrap(), one, "who has a place comes in");
    let all = first.writer().with(|store| rows(store)).unwrap();
    let again = serve("quota = 2", MemoryStore::from_rows(all), &clock);
    assert_eq!(again.enter("four").unwrap(), Entered::Full, "counted anew from the log");
}

#[test]
fn places_come_free_when_somebody_leaves_is_screened_out_or_never_agrees() {
    let clock = Set::default();
    let require = "quota = 1\nhold_minutes = 30\n[[panel.require]]\nitem = \"age\"\none_of = [\"18-24\"]";
    let service = serve(require, MemoryStore::new(), &clock);
    clock.to(0);
    let first = session(&service.enter("first").unwrap());
    agree(&service, &first).unwrap();
    assert_eq!(service.enter("second").unwrap(), Entered::Full);
    service.record(&first, DEVICE, "leave", &Event::Withdrawn).unwrap();
    let second = session(&service.enter("second").unwrap());
    assert_eq!(service.look(&first, |person| person.step()).unwrap(), Step::Withdrawn);
    assert!(matches!(service.enter("first").unwrap(), Entered::Open(_)), "to the page that says so");
    // Screened out: an answer that is not among those wanted, or none.
    agree(&service, &second).unwrap();
    let answers = [("age".to_owned(), ItemAnswer::Text("25-34".to_owned()))].into();
    let told = Event::QuestionnaireAnswered { position: Position::Before, answers };
    service.record(&second, DEVICE, "told", &told).unwrap();
    assert_eq!(service.look(&second, |person| person.step()).unwrap(), Step::Screened);
    let third = session(&service.enter("third").unwrap());
    assert_eq!(service.enter("fourth").unwrap(), Entered::Full);
    // Half an hour without a consent.
    clock.to(31);
    let fourth = session(&service.enter("fourth").unwrap());
    assert_eq!(service.enter("third").unwrap(), Entered::Full);
    assert!(matches!(agree(&service, &third), Err(Error::Refused(Refusal::Full))), "too late to agree");
    assert_eq!(service.contacts().get(&third).unwrap(), None, "nothing is kept of somebody who could not");
    agree(&service, &fourth).unwrap();
    clock.to(200);
    assert_eq!(service.enter("fifth").unwrap(), Entered::Full, "whoever agreed stays");
}

#[test]
fn it_is_open_between_its_dates_and_whoever_has_begun_may_end() {
    let clock = Set::default();
    let dates = "opens = \"1970-01-01T01:00:00Z\"\ncloses = \"1970-01-01T02:00:00Z\"";
    let service = serve(dates, MemoryStore::new(), &clock);
    clock.to(59);
    assert_eq!(service.enter("one").unwrap(), Entered::Early);
    clock.to(60);
    let one = session(&service.enter("one").unwrap());
    agree(&service, &one).unwrap();
    clock.to(120);
    assert_eq!(service.enter("two").unwrap(), Entered::Over);
    assert!(matches!(service.enter("one").unwrap(), Entered::Open(_)));
    walk(&service, &one, &mut Simulant::new(6.0, 20.0, 1), usize::MAX);
    assert!(matches!(service.enter("one").unwrap(), Entered::Done(_)));
}

#[test]
fn a_name_is_with_the_contacts_alone_and_goes_with_the_person() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("panel-names");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let clock = Set::default();
    let open = || {
        let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        study.panel = Some(panel(""));
        let design = Arc::new(Design::new(study, &templates()).unwrap());
        let store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
        Service::new(design, Writer::start(store), clock.clone(), TestRandom::new(5))
            .with_contacts(Contacts::beside(&directory))
    };
    let service = open();
    let place = service.enter("canary").unwrap();
    let own = session(&place);
    assert_eq!(service.contacts().get(&own).unwrap(), None, "nothing before consent");
    agree(&service, &own).unwrap();
    assert_eq!(service.contacts().get(&own).unwrap().unwrap()["PID"], "canary");
    drop(service);
    let files =
        std::fs::read_dir(&directory).unwrap().flatten().map(|file| std::fs::read(file.path()).unwrap());
    for bytes in files {
        assert!(!bytes.windows(6).any(|part| part == b"canary"), "in the clear");
    }
    let service = open();
    assert_eq!(service.enter("canary").unwrap(), place, "the same place after a restart");
    service.erase(&own).unwrap();
    assert_eq!(service.contacts().get(&own).unwrap(), None);
    service.contacts().forget().unwrap();
    assert_ne!(service.enter("canary").unwrap(), place, "without the key nobody knows whose a place was");
}

#[test]
fn dates_quota_and_addresses_may_change_while_a_study_runs_but_not_who_is_screened_out() {
    let hash = |panel: Option<Panel>| {
        let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        study.panel = panel;
        study.hash(&[])
    };
    let plain = hash(None);
    let one = "quota = 3\ncloses = \"2030-01-01T00:00Z\"\n[panel.done]\ncode = \"A\"";
    assert_eq!(hash(Some(panel(one))), plain);
    let require = "[[panel.require]]\nitem = \"age\"\none_of = [\"18-24\"]";
    let screening = hash(Some(panel(require)));
    assert_ne!(screening, plain);
    assert_eq!(hash(Some(panel(&format!("quota = 9\n{require}")))), screening);
}
