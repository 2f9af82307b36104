//! Metrics people know by name: the one table that documents, rankings, optimisation and the command line read.
//!
//! A [`Named`] metric is a name, with a parameter where it has one. [`Named::metric`] is its formula: the member of a family
//! that it is for data of a prevalence. Value, gradient and direction are those of that [`Metric`]; what groups do to it
//! is in its [`View`]. To add one, add it to [`Named`], give it a line in [`NAMES`], a formula and words.

use super::{
    DemographicParity, Fair, Family, GeometricMean, Kappa, MacroF, Mcc, Metric, Pair, Quadratic, Sense, pairs,
};
use crate::error::{Result, check};
use crate::rates::{GroupShares, Prevalence, off_diagonal_index, off_diagonal_pairs};
use crate::view::{Measure, View};
use serde::Serialize;

/// A metric people know by name. Class 1 is the positive one of two classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Named {
    /// The share of correct predictions.
    Accuracy,
    /// The mean recall.
    BalancedAccuracy,
    /// The geometric mean of the recalls.
    GMean,
    /// The geometric mean of all recalls of all groups.
    GroupGMean,
    /// $TP / (TP + FN + FP)$.
    Jaccard,
    /// $(1+\beta^2) TP / ((1+\beta^2) TP + \beta^2 FN + FP)$.
    FBeta {
        /// $\beta$.
        beta: f64,
    },
    /// The mean over the classes of $F_1$, each against the rest.
    MacroF,
    /// The share of wrong predictions.
    ErrorRate,
    /// The mean miss rate.
    BalancedError,
    /// Cohen's kappa: correct predictions beyond chance.
    Kappa,
    /// Matthews' correlation of predictions and classes.
    Mcc,
    /// The mean squared miss rate.
    QMean,
    /// A missed case costs $c$ false alarms.
    CostRatio {
        /// $c$.
        ratio: f64,
    },
    /// Accuracy with one class weighing more or less than the others.
    ClassWeight {
        /// The class.
        class: usize,
        /// Its weight; the others have 1.
        weight: f64,
    },
    /// Differences between groups in how often the positive class is missed.
    EqualOpportunity,
    /// Differences between groups in every error rate.
    EqualisedOdds,
    /// Half the differences between groups in false alarms plus half those in misses.
    ErrorRateBalance,
    /// The largest difference between groups in how often class 1 is predicted.
    DemographicParity,
}

/// What a metric asks of the data beyond classes: two of them, groups, or both.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Two,
    Groups,
    TwoAndGroups,
}

/// A line of the table: names, metric, what it needs, formula.
type Line = (&'static [&'static str], Named, Needs, &'static str);

/// Every name without a parameter, with its other spellings. F-measures (`f1`, `f0.5`) and cost ratios (`7:1`) are read by rule.
const NAMES: [Line; 15] = [
    (&["accuracy"], Named::Accuracy, Needs::Nothing, "share of correct predictions"),
    (&["error_rate", "error"], Named::ErrorRate, Needs::Nothing, "share of wrong predictions"),
    (&["balanced_accuracy"], Named::BalancedAccuracy, Needs::Nothing, "mean of the recalls"),
    (
        &["balanced_error", "balanced_error_rate", "ber"],
        Named::BalancedError,
        Needs::Nothing,
        "mean of the miss rates",
    ),
    (&["jaccard"], Named::Jaccard, Needs::Two, "TP / (TP + FN + FP)"),
    (
        &["macro_f", "macro_f1"],
        Named::MacroF,
        Needs::Nothing,
        "mean of the F1 of every class against the rest",
    ),
    (&["g_mean"], Named::GMean, Needs::Nothing, "geometric mean of the recalls"),
    (&["group_g_mean"], Named::GroupGMean, Needs::Groups, "geometric mean of the recalls of every group"),
    (
        &["mcc", "matthews", "matthews_corrcoef"],
        Named::Mcc,
        Needs::Nothing,
        "correlation of predictions and classes",
    ),
    (
        &["kappa", "cohen_kappa"],
        Named::Kappa,
        Needs::Nothing,
        "(a - e) / (1 - e), a: accuracy, e: accuracy by chance",
    ),
    (&["q_mean"], Named::QMean, Needs::Nothing, "mean of the squared miss rates"),
    (
        &["equal_opportunity"],
        Named::EqualOpportunity,
        Needs::TwoAndGroups,
        "sum over pairs of groups of |difference of miss rates of the positive class|",
    ),
    (
        &["equalised_odds", "equalized_odds"],
        Named::EqualisedOdds,
        Needs::Groups,
        "sum over pairs of groups and kinds of error of |difference of rates|",
    ),
    (
        &["error_rate_balance"],
        Named::ErrorRateBalance,
        Needs::TwoAndGroups,
        "half of equalised_odds for two classes",
    ),
    (
        &["demographic_parity"],
        Named::DemographicParity,
        Needs::Groups,
        "largest difference between groups in how often class 1 is predicted",
    ),
];

