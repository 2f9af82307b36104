//! Whether a challenger may take the place of a champion, under a metric that is not known exactly, on a sample of rows.

use super::rank::{Candidate, Score, Values};
use crate::decide::{Spread, check_level};
use crate::error::{Result, check};
use crate::metric::Metric;
use serde::Serialize;

/// What is decided about a challenger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is better, or no worse than is fine, with the probability asked for.
    Pass,
    /// It is worse than is fine with that probability.
    Fail,
    /// Neither is sure enough.
    Undecided,
}

/// A champion, a challenger, and what is decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The decision.
    pub verdict: Verdict,
    /// How likely the challenger is better than the champion less the margin; draws in which it is just there count half.
    pub probability: f64,
    /// The probability that a verdict needs.
    pub level: f64,
    /// By how much worse the challenger may be, in units of the metric.
    pub margin: f64,
    /// What the champion is worth.
    pub champion: Score,
    /// What the challenger is worth.
    pub challenger: Score,
    /// By how much the challenger is better, whichever way the metric counts; negative where it is worse.
    pub gain: f64,
    /// Where that lies, from sampling and from the metric together; `None` without any draws.
    pub interval: Option<Spread>,
    /// The interval from sampling alone.
    pub sampling: Option<Spread>,
    /// The interval from the metric's posterior alone.
    pub metric: Option<Spread>,
}

/// Decides about a challenger, from draws as [`rank`](super::rank::rank()) takes them.
///
/// Draw n of both models belongs to the same resampling of the rows where they were measured on the same rows, and the same draw of
/// the metric judges both, so that what they have in common cancels.
///
/// ```
/// use equipoise::decide::{gate::{Verdict, gate}, rank::Candidate};
/// use equipoise::{GroupConfusions, Metric};
/// let model = |wrong: [f64; 3]| {
///     let matrix = |wrong: f64| GroupConfusions::new(2, vec![vec![0.5, wrong, 0.1, 0.4 - wrong]]);
///     let draws = wrong.map(matrix).into_iter().collect::<Result<_, _>>()?;
///     Ok::<_, equipoise::Error>(Candidate::new("model", matrix(wrong[0])?).with_draws(draws))
/// };
/// // Both get worse and better together.
/// let (old, new) = (model([0.05, 0.03, 0.07])?, model([0.04, 0.02, 0.06])?);
/// let found = gate(&old, &new, &Metric::accuracy(2)?, &[], 0.95, 0.0)?;
/// assert_eq!((found.verdict, found.probability), (Verdict::Pass, 1.0));
/// assert_eq!(gate(&new, &old, &Metric::accuracy(2)?, &[], 0.95, 0.0)?.verdict, Verdict::Fail);
/// assert_eq!(gate(&new, &old, &Metric::accuracy(2)?, &[], 0.95, 0.02)?.verdict, Verdict::Pass);
/// assert_eq!(gate(&old, &old, &Metric::accuracy(2)?, &[], 0.95, 0.0)?.verdict, Verdict::Undecided);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn gate(
    champion: &Candidate,
    challenger: &Candidate,
    metric: &Metric,
    metric_draws: &[Metric],
    level: f64,
    margin: f64,
) -> Result<Gate> {
    check_level(level)?;
    // Below one half a challenger could pass and fail at once.
    check::number("level", level, level >= 0.5, "at least 0.5")?;
    check::number("margin", margin, margin.is_finite() && margin >= 0.0, "a number of at least 0")?;
    let values = Values::of(&[champion.clone(), challenger.clone()], metric, metric_draws)?;
    let sign = metric.sense().sign();
    let gains = |values: &[Vec<f64>]| -> Vec<f64> {
        values[1].iter().zip(&values[0]).map(|(new, old)| sign * (new - old)).collect()
    };
    let [sampling, by_metric] = [&values.sampling, &values.metric].map(|of| Spread::of(&gains(of), level));
    let gains = gains(&values.both);
    let [above, just] = gains.iter().fold([0.0, 0.0], |[above, just], gain| match () {
        () if *gain > -margin => [above + 1.0, just],
        () if *gain == -margin => [above, just + 1.0],
        () => [above, just],
    });
    let probability = (above + 0.5 * just) / gains.len() as f64;
    // Shares of draws miss by rounding.
    let verdict = match () {
        () if probability >= level - 1e-12 => Verdict::Pass,
        () if 1.0 - probability >= level - 1e-12 => Verdict::Fail,
        () => Verdict::Undecided,
    };
    let (champion, challenger) = (values.score(0, level), values.score(1, level));
    let interval = champion.interval.and_then(|_| Spread::of(&gains, level));
    let gain = sign * (challenger.value - champion.value);
    Ok(Gate {
        verdict,
        probability,
        level,
        margin,
        champion,
        challenger,
        gain,
        interval,
        sampling,
        metric: by_metric,
    })
}
