//! What a file is: by its first bytes where they are telling, by its name otherwise.

use crate::error::{Error, Kind, Result, plural};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The formats a table can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text with a header line and a comma, semicolon or tab between fields.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow, as a file or a stream.
    Arrow,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::JsonLines => "JSON Lines",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        }
    }

    /// A file of this format that contradicts itself or breaks off.
    pub(crate) fn damaged(self, what: &str) -> Error {
        let name = self.name();
        Error::new(Kind::Format, format!("a damaged {name} file ({what})"), format!("a whole {name} file"))
    }

    /// The format a file name promises, `.gz` aside.
    pub(crate) fn promised_by(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match Path::new(name).extension()?.to_str()? {
            "csv" | "tsv" | "tab" | "txt" => Some(Self::Csv),
            "jsonl" | "ndjson" | "json" => Some(Self::JsonLines),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }
}

/// A file whose format is known. It is opened anew for each use; a pipe, which cannot be, is read into memory once.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// Everything a pipe said.
    pub(crate) piped: Option<Bytes>,
    pub(crate) format: Format,
    pub(crate) gzip: bool,
    /// The first bytes of the text, after decompression.
    pub(crate) head: Vec<u8>,
    /// What the name promised, when the bytes said otherwise.
    pub(crate) although: Option<Format>,
}

const HEAD: u64 = 1 << 16;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
pub(super) const READABLE: &str = "CSV, JSON Lines, Parquet or Arrow";

impl Input {
    /// Opens a file far enough to know its format.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let piped = piped(path)?;
        let raw = head(stream(path, piped.as_ref())?).map_err(|error| unreadable(&error))?;
        if raw.is_empty() {
            return Err(Error::new(Kind::Empty, "an empty file", "a table"));
        }
        let promised = Format::promised_by(path);
        let gzip = raw.starts_with(&GZIP);
        let head = if gzip { unzipped_head(stream(path, piped.as_ref())?)? } else { raw };
        let format = decide(&head, promised, gzip)?;
        if !gzip && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            return Err(Error::new(Kind::Format, "no gzip header", "a gzip file, as its name says"));
        }
        let although = promised.filter(|&promised| promised != format);
        Ok(Self { path: path.to_owned(), piped, format, gzip, head, although })
    }

    /// The bytes as they are stored, from the start.
    pub(crate) fn stored(&self) -> Result<Box<dyn Stream>> {
        stream(&self.path, self.piped.as_ref())
    }

    /// The text of the file: decompressed, without byte order mark.
    pub(crate) fn text(&self) -> Result<Box<dyn Read>> {
        let file = BufReader::with_capacity(1 << 18, self.stored()?);
        let mut text: Box<dyn Read> =
            if self.gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        if self.head.starts_with(&BYTE_ORDER_MARK) {
            let mut mark = [0; BYTE_ORDER_MARK.len()];
            text.read_exact(&mut mark).map_err(|error| self.broken(&error, 0))?;
        }
        Ok(text)
    }

    /// The first bytes of the text, without byte order mark.
    pub(crate) fn text_head(&self) -> &[u8] {
        self.head.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(&self.head)
    }

    /// Why the text could not be read to its end.
    pub(crate) fn broken(&self, error: &io::Error, rows: u64) -> Error {
        let after = plural(rows, "row");
        match error.kind() {
            _ if !self.gzip => unreadable(error),
            io::ErrorKind::UnexpectedEof => {
                let found = format!("a gzip stream that breaks off after {after}");
                Error::new(Kind::Format, found, "a whole gzip file")
            }
            _ => {
                let found = format!("a damaged gzip stream after {after} ({error})");
                Error::new(Kind::Format, found, "an intact gzip file")
            }
        }
    }

    /// What to say about the format, with details the reader adds.
    pub(crate) fn said(&self, details: &str) -> String {
        let gzip = if self.gzip { ", gzip" } else { "" };
        let although = self
            .although
            .map(|promised| format!(" (by its content, although the name says {})", promised.name()));
        format!("format: {}{details}{gzip}{}", self.format.name(), although.unwrap_or_default())
    }
}

