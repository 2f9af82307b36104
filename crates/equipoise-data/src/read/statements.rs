//! The statements that ask a database for counts: one text for the command and for the Python package.
//!
//! Every statement is an aggregate: totals by class and group, rows by score, counts of rules and of labels. Names are quoted and
//! no value of the data is written into a statement, so nothing in a name or a cell can be taken for SQL.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "positions are of columns and classes that are counted first"
)]

use crate::error::{Error, Kind, Result, quoted};
use equipoise::population::{Profile, Score};

/// The largest weight has up to 2^21 parts that are added exactly, so that 2^32 rows of them fit the digits of a double.
const PARTS: i32 = 20;

/// What dialects of SQL differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The quotes around names.
    pub mark: char,
    /// What a double is called.
    pub double: &'static str,
    /// Whether it is SQLite: text may stand in a column of numbers there, and casts cut fractions off.
    pub sqlite: bool,
}

impl Dialect {
    /// Most databases.
    pub const STANDARD: Self = Self { mark: '"', double: "DOUBLE PRECISION", sqlite: false };
    /// SQLite.
    pub const SQLITE: Self = Self { sqlite: true, ..Self::STANDARD };
    /// MySQL, Spark and their relatives.
    pub const BACKTICKS: Self = Self { mark: '`', double: "DOUBLE", sqlite: false };

    /// A name as the dialect wants it, whatever is in it.
    pub fn quoted(&self, name: &str) -> Result<String> {
        if name.contains('\0') {
            return Err(Error::new(Kind::Column, format!("the name {}", quoted(name)), "one without a NUL"));
        }
        let (mark, twice) = (self.mark, format!("{0}{0}", self.mark));
        Ok(format!("{mark}{}{mark}", name.replace(mark, &twice)))
    }

    /// A statement within another one. SQLite would work its expressions out again wherever they are used.
    fn inner(&self, statement: &str) -> String {
        format!("({statement}{})", if self.sqlite { " LIMIT -1" } else { "" })
    }

    /// A value of at least 0 without its fraction.
    fn floor(&self, value: &str) -> String {
        match self.sqlite {
            true => format!("CAST({value} AS INTEGER)"),
            false => format!("CAST(FLOOR({value}) AS INTEGER)"),
        }
    }

    /// A double that no dialect reads as another one: a whole number, or one over a power of two.
    fn literal(&self, value: f64) -> String {
        let double = self.double;
        match ratio(value) {
            Some((above, 1)) => format!("CAST({above} AS {double})"),
            Some((above, below)) => format!("(CAST({above} AS {double}) / CAST({below} AS {double}))"),
            None => format!("CAST({value:?} AS {double})"),
        }
    }
}

/// A number as a whole one over a power of two, in lowest terms, where both are below 2^62.
fn ratio(value: f64) -> Option<(i64, i64)> {
    const MOST: u32 = 62;
    if !value.is_finite() {
        return None;
    }
    let (bits, mut below) = (value.abs(), 0_u32);
    let mut above = bits;
    // Multiplying by two is exact.
    while above.fract() != 0.0 {
        (above, below) = (above * 2.0, below + 1);
        if below >= MOST {
            return None;
        }
    }
    (above < 2_f64.powi(MOST as i32)).then_some((above.copysign(value) as i64, 1_i64 << below))
}

/// How a model decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Decides {
    /// For the second of two classes from this probability on.
    From(f64),
    /// For the class with the largest reward, by a row-major matrix.
    By(Vec<f64>),
}

/// What is asked of one table.
#[derive(Debug, Clone)]
pub struct Statements {
    /// How names and numbers are written.
    pub dialect: Dialect,
    /// What stands behind FROM.
    pub table: String,
    /// The column of true classes.
    pub truth: String,
    /// The column of the positive class, or one per class, in their order.
    pub scores: Vec<String>,
    /// The columns of groups, which are crossed.
    pub groups: Vec<String>,
    /// The column of weights.
    pub weight: Option<String>,
    /// The largest weight, once it is known: sums are exact by it.
    pub heaviest: f64,
}

