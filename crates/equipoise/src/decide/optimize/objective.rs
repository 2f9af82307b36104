//! Metrics in closed form, as functions of the confusion matrices of any table, with their gradients.
//!
//! An elicited metric is a [`Metric`] document. Names mean the formula on whatever table it is evaluated on: an F-measure
//! looks at the table's own class priors, and `g_mean` of rows in groups is the geometric mean of all recalls of all
//! groups (eqs. 7.23, 7.24).

use super::oracle::{Failure, Guide, Judge, Labels, Neighbourhood, Predictions};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::metric::{Metric, Sense};
use crate::rates::GroupConfusions;
use crate::view::Measure;

/// The names [`Objective::by_name`] knows.
pub const NAMES: [&str; 8] =
    ["accuracy", "balanced_accuracy", "f1", "f2", "f0.5", "jaccard", "macro_f", "g_mean"];

/// A recall of zero makes the slope of a geometric mean infinite; below this it stops growing.
const LEAST_RECALL: f64 = 1e-9;

/// A metric that can be evaluated and differentiated.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Accuracy,
    BalancedAccuracy,
    /// $F_\beta$ of class 1 of two.
    FBeta(f64),
    Jaccard,
    /// The mean over the classes of $2C_{ii}/(\sum_j C_{ij} + \sum_j C_{ji})$.
    MacroF,
    GMean,
    Document(Box<Metric>),
}

impl From<Metric> for Objective {
    fn from(metric: Metric) -> Self {
        Objective(Kind::Document(Box::new(metric)))
    }
}

impl Objective {
    /// A metric by one of [`NAMES`], or an F-measure of another beta such as `f3`. Capitals, hyphens and spaces make no
    /// difference.
    pub fn by_name(name: &str) -> Option<Self> {
        let word = name.trim().to_lowercase().replace(['-', ' '], "_");
        let beta =
            || word.strip_prefix('f').and_then(|beta| beta.trim_start_matches('_').parse::<f64>().ok());
        Some(Objective(match word.as_str() {
            "accuracy" => Kind::Accuracy,
            "balanced_accuracy" => Kind::BalancedAccuracy,
            "jaccard" => Kind::Jaccard,
            "macro_f" | "macro_f1" => Kind::MacroF,
            "g_mean" => Kind::GMean,
            _ => Kind::FBeta(beta().filter(|beta| beta.is_finite() && *beta > 0.0)?),
        }))
    }

    /// Whether larger is better.
    pub fn sense(&self) -> Sense {
        match &self.0 {
            Kind::Document(metric) => metric.sense(),
            _ => Sense::Utility,
        }
    }

    /// Whether the groups of the rows make a difference.
    pub fn uses_groups(&self) -> bool {
        match &self.0 {
            Kind::GMean => true,
            Kind::Document(metric) => metric.view().measure() == Measure::GroupRates,
            _ => false,
        }
    }

    /// $\psi(C)$.
    pub fn value(&self, confusions: &GroupConfusions) -> Result<f64> {
        let k = self.check(confusions)?;
        let c = |i: usize, j: usize| overall(confusions, i, j);
        Ok(match &self.0 {
            Kind::Document(metric) => metric.of(confusions)?,
            Kind::Accuracy => (0..k).map(|i| c(i, i)).sum(),
            Kind::BalancedAccuracy => (0..k).map(|i| c(i, i) / row(confusions, i)).sum::<f64>() / k as f64,
            Kind::FBeta(beta) => fraction(confusions, 1.0 + beta * beta, beta * beta).0,
            Kind::Jaccard => fraction(confusions, 1.0, 1.0).0,
            Kind::MacroF => (0..k).map(|i| f_of_class(confusions, i).0).sum::<f64>() / k as f64,
            Kind::GMean => {
                let recalls = recalls(confusions)?;
                recalls.iter().product::<f64>().powf(1.0 / recalls.len() as f64)
            }
        })
    }

