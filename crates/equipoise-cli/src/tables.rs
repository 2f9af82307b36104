//! Tables of predictions on the command line: which columns, what was guessed, who the classes are.

use crate::args::Global;
use crate::fault::Fault;
use anyhow::Result;
use clap::Args;
use equipoise_data::{Columns, Note, Reading, Sample, Table, read};
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
        columns
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

    /// Reads a table; what was guessed, changed or found is said on standard error, unless nobody wants to read it.
    pub fn read(&self, path: &Path, global: &Global) -> Result<Reading<Sample<Table>>> {
        let reading = read::table(path, &self.columns()).map_err(|error| self.blame(error))?;
        say(&reading.notes, global);
        let Reading { data, notes } = reading;
        Ok(Reading { data: Sample::new(data)?, notes })
    }
}

impl TableColumns {
    /// Whether what is wrong with a table is that a group column is not in it.
    pub fn lacks_groups(&self, path: &Path) -> bool {
        let missing = |error: &equipoise_data::Error| {
            self.group.iter().flatten().any(|name| *error.found == *format!("no column {name:?}"))
        };
        read::table(path, &self.columns()).is_err_and(|error| missing(&error))
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
            _ => error.into(),
        }
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
