//! The two thresholds side by side, how sure they are, and whether the table is large enough to say.

use super::bayes::{Bayes, bayes};
use super::groups::GroupBest;
use super::requirement::Requirement;
use super::sample::{Row, Sample, weight};
use super::sweep::{Best, Judge, Outcome};
use crate::error::{Error, Result, check};
use crate::metric::Metric;
use crate::spread::{Spread, check_level};
use serde::{Serialize, Serializer};

/// With fewer rows of a class than this a measured threshold is not to be relied on (Vergouwe et al. 2005).
pub const RARE: usize = 100;

/// What is uncertain: the metric, the sample, or both.
#[derive(Debug, Clone, Copy)]
pub struct Doubt<'a> {
    /// Draws of the metric, from its posterior.
    pub metric_draws: &'a [Metric],
    /// How often each row is drawn (or how much it weighs) in each resampling of the rows, in the order of the rows.
    pub resamples: &'a [Vec<f64>],
    /// The probability intervals have.
    pub level: f64,
}

impl Default for Doubt<'_> {
    fn default() -> Self {
        Self { metric_draws: &[], resamples: &[], level: crate::rank::LEVEL }
    }
}

/// The interval of a measured threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uncertain {
    /// Where the thresholds of the draws lie.
    pub interval: Spread,
    /// Draws with a threshold.
    pub draws: usize,
    /// Draws without one: no threshold met the requirements, or the metric had no value.
    pub without: usize,
}

impl Uncertain {
    fn of(thresholds: &[f64], draws: usize, level: f64) -> Option<Self> {
        let interval = Spread::of(thresholds, level)?;
        Some(Self { interval, draws: thresholds.len(), without: draws - thresholds.len() })
    }
}

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
    pub bayes: std::result::Result<Bayes, Error>,
    /// What the metric is on this table at that threshold.
    pub bayes_value: Option<f64>,
    /// The requirements that threshold does not meet on this table.
    pub bayes_misses: Vec<String>,
    /// The best threshold on this table, or why there is none.
    pub best: Outcome<Best>,
    /// The interval of the best threshold; `None` without draws.
    pub uncertain: Option<Uncertain>,
    /// Whether the table is large enough.
    pub guard: Guard,
}

impl Sample {
    /// Both thresholds for a metric, with intervals and a warning where few rows decide.
    ///
    /// ```
    /// use equipoise::{Metric, threshold::{Doubt, Sample}};
    /// let sample = Sample::new(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1])?;
    /// let advice = sample.advise(&Metric::named().accuracy(2)?, &[], Doubt::default())?;
    /// assert_eq!(advice.bayes?.threshold, 0.5);
    /// assert_eq!(advice.bayes_value, Some(0.75));
    /// assert_eq!(advice.best.found().unwrap().value, 0.75);
    /// assert_eq!(advice.guard.warnings[0], "only 2 rows of class 0 and 2 of class 1 decide the measured threshold; \
    ///                                       at least 100 of each make it reliable");
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn advise(&self, metric: &Metric, requirements: &[Requirement], doubt: Doubt) -> Result<Advice> {
        check_level(doubt.level)?;
        let best = self.best(metric, requirements)?;
        let bayes = bayes(metric, self.positive_prior(), doubt.metric_draws, doubt.level);
        let at_bayes = bayes.as_ref().ok().map(|bayes| self.confusions_at(bayes.threshold)).transpose()?;
        let bayes_value = at_bayes.as_ref().map(|matrix| metric.of(matrix)).transpose()?;
        let mut bayes_misses = Vec::new();
        for requirement in requirements {
            let Some(matrix) = &at_bayes else { break };
            if !requirement.value_of(matrix)?.is_some_and(|value| requirement.is_met(value)) {
                bayes_misses.push(requirement.to_string());
            }
        }
        let uncertain = self.uncertain(metric, requirements, doubt)?;
        let guard = self.guard(&best, uncertain.as_ref());
        Ok(Advice { bayes, bayes_value, bayes_misses, best, uncertain, guard })
    }

