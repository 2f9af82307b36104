//! From columns that were read to a table: which classes there are, which column belongs to which, and
//! whether the parts fit each other.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

use super::column::{Column, LabelCoder, Met, Moved};
use super::columns::{Choice, Columns, Scale, Score, named_for};
use super::label::{self, Spelling, canonical, closest};
use super::turned::turned;
use crate::error::{Error, Kind, Result, list, name, plural, quoted};
use crate::note::{Note, Reading};
use crate::table::{Groups, MOST_CLASSES, Table};

/// Makes the table. The columns are free of bad cells and have rows.
pub(crate) fn table(options: &Columns, choice: &Choice, columns: Vec<Column>) -> Result<Reading<Table>> {
    let parts = &choice.parts;
    let column_name = |want: usize| choice.wants[want].name.as_str();
    let mut columns = Taken(columns.into_iter().map(Some).collect());
    let mut notes = Vec::new();

    let (truth, met) = columns.labels(parts.truth);
    let in_truth = |error: Error| match error.place.column {
        None if error.kind != Kind::Sum => error.column(column_name(parts.truth)),
        _ => error,
    };
    let classes = Classes::of(options, choice, &met)?;
    notes.extend(classes.notes);

    let mut moved = Moved::default();
    let mut probabilities = Vec::with_capacity(classes.names.len());
    for want in classes.columns {
        let (values, moved_here) = columns.numbers(want);
        moved.absorb(moved_here);
        probabilities.push(values);
    }
    let scores: Vec<&str> = parts.scores.iter().map(|score| column_name(score.want)).collect();
    rescale(options.scores_are(), &mut probabilities).map_err(|error| error.column(scores[0]))?;
    if probabilities.len() == 1 {
        let negative = probabilities[0].iter().map(|p| 1.0 - p).collect();
        probabilities.insert(0, negative);
    }
    notes.extend(moved.note());

    let code = class_codes(&met, &classes.names);
    let truth = truth.into_iter().map(|label| code[usize::from(label)]).collect();
    let mut reading = Table::new(classes.names, truth, probabilities).map_err(in_truth)?;
    notes.append(&mut reading.notes);
    let mut table = reading.data;
    notes.extend(turned(&table).map(|area| said_turned(area, &scores, table.classes(), classes.by_order)));

    let mut crossed = Vec::with_capacity(parts.groups.len());
    for &want in &parts.groups {
        let (codes, met) = columns.labels(want);
        notes.extend(said_missing(column_name(want), &met));
        crossed.push(in_order(codes, met)?);
    }
    if !crossed.is_empty() {
        table = table.with_groups(Groups::cross(crossed)?)?;
    }
    if let Some(want) = parts.weight {
        let weights = columns.numbers(want).0;
        table = table.with_weights(weights).map_err(|error| error.column(column_name(want)))?;
    }
    notes.extend(table.findings());
    Ok(Reading { data: table, notes })
}

/// The groups that one column names.
pub(crate) fn groups(column: Column) -> Result<Groups> {
    let (codes, met) = Taken(vec![Some(column)]).labels(0);
    in_order(codes, met)
}

/// Columns, each to be taken once.
pub(super) struct Taken(pub Vec<Option<Column>>);

impl Taken {
    pub fn labels(&mut self, want: usize) -> (Vec<u16>, Vec<Met>) {
        match self.0[want].take() {
            Some(Column::Labels { codes, coder }) => (codes, coder.met),
            _ => (Vec::new(), Vec::new()),
        }
    }

    pub fn numbers(&mut self, want: usize) -> (Vec<f64>, Moved) {
        match self.0[want].take() {
            Some(Column::Numbers { values, check }) => (values, check.moved),
            _ => (Vec::new(), Moved::default()),
        }
    }
}

/// Classes in order, and the probability column of each; one column means that of the last class.
pub(crate) struct Classes {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<usize>,
    pub(crate) notes: Vec<Note>,
    /// Whether columns belong to classes by their order, rather than by their names.
    pub(crate) by_order: bool,
}

