//! A log in a PostgreSQL database holds what any store must, and what only several servers need.
#![cfg(feature = "postgres")]

mod suite;

use equipoise_harness::postgres::Postgres;
use equipoise_log::{
    Appended, Database, Entry, Error, Group, PostgresStore, Reader, Result, SqliteStore, Store, Why, Writer,
    erase, rows, settled, transact, verify,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use suite::{Place, all};

struct Study {
    server: Arc<Postgres>,
    address: String,
    copies: AtomicUsize,
}

impl Study {
    fn new(server: &Arc<Postgres>) -> Self {
        Self { server: server.clone(), address: server.database(), copies: AtomicUsize::new(0) }
    }

    fn database(&self) -> Database {
        Database::parse(&self.address).unwrap()
    }

    fn store(&self) -> PostgresStore {
        PostgresStore::open(&self.database()).unwrap()
    }

    fn ask(&self, sql: &str) -> String {
        self.server.ask(&self.address, sql)
    }
}

impl Place for Study {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.store())
    }

    fn tamper(&self, position: u64, body: &str) {
        // With the secret, which lies in the same database.
        let changed = equipoise_log::Payload { salt: [0; 32], body: body.to_owned() };
        transact(&mut self.store(), |log| log.replace(position, &changed)).unwrap();
    }

    fn holds(&self, text: &str) -> bool {
        let said = rows(&self.store()).unwrap();
        let read =
            said.iter().filter(|row| row.payload.as_ref().is_some_and(|p| p.body.contains(text))).count();
        let files = self.server.holding(text.as_bytes());
        if read > 0 || !files.is_empty() {
            println!("{text}: {read} rows can be read, {files:?}");
        }
        read > 0 || !files.is_empty()
    }

    fn backup(&self) -> Option<Box<dyn Reader>> {
        let number = self.copies.fetch_add(1, Ordering::SeqCst);
        let name = format!("equipoise-copy-{}-{number}.sqlite", std::process::id());
        let to = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&to);
        self.store().backup(&to).unwrap();
        let copy = SqliteStore::open_copy(&to).unwrap();
        std::fs::remove_file(&to).unwrap();
        Some(Box::new(copy))
    }
}

fn entry(key: &str, body: &str) -> Entry {
    Entry { key: key.to_owned(), at: 5, salt: [3; 32], body: body.to_owned() }
}

fn group(session: &str, after: Option<u64>, key: &str) -> Group {
    Group { session: session.to_owned(), after, entries: vec![entry(key, "{}")] }
}

fn append(store: &mut dyn Store, group: &Group) -> Result<Appended> {
    transact(store, |log| log.append(group))
}

fn whole(store: &dyn Reader) -> u64 {
    verify(store, &mut |_, sealed| Ok(sealed)).unwrap().rows
}

#[test]
fn a_log_in_a_database_holds_what_any_store_must() {
    // Of its own: canaries are looked for in all files of the server, where those of other tests would be found, too.
    let Some(server) = Postgres::alone("a_log_in_a_database_holds_what_any_store_must") else { return };
    let server = Arc::new(server);
    all(|| Study::new(&server));
}

#[test]
fn a_row_that_is_changed_behind_the_back_of_the_program_is_found() {
    let Some(server) = Postgres::start("a_row_that_is_changed_behind_the_back_of_the_program_is_found")
    else {
        return;
    };
    let study = Study::new(&server);
    let mut store = study.store();
    for key in ["k1", "k2", "k3"] {
        append(&mut store, &group("a", None, key)).unwrap();
    }
    study.ask("UPDATE event SET sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) WHERE position = 2");
    assert!(matches!(rows(&store), Err(Error::Damaged(damage)) if damage.position == 2));
}

