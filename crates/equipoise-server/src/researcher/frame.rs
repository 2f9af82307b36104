//! What surrounds every page of researchers.

use super::Shared;
use super::accounts::Role;
use super::sign::Signed;
use crate::page::render;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
pub use equipoise_study::numbers::when;

/// The pages, in the order of the menu: address, name, and who sees it there.
const MENU: [(&str, &str, Role); 10] = [
    ("/", "Studies", Role::Viewer),
    ("/design", "Design", Role::Viewer),
    ("/links", "Links", Role::Owner),
    ("/live", "Live", Role::Viewer),
    ("/people", "People", Role::Analyst),
    ("/group", "Group", Role::Viewer),
    ("/models", "Models", Role::Viewer),
    ("/export", "Export", Role::Analyst),
    ("/audit", "Audit", Role::Analyst),
    ("/settings", "Settings", Role::Viewer),
];

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
    /// The menu.
    pub menu: Vec<Entry>,
    /// What everybody should see first.
    pub banner: Option<String>,
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
        let menu = MENU.iter().filter(|(_, _, least)| role.is_some_and(|role| role >= *least));
        Self {
            study: shared.study().title.r#in("en").to_owned(),
            account: signed.map(|signed| (signed.account.name.clone(), signed.account.role.word())),
            csrf: signed.map_or(String::new(), Signed::csrf),
            key: crate::text::random::<8>().unwrap_or_default(),
            menu: menu.map(|(to, name, _)| Entry { to, name, here: *to == page }).collect(),
            banner: None,
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
    fn sentences_begin_with_a_capital() {
        assert_eq!(capital("there is none"), "There is none");
        assert_eq!(capital(""), "");
    }
}
