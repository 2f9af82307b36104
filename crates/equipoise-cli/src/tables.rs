//! Tables of predictions on the command line: which columns, what was guessed, who the classes are.

use crate::args::Global;
use crate::fault::Fault;
use crate::files;
use crate::progress::Progress;
use anyhow::Result;
use clap::Args;
use equipoise_data::read::Elsewhere;
use equipoise_data::{Columns, Error, Kind, Note, Reading, Sample, Scale, Table, read};
use std::path::Path;

/// Which column plays which part; what is left out is guessed from the usual names, and said.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub struct TableColumns {
    /// The column of true classes [guessed: y, truth, label, target]
    #[arg(long, value_name = "COLUMN")]
    pub truth: Option<String>,
    /// The probability columns, one per class, or one for the positive class [guessed: p_CLASS, score]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub scores: Option<Vec<String>>,
    /// The positive one of two classes [default: the last in order]
    #[arg(long, value_name = "CLASS")]
    pub positive: Option<String>,
    /// The group columns; several are crossed [guessed: group]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub group: Option<Vec<String>>,
    /// Leave groups alone, whatever the columns are called
    #[arg(long, conflicts_with = "group")]
    pub no_group: bool,
    /// The column of row weights; never guessed
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Every row counts once, whatever the columns are called
    #[arg(long, conflicts_with = "weight")]
    pub no_weight: bool,
    /// What the numbers in the probability columns are
    #[arg(long, value_name = "SCALE", value_parser = SCALES)]
    pub scores_are: Option<String>,
    /// Leave rows out that lack a value, and say how many
    #[arg(long)]
    pub drop_missing: bool,
}

impl TableColumns {
    /// The same wishes as the reader takes them.
    pub fn columns(&self) -> Columns {
        let mut columns = Columns::guess();
        if let Some(truth) = &self.truth {
            columns = columns.truth(truth);
        }
        if let Some(scores) = &self.scores {
            columns = columns.scores(scores);
        }
        if let Some(positive) = &self.positive {
            columns = columns.positive(positive);
        }
        if let Some(groups) = &self.group {
            columns = columns.groups(groups);
        } else if self.no_group {
            columns = columns.groups::<String>([]);
        }
        if let Some(weight) = &self.weight {
            columns = columns.weight(weight);
        } else if self.no_weight {
            columns = columns.without_weight();
        }
        columns = columns.scale(scale(self.scores_are.as_deref()));
        if self.drop_missing { columns.drop_missing() } else { columns }
    }

    /// The same wishes as they are typed, each with a space in front.
    pub fn typed(&self) -> String {
        let list = |names: &Vec<String>| names.join(",");
        let options = [
            ("--truth", self.truth.clone()),
            ("--scores", self.scores.as_ref().map(list)),
            ("--positive", self.positive.clone()),
            ("--group", self.group.as_ref().map(list)),
            ("--no-group", self.no_group.then(String::new)),
            ("--weight", self.weight.clone()),
            ("--no-weight", self.no_weight.then(String::new)),
            ("--scores-are", self.scores_are.clone()),
            ("--drop-missing", self.drop_missing.then(String::new)),
        ];
        let quoted =
            |value: String| match value.contains(|c: char| !(c.is_alphanumeric() || "_-.,".contains(c))) {
                true => format!(" '{}'", value.replace('\'', "'\\''")),
                false if value.is_empty() => value,
                false => format!(" {value}"),
            };
        let typed =
            options.into_iter().filter_map(|(option, value)| Some(format!(" {option}{}", quoted(value?))));
        typed.collect()
    }

    /// Reads a table without a word about what was guessed, changed or found.
    pub fn read_quietly(&self, path: &Path, global: &Global) -> Result<Reading<Sample<Table>>> {
        let _progress = Progress::spinner(&format!("reading {}", files::name(path)), global.shows_progress());
        self.made_of(read::table(path, &self.columns()), path)
    }

