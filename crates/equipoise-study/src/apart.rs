//! Files of a study are read by a process of their own, which may use so much memory and time, writes nothing, and can be lost.
//!
//! A study comes from a colleague or from the web, and its tables are read by code of others: a file of a few hundred bytes can
//! claim a billion rows, and a reader that ends the process would end it for everybody who is answering. So the command starts
//! itself again with a hidden word, that process gives up what it does not need before it looks at the file, and what it read
//! comes back in a form that no reader of others is needed for ([`equipoise_data::wire`]).

use crate::error::{Error, Result};
use crate::tables::{Here, Opened, Tables, Wanted};
use equipoise_data::{Columns, ModelConfusions, Note, Reading, Table, wire};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The word by which a program is asked to read a file and say what is in it.
const WORD: &str = "read-apart";

/// What a reader may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory.
    pub megabytes: u64,
    /// Time, by the clock and of processors.
    pub seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { megabytes: 512, seconds: 20 }
    }
}

/// What a reader is asked for.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    limits: Limits,
    what: What,
}

#[derive(Debug, Serialize, Deserialize)]
enum What {
    Table(Wanted),
    Models,
    Texts,
    Opened(Columns),
}

/// What stands before the rows of a table somebody opened; without an error they follow in the next line.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    header: Vec<String>,
    notes: Vec<Note>,
    error: Option<equipoise_data::Error>,
}

/// Reads files in processes of their own.
#[derive(Debug, Clone)]
pub struct Apart {
    program: PathBuf,
    limits: Limits,
}

impl Apart {
    /// By this program, which passes what it was started with to [`asked`] before it does anything else.
    pub fn new(program: PathBuf) -> Self {
        Self { program, limits: Limits::default() }
    }

    /// With other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// A table somebody opened, with what was guessed about its columns.
    pub fn opened(&self, file: &Path, columns: &Columns) -> Result<Opened> {
        let said = self.ask(file, What::Opened(columns.clone()))?;
        let said = answer(&said)?;
        let end = said.iter().position(|&byte| byte == b'\n').unwrap_or(said.len());
        let (told, rows) = said.split_at(end);
        let nothing = |error: serde_json::Error| {
            Error::Missing(format!("the reader of {} said nothing of use: {error}", file.display()))
        };
        let Told { header, notes, error } = serde_json::from_slice(told).map_err(nothing)?;
        let reading = match error {
            Some(error) => Err(error),
            None => wire::read_table(rows.get(1..).unwrap_or_default()).map(|data| Reading { data, notes }),
        };
        Ok(Opened { header, reading })
    }

    /// What the other process says about a file.
    fn ask(&self, file: &Path, what: What) -> Result<Vec<u8>> {
        let request = serde_json::to_string(&Request { limits: self.limits, what })
            .map_err(|error| Error::storage(error.to_string()))?;
        let mut command = Command::new(&self.program);
        command.arg(WORD).arg(file).arg(request).stdin(Stdio::null()).stdout(Stdio::piped());
        // What a reader prints when it breaks down is a part of the file.
        command.stderr(Stdio::null());
        if cfg!(unix) {
            // Nothing in the environment is its business; elsewhere programs do not start without some of it.
            command.env_clear();
        }
        // The stacks of many threads would count as memory of the table.
        let spawned = command.env("RAYON_NUM_THREADS", "2").spawn();
        let mut child = spawned.map_err(|error| {
            Error::storage(format!("cannot start {} to read a file: {error}", self.program.display()))
        })?;
        let given = Duration::from_secs(self.limits.seconds);
        let begun = Instant::now();
        let most = self.limits.megabytes << 20;
        let (send, receive) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut said = vec![];
                let done = out.take(most.saturating_add(1)).read_to_end(&mut said);
                let _ = send.send(done.map(|_| said));
            });
        }
        let said = receive.recv_timeout(given);
        let ended = end(&mut child, given.saturating_sub(begun.elapsed()));
        match (said, ended) {
            (Ok(Ok(said)), Some(status)) if status.success() && said.len() as u64 <= most => Ok(said),
            (Ok(_), Some(_)) => Err(self.unreadable(file, "its reader broke down or took")),
            _ => Err(self.unreadable(file, "reading it took")),
        }
    }

    fn unreadable(&self, file: &Path, why: &str) -> Error {
        let Limits { megabytes, seconds } = self.limits;
        Error::Missing(format!(
            "{} is not readable: {why} more than {megabytes} MB or {seconds} s, expected a whole file within that; take fewer rows",
            file.display()
        ))
    }
}

