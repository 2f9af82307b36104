//! Whatever is done to the rows of a log, it is found; and what a backup is copied from goes on meanwhile.

use equipoise_harness::{Scratch, seed, times};
use equipoise_log::{Entry, Group, MemoryStore, Row, SqliteStore, Writer, rows, transact, verify};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn group(session: usize, seq: u64, filler: usize) -> Group {
    let body = format!("{{\"answer\":{seq},\"filler\":\"{}\"}}", "x".repeat(filler));
    let entry = Entry {
        key: format!("k{seq}"),
        at: 1_000 + seq as i64,
        salt: [(session * 7 + seq as usize) as u8; 32],
        body,
    };
    Group { session: format!("s{session}"), after: Some(seq), entries: vec![entry] }
}

/// A log of some people, one of whom was erased.
fn log() -> Vec<Row> {
    let mut store = MemoryStore::new();
    for seq in 0..8 {
        for session in 0..5 {
            transact(&mut store, |log| log.append(&group(session, seq, 5))).unwrap();
        }
    }
    let tombstone = Entry { key: String::new(), at: 5, salt: [9; 32], body: "{}".to_owned() };
    transact(&mut store, |log| log.erase("s2", tombstone)).unwrap();
    transact(&mut store, |log| log.append(&group(1, 8, 5))).unwrap();
    rows(&store).unwrap()
}

/// Does something to the rows; says what, or nothing if it comes to the same.
fn tamper(all: &mut Vec<Row>, random: &mut Xoshiro256PlusPlus) -> String {
    // The last row can be cut off unnoticed but for receipts: not here.
    let place = random.random_range(0..all.len() - 1);
    let other = random.random_range(0..all.len() - 1);
    let bit = 1_u8 << random.random_range(0..8);
    let byte = random.random_range(0..32);
    let what = random.random_range(0..14);
    let row = &mut all[place];
    match what {
        0 => row.hash[byte] ^= bit,
        1 => row.previous[byte] ^= bit,
        2 => row.commitment[byte] ^= bit,
        3 => row.at ^= 1 << random.random_range(0..40),
        4 => row.seq += 1,
        5 => row.position += 1,
        6 => row.key.push('x'),
        7 => row.session.push('x'),
        8 => {
            row.payload = match row.payload.take() {
                Some(mut payload) => {
                    payload.salt[byte] ^= bit;
                    Some(payload)
                }
                None => Some(equipoise_log::Payload { salt: [bit; 32], body: "{}".to_owned() }),
            }
        }
        9 => match &mut row.payload {
            Some(payload) => payload.body = payload.body.replace("answer", "answes"),
            None => row.at += 1,
        },
        10 => match row.payload.is_some() {
            true => row.payload = None,
            false => row.key.push('0'),
        },
        11 => drop(all.remove(place)),
        12 => {
            let copy = all[place].clone();
            all.insert(other, copy);
        }
        _ => all.swap(place, other),
    }
    format!("kind {what} at row {}, {}", place + 1, other + 1)
}

#[test]
fn ten_thousand_changes_of_a_log_are_all_found() {
    let good = log();
    let check = |rows: Vec<Row>| {
        verify(&MemoryStore::from_rows(rows), &mut |row, sealed| match sealed {
            true => Ok(true),
            false => Err(equipoise_log::Damage::other_event(row.position)),
        })
    };
    check(good.clone()).unwrap();
    let (seed, count) = (seed(), times("EQUIPOISE_CHANGES", 10_000));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut found, mut same) = (0, 0);
    for number in 0..count {
        let mut rows = good.clone();
        let what = tamper(&mut rows, &mut random);
        if rows == good {
            same += 1;
            continue;
        }
        assert!(check(rows).is_err(), "change {number} of seed {seed} was not found: {what}");
        found += 1;
    }
    println!("{found} changes of a log, 100 % found, {same} came to the same; seed {seed}");
    assert!(found * 10 > count * 9);
}

#[test]
fn a_backup_is_whole_and_done_while_others_write() {
    let scratch = Scratch::new("backup");
    let path = scratch.file("log.sqlite");
    let writer = Writer::start(SqliteStore::open(&path).unwrap());
    for session in 0..400 {
        for seq in 0..10 {
            writer.append(group(session, seq, 1_000)).unwrap();
        }
    }
    let copy = |name: &str| {
        let begun = Instant::now();
        SqliteStore::open_existing(&path).unwrap().backup(&scratch.file(name)).unwrap();
        begun.elapsed()
    };
    let idle = (0..3).map(|n| copy(&format!("idle-{n}"))).min().unwrap();
    let stop = AtomicBool::new(false);
    let restores = times("EQUIPOISE_RESTORES", 5);
    let mut slowest = Duration::ZERO;
    std::thread::scope(|scope| {
        let (stop, other) = (&stop, writer.clone());
        scope.spawn(move || {
            for seq in 0.. {
                if stop.load(Ordering::SeqCst) || other.append(group(1_000, seq, 1_000)).is_err() {
                    return;
                }
            }
        });
        for n in 0..restores {
            let known = SqliteStore::open_existing(&path).unwrap();
            let before = equipoise_log::Reader::head(&known).unwrap();
            slowest = slowest.max(copy(&format!("busy-{n}")));
            let copied = SqliteStore::open_copy(scratch.file(&format!("busy-{n}"))).unwrap();
            let verified = verify(&copied, &mut |_, sealed| Ok(sealed)).unwrap();
            assert!(verified.rows >= before.position, "{} of {}", verified.rows, before.position);
            std::fs::remove_file(scratch.file(&format!("busy-{n}"))).unwrap();
        }
        stop.store(true, Ordering::SeqCst);
    });
    println!(
        "{restores} of {restores} backups made while others write are whole; idle {idle:.0?}, slowest while others write {slowest:.0?}"
    );
    // Twice, and a moment more: the machine does other things, too.
    assert!(slowest < 2 * idle + Duration::from_millis(500), "{slowest:?} against {idle:?}");
}
