//! A table that was opened: its rows, or why there are none, and what it allows.

use super::session::Place;
use crate::commands::elicit::length::Length;
use crate::commands::elicit::record::Saved;
use crate::commands::inspect::survey::Survey;
use crate::commands::inspect::{self, picture};
use crate::counts::grouped;
use crate::prompt::counted;
use crate::tables::TableColumns;
use anyhow::Result;
use equipoise::Step;
use equipoise_data::{Note, Reading, Sample, Table};
use equipoise_server::open::{self as view, Wished};
use equipoise_study::tables::Opened;
use std::path::Path;

/// What stands before the guess of each part in a note.
const GUESSES: [&[&str]; 4] = [
    &["truth column: "],
    &["probability columns: ", "probability column: ", "predicted classes: "],
    &["positive class: "],
    &["group column: "],
];

/// A table, whether it could be read or not.
pub struct Loaded {
    /// Where it is.
    pub place: Place,
    /// Which columns were wished for.
    pub columns: TableColumns,
    /// All its columns.
    pub header: Vec<String>,
    /// What was read.
    pub rows: Option<Rows>,
}

/// What was read, and what it allows.
pub struct Rows {
    /// The rows.
    pub sample: Sample<Table>,
    /// What was guessed, changed and found.
    pub notes: Vec<Note>,
    /// The picture of what is achievable.
    pub picture: String,
    described: String,
    text: String,
    warnings: Vec<String>,
}

impl Loaded {
    /// Takes a table that was opened. What is wrong with it is returned beside it: the columns may still be corrected.
    pub fn new(
        place: Place,
        columns: TableColumns,
        opened: Opened,
        seed: u64,
    ) -> (Self, Option<anyhow::Error>) {
        let Opened { header, reading } = opened;
        // Nobody knows the private folder a file was put into.
        let reading = match place.sent {
            true => reading.map_err(|error| error.file(place.name.clone())),
            false => reading,
        };
        let rows = columns.made_of(reading, &place.path).and_then(|reading| Rows::new(reading, &place, seed));
        let (rows, wrong) = match rows {
            Ok(rows) => (Some(rows), None),
            Err(error) => (None, Some(error)),
        };
        (Self { place, columns, header, rows }, wrong)
    }

    /// What the page shows; `save` is where answers would be kept, `most` how many questions there are at most.
    pub fn view(&self, save: &Path, most: usize) -> view::Table {
        let rows = self.rows.as_ref();
        let notes = self.choices();
        let is_guess =
            |note: &&String| GUESSES.iter().flat_map(|starts| starts.iter()).any(|s| note.starts_with(s));
        view::Table {
            name: self.place.name.clone(),
            place: match self.place.sent {
                true => {
                    format!("{} was sent to this page and is kept until the command ends.", self.place.name)
                }
                false => format!("Read from {}.", self.place.path.display()),
            },
            facts: rows.map(Rows::facts).unwrap_or_default(),
            header: self.header.clone(),
            wished: self.wished(),
            guessed: self.guessed(),
            classes: rows.map(|rows| rows.sample.table().classes().to_vec()).unwrap_or_default(),
            notes: notes.iter().filter(|note| !is_guess(note)).cloned().collect(),
            warnings: rows.map(|rows| rows.warnings.clone()).unwrap_or_default(),
            survey: rows.map(|rows| rows.survey(save, most)),
        }
    }

    /// What was chosen or changed, a sentence each; findings are told as warnings.
    fn choices(&self) -> Vec<String> {
        let notes = self.rows.iter().flat_map(|rows| &rows.notes);
        notes.filter(|note| !matches!(note, Note::Finding(_))).map(ToString::to_string).collect()
    }

    /// What was guessed for truth, probabilities, positive class and group.
    fn guessed(&self) -> [Option<String>; 4] {
        let notes = self.choices();
        GUESSES.map(|starts| {
            let guess = |note: &String| {
                let told = starts.iter().find_map(|start| note.strip_prefix(start))?;
                Some(told.split(" (guessed").next().unwrap_or_default().to_owned())
            };
            notes.iter().find_map(guess)
        })
    }

