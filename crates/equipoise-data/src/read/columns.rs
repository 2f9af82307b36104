//! Which column plays which part: named by the caller, or guessed from the usual names and said.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

use super::assemble::{sorted, spelling};
use super::column::Part;
use super::label::closest;
use crate::error::{Error, Kind, Result, list, name, quoted};
use crate::note::Note;
use serde::{Deserialize, Serialize};

/// Names a truth column usually has.
const TRUTH: [&str; 5] = ["y", "truth", "label", "target", "y_true"];
/// Names it also has, looked for where none of those is there.
const SELDOM_TRUTH: [&str; 9] = [
    "class",
    "outcome",
    "actual",
    "ground_truth",
    "true_label",
    "true_class",
    "y_test",
    "labels",
    "observed",
];
/// What stands before the class in the name of a probability column.
const PREFIXES: [&str; 7] = ["p_", "prob_", "proba_", "probability_", "y_prob_", "y_proba_", "score_"];
/// Names a single column with the probability of the positive class usually has.
const SCORE: [&str; 9] = ["score", "p", "prob", "proba", "probability", "y_score", "y_prob", "y_proba", "p1"];
/// Names it also has, looked for where none of those is there.
const SELDOM_SCORE: [&str; 6] =
    ["pred_proba", "predicted_probability", "y_pred_proba", "predict_proba", "prob_positive", "pred_prob"];
/// Names a column of predicted classes usually has, taken where there are no probabilities at all.
const PREDICTED: [&str; 6] = ["y_pred", "pred", "prediction", "predicted", "y_hat", "predicted_class"];
/// Names a group column usually has. Columns like `sex` are features as often as groups: ask for them.
const GROUP: [&str; 1] = ["group"];
/// Names a weight column usually has. Such a column is a feature as often: it is pointed out, not used.
const WEIGHT: [&str; 2] = ["weight", "sample_weight"];

/// Which columns of a table to read; what is left out is guessed from the names.
///
/// ```
/// use equipoise_data::Columns;
/// let columns = Columns::guess()
///     .truth("diagnosis")
///     .scores(["p_benign", "p_malignant"])
///     .groups(["sex", "age_group"]) // crossed: "F & young", ...
///     .without_weight();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    truth: Option<String>,
    scores: Option<Vec<String>>,
    positive: Option<String>,
    groups: Option<Vec<String>>,
    weight: Option<Option<String>>,
    scale: Scale,
    drop_missing: bool,
}

/// What the numbers in probability columns are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    /// Probabilities from 0 to 1.
    #[default]
    Probability,
    /// Percentages from 0 to 100.
    Percent,
    /// Logarithms of odds: of the positive class in a single column, or up to a common constant in one column per class.
    Logit,
}

impl Scale {
    /// What a cell of such a column may hold.
    pub(super) fn part(self) -> Part {
        match self {
            Scale::Probability => Part::Probability,
            Scale::Percent => Part::Percent,
            Scale::Logit => Part::Number,
        }
    }
}

impl Columns {
    /// Guesses every part.
    ///
    /// Truth: `y`, `truth`, `label`, `target` or `y_true`. Probabilities: `p_<class>`, `prob_<class>`,
    /// `proba_<class>`, `p0`, `p1`, ..., or columns called like the classes; for two classes also one column
    /// `score`, `p`, `prob`, `proba`, `probability`, `y_score`, `y_prob`, `y_proba` or `p1`. Group: `group`.
    /// Weights are never guessed. Capitals make no difference.
    pub fn guess() -> Self {
        Self::default()
    }

    /// Names the column of true classes.
    pub fn truth(mut self, column: impl Into<String>) -> Self {
        self.truth = Some(column.into());
        self
    }

    /// Names the probability columns: one per class, or a single one for the positive of two classes.
    ///
    /// A column belongs to the class it is named for (`malignant`, `p_malignant`, `forest_malignant`). If no
    /// column is named for a class, the columns belong to the classes in their order.
    pub fn scores<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.scores = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Names the positive one of two classes; by default the last in order.
    pub fn positive(mut self, class: impl Into<String>) -> Self {
        self.positive = Some(class.into());
        self
    }

    /// Names the group columns; several are crossed into one. An empty list means no groups.
    pub fn groups<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.groups = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Names the column of row weights.
    pub fn weight(mut self, column: impl Into<String>) -> Self {
        self.weight = Some(Some(column.into()));
        self
    }

    /// Every row counts once, whatever the columns are called.
    pub fn without_weight(mut self) -> Self {
        self.weight = Some(None);
        self
    }

