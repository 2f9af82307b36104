//! Confusion matrices, rates, prevalences, and the identities between them.
//!
//! A [`Confusion`] holds joint probabilities $C_{ij} = P(Y=i, h=j)$, [`Rates`] the class-conditional
//! $R_{ij} = P(h=j \mid Y=i)$. [`GroupConfusions`] holds $P(G=g, Y=i, h=j)$ for a population in groups;
//! a population without groups has one. Values are checked where they are made.

use crate::error::{Error, Result, check, refuse};
use serde::{Deserialize, Serialize};

/// Sums may miss 1 by this much, the rounding of long sums.
const SUM_TOLERANCE: f64 = 1e-9;

/// The position of entry (`truth`, `estimate`) in a row-major list of off-diagonal entries.
///
/// ```
/// use equipoise::rates::off_diagonal_index;
/// assert_eq!(off_diagonal_index(3, 1, 2), 3); // (0,1) (0,2) (1,0) (1,2) ...
/// ```
pub fn off_diagonal_index(classes: usize, truth: usize, estimate: usize) -> usize {
    debug_assert_ne!(truth, estimate);
    truth * (classes - 1) + if estimate > truth { estimate - 1 } else { estimate }
}

/// The (truth, estimate) pairs of the off-diagonal entries, row-major: `k * k - k` of them.
pub fn off_diagonal_pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |i| (0..classes).filter(move |&j| j != i).map(move |j| (i, j)))
}

/// Joint probabilities $C_{ij} = P(Y=i, h=j)$ of one classifier.
///
/// ```
/// use equipoise::Confusion;
/// let confusion = Confusion::new(2, vec![0.60, 0.05, 0.10, 0.25])?;
/// assert_eq!(confusion.binary(), [0.25, 0.60]); // true positive, true negative
/// assert!((confusion.rates()?.get(1, 0) - 0.10 / 0.35).abs() < 1e-15);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    classes: usize,
    entries: Vec<f64>,
}

impl Confusion {
    /// From row-major entries; they must lie in [0, 1] and sum to 1.
    pub fn new(classes: usize, entries: Vec<f64>) -> Result<Self> {
        let groups = GroupConfusions::new(classes, vec![entries])?;
        Ok(Self { classes, entries: groups.entries })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// $P(Y=\text{truth}, h=\text{estimate})$.
    pub fn get(&self, truth: usize, estimate: usize) -> f64 {
        self.entries[truth * self.classes + estimate]
    }

    /// Class priors $\zeta_i = P(Y=i)$, the row sums.
    pub fn class_priors(&self) -> Vec<f64> {
        self.entries.chunks(self.classes).map(|row| row.iter().sum()).collect()
    }

    /// (true positive, true negative) of a two-class matrix; class 1 is the positive one.
    pub fn binary(&self) -> [f64; 2] {
        [self.get(1, 1), self.get(0, 0)]
    }

    /// The diagonal: correct predictions per class.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.classes).map(|i| self.get(i, i)).collect()
    }

    /// The errors, row-major.
    pub fn off_diagonal(&self) -> Vec<f64> {
        off_diagonal_pairs(self.classes).map(|(i, j)| self.get(i, j)).collect()
    }

    /// The two-class matrix with these true positives, true negatives and positive prior.
    pub fn from_binary(true_positive: f64, true_negative: f64, positive_prior: f64) -> Result<Self> {
        let prior = check::unit("the positive prior", positive_prior)?;
        let (tp, tn) = (true_positive, true_negative);
        Self::new(2, vec![tn, 1.0 - prior - tn, prior - tp, tp])
    }

    /// Class-conditional rates. Every class must occur.
    pub fn rates(&self) -> Result<Rates> {
        let priors = self.class_priors();
        if let Some(class) = priors.iter().position(|&p| p <= 0.0) {
            return Err(Error::Mismatch(format!("class {class} never occurs, so it has no rates")));
        }
        let entries = self.entries.iter().enumerate().map(|(n, c)| c / priors[n / self.classes]);
        Rates::new(self.classes, entries.collect())
    }
}

