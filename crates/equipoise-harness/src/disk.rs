//! A disk that can be watched, broken and cut off: the C file beside this one, preloaded into a program.
//!
//! What a record allows: at any of its places, everything before the last sync of a file is there, and of what came after
//! any part, in any order, in whole or in sectors ([`Disk::cut`]). That is what a loss of power may leave.

use crate::Scratch;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

/// What is preloaded; `None` where there is no C compiler or no Linux, and the tests are skipped by name.
pub fn preloaded(scratch: &Scratch) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let source = scratch.file("disk.c");
    std::fs::write(&source, include_str!("disk.c")).ok()?;
    let library = scratch.file("disk.so");
    let mut build = Command::new("cc");
    build.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).args(["-ldl", "-lpthread"]);
    build.output().ok()?.status.success().then_some(library)
}

/// How an operation goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is broken: `EIO`.
    Broken,
    /// The disk is full: `ENOSPC`.
    Full,
    /// Half is written, and then the disk is full.
    Short,
    /// The program ends there and then.
    Kill,
}

impl Fault {
    fn code(self) -> &'static str {
        match self {
            Self::Broken => "5",
            Self::Full => "28",
            Self::Short => "short",
            Self::Kill => "kill",
        }
    }
}

/// A command whose files of a name are watched; the operation of a number, counted from 1, may go wrong.
pub fn watched(
    program: &Path,
    library: &Path,
    files: &str,
    trace: Option<&Path>,
    fault: Option<(usize, Fault)>,
) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library).env("HARNESS_MATCH", files);
    if let Some(trace) = trace {
        command.env("HARNESS_TRACE", trace);
    }
    if let Some((number, fault)) = fault {
        command.env("HARNESS_FAULT", format!("{number}:{}", fault.code()));
    }
    command
}

/// Something a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// Wrote these bytes here.
    Write(String, usize, Vec<u8>),
    /// Cut a file to this length, or made it so long.
    Truncate(String, usize),
    /// Synced a file.
    Sync(String),
    /// Could not sync a file: what was to be synced is given up by the system and never written.
    GaveUp(String),
    /// Removed a file.
    Remove(String),
    /// Said something on standard output: an acknowledgement.
    Said(String),
}

impl Done {
    /// Whether it is an operation that has a number, and may go wrong.
    pub fn is_operation(&self) -> bool {
        !matches!(self, Self::Said(_))
    }
}

/// What a program did, from its record; `None` if that breaks off.
pub fn record(trace: &Path) -> Option<Vec<Done>> {
    let bytes = std::fs::read(trace).ok()?;
    let mut rest = &bytes[..];
    let mut all = vec![];
    while let Some((kind, after)) = rest.split_first() {
        let (named, after) = after.split_at_checked(4)?;
        let (path, after) = after.split_at_checked(u32::from_ne_bytes(named.try_into().ok()?) as usize)?;
        let (offset, after) = after.split_at_checked(8)?;
        let (length, after) = after.split_at_checked(8)?;
        let offset = u64::from_ne_bytes(offset.try_into().ok()?) as usize;
        let (data, after) = after.split_at_checked(u64::from_ne_bytes(length.try_into().ok()?) as usize)?;
        let name = Path::new(std::str::from_utf8(path).ok()?).file_name();
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        all.push(match kind {
            b'W' => Done::Write(name, offset, data.to_vec()),
            b'T' => Done::Truncate(name, offset),
            b'S' => Done::Sync(name),
            b'F' => Done::GaveUp(name),
            b'U' => Done::Remove(name),
            b'A' => Done::Said(String::from_utf8_lossy(data).into_owned()),
            _ => return None,
        });
        rest = after;
    }
    Some(all)
}

/// A change of a file that is not synced yet.
#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Length(length) => file.resize(*length, 0),
            Self::Write(at, data) => {
                if file.len() < at + data.len() {
                    file.resize(at + data.len(), 0);
                }
                file[*at..at + data.len()].copy_from_slice(data);
            }
        }
    }

    /// The same in sectors, each of which may be lost by itself.
    fn sectors(&self) -> Vec<Self> {
        match self {
            Self::Length(_) => vec![self.clone()],
            Self::Write(at, data) => {
                let (mut sectors, mut from) = (vec![], 0);
                while from < data.len() {
                    let to = (from + SECTOR - (at + from) % SECTOR).min(data.len());
                    sectors.push(Self::Write(at + from, data[from..to].to_vec()));
                    from = to;
                }
                sectors
            }
        }
    }
}

/// Files as the disk has them, and what it has been told and not synced.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    synced: BTreeMap<String, Vec<u8>>,
    waiting: BTreeMap<String, Vec<Change>>,
}

impl Disk {
    /// Takes in what a program did.
    pub fn take(&mut self, done: &Done) {
        match done {
            Done::Write(name, at, data) => self.wait(name, Change::Write(*at, data.clone())),
            Done::Truncate(name, length) => self.wait(name, Change::Length(*length)),
            Done::Sync(name) => {
                let file = self.synced.entry(name.clone()).or_default();
                self.waiting.remove(name).unwrap_or_default().iter().for_each(|change| change.apply(file));
            }
            Done::GaveUp(name) => drop(self.waiting.remove(name)),
            Done::Remove(name) => {
                self.synced.remove(name);
                self.waiting.remove(name);
            }
            Done::Said(_) => {}
        }
    }

    fn wait(&mut self, name: &str, change: Change) {
        self.synced.entry(name.to_owned()).or_default();
        self.waiting.entry(name.to_owned()).or_default().push(change);
    }

    /// How many changes are not synced.
    pub fn unsynced(&self) -> usize {
        self.waiting.values().map(Vec::len).sum()
    }

    /// What a loss of power leaves at this moment, one of many.
    pub fn cut(&self, seed: u64) -> BTreeMap<String, Vec<u8>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut files = self.synced.clone();
        for (name, changes) in &self.waiting {
            let file = files.entry(name.clone()).or_default();
            let mut kept: Vec<Change> = match random.random_range(0..5) {
                // Nothing, everything, or so much of it, in order.
                0 => vec![],
                1 => changes.clone(),
                2 => changes[..random.random_range(0..=changes.len())].to_vec(),
                // Whole writes, or sectors, of which any may be missing.
                3 => changes.clone(),
                _ => changes.iter().flat_map(Change::sectors).collect(),
            };
            if random.random_range(0..2) == 1 {
                let share: f64 = random.random();
                kept.retain(|_| random.random::<f64>() < share);
                kept.shuffle(&mut random);
            }
            kept.iter().for_each(|change| change.apply(file));
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_synced_stays_and_the_rest_may_go() {
        let mut disk = Disk::default();
        disk.take(&Done::Write("a".to_owned(), 0, vec![1; 600]));
        disk.take(&Done::Sync("a".to_owned()));
        disk.take(&Done::Write("a".to_owned(), 500, vec![2; 600]));
        assert_eq!(disk.unsynced(), 1);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let file = &disk.cut(seed)["a"];
            assert!(file.len() >= 600 && file[..500].iter().all(|byte| *byte == 1));
            seen.insert(file.clone());
        }
        // Neither, the first sector's part, the second, the third, and their combinations.
        assert!(seen.len() >= 6, "{}", seen.len());
        disk.take(&Done::GaveUp("a".to_owned()));
        disk.take(&Done::Sync("a".to_owned()));
        assert_eq!(disk.cut(1)["a"], vec![1; 600], "what was given up never comes");
    }
}
