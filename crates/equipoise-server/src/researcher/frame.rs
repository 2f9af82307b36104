//! What surrounds every page of researchers.

use super::Shared;
use super::accounts::Role;
use super::sign::Signed;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use equipoise_pages::page::render;
pub use equipoise_study::numbers::when;

/// The places, in the order of the menu: address, name, and who sees it there.
const PLACES: [(&str, &str, Role); 5] = [
    ("/", "Overview", Role::Viewer),
    ("/participants", "Participants", Role::Analyst),
    ("/results", "Results", Role::Viewer),
    ("/design", "Design", Role::Viewer),
    ("/settings", "Settings", Role::Viewer),
];

/// Pages of places that have several.
const INSIDE: [(&str, &str, Role); 10] = [
    ("/participants", "Everybody", Role::Analyst),
    ("/participants/links", "Links", Role::Owner),
    ("/results", "What came out", Role::Viewer),
    ("/results/report", "Report", Role::Analyst),
    ("/results/files", "Files", Role::Analyst),
    ("/design", "What people see", Role::Viewer),
    ("/design/edit", "Edit", Role::Owner),
    ("/design/lock", "Lock", Role::Owner),
    ("/settings", "Accounts and tokens", Role::Viewer),
    ("/settings/audit", "Audit", Role::Analyst),
];

/// Whether a page belongs to a place.
fn within(page: &str, place: &str) -> bool {
    page == place || (place != "/" && page.strip_prefix(place).is_some_and(|rest| rest.starts_with('/')))
}

/// A line of the menu.
#[derive(Debug)]
pub struct Entry {
    /// Where it leads.
    pub to: &'static str,
    /// What it says.
    pub name: &'static str,
    /// Whether it is the page itself.
    pub here: bool,
}

/// What surrounds a page.
#[derive(Debug)]
pub struct Frame {
    /// The title of the study.
    pub study: String,
    /// Name and role of whoever is signed in.
    pub account: Option<(String, &'static str)>,
    /// What forms send back to show that they come from our page.
    pub csrf: String,
    /// What makes sending the page's form twice harmless.
    pub key: String,
    /// The places.
    pub menu: Vec<Entry>,
    /// The pages of this place, if it has several.
    pub inside: Vec<Entry>,
    /// What everybody should see first.
    pub banner: Option<String>,
    /// Whether the study is not locked yet.
    pub draft: bool,
}

impl Frame {
    /// Around the page at an address.
    pub fn new(shared: &Shared, signed: Option<&Signed>, page: &str) -> Self {
        let banner = signed.and_then(|_| shared.health.now(&shared.service).banner());
        Self { banner, ..Self::plain(shared, signed, page) }
    }

    /// Without asking how the server is.
    fn plain(shared: &Shared, signed: Option<&Signed>, page: &str) -> Self {
        let role = signed.map(|signed| signed.account.role);
        let seen = |least: Role| role.is_some_and(|role| role >= least);
        let place = PLACES.iter().map(|(to, ..)| *to).find(|place| within(page, place));
        let entry = |to: &'static str, name: &'static str, here: bool| Entry { to, name, here };
        let menu = PLACES.iter().filter(|(.., least)| seen(*least));
        let draft = shared.draft.get().is_some();
        let inside: Vec<Entry> = INSIDE
            .iter()
            .filter(|(to, ..)| draft || !to.starts_with("/design/"))
            .filter(|(to, _, least)| seen(*least) && place.is_some_and(|place| within(to, place)))
            .map(|(to, name, _)| entry(to, name, *to == page))
            .collect();
        Self {
            study: shared.study().title.r#in("en").to_owned(),
            account: signed.map(|signed| (signed.account.name.clone(), signed.account.role.word())),
            csrf: signed.map_or(String::new(), Signed::csrf),
            key: crate::text::random::<8>().unwrap_or_default(),
            menu: menu.map(|(to, name, _)| entry(to, name, Some(*to) == place)).collect(),
            inside: if inside.len() > 1 { inside } else { vec![] },
            banner: None,
            draft,
        }
    }

    /// A page that says one thing: title and sentence.
    pub fn message(
        shared: &Shared,
        signed: Option<&Signed>,
        status: StatusCode,
        [title, sentence]: [&str; 2],
    ) -> Response {
        let page = Message { frame: Self::plain(shared, signed, ""), title, sentence };
        (status, Html(render(&page))).into_response()
    }
}

#[derive(Template)]
#[template(path = "researcher/message.html")]
struct Message<'a> {
    frame: Frame,
    title: &'a str,
    sentence: &'a str,
}

/// With a capital letter in front.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_belong_to_one_place() {
        for page in INSIDE.iter().map(|(to, ..)| *to).chain(["/", "/participants/7"]) {
            assert_eq!(PLACES.iter().filter(|(to, ..)| within(page, to)).count(), 1, "{page}");
        }
        assert!(!within("/participantsx", "/participants"));
    }

    #[test]
    fn sentences_begin_with_a_capital() {
        assert_eq!(capital("there is none"), "There is none");
        assert_eq!(capital(""), "");
    }
}
