//! What can happen in a study, as the log keeps it.
//!
//! The log is the truth: where a participant is, what is known and what is reported are all computed from its
//! events. Events are never changed; an answer that was taken back stays, with a [`Event::Retracted`] after it.

use crate::groups::Differs;
use crate::shown::Shown;
use crate::study::{Position, Variant};
use equipoise::{Preference, Query};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The study was locked: this file, these rules.
    Locked {
        /// The version of the study.
        version: u64,
        /// Its hash.
        hash: String,
    },
    /// All that a participant ever sent was deleted on request.
    Erased {
        /// Whose, as older releases wrote it; otherwise it is said nowhere.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        session: String,
    },
    /// Contact data that an older release wrote into a consent were moved out of the log: the row has another event now.
    ContactMoved {
        /// The row.
        position: u64,
        /// What the row commits to instead: SHA-256 of the new salt and event, in hexadecimal.
        commitment: String,
    },
    /// A researcher did something, or looked at a study that is running (RS-07).
    Admin(Admin),
    /// A place in the study was made for somebody.
    Invited(Invited),
    /// The language of the pages.
    LanguageChosen {
        /// Its tag, such as "en".
        language: String,
    },
    /// The participant agreed. Nothing but the language is stored before.
    ConsentGiven {
        /// SHA-256 of the text that was shown.
        text: String,
        /// The device that holds the lease from here on.
        device: String,
        /// What a panel passed along, by parameter. The log never has it: it is kept with the contact data. Logs of
        /// older releases may.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        external: BTreeMap<String, String>,
    },
    /// The study goes on with another device; older ones may not write any more.
    DeviceTaken {
        /// The one that holds the lease now.
        device: String,
    },
    /// Items about the participant.
    QuestionnaireAnswered {
        /// Which part.
        position: Position,
        /// By item; prefer-not-to-say is `Declined`.
        answers: BTreeMap<String, ItemAnswer>,
    },
    /// How bad one mistake is in units of the other, as the participant puts it.
    StatedCost {
        /// Before or after the comparisons.
        when: When,
        /// The number; nothing for "I can't say".
        ratio: Option<f64>,
        /// The least it might be.
        low: Option<f64>,
        /// The most it might be.
        high: Option<f64>,
    },
    /// The consequence cards were read.
    ConsequencesRead,
    /// A card was opened again during the comparisons.
    CardOpened {
        /// Which, counted from 0.
        card: usize,
    },
    /// A question of the learning phase.
    PictureAnswered {
        /// Which, counted from 0.
        question: usize,
        /// The option chosen.
        option: usize,
    },
    /// A practice comparison is done. Never part of the result.
    PracticeDone {
        /// Which, counted from 0.
        number: usize,
        /// What was chosen last.
        choice: Choice,
    },
    /// A comparison is about to be shown. Written before it is.
    Asked(Asked),
    /// The answer to it.
    Answered(Answered),
    /// The last answer was taken back.
    Retracted {
        /// `seq` of the [`Event::Asked`] whose answer it was.
        asked: u64,
    },
    /// The view was switched between counts and rates.
    RatesToggled {
        /// Whether rates are shown now.
        rates: bool,
    },
    /// The participant wants no more part in it.
    Withdrawn,
    /// Everything is answered.
    Completed,
}

/// What a researcher did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admin {
    /// The name of the account.
    pub account: String,
    /// The name of the token, if it was a script that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What it did.
    #[serde(flatten)]
    pub action: Action,
}

impl Admin {
    /// Something a person did.
    pub fn new(account: impl Into<String>, action: Action) -> Self {
        Self { account: account.into(), token: None, action }
    }
}

