//! What participants see: a struct per page, filled from a study and a participant, rendered by a template.
//!
//! Nothing here reads a request or writes to the log: a page is a function of its struct.

mod axis;
mod comparison;
mod keep;
mod learn;
mod questionnaire;
mod result;
mod stated;

pub use comparison::{Comparison, Tried};
pub use learn::{Learn, LearnState};
pub use questionnaire::{Control, Field, Questionnaire};
pub use result::{ResultPage, Told, choice_name};
pub use stated::{StatedCost, Typed};

use crate::language::{Language, Words};
use crate::{markdown, sentence};
use askama::Template;
use equipoise_study::study::{Better, End};
use equipoise_study::{Participant, Study};

/// What surrounds every page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The language of the page.
    pub language: Language,
    /// The title of the study.
    pub study: String,
    /// What forms send back to show that they come from our page.
    pub csrf: String,
    /// What makes sending the page's form twice harmless.
    pub key: String,
    /// Whether the visitor is somebody.
    pub inside: bool,
    /// Whether something is stored of them: shows the way to withdraw.
    pub stored: bool,
    /// Whether there is more to come: shows the ways to pause and to move.
    pub goes_on: bool,
    /// Whether the page has help on it.
    pub help: bool,
    /// Whether there is a language to change to.
    pub several_languages: bool,
    /// Whether a researcher tries the study out: nothing is kept.
    pub preview: bool,
}

impl Frame {
    /// For somebody we do not know.
    pub fn outside(study: &Study, language: Language) -> Self {
        Self {
            language,
            study: study.title.r#in(language.tag()).to_owned(),
            csrf: String::new(),
            key: String::new(),
            inside: false,
            stored: false,
            goes_on: false,
            help: false,
            several_languages: study.languages.len() > 1,
            preview: false,
        }
    }

    /// The same for somebody who is nobody any more.
    fn without_ways(self) -> Self {
        Self { inside: false, stored: false, goes_on: false, ..self }
    }

    fn words(&self) -> &'static Words {
        self.language.words()
    }
}

/// The page as text.
pub fn render(page: &impl Template) -> String {
    page.render().expect("templates write to a string")
}

/// The choice of a language.
#[derive(Debug, Template)]
#[template(path = "language.html")]
pub struct LanguagePage {
    /// What surrounds it.
    pub frame: Frame,
    /// What can be chosen.
    pub choices: Vec<Language>,
}

/// What participants agree to.
#[derive(Debug, Template)]
#[template(path = "consent.html")]
pub struct Consent {
    frame: Frame,
    text: String,
    /// The language of the text, where it is not that of the page.
    tag: Option<String>,
    contact: Option<String>,
    hash: String,
    problems: Vec<Problem>,
}

/// What is wrong with a form: the id of the field, and a sentence.
pub type Problem = (String, String);

