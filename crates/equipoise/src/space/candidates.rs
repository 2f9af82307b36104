//! Candidates with attributes: things to choose from, and points between them that can be imagined.

use super::pool::Member;
use crate::document::{Object, make};
use crate::error::{Result, check, refuse};
use crate::metric::{Attribute, check_attributes};
use crate::view::{Measure, View};
use serde::Serialize;
use std::collections::HashSet;

/// Rounded numbers are worth what was meant to within this.
const ROUNDING: f64 = 0.004;

/// Numbers that a range must tell apart for what is imagined to be no finer than what there is.
const STEPS: f64 = 10.0;

/// Candidates to choose from, by their attributes.
///
/// ```
/// use equipoise::{metric::{Attribute, Direction}, space::Candidates};
/// let models = [("small", [40.0, 0.81]), ("large", [300.0, 0.93]), ("slow", [310.0, 0.80])];
/// let column = |n: usize| models.map(|(_, point)| point[n]);
/// let attributes = vec![
///     Attribute::guessed("latency_ms", Direction::Minimize, &column(0))?,
///     Attribute::guessed("recall", Direction::Maximize, &column(1))?,
/// ];
/// let named = models.map(|(name, point)| (name.to_owned(), point.to_vec())).to_vec();
/// let candidates = Candidates::new(attributes, named)?;
/// assert_eq!(candidates.dominated(), [(2, 0)]); // "slow" is nowhere better than "small"
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "attributes")]
pub struct Candidates {
    attributes: Vec<Attribute>,
    candidates: Vec<Member>,
    only_real: bool,
    /// Digits behind the point that the candidates' numbers have, attribute by attribute.
    #[serde(skip)]
    decimals: Vec<usize>,
}

impl Candidates {
    /// At least two candidates with names of their own, and at least two attributes in which they differ.
    pub fn new(attributes: Vec<Attribute>, candidates: Vec<(String, Vec<f64>)>) -> Result<Self> {
        check_attributes(&attributes)?;
        check::at_least("the number of candidates", candidates.len(), 2, "at least 2 to choose from")?;
        let mut names = HashSet::new();
        for (name, point) in &candidates {
            check::length(&format!("candidate \"{name}\""), point.len(), attributes.len())?;
            refuse!(!names.insert(name.clone()), "two candidates have the name \"{name}\"");
            for (attribute, x) in attributes.iter().zip(point) {
                attribute.check(*x)?;
            }
        }
        let decimals = |n: usize| candidates.iter().map(|(_, point)| decimals(point[n])).max().unwrap_or(0);
        let decimals = (0..attributes.len()).map(decimals).collect();
        let candidates = candidates.into_iter().map(|(name, point)| Member { name, point }).collect();
        Ok(Self { attributes, candidates, only_real: false, decimals })
    }

    /// Questions are about the candidates themselves; nothing is imagined.
    pub fn only_real(self) -> Self {
        Self { only_real: true, ..self }
    }

    /// Whether nothing is imagined.
    pub(crate) fn is_only_real(&self) -> bool {
        self.only_real
    }

    /// The attributes.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The candidates.
    pub fn members(&self) -> &[Member] {
        &self.candidates
    }

    /// As many coordinates as attributes.
    pub(crate) fn view(&self) -> View {
        View::new(Measure::Attributes, self.attributes.len(), 1).expect("checked when made")
    }

    /// How far a point is from the better end of every range.
    pub(crate) fn kinds_of(&self, point: &[f64]) -> Vec<f64> {
        self.attributes.iter().zip(point).map(|(attribute, x)| 1.0 - attribute.worth(*x)).collect()
    }

