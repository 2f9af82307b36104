//! The pages of a table, as text.

use super::multipart::LARGEST;
use super::view::{Branch, Flow, Kind, Outcome, Page, Question, Systems, Table};
use askama::Template;
use equipoise_pages::page::render;
use equipoise_pages::picture;
use equipoise_study::numbers::grouped;

/// What surrounds a page.
#[derive(Debug)]
pub struct Frame {
    /// What forms send back to show that they come from our page.
    pub csrf: String,
    /// Whether whoever looks started the command; otherwise they answer, and see nothing else.
    pub owner: bool,
    /// The link for somebody who answers.
    pub expert: String,
    /// What could not be done, in a sentence.
    pub problem: Option<String>,
}

/// What is said to whoever sends more than is taken.
pub const TOO_LARGE: [&str; 2] = [
    "The file is larger than 64 MB",
    "Go back and give its path instead: files are then read where they are, however large. Or start with: equipoise open FILE",
];

#[derive(Template)]
#[template(path = "open/message.html")]
struct Message<'a> {
    title: &'a str,
    text: &'a str,
    /// What the link to the page says; nothing where there is nowhere to go.
    to: Option<&'a str>,
    /// Whether it goes there by itself.
    joining: bool,
    /// Whether it looks again by itself.
    waits: bool,
}

/// A page of a sentence.
pub fn message([title, text]: [&str; 2]) -> String {
    render(&Message { title, text, to: Some("Go on"), joining: false, waits: false })
}

/// On the way from the link to the page.
pub fn joining() -> String {
    render(&Message {
        title: "Equipoise",
        text: "One moment.",
        to: Some("Go on"),
        joining: true,
        waits: false,
    })
}

#[derive(Template)]
#[template(path = "open/start.html")]
struct StartPage {
    frame: Frame,
    largest: usize,
}

#[derive(Template)]
#[template(path = "open/table.html")]
struct TablePage {
    frame: Frame,
    table: Table,
}

#[derive(Template)]
#[template(path = "open/question.html")]
struct QuestionPage {
    frame: Frame,
    question: Question,
    systems: [Side; 2],
    /// What is the same in both.
    same: Vec<Kind>,
}

/// A system and its answer.
struct Side {
    letter: &'static str,
    value: &'static str,
    key: u8,
    /// As HTML.
    drawn: String,
}

#[derive(Template)]
#[template(path = "open/kinds.html")]
struct KindsOf {
    id: &'static str,
    letter: &'static str,
    rows: Vec<KindRow>,
}

struct KindRow {
    what: String,
    count: String,
    /// Of the largest count of the question, in percent.
    share: f64,
    /// Against the other system.
    more: String,
}

#[derive(Template)]
#[template(path = "open/outcome.html")]
struct OutcomePage {
    frame: Frame,
    outcome: Outcome,
    largest: usize,
}

/// A page for whoever started the command, or what somebody sees who answers.
pub fn page(frame: Frame, page: Page) -> String {
    match (frame.owner, page) {
        (_, Page::Question(question)) => asked(frame, *question),
        (true, Page::Start) => render(&StartPage { frame, largest: LARGEST }),
        (true, Page::Table(table)) => render(&TablePage { frame, table: *table }),
        (true, Page::Outcome(outcome)) => render(&OutcomePage { frame, outcome: *outcome, largest: LARGEST }),
        (false, Page::Outcome(_)) => render(&Message {
            title: "That was all, thank you",
            text: "Your answers are saved. Whoever gave you the link sees what comes out of them.",
            to: None,
            joining: false,
            waits: false,
        }),
        (false, Page::Start | Page::Table(_)) => render(&Message {
            title: "The questions have not begun",
            text: "They come here as soon as they do.",
            to: Some("Look again"),
            joining: false,
            waits: true,
        }),
    }
}

fn asked(frame: Frame, mut question: Question) -> String {
    let names = [("a", "A", 1), ("b", "B", 2)];
    let (drawn, same) = match std::mem::replace(&mut question.systems, Systems::Kinds(vec![])) {
        Systems::Flows(flows) => {
            let [a, b] = *flows;
            let drawn = [(names[0], a), (names[1], b)].map(|((id, letter, _), flow): (_, Flow)| {
                let caption = format!("System {letter}, {}", question.out_of);
                let lent = |n: usize| {
                    let Branch { name, right: (right, correct), wrong: (wrong, mistaken) } =
                        &flow.branches[n];
                    (name.as_str(), [(right.as_str(), *correct), (wrong.as_str(), *mistaken)])
                };
                picture::flow_of_words(id, letter, caption, [lent(0), lent(1)])
            });
            (drawn, vec![])
        }
        Systems::Kinds(kinds) => {
            let (differing, same): (Vec<Kind>, Vec<Kind>) =
                kinds.into_iter().partition(|kind| kind.counts[0] != kind.counts[1]);
            let most = differing.iter().flat_map(|kind| kind.counts).max().unwrap_or(1).max(1);
            let drawn = [0, 1].map(|side| {
                let row = |kind: &Kind| KindRow {
                    what: kind.what.clone(),
                    count: grouped(kind.counts[side]),
                    share: 100.0 * kind.counts[side] as f64 / most as f64,
                    more: compared(kind.counts[side], kind.counts[1 - side]),
                };
                let (id, letter, _) = names[side];
                render(&KindsOf { id, letter, rows: differing.iter().map(row).collect() })
            });
            (drawn, same)
        }
    };
    let [a, b] = drawn;
    let systems = [(names[0], a), (names[1], b)].map(|((value, letter, key), drawn)| Side {
        letter,
        value,
        key,
        drawn,
    });
    render(&QuestionPage { frame, question, systems, same })
}

/// "+12" where there are more than in the other system.
fn compared(own: u64, other: u64) -> String {
    match own >= other {
        true => format!("{} more", grouped(own - other)),
        false => format!("{} fewer", grouped(other - own)),
    }
}

impl TablePage {
    /// Whether a column was ticked for probabilities.
    fn scored(&self, column: &str) -> bool {
        self.table.wished.scores.iter().any(|score| score == column)
    }
}
