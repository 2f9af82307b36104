//! The two thresholds side by side, how sure they are, and whether the table is large enough to say.

use super::bayes::{Bayes, bayes};
use super::bootstrap::{Bootstrap, Gain, Uncertain};
use super::groups::GroupBest;
use super::requirement::Requirement;
use super::sweep::{Best, Optimum};
use crate::decide::check_level;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::population::{Cell, Profile};
use crate::rates::GroupConfusions;
use serde::{Serialize, Serializer};

/// With fewer rows of a class than this a measured threshold is not to be relied on (Vergouwe et al. 2005).
pub const RARE: usize = 100;

/// Whether there are enough rows to decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guard {
    /// All rows.
    pub rows: usize,
    /// Rows of class 0 and of class 1 that have weight.
    pub per_class: [usize; 2],
    /// Rows with a score inside the interval of the measured threshold: those whose treatment is undecided.
    pub undecided: Option<usize>,
    /// What to beware of, one sentence each.
    pub warnings: Vec<String>,
}

/// Where to cut: by theory for calibrated scores, by trying on the table, and how far to trust either.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The threshold for calibrated scores, or why there is none.
    #[serde(serialize_with = "or_reason")]
    pub bayes: Result<Bayes, Error>,
    /// What the metric is on this table at that threshold.
    pub bayes_value: Option<f64>,
    /// The requirements that threshold does not meet on this table.
    pub bayes_misses: Vec<String>,
    /// The best threshold on this table, or why there is none.
    pub best: Optimum<Best>,
    /// The interval of the best threshold; `None` without draws.
    pub uncertain: Option<Uncertain>,
    /// What the best threshold gains over that for calibrated scores; `None` without resamplings.
    pub gain: Option<Gain>,
    /// Whether the table is large enough.
    pub guard: Guard,
    /// Which of the two to use; `None` if no threshold meets the requirements.
    pub choice: Option<Choice>,
}

/// A threshold for every group, and how far to trust them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupAdvice {
    /// The best thresholds on this table, or why there are none.
    pub best: Optimum<GroupBest>,
    /// Their intervals; `None` without draws.
    pub uncertain: Option<Vec<Uncertain>>,
    /// What they gain over the common threshold for calibrated scores; `None` without resamplings.
    pub gain: Option<Gain>,
    /// Whether to use them; `None` if no thresholds meet the requirements.
    pub choice: Option<Choice>,
}

/// Which threshold to use, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// Which one.
    pub threshold: Chosen,
    /// Why, in a sentence that goes on after "use it:".
    pub because: String,
}

/// A threshold by where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// From theory, for calibrated scores.
    Bayes,
    /// The best one on the table.
    Measured,
}

impl Profile {
    /// Both thresholds for a metric, with intervals and a warning where few rows decide.
    ///
    /// ```
    /// use equipoise::{Metric, decide::threshold::Bootstrap, population::Profile};
    /// let profile = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None)?;
    /// let advice = profile.advise(&Metric::accuracy(2)?, &[], Bootstrap::default())?;
    /// assert_eq!(advice.bayes?.threshold, 0.5);
    /// assert_eq!(advice.bayes_value, Some(0.75));
    /// assert_eq!(advice.best.found().unwrap().value, 0.75);
    /// assert_eq!(advice.guard.warnings[0], "only 2 rows of class 0 and 2 of class 1 decide the measured threshold; \
    ///                                       at least 100 of each make it reliable");
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn advise(&self, metric: &Metric, requirements: &[Requirement], doubt: Bootstrap) -> Result<Advice> {
        check_level(doubt.level)?;
        let best = self.best(metric, requirements)?;
        let bayes = bayes(metric, self.positive_prior(), doubt.metric_draws, doubt.level);
        let at_bayes = bayes.as_ref().ok().map(|bayes| self.confusions_at(bayes.threshold)).transpose()?;
        let bayes_value = at_bayes.as_ref().map(|matrix| metric.of(matrix)).transpose()?;
        let bayes_misses = at_bayes.as_ref().map_or(Ok(vec![]), |matrix| missed(requirements, matrix))?;
        let theory = bayes.as_ref().ok().map(|bayes| bayes.threshold);
        let (uncertain, gain) = self.uncertain_and_gain(metric, requirements, doubt)?;
        let guard = self.guard(metric, &best, uncertain.as_ref());
        let found = matches!(best, Optimum::Found(_));
        let choice = found.then(|| choose(theory.is_some(), &bayes_misses, gain.as_ref(), guard.per_class));
        Ok(Advice { bayes, bayes_value, bayes_misses, best, uncertain, gain, guard, choice })
    }

