#![forbid(unsafe_code)]
//! Instruments for tests that break things on purpose. Not shipped: `publish = false`, and nothing depends on it but tests.
//!
//! [`disk`] stands between a program and its disk: it records every write and sync, makes one fail, or ends the program
//! there; from a record it makes what a loss of power could have left. [`fuzz`] changes good inputs until they are bad.
//! [`postgres`] is a database server of a test's own. [`process`] runs the programs and looks at their memory. Everything drawn follows a seed, which is printed when something is
//! found.

pub mod disk;
pub mod fuzz;
pub mod postgres;
pub mod process;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that is gone at the end, in memory where the system has such a place: what is written there need not be synced.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new one.
    ///
    /// # Panics
    ///
    /// If there is no place for it.
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = place.join(format!("equipoise-harness-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for what is tried");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How many times something is done: what an environment variable says, or what the short tier takes.
pub fn times(variable: &str, short: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// The seed of what is drawn: `EQUIPOISE_SEED`, or a fixed one in the short tier.
pub fn seed() -> u64 {
    std::env::var("EQUIPOISE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(15)
}
