//! One address for everybody a panel sends: who may come in, when, how many, and where they go afterwards.

use super::check::Need;
use super::{ItemKind, Position, Study};
use crate::error::Result;
use crate::event::ItemAnswer;
use crate::numbers;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How people of a panel come in, and where they go back to.
///
/// When it opens and closes, how many may come and where they return to can be changed while the study runs, so none of it is in
/// the hash. Who is screened out is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// The parameter of the address that tells one person from another, such as `PROLIFIC_PID`.
    #[serde(skip_serializing)]
    pub id: String,
    /// Other parameters that are kept with it, such as `STUDY_ID` and `SESSION_ID`.
    #[serde(default, skip_serializing)]
    pub keep: Vec<String>,
    /// From when on: `2026-11-20T09:00:00Z`. From the start, if left out.
    #[serde(default, skip_serializing)]
    pub opens: Option<String>,
    /// Until when nobody new may come in. Whoever has begun may end.
    #[serde(default, skip_serializing)]
    pub closes: Option<String>,
    /// At most so many people. Whoever is screened out or withdraws makes room.
    #[serde(default, skip_serializing)]
    pub quota: Option<u64>,
    /// A place of somebody who has not agreed after so many minutes is given to somebody else.
    #[serde(default = "an_hour", skip_serializing)]
    pub hold_minutes: u64,
    /// Who may take part, by what they say before the task.
    #[serde(default)]
    pub require: Vec<Requirement>,
    /// For who has answered everything.
    #[serde(default, skip_serializing)]
    pub done: End,
    /// For who does not meet a requirement.
    #[serde(default, skip_serializing)]
    pub screened: End,
    /// For who does not agree, and for who withdraws.
    #[serde(default, skip_serializing)]
    pub withdrew: End,
    /// For who comes when all places are taken.
    #[serde(default, skip_serializing)]
    pub full: End,
    /// For who comes before it opens or after it has closed.
    #[serde(default, skip_serializing)]
    pub closed: End,
    /// For who comes again after the end; if nothing is said, as `done`.
    #[serde(default, skip_serializing)]
    pub already: Option<End>,
}

/// What somebody takes along.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct End {
    /// The code the panel asks for.
    pub code: Option<String>,
    /// Where to go back to; `{code}` stands for the code.
    pub url: Option<String>,
}

impl End {
    /// Where to go back to, with the code in its place.
    pub fn address(&self) -> Option<String> {
        Some(self.url.as_ref()?.replace("{code}", self.code.as_deref().unwrap_or_default()))
    }
}

/// What an answer of the questionnaire before the task must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Which item.
    pub item: String,
    /// Of a choice: one of these, in any of the study's languages.
    #[serde(default)]
    pub one_of: Vec<String>,
    /// Of a number or a scale: at least this.
    #[serde(default)]
    pub least: Option<f64>,
    /// Of a number or a scale: at most this.
    #[serde(default)]
    pub most: Option<f64>,
}

fn an_hour() -> u64 {
    60
}

impl Panel {
    /// Whether there is nothing in it that belongs into the hash of a study.
    pub(super) fn is_none(panel: &Option<Self>) -> bool {
        panel.as_ref().is_none_or(|panel| panel.require.is_empty())
    }

    /// Whether it is too early, by a clock of the log.
    pub fn is_early(&self, now: i64) -> bool {
        time(self.opens.as_deref()).is_some_and(|opens| now < opens)
    }

    /// Whether nobody new may come in any more.
    pub fn is_over(&self, now: i64) -> bool {
        time(self.closes.as_deref()).is_some_and(|closes| now >= closes)
    }

    /// For how many milliseconds a place is kept for somebody who has not agreed.
    pub fn hold_ms(&self) -> i64 {
        i64::try_from(self.hold_minutes).unwrap_or(i64::MAX).saturating_mul(60_000)
    }

    /// Every parameter that is kept.
    pub fn parameters(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.id).chain(&self.keep)
    }

    /// Whether answers keep somebody out: one that was left out, or not told, does.
    pub fn screens_out(&self, study: &Study, answers: &BTreeMap<String, ItemAnswer>) -> bool {
        !self.require.iter().all(|requirement| requirement.is_met(study, answers.get(&requirement.item)))
    }
}

impl Requirement {
    fn is_met(&self, study: &Study, answer: Option<&ItemAnswer>) -> bool {
        let is_one = |word: &String| {
            let item = study.questionnaire.iter().find(|item| item.id == self.item);
            let (ItemKind::Single { options } | ItemKind::Multiple { options }) = (match item {
                Some(item) => &item.kind,
                None => return false,
            }) else {
                return false;
            };
            // In whichever language it was answered, and in whichever the file names it.
            options.iter().any(|option| {
                option.all().any(|text| text == word)
                    && option.all().any(|text| self.one_of.iter().any(|wanted| wanted == text))
            })
        };
        match answer {
            Some(ItemAnswer::Number(x)) => {
                self.least.is_none_or(|least| *x >= least) && self.most.is_none_or(|most| *x <= most)
            }
            Some(ItemAnswer::Text(word)) => is_one(word),
            Some(ItemAnswer::Several(words)) => words.iter().any(is_one),
            Some(ItemAnswer::Declined(())) | None => false,
        }
    }
}

fn time(text: Option<&str>) -> Option<i64> {
    numbers::moment(text?)
}

