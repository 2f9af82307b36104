//! Many at once: people without end, a class that clicks together, and one who wants to hurt the others (P-02, P-03).
//!
//! Small where every change is tested: what is asserted is that nothing fails. `EQUIPOISE_LOAD=500` is the promise, on a machine that
//! does nothing else, in a release build; the figures are printed either way.

use equipoise_cohort::{Client, Load, flood, load};
use equipoise_log::{SqliteStore, Writer};
use equipoise_server::serve::{Options, study};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Service, Study, template};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("equipoise-load-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn people() -> usize {
    std::env::var("EQUIPOISE_LOAD").ok().and_then(|count| count.parse().ok()).unwrap_or(24)
}

/// A server on disk with some links; it runs until the process ends.
fn served(directory: &Path, links: usize) -> (SocketAddr, Vec<String>) {
    asking(directory, links, 100)
}

/// The same, with so many questions besides the few that elicit.
fn asking(directory: &Path, links: usize, evaluation: usize) -> (SocketAddr, Vec<String>) {
    let cancer = template::find("binary-cancer").unwrap();
    let changed = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "the template has another number: {from}");
        text.replacen(from, to, 1)
    };
    let text = changed(
        &changed(cancer.text, "evaluation = 5", &format!("evaluation = {evaluation}")),
        "cap = 20",
        "cap = 4",
    );
    std::fs::write(directory.join(cancer.table.0), cancer.table.1).unwrap();
    let design = Arc::new(Design::new(Study::parse(&text).unwrap(), directory).unwrap());
    let store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
    let service = Service::new(design, Writer::start(store), SystemClock, SystemRandom);
    let tokens = service.invite(links).unwrap().into_iter().map(|invitation| invitation.token).collect();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let options = Options { listen: ([127, 0, 0, 1], 0).into(), origin: None };
        study(service, &options, None, |serving| tell.send(serving.address).map_err(std::io::Error::other))
    });
    (told.recv().unwrap(), tokens)
}

fn per_second(load: &Load) -> f64 {
    load.waits.len() as f64 / load.counted.as_secs_f64()
}

/// A server that keeps up leaves people with nothing to do: they wait for the next answer that is due, and whoever counts must
/// not wait for them.
#[test]
fn a_flood_that_is_kept_up_with_ends() {
    let directory = Directory::new("flood");
    let (address, tokens) = served(&directory.0, 12);
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(flood(address, tokens, &[10.0, 20.0], Duration::from_secs(3))));
    let loads = told.recv_timeout(Duration::from_secs(120)).expect("it ends").unwrap();
    assert_eq!(loads.len(), 2);
    for load in &loads {
        assert!(load.errors.is_empty() && !load.waits.is_empty(), "{load:?}");
    }
    assert!(loads[0].waits.len() <= 30 && loads[1].waits.len() <= 60, "more answers than were sent");
}

/// Whoever is through answers nothing more: asking them is an error of whoever measures, and no answer.
#[test]
fn a_flood_that_runs_out_of_questions_says_so() {
    let directory = Directory::new("through");
    let (address, tokens) = asking(&directory.0, 1, 5);
    let loads = flood(address, tokens, &[50.0], Duration::from_secs(5)).unwrap();
    assert_eq!(loads[0].errors, ["somebody was through before the end"]);
    assert!((8..40).contains(&loads[0].waits.len()), "{} answers", loads[0].waits.len());
}