/// What researchers do that others have to be able to see later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Action {
    /// Signed in.
    SignedIn,
    /// Looked at results. One sitting at one page is one event.
    Looked {
        /// The page.
        page: String,
        /// Whose, if it was one participant's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        participant: Option<u64>,
    },
    /// Made places for participants.
    MadeLinks {
        /// The number of the first.
        first: u64,
        /// How many.
        count: u64,
    },
    /// Had somebody's link shown again.
    LinkShown {
        /// Whose.
        participant: u64,
    },
    /// Replaced a file of the study before it was locked.
    Edited {
        /// Its name.
        file: String,
    },
    /// Locked the study.
    Locked {
        /// The version.
        version: u64,
    },
    /// Took the data along.
    Exported {
        /// In this format.
        format: String,
    },
    /// Erased what a participant had sent.
    Erased {
        /// Whose.
        participant: u64,
    },
    /// Put a backup in the place of the log.
    Restored {
        /// So many rows it had.
        rows: u64,
    },
    /// Had the log checked.
    Verified {
        /// So many rows agreed.
        rows: u64,
    },
    /// Hid from researchers which way results point, or showed it again.
    Blinded {
        /// Whether it is hidden from now on.
        blinded: bool,
    },
    /// Made an account.
    AccountAdded {
        /// Whose.
        name: String,
        /// What it may do.
        role: String,
    },
    /// Changed what an account may do.
    RoleChanged {
        /// Whose.
        name: String,
        /// What it may do from now on.
        role: String,
    },
    /// Gave an account another password.
    PasswordChanged {
        /// Whose.
        name: String,
    },
    /// Took an account away.
    AccountRemoved {
        /// Whose.
        name: String,
    },
    /// Signed an account out everywhere.
    SessionsEnded {
        /// Whose.
        name: String,
    },
    /// Made a token for scripts.
    TokenMade {
        /// What it is called.
        name: String,
        /// Whose it is.
        holder: String,
        /// What it may read, parted by spaces.
        scopes: String,
        /// For how many days.
        days: u32,
    },
    /// Deleted all contact data and their key.
    ContactsForgotten {
        /// Of so many participants.
        people: u64,
    },
    /// Deleted what was past its time; nothing, if only the clock was found to be right.
    Retained {
        /// The contact data of so many participants.
        contacts: u64,
        /// All of so many participants.
        people: u64,
    },
    /// Took a token for scripts away.
    TokenRevoked {
        /// What it was called.
        name: String,
    },
}

/// A place in the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// The hash of the study it is a place in.
    pub study: String,
    /// The version of the study.
    pub version: u64,
    /// Counted from 1 in the order of invitations; what exports call the participant.
    pub number: u64,
    /// How comparisons are drawn.
    pub variant: Variant,
    /// The seed of sides, checks and orders.
    pub seed: u64,
    /// Whether it was a panel that sent whoever has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub panel: bool,
}

/// Before or after the comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before.
    Before,
    /// After.
    After,
}

/// The answer to a questionnaire item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ItemAnswer {
    /// A number, or a step on a scale.
    Number(f64),
    /// Free text, or the option chosen.
    Text(String),
    /// The options chosen.
    Several(Vec<String>),
    /// Rather not.
    Declined(()),
}

/// Why a comparison is asked. Participants cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Purpose {
    /// To learn the metric.
    Elicitation,
    /// To see how well the metric predicts; kept out of the estimate.
    Evaluation,
    /// To see whether the same pair is answered alike, sides swapped.
    Repeat {
        /// `number` of the comparison it repeats.
        of: usize,
    },
    /// To see whether somebody is looking: one is worse in every way.
    Dominated,
}

impl Purpose {
    /// The word for it in exports.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Elicitation => "elicitation",
            Purpose::Evaluation => "evaluation",
            Purpose::Repeat { .. } => "repeat",
            Purpose::Dominated => "dominated",
        }
    }
}

/// A comparison as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Counted from 1, without those taken back.
    pub number: usize,
    /// Why.
    #[serde(flatten)]
    pub purpose: Purpose,
    /// The exact pair that was planned.
    pub query: Query,
    /// Whether A shows the second of the planned pair.
    pub swapped: bool,
    /// The whole numbers on the screen. The estimate is made from these.
    pub shown: Shown,
    /// Which side has fewer of the first kind of mistake that differs (two classes: missed cases).
    pub fewer_missed: Side,
    /// Whether the difference sentence begins with the missed cases.
    pub missed_first: bool,
    /// How it is drawn.
    pub variant: Variant,
    /// With groups, what differs between the systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Differs>,
    /// How many comparisons are left with this one, from and to, as the page says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<[usize; 2]>,
    /// How many questions that elicit each of some imagined people would still be asked, this place included, in order.
    /// Imagining takes a while, so it is done now and then only; empty where it was not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imagined: Vec<usize>,
}

impl Asked {
    /// What a choice says about the planned pair.
    pub fn preference(&self, choice: Choice) -> Preference {
        let straight = match choice {
            Choice::A => Preference::First,
            Choice::B => Preference::Second,
            Choice::CannotTell => Preference::CannotTell,
        };
        if self.swapped { straight.reversed() } else { straight }
    }
}

/// A panel: A is the first in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// What can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// System A.
    A,
    /// System B.
    B,
    /// "I can't tell."
    CannotTell,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// `seq` of the [`Event::Asked`] it answers.
    pub asked: u64,
    /// What was chosen.
    pub choice: Choice,
    /// From the first paint of both panels to the choice, hidden time taken off; nothing without a script.
    pub response_ms: Option<u64>,
    /// How long the page was hidden meanwhile.
    #[serde(default)]
    pub hidden_ms: u64,
    /// Whether rates were shown when the choice was made.
    #[serde(default)]
    pub rates: bool,
    /// The physical side of the choice, which differs from its letter where text runs right to left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressed_left: Option<bool>,
}
