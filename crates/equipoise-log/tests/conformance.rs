//! Both stores hold what any store must.

mod suite;

use equipoise_log::{Error, MemoryStore, Reader, SqliteStore, Store, Why, rows};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use suite::{Place, all};

struct Memory(MemoryStore);

impl Place for Memory {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.0.clone())
    }

    fn tamper(&self, position: u64, body: &str) {
        let changed = equipoise_log::Payload { salt: [0; 32], body: body.to_owned() };
        equipoise_log::transact(&mut self.0.clone(), |log| log.replace(position, &changed)).unwrap();
    }

    fn holds(&self, text: &str) -> bool {
        let all = rows(&self.0).unwrap();
        all.iter().filter_map(|row| row.payload.as_ref()).any(|payload| payload.body.contains(text))
    }

    fn backup(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(MemoryStore::from_rows(rows(&self.0).unwrap())))
    }
}

/// A directory of its own for each log, gone at the end.
struct Sqlite(PathBuf);

impl Sqlite {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("equipoise-log-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> PathBuf {
        self.0.join("log.sqlite")
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Place for Sqlite {
    fn open(&self) -> Box<dyn Store> {
        // A disk that others keep busy may hold up whoever comes when others are writing: a person would try again.
        for _ in 0..10 {
            match SqliteStore::open(self.log()) {
                Err(error) if error.why() == Some(Why::Busy) => {}
                opened => return Box::new(opened.unwrap()),
            }
        }
        panic!("the log was busy ten times in a row");
    }

    fn tamper(&self, position: u64, body: &str) {
        let file = rusqlite::Connection::open(self.log()).unwrap();
        file.execute("UPDATE payload SET body = ?2 WHERE position = ?1", (position, body)).unwrap();
    }

    fn holds(&self, text: &str) -> bool {
        let files = std::fs::read_dir(&self.0).unwrap().flatten();
        files
            .filter_map(|file| std::fs::read(file.path()).ok())
            .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    fn backup(&self) -> Option<Box<dyn Reader>> {
        let to = self.0.join("copy.sqlite");
        SqliteStore::open_existing(self.log()).unwrap().backup(&to).unwrap();
        Some(Box::new(SqliteStore::open_copy(to).unwrap()))
    }
}

#[test]
fn a_log_in_memory_holds_what_any_store_must() {
    all(|| Memory(MemoryStore::new()));
}

#[test]
fn a_log_in_a_file_holds_what_any_store_must() {
    all(Sqlite::new);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_to_a_log_that_is_not_there_any_more() {
    let place = Sqlite::new();
    let mut store = place.open();
    assert_eq!(store.probe(), Ok(()));
    std::fs::rename(place.log(), place.0.join("elsewhere.sqlite")).unwrap();
    for gone in [store.probe(), store.transact(&mut |_| true), SqliteStore::open(place.log()).map(drop)] {
        assert_eq!(gone.unwrap_err().why(), Some(Why::Gone));
    }
    std::fs::rename(place.0.join("elsewhere.sqlite"), place.log()).unwrap();
    assert_eq!(store.probe(), Ok(()));
}

#[test]
fn a_log_is_not_begun_anew_where_there_was_one() {
    let place = Sqlite::new();
    drop(place.open());
    // All rows are in the file: there is no write-ahead log, and a lock shows that there was something.
    std::fs::remove_file(place.log()).unwrap();
    let refused = SqliteStore::open(place.log()).unwrap_err();
    assert_eq!(refused.why(), Some(Why::Gone), "{refused}");
    assert!(!place.log().exists());
    std::fs::remove_file(place.0.join("log.sqlite.lock")).unwrap();
    drop(place.open());
}

#[test]
fn a_log_has_one_server_at_a_time() {
    let place = Sqlite::new();
    let open = || SqliteStore::open(place.log()).unwrap();
    let first = open().serving().unwrap();
    assert!(matches!(open().serving().unwrap_err(), Error::InUse(_)));
    drop(first);
    open().serving().unwrap();
}