/// Class-conditional rates $R_{ij} = P(h=j \mid Y=i)$: every row sums to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    classes: usize,
    entries: Vec<f64>,
}

impl Rates {
    /// From row-major entries; every row must lie in [0, 1] and sum to 1.
    pub fn new(classes: usize, mut entries: Vec<f64>) -> Result<Self> {
        check::at_least("classes", classes, 2, "at least 2")?;
        check::length("rates", entries.len(), classes * classes)?;
        for (n, value) in entries.iter_mut().enumerate() {
            let name = || format!("rate ({}, {})", n / classes, n % classes);
            *value = in_unit(name, *value)?;
        }
        for (i, row) in entries.chunks(classes).enumerate() {
            let sum: f64 = row.iter().sum();
            let ok = (sum - 1.0).abs() <= SUM_TOLERANCE;
            check::number(&format!("the sum of row {i} of the rates"), sum, ok, "1")?;
        }
        Ok(Self { classes, entries })
    }

    /// From the off-diagonal rates, row-major; the diagonal is what remains of each row.
    pub fn from_off_diagonal(classes: usize, errors: &[f64]) -> Result<Self> {
        check::at_least("classes", classes, 2, "at least 2")?;
        check::length("off-diagonal rates", errors.len(), classes * classes - classes)?;
        let mut entries = vec![0.0; classes * classes];
        for ((i, j), &r) in off_diagonal_pairs(classes).zip(errors) {
            entries[i * classes + j] = r;
        }
        for i in 0..classes {
            entries[i * classes + i] = 1.0 - entries[i * classes..][..classes].iter().sum::<f64>();
        }
        Self::new(classes, entries)
    }

    /// The rates of "always predict `class`", $e_i$ in the papers.
    pub fn constant(classes: usize, class: usize) -> Self {
        let entries = (0..classes * classes).map(|n| if n % classes == class { 1.0 } else { 0.0 });
        Self { classes, entries: entries.collect() }
    }

    /// The rates of the uniformly random classifier, $o$ in the papers: every rate is 1/k.
    pub fn uniform(classes: usize) -> Self {
        Self { classes, entries: vec![1.0 / classes as f64; classes * classes] }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// $P(h=\text{estimate} \mid Y=\text{truth})$.
    pub fn get(&self, truth: usize, estimate: usize) -> f64 {
        self.entries[truth * self.classes + estimate]
    }

    /// Recall of every class.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.classes).map(|i| self.get(i, i)).collect()
    }

    /// The error rates, row-major.
    pub fn off_diagonal(&self) -> Vec<f64> {
        off_diagonal_pairs(self.classes).map(|(i, j)| self.get(i, j)).collect()
    }

    /// The joint probabilities these rates have under the given class priors.
    pub fn confusion(&self, class_priors: &[f64]) -> Result<Confusion> {
        check::length("class priors", class_priors.len(), self.classes)?;
        let entries = self.entries.iter().enumerate().map(|(n, r)| r * class_priors[n / self.classes]);
        Confusion::new(self.classes, entries.collect())
    }
}

/// Joint probabilities $P(G=g, Y=i, h=j)$ of one classifier over a population in groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupConfusions {
    classes: usize,
    entries: Vec<f64>,
}