    /// The best threshold of every group, with intervals and whether they are worth more than a common one.
    pub fn advise_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Bootstrap,
    ) -> Result<GroupAdvice> {
        check_level(doubt.level)?;
        let outcome = self.best_per_group(metric, requirements)?;
        let Optimum::Found(best) = &outcome else {
            return Ok(GroupAdvice { best: outcome, uncertain: None, gain: None, choice: None });
        };
        let theory = bayes(metric, self.positive_prior(), &[], doubt.level).ok().map(|bayes| bayes.threshold);
        let misses = match theory {
            Some(threshold) => missed(requirements, &self.confusions_at(threshold)?)?,
            None => vec![],
        };
        let (uncertain, gain) = self.uncertain_and_gain_per_group(metric, requirements, best, doubt)?;
        let totals = (0..self.groups()).flat_map(|group| self.counted(Some(group)));
        let fewest = totals.min().unwrap_or(0);
        let choice = choose(theory.is_some(), &misses, gain.as_ref(), [fewest; 2]);
        Ok(GroupAdvice { best: outcome, uncertain, gain, choice: Some(choice) })
    }

    /// How many rows of either class have weight, in one group or in all.
    fn counted(&self, group: Option<usize>) -> [usize; 2] {
        let mut counts = [0; 2];
        let inside = |cell: &&Cell| group.is_none_or(|group| usize::from(cell.group) == group);
        for cell in self.cells().iter().filter(inside).filter(|cell| cell.weight > 0.0) {
            counts[usize::from(cell.positive)] += cell.rows as usize;
        }
        counts
    }

    fn guard(&self, metric: &Metric, best: &Optimum<Best>, uncertain: Option<&Uncertain>) -> Guard {
        let (rows, per_class) = (self.rows() as usize, self.counted(None));
        let inside = |u: &Uncertain| {
            let within = |cell: &&Cell| cell.weight > 0.0 && u.interval.contains(cell.score);
            self.cells().iter().filter(within).map(|cell| cell.rows as usize).sum::<usize>()
        };
        let undecided = uncertain.map(inside);
        let mut warnings = Vec::new();
        if per_class.iter().any(|&rows| rows < RARE) {
            let [negative, positive] = per_class;
            let [no, yes] = match metric.class_names() {
                Some([no, yes]) => [no.clone(), yes.clone()],
                _ => ["class 0", "class 1"].map(str::to_owned),
            };
            warnings.push(format!(
                "only {negative} rows of {no} and {positive} of {yes} decide the measured threshold; at least {RARE} of each make it reliable"
            ));
        }
        if let Some(undecided) = undecided
            && 5 * undecided > rows
        {
            let share = 100.0 * undecided as f64 / rows as f64;
            warnings.push(format!(
                "the measured threshold is uncertain: {undecided} rows ({share:.0} %) have scores inside its interval"
            ));
        }
        if let Some(u) = uncertain
            && u.without > 0
        {
            let all = u.draws + u.without;
            warnings
                .push(format!("{} of {all} draws have no threshold that meets the requirements", u.without));
        }
        if let Optimum::Found(best) = best
            && (best.cut.above.is_none() || best.cut.up_to.is_none())
        {
            let what = if best.cut.above.is_none() { "every row" } else { "no row" };
            warnings.push(format!(
                "the best rule on this table accepts {what}, so the scores play no part in it"
            ));
        }
        Guard { rows, per_class, undecided, warnings }
    }
}

/// The requirements a confusion matrix does not meet.
fn missed(requirements: &[Requirement], matrix: &GroupConfusions) -> Result<Vec<String>> {
    let mut misses = Vec::new();
    for requirement in requirements {
        if !requirement.value_of(matrix)?.is_some_and(|value| requirement.is_met(value)) {
            misses.push(requirement.to_string());
        }
    }
    Ok(misses)
}

/// The measured threshold where theory has none or fails the requirements, and where it is clearly better on rows it was
/// not chosen on; otherwise that of theory, which does not depend on the noise of the rows.
fn choose(theory: bool, misses: &[String], gain: Option<&Gain>, per_class: [usize; 2]) -> Choice {
    let measured = |because: String| Choice { threshold: Chosen::Measured, because };
    let bayes = |because: String| Choice { threshold: Chosen::Bayes, because };
    if !theory {
        return measured("theory has no threshold for this metric".to_owned());
    }
    if !misses.is_empty() {
        return measured(format!("the Bayes threshold does not meet {} on this table", misses.join(", ")));
    }
    let fewest = per_class[0].min(per_class[1]);
    if fewest < RARE {
        return bayes(format!("a class has {fewest} rows, too few to measure a threshold (at least {RARE})"));
    }
    match gain {
        Some(gain) if gain.interval.low > 0.0 => measured(format!(
            "it is better than the Bayes threshold on rows it was not chosen on, in {:.0} % of the draws",
            100.0 * gain.better
        )),
        Some(gain) => bayes(format!(
            "the measured one cannot be told from it; on rows it was not chosen on it is better in {:.0} % of the draws",
            100.0 * gain.better
        )),
        None => bayes("without resamplings nothing shows that the measured one is better".to_owned()),
    }
}

/// A threshold, or the sentence that says why there is none.
fn or_reason<S: Serializer>(bayes: &Result<Bayes, Error>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Reason {
        reason: String,
    }
    match bayes {
        Ok(bayes) => bayes.serialize(serializer),
        Err(error) => Reason { reason: error.to_string() }.serialize(serializer),
    }
}