impl Classes {
    /// The classes of a table whose labels are known.
    pub(crate) fn of(options: &Columns, choice: &Choice, met: &[Met]) -> Result<Self> {
        let parts = &choice.parts;
        let score_names = parts.scores.iter().map(|score| choice.wants[score.want].name.as_str()).collect();
        let question =
            Question { options, scores: &parts.scores, score_names, guessed: parts.scores_guessed, met };
        question.classes().map_err(|error| match error.place.column {
            None if error.kind != Kind::Sum => error.column(&choice.wants[parts.truth].name),
            _ => error,
        })
    }
}

/// What decides the classes: the labels that were met and the names of the probability columns.
struct Question<'a> {
    options: &'a Columns,
    scores: &'a [Score],
    score_names: Vec<&'a str>,
    guessed: bool,
    met: &'a [Met],
}

impl Question<'_> {
    fn classes(&self) -> Result<Classes> {
        if self.met.len() > MOST_CLASSES {
            let found = format!("{} different labels", self.met.len());
            return Err(Error::new(Kind::Count, found, format!("at most {MOST_CLASSES} classes")));
        }
        self.check_missing()?;
        match self.scores {
            [score] => self.one_column(score),
            scores => self.column_per_class(scores),
        }
    }

    /// A label like NA is a missing value, unless a probability column is named for it.
    fn check_missing(&self) -> Result<()> {
        let named = |met: &Met| {
            let class = std::slice::from_ref(&met.name);
            self.scores.iter().any(|score| named_for(&score.column, class).is_some())
        };
        match self.met.iter().find(|met| label::means_missing(&met.name) && !named(met)) {
            Some(met) => {
                let error = Error::new(Kind::Missing, quoted(&met.name), "a class label");
                Err(error.row(met.first_row + 1).more(met.rows - 1))
            }
            None => Ok(()),
        }
    }

    fn labels(&self) -> Vec<String> {
        sorted(self.met.iter().map(|met| met.name.clone()).collect())
    }

    /// Two classes and the probability of the positive one.
    fn one_column(&self, score: &Score) -> Result<Classes> {
        if let [only] = self.met {
            let found = format!("only class {}", name(&only.name));
            return Err(Error::new(Kind::Count, found, "two classes"));
        }
        if let [_, _, third, ..] = self.met {
            let found = format!("{} as a third class", quoted(&third.name));
            let expected =
                format!("two classes, as {} is the only probability column", name(self.score_names[0]));
            let rows: u64 = self.met[2..].iter().map(|met| met.rows).sum();
            return Err(Error::new(Kind::Count, found, expected).row(third.first_row + 1).more(rows - 1));
        }
        let mut names = self.labels();
        let notes = match (self.options.named_positive(), named_for(&score.column, &names)) {
            (None, Some(class)) => {
                positive_last(&mut names, &class)?;
                let from = name(self.score_names[0]);
                vec![Note::Choice(format!("positive class: {} (guessed from column {from})", name(&class)))]
            }
            _ => self.positive_last(&mut names)?,
        };
        Ok(Classes { names, columns: vec![score.want], notes, by_order: false })
    }

    /// A column for each class, by name, or by position if no column is named for a class.
    fn column_per_class(&self, scores: &[Score]) -> Result<Classes> {
        let labels = self.labels();
        let matches: Vec<Option<String>> =
            scores.iter().map(|score| named_for(&score.column, &labels)).collect();
        if !self.guessed && matches.iter().all(Option::is_none) {
            self.check_names_say_nothing(&labels)?;
            return self.by_position(scores);
        }
        let mut of_column = Vec::with_capacity(scores.len());
        for (n, class) in matches.into_iter().enumerate() {
            let class = class.unwrap_or_else(|| scores[n].own_class());
            if let Some(twin) = of_column.iter().position(|other| *other == class) {
                let found = format!(
                    "columns {} for class {}",
                    list([self.score_names[twin], self.score_names[n]]),
                    name(&class)
                );
                return Err(Error::new(Kind::Duplicate, found, "one").column(self.score_names[n]));
            }
            of_column.push(class);
        }
        let mut names = sorted(of_column.clone());
        self.check_every_label_has_a_column(&names)?;
        let notes = self.positive_last(&mut names)?;
        let column =
            |class: &String| of_column.iter().position(|other| other == class).map(|n| scores[n].want);
        let columns = names.iter().filter_map(column).collect();
        Ok(Classes { names, columns, notes, by_order: false })
    }

    /// Order is no guess where names speak of classes in a way that is not understood.
    fn check_names_say_nothing(&self, labels: &[String]) -> Result<()> {
        let mentions = |column: &&&str| {
            let column = column.to_lowercase();
            labels.iter().any(|class| class.len() > 1 && column.contains(&class.to_lowercase()))
        };
        match self.score_names.iter().find(mentions) {
            None => Ok(()),
            Some(column) => {
                let found = format!("a probability column {} that names a class in part", quoted(column));
                let expected = format!(
                    "columns that end with their class after an underscore, or the classes {} themselves",
                    list(labels)
                );
                Err(Error::new(Kind::Mismatch, found, expected))
            }
        }
    }

    fn by_position(&self, scores: &[Score]) -> Result<Classes> {
        let labels = self.labels();
        if labels.len() != scores.len() {
            let expected = format!("one for each of the classes {}", list(&labels));
            let found = format!("the probability columns {}", list(&self.score_names));
            return Err(Error::new(Kind::Mismatch, found, expected));
        }
        let pairs = labels
            .iter()
            .zip(&self.score_names)
            .map(|(class, column)| format!("{} is {}", name(column), name(class)));
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        let mut notes = vec![Note::Choice(format!(
            "classes of the probability columns: {pairs} (guessed from their order)"
        ))];
        let mut names = labels.clone();
        notes.extend(self.positive_last(&mut names)?);
        let column = |class: &String| labels.iter().position(|other| other == class).map(|n| scores[n].want);
        let columns = names.iter().filter_map(column).collect();
        Ok(Classes { names, columns, notes, by_order: true })
    }

    fn check_every_label_has_a_column(&self, classes: &[String]) -> Result<()> {
        let without = || self.met.iter().filter(|met| !classes.contains(&met.name));
        let Some(first) = without().min_by_key(|met| met.first_row) else { return Ok(()) };
        let rows: u64 = without().map(|met| met.rows).sum();
        let near = closest(&first.name, classes.iter().map(String::as_str));
        let hint = near.map(|near| format!(" (did you mean {}?)", name(near))).unwrap_or_default();
        let expected = format!("one of the classes {}, which have probability columns{hint}", list(classes));
        let error = Error::new(Kind::UnknownClass, quoted(&first.name), expected);
        Err(error.row(first.first_row + 1).more(rows - 1))
    }

    /// Puts the positive one of two classes last, and says so if it was not named.
    fn positive_last(&self, names: &mut [String]) -> Result<Vec<Note>> {
        match (self.options.named_positive(), &mut *names) {
            (Some(class), _) => positive_last(names, &spelling(class)).map(|()| Vec::new()),
            (None, [first, last]) => {
                let (first, last) = (name(first), name(last));
                Ok(vec![Note::Choice(format!(
                    "positive class: {last} (guessed, the last of {first} and {last})"
                ))])
            }
            (None, _) => Ok(Vec::new()),
        }
    }
}