    /// What the numbers in the probability columns are, if they are no probabilities.
    pub fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// Leaves rows out that lack a value, and says how many; otherwise the first of them is an error.
    pub fn drop_missing(self) -> Self {
        Self { drop_missing: true, ..self }
    }

    pub(crate) fn drops_missing(&self) -> bool {
        self.drop_missing
    }

    pub(crate) fn scores_are(&self) -> Scale {
        self.scale
    }

    /// The probability column of each of a table's classes, if the columns were named; a single one is that of the positive
    /// class.
    pub fn score_columns(&self, classes: &[String]) -> Option<Vec<String>> {
        let columns = self.scores.as_ref()?;
        let class = |column: &String| named_for(column, classes);
        let named: Vec<Option<String>> = columns.iter().map(class).collect();
        if columns.len() < classes.len() {
            return Some(columns.clone());
        }
        let order = match named.iter().all(Option::is_none) {
            true => sorted(classes.to_vec()).into_iter().map(Some).collect(),
            false => named,
        };
        let column = |class: &String| {
            order.iter().position(|of| of.as_ref() == Some(class)).map(|n| columns[n].clone())
        };
        classes.iter().map(column).collect()
    }

    /// The positive class, when named.
    pub(crate) fn named_positive(&self) -> Option<&str> {
        self.positive.as_deref()
    }

    /// Whether a column of this name could have been guessed for a part.
    ///
    /// A format whose rows may each have other keys asks this about keys the first row lacked: ignoring such
    /// a key would silently change what was guessed.
    pub(crate) fn would_guess(&self, name: &str) -> bool {
        (self.truth.is_none() && is_one_of(&TRUTH, name))
            || (self.scores.is_none() && (is_one_of(&SCORE, name) || family(name).is_some()))
            || (self.groups.is_none() && is_one_of(&GROUP, name))
    }

    /// Finds the parts among the columns of a file.
    pub(crate) fn choose(&self, header: &Header) -> Result<Choice> {
        let mut chooser = Chooser { header, wants: Vec::new(), notes: Vec::new(), scale: self.scale };
        let named = self.named();
        let truth = chooser.truth(self.truth.as_deref(), &named)?;
        let scores = chooser.scores(self.scores.as_deref(), &named)?;
        let groups = chooser.groups(self.groups.as_deref(), &named)?;
        let weight = chooser.weight(self.weight.as_ref(), &named)?;
        let parts = Parts { truth, scores, scores_guessed: self.scores.is_none(), groups, weight };
        Ok(Choice { wants: chooser.wants, parts, notes: chooser.notes })
    }

    /// The truth column alone, for whoever has to know the classes before the rest can be guessed.
    pub(crate) fn choose_truth(&self, header: &Header) -> Result<Want> {
        let mut chooser = Chooser { header, wants: Vec::new(), notes: Vec::new(), scale: self.scale };
        chooser.truth(self.truth.as_deref(), &self.named())?;
        Ok(chooser.wants.remove(0))
    }

    /// The same with probability columns called like the classes, where no others are named or guessed.
    pub(crate) fn called_like(&self, classes: &[String], header: &Header) -> Option<Self> {
        if self.scores.is_some() {
            return None;
        }
        let named = self.named();
        let column = |class: &String| {
            let same = header.matching(&named, |name| spelling(name) == *class);
            same.first().map(|&name| name.to_owned())
        };
        let columns: Option<Vec<String>> = classes.iter().map(column).collect();
        columns.filter(|columns| columns.len() > 1).map(|columns| self.clone().scores(columns))
    }

    /// The columns the caller has named, which no guess may take for another part.
    fn named(&self) -> Vec<&str> {
        let lists = self.scores.iter().chain(&self.groups).flatten();
        lists.chain(&self.truth).chain(self.weight.iter().flatten()).map(String::as_str).collect()
    }
}

/// The names of the columns of a file, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header(pub(crate) Vec<String>);

impl Header {
    /// The position of a column.
    pub(crate) fn find(&self, wanted: &str) -> Result<usize> {
        let mut positions = (0..self.0.len()).filter(|&n| self.0[n] == wanted);
        match (positions.next(), positions.count()) {
            (Some(position), 0) => Ok(position),
            (Some(_), others) => {
                let found = format!("{} columns of this name", others + 1);
                Err(Error::new(Kind::Duplicate, found, "one").column(wanted))
            }
            (None, _) => Err(self.missing(wanted)),
        }
    }