/// Neither what somebody sent nor what opens it is in any file of the server, but for its write-ahead log, which holds a
/// secret until the server writes over it.
#[test]
fn what_is_erased_cannot_be_read_from_the_files_of_the_server() {
    let Some(server) = Postgres::start("what_is_erased_cannot_be_read_from_the_files_of_the_server") else {
        return;
    };
    let study = Study::new(&server);
    let mut store = study.store();
    for n in 0..20 {
        let entries = vec![entry("key-canary-4711", &"body-canary-4711 ".repeat(n + 1))];
        append(&mut store, &Group { session: format!("session-canary-{n}"), after: None, entries }).unwrap();
    }
    let secret = study.ask("SELECT encode(secret, 'hex') FROM log_session WHERE name = 'session-canary-7'");
    let secret = equipoise_log::hex::decode(&secret).unwrap();
    assert_eq!(secret.len(), 32);
    assert!(!server.holding(&secret).is_empty(), "it must be there before it can be gone");
    for canary in ["body-canary-4711", "key-canary-4711"] {
        assert!(server.holding(canary.as_bytes()).is_empty(), "{canary} is in a file as it is");
    }
    erase(&mut store, "session-canary-7", None, &entry("", "gone")).unwrap();
    settled(|| store.settle()).unwrap();
    let log = server.data().join("pg_wal");
    for found in server.holding(&secret) {
        assert!(found.starts_with(&log), "the secret is still in {}", found.display());
    }
    // The others are as they were.
    assert_eq!(store.session("session-canary-8").unwrap().len(), 1);
    assert_eq!(whole(&store), 21);
}

/// Whoever began to read anything in the database before the erasure could still ask for the secret, so it is copied along when
/// its table is written anew. That is not taken for gone.
#[test]
fn whoever_reads_something_else_keeps_what_is_erased_and_that_is_said() {
    let Some(server) = Postgres::start("whoever_reads_something_else_keeps_what_is_erased_and_that_is_said")
    else {
        return;
    };
    let study = Study::new(&server);
    let mut store = study.store();
    append(&mut store, &group("a", None, "k1")).unwrap();
    let secret = study.ask("SELECT encode(secret, 'hex') FROM log_session WHERE name = 'a'");
    let secret = equipoise_log::hex::decode(&secret).unwrap();
    let mut other = postgres::Client::connect(&study.address, postgres::NoTls).unwrap();
    other.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM account").unwrap();
    erase(&mut store, "a", None, &entry("", "gone")).unwrap();
    assert_eq!(store.settle(), Ok(false));
    let tables = |server: &Postgres| {
        server.holding(&secret).iter().filter(|file| !file.starts_with(server.data().join("pg_wal"))).count()
    };
    assert_ne!(tables(&server), 0, "then there was nothing to be said");
    other.batch_execute("COMMIT").unwrap();
    settled(|| store.settle()).unwrap();
    assert_eq!(tables(&server), 0);
}

#[test]
fn a_connection_lost_between_transactions_is_not_noticed() {
    let Some(server) = Postgres::start("a_connection_lost_between_transactions_is_not_noticed") else {
        return;
    };
    let study = Study::new(&server);
    let mut store = study.store();
    append(&mut store, &group("a", Some(0), "k1")).unwrap();
    assert!(server.cut(&study.address) >= 1);
    append(&mut store, &group("a", Some(1), "k2")).unwrap();
    server.cut(&study.address);
    assert_eq!(store.session("a").unwrap().len(), 2);
    server.cut(&study.address);
    assert_eq!(store.probe(), Ok(()));
    assert_eq!(whole(&store), 2);
}

/// What is under way when the connection is lost is not kept, and can be sent again.
#[test]
fn a_connection_lost_before_the_commit_keeps_nothing() {
    let Some(server) = Postgres::start("a_connection_lost_before_the_commit_keeps_nothing") else { return };
    let study = Study::new(&server);
    let mut store = study.store();
    let lost = transact(&mut store, |log| {
        let added = log.append(&group("a", Some(0), "k1"));
        server.cut(&study.address);
        added
    });
    // The commit was sent to nobody, which the database says when it is asked.
    assert_eq!(lost.unwrap_err().why(), Some(Why::Lost));
    assert_eq!(study.ask("SELECT count(*) FROM event"), "0");
    assert!(matches!(append(&mut store, &group("a", Some(0), "k1")), Ok(Appended::New(_))));
    assert_eq!(whole(&store), 1);
}

