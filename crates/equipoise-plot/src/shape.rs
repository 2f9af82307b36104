//! The smallest parts: marks, text, numbers.

use std::fmt::Write as _;

/// One box of a box plot, in pixels.
pub(crate) struct Box {
    pub(crate) centre: f64,
    pub(crate) width: f64,
}

impl Box {
    pub(crate) fn draw(&self, svg: &mut String, five: [f64; 5], style: usize) {
        let [min, q1, median, q3, max] = five.map(px);
        let height = px((five[1] - five[3]).abs().max(0.5));
        let (left, right) = (px(self.centre - 0.5 * self.width), px(self.centre + 0.5 * self.width));
        let (cap_left, cap_right) = (px(self.centre - 0.2 * self.width), px(self.centre + 0.2 * self.width));
        let centre = px(self.centre);
        let _ = writeln!(
            svg,
            "<path class=\"line s{style}\" d=\"M{centre} {min}V{q1}M{centre} {q3}V{max}\
             M{cap_left} {min}H{cap_right}M{cap_left} {max}H{cap_right}M{left} {median}H{right}\"/>\
             <rect class=\"box s{style} f{style}\" x=\"{left}\" y=\"{q3}\" width=\"{}\" height=\"{height}\"/>",
            px(self.width)
        );
    }
}

/// A mark whose shape, not only its colour, tells the series.
pub(crate) fn dot(svg: &mut String, x: f64, y: f64, style: usize) {
    let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx), px(y + dy));
    let path = match style % 4 {
        0 => {
            let _ =
                writeln!(svg, "<circle class=\"dot f{style}\" cx=\"{}\" cy=\"{}\" r=\"4.6\"/>", px(x), px(y));
            return;
        }
        1 => format!("M{}L{}L{}L{}Z", at(-4.0, -4.0), at(4.0, -4.0), at(4.0, 4.0), at(-4.0, 4.0)),
        2 => format!("M{}L{}L{}Z", at(0.0, -5.4), at(5.0, 3.8), at(-5.0, 3.8)),
        _ => format!("M{}L{}L{}L{}Z", at(0.0, -5.6), at(5.6, 0.0), at(0.0, 5.6), at(-5.6, 0.0)),
    };
    let _ = writeln!(svg, "<path class=\"dot f{style}\" d=\"{path}\"/>");
}

pub(crate) fn text(svg: &mut String, class: &str, x: f64, y: f64, anchor: &str, content: &str) {
    let (x, y, content) = (px(x), px(y), escape(content));
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>"
    );
}

/// A tenth of a pixel is plenty, and keeps files small and equal across machines.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{:.1}", value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Text as it stands in SVG and HTML, in attributes too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML has no way to write the other control characters.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Breaks a text into lines of at most so many characters, between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
