//! CSV: a header line, then rows, with a comma, semicolon or tab between fields.
//!
//! One pass, one reused record, cells parsed in place. Lines are not counted on the way: when a message
//! needs one, the file is read again up to that row, which costs nothing to those without problems.

use super::column::{Cell, Column, Faults};
use super::columns::{Header, Want};
use super::format::Input;
use super::{Source, first_fault};
use crate::error::{Error, Kind, Result, list, plural};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The delimiters that are told apart, with their names.
const DELIMITERS: [(u8, &str); 3] = [(b',', "comma"), (b';', "semicolon"), (b'\t', "tab")];

/// A CSV file whose header has been read.
pub(crate) struct Csv {
    input: Input,
    delimiter: u8,
    header: Header,
}

impl Csv {
    pub(crate) fn open(input: Input) -> Result<Self> {
        if input.text_head().trim_ascii().is_empty() {
            return Err(Error::new(Kind::Empty, "only blank lines", "a header and rows"));
        }
        let delimiter = sniff(input.text_head());
        let mut reader = reader(input.text()?, delimiter);
        let fields = reader.byte_headers().map_err(|error| broken(&input, error, 0))?;
        let header = Header(fields.iter().enumerate().map(column_name).collect::<Result<_>>()?);
        if header.0.iter().all(|name| name.parse::<f64>().is_ok()) {
            let found = format!("the numbers {} in the first line", list(&header.0));
            return Err(Error::new(Kind::Column, found, "a header with the names of the columns").line(1));
        }
        Ok(Self { input, delimiter, header })
    }

    /// The row and line of a quote that is open when the file ends, if there is one.
    ///
    /// It would swallow every row after it, so it must not pass for a long field.
    fn open_quote(&self) -> Result<Option<(u64, u64)>> {
        let mut scan = QuoteScan::new(self.delimiter);
        let all = |byte| {
            scan.byte(byte);
            ControlFlow::Continue(())
        };
        each_byte(self.input.text()?, all).map_err(|error| self.input.broken(&error, 0))?;
        Ok((scan.state == State::Quoted).then_some((scan.opened_record, scan.opened_line)))
    }
}

impl Source for Csv {
    fn format(&self) -> String {
        let (_, delimiter) =
            DELIMITERS.into_iter().find(|&(byte, _)| byte == self.delimiter).unwrap_or((b',', "comma"));
        self.input.said(&format!(" with a {delimiter} between fields"))
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], _: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        let quotes = Arc::new(AtomicU64::new(0));
        let text = Counted { text: self.input.text()?, quotes: Arc::clone(&quotes) };
        let mut reader = reader(text, self.delimiter);
        let mut columns: Vec<Column> = wants.iter().map(|want| Column::new(want.part)).collect();
        let width = self.header.0.len();
        let mut ragged = Faults::default();
        let mut record = ByteRecord::new();
        let mut row = 0;
        while reader.read_byte_record(&mut record).map_err(|error| broken(&self.input, error, row))? {
            if record.len() == width {
                for (want, column) in wants.iter().zip(&mut columns) {
                    column.push(row, Cell::Field(&record[want.position]));
                }
            } else {
                ragged.add(Kind::Ragged, row, || plural(record.len() as u64, "field"));
            }
            row += 1;
        }
        if quotes.load(Ordering::Relaxed) % 2 == 1
            && let Some((record, line)) = self.open_quote()?
        {
            let error =
                Error::new(Kind::Format, "a quote that is never closed", "a closing quote").line(line);
            return Err(if record > 0 { error.row(record) } else { error });
        }
        if row == 0 {
            return Err(Error::new(Kind::Empty, "a header and no rows", "at least one row"));
        }
        let first_cell = first_fault(wants, &columns).and_then(|error| error.place.row);
        match ragged.first() {
            Some(fault) if first_cell.is_none_or(|cell| fault.row < cell) => {
                Err(fault.error(format!("{width} as in the header")))
            }
            _ => Ok(columns),
        }
    }

    fn line(&self, row: u64) -> Option<u64> {
        let mut reader = reader(self.input.text().ok()?, self.delimiter);
        let mut record = ByteRecord::new();
        for _ in 0..=row {
            reader.read_byte_record(&mut record).ok()?;
        }
        line_at(self.input.text().ok()?, record.position()?.byte())
    }
}

fn reader<R: Read>(text: R, delimiter: u8) -> Reader<R> {
    // Rows of any length are let through to be counted here, with their row number.
    ReaderBuilder::new().delimiter(delimiter).flexible(true).buffer_capacity(1 << 18).from_reader(text)
}

fn broken(input: &Input, error: csv::Error, rows: u64) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => input.broken(&error, rows),
        other => Error::new(Kind::Format, format!("{other:?}"), "CSV"),
    }
}