impl Statements {
    /// Everything that is looked at.
    pub fn wanted(&self) -> Vec<&str> {
        let all = std::iter::once(&self.truth).chain(&self.scores).chain(&self.groups).chain(&self.weight);
        all.map(String::as_str).collect()
    }

    /// Rows, different classes, and how many rows lack a value or have one that cannot be used: for every wanted column how
    /// many miss it, for every score how many are outside [0, 1] or no number, for a weight how many are no weight, for every group
    /// how many different ones there are, and the largest weight.
    pub fn check(&self) -> Result<String> {
        let mut parts = vec![
            "COUNT(*) AS n".to_owned(),
            format!("COUNT(DISTINCT {}) AS classes", self.quoted(&self.truth)?),
        ];
        for (n, name) in self.wanted().into_iter().enumerate() {
            parts.push(format!("COUNT(CASE WHEN {} THEN 1 END) AS m{n}", self.missing(name)?));
        }
        for (n, name) in self.scores.iter().enumerate() {
            let number = self.number(name)?;
            parts.push(format!("COUNT(CASE WHEN NOT ({number} >= 0 AND {number} <= 1) THEN 1 END) AS o{n}"));
        }
        if let Some(weight) = &self.weight {
            let weight = self.number(weight)?;
            parts.push(format!("COUNT(CASE WHEN NOT ({weight} >= 0 AND {weight} < 1e300) THEN 1 END) AS v"));
        }
        for (n, name) in self.groups.iter().enumerate() {
            parts.push(format!("COUNT(DISTINCT {}) AS g{n}", self.quoted(name)?));
        }
        if let Some(weight) = &self.weight {
            parts.push(format!("MAX({}) AS h", self.number(weight)?));
        }
        Ok(format!("SELECT {} FROM {}", parts.join(", "), self.table))
    }

    /// How many rows there are.
    pub fn rows(&self) -> String {
        format!("SELECT COUNT(*) AS n FROM {}", self.table)
    }

    /// What stands behind FROM without the rows that miss a value.
    pub fn without_missing(&self) -> Result<String> {
        let there = self.wanted().into_iter().map(|name| Ok(format!("NOT ({})", self.missing(name)?)));
        let there = there.collect::<Result<Vec<_>>>()?.join(" AND ");
        Ok(format!("(SELECT * FROM {} WHERE {there}) AS kept", self.table))
    }

    /// The least and the largest number of a column.
    pub fn range(&self, name: &str) -> Result<String> {
        let number = self.number(name)?;
        Ok(format!("SELECT MIN({number}) AS low, MAX({number}) AS high FROM {}", self.table))
    }

    /// Class, groups, rows and the sums of weights and of their squares.
    pub fn totals(&self) -> Result<String> {
        let keys = self.key_columns()?;
        let mut sums = "COUNT(*) AS n".to_owned();
        if let Some(weight) = &self.weight {
            let weight = self.number(weight)?;
            let coarse = self.coarse(&weight, self.heaviest);
            sums +=
                &format!(", SUM({coarse}) + SUM({weight} - {coarse}) AS w, {} AS v", self.squares(&weight));
        }
        let named = named(&keys, "k");
        Ok(format!("SELECT {named}, {sums} FROM {} GROUP BY {}", self.table, keys.join(", ")))
    }

    /// Rows whose probabilities do not sum to 1; nothing to ask where there is one column.
    pub fn sums(&self) -> Result<Option<String>> {
        if self.scores.len() == 1 {
            return Ok(None);
        }
        let numbers = self.scores.iter().map(|name| self.number(name)).collect::<Result<Vec<_>>>()?;
        let total = numbers.join(" + ");
        let table = &self.table;
        Ok(Some(format!("SELECT COUNT(CASE WHEN ABS(({total}) - 1) > 1e-3 THEN 1 END) AS n FROM {table}")))
    }

