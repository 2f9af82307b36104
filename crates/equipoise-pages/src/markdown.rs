//! The texts of researchers: paragraphs, lists, and bold words. No HTML gets through.

use equipoise_plot::escape;

/// A text as HTML. Blank lines end paragraphs, lines that begin with `- ` are a list, `**two stars**` are bold.
pub fn html(text: &str) -> String {
    let mut html = String::new();
    for block in text.replace("\r\n", "\n").split("\n\n").filter(|block| !block.trim().is_empty()) {
        let (mut paragraph, mut list) = (vec![], vec![]);
        for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix("- ") {
                Some(item) => list.push(item.to_owned()),
                // A line after an item goes on with it.
                None => match list.last_mut() {
                    Some(item) => *item = format!("{item} {line}"),
                    None => paragraph.push(line),
                },
            }
        }
        if !paragraph.is_empty() {
            html.push_str(&format!("<p>{}</p>\n", inline(&paragraph.join(" "))));
        }
        if !list.is_empty() {
            let items: String = list.iter().map(|item| format!("<li>{}</li>", inline(item))).collect();
            html.push_str(&format!("<ul>{items}</ul>\n"));
        }
    }
    html
}

fn inline(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split("**").collect();
    // An odd number of stars leaves the last pair as it is.
    let pairs = (parts.len() - 1) / 2;
    let mut html = parts[0].to_owned();
    for (place, part) in parts.iter().enumerate().skip(1) {
        let mark = match (place <= 2 * pairs, place % 2 == 1) {
            (false, _) => "**",
            (true, true) => "<strong>",
            (true, false) => "</strong>",
        };
        html.push_str(mark);
        html.push_str(part);
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lists_and_bold_words() {
        assert_eq!(
            html("One\nline.\n\nFirst:\n- a **b**\n- c\n  d\n\n\n2 ** 3"),
            "<p>One line.</p>\n<p>First:</p>\n<ul><li>a <strong>b</strong></li><li>c d</li></ul>\n<p>2 ** 3</p>\n"
        );
    }

    #[test]
    fn markup_stays_text() {
        let hostile = "<script>alert(1)</script> **<b onclick='x'>** \"&amp;";
        let page = html(hostile);
        assert!(!page.contains("<script") && !page.contains("<b ") && page.contains("&amp;amp;"), "{page}");
    }
}