fn column_name((n, field): (usize, &[u8])) -> Result<String> {
    match std::str::from_utf8(field) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => {
            let found = format!("a name that is not UTF-8 for column {}", n + 1);
            Err(Error::new(Kind::Encoding, found, "a header in UTF-8").line(1))
        }
    }
}

/// The delimiter that stands most often in the first line, outside quotes.
fn sniff(head: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    for &byte in head.trim_ascii_start() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(n) = DELIMITERS.iter().position(|&(delimiter, _)| delimiter == byte) {
                    counts[n] += 1;
                }
            }
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let first = counts.iter().position(|&count| count == most).unwrap_or(0);
    DELIMITERS[first].0
}

/// The line on which the record at a byte begins: line ends between records belong to neither.
fn line_at(text: Box<dyn Read>, start: u64) -> Option<u64> {
    let (mut at, mut line, mut after_return, mut found) = (0, 1, false, None);
    each_byte(text, |byte| {
        let is_end = matches!(byte, b'\n' | b'\r');
        if at >= start && !is_end {
            found = Some(line);
            return ControlFlow::Break(());
        }
        // A return followed by a newline is one line end.
        line += u64::from(is_end && !(byte == b'\n' && after_return));
        after_return = byte == b'\r';
        at += 1;
        ControlFlow::Continue(())
    })
    .ok()?;
    found
}

fn each_byte(mut text: Box<dyn Read>, mut see: impl FnMut(u8) -> ControlFlow<()>) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = text.read(&mut buffer)?;
        if n == 0 || buffer[..n].iter().try_for_each(|&byte| see(byte)).is_break() {
            return Ok(());
        }
    }
}

/// Counts the quotes that pass: an odd number is the cheap sign that one may be open at the end.
struct Counted<R> {
    text: R,
    quotes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.text.read(buffer)?;
        let quotes = buffer[..n].iter().filter(|&&byte| byte == b'"').count();
        self.quotes.fetch_add(quotes as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[derive(PartialEq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    QuoteInQuoted,
}

/// Follows the quoting rules of the reader, to find where an open quote was opened.
struct QuoteScan {
    delimiter: u8,
    state: State,
    record: u64,
    record_is_blank: bool,
    line: u64,
    opened_record: u64,
    opened_line: u64,
}

impl QuoteScan {
    fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: State::FieldStart,
            record: 0,
            record_is_blank: true,
            line: 1,
            opened_record: 0,
            opened_line: 1,
        }
    }

    fn byte(&mut self, byte: u8) {
        let is_end = matches!(byte, b'\n' | b'\r');
        let in_quotes = self.state == State::Quoted;
        self.state = match (&self.state, byte) {
            (State::FieldStart, b'"') => {
                (self.opened_record, self.opened_line) = (self.record, self.line);
                State::Quoted
            }
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::QuoteInQuoted, b'"') => State::Quoted,
            (_, byte) if byte == self.delimiter || is_end => State::FieldStart,
            _ => State::Plain,
        };
        if is_end && !in_quotes {
            self.record += u64::from(!self.record_is_blank);
            self.record_is_blank = true;
        } else {
            self.record_is_blank = false;
        }
        self.line += u64::from(byte == b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_outside_quotes() {
        assert_eq!(sniff(b"y,p\n1;2;3;4"), b',');
        assert_eq!(sniff(b"\"a,b,c\";p\n"), b';');
        assert_eq!(sniff(b"\n\ny\tp_a\tp_b\r\n"), b'\t');
        assert_eq!(sniff(b"alone"), b',');
    }

    #[track_caller]
    fn line_of(text: &'static str, byte: u64, expected: u64) {
        assert_eq!(line_at(Box::new(text.as_bytes()), byte), Some(expected));
    }

    #[test]
    fn lines_are_counted_through_every_line_end() {
        line_of("a\nb\nc", 2, 2);
        line_of("a\r\nb\r\nc", 2, 2);
        line_of("a\rb\rc", 4, 3);
        line_of("a\n\n\nb", 1, 4);
        line_of("a\n\n\nb", 2, 4);
    }

    #[track_caller]
    fn open_quote(text: &str, expected: Option<(u64, u64)>) {
        let mut scan = QuoteScan::new(b',');
        text.bytes().for_each(|byte| scan.byte(byte));
        assert_eq!((scan.state == State::Quoted).then_some((scan.opened_record, scan.opened_line)), expected);
    }

    #[test]
    fn an_open_quote_is_found_where_it_was_opened() {
        open_quote("a,b\n\"1\",2\n", None);
        open_quote("a,b\n\n1,\"2\n3,4\n", Some((1, 3)));
        open_quote("a,b\n5\",\"2\"\"\n", Some((1, 2)));
        open_quote("a,b\n5\",2\n", None);
        open_quote("a,b\r\n1,2\r\n\"3,4", Some((2, 3)));
    }
}
