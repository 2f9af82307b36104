//! Appends events to a log for ever and prints a receipt for each, as soon as it is synced. Made to be killed.

use equipoise_study::log::{Appended, Draft, SqliteStore, Store as _, Writer};
use std::io::Write as _;

fn main() -> equipoise_study::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "log.sqlite".to_owned());
    let store = SqliteStore::open(path)?;
    // Several writers at once, so that kills also hit transactions that several share.
    let start = store.head()?.position;
    let writer = Writer::start(store);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = writer.clone();
            scope.spawn(move || -> equipoise_study::Result<()> {
                for seq in 1.. {
                    let session = format!("{start}-{thread}");
                    let body = "{\"event\":\"consequences_read\"}".to_owned();
                    let draft = Draft { session, seq, key: format!("k{seq}"), at: 0, salt: [9; 32], body };
                    if let Appended::New(rows) = writer.append(vec![draft])? {
                        // In one piece with its full stop: half a line was not acknowledged.
                        let line = format!("{}.\n", rows[0].receipt());
                        if std::io::stdout().write_all(line.as_bytes()).is_err() {
                            return Ok(());
                        }
                    }
                }
                Ok(())
            });
        }
    });
    Ok(())
}
