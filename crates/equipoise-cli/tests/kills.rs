//! The real binary, killed without warning while people answer: what was acknowledged is there, once.

use equipoise_cohort::{Client, Part, Person, take_part};
use equipoise_log::{SqliteStore, Writer, rows};
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Service, Study, template};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Receipts by session, number and key of what was acknowledged.
type Acknowledged = Arc<Mutex<BTreeMap<(String, u64, String), String>>>;

/// The cancer study with many evaluation questions, which cost the server little: most of what is sent are answers.
fn study() -> String {
    let text = template::find("binary-cancer").unwrap().text;
    text.replacen("evaluation = 5 ", "evaluation = 100 ", 1).replacen("cap = 20 ", "cap = 4 ", 1)
}

/// 10 kills where every change is tested; `EQUIPOISE_KILLS=200` is the promise, with 10,000 answers.
fn kills() -> usize {
    std::env::var("EQUIPOISE_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(10)
}

const PEOPLE: usize = 12;

fn service(directory: &Path) -> Service {
    let study = Study::parse(&study()).unwrap();
    let design = Arc::new(Design::new(study, directory).unwrap());
    let store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
    Service::new(design, Writer::start(store), SystemClock, SystemRandom)
}

/// A server that is killed when it is dropped.
struct Server {
    process: Child,
    address: SocketAddr,
    /// Kept open: the server says more than its first line.
    _says: BufReader<ChildStdout>,
}

impl Server {
    fn start(directory: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(["study", "serve", "--listen", "127.0.0.1:0"])
            .arg(directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        says.read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().parse();
        Self { process, address: address.unwrap_or_else(|_| panic!("no address in {line:?}")), _says: says }
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

struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("equipoise-kills-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("study.toml"), study()).unwrap();
        let (name, table) = template::find("binary-cancer").unwrap().table;
        std::fs::write(path.join(name), table).unwrap();
        let lock = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(["study", "lock"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(lock.status.success(), "{lock:?}");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_was_acknowledged_survives_kills() {
    let directory = Directory::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    // (question within a session, receipt) of everything that was acknowledged.
    let acknowledged: Acknowledged = Arc::default();
    let mut slowest = Duration::ZERO;
    let mut waiting: Vec<(String, String)> = vec![];
    for kill in 0..kills() {
        if waiting.len() < PEOPLE {
            let more = service(&directory.0).invite(PEOPLE).unwrap();
            waiting.extend(more.into_iter().map(|invitation| (invitation.token, invitation.session)));
        }
        let started = Instant::now();
        let mut server = Server::start(&directory.0);
        let address = server.address;
        let health = runtime.block_on(async { Client::connect(address).await?.get("/health").await });
        assert!(health.unwrap().status.is_success());
        slowest = slowest.max(started.elapsed());
        let tasks: Vec<_> = (0..)
            .zip(waiting.iter().take(PEOPLE).cloned())
            .map(|(place, (token, session))| {
                let acknowledged = acknowledged.clone();
                runtime.spawn(async move {
                    let mut person = Person::new(6.0, 20.0, Duration::ZERO, place);
                    let mut part = Part::default();
                    let result = take_part(address, &token, &mut person, &mut part).await;
                    let mut all = acknowledged.lock().unwrap();
                    for answer in &part.answers {
                        let place = (session.clone(), answer.query, answer.choice.clone());
                        all.insert(place, answer.receipt.clone());
                    }
                    (token, result.is_ok())
                })
            })
            .collect();
        // Somewhere within an answer, a different one each time.
        std::thread::sleep(Duration::from_millis(300 + (kill as u64 * 137) % 700));
        server.kill();
        for task in tasks {
            let (token, finished) = runtime.block_on(task).unwrap();
            if finished {
                waiting.retain(|(other, _)| *other != token);
            }
        }
    }
    let acknowledged = acknowledged.lock().unwrap().clone();
    let store = SqliteStore::open_existing(directory.0.join("log.sqlite")).unwrap();
    equipoise_study::verify(&store).expect("the chain is whole");
    let mut stored = BTreeMap::new();
    let mut answered = BTreeSet::new();
    for row in rows(&store).unwrap() {
        if let Some(Event::Answered(answer)) = Event::in_row(&row).unwrap() {
            assert!(answered.insert((row.session.clone(), answer.asked)), "answered twice: {row:?}");
            let choice = serde_json::to_value(answer.choice).unwrap().as_str().unwrap().to_owned();
            stored.insert((row.session.clone(), answer.asked, choice), row.receipt().to_string());
        }
    }
    for (place, receipt) in &acknowledged {
        assert_eq!(stored.get(place), Some(receipt), "acknowledged but not in the log: {place:?}");
    }
    println!(
        "{} kills, {} answers acknowledged, {} in the log, 0 lost, 0 twice; slowest restart to the first response {} ms",
        kills(),
        acknowledged.len(),
        stored.len(),
        slowest.as_millis()
    );
    assert!(slowest <= Duration::from_secs(2), "{slowest:?}");
    assert!(acknowledged.len() > kills(), "hardly anything was answered: {}", acknowledged.len());
}
