//! Whoever kept the list of links cannot find out which rows of the log were those of somebody erased, by trying.

use equipoise_log::{Entry, Group, MemoryStore, Row, Store, rows, testing::Before, transact, verify};
use sha2::{Digest as _, Sha256};

/// Three people come and answer, a few milliseconds apart; the second is erased.
fn log(store: &mut dyn Store) -> Vec<Row> {
    let mut at = 1_700_000_000_000;
    for seq in 0..3 {
        for session in ["ana", "ben", "cai"] {
            at += 7;
            let entry =
                Entry { key: format!("answer-{seq}"), at, salt: [at as u8; 32], body: "{}".to_owned() };
            let group = Group { session: session.to_owned(), after: Some(seq), entries: vec![entry] };
            transact(store, |log| log.append(&group)).unwrap();
        }
    }
    let tombstone = Entry { key: String::new(), at, salt: [99; 32], body: "{}".to_owned() };
    transact(store, |log| log.erase("ben", tombstone)).unwrap();
    verify(store, &mut |_, sealed| Ok(sealed)).unwrap();
    rows(store).unwrap()
}

/// What somebody can do who knows the format, the links, and between which rows a row stands: compute the seal for every
/// name, key and time that it could have had.
fn guessed(rows: &[Row], place: usize) -> Option<String> {
    let row = &rows[place];
    let (from, to) = (rows[place - 1].at, rows[place + 1].at);
    for session in ["ana", "ben", "cai"] {
        for seq in 0..3 {
            for at in from..=to {
                for format in [&b"equipoise event 1\n"[..], b"equipoise event 2\n"] {
                    let key = format!("answer-{seq}");
                    let mut hash = Sha256::new();
                    hash.update(format);
                    hash.update(row.previous);
                    hash.update(row.position.to_be_bytes());
                    for text in [session, &key] {
                        hash.update((text.len() as u64).to_be_bytes());
                        hash.update(text.as_bytes());
                    }
                    hash.update((seq as u64 + 1).to_be_bytes());
                    hash.update(at.to_be_bytes());
                    hash.update(row.commitment);
                    if hash.finalize()[..] == row.hash {
                        return Some(format!("{session} at {at}"));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn nobody_finds_out_by_trying_whose_an_erased_row_was() {
    let all = log(&mut MemoryStore::new());
    let erased: Vec<usize> = (0..all.len()).filter(|place| all[*place].payload.is_none()).collect();
    assert_eq!(erased.len(), 3);
    for place in erased {
        assert_eq!(guessed(&all, place), None, "row {} was told by its hash", place + 1);
    }
}

#[test]
fn rows_that_older_releases_sealed_are_still_good() {
    let all = log(&mut Before(MemoryStore::new()));
    // The same attack finds them: what was sealed so stays so.
    assert!(guessed(&all, 1).is_some_and(|found| found.starts_with("ben")));
    let mut store = MemoryStore::from_rows(all);
    let entry = Entry { key: "more".to_owned(), at: 0, salt: [3; 32], body: "{}".to_owned() };
    transact(&mut store, |log| {
        log.append(&Group { session: "ana".to_owned(), after: None, entries: vec![entry] })
    })
    .unwrap();
    assert_eq!(verify(&store, &mut |_, sealed| Ok(sealed)).unwrap().rows, 11);
}
