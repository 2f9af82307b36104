//! Every route and who may use it, in one table.

use super::accounts::Role;
use super::call::{Call, Outcome, Visitor};
use super::pages::{api, audit, design, edit, export, links, moved, overview, people, results, settings};
use super::sign;
use super::tokens::Scope;
use axum::http::Method;
use axum::response::Response;

/// Who may use a route, with what answers them.
pub(super) enum Handler {
    /// Everybody, signed in or not.
    Anyone(fn(&Visitor<'_>) -> Response),
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
    pub(super) handler: Handler,
    /// Whether its form may be large, and have files.
    pub(super) large: bool,
    /// What answers instead of the handler, and changes nothing, if the form was made before its sender signed in anew. Of such a
    /// route what was typed is shown again to whoever is signed out meanwhile, or may not send it.
    pub(super) kept: Option<fn(&Call<'_>) -> Outcome>,
}

impl Route {
    /// Who may use it.
    pub fn access(&self) -> Access {
        match self.handler {
            Handler::Anyone(_) => Access::Anyone,
            Handler::AtLeast(role, _) => Access::AtLeast(role),
            Handler::Scripts(scope, _) => Access::Scripts(scope),
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
    Route { method: Method::GET, path, handler: Handler::Scripts(scope, handler), large: false, kept: None }
}

const fn get(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::GET, path, handler, large: false, kept: None }
}

const fn post(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::POST, path, handler, large: false, kept: None }
}

/// A form that may be large, and have files.
const fn large(path: &'static str, handler: Handler) -> Route {
    Route { method: Method::POST, path, handler, large: true, kept: None }
}

/// The same, with what people type at length.
const fn typed(path: &'static str, handler: Handler, kept: fn(&Call<'_>) -> Outcome) -> Route {
    Route { method: Method::POST, path, handler, large: true, kept: Some(kept) }
}

static ROUTES: &[Route] = &[
    get("/health", Handler::Anyone(sign::health)),
    get("/assets/{name}", Handler::Anyone(sign::asset)),
    get("/sign-in", Handler::Anyone(sign::form)),
    post("/sign-in", Handler::Anyone(sign::sign_in)),
    post("/sign-out", Handler::AtLeast(Role::Viewer, sign::sign_out)),
    get("/", Handler::AtLeast(Role::Viewer, overview::page)),
    get("/participants", Handler::AtLeast(Role::Analyst, people::page)),
    get("/participants/{number}", Handler::AtLeast(Role::Analyst, people::person)),
    get("/participants/links", Handler::AtLeast(Role::Owner, links::page)),
    post("/participants/links", Handler::AtLeast(Role::Owner, links::make)),
    post("/participants/links/show", Handler::AtLeast(Role::Owner, links::again)),
    get("/results", Handler::AtLeast(Role::Viewer, results::page)),
    get("/results/report", Handler::AtLeast(Role::Analyst, export::report)),
    get("/results/files", Handler::AtLeast(Role::Analyst, export::page)),
    get("/design", Handler::AtLeast(Role::Viewer, design::page)),
    get("/design/edit", Handler::AtLeast(Role::Owner, edit::page)),
    typed("/design/edit", Handler::AtLeast(Role::Owner, edit::save), edit::stale),
    large("/design/check", Handler::AtLeast(Role::Owner, edit::check)),
    typed("/design/table", Handler::AtLeast(Role::Owner, edit::table), edit::stale),
    get("/design/lock", Handler::AtLeast(Role::Owner, edit::before_lock)),
    post("/design/lock", Handler::AtLeast(Role::Owner, edit::lock)),
    post("/design/preview", Handler::AtLeast(Role::Viewer, design::preview)),
    post("/export/stop", Handler::AtLeast(Role::Analyst, export::stop)),
    script("/export/{file}", Scope::Export, export::file),
    script("/api/live", Scope::ReadAggregate, api::live),
    script("/api/people", Scope::ReadAnswers, api::people),
    get("/settings/audit", Handler::AtLeast(Role::Analyst, audit::page)),
    post("/settings/audit", Handler::AtLeast(Role::Analyst, audit::verify)),
    get("/settings", Handler::AtLeast(Role::Viewer, settings::page)),
    post("/settings/password", Handler::AtLeast(Role::Viewer, settings::password)),
    post("/settings/sessions", Handler::AtLeast(Role::Viewer, settings::end_sessions)),
    post("/settings/tokens", Handler::AtLeast(Role::Viewer, settings::make_token)),
    post("/settings/tokens/revoke", Handler::AtLeast(Role::Viewer, settings::revoke_token)),
    post("/settings/blinded", Handler::AtLeast(Role::Owner, settings::blinded)),
    post("/accounts", Handler::AtLeast(Role::Owner, settings::add)),
    post("/accounts/role", Handler::AtLeast(Role::Owner, settings::role)),
    post("/accounts/password", Handler::AtLeast(Role::Owner, settings::set_password)),
    post("/accounts/sessions", Handler::AtLeast(Role::Owner, settings::end_sessions_of)),
    post("/accounts/remove", Handler::AtLeast(Role::Owner, settings::remove)),
    get("/live", Handler::AtLeast(Role::Viewer, moved::on)),
    get("/people", Handler::AtLeast(Role::Analyst, moved::on)),
    get("/people/{number}", Handler::AtLeast(Role::Analyst, moved::on)),
    get("/links", Handler::AtLeast(Role::Owner, moved::on)),
    get("/group", Handler::AtLeast(Role::Viewer, moved::on)),
    get("/models", Handler::AtLeast(Role::Viewer, moved::on)),
    get("/export", Handler::AtLeast(Role::Analyst, moved::on)),
    get("/audit", Handler::AtLeast(Role::Analyst, moved::on)),
];

/// The table.
pub fn routes() -> &'static [Route] {
    ROUTES
}
