//! Performance traded against differences between groups: linear and quadratic violations.
//!
//! Points list the error rates of every group, group after group. The overall rates are
//! $r = \sum_g \tau^g \odot r^g$, so a metric carries the group shares $\tau$.

use super::quadratic::{check_symmetric, from_upper_triangle, upper_triangle};
use super::{Coordinates, Family, Form};
use crate::document::Object;
use crate::error::{Error, Result, check};
use crate::linalg::{Matrix, applied, dot, norm, plus, scaled, times, zeros};
use crate::rates::GroupShares;
use crate::view::{Measure, View};
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// $(1-\lambda)\langle a, r\rangle + \lambda \sum_{u<v} \langle b^{uv}, |r^u - r^v| \rangle$ (Definition 5.1), a cost.
pub type GroupFair = Fair<Vec<f64>>;

/// $(1-\lambda)\langle a, r\rangle + \tfrac\lambda2 \sum_{u<v} (r^u - r^v)^T B^{uv} (r^u - r^v)$ (Definition 6.4), a cost.
pub type GroupFairQuadratic = Fair<Matrix>;

/// All pairs of groups, (0,1), (0,2), ...
pub fn pairs(groups: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..groups).flat_map(move |u| (u + 1..groups).map(move |v| [u, v]))
}

/// What a difference between two groups costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair<V> {
    /// The two groups, smaller index first.
    pub groups: [usize; 2],
    /// Weights on $|r^u - r^v|$, one per off-diagonal rate, or a symmetric matrix for $\tfrac12 (r^u - r^v)^T B (r^u - r^v)$.
    pub violation: V,
}

impl<V: Violation> Serialize for Pair<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Pair", 2)?;
        fields.serialize_field("groups", &self.groups)?;
        fields.serialize_field(V::FIELD, &self.violation)?;
        fields.end()
    }
}

/// A cost of error rates overall plus a cost of their differences between groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(bound = "V: Violation")]
pub struct Fair<V> {
    performance: Vec<f64>,
    fairness: Vec<Pair<V>>,
    trade_off: f64,
    prevalence: GroupShares,
    /// $a \odot \tau^g$, group after group: the cost of overall rates in terms of the groups' rates.
    #[serde(skip)]
    overall: Vec<f64>,
}

/// How a difference of two groups' rates is charged: what the two families differ in.
pub trait Violation: Clone + Serialize {
    /// A pair of groups and its charge as it stands in a document.
    type Fields: DeserializeOwned + Into<Pair<Self>>;
    /// What the charge is called there.
    const FIELD: &'static str;
    /// Whether the charge is curved; if it is not, its entries are costs that cannot be negative.
    const CURVED: bool;
    /// The family of metrics that charges so.
    fn family(fair: Fair<Self>) -> Family;
    /// The entries, each once.
    fn entries(&self) -> Vec<f64>;
    /// A charge with other entries, as many.
    fn with_entries(&self, entries: &[f64]) -> Self;
    /// No charge, for this many error rates.
    fn zero(dimension: usize) -> Self;
    /// Says what is wrong with the parameters, if anything.
    fn check(&self, field: &str, dimension: usize) -> Result<()>;
    /// The charge for rates `u` in one group and `v` in the other.
    fn value(&self, u: &[f64], v: &[f64]) -> f64;
    /// Its gradient in `u`; in `v` it is the negative.
    fn gradient(&self, u: &[f64], v: &[f64]) -> Vec<f64>;
    /// The size that the normal form makes sum to 1.
    fn size(&self) -> f64;
    /// A multiple.
    fn times(&self, factor: f64) -> Self;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(hidden)]
pub struct WeightsFields {
    groups: [usize; 2],
    weights: Vec<f64>,
}

impl From<WeightsFields> for Pair<Vec<f64>> {
    fn from(fields: WeightsFields) -> Self {
        Pair { groups: fields.groups, violation: fields.weights }
    }
}

impl Violation for Vec<f64> {
    type Fields = WeightsFields;
    const FIELD: &'static str = "weights";
    const CURVED: bool = false;