    /// $\partial\psi/\partial C^g_{ij}$, group by group, row-major.
    ///
    /// Every entry is free to move, so a denominator moves with the entries it sums.
    pub fn gradient(&self, confusions: &GroupConfusions) -> Result<Vec<f64>> {
        let k = self.check(confusions)?;
        let mut gradient = vec![0.0; confusions.groups() * k * k];
        let everywhere = |entry: &dyn Fn(usize, usize) -> f64, gradient: &mut [f64]| {
            for (n, slope) in gradient.iter_mut().enumerate() {
                *slope += entry(n / k % k, n % k);
            }
        };
        match &self.0 {
            Kind::Document(metric) => document_gradient(metric, confusions, &mut gradient)?,
            Kind::Accuracy => everywhere(&|i, j| f64::from(u8::from(i == j)), &mut gradient),
            Kind::BalancedAccuracy => {
                let slope = |i: usize, j: usize| {
                    let prior = row(confusions, i);
                    rate_slope(overall(confusions, i, i), prior, i == j) / k as f64
                };
                everywhere(&slope, &mut gradient);
            }
            Kind::FBeta(_) | Kind::Jaccard => {
                let (found, missed) = match self.0 {
                    Kind::FBeta(beta) => (1.0 + beta * beta, beta * beta),
                    _ => (1.0, 1.0),
                };
                let (value, below) = fraction(confusions, found, missed);
                let slope = |i: usize, j: usize| {
                    // Both numerator and denominator have `found` true positives.
                    let (above, under) = match (i, j) {
                        (1, 1) => (found, found),
                        (1, 0) => (0.0, missed),
                        (0, 1) => (0.0, 1.0),
                        _ => (0.0, 0.0),
                    };
                    if below > 0.0 { (above - value * under) / below } else { 0.0 }
                };
                everywhere(&slope, &mut gradient);
            }
            Kind::MacroF => {
                let classes: Vec<(f64, f64)> = (0..k).map(|i| f_of_class(confusions, i)).collect();
                let slope = |i: usize, j: usize| {
                    // C_ij is in the row sum of class i and in the column sum of class j.
                    let of = |class: usize| {
                        let (value, below) = classes[class];
                        let above = if i == j { 2.0 } else { 0.0 };
                        let under = f64::from(u8::from(class == i)) + f64::from(u8::from(class == j));
                        if below > 0.0 { (above - value * under) / below } else { 0.0 }
                    };
                    (if i == j { of(i) } else { of(i) + of(j) }) / k as f64
                };
                everywhere(&slope, &mut gradient);
            }
            Kind::GMean => {
                let recalls: Vec<f64> = recalls(confusions)?.iter().map(|r| r.max(LEAST_RECALL)).collect();
                let mean = (recalls.iter().map(|r| r.ln()).sum::<f64>() / recalls.len() as f64).exp();
                for (n, slope) in gradient.iter_mut().enumerate() {
                    let (g, i, j) = (n / (k * k), n / k % k, n % k);
                    let prior: f64 = (0..k).map(|j| confusions.get(g, i, j)).sum();
                    let share = mean / (recalls.len() as f64 * recalls[g * k + i]);
                    *slope = share * rate_slope(confusions.get(g, i, i), prior, i == j);
                }
            }
        }
        Ok(gradient)
    }

    fn check(&self, confusions: &GroupConfusions) -> Result<usize> {
        let k = confusions.classes();
        match &self.0 {
            Kind::FBeta(_) | Kind::Jaccard if k != 2 => Err(Error::Mismatch(format!(
                "{k} classes, but this metric is about 2; macro_f takes any number"
            ))),
            Kind::BalancedAccuracy => match (0..k).find(|&i| row(confusions, i) <= 0.0) {
                Some(class) => {
                    Err(Error::Mismatch(format!("class {class} never occurs, so it has no rates")))
                }
                None => Ok(k),
            },
            _ => Ok(k),
        }
    }

    fn liking(&self, predictions: &Predictions<'_>) -> Result<f64> {
        Ok(self.sense().sign() * self.value(&predictions.confusions()?)?)
    }
}