/// How a process ended, for which it has so much time left; `None` if it had to be ended.
fn end(child: &mut Child, left: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begun.elapsed() < left => std::thread::sleep(Duration::from_millis(2)),
            _ => break,
        }
    }
    // It is gone already, or it goes now.
    let _ = child.kill();
    let _ = child.wait();
    None
}

impl Tables for Apart {
    fn table(&self, file: &Path, wanted: &Wanted) -> Result<Table> {
        let said = self.ask(file, What::Table(wanted.clone()))?;
        Ok(wire::read_table(answer(&said)?)?)
    }

    fn models(&self, file: &Path) -> Result<Vec<ModelConfusions>> {
        Ok(wire::read_models(answer(&self.ask(file, What::Models)?)?)?)
    }

    fn texts(&self, file: &Path) -> Result<Vec<(String, Vec<String>)>> {
        let said = self.ask(file, What::Texts)?;
        serde_json::from_slice(answer(&said)?).map_err(|error| {
            Error::Missing(format!("the reader of {} said nothing of use: {error}", file.display()))
        })
    }
}

/// An answer begins with `+`, a sentence about what is wrong with `-`.
fn answer(said: &[u8]) -> Result<&[u8]> {
    match said.split_first() {
        Some((b'+', answer)) => Ok(answer),
        Some((b'-', why)) => Err(Error::Missing(String::from_utf8_lossy(why).into_owned())),
        _ => Err(Error::Missing("the reader of a file said nothing".to_owned())),
    }
}

/// Reads a file for another process if that is what this one was started for, with the words after its own name.
pub fn asked(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut words = words.into_iter();
    if words.next().as_deref() != Some(OsStr::new(WORD)) {
        return None;
    }
    let (Some(file), Some(request)) = (words.next(), words.next()) else { return Some(ExitCode::FAILURE) };
    let request = request.to_str().and_then(|request| serde_json::from_str::<Request>(request).ok());
    let Some(Request { limits, what }) = request else { return Some(ExitCode::FAILURE) };
    let file = PathBuf::from(file);
    // Better no table than one that was read with all the rights of its reader.
    if confine(&file, limits).is_err() {
        return Some(ExitCode::FAILURE);
    }
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let said = match what {
        What::Table(wanted) => Here
            .table(&file, &wanted)
            .map(|table| out.write_all(b"+").and_then(|()| wire::write_table(&table, &mut out))),
        What::Models => Here
            .models(&file)
            .map(|models| out.write_all(b"+").and_then(|()| wire::write_models(&models, &mut out))),
        What::Texts => Here.texts(&file).map(|columns| {
            out.write_all(b"+")?;
            serde_json::to_writer(&mut out, &columns)?;
            out.flush()
        }),
        What::Opened(columns) => Ok(write_opened(Opened::here(&file, &columns), &mut out)),
    };
    let said = said.unwrap_or_else(|error| write!(out, "-{error}").and_then(|()| out.flush()));
    Some(if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What somebody opened, for the process that asked.
fn write_opened(opened: Opened, out: &mut impl std::io::Write) -> std::io::Result<()> {
    let (rows, notes, error) = match opened.reading {
        Ok(Reading { data, notes }) => (Some(data), notes, None),
        Err(error) => (None, vec![], Some(error)),
    };
    out.write_all(b"+")?;
    serde_json::to_writer(&mut *out, &Told { header: opened.header, notes, error })?;
    out.write_all(b"\n")?;
    rows.map_or(Ok(()), |rows| wire::write_table(&rows, out))?;
    out.flush()
}

/// Gives up, for good, what is not needed to read one file.
#[cfg(unix)]
fn confine(file: &Path, limits: Limits) -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |what, most| setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) });
    // Memory that can be written to: where programs and libraries lie does not count.
    at_most(Resource::Data, limits.megabytes << 20)?;
    // Whoever started this ends it by the clock; should they be gone, it ends by itself.
    at_most(Resource::Cpu, limits.seconds)?;
    at_most(Resource::Fsize, 0)?;
    at_most(Resource::Core, 0)?;
    nothing_but(file)
}