    fn missing(&self, wanted: &str) -> Error {
        let near = closest(wanted, self.0.iter().map(String::as_str));
        let hint = near.map(|near| format!(" (did you mean {}?)", name(near))).unwrap_or_default();
        let expected = format!("one of the columns {}{hint}", list(&self.0));
        Error::new(Kind::Column, format!("no column {}", quoted(wanted)), expected)
    }

    /// The different names among these columns that pass a test, in order.
    fn matching<'a>(&'a self, named: &[&str], test: impl Fn(&str) -> bool) -> Vec<&'a str> {
        let mut matching: Vec<&str> = Vec::new();
        for name in self.0.iter().map(String::as_str) {
            if test(name) && !named.contains(&name) && !matching.contains(&name) {
                matching.push(name);
            }
        }
        matching
    }
}

/// A column to read and what for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Want {
    pub(crate) position: usize,
    pub(crate) name: String,
    pub(crate) part: Part,
}

/// A probability column; its name may tell the class it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Score {
    pub(crate) want: usize,
    pub(crate) column: String,
}

impl Score {
    /// The class it stands for if it is none of those that were met.
    pub(crate) fn own_class(&self) -> String {
        spelling(family(&self.column).map_or(self.column.as_str(), |(_, class)| class))
    }
}

/// The part each wanted column plays, by its position among the wanted ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) truth: usize,
    pub(crate) scores: Vec<Score>,
    pub(crate) scores_guessed: bool,
    pub(crate) groups: Vec<usize>,
    pub(crate) weight: Option<usize>,
}

/// What to read from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) wants: Vec<Want>,
    pub(crate) parts: Parts,
    #[serde(skip)]
    pub(crate) notes: Vec<Note>,
}

struct Chooser<'a> {
    header: &'a Header,
    wants: Vec<Want>,
    notes: Vec<Note>,
    scale: Scale,
}

impl Chooser<'_> {
    fn truth(&mut self, given: Option<&str>, named: &[&str]) -> Result<usize> {
        if let Some(column) = given {
            return self.want(column, Part::Class);
        }
        let guess = match self.guess_one("the truth", &TRUTH, named)? {
            None => self.guess_one("the truth", &SELDOM_TRUTH, named)?,
            usual => usual,
        };
        let columns = || format!("columns {}", list(&self.header.0));
        let column = guess.ok_or_else(|| {
            Error::new(
                Kind::Column,
                columns(),
                format!("a truth column called {}, or its name", any_of(&TRUTH)),
            )
        })?;
        self.say("truth column", &column);
        self.want(&column, Part::Class)
    }

    fn scores(&mut self, given: Option<&[String]>, named: &[&str]) -> Result<Vec<Score>> {
        let columns = match given {
            Some([]) => {
                let expected = "one probability column per class, or one for the positive class";
                return Err(Error::new(Kind::Column, "an empty list of probability columns", expected));
            }
            Some(columns) => columns.to_vec(),
            None => self.guess_scores(named)?,
        };
        let part = self.scale.part();
        let score = |column: &String| {
            let want = self.want(column, part)?;
            Ok(Score { want, column: column.clone() })
        };
        columns.iter().map(score).collect()
    }

    /// A family of two or more columns with one prefix, or else a single column.
    fn guess_scores(&mut self, named: &[&str]) -> Result<Vec<String>> {
        let families: Vec<Vec<&str>> = (0..=PREFIXES.len())
            .map(|n| self.header.matching(named, |name| family(name).is_some_and(|(m, _)| m == n)))
            .collect();
        let mut wide = families.iter().filter(|family| family.len() > 1);
        let alone = |name: &str| is_one_of(&SCORE, name) || family(name).is_some_and(|(n, _)| n > 0);
        let columns = match (wide.next(), wide.next()) {
            (Some(columns), None) => columns.clone(),
            (None, _) => {
                let seldom = |name: &str| is_one_of(&SELDOM_SCORE, name);
                let predicted = |name: &str| is_one_of(&PREDICTED, name);
                let found = self.header.matching(named, alone);
                let found = if found.is_empty() { self.header.matching(named, seldom) } else { found };
                if found.is_empty() { self.header.matching(named, predicted) } else { found }
            }
            (Some(_), Some(_)) => families.concat(),
        };
        let several = ambiguous(&families, &columns);
        let found = || format!("columns {}", list(&self.header.0));
        match columns.len() {
            0 => {
                let expected = format!(
                    "probability columns called p_<class>, or one called {}, or their names",
                    any_of(&SCORE)
                );
                return Err(Error::new(Kind::Column, found(), expected));
            }
            _ if several => {
                let found = format!("columns {} that could each be probabilities", list(columns));
                let expected = "one column per class, or the names of the right ones";
                return Err(Error::new(Kind::Column, found, expected));
            }
            1 => self.say("probability column", columns[0]),
            _ => self.notes.push(Note::Choice(format!("probability columns: {} (guessed)", list(&columns)))),
        }
        Ok(columns.into_iter().map(str::to_owned).collect())
    }

    fn groups(&mut self, given: Option<&[String]>, named: &[&str]) -> Result<Vec<usize>> {
        if let Some(columns) = given {
            return columns.iter().map(|column| self.want(column, Part::Group)).collect();
        }
        let Some(column) = self.guess_one("the group", &GROUP, named)? else {
            return Ok(Vec::new());
        };
        self.say("group column", &column);
        Ok(vec![self.want(&column, Part::Group)?])
    }

    fn weight(&mut self, given: Option<&Option<String>>, named: &[&str]) -> Result<Option<usize>> {
        if let Some(column) = given {
            return column.as_ref().map(|column| self.want(column, Part::Weight)).transpose();
        }
        for column in self.header.matching(named, |name| is_one_of(&WEIGHT, name)) {
            self.notes.push(Note::Choice(format!(
                "every row counts once: column {} is not taken for row weights unless it is named as such",
                name(column)
            )));
        }
        Ok(None)
    }

    /// The only column with one of the usual names; two would make the guess a gamble.
    fn guess_one(&self, what: &str, usual: &[&str], named: &[&str]) -> Result<Option<String>> {
        let candidates = self.header.matching(named, |name| is_one_of(usual, name));
        match candidates[..] {
            [] => Ok(None),
            [column] => Ok(Some(column.to_owned())),
            _ => {
                let found = format!("columns {} that could each be {what}", list(candidates));
                Err(Error::new(Kind::Column, found, "one, or the name of the right one"))
            }
        }
    }

    fn want(&mut self, column: &str, part: Part) -> Result<usize> {
        let position = self.header.find(column)?;
        if self.wants.iter().any(|want| want.position == position) {
            let expected = "a column for each";
            return Err(Error::new(Kind::Duplicate, "a column named for two parts", expected).column(column));
        }
        self.wants.push(Want { position, name: column.to_owned(), part });
        Ok(self.wants.len() - 1)
    }

    fn say(&mut self, what: &str, column: &str) {
        self.notes.push(Note::Choice(format!("{what}: {} (guessed)", name(column))));
    }
}

