//! Classifiers that toss a coin between rules.

use super::{AskError, Confusions, PostShift};
use crate::error::{Result, check};
use crate::rates::GroupConfusions;

/// A classifier that draws one of several rules for every case, each with its share.
///
/// Its confusion matrix is the mixture $\sum_n \lambda_n C^n$ of theirs, so these classifiers reach what lies between
/// the rules (Lemma E.8).
#[derive(Debug, Clone, PartialEq)]
pub struct Randomised {
    shares: Vec<f64>,
    rules: Vec<PostShift>,
}

impl Randomised {
    /// One share per rule; shares of any total are scaled to 1.
    pub fn new(shares: Vec<f64>, rules: Vec<PostShift>) -> Result<Self> {
        check::weights("shares", &shares, rules.len())?;
        check::nonnegative("shares", &shares)?;
        let total: f64 = shares.iter().sum();
        Ok(Self { shares: shares.iter().map(|share| share / total).collect(), rules })
    }

    /// The probability of each rule; they sum to 1.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The rules drawn from.
    pub fn rules(&self) -> &[PostShift] {
        &self.rules
    }

    /// The confusion matrix over a population.
    pub fn confusions<P: Confusions + ?Sized>(
        &self,
        population: &P,
    ) -> Result<GroupConfusions, AskError<P::Err>> {
        let (k, groups) = (population.classes(), population.groups());
        let parts = population.shifted(&self.rules).map_err(AskError::Population)?;
        let entry = |g: usize, n: usize| -> f64 {
            self.shares.iter().zip(&parts).map(|(share, part)| share * part.get(g, n / k, n % k)).sum()
        };
        let matrices = (0..groups).map(|g| (0..k * k).map(|n| entry(g, n)).collect());
        Ok(GroupConfusions::new(k, matrices.collect())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Logistic;

    #[test]
    fn a_fair_coin_between_the_trivial_rules_is_right_half_the_time() -> Result<()> {
        let law = Logistic::new(5.0)?;
        let always = |class: usize| PostShift::new(2, (0..4).map(|n| f64::from(n % 2 == class)).collect());
        let coin = Randomised::new(vec![3.0, 3.0], vec![always(0)?, always(1)?])?;
        let rates = coin.confusions(&law)?.rates(0)?;
        for (found, expected) in rates.off_diagonal().iter().zip([0.5, 0.5]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!(Randomised::new(vec![1.0], vec![]).is_err());
        assert!(Randomised::new(vec![-1.0, 2.0], vec![always(0)?, always(1)?]).is_err());
        Ok(())
    }
}
