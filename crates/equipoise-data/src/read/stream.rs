//! Tables that do not fit memory: read piece by piece, and only counted.
//!
//! The labels are read first, then everything once for the totals and, of two classes, the score profile, which answers all that
//! is asked of them ([`Counted`]). What needs rows, draws of them or more than two classes, goes over the files again. Rows are
//! decided by the same kernel in the same order as rows in memory, so that the numbers are the same.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of tables made here, and rows that were read fit in 64 bits"
)]

use super::assemble::{Classes, said_turned};
use super::cells::MOST_CELLS;
use super::columns::Columns;
use super::layout::Layout;
use super::pieces::{Count, Files, Remote};
use super::tally::{Asked, Elsewhere, Question, Tally};
use super::{many, open};
use crate::counted::Counted;
use crate::error::{Error, Kind, Result, plural};
use crate::note::{Note, Reading};
use crate::sample::{Sample, moments_of_all, shares};
use crate::table::{self, Groups, Table};
use equipoise::population::{Ask, AskError, Basis, Confusions, Population, Profile, Rule, Score, Totals};
use equipoise::rates::{GroupConfusions, Prevalence};
use std::path::Path;

/// A table that stays in its files.
pub struct Streamed {
    files: Files,
    totals: Totals,
    prevalence: Prevalence,
    /// Rows by the probability of the second of two classes.
    profile: Option<Profile>,
    /// The same as a population, where the other probability is what is missing to 1.
    counted: Option<Counted>,
    hard: bool,
    fingerprint: u64,
}

/// Reads a table of predictions piece by piece, without keeping its rows; `None` if it has to be read as a whole: files other than
/// Parquet, rows that are to be left out, columns that are recognised by their values.
///
/// ```no_run
/// use equipoise::population::{Population, Score};
/// use equipoise_data::{Columns, read};
/// if let Some(reading) = read::stream("parts/", &Columns::guess())? {
///     println!("{} rows", reading.data.totals()?.overall().rows);
/// }
/// # Ok::<(), equipoise_data::Error>(())
/// ```
pub fn stream(path: impl AsRef<Path>, columns: &Columns) -> Result<Option<Reading<Streamed>>> {
    read(path.as_ref(), columns, None)
}

/// The same where somebody else reads the files, under the paths they have here, and counts: what comes back are sums. `None` as for
/// [`stream`].
///
/// ```no_run
/// use equipoise_data::{Columns, Error, read::{self, Elsewhere, Piece, Tally}};
/// struct Next;
/// impl Elsewhere for Next {
///     fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, Error> {
///         let mut tally = Tally::new(question)?;
///         pieces.iter().for_each(|piece| tally.read(piece));
///         Ok(tally.state())
///     }
/// }
/// let reading = read::elsewhere("parts/", &Columns::guess(), Box::new(Next))?;
/// # Ok::<(), Error>(())
/// ```
pub fn elsewhere(
    path: impl AsRef<Path>,
    columns: &Columns,
    place: Box<dyn Elsewhere>,
) -> Result<Option<Reading<Streamed>>> {
    read(path.as_ref(), columns, Some(place))
}

fn read(
    path: &Path,
    columns: &Columns,
    place: Option<Box<dyn Elsewhere>>,
) -> Result<Option<Reading<Streamed>>> {
    let file = many::named(path);
    let named = |error: Error| match error.place.file {
        Some(_) => error,
        None => error.file(file.clone()),
    };
    let source = open(path, false).map_err(named)?;
    let (Ok(pieces), Ok(choice)) = (source.pieces(), columns.choose(source.header())) else {
        return Ok(None);
    };
    if columns.drops_missing() || pieces.is_empty() {
        return Ok(None);
    }
    let elsewhere = place.map(|place| Remote::new(path, place)).transpose().map_err(named)?;
    let files = Files { source, file: file.clone(), choice, layout: None, pieces, elsewhere };
    match Streamed::of(files, columns) {
        // A column of predicted classes is found out by reading it as a whole.
        Err(error) if matches!(error.kind, Kind::NotANumber | Kind::OutOfRange) => Ok(None),
        read => read.map(Some).map_err(named),
    }
}

