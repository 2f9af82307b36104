//! Tables for the terminal: a line under the headings, numbers to the right, never wider than the window.

use crate::terminal::Terminal;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

/// Rows of text under headings.
#[derive(Debug, Clone)]
pub struct Table {
    terminal: Terminal,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(terminal: Terminal, headings: impl IntoIterator<Item = S>) -> Self {
        Self { terminal, headings: headings.into_iter().map(Into::into).collect(), rows: vec![] }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// A column of numbers, some of which may be missing.
    fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        cells().any(is_number) && cells().all(|cell| is_number(cell) || ["", "-", "–"].contains(&cell))
    }
}

/// Whether a cell reads as a number: perhaps a sign, a percentage, a range or a unit at its end.
fn is_number(cell: &str) -> bool {
    cell.trim_start_matches(['+', '-', '−', '<', '≤', '~', '.']).starts_with(|c: char| c.is_ascii_digit())
        && !cell.contains(|c: char| c.is_alphabetic() && !"einfs".contains(c))
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = if self.terminal.unicode { '─' } else { '-' };
        let mut table = comfy_table::Table::new();
        table
            .load_style(TableStyle::new().header_separator(LineStyle::none().fill(line).junction(line)))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(self.terminal.width).unwrap_or(u16::MAX))
            .set_header(self.headings.iter())
            .add_rows(self.rows.iter().map(|row| row.iter()));
        for (n, column) in table.column_iter_mut().enumerate() {
            if self.is_numeric(n) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in table.lines() {
            writeln!(f, "{}", row.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Terminal = Terminal { width: 100, colour: false, unicode: false };

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let mut table = Table::new(TERMINAL, ["entry", "weight"]);
        table.row(["missed", "6.1"]).row(["false alarm", "-"]).row(["both", "-12.25"]);
        let lines: Vec<String> = table.to_string().lines().map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                " entry         weight",
                "----------------------",
                " missed           6.1",
                " false alarm        -",
                " both          -12.25",
            ]
        );
    }

    #[test]
    fn long_texts_wrap_within_the_width() {
        let mut table = Table::new(TERMINAL, ["id", "remark"]);
        table.row(["a1", &"every word counts ".repeat(20)]);
        assert!(table.to_string().lines().count() > 3);
        assert!(table.to_string().lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn words_are_not_numbers() {
        for word in ["", "-", "k=2", "3 of 4 rows", "none"] {
            assert!(!is_number(word), "{word}");
        }
        for number in ["1", "-1.5", "+3", "1e-9", "12 %", ".5", "28 (+1)", "1,000", "0.3 s"] {
            assert!(is_number(number), "{number}");
        }
    }
}
