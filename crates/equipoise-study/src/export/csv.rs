//! Comma-separated values that survive spreadsheets (RS-14).

use super::{Cell, Table};

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
    // Programs take the end of a text for it, and no text has one in it.
    let text = text.replace('\0', "\u{fffd}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_stay_as_they_are() {
        for text in ["plain", "a'b", "x = y", "1-2"] {
            assert_eq!(quoted(text), text);
        }
        assert_eq!(quoted("a\0b"), "a\u{fffd}b");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
