//! Every answer to a comparison, also if it was taken back.

use super::{Cell, Column, Kind, Table, column, word};
use crate::error::{Error, Result};
use crate::event::{Answered, Asked, Event, Purpose};
use crate::timing;
use equipoise_log::{COMMON_SESSION, Reader, Row, each, hex};
use std::collections::HashMap;

const RETRACTED_BY: usize = 15;

const COLUMNS: [Column; 24] = [
    column("study_version", Kind::Whole, "The version of the study file the participant was invited to"),
    column("participant", Kind::Whole, "The participant, counted from 1 in the order of invitations"),
    column("seq", Kind::Whole, "The number of the answer among the participant's events"),
    column("kind", Kind::Text, "Why it was asked: elicitation, evaluation, repeat or dominated"),
    column(
        "family",
        Kind::Text,
        "With groups, what differs between the systems: performance, gaps or trade_off",
    ),
    column("question", Kind::Whole, "The number of the comparison on the participant's screen"),
    column("repeat_of", Kind::Whole, "Of a repeat, the number of the comparison it repeats"),
    column("variant", Kind::Text, "How the comparison was drawn"),
    column("n_display", Kind::Whole, "The numbers on the screen were out of so many people"),
    column(
        "a_cells",
        Kind::Counts,
        "People in system A: group by group, truth by truth, of each truth the predictions",
    ),
    column("b_cells", Kind::Counts, "People in system B, in the same order"),
    column(
        "side_of_fewer_fn",
        Kind::Text,
        "The system with fewer missed cases (of more classes: of the first mistake that differs)",
    ),
    column("answer", Kind::Text, "What was chosen: a, b or cannot_tell"),
    column(
        "rt_ms",
        Kind::Whole,
        "Response time in milliseconds, hidden time taken off; nothing without a script",
    ),
    column("hidden_ms", Kind::Whole, "How long the page was hidden meanwhile, in milliseconds"),
    column("retracted_by", Kind::Whole, "The number of the event that took the answer back"),
    column("served_at", Kind::Time, "When the comparison was written to the log, before it was shown"),
    column("received_at", Kind::Time, "When the answer was written to the log"),
    column("needed_ms", Kind::Whole, "Milliseconds that reading what differs takes at least"),
    column(
        "unread",
        Kind::Text,
        "yes if the answer came faster than that, by the browser's clock or the server's",
    ),
    column(
        "time_disputed",
        Kind::Text,
        "yes if the browser told more time than went by between the two times",
    ),
    column("chain_hash", Kind::Text, "The hash of the answer's row in the log"),
    column(
        "a_values",
        Kind::Text,
        "The numbers of candidate A in the order of the attributes, where they have any",
    ),
    column("b_values", Kind::Text, "The numbers of candidate B, in the same order"),
];

/// Every answer in the log, in order.
pub fn answers(log: &dyn Reader) -> Result<Table> {
    #[derive(Default)]
    struct Seen {
        participant: u64,
        version: u64,
        asked: HashMap<u64, (Asked, i64)>,
        answered: HashMap<u64, usize>,
    }
    let mut sessions: HashMap<String, Seen> = HashMap::new();
    let mut rows: Vec<Vec<Cell>> = vec![];
    each(log, |row| {
        if row.session == COMMON_SESSION {
            return Ok(());
        }
        let event = Event::in_row(&row)?;
        let seen = sessions.entry(row.session.clone()).or_default();
        match event {
            Some(Event::Invited(invited)) => {
                (seen.participant, seen.version) = (invited.number, invited.version);
            }
            // Whoever was erased has no invitation any more.
            Some(Event::Asked(asked)) if seen.participant > 0 => {
                seen.asked.insert(row.seq, (asked, row.at));
            }
            Some(Event::Answered(answer)) => {
                if let Some((asked, served_at)) = seen.asked.get(&answer.asked) {
                    seen.answered.insert(answer.asked, rows.len());
                    rows.push(cells([seen.version, seen.participant], &row, asked, *served_at, &answer));
                }
            }
            Some(Event::Retracted { asked }) => {
                if let Some(&at) = seen.answered.get(&asked) {
                    rows[at][RETRACTED_BY] = Cell::Whole(row.seq);
                }
            }
            _ => {}
        }
        Ok::<_, Error>(())
    })?;
    Ok(Table { name: "answers", columns: &COLUMNS, rows })
}

fn cells(who: [u64; 2], row: &Row, asked: &Asked, served_at: i64, answer: &Answered) -> Vec<Cell> {
    let repeat_of = match asked.purpose {
        Purpose::Repeat { of } => Some(of as u64),
        _ => None,
    };
    let elapsed = Some(row.at.saturating_sub(served_at).max(0) as u64);
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    vec![
        Cell::Whole(who[0]),
        Cell::Whole(who[1]),
        Cell::Whole(row.seq),
        Cell::text(asked.purpose.word()),
        asked.family.map_or(Cell::Nothing, |family| Cell::Text(word(&family))),
        Cell::Whole(asked.number as u64),
        Cell::whole(repeat_of),
        Cell::Text(word(&asked.variant)),
        Cell::Whole(asked.shown.people),
        Cell::Counts(asked.shown.a.clone()),
        Cell::Counts(asked.shown.b.clone()),
        Cell::Text(word(&asked.fewer_missed)),
        Cell::Text(word(&answer.choice)),
        Cell::whole(answer.response_ms),
        Cell::Whole(answer.hidden_ms.min(i64::MAX as u64)),
        Cell::Nothing,
        Cell::Time(served_at),
        Cell::Time(row.at),
        Cell::Whole(timing::needed_ms(&asked.shown)),
        Cell::text(yes(timing::is_unread(&asked.shown, answer, elapsed))),
        match answer.response_ms {
            Some(_) => Cell::text(yes(timing::is_disputed(answer, elapsed))),
            None => Cell::Nothing,
        },
        Cell::Text(hex::encode(&row.hash)),
        values(asked, 0),
        values(asked, 1),
    ]
}

/// The numbers of one candidate, where they have attributes.
fn values(asked: &Asked, side: usize) -> Cell {
    let list = |values: &Vec<f64>| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    asked.shown.values.as_ref().map_or(Cell::Nothing, |values| Cell::Text(list(&values[side])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_retractions_is_where_it_is_said_to_be() {
        assert_eq!(COLUMNS[RETRACTED_BY].name, "retracted_by");
    }
}
