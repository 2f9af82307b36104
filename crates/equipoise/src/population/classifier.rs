//! A classifier made of plug-in rules, as it is saved and applied.

use super::basis::{Basis, evaluate};
use super::plug_in::{Form, PlugIn};
use super::rows::Scores;
use super::rule::{PostShift, largest};
use crate::document::{self, FORMAT, Object};
use crate::error::{Error, Result, check};
use serde::{Deserialize, Serialize};

/// Rules that vote with their shares: the class with the largest share of votes is predicted.
///
/// Frank-Wolfe ends with a mixture of rules. Taking its most likely class instead of drawing one loses nothing that could
/// be measured, and the same row always gets the same prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Classifier {
    bases: Vec<Basis>,
    rules: Vec<(f64, PlugIn)>,
    class_names: Option<Vec<String>>,
    score_columns: Option<Vec<String>>,
    scores_are: Option<String>,
}

impl Classifier {
    pub(crate) fn new(bases: Vec<Basis>, rules: Vec<(f64, PlugIn)>) -> Self {
        Self { bases, rules, class_names: None, score_columns: None, scores_are: None }
    }

    /// The same classifier that knows what its classes are called and which columns have their probabilities.
    ///
    /// Of two classes the column of the positive one may stand alone.
    pub fn with_names(mut self, classes: Vec<String>, score_columns: Vec<String>) -> Result<Self> {
        let k = self.classes();
        check::length("classes", classes.len(), k)?;
        if !(k == 2 && score_columns.len() == 1) {
            check::length("scores", score_columns.len(), k)?;
        }
        (self.class_names, self.score_columns) = (Some(classes), Some(score_columns));
        Ok(self)
    }

    /// The same classifier that knows what the numbers in these columns are, in the words of whoever reads them; probabilities
    /// need none.
    pub fn with_scores_that_are(self, scale: Option<String>) -> Self {
        Self { scores_are: scale, ..self }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.rules[0].1.classes()
    }

    /// The classes' names.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// The columns that have the class probabilities.
    pub fn score_columns(&self) -> Option<&[String]> {
        self.score_columns.as_deref()
    }

    /// What the numbers in these columns are, unless they are probabilities.
    pub fn scores_are(&self) -> Option<&str> {
        self.scores_are.as_deref()
    }

    /// The bases of its weights.
    pub fn bases(&self) -> &[Basis] {
        &self.bases
    }

    /// Rules and their shares.
    pub fn rules(&self) -> &[(f64, PlugIn)] {
        &self.rules
    }

