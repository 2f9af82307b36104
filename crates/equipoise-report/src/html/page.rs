//! The parts a page is made of: escaped text, tables, numbered notes about rows of the log.

use crate::Rows;
use equipoise_plot::escape;
use std::fmt::Write as _;

/// A page that grows, with the rows its numbers come from.
#[derive(Debug, Default)]
pub struct Page {
    body: String,
    notes: Vec<String>,
}

impl Page {
    /// Markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    /// A section's heading, by its level.
    pub fn heading(&mut self, level: usize, text: &str) {
        self.raw(&format!("<h{level}>{}</h{level}>", escape(text)));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.raw(&format!("<p>{}</p>", escape(text)));
    }

    /// A paragraph with a note of the rows behind it.
    pub fn sourced(&mut self, text: &str, rows: &Rows) {
        let note = self.note(rows);
        self.raw(&format!("<p>{}{note}</p>", escape(text)));
    }

    /// A list.
    pub fn list<'a>(&mut self, items: impl IntoIterator<Item = &'a str>) {
        let items: String = items.into_iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        if !items.is_empty() {
            self.raw(&format!("<ul>{items}</ul>"));
        }
    }

    /// A reference to the rows a number comes from; the same rows have the same number.
    pub fn note(&mut self, rows: &Rows) -> String {
        if rows.0.is_empty() {
            return String::new();
        }
        let text = rows.text();
        let place = match self.notes.iter().position(|note| *note == text) {
            Some(place) => place,
            None => {
                self.notes.push(text);
                self.notes.len() - 1
            }
        };
        let number = place + 1;
        format!("<a class='note' href='#rows-{number}' aria-label='rows {number}'>[{number}]</a>")
    }

    /// What all notes say.
    pub fn notes(&mut self) {
        let mut items = String::new();
        for (n, note) in self.notes.iter().enumerate() {
            let number = n + 1;
            write!(items, "<li id='rows-{number}'>{}</li>", escape(note)).expect("a string takes everything");
        }
        self.raw(&format!("<ol class='rows'>{items}</ol>"));
    }

    /// A chart with what it shows in a sentence.
    pub fn chart(&mut self, svg: &str, caption: &str) {
        self.raw(&format!("<figure>{svg}<figcaption>{}</figcaption></figure>", escape(caption)));
    }

    /// A table: cells are text, the first of each row is its heading.
    pub fn table(&mut self, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
        let markup = table(caption, headings, rows);
        self.raw(&markup);
    }

    /// The table behind a chart, folded.
    pub fn numbers(&mut self, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
        let table = table(caption, headings, rows);
        self.raw(&format!("<details><summary>The numbers: {}</summary>{table}</details>", escape(caption)));
    }

    /// The whole document.
    pub fn document(&self, title: &str, style: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n\
             <meta name='viewport' content='width=device-width, initial-scale=1'>\n\
             <meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name='color-scheme' content='light dark'>\n<title>{}</title>\n<style>{style}</style>\n</head>\n\
             <body>\n<main>\n{}</main>\n</body>\n</html>\n",
            escape(title),
            // A sign at the start of a line has lost its number.
            self.body.replace(" %", "\u{a0}%")
        )
    }
}