impl Consent {
    /// What a participant agrees to: the text whose hash is kept, also where the page has no words of its language. `missing`
    /// says that the box was not ticked.
    pub fn of(frame: Frame, participant: &Participant, missing: bool) -> Self {
        let (study, language) = (participant.design().study(), participant.language());
        let tag = Some(language.to_owned()).filter(|tag| tag != frame.language.tag());
        let text = markdown::html(study.consent.text.r#in(language));
        Self { tag, text, ..Self::new(frame, study, participant.consent_hash(), missing) }
    }

    /// `hash` is of the text in the page's language.
    pub fn new(frame: Frame, study: &Study, hash: String, missing: bool) -> Self {
        let text = markdown::html(study.consent.text.r#in(frame.language.tag()));
        let problems = if missing {
            vec![("agree".to_owned(), frame.words().consent_missing.to_owned())]
        } else {
            vec![]
        };
        let contact = Some(study.consent.contact.clone()).filter(|contact| !contact.is_empty());
        Self { frame, text, tag: None, contact, hash, problems }
    }
}

/// The consequence cards.
#[derive(Debug, Template)]
#[template(path = "consequences.html")]
pub struct Consequences {
    frame: Frame,
    title: &'static str,
    lead: &'static str,
    introduction: String,
    cards: Vec<MistakeCards>,
}

impl Consequences {
    /// All cards of the study.
    pub fn new(frame: Frame, study: &Study) -> Self {
        let introduction = markdown::html(study.task.introduction.r#in(frame.language.tag()));
        let cards = cards(study, frame.language);
        let words = frame.words();
        let lead = if study.is_choice() { words.attributes_intro } else { words.consequences_intro };
        Self { title: cards_title(study, frame.language), lead, frame, introduction, cards }
    }
}

/// What the cards are about.
fn cards_title(study: &Study, language: Language) -> &'static str {
    let words = language.words();
    if study.is_choice() { words.attributes_title } else { words.consequences_title }
}

/// What one kind of mistake means.
#[derive(Debug)]
struct MistakeCards {
    name: String,
    sign: &'static str,
    cards: Vec<CardText>,
}

#[derive(Debug)]
struct CardText {
    kind: String,
    text: String,
    source: String,
}

/// Cards by the mistake they are about, in the order of the study file.
fn cards(study: &Study, language: Language) -> Vec<MistakeCards> {
    let tag = language.tag();
    let mut all: Vec<((usize, usize), MistakeCards)> = vec![];
    for card in &study.consequences {
        let (Some(truth), Some(predicted)) = (study.class(&card.truth), study.class(&card.predicted)) else {
            continue;
        };
        let source = match card.source.as_str() {
            "" => String::new(),
            source => crate::language::fill(language.words().source, &[("source", source)]),
        };
        let text =
            CardText { kind: card.kind.r#in(tag).to_owned(), text: card.text.r#in(tag).to_owned(), source };
        match all.iter_mut().find(|(kind, _)| *kind == (truth, predicted)) {
            Some((_, mistake)) => mistake.cards.push(text),
            None => {
                let binary = study.task.classes.len() == 2 && study.task.groups.is_empty();
                let sign = match (binary, truth) {
                    (false, _) => "",
                    (true, 1) => "first-kind",
                    (true, _) => "second-kind",
                };
                let name = capital(&sentence::Mistakes::of(study, truth, predicted, language).one);
                all.push(((truth, predicted), MistakeCards { name, sign, cards: vec![text] }));
            }
        }
    }
    let explained = study.task.attributes.iter().map(|has| {
        let text = has.explanation.as_ref().map_or(String::new(), |text| text.r#in(tag).to_owned());
        let better = match has.better {
            Better::Less => language.words().less_is_better,
            Better::More => language.words().more_is_better,
        };
        let card = CardText { kind: better.to_owned(), text, source: String::new() };
        MistakeCards { name: has.name.r#in(tag).to_owned(), sign: "", cards: vec![card] }
    });
    all.into_iter().map(|(_, mistake)| mistake).chain(explained).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A page with a few sentences and a way on.
#[derive(Debug, Template)]
#[template(path = "message.html")]
pub struct Message {
    frame: Frame,
    title: String,
    paragraphs: Vec<String>,
    action: Option<Button>,
    other: Option<Button>,
    ending: Option<Ending>,
}

/// What somebody takes back to the panel that sent them.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// The code.
    pub code: Option<String>,
    /// Where to.
    pub url: Option<String>,
}

impl From<&End> for Ending {
    fn from(end: &End) -> Self {
        Self { code: end.code.clone(), url: end.address() }
    }
}

#[derive(Debug)]
struct Button {
    text: &'static str,
    to: &'static str,
    post: bool,
}

impl Message {
    fn new(frame: Frame, title: &str, paragraphs: &[&str]) -> Self {
        let paragraphs = paragraphs.iter().map(|text| (*text).to_owned()).collect();
        Self { frame, title: title.to_owned(), paragraphs, action: None, other: None, ending: None }
    }

    fn leading(mut self, text: &'static str, to: &'static str) -> Self {
        self.action = Some(Button { text, to, post: false });
        self
    }

    fn posting(mut self, text: &'static str, to: &'static str) -> Self {
        self.action = Some(Button { text, to, post: true });
        self
    }

    /// With what somebody takes along.
    #[must_use]
    pub fn ending(self, ending: Option<Ending>) -> Self {
        Self { ending, ..self }
    }

    /// All places are taken.
    pub fn full(frame: Frame, end: Ending) -> Self {
        let words = frame.words();
        Self::new(frame, words.full_title, &[words.full_text]).ending(Some(end))
    }

    /// It has not begun.
    pub fn early(frame: Frame, end: Ending) -> Self {
        let words = frame.words();
        Self::new(frame, words.early_title, &[words.early_text]).ending(Some(end))
    }

    /// It is over.
    pub fn over(frame: Frame, end: Ending) -> Self {
        let words = frame.words();
        Self::new(frame, words.over_title, &[words.over_text]).ending(Some(end))
    }

    /// The panel does not say whom it sends.
    pub fn nameless(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.nameless_title, &[words.nameless_text])
    }

    /// Everything was answered, earlier.
    pub fn again(frame: Frame, end: Ending) -> Self {
        let words = frame.words();
        let page = Self::new(frame, words.again_title, &[words.again_text]).ending(Some(end));
        page.leading(words.again_look, "/")
    }

    /// Not whom the panel was asked for.
    pub fn screened(frame: Frame, end: Ending) -> Self {
        let words = frame.words();
        Self::new(frame, words.screened_title, &[words.screened_text]).ending(Some(end))
    }
    /// Nothing more to answer: one press ends the study.
    pub fn finish(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.finish_title, &[words.finish_text]).posting(words.finish, "/finish")
    }

    /// Not taking part.
    pub fn declined(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.declined_title, &[words.declined_text])
    }

    /// Everything is saved; come back any time.
    pub fn pause(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.pause_title, &[words.pause_text]).leading(words.proceed, "/")
    }

    /// Sure?
    pub fn withdraw(frame: Frame) -> Self {
        let words = frame.words();
        let mut page = Self::new(frame, words.withdraw_title, &[words.withdraw_text]);
        page.other = Some(Button { text: words.withdraw_no, to: "/", post: false });
        page.posting(words.withdraw_yes, "/withdraw")
    }

    /// Everything is deleted.
    pub fn withdrawn(frame: Frame, deleted: bool) -> Self {
        let words = frame.words();
        let title = if deleted { words.withdrawn_title } else { words.withdrawing_title };
        Self::new(frame.without_ways(), title, &[words.withdrawn_text])
    }

    /// Another device has the lease.
    pub fn elsewhere(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.elsewhere_title, &[words.elsewhere_text]).posting(words.take_back, "/lease")
    }

