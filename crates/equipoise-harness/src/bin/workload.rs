//! Writes to a log, step by step, and says on standard output what was acknowledged. Made to be broken: whatever fails is
//! sent again, as pages do it.
//!
//! `equipoise-workload LOG write` writes, erases and settles; `equipoise-workload LOG open` opens and checks the log.

use equipoise_log::{
    Appended, Entry, Error, Group, Reader as _, Result, SqliteStore, Store as _, erase, transact, verify,
};
use std::io::Write as _;

/// Whatever fails is tried so often.
const TRIES: usize = 4;
/// So many people come.
const PEOPLE: usize = 6;

fn main() -> std::process::ExitCode {
    let mut words = std::env::args().skip(1);
    let (log, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let done = match what.as_str() {
        "open" => open(&log),
        _ => write(&log),
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::from(3)
        }
    }
}

fn open(log: &str) -> Result<()> {
    let store = SqliteStore::open_existing(log)?;
    let verified = verify(&store, &mut |_, sealed| Ok(sealed))?;
    say(&format!("opened {}", verified.rows));
    Ok(())
}

fn write(log: &str) -> Result<()> {
    let mut store = stubborn(|| SqliteStore::open(log))?;
    say("ready");
    for person in 0..PEOPLE {
        let session = format!("person-{person}");
        for seq in 0..4_u64 {
            // Some rows fill pages of their own.
            let filler = "x".repeat(if (person + seq as usize).is_multiple_of(3) { 6_000 } else { 40 });
            let body = format!("{{\"canary\":\"canary-{person}-\",\"seq\":{seq},\"filler\":\"{filler}\"}}");
            let entry = Entry { key: format!("k{seq}"), at: seq as i64, salt: [person as u8; 32], body };
            let group = Group { session: session.clone(), after: Some(seq), entries: vec![entry] };
            let row = stubborn(|| match transact(&mut store, |log| log.append(&group))? {
                Appended::New(mut rows) => Ok(rows.remove(0)),
                Appended::Known(row) => Ok(row),
            });
            match row {
                Ok(row) => say(&format!("ack {}", row.receipt())),
                Err(error) => say(&format!("failed {error}")),
            }
        }
        if person % 2 == 1 {
            let tombstone =
                Entry { key: String::new(), at: 0, salt: [200 + person as u8; 32], body: "{}".to_owned() };
            let gone = stubborn(|| match erase(&mut store, &session, None, &tombstone) {
                // An erasure that was kept after all.
                Err(Error::Erased) => Ok(None),
                done => done.map(Some),
            });
            match gone {
                Ok(row) => {
                    if let Some(row) = row {
                        say(&format!("ack {}", row.receipt()));
                    }
                    if stubborn(|| store.settle()).is_ok_and(|settled| settled) {
                        say(&format!("gone canary-{person}-"));
                    }
                }
                Err(error) => say(&format!("failed {error}")),
            }
        }
    }
    say(&format!("end {}", store.head()?.position));
    Ok(())
}

/// Tries again what failed.
fn stubborn<T>(mut work: impl FnMut() -> Result<T>) -> Result<T> {
    let mut done = work();
    for _ in 1..TRIES {
        if done.is_err() {
            done = work();
        }
    }
    done
}

/// In one write, so that half a line is never taken for an acknowledgement.
fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
    let _ = std::io::stdout().flush();
}
