//! A log of every earlier schema, and a program that is killed at every step of bringing it up to date: it is old or new, and
//! nothing is lost.

use equipoise_harness::disk::{Fault, preloaded, record, watched};
use equipoise_harness::{Scratch, times};
use equipoise_log::{Row, SqliteStore, files::added, rows};
use std::path::{Path, PathBuf};

/// Where logs of earlier releases are, by the number of their schema.
fn fixtures() -> Vec<(u32, PathBuf)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut all: Vec<(u32, PathBuf)> = std::fs::read_dir(&here)
        .unwrap()
        .flatten()
        .filter_map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            Some((name.strip_prefix("schema-")?.strip_suffix(".sqlite")?.parse().ok()?, file.path()))
        })
        .collect();
    all.sort();
    all
}

fn version(log: &Path) -> u32 {
    let connection = rusqlite::Connection::open(log).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn read(log: &Path) -> Vec<Row> {
    rows(&SqliteStore::open_copy(log).unwrap()).unwrap()
}

#[test]
fn there_is_a_log_of_every_schema_before_this_one() {
    let scratch = Scratch::new("newest");
    drop(SqliteStore::open(scratch.file("log.sqlite")).unwrap());
    let newest = version(&scratch.file("log.sqlite"));
    let found: Vec<u32> = fixtures().into_iter().map(|(schema, _)| schema).collect();
    assert_eq!(
        found,
        (1..newest).collect::<Vec<_>>(),
        "fixtures/schema-N.sqlite for every N before {newest}"
    );
}

#[test]
fn whoever_is_killed_while_a_log_is_brought_up_to_date_loses_nothing() {
    let scratch = Scratch::new("migrations");
    let Some(library) = preloaded(&scratch) else {
        println!(
            "whoever_is_killed_while_a_log_is_brought_up_to_date skipped: it needs Linux and a C compiler"
        );
        return;
    };
    let program = Path::new(env!("CARGO_BIN_EXE_equipoise-workload"));
    let (mut kills, most) = (0, times("EQUIPOISE_KILLS", 50));
    for (schema, fixture) in fixtures() {
        let directory = scratch.file("log");
        let log = directory.join("log.sqlite");
        let anew = || {
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::create_dir(&directory).unwrap();
            std::fs::copy(&fixture, &log).unwrap();
        };
        anew();
        let before = read(&log);
        assert!(before.len() > 5, "schema {schema}: {} rows", before.len());
        let trace = scratch.file("trace");
        let _ = std::fs::remove_file(&trace);
        let ran = watched(program, &library, "log.sqlite", Some(&trace), None)
            .arg(&log)
            .arg("open")
            .output()
            .unwrap();
        assert!(ran.status.success(), "schema {schema}: {}", String::from_utf8_lossy(&ran.stderr));
        let newest = version(&log);
        assert!(newest > schema);
        assert_eq!(read(&log), before, "schema {schema}: rows are not what they were");
        let points = record(&trace).unwrap().iter().filter(|done| done.is_operation()).count();
        for point in (1..=points).step_by(points.div_ceil(most).max(1)) {
            anew();
            let fault = Some((point, Fault::Kill));
            let ran =
                watched(program, &library, "log.sqlite", None, fault).arg(&log).arg("open").output().unwrap();
            assert!(!ran.status.success(), "schema {schema}: not killed at {point} of {points}");
            kills += 1;
            let told = format!("schema {schema}, killed at operation {point} of {points}");
            assert!((schema..=newest).contains(&version(&log)), "{told}");
            let store = SqliteStore::open_existing(&log).unwrap_or_else(|error| panic!("{told}: {error}"));
            assert_eq!(rows(&store).unwrap(), before, "{told}");
            drop(store);
            assert_eq!(version(&log), newest, "{told}");
            // The copy from before is whole or not there, and no part of one is left where no erasure looks.
            assert!(!added(&log, &format!(".before-{newest}.part")).exists(), "{told}");
            let copy = added(&log, &format!(".before-{newest}"));
            if copy.exists() {
                assert_eq!(read(&copy), before, "{told}");
            }
        }
        // A newer one is refused in a sentence.
        rusqlite::Connection::open(&log).unwrap().pragma_update(None, "user_version", newest + 1).unwrap();
        let refused = SqliteStore::open_existing(&log).unwrap_err().to_string();
        assert!(refused.contains("newer release"), "{refused}");
    }
    println!(
        "{kills} kills while {} schemas were brought up to date: 0 rows lost, 0 mixed",
        fixtures().len()
    );
}

#[test]
fn many_who_open_an_old_log_at_once_all_get_in() {
    for (schema, fixture) in fixtures() {
        for _ in 0..times("EQUIPOISE_RACES", 5) {
            let scratch = Scratch::new("races");
            let log = scratch.file("log.sqlite");
            std::fs::copy(&fixture, &log).unwrap();
            let before = read(&log);
            std::thread::scope(|scope| {
                let open = || rows(&SqliteStore::open_existing(&log)?);
                let all: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
                for one in all {
                    let found =
                        one.join().unwrap().unwrap_or_else(|error| panic!("schema {schema}: {error}"));
                    assert!(found == before, "schema {schema}: rows are not what they were");
                }
            });
        }
    }
}
