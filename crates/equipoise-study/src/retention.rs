//! How long data are kept, and what is past its time.

use crate::error::{Error, Result};
use equipoise_log::{COMMON_SESSION, Reader, each, erased};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A day, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

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
}

/// Who is past their time. The clock of the log counts, from the last event of each; whoever was erased is not due again.
pub fn due(rule: Retention, log: &dyn Reader, now: i64) -> Result<Due> {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    each(log, |row| {
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
    Ok(Due { contacts: past(rule.contact_days), people: past(rule.answers_days) })
}