impl GroupConfusions {
    /// From one row-major matrix per group; all entries lie in [0, 1] and sum to 1 over all groups.
    pub fn new(classes: usize, groups: Vec<Vec<f64>>) -> Result<Self> {
        check::at_least("classes", classes, 2, "at least 2")?;
        check::at_least("groups", groups.len(), 1, "at least 1")?;
        let mut entries = Vec::with_capacity(groups.len() * classes * classes);
        for group in groups {
            check::length("confusion matrix", group.len(), classes * classes)?;
            for (n, value) in group.into_iter().enumerate() {
                let name = || format!("confusion ({}, {})", n / classes, n % classes);
                entries.push(in_unit(name, value)?);
            }
        }
        let sum: f64 = entries.iter().sum();
        let ok = (sum - 1.0).abs() <= SUM_TOLERANCE;
        check::number("the sum of the confusion matrix", sum, ok, "1")?;
        Ok(Self { classes, entries })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of groups; 1 for a population without groups.
    pub fn groups(&self) -> usize {
        self.entries.len() / (self.classes * self.classes)
    }

    /// $P(G=g, Y=\text{truth}, h=\text{estimate})$.
    pub fn get(&self, group: usize, truth: usize, estimate: usize) -> f64 {
        self.entries[(group * self.classes + truth) * self.classes + estimate]
    }

    /// The matrix of the whole population.
    pub fn overall(&self) -> Confusion {
        let size = self.classes * self.classes;
        let mut entries = vec![0.0; size];
        for group in self.entries.chunks(size) {
            entries.iter_mut().zip(group).for_each(|(sum, c)| *sum += c);
        }
        Confusion { classes: self.classes, entries }
    }

    /// How common the classes are, and how the groups share each. A class that never occurs is shared evenly.
    pub fn prevalence(&self) -> Prevalence {
        let (k, m) = (self.classes, self.groups());
        let sizes: Vec<f64> = self.entries.chunks(k).map(|row| row.iter().sum()).collect();
        let class_priors: Vec<f64> = (0..k).map(|i| (0..m).map(|g| sizes[g * k + i]).sum()).collect();
        let share = |g: usize, i: usize| match class_priors[i] > 0.0 {
            true => sizes[g * k + i] / class_priors[i],
            false => 1.0 / m as f64,
        };
        let group_shares = (0..m).map(|g| (0..k).map(|i| share(g, i)).collect()).collect();
        Prevalence { class_priors, group_shares }
    }

    /// The class-conditional rates within one group. Every class must occur in the group.
    pub fn rates(&self, group: usize) -> Result<Rates> {
        let k = self.classes;
        let matrix = &self.entries[group * k * k..][..k * k];
        let mut entries = Vec::with_capacity(k * k);
        for (class, row) in matrix.chunks(k).enumerate() {
            let prior: f64 = row.iter().sum();
            refuse!(prior <= 0.0, "class {class} never occurs in group {group}, so it has no rates there");
            entries.extend(row.iter().map(|c| c / prior));
        }
        Rates::new(k, entries)
    }
}

fn in_unit(name: impl Fn() -> String, value: f64) -> Result<f64> {
    if (-SUM_TOLERANCE..=1.0 + SUM_TOLERANCE).contains(&value) {
        Ok(value.clamp(0.0, 1.0))
    } else {
        Err(Error::Number { field: name(), value, expected: "a number in [0, 1]" })
    }
}

/// How common the classes are, and how the groups share each class.
///
/// `class_priors` is $\zeta_i = P(Y=i)$; `group_shares[g][i]` is $t^g_i = P(G=g \mid Y=i)$, so the shares of
/// a class sum to 1 over the groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prevalence {
    class_priors: Vec<f64>,
    group_shares: Vec<Vec<f64>>,
}

impl Prevalence {
    /// A population without groups.
    pub fn new(class_priors: Vec<f64>) -> Result<Self> {
        let shares = vec![vec![1.0; class_priors.len()]];
        Self::with_groups(class_priors, GroupShares::new(shares)?)
    }

    /// A population in groups.
    pub fn with_groups(class_priors: Vec<f64>, group_shares: GroupShares) -> Result<Self> {
        check::at_least("classes", class_priors.len(), 2, "at least 2")?;
        check::length("group shares of a group", group_shares.classes(), class_priors.len())?;
        check::nonnegative("class prior", &class_priors)?;
        let sum: f64 = class_priors.iter().sum();
        check::number("the sum of the class priors", sum, (sum - 1.0).abs() <= SUM_TOLERANCE, "1")?;
        Ok(Self { class_priors, group_shares: group_shares.0 })
    }

    /// $\zeta$, one entry per class.
    pub fn class_priors(&self) -> &[f64] {
        &self.class_priors
    }

    /// $t^g_i$.
    pub fn group_shares(&self) -> GroupShares {
        GroupShares(self.group_shares.clone())
    }
}