    /// How many different scores there are.
    pub fn different(&self, score: Score) -> Result<String> {
        let inner = self.scored(score)?;
        Ok(format!("SELECT COUNT(*) AS n FROM (SELECT DISTINCT s FROM ({inner}) AS a) AS b"))
    }

    /// Class, groups, score, rows, weight and its squares; scores in equal parts of [0, 1] by their number if there are too many.
    pub fn profile(&self, score: Score, in_parts: bool) -> Result<String> {
        let (inner, keys, sums) = (self.scored(score)?, self.keys(), self.counted());
        let squares =
            if self.weight.is_some() { format!(", {} AS q", self.squares("w")) } else { String::new() };
        let by = match in_parts {
            true => self.dialect.floor(&format!("s * {}", Profile::BUCKETS)),
            false => "s".to_owned(),
        };
        Ok(format!("SELECT {keys}, {by} AS score, {sums}{squares} FROM ({inner}) AS a GROUP BY {keys}, {by}"))
    }

    /// Class, groups, rows, and for every matrix of rewards how many of them it takes for which class.
    pub fn confusions(&self, classes: usize, matrices: &[Vec<f64>]) -> Result<String> {
        let (mut scores, mut sums) = (vec![], vec![]);
        for (r, matrix) in matrices.iter().enumerate() {
            for j in 0..classes {
                scores.push(format!("{} AS s{r}_{j}", self.reward(classes, j, matrix, "p")));
                let won = won(classes, j, |class| format!("s{r}_{class}"));
                sums.push(match self.weight {
                    Some(_) => ["h", "w - h"]
                        .map(|part| format!("SUM(CASE WHEN {won} THEN {part} ELSE 0e0 END)"))
                        .join(" + "),
                    None => format!("COUNT(CASE WHEN {won} THEN 1 END)"),
                });
            }
        }
        let (keys, named) = (self.keys(), named(&sums, "c"));
        let (scores, weight, from) = (scores.join(", "), self.carried(), self.probabilities()?);
        let inner = self.dialect.inner(&format!("SELECT {keys}, {scores}{weight} FROM {from}"));
        Ok(format!("SELECT {keys}, COUNT(*) AS n, {named} FROM {inner} AS a GROUP BY {keys}"))
    }

    /// Class, groups, the class that each of several models decides for, and rows; a model is its columns of scores and its rule,
    /// a threshold of the second of two classes or a matrix of rewards.
    pub fn decided(&self, classes: usize, models: &[(Vec<String>, Decides)]) -> Result<String> {
        let (dialect, keys) = (&self.dialect, self.keys());
        let (mut numbers, mut scaled, mut scores, mut labels) = (vec![], vec![], vec![], vec![]);
        for (m, (columns, decides)) in models.iter().enumerate() {
            for (i, name) in columns.iter().enumerate() {
                numbers.push(format!("{} AS r{m}_{i}", self.number(name)?));
            }
            match columns.len() {
                1 => scaled.push(format!("1 - r{m}_0 AS p{m}_0, r{m}_0 AS p{m}_1")),
                many => scaled.extend(scale(many, &format!("r{m}_"), &format!("p{m}_"))),
            }
            let mut cases = String::new();
            match decides {
                Decides::From(threshold) => {
                    scores.push(format!("p{m}_1 AS s{m}_1"));
                    cases = format!(" WHEN s{m}_1 < {} THEN 0", dialect.literal(*threshold));
                }
                Decides::By(rewards) => {
                    for j in 0..classes {
                        scores.push(format!(
                            "{} AS s{m}_{j}",
                            self.reward(classes, j, rewards, &format!("p{m}_"))
                        ));
                    }
                    for j in 0..classes - 1 {
                        let won = won(classes, j, |class| format!("s{m}_{class}"));
                        cases += &format!(" WHEN {won} THEN {j}");
                    }
                }
            }
            labels.push(format!("CASE{cases} ELSE {} END AS l{m}", classes - 1));
        }
        let base = named(&self.key_columns()?, "k");
        let mut from = dialect.inner(&format!("SELECT {base}, {} FROM {}", numbers.join(", "), self.table));
        for parts in [scaled, scores, labels] {
            from = dialect.inner(&format!("SELECT {keys}, {} FROM {from} AS a", parts.join(", ")));
        }
        let all = (0..models.len()).fold(keys, |all, m| format!("{all}, l{m}"));
        Ok(format!("SELECT {all}, COUNT(*) AS n FROM {from} AS a GROUP BY {all}"))
    }

