//! The study file: everything a study is, in the researchers' own words.
//!
//! One TOML file. Whatever is wrong with it is said in one sentence that begins with the line.

mod check;
mod files;
mod panel;

use crate::error::Result;
use crate::groups::Sizes;
use crate::lines::Lines;
use crate::retention::Retention;
use crate::shape;
use crate::text::Text;
use equipoise::metric::Transform;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;

pub use panel::{End, Panel, Requirement};

/// A study as its file describes it. See the templates for a commented example of each kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The version of the format, 1.
    pub format: u64,
    /// A short name: letters, digits and hyphens.
    pub name: String,
    /// The version of this study; `lock` asks for a higher one after every change.
    #[serde(default = "one")]
    pub version: u64,
    /// What participants read at the top.
    pub title: Text,
    /// The seed of everything that is drawn: sides, order of checks, variants.
    pub seed: u64,
    /// The languages participants can choose from, the first being the default.
    #[serde(default = "english")]
    pub languages: Vec<String>,
    /// What is asked, in the words of the domain.
    pub task: Task,
    /// The metric family to elicit.
    #[serde(default)]
    pub family: Family,
    /// What classifiers questions are about.
    pub space: QuerySpace,
    /// The models somebody has to choose from; the report ranks them.
    // Left out where there are none, so that the hash of such a study stays what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Candidates>,
    /// When the questions end.
    #[serde(default)]
    pub stop: Stop,
    /// Questions that check rather than elicit.
    #[serde(default)]
    pub checks: Checks,
    /// Who is left out of the second set of results.
    #[serde(default)]
    pub exclusion: Exclusion,
    /// How comparisons can be drawn; each participant is given one at random.
    #[serde(default = "flow")]
    pub variants: Vec<Variant>,
    /// Which side of the flow chart the truth is on.
    #[serde(default)]
    pub direction: Direction,
    /// What participants agree to.
    pub consent: Consent,
    /// The question for a stated cost, asked before and after; without it nothing is asked.
    pub stated_cost: Option<StatedCost>,
    /// What each mistake means for a person.
    #[serde(default)]
    pub consequences: Vec<Card>,
    /// Questions that teach the picture.
    #[serde(default)]
    pub picture: Vec<PictureQuestion>,
    /// Comparisons to practise on; they are never part of the result.
    #[serde(default)]
    pub practice: Vec<Practice>,
    /// Questions about the participant.
    #[serde(default)]
    pub questionnaire: Vec<Item>,
    /// How long data are kept.
    #[serde(default, skip_serializing_if = "Retention::is_none")]
    pub retention: Retention,
    /// What happens at the end.
    #[serde(default)]
    pub completion: Completion,
    /// One address for everybody a panel sends.
    #[serde(default, skip_serializing_if = "Panel::is_none")]
    pub panel: Option<Panel>,
    /// Lints that are known and accepted; part of the hash.
    #[serde(default)]
    pub allow: Vec<String>,
    /// How common classes and groups are where a table tells: filled in when the table is read.
    #[serde(skip)]
    pub(crate) sizes: Option<Sizes>,
    /// The range of every attribute where a table tells: filled in when the table is read.
    #[serde(skip)]
    pub ranges: Vec<[f64; 2]>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// "Which computer system should your doctor use?"
    pub question: Text,
    /// What the task is about, before the first question.
    pub introduction: Text,
    /// Whom the numbers count: "people".
    #[serde(default = "people")]
    pub people: Text,
    /// What a classifier is called: "System".
    #[serde(default = "system")]
    pub system: Text,
    /// The classes in the order of the data; of two classes the second is the positive one. None where candidates have
    /// attributes.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// The groups, if there are any.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// A name for every kind of mistake that has one; of two classes both must have.
    #[serde(default)]
    pub mistakes: Vec<Mistake>,
    /// What candidates have, in the order in which it is shown; only of a space of attributes.
    // Left out where there is none, so that the hash of such a study stays what it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Has>,
}

/// Something that candidates have: a column of their table, and what people read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Has {
    /// The column.
    pub id: String,
    /// What participants read: "Waiting time".
    pub name: Text,
    /// What it is counted in: "seconds".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Text>,
    /// Which way is better.
    pub better: Better,
    /// On which scale differences count alike; guessed from the column if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Transform>,
    /// A share is read as so many out of this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of: Option<u64>,
    /// What it means for people, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Text>,
}