#[test]
#[ignore = "compares speeds, which other work on the machine changes; scripts/reliability and the long tier run it"]
fn twice_as_many_as_can_be_served_are_served_nearly_as_fast() {
    let directory = Directory::new("saturated");
    let (few, many) = (people().min(64), 2 * people());
    let (address, mut tokens) = served(&directory.0, few + many);
    let rest = tokens.split_off(few);
    let [arrive, count] = [Duration::from_secs(3), Duration::from_secs(5)];
    let peak = load(address, tokens, Duration::ZERO, arrive, count).unwrap();
    let over = load(address, rest, Duration::ZERO, arrive, count).unwrap();
    println!(
        "{:.0} answers a second of {few} people without a pause, {:.0} of {many}, p99 {:.0?} and {:.0?}, {} and {} errors",
        per_second(&peak),
        per_second(&over),
        peak.quantile(0.99),
        over.quantile(0.99),
        peak.errors.len(),
        over.errors.len()
    );
    let refused = |error: &String| error.contains("503") || error.contains("429");
    assert!(peak.errors.iter().chain(&over.errors).all(refused), "{:?} {:?}", peak.errors, over.errors);
    assert!(per_second(&over) > 0.5 * per_second(&peak), "twice the people bring the server down");
}

#[test]
#[ignore = "compares speeds, which other work on the machine changes; scripts/reliability and the long tier run it"]
fn one_who_wants_to_hurt_does_not() {
    let directory = Directory::new("hostile");
    let (address, mut tokens) = served(&directory.0, 2 * people() + 1);
    let mallory = tokens.remove(0);
    let rest = tokens.split_off(people());
    let [think, arrive, count] = [1_000, 4_000, 6_000].map(Duration::from_millis);
    let quiet = load(address, tokens, think, arrive, count).unwrap();
    let size = || std::fs::metadata(directory.0.join("log.sqlite")).unwrap().len();
    let (stop, sent, refused, before) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
        size(),
    );
    let attack = {
        let (stop, sent, refused) = (stop.clone(), sent.clone(), refused.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut client = Client::connect(address).await.unwrap();
                client.get(&format!("/s/{mallory}")).await.unwrap();
                let page = client.get("/").await.unwrap().body;
                let field = |name: &str| {
                    let rest =
                        page.split_once(&format!("name=\"{name}\" value=\"")).map_or("", |(_, rest)| rest);
                    rest.split('"').next().unwrap_or("").to_owned()
                };
                let csrf = field("csrf");
                let long = "x".repeat(50_000);
                while !stop.load(Ordering::SeqCst) {
                    for (path, fields) in [
                        ("/language", vec![("csrf", csrf.as_str()), ("key", "k"), ("language", "en")]),
                        (
                            "/note",
                            vec![("csrf", &csrf), ("what", "rates"), ("value", "true"), ("more", &long)],
                        ),
                        ("/lease", vec![("csrf", &csrf)]),
                    ] {
                        sent.fetch_add(1, Ordering::Relaxed);
                        match client.post(path, &fields).await {
                            Ok(reply) if reply.status.is_success() => {}
                            Ok(_) => drop(refused.fetch_add(1, Ordering::Relaxed)),
                            Err(_) => client = Client::connect(address).await.unwrap(),
                        }
                    }
                    // As much as one connection of one person can, and not as much as the processor can.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        })
    };
    let hurt = load(address, rest, think, arrive, count).unwrap();
    stop.store(true, Ordering::SeqCst);
    attack.join().unwrap();
    println!(
        "{} people beside one who sent {} requests ({} refused): p50 {:.1?} before and {:.1?} meanwhile, p99 {:.0?} and {:.0?}; the log \
         grew by {} kB, others' answers included",
        people(),
        sent.load(Ordering::Relaxed),
        refused.load(Ordering::Relaxed),
        quiet.quantile(0.5),
        hurt.quantile(0.5),
        quiet.quantile(0.99),
        hurt.quantile(0.99),
        (size() - before) / 1_000
    );
    assert!(hurt.errors.is_empty() && quiet.errors.is_empty(), "{:?} {:?}", quiet.errors, hurt.errors);
    assert!(refused.load(Ordering::Relaxed) > 0, "nothing was refused: it was no attack");
    assert!(
        hurt.waits.len() * 3 > quiet.waits.len() * 2,
        "{} answers, {} before",
        hurt.waits.len(),
        quiet.waits.len()
    );
}
