//! The directory a study lives in: its file, the tables that the file names, and its lock. What commands and pages do to
//! these files is done here.

use crate::design::Design;
use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::lint::{self, Lint};
use crate::service::Service;
use crate::study::Study;
use crate::tables::Tables;
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
/// What is added to the name of the copy that is kept of a file before it is replaced.
const BEFORE: &str = ".before";
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
                "{STUDY} has changed on the disk since this page was opened; nothing was saved"
            )));
        }
        agreed()?;
        self.replace(STUDY, text.as_bytes())
    }

    /// Puts a table beside the study, if it can be read and the study can be run with it; of one that was there a copy stays.
    /// A file that the study does not name must be new. `agreed` is asked before anything is replaced.
    pub fn put(&self, name: &str, content: &[u8], agreed: impl FnOnce() -> Result<()>) -> Result<()> {
        let study = Study::parse(&self.text()?)?;
        let named = study.data_files().iter().any(|file| file.as_path() == Path::new(name));
        let target = match named {
            true => inside::target(&self.path, Path::new(name))?,
            false => self.new_file(name)?,
        };
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
                Design::read_by(&*self.tables, study.with_file(Path::new(name), &beside), &self.path)
                    .map(drop)
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

    /// Where a table goes that the study does not name yet.
    fn new_file(&self, name: &str) -> Result<PathBuf> {
        let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let table = Path::new(name).extension().and_then(|ending| ending.to_str());
        let table =
            table.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
        if name.starts_with('.') || !name.chars().all(plain) || !table {
            let endings = ENDINGS.join(", ");
            return Err(Error::Missing(format!(
                "\"{name}\" is no name for a table, expected letters, digits, points, hyphens, and one of the endings {endings}"
            )));
        }
        let path = self.file(name);
        // Also a link that leads nowhere.
        match path.symlink_metadata() {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(path),
            _ => Err(Error::Missing(format!(
                "there is a file {name} already, which the study does not name; give yours another name"
            ))),
        }
    }

    /// Replaces a file, of which a copy stays.
    fn replace(&self, name: &str, content: &[u8]) -> Result<()> {
        match std::fs::read(self.file(name)) {
            Ok(before) => self.write(&format!("{name}{BEFORE}"), &before)?,
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(Error::storage(format!("cannot keep a copy of {name}: {e}"))),
        }
        self.write(name, content)
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
