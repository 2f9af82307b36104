//! Files that are nobody else's business: readable and writable by their owner only.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;

/// Makes a file that must not be there yet.
pub fn create(path: &Path) -> Result<File> {
    options().create_new(true).open(path)
}

/// Opens a file, or makes it.
pub(super) fn open(path: &Path) -> Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Makes the file if it is not there; takes an old one away from everybody who is not in its group.
///
/// A file that is there is not opened: closing it again would drop the locks SQLite has on it.
pub(super) fn protect(path: &Path) -> Result<()> {
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
