//! The directory a study lives in: its file, the tables that the file names, and its lock. What commands and pages do to
//! these files is done here.

use crate::design::Design;
use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::lint::{self, Lint};
use crate::numbers::grouped;
use crate::service::Service;
use crate::study::{QuerySpace, Study};
use crate::tables::{Tables, Wanted};
use crate::{audit, inside};
use equipoise_log::{Receipt, files, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The study file.
pub const STUDY: &str = "study.toml";
/// The lock beside it.
pub const LOCK: &str = "study.lock";
/// The most a study file may have, in bytes: the longest texts are some hundred kilobytes.
pub const LARGEST: u64 = 4 << 20;
/// What is added to the name of the copy that is kept of a file before it is replaced. Earlier copies have numbers behind it in the
/// order in which they were made; the first is the file as it was at first, and is never deleted.
const BEFORE: &str = ".before";
/// How many copies with a number are kept of a file.
const COPIES: usize = 20;
/// Classes and columns that are named one by one.
const NAMED: usize = 12;
/// How the names of tables end.
const ENDINGS: [&str; 12] =
    ["csv", "tsv", "tab", "txt", "gz", "json", "jsonl", "ndjson", "parquet", "pq", "arrow", "feather"];

/// What the lock says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The version of the format, 1.
    pub format: u64,
    /// The version of the study.
    pub version: u64,
    /// The hash of all that it means, and of its data.
    pub hash: String,
}

/// What there is to say about a study file.
#[derive(Debug)]
pub struct Checked {
    /// What was found, each with its line where it has one.
    pub found: Vec<(Option<usize>, Lint)>,
    /// What `check` says at the end; nothing where the file is no study.
    pub told: Vec<String>,
    /// The study, where it is one.
    pub design: Option<Design>,
}

impl Checked {
    /// Whether the study should not be run like this.
    pub fn fails(&self) -> bool {
        self.found.iter().any(|(_, lint)| lint.error)
    }
}

/// Where a study lives.
#[derive(Clone)]
pub struct Directory {
    path: PathBuf,
    tables: Arc<dyn Tables + Send + Sync>,
    changing: Arc<Mutex<()>>,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Directory").field(&self.path).finish()
    }
}

/// What tells one text from another.
pub fn fingerprint(text: &[u8]) -> String {
    hex::encode(&Sha256::digest(text))
}

impl Directory {
    /// At a path, with somebody who reads its tables.
    pub fn new(path: PathBuf, tables: impl Tables + Send + Sync + 'static) -> Self {
        Self { path, tables: Arc::new(tables), changing: Arc::default() }
    }