    /// What was read, as commands use it, or the sentence about why it was not.
    pub fn made_of(
        &self,
        read: equipoise_data::Result<Reading<Table>>,
        path: &Path,
    ) -> Result<Reading<Sample<Table>>> {
        let reading = read.map_err(|error| self.blame(error))?;
        few_groups(reading.data.groups().map_or(0, |groups| groups.names().len()), path)?;
        let Reading { data, notes } = reading;
        Ok(Reading { data: Sample::new(data)?, notes: notes.into_iter().map(with_option).collect() })
    }
}

/// A note that says what to name, with the option that does.
pub fn with_option(note: Note) -> Note {
    let text = note.to_string();
    let mended = if let Some((_, class)) =
        text.split_once(", name ").filter(|_| text.ends_with("as the positive class"))
    {
        let class = class.trim_end_matches(" as the positive class");
        format!("{text} (--positive {class})")
    } else if let Some((_, columns)) = text.split_once("the other way round, ") {
        format!("{text} (--scores {columns})")
    } else if text.ends_with("unless it is named as such") {
        format!("{text} (--weight)")
    } else {
        return note;
    };
    match note {
        Note::Choice(_) => Note::Choice(mended),
        Note::Change(_) => Note::Change(mended),
        Note::Finding(_) => Note::Finding(mended),
    }
}

/// What numbers in probability columns may be.
pub const SCALES: [&str; 3] = ["probability", "percent", "logit"];

/// The scale of that name.
pub fn scale(name: Option<&str>) -> Scale {
    match name {
        Some("percent") => Scale::Percent,
        Some("logit") => Scale::Logit,
        _ => Scale::Probability,
    }
}

/// The option that helps with a table that cannot be read, as the end of a sentence.
pub fn option_for(error: &Error) -> Option<&'static str> {
    let (found, expected) = (&*error.found, &*error.expected);
    Some(match () {
        () if expected.starts_with("a truth column") => "--truth names it",
        () if expected.starts_with("probability columns called") => "--scores names them",
        () if found.ends_with("could each be the truth") => "--truth names the right one",
        () if found.ends_with("could each be probabilities") => {
            "--scores names the right ones; `rank` and `score` take several models with --models"
        }
        () if found.ends_with("could each be the group") => "--group names the right one",
        () if expected.contains("looks like percentages") => "--scores-are percent reads them",
        () if expected.contains("looks like logits") => "--scores-are logit reads them",
        () if found.contains("as a third class") => "--scores names a column for each class",
        () if error.kind == Kind::Missing => "--drop-missing leaves such rows out",
        () => return None,
    })
}

impl TableColumns {
    /// Whether what is wrong with a table is that a group column is not in it.
    pub fn lacks_groups(&self, error: &anyhow::Error) -> bool {
        let said = error.to_string();
        self.group.iter().flatten().any(|name| said.contains(&format!("found no column {name:?}")))
    }

    /// A name that was typed and is not in the table is the line's fault, not the table's.
    pub fn blame(&self, error: equipoise_data::Error) -> anyhow::Error {
        let lists = self.scores.iter().chain(&self.group).flatten();
        let names = lists.chain(&self.truth).chain(&self.positive).chain(&self.weight);
        let typed = |what: &str| names.clone().any(|name| *error.found == *format!("no {what} {name:?}"));
        if typed("column") || typed("class") {
            return Fault::usage(error.to_string()).into();
        }
        match &self.weight {
            Some(weight) if self.truth.is_none() && error.expected.starts_with("a truth column") => {
                let what = format!(
                    "{}: --weight takes the column {weight}, and no other has a name true classes usually have; name theirs \
                     with --truth",
                    error.place
                );
                Fault::usage(what).into()
            }
            _ => match option_for(&error) {
                Some(option) => anyhow::Error::from(Fault::input_output(format!("{error}; {option}"))),
                None => error.into(),
            },
        }
    }
}

/// What a build without one says of a cluster.
#[cfg(not(feature = "cluster"))]
pub const NO_CLUSTER: &str = "this build has no clusters; build with --features cluster";

