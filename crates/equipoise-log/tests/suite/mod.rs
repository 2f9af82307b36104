//! What any store must hold. A new store implements [`Place`] in a test and calls [`all`].

use equipoise_log::{
    Appended, COMMON_SESSION, Damage, Entry, Error, Group, Reader, Result, Row, Store, TOMBSTONE, Verified,
    erase, erased, repair, rows, settled, transact, verify,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Somewhere a log can be: begun empty, opened more than once, and looked at behind the store's back.
pub trait Place: Sync {
    /// Opens the log; each time is another writer.
    fn open(&self) -> Box<dyn Store>;
    /// Writes another event into a row, as somebody would who can reach the data but not the program.
    fn tamper(&self, position: u64, body: &str);
    /// Whether a text can be found anywhere the store keeps data.
    fn holds(&self, text: &str) -> bool;
    /// A copy of the log as it is now, to read; nothing if the store has no copies.
    fn backup(&self) -> Option<Box<dyn Reader>>;
}

/// Checks everything, each time on an empty log.
pub fn all<P: Place>(place: impl Fn() -> P) {
    rows_are_numbered_and_read_back(&place());
    a_key_counts_once(&place());
    whoever_has_not_seen_the_last_row_adds_nothing(&place());
    a_transaction_that_fails_leaves_nothing(&place());
    writers_take_turns_and_no_number_is_given_twice(&place());
    nothing_comes_after_an_erasure(&place());
    what_is_erased_is_nowhere(&place());
    an_erasure_waits_for_whoever_reads(&place());
    rows_after_an_erasure_are_found_and_repaired(&place());
    readers_see_one_moment_while_others_write(&place());
    a_backup_is_whole_while_others_write(&place());
    a_changed_event_is_found(&place());
    nothing_hides_behind_an_erasure(&place());
}

fn entry(key: &str, body: &str) -> Entry {
    Entry { key: key.to_owned(), at: 5, salt: [3; 32], body: body.to_owned() }
}

fn group(session: &str, after: Option<u64>, keys: &[&str]) -> Group {
    let entries = keys.iter().map(|key| entry(key, &format!("event {key} of {session}"))).collect();
    Group { session: session.to_owned(), after, entries }
}

fn append(store: &mut dyn Store, group: &Group) -> Result<Appended> {
    transact(store, |log| log.append(group))
}

#[track_caller]
fn added(result: Result<Appended>) -> Vec<Row> {
    match result {
        Ok(Appended::New(rows)) => rows,
        other => panic!("expected new rows, found {other:?}"),
    }
}

fn check(log: &dyn Reader) -> Result<Verified> {
    verify(log, &mut |row, sealed| match sealed {
        true => Ok(true),
        false => Err(Damage::other_event(row.position)),
    })
}

fn rows_are_numbered_and_read_back(place: &dyn Place) {
    let mut store = place.open();
    let first = added(append(&mut *store, &group("a", Some(0), &["k1", "k2"])));
    added(append(&mut *store, &group(COMMON_SESSION, None, &["k"])));
    added(append(&mut *store, &group("b", None, &["k1"])));
    added(append(&mut *store, &group("a", Some(2), &["k3"])));
    assert_eq!(first.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.session("a").unwrap()[..2], first);
    assert_eq!(store.sessions().unwrap(), ["a", "b"]);
    let all = rows(&*store).unwrap();
    assert!(all.iter().map(|row| row.position).eq(1..=5));
    assert_eq!(all[4].payload.as_ref().unwrap().body, "event k3 of a");
    let mut later = vec![];
    store
        .each_after(3, &mut |row| {
            later.push(row.position);
            later.len() < 2
        })
        .unwrap();
    assert_eq!(later, [4, 5]);
    // Opened again it is the same log.
    let head = store.head().unwrap();
    drop(store);
    let store = place.open();
    assert_eq!((store.head().unwrap(), rows(&*store).unwrap()), (head, all));
    let verified = check(&*store).unwrap();
    assert_eq!((verified.rows, verified.sessions, verified.erased), (5, 2, 0));
}

fn a_key_counts_once(place: &dyn Place) {
    let mut store = place.open();
    let row = added(append(&mut *store, &group("a", Some(0), &["k"]))).remove(0);
    for after in [None, Some(0), Some(1)] {
        assert_eq!(append(&mut *store, &group("a", after, &["k", "more"])), Ok(Appended::Known(row.clone())));
    }
    added(append(&mut *store, &group("b", Some(0), &["k"])));
    assert_eq!(store.head().unwrap().position, 2);
}

fn whoever_has_not_seen_the_last_row_adds_nothing(place: &dyn Place) {
    let (mut store, mut other) = (place.open(), place.open());
    added(append(&mut *store, &group("a", Some(0), &["k1"])));
    added(append(&mut *other, &group("a", Some(1), &["k2"])));
    for after in [0, 1, 3] {
        assert_eq!(append(&mut *store, &group("a", Some(after), &["x", "y"])), Err(Error::Conflict));
    }
    assert_eq!(store.head().unwrap().position, 2);
    added(append(&mut *store, &group("a", Some(2), &["k3"])));
}

fn a_transaction_that_fails_leaves_nothing(place: &dyn Place) {
    let mut store = place.open();
    added(append(&mut *store, &group("a", None, &["k1"])));
    let before = rows(&*store).unwrap();
    let failed = transact(&mut *store, |log| {
        log.append(&group("a", None, &["k2"]))?;
        log.append(&group("b", None, &["k1"]))?;
        log.erase("a", entry("", "gone"))?;
        Err::<(), _>(Error::Conflict)
    });
    assert_eq!((failed, rows(&*store).unwrap()), (Err(Error::Conflict), before));
    added(append(&mut *store, &group("a", Some(1), &["k2"])));
}

fn writers_take_turns_and_no_number_is_given_twice(place: &dyn Place) {
    let (writers, each) = (4, 25);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            scope.spawn(move || {
                let mut store = place.open();
                for n in 0..each {
                    let session = format!("s{writer}-{n}");
                    transact(&mut *store, |log| {
                        let number = log.begun()? + 1;
                        let entries = vec![entry("number", &number.to_string())];
                        log.append(&Group { session: session.clone(), after: Some(0), entries })
                    })
                    .unwrap();
                    added(append(&mut *store, &group(COMMON_SESSION, None, &[&session])));
                }
            });
        }
    });
    let store = place.open();
    let all = rows(&*store).unwrap();
    let numbers = all.iter().filter(|row| row.key == "number").map(|row| &row.payload.as_ref().unwrap().body);
    let numbers: BTreeSet<u64> = numbers.map(|body| body.parse().unwrap()).collect();
    assert!(numbers.into_iter().eq(1..=writers * each));
    assert_eq!(check(&*store).unwrap().rows, 2 * writers * each);
}

