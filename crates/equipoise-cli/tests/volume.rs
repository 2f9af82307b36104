//! A disk that is really full: a small volume is filled while people answer, and freed again.

use equipoise_cohort::{Client, Part, Person, take_part};
use equipoise_harness::process::Volume;
use equipoise_log::{SqliteStore, rows};
use equipoise_study::template;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

mod place;
use place::Place;

/// Ends the server with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Fills a volume to the last byte.
fn fill(at: &Path) {
    let mut filler = std::fs::File::create(at.join("filler")).unwrap();
    for size in [1 << 16, 1 << 12, 1] {
        while filler.write_all(&vec![7; size]).is_ok() {}
    }
}

fn health(runtime: &tokio::runtime::Runtime, address: SocketAddr) -> u16 {
    let got = runtime.block_on(async { Client::connect(address).await?.get("/health").await });
    got.unwrap().status.as_u16()
}

/// How long until /health says so.
fn until(runtime: &tokio::runtime::Runtime, address: SocketAddr, status: u16) -> Duration {
    let begun = Instant::now();
    while health(runtime, address) != status {
        assert!(begun.elapsed() < Duration::from_secs(30), "/health never said {status}");
        std::thread::sleep(Duration::from_millis(100));
    }
    begun.elapsed()
}

#[test]
fn a_volume_that_is_full_loses_nothing_and_goes_on_when_it_is_freed() {
    let place = Place::new("volume");
    let small = place.0.join("small");
    std::fs::create_dir(&small).unwrap();
    let Some(volume) = Volume::mount(&small, 32 << 20) else {
        println!("a_volume_that_is_full skipped: mounting a small volume is not allowed here");
        return;
    };
    let cancer = template::find("binary-cancer").unwrap();
    let text =
        cancer.text.replacen("evaluation = 5", "evaluation = 100", 1).replacen("cap = 30", "cap = 4", 1);
    std::fs::write(small.join(cancer.table.0), cancer.table.1).unwrap();
    std::fs::write(small.join("study.toml"), text).unwrap();
    place.line("study lock small").ok();
    let mut server = Server(
        Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(["study", "serve", "--listen", "127.0.0.1:0", "--invite", "6", "--quiet", "--json"])
            .arg(&small)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut said = BufReader::new(server.0.stdout.take().unwrap());
    let mut document = String::new();
    while serde_json::from_str::<serde_json::Value>(&document).is_err() {
        assert!(said.read_line(&mut document).unwrap() > 0, "{document}");
    }
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let address: SocketAddr = document["address"].as_str().unwrap().parse().unwrap();
    let links = document["links"].as_array().unwrap();
    let tokens: Vec<String> =
        links.iter().map(|link| link.as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let answering = |think: u64| {
        let tasks: Vec<_> = (0..)
            .zip(tokens.clone())
            .map(|(seed, token)| {
                runtime.spawn(async move {
                    let mut person = Person::new(6.0, 20.0, Duration::from_millis(think), seed);
                    let mut part = Part::default();
                    let end = take_part(address, &token, &mut person, &mut part).await;
                    (part, end.map_err(|error| error.to_string()))
                })
            })
            .collect();
        tasks
    };
    let first = answering(40);
    std::thread::sleep(Duration::from_millis(1_500));
    fill(&small);
    let red = until(&runtime, address, 503);
    let first: Vec<_> = first.into_iter().map(|task| runtime.block_on(task).unwrap()).collect();
    let full = first.iter().filter(|(_, end)| end.as_ref().is_err_and(|error| error.contains("507"))).count();
    assert!(full > 0, "nobody met the full disk: {:?}", first.iter().map(|(_, end)| end).collect::<Vec<_>>());
    // What is there can be read, and copied to another volume.
    let backup = place.run(&["study", "backup", "small", "elsewhere.sqlite"]);
    let copied =
        SqliteStore::open_copy(place.0.join("elsewhere.sqlite")).map(|copy| rows(&copy).unwrap().len());
    std::fs::remove_file(small.join("filler")).unwrap();
    let green = until(&runtime, address, 200);
    let second: Vec<_> = answering(0).into_iter().map(|task| runtime.block_on(task).unwrap()).collect();
    for (part, end) in &second {
        assert!(part.finished, "{end:?}");
    }
    drop(server);
    let store = SqliteStore::open_existing(small.join("log.sqlite")).unwrap();
    equipoise_study::verify(&store).expect("the chain is whole");
    let stored: std::collections::BTreeSet<String> =
        rows(&store).unwrap().iter().map(|row| row.receipt().to_string()).collect();
    let receipts: Vec<&String> = first
        .iter()
        .chain(&second)
        .flat_map(|(part, _)| &part.answers)
        .map(|answer| &answer.receipt)
        .collect();
    let lost = receipts.iter().filter(|receipt| !stored.contains(**receipt)).count();
    println!(
        "{full} of 6 people met a really full volume: {} receipts, {lost} lost; health red after {red:.1?}, green {green:.1?} after \
         it was freed, all went on without a restart",
        receipts.len()
    );
    assert_eq!(lost, 0);
    assert!(red < Duration::from_secs(10) && green < Duration::from_secs(10), "{red:?}, {green:?}");
    assert!(
        copied.is_ok_and(|rows| rows > 50),
        "no copy while the disk was full: {}{}",
        backup.out,
        backup.err
    );
    drop(store);
    drop(volume);
}