fn positive_last(names: &mut [String], positive: &str) -> Result<()> {
    let Some(position) = names.iter().position(|class| class == positive) else {
        let near = closest(positive, names.iter().map(String::as_str));
        let hint = near.map(|near| format!(" (did you mean {}?)", name(near))).unwrap_or_default();
        let expected = format!("one of the classes {}{hint} as the positive one", list(&*names));
        return Err(Error::new(Kind::UnknownClass, format!("no class {}", quoted(positive)), expected));
    };
    if names.len() != 2 {
        let expected = "two classes, as a positive one is named";
        return Err(Error::new(Kind::Count, plural(names.len() as u64, "class"), expected));
    }
    names.swap(position, 1);
    Ok(())
}

/// A class name in its canonical spelling.
pub(crate) fn spelling(class: &str) -> String {
    match canonical(class) {
        Spelling::Label(label) => label.into_owned(),
        Spelling::Fraction(text) => text.to_owned(),
        Spelling::Missing => class.to_owned(),
    }
}

pub(crate) fn sorted(mut names: Vec<String>) -> Vec<String> {
    let order = label::order(&names);
    names.sort_by(order);
    names
}

/// The class of each label code. Every label has a class, and classes fit in a byte.
pub(super) fn class_codes(met: &[Met], classes: &[String]) -> Vec<u8> {
    let code = |met: &Met| classes.iter().position(|class| *class == met.name).unwrap_or(0) as u8;
    met.iter().map(code).collect()
}

