//! What the servers of a study in a database must know of each other, besides who is signed in: how many tries to sign in are
//! left, since what may be guessed a minute is a limit of the study however many serve it, and which forms were sent. Networks
//! are in no table (S-12): each server knows those that came to it.

use super::accounts::{Accounts, Result, TOTAL_MS, digest};
use equipoise_log::Tables;
use std::time::Duration;

/// A try, as the table counts them.
const ONE: i64 = 1_000_000;

/// Takes one of so many a minute, evenly refilled, as [`Budget`](crate::budget::Budget) does; by the clock of the database.
const TAKE: &str = "\
    INSERT INTO tries (who, left_over, at) \
    VALUES (?1, ?2::bigint - 1000000, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
    ON CONFLICT (who) DO UPDATE SET at = excluded.at, \
        left_over = least(?2::bigint, tries.left_over + (excluded.at - tries.at) * ?2::bigint / 60000) - 1000000 \
    WHERE least(?2::bigint, tries.left_over + (excluded.at - tries.at) * ?2::bigint / 60000) >= 1000000";

/// After a minute a budget is full, and need not be remembered.
const FORGET: &str =
    "DELETE FROM tries WHERE at < (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 60000";

impl Accounts {
    /// Takes one of the tries an account has, and one of those that all have, where several servers share them; otherwise
    /// says how long to wait. `None` where there is one server, which counts for itself.
    pub fn take_try(
        &self,
        name: &str,
        of_one: f64,
        of_all: f64,
    ) -> Result<Option<std::result::Result<(), Duration>>> {
        let tables = self.tables();
        if !tables.is_shared() {
            return Ok(None);
        }
        tables.execute(FORGET, &[])?;
        Ok(Some(match take(tables, &format!("account {name}"), of_one)? {
            Ok(()) => take(tables, "all", of_all)?,
            wait => wait,
        }))
    }
}

impl Accounts {
    /// Remembers that a form was sent, where several servers share that: whether it is new. `None` where there is one server.
    pub fn spend_form(&self, key: &str, now: i64) -> Result<Option<bool>> {
        let tables = self.tables();
        if !tables.is_shared() {
            return Ok(None);
        }
        tables.execute("DELETE FROM form WHERE at < ?1", &[now.saturating_sub(TOTAL_MS).into()])?;
        let new = tables.execute(
            "INSERT INTO form (key, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            &[digest(key).into(), now.into()],
        )?;
        Ok(Some(new > 0))
    }
}

fn take(tables: &Tables, who: &str, a_minute: f64) -> Result<std::result::Result<(), Duration>> {
    let most = (a_minute * ONE as f64) as i64;
    match tables.execute(TAKE, &[digest(who).into(), most.into()])? {
        0 => Ok(Err(Duration::from_secs_f64(60.0 / a_minute))),
        _ => Ok(Ok(())),
    }
}