fn table(caption: &str, headings: &[&str], rows: &[Vec<String>]) -> String {
    let heads: String =
        headings.iter().map(|head| format!("<th scope='col'>{}</th>", escape(head))).collect();
    let row = |cells: &Vec<String>| {
        let cell = |(n, cell): (usize, &String)| match n {
            0 => format!("<th scope='row'>{}</th>", escape(cell)),
            _ => format!("<td>{}</td>", escape(cell)),
        };
        format!("<tr>{}</tr>", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let body: String = rows.iter().map(row).collect();
    let caption = escape(caption);
    // A wide table scrolls by itself, also by keyboard.
    format!(
        "<div class='scroll' tabindex='0' role='group' aria-label='{caption}'><table><caption>{caption}</caption>\
         <thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

/// The style sheet: light, dark and print.
pub const STYLE: &str = "\
:root{--back:#fff;--text:#1b1f24;--soft:#4a525b;--line:#c9ced4;--grid:#e4e7eb;--box:#f3f5f7;\
--c0:#0969b4;--c1:#c2410c;--c2:#0f7b5f;--c3:#8a3fa0;--c4:#7a6200;--c5:#50575f}\
@media (prefers-color-scheme:dark){:root{--back:#15191e;--text:#e6e9ed;--soft:#b4bcc5;--line:#4a535d;--grid:#2b323a;\
--box:#1f252c;--c0:#5fb3f5;--c1:#ff9057;--c2:#45d1a3;--c3:#d8a0ea;--c4:#e3c447;--c5:#b9c1ca}}\
*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif}\
main{max-width:46rem;margin:0 auto;padding:1rem 1rem 4rem}h1{font-size:1.7rem;line-height:1.2;margin:1rem 0 .3rem}\
h2{font-size:1.25rem;margin:2.4rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}\
h3{font-size:1.05rem;margin:1.6rem 0 .3rem}h4{font-size:1rem;margin:1rem 0 .2rem}p,ul,ol{margin:.5rem 0}\
.soft,figcaption,caption{color:var(--soft)}.answer{background:var(--box);border-left:4px solid var(--c0);padding:.6rem 1rem;\
margin:1rem 0}.answer p:first-child{font-size:1.2rem;font-weight:600;line-height:1.4}code{overflow-wrap:anywhere}\
a{color:var(--c0)}a.note{display:inline-block;min-width:24px;min-height:24px;line-height:24px;text-align:center;font-size:.75rem;\
margin-left:.15rem}figure{margin:1rem 0}figcaption{font-size:.9rem;max-width:34rem}.chart{display:block;width:100%;\
max-width:27rem;height:auto}.chart text{fill:var(--text);font:12.5px system-ui,sans-serif;paint-order:stroke;stroke:var(--back);stroke-width:3px;\
stroke-linejoin:round}.axis{stroke:var(--soft);fill:none}\
.grid{stroke:var(--grid);fill:none}.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.thin{stroke-width:1}.dash{stroke-dasharray:5 4}.area{stroke:none;opacity:.18}.dot{stroke:var(--back);stroke-width:1}\
.line.s0{stroke:var(--c0)}.line.s1{stroke:var(--c1)}.line.s2{stroke:var(--c2)}.line.s3{stroke:var(--c3)}\
.line.s4{stroke:var(--c4)}.line.s5{stroke:var(--c5)}.area.s0,.dot.s0,.bar.s0{fill:var(--c0)}.area.s1,.dot.s1,.bar.s1{fill:var(--c1)}\
.area.s2,.dot.s2,.bar.s2{fill:var(--c2)}.area.s3,.dot.s3,.bar.s3{fill:var(--c3)}.area.s4,.dot.s4,.bar.s4{fill:var(--c4)}\
.area.s5,.dot.s5,.bar.s5{fill:var(--c5)}.scroll{overflow-x:auto;margin:.8rem 0}table{border-collapse:collapse;font-size:.92rem}\
caption{text-align:left;padding:.2rem 0;font-size:.9rem}th,td{text-align:left;padding:.3rem .7rem .3rem 0;vertical-align:top;\
border-bottom:1px solid var(--line)}td{font-variant-numeric:tabular-nums;white-space:nowrap}thead th{font-weight:600}tbody th{font-weight:500}\
summary{cursor:pointer;min-height:24px;color:var(--soft);font-size:.9rem}.rows{font-size:.85rem;overflow-wrap:anywhere}\
.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;font-size:.9rem}.key svg{width:28px;height:12px;\
margin-right:.35rem;vertical-align:middle}@media print{:root{--back:#fff;--text:#000;--soft:#333;--line:#999;--grid:#ddd;--box:#fff;\
--c0:#0969b4;--c1:#c2410c;--c2:#0f7b5f;--c3:#8a3fa0;--c4:#7a6200;--c5:#50575f}body{font-size:10.5pt}main{max-width:none;padding:0}\
h2,h3,h4{break-after:avoid}figure,table,.answer,li{break-inside:avoid}.chart{max-width:12cm}.scroll{overflow:visible}\
details{display:none}a{color:inherit;text-decoration:none}@page{margin:2cm}}";