    /// How many different combinations of class, labels of models and groups there are.
    pub fn different_labels(&self, models: &[String]) -> Result<String> {
        let (inner, keys) = self.labelled(models)?;
        Ok(format!("SELECT COUNT(*) AS n FROM (SELECT DISTINCT {keys} FROM ({inner}) AS a) AS b"))
    }

    /// Class, labels of models, groups, rows and weight.
    pub fn labels(&self, models: &[String]) -> Result<String> {
        let ((inner, keys), sums) = (self.labelled(models)?, self.counted());
        Ok(format!("SELECT {keys}, {sums} FROM ({inner}) AS a GROUP BY {keys}"))
    }

    fn labelled(&self, models: &[String]) -> Result<(String, String)> {
        let columns = std::iter::once(&self.truth).chain(models).chain(&self.groups);
        let columns = columns.map(|name| self.quoted(name)).collect::<Result<Vec<_>>>()?;
        let (named, keys) = (named(&columns, "k"), keys(columns.len()));
        Ok((format!("SELECT {named}{} FROM {}", self.weighed()?, self.table), keys))
    }

    /// Keys, score and weight of every row.
    fn scored(&self, score: Score) -> Result<String> {
        let score = match score {
            Score::Class(of) => format!("p{of}"),
            Score::Share(other, of) => {
                format!("CASE WHEN p{of} > 0 THEN p{of} / (p{other} + p{of}) ELSE 0e0 END")
            }
        };
        let (keys, weight, from) = (self.keys(), self.carried(), self.probabilities()?);
        Ok(format!("SELECT {keys}, {score} AS s{weight} FROM {from}"))
    }

    /// Class, groups, a probability per class as `p0`, `p1` and so on, and the weight.
    fn probabilities(&self) -> Result<String> {
        let (dialect, table) = (&self.dialect, &self.table);
        let base = format!("SELECT {}{}", named(&self.key_columns()?, "k"), self.weighed()?);
        if let [score] = &self.scores[..] {
            let p = self.number(score)?;
            let rows = dialect.inner(&format!("{base}, {p} AS p1, 1 - {p} AS p0 FROM {table}"));
            return Ok(format!("{rows} AS p"));
        }
        let numbers = self.scores.iter().map(|name| self.number(name)).collect::<Result<Vec<_>>>()?;
        let scaled = scale(numbers.len(), "r", "p").join(", ");
        let rows = dialect.inner(&format!("{base}, {} FROM {table}", named(&numbers, "r")));
        let (keys, weight) = (self.keys(), self.carried());
        Ok(format!("{} AS p", dialect.inner(&format!("SELECT {keys}{weight}, {scaled} FROM {rows} AS r"))))
    }

    /// What deciding for a class is worth.
    fn reward(&self, classes: usize, class: usize, rewards: &[f64], p: &str) -> String {
        let term = |i: usize| {
            let reward = rewards.get(i * classes + class).copied().unwrap_or_default();
            format!("{p}{i} * {}", self.dialect.literal(reward))
        };
        (0..classes).map(term).collect::<Vec<_>>().join(" + ")
    }

    fn quoted(&self, name: &str) -> Result<String> {
        self.dialect.quoted(name)
    }