impl Study {
    /// What must hold of `[panel]`.
    pub(super) fn check_panel(&self, need: &Need<'_>, field: &Need<'_>) -> Result<()> {
        let Some(panel) = &self.panel else { return Ok(()) };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let named = |path: &str, name: &str| {
            let fine = (1..=128).contains(&name.len()) && name.bytes().all(plain);
            let what = format!("is \"{name}\", expected the name of a parameter: letters, digits, - . _");
            field(fine, path, what)
        };
        named("panel.id", &panel.id)?;
        for (n, name) in panel.keep.iter().enumerate() {
            let path = format!("panel.keep.{n}");
            named(&path, name)?;
            let again = *name == panel.id || panel.keep.iter().position(|other| other == name) != Some(n);
            field(
                !again,
                &path,
                format!("is \"{name}\", which is kept already, expected another parameter"),
            )?;
        }
        for (path, text) in [("panel.opens", &panel.opens), ("panel.closes", &panel.closes)] {
            let fine = text.is_none() || time(text.as_deref()).is_some();
            let text = text.as_deref().unwrap_or_default();
            field(fine, path, format!("is \"{text}\", expected a time such as \"2026-11-20T09:00:00Z\""))?;
        }
        if let (Some(opens), Some(closes)) = (time(panel.opens.as_deref()), time(panel.closes.as_deref())) {
            let what = format!(
                "is {}, expected a time after panel.opens, which is {}",
                numbers::when(closes),
                numbers::when(opens)
            );
            field(opens < closes, "panel.closes", what)?;
        }
        if let Some(quota) = panel.quota {
            let what = format!("is {quota}, expected a whole number in [1, 1000000]");
            field((1..=1_000_000).contains(&quota), "panel.quota", what)?;
        }
        let what = format!("is {}, expected a whole number in [1, 10080], a week", panel.hold_minutes);
        field((1..=10_080).contains(&panel.hold_minutes), "panel.hold_minutes", what)?;
        let already = panel.already.as_ref();
        for (name, end) in [
            ("done", Some(&panel.done)),
            ("screened", Some(&panel.screened)),
            ("withdrew", Some(&panel.withdrew)),
            ("full", Some(&panel.full)),
            ("closed", Some(&panel.closed)),
            ("already", already),
        ] {
            end.map_or(Ok(()), |end| end.check(name, field))?;
        }
        let both = self.completion.url.is_none();
        let what = "is there beside panel, expected panel.done.url, where people of a panel return to";
        field(both, "completion.url", what.to_owned())?;
        self.check_requirements(&panel.require, need, field)
    }

    fn check_requirements(&self, require: &[Requirement], need: &Need<'_>, field: &Need<'_>) -> Result<()> {
        for (n, Requirement { item, one_of, least, most }) in require.iter().enumerate() {
            let at = format!("panel.require.{n}");
            let path = format!("{at}.item");
            let before: Vec<&str> = self.items(Position::Before).map(|item| item.id.as_str()).collect();
            let Some(asked) = self.items(Position::Before).find(|asked| asked.id == *item) else {
                let known =
                    if before.is_empty() { "but there is none".to_owned() } else { before.join(", ") };
                let what = format!("is \"{item}\", expected an item asked before the task: {known}");
                return field(false, &path, what);
            };
            let numbers = least.is_some() || most.is_some();
            match &asked.kind {
                ItemKind::Single { options } | ItemKind::Multiple { options } => {
                    let what =
                        format!("{at} has no one_of, expected the answers of \"{item}\" that may take part");
                    need(!one_of.is_empty() && !numbers, &at, what)?;
                    let known =
                        |word: &str| options.iter().any(|option| option.all().any(|text| text == word));
                    if let Some(other) = one_of.iter().find(|word| !known(word)) {
                        let path = format!("{at}.one_of");
                        return field(
                            false,
                            &path,
                            format!("names \"{other}\", expected options of \"{item}\""),
                        );
                    }
                }
                ItemKind::Number { .. } | ItemKind::Scale { .. } => {
                    let what = format!("{at} has no least or most, expected a limit of \"{item}\"");
                    need(numbers && one_of.is_empty(), &at, what)?;
                    let empty = least.zip(*most).is_some_and(|(least, most)| least > most);
                    let what = "is below least, expected a number from least on";
                    field(!empty, &format!("{at}.most"), what.to_owned())?;
                }
                ItemKind::Text { .. } => {
                    let what =
                        format!("is \"{item}\", a free text, expected an item with options or numbers");
                    field(false, &path, what)?;
                }
            }
        }
        Ok(())
    }
}

impl End {
    fn check(&self, name: &str, field: &Need<'_>) -> Result<()> {
        let path = format!("panel.{name}.code");
        if let Some(code) = &self.code {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
            let fine = (1..=64).contains(&code.len()) && code.bytes().all(plain);
            field(fine, &path, format!("is \"{code}\", expected 1 to 64 letters, digits, - . _"))?;
        }
        let path = format!("panel.{name}.url");
        if let Some(url) = &self.url {
            let host =
                url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
            let fine = host && !url.chars().any(|c| c.is_whitespace() || c.is_control());
            field(fine, &path, format!("is \"{url}\", expected an address that begins with https://"))?;
            let what = format!("has a place for {{code}}, expected panel.{name}.code");
            field(self.code.is_some() || !url.contains("{code}"), &path, what)?;
        }
        Ok(())
    }
}
