//! Systems for several groups: mistakes overall, and gaps between groups, as the numbers on the screen have them.

use crate::shown::Shown;
use crate::study::{QuerySpace, Study};
use serde::{Deserialize, Serialize};

/// What differs between the two systems of a question about groups (thesis, chapter 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Differs {
    /// Mistakes overall; every gap between groups is the same.
    Performance,
    /// Gaps; overall there are equally many mistakes.
    Gaps,
    /// Both.
    TradeOff,
}

/// How common classes are, and groups within them, as a table has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sizes {
    /// The share of every class.
    pub(crate) classes: Vec<f64>,
    /// Per group, its share of every class.
    pub(crate) groups: Vec<Vec<f64>>,
}

/// Shares of classes, and of groups within them.
#[derive(Debug, Clone, Copy)]
pub struct Shares<'a> {
    classes: &'a [f64],
    groups: &'a [Vec<f64>],
}

impl<'a> Shares<'a> {
    /// Of a study with groups.
    pub fn of(study: &'a Study) -> Option<Self> {
        match &study.space {
            QuerySpace::GroupBall { class_shares, group_shares, .. } => {
                Some(Self { classes: class_shares, groups: group_shares })
            }
            _ => study.sizes.as_ref().map(|Sizes { classes, groups }| Self { classes, groups }),
        }
    }

    /// How many have a mistake overall, out of as many of the class as are shown of each group.
    pub fn overall(&self, shown: &Shown, cells: &[u64], truth: usize, predicted: usize) -> f64 {
        let part =
            |group: usize| self.groups[group][truth] * cells[shown.cell(group, truth, predicted)] as f64;
        (0..shown.groups).map(part).sum()
    }

    /// How many of 1,000 people are in a group.
    pub fn size(&self, group: usize) -> f64 {
        let parts = self.classes.iter().zip(&self.groups[group]);
        1000.0 * parts.map(|(class, group)| class * group).sum::<f64>()
    }

    /// How many of 1,000 people are of a class and in a group.
    pub(crate) fn of_class(&self, group: usize, truth: usize) -> f64 {
        1000.0 * self.classes[truth] * self.groups[group][truth]
    }

    /// Mistakes per 1,000 people.
    pub fn mistakes(&self, shown: &Shown, cells: &[u64]) -> f64 {
        let each = shown.mistakes().map(|(group, truth, predicted)| {
            let rate = cells[shown.cell(group, truth, predicted)] as f64
                / shown.of_class(group, truth).max(1) as f64;
            self.of_class(group, truth) * rate
        });
        each.sum()
    }

    /// What differs between the systems, to the digits on the screen.
    pub fn differs(&self, shown: &Shown) -> Differs {
        let [a, b] = [&shown.a, &shown.b].map(|cells| self.mistakes(shown, cells).round() as u64);
        let gaps = |cells: &[u64]| -> Vec<u64> {
            kinds(shown).map(|(truth, predicted)| gap(shown, cells, truth, predicted).0).collect()
        };
        match (a == b, gaps(&shown.a) == gaps(&shown.b)) {
            (_, true) => Differs::Performance,
            (true, false) => Differs::Gaps,
            (false, false) => Differs::TradeOff,
        }
    }
}

/// (truth, prediction) of every kind of mistake.
pub fn kinds(shown: &Shown) -> impl Iterator<Item = (usize, usize)> {
    shown.mistakes().filter(|(group, ..)| *group == 0).map(|(_, truth, predicted)| (truth, predicted))
}

/// A rate in tenths per hundred, from whole numbers of people.
pub fn tenths(shown: &Shown, cells: &[u64], group: usize, truth: usize, predicted: usize) -> u64 {
    let people = shown.of_class(group, truth).max(1);
    (cells[shown.cell(group, truth, predicted)] * 2_000 + people) / (2 * people)
}

/// The largest gap in tenths per hundred, and between which groups: (gap, the group with most, the group with least).
pub fn gap(shown: &Shown, cells: &[u64], truth: usize, predicted: usize) -> (u64, usize, usize) {
    let rate = |group: usize| tenths(shown, cells, group, truth, predicted);
    let most = (0..shown.groups).max_by_key(|&group| (rate(group), std::cmp::Reverse(group))).unwrap_or(0);
    let least = (0..shown.groups).min_by_key(|&group| (rate(group), group)).unwrap_or(0);
    (rate(most) - rate(least), most, least)
}
