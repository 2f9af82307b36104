//! The rule for many classes: which class to predict for given class probabilities.

use crate::error::{Error, Result, check};
use crate::metric::{Family, Metric};
use crate::population::PostShift;
use crate::rates::off_diagonal_pairs;
use crate::view::Measure;

/// The rule that is best for a linear metric where class probabilities are calibrated.
///
/// A linear metric is $\sum_{ij} U_{ij} C_{ij}$ plus a constant, so the best prediction at x is
///
/// $$ \arg\max_j \sum_i U_{ij}\, P(Y=i \mid x). $$
///
/// $U$ holds the weights of a utility, or minus those of a cost; weights of rates are divided by the class prior
/// (Proposition 4.1 of the thesis; Elkan 2001).
///
/// ```
/// use equipoise::{Metric, decide::threshold::rewards};
/// let metric = Metric::from_json(
///     r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6]}"#)?;
/// let rule = rewards(&metric, &[0.7, 0.3])?;
/// assert_eq!(rule.rewards(0), [0.0, -1.0, -6.0, 0.0]);
/// assert_eq!(rule.predict(&[0.8, 0.2], 0), 1);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn rewards(metric: &Metric, class_priors: &[f64]) -> Result<PostShift> {
    let Family::Linear(linear) = metric.family() else {
        let what = format!("a reward matrix needs a linear metric, found kind {}", metric.family().kind());
        return Err(Error::Mismatch(what));
    };
    let k = metric.view().classes();
    check::length("class priors", class_priors.len(), k)?;
    let places: Vec<(usize, usize)> = match metric.view().measure() {
        Measure::Binary => vec![(1, 1), (0, 0)],
        Measure::Diagonal | Measure::DiagonalRates => (0..k).map(|i| (i, i)).collect(),
        _ => off_diagonal_pairs(k).collect(),
    };
    let of_rates = matches!(metric.view().measure(), Measure::DiagonalRates | Measure::OffDiagonalRates);
    let mut matrix = vec![0.0; k * k];
    for ((i, j), weight) in places.into_iter().zip(linear.weights()) {
        let scale =
            if of_rates { check::positive(&format!("class priors[{i}]"), class_priors[i])? } else { 1.0 };
        matrix[i * k + j] = metric.sense().sign() * weight / scale;
    }
    PostShift::new(k, matrix)
}

/// A rule in words, for class names in the order of their codes.
///
/// ```
/// use equipoise::{population::PostShift, decide::threshold::decision_text};
/// let names = ["benign", "malignant"].map(str::to_owned);
/// let rule = PostShift::new(2, vec![0.0, -1.0, -6.0, 0.0])?;
/// assert_eq!(decision_text(&rule, &names)?, "Predict malignant where p(malignant) > 0.1429, otherwise benign.");
/// let names = ["a", "b", "c"].map(str::to_owned);
/// let rule = PostShift::diagonal(&[1.0, 2.0, 0.5])?;
/// assert_eq!(decision_text(&rule, &names)?, "Predict the class with the largest of 1 p(a), 2 p(b), 0.5 p(c).");
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn decision_text(rule: &PostShift, class_names: &[String]) -> Result<String> {
    let k = rule.classes();
    check::length("class names", class_names.len(), k)?;
    let matrix = rule.rewards(0);
    if let ([negative, positive], &[u00, u01, u10, u11]) = (class_names, matrix) {
        // Ties go to the smaller class, so the larger one must win.
        let (against, for_) = (u00 - u01, u11 - u10);
        return Ok(match against / (against + for_) {
            at if against + for_ > 0.0 && (0.0..1.0).contains(&at) => {
                format!("Predict {positive} where p({positive}) > {at:.4}, otherwise {negative}.")
            }
            _ if against < 0.0 && for_ >= 0.0 => format!("Always predict {positive}."),
            _ if against >= 0.0 && for_ <= 0.0 => format!("Always predict {negative}."),
            at => format!("Predict {positive} where p({positive}) < {at:.4}, otherwise {negative}."),
        });
    }
    // What all predictions get alike for a true class changes no decision.
    let is_diagonal = (0..k * k).all(|n| n / k == n % k || matrix[n] == 0.0);
    if is_diagonal {
        let term = |i: usize| format!("{} p({})", number(matrix[i * k + i]), class_names[i]);
        let terms: Vec<String> = (0..k).map(term).collect();
        return Ok(format!("Predict the class with the largest of {}.", terms.join(", ")));
    }
    let mut text = String::from("Predict the class with the largest sum:");
    for j in 0..k {
        let parts = (0..k).filter(|i| matrix[i * k + j] != 0.0);
        let sum: Vec<String> =
            parts.map(|i| format!("{} p({})", number(matrix[i * k + j]), class_names[i])).collect();
        let sum = if sum.is_empty() { "0".to_owned() } else { sum.join(" + ").replace("+ -", "- ") };
        text += &format!("\n  {}: {sum}", class_names[j]);
    }
    Ok(text)
}

/// A weight with four digits, without trailing zeros.
fn number(weight: f64) -> String {
    if weight == 0.0 {
        return "0".to_owned();
    }
    let places = (3 - weight.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{weight:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
