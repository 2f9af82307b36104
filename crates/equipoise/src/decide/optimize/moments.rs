//! $\phi$-transformed confusion matrices of the training rows, and their second moments.
//!
//! Everything the elicitation of weights needs from the training rows is linear in the classifier: the first moments
//! $\Phi^\ell_{ij}[h] = E[\phi^\ell\,1(y=i)\,h_j]$ (eqs. 7.10, E.3) and the second
//! $H^{\ell m}_{ij}[h] = E[\phi^\ell\phi^m\,1(y=i)\,h_j]$. So a mixture's are the mixture of its parts', a probe's follow
//! from the current classifier's, and no copy of the predictions is kept.

use super::atoms::Atoms;
use super::basis::Values;
use super::rows::Rows;
use super::rule::Rule;

/// First and second moments of one classifier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    bases: usize,
    entries: usize,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Moments {
    pub fn zero(bases: usize, classes: usize) -> Self {
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
    pub fn mix(&mut self, share: f64, other: &Self) {
        blend(&mut self.first, share, &other.first);
        blend(&mut self.second, share, &other.second);
    }

    /// Adds mass to the entry of every basis a row belongs to, given as (basis, $\phi$).
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
pub(super) fn blend(a: &mut [f64], share: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += share * (b - *a));
}

/// The training rows, prepared for moments of many rules.
#[derive(Debug)]
pub(super) enum Training<'a> {
    /// Two classes and hard bases: rows sorted once, a rule costs a few binary searches.
    Atoms(Atoms),
    /// Anything else: a rule costs a pass over the rows.
    Dense(Dense<'a>),
}

impl<'a> Training<'a> {
    pub fn new(rows: &'a Rows<'a>, values: Vec<Values<'a>>) -> Self {
        match Atoms::new(rows, &values) {
            Some(atoms) => Training::Atoms(atoms),
            None => Training::Dense(Dense { rows, values }),
        }
    }

    pub fn moments(&self, rule: &Rule) -> Moments {
        match self {
            Training::Atoms(atoms) => atoms.moments(rule),
            Training::Dense(dense) => dense.moments(rule),
        }
    }
}

/// Rows as they are.
#[derive(Debug)]
pub(super) struct Dense<'a> {
    pub rows: &'a Rows<'a>,
    pub values: Vec<Values<'a>>,
}

impl Dense<'_> {
    pub fn moments(&self, rule: &Rule) -> Moments {
        let (rows, k) = (self.rows, self.rows.classes());
        let mut moments = Moments::zero(self.values.len(), k);
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