fn nothing_comes_after_an_erasure(place: &dyn Place) {
    let (mut store, mut other) = (place.open(), place.open());
    added(append(&mut *store, &group("a", None, &["k1", "k2"])));
    added(append(&mut *store, &group("b", None, &["k1"])));
    // One transaction can hold the last event and the end.
    let tombstone = erase(&mut *other, "a", Some(entry("left", "bye")), &entry("ignored", "gone")).unwrap();
    assert_eq!((tombstone.seq, tombstone.key.as_str()), (4, TOMBSTONE));
    for (after, key) in [(None, "k3"), (Some(2), "k3"), (Some(4), "k3"), (None, "k1")] {
        assert_eq!(append(&mut *store, &group("a", after, &[key])), Err(Error::Erased));
    }
    added(append(&mut *store, &group("b", Some(1), &["k2"])));
    assert!(store.session("a").unwrap().is_empty() && store.is_spent("a").unwrap());
    assert!(!store.is_spent("b").unwrap());
    let left = store.session(&tombstone.session).unwrap();
    assert!(left[..3].iter().all(|row| row.payload.is_none()) && left[3].payload.is_some());
    assert!(left[..3].iter().all(|row| row.at == 0 && row.key == row.seq.to_string()), "{left:?}");
    assert_eq!(store.sessions().unwrap(), [tombstone.session.clone(), "b".to_owned()]);
    assert!(erased(&*store).unwrap().contains("a"));
    assert_eq!(erase(&mut *store, "a", None, &entry("", "again")), Err(Error::Erased), "once is enough");
    for nobody in ["c", COMMON_SESSION] {
        assert!(matches!(erase(&mut *store, nobody, None, &entry("", "x")), Err(Error::Missing(_))));
    }
    let verified = check(&*store).unwrap();
    assert_eq!((verified.rows, verified.sessions, verified.erased, verified.stray), (6, 2, 1, 0));
}

fn what_is_erased_is_nowhere(place: &dyn Place) {
    let mut store = place.open();
    for n in 0..50 {
        let (session, body) = (format!("s{n}"), format!("canary-{n}-").repeat(40));
        let entries = vec![entry("k", &body)];
        added(append(&mut *store, &Group { session, after: None, entries }));
    }
    assert!(place.holds("canary-7-"), "it must be there before it can be gone");
    for n in 0..50 {
        erase(&mut *store, &format!("s{n}"), None, &entry("", "gone")).unwrap();
    }
    settled(|| store.settle()).unwrap();
    assert!(!place.holds("canary-"));
}