impl Named {
    /// The metric people mean by a word; `None` if the word is not known.
    ///
    /// Known: `accuracy`, `error_rate`, `balanced_accuracy`, `balanced_error`, `f1` (any beta: `f0.5`, `f2`), `jaccard`,
    /// `macro_f`, `g_mean`, `group_g_mean`, `mcc`, `kappa`, `q_mean`, `equal_opportunity`, `equalised_odds`, `error_rate_balance`, `demographic_parity`, and a
    /// cost ratio such as `7:1` (a missed positive to a false alarm). Capitals, hyphens and spaces make no difference.
    ///
    /// ```
    /// use equipoise::{metric::Named, rates::Prevalence};
    /// let prevalence = Prevalence::new(vec![0.9, 0.1])?;
    /// let metric = Named::parse("7:1").unwrap().metric(&prevalence)?;
    /// assert_eq!(metric.cost_ratio(), Some(7.0));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn parse(word: &str) -> Option<Self> {
        if let Some((miss, alarm)) = word.split_once(':') {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            let (miss, alarm) = (number(miss)?, number(alarm)?);
            // What is not above 0 stays so, also where two minus signs would cancel; `min` would drop what is no number.
            let ratio = if miss > 0.0 && alarm > 0.0 {
                miss / alarm
            } else if miss.is_nan() || alarm.is_nan() {
                f64::NAN
            } else {
                miss.min(alarm)
            };
            return Some(Named::CostRatio { ratio });
        }
        let word = word.trim().to_lowercase().replace(['-', ' '], "_");
        if let Some((_, named, ..)) = NAMES.into_iter().find(|(names, ..)| names.contains(&word.as_str())) {
            return Some(named);
        }
        let number = |text: &str| text.trim_matches('_').parse::<f64>().ok();
        Some(Named::FBeta { beta: number(word.strip_prefix('f')?)? })
    }

    /// Its formula: the metric it is for data with this prevalence.
    pub fn metric(&self, prevalence: &Prevalence) -> Result<Metric> {
        let (priors, shares) = (prevalence.class_priors(), prevalence.group_shares());
        let (k, m) = (priors.len(), shares.groups());
        let (word, needs) = self.entry();
        if matches!(needs, Needs::Two | Needs::TwoAndGroups) {
            check::number(&format!("the number of classes for {word}"), k as f64, k == 2, "2")?;
        }
        if matches!(needs, Needs::Groups | Needs::TwoAndGroups) {
            check::at_least(&format!("the number of groups for {word}"), m, 2, "at least 2")?;
        }
        match *self {
            Named::Accuracy => Metric::accuracy(k),
            Named::BalancedAccuracy => Metric::balanced_accuracy(k),
            Named::GMean => Metric::g_mean(k),
            Named::GroupGMean => Metric::group_g_mean(k, m),
            Named::Jaccard => Metric::jaccard(),
            Named::FBeta { beta } => Metric::f_beta(beta, priors[1]),
            Named::MacroF => Metric::macro_f(priors),
            Named::ErrorRate => {
                Metric::linear(View::new(Measure::OffDiagonal, k, 1)?, Sense::Cost, vec![1.0; k * k - k])
            }
            Named::BalancedError => {
                let weights = vec![1.0 / k as f64; k * k - k];
                Metric::linear(View::new(Measure::OffDiagonalRates, k, 1)?, Sense::Cost, weights)
            }
            Named::Kappa => {
                let view = View::new(Measure::OffDiagonal, k, 1)?;
                Metric::new(view, Sense::Utility, Family::Kappa(Kappa::new(priors.to_vec())?))
            }
            Named::Mcc => {
                let view = View::new(Measure::OffDiagonal, k, 1)?;
                Metric::new(view, Sense::Utility, Family::Mcc(Mcc::new(priors.to_vec())?))
            }
            Named::QMean => Metric::q_mean(k),
            Named::CostRatio { ratio } => Metric::from_cost_ratio(ratio),
            Named::ClassWeight { class, weight } => {
                Metric::weighted_accuracy((0..k).map(|i| if i == class { weight } else { 1.0 }).collect())
            }
            Named::EqualOpportunity => Metric::equal_opportunity(&shares),
            Named::EqualisedOdds => Metric::equalised_odds(&shares),
            Named::ErrorRateBalance => Metric::error_rate_balance(&shares),
            Named::DemographicParity => Metric::demographic_parity(1, prevalence),
        }
    }

    /// The name in words.
    pub fn words(&self, class_names: Option<&[String]>) -> String {
        match *self {
            Named::GMean => "the G-mean".to_owned(),
            Named::Jaccard => "the Jaccard index".to_owned(),
            Named::Mcc => "Matthews' correlation".to_owned(),
            Named::FBeta { beta } => format!("F{}", rounded(beta, 2)),
            Named::CostRatio { ratio } if ratio >= 1.0 => format!("a {}:1 cost", rounded(ratio, 2)),
            Named::CostRatio { ratio } => format!("a 1:{} cost", rounded(1.0 / ratio, 2)),
            Named::ClassWeight { class, weight } => {
                let named = class_names.and_then(|names| names.get(class)).cloned();
                let class = named.unwrap_or_else(|| format!("class {class}"));
                format!("accuracy with {class} counted {} times", rounded(weight, 2))
            }
            _ => self.entry().0.replace('_', " "),
        }
    }

    /// Every metric with a name, and one of each sort that has a parameter.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = NAMES.into_iter().map(|(_, named, ..)| named).collect();
        all.splice(4..4, [Named::FBeta { beta: 1.0 }, Named::CostRatio { ratio: 7.0 }]);
        all
    }

    /// The words that [`Named::parse`] reads for it, the usual one first.
    pub fn names(&self) -> Vec<String> {
        match NAMES.into_iter().find(|(_, named, ..)| named == self) {
            Some((names, ..)) => names.iter().map(|&name| name.to_owned()).collect(),
            None => vec![self.entry().0],
        }
    }

    /// Its formula in words. TP, FN and FP are shares of true positives, misses and false alarms.
    pub fn formula(&self) -> &'static str {
        match self {
            Named::FBeta { .. } => "(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP), b = 1 for f1",
            Named::CostRatio { .. } => "7 TP + TN: a missed positive costs as much as 7 false alarms",
            Named::ClassWeight { .. } => "share of correct predictions, one class weighing more or less",
            _ => NAMES.into_iter().find(|(_, named, ..)| named == self).map_or("", |line| line.3),
        }
    }

    /// Whether it is for two classes only, and whether it is about groups.
    pub fn needs(&self) -> [bool; 2] {
        let needs = self.entry().1;
        [
            matches!(needs, Needs::Two | Needs::TwoAndGroups),
            matches!(needs, Needs::Groups | Needs::TwoAndGroups),
        ]
    }

    /// The word that [`Named::parse`] reads, and what the metric needs.
    fn entry(&self) -> (String, Needs) {
        match *self {
            Named::FBeta { beta } => (format!("f{beta}"), Needs::Two),
            Named::CostRatio { ratio } => (format!("{ratio}:1"), Needs::Two),
            Named::ClassWeight { .. } => ("class_weight".to_owned(), Needs::Nothing),
            _ => {
                let entry = NAMES.into_iter().find(|(_, named, ..)| named == self);
                entry.map(|(names, _, needs, _)| (names[0].to_owned(), needs)).expect("in the table")
            }
        }
    }
}

