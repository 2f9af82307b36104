//! Texts of a study, in one language or several.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A text of the study file: a string, or a table with one string per language.
///
/// ```
/// use equipoise_study::Text;
/// let text: Text = toml::from_str::<std::collections::BTreeMap<String, Text>>(
///     "name = { en = 'cancer', de = 'Krebs' }").unwrap()["name"].clone();
/// assert_eq!(text.r#in("de"), "Krebs");
/// assert_eq!(text.r#in("es"), "cancer"); // not translated: the first language that is there
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a string, or a table with a string per language")]
pub enum Text {
    /// The same for every language.
    Plain(String),
    /// By language tag.
    ByLanguage(BTreeMap<String, String>),
}

impl Text {
    /// The text in a language. Without a translation, English, else whatever there is.
    pub fn r#in(&self, language: &str) -> &str {
        match self {
            Text::Plain(text) => text,
            Text::ByLanguage(texts) => texts
                .get(language)
                .or_else(|| texts.get("en"))
                .or_else(|| texts.values().next())
                .map_or("", String::as_str),
        }
    }

    /// Whether there is a text of its own for a language.
    pub fn has(&self, language: &str) -> bool {
        match self {
            Text::Plain(_) => true,
            Text::ByLanguage(texts) => texts.contains_key(language),
        }
    }

    /// Every text there is.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let texts: Vec<&str> = match self {
            Text::Plain(text) => vec![text],
            Text::ByLanguage(texts) => texts.values().map(String::as_str).collect(),
        };
        texts.into_iter()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::Plain(text.to_owned())
    }
}