/// Whether the columns could be meant in more than one way: two families, or two single columns.
fn ambiguous(families: &[Vec<&str>], columns: &[&str]) -> bool {
    columns.len() > 1 && !families.iter().any(|family| family == columns)
}

/// The family a probability column belongs to by its name, and the class it is named for.
///
/// Family 0 is `p0`, `p1`, ...; the others have the prefixes in order.
pub(crate) fn family(column: &str) -> Option<(usize, &str)> {
    let after = |prefix: &str| {
        let start = column.get(..prefix.len())?;
        start.eq_ignore_ascii_case(prefix).then(|| &column[prefix.len()..]).filter(|class| !class.is_empty())
    };
    for (n, prefix) in PREFIXES.iter().enumerate() {
        if let Some(class) = after(prefix) {
            return Some((n + 1, class));
        }
    }
    after("p").filter(|class| class.bytes().all(|b| b.is_ascii_digit())).map(|class| (0, class))
}

/// The class that a column is named for: by what follows a usual prefix, by its whole name, or by an end that an
/// underscore, a hyphen, a point, a colon or a space sets apart (`forest_low`, `low.forest`), the longest if several fit.
pub(crate) fn named_for(column: &str, classes: &[String]) -> Option<String> {
    let after_prefix = family(column).map(|(_, class)| class);
    let exact = after_prefix.into_iter().chain([column]).map(spelling).find(|class| classes.contains(class));
    exact.or_else(|| {
        let apart = |c: char| "_-.: ".contains(c);
        let ends_with = |class: &&String| {
            column.strip_suffix(class.as_str()).is_some_and(|rest| rest.ends_with(apart))
                || column.strip_prefix(class.as_str()).is_some_and(|rest| rest.starts_with(apart))
        };
        classes.iter().filter(ends_with).max_by_key(|class| class.len()).cloned()
    })
}

fn is_one_of(usual: &[&str], name: &str) -> bool {
    usual.iter().any(|usual| usual.eq_ignore_ascii_case(name))
}

