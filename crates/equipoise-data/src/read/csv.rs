//! CSV: a header line, then rows, with a comma, semicolon or tab between fields.
//!
//! One pass, one reused record, cells parsed in place. Lines are not counted on the way: when a message
//! needs one, the file is read again up to that row, which costs nothing to those without problems.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "counts bytes, rows and lines that were read, which fit in 64 bits"
)]

use super::column::{Cell, Column, Faults};
use super::columns::{Header, Want};
use super::format::Input;
use super::{Source, first_fault};
use crate::error::{Error, Kind, Result, list, plural};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// The delimiters that are told apart, with their names.
const DELIMITERS: [(u8, &str); 3] = [(b',', "comma"), (b';', "semicolon"), (b'\t', "tab")];

/// A CSV file whose header has been read.
pub(crate) struct Csv {
    input: Input,
    /// What stands before the header.
    before: Before,
    delimiter: u8,
    /// Whether numbers have a comma where others have a point.
    decimal_comma: bool,
    header: Header,
}

/// Lines before the header that are not part of the table: comments, and the line by which Excel is told the delimiter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Before {
    bytes: usize,
    lines: u64,
    /// The delimiter that was told.
    delimiter: Option<u8>,
}

impl Csv {
    pub(crate) fn open(input: Input) -> Result<Self> {
        if input.text_head().trim_ascii().is_empty() {
            return Err(Error::new(Kind::Empty, "only blank lines", "a header and rows"));
        }
        let before = before(input.text_head());
        let rest = &input.text_head()[before.bytes..];
        let delimiter = before.delimiter.unwrap_or_else(|| sniff(rest));
        // With a comma between fields "0,3" would be two.
        let decimal_comma = delimiter != b',' && has_decimal_comma(rest, delimiter);
        let mut reader = reader(text(&input, before)?, delimiter);
        let fields = reader.byte_headers().map_err(|error| broken(&input, error, 0))?;
        let header = Header(fields.iter().enumerate().map(column_name).collect::<Result<_>>()?);
        if header.0.iter().all(|name| name.parse::<f64>().is_ok()) {
            let found = format!("the numbers {} in the first line", list(&header.0));
            let error = Error::new(Kind::Column, found, "a header with the names of the columns");
            return Err(error.line(before.lines + 1));
        }
        Ok(Self { input, before, delimiter, decimal_comma, header })
    }

    /// Looks at every quote again: one that is never closed, or closed by another's opening, has swallowed
    /// rows, which must not pass for a field of several lines.
    fn check_quotes(&self) -> Result<()> {
        let mut scan = QuoteScan::new(self.delimiter);
        let all = |byte| {
            scan.byte(byte);
            ControlFlow::Continue(())
        };
        each_byte(text(&self.input, self.before)?, all).map_err(|error| self.input.broken(&error, 0))?;
        let (found, expected, at) = match (scan.stray, scan.open()) {
            (Some(at), _) => ("text after a closing quote", "the next field or row", at),
            (None, Some(at)) => ("a quote that is never closed", "a closing quote", at),
            (None, None) => return Ok(()),
        };
        let error = Error::new(Kind::Format, found, expected).line(self.before.lines + at.line);
        Err(if at.record > 0 { error.row(at.record) } else { error })
    }
}

