//! What the pages of a table show, as whoever does the work fills it in.

/// Where somebody is, and what went wrong last.
#[derive(Debug, Default)]
pub struct View {
    /// One sentence about what could not be done.
    pub problem: Option<String>,
    /// The page.
    pub page: Page,
}

/// The pages, in their order.
#[derive(Debug, Default)]
pub enum Page {
    /// No table yet.
    #[default]
    Start,
    /// What was read.
    Table(Box<Table>),
    /// Two systems to choose from.
    Question(Box<Question>),
    /// What came out.
    Outcome(Box<Outcome>),
}

/// A table that was opened.
#[derive(Debug)]
pub struct Table {
    /// The name of its file.
    pub name: String,
    /// Where it is, in words.
    pub place: String,
    /// How many rows, classes and groups; nothing where it could not be read.
    pub facts: Vec<(&'static str, String)>,
    /// The columns that may play a part.
    pub header: Vec<String>,
    /// Which play which, as far as somebody said so.
    pub wished: Wished,
    /// Which were guessed: truth, probabilities, positive class, group.
    pub guessed: [Option<String>; 4],
    /// The classes, to choose the positive one of two.
    pub classes: Vec<String>,
    /// What else was guessed or changed.
    pub notes: Vec<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// Everything that is printed about what it allows, and the words of the picture.
    pub survey: Option<Survey>,
}

/// What a table allows.
#[derive(Debug)]
pub struct Survey {
    /// Tables and sentences, as HTML.
    pub text: String,
    /// The picture in words.
    pub described: String,
    /// How long the questions take, in a sentence.
    pub length: String,
    /// Answers of before that can be gone on with, in words.
    pub resume: Option<String>,
    /// The two groups whose gaps can be asked about as well.
    pub groups: Option<String>,
}

/// Which column plays which part; what is empty is guessed.
#[derive(Debug, Clone, Default)]
pub struct Wished {
    /// True classes.
    pub truth: String,
    /// Probabilities.
    pub scores: Vec<String>,
    /// The positive class.
    pub positive: String,
    /// Groups; a dash for none at all.
    pub group: String,
    /// What the numbers are: empty, `percent` or `logit`.
    pub scale: String,
    /// Whether rows that lack a value are left out.
    pub drop_missing: bool,
}

/// Two systems.
#[derive(Debug)]
pub struct Question {
    /// Its number, from 1.
    pub number: usize,
    /// "of about 12".
    pub of: String,
    /// How much is done, in percent.
    pub done: usize,
    /// What the numbers are out of.
    pub out_of: String,
    /// What sets the two apart.
    pub difference: String,
    /// How far apart groups are.
    pub gaps: Vec<String>,
    /// The systems.
    pub systems: Systems,
    /// Whether there is an answer to take back.
    pub can_undo: bool,
}

/// How systems are drawn.
#[derive(Debug)]
pub enum Systems {
    /// Two classes: from truth to prediction.
    Flows(Box<[Flow; 2]>),
    /// More: what differs, and all else.
    Kinds(Vec<Kind>),
}

/// A two-class system in words and counts: what becomes of the positive class, and of the other.
#[derive(Debug)]
pub struct Flow {
    /// The positive class first.
    pub branches: [Branch; 2],
}

/// What becomes of a class.
#[derive(Debug)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// What is right about its cases, and of how many.
    pub right: (String, u64),
    /// What is wrong, and of how many.
    pub wrong: (String, u64),
}

/// A kind of mistake in both systems.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub what: String,
    /// How many with A and with B.
    pub counts: [u64; 2],
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// The table.
    pub name: String,
    /// The metric in a sentence, if it is one.
    pub sentence: Option<String>,
    /// How bad each mistake is: a heading and a table.
    pub gravity: Option<(String, String)>,
    /// The rule that follows.
    pub rule: Option<String>,
    /// What it does, as a table.
    pub rule_table: Option<String>,
    /// What else is to be said.
    pub entries: Vec<(&'static str, String)>,
    /// What is missing, where the questions ended too soon.
    pub short_of: Option<String>,
    /// Whether more questions can be asked.
    pub can_go_on: bool,
    /// What is printed about thresholds or rules, as HTML.
    pub thresholds: Option<String>,
    /// The decision curve in words.
    pub curve: Option<String>,
    /// The models, as HTML.
    pub ranking: Option<String>,
    /// Columns of the same table that may be other models.
    pub columns: Vec<String>,
    /// What can be downloaded: name and what it is.
    pub files: Vec<(&'static str, &'static str)>,
    /// Where everything is.
    pub folder: String,
    /// Whether that is thrown away when the command ends.
    pub private: bool,
}

/// What somebody does on a page.
#[derive(Debug)]
pub enum Action {
    /// Sends a table.
    File(Sent),
    /// Names a table on this computer.
    Path(String),
    /// Corrects the columns.
    Columns(Wished),
    /// Begins the questions; also about gaps between groups.
    Begin {
        /// Gaps too.
        groups: bool,
    },
    /// Answers a question by its number.
    Answer(usize, Choice),
    /// Takes back the answer before a question.
    Undo(usize),
    /// Goes on after the last question.
    More,
    /// Ranks other models: files, a path, columns of the table.
    Models(Vec<Sent>, String, Vec<String>),
    /// Leaves the table.
    Close,
}

/// A file somebody sent.
#[derive(Debug)]
pub struct Sent {
    /// Its name, without directories.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// System A.
    A,
    /// System B.
    B,
    /// Neither.
    CannotTell,
}

/// A file somebody asks for.
#[derive(Debug)]
pub struct File {
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub content: Vec<u8>,
}

/// Whoever does the work behind the pages: reads tables, asks, decides.
pub trait Work: Send {
    /// Where somebody is.
    fn view(&mut self) -> View;

    /// Does what somebody asked for; what cannot be done is told by the next view.
    fn act(&mut self, action: Action);

    /// What can be downloaded, and the pictures, by name.
    fn file(&mut self, name: &str) -> Option<File>;
}