/// A positive number with this many significant digits.
pub(crate) fn rounded(x: f64, digits: i32) -> f64 {
    let places = digits - 1 - x.log10().floor() as i32;
    if places >= 0 {
        let factor = 10_f64.powi(places);
        (x * factor).round() / factor
    } else {
        let factor = 10_f64.powi(-places);
        (x / factor).round() * factor
    }
}

/// Metrics with names.
impl Metric {
    /// The share of correct predictions.
    pub fn accuracy(classes: usize) -> Result<Metric> {
        Self::weighted_accuracy(vec![1.0; classes])
    }

    /// Correct predictions, each class with its weight.
    pub fn weighted_accuracy(weights: Vec<f64>) -> Result<Metric> {
        let view = View::new(Measure::Diagonal, weights.len(), 1)?;
        Metric::linear(view, Sense::Utility, weights)
    }

    /// The mean recall.
    pub fn balanced_accuracy(classes: usize) -> Result<Metric> {
        let view = View::new(Measure::DiagonalRates, classes, 1)?;
        Metric::linear(view, Sense::Utility, vec![1.0 / classes as f64; classes])
    }

    /// $F_\beta = \frac{(1+\beta^2)TP}{(1+\beta^2)TP + \beta^2 FN + FP}$ for the given positive prior.
    pub fn f_beta(beta: f64, positive_prior: f64) -> Result<Metric> {
        let b2 = check::positive("beta", beta)?.powi(2);
        let prior = check::unit("the positive prior", positive_prior)?;
        // FN = prior - TP and FP = 1 - prior - TN.
        let offset = b2 * prior + 1.0 - prior;
        binary_fraction([vec![1.0 + b2, 0.0], vec![1.0, -1.0]], offset)
    }

