//! One's own account for everybody; all accounts and blinding for owners.

use crate::researcher::accounts::{Error, Role};
use crate::researcher::call::{Call, Outcome, Problem, go, page as show};
use crate::researcher::frame::{Frame, when};
use crate::researcher::limit::From;
use crate::researcher::password::SHORTEST;
use askama::Template;
use equipoise_study::event::Deed;
use std::sync::PoisonError;
use std::time::Instant;

#[derive(Template)]
#[template(path = "researcher/settings.html")]
struct Page {
    frame: Frame,
    done: Option<&'static str>,
    shortest: usize,
    owner: bool,
    name: String,
    blinded: bool,
    accounts: Vec<Line>,
    roles: [Role; 3],
}

struct Line {
    name: String,
    role: Role,
    made: String,
    sessions: u64,
    own: bool,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let owner = call.account().role == Role::Owner;
    let accounts = if owner { call.shared.accounts.list()? } else { vec![] };
    let done = match call.sent.query.get("done") {
        "account" => Some("The account was made."),
        "role" => Some("The role was changed."),
        "password" => Some("The password was changed. That account is signed out everywhere."),
        "removed" => Some("The account was taken away."),
        "sessions" => Some("The account is signed out everywhere."),
        "blinded" => Some("Results are hidden from now on."),
        "open" => Some("Results are shown from now on."),
        _ => None,
    };
    Ok(show(&Page {
        frame: call.frame("/settings"),
        done,
        shortest: SHORTEST,
        owner,
        name: call.account().name.clone(),
        blinded: call.seen()?.blinded,
        accounts: accounts
            .into_iter()
            .map(|listed| Line {
                own: listed.account.name == call.account().name,
                name: listed.account.name,
                role: listed.account.role,
                made: when(listed.made_at),
                sessions: listed.sessions,
            })
            .collect(),
        roles: Role::ALL,
    }))
}

/// The account a form is about.
fn about<'a>(call: &'a Call<'_>) -> &'a str {
    call.sent.form.get("name")
}

fn role_of(call: &Call<'_>) -> Result<Role, Problem> {
    Role::from_word(call.sent.form.get("role")).ok_or_else(|| {
        Problem::Accounts(Error::Refused(
            "the form has no role, expected owner, analyst or viewer".to_owned(),
        ))
    })
}

/// Gives oneself another password.
pub fn password(call: &Call<'_>) -> Outcome {
    let (form, name) = (&call.sent.form, call.account().name.clone());
    // Whoever finds a browser signed in does not get to guess at leisure.
    let from = From::known(&call.signed.id());
    let limit = || call.shared.limit.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(wait) = limit().allow(&name, &from, Instant::now()) {
        let seconds = wait.as_secs().max(1);
        return Err(Error::Refused(format!("too many attempts, try again in {seconds} s")).into());
    }
    if call.shared.accounts.check(&name, form.get("old"))?.is_none() {
        limit().failed(&name, &from, Instant::now());
        return Err(Error::Refused("the old password is wrong".to_owned()).into());
    }
    call.shared.accounts.set_password(&name, form.get("new"))?;
    call.note(Deed::PasswordChanged { name })?;
    Ok(go("/sign-in"))
}

/// Signs oneself out everywhere.
pub fn end_sessions(call: &Call<'_>) -> Outcome {
    let name = call.account().name.clone();
    call.shared.accounts.end_all(&name)?;
    call.note(Deed::SessionsEnded { name })?;
    Ok(go("/sign-in"))
}

/// Hides which way results point, or shows it again.
pub fn blinded(call: &Call<'_>) -> Outcome {
    let blinded = match call.sent.form.get("blinded") {
        "yes" => true,
        "no" => false,
        _ => return Err(Error::Refused("the form does not say whether to hide results".to_owned()).into()),
    };
    call.note(Deed::Blinded { blinded })?;
    call.shared.watch.at_once()?;
    Ok(go(if blinded { "/settings?done=blinded" } else { "/settings?done=open" }))
}

/// Makes an account.
pub fn add(call: &Call<'_>) -> Outcome {
    let (name, role) = (about(call).to_owned(), role_of(call)?);
    call.shared.accounts.add(&name, role, call.sent.form.get("password"), call.now())?;
    call.note(Deed::AccountAdded { name, role: role.word().to_owned() })?;
    Ok(go("/settings?done=account"))
}

/// Changes what an account may do.
pub fn role(call: &Call<'_>) -> Outcome {
    let (name, role) = (about(call).to_owned(), role_of(call)?);
    call.shared.accounts.set_role(&name, role)?;
    call.note(Deed::RoleChanged { name, role: role.word().to_owned() })?;
    Ok(go("/settings?done=role"))
}

/// Gives an account another password.
pub fn set_password(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    call.shared.accounts.set_password(&name, call.sent.form.get("password"))?;
    call.note(Deed::PasswordChanged { name })?;
    Ok(go("/settings?done=password"))
}

/// Signs an account out everywhere.
pub fn end_sessions_of(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    if call.shared.accounts.account(&name)?.is_none() {
        return Err(Error::Refused(format!("there is no account \"{name}\"")).into());
    }
    call.shared.accounts.end_all(&name)?;
    call.note(Deed::SessionsEnded { name })?;
    Ok(go("/settings?done=sessions"))
}

/// Takes an account away.
pub fn remove(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    call.shared.accounts.remove(&name)?;
    call.note(Deed::AccountRemoved { name })?;
    Ok(go("/settings?done=removed"))
}
