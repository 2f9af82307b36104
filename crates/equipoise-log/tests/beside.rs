//! Whoever reads a log or wants to know how it is does not ask the thread that writes it.

use equipoise_log::{
    Entry, Group, Head, MemoryStore, Opener, Reader, Result, Row, SqliteStore, Store, Table, Why, Writer,
};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);

/// A store that takes its time over a transaction: until it is told to go on.
struct Slow {
    inner: MemoryStore,
    begun: Sender<()>,
    go_on: Receiver<()>,
}

impl Reader for Slow {
    fn session(&self, session: &str) -> Result<Vec<Row>> {
        self.inner.session(session)
    }
    fn sessions(&self) -> Result<Vec<String>> {
        self.inner.sessions()
    }
    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> Result<()> {
        self.inner.each_after(position, look)
    }
    fn head(&self) -> Result<Head> {
        self.inner.head()
    }
    fn spent(&self) -> Result<BTreeSet<String>> {
        self.inner.spent()
    }
}

impl Store for Slow {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> Result<()> {
        self.begun.send(()).unwrap();
        self.go_on.recv().unwrap();
        self.inner.transact(work)
    }
    fn opener(&self) -> Opener {
        self.inner.opener()
    }
}

fn group() -> Group {
    let entry = Entry { key: "k".to_owned(), at: 0, salt: [7; 32], body: "{}".to_owned() };
    Group { session: "ana".to_owned(), after: Some(0), entries: vec![entry] }
}

#[test]
fn whoever_reads_or_asks_how_it_is_does_not_wait_for_who_writes() {
    let ((begun, has_begun), (tell, go_on)) = (channel(), channel());
    let writer = Writer::start(Slow { inner: MemoryStore::new(), begun, go_on });
    let appending = {
        let writer = writer.clone();
        std::thread::spawn(move || writer.append(group()))
    };
    has_begun.recv().unwrap();
    // On a thread of its own: what waited for the writing thread would wait for ever.
    let (tell_read, told_read) = channel();
    let asking = writer.clone();
    std::thread::spawn(move || {
        let rows = asking.reader().unwrap().head().unwrap().position;
        let patient = asking.probe(Duration::from_secs(3600));
        tell_read.send((rows, patient, asking.probe(Duration::ZERO))).unwrap();
    });
    let (rows, patient, hasty) = told_read.recv_timeout(Duration::from_secs(20)).expect("it waits");
    assert_eq!((rows, patient), (0, Ok(())));
    assert_eq!(hasty.unwrap_err().why(), Some(Why::Busy), "it has been at one thing for too long");
    tell.send(()).unwrap();
    appending.join().unwrap().unwrap();
    assert_eq!(writer.reader().unwrap().head().unwrap().position, 1);
}

#[test]
fn a_log_that_is_locked_or_gone_is_found_out_beside_the_thread() {
    let directory = std::env::temp_dir().join(format!("equipoise-writer-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("log.sqlite");
    let writer = Writer::start(SqliteStore::open(&path).unwrap());
    assert_eq!(writer.probe(PATIENCE), Ok(()));
    let head = |writer: &Writer| writer.reader().unwrap().head().unwrap();
    let before = head(&writer);
    assert_eq!(writer.probe(PATIENCE), Ok(()));
    assert_eq!(head(&writer), before, "trying changes nothing");
    std::fs::rename(&path, directory.join("elsewhere.sqlite")).unwrap();
    assert_eq!(writer.probe(PATIENCE).unwrap_err().why(), Some(Why::Gone));
    drop(writer);
    std::fs::remove_dir_all(directory).unwrap();
}