impl Source for Csv {
    fn format(&self) -> String {
        let (_, delimiter) =
            DELIMITERS.into_iter().find(|&(byte, _)| byte == self.delimiter).unwrap_or((b',', "comma"));
        let comma = if self.decimal_comma { " and decimal commas" } else { "" };
        let before = match self.before.lines {
            0 => String::new(),
            lines => format!(" after {}", plural(lines, "line")),
        };
        self.input.said(&format!(" with a {delimiter} between fields{comma}{before}"))
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], _: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        let mut reader = reader(Watched::new(text(&self.input, self.before)?), self.delimiter);
        let mut columns: Vec<Column> = wants.iter().map(|want| Column::new(want.part)).collect();
        let width = self.header.0.len();
        let mut ragged = Faults::default();
        let (mut record, mut last) = (ByteRecord::new(), ByteRecord::new());
        let mut row = 0;
        while reader.read_byte_record(&mut record).map_err(|error| broken(&self.input, error, row))? {
            if record.len() == width {
                for (want, column) in wants.iter().zip(&mut columns) {
                    let field = record.get(want.position).unwrap_or_default();
                    match self.decimal_comma && want.part.is_number() {
                        true => column.push(row, Cell::Field(&with_a_point(field))),
                        false => column.push(row, Cell::Field(field)),
                    }
                }
            } else {
                ragged.add(Kind::Ragged, row, || plural(record.len() as u64, "field"));
            }
            row += 1;
            std::mem::swap(&mut record, &mut last);
        }
        if reader.get_ref().may_end_in_quotes(&last) || columns.iter().any(has_label_of_several_lines) {
            self.check_quotes()?;
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

    fn texts(&self, positions: &[usize]) -> Option<Result<Vec<Vec<String>>>> {
        let texts = || {
            let mut reader = reader(text(&self.input, self.before)?, self.delimiter);
            let mut texts = vec![Vec::new(); positions.len()];
            let (mut record, mut row) = (ByteRecord::new(), 0);
            while reader.read_byte_record(&mut record).map_err(|error| broken(&self.input, error, row))? {
                for (texts, &position) in texts.iter_mut().zip(positions) {
                    let field = record.get(position).unwrap_or_default();
                    texts.push(String::from_utf8_lossy(field).into_owned());
                }
                row += 1;
            }
            Ok(texts)
        };
        Some(texts())
    }

    fn line(&self, row: u64) -> Option<u64> {
        let mut reader = reader(text(&self.input, self.before).ok()?, self.delimiter);
        let mut record = ByteRecord::new();
        for _ in 0..=row {
            reader.read_byte_record(&mut record).ok()?;
        }
        let line = line_at(text(&self.input, self.before).ok()?, record.position()?.byte())?;
        Some(self.before.lines + line)
    }
}

/// The text of the table, from its header on.
fn text(input: &Input, before: Before) -> Result<Box<dyn Read>> {
    let mut text = input.text()?;
    io::copy(&mut text.by_ref().take(before.bytes as u64), &mut io::sink())
        .map_err(|error| input.broken(&error, 0))?;
    Ok(text)
}

/// Comments before the header, and `sep=;`. A line of a header that begins with `#` has as many fields as the next one.
fn before(head: &[u8]) -> Before {
    let mut before = Before::default();
    let told = first_line(head).trim_ascii();
    if let [b's', b'e', b'p', b'=', delimiter] = *told
        && DELIMITERS.iter().any(|&(known, _)| known == delimiter)
    {
        before = Before { bytes: first_line(head).len(), lines: 1, delimiter: Some(delimiter) };
    }
    let comment = |line: &[u8]| line.starts_with(b"#");
    let (mut bytes, mut lines, mut last) = (before.bytes, before.lines, None);
    loop {
        let line = first_line(&head[bytes..]);
        if line.is_empty() {
            return before;
        }
        if !comment(line) {
            break;
        }
        (bytes, lines, last) = (bytes + line.len(), lines + 1, Some(line));
    }
    let fields = |line: &[u8]| {
        let delimiter = before.delimiter.unwrap_or_else(|| sniff(&head[bytes..]));
        line.iter().filter(|&&byte| byte == delimiter).count()
    };
    match last {
        Some(last) if fields(last) != fields(first_line(&head[bytes..])) => Before { bytes, lines, ..before },
        _ => before,
    }
}

/// The first line with what ends it.
fn first_line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    &text[..end]
}

/// Whether a field below the header is a number with a comma, and none has a point.
fn has_decimal_comma(head: &[u8], delimiter: u8) -> bool {
    let below = &head[first_line(head).len()..];
    let mut found = false;
    for field in below.split(|&byte| byte == delimiter || byte == b'\n') {
        let field = field.trim_ascii();
        let field = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field);
        let field = field.strip_suffix(b"%").unwrap_or(field);
        let spelled_with = |mark: u8| {
            let Some(at) = field.iter().position(|&byte| byte == mark) else { return false };
            let whole = field[..at].strip_prefix(b"-").unwrap_or(&field[..at]);
            let rest = &field[at + 1..];
            !rest.is_empty() && whole.iter().chain(rest).all(u8::is_ascii_digit)
        };
        if spelled_with(b'.') {
            return false;
        }
        found |= spelled_with(b',');
    }
    found
}