    /// Held by whoever changes files: one at a time, of all who share the directory in this process.
    pub fn alone(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether a path leads to a file of the study, over which nothing else must be written: one of its own, or a table it names.
    pub fn keeps(&self, path: &Path) -> bool {
        let study = self.text().and_then(|text| Study::parse(&text));
        let tables: Vec<PathBuf> =
            study.map_or(vec![], |study| study.data_files().iter().map(|file| file.to_path_buf()).collect());
        inside::holds(&self.path, &tables, path)
    }

    /// The text of the study file.
    pub fn text(&self) -> Result<String> {
        let path = self.file(STUDY);
        let wrong = |what: &str| Error::Missing(format!("cannot read {}: {what}", path.display()));
        let unread = |e: std::io::Error| match e.kind() {
            ErrorKind::NotFound => wrong("there is no study"),
            ErrorKind::PermissionDenied => wrong("permission denied"),
            _ => wrong(&e.to_string()),
        };
        // A link may lead to a device that never ends.
        let found = path.metadata().map_err(unread)?;
        if !found.is_file() || found.len() > LARGEST {
            let most = LARGEST >> 20;
            let what = format!("{} is no study, expected a file of at most {most} MB", path.display());
            return Err(Error::Missing(what));
        }
        let mut bytes = vec![];
        let opened = std::fs::File::open(&path).map_err(unread)?;
        opened.take(LARGEST).read_to_end(&mut bytes).map_err(unread)?;
        let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text"))?;
        match text.trim().is_empty() {
            true => Err(Error::Missing(format!("{} is empty, expected a study", path.display()))),
            false => Ok(text),
        }
    }

    /// The study with its data.
    pub fn design(&self) -> Result<Design> {
        self.design_of(&self.text()?)
    }

    /// What the study would be with this text in its file.
    pub fn design_of(&self, text: &str) -> Result<Design> {
        Design::read_by(&*self.tables, Study::parse(text)?, &self.path)
    }

    /// What `check` says of a text; how long the study takes is found out if somebody is to wait for it.
    pub fn check(&self, text: &str, rehearse: bool) -> Checked {
        let design = match self.design_of(text) {
            Ok(design) => design,
            Err(error) => {
                let (line, what) = match error {
                    Error::Study { line, what } => (Some(line), what),
                    error => (None, error.to_string()),
                };
                let lint = Lint { rule: "file", error: true, what };
                return Checked { found: vec![(line, lint)], told: vec![], design: None };
            }
        };
        if rehearse {
            design.length();
        }
        let found = lint::lint(&design);
        let told = if rehearse { lint::told(&design, &found) } else { vec![] };
        let lines = Lines::of(text).ok();
        // Sentences about a field begin with it.
        let line = |what: &str| {
            let (field, lines) = (what.split_whitespace().next()?, lines.as_ref()?);
            lines.value(field).map(|_| lines.line(field))
        };
        let found = found.into_iter().map(|lint| (line(&lint.what), lint)).collect();
        Checked { found, told, design: Some(design) }
    }

    /// The lock, if there is one.
    pub fn lock(&self) -> Result<Option<Locked>> {
        let path = self.file(LOCK);
        let text = match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::Missing(format!("cannot read {}: {e}", path.display()))),
            Ok(text) => text,
        };
        let lock = serde_json::from_str(&text);
        lock.map(Some).map_err(|e| Error::Missing(format!("{} is not a lock: {e}", path.display())))
    }

    /// Whether a study may be locked: nothing else was under its version, as the lock or the log say, and `check` finds no
    /// error in it. What there is to say all the same.
    pub fn may_lock(&self, design: &Design, logged: Option<Locked>) -> Result<Vec<Lint>> {
        // The file beside the study can be deleted; the log remembers.
        for lock in self.lock()?.into_iter().chain(logged) {
            if lock.hash != design.hash() && design.study().version <= lock.version {
                return Err(Error::Changed { version: lock.version });
            }
        }
        let lints = lint::lint(design);
        match lints.iter().find(|lint| lint.error) {
            Some(lint) => Err(Error::Unfit(lint.what.clone())),
            None => Ok(lints),
        }
    }

    /// Locks the study of a service: in its log, and beside its file.
    pub fn fix(&self, service: &Service) -> Result<(Locked, Receipt)> {
        let design = service.design();
        let lock = Locked { format: 1, version: design.study().version, hash: design.hash().to_owned() };
        let receipt = service.lock()?;
        let text = serde_json::to_string_pretty(&lock).map_err(|e| Error::storage(e.to_string()))?;
        self.write(LOCK, (text + "\n").as_bytes())?;
        Ok((lock, receipt))
    }

    /// The last lock a service's log knows of.
    pub fn logged(service: &Service) -> Result<Option<Locked>> {
        let locks = audit::locks(&*service.writer().reader()?)?.into_iter();
        let last = locks.max_by_key(|(version, _)| *version);
        Ok(last.map(|(version, hash)| Locked { format: 1, version, hash }))
    }

    /// Replaces the study file, of which a copy stays. Refused if the file is no longer the one with this fingerprint.
    /// `agreed` is asked before.
    pub fn save(&self, text: &str, seen: &str, agreed: impl FnOnce() -> Result<()>) -> Result<()> {
        if fingerprint(self.text()?.as_bytes()) != seen {
            return Err(Error::Overtaken(format!(
                "the file {STUDY} has changed on the disk since this page was opened; nothing was saved"
            )));
        }
        agreed()?;
        self.replace(STUDY, text.as_bytes()).map(drop)
    }

    /// Puts a table beside the study, if it can be read and the study can be run with it; of one that was there a copy stays, whose
    /// name is returned. `agreed` is asked before anything is replaced.
    pub fn put(
        &self,
        name: &str,
        content: &[u8],
        agreed: impl FnOnce() -> Result<()>,
    ) -> Result<Option<String>> {
        let study = Study::parse(&self.text()?)?;
        let (target, named) = self.place(&study, name)?;
        let Some(last) = target.file_name().and_then(|last| last.to_str()) else {
            return Err(Error::Missing(format!("{name} is no name of a file")));
        };
        // Beside it, under a name that nothing else has: what is wrong with it is found out before it replaces anything.
        let trial = Trial(target.with_file_name(format!(".new-{last}")));
        let kept = |e: std::io::Error| Error::storage(format!("cannot write {name}: {e}"));
        files::write(&trial.0, content).map_err(kept)?;
        let tried = match named {
            true => {
                let beside = Path::new(name).with_file_name(format!(".new-{last}"));
                self.runs(study, Path::new(name), &beside)
            }
            false => self.tables.texts(&trial.0).map(drop),
        };
        tried.map_err(|error| match error {
            Error::Log(_) => error,
            // The file has another name to whoever sent it, and where it lies is nobody's business.
            error => Error::Missing(
                error
                    .to_string()
                    .replace(&trial.0.display().to_string(), name)
                    .replace(&format!(".new-{last}"), last),
            ),
        })?;
        drop(trial);
        agreed()?;
        self.replace(name, content)
    }

    /// Whether the study can be run with another file in the place of one: `check` finds no error that it does not find now.
    fn runs(&self, study: Study, file: &Path, other: &Path) -> Result<()> {
        let errors = |design: &Design| lint::lint(design).into_iter().filter(|lint| lint.error);
        let now = Design::read_by(&*self.tables, study.clone(), &self.path);
        let now: Vec<Lint> = now.map_or(vec![], |design| errors(&design).collect());
        let then = Design::read_by(&*self.tables, study.with_file(file, other), &self.path)?;
        match errors(&then).find(|lint| !now.contains(lint)) {
            Some(lint) => Err(Error::Unfit(lint.what)),
            None => Ok(()),
        }
    }

    /// What is in a table of the study's directory: how many rows, and of which classes, or which columns.
    pub fn holds(&self, name: &str) -> Result<String> {
        let study = Study::parse(&self.text()?)?;
        let (path, _) = self.place(&study, name)?;
        let rows = |count: usize| match count {
            1 => "1 row".to_owned(),
            count => format!("{} rows", grouped(count as u64)),
        };
        let listed = |all: Vec<String>| {
            let first: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
            match all.len().saturating_sub(NAMED) {
                0 => first.join(", "),
                more => format!("{} and {more} more", first.join(", ")),
            }
        };
        if let QuerySpace::Table { file, truth, score, group, .. } = &study.space
            && file.as_path() == Path::new(name)
        {
            let wanted =
                Wanted { truth: truth.clone(), score: score.clone(), group: group.clone(), positive: None };
            let table = self.tables.table(&path, &wanted)?;
            let share = |(class, name): (usize, &String)| {
                let of = table.truth().iter().filter(|truth| usize::from(**truth) == class).count();
                format!("{:.1} % \"{name}\"", 100.0 * of as f64 / table.rows().max(1) as f64)
            };
            let shares = listed(table.classes().iter().enumerate().map(share).collect());
            return Ok(format!("{}, of which {shares}", rows(table.rows())));
        }
        let columns = self.tables.texts(&path)?;
        let count = columns.first().map_or(0, |(_, cells)| cells.len());
        let names = listed(columns.into_iter().map(|(name, _)| format!("\"{name}\"")).collect());
        Ok(format!("{}, with the columns {names}", rows(count)))
    }

    /// Where a table lies or goes, and whether the study names it.
    fn place(&self, study: &Study, name: &str) -> Result<(PathBuf, bool)> {
        if study.data_files().iter().any(|file| file.as_path() == Path::new(name)) {
            return Ok((inside::target(&self.path, Path::new(name))?, true));
        }
        let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let table = Path::new(name).extension().and_then(|ending| ending.to_str());
        let table =
            table.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
        if name.starts_with('.') || !name.chars().all(plain) || !table || inside::is_own(name) {
            let endings = ENDINGS.join(", ");
            return Err(Error::Missing(format!(
                "\"{name}\" is no name for a table, expected letters, digits, points, hyphens, and one of the endings {endings}"
            )));
        }
        let path = self.file(name);
        // A link may lead anywhere, and what is no file is nobody's table.
        match path.symlink_metadata() {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok((path, false)),
            Ok(found) if found.is_file() => Ok((path, false)),
            _ => Err(Error::Missing(format!(
                "there is something else called {name} beside the study; give yours another name"
            ))),
        }
    }

    /// Replaces a file, of which a copy stays; the name of the copy, if there was a file.
    fn replace(&self, name: &str, content: &[u8]) -> Result<Option<String>> {
        let unkept = |e: std::io::Error| Error::storage(format!("cannot keep a copy of {name}: {e}"));
        let copy = match std::fs::read(self.file(name)) {
            Ok(before) => {
                let copy = format!("{name}{BEFORE}");
                self.put_aside(&copy).map_err(unkept)?;
                self.write(&copy, &before)?;
                Some(copy)
            }
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(unkept(e)),
        };
        self.write(name, content)?;
        Ok(copy)
    }

    /// Gives the copy that is there the next number, and deletes the oldest but the first where there are too many.
    fn put_aside(&self, copy: &str) -> std::io::Result<()> {
        let path = self.file(copy);
        let (Some(directory), Some(last)) = (path.parent(), path.file_name().and_then(|last| last.to_str()))
        else {
            return Ok(());
        };
        if !path.exists() {
            return Ok(());
        }
        let numbered = |number: u64| path.with_file_name(format!("{last}-{number}"));
        let mut numbers: Vec<u64> = vec![];
        for entry in std::fs::read_dir(directory)? {
            let found = entry?.file_name();
            let number = found.to_str().and_then(|name| name.strip_prefix(last)?.strip_prefix('-'));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        std::fs::rename(&path, numbered(numbers.last().map_or(1, |newest| newest.saturating_add(1))))?;
        // The first stays, and one was just added.
        let many = numbers.len().saturating_add(1).saturating_sub(COPIES);
        numbers.iter().skip(1).take(many).try_for_each(|number| std::fs::remove_file(numbered(*number)))
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.file(name);
        files::write(&path, content)
            .map_err(|e| Error::storage(format!("cannot write {}: {e}", path.display())))
    }
}

/// A file that is gone when it was tried.
struct Trial(PathBuf);

impl Drop for Trial {
    fn drop(&mut self) {
        // What is left behind has a name that says what it is.
        let _ = std::fs::remove_file(&self.0);
    }
}
