//! $\phi$-transformed confusion matrices of the training rows, and their second moments.
//!
//! Everything the elicitation of weights needs from the training rows is linear in the classifier: the first moments
//! $\Phi^\ell_{ij}[h] = E[\phi^\ell\,1(y=i)\,h_j]$ (eqs. 7.10, E.3) and the second
//! $H^{\ell m}_{ij}[h] = E[\phi^\ell\phi^m\,1(y=i)\,h_j]$. So a mixture's are the mixture of its parts', a probe's follow
//! from the current classifier's, and no copy of the predictions is kept.

use super::Ask;
use super::atoms::Atoms;
use super::basis::{Basis, Values, evaluate};
use super::plug_in::PlugIn;
use super::rows::Rows;
use crate::error::Result;
use std::convert::Infallible;

/// First and second moments of one classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    bases: usize,
    entries: usize,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Moments {
    /// No rows yet.
    pub fn new(bases: usize, classes: usize) -> Self {
        let entries = classes * classes;
        Self { bases, entries, first: vec![0.0; bases * entries], second: vec![0.0; bases * bases * entries] }
    }

    /// $\Phi^\ell$, row-major.
    pub fn first(&self, basis: usize) -> &[f64] {
        &self.first[basis * self.entries..][..self.entries]
    }

    /// $H^{\ell m}$, row-major.
    pub fn second(&self, basis: usize, other: usize) -> &[f64] {
        &self.second[(basis * self.bases + other) * self.entries..][..self.entries]
    }

    /// The moments of a classifier that follows `other` with probability `share`.
    pub(crate) fn mix(&mut self, share: f64, other: &Self) {
        blend(&mut self.first, share, &other.first);
        blend(&mut self.second, share, &other.second);
    }

    /// Adds the mass of a row to the bases it belongs to, given as (basis, $\phi$); `entry` is its place in a confusion matrix,
    /// row-major.
    #[inline]
    pub fn add(&mut self, members: &[(usize, f64)], entry: usize, mass: f64) {
        for (n, &(basis, phi)) in members.iter().enumerate() {
            self.first[basis * self.entries + entry] += mass * phi;
            for &(other, other_phi) in &members[n..] {
                self.second[(basis * self.bases + other) * self.entries + entry] += mass * (phi * other_phi);
            }
        }
    }

    /// Divides by the total mass and fills in the other triangle.
    pub fn finish(&mut self, total: f64) {
        self.first.iter_mut().chain(&mut self.second).for_each(|sum| *sum /= total);
        for basis in 0..self.bases {
            for other in basis + 1..self.bases {
                let (from, to) = (basis * self.bases + other, other * self.bases + basis);
                self.second.copy_within(from * self.entries..(from + 1) * self.entries, to * self.entries);
            }
        }
    }
}

/// `a + share * (b - a)`, so that equal entries stay equal.
pub(crate) fn blend(a: &mut [f64], share: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += share * (b - *a));
}

impl<'a> Rows<'a> {
    /// The rows prepared for moments of many rules. Two classes, hard bases and no weights: rows are sorted once, and a rule
    /// costs a few binary searches. Anything else: a rule costs a pass over the rows.
    pub fn moments(self, bases: &[Basis]) -> Result<Ask<'a, Infallible>> {
        let values = evaluate(bases, self.scores())?;
        Ok(match Atoms::new(&self, &values) {
            Some(atoms) => Box::new(move |rules| Ok(rules.iter().map(|rule| atoms.moments(rule)).collect())),
            None => {
                let dense = Dense { rows: self, values };
                Box::new(move |rules| Ok(rules.iter().map(|rule| dense.moments(rule)).collect()))
            }
        })
    }
}

/// Rows as they are.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    pub rows: Rows<'a>,
    pub values: Vec<Values<'a>>,
}

impl Dense<'_> {
    pub fn moments(&self, rule: &PlugIn) -> Moments {
        let (rows, k) = (&self.rows, self.rows.classes());
        let mut moments = Moments::new(self.values.len(), k);
        let mut members = Vec::with_capacity(self.values.len());
        rule.for_each(rows.scores(), &self.values, |row, label| {
            members.clear();
            let phi = self.values.iter().map(|values| values.at(row)).enumerate();
            members.extend(phi.filter(|&(_, phi)| phi != 0.0));
            moments.add(&members, usize::from(rows.truth()[row]) * k + label, rows.weight(row));
        });
        moments.finish(rows.total());
        moments
    }
}
