//! Accounts, limits and contact data of a study in a database, which two servers share.
#![cfg(feature = "postgres")]

use equipoise_harness::postgres::Postgres;
use equipoise_log::{Database, PostgresStore, Writer};
use equipoise_server::researcher::accounts::{Accounts, Role};
use equipoise_server::researcher::tokens::{Scope, Wanted};
use equipoise_study::contacts::Contacts;
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Service, Study, template};
use std::path::Path;
use std::sync::{Arc, Barrier};

const PASSWORD: &str = "three small boats";

#[test]
fn accounts_are_the_same_at_both_servers() {
    let Some(server) = Postgres::start("accounts_are_the_same_at_both_servers") else { return };
    let database = Database::parse(&server.database()).unwrap();
    let [one, other] = [(), ()].map(|()| Accounts::in_database(&database).unwrap());
    one.add("ana", Role::Owner, PASSWORD, 0).unwrap();
    assert!(other.add("ana", Role::Viewer, PASSWORD, 0).unwrap_err().to_string().contains("already"));
    assert_eq!(other.check("ana", PASSWORD).unwrap().unwrap().role, Role::Owner);
    assert_eq!(other.check("ana", "another password").unwrap(), None);
    let token = one.begin("ana", 5).unwrap();
    assert_eq!(other.session(&token, 6, true).unwrap().unwrap().name, "ana");
    let device = one.remember_device("ana", None, 5).unwrap();
    other.remember_device("ana", Some(&device), 7).unwrap();
    assert!(other.knows_device("ana", &device).unwrap() && !other.knows_device("ana", "x").unwrap());
    other.end(&token).unwrap();
    assert_eq!(one.session(&token, 7, true).unwrap(), None);
    let wanted = Wanted { name: "nightly", account: "ana", scopes: &[Scope::Export], days: 3 };
    let script = one.add_token(&wanted, 0).unwrap();
    assert!(other.add_token(&wanted, 0).unwrap_err().to_string().contains("already"));
    assert!(other.token(&script, 1).unwrap().unwrap().allows(Scope::Export));
    let code = one.make_code("ana", 0).unwrap();
    assert!(other.spend_code("ana", &code, 1).unwrap().is_some());
    assert!(one.spend_code("ana", &code, 1).unwrap().is_none(), "a code lets in once");
    assert_eq!(one.list().unwrap(), other.list().unwrap());
    let only = "\"ana\" is the only owner; make another one first";
    assert_eq!(other.remove("ana").unwrap_err().to_string(), only);
    assert_eq!(other.set_role("ana", Role::Analyst).unwrap_err().to_string(), only);
}

#[test]
fn two_owners_who_take_each_other_away_at_two_servers_leave_one() {
    let Some(server) = Postgres::start("two_owners_who_take_each_other_away_at_two_servers_leave_one") else {
        return;
    };
    let database = Database::parse(&server.database()).unwrap();
    let [one, other] = [(), ()].map(|()| Accounts::in_database(&database).unwrap());
    for _ in 0..5 {
        for name in ["ana", "ben"] {
            let _ = one.add(name, Role::Owner, PASSWORD, 0);
        }
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            for (accounts, whom) in [(&one, "ben"), (&other, "ana")] {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let _ = accounts.remove(whom);
                });
            }
        });
        assert_eq!(one.list().unwrap().len(), 1);
    }
}

#[test]
fn guesses_at_two_servers_are_counted_together() {
    let Some(server) = Postgres::start("guesses_at_two_servers_are_counted_together") else { return };
    let database = Database::parse(&server.database()).unwrap();
    let both = [(), ()].map(|()| Accounts::in_database(&database).unwrap());
    let guess = |n: usize, name: &str| both[n % 2].take_try(name, 10.0, 30.0).unwrap().unwrap();
    let taken = (0..40).filter(|n| guess(*n, "ana").is_ok()).count();
    assert!((10..=12).contains(&taken), "{taken} guesses at once, of 10 a minute");
    assert!(guess(0, "ben").is_ok(), "another account has its own");
    let others = (0..40).filter(|n| guess(*n, &format!("invented-{n}")).is_ok()).count();
    assert!(others <= 22, "{others} guesses, of 30 a minute altogether");
    // A form that makes something is taken once, whichever server it goes to.
    assert_eq!(both[0].spend_form("key", 5).unwrap(), Some(true));
    assert_eq!(both[1].spend_form("key", 6).unwrap(), Some(false));
    let alone = Accounts::in_memory().unwrap();
    assert!(
        alone.take_try("ana", 10.0, 30.0).unwrap().is_none() && alone.spend_form("key", 5).unwrap().is_none()
    );
}

fn service(database: &Database) -> Service {
    let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../equipoise-study/src/templates");
    let design = Arc::new(Design::new(study, &templates).unwrap());
    let writer = Writer::start(PostgresStore::open(database).unwrap());
    Service::new(design, writer, SystemClock, SystemRandom)
        .with_contacts(Contacts::in_database(database).unwrap())
}

/// What one server keeps in memory of somebody does not hide what another one wrote, and both are asked the same.
#[test]
fn what_a_server_keeps_in_memory_is_never_older_than_the_database() {
    let Some(server) = Postgres::start("what_a_server_keeps_in_memory_is_never_older_than_the_database")
    else {
        return;
    };
    let database = Database::parse(&server.database()).unwrap();
    let [one, other] = [(), ()].map(|()| service(&database));
    let session = one.invite(1).unwrap().remove(0).session;
    assert_eq!(one.look(&session, |person| person.events()).unwrap(), 1);
    assert_eq!(other.look(&session, |person| person.events()).unwrap(), 1);
    one.contacts().add(&session, &[("contact".to_owned(), "Ana".to_owned())].into()).unwrap();
    assert_eq!(other.contacts().get(&session).unwrap().unwrap()["contact"], "Ana");
    assert_eq!(one.contacts().token("a name").unwrap(), other.contacts().token("a name").unwrap());
    // The same thing sent to both at once is written once.
    let chosen = |language: &str| Event::LanguageChosen { language: language.to_owned() };
    let start = Barrier::new(2);
    std::thread::scope(|scope| {
        for service in [&one, &other] {
            let (start, session, chosen) = (&start, &session, &chosen);
            scope.spawn(move || {
                start.wait();
                service.record(session, "device", "language", &chosen("en")).unwrap();
            });
        }
    });
    let events = |service: &Service| service.look(&session, |person| person.events()).unwrap();
    assert_eq!((events(&one), events(&other)), (2, 2));
    // Erased at one server is erased at the other.
    one.erase(&session).unwrap();
    assert!(other.look(&session, |person| person.erased()).unwrap());
    assert_eq!(other.contacts().get(&session).unwrap(), None);
}

/// Deleting what is past its time is done by one of them.
#[test]
fn one_server_deletes_what_is_past_its_time() {
    let Some(server) = Postgres::start("one_server_deletes_what_is_past_its_time") else { return };
    let database = Database::parse(&server.database()).unwrap();
    let (one, other) = (service(&database), service(&database));
    let led = [one.leads().unwrap(), other.leads().unwrap(), one.leads().unwrap(), other.leads().unwrap()];
    assert_eq!(led, [true, false, true, false]);
    drop(one);
    let begun = std::time::Instant::now();
    while !other.leads().unwrap() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "nobody does it any more");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