/// Bytes that can be read from anywhere.
pub(crate) trait Stream: Read + Seek {}

impl<T: Read + Seek> Stream for T {}

fn stream(path: &Path, piped: Option<&Bytes>) -> Result<Box<dyn Stream>> {
    Ok(match piped {
        Some(bytes) => Box::new(Cursor::new(bytes.clone())),
        None => Box::new(open(path)?),
    })
}

/// Standard input under its usual name.
pub(crate) const STANDARD_INPUT: &str = "-";

/// What pipes have said, by their names: whoever asks again gets the same.
static PIPES: Mutex<Option<HashMap<PathBuf, Bytes>>> = Mutex::new(None);

/// Everything a pipe says; `None` for a file, which can be opened as often as one likes.
fn piped(path: &Path) -> Result<Option<Bytes>> {
    let standard = path == Path::new(STANDARD_INPUT);
    let is_pipe = || std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
    if !standard && !is_pipe() {
        return Ok(None);
    }
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    let pipes = pipes.get_or_insert_default();
    if let Some(bytes) = pipes.get(path) {
        return Ok(Some(bytes.clone()));
    }
    let mut bytes = Vec::new();
    let read = match standard {
        true => io::stdin().lock().read_to_end(&mut bytes),
        false => open(path)?.read_to_end(&mut bytes),
    };
    read.map_err(|error| unreadable(&error))?;
    Ok(Some(pipes.entry(path.to_owned()).or_insert(bytes.into()).clone()))
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let directory = file.metadata().is_ok_and(|metadata| metadata.is_dir());
    if directory { Err(Error::new(Kind::Unreadable, "a directory", "a file")) } else { Ok(file) }
}

/// Runs a step of a decoder we did not write. On damaged files it may panic where it should report.
pub(crate) fn shielded<T, E: Display>(
    format: Format,
    step: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    quieten();
    SHIELDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    SHIELDED.set(false);
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let what = error.to_string();
            // The crates put the sort of error in front.
            Err(format.damaged(
                ["Parquet error: ", "EOF: ", "Parser error: ", "Ipc error: ", "Io error: "]
                    .into_iter()
                    .fold(what.as_str(), |what, sort| what.strip_prefix(sort).unwrap_or(what)),
            ))
        }
        Err(_) => Err(format.damaged("its parts contradict each other")),
    }
}

thread_local! {
    /// Whether this thread is in a step whose panics become a sentence.
    static SHIELDED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics that become a sentence from being printed as well; all others are, as before.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !SHIELDED.get() {
                before(panic);
            }
        }));
    });
}

/// Whether this many bytes can be had at all; a damaged file may ask for anything.
pub(crate) fn fits_in_memory(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

fn unreadable(error: &io::Error) -> Error {
    let found = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "a file that may not be read".to_owned(),
        _ => format!("a file that cannot be read ({error})"),
    };
    Error::new(Kind::Unreadable, found, "a readable file")
}

