//! Several servers of one study, on a PostgreSQL database: people go on at any of them, also when one is killed.
#![cfg(feature = "postgres")]

mod place;

use equipoise_cohort::{Client, Part, Person, take_part_among};
use equipoise_harness::{postgres::Postgres, times};
use equipoise_log::{Database, PostgresStore, Reader as _, rows};
use equipoise_study::event::Event;
use equipoise_study::template;
use place::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that is killed when it is dropped.
struct Server {
    process: Child,
    address: SocketAddr,
    researchers: Option<SocketAddr>,
    /// Kept open: the server says more than its first lines.
    _says: BufReader<ChildStdout>,
}

impl Server {
    fn start(place: &Place, directory: &str, database: &str, listen: &str, more: &[&str]) -> Self {
        let serve = ["study", "serve", directory, "--database", database, "--listen", listen];
        let mut process = place
            .command(&[&serve[..], more].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut address = || {
            let mut line = String::new();
            says.read_line(&mut line).unwrap();
            line.trim().rsplit("http://").next().unwrap().parse().map_err(|_| line)
        };
        let first = address().unwrap_or_else(|line| {
            let mut told = String::new();
            let _ = process.stderr.take().unwrap().read_to_string(&mut told);
            panic!("no address in {line:?}: {told}")
        });
        let researchers = address().ok();
        Self { process, address: first, researchers, _says: says }
    }

    /// As `kill -9` does: no handler runs, nothing is flushed.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The cancer study with many evaluation questions, which cost a server little: most of what is sent are answers.
fn prepare(place: &Place, directory: &str, evaluation: usize) {
    place.line(&format!("study new {directory} --template binary-cancer")).ok_wide();
    let text = template::find("binary-cancer").unwrap().text;
    let text = text.replacen("evaluation = 5 ", &format!("evaluation = {evaluation} "), 1);
    place.write(&format!("{directory}/study.toml"), &text.replacen("cap = 20 ", "cap = 4 ", 1));
}

/// Another directory with the same study: what is in it is all a server needs but for the database.
fn copy(place: &Place, from: &str, to: &str) {
    std::fs::create_dir_all(place.0.join(to)).unwrap();
    for file in std::fs::read_dir(place.0.join(from)).unwrap().flatten() {
        std::fs::copy(file.path(), place.0.join(to).join(file.file_name())).unwrap();
    }
}

fn links(place: &Place, database: &str, count: usize) -> Vec<String> {
    let count = count.to_string();
    let made =
        place.run(&["study", "invite", "one", "--database", database, "-n", &count, "--json"]).ok_wide();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let token =
        |link: &serde_json::Value| link["link"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    made["links"].as_array().unwrap().iter().map(token).collect()
}

/// Answers of a log: by session and question what was chosen, with the receipt. None is there twice.
fn answers(database: &str) -> BTreeMap<(String, u64, String), String> {
    let store = PostgresStore::open(&Database::parse(database).unwrap()).unwrap();
    equipoise_study::verify(&store).expect("the chain is whole");
    let (mut stored, mut answered) = (BTreeMap::new(), BTreeSet::new());
    for row in rows(&store).unwrap() {
        if let Some(Event::Answered(answer)) = Event::in_row(&row).unwrap() {
            assert!(answered.insert((row.session.clone(), answer.asked)), "answered twice: {row:?}");
            let choice = serde_json::to_value(answer.choice).unwrap().as_str().unwrap().to_owned();
            stored.insert((row.session.clone(), answer.asked, choice), row.receipt().to_string());
        }
    }
    stored
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn a_person_whose_every_request_goes_to_another_server_notices_nothing() {
    let Some(server) = Postgres::start("a_person_whose_every_request_goes_to_another_server_notices_nothing")
    else {
        return;
    };
    let (place, database) = (Place::new("servers-move"), server.database());
    prepare(&place, "one", 10);
    place.run(&["study", "lock", "one", "--database", &database]).ok_wide();
    copy(&place, "one", "two");
    let start = |directory| Server::start(&place, directory, &database, "127.0.0.1:0", &[]);
    let (one, two) = (start("one"), start("two"));
    let addresses = [one.address, two.address];
    let runtime = runtime();
    let tokens = links(&place, &database, 4);
    let tasks: Vec<_> = (0..)
        .zip(tokens)
        .map(|(seed, token)| {
            runtime.spawn(async move {
                let (mut person, mut part) = (Person::new(6.0, 20.0, Duration::ZERO, seed), Part::default());
                take_part_among(&addresses, &token, &mut person, &mut part).await.map(|()| (token, part))
            })
        })
        .collect();
    let stored =
        answers_after(&database, tasks.into_iter().map(|task| runtime.block_on(task).unwrap().unwrap()));
    assert!(stored >= 4 * 10, "{stored} answers");
    let watched = place.run(&["study", "watch", "two", "--database", &database]).ok_wide();
    assert!(watched.contains("4 invited, 4 took part, 4 done"), "{watched}");
    for file in ["log.sqlite", "accounts.sqlite", "contacts.sqlite", "contacts.key"] {
        assert!(!place.has(&format!("one/{file}")) && !place.has(&format!("two/{file}")), "{file}");
    }
}

/// All that was acknowledged is in the log, and nothing else: how much.
fn answers_after(database: &str, parts: impl Iterator<Item = (String, Part)>) -> usize {
    let mut acknowledged = BTreeMap::new();
    for (token, part) in parts {
        assert!(part.finished);
        for answer in part.answers {
            let session = equipoise_study::session_of(&token);
            acknowledged.insert((session, answer.query, answer.choice), answer.receipt);
        }
    }
    let stored = answers(database);
    assert_eq!(stored, acknowledged);
    stored.len()
}

/// 5 kills where every change is tested; `EQUIPOISE_SERVER_KILLS=50` is the promise.
#[test]
fn people_go_on_at_the_other_server_when_one_is_killed() {
    let Some(server) = Postgres::start("people_go_on_at_the_other_server_when_one_is_killed") else { return };
    const PEOPLE: usize = 12;
    let kills = times("EQUIPOISE_SERVER_KILLS", 5);
    let (place, database) = (Place::new("servers-kill"), server.database());
    prepare(&place, "one", 60);
    place.run(&["study", "lock", "one", "--database", &database]).ok_wide();
    copy(&place, "one", "two");
    let waiting = Arc::new(Mutex::new(links(&place, &database, PEOPLE * (kills + 3))));
    let directories = ["one", "two"];
    let mut servers =
        directories.map(|directory| Server::start(&place, directory, &database, "127.0.0.1:0", &[]));
    let addresses = [servers[0].address, servers[1].address];
    let over = Arc::new(AtomicBool::new(false));
    let runtime = runtime();
    let seats: Vec<_> = (0..PEOPLE as u64)
        .map(|seat| {
            let (waiting, over) = (waiting.clone(), over.clone());
            runtime.spawn(async move {
                let mut parts = vec![];
                while !over.load(Ordering::SeqCst) {
                    let Some(token) = waiting.lock().unwrap().pop() else { break };
                    let mut person = Person::new(6.0, 20.0, Duration::from_millis(20), seat).trying(200);
                    let mut part = Part::default();
                    // Nobody is stuck, whatever happens to the servers.
                    let whole = take_part_among(&addresses, &token, &mut person, &mut part);
                    let went = tokio::time::timeout(Duration::from_secs(120), whole).await;
                    match went {
                        Ok(Ok(())) => parts.push((token, part)),
                        other => panic!("{other:?} at {}", part.page.chars().take(400).collect::<String>()),
                    }
                }
                parts
            })
        })
        .collect();
    let begun = Instant::now();
    let mut slowest = Duration::ZERO;
    for kill in 0..kills {
        // Somewhere within an answer, a different one each time.
        std::thread::sleep(Duration::from_millis(500 + (kill as u64 * 137) % 700));
        let which = kill % 2;
        servers[which].kill();
        std::thread::sleep(Duration::from_millis(200 + (kill as u64 * 61) % 300));
        let again = Instant::now();
        servers[which] =
            Server::start(&place, directories[which], &database, &addresses[which].to_string(), &[]);
        slowest = slowest.max(again.elapsed());
    }
    over.store(true, Ordering::SeqCst);
    let parts: Vec<_> = seats.into_iter().flat_map(|seat| runtime.block_on(seat).unwrap()).collect();
    let people = parts.len();
    let stored = answers_after(&database, parts.into_iter());
    println!(
        "{kills} kills of one of two servers in {} s, {people} people done, {stored} answers acknowledged and in the log, 0 lost, \
         0 twice, 0 stuck; slowest restart {} ms",
        begun.elapsed().as_secs(),
        slowest.as_millis()
    );
    assert!(people >= PEOPLE && stored > 20 * kills, "hardly anything was answered");
}

#[test]
fn the_bench_measures_a_server_on_an_empty_database() {
    let Some(server) = Postgres::start("the_bench_measures_a_server_on_an_empty_database") else { return };
    let (place, database) = (Place::new("servers-bench"), server.database());
    let line = ["bench", "server", "--participants", "5", "--think", "0.05", "--seconds", "2", "--json"];
    let line = [&line[..], &["--database", &database]].concat();
    let measured = place.run(&line);
    let document: serde_json::Value = serde_json::from_str(&measured.out).expect(&measured.err);
    assert_eq!((&document["log"], document["errors"].as_array().unwrap().len()), (&"PostgreSQL".into(), 0));
    assert!(document["answers"].as_u64().unwrap() > 0 && !answers(&database).is_empty(), "{document}");
    let again = place.run(&line);
    assert_eq!((again.code, again.out.as_str()), (Some(2), ""));
    assert!(again.err.contains("--database: found a database with a log in it"), "{}", again.err);
}

#[test]
fn every_command_works_on_a_database() {
    let Some(server) = Postgres::start("every_command_works_on_a_database") else { return };
    let (place, database) = (Place::new("servers-commands"), server.database());
    let run = |words: &str, typed: &str| {
        let mut words: Vec<&str> = words.split(' ').collect();
        words.extend(["--database", &database]);
        place.run_with(&words, typed)
    };
    prepare(&place, "one", 5);
    let missing = run("study watch one", "");
    assert!(
        missing.code == Some(3) && missing.err.contains("there is no log in the database"),
        "{}",
        missing.err
    );
    run("study lock one", "").ok_wide();
    place.write("people.txt", "Canary-Ana\nCanary-Ben\n");
    run("study invite one --for people.txt --out links.csv", "").ok_wide();
    run("study account add one ana --role owner", "three small boats\n").ok_wide();
    run("study account list one", "").ok_wide();
    run("study account token add one ana --name nightly --scope export --days 3", "").ok_wide();
    assert!(run("study account token list one", "").ok_wide().contains("nightly"));
    let tokens: Vec<String> = place
        .read("links.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    let serving = Server::start(&place, "one", &database, "127.0.0.1:0", &["--researchers", "127.0.0.1:0"]);
    let other = Server::start(&place, "one", &database, "127.0.0.1:0", &["--researchers", "127.0.0.1:0"]);
    let runtime = runtime();
    for token in &tokens {
        let (mut person, mut part) = (Person::new(6.0, 20.0, Duration::ZERO, 1), Part::default());
        let servers = [serving.address, other.address];
        runtime.block_on(take_part_among(&servers, token, &mut person, &mut part)).unwrap();
    }
    // Signed in at one server is signed in at the other.
    runtime.block_on(async {
        let mut client = Client::among(&[serving.researchers.unwrap(), other.researchers.unwrap()], 3);
        let page = client.get("/sign-in").await.unwrap().body;
        let csrf = page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let form = [("csrf", csrf.as_str()), ("name", "ana"), ("password", "three small boats")];
        let signed = client.post("/sign-in", &form).await.unwrap();
        assert_eq!(signed.location.as_deref(), Some("/"), "{}", signed.body);
        for _ in 0..4 {
            let people = client.get("/participants").await.unwrap();
            assert!(people.status.is_success(), "{}", people.status);
        }
    });
    drop((serving, other));
    assert!(run("study watch one", "").ok_wide().contains("2 invited, 2 took part, 2 done"));
    assert!(run("study contacts one", "").ok_wide().contains("Canary-Ana"));
    run("study verify one", "").ok_wide();
    // Two people say too little for a metric.
    let report = run("study report one --html report.html", "");
    assert!(report.code == Some(1) && place.has("report.html"), "{}", report.err);
    run("study export one --out answers.csv", "").ok_wide();
    assert!(place.read("answers.csv").lines().count() > 10);
    run("study export-person one 2 --out two.json", "").ok_wide();
    assert!(place.read("two.json").contains("Canary-Ben"));
    run("study retain one --yes", "").ok_wide();
    run("study backup one copy.sqlite", "").ok_wide();
    for text in ["Canary-Ana", "Canary-Ben"] {
        assert!(server.holding(text.as_bytes()).is_empty(), "{text} is in a file of the database as it is");
    }
    // Another study's directory sees and does nothing here, whatever version it says it is.
    prepare(&place, "other", 7);
    let text = place.read("other/study.toml");
    for version in [1, 2] {
        place.write("other/study.toml", &text.replacen("version = 1", &format!("version = {version}"), 1));
        for verb in ["lock other", "watch other", "verify other", "erase other 1 --yes", "account list other"]
        {
            let refused = run(&format!("study {verb}"), "");
            assert!(
                refused.code == Some(2)
                    && refused.err.contains("the database holds another study than other"),
                "{verb}: {:?} {}",
                refused.code,
                refused.err
            );
        }
    }
    // Erased: neither the answers nor who it was can be read any more.
    run("study erase one 2 --yes", "").ok_wide();
    assert!(!run("study contacts one", "").ok_wide().contains("Canary-Ben"));
    let store = PostgresStore::open(&Database::parse(&database).unwrap()).unwrap();
    let gone = equipoise_study::session_of(&tokens[1]);
    assert!(store.session(&gone).unwrap().is_empty() && store.is_spent(&gone).unwrap());
    assert!(run("study verify one", "").ok_wide().contains("1 erased"));
    let twice = run("study erase one 2 --yes", "");
    assert!(twice.code == Some(2) && twice.err.contains("was erased already"), "{}", twice.err);
    // A copy goes to another database, and not over another log.
    let full = run("study restore one copy.sqlite", "");
    assert!(full.code == Some(2) && full.err.contains("expected none"), "{}", full.err);
    let empty = server.database();
    let restored = place.run(&["study", "restore", "one", "copy.sqlite", "--database", &empty]).ok_wide();
    assert!(restored.contains("whoever was erased after the backup was made is in it again"), "{restored}");
    assert!(place.run(&["study", "watch", "one", "--database", &empty]).ok_wide().contains("2 done"));
    run("study contacts one --forget --yes", "").ok_wide();
    assert!(!run("study contacts one", "").ok_wide().contains("Canary-Ana"));
    for (address, code, told) in [
        ("postgres://equipoise@database.example.org/study", 2, "what is sent there is not encrypted"),
        ("sqlite://log", 2, "the address of a database has another form"),
        ("postgres://equipoise@127.0.0.1:9/study", 3, "cannot be reached"),
    ] {
        let refused = place.run(&["study", "watch", "one", "--database", address]);
        assert!(refused.code == Some(code) && refused.err.contains(told), "{}", refused.err);
    }
    for file in ["log.sqlite", "accounts.sqlite", "contacts.sqlite", "contacts.key"] {
        assert!(!place.has(&format!("one/{file}")), "{file}");
    }
}
