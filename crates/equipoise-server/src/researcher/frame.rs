//! What surrounds every page of researchers.

use super::Shared;
use super::accounts::Role;
use super::sign::Signed;
use crate::page::render;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};

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
        let banner = signed.and_then(|_| shared.health.now(&shared.desk).banner());
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

/// A time of the log, to the second, in UTC.
pub fn when(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let [year, month, day] = date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", time / 3600, time / 60 % 60, time % 60)
}

/// The date so many days after 1 January 1970.
fn date(days: i64) -> [i64; 3] {
    // Years are counted from March, so that the odd day comes last.
    let from_march = days + 719_468;
    let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [year + era * 400 + i64::from(month <= 2), month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(when(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(when(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(when(1_794_800_712_345), "2026-11-16 03:45:12 UTC");
        assert_eq!(when(-1_000), "1969-12-31 23:59:59 UTC");
    }

    #[test]
    fn sentences_begin_with_a_capital() {
        assert_eq!(capital("there is none"), "There is none");
        assert_eq!(capital(""), "");
    }
}
