//! Metrics people know by name, as members of the families.

use super::{
    DemographicParity, Fair, Family, GeometricMean, LinearFractional, Metric, Pair, Quadratic, Sense,
    Weights, pairs,
};
use crate::error::{Result, check};
use crate::rates::{GroupShares, Prevalence, off_diagonal_index, off_diagonal_pairs};
use crate::view::{Measure, View};

/// Constructors for named metrics; reach them through [`Metric::named`].
///
/// Class 1 is the positive class of the two-class metrics.
#[derive(Debug, Clone, Copy)]
pub struct Named;

impl Named {
    /// The share of correct predictions.
    pub fn accuracy(self, classes: usize) -> Result<Metric> {
        self.weighted_accuracy(vec![1.0; classes])
    }

    /// Correct predictions, each class with its weight.
    pub fn weighted_accuracy(self, weights: Vec<f64>) -> Result<Metric> {
        let view = View::new(Measure::Diagonal, weights.len(), 1)?;
        Metric::linear(view, Sense::Utility, weights)
    }

    /// The mean recall.
    pub fn balanced_accuracy(self, classes: usize) -> Result<Metric> {
        let view = View::new(Measure::DiagonalRates, classes, 1)?;
        Metric::linear(view, Sense::Utility, vec![1.0 / classes as f64; classes])
    }

    /// $F_\beta = \frac{(1+\beta^2)TP}{(1+\beta^2)TP + \beta^2 FN + FP}$ for the given positive prior.
    pub fn f_beta(self, beta: f64, positive_prior: f64) -> Result<Metric> {
        let b2 = check::positive("beta", beta)?.powi(2);
        let prior = check::unit("the positive prior", positive_prior)?;
        // FN = prior - TP and FP = 1 - prior - TN.
        let offset = b2 * prior + 1.0 - prior;
        binary_fraction(LinearFractional::new(vec![1.0 + b2, 0.0], vec![1.0, -1.0], offset)?)
    }

    /// $TP / (TP + FN + FP)$.
    pub fn jaccard(self) -> Result<Metric> {
        binary_fraction(LinearFractional::new(vec![1.0, 0.0], vec![0.0, -1.0], 1.0)?)
    }

    /// The geometric mean of the recalls.
    pub fn g_mean(self, classes: usize) -> Result<Metric> {
        let view = View::new(Measure::DiagonalRates, classes, 1)?;
        Metric::new(view, Sense::Utility, Family::GeometricMean(GeometricMean {}))
    }

    /// $\frac1k \sum_i (\text{miss rate of class } i)^2$ (eq. 6.9), a cost.
    pub fn q_mean(self, classes: usize) -> Result<Metric> {
        let rows: Vec<usize> = off_diagonal_pairs(classes).map(|(i, _)| i).collect();
        // phi = r'Br/2, so every pair of errors of one class carries 2/k.
        let entry = |i: usize, j: usize| if i == j { 2.0 / classes as f64 } else { 0.0 };
        let matrix = rows.iter().map(|&i| rows.iter().map(|&j| entry(i, j)).collect()).collect();
        quadratic_cost(classes, Quadratic::new(vec![0.0; rows.len()], matrix)?)
    }

    /// $\sum_j (P(h=j) - \pi_j)^2$ (eq. 6.10 with the class priors in the coverage), a cost.
    pub fn distribution_matching(self, class_priors: &[f64], target: &[f64]) -> Result<Metric> {
        let k = class_priors.len();
        check::length("target", target.len(), k)?;
        check::nonnegative("target", target)?;
        Prevalence::new(class_priors.to_vec())?;
        // Coverage of class j is prior_j + <g_j, r>.
        let slope = |j: usize| -> Vec<f64> {
            let entry = |(a, b): (usize, usize)| match () {
                () if a == j => -class_priors[a],
                () if b == j => class_priors[a],
                () => 0.0,
            };
            off_diagonal_pairs(k).map(entry).collect()
        };
        let q = k * k - k;
        let (mut linear, mut matrix, mut constant) = (vec![0.0; q], vec![vec![0.0; q]; q], 0.0);
        for j in 0..k {
            let (g, gap) = (slope(j), class_priors[j] - target[j]);
            for a in 0..q {
                linear[a] += 2.0 * gap * g[a];
                for b in 0..q {
                    matrix[a][b] += 2.0 * g[a] * g[b];
                }
            }
            constant += gap * gap;
        }
        quadratic_cost(k, Quadratic::new(linear, matrix)?.plus_constant(constant)?)
    }

    /// Differences between groups in how often the positive class (class 1 of 2) is missed.
    pub fn equal_opportunity(self, shares: &GroupShares) -> Result<Metric> {
        let mut weights = vec![0.0; 2];
        weights[off_diagonal_index(2, 1, 0)] = 1.0;
        self.fairness_only(shares, weights)
    }

