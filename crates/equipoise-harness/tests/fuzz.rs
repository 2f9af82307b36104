//! Every parser that takes something from outside, with inputs that were good once: none panics, none takes long.
//!
//! 10,000 inputs each where every change is tested; `EQUIPOISE_FUZZ=1000000` is the promise.
//! Good inputs are the repository's own examples, fixtures and templates.

use equipoise::population::Classifier;
use equipoise::testing::Simulation;
use equipoise::{AnyPlan, Interview, Metric, Preference, Step};
use equipoise_data::{Columns, read, wire};
use equipoise_harness::fuzz::{Corpus, run};
use equipoise_harness::{Scratch, seed, times};
use equipoise_log::{Payload, Reader as _, Row, SqliteStore, hex, rows, verify, verify_receipt};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Event, Study, export, template};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files of a directory whose names end so.
fn files(directory: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(repository().join(directory)).unwrap().flatten().map(|file| file.path()).collect();
    paths.sort();
    let wanted = |path: &PathBuf| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending));
    paths.iter().filter(|path| wanted(path)).map(|path| std::fs::read(path).unwrap()).collect()
}

fn inputs() -> usize {
    times("EQUIPOISE_FUZZ", 10_000)
}

#[track_caller]
fn told(name: &str, tried: &equipoise_harness::fuzz::Tried) {
    println!(
        "{name}: {} inputs, {} taken, 0 panics, slowest {:.1} ms; seed {}",
        tried.inputs,
        tried.taken,
        tried.slowest.as_secs_f64() * 1e3,
        seed()
    );
    assert!(tried.taken > 0, "{name}: nothing was ever taken, so nothing was tried");
}

/// Text parsers: each takes a text or says what is wrong with it.
fn texts(name: &str, good: Vec<Vec<u8>>, takes: impl Fn(&str) -> bool) {
    let tried =
        run(name, &Corpus::new(good), seed(), inputs(), |input| takes(&String::from_utf8_lossy(input)));
    told(name, &tried);
}

/// Parsers of files: each input is written and read.
fn on_disk(name: &str, ending: &str, good: Vec<Vec<u8>>, takes: impl Fn(&Path) -> bool) {
    let scratch = Scratch::new(name);
    let path = scratch.file(&format!("input.{ending}"));
    let tried = run(name, &Corpus::new(good), seed(), inputs(), |input| {
        std::fs::write(&path, input).unwrap();
        takes(&path)
    });
    told(name, &tried);
}

fn table(path: &Path) -> bool {
    // All that can be asked of it, not only the header.
    read::table(path, &Columns::guess()).is_ok_and(|reading| reading.data.rows() > 0)
        | read::confusions(path).is_ok()
}

#[test]
fn tables_as_text() {
    let mut good = files("crates/equipoise-data/tests/corpus", &[".csv"]);
    good.extend(files("examples/tables", &[".csv"]).into_iter().map(|mut table| {
        table.truncate(4_000);
        table
    }));
    on_disk("csv", "csv", good, table);
    let rows = (0..30).map(|n| {
        format!(
            "{{\"y\":\"{}\",\"p_a\":0.{n:02},\"p_b\":{}}}\n",
            if n % 2 == 0 { "a" } else { "b" },
            1.0 - f64::from(n) / 100.0
        )
    });
    let mut good = files("crates/equipoise-data/tests/corpus", &[".jsonl", ".json"]);
    good.push(rows.collect::<String>().into_bytes());
    on_disk("json lines", "jsonl", good, table);
}

/// What an export writes is Parquet that the reader for tables opens: columns of numbers and texts.
fn parquet() -> Vec<u8> {
    let log = SqliteStore::open_copy(repository().join("crates/equipoise-harness/fixtures/schema-1.sqlite"))
        .unwrap();
    export::answers(&log).unwrap().parquet().unwrap()
}

#[test]
fn tables_as_parquet() {
    let good = parquet();
    on_disk("parquet", "parquet", vec![good], |path| {
        read::table(path, &Columns::guess()).is_ok()
            | read::numbers(path, &["seq", "participant"]).is_ok()
            | read::groups(path, &["answer"]).is_ok()
    });
}

#[test]
fn tables_that_are_compressed() {
    let good = [&b"y,p\n"[..], &b"0,0.1\n1,0.9\n1,0.7\n0,0.25\n".repeat(20)].concat();
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &good).unwrap();
    on_disk("gzip", "csv.gz", vec![encoder.finish().unwrap()], table);
}