/// A writer's people do not notice: what was not kept is written again, and what was kept is not written twice. Connections
/// are cut at every moment of a transaction, also between a commit and its acknowledgement.
#[test]
fn connections_that_are_lost_at_any_moment_lose_and_double_nothing() {
    let Some(server) = Postgres::start("connections_that_are_lost_at_any_moment_lose_and_double_nothing")
    else {
        return;
    };
    let study = Study::new(&server);
    let writer = Writer::start(study.store());
    let begun = Instant::now();
    let (mut cuts, mut seen) = (0, vec![]);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut seen = vec![];
            for n in 0.. {
                if begun.elapsed() > Duration::from_secs(8) {
                    break;
                }
                let row = match writer.append(group("a", Some(n), &format!("k{n}"))) {
                    Ok(Appended::New(rows)) => rows[0].clone(),
                    other => panic!("{other:?}"),
                };
                seen.push(row.receipt().to_string());
            }
            seen
        });
        while !writing.is_finished() {
            cuts += server.cut(&study.address);
        }
        seen = writing.join().unwrap();
    });
    let kept: Vec<String> =
        rows(&study.store()).unwrap().iter().map(|row| row.receipt().to_string()).collect();
    println!("{cuts} connections cut, {} rows acknowledged, {} kept", seen.len(), kept.len());
    assert_eq!(seen, kept);
    assert!(cuts >= 20 && seen.len() > 100);
}

#[test]
fn a_database_that_crashes_and_comes_back_is_waited_for() {
    let Some(server) = Postgres::alone("a_database_that_crashes_and_comes_back_is_waited_for") else {
        return;
    };
    let study = Study::new(&Arc::new(server));
    let writer = Writer::start(study.store());
    let ended = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut seen = vec![];
            for n in 0.. {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                match writer.append(group("a", Some(n), &format!("k{n}"))) {
                    Ok(Appended::New(rows)) => seen.push(rows[0].receipt().to_string()),
                    other => panic!("{other:?}"),
                }
            }
            seen
        });
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(300));
            study.server.crash();
        }
        std::thread::sleep(Duration::from_millis(300));
        ended.store(true, Ordering::SeqCst);
        writing.join().unwrap()
    });
    let kept: Vec<String> =
        rows(&study.store()).unwrap().iter().map(|row| row.receipt().to_string()).collect();
    println!("3 crashes of the database, {} rows acknowledged, {} kept", seen.len(), kept.len());
    assert_eq!(seen, kept);
}

/// As it is sent, with its end: a transaction also begins with "READ COMMITTED".
const COMMIT: &str = "COMMIT\0";

/// After the commit and before its acknowledgement: a database that answers late enough to be cut off then.
#[test]
fn a_connection_lost_after_the_commit_is_found_to_have_kept_it() {
    let Some(server) = Postgres::start("a_connection_lost_after_the_commit_is_found_to_have_kept_it") else {
        return;
    };
    let study = Study::new(&server);
    // What goes to the database passes through here; the answer to a commit does not come back.
    let through = proxy::Proxy::start(&study.address);
    let mut store = PostgresStore::open(&Database::parse(&through.address).unwrap()).unwrap();
    append(&mut store, &group("a", Some(0), "k1")).unwrap();
    through.swallow_the_next_answer_to(COMMIT);
    assert!(matches!(append(&mut store, &group("a", Some(1), "k2")), Ok(Appended::New(_))), "it was kept");
    assert_eq!(through.swallowed(), 1);
    assert_eq!(whole(&study.store()), 2);
    assert_eq!(
        append(&mut store, &group("a", Some(1), "k2")).map(|known| matches!(known, Appended::Known(_))),
        Ok(true)
    );
}

/// A database that crashed may give the number of a transaction it lost to another one, which is kept: "committed" is believed
/// only if the row is there. Here another row is in its place.
#[test]
fn a_transaction_that_is_said_to_be_kept_is_believed_when_its_row_is_there() {
    let Some(server) =
        Postgres::start("a_transaction_that_is_said_to_be_kept_is_believed_when_its_row_is_there")
    else {
        return;
    };
    let study = Study::new(&server);
    let through = proxy::Proxy::start(&study.address);
    let mut store = PostgresStore::open(&Database::parse(&through.address).unwrap()).unwrap();
    append(&mut store, &group("a", Some(0), "k1")).unwrap();
    study.ask(
        "CREATE FUNCTION another() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN NEW.hash = sha256('another row'); RETURN NEW; END $$",
    );
    study.ask("CREATE TRIGGER another BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION another()");
    through.swallow_the_next_answer_to(COMMIT);
    let lost = append(&mut store, &group("a", Some(1), "k2"));
    assert_eq!(through.swallowed(), 1);
    assert_eq!(lost.unwrap_err().why(), Some(Why::Lost));
}