    /// Differences between groups in every error rate, all weighted alike.
    pub fn equalised_odds(self, shares: &GroupShares) -> Result<Metric> {
        let k = shares.classes();
        self.fairness_only(shares, vec![1.0; k * k - k])
    }

    /// Half the differences in false positives plus half those in false negatives (two classes).
    pub fn error_rate_balance(self, shares: &GroupShares) -> Result<Metric> {
        self.fairness_only(shares, vec![0.5; 2])
    }

    /// The largest difference between groups in how often they are predicted `estimate`.
    pub fn demographic_parity(self, estimate: usize, prevalence: &Prevalence) -> Result<Metric> {
        let shares = prevalence.group_shares();
        let family = Family::DemographicParity(DemographicParity::new(estimate, prevalence)?);
        let view = View::new(Measure::GroupRates, shares.classes(), shares.groups())?;
        Metric::new(view, Sense::Cost, family)
    }

    /// A missed positive costs `ratio` false alarms (two classes), in joint probabilities.
    pub fn cost_ratio(self, ratio: f64) -> Result<Metric> {
        let ratio = check::positive("the cost ratio", ratio)?;
        Metric::linear(View::new(Measure::Binary, 2, 1)?, Sense::Utility, vec![ratio, 1.0])
    }

    /// The metric people mean by a word, for data with this prevalence; `None` if the word is not known.
    ///
    /// Known: `accuracy`, `balanced_accuracy`, `f1` (any beta: `f0.5`, `f2`), `jaccard`, `g_mean`, `q_mean`,
    /// `equal_opportunity`, `equalised_odds`, `error_rate_balance`, `demographic_parity`, and a cost ratio such as
    /// `7:1` (a missed positive to a false alarm). Capitals, hyphens and spaces make no difference.
    ///
    /// ```
    /// use equipoise::{Metric, rates::Prevalence};
    /// let prevalence = Prevalence::new(vec![0.9, 0.1])?;
    /// let metric = Metric::named().by_name("7:1", &prevalence)?.unwrap();
    /// assert_eq!(metric.cost_ratio(), Some(7.0));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn by_name(self, name: &str, prevalence: &Prevalence) -> Result<Option<Metric>> {
        let word = name.trim().to_lowercase().replace(['-', ' '], "_").replace("equalized", "equalised");
        let (priors, shares) = (prevalence.class_priors(), prevalence.group_shares());
        let k = priors.len();
        let beta = word.strip_prefix('f').and_then(|beta| beta.trim_start_matches('_').parse().ok());
        let costs = word.split_once(':').and_then(|(miss, alarm)| {
            Some((miss.trim_matches('_').parse::<f64>().ok()?, alarm.trim_matches('_').parse::<f64>().ok()?))
        });

        if beta.is_some()
            || costs.is_some()
            || ["jaccard", "equal_opportunity", "error_rate_balance"].contains(&&*word)
        {
            check::number(&format!("the number of classes for {word}"), k as f64, k == 2, "2")?;
        }
        let about_groups =
            ["equal_opportunity", "equalised_odds", "error_rate_balance", "demographic_parity"];
        if about_groups.contains(&&*word) {
            let m = shares.groups();
            check::number(&format!("the number of groups for {word}"), m as f64, m > 1, "at least 2")?;
        }
        let metric = match (word.as_str(), beta, costs) {
            ("accuracy", ..) => self.accuracy(k),
            ("balanced_accuracy", ..) => self.balanced_accuracy(k),
            ("jaccard", ..) => self.jaccard(),
            ("g_mean", ..) => self.g_mean(k),
            ("q_mean", ..) => self.q_mean(k),
            ("equal_opportunity", ..) => self.equal_opportunity(&shares),
            ("equalised_odds", ..) => self.equalised_odds(&shares),
            ("error_rate_balance", ..) => self.error_rate_balance(&shares),
            ("demographic_parity", ..) => self.demographic_parity(1, prevalence),
            (_, Some(beta), _) => self.f_beta(beta, priors[1]),
            (_, _, Some((miss, alarm))) => self.cost_ratio(miss / alarm),
            _ => return Ok(None),
        };
        metric.map(Some)
    }

    /// The same weights for every pair of groups, and no care for performance.
    fn fairness_only(self, shares: &GroupShares, weights: Vec<f64>) -> Result<Metric> {
        let (k, m) = (shares.classes(), shares.groups());
        let pair = |groups| Pair { groups, violation: Weights { weights: weights.clone() } };
        let fair = Fair::new(vec![1.0; k * k - k], pairs(m).map(pair).collect(), 1.0, shares.clone())?;
        Metric::new(View::new(Measure::GroupRates, k, m)?, Sense::Cost, Family::GroupFair(fair))
    }
}

