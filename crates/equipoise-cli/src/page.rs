//! What a command prints for people, in the form they asked for: text, Markdown, HTML, or its tables as CSV.

use crate::table::Table;
use crate::terminal::Terminal;
use clap::ValueEnum;
use equipoise_plot::escape;
use std::io::{Result, Write};

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // No help of their own: long and short help would differ.
    Text,
    Markdown,
    // One page for a browser.
    Html,
    // The tables alone, with an empty line between them.
    Csv,
    Json,
}

/// Tables and sentences on an output, one after the other.
pub struct Page<'a> {
    out: &'a mut dyn Write,
    format: Format,
    /// What the terminal can show.
    pub terminal: Terminal,
    tables: usize,
    /// What the tables are called where they are a part of somebody else's page.
    part: Option<String>,
}

impl<'a> Page<'a> {
    /// A page that has begun.
    pub fn new(format: Format, title: &str, out: &'a mut dyn Write) -> Result<Self> {
        if format == Format::Html {
            let title = escape(title);
            writeln!(
                out,
                "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>{STYLE}</style>\
                 </head><body>\n<h1>{title}</h1>"
            )?;
        }
        Ok(Self { out, format, terminal: Terminal::detect(), tables: 0, part: None })
    }

    /// What is printed, as a part of a page for browsers that is about `title`.
    pub fn part(title: &str, write: impl FnOnce(&mut Page) -> anyhow::Result<()>) -> anyhow::Result<String> {
        let mut out = vec![];
        let (format, terminal) = (Format::Html, Terminal::detect());
        let mut page = Page { out: &mut out, format, terminal, tables: 0, part: Some(title.to_owned()) };
        write(&mut page)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Ends it.
    pub fn end(self) -> Result<()> {
        if self.format == Format::Html { writeln!(self.out, "</body></html>") } else { Ok(()) }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) -> Result<()> {
        self.tables += 1;
        match self.format {
            Format::Markdown => write!(self.out, "{}", table.markdown()),
            Format::Html => match &self.part {
                None => write!(self.out, "{}", table.html()),
                // Wide tables scroll by themselves, and can be reached with keys for it.
                Some(title) => write!(
                    self.out,
                    "<div class=\"scroll\" role=\"region\" aria-label=\"{}, table {}\" tabindex=\"0\">{}</div>",
                    escape(title),
                    self.tables,
                    table.html()
                ),
            },
            Format::Csv => {
                let gap = if self.tables > 1 { "\n" } else { "" };
                write!(self.out, "{gap}{}", table.csv())
            }
            Format::Text | Format::Json => write!(self.out, "{table}"),
        }
    }

    /// An empty line, which keeps things apart where nothing else does.
    pub fn gap(&mut self) -> Result<()> {
        if matches!(self.format, Format::Text | Format::Markdown) { writeln!(self.out) } else { Ok(()) }
    }

    /// A sentence under its name.
    pub fn entry(&mut self, indent: usize, name: &str, text: &str) -> Result<()> {
        match self.format {
            Format::Markdown if name.is_empty() => writeln!(self.out, "{text}\n"),
            Format::Markdown => writeln!(self.out, "**{name}:** {text}\n"),
            Format::Html => {
                writeln!(self.out, "<p><strong>{}</strong> {}</p>", escape(name), escape(text))
            }
            Format::Csv => Ok(()),
            Format::Text | Format::Json => write!(self.out, "{}", self.terminal.entry(indent, name, text)),
        }
    }

    /// What is HTML already.
    pub fn raw(&mut self, html: &str) -> Result<()> {
        writeln!(self.out, "{html}")
    }

    /// Sentences that go on from line to line.
    pub fn paragraph(&mut self, text: &str) -> Result<()> {
        match self.format {
            Format::Markdown => writeln!(self.out, "{text}\n"),
            Format::Html => writeln!(self.out, "<p>{}</p>", escape(text).replace('\n', "<br>\n")),
            Format::Csv => Ok(()),
            Format::Text | Format::Json => writeln!(self.out, "{}", self.terminal.paragraph(text)),
        }
    }

    /// The same, stressed.
    pub fn strong(&mut self, text: &str) -> Result<()> {
        match self.format {
            Format::Markdown => writeln!(self.out, "**{text}**\n"),
            Format::Html => writeln!(self.out, "<p><strong>{}</strong></p>", escape(text)),
            Format::Csv => Ok(()),
            Format::Text | Format::Json => {
                let text = self.terminal.paragraph(text);
                writeln!(self.out, "{}", self.terminal.bold(&text))
            }
        }
    }
}

/// Plain tables that read well on paper and in the dark.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;text-align:left;vertical-align:top}\
th{border-bottom:1px solid}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}h1{font-size:1.3rem}";