    fn number(&self, name: &str) -> Result<String> {
        Ok(format!("CAST({} AS {})", self.quoted(name)?, self.dialect.double))
    }

    fn missing(&self, name: &str) -> Result<String> {
        let is_number = self.scores.iter().chain(&self.weight).any(|number| number == name);
        let quoted = self.quoted(name)?;
        Ok(match (is_number, self.dialect.sqlite) {
            (false, _) => format!("{quoted} IS NULL"),
            // Not a number is larger than any, or not smaller than any: it depends on the database.
            (true, false) => format!("({quoted} IS NULL OR NOT ({} < 1e301))", self.number(name)?),
            // Here a column of numbers may hold text, of which other than a number would count as 0.
            (true, true) => {
                let digits = ["[0-9.]*", "*[0-9]*"].map(|like| format!("{quoted} GLOB '{like}'"));
                let others = ["*[^0-9.eE-]*", "*.*.*", "*[eE]*[.eE]*", "*[0-9.]-*", "*[eE-]"]
                    .map(|unlike| format!("{quoted} NOT GLOB '{unlike}'"));
                let number = [&digits[..], &others].concat().join(" AND ");
                format!(
                    "NOT (typeof({quoted}) IN ('real', 'integer') OR typeof({quoted}) = 'text' AND {number})"
                )
            }
        })
    }

    fn key_columns(&self) -> Result<Vec<String>> {
        std::iter::once(&self.truth).chain(&self.groups).map(|name| self.quoted(name)).collect()
    }

    fn keys(&self) -> String {
        keys(1 + self.groups.len())
    }

    /// The weight of a row under its name here, and handed on.
    fn weighed(&self) -> Result<String> {
        match &self.weight {
            Some(weight) => {
                let weight = self.number(weight)?;
                Ok(format!(", {weight} AS w, {} AS h", self.coarse(&weight, self.heaviest)))
            }
            None => Ok(String::new()),
        }
    }

    /// A number of at least 0 in whole parts of the largest. Databases add one row after the other, which loses five digits of ten
    /// million weights; these parts they add without rounding, in any order, and what is left over is too small to matter.
    fn coarse(&self, value: &str, largest: f64) -> String {
        let parts = 2_f64.powi(PARTS.saturating_sub(largest.log2().floor() as i32));
        if !(parts.is_normal() && parts.recip().is_normal()) {
            return "0e0".to_owned();
        }
        let (parts, part) = (self.dialect.literal(parts), self.dialect.literal(parts.recip()));
        match self.dialect.sqlite {
            true => format!("CAST({value} * {parts} AS INTEGER) * {part}"),
            false => format!("FLOOR({value} * {parts}) * {part}"),
        }
    }

    fn squares(&self, weight: &str) -> String {
        let square = format!("{weight} * {weight}");
        let coarse = self.coarse(&square, self.heaviest * self.heaviest);
        format!("SUM({coarse}) + SUM({square} - {coarse})")
    }

    fn carried(&self) -> &'static str {
        if self.weight.is_some() { ", w, h" } else { "" }
    }

    fn counted(&self) -> &'static str {
        if self.weight.is_some() { "COUNT(*) AS n, SUM(h) + SUM(w - h) AS w" } else { "COUNT(*) AS n" }
    }
}

/// Probabilities by new names: rows that miss a sum of 1 by more than rounding are divided by it, as they are in memory.
fn scale(count: usize, from: &str, to: &str) -> Vec<String> {
    let total = (0..count).map(|n| format!("{from}{n}")).collect::<Vec<_>>().join(" + ");
    let scaled = |n: usize| {
        format!(
            "CASE WHEN ABS(({total}) - 1) <= 1e-12 THEN {from}{n} ELSE {from}{n} / ({total}) END AS {to}{n}"
        )
    };
    (0..count).map(scaled).collect()
}

