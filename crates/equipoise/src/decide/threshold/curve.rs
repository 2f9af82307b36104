//! Decision curves: what a rule gains over doing nothing, for every threshold probability.

use crate::error::{Result, check};
use crate::population::{Profile, accepts};
use crate::rates::Confusion;

/// The net benefit of a two-class rule, in true positives per row (Vickers and Elkin 2006).
///
/// $$ TP - FP\,\frac{p_t}{1 - p_t} $$
///
/// ```
/// use equipoise::{Confusion, decide::threshold::net_benefit};
/// let confusion = Confusion::new(2, vec![0.6, 0.1, 0.05, 0.25])?;
/// assert!((net_benefit(&confusion, 0.2)? - (0.25 - 0.1 / 4.0)).abs() < 1e-15);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn net_benefit(confusion: &Confusion, threshold: f64) -> Result<f64> {
    check::number("classes of a decision curve", confusion.classes() as f64, confusion.classes() == 2, "2")?;
    Ok(confusion.get(1, 1) - confusion.get(0, 1) * odds(threshold)?)
}

impl Profile {
    /// The decision curve of these scores, taken as calibrated probabilities, at the given threshold probabilities:
    /// at each the net benefit of accepting scores of at least that, and of accepting everybody. Of accepting nobody it is 0.
    ///
    /// ```
    /// use equipoise::population::Profile;
    /// let profile = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None)?;
    /// let curve = profile.decision_curve(&[0.2, 0.5])?;
    /// assert_eq!(curve[0][0], 0.5 - 0.25 * 0.25); // all but the first row are accepted
    /// assert_eq!(curve[1], [0.25, 0.0]);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn decision_curve(&self, thresholds: &[f64]) -> Result<Vec<[f64; 2]>> {
        let mut sums = vec![[0.0; 2]];
        for cell in self.cells() {
            let mut sum = sums[sums.len() - 1];
            sum[usize::from(cell.positive)] += cell.mass();
            sums.push(sum);
        }
        let [negative, positive] = sums[sums.len() - 1];
        let all = negative + positive;
        let benefit = |[fp, tp]: [f64; 2], odds: f64| (tp - fp * odds) / all;
        let point = |&threshold: &f64| {
            let odds = odds(threshold)?;
            let accepted = self.cells().partition_point(|cell| accepts(cell.score, threshold));
            Ok([sums[accepted], [negative, positive]].map(|sums| benefit(sums, odds)))
        };
        thresholds.iter().map(point).collect()
    }
}

fn odds(threshold: f64) -> Result<f64> {
    let ok = (0.0..1.0).contains(&threshold);
    check::number("a threshold probability", threshold, ok, "a number in [0, 1)").map(|p| p / (1.0 - p))
}
