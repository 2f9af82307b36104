//! The answers as rows for other programs (RS-13): one schema for every format.

use crate::error::Result;
use crate::event::{Choice, Event, Side};
use crate::hex;
use crate::log::{STUDY_SESSION, Store};
use serde::Serialize;
use std::collections::HashMap;

/// One answer, also if it was taken back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerRow {
    /// The version of the study.
    pub study_version: u64,
    /// Counted from 1 in the order of invitations.
    pub participant: u64,
    /// The answer's number within the participant's events.
    pub seq: u64,
    /// elicitation, evaluation, repeat or dominated.
    pub kind: &'static str,
    /// The comparison's number; a repeat's is that of what it repeats in `repeat_of`.
    pub question: usize,
    /// What is repeated.
    pub repeat_of: Option<usize>,
    /// How it was drawn.
    pub variant: String,
    /// Out of so many.
    pub n_display: u64,
    /// Cells of A.
    pub a_cells: Vec<u64>,
    /// Cells of B.
    pub b_cells: Vec<u64>,
    /// The side with fewer missed cases.
    pub side_of_fewer_fn: Side,
    /// What was chosen.
    pub answer: Choice,
    /// Response time, hidden time taken off.
    pub rt_ms: Option<u64>,
    /// Hidden time.
    pub hidden_ms: u64,
    /// Number of the event that took it back.
    pub retracted_by: Option<u64>,
    /// When the comparison was written, before it was shown.
    pub served_at: i64,
    /// When the answer was received.
    pub received_at: i64,
    /// The hash of the answer's row in the log.
    pub chain_hash: String,
}

/// The columns, in order.
pub const COLUMNS: [&str; 18] = [
    "study_version",
    "participant",
    "seq",
    "kind",
    "question",
    "repeat_of",
    "variant",
    "n_display",
    "a_cells",
    "b_cells",
    "side_of_fewer_fn",
    "answer",
    "rt_ms",
    "hidden_ms",
    "retracted_by",
    "served_at",
    "received_at",
    "chain_hash",
];

/// Every answer in the log, in order.
pub fn answers(store: &dyn Store) -> Result<Vec<AnswerRow>> {
    #[derive(Default)]
    struct Seen {
        participant: u64,
        version: u64,
        asked: HashMap<u64, (crate::event::Asked, i64)>,
        answered: HashMap<u64, usize>,
    }
    let mut sessions: HashMap<String, Seen> = HashMap::new();
    let mut all: Vec<AnswerRow> = vec![];
    store.each(&mut |row| {
        if row.session == STUDY_SESSION {
            return Ok(());
        }
        let event = row.event()?;
        let seen = sessions.entry(row.session.clone()).or_default();
        match event {
            Some(Event::Invited(invited)) => {
                (seen.participant, seen.version) = (invited.number, invited.version);
            }
            Some(Event::Asked(asked)) => {
                seen.asked.insert(row.seq, (asked, row.at));
            }
            Some(Event::Answered(answer)) => {
                if let Some((asked, served_at)) = seen.asked.get(&answer.asked) {
                    seen.answered.insert(answer.asked, all.len());
                    all.push(AnswerRow {
                        study_version: seen.version,
                        participant: seen.participant,
                        seq: row.seq,
                        kind: asked.purpose.word(),
                        question: asked.number,
                        repeat_of: match asked.purpose {
                            crate::event::Purpose::Repeat { of } => Some(of),
                            _ => None,
                        },
                        variant: word(&asked.variant),
                        n_display: asked.shown.people,
                        a_cells: asked.shown.a.clone(),
                        b_cells: asked.shown.b.clone(),
                        side_of_fewer_fn: asked.fewer_missed,
                        answer: answer.choice,
                        rt_ms: answer.response_ms,
                        hidden_ms: answer.hidden_ms,
                        retracted_by: None,
                        served_at: *served_at,
                        received_at: row.at,
                        chain_hash: hex::encode(&row.hash),
                    });
                }
            }
            Some(Event::Retracted { asked }) => {
                if let Some(&at) = seen.answered.get(&asked) {
                    all[at].retracted_by = Some(row.seq);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(all)
}

/// The word a value has in documents.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// As comma-separated values, with a header.
pub fn csv(rows: &[AnswerRow]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for row in rows {
        let value = serde_json::to_value(row).expect("rows are plain data");
        let cells: Vec<String> = COLUMNS.iter().map(|column| cell(&value[*column])).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// As one JSON object per line.
pub fn json_lines(rows: &[AnswerRow]) -> String {
    rows.iter().map(|row| serde_json::to_string(row).expect("rows are plain data") + "\n").collect()
}

/// A value as a cell; lists are separated by spaces.
fn cell(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => quoted(text),
        serde_json::Value::Array(items) => {
            items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// A text that no spreadsheet takes for a formula (CWE-1236), in quotes where it needs them.
pub fn quoted(text: &str) -> String {
    let risky = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if risky { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r', '\t']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_only_text() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-2", "'-2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\"'\t=1\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("plain", "plain"),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
