//! Files a study names: beside it and nowhere else. A study file may come from anybody, and what is wrong with a data file
//! is said with a part of it.

use crate::error::{Error, Result};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most a data file may have, in bytes: ten million rows of scores and some.
const LARGEST: u64 = 1 << 30;

/// Parts of names of files that are no data: the study itself, its log, who may look at it, who took part, and what unseals that.
/// What is wrong with a table is said with a part of it, and of these nobody is to read a part.
const OWN: [&str; 4] = ["study.toml", "study.lock", ".sqlite", ".key"];

/// How the names of files begin that are lost if something is written over them, with whatever SQLite and we put beside them.
const KEPT: [&str; 6] =
    ["study.toml", "study.lock", "log.sqlite", "accounts.sqlite", "contacts.sqlite", "contacts.key"];

/// Whether a file of this name is one of the study's own, and no data.
pub(crate) fn is_own(name: &str) -> bool {
    let name = name.to_lowercase();
    OWN.iter().any(|own| name.contains(own))
}

/// Whether a path leads to a file of the study in a directory: one of its own, or one of its tables. Where links lead counts, of
/// the path and of the study's files.
pub(crate) fn holds(directory: &Path, tables: &[PathBuf], path: &Path) -> bool {
    let places = places(path);
    let is_at = |place: &PathBuf| places.contains(place);
    let begins = |place: &PathBuf, beginning: &Path| {
        let (Some(name), Some(own)) = (place.file_name(), beginning.file_name()) else { return false };
        place.parent() == beginning.parent()
            && name.to_string_lossy().to_lowercase().starts_with(&own.to_string_lossy().to_lowercase())
    };
    let is_beside = |own: PathBuf| places.iter().any(|place| begins(place, &own));
    let own = |name: &&str| self::places(&directory.join(name)).into_iter().any(is_beside);
    KEPT.iter().any(own) || tables.iter().any(|table| self::places(&directory.join(table)).iter().any(is_at))
}

/// Where a path is: by its name, and where it leads if it is a link.
fn places(path: &Path) -> Vec<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = parent.canonicalize().ok().zip(path.file_name()).map(|(parent, name)| parent.join(name));
    named.into_iter().chain(path.canonicalize().ok()).collect()
}

/// The bytes of a file of a study.
pub(crate) fn read(directory: &Path, file: &Path) -> Result<Vec<u8>> {
    read_within(directory, file, LARGEST)
}

fn read_within(directory: &Path, file: &Path, largest: u64) -> Result<Vec<u8>> {
    let path = directory.join(file);
    let wrong = |what: &str| Error::Missing(format!("{} {what}", path.display()));
    let unread = |e: std::io::Error| Error::Missing(format!("cannot read {}: {e}", path.display()));
    let real = within(directory, &path, &path)?;
    if real.file_name().is_some_and(|last| is_own(&last.to_string_lossy())) {
        return Err(wrong("is a file of the study's own, expected a table or a pool"));
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

/// Where a file of a study is written: into its directory and nowhere else, also if a link there leads out of it.
pub(crate) fn target(directory: &Path, file: &Path) -> Result<PathBuf> {
    let path = directory.join(file);
    match path.symlink_metadata() {
        Ok(_) => within(directory, &path, &path).map(drop)?,
        Err(_) => within(directory, path.parent().unwrap_or(directory), &path).map(drop)?,
    }
    Ok(path)
}

/// Where something really is, which must be in a directory; `named` is how it is called.
fn within(directory: &Path, path: &Path, named: &Path) -> Result<PathBuf> {
    let unread = |e: std::io::Error| Error::Missing(format!("cannot read {}: {e}", named.display()));
    let here =
        |path: &Path| if path.as_os_str().is_empty() { Path::new(".").into() } else { path.to_owned() };
    // Where links lead counts, and so does what a name with dots comes to.
    let real = here(path).canonicalize().map_err(unread)?;
    match real.starts_with(here(directory).canonicalize().map_err(unread)?) {
        true => Ok(real),
        false => Err(Error::Missing(format!(
            "{} is outside the study's directory, expected a file in it; copy it there",
            named.display()
        ))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_study_are_known_by_every_name() {
        use std::os::unix::fs::symlink;
        let outer = std::env::temp_dir().join(format!("equipoise-holds-{}", std::process::id()));
        let (study, elsewhere) = (outer.join("study"), outer.join("elsewhere"));
        std::fs::create_dir_all(study.join("data")).unwrap();
        std::fs::create_dir_all(&elsewhere).unwrap();
        for file in ["study.toml", "data/pool.csv", "notes.csv"] {
            std::fs::write(study.join(file), "x").unwrap();
        }
        std::fs::write(elsewhere.join("the-log"), "x").unwrap();
        symlink(elsewhere.join("the-log"), study.join("log.sqlite")).unwrap();
        symlink(study.join("study.toml"), outer.join("innocent.csv")).unwrap();
        symlink(&study, outer.join("other")).unwrap();
        let tables = [PathBuf::from("data/pool.csv")];
        let holds = |file: &str| holds(&study, &tables, &outer.join(file));
        for file in [
            "study/study.toml",
            "study/STUDY.TOML",
            "study/log.sqlite",
            "study/log.sqlite-wal",
            "study/log.sqlite.serving.lock",
            "study/contacts.key",
            "study/data/../accounts.sqlite-shm",
            "study/data/pool.csv",
            "other/data/pool.csv",
            "elsewhere/the-log",
            "elsewhere/the-log-wal",
            "innocent.csv",
        ] {
            assert!(holds(file), "{file}");
        }
        for file in
            ["study/notes.csv", "study/new.csv", "log.sqlite", "study/data/study.toml", "no/such/directory"]
        {
            assert!(!holds(file), "{file}");
        }
        std::fs::remove_dir_all(&outer).unwrap();
    }

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
        for file in
            ["contacts.key", "accounts.sqlite", "log.sqlite-wal", "study.toml.before", "CONTACTS.KEY.csv"]
        {
            std::fs::write(study.join(file), "secret").unwrap();
            std::os::unix::fs::symlink(study.join(file), study.join("data/table.csv")).unwrap();
            for name in [file, "data/table.csv"] {
                let sentence = said(name).unwrap_err();
                assert!(sentence.contains("is a file of the study's own"), "{name}: {sentence}");
            }
            std::fs::remove_file(study.join("data/table.csv")).unwrap();
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
