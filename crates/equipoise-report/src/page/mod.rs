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
use std::collections::HashMap;
use std::{fmt, io};

/// How it looks as a file of its own: light, dark and print.
const STYLE: &str =
    concat!(include_str!("colours.css"), include_str!("document.css"), include_str!("report.css"));

/// How its content looks inside another page, in an element of the class `report`; nothing around it changes.
pub const STYLE_INSIDE: &str =
    concat!(include_str!("colours.css"), ".report{", include_str!("report.css"), "}");

/// The report as a file of its own.
#[derive(Template)]
#[template(path = "document.html")]
struct Document<'a> {
    title: &'a str,
    style: String,
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    design: &'a Design,
    report: &'a Report,
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
    /// Whether what belongs to an appendix is unfolded, and so printed.
    appendix: bool,
    /// Whether it is looked through for its headings alone: nothing is written of people one by one.
    skimmed: bool,
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

/// The report as one page of HTML. People one by one, weights and rows of the log are folded, and not printed unless somebody
/// unfolds them.
pub fn html(design: &Design, report: &Report) -> String {
    document(design, report, false)
}

/// The same with all of that unfolded.
pub fn html_with_appendix(design: &Design, report: &Report) -> String {
    document(design, report, true)
}

fn document(design: &Design, report: &Report, appendix: bool) -> String {
    let mut whole = vec![];
    write_html(&mut whole, design, report, appendix).expect("a list takes everything");
    String::from_utf8(whole).expect("pages are text")
}

/// Writes that page. Of ten thousand people it is some hundred megabytes: whoever passes it on need not have it all at once.
pub fn write_html(
    out: &mut dyn io::Write,
    design: &Design,
    report: &Report,
    appendix: bool,
) -> io::Result<()> {
    let page = Document { title: &report.title, style: STYLE.replace('\n', "") };
    let frame = page.render().expect("a string takes everything");
    let (before, after) = frame.split_once(CONTENT).unwrap_or((&frame, ""));
    out.write_all(before.as_bytes())?;
    write_content(out, design, report, appendix)?;
    out.write_all(after.as_bytes())
}

/// Writes what stands in that page, for another one to show; `appendix` unfolds it all.
pub fn write_content(
    out: &mut dyn io::Write,
    design: &Design,
    report: &Report,
    appendix: bool,
) -> io::Result<()> {
    let mut everybody = report.people.iter();
    let mut with = report.people.iter().filter(|person| person.refusal.is_none());
    let with_metric = with.next().filter(|_| with.next().is_none());
    let mut page = Page {
        design,
        report,
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
        appendix,
        skimmed: true,
    };
    // Which headings there are depends on the study, and their list stands first: so the page is gone through twice, the first time
    // without what there is about each person.
    let mut headings = vec![];
    written(&page, &mut |text| {
        let parts = text.split("<h2>").skip(1);
        headings.extend(parts.map(|part| part.split("</h2>").next().unwrap_or_default().to_owned()));
        Ok(())
    })?;
    (page.notes, page.skimmed) = (Notes::default(), false);
    let mut contents = Contents { list: Some(headings), parts: 0 };
    written(&page, &mut |text| out.write_all(contents.put_into(text).as_bytes()))
}

/// Where the template wants the page's content.
const CONTENT: &str = "<!-- content -->";
/// Where it wants the list of contents.
const CONTENTS: &str = "<nav></nav>";

/// Renders a page and passes it on some whole lines at a time.
fn written(page: &Page<'_>, pass: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut lines = Lines { kept: String::new(), pass, failed: None };
    let rendered = page.render_into(&mut lines);
    if let Some(failed) = lines.failed {
        return Err(failed);
    }
    rendered.map_err(io::Error::other)?;
    (lines.pass)(&lines.kept)
}

/// So much of a page is passed on at once, give or take a line.
const AT_ONCE: usize = 64 << 10;

/// What is looked for in a page stands within a line; so lines are passed on whole.
struct Lines<'a> {
    kept: String,
    pass: &'a mut dyn FnMut(&str) -> io::Result<()>,
    failed: Option<io::Error>,
}

