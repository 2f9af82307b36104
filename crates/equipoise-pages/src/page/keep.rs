//! The result as a picture to keep: one file that needs nothing else, on paper as on a screen.

use super::result::Told;
use crate::language::Language;
use equipoise_plot::escape;

const WIDTH: f64 = 720.0;
/// Characters that fit on a line of the answer, and of what is below it.
const LARGE: usize = 50;
const SMALL: usize = 84;

const STYLE: &str = "text{font:15px system-ui,sans-serif;fill:#1c2530}.large{font-size:22px;font-weight:600}\
    .value{font-weight:700}.soft{fill:#4d5b69}.grid{stroke:#c3cad2}.even{stroke:#76828f;stroke-dasharray:4 3}\
    .span{stroke-width:6;stroke-linecap:round}.span.found{stroke:#b9c8dd}.span.guess{stroke:#c3cad2;stroke-width:3}\
    .dot.found{fill:#2b4a7a}.dot.guess{fill:#fff;stroke:#2b4a7a;stroke-width:2.5}";

/// The file.
pub(super) fn picture(told: &Told, study: &str, receipt: &str, language: Language) -> String {
    let (above, below) = told.paragraphs();
    let mut y = 44.0;
    let mut drawn = format!("<text class=\"soft\" x=\"24\" y=\"{y}\">{}</text>", escape(study));
    y += 36.0;
    let mut write = |text: &str, class: &str, fits: usize, step: f64, y: &mut f64| {
        for line in wrapped(text, fits) {
            drawn += &format!("<text class=\"{class}\" x=\"24\" y=\"{y}\">{}</text>", escape(&line));
            *y += step;
        }
    };
    for (n, paragraph) in above.iter().enumerate() {
        match n {
            0 => write(paragraph, "large", LARGE, 30.0, &mut y),
            _ => write(paragraph, "soft", SMALL, 24.0, &mut y),
        }
    }
    let mut rows = String::new();
    if let Some(axis) = told.axis() {
        let (marks, end) = axis.fixed(WIDTH, y, language);
        (rows, y) = (marks, end + 24.0);
    }
    for paragraph in &below {
        write(paragraph, "", SMALL, 24.0, &mut y);
    }
    y += 12.0;
    write(&format!("{}: {receipt}", language.words().receipt_title), "soft", SMALL, 24.0, &mut y);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" width=\"{WIDTH}\" height=\"{y}\" lang=\"{}\">\
         <style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{drawn}{rows}</svg>\n",
        language.tag()
    )
}

/// Lines of at most so many characters, broken between words.
fn wrapped(text: &str, fits: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_break_between_words_and_nothing_is_lost() {
        let text = "You accept about 6.2 extra false alarms to avoid one missed cancer.";
        let lines = super::wrapped(text, 30);
        assert!(lines.iter().all(|line| line.chars().count() <= 30), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }
}
