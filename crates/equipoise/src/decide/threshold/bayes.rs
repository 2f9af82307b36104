//! The threshold that theory gives for calibrated scores.

use super::groups::BUCKETS;
use super::sweep::Judge;
use crate::decide::{Spread, check_level};
use crate::error::{Error, Result, check, refuse};
use crate::metric::Metric;
use crate::population::{Cell, Profile};
use crate::view::Measure;
use serde::Serialize;

/// Where to cut calibrated probabilities, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bayes {
    /// The threshold probability.
    pub threshold: f64,
    /// Its interval, from draws of the metric or from the interval in its document.
    pub interval: Option<Spread>,
    /// The probability the interval has; that of the document's interval if it comes from there.
    pub level: f64,
}

impl Bayes {
    /// The threshold with its interval, in a sentence about the class that is accepted.
    ///
    /// ```
    /// use equipoise::{Spread, decide::threshold::Bayes};
    /// let bayes = Bayes { threshold: 0.14286, interval: Some(Spread { low: 0.1, high: 0.2 }), level: 0.9 };
    /// let expected = "Predict malignant where its probability is at least 0.143 (90 % interval 0.100 to 0.200).";
    /// assert_eq!(bayes.sentence("malignant"), expected);
    /// ```
    pub fn sentence(&self, class: &str) -> String {
        let start = format!("Predict {class} where its probability is at least {:.3}", self.threshold);
        match self.interval {
            Some(Spread { low, high }) => {
                format!("{start} ({:.0} % interval {low:.3} to {high:.3}).", 100.0 * self.level)
            }
            None => start + ".",
        }
    }
}

/// The best threshold on calibrated probabilities for a linear metric of two classes.
///
/// With $C_{FP}$ the cost of a false alarm and $C_{FN}$ that of a missed case, accept where
///
/// $$ P(Y=1 \mid x) \;\ge\; p_t = \frac{C_{FP}}{C_{FP} + C_{FN}} $$
///
/// (Proposition 3.1 of the thesis). A metric of rates spreads its weights over each class, so there $C_{FN}$ is the weight
/// of class 1 over `positive_prior` and $C_{FP}$ that of class 0 over the rest; joint measures do not look at the prior.
/// The interval comes from `draws` of the metric if there are any, otherwise from the interval in its document.
///
/// ```
/// use equipoise::{Metric, decide::threshold::bayes};
/// let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6],
///                "interval":{"low":4,"high":9,"level":0.9}}"#;
/// let found = bayes(&Metric::from_json(text)?, 0.3, &[], 0.95)?;
/// assert_eq!(found.threshold, 1.0 / 7.0);
/// let interval = found.interval.unwrap();
/// assert_eq!((interval.low, interval.high, found.level), (0.1, 0.2, 0.9));
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn bayes(metric: &Metric, positive_prior: f64, draws: &[Metric], level: f64) -> Result<Bayes> {
    check_level(level)?;
    let prior = positive_prior;
    check::number(
        "the positive prior",
        prior,
        prior > 0.0 && prior < 1.0,
        "a number strictly between 0 and 1",
    )?;
    let Some(costs) = metric.error_costs() else {
        let what = "a Bayes threshold needs a linear metric of 2 classes";
        let found =
            format!("found a {} metric of {} classes", metric.family().kind(), metric.view().classes());
        return Err(Error::Mismatch(format!("{what}, {found}")));
    };
    let per_case = |costs: [f64; 2]| match metric.view().measure() {
        Measure::DiagonalRates | Measure::OffDiagonalRates => [costs[0] / (1.0 - prior), costs[1] / prior],
        _ => costs,
    };
    let [false_alarm, missed] = per_case(costs);
    refuse!(
        !(false_alarm >= 0.0 && missed >= 0.0),
        "the metric likes one kind of error, so no threshold on the probability is best for it"
    );
    let of = |[false_alarm, missed]: [f64; 2]| false_alarm / (false_alarm + missed);
    // A draw may like one kind of error a little: then never, or always, accept.
    let clipped = |costs: [f64; 2]| -> Option<f64> {
        let costs = per_case(costs).map(|cost| cost.max(0.0));
        (costs[0] + costs[1] > 0.0).then(|| of(costs))
    };
    let drawn: Vec<f64> = draws.iter().filter_map(|draw| clipped(draw.error_costs()?)).collect();
    let threshold = of([false_alarm, missed]);
    if drawn.is_empty()
        && let Some(ratios) = metric.interval()
    {
        let at = |ratio: f64| of(per_case([1.0, ratio]));
        let spread = Spread { low: ratios.high().map_or(0.0, at), high: at(ratios.low()) };
        return Ok(Bayes { threshold, interval: Some(spread), level: ratios.level() });
    }
    Ok(Bayes { threshold, interval: Spread::of(&drawn, level), level })
}

impl Profile {
    /// The threshold that any metric wants if every score is the probability it says, whatever the true classes are.
    ///
    /// For a linear metric that is [`bayes`] up to the scores there are. For others, such as F-measures, the best threshold is
    /// looked up on rows that are each in part positive, as their score says. Nothing is tuned to the classes of the rows.
    ///
    /// ```
    /// use equipoise::{Metric, population::Profile};
    /// let scores: Vec<f64> = (0..1000).map(|n| f64::from(n) / 1000.0).collect();
    /// let truth: Vec<u8> = (0..1000).map(|n| (n % 2) as u8).collect();
    /// let profile = Profile::from_rows(&scores, &truth, None, None)?;
    /// // F1 at a threshold t is (1 - t^2) / (3/2 - t) here. The best threshold is half of the best F1, .764 (Lipton, Elkan,
    /// // Narayanaswamy 2014).
    /// let best = (3.0 - 5.0_f64.sqrt()) / 2.0;
    /// assert!((profile.expected_best(&Metric::f_beta(1.0, 0.5)?)? - best).abs() < 2e-3);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn expected_best(&self, metric: &Metric) -> Result<f64> {
        let rows = match self.cells().len() > BUCKETS {
            true => &self.coarse(BUCKETS, &[]).profile,
            false => self,
        };
        let parts = |cell: &Cell| {
            let score = cell.score.clamp(0.0, 1.0);
            let part = |positive: bool| {
                let share = if positive { score } else { 1.0 - score };
                Cell { weight: cell.weight * share, positive, ..*cell }
            };
            [part(false), part(true)]
        };
        let cells = rows.cells().iter().flat_map(parts).collect();
        let soft = Profile::new(cells, self.groups(), self.total());
        let metric = metric.for_prevalence(&soft.confusions_at(0.5)?.prevalence())?;
        soft.check(&metric, &[])?;
        let found = soft.sweep(&soft.masses(), &mut Judge::new(&metric, &[]));
        let (accepted, _) = found.ok_or_else(super::sweep::no_value)?;
        Ok(soft.cut_after(accepted).threshold)
    }
}
