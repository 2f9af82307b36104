//! `equipoise inspect`: what a table of predictions has, and what it allows.

pub mod picture;
pub mod survey;

use crate::args::{Global, Inspect};
use crate::counts::grouped;
use crate::fault::FINDING;
use crate::page::Page;
use crate::progress::Progress;
use crate::ratio::two_digits;
use crate::rows::Rows;
use crate::table::Table;
use crate::{files, json, tables};
use anyhow::Result;
use equipoise_data::Note;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use survey::{Ball, Common, Survey};

/// Width of the column of names.
const INDENT: usize = 12;
/// Rows of a table of groups or classes; `--json` has all.
const MOST_ROWS: usize = 30;

/// The whole document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    table: String,
    #[serde(flatten)]
    survey: &'a Survey,
    notes: &'a [Note],
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
}

pub fn run(args: &Inspect, global: &Global) -> Result<ExitCode> {
    let reading = Rows::read(&args.table, &args.columns, &args.streaming, global)?;
    let (findings, choices): (Vec<_>, Vec<_>) =
        reading.notes.iter().cloned().partition(|note| matches!(note, Note::Finding(_)));
    tables::say(&choices, global);
    let sample = reading.data;
    let progress = Progress::spinner("looking at what the table allows", global.shows_progress());
    let (classes, groups, seed) = (sample.class_names(), sample.group_names(), global.seed.unwrap_or(1));
    let survey = match sample.is_in_database() && classes.len() > 2 {
        true => Survey::by_statements(&sample, classes, groups, seed)?,
        false => Survey::of(&sample, classes, groups, seed)?,
    };
    drop(progress);
    let mut warnings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    warnings.extend(survey.warnings());
    let svg = (!args.no_svg).then_some(args.svg.as_path());
    if let Some(path) = svg {
        crate::picture::write(path, &picture::of(&survey))?;
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = Document {
            format: 1,
            table: files::name(&args.table),
            survey: &survey,
            notes: &reading.notes,
            warnings: &warnings,
            svg: svg.map(files::name),
        };
        json::write(&document, &mut out)?;
    } else {
        let mut page = Page::new(global.form(), &files::name(&args.table), &mut out)?;
        write_text(&survey, &args.table, &warnings, svg, &mut page)?;
        page.end()?;
    }
    Ok(if warnings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// What is printed as a part of a page.
pub fn on_page(survey: &Survey, path: &Path, warnings: &[String]) -> Result<String> {
    Page::part("What the table allows", |page| write_text(survey, path, warnings, None, page))
}

fn write_text(
    survey: &Survey,
    path: &Path,
    warnings: &[String],
    svg: Option<&Path>,
    page: &mut Page,
) -> Result<()> {
    let terminal = page.terminal;
    let plural = |count: usize, noun: &str, many: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{} {many}", grouped(count as u64)),
    };
    let mut parts = vec![
        plural(survey.rows, "row", if survey.weighted { "weighted rows" } else { "rows" }),
        plural(survey.classes.len(), "class", "classes"),
    ];
    if !survey.groups.is_empty() {
        parts.push(plural(survey.groups.len(), "group", "groups"));
    }
    page.paragraph(&format!("{}: {}", files::name(path), parts.join(", ")))?;
    page.gap()?;

    let mut table = Table::new(terminal, ["class", "rows", "share", "calibration error", "by chance"]);
    for class in survey.classes.iter().take(MOST_ROWS) {
        table.row([
            class.name.clone(),
            grouped(class.rows as u64),
            percent(class.share),
            format!("{:.3}", class.calibration.error),
            format!("{:.3}", class.calibration.by_chance),
        ]);
    }
    page.table(&table)?;
    write_rest(survey.classes.len(), "classes", page)?;

    if !survey.groups.is_empty() {
        let shown = survey.classes.iter().take(4);
        let mut headings = vec!["group".to_owned(), "rows".to_owned(), "share".to_owned()];
        headings.extend(shown.clone().map(|class| class.name.clone()));
        headings.push("certified radius".to_owned());
        let mut table = Table::new(terminal, headings);
        for group in survey.groups.iter().take(MOST_ROWS) {
            let mut row = vec![group.name.clone(), grouped(group.rows as u64), percent(group.share)];
            row.extend(group.class_shares.iter().take(shown.len()).map(|&share| percent(share)));
            row.push(group.radius.map_or("-".to_owned(), |radius| format!("{radius:.3}")));
            table.row(row);
        }
        page.gap()?;
        page.table(&table)?;
        write_rest(survey.groups.len(), "groups", page)?;
    }

    let mut table =
        Table::new(terminal, ["told apart", "separation", "thresholds", "cost ratios", "longest face"]);
    for pair in &survey.pairs {
        let ratios = pair.ratios.map_or("-".to_owned(), |ratios| {
            let [low, high] = ratios.map(two_digits);
            format!("{low} to {high}")
        });
        table.row([
            format!("{} or {}", pair.classes[0], pair.classes[1]),
            format!("{:.3}", pair.separation),
            grouped(pair.thresholds as u64),
            ratios,
            format!("{:.3}", pair.longest_face.length),
        ]);
    }
    page.gap()?;
    page.table(&table)?;
    if survey.pairs_in_all > survey.pairs.len() {
        let all = grouped(survey.pairs_in_all as u64);
        page.paragraph(&format!("of {all} pairs, those most often mistaken for each other"))?;
    }
    page.gap()?;

    let mut entry = |name: &str, text: &str| page.entry(INDENT, name, text);
    entry("Ball", &in_words(&survey.ball, survey.rows))?;
    match &survey.common_ball {
        Some(Common::Ball(common)) => {
            entry("", &format!("in every group at once: {}", short(common)))?;
        }
        Some(Common::Reason { reason }) => entry("", &format!("none is common to the groups: {reason}"))?,
        None => {}
    }
    if let Some(smooth) = &survey.smooth {
        let text = format!(
            "1 / (1 + exp({:.2} x {} {:.2})) for x in [-1, 1] fits the boundary to {:.4} (root mean square) and leaves the \
             hull by at most {:.4}",
            smooth.slope,
            if smooth.offset < 0.0 { "-" } else { "+" },
            smooth.offset.abs(),
            smooth.rmse,
            smooth.outside
        );
        entry("Smooth", &text)?;
    }
    for warning in warnings {
        entry("Warning", warning)?;
    }
    if let Some(path) = svg {
        entry("Picture", &path.display().to_string())?;
    }
    Ok(())
}

fn write_rest(count: usize, what: &str, page: &mut Page) -> std::io::Result<()> {
    if count > MOST_ROWS {
        page.paragraph(&format!("and {} more {what}; --json prints all", count - MOST_ROWS))?;
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn short(ball: &Ball) -> String {
    match ball.bound {
        Some(bound) => format!("radius {:.4} certified, {bound:.4} at most", ball.radius),
        None => format!("radius {:.4} certified", ball.radius),
    }
}

/// What the two radii mean, and how the second was found.
fn in_words(ball: &Ball, rows: usize) -> String {
    let certified = format!(
        "every set of error rates within {:.4} of the coin toss is achievable (steps along the axes)",
        ball.radius
    );
    let Some(bound) = ball.bound else {
        let many = if ball.search_rows == 0 { "so many rows in a database" } else { "so many classes" };
        return format!("{certified}; with {many} an upper bound is not searched for");
    };
    let searched = if ball.search_rows < rows {
        format!(", searched on {} of the rows and measured on all", grouped(ball.search_rows as u64))
    } else {
        String::new()
    };
    format!("{certified}; no radius above {bound:.4} is ({} random starts{searched})", ball.starts)
}