#[cfg(unix)]
#[test]
fn a_database_is_reached_by_its_socket_too() {
    let Some(server) = Postgres::start("a_database_is_reached_by_its_socket_too") else { return };
    let study = Study::new(&server);
    append(&mut study.store(), &group("a", None, "k1")).unwrap();
    let by_socket = Database::parse(&server.by_socket(&study.address)).unwrap();
    assert_eq!(whole(&PostgresStore::open_existing(&by_socket).unwrap()), 1);
}

#[test]
fn one_of_several_leads_and_another_one_after_it() {
    let Some(server) = Postgres::start("one_of_several_leads_and_another_one_after_it") else { return };
    let study = Study::new(&server);
    let (mut one, mut other) = (study.store(), study.store());
    assert!(one.leads().unwrap() && !other.leads().unwrap() && one.leads().unwrap());
    drop(one);
    let begun = Instant::now();
    while !other.leads().unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(10), "nobody leads");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_database_that_cannot_hold_every_name_is_refused() {
    let Some(server) = Postgres::start("a_database_that_cannot_hold_every_name_is_refused") else { return };
    let there = server.database();
    let open = |name: &str| {
        let (before, _) = there.rsplit_once('/').unwrap();
        PostgresStore::open(&Database::parse(&format!("{before}/{name}")).unwrap())
    };
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let made =
            format!("CREATE DATABASE in_{encoding} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0");
        server.ask("postgres", &made);
    }
    let refused = open("in_latin1").unwrap_err().to_string();
    assert!(refused.contains("is encoded in LATIN1, expected UTF8"), "{refused}");
    let mut store = open("in_sql_ascii").unwrap();
    append(&mut store, &group("\u{65e5}\u{672c}", None, "k1")).unwrap();
    assert_eq!(whole(&open("in_sql_ascii").unwrap()), 1);
}

#[test]
fn tables_are_made_once_and_newer_ones_are_refused() {
    let Some(server) = Postgres::start("tables_are_made_once_and_newer_ones_are_refused") else { return };
    let study = Study::new(&server);
    let missing = PostgresStore::open_existing(&study.database()).unwrap_err();
    assert!(
        matches!(&missing, Error::Missing(what) if what.contains("there is no log in the database")),
        "{missing}"
    );
    // Ten at once.
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..10).map(|_| scope.spawn(|| drop(study.store()))).collect();
        all.into_iter().for_each(|one| one.join().unwrap());
    });
    assert_eq!(study.ask("SELECT count(*), max(version) FROM format"), "1|1");
    study.ask("UPDATE format SET version = 99");
    let refused = PostgresStore::open(&study.database()).unwrap_err().to_string();
    assert!(
        refused.contains("was written by a newer release (format 99; this release knows 1)"),
        "{refused}"
    );
}

#[test]
fn addresses_that_would_send_answers_in_the_clear_are_refused() {
    for (address, told) in [
        ("postgres://equipoise@database.example.org/study", "the database is at database.example.org"),
        ("postgres://equipoise@10.0.0.7:5432/study", "the database is at 10.0.0.7"),
        ("postgres://equipoise@127.0.0.1,10.0.0.7/study", "the database is at 10.0.0.7"),
        ("postgres://equipoise@localhost/study?hostaddr=10.0.0.7", "the database is at 10.0.0.7"),
        ("postgres://equipoise@127.0.0.1", "names no database"),
        ("postgres:///study", "names no host"),
        ("mysql://equipoise@127.0.0.1/study", "has another form"),
        ("log.sqlite", "has another form"),
        ("postgres://equipoise@127.0.0.1:many/study", "cannot be read"),
    ] {
        let refused = Database::parse(address).unwrap_err().to_string();
        assert!(refused.contains(told) && refused.contains("expected"), "{address}: {refused}");
    }
    for address in [
        "postgres://a:secret@localhost/s",
        "postgresql://a@%2Fvar%2Frun%2Fpostgresql/s",
        "postgres://a@[::1]/s",
    ] {
        let shown = Database::parse(address).unwrap().to_string();
        assert!(!shown.contains("secret"), "{shown}");
    }
}