impl fmt::Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = match text.rfind('\n') {
            Some(end) if self.kept.len() + end >= AT_ONCE => end + 1,
            _ => {
                self.kept.push_str(text);
                return Ok(());
            }
        };
        let (before, after) = text.split_at(end);
        self.kept.push_str(before);
        let passed = (self.pass)(&self.kept);
        self.kept.clear();
        self.kept.push_str(after);
        passed.map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

/// Headings as they are numbered, and their list, which is written once.
struct Contents {
    list: Option<Vec<String>>,
    parts: usize,
}

impl Contents {
    /// Some lines of the page with all this in it.
    fn put_into(&mut self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len() + text.len() / 16);
        for (n, part) in text.split("<h2>").enumerate() {
            if n > 0 {
                whole += &format!("<h2 id='part-{}'>", self.parts);
                self.parts += 1;
            }
            match part.split_once(CONTENTS).and_then(|parts| Some((parts, self.list.take()?))) {
                Some(((before, after), list)) => {
                    write_bound(&mut whole, before);
                    whole += "<nav class='contents' aria-label='Contents'><ol>";
                    for (n, heading) in list.iter().enumerate() {
                        write_bound(&mut whole, &format!("<li><a href='#part-{n}'>{heading}</a></li>"));
                    }
                    whole += "</ol></nav>";
                    write_bound(&mut whole, after);
                }
                None => write_bound(&mut whole, part),
            }
        }
        whole
    }
}

/// A sign at the start of a line has lost its number.
fn write_bound(whole: &mut String, text: &str) {
    for (n, part) in text.split(" %").enumerate() {
        if n > 0 {
            whole.push_str("\u{a0}%");
        }
        whole.push_str(part);
    }
}

impl Page<'_> {
    fn who(&self) -> String {
        match (self.report.counts.answered, self.only) {
            (1, Some(only)) => format!("participant {}", only.participant),
            (1, None) => "1 person".to_owned(),
            (people, _) => format!("{} people", grouped(people as u64)),
        }
    }

    /// Everybody whose answers are told.
    fn one_by_one(&self) -> &[PersonReport] {
        if self.skimmed { &[] } else { &self.report.people }
    }

    /// The days of the answers.
    fn days(&self) -> String {
        match &self.report.answered {
            None => "no answers yet".to_owned(),
            Some([first, last]) if first == last => format!("answers of {first}"),
            Some([first, last]) => format!("answers from {first} to {last}"),
        }
    }

    /// What to look at, with everybody it is about.
    fn flags(&self) -> Vec<(&'static str, String)> {
        let mut flags: Vec<(&'static str, Vec<u64>)> = vec![];
        for person in &self.report.people {
            for flag in &person.conduct.flags {
                match flags.iter_mut().find(|(known, _)| known == flag) {
                    Some((_, people)) => people.push(person.participant),
                    None => flags.push((flag, vec![person.participant])),
                }
            }
        }
        let told = |people: Vec<u64>| match people.as_slice() {
            [one] => format!("participant {one}"),
            many => {
                format!("participants {}", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        flags.into_iter().map(|(flag, people)| (flag, told(people))).collect()
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
struct Notes(RefCell<Noted>);

/// The texts in their order, and where each stands.
#[derive(Debug, Default)]
struct Noted {
    texts: Vec<String>,
    places: HashMap<String, usize>,
}

impl Notes {
    /// A link to some rows; the same rows have the same number.
    fn link(&self, rows: &Rows) -> String {
        if rows.0.is_empty() {
            return String::new();
        }
        let (text, noted) = (rows.text(), &mut *self.0.borrow_mut());
        let number = *noted.places.entry(text).or_insert_with_key(|text| {
            noted.texts.push(text.clone());
            noted.texts.len()
        });
        format!("<a class='note' href='#rows-{number}' aria-label='rows {number}'>[{number}]</a>")
    }

    fn all(&self) -> Vec<String> {
        self.0.borrow().texts.clone()
    }
}