    /// All columns its bases need.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for basis in &self.bases {
            let needed: Vec<&str> = match basis {
                Basis::Column { column } => vec![column],
                Basis::Cluster { features, .. } | Basis::Radial { features, .. } => {
                    features.iter().map(String::as_str).collect()
                }
                Basis::All | Basis::Argmax { .. } | Basis::Group { .. } => vec![],
            };
            needed.into_iter().for_each(|name| {
                if !columns.contains(&name) {
                    columns.push(name);
                }
            });
        }
        columns
    }

    /// The columns that name the groups, if its rules depend on groups.
    pub fn group_columns(&self) -> Option<&[String]> {
        self.bases.iter().find_map(|basis| match basis {
            Basis::Group { columns, .. } => Some(&columns[..]),
            _ => None,
        })
    }

    /// Says what rows lack that the bases need, if anything.
    pub fn check(&self, scores: &Scores) -> Result<()> {
        evaluate(&self.bases, scores).map(drop)
    }

    /// The weights per basis, averaged over the rules by their shares, for a reader.
    pub fn mean_weights(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.rules.iter().map(|(_, rule)| rule.weights().len()).max().unwrap_or(0)];
        for (share, rule) in &self.rules {
            // Rules are up to a factor each, so a fair mean takes directions.
            let Some(direction) = crate::linalg::direction(rule.weights()) else { continue };
            if direction.len() == mean.len() {
                mean.iter_mut().zip(direction).for_each(|(mean, w)| *mean += share * w);
            }
        }
        mean
    }

    /// The one reward matrix that decides alike, where it is one rule on all rows.
    pub fn post_shift(&self) -> Option<PostShift> {
        match (&self.bases[..], &self.rules[..]) {
            ([Basis::All], [(_, only)]) => only.post_shift().ok(),
            _ => None,
        }
    }

    /// The predicted class of every row.
    pub fn predict(&self, scores: &Scores) -> Result<Vec<u8>> {
        let k = self.classes();
        if scores.classes() != k {
            let found = scores.classes();
            return Err(Error::Mismatch(format!(
                "{found} classes in the scores, but the classifier has {k}"
            )));
        }
        let values = evaluate(&self.bases, scores)?;
        if let [(_, only)] = &self.rules[..] {
            return Ok(only.predict(scores, &values));
        }
        let mut votes = vec![0.0; scores.rows() * k];
        for (share, rule) in &self.rules {
            rule.for_each(scores, &values, |row, label| votes[row * k + label] += share);
        }
        Ok(votes.chunks(k).map(|row| largest(row.iter().copied()) as u8).collect())
    }

    /// The document of this classifier.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Document<'a> {
            format: u64,
            kind: &'static str,
            classes: Classes<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            scores: Option<&'a [String]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            scores_are: Option<&'a str>,
            bases: &'a [Basis],
            rules: Vec<RuleDocument>,
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Classes<'a> {
            Count(usize),
            Names(&'a [String]),
        }
        let rule = |(share, rule): &(f64, PlugIn)| {
            let weights = (0..rule.bases()).map(|basis| rule.of_basis(basis).to_vec()).collect();
            RuleDocument { share: *share, form: rule.form(), weights }
        };
        let document = Document {
            format: FORMAT,
            kind: "post_shift",
            classes: self.class_names().map_or(Classes::Count(self.classes()), Classes::Names),
            scores: self.score_columns(),
            scores_are: self.scores_are(),
            bases: &self.bases,
            rules: self.rules.iter().map(rule).collect(),
        };
        serde_json::to_string_pretty(&document).expect("plain numbers and words")
    }

    /// Reads such a document.
    pub fn from_json(text: &str) -> Result<Self> {
        let mut object = Object::new(document::parse(text)?, "")?;
        object.check_format()?;
        object.kind("kind", &["post_shift"])?;
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            classes: Classes,
            scores: Option<Vec<String>>,
            scores_are: Option<String>,
            bases: Vec<Basis>,
            rules: Vec<RuleDocument>,
        }
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected how many classes, or a list of their names")]
        enum Classes {
            Count(usize),
            Names(Vec<String>),
        }
        let raw: Raw = object.rest()?;
        let k = match &raw.classes {
            Classes::Count(count) => *count,
            Classes::Names(names) => names.len(),
        };
        let made = (|| {
            check::at_least("bases", raw.bases.len(), 1, "at least 1")?;
            check::at_least("rules", raw.rules.len(), 1, "at least 1")?;
            let mut rules = Vec::with_capacity(raw.rules.len());
            for (n, rule) in raw.rules.into_iter().enumerate() {
                check::length(&format!("rules[{n}].weights"), rule.weights.len(), raw.bases.len())?;
                for (l, weights) in rule.weights.iter().enumerate() {
                    check::length(&format!("rules[{n}].weights[{l}]"), weights.len(), rule.form.weights(k))?;
                }
                check::unit(&format!("rules[{n}].share"), rule.share)?;
                rules.push((rule.share, PlugIn::new(k, rule.form, rule.weights.concat())?));
            }
            let classifier = Self::new(raw.bases, rules).with_scores_that_are(raw.scores_are);
            match (raw.classes, raw.scores) {
                (Classes::Names(classes), Some(scores)) => classifier.with_names(classes, scores),
                _ => Ok(classifier),
            }
        })();
        document::at("", made)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleDocument {
    share: f64,
    form: Form,
    weights: Vec<Vec<f64>>,
}