    /// The places of candidates that another one is at least as good as in everything and better in something, each with that of
    /// such another one. Of candidates that are alike, the first stays.
    pub fn dominated(&self) -> Vec<(usize, usize)> {
        let kinds: Vec<Vec<f64>> =
            self.candidates.iter().map(|member| self.kinds_of(&member.point)).collect();
        // Whoever dominates has a smaller sum, or the same one if they are alike: looked at first, they stay.
        let sums: Vec<f64> = kinds.iter().map(|kinds| kinds.iter().sum()).collect();
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        order.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(a.cmp(&b)));
        let covers = |a: usize, b: usize| kinds[a].iter().zip(&kinds[b]).all(|(x, y)| x <= y);
        let (mut front, mut dominated) = (Vec::<usize>::new(), vec![]);
        for n in order {
            match front.iter().find(|&&other| covers(other, n)) {
                Some(other) => dominated.push((n, *other)),
                None => front.push(n),
            }
        }
        dominated.sort_unstable();
        dominated
    }

    /// The same without some candidates, which are places in order; ranges stay what they are.
    pub fn without(&self, places: &[usize]) -> Result<Self> {
        let kept = self.candidates.iter().enumerate().filter(|(n, _)| places.binary_search(n).is_err());
        let kept = kept.map(|(_, member)| (member.name.clone(), member.point.clone())).collect();
        Ok(Self { only_real: self.only_real, ..Self::new(self.attributes.clone(), kept)? })
    }

    /// Two points with these worths, in numbers with as few digits as say it, and no more behind the point than candidates have:
    /// nobody treats 29.4 patients. What is worth the same is the same number.
    pub fn imagined(&self, [first, second]: [&[f64]; 2]) -> [Vec<f64>; 2] {
        let each = self.attributes.iter().zip(&self.decimals).zip(first.iter().zip(second));
        let numbers = each.map(|((attribute, decimals), (x, y))| {
            let whole = [x, y].map(|worth| with_decimals(attribute, *worth, *decimals));
            match whole {
                [Some(a), Some(b)] if (a == b) == (x == y) => (a, b),
                _ => (readable(attribute, *x), readable(attribute, *y)),
            }
        });
        let (first, second) = numbers.unzip();
        [first, second]
    }

    /// The number of an attribute that is worth so much, with few digits.
    pub(crate) fn number(&self, attribute: usize, worth: f64) -> f64 {
        let own = &self.attributes[attribute];
        with_decimals(own, worth, self.decimals[attribute]).unwrap_or_else(|| readable(own, worth))
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { attributes: Vec<Attribute>, candidates: Vec<Member>, only_real: Option<bool> } => {
            let named = candidates.into_iter().map(|member| (member.name, member.point)).collect();
            Ok(Self { only_real: only_real.unwrap_or(false), ..Self::new(attributes, named)? })
        })
    }
}

/// Digits behind the point.
fn decimals(x: f64) -> usize {
    x.to_string().split_once('.').map_or(0, |(_, behind)| behind.len())
}

/// The number that is worth about as much, with so many digits behind the point at most; nothing where those tell too few numbers of
/// the range apart.
fn with_decimals(attribute: &Attribute, worth: f64, decimals: usize) -> Option<f64> {
    let few = readable(attribute, worth);
    let [low, high] = attribute.range;
    if self::decimals(few) <= decimals {
        return Some(few);
    }
    let rounded: f64 = format!("{:.decimals$}", attribute.at(worth)).parse().ok()?;
    let steps = (high - low) * 10_f64.powi(i32::try_from(decimals).ok()?);
    (steps >= STEPS && (low..=high).contains(&rounded)).then_some(rounded)
}

