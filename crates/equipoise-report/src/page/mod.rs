//! The report as one page: no script, no network, light and dark, prints well (RP-13).
//!
//! The order is that of a reader's questions: the answer, how sure, was it answered consistently, which model, which
//! threshold, stated against elicited, the group, what it depends on, method and limits, and the seal of the log. The
//! words stand in the templates; `chart` draws, `words` tells what takes more than a template to tell.

mod chart;
mod words;

use crate::group::{Experts, Together};
use crate::{Agreement, PersonReport, Report, Rows, StatedAgainstElicited};
use askama::Template;
use equipoise_study::Design;
use equipoise_study::numbers::grouped;
use std::cell::RefCell;

/// The style sheet: light, dark and print.
const STYLE: &str = include_str!("report.css");

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    design: &'a Design,
    report: &'a Report,
    style: String,
    /// All rows of everybody who is in the report.
    rows: Rows,
    /// The person, where there is one only.
    only: Option<&'a PersonReport>,
    /// The person with a metric, where there is one only.
    with_metric: Option<&'a PersonReport>,
    /// How many answers that were kept out of the estimate each metric predicts, and which those are.
    predicted: Option<(Vec<(&'static str, Agreement)>, Rows)>,
    /// Participants with what they stated beside what was elicited.
    stated: Vec<(u64, &'a StatedAgainstElicited)>,
    notes: Notes,
}

/// What a group means for the choice of a model: a part of the page that other pages show, too.
#[derive(Template)]
#[template(path = "together.html")]
struct Choices<'a> {
    experts: &'a Experts,
    together: &'a Together,
}

/// The rules from people to a model side by side, and who prefers which, as tables; nothing where the study has no models.
pub fn choices(experts: &Experts) -> Option<String> {
    let page = Choices { experts, together: experts.models.as_ref()? };
    Some(page.render().expect("a string takes everything"))
}

/// The report as one page of HTML.
pub fn html(design: &Design, report: &Report) -> String {
    let mut everybody = report.people.iter();
    let mut with = report.people.iter().filter(|person| person.refusal.is_none());
    let with_metric = with.next().filter(|_| with.next().is_none());
    let page = Page {
        design,
        report,
        style: STYLE.replace('\n', ""),
        rows: match &report.group {
            Some(group) => group.rows.clone(),
            None => Rows::all(report.people.iter().map(|person| &person.rows)),
        },
        only: everybody.next().filter(|_| everybody.next().is_none()),
        with_metric,
        predicted: match (&report.group, with_metric) {
            (Some(group), _) => Some((group.fidelity.named(), group.rows.clone())),
            (None, only) => only.map(|person| {
                let found = &person.fidelity;
                (found.shares.named(), Rows::all([&found.rows, &found.repeat_rows].into_iter()))
            }),
        },
        stated: report
            .people
            .iter()
            .filter_map(|p| Some((p.participant, p.stated_against_elicited.as_ref()?)))
            .collect(),
        notes: Notes::default(),
    };
    // A sign at the start of a line has lost its number.
    page.render().expect("a string takes everything").replace(" %", "\u{a0}%")
}

impl Page<'_> {
    fn who(&self) -> String {
        match (self.report.counts.answered, self.only) {
            (1, Some(only)) => format!("participant {}", only.participant),
            (1, None) => "1 person".to_owned(),
            (people, _) => format!("{} people", grouped(people as u64)),
        }
    }

    fn stated_rows(&self) -> Rows {
        Rows::all(self.stated.iter().map(|(_, both)| &both.rows))
    }

    fn weight_names(&self) -> Vec<&str> {
        let named = self.report.people.iter().find(|person| !person.weights.is_empty());
        let of_attributes = || self.report.people.first().map_or(&[][..], |person| &person.shares);
        match named {
            Some(person) => person.weights.iter().map(|weight| weight.name.as_str()).collect(),
            None => of_attributes().iter().map(|share| share.attribute.as_str()).collect(),
        }
    }
}

/// Which rows of the log the numbers of the page come from, in the order in which they are first told.
#[derive(Debug, Default)]
struct Notes(RefCell<Vec<String>>);

impl Notes {
    /// A link to some rows; the same rows have the same number.
    fn link(&self, rows: &Rows) -> String {
        if rows.0.is_empty() {
            return String::new();
        }
        let (text, mut notes) = (rows.text(), self.0.borrow_mut());
        let place = notes.iter().position(|note| *note == text).unwrap_or_else(|| {
            notes.push(text);
            notes.len() - 1
        });
        let number = place + 1;
        format!("<a class='note' href='#rows-{number}' aria-label='rows {number}'>[{number}]</a>")
    }

    fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}
