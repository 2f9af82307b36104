//! A data set as the Psych-DS standard has it: a description in JSON-LD, and tables whose every column it describes.

use super::{Column, Kind, Table};
use crate::study::Study;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The files of a data set, by path: `dataset_description.json`, `README.md` and `data/*_data.csv`.
///
/// `head` is the head of the log the tables were made from.
pub fn psych_ds(study: &Study, tables: &[Table], head: &str) -> Vec<(String, String)> {
    // Values of keywords are letters and digits only.
    let name: String = study.name.chars().filter(char::is_ascii_alphanumeric).collect();
    let title = study.title.r#in("en");
    let mut named = BTreeSet::new();
    let columns = tables.iter().flat_map(|table| table.columns).filter(|column| named.insert(column.name));
    let description = json!({
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": title,
        "description": format!(
            "{} Answers of participants who compared two systems at a time, and what they said about themselves.",
            study.task.introduction.r#in("en")
        ),
        "version": study.version.to_string(),
        "identifier": head,
        "keywords": ["metric elicitation", "pairwise comparisons"],
        "variableMeasured": columns.map(variable).collect::<Vec<Value>>(),
    });
    let mut files = vec![
        ("dataset_description.json".to_owned(), format!("{description:#}\n")),
        ("README.md".to_owned(), readme(study, tables, title, head)),
    ];
    files.extend(tables.iter().map(|table| {
        (format!("data/study-{name}_version-{}_table-{}_data.csv", study.version, table.name), table.csv())
    }));
    files
}

fn variable(column: &Column) -> Value {
    let mut variable =
        json!({ "@type": "PropertyValue", "name": column.name, "description": column.description });
    match column.kind {
        Kind::Time => variable["unitText"] = json!("milliseconds since 1970-01-01T00:00:00Z"),
        Kind::Counts => variable["unitText"] = json!("people, separated by spaces"),
        Kind::Whole | Kind::Real | Kind::Text => {}
    }
    variable
}

fn readme(study: &Study, tables: &[Table], title: &str, head: &str) -> String {
    let classes: Vec<String> =
        study.task.classes.iter().map(|class| format!("\"{}\"", class.truth.r#in("en"))).collect();
    let rows: Vec<String> =
        tables.iter().map(|table| format!("- {}: {} rows", table.name, table.rows.len())).collect();
    let items: Vec<String> = study
        .questionnaire
        .iter()
        .map(|item| format!("- {}: {}", item.id, item.question.r#in("en")))
        .collect();
    format!(
        "# {title}\n\nVersion {} of the study, from a log whose head is {head}.\n\nTables in `data`:\n\n{}\n\nThe classes, in \
         the order of the cells: {}.\n\nItems of the questionnaire:\n\n{}\n\nAn apostrophe in front of a text keeps \
         spreadsheets from taking it for a formula; it is not part of the text.\n",
        study.version,
        rows.join("\n"),
        classes.join(", "),
        items.join("\n"),
    )
}
