//! Systems as pictures: a flow chart for two classes, a table of mistakes for more, dots on an axis per system for groups, a table of
//! attributes for candidates of any kind.
//!
//! Both systems of a pair are always drawn on the same scale with the same colours. What is drawn is hidden from screen
//! readers, which get a table with the same numbers.

pub(crate) mod attributes;
mod flow;
mod groups;
mod kinds;

pub use flow::of_words as flow_of_words;

use crate::language::{Language, fill};
use crate::sentence;
use equipoise_study::Study;
use equipoise_study::shown::Shown;
use equipoise_study::study::Variant;

/// Where templates begin what is folded away.
const FOLDED: &str = "<details id=\"all-numbers\">";

/// The kinds of picture there are: one for every kind of thing that is compared. To add one, add a file and a line to every
/// match below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Picture {
    /// Two classes.
    Flow,
    /// More classes.
    Kinds,
    /// Groups.
    Groups,
    /// Candidates with attributes.
    Attributes,
}

impl Picture {
    fn of(classes: usize, groups: usize) -> Self {
        match (groups, classes) {
            (_, 0) => Self::Attributes,
            (2.., _) => Self::Groups,
            (_, 3..) => Self::Kinds,
            _ => Self::Flow,
        }
    }

    fn of_pair(shown: &Shown) -> Self {
        Self::of(shown.classes, shown.groups)
    }
}

/// The picture of a pair as HTML.
pub fn pair(study: &Study, shown: &Shown, variant: Variant, language: Language) -> String {
    match Picture::of_pair(shown) {
        Picture::Attributes => attributes::html(study, shown, language),
        Picture::Groups => groups::html(study, shown, language),
        Picture::Kinds => kinds::html(study, shown, language),
        Picture::Flow => {
            let systems = [("a", "A", &shown.a[..]), ("b", "B", &shown.b[..])];
            let drawn =
                systems.map(|(id, letter, cells)| flow::html(study, cells, id, letter, variant, language));
            format!("<div class=\"systems\">{}</div>", drawn.concat())
        }
    }
}

/// The picture of a pair, and what is folded away under the answers: all numbers, where there is more than the picture shows.
pub fn asked(study: &Study, shown: &Shown, variant: Variant, language: Language) -> [String; 2] {
    let drawn = pair(study, shown, variant, language);
    let at = drawn.find(FOLDED).unwrap_or(drawn.len());
    let (picture, folded) = drawn.split_at(at);
    [picture.to_owned(), folded.to_owned()]
}

/// One system alone, to learn reading it.
pub fn single(study: &Study, shown: &Shown, language: Language) -> String {
    match Picture::of_pair(shown) {
        // Nothing is taught about a table of numbers.
        Picture::Attributes => String::new(),
        Picture::Groups => groups::single(study, shown, language),
        Picture::Kinds => kinds::single(study, shown, language),
        Picture::Flow => {
            let drawn = flow::html(study, &shown.a, "a", "A", Variant::Flow, language);
            format!("<div class=\"systems one\">{drawn}</div>")
        }
    }
}

/// A bar of so much of its track, in per cent.
pub(crate) fn meter(width: f64) -> String {
    format!(
        "<svg class=\"meter\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"track\" width=\"100\" height=\"8\"/><rect class=\"fill\" width=\"{width:.1}\" height=\"8\"/></svg>"
    )
}

/// How to read the picture, a sentence each.
pub fn explained(study: &Study, language: Language, people: u64) -> Vec<String> {
    let words = language.words();
    let count = language.numbers().count(people);
    let values = [("count", &*count), ("people", study.task.people.r#in(language.tag()))];
    match Picture::of(study.task.classes.len(), study.task.groups.len()) {
        Picture::Attributes => vec![],
        Picture::Groups => vec![words.learn_groups.to_owned(), words.learn_gap.to_owned()],
        Picture::Kinds => vec![fill(words.learn_kinds, &values), words.learn_meter.to_owned()],
        Picture::Flow => vec![words.learn_truth.to_owned(), words.learn_prediction.to_owned()],
    }
}

/// The difference between the systems of a pair, in words.
pub fn difference(study: &Study, shown: &Shown, missed_first: bool, language: Language) -> String {
    match Picture::of_pair(shown) {
        Picture::Attributes => attributes::difference(study, shown, language),
        Picture::Groups => groups::difference(study, shown, language),
        Picture::Kinds | Picture::Flow => sentence::difference(study, shown, missed_first, language),
    }
}

/// Whether the picture can show rates besides counts.
pub fn has_rates(shown: &Shown) -> bool {
    matches!(Picture::of_pair(shown), Picture::Flow | Picture::Kinds)
}

/// Whether the picture shows what is correct besides the mistakes, and so can leave it out.
pub fn has_correct_ends(shown: &Shown) -> bool {
    Picture::of_pair(shown) == Picture::Flow
}