/// The number with the fewest digits that is worth about as much, inside the range.
fn readable(attribute: &Attribute, worth: f64) -> f64 {
    let exact = attribute.at(worth);
    let [low, high] = attribute.range;
    let fits = |x: &f64| (low..=high).contains(x) && (attribute.worth(*x) - worth).abs() <= ROUNDING;
    // Digits count from the first one that matters: of the number, or of the range it lies in.
    let size = exact.abs().max(f64::MIN_POSITIVE).log10().floor();
    let rounded = |digits: i32| -> f64 {
        // As it is written, so that every machine rounds alike.
        let decimals = digits - 1 - size as i32;
        match decimals {
            0..=300 => format!("{exact:.*}", decimals as usize).parse().unwrap_or(exact),
            _ => {
                let step = 10_f64.powi((-decimals).min(300));
                (exact / step).round() * step
            }
        }
    };
    (1..=15).map(rounded).find(fits).unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Direction;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn random(count: usize, dimension: usize, levels: u32, seed: u64) -> Candidates {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let points: Vec<Vec<f64>> = (0..count)
            .map(|_| (0..dimension).map(|_| f64::from(random.random_range(1..levels))).collect())
            .collect();
        let attribute = |n: usize| {
            let values: Vec<f64> = points.iter().map(|point| point[n]).collect();
            let direction = if n.is_multiple_of(2) { Direction::Minimize } else { Direction::Maximize };
            Attribute::guessed(&format!("a{n}"), direction, &values).unwrap()
        };
        let attributes = (0..dimension).map(attribute).collect();
        let named = points.iter().enumerate().map(|(n, point)| (format!("m{n}"), point.clone())).collect();
        Candidates::new(attributes, named).unwrap()
    }

    /// Every pair, by the definition.
    #[test]
    fn the_front_is_that_of_all_pairs() {
        for seed in 0..20 {
            let set = random(40, 3, 6, seed);
            let points: Vec<Vec<f64>> = set.members().iter().map(|m| m.point.clone()).collect();
            let better = |n: usize, a: f64, b: f64| if n.is_multiple_of(2) { a < b } else { a > b };
            let covers = |a: &[f64], b: &[f64]| (0..3).all(|n| a[n] == b[n] || better(n, a[n], b[n]));
            let expected: Vec<usize> = (0..40)
                .filter(|&b| {
                    (0..40).any(|a| covers(&points[a], &points[b]) && (points[a] != points[b] || a < b))
                })
                .collect();
            let found = set.dominated();
            assert_eq!(found.iter().map(|(n, _)| *n).collect::<Vec<_>>(), expected);
            assert!(found.iter().all(|(n, by)| covers(&points[*by], &points[*n])));
        }
    }

    #[test]
    fn imagined_numbers_have_few_digits_and_mean_what_they_should() {
        let values = [12.0, 480.0];
        let latency = Attribute::guessed("latency_ms", Direction::Minimize, &values).unwrap();
        let share = Attribute::guessed("recall", Direction::Maximize, &[0.90, 0.94]).unwrap();
        for worth in [0.1, 0.33, 0.5, 0.71, 0.9] {
            for attribute in [&latency, &share] {
                let found = readable(attribute, worth);
                assert!((attribute.worth(found) - worth).abs() <= ROUNDING);
                assert!(found.to_string().len() <= 7, "{found}");
            }
        }
        assert_eq!(readable(&latency, 0.5), 76.0);
    }

    #[test]
    fn nothing_finer_is_imagined_than_there_is() {
        let columns = [[21.0, 41.0, 30.0], [0.021, 0.041, 0.03], [1.0, 4.0, 2.0]];
        let attribute =
            |n: usize| Attribute::guessed(&format!("a{n}"), Direction::Minimize, &columns[n]).unwrap();
        let named = (0..3).map(|row| (format!("m{row}"), columns.iter().map(|column| column[row]).collect()));
        let set = Candidates::new((0..3).map(attribute).collect(), named.collect()).unwrap();
        let [first, second] = set.imagined([&[0.58, 0.58, 0.5], &[0.25, 0.58, 0.47]]);
        // Three steps are too few to round to.
        assert_eq!((first, second), (vec![29.0, 0.029, 2.5], vec![36.0, 0.029, 2.6]));
        // Two that differ stay apart.
        let [first, second] = set.imagined([&[0.51, 0.5, 0.5], &[0.49, 0.5, 0.5]]);
        assert!(first[0] < second[0] && first[1..] == second[1..], "{first:?} {second:?}");
    }

    #[test]
    fn candidates_that_leave_no_choice_are_refused() {
        let set = random(5, 2, 9, 1);
        let attributes = set.attributes().to_vec();
        let says = |named: &[(&str, [f64; 2])]| {
            let named = named.iter().map(|(name, point)| ((*name).to_owned(), point.to_vec())).collect();
            Candidates::new(attributes.clone(), named).unwrap_err().to_string()
        };
        assert!(says(&[("a", [1.0, 2.0])]).contains("at least 2 to choose from"));
        assert!(says(&[("a", [1.0, 2.0]), ("a", [2.0, 1.0])]).contains("two candidates have the name \"a\""));
        assert!(says(&[("a", [1.0, 2.0]), ("b", [f64::NAN, 1.0])]).contains("expected a finite number"));
    }
}
