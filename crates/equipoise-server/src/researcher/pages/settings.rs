//! One's own account and tokens for everybody; all accounts, all tokens and blinding for owners.

use crate::researcher::accounts::{Error, Role};
use crate::researcher::call::{Call, Outcome, Problem, go, page as show};
use crate::researcher::frame::{Frame, when};
use crate::researcher::limit::From;
use crate::researcher::password::SHORTEST;
use crate::researcher::tokens::{self, LONGEST_DAYS, Scope, Wanted};
use askama::Template;
use equipoise_study::event::Action;
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
    tokens: Vec<TokenLine>,
    /// What a token of this account may read.
    scopes: Vec<Scope>,
    longest: u32,
    /// A token that was just made: its name, and itself. It is in this response and nowhere else.
    told: Option<(String, String)>,
    /// Scheme, host and port, for the example.
    origin: String,
}

struct TokenLine {
    name: String,
    account: String,
    scopes: String,
    expires: String,
    expired: bool,
    used: Option<String>,
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
    Ok(show(&content(call, None)?))
}

fn content(call: &Call<'_>, told: Option<(String, String)>) -> Result<Page, Problem> {
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
        "revoked" => Some("The token was revoked. It opens nothing any more."),
        _ => None,
    };
    let role = call.account().role;
    let own = call.shared.accounts.tokens()?.into_iter();
    let tokens = own.filter(|token| owner || token.account.name == call.account().name);
    Ok(Page {
        frame: call.frame("/settings"),
        done,
        shortest: SHORTEST,
        owner,
        name: call.account().name.clone(),
        blinded: call.counted()?.blinded,
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
        tokens: tokens
            .map(|token| TokenLine {
                scopes: token.scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(", "),
                account: token.account.name,
                name: token.name,
                expires: when(token.expires_at),
                expired: token.expires_at <= call.now(),
                used: token.used_at.map(when),
            })
            .collect(),
        scopes: Scope::ALL.into_iter().filter(|scope| scope.least() <= role).collect(),
        longest: LONGEST_DAYS,
        told,
        origin: call.shared.settings.origin.clone(),
    })
}

/// Makes a token of one's own for scripts, and shows it once.
pub fn make_token(call: &Call<'_>) -> Outcome {
    let form = &call.sent.form;
    let (name, account) = (form.get("token").trim(), call.account().name.as_str());
    let unknown = || Error::Refused("the form has a scope that is not there".to_owned());
    let scopes = form.all("scope").map(|word| Scope::from_word(word).ok_or_else(unknown));
    let scopes = scopes.collect::<Result<Vec<Scope>, Error>>()?;
    let Some(days) = form.number::<u32>("days") else {
        let what = format!("the form does not say for how many days, expected 1 to {LONGEST_DAYS}");
        return Err(Error::Refused(what).into());
    };
    let token =
        call.shared.accounts.add_token(&Wanted { name, account, scopes: &scopes, days }, call.now())?;
    let action = Action::TokenMade {
        name: name.to_owned(),
        holder: account.to_owned(),
        scopes: tokens::words(&scopes),
        days,
    };
    // A token nobody could see in the audit log is not given out.
    if let Err(error) = call.note(action) {
        call.shared.accounts.revoke_token(name)?;
        return Err(error.into());
    }
    Ok(show(&content(call, Some((name.to_owned(), token)))?))
}

/// Takes a token away: one's own, or for owners anybody's.
pub fn revoke_token(call: &Call<'_>) -> Outcome {
    let name = call.sent.form.get("token").to_owned();
    let theirs = call.shared.accounts.tokens()?.into_iter().any(|token| {
        token.name == name
            && (token.account.name == call.account().name || call.account().role == Role::Owner)
    });
    if !theirs {
        return Err(Error::Refused(format!("there is no token \"{name}\" of yours")).into());
    }
    call.shared.accounts.revoke_token(&name)?;
    call.note(Action::TokenRevoked { name })?;
    Ok(go("/settings?done=revoked"))
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
    call.note(Action::PasswordChanged { name })?;
    Ok(go("/sign-in"))
}

/// Signs oneself out everywhere.
pub fn end_sessions(call: &Call<'_>) -> Outcome {
    let name = call.account().name.clone();
    call.shared.accounts.end_all(&name)?;
    call.note(Action::SessionsEnded { name })?;
    Ok(go("/sign-in"))
}

/// Hides which way results point, or shows it again.
pub fn blinded(call: &Call<'_>) -> Outcome {
    let blinded = match call.sent.form.get("blinded") {
        "yes" => true,
        "no" => false,
        _ => return Err(Error::Refused("the form does not say whether to hide results".to_owned()).into()),
    };
    call.note(Action::Blinded { blinded })?;
    call.shared.watch.at_once()?;
    Ok(go(if blinded { "/settings?done=blinded" } else { "/settings?done=open" }))
}

/// Makes an account.
pub fn add(call: &Call<'_>) -> Outcome {
    let (name, role) = (about(call).to_owned(), role_of(call)?);
    call.shared.accounts.add(&name, role, call.sent.form.get("password"), call.now())?;
    call.note(Action::AccountAdded { name, role: role.word().to_owned() })?;
    Ok(go("/settings?done=account"))
}

/// Changes what an account may do.
pub fn role(call: &Call<'_>) -> Outcome {
    let (name, role) = (about(call).to_owned(), role_of(call)?);
    call.shared.accounts.set_role(&name, role)?;
    call.note(Action::RoleChanged { name, role: role.word().to_owned() })?;
    Ok(go("/settings?done=role"))
}

/// Gives an account another password.
pub fn set_password(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    call.shared.accounts.set_password(&name, call.sent.form.get("password"))?;
    call.note(Action::PasswordChanged { name })?;
    Ok(go("/settings?done=password"))
}

/// Signs an account out everywhere.
pub fn end_sessions_of(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    if call.shared.accounts.account(&name)?.is_none() {
        return Err(Error::Refused(format!("there is no account \"{name}\"")).into());
    }
    call.shared.accounts.end_all(&name)?;
    call.note(Action::SessionsEnded { name })?;
    Ok(go("/settings?done=sessions"))
}

/// Takes an account away.
pub fn remove(call: &Call<'_>) -> Outcome {
    let name = about(call).to_owned();
    call.shared.accounts.remove(&name)?;
    call.note(Action::AccountRemoved { name })?;
    Ok(go("/settings?done=removed"))
}