/// When a class has the largest score; of equal ones the first wins.
fn won(classes: usize, class: usize, score: impl Fn(usize) -> String) -> String {
    let beats = |other: usize| {
        format!("{} {} {}", score(class), if other < class { ">" } else { ">=" }, score(other))
    };
    (0..classes).filter(|&other| other != class).map(beats).collect::<Vec<_>>().join(" AND ")
}

fn named(expressions: &[String], letter: &str) -> String {
    let named = |(n, expression): (usize, &String)| format!("{expression} AS {letter}{n}");
    expressions.iter().enumerate().map(named).collect::<Vec<_>>().join(", ")
}

fn keys(count: usize) -> String {
    (0..count).map(|n| format!("k{n}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(dialect: Dialect) -> Statements {
        let scores = vec!["p".to_owned()];
        let table = dialect.quoted("t").unwrap();
        Statements {
            dialect,
            table,
            truth: "y".to_owned(),
            scores,
            groups: vec![],
            weight: None,
            heaviest: 0.0,
        }
    }

    #[test]
    fn names_cannot_end_their_quotes() {
        assert_eq!(Dialect::STANDARD.quoted("a\"; DROP TABLE t; --").unwrap(), "\"a\"\"; DROP TABLE t; --\"");
        assert_eq!(Dialect::BACKTICKS.quoted("a`b").unwrap(), "`a``b`");
        let said = Dialect::STANDARD.quoted("a\0b").unwrap_err().to_string();
        assert_eq!(said, "table: found the name \"a\\0b\", expected one without a NUL");
    }

    #[test]
    fn numbers_are_written_so_that_every_dialect_reads_the_same_bits() {
        let literal = |value| Dialect::STANDARD.literal(value);
        assert_eq!(literal(3.0), "CAST(3 AS DOUBLE PRECISION)");
        assert_eq!(literal(-0.75), "(CAST(-3 AS DOUBLE PRECISION) / CAST(4 AS DOUBLE PRECISION))");
        assert_eq!(literal(1e-30), "CAST(1e-30 AS DOUBLE PRECISION)");
        for value in [0.1, 1.0 / 3.0, 123_456.789, -0.3, 0.0, 1e15] {
            let (above, below) = ratio(value).unwrap();
            assert_eq!(above as f64 / below as f64, value);
        }
        assert_eq!((ratio(1e300), ratio(f64::NAN), ratio(5e-324)), (None, None, None));
    }

    #[test]
    fn one_column_of_scores_is_asked_in_few_words() {
        let profile = statements(Dialect::SQLITE).profile(Score::Class(1), true).unwrap();
        assert_eq!(
            profile,
            "SELECT k0, CAST(s * 65536 AS INTEGER) AS score, COUNT(*) AS n FROM (SELECT k0, p1 AS s FROM (SELECT \"y\" AS k0, \
             CAST(\"p\" AS DOUBLE PRECISION) AS p1, 1 - CAST(\"p\" AS DOUBLE PRECISION) AS p0 FROM \"t\" LIMIT -1) AS p) AS a \
             GROUP BY k0, CAST(s * 65536 AS INTEGER)"
        );
        let weighed =
            Statements { weight: Some("w".to_owned()), heaviest: 5.0, ..statements(Dialect::STANDARD) };
        let coarse = weighed.coarse("w", weighed.heaviest);
        assert_eq!(
            coarse,
            "FLOOR(w * CAST(262144 AS DOUBLE PRECISION)) * (CAST(1 AS DOUBLE PRECISION) / CAST(262144 AS DOUBLE PRECISION))"
        );
        // Where there are no such parts, rows are added up as they are.
        assert_eq!([0.0, f64::INFINITY, 1e-320].map(|largest| weighed.coarse("w", largest)), ["0e0"; 3]);
        let totals = statements(Dialect::BACKTICKS).totals().unwrap();
        assert_eq!(totals, "SELECT `y` AS k0, COUNT(*) AS n FROM `t` GROUP BY `y`");
    }
}