fn binary_fraction(fraction: LinearFractional) -> Result<Metric> {
    let view = View::new(Measure::Binary, 2, 1)?;
    Metric::new(view, Sense::Utility, Family::LinearFractional(fraction))
}

fn quadratic_cost(classes: usize, quadratic: Quadratic) -> Result<Metric> {
    let view = View::new(Measure::OffDiagonalRates, classes, 1)?;
    Metric::new(view, Sense::Cost, Family::Quadratic(quadratic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::{Confusion, GroupConfusions};

    fn matrix() -> Confusion {
        Confusion::new(2, vec![0.55, 0.10, 0.05, 0.30]).unwrap()
    }

    #[track_caller]
    fn check(metric: Result<Metric>, expected: f64) {
        let metric = metric.unwrap();
        let one = GroupConfusions::new(2, vec![vec![0.55, 0.10, 0.05, 0.30]]).unwrap();
        let value = metric.of(&one).unwrap();
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn named_metrics_have_their_textbook_values() {
        let named = Metric::named();
        check(named.accuracy(2), 0.85);
        check(named.weighted_accuracy(vec![1.0, 6.0]), 0.55 + 1.8);
        let recalls = [0.55 / 0.65, 0.30 / 0.35];
        check(named.balanced_accuracy(2), (recalls[0] + recalls[1]) / 2.0);
        check(named.f_beta(1.0, 0.35), 0.60 / (0.60 + 0.05 + 0.10));
        check(named.f_beta(2.0, 0.35), 1.50 / (1.50 + 4.0 * 0.05 + 0.10));
        check(named.jaccard(), 0.30 / 0.45);
        check(named.g_mean(2), (recalls[0] * recalls[1]).sqrt());
        check(named.q_mean(2), ((0.10 / 0.65_f64).powi(2) + (0.05 / 0.35_f64).powi(2)) / 2.0);
        let coverage = [0.60 - 0.5, 0.40 - 0.5_f64];
        let expected = coverage[0].powi(2) + coverage[1].powi(2);
        check(named.distribution_matching(&matrix().class_priors(), &[0.5, 0.5]), expected);
    }

    #[test]
    fn words_are_understood_as_people_write_them() {
        let prevalence = Prevalence::new(vec![0.65, 0.35]).unwrap();
        let named = |word: &str| Metric::named().by_name(word, &prevalence);
        let found = |word: &str| Ok(named(word)?.unwrap());
        check(found("Accuracy"), 0.85);
        check(found("F1"), 0.60 / 0.75);
        check(found("f_2"), 1.50 / (1.50 + 4.0 * 0.05 + 0.10));
        check(found("6 : 1"), 6.0 * 0.30 + 0.55);
        check(found("G-mean"), (0.55 / 0.65 * 0.30 / 0.35_f64).sqrt());
        assert_eq!(named("niceness"), Ok(None));
        let message = named("equalized odds").unwrap_err().to_string();
        assert!(message.contains("groups for equalised_odds"), "{message}");
        let three = Prevalence::new(vec![0.5, 0.3, 0.2]).unwrap();
        let message = Metric::named().by_name("f1", &three).unwrap_err().to_string();
        assert!(message.contains("classes for f1"), "{message}");
    }

    #[test]
    fn fairness_metrics_measure_differences_between_groups() -> Result<()> {
        let groups = vec![vec![0.30, 0.10, 0.02, 0.08], vec![0.20, 0.05, 0.10, 0.15]];
        let confusions = GroupConfusions::new(2, groups)?;
        let shares = GroupShares::new(vec![vec![0.40 / 0.65, 0.10 / 0.35], vec![0.25 / 0.65, 0.25 / 0.35]])?;
        let (fpr, fnr) = (0.10 / 0.40 - 0.05 / 0.25_f64, 0.02 / 0.10 - 0.10 / 0.25_f64);
        let named = Metric::named();
        let near = |metric: Metric, expected: f64| {
            let value = metric.of(&confusions).unwrap();
            assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
        };
        near(named.equal_opportunity(&shares)?, fnr.abs());
        near(named.equalised_odds(&shares)?, fpr.abs() + fnr.abs());
        near(named.error_rate_balance(&shares)?, 0.5 * fpr.abs() + 0.5 * fnr.abs());
        let prevalence = Prevalence::with_groups(vec![0.65, 0.35], shares)?;
        let gap = (0.18 / 0.50 - 0.20 / 0.50_f64).abs();
        near(named.demographic_parity(1, &prevalence)?, gap);
        Ok(())
    }
}
