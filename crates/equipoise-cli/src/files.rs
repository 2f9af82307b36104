//! Reading and writing whole files, with a sentence for whatever goes wrong.

use crate::fault::Fault;
use anyhow::Result;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// A directory for this run, deleted at its end.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// A new one; `purpose` is part of its name.
    pub fn new(purpose: &str) -> Result<Self> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let unique = format!("equipoise-{purpose}-{}-{}", std::process::id(), now.as_nanos());
        let path = std::env::temp_dir().join(unique);
        private_directory(&path)
            .map_err(|e| Fault::input_output(format!("cannot make {}: {}", name(&path), why(&e))))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Makes a directory that nobody else can look into.
fn private_directory(path: &Path) -> std::io::Result<()> {
    let mut made = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
    made.create(path)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left behind lies where the system cleans up.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The text of a JSON document; `-` stands for standard input.
pub fn read(path: &Path) -> Result<String> {
    read_text(path, "a JSON document")
}

/// The text of a file, which should be what is `expected`.
pub fn read_text(path: &Path, expected: &str) -> Result<String> {
    let text = if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|e| Fault::input_output(format!("cannot read {}: {}", name(path), why(&e))))?;
    if text.trim().is_empty() {
        return Err(Fault::input_output(format!("{} is empty, expected {expected}", name(path))).into());
    }
    Ok(text)
}

/// What to call a file in a sentence.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// A path as a shell reads it back, for commands that are to be pasted.
pub fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Replaces a file in one step: whoever reads it, or whatever interrupts us, finds the old text or the new one.
pub fn write(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same for what is not text.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<()> {
    equipoise_log::files::write(path, content).map_err(|e| unwritten(path, &e))
}

/// The same for what is nobody else's business: a new file that only its owner can read.
pub fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    equipoise_log::files::write_private(path, content).map_err(|e| unwritten(path, &e))
}

fn unwritten(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Fault::input_output(format!("cannot write {}: {}", name(path), why(error))).into()
}

/// Whether something is a device, which may never end.
pub fn is_device(kind: std::fs::FileType) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

/// What is wrong with a file, in words people use.
pub fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "part of its path is not a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let directory = std::env::temp_dir().join(format!("equipoise-files-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("interview.json");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(read(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
        let wrong = write(&directory, "text").unwrap_err().to_string();
        assert!(wrong.contains("cannot write") && wrong.contains("directory"), "{wrong}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