/// Groups numbered in the order of their names.
fn in_order(mut codes: Vec<u16>, met: Vec<Met>) -> Result<Groups> {
    let (names, renumbered) = renumber(met.into_iter().map(|met| met.name).collect());
    codes.iter_mut().for_each(|code| *code = renumbered[usize::from(*code)]);
    Groups::new(names, codes)
}

/// Names in order, and what each old code has become.
pub(crate) fn renumber(met: Vec<String>) -> (Vec<String>, Vec<u16>) {
    debug_assert!(met.len() <= usize::from(LabelCoder::NONE));
    let order = label::order(&met);
    let mut old: Vec<usize> = (0..met.len()).collect();
    old.sort_by(|&a, &b| order(&met[a], &met[b]));
    let mut renumbered = vec![0; met.len()];
    old.iter().enumerate().for_each(|(new, &old)| renumbered[old] = new as u16);
    (old.iter().map(|&old| met[old].clone()).collect(), renumbered)
}

/// Percentages and logarithms of odds become probabilities; a single column is that of the positive class.
pub(super) fn rescale(scale: Scale, columns: &mut [Vec<f64>]) -> Result<()> {
    match (scale, columns) {
        (Scale::Probability, _) => {}
        (Scale::Percent, columns) => {
            for column in columns {
                if let Some(row) = column.iter().position(|p| !(0.0..=100.0).contains(p)) {
                    let error =
                        Error::new(Kind::OutOfRange, column[row].to_string(), "a percentage in [0, 100]");
                    return Err(error.row(row as u64 + 1));
                }
                column.iter_mut().for_each(|p| *p /= 100.0);
            }
        }
        (Scale::Logit, [one]) => one.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
        (Scale::Logit, columns) => {
            for row in 0..columns.first().map_or(0, Vec::len) {
                // The largest in front, so that no exponential overflows.
                let most = columns.iter().map(|column| column[row]).fold(f64::NEG_INFINITY, f64::max);
                columns.iter_mut().for_each(|column| column[row] = (column[row] - most).exp());
                let sum: f64 = columns.iter().map(|column| column[row]).sum();
                columns.iter_mut().for_each(|column| column[row] /= sum);
            }
        }
    }
    Ok(())
}

/// What to do about scores that are the lower, the likelier the positive class is.
pub(crate) fn said_turned(area: f64, scores: &[&str], classes: &[String], by_order: bool) -> Note {
    let [negative, positive] = [0, 1].map(|class| name(&classes[class]));
    let mend = match scores {
        [column] => format!(
            "if column {} is the probability of {negative}, name {negative} as the positive class",
            name(column)
        ),
        [first, second] if by_order => {
            format!("name the probability columns the other way round, {},{}", name(second), name(first))
        }
        _ => "the probability columns may be named for the wrong classes".to_owned(),
    };
    Note::Finding(format!(
        "rows of {positive} have lower probabilities of {positive} than others (area under the ROC curve {area:.3}); {mend}"
    ))
}

impl Moved {
    /// What to say about it.
    pub(crate) fn note(self) -> Option<Note> {
        let Self { cells, furthest } = self;
        let what = match cells {
            0 => return None,
            1 => "1 probability".to_owned(),
            _ => format!("{cells} probabilities"),
        };
        let sentence = format!("{what} outside [0, 1] by at most {furthest:.1e} moved to the nearest bound");
        Some(Note::Change(sentence))
    }
}

pub(super) fn said_missing(column: &str, met: &[Met]) -> Vec<Note> {
    let missing = met.iter().filter(|met| label::means_missing(&met.name));
    let said = |met: &Met| {
        let (rows, column) = (plural(met.rows, "row"), name(column));
        Note::Finding(format!(
            "{rows} with {} in column {column}, taken as a group of that name",
            quoted(&met.name)
        ))
    };
    missing.map(said).collect()
}