/// $t^g_i = P(G=g \mid Y=i)$, one row per group; every class's shares sum to 1 over the groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>")]
pub struct GroupShares(Vec<Vec<f64>>);

impl GroupShares {
    /// From one row per group, one entry per class.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self> {
        check::at_least("groups in prevalence", rows.len(), 1, "at least 1")?;
        let classes = check::at_least("classes in prevalence", rows[0].len(), 2, "at least 2")?;
        for (g, row) in rows.iter().enumerate() {
            check::length(&format!("prevalence[{g}]"), row.len(), classes)?;
            check::nonnegative(&format!("prevalence[{g}]"), row)?;
        }
        for class in 0..classes {
            let sum: f64 = rows.iter().map(|row| row[class]).sum();
            let field = format!("the sum of prevalence[g][{class}] over the groups");
            check::number(&field, sum, (sum - 1.0).abs() <= SUM_TOLERANCE, "1")?;
        }
        Ok(Self(rows))
    }

    /// Every group has the same share of every class.
    pub fn equal(groups: usize, classes: usize) -> Self {
        Self(vec![vec![1.0 / groups as f64; classes]; groups])
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.0.len()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.0[0].len()
    }

    /// $t^g_i$.
    pub fn get(&self, group: usize, class: usize) -> f64 {
        self.0[group][class]
    }

    /// $\tau^g$: the share of each off-diagonal entry, $t^g_i$ repeated along row i.
    pub fn off_diagonal(&self, group: usize) -> Vec<f64> {
        off_diagonal_pairs(self.classes()).map(|(i, _)| self.0[group][i]).collect()
    }
}

impl TryFrom<Vec<Vec<f64>>> for GroupShares {
    type Error = Error;
    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self> {
        Self::new(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confusion_and_its_rates_determine_each_other() -> Result<()> {
        let confusion = Confusion::new(3, vec![0.2, 0.05, 0.05, 0.1, 0.2, 0.0, 0.1, 0.1, 0.2])?;
        let back = confusion.rates()?.confusion(&confusion.class_priors())?;
        for (a, b) in confusion.entries.iter().zip(&back.entries) {
            assert!((a - b).abs() < 1e-15);
        }
        let errors = confusion.rates()?.off_diagonal();
        assert_eq!(Rates::from_off_diagonal(3, &errors)?.off_diagonal(), errors);
        Ok(())
    }

    #[test]
    fn group_matrices_add_up_to_the_overall_one() -> Result<()> {
        let groups = vec![vec![0.2, 0.1, 0.1, 0.1], vec![0.3, 0.05, 0.05, 0.1]];
        let confusions = GroupConfusions::new(2, groups)?;
        assert_eq!(confusions.overall().get(0, 0), 0.5);
        assert!((confusions.rates(0)?.get(1, 0) - 0.5).abs() < 1e-15);
        assert_eq!(confusions.groups(), 2);
        Ok(())
    }

    #[test]
    fn off_diagonal_positions_follow_row_major_order() {
        for (n, (i, j)) in off_diagonal_pairs(5).enumerate() {
            assert_eq!(off_diagonal_index(5, i, j), n);
        }
    }

    #[test]
    fn wrong_entries_are_named() {
        let says = |e: Error| e.to_string();
        let wrong = says(Confusion::new(2, vec![0.5, 0.5, -0.2, 0.2]).unwrap_err());
        assert_eq!(wrong, "confusion (1, 0) is -0.2, expected a number in [0, 1]");
        let wrong = says(Rates::new(2, vec![0.5, 0.4, 0.5, 0.5]).unwrap_err());
        assert_eq!(wrong, "the sum of row 0 of the rates is 0.9, expected 1");
        let wrong = says(GroupShares::new(vec![vec![0.5, 0.5], vec![0.5, 0.4]]).unwrap_err());
        assert_eq!(wrong, "the sum of prevalence[g][1] over the groups is 0.9, expected 1");
        assert!(Confusion::new(2, vec![f64::NAN, 0.5, 0.2, 0.2]).is_err());
    }
}
