//! Appends events to a log for ever and prints a receipt for each, as soon as it is synced. Made to be killed.

use equipoise_log::{Appended, Entry, Group, Reader as _, SqliteStore, Writer};
use std::io::Write as _;

fn main() -> equipoise_log::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "log.sqlite".to_owned());
    let store = SqliteStore::open(path)?;
    // Several writers at once, so that kills also hit transactions that several share.
    let start = store.head()?.position;
    let writer = Writer::start(store);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = writer.clone();
            scope.spawn(move || -> equipoise_log::Result<()> {
                for seq in 1.. {
                    let session = format!("{start}-{thread}");
                    let body = "{\"event\":\"consequences_read\"}".to_owned();
                    let entries = vec![Entry { key: format!("k{seq}"), at: 0, salt: [9; 32], body }];
                    let group = Group { session, after: Some(seq - 1), entries };
                    if let Appended::New(rows) = writer.append(group)? {
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
