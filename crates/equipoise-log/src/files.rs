//! Files that are written whole, and files that are nobody else's business: readable and writable by their owner only.

use crate::error::Trouble;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};

/// The path with something added to its name.
pub fn added(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// Replaces a file in one step: whoever reads it, or whatever interrupts us, finds the old content or the new one.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    replace(path, content, OpenOptions::new().write(true))
}

/// The same for a file that only its owner can read.
pub fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    replace(path, content, &mut options())
}

fn replace(path: &Path, content: &[u8], options: &mut OpenOptions) -> Result<()> {
    // A link keeps pointing where it did.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match std::fs::metadata(&path) {
        // Devices and pipes are written to, never replaced.
        Ok(found) if !found.is_file() && !found.is_dir() => return std::fs::write(&path, content),
        _ => {}
    }
    let beside = beside(&path)?;
    let written = options.create(true).truncate(true).open(&beside).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)?;
        sync_name(&path);
        Ok(())
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Makes sure that what a file holds is on the disk; one that is not there holds nothing.
pub(crate) fn sync(path: &Path) -> Result<()> {
    match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        opened => opened?.sync_all(),
    }
}

/// Makes sure that a file that was just put somewhere is found there after a loss of power, as far as the system can.
pub(crate) fn sync_name(path: &Path) {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Not every system can open a directory, and the file itself is on the disk.
    let _ = File::open(directory.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
}

/// A name in the same directory, since a rename across file systems is a copy.
fn beside(path: &Path) -> Result<PathBuf> {
    let Some(file) = path.file_name() else {
        return Err(ErrorKind::IsADirectory.into());
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(file);
    hidden.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Makes a private file that must not be there yet.
pub fn create(path: &Path) -> Result<File> {
    options().create_new(true).open(path)
}

/// Opens a file, or makes a private one; refuses one that others can read.
pub fn open(path: &Path) -> std::result::Result<File, Trouble> {
    let name = path.display();
    let file = open_any(path).map_err(|e| Trouble::with_file(&name, &e))?;
    #[cfg(unix)]
    {
        let found = file.metadata().map_err(|e| Trouble::with_file(&name, &e))?;
        let mode = std::os::unix::fs::MetadataExt::mode(&found) & 0o777;
        if mode & 0o077 != 0 {
            let sentence = format!("others can read {name} (mode {mode:o}); do: chmod 600 {name}");
            return Err(Trouble::new(crate::Why::Other, sentence));
        }
    }
    Ok(file)
}

/// Opens a file, or makes a private one; whoever can read it stays able to.
pub(crate) fn open_any(path: &Path) -> Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Makes the file if it is not there; takes an old one away from everybody who is not in its group.
///
/// A file that is there is not opened: closing it again would drop the locks SQLite has on it.
pub(crate) fn protect(path: &Path) -> Result<()> {
    match create(path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
        made => return made.map(drop),
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path)?.permissions().mode() & 0o7777;
        if mode & 0o007 != 0 {
            // Whoever is not the owner cannot change it, and may use it all the same.
            let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & !0o007));
        }
    }
    Ok(())
}

/// What tells a file from another of the same name; nothing where that is not known, or there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        path.exists().then_some((0, 0))
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
