//! Probing classifiers: small moves of predictions, whose effect on both tables is known in closed form.
//!
//! A move takes part of the mass of the current classifier elsewhere. Its effect on the training moments and on the
//! validation confusions is a difference of moments already kept, so probing costs no pass over any rows.

use super::problem::{Position, Standing, Validation};
use crate::population::{Form, Moments};
use serde::{Deserialize, Serialize};

/// Which probing classifiers are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probes {
    /// Mass of one basis towards one class (eq. 7.16), or from one class to another for [`Form::General`].
    Fixed,
    /// Classifiers that satisfy the constraints (7.14), by the construction (E.74) to (E.76); the bases must be a partition.
    Constraints,
}

/// One direction to move in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Move<'p> {
    /// The mass of a basis goes to a class: $\phi^\ell e^i + (1-\phi^\ell)\bar h$.
    ToClass { basis: usize, class: usize },
    /// The mass of a basis that is predicted `from` goes to `to`.
    Transfer { basis: usize, from: usize, to: usize },
    /// The mass of a basis goes where another classifier would put it.
    Within { basis: usize, rule: &'p Position },
    /// All mass goes where another classifier would put it.
    Towards { rule: &'p Position },
}

impl<'p> Move<'p> {
    /// The fixed probes of a form, basis by basis.
    pub fn fixed(form: Form, bases: usize, classes: usize) -> Vec<Self> {
        let pairs = move |basis: usize| {
            let pair = move |n: usize| Move::Transfer { basis, from: n / classes, to: n % classes };
            (0..classes * classes).filter(move |n| n / classes != n % classes).map(pair)
        };
        match form {
            Form::Diagonal => (0..bases * classes)
                .map(|n| Move::ToClass { basis: n / classes, class: n % classes })
                .collect(),
            Form::General => (0..bases).flat_map(pairs).collect(),
        }
    }

    /// What a step of size 1 adds to $\Phi^\ell_{ij}$ of the training rows, basis by basis.
    pub fn on_training(&self, here: &Moments, bases: usize, classes: usize) -> Vec<f64> {
        let blocks = (0..bases).flat_map(|other| {
            let block = |moments: &Moments| match self.basis() {
                Some(basis) => moments.second(basis, other).to_vec(),
                None => moments.first(other).to_vec(),
            };
            self.displaced(&block(here), self.rule().map(|rule| block(&rule.training)).as_deref(), classes)
        });
        blocks.collect()
    }

    /// What a step of size 1 adds to the validation confusions, group by group.
    pub fn on_validation(&self, here: &Standing, classes: usize) -> Vec<f64> {
        let (size, entries) = (here.confusions.len(), classes * classes);
        let block = |n: usize| {
            let part = |standing: &Standing| match self.basis() {
                Some(basis) => standing.weighted[basis * size + n * entries..][..entries].to_vec(),
                None => standing.confusions[n * entries..][..entries].to_vec(),
            };
            let there = self.rule().map(|rule| part(&rule.standing));
            self.displaced(&part(here), there.as_deref(), classes)
        };
        (0..size / entries).flat_map(block).collect()
    }

    /// Adds a step to the predicted distributions of all validation rows.
    pub fn on_rows(&self, step: f64, validation: &Validation, here: &[f64], moved: &mut [f64]) {
        let k = validation.rows.classes();
        for (row, (here, moved)) in here.chunks(k).zip(moved.chunks_mut(k)).enumerate() {
            let mass = step * self.basis().map_or(1.0, |basis| validation.values[basis].at(row));
            match self {
                Move::ToClass { class, .. } => {
                    moved.iter_mut().zip(here).for_each(|(moved, h)| *moved -= mass * h);
                    moved[*class] += mass;
                }
                Move::Transfer { from, to, .. } => {
                    moved[*from] -= mass * here[*from];
                    moved[*to] += mass * here[*from];
                }
                Move::Within { rule, .. } | Move::Towards { rule } => {
                    let there = &rule.standing.soft[row * k..][..k];
                    moved
                        .iter_mut()
                        .zip(here.iter().zip(there))
                        .for_each(|(moved, (h, t))| *moved += mass * (t - h));
                }
            }
        }
    }

    /// The move in words; bases are called by name.
    pub fn in_words(&self, validation: &Validation) -> String {
        let name = |basis: &usize| validation.bases[*basis].name(&[]);
        match self {
            Move::ToClass { basis, class } => format!("{} moved towards class {class}", name(basis)),
            Move::Transfer { basis, from, to } => {
                format!("{} moved from class {from} to class {to}", name(basis))
            }
            Move::Within { basis, .. } => format!("{} moved towards an anchor", name(basis)),
            Move::Towards { .. } => "a classifier that satisfies the constraints".to_owned(),
        }
    }

    fn basis(&self) -> Option<usize> {
        match self {
            Move::ToClass { basis, .. } | Move::Transfer { basis, .. } | Move::Within { basis, .. } => {
                Some(*basis)
            }
            Move::Towards { .. } => None,
        }
    }

    fn rule(&self) -> Option<&'p Position> {
        match self {
            Move::Within { rule, .. } | Move::Towards { rule } => Some(rule),
            Move::ToClass { .. } | Move::Transfer { .. } => None,
        }
    }

    /// The change of one confusion matrix, given the mass it moves and where the other classifier has that mass.
    fn displaced(&self, here: &[f64], there: Option<&[f64]>, classes: usize) -> Vec<f64> {
        let mut change = vec![0.0; here.len()];
        for ((here, change), truth) in here.chunks(classes).zip(change.chunks_mut(classes)).zip(0..) {
            match self {
                Move::ToClass { class, .. } => {
                    change.iter_mut().zip(here).for_each(|(change, mass)| *change = -mass);
                    change[*class] += here.iter().sum::<f64>();
                }
                Move::Transfer { from, to, .. } => {
                    change[*from] -= here[*from];
                    change[*to] += here[*from];
                }
                Move::Within { .. } | Move::Towards { .. } => {
                    let there = &there.expect("these moves have a rule")[truth * classes..][..classes];
                    change
                        .iter_mut()
                        .zip(here.iter().zip(there))
                        .for_each(|(change, (h, t))| *change = t - h);
                }
            }
        }
        change
    }
}
