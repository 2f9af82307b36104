//! Tables in several files: a folder, or a pattern such as `part-*.csv`, is one table.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a table of several files has at least one, rows are counted from 1, and a name is asked whether it is empty first"
)]

use super::column::Column;
use super::columns::{Header, Want};
use super::format::{Format, READABLE, STANDARD_INPUT};
use super::{Source, first_fault, open_one, remote};
use crate::error::{Error, Kind, Result};
use std::path::{Path, PathBuf};

/// More files than this are a folder that was not meant.
const MOST_FILES: usize = 10_000;

/// The files of a table, in the order of their names: itself, the tables of a folder, or those that fit a pattern.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let (found, what) = if remote::is_address(path) {
        return match remote::files(path)? {
            none if none.is_empty() => {
                Err(Error::new(Kind::Unreadable, "no Parquet", "an object, or a folder of .parquet files"))
            }
            many => few(many),
        };
    } else if path.is_dir() {
        let mut found = vec![];
        walk(path, &mut found)?;
        (found, "a folder without tables")
    } else if path != Path::new(STANDARD_INPUT) && is_pattern(path) && !path.exists() {
        (matching(path), "no file that fits the pattern")
    } else {
        return Ok(vec![path.to_owned()]);
    };
    match found.len() {
        0 => Err(Error::new(Kind::Unreadable, what, format!("{READABLE} files"))),
        _ => few(found),
    }
}

fn few(found: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    match found.len() {
        many if many > MOST_FILES => {
            Err(Error::new(Kind::Count, format!("{many} files"), format!("at most {MOST_FILES}")))
        }
        _ => Ok(found),
    }
}

fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(['*', '?']))
}

/// Files whose names say that they are tables, here and below; hidden ones and those with an underscore in front are not.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match () {
            () if name.starts_with(['.', '_']) => {}
            () if path.is_dir() => walk(&path, found)?,
            () if Format::promised_by(&path).is_some() => found.push(path),
            () => {}
        }
    }
    Ok(())
}

/// What is in a folder, by name; nothing if it may not be looked into.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The files that fit a pattern, part by part of the path.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let part = part.as_os_str();
        let text = part.to_string_lossy();
        found = if text.contains(['*', '?']) {
            let fits = |path: &PathBuf| {
                let name =
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                fits(text.as_bytes(), name.as_bytes()) && (text.starts_with('.') || !name.starts_with('.'))
            };
            let inside = |folder: &PathBuf| {
                let names = entries(folder).into_iter().filter(fits);
                names.filter_map(|path| Some(folder.join(path.file_name()?))).collect::<Vec<_>>()
            };
            found.iter().flat_map(inside).collect()
        } else {
            found.into_iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect()
        };
    }
    found.retain(|path| path.is_file());
    found
}

/// Whether a name fits a pattern: `*` stands for anything, `?` for one character.
pub(super) fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => fits(rest, name) || (!name.is_empty() && fits(pattern, &name[1..])),
        ([b'?', rest @ ..], [_, left @ ..]) => fits(rest, left),
        ([a, rest @ ..], [b, left @ ..]) => a == b && fits(rest, left),
        _ => false,
    }
}

/// Several files read as one.
pub(crate) struct Many {
    parts: Vec<(PathBuf, Box<dyn Source>)>,
    /// The columns of any of them: one that plays a part must be in all, also if the first has no such column.
    header: Header,
    /// Whether missing values are for the caller to judge.
    lenient: bool,
}

impl Many {
    pub(crate) fn open(paths: Vec<PathBuf>, lenient: bool) -> Result<Self> {
        let part = |path: PathBuf| {
            let source = open_one(&path).map_err(|error| error.file(path.display().to_string()))?;
            Ok((path, source))
        };
        let parts = paths.into_iter().map(part).collect::<Result<Vec<_>>>()?;
        let mut names: Vec<String> = vec![];
        for (_, source) in &parts {
            let of_file = source.header().0.iter();
            // Within a file a name may stand twice, which is said of whoever asks for it.
            let new: Vec<String> = of_file.filter(|name| !names.contains(name)).cloned().collect();
            names.extend(new);
        }
        Ok(Self { parts, header: Header(names), lenient })
    }
}

impl Source for Many {
    fn format(&self) -> String {
        format!("{}, {} files as one table", self.parts[0].1.format(), self.parts.len())
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], matters: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        let mut all: Vec<Column> = wants.iter().map(|want| Column::new(want.part)).collect();
        for part in &self.parts {
            let columns = self.of_part(part, wants, |wants| part.1.read(wants, matters))?;
            all.iter_mut().zip(columns).for_each(|(column, part)| column.append(part));
        }
        Ok(all)
    }

    fn pieces(&self) -> Result<Vec<usize>> {
        let pieces = |(path, source): &(PathBuf, Box<dyn Source>)| {
            source.pieces().map_err(|error| error.file(path.display().to_string()))
        };
        let all = self.parts.iter().map(pieces).collect::<Result<Vec<_>>>()?;
        Ok(all.concat())
    }

    fn read_piece(&self, piece: usize, wants: &[Want]) -> Result<Vec<Column>> {
        let (mut left, mut before) = (piece, 0);
        for part in &self.parts {
            let own = part.1.pieces()?;
            if left < own.len() {
                let columns = self.of_part(part, wants, |wants| part.1.read_piece(left, wants))?;
                return Ok(columns.into_iter().map(|column| column.after(before)).collect());
            }
            left -= own.len();
            before += own.iter().sum::<usize>() as u64;
        }
        Err(Error::new(Kind::Format, "fewer files than before", "the same files while they are read"))
    }
}

impl Many {
    /// Columns of one of the files; what is wrong is said of the file it is in.
    fn of_part(
        &self,
        (path, source): &(PathBuf, Box<dyn Source>),
        wants: &[Want],
        read: impl FnOnce(&[Want]) -> Result<Vec<Column>>,
    ) -> Result<Vec<Column>> {
        let within = |error: Error| {
            let line = error.place.row.filter(|_| error.place.line.is_none());
            let error = match line.and_then(|row| source.line(row - 1)) {
                Some(line) => error.line(line),
                None => error,
            };
            error.file(path.display().to_string())
        };
        let own = |want: &Want| {
            let position = source.header().find(&want.name)?;
            Ok(Want { position, ..want.clone() })
        };
        let wants = wants.iter().map(own).collect::<Result<Vec<_>>>().map_err(within)?;
        let columns = read(&wants).map_err(within)?;
        // What is missing may be left out later.
        let left = self.lenient && columns.iter().all(|column| column.faults().only_missing());
        match first_fault(&wants, &columns).filter(|_| !left) {
            Some(error) => Err(within(error)),
            None => Ok(columns),
        }
    }
}

/// A path in the words of a message.
pub(crate) fn named(path: &Path) -> String {
    match path == Path::new(STANDARD_INPUT) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_characters() {
        for (pattern, name, fit) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("part-?.csv", "part-1.csv", true),
            ("part-?.csv", "part-10.csv", false),
            ("*a*b", "xaxxb", true),
            ("*", "", true),
            ("a", "b", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), fit, "{pattern} {name}");
        }
    }
}