    /// Columns that play no part yet and may be the probabilities of other models, with two classes.
    pub fn other_columns(&self) -> Vec<String> {
        if self.rows.as_ref().is_none_or(|rows| rows.sample.table().classes().len() != 2) {
            return vec![];
        }
        let TableColumns { truth, scores, group, weight, .. } = &self.columns;
        let named = scores.iter().chain(group).flatten().chain(truth).chain(weight).cloned();
        let guessed = self.guessed().into_iter().flatten();
        let taken: Vec<String> = guessed
            .flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>())
            .chain(named)
            .collect();
        self.header.iter().filter(|column| !taken.contains(column)).cloned().collect()
    }

    fn wished(&self) -> Wished {
        let TableColumns { truth, scores, positive, group, no_group, scores_are, drop_missing, .. } =
            &self.columns;
        Wished {
            truth: truth.clone().unwrap_or_default(),
            scores: scores.clone().unwrap_or_default(),
            positive: positive.clone().unwrap_or_default(),
            group: match no_group {
                true => "-".to_owned(),
                false => group.clone().unwrap_or_default().join(","),
            },
            scale: scores_are.clone().unwrap_or_default(),
            drop_missing: *drop_missing,
        }
    }
}

/// The columns that somebody wished for on the page; what the page has no field for stays as it was typed.
pub fn columns_of(wished: Wished, before: &TableColumns) -> TableColumns {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    TableColumns {
        truth: some(wished.truth),
        scores: Some(wished.scores).filter(|scores| !scores.is_empty()),
        positive: some(wished.positive),
        no_group: wished.group == "-",
        group: match before.group.as_ref().map(|groups| groups.join(",")) {
            // Several crossed ones have no field of their own.
            Some(typed) if typed == wished.group => before.group.clone(),
            _ => some(wished.group).filter(|group| group != "-").map(|group| vec![group]),
        },
        scores_are: some(wished.scale).filter(|scale| ["percent", "logit"].contains(&scale.as_str())),
        drop_missing: wished.drop_missing,
        ..before.clone()
    }
}

impl Rows {
    fn new(reading: Reading<Sample<Table>>, place: &Place, seed: u64) -> Result<Self> {
        let Reading { data: sample, notes } = reading;
        let (classes, groups) =
            (sample.table().classes(), sample.table().groups().map_or(&[][..], |groups| groups.names()));
        let survey = Survey::of(&sample, classes, groups, seed)?;
        let findings = notes.iter().filter(|note| matches!(note, Note::Finding(_)));
        let mut warnings: Vec<String> = findings.map(ToString::to_string).collect();
        warnings.extend(survey.warnings());
        Ok(Self {
            picture: picture::of(&survey),
            described: picture::described(&survey),
            text: inspect::on_page(&survey, Path::new(&place.name), &[])?,
            warnings,
            sample,
            notes,
        })
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let table = self.sample.table();
        let mut facts = vec![("Rows", grouped(table.rows() as u64)), ("Classes", table.classes().join(", "))];
        facts.extend(table.groups().map(|groups| ("Groups", groups.names().join(", "))));
        facts
    }

    fn survey(&self, save: &Path, most: usize) -> view::Survey {
        let length = match self.sample.table().classes().len() {
            2 => Length::About(most),
            _ => Length::AtMost(most),
        };
        let two = self.sample.table().groups().map(|groups| groups.names()).filter(|names| names.len() == 2);
        view::Survey {
            text: self.text.clone(),
            described: self.described.clone(),
            length: length.sentence(),
            resume: unfinished(save).map(|answers| format!("Go on after {}", counted(answers))),
            groups: two.map(|names| names.join(" and ")),
        }
    }
}

/// How many answers an interview has that is not at its end.
pub fn unfinished(save: &Path) -> Option<usize> {
    let saved = save.is_file().then(|| Saved::read(save).ok()).flatten()?;
    let answers = saved.interview.transcript().len();
    (answers > 0 && matches!(saved.interview.step(), Ok(Step::Ask(_)))).then_some(answers)
}