impl Streamed {
    fn of(mut files: Files, columns: &Columns) -> Result<Reading<Self>> {
        let (format, mut chosen) =
            (Note::Choice(files.source.format()), std::mem::take(&mut files.choice.notes));
        if files.rows() == 0 {
            return Err(Error::new(Kind::Empty, "no rows", "at least one row"));
        }
        let (truth, groups, combinations) = files.ask(Question::Labels)?.into_labels();
        let mut classes = Classes::of(columns, &files.choice, &truth)?;
        chosen.append(&mut classes.notes);
        let by_order = classes.by_order;
        let (layout, about_groups) = Layout::new(columns, &files.choice, classes, groups, &combinations)?;
        files.layout = Some(layout);
        let Count { totals, profile, sums_to_one, hard, fingerprint, rescaled, moved, area } =
            files.count()?;
        let (names, groups) = (files.classes(), files.groups());

        let in_pieces = format!(
            "{}: {} in {}, of which only counts are kept",
            if files.elsewhere.is_some() { "counted on a cluster" } else { "streamed" },
            plural(files.rows() as u64, "row"),
            plural(files.pieces.len() as u64, "piece")
        );
        let mut notes = vec![format, Note::Choice(in_pieces)];
        notes.append(&mut chosen);
        notes.extend(moved.note());
        notes.extend(rescaled.note());
        let (wants, scores) = (&files.choice.wants, &files.choice.parts.scores);
        let scores: Vec<&str> = scores.iter().map(|score| wants[score.want].name.as_str()).collect();
        notes.extend(area.map(|area| said_turned(area, &scores, names, by_order)));
        notes.extend(about_groups);
        if !groups.is_empty() {
            notes.extend(table::findings(names, groups, &totals));
        }
        if profile.as_ref().is_some_and(Profile::is_bucketed) {
            notes.push(Note::Change(format!(
                "more than {MOST_CELLS} counts by score: scores are counted in {} equal parts of [0, 1]",
                Profile::BUCKETS
            )));
        }
        let counted = match profile.clone().filter(|_| sums_to_one) {
            Some(profile) => Some(Counted::new(names.to_vec(), groups.to_vec(), profile, totals.clone())?),
            None => None,
        };
        let prevalence = totals.prevalence().map_err(|error| odd(&error))?;
        Ok(Reading { data: Self { files, totals, prevalence, profile, counted, hard, fingerprint }, notes })
    }

    /// The class names, the positive one of two last.
    pub fn class_names(&self) -> &[String] {
        self.files.classes()
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        self.files.groups()
    }

    /// Whether every probability is 0 or 1: predicted classes rather than probabilities.
    pub fn is_hard(&self) -> bool {
        self.hard
    }

    /// Whether somebody else reads the files.
    pub fn is_elsewhere(&self) -> bool {
        self.files.elsewhere.is_some()
    }

    /// A number that tells its rows from others, as [`Table::fingerprint`] does.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn ask(&self, question: Question) -> Result<Tally> {
        self.files.ask(question).map_err(|error| match error.place.file {
            Some(_) => error,
            None => error.file(self.files.file.clone()),
        })
    }

    fn asked(&self, rules: &[Rule]) -> Result<Vec<Asked>> {
        for rule in rules {
            rule.check(self.classes(), self.groups()).map_err(|error| odd(&error))?;
        }
        Asked::rules(rules, self.groups())
    }
}

/// Other bases look at rows one by one, or at columns that are not read.
pub(super) fn all_rows_only(bases: &[Basis]) -> std::result::Result<(), AskError<Error>> {
    match bases {
        [Basis::All] => Ok(()),
        _ => {
            let expected = "--basis left out, or a table in memory";
            Err(AskError::Population(Error::new(
                Kind::Mismatch,
                "bases on rows that are only counted",
                expected,
            )))
        }
    }
}

fn odd(error: &equipoise::Error) -> Error {
    Error::new(Kind::Mismatch, error.to_string(), "a table of classes that all have rows")
}

impl Confusions for Streamed {
    type Err = Error;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>> {
        let asked = self.asked(rules)?;
        if let Some(counted) = &self.counted {
            let Ok(found) = counted.confusions(rules);
            return Ok(found);
        }
        let (k, groups) = (self.classes(), self.groups());
        let sums = self.ask(Question::Confusions { rules: asked })?.summed();
        let total = self.totals.overall().weight;
        Ok(sums.chunks(groups * k * k).map(|counts| shares(counts, k, total)).collect())
    }
}