    /// The interval of the best threshold over draws of the metric and resamplings of the rows; `None` without either.
    ///
    /// Draw n of the metric meets resampling n; the shorter list is repeated. Row weights multiply the resampling's.
    pub fn uncertain(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Doubt,
    ) -> Result<Option<Uncertain>> {
        let mut thresholds = Vec::new();
        let draws = self.each_draw(metric, requirements, doubt, |weights, judge| {
            let met = self.sweep(weights, judge).filter(|(_, rating)| rating.violation == 0.0);
            thresholds.extend(met.map(|(accepted, _)| self.cut(accepted).threshold));
        })?;
        Ok(Uncertain::of(&thresholds, draws, doubt.level))
    }

    /// The intervals of the thresholds of all groups, as [`Sample::uncertain`] has them for a common one.
    ///
    /// In every draw the search starts from `best` and moves one group at a time.
    pub fn uncertain_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        best: &GroupBest,
        doubt: Doubt,
    ) -> Result<Option<Vec<Uncertain>>> {
        check::length("cuts", best.cuts.len(), self.groups)?;
        let mut thresholds = vec![Vec::new(); self.groups];
        let draws = self.each_draw(metric, requirements, doubt, |weights, judge| {
            for (group, cut) in self.improve(best, weights, judge).into_iter().flatten().enumerate() {
                thresholds[group].push(cut.threshold);
            }
        })?;
        Ok(thresholds.iter().map(|found| Uncertain::of(found, draws, doubt.level)).collect())
    }

    /// Hands over the weights and the metric of every draw; returns how many there were.
    fn each_draw(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Doubt,
        mut act: impl FnMut(Option<&[f64]>, &mut Judge),
    ) -> Result<usize> {
        check_level(doubt.level)?;
        self.check(metric, requirements)?;
        let (wanted, resamples) = (doubt.metric_draws, doubt.resamples);
        wanted.iter().try_for_each(|draw| metric.view().expect("the metric", draw.view(), "a draw of it"))?;
        for (n, resample) in resamples.iter().enumerate() {
            check::length(&format!("resamples[{n}]"), resample.len(), self.rows.len())?;
            check::nonnegative(&format!("resamples[{n}]"), resample)?;
        }
        let draws = wanted.len().max(resamples.len());
        for n in 0..draws {
            let metric = if wanted.is_empty() { metric } else { &wanted[n % wanted.len()] };
            let drawn = (!resamples.is_empty()).then(|| self.reweighted(&resamples[n % resamples.len()]));
            act(drawn.as_deref().or(self.weights.as_deref()), &mut Judge::new(metric, requirements));
        }
        Ok(draws)
    }

    fn reweighted(&self, resample: &[f64]) -> Vec<f64> {
        match &self.weights {
            Some(weights) => weights.iter().zip(resample).map(|(w, r)| w * r).collect(),
            None => resample.to_vec(),
        }
    }

    fn guard(&self, best: &Outcome<Best>, uncertain: Option<&Uncertain>) -> Guard {
        let counted = |row: &&Row| weight(self.weights.as_deref(), row) > 0.0;
        let of_class = |class: u8| self.rows.iter().filter(|row| row.class == class).filter(counted).count();
        let per_class = [of_class(0), of_class(1)];
        let inside = |u: &Uncertain| {
            self.rows.iter().filter(|row| u.interval.contains(row.score)).filter(counted).count()
        };
        let undecided = uncertain.map(inside);
        let mut warnings = Vec::new();
        if per_class.iter().any(|&rows| rows < RARE) {
            let [negative, positive] = per_class;
            warnings.push(format!(
                "only {negative} rows of class 0 and {positive} of class 1 decide the measured threshold; at least {RARE} of each make it reliable"
            ));
        }
        if let Some(undecided) = undecided
            && 5 * undecided > self.rows.len()
        {
            let share = 100.0 * undecided as f64 / self.rows.len() as f64;
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
        if let Outcome::Found(best) = best
            && (best.cut.above.is_none() || best.cut.up_to.is_none())
        {
            let what = if best.cut.above.is_none() { "every row" } else { "no row" };
            warnings.push(format!(
                "the best rule on this table accepts {what}, so the scores play no part in it"
            ));
        }
        Guard { rows: self.rows.len(), per_class, undecided, warnings }
    }
}

/// A threshold, or the sentence that says why there is none.
fn or_reason<S: Serializer>(
    bayes: &std::result::Result<Bayes, Error>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Reason {
        reason: String,
    }
    match bayes {
        Ok(bayes) => bayes.serialize(serializer),
        Err(error) => Reason { reason: error.to_string() }.serialize(serializer),
    }
}