    /// $TP / (TP + FN + FP)$.
    pub fn jaccard() -> Result<Metric> {
        binary_fraction([vec![1.0, 0.0], vec![0.0, -1.0]], 1.0)
    }

    /// The geometric mean of the recalls.
    pub fn g_mean(classes: usize) -> Result<Metric> {
        Self::geometric_mean(GeometricMean::new(classes, 1))
    }

    /// The geometric mean of the recalls of every class within every group (eqs. 7.23, 7.24).
    pub fn group_g_mean(classes: usize, groups: usize) -> Result<Metric> {
        Self::geometric_mean(GeometricMean::new(classes, groups))
    }

    fn geometric_mean(mean: GeometricMean) -> Result<Metric> {
        Metric::new(mean.view()?, Sense::Utility, Family::GeometricMean(mean))
    }

    /// The mean over the classes of $F_1$, each class against the rest, for these class priors.
    pub fn macro_f(class_priors: &[f64]) -> Result<Metric> {
        let view = View::new(Measure::OffDiagonal, class_priors.len(), 1)?;
        Metric::new(view, Sense::Utility, Family::MacroF(MacroF::new(class_priors.to_vec())?))
    }

    /// $\frac1k \sum_i (\text{miss rate of class } i)^2$ (eq. 6.9), a cost.
    pub fn q_mean(classes: usize) -> Result<Metric> {
        let rows: Vec<usize> = off_diagonal_pairs(classes).map(|(i, _)| i).collect();
        // phi = r'Br/2, so every pair of errors of one class carries 2/k.
        let entry = |i: usize, j: usize| if i == j { 2.0 / classes as f64 } else { 0.0 };
        let matrix = rows.iter().map(|&i| rows.iter().map(|&j| entry(i, j)).collect()).collect();
        quadratic_cost(classes, Quadratic::new(vec![0.0; rows.len()], matrix)?)
    }

