//! Basis functions $\phi^\ell: X \to [0,1]$: what the weight of an example may depend on (eqs. 7.7 to 7.9).

use super::rows::{Column, Scores};
use crate::error::{Result, check};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One function of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Basis {
    /// 1 everywhere.
    All,
    /// The number in a column, from 0 to 1: a hard cluster if it is always 0 or 1.
    Column {
        /// The name of the column.
        column: String,
    },
    /// 1 where a row is in a group.
    Group {
        /// The columns whose values, crossed, name the groups.
        columns: Vec<String>,
        /// The name of the group.
        group: String,
    },
    /// 1 where the model finds a class most likely.
    Argmax {
        /// The class.
        class: usize,
    },
    /// 1 where the nearest of several centres is this one: a cluster of k-means.
    Cluster {
        /// The columns that are coordinates; without any, the class probabilities are.
        features: Vec<String>,
        /// All centres.
        centres: Vec<Vec<f64>>,
        /// Which one.
        member: usize,
    },
    /// The mean of $\exp(-\lVert x - c\rVert / 2\sigma^2)$ over centres (eq. 7.9).
    Radial {
        /// The columns that are coordinates; without any, the class probabilities are.
        features: Vec<String>,
        /// The centres.
        centres: Vec<Vec<f64>>,
        /// $\sigma$.
        width: f64,
    },
}

impl Basis {
    /// A column by its name.
    pub fn column(name: impl Into<String>) -> Self {
        Basis::Column { column: name.into() }
    }

    /// One basis per class: the rows the model finds it most likely for.
    pub fn argmax_clusters(classes: usize) -> Vec<Self> {
        (0..classes).map(|class| Basis::Argmax { class }).collect()
    }

    /// One basis per centre: the rows nearest to it. [`centres`](crate::decide::optimize::centres) finds centres.
    pub fn clusters(features: Vec<String>, centres: Vec<Vec<f64>>) -> Vec<Self> {
        let cluster =
            |member| Basis::Cluster { features: features.clone(), centres: centres.clone(), member };
        (0..centres.len()).map(cluster).collect()
    }

    /// What to call it in a sentence.
    pub fn name(&self, classes: &[String]) -> String {
        match self {
            Basis::All => "all rows".to_owned(),
            Basis::Column { column } => column.clone(),
            Basis::Group { group, .. } => format!("group {group}"),
            Basis::Argmax { class } => {
                format!(
                    "most likely {}",
                    classes.get(*class).map_or_else(|| class.to_string(), String::clone)
                )
            }
            Basis::Cluster { centres, member, .. } => format!("cluster {} of {}", member + 1, centres.len()),
            Basis::Radial { centres, .. } => match &centres[..] {
                [only] => {
                    let place: Vec<String> = only.iter().take(3).map(|x| format!("{x:.2}")).collect();
                    format!("near ({}{})", place.join(", "), if only.len() > 3 { ", ..." } else { "" })
                }
                many => format!("near {} centres", many.len()),
            },
        }
    }