impl Population for Streamed {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> Result<Profile> {
        if let (Some(profile), Score::Class(1)) = (&self.profile, score) {
            return Ok(profile.clone());
        }
        if let Some(counted) = &self.counted {
            let Ok(found) = counted.score_profile(score);
            return Ok(found);
        }
        let score = match score {
            Score::Class(class) => (class, None),
            Score::Share(a, b) => (a, Some(b)),
        };
        let tally = self.ask(Question::Profile { score })?;
        Ok(tally.into_cells().profile(self.totals.overall().weight))
    }

    /// One pass over the files for all draws and rules.
    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>> {
        let asked = self.asked(rules)?;
        if rules.is_empty() {
            return Ok(vec![vec![]; draws]);
        }
        let (k, entries) = (self.classes(), self.groups() * self.classes() * self.classes());
        let mut drawn: Vec<Option<Vec<GroupConfusions>>> = vec![None; draws];
        for attempt in 0.. {
            let missing: Vec<u64> =
                (0..draws).filter(|&draw| drawn[draw].is_none()).map(|n| n as u64).collect();
            if missing.is_empty() {
                break;
            }
            let (rules, draws) = (asked.clone(), missing.clone());
            let sums = self.ask(Question::Draws { rules, seed, draws, attempt })?.summed();
            for (counts, draw) in sums.chunks(asked.len() * entries).zip(missing) {
                let counts: Vec<&[f64]> = counts.chunks(entries).collect();
                // A draw that comes to nothing, as of a tiny table, is tried again.
                let weighs = |counts: &&[f64]| counts.iter().sum::<f64>() > 0.0;
                let matrices =
                    || counts.iter().map(|counts| shares(counts, k, counts.iter().sum())).collect();
                drawn[draw as usize] = counts.iter().all(weighs).then(matrices);
            }
        }
        Ok(drawn.into_iter().flatten().collect())
    }

    /// Of two classes from counts by score; of more one pass for every batch, and all rows are the only basis.
    fn moments(&self, bases: &[Basis]) -> std::result::Result<Ask<'_, Error>, AskError<Error>> {
        if let Some(counted) = &self.counted {
            let ask = counted.moments(bases).map_err(equipoise::Error::from)?;
            return Ok(Box::new(move |rules| {
                let Ok(found) = ask(rules);
                Ok(found)
            }));
        }
        all_rows_only(bases)?;
        let (k, total) = (self.classes(), self.totals.overall().weight);
        Ok(Box::new(move |rules| {
            let rules = rules.iter().map(|rule| rule.post_shift().map(Rule::from));
            let rules = rules.collect::<equipoise::Result<Vec<_>>>().map_err(|error| odd(&error))?;
            let sums = self.ask(Question::Confusions { rules: self.asked(&rules)? })?.summed();
            Ok(sums.chunks(self.groups() * k * k).map(|counts| moments_of_all(counts, k, total)).collect())
        }))
    }

    /// The rows that [`Table::subsample`] would draw.
    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>> {
        let tally = self.ask(Question::Sample { rows, all: self.files.rows(), seed })?;
        let k = self.classes();
        let mut seen = vec![false; k * self.groups()];
        let (mut truth, mut columns) = (vec![], vec![vec![]; k]);
        let (mut codes, mut weights) = (vec![], vec![]);
        for part in tally.drawn() {
            for (row, &class) in part.truth.iter().enumerate() {
                let (code, weight) = (part.codes[row], part.weights[row]);
                let first = &mut seen[usize::from(code) * k + usize::from(class)];
                // The first row of its class and group is kept, drawn or not.
                if part.spare[row] && *first {
                    continue;
                }
                *first |= weight > 0.0;
                truth.push(class);
                (0..k).for_each(|class| columns[class].push(part.columns[class][row]));
                codes.push(code);
                weights.push(weight);
            }
        }
        let mut part = Table::new(self.class_names().to_vec(), truth, columns)?.data;
        if !self.group_names().is_empty() {
            part = part.with_groups(Groups::new(self.group_names().to_vec(), codes)?)?;
        }
        if self.totals.weighted {
            part = part.with_weights(weights)?;
        }
        Sample::new(part).map_err(|error| odd(&error))
    }
}
