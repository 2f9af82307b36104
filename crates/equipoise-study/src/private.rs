//! Files that are nobody else's business.

use std::fs::{File, OpenOptions};
use std::path::Path;

/// Opens a file, or begins one with rights for its owner only; refuses one that others can read, in a sentence.
pub fn open(path: &Path) -> Result<File, String> {
    let io = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io)?;
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