impl Has {
    /// A number of it without the unit, as people read it in English.
    pub fn number(&self, x: f64) -> String {
        let shown = self.out_of.map_or(x, |of| x * of as f64);
        equipoise_choice::Said::as_named("", None, None).number(shown)
    }
}

/// Which way an attribute is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
}

/// A class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// What the rest of the file and the data call it.
    pub id: String,
    /// After a number, of the truth: "have cancer".
    pub truth: Text,
    /// After a number, of the prediction: "predicted as high risk".
    pub predicted: Text,
}

/// A group of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What the data call it.
    pub id: String,
    /// What participants read: "women".
    pub name: Text,
}

/// A kind of mistake with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// The class it is.
    pub truth: String,
    /// The class it is taken for.
    pub predicted: String,
    /// One of it: "missed cancer".
    pub one: Text,
    /// Several: "missed cancers".
    pub many: Text,
    /// In the picture: "missed".
    pub short: Text,
}

/// The family of metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A weight for every kind of mistake; of two classes the cost ratio.
    #[default]
    Linear,
    /// Weights for squares and products too.
    Quadratic,
    /// Weights for mistakes and for gaps between groups.
    GroupFair,
}

/// What classifiers can be asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QuerySpace {
    /// Two classes whose scores follow a logistic law (thesis, Section 8.1.1).
    Logistic {
        /// How sharply the score tells the classes apart.
        slope: f64,
        /// Where the classes are equally likely.
        #[serde(default)]
        offset: f64,
    },
    /// What classifiers reach on a table of predictions: of two classes its thresholds, otherwise what lies around one of
    /// its classifiers.
    Table {
        /// The table, beside the study file.
        file: PathBuf,
        /// The column of the true class; guessed if left out.
        truth: Option<String>,
        /// The column of the positive class's score; guessed if left out.
        score: Option<String>,
        /// The column of the group.
        group: Option<String>,
        /// How the boundary is smoothed (G1).
        #[serde(default)]
        smooth: Smooth,
        /// More than two classes, and groups: the classifier that questions are asked around. `model`, the table's own as it
        /// is, unless something else is said: `balanced`, a metric such as `accuracy`, whose best rule it is, or `coin`, a
        /// ball around the toss of a coin.
        // Left out where nothing is said, so that the hash of such a study stays what it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        around: Option<String>,
    },
    /// The classifiers of a pool of confusion matrices, and draws between them. Two classes.
    Pool {
        /// Long records of model, truth, estimate and count, beside the study file.
        file: PathBuf,
    },
    /// A ball of error rates around chance, for more than two classes (Assumption 4.2).
    Ball {
        /// Half its width.
        radius: f64,
        /// How common each class is.
        class_shares: Vec<f64>,
    },
    /// Candidates of any kind, by the attributes that the task names.
    Attributes {
        /// A row per candidate, beside the study file.
        file: PathBuf,
        /// The column of their names; guessed if left out.
        name: Option<String>,
    },
    /// The ball common to all groups (Remark 5.2).
    GroupBall {
        /// Half its width.
        radius: f64,
        /// How common each class is.
        class_shares: Vec<f64>,
        /// Per group, its share of every class: `P(group | class)`.
        group_shares: Vec<Vec<f64>>,
    },
}

/// The models to choose from: either their counts, or their predictions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Candidates {
    /// Records of model, truth, estimate and count (and group, if the study has groups), beside the study file.
    pub file: Option<PathBuf>,
    /// Tables of predictions, one model each, which is named after its file.
    pub predictions: Vec<PathBuf>,
    /// What the models have beside their predictions, a row each: latency, price, size. The report shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<PathBuf>,
}

/// How a boundary from data is made smooth (G1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Smooth {
    /// The convex hull: always feasible, by drawing between classifiers.
    #[default]
    Hull,
    /// A fitted logistic law, pulled inside the hull.
    Logistic,
    /// Not at all: only systems that a threshold reaches. Few of them may make a fine interval impossible.
    None,
}