#[cfg(not(unix))]
fn confine(_: &Path, _: Limits) -> std::io::Result<()> {
    Ok(())
}

/// From here on this file is all there is, and there is no network; as far as the kernel can.
#[cfg(target_os = "linux")]
fn nothing_but(file: &Path) -> std::io::Result<()> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _,
    };
    let restricted = || {
        let rules = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V5))?
            .handle_access(AccessNet::from_all(ABI::V5))?
            .create()?;
        // A file that is not there is for its reader to tell.
        let rules = match PathFd::new(file) {
            Ok(opened) => rules.add_rule(PathBeneath::new(opened, AccessFs::ReadFile))?,
            Err(_) => rules,
        };
        rules.restrict_self()
    };
    restricted().map(drop).map_err(|error: landlock::RulesetError| std::io::Error::other(error))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn nothing_but(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const INSIDE: &str = "EQUIPOISE_INSIDE_APART";

    /// Runs in a process of its own, which has given up for good what this takes away.
    #[test]
    fn what_is_left_inside() {
        let Some(directory) = std::env::var_os(INSIDE).map(PathBuf::from) else { return };
        let (file, other) = (directory.join("table.csv"), directory.join("other.csv"));
        confine(&file, Limits { megabytes: 256, seconds: 20 }).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"y,p\n0,0.5\n1,0.5\n");
        assert!(Here.table(&file, &Wanted::default()).is_ok());
        assert!(Vec::<u8>::new().try_reserve_exact(300 << 20).is_err(), "more memory than is allowed");
        if !std::fs::read(&other).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
            println!("skipped: this kernel has no Landlock");
            return;
        }
        assert!(std::fs::write(&file, "changed").is_err(), "the file can be written");
        assert!(std::fs::write(directory.join("new"), "new").is_err(), "a file can be made");
        assert!(std::fs::remove_file(&other).is_err(), "a file can be removed");
        assert!(Command::new("/bin/true").status().is_err(), "a program can be started");
        let refused = std::net::TcpStream::connect("127.0.0.1:9").unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied, "{refused}");
    }

    #[test]
    fn a_reader_has_its_file_and_nothing_else() {
        let directory = std::env::temp_dir().join(format!("equipoise-apart-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("table.csv"), "y,p\n0,0.5\n1,0.5\n").unwrap();
        std::fs::write(directory.join("other.csv"), "secret").unwrap();
        let inside = Command::new(std::env::current_exe().unwrap())
            .args(["apart::tests::what_is_left_inside", "--exact", "--nocapture", "--test-threads=1"])
            .env(INSIDE, &directory)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&inside.stdout) + &text(&inside.stderr);
        assert!(inside.status.success() && said.contains("1 passed"), "{said}");
        assert_eq!(std::fs::read(directory.join("other.csv")).unwrap(), b"secret");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn other_words_are_not_for_it() {
        assert!(asked(["report".into()]).is_none() && asked([]).is_none());
        assert!(asked([WORD.into()]).is_some() && asked([WORD.into(), "x".into(), "{}".into()]).is_some());
    }
}
