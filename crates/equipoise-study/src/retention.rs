//! How long data are kept, and what is past its time.

use crate::error::{Error, Result};
use crate::event::{Action, Admin, Event};
use equipoise_log::{COMMON_SESSION, Reader, Row, each, erased};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;
/// A clock this much beyond what the log has seen is not believed until somebody says that it is right.
const FAR: i64 = 90 * DAY_MS;
/// A study that is served writes down this often that its clock was right, so that a quiet one stays within [`FAR`].
const QUIET: i64 = 30 * DAY_MS;

/// How long data are kept after somebody was last heard of; what is not named is kept until somebody deletes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days after which nobody can tell any more who somebody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_days: Option<u32>,
    /// Days after which everything of theirs is erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_days: Option<u32>,
}

impl Retention {
    /// Whether nothing is deleted by itself. The hash of such a study is what it was before there was such a rule.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Sessions that are past their time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// Whose contact data are to go.
    pub contacts: BTreeSet<String>,
    /// Who is to be erased.
    pub people: BTreeSet<String>,
    /// The last time the log is sure of, if the clock is so far beyond it that it may be wrong.
    pub doubt: Option<i64>,
    /// Whether there is something to write down: that something was deleted, or that the clock was right all the while.
    pub worth_a_row: bool,
}

impl Due {
    /// Whether something is to be deleted.
    pub fn is_any(&self) -> bool {
        !self.contacts.is_empty() || !self.people.is_empty()
    }
}

/// Who is past their time. The clock of the log counts, from the last event of each; whoever was erased is not due again.
pub fn due(rule: Retention, log: &dyn Reader, now: i64) -> Result<Due> {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let mut sure: Option<i64> = None;
    each(log, |row| {
        // Rows that were written by a wrong clock do not make it right; only somebody who says so does.
        let near = |sure: i64| row.at.saturating_sub(sure) <= FAR;
        if sure.is_none_or(near) || vouches(&row)? {
            sure = sure.max(Some(row.at));
        }
        if row.session != COMMON_SESSION {
            let seen = last.entry(row.session).or_insert(row.at);
            *seen = row.at.max(*seen);
        }
        Ok::<_, Error>(())
    })?;
    let erased = erased(log)?;
    let past = |days: Option<u32>| {
        let old = |at: i64| {
            days.is_some_and(|days| now.saturating_sub(at) >= i64::from(days).saturating_mul(DAY_MS))
        };
        let all = last.iter().filter(|(session, at)| old(**at) && !erased.contains(*session));
        all.map(|(session, _)| session.clone()).collect()
    };
    let (contacts, people) = (past(rule.contact_days), past(rule.answers_days));
    let doubt = sure.filter(|sure| now.saturating_sub(*sure) > FAR);
    let quiet = sure.is_some_and(|sure| now.saturating_sub(sure) > QUIET);
    let mut due = Due { contacts, people, doubt, worth_a_row: quiet };
    due.worth_a_row |= due.is_any();
    Ok(due)
}

/// Whether a row was written by somebody who had looked at the clock: `retain --yes`, or a server in no doubt.
fn vouches(row: &Row) -> Result<bool> {
    if row.session != COMMON_SESSION {
        return Ok(false);
    }
    Ok(matches!(Event::in_row(row)?, Some(Event::Admin(Admin { action: Action::Retained { .. }, .. }))))
}