    /// The question has another answer already.
    pub fn conflict(frame: Frame, choice: &str) -> Self {
        let words = frame.words();
        let text = crate::language::fill(words.conflict_text, &[("choice", choice)]);
        Self::new(frame, words.conflict_title, &[&text]).leading(words.proceed, "/")
    }

    /// The form was sent before, with something else in it.
    pub fn kept(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.conflict_title, &[words.conflict_kept]).leading(words.proceed, "/")
    }

    /// More than a form may have.
    pub fn too_large(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.too_large_title, &[words.too_large_text]).leading(words.proceed, "/")
    }

    /// The form is from an earlier step.
    pub fn stale(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.stale_title, &[words.stale_text, words.answers_kept])
            .leading(words.proceed, "/")
    }

    /// No link, or one that opens nothing.
    pub fn no_link(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame.without_ways(), words.link_title, &[words.link_text])
    }

    /// No such address.
    pub fn missing(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.missing_title, &[words.missing_text]).leading(words.back, "/")
    }

    /// Something is wrong with the server; nothing is lost.
    pub fn failed(frame: Frame) -> Self {
        let words = frame.words();
        Self::new(frame, words.error_title, &[words.error_text, words.answers_kept])
            .leading(words.proceed, "/")
    }
}

/// The link as text and as a code, for another device.
#[derive(Debug, Template)]
#[template(path = "device.html")]
pub struct Device {
    frame: Frame,
    link: String,
    code: String,
}

impl Device {
    /// For the link of the person who asks.
    pub fn new(frame: Frame, link: String) -> Self {
        use qrcode::{EcLevel, QrCode, render::svg};
        // A link of ours is far below the most a code can hold; were it not, the text would have to do.
        let code = QrCode::with_error_correction_level(&link, EcLevel::M).map_or(String::new(), |code| {
            let drawn = code.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
            // Inside a page it goes without the declaration that a file begins with.
            drawn.find("<svg").map_or(String::new(), |start| drawn[start..].to_owned())
        });
        Self { frame, link, code }
    }
}

/// The page a link leads to: sets the cookie and goes on, so that the token leaves the address.
#[derive(Debug, Template)]
#[template(path = "joining.html")]
pub struct Joining {
    /// The language the browser asks for.
    pub language: Language,
    /// The title of the study.
    pub study: String,
    /// Where it goes on.
    pub to: &'static str,
}
