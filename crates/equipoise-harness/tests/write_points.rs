//! Every operation on the disk fails once, each in every way: nothing is acknowledged that is not there.

use equipoise_harness::disk::{Disk, Done, Fault, preloaded, record, watched};
use equipoise_harness::{Scratch, seed, times};
use equipoise_log::{Appended, Entry, Group, SqliteStore, Why, rows, transact, verify};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a run acknowledged, and what the log has.
struct Run {
    receipts: Vec<String>,
    failed: usize,
    done: Vec<Done>,
}

fn run(scratch: &Scratch, library: &Path, fault: Option<(usize, Fault)>) -> (PathBuf, Run) {
    let directory = scratch.file("try");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let (log, trace) = (directory.join("log.sqlite"), directory.join("trace"));
    let program = Path::new(env!("CARGO_BIN_EXE_equipoise-workload"));
    let mut command = watched(program, library, "log.sqlite", Some(&trace), fault);
    let output = command.arg(&log).arg("write").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let receipts = said.lines().filter_map(|line| line.strip_prefix("ack ")).map(str::to_owned).collect();
    let failed = said.lines().filter(|line| line.starts_with("failed ")).count();
    (log, Run { receipts, failed, done: record(&trace).unwrap_or_default() })
}

/// Receipts that are not in a log; the chain must be whole.
fn missing(log: &Path, receipts: &[String], told: &str) -> usize {
    if receipts.is_empty() {
        return 0;
    }
    let store = SqliteStore::open_existing(log).unwrap_or_else(|error| panic!("{told}: {error}"));
    verify(&store, &mut |_, sealed| Ok(sealed)).unwrap_or_else(|error| panic!("{told}: {error}"));
    let all: BTreeSet<String> = rows(&store).unwrap().iter().map(|row| row.receipt().to_string()).collect();
    receipts.iter().filter(|receipt| !all.contains(*receipt)).count()
}

#[test]
fn no_fault_of_the_disk_is_acknowledged() {
    let scratch = Scratch::new("write-points");
    let Some(library) = preloaded(&scratch) else {
        println!("no_fault_of_the_disk_is_acknowledged skipped: it needs Linux and a C compiler");
        return;
    };
    let (log, whole) = run(&scratch, &library, None);
    assert_eq!((missing(&log, &whole.receipts, "without a fault"), whole.failed), (0, 0));
    let points = whole.done.iter().filter(|done| done.is_operation()).count();
    assert!(points > 50, "{points} operations: the record is blind");
    // Every point in the long tier; in the short one every third, each with another fault.
    let every = times("EQUIPOISE_EVERY_POINT", 0) > 0;
    let (mut tried, mut recovered, mut cut) = (0, 0, 0);
    for point in 1..=points {
        for (number, fault) in [Fault::Broken, Fault::Full, Fault::Short].into_iter().enumerate() {
            if !every && point % 3 != number {
                continue;
            }
            tried += 1;
            let told = format!("operation {point} of {points}, {fault:?}");
            let (log, run) = run(&scratch, &library, Some((point, fault)));
            assert_eq!(missing(&log, &run.receipts, &told), 0, "{told}: acknowledged and not there");
            recovered += usize::from(run.receipts.len() == whole.receipts.len());
            if run.done.iter().any(|done| matches!(done, Done::GaveUp(_))) {
                // A sync failed: what it was to write is gone, whatever later syncs say. Then the power goes.
                let mut disk = Disk::default();
                run.done.iter().for_each(|done| disk.take(done));
                let files = disk.cut(seed() ^ point as u64);
                let directory = scratch.file("cut");
                let _ = std::fs::remove_dir_all(&directory);
                std::fs::create_dir(&directory).unwrap();
                files.iter().for_each(|(name, bytes)| std::fs::write(directory.join(name), bytes).unwrap());
                let lost =
                    missing(&directory.join("log.sqlite"), &run.receipts, &format!("{told}, then no power"));
                assert_eq!(lost, 0, "{told}, then no power: acknowledged and not there");
                cut += 1;
            }
        }
    }
    println!(
        "{tried} faults at {points} write points: 0 false acknowledgements; {recovered} went on as if nothing had been; {cut} failed \
         syncs followed by a loss of power: 0 lost"
    );
    assert!(recovered * 2 > tried, "one fault stops everything: {recovered} of {tried} recovered");
}

#[test]
fn a_lock_that_is_held_for_too_long_is_an_error_and_a_short_one_is_waited_for() {
    let scratch = Scratch::new("lock");
    let log = scratch.file("log.sqlite");
    let mut store = SqliteStore::open(&log).unwrap();
    let other = rusqlite::Connection::open(&log).unwrap();
    let append = |store: &mut SqliteStore| {
        let entry = Entry { key: "k".to_owned(), at: 0, salt: [1; 32], body: "{}".to_owned() };
        let group = Group { session: "ana".to_owned(), after: Some(0), entries: vec![entry] };
        transact(store, |log| log.append(&group))
    };
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    assert_eq!(append(&mut store).unwrap_err().why(), Some(Why::Busy));
    assert!((5..30).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    let held = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        other.execute_batch("ROLLBACK").unwrap();
    });
    assert!(matches!(append(&mut store).unwrap(), Appended::New(_)));
    held.join().unwrap();
}
