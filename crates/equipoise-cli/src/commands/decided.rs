//! How a model's probabilities decide: as the metric wants it, or as somebody said.

use crate::args::RuleAt;
use crate::fault::Fault;
use crate::rows::Rows;
use anyhow::Result;
use equipoise::decide::rank::LEVEL;
use equipoise::decide::threshold::{Optimum, bayes, rewards, tune};
use equipoise::population::{Confusions as _, Population as _, PostShift, Rule, Score};
use equipoise::{Measure, Metric};
use serde::Serialize;

/// How a model decides, in words and for `--json`.
#[derive(Debug, Clone, Serialize)]
pub struct Decided {
    /// `bayes`, `best`, `given` or `most_likely`.
    pub rule: &'static str,
    /// The threshold, with two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// What to beware of.
    #[serde(skip)]
    pub finding: Option<String>,
}

impl Decided {
    /// In words that go on after "decides by".
    pub fn words(&self) -> String {
        match (self.rule, self.threshold) {
            ("bayes", Some(at)) => format!("the Bayes threshold of the metric, {at:.4}"),
            ("bayes", None) => "the Bayes rule of the metric".to_owned(),
            ("best", Some(at)) => format!("the best threshold on these rows, {at:.4}"),
            ("best", None) => "the best rule on these rows".to_owned(),
            (_, Some(at)) => format!("the threshold {at}"),
            _ => "the most likely class".to_owned(),
        }
    }
}

/// The rule of a model for a metric, which was typed like this.
pub fn decide(rows: &Rows, metric: &Metric, at: Option<RuleAt>, typed: &str) -> Result<(Rule, Decided)> {
    let k = rows.classes();
    let of_attributes = metric.view().measure() == Measure::Attributes;
    let decided = |rule, threshold| Decided { rule, threshold, finding: None };
    let cut = |rule, threshold: f64| Ok((Rule::Threshold(vec![threshold]), decided(rule, Some(threshold))));
    let profile = || rows.score_profile(Score::Class(1));
    let most_likely = |finding: Option<String>| {
        Ok((Rule::most_likely(k)?, Decided { finding, ..decided("most_likely", None) }))
    };
    match at.unwrap_or(RuleAt::Bayes) {
        RuleAt::At(_) if k != 2 => {
            Err(Fault::usage(format!("--threshold with a number is for 2 classes, but there are {k}")).into())
        }
        RuleAt::At(threshold) => cut("given", threshold),
        RuleAt::MostLikely => most_likely(None),
        RuleAt::Best if of_attributes => {
            let what = "--threshold best is for metrics of classification errors, but this one weighs attributes; a number is the \
                        same threshold for every model";
            Err(Fault::usage(what).into())
        }
        RuleAt::Bayes if of_attributes => most_likely(at.map(|_| {
            format!("{typed} weighs attributes and has no threshold of its own, so the most likely class is predicted")
        })),
        RuleAt::Best if k == 2 => match profile()?.best(metric, &[])?.found() {
            Some(best) => cut("best", best.cut.threshold).map(flattering),
            None => most_likely(None),
        },
        RuleAt::Best => {
            let start = match rewards(metric, rows.prevalence().class_priors()) {
                Ok(rule) => rule,
                Err(_) => PostShift::diagonal(&vec![1.0; k])?,
            };
            match tune(rows, &start, metric, &[])? {
                Optimum::Found(tuned) => Ok(flattering((tuned.rule.into(), decided("best", None)))),
                Optimum::Infeasible(_) => most_likely(None),
            }
        }
        RuleAt::Bayes if k == 2 => {
            let prior = rows.prevalence().class_priors()[1];
            match bayes(metric, prior, &[], LEVEL) {
                Ok(found) => cut("bayes", found.threshold),
                Err(_) => match profile()?.expected_best(metric) {
                    Ok(threshold) => cut("bayes", threshold),
                    Err(_) => most_likely(Some(format!(
                        "{typed} has no threshold for probabilities that are right, so the most likely class is predicted"
                    ))),
                },
            }
        }
        RuleAt::Bayes => match rewards(metric, rows.prevalence().class_priors()) {
            Ok(rule) => Ok((rule.into(), decided("bayes", None))),
            Err(_) => most_likely(at.map(|_| {
                format!(
                    "{typed} has no reward matrix, so the most likely class is predicted; --threshold best searches a rule on \
                     these rows, and `optimize` maximises it"
                )
            })),
        },
    }
}

/// What is tuned on the rows it is judged on looks better than it is.
fn flattering((rule, decided): (Rule, Decided)) -> (Rule, Decided) {
    let finding = "the rule was chosen on the rows it is judged on, which flatters it".to_owned();
    (rule, Decided { finding: Some(finding), ..decided })
}
