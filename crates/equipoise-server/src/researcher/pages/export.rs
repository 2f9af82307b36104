//! The report, and the tables for other programs.

use super::counted;
use crate::researcher::call::{Call, Outcome, Problem, go, page as show};
use crate::researcher::frame::Frame;
use crate::researcher::job::{Asked, Of};
use crate::researcher::stream::written;
use askama::Template;
use axum::body::Body;
use axum::http::header;
use axum::response::{Html, IntoResponse as _};
use equipoise_log::{MemoryStore, Reader};
use equipoise_pages::page::render;
use equipoise_report::{self as report, Report};
use equipoise_study::event::Action;
use equipoise_study::export::{self, Column, Table};
use equipoise_study::{Design, Result};
use std::io;
use std::sync::Arc;

/// How a file ends, its media type, how it is written, and what to say about it.
struct Format<Of> {
    ending: &'static str,
    media_type: &'static str,
    write: Of,
    words: &'static str,
}

/// Reports, and whether they say which answers mattered most: that takes the longest by far.
const REPORTS: [(&str, bool); 2] = [("report", false), ("report-why", true)];

type WriteReport = fn(&mut dyn io::Write, &Design, &Report) -> io::Result<()>;
type WriteTable = fn(&Table) -> Result<Vec<u8>>;

const OF_REPORTS: [Format<WriteReport>; 2] = [
    Format {
        ending: "html",
        media_type: "text/html; charset=utf-8",
        write: |out, design, made| report::write_html(out, design, made, false),
        words: "one page that needs no network and prints well",
    },
    Format { ending: "json", media_type: "application/json", write: json, words: "for programs" },
];

const OF_TABLES: [Format<WriteTable>; 3] = [
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

/// A table: what it is called, how it is read, and its name in words.
struct Content {
    name: &'static str,
    read: fn(&dyn Reader) -> Result<Table>,
    words: &'static str,
}

const TABLES: [Content; 2] = [
    Content { name: "answers", read: export::answers, words: "Comparisons" },
    Content { name: "questionnaire", read: export::questionnaire, words: "Questionnaire and stated costs" },
];

fn json(out: &mut dyn io::Write, _: &Design, report: &Report) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(io::BufWriter::new(out), report)?)
}

/// Names of files with what to say about each.
fn files<Of>(name: &str, formats: &[Format<Of>]) -> Vec<(String, &'static str)> {
    formats.iter().map(|format| (format!("{name}.{}", format.ending), format.words)).collect()
}

/// A part of the page: its name in words, its files, its columns.
struct Section {
    words: &'static str,
    files: Vec<(String, String)>,
    columns: &'static [Column],
}

#[derive(Template)]
#[template(path = "researcher/export.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    answers: String,
    sections: Vec<Section>,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.counted()?;
    let reports = REPORTS.iter().flat_map(|(name, why)| {
        let more = if *why { ", with the answers that mattered most; takes longer" } else { "" };
        files(name, &OF_REPORTS).into_iter().map(move |(file, words)| (file, format!("{words}{more}")))
    });
    let mut sections = vec![Section { words: "Report", files: reports.collect(), columns: &[] }];
    for table in &TABLES {
        // Columns are the same whatever is in the log.
        let columns = (table.read)(&MemoryStore::new())?.columns;
        let files = files(table.name, &OF_TABLES).into_iter().map(|(file, words)| (file, words.to_owned()));
        sections.push(Section { words: table.words, files: files.collect(), columns });
    }
    Ok(show(&Page {
        frame: call.frame("/results/files"),
        blinded: seen.blinded,
        answers: counted(seen.answers(), "answer stands", "answers stand"),
        sections,
    }))
}

#[derive(Template)]
#[template(path = "researcher/report.html")]
struct ReportPage {
    frame: Frame,
    /// The same with more or less in it, and as a file.
    links: Vec<(String, &'static str)>,
}

/// Where the template wants the report.
const CONTENT: &str = "<!-- report -->";

/// The report as a page: what [`report::write_html`] writes, inside a page of researchers.
pub fn report(call: &Call<'_>) -> Outcome {
    let [appendix, why] = ["appendix", "why"].map(|asked| call.sent.query.get(asked) == "yes");
    let made = made(call, why)?;
    call.look("report", None)?;
    let with = |appendix: bool, why: bool| {
        let asked: Vec<&str> = [("appendix=yes", appendix), ("why=yes", why)]
            .iter()
            .filter(|(_, on)| *on)
            .map(|(on, _)| *on)
            .collect();
        let mark = if asked.is_empty() { "" } else { "?" };
        format!("/results/report{mark}{}", asked.join("&"))
    };
    let (fold, reasons) = (
        if appendix { "Without the appendix" } else { "With the appendix, for print" },
        if why { "Without the answers that mattered most" } else { "With the answers that mattered most" },
    );
    let file = REPORTS.iter().find(|(_, with)| *with == why).map_or("", |(name, _)| name);
    let page = ReportPage {
        frame: call.frame("/results/report"),
        links: vec![
            (with(!appendix, why), fold),
            (with(appendix, !why), reasons),
            (format!("/export/{file}.html"), "As a file"),
        ],
    };
    let (around, design) = (render(&page), call.shared.service.design().clone());
    let body = written(move |out| {
        let (before, after) = around.split_once(CONTENT).unwrap_or((&around, ""));
        out.write_all(before.as_bytes())?;
        report::write_content(out, &design, &made, appendix)?;
        out.write_all(after.as_bytes())
    });
    Ok(Html(body).into_response())
}

/// The report of the answers as they are; an error while it is being made, or results are hidden.
fn made(call: &Call<'_>, why: bool) -> std::result::Result<Arc<Report>, Problem> {
    if call.counted()?.blinded {
        return Err(Problem::Blinded);
    }
    let seen = call.shared.watch.at_once()?;
    let of = Of { data: seen.data, why, gone: seen.count(|line| line.gone) };
    match call.shared.report.report(&call.shared.service, of)? {
        Asked::Made(report) => Ok(report),
        Asked::Running(running) => Err(Problem::Making(running)),
    }
}

/// Ends the report that is being made.
pub fn stop(call: &Call<'_>) -> Outcome {
    call.shared.report.stop();
    Ok(go("/results/files"))
}

/// A file. It has numbers for people, nothing that says who they are.
pub fn file(call: &Call<'_>) -> Outcome {
    let file = call.sent.path.get("file").map_or("", String::as_str);
    let (name, ending) = file.split_once('.').ok_or(Problem::Missing)?;
    if call.counted()?.blinded {
        return Err(Problem::Blinded);
    }
    let (media_type, body) = if let Some((_, why)) = REPORTS.iter().find(|(report, _)| *report == name) {
        let format = OF_REPORTS.iter().find(|format| format.ending == ending).ok_or(Problem::Missing)?;
        let report = made(call, *why)?;
        // Before it is shown, and not each time somebody asks whether it is ready.
        call.note(Action::Exported { format: file.to_owned() })?;
        let design = call.shared.service.design().clone();
        (format.media_type, written(move |out| (format.write)(out, &design, &report)))
    } else {
        let table = TABLES.iter().find(|table| table.name == name).ok_or(Problem::Missing)?;
        let format = OF_TABLES.iter().find(|format| format.ending == ending).ok_or(Problem::Missing)?;
        call.note(Action::Exported { format: file.to_owned() })?;
        let read = |store: &dyn Reader| (format.write)(&(table.read)(store)?);
        (format.media_type, Body::from(call.shared.watch.read(read)?))
    };
    let named = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{file}\"")),
    ];
    Ok((named, body).into_response())
}
