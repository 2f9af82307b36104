//! The answers for other programs.

use super::counted;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use axum::http::header;
use axum::response::IntoResponse as _;
use equipoise_study::event::Deed;
use equipoise_study::export::{self, Column, Table};
use equipoise_study::{Result, log};

/// A format: how files end, their media type, how they are written, and what to say about it.
struct Format {
    ending: &'static str,
    media_type: &'static str,
    write: fn(&Table) -> Result<Vec<u8>>,
    words: &'static str,
}

const FORMATS: [Format; 3] = [
    Format {
        ending: "csv",
        media_type: "text/csv; charset=utf-8",
        write: |table| Ok(table.csv().into_bytes()),
        words: "comma-separated values, for spreadsheets and statistics programs",
    },
    Format {
        ending: "jsonl",
        media_type: "application/jsonl; charset=utf-8",
        write: |table| Ok(table.json_lines().into_bytes()),
        words: "JSON Lines, one object per row",
    },
    Format {
        ending: "parquet",
        media_type: "application/vnd.apache.parquet",
        write: Table::parquet,
        words: "Parquet, for data frames",
    },
];

/// What can be had: the comparisons, and what people said about themselves.
struct Content {
    name: &'static str,
    read: fn(&dyn log::Store) -> Result<Table>,
    words: &'static str,
}

const CONTENTS: [Content; 2] = [
    Content { name: "answers", read: export::answers, words: "Comparisons" },
    Content { name: "questionnaire", read: export::questionnaire, words: "Questionnaire and stated costs" },
];

/// A table on the page: its name in words, its files with what to say about each, its columns.
struct Download {
    words: &'static str,
    files: Vec<(String, &'static str)>,
    columns: &'static [Column],
}

#[derive(Template)]
#[template(path = "researcher/export.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    answers: String,
    tables: Vec<Download>,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.seen()?;
    let mut tables = vec![];
    for content in &CONTENTS {
        let file = |format: &Format| (format!("{}.{}", content.name, format.ending), format.words);
        let columns = call.shared.watch.read(|store| (content.read)(store))?.columns;
        tables.push(Download { words: content.words, files: FORMATS.iter().map(file).collect(), columns });
    }
    Ok(show(&Page {
        frame: call.frame("/export"),
        blinded: seen.blinded,
        answers: counted(seen.answers(), "answer stands", "answers stand"),
        tables,
    }))
}

/// A file. It has numbers for people, nothing that says who they are.
pub fn file(call: &Call<'_>) -> Outcome {
    let name = call.sent.path.get("file").map_or("", String::as_str);
    let (name, ending) = name.split_once('.').ok_or(Problem::Missing)?;
    let content = CONTENTS.iter().find(|content| content.name == name).ok_or(Problem::Missing)?;
    let format = FORMATS.iter().find(|format| format.ending == ending).ok_or(Problem::Missing)?;
    let file = format!("{name}.{ending}");
    if call.seen()?.blinded {
        return Err(Problem::Blinded);
    }
    call.note(Deed::Exported { format: file.clone() })?;
    let bytes = call.shared.watch.read(|store| (format.write)(&(content.read)(store)?))?;
    let named = [
        (header::CONTENT_TYPE, format.media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file}\"")),
    ];
    Ok((named, bytes).into_response())
}