/// Whether files are read piece by piece and by whom, or the table is in a database.
#[derive(Debug, Clone, Default, Args)]
pub struct Streaming {
    /// Read Parquet piece by piece and keep only counts [default: from 256 MB on]
    #[arg(long)]
    pub stream: bool,
    /// Count TABLE in a database: the ADBC driver, as the path of its shared library or as a name
    #[arg(long, value_name = "DRIVER", conflicts_with = "stream", hide = !cfg!(feature = "adbc"))]
    pub adbc: Option<String>,
    /// The address of the database, as the driver takes it [default: $EQUIPOISE_ADBC_URI]
    #[arg(long, value_name = "URI", requires = "adbc", hide = !cfg!(feature = "adbc"))]
    pub uri: Option<String>,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub on: crate::args::OnCluster,
    #[cfg(not(feature = "cluster"))]
    #[arg(long, value_name = "HOST:PORT", hide = true)]
    pub cluster: Option<String>,
}

impl Streaming {
    /// Whether somebody wants rows to stay where they are, whatever that takes.
    pub fn is_asked_for(&self) -> bool {
        #[cfg(feature = "cluster")]
        let cluster = &self.on.cluster;
        #[cfg(not(feature = "cluster"))]
        let cluster = &self.cluster;
        self.stream || self.adbc.is_some() || cluster.is_some()
    }

    /// The database, where the table is in one; `None` where it is in files.
    #[cfg(feature = "adbc")]
    pub fn database(&self) -> Result<Option<Box<dyn read::Answers>>> {
        let Some(driver) = &self.adbc else { return Ok(None) };
        let Some(uri) = self.uri.clone().or_else(|| std::env::var("EQUIPOISE_ADBC_URI").ok()) else {
            let what = "--adbc needs the address of the database, as --uri or in the environment as EQUIPOISE_ADBC_URI";
            return Err(Fault::usage(what).into());
        };
        Ok(Some(Box::new(read::Adbc::connect(driver, &uri)?)))
    }

    /// The same where no driver can be loaded.
    #[cfg(not(feature = "adbc"))]
    pub fn database(&self) -> Result<Option<Box<dyn read::Answers>>> {
        match (&self.adbc, &self.uri) {
            (None, None) => Ok(None),
            _ => Err(Fault::usage("this build has no databases; build with --features adbc").into()),
        }
    }

    /// The cluster that reads them, if it is one.
    #[cfg(feature = "cluster")]
    pub fn elsewhere(&self, global: &Global) -> Result<Option<Box<dyn Elsewhere>>> {
        self.on.connect(global.shows_progress())
    }

    /// The same where there can be none.
    #[cfg(not(feature = "cluster"))]
    pub fn elsewhere(&self, _: &Global) -> Result<Option<Box<dyn Elsewhere>>> {
        match &self.cluster {
            None => Ok(None),
            Some(_) => Err(Fault::usage(NO_CLUSTER).into()),
        }
    }
}

/// The most groups of a table: with thousands every number is about a handful of rows, and nobody waits for the end.
const MOST_GROUPS: usize = 1_000;

/// Refuses a column of names that was taken for one of groups.
pub fn few_groups(groups: usize, path: &Path) -> Result<()> {
    match groups {
        many if many > MOST_GROUPS => {
            let what = format!(
                "{}: found {many} groups, expected at most {MOST_GROUPS}; name another column with --group, or leave groups \
                 alone with --no-group",
                path.display()
            );
            Err(Fault::usage(what).into())
        }
        _ => Ok(()),
    }
}

/// Says notes on standard error. With `--json` they belong into the document; with `--quiet` only findings are said.
pub fn say(notes: &[Note], global: &Global) {
    if global.json {
        return;
    }
    for note in notes {
        match note {
            Note::Finding(sentence) => eprintln!("note: {sentence}"),
            Note::Choice(sentence) | Note::Change(sentence) if !global.quiet => eprintln!("{sentence}"),
            Note::Choice(_) | Note::Change(_) => {}
        }
    }
}
