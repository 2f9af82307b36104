//! What the terminal can show: how wide it is, whether it has colours, and whether it knows more than ASCII.

pub use equipoise_plot::wrap;
use std::io::IsTerminal as _;

/// Output never grows wider than this, however wide the window.
pub const WIDEST: usize = 100;

/// How to write for whoever reads standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns to use.
    pub width: usize,
    /// Whether escape codes for colour are welcome.
    pub colour: bool,
    /// Whether lines and arrows may be drawn with characters beyond ASCII.
    pub unicode: bool,
}

impl Terminal {
    /// Asks the environment. Pipes and files get the full width and no colour.
    pub fn detect() -> Self {
        let tty = std::io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = if tty { terminal_size::terminal_size() } else { None };
        Self {
            width: width.map_or(WIDEST, |(width, _)| usize::from(width.0).clamp(40, WIDEST)),
            colour: tty && !set("NO_COLOR") && !dumb,
            unicode: is_unicode(&["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok())),
        }
    }

    /// Stressed text.
    pub fn bold(self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A name in a left column of `indent` columns, and its text, wrapped, to the right of it.
    pub fn entry(self, indent: usize, name: &str, text: &str) -> String {
        let lines = wrap(text, self.width.saturating_sub(indent));
        let name = |n: usize| if n == 0 { name } else { "" };
        lines.iter().enumerate().map(|(n, line)| format!("{:<indent$}{line}\n", name(n))).collect()
    }

    /// A paragraph, broken into lines.
    pub fn paragraph(self, text: &str) -> String {
        wrap(text, self.width).join("\n")
    }
}

/// What people typed, without what a terminal would take for a command, and without what turns the direction of a text.
pub fn visible(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let kept = |c: char| !(c.is_control() || turns(c)) || c == '\n' || c == '\t';
    text.chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect::<String>().into_bytes()
}

/// The first locale that is set decides; without any we assume a terminal of this century.
fn is_unicode(locales: &[Option<String>]) -> bool {
    match locales.iter().flatten().find(|locale| !locale.is_empty()) {
        Some(locale) => locale.to_lowercase().replace('-', "").contains("utf8"),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_sent_no_commands_of_participants() {
        let typed = "1,\"\u{1b}]0;owned\u{7}\u{9b}2J\r\0 plain \u{202e}\u{e9}\u{2066}\"\n";
        let shown = String::from_utf8(visible(typed.as_bytes())).unwrap();
        assert_eq!(
            shown,
            "1,\"\u{fffd}]0;owned\u{fffd}\u{fffd}2J\u{fffd}\u{fffd} plain \u{fffd}\u{e9}\u{fffd}\"\n"
        );
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two  three\nfour", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("unbreakable", 4), ["unbreakable"]);
        assert!(wrap(" ", 4).is_empty());
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        let locale = |name: &str| Some(name.to_owned());
        assert!(is_unicode(&[None, None, locale("en_GB.UTF-8")]));
        assert!(is_unicode(&[locale("C.utf8"), None, locale("C")]));
        assert!(!is_unicode(&[locale("C"), None, locale("en_GB.UTF-8")]));
        assert!(!is_unicode(&[locale(""), locale("de_DE.ISO-8859-1"), None]));
        assert!(is_unicode(&[None, None, None]));
    }

    #[test]
    fn an_entry_continues_below_its_text() {
        let narrow = Terminal { width: 14, colour: false, unicode: true };
        assert_eq!(narrow.entry(6, "Note", "one two three"), "Note  one two\n      three\n");
    }

    #[test]
    fn without_colour_text_stays_as_it_is() {
        let plain = Terminal { width: 80, colour: false, unicode: true };
        assert_eq!(plain.bold("a"), "a");
        assert_eq!(Terminal { colour: true, ..plain }.bold("a"), "\x1b[1ma\x1b[0m");
    }
}
