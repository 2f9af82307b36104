//! Tables for the terminal: a line under the headings, numbers to the right, never wider than the window.

use crate::terminal::Terminal;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

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

    /// The table as Markdown has it.
    pub fn markdown(&self) -> String {
        let cell = |text: &String| text.replace('|', "\\|");
        let line =
            |cells: &[String]| format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
        let rule = |n: usize| if self.is_numeric(n) { "---:" } else { "---" };
        let rules: Vec<String> = (0..self.headings.len()).map(|n| rule(n).to_owned()).collect();
        let mut text = line(&self.headings) + &line(&rules);
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }

    /// The table as HTML has it.
    pub fn html(&self) -> String {
        let cell = |tag: &str, n: usize, text: &str| {
            let class = if self.is_numeric(n) { " class=\"n\"" } else { "" };
            // A heading without words is none.
            let tag = if text.is_empty() { "td" } else { tag };
            format!("<{tag}{class}>{}</{tag}>", equipoise_plot::escape(text))
        };
        let line = |tag: &str, cells: &[String]| -> String {
            let cells: String = cells.iter().enumerate().map(|(n, text)| cell(tag, n, text)).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let rows: String = self.rows.iter().map(|row| line("td", row)).collect();
        format!("<table>\n<thead>{}</thead>\n<tbody>{rows}</tbody></table>\n", line("th", &self.headings))
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let line =
            |cells: &Vec<String>| cells.iter().map(|cell| field(cell)).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.headings).chain(&self.rows).map(line).collect()
    }

    /// The width of a column whose heading may break between words.
    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        let words = self.headings.get(column).into_iter().flat_map(|heading| heading.split(' '));
        cells.chain(words).map(|text| text.chars().count()).max().unwrap_or(0)
    }

    fn longest_word(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let words = cells.chain(self.headings.get(column)).flat_map(|text| text.split(' '));
        words.map(|word| word.chars().count()).max().unwrap_or(0)
    }

    /// A column of numbers, some of which may be missing.
    fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        cells().any(is_number) && cells().all(|cell| is_number(cell) || ["", "-", "–"].contains(&cell))
    }
}

/// A field of a CSV line.
pub fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Cells up to this many characters stay on one line, and headings wrap instead.
const UNBROKEN: usize = 16;

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
            // Longer cells break between words, and inside of one only where it is longer than that, too.
            let least = match self.widest(n) {
                widest if widest <= UNBROKEN => widest,
                _ => self.longest_word(n).min(UNBROKEN),
            };
            let with_padding = u16::try_from(least + 2).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(with_padding)));
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
    fn other_forms_have_the_same_cells() {
        let mut table = Table::new(TERMINAL, ["a|b", "n"]);
        table.row(["x, \"y\"", "1.5"]).row(["<z>", "2"]);
        assert_eq!(table.markdown(), "| a\\|b | n |\n| --- | ---: |\n| x, \"y\" | 1.5 |\n| <z> | 2 |\n");
        assert_eq!(table.csv(), "a|b,n\n\"x, \"\"y\"\"\",1.5\n<z>,2\n");
        let html = table.html();
        assert!(html.contains("<td>&lt;z&gt;</td><td class=\"n\">2</td>"), "{html}");
    }

    #[test]
    fn long_texts_wrap_within_the_width() {
        let mut table = Table::new(TERMINAL, ["id", "remark"]);
        table.row(["a1", &"every word counts ".repeat(20)]);
        assert!(table.to_string().lines().count() > 3);
        assert!(table.to_string().lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn short_cells_stay_whole_when_headings_have_to_wrap() {
        let narrow = Terminal { width: 40, ..TERMINAL };
        let mut table = Table::new(narrow, ["a long heading", "another long heading", "a third one"]);
        table.row(["1,234,567", "4.5 to 90", "no"]);
        let text = table.to_string();
        assert!(text.contains("1,234,567") && text.contains("4.5 to 90"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
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