/// When the questions end: whichever comes first. Where nothing is said, by `regret`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, into = "Written")]
pub struct Stop {
    /// The rule that follows from the answers is expected to cost at most this much more than the best one, as a share.
    pub regret: Option<f64>,
    /// Two classes: the ends of the 95 % interval of the cost ratio differ by at most this factor.
    pub width: Option<f64>,
    /// Otherwise: the angle that holds the weights with 95 % certainty, in radians.
    pub angle: Option<f64>,
    /// At most this many questions that elicit; checks are not counted.
    pub cap: usize,
    /// Two classes: the best next question is expected to tell less than this many bits.
    pub information: f64,
}

/// A stop rule as the hash of a study has it: what is not said is left out. A file that says how wide the interval or the angle
/// may be, and nothing of regret, has the hash that it had when both were always there.
#[derive(Serialize)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    angle: Option<f64>,
    cap: usize,
    information: f64,
}

impl From<Stop> for Written {
    fn from(Stop { regret, width, angle, cap, information }: Stop) -> Self {
        let earlier = regret.is_none() && (width.is_some() || angle.is_some());
        let or = |said: Option<f64>, usual: f64| said.or(earlier.then_some(usual));
        Self { regret, width: or(width, 1.6), angle: or(angle, 0.25), cap, information }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self { regret: None, width: None, angle: None, cap: 30, information: 0.01 }
    }
}

/// Questions that check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Checks {
    /// Pairs of which one makes more mistakes of one kind and no fewer of any.
    pub dominated: usize,
    /// Earlier pairs again, with sides swapped.
    pub repeats: usize,
    /// How many questions lie between a pair and its repeat, at least.
    pub apart: usize,
    /// Pairs kept out of the estimate, to see how well it predicts.
    pub evaluation: usize,
}

impl Default for Checks {
    fn default() -> Self {
        Self { dominated: 2, repeats: 2, apart: 5, evaluation: 5 }
    }
}

/// Whose results are shown both with and without them. A flag alone excludes nobody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Exclusion {
    /// At least this many dominated checks failed.
    pub dominated_failed: usize,
    /// Fewer than this many repeats answered alike.
    pub repeats_alike_below: usize,
    /// More than this share of answers faster than 300 ms.
    pub too_fast_share: f64,
}

impl Default for Exclusion {
    fn default() -> Self {
        Self { dominated_failed: 2, repeats_alike_below: 0, too_fast_share: 1.0 }
    }
}

/// A way to draw a comparison (G4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Variant {
    /// The flow chart alone.
    #[serde(rename = "flow")]
    Flow,
    /// The flow chart and a bar.
    #[serde(rename = "flow+bar")]
    FlowBar,
    /// Mistakes only.
    #[serde(rename = "errors_only")]
    ErrorsOnly,
    /// A symbol per person.
    #[serde(rename = "icons")]
    Icons,
}

/// Where the truth stands (G3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// On the left, where it is the same for both systems.
    #[default]
    TruthFirst,
    /// On the right, for replication.
    PredictionFirst,
}

/// What participants agree to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consent {
    /// The whole text.
    pub text: Text,
    /// Whom to write to.
    pub contact: String,
}

/// The question for a stated cost (G7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedCost {
    /// With `___` where the number goes: "Missing one person with cancer is as bad as ___ false alarms."
    pub question: Text,
}

/// What a mistake means for a person (G9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The class it is.
    pub truth: String,
    /// The class it is taken for.
    pub predicted: String,
    /// "money", "worry", "side effects", "delay".
    pub kind: Text,
    /// What happens.
    pub text: Text,
    /// Who says so.
    pub source: String,
}

/// A question that teaches the picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureQuestion {
    /// Which of the thesis' kinds.
    pub kind: PictureKind,
    /// The question.
    pub question: Text,
    /// What can be chosen.
    pub options: Vec<Text>,
    /// The right one, counted from 0.
    pub correct: usize,
    /// The worked answer, after a second wrong attempt.
    pub explanation: Text,
    /// The picture: cells of one or two systems, truth by truth, of each the predictions.
    pub systems: Vec<Vec<u64>>,
}

/// The kinds of question of the learning phase (thesis, Section 8.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureKind {
    /// Reads a number off the picture.
    Comprehension,
    /// Compares two pictures.
    Comparison,
    /// Says what would happen to somebody.
    Simulation,
    /// One system is better in every way.
    Definite,
}

