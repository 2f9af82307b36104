//! The answers for other programs, and the report.

use super::counted;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use axum::http::header;
use axum::response::IntoResponse as _;
use equipoise_study::event::Deed;
use equipoise_study::export::{self, AnswerRow};
use equipoise_study::log::Store;
use equipoise_study::report::{self, Report};
use equipoise_study::{Design, Result, log, people};
use std::sync::Arc;

/// What a file is made from.
#[derive(Clone, Copy)]
enum Contents {
    /// Every answer.
    Answers(fn(&[AnswerRow]) -> String),
    /// What came out.
    Report(fn(&Design, &Report) -> String),
}

/// A file: its name, its media type, what is in it, and what to say about it.
struct File {
    name: &'static str,
    media_type: &'static str,
    contents: Contents,
    words: &'static str,
}

const FILES: [File; 4] = [
    File {
        name: "answers.csv",
        media_type: "text/csv; charset=utf-8",
        contents: Contents::Answers(export::csv),
        words: "Comma-separated values, for spreadsheets and statistics programs",
    },
    File {
        name: "answers.jsonl",
        media_type: "application/jsonl; charset=utf-8",
        contents: Contents::Answers(export::json_lines),
        words: "JSON Lines, one object per answer",
    },
    File {
        name: "report.html",
        media_type: "text/html; charset=utf-8",
        contents: Contents::Report(report::html),
        words: "The report, one page that needs no network and prints well",
    },
    File {
        name: "report.json",
        media_type: "application/json",
        contents: Contents::Report(json),
        words: "The report for programs",
    },
];

fn json(_: &Design, report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default()
}

impl Contents {
    /// From the log, beside the thread that writes it.
    fn read(self, design: &Arc<Design>, store: &dyn Store) -> Result<String> {
        match self {
            Self::Answers(write) => Ok(write(&export::answers(store)?)),
            Self::Report(write) => {
                let head = log::verify(store)?.head;
                let everybody = people::participants(design, store)?;
                let options = report::Options { why: true, ..report::Options::default() };
                Ok(write(design, &report::report(design, &everybody, &head, &options)))
            }
        }
    }
}

#[derive(Template)]
#[template(path = "researcher/export.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    answers: String,
    files: Vec<(&'static str, &'static str)>,
    columns: Vec<&'static str>,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.seen()?;
    Ok(show(&Page {
        frame: call.frame("/export"),
        blinded: seen.blinded,
        answers: counted(seen.answers(), "answer stands", "answers stand"),
        files: FILES.iter().map(|file| (file.name, file.words)).collect(),
        columns: export::COLUMNS.to_vec(),
    }))
}

/// A file. It has numbers for people, nothing that says who they are.
pub fn file(call: &Call<'_>) -> Outcome {
    let name = call.sent.path.get("file").map_or("", String::as_str);
    let file = FILES.iter().find(|file| file.name == name).ok_or(Problem::Missing)?;
    if call.seen()?.blinded {
        return Err(Problem::Blinded);
    }
    call.note(Deed::Exported { format: file.name.to_owned() })?;
    let (contents, design) = (file.contents, call.shared.desk.design().clone());
    let text = call.shared.watch.read_apart(move |store| contents.read(&design, store))?;
    let named = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file.name)),
    ];
    Ok((named, text).into_response())
}