fn head(source: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// The first bytes inside a gzip file, as far as they can be had: the reader will say where it breaks off.
fn unzipped_head(stored: impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let result = MultiGzDecoder::new(BufReader::new(stored)).take(HEAD).read_to_end(&mut head);
    match result {
        Ok(_) if head.is_empty() => Err(Error::new(Kind::Empty, "an empty file inside gzip", "a table")),
        Err(error) if head.is_empty() => {
            let found = format!("a damaged gzip file ({error})");
            Err(Error::new(Kind::Format, found, "an intact gzip file"))
        }
        _ => Ok(head),
    }
}

/// The format of a file that begins with these bytes.
fn decide(head: &[u8], promised: Option<Format>, gzip: bool) -> Result<Format> {
    let refuse = |found: &str, expected: &str| Err(Error::new(Kind::Format, found, expected));
    if let Some(format) = by_first_bytes(head) {
        if gzip {
            let found = format!("a gzip-compressed {} file", format.name());
            return refuse(&found, "the file itself, which has its own compression");
        }
        return Ok(format);
    }
    let foreign = foreign(head);
    match promised {
        Some(format @ (Format::Parquet | Format::Arrow)) => {
            let found = foreign.unwrap_or(if head.contains(&0) { "unknown binary data" } else { "text" });
            refuse(found, &format!("{}, as the name says", format.name()))
        }
        _ if foreign.is_some() => refuse(foreign.unwrap_or_default(), READABLE),
        _ if head.contains(&0) => refuse("unknown binary data", READABLE),
        _ if looks_like_objects(head) => Ok(Format::JsonLines),
        Some(format) => Ok(format),
        None => Ok(Format::Csv),
    }
}

/// Parquet and Arrow announce themselves.
fn by_first_bytes(head: &[u8]) -> Option<Format> {
    const CONTINUATION: [u8; 4] = [0xff; 4];
    match head {
        _ if head.starts_with(b"PAR1") => Some(Format::Parquet),
        _ if head.starts_with(b"ARROW1") || head.starts_with(&CONTINUATION) => Some(Format::Arrow),
        _ => None,
    }
}

/// Formats people pass by mistake, by their first bytes.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 14] = [
        (b"PK\x03\x04", "a ZIP archive (an Excel workbook?)"),
        (b"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
        (b"BZh", "a bzip2 file"),
        (b"\xfd7zXZ", "an xz file"),
        (b"\x1f\x8b", "a gzip file inside a gzip file"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\x89HDF", "an HDF5 file"),
        (b"\x93NUMPY", "a NumPy array"),
        (b"\x89PNG", "a PNG image"),
        (b"%PDF", "a PDF document"),
        (b"FEA1", "a Feather file of version 1 (write version 2)"),
        (b"PARE", "an encrypted Parquet file"),
        (b"\x80\x04", "a Python pickle"),
    ];
    const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];
    if UTF_16.iter().any(|mark| head.starts_with(mark)) {
        return Some("UTF-16 text (save it as UTF-8)");
    }
    KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|&(_, what)| what)
}

/// Text that begins with a JSON object.
fn looks_like_objects(head: &[u8]) -> bool {
    let text = head.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let inside = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| inside.starts_with(b"\"") || inside.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, head: &[u8], expected: &str) {
        let said = match decide(head, Format::promised_by(Path::new(name)), false) {
            Ok(format) => format.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn telling_bytes_win_over_the_name() {
        check("a.csv", b"PAR1....", "Parquet");
        check("a.csv", b"y,p\n", "CSV");
        check("a.CSV", b"{\"y\": 1}", "JSON Lines");
        check("a", b" { \"y\": 1}", "JSON Lines");
        check("a", b"y;p\n", "CSV");
        check("a.jsonl", b"[1]", "JSON Lines");
        check("a.tsv", b"{a}\tb", "CSV");
        check("a", &[0xff; 8], "Arrow");
    }

    #[test]
    fn other_files_are_named_for_what_they_are() {
        check(
            "a.csv",
            b"PK\x03\x04\0",
            "table: found a ZIP archive (an Excel workbook?), expected CSV, JSON Lines, Parquet or Arrow",
        );
        check(
            "a.csv",
            b"\xff\xfey\0",
            "table: found UTF-16 text (save it as UTF-8), expected CSV, JSON Lines, Parquet or Arrow",
        );
        check("a.parquet", b"y,p\n1,0.5", "table: found text, expected Parquet, as the name says");
        check("a.feather", b"a\0b", "table: found unknown binary data, expected Arrow, as the name says");
        check("a", b"a\0b", "table: found unknown binary data, expected CSV, JSON Lines, Parquet or Arrow");
    }
}
