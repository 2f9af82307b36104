//! Files a study names: beside it and nowhere else. A study file may come from anybody, and what is wrong with a data file
//! is said with a part of it.

use crate::error::{Error, Result};
use std::io::Read as _;
use std::path::Path;

/// The most a data file may have, in bytes: ten million rows of scores and some.
const LARGEST: u64 = 1 << 30;

/// The bytes of a file of a study.
pub(crate) fn read(directory: &Path, file: &Path) -> Result<Vec<u8>> {
    read_within(directory, file, LARGEST)
}

fn read_within(directory: &Path, file: &Path, largest: u64) -> Result<Vec<u8>> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let path = directory.join(file);
    let wrong = |what: &str| Error::Missing(format!("{} {what}", path.display()));
    let unread = |e: std::io::Error| Error::Missing(format!("cannot read {}: {e}", path.display()));
    // Where links lead counts, and so does what a name with dots comes to.
    let (real, home) = (path.canonicalize().map_err(unread)?, directory.canonicalize().map_err(unread)?);
    if !real.starts_with(&home) {
        return Err(wrong("is outside the study's directory, expected a file in it; copy it there"));
    }
    // Before it is opened: opening a pipe waits for somebody to write.
    if !real.metadata().map_err(unread)?.is_file() {
        return Err(wrong("is not a file, expected a table or a pool"));
    }
    let mut bytes = vec![];
    let opened = std::fs::File::open(&real).map_err(unread)?;
    opened.take(largest.saturating_add(1)).read_to_end(&mut bytes).map_err(unread)?;
    match bytes.len() as u64 > largest {
        true => Err(wrong(&format!("has more than {largest} bytes; take fewer rows"))),
        false => Ok(bytes),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_study_are_read() {
        let outer = std::env::temp_dir().join(format!("equipoise-inside-{}", std::process::id()));
        let study = outer.join("study");
        std::fs::create_dir_all(study.join("data")).unwrap();
        std::fs::write(outer.join("secret"), "root:x:0").unwrap();
        std::fs::write(study.join("data/pool.csv"), "a,b").unwrap();
        std::os::unix::fs::symlink(outer.join("secret"), study.join("link.csv")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", study.join("endless.csv")).unwrap();
        let said = |file: &str| read(&study, Path::new(file)).map_err(|error| error.to_string());
        assert_eq!(said("data/pool.csv").unwrap(), b"a,b");
        assert_eq!(said("data/../data/pool.csv").unwrap(), b"a,b");
        let secret = outer.join("secret").display().to_string();
        for file in ["../secret", "link.csv", "endless.csv", "/dev/zero", &secret, "data/../../secret"] {
            let sentence = said(file).unwrap_err();
            assert!(sentence.contains("is outside the study's directory"), "{file}: {sentence}");
            assert!(!sentence.contains("root:x"), "{sentence}");
        }
        assert!(said("data").unwrap_err().contains("is not a file"));
        assert!(said("nothing.csv").unwrap_err().contains("cannot read"));
        assert!(
            read_within(&study, Path::new("data/pool.csv"), 2)
                .unwrap_err()
                .to_string()
                .contains("more than 2")
        );
        std::fs::remove_dir_all(&outer).unwrap();
    }
}
