//! Files that are nobody else's business: readable and writable by their owner only.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;

/// Makes a file that must not be there yet.
pub fn create(path: &Path) -> Result<File> {
    options().create_new(true).open(path)
}

/// Opens a file, or makes it; whoever can read it stays able to.
pub(crate) fn open_any(path: &Path) -> Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Opens a file, or makes it; refuses one that others can read, in a sentence.
pub fn open(path: &Path) -> std::result::Result<File, String> {
    let io = |e: std::io::Error| format!("{}: {e}", path.display());
    let file = open_any(path).map_err(io)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(io)?) & 0o777;
        if mode & 0o077 != 0 {
            let path = path.display();
            return Err(format!("others can read {path} (mode {mode:o}); do: chmod 600 {path}"));
        }
    }
    Ok(file)
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

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