    /// Its value on every row.
    pub(crate) fn values<'a>(&self, scores: &Scores<'a>) -> Result<Values<'a>> {
        let rows = 0..scores.rows();
        match self {
            Basis::All => Ok(Values::One),
            Basis::Column { column } => match scores.column(column)? {
                Column::Flags(flags) => Ok(Values::Flags(Cow::Borrowed(flags))),
                Column::Code(codes, code) => Ok(Values::Flags(codes.iter().map(|&c| c == code).collect())),
                Column::Reals(values) => {
                    if let Some(row) = values.iter().position(|v| !(0.0..=1.0).contains(v)) {
                        check::unit(&format!("basis {column} in row {}", row + 1), values[row])?;
                    }
                    let hard = values.iter().all(|&v| v == 0.0 || v == 1.0);
                    Ok(if hard {
                        Values::Flags(values.iter().map(|&v| v == 1.0).collect())
                    } else {
                        Values::Reals(Cow::Borrowed(values))
                    })
                }
            },
            Basis::Group { .. } => Basis::column(self.name(&[])).values(scores),
            Basis::Argmax { class } => {
                let ok = *class < scores.classes();
                check::number("the class of an argmax basis", *class as f64, ok, "one of the classes")?;
                Ok(Values::Flags(rows.map(|row| scores.most_likely(row) == *class).collect()))
            }
            Basis::Cluster { features, centres, member } => {
                let coordinates = coordinates(features, centres, scores)?;
                let ok = *member < centres.len();
                check::number("the member of a cluster basis", *member as f64, ok, "one of the centres")?;
                Ok(Values::Flags(rows.map(|row| nearest(&coordinates(row), centres).0 == *member).collect()))
            }
            Basis::Radial { features, centres, width } => {
                let coordinates = coordinates(features, centres, scores)?;
                let factor = -0.5 / check::positive("the width of a radial basis", *width)?.powi(2);
                let value = |row: usize| {
                    let x = coordinates(row);
                    let near = |centre: &Vec<f64>| (factor * distance(&x, centre)).exp();
                    centres.iter().map(near).sum::<f64>() / centres.len() as f64
                };
                Ok(Values::Reals(rows.map(value).collect()))
            }
        }
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The coordinates of a row, checked against the centres.
fn coordinates<'s>(
    features: &[String],
    centres: &[Vec<f64>],
    scores: &'s Scores<'_>,
) -> Result<impl Fn(usize) -> Vec<f64> + use<'s>> {
    check::at_least("centres of a basis", centres.len(), 1, "at least 1")?;
    let columns = features.iter().map(|name| scores.column(name)).collect::<Result<Vec<_>>>()?;
    let width = if columns.is_empty() { scores.classes() } else { columns.len() };
    for (n, centre) in centres.iter().enumerate() {
        check::length(&format!("centres[{n}]"), centre.len(), width)?;
        check::all_finite(&format!("centres[{n}]"), centre)?;
    }
    Ok(move |row: usize| -> Vec<f64> {
        if columns.is_empty() {
            return (0..scores.classes()).map(|class| scores.probability(class, row)).collect();
        }
        columns.iter().map(|column| column.at(row)).collect()
    })
}

/// The nearest centre and the squared distance to it; ties go to the first.
pub(crate) fn nearest(point: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let squared = |centre: &Vec<f64>| point.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
    let all = centres.iter().map(squared).enumerate();
    all.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}

/// The values of one basis.
#[derive(Debug, Clone)]
pub(crate) enum Values<'a> {
    One,
    Flags(Cow<'a, [bool]>),
    Reals(Cow<'a, [f64]>),
}

impl Values<'_> {
    #[inline]
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Values::One => 1.0,
            Values::Flags(flags) => f64::from(u8::from(flags[row])),
            Values::Reals(values) => values[row],
        }
    }

    /// Whether every value is 0 or 1.
    pub fn is_hard(&self) -> bool {
        !matches!(self, Values::Reals(_))
    }
}

/// The values of all bases on some rows.
pub(crate) fn evaluate<'a>(bases: &[Basis], scores: &Scores<'a>) -> Result<Vec<Values<'a>>> {
    bases.iter().map(|basis| basis.values(scores)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_basis_has_its_values() -> Result<()> {
        let (p0, p1, p2) = ([0.7, 0.1, 0.2], [0.2, 0.6, 0.3], [0.1, 0.3, 0.5]);
        let (flag, x) = ([true, false, true], [0.0, 3.0, 4.0]);
        let scores = Scores::new(vec![&p0, &p1, &p2])?;
        let scores = scores.with_column("flag", Column::Flags(&flag))?.with_column("x", Column::Reals(&x))?;
        let of = |basis: Basis| -> Result<Vec<f64>> {
            let values = basis.values(&scores)?;
            Ok((0..3).map(|row| values.at(row)).collect())
        };
        assert_eq!(of(Basis::All)?, [1.0; 3]);
        assert_eq!(of(Basis::column("flag"))?, [1.0, 0.0, 1.0]);
        assert_eq!(of(Basis::Argmax { class: 1 })?, [0.0, 1.0, 0.0]);
        let near = Basis::clusters(vec!["x".to_owned()], vec![vec![1.0], vec![5.0]]);
        assert_eq!(of(near[0].clone())?, [1.0, 1.0, 0.0]); // a tie goes to the first centre
        let radial = Basis::Radial { features: vec!["x".to_owned()], centres: vec![vec![0.0]], width: 1.0 };
        assert_eq!(of(radial)?, [1.0, (-1.5_f64).exp(), (-2.0_f64).exp()]);
        let wrong = of(Basis::column("x")).unwrap_err().to_string();
        assert_eq!(wrong, "basis x in row 2 is 3, expected a number in [0, 1]");
        let wrong = of(Basis::column("y")).unwrap_err().to_string();
        assert_eq!(wrong, "the column of a basis is \"y\", expected one of flag, x");
        Ok(())
    }
}
