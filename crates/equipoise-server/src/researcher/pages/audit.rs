//! What was done and who looked, and whether the log is what it was.

use super::counted;
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::{Frame, when};
use askama::Template;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use equipoise_log::{Receipt, verify_receipt};
use equipoise_study::event::{Action, Admin};
use equipoise_study::numbers::grouped;

/// As many as a page holds; the log has all of them.
const SHOWN: usize = 200;

#[derive(Template)]
#[template(path = "researcher/audit.html")]
struct Page {
    frame: Frame,
    rows: String,
    head: String,
    verdict: Option<(bool, String)>,
    receipt: String,
    locked: Vec<(String, u64, String)>,
    actions: Vec<(String, String, String)>,
    more: usize,
}

fn content(call: &Call<'_>, verdict: Option<(bool, String)>) -> Result<Page, equipoise_study::Error> {
    let seen = call.shared.watch.at_once()?;
    let head = call.shared.watch.read(|store| Ok(store.head()?))?;
    let actions = seen.actions.iter().rev().take(SHOWN);
    Ok(Page {
        frame: call.frame("/settings/audit"),
        rows: grouped(head.position),
        head: Receipt { position: head.position, hash: head.hash }.to_string(),
        verdict,
        receipt: call.sent.form.get("receipt").chars().take(100).collect(),
        locked: seen.locked.iter().map(|(at, version, hash)| (when(*at), *version, hash.clone())).collect(),
        actions: actions.map(|(at, admin)| (when(*at), who(admin), words(&admin.action))).collect(),
        more: seen.actions.len().saturating_sub(SHOWN),
    })
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    Ok(show(&content(call, None)?))
}

/// Checks every row of the log, beside the thread that writes it; with a receipt, whether its row is there.
pub fn verify(call: &Call<'_>) -> Outcome {
    let receipt = call.sent.form.get("receipt").trim().to_owned();
    let asked = receipt.clone();
    let found = call.shared.watch.read(move |store| {
        let verified = equipoise_study::verify(store)?;
        if !receipt.is_empty() {
            verify_receipt(store, &receipt)?;
        }
        Ok(verified)
    });
    let verdict = match found {
        Ok(verified) => {
            call.note(Action::Verified { rows: verified.rows })?;
            let holds = if asked.is_empty() { "" } else { " The receipt's row is in it." };
            let rows = grouped(verified.rows);
            let what = format!(
                "The log agrees with itself: {rows} rows, {} participants, {} erased.{holds}",
                verified.sessions, verified.erased
            );
            (true, what)
        }
        Err(error @ (equipoise_study::Error::Damaged(_) | equipoise_study::Error::Missing(_))) => {
            (false, crate::researcher::frame::capital(&format!("{error}.")))
        }
        Err(error) => return Err(error.into()),
    };
    let status = if verdict.0 { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok((status, show(&content(call, Some(verdict))?)).into_response())
}

/// Whose doing it was.
fn who(admin: &Admin) -> String {
    match &admin.token {
        Some(token) => format!("{}, token {token}", admin.account),
        None => admin.account.clone(),
    }
}

/// What was done, in words.
fn words(action: &Action) -> String {
    match action {
        Action::SignedIn => "signed in".to_owned(),
        Action::Looked { page, participant: None } => format!("looked at {page}"),
        Action::Looked { page, participant: Some(number) } => {
            format!("looked at {page}, participant {number}")
        }
        Action::MadeLinks { first, count } => {
            format!("made {count} links, for participant {first} and those after")
        }
        Action::LinkShown { participant } => format!("had the link of participant {participant} shown"),
        Action::Edited { file } => format!("changed {file}"),
        Action::Locked { version } => format!("locked version {version}"),
        Action::Exported { format } => format!("exported {format}"),
        Action::Erased { participant } => format!("erased participant {participant}"),
        Action::Restored { rows } => {
            format!("put a backup of {} rows in the place of the log", grouped(*rows))
        }
        Action::Verified { rows } => format!("had {} rows of the log checked", grouped(*rows)),
        Action::Blinded { blinded: true } => "hid results from researchers".to_owned(),
        Action::Blinded { blinded: false } => "showed results to researchers again".to_owned(),
        Action::AccountAdded { name, role } => format!("made the account {name}, {role}"),
        Action::RoleChanged { name, role } => format!("made {name} {role}"),
        Action::PasswordChanged { name } => format!("gave {name} another password"),
        Action::AccountRemoved { name } => format!("took the account {name} away"),
        Action::SessionsEnded { name } => format!("signed {name} out everywhere"),
        Action::TokenMade { name, holder, scopes, days } => {
            format!("made the token {name} of {holder} for {scopes}, good for {days} days")
        }
        Action::ContactsForgotten { people } => {
            format!("deleted the contact data of {} participants and their key", grouped(*people))
        }
        Action::Retained { contacts: 0, people: 0 } => "found nothing past its time".to_owned(),
        Action::Retained { contacts, people } => format!(
            "deleted what was past its time: the contact data of {}, all of {}",
            counted(*contacts as usize, "participant", "participants"),
            counted(*people as usize, "participant", "participants")
        ),
        Action::TokenRevoked { name } => format!("revoked the token {name}"),
    }
}