/// Something between a store and its database that loses what comes back.
mod proxy {
    use std::io::{Read as _, Write as _};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    #[derive(Default)]
    struct State {
        waiting: Option<&'static str>,
        swallowed: usize,
    }

    pub struct Proxy {
        pub address: String,
        state: Arc<Mutex<State>>,
    }

    impl Proxy {
        pub fn start(to: &str) -> Self {
            let (before, name) = to.rsplit_once('/').unwrap();
            let server = before.rsplit('@').next().unwrap().to_owned();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = format!("postgres://equipoise@{}/{name}", listener.local_addr().unwrap());
            let state: Arc<Mutex<State>> = Arc::default();
            let shared = state.clone();
            std::thread::spawn(move || {
                for client in listener.incoming().flatten() {
                    let (server, state) = (TcpStream::connect(&server).unwrap(), shared.clone());
                    std::thread::spawn(move || between(&client, &server, &state));
                }
            });
            Self { address, state }
        }

        pub fn swallow_the_next_answer_to(&self, words: &'static str) {
            self.state.lock().unwrap().waiting = Some(words);
        }

        pub fn swallowed(&self) -> usize {
            self.state.lock().unwrap().swallowed
        }
    }

    fn between(client: &TcpStream, server: &TcpStream, state: &Arc<Mutex<State>>) {
        let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let cut = Arc::new(Mutex::new(false));
        let is_cut = cut.clone();
        let back = std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(length @ 1..) = from.read(&mut bytes) {
                if *is_cut.lock().unwrap() {
                    // The database has answered: it has done what it was told.
                    let _ = to.shutdown(Shutdown::Both);
                    return;
                }
                if to.write_all(&bytes[..length]).is_err() {
                    return;
                }
            }
        });
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let mut bytes = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            {
                let mut state = state.lock().unwrap();
                let told = |words: &str| {
                    bytes[..length].windows(words.len()).any(|window| window == words.as_bytes())
                };
                if state.waiting.is_some_and(told) {
                    state.waiting = None;
                    state.swallowed += 1;
                    *cut.lock().unwrap() = true;
                }
            }
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = back.join();
    }
}

#[test]
fn a_host_elsewhere_is_reached_encrypted_with_a_certificate_that_is_verified() {
    let host = "database.example.org";
    let Some((server, root)) = Postgres::encrypted("a_host_elsewhere_is_reached_encrypted", host) else {
        return;
    };
    // The name leads nowhere: the address says where the host is.
    let address = server.database().replace("@127.0.0.1", &format!("@{host}"));
    let to = |words: &str| format!("{address}?hostaddr=127.0.0.1{words}");
    let root = root.display().to_string().replace('/', "%2F");
    let open = |address: &str| PostgresStore::open(&Database::parse(address)?);
    for mode in ["verify-full", "require"] {
        let mut store = open(&to(&format!("&sslmode={mode}&sslrootcert={root}"))).unwrap();
        append(&mut store, &group(mode, None, "a")).unwrap();
        let ways = "SELECT bool_and(ssl), count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                    WHERE application_name = 'equipoise'";
        assert_eq!(server.ask(address.rsplit('/').next().unwrap(), ways), "t|t");
    }
    let said = |address: &str| open(address).map(|_| ()).unwrap_err().to_string();
    for (words, told) in [
        ("", "what is sent there is not encrypted, expected ?sslmode=verify-full"),
        ("&sslmode=prefer", "what is sent there is not encrypted, expected ?sslmode=verify-full"),
        // Nobody whom this system trusts has signed it.
        ("&sslmode=verify-full", "invalid peer certificate"),
    ] {
        let said = said(&to(words));
        assert!(said.contains(told), "{words}: {said}");
    }
    // A certificate for another name, and a server that does not encrypt.
    let other = to(&format!("&sslmode=verify-full&sslrootcert={root}")).replace(host, "other.example.org");
    assert!(said(&other).contains("invalid peer certificate"), "{}", said(&other));
    let Some(plain) = Postgres::start("a_host_elsewhere_is_reached_encrypted") else { return };
    let plain = format!("{}?sslmode=verify-full&sslrootcert={root}", plain.database());
    assert!(said(&plain).contains("cannot be reached: server does not support TLS"), "{}", said(&plain));
}
