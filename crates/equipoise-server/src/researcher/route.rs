//! Every route and who may use it, in one table.

use super::accounts::Role;
use super::call::{Call, Outcome, Stranger};
use super::pages::{api, audit, design, export, group, links, live, models, people, settings, studies};
use super::sign;
use super::tokens::Scope;
use axum::http::Method;
use axum::response::Response;

/// Who may use a route, with what answers them.
pub(super) enum Door {
    /// Everybody, signed in or not.
    Anyone(fn(&Stranger<'_>) -> Response),
    /// Accounts of this role and those above it.
    AtLeast(Role, fn(&Call<'_>) -> Outcome),
    /// The same, and scripts with a token of this scope, if the account it belongs to has the scope's least role.
    Scripts(Scope, fn(&Call<'_>) -> Outcome),
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Anyone,
    /// Accounts of this role and those above it.
    AtLeast(Role),
    /// Accounts of the scope's least role and those above it, and scripts with a token of this scope.
    Scripts(Scope),
}

/// A line of the table.
pub struct Route {
    /// GET or POST.
    pub method: Method,
    /// With `{name}` for a part that varies.
    pub path: &'static str,
    pub(super) door: Door,
}

impl Route {
    /// Who may use it.
    pub fn access(&self) -> Access {
        match self.door {
            Door::Anyone(_) => Access::Anyone,
            Door::AtLeast(role, _) => Access::AtLeast(role),
            Door::Scripts(scope, _) => Access::Scripts(scope),
        }
    }
}

impl Access {
    /// The least role of an account; nothing if none is needed.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Anyone => None,
            Self::AtLeast(role) => Some(role),
            Self::Scripts(scope) => Some(scope.least()),
        }
    }
}

/// A page that scripts may read, too. There is no such thing for forms: what changes something is for people.
const fn script(path: &'static str, scope: Scope, handler: fn(&Call<'_>) -> Outcome) -> Route {
    Route { method: Method::GET, path, door: Door::Scripts(scope, handler) }
}

const fn get(path: &'static str, door: Door) -> Route {
    Route { method: Method::GET, path, door }
}

const fn post(path: &'static str, door: Door) -> Route {
    Route { method: Method::POST, path, door }
}

static ROUTES: &[Route] = &[
    get("/health", Door::Anyone(sign::health)),
    get("/assets/{name}", Door::Anyone(sign::asset)),
    get("/sign-in", Door::Anyone(sign::form)),
    post("/sign-in", Door::Anyone(sign::sign_in)),
    post("/sign-out", Door::AtLeast(Role::Viewer, sign::sign_out)),
    get("/", Door::AtLeast(Role::Viewer, studies::page)),
    get("/design", Door::AtLeast(Role::Viewer, design::page)),
    get("/links", Door::AtLeast(Role::Owner, links::page)),
    post("/links", Door::AtLeast(Role::Owner, links::make)),
    get("/live", Door::AtLeast(Role::Viewer, live::page)),
    get("/people", Door::AtLeast(Role::Analyst, people::page)),
    get("/people/{number}", Door::AtLeast(Role::Analyst, people::person)),
    get("/group", Door::AtLeast(Role::Viewer, group::page)),
    get("/models", Door::AtLeast(Role::Viewer, models::page)),
    get("/export", Door::AtLeast(Role::Analyst, export::page)),
    script("/export/{file}", Scope::Export, export::file),
    script("/api/live", Scope::ReadAggregate, api::live),
    script("/api/people", Scope::ReadAnswers, api::people),
    get("/audit", Door::AtLeast(Role::Analyst, audit::page)),
    post("/audit/verify", Door::AtLeast(Role::Analyst, audit::verify)),
    get("/settings", Door::AtLeast(Role::Viewer, settings::page)),
    post("/settings/password", Door::AtLeast(Role::Viewer, settings::password)),
    post("/settings/sessions", Door::AtLeast(Role::Viewer, settings::end_sessions)),
    post("/settings/tokens", Door::AtLeast(Role::Viewer, settings::make_token)),
    post("/settings/tokens/revoke", Door::AtLeast(Role::Viewer, settings::revoke_token)),
    post("/settings/blinded", Door::AtLeast(Role::Owner, settings::blinded)),
    post("/accounts", Door::AtLeast(Role::Owner, settings::add)),
    post("/accounts/role", Door::AtLeast(Role::Owner, settings::role)),
    post("/accounts/password", Door::AtLeast(Role::Owner, settings::set_password)),
    post("/accounts/sessions", Door::AtLeast(Role::Owner, settings::end_sessions_of)),
    post("/accounts/remove", Door::AtLeast(Role::Owner, settings::remove)),
];

/// The table.
pub fn routes() -> &'static [Route] {
    ROUTES
}