fn any_of(usual: &[&str]) -> String {
    match usual {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => usual.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Header {
        Header(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// The columns chosen, and the notes or the error.
    #[track_caller]
    fn check(columns: &Columns, names: &[&str], expected: &str) {
        let said = match columns.choose(&header(names)) {
            Ok(choice) => choice.notes.iter().map(Note::to_string).collect::<Vec<_>>().join("; "),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn the_usual_names_are_guessed_and_said() {
        let guess = Columns::guess();
        check(
            &guess,
            &["id", "y", "p_a", "p_b"],
            "truth column: y (guessed); probability columns: p_a, p_b (guessed)",
        );
        check(
            &guess,
            &["Truth", "Score"],
            "truth column: Truth (guessed); probability column: Score (guessed)",
        );
        check(
            &guess,
            &["y", "p0", "p1", "group", "sample_weight"],
            "truth column: y (guessed); probability columns: p0, p1 (guessed); group column: group (guessed); \
             every row counts once: column sample_weight is not taken for row weights unless it is named as such",
        );
        check(&guess, &["y", "p1", "sex"], "truth column: y (guessed); probability column: p1 (guessed)");
        check(&guess, &["y", "p_b", "sex"], "truth column: y (guessed); probability column: p_b (guessed)");
        check(
            &guess,
            &["y", "p_a", "p_b", "score"],
            "truth column: y (guessed); probability columns: p_a, p_b (guessed)",
        );
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        let guess = Columns::guess();
        check(
            &guess,
            &["y", "label", "p"],
            "table: found columns y, label that could each be the truth, expected one, or the name of the right one",
        );
        check(
            &guess,
            &["y", "score", "prob"],
            "table: found columns score, prob that could each be probabilities, \
             expected one column per class, or the names of the right ones",
        );
        check(
            &guess,
            &["y", "p_a", "p_b", "prob_a", "prob_b"],
            "table: found columns p_a, p_b, prob_a, prob_b that could each be probabilities, \
             expected one column per class, or the names of the right ones",
        );
        check(&guess.truth("y"), &["y", "label", "p"], "probability column: p (guessed)");
    }

    #[test]
    fn named_columns_are_found_or_missed_by_name() {
        let named = Columns::guess().truth("lable").scores(["s"]);
        check(
            &named,
            &["label", "s"],
            "table: found no column \"lable\", expected one of the columns label, s (did you mean label?)",
        );
        let twice = Columns::guess().truth("a").scores(["a"]);
        check(
            &twice,
            &["a", "b"],
            "table, column a: found a column named for two parts, expected a column for each",
        );
        check(
            &Columns::guess().truth("a"),
            &["a", "a", "p"],
            "table, column a: found 2 columns of this name, expected one",
        );
        check(&Columns::guess().scores(["y"]).truth("t"), &["t", "y"], "");
        check(
            &Columns::guess().without_weight().groups([""; 0]),
            &["y", "p", "group", "weight"],
            "truth column: y (guessed); probability column: p (guessed)",
        );
    }

    #[test]
    fn columns_are_found_for_classes_by_name_or_by_order() {
        let classes = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        let of = |columns: &[&str], names| {
            Columns::guess().scores(columns.to_vec()).score_columns(&classes(names))
        };
        assert_eq!(of(&["p_yes", "p_no"], ["no", "yes"]), Some(classes(["p_no", "p_yes"])));
        assert_eq!(of(&["rf_yes", "rf_no"], ["no", "yes"]), Some(classes(["rf_no", "rf_yes"])));
        assert_eq!(of(&["first", "second"], ["a", "b"]), Some(classes(["first", "second"])));
        // The positive class was named, so classes are not in order; columns still are.
        assert_eq!(of(&["first", "second"], ["b", "a"]), Some(classes(["second", "first"])));
        assert_eq!(of(&["risk"], ["no", "yes"]), Some(vec!["risk".to_owned()]));
        assert_eq!(Columns::guess().score_columns(&classes(["a", "b"])), None);
    }

    #[test]
    fn late_keys_matter_only_where_something_was_guessed() {
        let guess = Columns::guess();
        for name in ["y", "P_c", "p7", "score", "group"] {
            assert!(guess.would_guess(name), "{name}");
        }
        for name in ["p", "comment", "p_", "sex", "weight"] {
            assert_eq!(guess.would_guess(name), name == "p", "{name}");
        }
        let named = Columns::guess().truth("a").scores(["b"]).groups(["c"]).without_weight();
        assert!(!named.would_guess("y") && !named.would_guess("p_c") && !named.would_guess("group"));
    }
}
