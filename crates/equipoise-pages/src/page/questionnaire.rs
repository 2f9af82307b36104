//! Questions about the participant.

use super::{Frame, Problem};
use askama::Template;
use equipoise_study::Study;
use equipoise_study::study::{Item, ItemKind, Position};

/// A part of the questionnaire.
#[derive(Debug, Template)]
#[template(path = "questionnaire.html")]
pub struct Questionnaire {
    frame: Frame,
    title: &'static str,
    position: &'static str,
    items: Vec<Field>,
    problems: Vec<Problem>,
}

/// An item as it is on the page.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub id: String,
    /// The question.
    pub question: String,
    /// How it is answered.
    pub control: Control,
    /// Whether one may rather not say.
    pub sensitive: bool,
    /// What was typed.
    pub value: String,
    /// What was chosen.
    pub chosen: Vec<usize>,
    /// Whether it was rather not said.
    pub declined: bool,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// How an item is answered.
#[derive(Debug)]
pub enum Control {
    /// A number.
    Number {
        /// The least.
        least: String,
        /// The most.
        most: String,
    },
    /// One of several.
    Single {
        /// What can be chosen.
        options: Vec<String>,
    },
    /// Any of several.
    Multiple {
        /// What can be chosen.
        options: Vec<String>,
    },
    /// Free text.
    Text {
        /// The most characters.
        most: usize,
    },
    /// A step on a scale.
    Scale {
        /// How many steps.
        steps: usize,
        /// What the first means.
        low: String,
        /// What the last means.
        high: String,
    },
}

impl Field {
    /// Whether one of several is chosen, so that rather not to say is one of them.
    fn has_radios(&self) -> bool {
        matches!(self.control, Control::Single { .. } | Control::Scale { .. })
    }

    /// An item that is not answered yet.
    pub fn empty(item: &Item, language: crate::language::Language) -> Self {
        let tag = language.tag();
        let texts =
            |options: &[equipoise_study::Text]| options.iter().map(|o| o.r#in(tag).to_owned()).collect();
        let number = |x: f64| x.to_string().replace('.', language.numbers().decimal);
        let control = match &item.kind {
            ItemKind::Number { least, most } => {
                Control::Number { least: number(*least), most: number(*most) }
            }
            ItemKind::Single { options } => Control::Single { options: texts(options) },
            ItemKind::Multiple { options } => Control::Multiple { options: texts(options) },
            ItemKind::Text { most } => Control::Text { most: *most },
            ItemKind::Scale { steps, low, high } => Control::Scale {
                steps: *steps,
                low: low.r#in(tag).to_owned(),
                high: high.r#in(tag).to_owned(),
            },
        };
        Self {
            id: item.id.clone(),
            question: item.question.r#in(tag).to_owned(),
            control,
            sensitive: item.sensitive,
            value: String::new(),
            chosen: vec![],
            declined: false,
            problem: None,
        }
    }
}

impl Questionnaire {
    /// All items of a position, unanswered.
    pub fn new(frame: Frame, study: &Study, position: Position) -> Self {
        let items = study.items(position).map(|item| Field::empty(item, frame.language)).collect();
        Self::with(frame, position, items)
    }

    /// Items as they were sent, with what is wrong with them.
    pub fn with(frame: Frame, position: Position, items: Vec<Field>) -> Self {
        let words = frame.words();
        let problems = items
            .iter()
            .filter_map(|item| {
                Some((item.id.clone(), format!("{} {}", item.question, item.problem.as_ref()?)))
            })
            .collect();
        let (title, position) = match position {
            Position::Before => (words.questionnaire_before, "before"),
            Position::Task => (words.questionnaire_task, "task"),
            Position::After => (words.questionnaire_after, "after"),
        };
        Self { frame, title, position, items, problems }
    }
}
