//! What draws of another sample need before models are judged by them.

use equipoise::decide::rank::Candidate;
use equipoise::metric::Family;
use equipoise::{GroupConfusions, Metric};

/// Whether two matrices have classes of the same sizes.
pub fn alike(a: &GroupConfusions, b: &GroupConfusions) -> bool {
    let priors = [a, b].map(|matrix| matrix.overall().class_priors());
    priors[0].iter().zip(&priors[1]).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// Gives every draw the class sizes that were measured.
///
/// A fraction such as F1 has the class priors among its constants, so that false alarms are what is left of a class.
/// In a draw with other priors they would not be.
pub fn hold_class_sizes(candidates: &mut [(String, GroupConfusions, Vec<GroupConfusions>)]) {
    for (_, matrix, draws) in candidates {
        let k = matrix.classes();
        let size = |of: &GroupConfusions, g: usize, i: usize| (0..k).map(|j| of.get(g, i, j)).sum::<f64>();
        for draw in draws.iter_mut() {
            let entry = |g: usize, n: usize| {
                let (wanted, found) = (size(matrix, g, n / k), size(draw, g, n / k));
                if found > 0.0 { draw.get(g, n / k, n % k) * wanted / found } else { f64::NAN }
            };
            let groups = (0..draw.groups()).map(|g| (0..k * k).map(|n| entry(g, n)).collect()).collect();
            // A draw without one of the classes stays as it is.
            if let Ok(held) = GroupConfusions::new(k, groups) {
                *draw = held;
            }
        }
    }
}

/// Leaves out the resamples in which some model has no value, for all models; returns how many.
pub fn leave_out_undefined(metric: &Metric, candidates: &mut [Candidate]) -> usize {
    let draws = candidates.first().map_or(0, |candidate| candidate.draws().len());
    let defined =
        |model: &Candidate, n: usize| model.value(metric, &model.draws()[n]).is_ok_and(f64::is_finite);
    let keep: Vec<usize> = (0..draws).filter(|&n| candidates.iter().all(|model| defined(model, n))).collect();
    if keep.len() < draws {
        for candidate in candidates {
            let kept = keep.iter().map(|&n| candidate.draws()[n].clone()).collect();
            *candidate = candidate.clone().with_draws(kept);
        }
    }
    draws - keep.len()
}

/// Whether a metric has the class shares among its constants.
pub fn has_priors(metric: &Metric) -> bool {
    let family = metric.family();
    matches!(family, Family::LinearFractional(_) | Family::MacroF(_) | Family::Kappa(_) | Family::Mcc(_))
}