    /// $\sum_j (P(h=j) - \pi_j)^2$ (eq. 6.10 with the class priors in the coverage), a cost.
    pub fn distribution_matching(class_priors: &[f64], target: &[f64]) -> Result<Metric> {
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
    pub fn equal_opportunity(shares: &GroupShares) -> Result<Metric> {
        let mut weights = vec![0.0; 2];
        weights[off_diagonal_index(2, 1, 0)] = 1.0;
        Self::fairness_only(shares, weights)
    }

    /// Differences between groups in every error rate, all weighted alike.
    pub fn equalised_odds(shares: &GroupShares) -> Result<Metric> {
        let k = shares.classes();
        Self::fairness_only(shares, vec![1.0; k * k - k])
    }

    /// Half the differences in false positives plus half those in false negatives (two classes).
    pub fn error_rate_balance(shares: &GroupShares) -> Result<Metric> {
        Self::fairness_only(shares, vec![0.5; 2])
    }

    /// The largest difference between groups in how often they are predicted `estimate`.
    pub fn demographic_parity(estimate: usize, prevalence: &Prevalence) -> Result<Metric> {
        let shares = prevalence.group_shares();
        let family = Family::DemographicParity(DemographicParity::new(estimate, prevalence)?);
        let view = View::new(Measure::GroupRates, shares.classes(), shares.groups())?;
        Metric::new(view, Sense::Cost, family)
    }

    /// A missed positive costs `ratio` false alarms (two classes), in joint probabilities.
    pub fn from_cost_ratio(ratio: f64) -> Result<Metric> {
        let ratio = check::positive("the cost ratio", ratio)?;
        Metric::linear(View::new(Measure::Binary, 2, 1)?, Sense::Utility, vec![ratio, 1.0])
    }

    /// The same weights for every pair of groups, and no care for performance.
    fn fairness_only(shares: &GroupShares, weights: Vec<f64>) -> Result<Metric> {
        let (k, m) = (shares.classes(), shares.groups());
        let pair = |groups| Pair { groups, violation: weights.clone() };
        let fair = Fair::new(vec![1.0; k * k - k], pairs(m).map(pair).collect(), 1.0, shares.clone())?;
        Metric::new(View::new(Measure::GroupRates, k, m)?, Sense::Cost, Family::GroupFair(fair))
    }
}

fn binary_fraction(parts: [Vec<f64>; 2], offset: f64) -> Result<Metric> {
    Metric::linear_fractional(View::new(Measure::Binary, 2, 1)?, Sense::Utility, parts, offset)
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

    /// The minus sign was taken for a hyphen.
    #[test]
    fn a_cost_ratio_that_is_not_above_zero_is_refused() {
        let prevalence = Prevalence::new(vec![0.9, 0.1]).unwrap();
        for (word, found) in [
            ("-7:1", "-7"),
            ("7:-1", "-1"),
            ("-7:-1", "-7"),
            ("0:1", "0"),
            ("nan:1", "NaN"),
            ("1:nan", "NaN"),
        ] {
            let error = Named::parse(word).unwrap().metric(&prevalence).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the cost ratio is {found}, expected")), "{word}: {error}");
        }
        let metric = Named::parse(" 7 : 2 ").unwrap().metric(&prevalence).unwrap();
        assert_eq!(metric.cost_ratio(), Some(3.5));
    }

    #[test]
    fn named_metrics_have_their_textbook_values() {
        check(Metric::accuracy(2), 0.85);
        check(Metric::weighted_accuracy(vec![1.0, 6.0]), 0.55 + 1.8);
        let recalls = [0.55 / 0.65, 0.30 / 0.35];
        check(Metric::balanced_accuracy(2), (recalls[0] + recalls[1]) / 2.0);
        check(Metric::f_beta(1.0, 0.35), 0.60 / (0.60 + 0.05 + 0.10));
        check(Metric::f_beta(2.0, 0.35), 1.50 / (1.50 + 4.0 * 0.05 + 0.10));
        check(Metric::jaccard(), 0.30 / 0.45);
        check(Metric::g_mean(2), (recalls[0] * recalls[1]).sqrt());
        let of = |word: &str| Named::parse(word).unwrap().metric(&Prevalence::new(vec![0.65, 0.35]).unwrap());
        check(of("error rate"), 0.15);
        check(of("ber"), 1.0 - (recalls[0] + recalls[1]) / 2.0);
        let chance = 0.60 * 0.65 + 0.40 * 0.35;
        check(of("kappa"), (0.85 - chance) / (1.0 - chance));
        let phi = (0.55 * 0.30 - 0.10 * 0.05) / (0.65 * 0.35 * 0.60 * 0.40_f64).sqrt();
        check(of("MCC"), phi);
        check(Metric::q_mean(2), ((0.10 / 0.65_f64).powi(2) + (0.05 / 0.35_f64).powi(2)) / 2.0);
        let coverage = [0.60 - 0.5, 0.40 - 0.5_f64];
        let expected = coverage[0].powi(2) + coverage[1].powi(2);
        check(Metric::distribution_matching(&matrix().class_priors(), &[0.5, 0.5]), expected);
    }

    #[test]
    fn words_are_understood_as_people_write_them() {
        let prevalence = Prevalence::new(vec![0.65, 0.35]).unwrap();
        let found = |word: &str| Named::parse(word).unwrap().metric(&prevalence);
        check(found("Accuracy"), 0.85);
        check(found("F1"), 0.60 / 0.75);
        check(found("f_2"), 1.50 / (1.50 + 4.0 * 0.05 + 0.10));
        check(found("6 : 1"), 6.0 * 0.30 + 0.55);
        check(found("G-mean"), (0.55 / 0.65 * 0.30 / 0.35_f64).sqrt());
        for word in ["niceness", "f", "7:", ":", "", "fx"] {
            assert_eq!(Named::parse(word), None, "{word}");
        }
        let message = found("equalized odds").unwrap_err().to_string();
        assert!(message.contains("groups for equalised_odds"), "{message}");
        let three = Prevalence::new(vec![0.5, 0.3, 0.2]).unwrap();
        let message = Named::parse("f1").unwrap().metric(&three).unwrap_err().to_string();
        assert!(message.contains("classes for f1"), "{message}");
    }

    #[test]
    fn fairness_metrics_measure_differences_between_groups() -> Result<()> {
        let groups = vec![vec![0.30, 0.10, 0.02, 0.08], vec![0.20, 0.05, 0.10, 0.15]];
        let confusions = GroupConfusions::new(2, groups)?;
        let shares = GroupShares::new(vec![vec![0.40 / 0.65, 0.10 / 0.35], vec![0.25 / 0.65, 0.25 / 0.35]])?;
        let (fpr, fnr) = (0.10 / 0.40 - 0.05 / 0.25_f64, 0.02 / 0.10 - 0.10 / 0.25_f64);
        let near = |metric: Metric, expected: f64| {
            let value = metric.of(&confusions).unwrap();
            assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
        };
        near(Metric::equal_opportunity(&shares)?, fnr.abs());
        near(Metric::equalised_odds(&shares)?, fpr.abs() + fnr.abs());
        near(Metric::error_rate_balance(&shares)?, 0.5 * fpr.abs() + 0.5 * fnr.abs());
        let prevalence = Prevalence::with_groups(vec![0.65, 0.35], shares)?;
        let gap = (0.18 / 0.50 - 0.20 / 0.50_f64).abs();
        near(Metric::demographic_parity(1, &prevalence)?, gap);
        Ok(())
    }
}