#[test]
fn tables_from_another_process() {
    let scratch = Scratch::new("wire");
    let path = scratch.file("table.csv");
    std::fs::write(&path, "y,p,g,weight\n0,0.1,x,1\n1,0.9,y,2\n1,0.7,x,0.5\n").unwrap();
    let table = read::table(&path, &Columns::guess().groups(["g"])).unwrap().data;
    let mut said = vec![];
    wire::write_table(&table, &mut said).unwrap();
    let tried =
        run("wire", &Corpus::new(vec![said]), seed(), inputs(), |input| wire::read_table(input).is_ok());
    told("wire", &tried);
}

#[test]
fn study_files() {
    let good = ["binary-cancer", "multiclass-triage", "group-fair-hiring"];
    let good = good.map(|name| template::find(name).unwrap().text.as_bytes().to_vec()).to_vec();
    let tried = run("study files", &Corpus::new(good), seed(), inputs(), |input| {
        Study::parse(&String::from_utf8_lossy(input)).is_ok()
    });
    told("study files", &tried);
}

#[test]
fn documents_and_transcripts() {
    let simulations = files("examples/simulations", &[".json"]);
    texts("simulations", simulations.clone(), |text| Simulation::from_json(text).is_ok());
    let simulated: Vec<Simulation> = simulations
        .iter()
        .map(|of| Simulation::from_json(std::str::from_utf8(of).unwrap()).unwrap())
        .collect();
    let metrics = simulated.iter().map(|simulation| simulation.metric().to_json().into_bytes()).collect();
    texts("metrics", metrics, |text| Metric::from_json(text).is_ok());
    let interviews = simulated
        .iter()
        .filter(|simulation| !matches!(simulation.plan(), AnyPlan::Adaptive(_)))
        .map(|simulation| {
            let mut interview = Interview::new(simulation.plan().clone());
            for preference in [Preference::First, Preference::Second, Preference::CannotTell] {
                if let Ok(Step::Ask(_)) = interview.step() {
                    let _ = interview.answer(preference);
                }
            }
            interview.to_json().into_bytes()
        });
    texts("transcripts", interviews.collect(), |text| Interview::<AnyPlan>::from_json(text).is_ok());
    let rule = serde_json::json!({"share": 1.0, "form": "weights", "weights": [[1.0, 2.0]]});
    let classifier = serde_json::json!({"format": 1, "kind": "post_shift", "classes": ["a", "b"], "bases": [], "rules": [rule]});
    let _ = run(
        "classifiers",
        &Corpus::new(vec![classifier.to_string().into_bytes()]),
        seed(),
        inputs(),
        |input| Classifier::from_json(&String::from_utf8_lossy(input)).is_ok(),
    );
}

#[test]
fn rows_receipts_and_hexadecimal() {
    let log = SqliteStore::open_copy(repository().join("crates/equipoise-harness/fixtures/schema-1.sqlite"))
        .unwrap();
    let all = rows(&log).unwrap();
    let bodies: Vec<Vec<u8>> = all
        .iter()
        .filter_map(|row| row.payload.as_ref().map(|payload| payload.body.clone().into_bytes()))
        .collect();
    let of = |body: &str| Row {
        payload: Some(Payload { salt: [0; 32], body: body.to_owned() }),
        ..all[0].clone()
    };
    texts("events of rows", bodies, |text| Event::in_row(&of(text)).is_ok());
    let receipts = all.iter().map(|row| row.receipt().to_string().into_bytes()).collect();
    texts("receipts", receipts, |text| verify_receipt(&log, text).is_ok());
    texts("hexadecimal", vec![b"00ff9a".to_vec(), b"9f86d081884c7d65".to_vec()], |text| {
        hex::decode(text).is_some()
    });
}

#[test]
fn logs_and_backups() {
    let fixture = repository().join("crates/equipoise-harness/fixtures/schema-2.sqlite");
    let scratch = Scratch::new("backups");
    let to = scratch.file("restored.sqlite");
    on_disk("backups", "sqlite", vec![std::fs::read(fixture).unwrap()], |path| {
        let verified = SqliteStore::open_copy(path)
            .and_then(|log| verify(&log, &mut |_, sealed| Ok(sealed)).and(log.sessions()));
        let known: [String; 0] = [];
        let restored = equipoise_study::restore(path, &to, &known, &SystemClock, &SystemRandom);
        for ending in ["", ".lock", "-wal", "-shm", ".restoring", ".restoring-wal", ".restoring-shm"] {
            let _ = std::fs::remove_file(scratch.file(&format!("restored.sqlite{ending}")));
        }
        verified.is_ok() | restored.is_ok()
    });
}
