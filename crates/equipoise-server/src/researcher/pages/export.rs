//! The answers for other programs.

use super::counted;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use axum::http::header;
use axum::response::IntoResponse as _;
use equipoise_study::event::Deed;
use equipoise_study::export::{self, AnswerRow};

/// A format: the file's name, its media type, how it is written, and what to say about it.
struct Format {
    file: &'static str,
    media_type: &'static str,
    write: fn(&[AnswerRow]) -> String,
    words: &'static str,
}

const FORMATS: [Format; 2] = [
    Format {
        file: "answers.csv",
        media_type: "text/csv; charset=utf-8",
        write: export::csv,
        words: "Comma-separated values, for spreadsheets and statistics programs",
    },
    Format {
        file: "answers.jsonl",
        media_type: "application/jsonl; charset=utf-8",
        write: export::json_lines,
        words: "JSON Lines, one object per answer",
    },
];

#[derive(Template)]
#[template(path = "researcher/export.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    answers: String,
    formats: Vec<(&'static str, &'static str)>,
    columns: Vec<&'static str>,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.seen()?;
    Ok(show(&Page {
        frame: call.frame("/export"),
        blinded: seen.blinded,
        answers: counted(seen.answers(), "answer stands", "answers stand"),
        formats: FORMATS.iter().map(|format| (format.file, format.words)).collect(),
        columns: export::COLUMNS.to_vec(),
    }))
}

/// A file. It has numbers for people, nothing that says who they are.
pub fn file(call: &Call<'_>) -> Outcome {
    let name = call.sent.path.get("file").map_or("", String::as_str);
    let format = FORMATS.iter().find(|format| format.file == name).ok_or(Problem::Missing)?;
    if call.seen()?.blinded {
        return Err(Problem::Blinded);
    }
    call.note(Deed::Exported { format: format.file.to_owned() })?;
    let rows = call.shared.watch.read(|store| export::answers(store))?;
    let named = [
        (header::CONTENT_TYPE, format.media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", format.file)),
    ];
    Ok((named, (format.write)(&rows)).into_response())
}