/// A comparison to practise on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Practice {
    /// What to try here.
    pub exercise: Exercise,
    /// Cells of system A.
    pub a: Vec<u64>,
    /// Cells of system B.
    pub b: Vec<u64>,
}

/// What a practice comparison is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exercise {
    /// One is better in every way.
    Dominated,
    /// Choose, undo, choose again.
    Undo,
    /// Say "I can't tell".
    CannotTell,
}

/// A question about the participant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The name of its column.
    pub id: String,
    /// When it is asked.
    pub position: Position,
    /// What kind of answer it takes.
    #[serde(flatten)]
    pub kind: ItemKind,
    /// The question.
    pub question: Text,
    /// "Prefer not to say" is always offered where this is set.
    #[serde(default)]
    pub sensitive: bool,
}

/// When an item is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Before the task.
    Before,
    /// Right after it, about it: Q1 to Q6 of the thesis.
    Task,
    /// At the end.
    After,
}

/// The kinds of answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemKind {
    /// A number within limits.
    Number {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// One of the options.
    Single {
        /// What can be chosen.
        options: Vec<Text>,
    },
    /// Any of the options.
    Multiple {
        /// What can be chosen.
        options: Vec<Text>,
    },
    /// Free text.
    Text {
        /// The most characters.
        #[serde(default = "a_paragraph")]
        most: usize,
    },
    /// A step on a scale from 1.
    Scale {
        /// How many steps.
        steps: usize,
        /// What the first means.
        low: Text,
        /// What the last means.
        high: Text,
    },
}

/// What happens at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Completion {
    /// Where to go back to: a panel's completion page.
    pub url: Option<String>,
    /// Names of the parameters of the invitation link that are kept, such as PROLIFIC_PID.
    pub parameters: Vec<String>,
    /// Whether participants see what came out for them.
    pub show_result: bool,
}

fn one() -> u64 {
    1
}

fn english() -> Vec<String> {
    vec!["en".to_owned()]
}

fn flow() -> Vec<Variant> {
    vec![Variant::Flow]
}

fn people() -> Text {
    Text::from("people")
}

fn system() -> Text {
    Text::from("System")
}

fn a_paragraph() -> usize {
    2000
}

impl Study {
    /// Reads and checks a study file; `check` says more about whether it is a good one.
    pub fn parse(text: &str) -> Result<Self> {
        let lines = Lines::of(text)?;
        shape::check(&lines)?;
        let study: Self = lines.read()?;
        study.check(&lines)?;
        Ok(study)
    }

    /// A hash of all that the file means: comments and layout do not count.
    ///
    /// `files` are the contents of the data files it names, in the order of [`data_files`](Self::data_files).
    #[expect(clippy::expect_used, reason = "plain data with names for keys always becomes JSON")]
    pub fn hash(&self, files: &[Vec<u8>]) -> String {
        let canonical = serde_json::to_vec(self).expect("a study is plain data");
        let mut hash = Sha256::new();
        hash.update(b"equipoise study 1\n");
        for part in std::iter::once(&canonical).chain(files) {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        equipoise_log::hex::encode(&hash.finalize())
    }

    /// Whether candidates have attributes, and there are no classes.
    pub fn is_choice(&self) -> bool {
        matches!(self.space, QuerySpace::Attributes { .. })
    }

    /// Whether there is something to read about what the numbers mean before the first comparison.
    pub fn has_cards(&self) -> bool {
        self.cards() > 0
    }

    /// How many cards there are to read.
    pub fn cards(&self) -> usize {
        self.consequences.len().saturating_add(self.task.attributes.len())
    }

    /// The number of a class.
    pub fn class(&self, id: &str) -> Option<usize> {
        self.task.classes.iter().position(|class| class.id == id)
    }

    /// The name of a kind of mistake, if it has one.
    pub fn mistake(&self, truth: usize, predicted: usize) -> Option<&Mistake> {
        let id = |class: usize| self.task.classes.get(class).map(|class| class.id.as_str());
        let (truth, predicted) = (id(truth)?, id(predicted)?);
        self.task.mistakes.iter().find(|mistake| mistake.truth == truth && mistake.predicted == predicted)
    }

    /// Items asked at a position.
    pub fn items(&self, position: Position) -> impl Iterator<Item = &Item> {
        self.questionnaire.iter().filter(move |item| item.position == position)
    }
}
