//! A loss of power at any moment: what was acknowledged is there, the chain is whole, and what was erased does not come back
//! (R-01b).
//!
//! One run of a real program on real SQLite is recorded, write by write. Then power is cut at places of the record, and of what
//! was not synced any part is lost, in any order. `EQUIPOISE_CUTS=1000000` is the promise.

use equipoise_harness::disk::{Disk, Done, preloaded, record, watched};
use equipoise_harness::{Scratch, seed, times};
use equipoise_log::{Reader as _, SqliteStore, rows, verify};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::Path;

/// Puts files where a program finds them, and nothing else.
fn put(directory: &Path, files: &BTreeMap<String, Vec<u8>>) {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir(directory).unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
}

/// What is wrong with a log after power was cut, if anything is.
fn wrong(log: &Path, receipts: &[String]) -> Option<String> {
    let store = match SqliteStore::open_existing(log) {
        Ok(store) => store,
        Err(error) => return Some(format!("cannot be opened: {error}")),
    };
    if let Err(error) = verify(&store, &mut |_, sealed| Ok(sealed)) {
        return Some(format!("the chain is broken: {error}"));
    }
    let all = rows(&store).unwrap();
    for receipt in receipts {
        let place: usize = receipt.split('-').next().unwrap().parse().unwrap();
        if all.get(place - 1).map(|row| row.receipt().to_string()).as_ref() != Some(receipt) {
            return Some(format!(
                "row {receipt} was acknowledged and is lost; the log has {}",
                store.head().unwrap().position
            ));
        }
    }
    None
}

#[test]
fn power_may_go_at_any_moment() {
    let scratch = Scratch::new("power");
    let Some(library) = preloaded(&scratch) else {
        println!("power_may_go_at_any_moment skipped: it needs Linux and a C compiler");
        return;
    };
    let (log, trace) = (scratch.file("log.sqlite"), scratch.file("trace"));
    let program = Path::new(env!("CARGO_BIN_EXE_equipoise-workload"));
    let ran =
        watched(program, &library, "log.sqlite", Some(&trace), None).arg(&log).arg("write").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let done = record(&trace).expect("a whole record");
    assert!(done.iter().any(|done| matches!(done, Done::Sync(_))), "nothing was synced: the record is blind");
    let ready = done.iter().position(|done| *done == Done::Said("ready\n".to_owned())).expect("it began");
    let (cuts, seed) = (times("EQUIPOISE_CUTS", 1_000), seed());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut places: Vec<usize> = (0..cuts).map(|_| random.random_range(ready..done.len())).collect();
    places.sort_unstable();
    let (mut disk, mut receipts, mut gone, mut taken) = (Disk::default(), vec![], vec![], 0);
    let (mut unsynced, there) = (0, scratch.file("after"));
    for (cut, place) in places.into_iter().enumerate() {
        for done in done.iter().take(place + 1).skip(taken) {
            disk.take(done);
            if let Done::Said(line) = done {
                match line.trim().split_once(' ') {
                    Some(("ack", receipt)) => receipts.push(receipt.to_owned()),
                    Some(("gone", canary)) => gone.push(canary.to_owned()),
                    _ => {}
                }
            }
        }
        taken = taken.max(place + 1);
        unsynced += usize::from(disk.unsynced() > 0);
        let files = disk.cut(seed ^ ((cut as u64) << 20));
        let told = |what: &str| panic!("after operation {place}, cut {cut} of seed {seed}: {what}");
        for canary in &gone {
            for (name, bytes) in &files {
                if bytes.windows(canary.len()).any(|window| window == canary.as_bytes()) {
                    told(&format!("{canary} was erased for good and is in {name} again"));
                }
            }
        }
        put(&there, &files);
        if let Some(what) = wrong(&there.join("log.sqlite"), &receipts) {
            told(&what);
        }
    }
    println!(
        "{cuts} cuts of power, {unsynced} with something unsynced, among {} operations and {} receipts: 0 lost, 0 chains broken, \
         0 erased people back; seed {seed}",
        done.len(),
        receipts.len()
    );
    assert!(unsynced * 4 > cuts, "hardly anything was at stake: {unsynced}");
}