fn an_erasure_waits_for_whoever_reads(place: &dyn Place) {
    let mut store = place.open();
    let entries = (0..200).map(|n| entry(&format!("k{n}"), &format!("canary-{n}"))).collect();
    added(append(&mut *store, &Group { session: "a".to_owned(), after: None, entries }));
    let reading = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let log = place.open();
            log.each_after(0, &mut |row| {
                assert!(row.payload.is_some(), "a reader sees the log of one moment");
                if !reading.swap(true, Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(400));
                }
                true
            })
            .unwrap();
        });
        while !reading.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        erase(&mut *store, "a", None, &entry("", "gone")).unwrap();
        let mut slowest = Duration::ZERO;
        settled(|| {
            // Others write meanwhile.
            let begun = Instant::now();
            added(append(&mut *store, &group("b", None, &[&format!("{begun:?}")])));
            let settled = store.settle();
            slowest = slowest.max(begun.elapsed());
            settled
        })
        .unwrap();
        assert!(!place.holds("canary-"), "said to be gone while somebody could still read it");
        assert!(slowest < Duration::from_secs(2), "writers waited for {slowest:?}");
    });
}

fn rows_after_an_erasure_are_found_and_repaired(place: &dyn Place) {
    let mut store = place.open();
    added(append(&mut *store, &group("a", None, &["k1"])));
    added(append(&mut *store, &group("b", None, &["k1"])));
    // As releases did that left the rows of whoever was erased under their name, and went on writing.
    store
        .transact(&mut |table| {
            table.forget("a", "a").unwrap();
            for (seq, late) in [(2, entry(TOMBSTONE, "gone")), (3, entry("k2", "canary-late"))] {
                let row = table.head().unwrap().extend("a", seq, late);
                table.insert(&row).unwrap();
            }
            true
        })
        .unwrap();
    assert_eq!(check(&*store).unwrap().stray, 1);
    let repaired: Result<usize> = repair(&mut *store, |_| Ok(entry("", "gone")));
    assert_eq!(repaired, Ok(1));
    assert!(!place.holds("canary-late"));
    let verified = check(&*store).unwrap();
    assert_eq!((verified.stray, verified.erased, verified.rows), (0, 1, 5));
    assert_eq!(repair(&mut *store, |_| Ok::<_, Error>(entry("", "gone"))), Ok(0));
    assert!(store.session("b").unwrap()[0].payload.is_some());
}

fn readers_see_one_moment_while_others_write(place: &dyn Place) {
    let mut store = place.open();
    let log = store.reader().unwrap();
    for n in 0..20 {
        added(append(&mut *store, &group("a", None, &[&n.to_string()])));
    }
    let mut seen = 0;
    log.each_after(0, &mut |_| {
        added(append(&mut *store, &group("b", None, &[&format!("{seen}")])));
        seen += 1;
        true
    })
    .unwrap();
    assert_eq!((seen, store.head().unwrap().position), (20, 40));
    assert_eq!(log.head().unwrap(), store.head().unwrap());
}

fn a_backup_is_whole_while_others_write(place: &dyn Place) {
    let mut store = place.open();
    for n in 0..200 {
        added(append(&mut *store, &group("a", None, &[&format!("k{n}")])));
    }
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0.. {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                added(append(&mut *store, &group("b", None, &[&format!("k{n}")])));
            }
        });
        let begun = Instant::now();
        if let Some(copy) = place.backup() {
            assert!(check(&*copy).unwrap().rows >= 200);
            assert!(begun.elapsed() < Duration::from_secs(20), "it never ended while others wrote");
        }
        ended.store(true, Ordering::SeqCst);
    });
}

fn a_changed_event_is_found(place: &dyn Place) {
    let mut store = place.open();
    added(append(&mut *store, &group("a", None, &["k1", "k2", "k3"])));
    check(&*store).unwrap();
    place.tamper(2, "another event");
    match check(&*place.open()) {
        Err(Error::Damaged(damage)) => assert_eq!(damage.position, 2),
        other => panic!("{other:?}"),
    }
}

/// A row somebody wants to be rid of cannot pass for one of somebody who was erased.
fn nothing_hides_behind_an_erasure(place: &dyn Place) {
    let mut store = place.open();
    added(append(&mut *store, &group("a", None, &["k1", "k2"])));
    added(append(&mut *store, &group("b", None, &["k1"])));
    let tombstone = erase(&mut *store, "a", None, &entry("", "gone")).unwrap();
    added(append(&mut *store, &group("c", None, &["k1"])));
    let all = rows(&*store).unwrap();
    assert!(check(&equipoise_log::MemoryStore::from_rows(all.clone())).is_ok());
    for hidden in [2, 4] {
        for seq in [1, 2, 3, 4] {
            let mut changed = all.clone();
            let row = &mut changed[hidden];
            (row.session, row.seq, row.at, row.payload) = (tombstone.session.clone(), seq, 0, None);
            row.key = seq.to_string();
            assert!(check(&equipoise_log::MemoryStore::from_rows(changed)).is_err(), "row {hidden} as {seq}");
        }
    }
    // Nor can what an erasure left be made to say something.
    for change in [|row: &mut Row| row.at = 9, |row: &mut Row| row.key = "k1".to_owned()] {
        let mut changed = all.clone();
        change(&mut changed[0]);
        assert!(check(&equipoise_log::MemoryStore::from_rows(changed)).is_err());
    }
}
