//! Who uses a log, so that nobody puts another file in its place meanwhile.
//!
//! SQLite finds the write-ahead log by its name: a process that still has the old file open would write the rows of one
//! file into the other. So whoever opens a log to write holds a lock beside it, shared with all others who do, and
//! whoever replaces the log must hold it alone. The operating system drops a lock with its process, however that ends.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a command that is about to end, or a restore, is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// What the lock of a log's users is called, after the log.
const USED: &str = ".lock";

/// The use of a log, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    _file: File,
}

impl Lease {
    /// Together with all others who write.
    pub(crate) fn shared(log: &Path) -> Result<Self> {
        let what = "the log is being replaced by a backup; try again when that is done";
        Self::wait(log, USED, File::try_lock_shared, what)
    }

    /// As the one server of the log: two would tell the same people different things.
    pub(crate) fn serving(log: &Path) -> Result<Self> {
        let what = "the study is being served already by another process; stop that one first";
        Self::wait(log, ".serving.lock", File::try_lock, what)
    }

    /// What shows that there was a log, or that somebody is about to begin one.
    pub(crate) fn trace(log: &Path) -> Option<PathBuf> {
        [USED, "-wal", "-shm"].iter().map(|ending| files::added(log, ending)).find(|path| path.exists())
    }

    /// Alone: nobody else has the log open to write.
    pub(crate) fn alone(log: &Path) -> Result<Self> {
        let what = "the study is in use: a server or another command has its log open; stop it first";
        Self::wait(log, USED, File::try_lock, what)
    }

    fn wait(
        log: &Path,
        ending: &str,
        take: fn(&File) -> Result<(), TryLockError>,
        what: &str,
    ) -> Result<Self> {
        // Not the log itself: closing a second handle on a SQLite file would drop the locks SQLite has on it.
        let path = files::added(log, ending);
        let file = files::open_any(&path)
            .map_err(|e| Error::with_file(format!("{} cannot be written", path.display()), &e))?;
        let begun = Instant::now();
        loop {
            match take(&file) {
                Ok(()) => return Ok(Self { _file: file }),
                // Where files cannot be locked, SQLite's own locks have to do.
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::Error(e)) => {
                    return Err(Error::with_file(format!("cannot lock {}", path.display()), &e));
                }
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => return Err(Error::InUse(what.to_owned())),
            }
        }
    }
}