    fn family(fair: Fair<Self>) -> Family {
        Family::GroupFair(fair)
    }
    fn entries(&self) -> Vec<f64> {
        self.clone()
    }
    fn with_entries(&self, entries: &[f64]) -> Self {
        entries.to_vec()
    }
    fn zero(dimension: usize) -> Self {
        vec![0.0; dimension]
    }
    fn check(&self, field: &str, dimension: usize) -> Result<()> {
        check::length(&format!("{field}.weights"), self.len(), dimension)?;
        check::all_finite(&format!("{field}.weights"), self)
    }
    fn value(&self, u: &[f64], v: &[f64]) -> f64 {
        self.iter().zip(u.iter().zip(v)).map(|(b, (x, y))| b * (x - y).abs()).sum()
    }
    fn gradient(&self, u: &[f64], v: &[f64]) -> Vec<f64> {
        let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
        self.iter().zip(u.iter().zip(v)).map(|(b, (x, y))| b * sign(x - y)).collect()
    }
    fn size(&self) -> f64 {
        norm(self)
    }
    fn times(&self, factor: f64) -> Self {
        scaled(self, factor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[doc(hidden)]
pub struct MatrixFields {
    groups: [usize; 2],
    matrix: Matrix,
}

impl From<MatrixFields> for Pair<Matrix> {
    fn from(fields: MatrixFields) -> Self {
        Pair { groups: fields.groups, violation: fields.matrix }
    }
}

impl GroupFair {
    /// What each overall error rate, and then each gap between groups, contributes to the cost of a point.
    pub(crate) fn parts(&self, point: &[f64]) -> Vec<f64> {
        let q = self.performance.len();
        let by_rate = |n: usize| -> f64 {
            let of_group = |part: &[f64], own: &[f64]| part[n] * own[n];
            let groups = point.chunks(q).zip(self.overall.chunks(q));
            (1.0 - self.trade_off) * groups.map(|(part, own)| of_group(part, own)).sum::<f64>()
        };
        let by_gap = self.fairness.iter().flat_map(|pair| {
            let [u, v] = pair.groups.map(|group| &point[group * q..][..q]);
            let gap = move |n: usize| (u[n] - v[n]).abs();
            (0..q).map(move |n| self.trade_off * pair.violation[n] * gap(n))
        });
        (0..q).map(by_rate).chain(by_gap).collect()
    }
}

impl Violation for Matrix {
    type Fields = MatrixFields;
    const FIELD: &'static str = "matrix";
    const CURVED: bool = true;

    fn family(fair: Fair<Self>) -> Family {
        Family::GroupFairQuadratic(fair)
    }
    fn entries(&self) -> Vec<f64> {
        upper_triangle(self)
    }
    fn with_entries(&self, entries: &[f64]) -> Self {
        from_upper_triangle(entries, self.len())
    }
    fn zero(dimension: usize) -> Self {
        zeros(dimension)
    }
    fn check(&self, field: &str, dimension: usize) -> Result<()> {
        check_symmetric(&format!("{field}.matrix"), self, dimension)
    }
    fn value(&self, u: &[f64], v: &[f64]) -> f64 {
        0.5 * dot(&plus(u, -1.0, v), &self.gradient(u, v))
    }
    fn gradient(&self, u: &[f64], v: &[f64]) -> Vec<f64> {
        applied(self, &plus(u, -1.0, v))
    }
    /// Half the Frobenius norm, the share of Definition 6.4.
    fn size(&self) -> f64 {
        0.5 * norm(&self.concat())
    }
    fn times(&self, factor: f64) -> Self {
        self.iter().map(|row| scaled(row, factor)).collect()
    }
}

impl<V: Violation> Fair<V> {
    /// Checked parts; a pair of groups that is not listed costs nothing.
    pub fn new(
        performance: Vec<f64>,
        fairness: Vec<Pair<V>>,
        trade_off: f64,
        prevalence: GroupShares,
    ) -> Result<Self> {
        let (k, m) = (prevalence.classes(), prevalence.groups());
        let q = k * k - k;
        check::at_least("groups in prevalence", m, 2, "at least 2")?;
        check::weights("performance", &performance, q)?;
        check::unit("trade_off", trade_off)?;
        let none = |groups| Pair { groups, violation: V::zero(q) };
        let mut all: Vec<Pair<V>> = pairs(m).map(none).collect();
        for (n, pair) in fairness.into_iter().enumerate() {
            let [u, v] = pair.groups;
            pair.violation.check(&format!("fairness[{n}]"), q)?;
            let Some(slot) = all.iter_mut().find(|slot| slot.groups == [u, v]) else {
                return Err(Error::Mismatch(format!(
                    "fairness[{n}].groups is [{u}, {v}], expected two of the {m} groups, smaller first"
                )));
            };
            slot.violation = pair.violation;
        }
        let size: f64 = all.iter().map(|pair| pair.violation.size()).sum();
        if trade_off > 0.0 && size == 0.0 {
            return Err(Error::AllZero { field: "fairness".to_owned() });
        }
        Ok(Self::assemble(performance, all, trade_off, prevalence))
    }

    fn assemble(
        performance: Vec<f64>,
        fairness: Vec<Pair<V>>,
        trade_off: f64,
        prevalence: GroupShares,
    ) -> Self {
        let of_group = |g| times(&performance, &prevalence.off_diagonal(g));
        let overall = (0..prevalence.groups()).flat_map(of_group).collect();
        Self { performance, fairness, trade_off, prevalence, overall }
    }

    /// $a$: the cost of each overall error rate.
    pub fn performance(&self) -> &[f64] {
        &self.performance
    }

    /// The cost of a difference, for every pair of groups in order.
    pub fn fairness(&self) -> &[Pair<V>] {
        &self.fairness
    }

    /// $\lambda$: 0 cares for performance alone, 1 for fairness alone.
    pub fn trade_off(&self) -> f64 {
        self.trade_off
    }

    /// $t^g_i = P(G=g \mid Y=i)$.
    pub fn prevalence(&self) -> &GroupShares {
        &self.prevalence
    }

    /// The same normal form with another trade-off: its parts are of unit size.
    pub fn with_trade_off(&self, trade_off: f64) -> Self {
        Self { trade_off, ..self.normal_form(Measure::GroupRates) }
    }
}

impl<V: Violation> Form for Fair<V> {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields<P> {
            performance: Vec<f64>,
            fairness: Vec<P>,
            trade_off: f64,
            prevalence: GroupShares,
        }
        object.make(|f: Fields<V::Fields>| {
            let pairs = f.fairness.into_iter().map(Into::into).collect();
            Self::new(f.performance, pairs, f.trade_off, f.prevalence)
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        let (classes, groups) = (self.prevalence.classes(), self.prevalence.groups());
        View::new(Measure::GroupRates, classes, groups).map(Coordinates::Of)
    }

    fn value(&self, point: &[f64]) -> f64 {
        let q = self.performance.len();
        let charge = |pair: &Pair<V>| {
            let [u, v] = pair.groups.map(|g| &point[g * q..][..q]);
            pair.violation.value(u, v)
        };
        let violation: f64 = self.fairness.iter().map(charge).sum();
        (1.0 - self.trade_off) * dot(&self.overall, point) + self.trade_off * violation
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let q = self.performance.len();
        let mut gradient = scaled(&self.overall, 1.0 - self.trade_off);
        for pair in &self.fairness {
            let [u, v] = pair.groups;
            let slopes = pair.violation.gradient(&point[u * q..][..q], &point[v * q..][..q]);
            for (n, slope) in slopes.into_iter().enumerate() {
                gradient[u * q + n] += self.trade_off * slope;
                gradient[v * q + n] -= self.trade_off * slope;
            }
        }
        gradient
    }

    /// Performance and violations each of size 1, the balance moved into the trade-off.
    fn normal_form(&self, _: Measure) -> Self {
        let performance_size = norm(&self.performance);
        let violation_size: f64 = self.fairness.iter().map(|p| p.violation.size()).sum();
        let (cost, unfair) = ((1.0 - self.trade_off) * performance_size, self.trade_off * violation_size);
        let factor = if violation_size > 0.0 { 1.0 / violation_size } else { 0.0 };
        let unit = |p: &Pair<V>| Pair { groups: p.groups, violation: p.violation.times(factor) };
        let performance = scaled(&self.performance, 1.0 / performance_size);
        let fairness = self.fairness.iter().map(unit).collect();
        let trade_off = if cost + unfair > 0.0 { unfair / (cost + unfair) } else { self.trade_off };
        Self::assemble(performance, fairness, trade_off, self.prevalence.clone())
    }

    /// $(1-\lambda) a$, then $\lambda b^{uv}$ pair after pair.
    fn coefficients(&self) -> Vec<f64> {
        let violations = self.fairness.iter().flat_map(|pair| pair.violation.entries());
        let violations: Vec<f64> = violations.map(|b| b * self.trade_off).collect();
        [scaled(&self.performance, 1.0 - self.trade_off), violations].concat()
    }

    fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        let (performance, rest) = coefficients.split_at(self.performance.len());
        let entries = rest.chunks((rest.len() / self.fairness.len()).max(1));
        let violations = self.fairness.iter().zip(entries);
        let violations: Vec<V> =
            violations.map(|(pair, entries)| pair.violation.with_entries(entries)).collect();
        let (cost, unfair): (f64, f64) = (norm(performance), violations.iter().map(Violation::size).sum());
        let total = cost + unfair;
        if total == 0.0 {
            return Err(Error::AllZero { field: "coefficients".to_owned() });
        }
        // With no care for performance its weights are never used, but must point somewhere.
        let performance =
            if cost > 0.0 { scaled(performance, total / cost) } else { vec![1.0; performance.len()] };
        let factor = if unfair > 0.0 { total / unfair } else { 0.0 };
        let pairs = self.fairness.iter().zip(violations);
        let pairs = pairs.map(|(pair, v)| Pair { groups: pair.groups, violation: v.times(factor) });
        Self::new(performance, pairs.collect(), unfair / total, self.prevalence.clone())
    }

    fn never_negative(&self) -> usize {
        if V::CURVED { self.performance.len() } else { self.coefficients().len() }
    }
}
