//! Systems as pictures: a flow chart for two classes, a table of mistakes for more, dots on a scale for groups.
//!
//! Both systems of a pair are always drawn on the same scale with the same colours. What is drawn is hidden from screen
//! readers, which get a table with the same numbers.

mod flow;
mod groups;
mod kinds;

use crate::language::Language;
use crate::sentence;
use equipoise_study::Study;
use equipoise_study::shown::Shown;
use equipoise_study::study::Variant;

/// The picture of a pair as HTML.
pub fn pair(study: &Study, shown: &Shown, variant: Variant, language: Language) -> String {
    if shown.groups > 1 {
        groups::html(study, shown, language)
    } else if shown.classes > 2 {
        kinds::html(study, shown, language)
    } else {
        let systems = [("a", "A", &shown.a[..]), ("b", "B", &shown.b[..])];
        let drawn =
            systems.map(|(id, letter, cells)| flow::html(study, cells, id, letter, variant, language));
        format!("<div class=\"systems\">{}</div>", drawn.concat())
    }
}

/// One system alone, to learn reading it.
pub fn single(study: &Study, shown: &Shown, language: Language) -> String {
    if shown.groups > 1 || shown.classes > 2 {
        return pair(study, shown, Variant::Flow, language);
    }
    let drawn = flow::html(study, &shown.a, "a", "A", Variant::Flow, language);
    format!("<div class=\"systems one\">{drawn}</div>")
}

/// The difference between the systems of a pair, in words.
pub fn difference(study: &Study, shown: &Shown, missed_first: bool, language: Language) -> String {
    match shown.groups {
        1 => sentence::difference(study, shown, missed_first, language),
        _ => groups::difference(study, shown, language),
    }
}

/// Whether the picture can show rates besides counts.
pub fn has_rates(shown: &Shown) -> bool {
    shown.groups == 1
}

/// Whether the picture shows what is correct besides the mistakes, and so can leave it out.
pub fn has_correct_ends(shown: &Shown) -> bool {
    shown.groups == 1 && shown.classes == 2
}