/// A number with a point where it has a comma.
fn with_a_point(field: &[u8]) -> Cow<'_, [u8]> {
    match field.iter().filter(|&&byte| byte == b',').count() {
        1 => Cow::Owned(field.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect()),
        _ => Cow::Borrowed(field),
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
        // Quotes after a space are part of the field for CSV, and never meant.
        Ok(name) => {
            let name = name.trim();
            let inside = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            Ok(inside.unwrap_or(name).to_owned())
        }
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
                let of = DELIMITERS.iter().zip(&mut counts).find(|((delimiter, _), _)| *delimiter == byte);
                if let Some((_, count)) = of {
                    *count += 1;
                }
            }
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    DELIMITERS
        .iter()
        .zip(counts)
        .find(|(_, count)| *count == most)
        .map_or(b',', |((delimiter, _), _)| *delimiter)
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
        if n == 0 || buffer.iter().take(n).try_for_each(|&byte| see(byte)).is_break() {
            return Ok(());
        }
    }
}

/// Text that remembers whether a quote has passed and what the last byte was.
struct Watched<R> {
    text: R,
    has_quotes: bool,
    last_byte: u8,
}

impl<R> Watched<R> {
    fn new(text: R) -> Self {
        Self { text, has_quotes: false, last_byte: b'\n' }
    }

    /// The cheap sign that a quote may be open at the end: then the last field, if there is a row at all,
    /// holds everything to the end of the file, its last line end included.
    fn may_end_in_quotes(&self, last: &ByteRecord) -> bool {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let ends_inside = last.iter().next_back().is_none_or(|field| field.iter().any(is_end));
        self.has_quotes && (ends_inside || !is_end(&self.last_byte))
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.text.read(buffer)?;
        let read = buffer.get(..n).unwrap_or_default();
        self.has_quotes = self.has_quotes || read.contains(&b'"');
        self.last_byte = read.last().copied().unwrap_or(self.last_byte);
        Ok(n)
    }
}

fn has_label_of_several_lines(column: &Column) -> bool {
    match column {
        Column::Labels { coder, .. } => coder.met.iter().any(|met| met.name.contains(['\n', '\r'])),
        Column::Numbers { .. } => false,
    }
}

#[derive(PartialEq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    QuoteInQuoted,
}

/// A record, counted from 0 with the header, and the line it is on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct At {
    record: u64,
    line: u64,
}

/// Follows the quoting rules of the reader.
struct QuoteScan {
    delimiter: u8,
    state: State,
    record_is_blank: bool,
    now: At,
    opened: At,
    /// Where a quoted field began that goes on after its closing quote.
    stray: Option<At>,
}

impl QuoteScan {
    fn new(delimiter: u8) -> Self {
        let start = At { record: 0, line: 1 };
        Self {
            delimiter,
            state: State::FieldStart,
            record_is_blank: true,
            now: start,
            opened: start,
            stray: None,
        }
    }

    /// Where a quoted field began that has not ended.
    fn open(&self) -> Option<At> {
        (self.state == State::Quoted).then_some(self.opened)
    }

    fn byte(&mut self, byte: u8) {
        let is_end = matches!(byte, b'\n' | b'\r');
        let in_quotes = self.state == State::Quoted;
        self.state = match (&self.state, byte) {
            (State::FieldStart, b'"') => {
                self.opened = self.now;
                State::Quoted
            }
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::QuoteInQuoted, b'"') => State::Quoted,
            (_, byte) if byte == self.delimiter || is_end => State::FieldStart,
            (State::QuoteInQuoted, _) => {
                self.stray = self.stray.or(Some(self.opened));
                State::Plain
            }
            _ => State::Plain,
        };
        if is_end && !in_quotes {
            self.now.record += u64::from(!self.record_is_blank);
            self.record_is_blank = true;
        } else {
            self.record_is_blank = false;
        }
        self.now.line += u64::from(byte == b'\n');
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
    fn quotes(text: &str, open: Option<(u64, u64)>, stray: Option<(u64, u64)>) {
        let mut scan = QuoteScan::new(b',');
        text.bytes().for_each(|byte| scan.byte(byte));
        let place = |at: At| (at.record, at.line);
        assert_eq!((scan.open().map(place), scan.stray.map(place)), (open, stray));
    }

    #[test]
    fn wrong_quotes_are_found_where_they_were_opened() {
        quotes("a,b\n\"1\",2\n", None, None);
        quotes("a,b\n\n1,\"2\n3,4\n", Some((1, 3)), None);
        quotes("a,b\n5\",\"2\"\"\n", Some((1, 2)), None);
        quotes("a,b\n5\",2\n", None, None);
        quotes("a,b\r\n1,2\r\n\"3,4", Some((2, 3)), None);
        quotes("a,b\n1,\"2\n3,4\n5,\"6\"\n", None, Some((1, 2)));
    }
}
