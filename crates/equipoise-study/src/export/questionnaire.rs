//! What people said about themselves, and the costs they stated: a row per item, and per option chosen.

use super::{Cell, Column, Kind, Table, column, word};
use crate::error::{Error, Result};
use crate::event::{Event, ItemAnswer};
use equipoise_log::{COMMON_SESSION, Reader, each, hex};
use std::collections::HashMap;

const COLUMNS: [Column; 10] = [
    column("study_version", Kind::Whole, "The version of the study file the participant was invited to"),
    column("participant", Kind::Whole, "The participant, counted from 1 in the order of invitations"),
    column("seq", Kind::Whole, "The number of the event among the participant's events"),
    column("position", Kind::Text, "When it was asked: before, task (right after the comparisons) or after"),
    column(
        "item",
        Kind::Text,
        "The item as the study file names it; stated_cost and its ends stated_cost_low, stated_cost_high",
    ),
    column(
        "kind",
        Kind::Text,
        "number, text, several (a row for each option) or declined (would rather not say)",
    ),
    column("number", Kind::Real, "The number, or the step on a scale"),
    column("answer", Kind::Text, "The text, or the option that was chosen, in the participant's language"),
    column("received_at", Kind::Time, "When it was written to the log"),
    column("chain_hash", Kind::Text, "The hash of the event's row in the log"),
];

/// Every answer to an item in the log, in order.
pub fn questionnaire(log: &dyn Reader) -> Result<Table> {
    let mut people: HashMap<String, [u64; 2]> = HashMap::new();
    let mut rows = vec![];
    each(log, |row| {
        if row.session == COMMON_SESSION {
            return Ok(());
        }
        let event = Event::in_row(&row)?;
        // Whoever was erased has no invitation any more.
        let who = people.get(&row.session).copied();
        if who.is_none() && !matches!(event, Some(Event::Invited(_))) {
            return Ok(());
        }
        let [version, participant] = who.unwrap_or_default();
        let mut push =
            |position: String, item: &str, kind: &str, number: Option<f64>, answer: Option<&str>| {
                rows.push(vec![
                    Cell::Whole(version),
                    Cell::Whole(participant),
                    Cell::Whole(row.seq),
                    Cell::Text(position),
                    Cell::text(item),
                    Cell::text(kind),
                    number.map_or(Cell::Nothing, Cell::Real),
                    answer.map_or(Cell::Nothing, Cell::text),
                    Cell::Time(row.at),
                    Cell::Text(hex::encode(&row.hash)),
                ]);
            };
        match event {
            Some(Event::Invited(invited)) => {
                people.insert(row.session.clone(), [invited.version, invited.number]);
            }
            Some(Event::StatedCost { when, ratio, low, high }) => {
                let kind = if ratio.is_some() { "number" } else { "declined" };
                push(word(&when), "stated_cost", kind, ratio, None);
                for (item, end) in [("stated_cost_low", low), ("stated_cost_high", high)] {
                    if end.is_some() {
                        push(word(&when), item, "number", end, None);
                    }
                }
            }
            Some(Event::QuestionnaireAnswered { position, answers }) => {
                let position = word(&position);
                for (item, answer) in &answers {
                    let at = position.clone();
                    match answer {
                        ItemAnswer::Number(number) => push(at, item, "number", Some(*number), None),
                        ItemAnswer::Text(text) => push(at, item, "text", None, Some(text)),
                        ItemAnswer::Declined(()) => push(at, item, "declined", None, None),
                        // Asked and nothing ticked is an answer too.
                        ItemAnswer::Several(none) if none.is_empty() => push(at, item, "several", None, None),
                        ItemAnswer::Several(all) => {
                            for option in all {
                                push(at.clone(), item, "several", None, Some(option));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
        Ok::<_, Error>(())
    })?;
    Ok(Table { name: "questionnaire", columns: &COLUMNS, rows })
}