fn overall(confusions: &GroupConfusions, i: usize, j: usize) -> f64 {
    (0..confusions.groups()).map(|g| confusions.get(g, i, j)).sum()
}

fn row(confusions: &GroupConfusions, i: usize) -> f64 {
    (0..confusions.classes()).map(|j| overall(confusions, i, j)).sum()
}

/// The slope of part / whole in an entry of the whole, which may belong to the part.
fn rate_slope(part: f64, whole: f64, belongs: bool) -> f64 {
    f64::from(u8::from(belongs)) / whole - part / (whole * whole)
}

/// found TP / (found TP + missed FN + FP), and its denominator; 0 where there is nothing to find.
fn fraction(confusions: &GroupConfusions, found: f64, missed: f64) -> (f64, f64) {
    let c = |i: usize, j: usize| overall(confusions, i, j);
    let below = found * c(1, 1) + missed * c(1, 0) + c(0, 1);
    (if below > 0.0 { found * c(1, 1) / below } else { 0.0 }, below)
}

/// The F-measure of one class against the rest, and its denominator.
fn f_of_class(confusions: &GroupConfusions, class: usize) -> (f64, f64) {
    let column: f64 = (0..confusions.classes()).map(|i| overall(confusions, i, class)).sum();
    let below = row(confusions, class) + column;
    (if below > 0.0 { 2.0 * overall(confusions, class, class) / below } else { 0.0 }, below)
}

/// The recall of every class within every group.
fn recalls(confusions: &GroupConfusions) -> Result<Vec<f64>> {
    let mut recalls = Vec::new();
    for group in 0..confusions.groups() {
        recalls.extend(confusions.rates(group)?.diagonal());
    }
    Ok(recalls)
}

/// The chain rule from confusions to the coordinates of a metric's view.
fn document_gradient(metric: &Metric, confusions: &GroupConfusions, gradient: &mut [f64]) -> Result<()> {
    let view = metric.view();
    let slopes = metric.gradient(&view.of(confusions)?);
    let k = confusions.classes();
    let grouped = view.measure() == Measure::GroupRates;
    for ((g, i, j), slope) in view.entries().into_iter().zip(slopes) {
        let groups = if grouped { g..g + 1 } else { 0..confusions.groups() };
        let (part, whole) = match grouped {
            true => (confusions.get(g, i, j), (0..k).map(|l| confusions.get(g, i, l)).sum()),
            false => (overall(confusions, i, j), row(confusions, i)),
        };
        for group in groups {
            let row = &mut gradient[(group * k + i) * k..][..k];
            match view.measure() {
                Measure::Binary | Measure::Diagonal | Measure::OffDiagonal => row[j] += slope,
                _ => row
                    .iter_mut()
                    .enumerate()
                    .for_each(|(l, sum)| *sum += slope * rate_slope(part, whole, l == j)),
            }
        }
    }
    Ok(())
}

/// Evaluates without telling its form: the metric as a black box.
impl Judge for Objective {
    type Err = Error;

    fn labels(&self) -> Labels {
        Labels::Soft
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64> {
        self.liking(predictions)
    }
}

/// $\psi$ is known: slopes are the gradient along the moves, and nobody is asked.
impl Guide for Objective {
    type Err = Error;

    fn slopes(&mut self, around: &Neighbourhood<'_>) -> std::result::Result<Vec<f64>, Failure<Error>> {
        let gradient = around.here().confusions().and_then(|confusions| self.gradient(&confusions));
        let gradient = gradient.map_err(|error| failure("the gradient", error))?;
        let sign = self.sense().sign();
        Ok((0..around.moves()).map(|n| sign * dot(&gradient, &around.displacement(n))).collect())
    }

    fn prefers(
        &mut self,
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> std::result::Result<bool, Failure<Error>> {
        let liking = |it| self.liking(it).map_err(|error| failure("the result", error));
        Ok(liking(first)? > liking(second)?)
    }

    fn queries(&self) -> usize {
        0
    }
}

fn failure(about: &str, error: Error) -> Failure<Error> {
    Failure { call: 1, about: about.to_owned(), cause: Err(error) }
}
