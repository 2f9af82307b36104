//! What mistakes are worth in each other, and what closing a gap is worth (RP-04).

use crate::Rows;
use crate::sentence::{LANGUAGE, Voice};
use equipoise::Metric;
use equipoise::metric::Family;
use equipoise::rates::off_diagonal_pairs;
use equipoise_study::numbers::two_digits;
use equipoise_study::{Design, Study};
use serde::Serialize;

/// A weight below this share of the largest does not count.
const COUNTS: f64 = 0.02;

/// A kind of mistake can be the unit of the others if the ends of its interval differ by no more than this factor.
const STEADY: f64 = 3.0;

/// What one mistake is worth in units of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeRate {
    /// One of it.
    pub mistake: String,
    /// The unit, several of it.
    pub unit: String,
    /// How many of the unit it is worth.
    pub rate: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The true and the predicted class.
    #[serde(skip)]
    pub kind: [usize; 2],
    /// Those of the unit.
    #[serde(skip)]
    pub unit_kind: [usize; 2],
    /// The answers behind it.
    pub rows: Rows,
}

/// What closing a gap between two groups is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GapPrice {
    /// The kind of mistake whose rates differ, several of it.
    pub mistakes: String,
    /// The two groups.
    pub groups: [String; 2],
    /// So many more of these mistakes per 1,000 people are accepted to shrink the gap by one point.
    pub more_per_thousand: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The true and the predicted class.
    #[serde(skip)]
    pub kind: [usize; 2],
    /// The two groups by number.
    #[serde(skip)]
    pub between: [usize; 2],
    /// In words.
    pub sentence: String,
    /// The answers behind it.
    pub rows: Rows,
}

/// What one mistake of each kind costs: weights are of rates within a class, so those of a rare class weigh more each.
fn costs(design: &Design, metric: &Metric) -> Vec<f64> {
    let frame = design.frame();
    let k = frame.view().classes();
    let shares = frame.class_shares();
    let weights = match metric.family() {
        // A quadratic metric has no one weight; this is what it charges where rates are those of chance.
        Family::Quadratic(_) => {
            let chance = vec![1.0 / k as f64; k * k - k];
            metric.gradient(&chance).iter().map(|slope| -metric.sense().sign() * slope).collect()
        }
        _ => {
            let sign = -metric.sense().sign();
            metric.coefficients().iter().take(k * k - k).map(|weight| sign * weight).collect::<Vec<f64>>()
        }
    };
    off_diagonal_pairs(k).zip(weights).map(|((truth, _), weight)| weight / shares[truth]).collect()
}

/// Names of all kinds of mistake: one, and several.
pub(crate) fn names(study: &Study, k: usize) -> Vec<[String; 2]> {
    let name = |(truth, predicted): (usize, usize)| match study.mistake(truth, predicted) {
        Some(mistake) => [&mistake.one, &mistake.many].map(|text| text.r#in(LANGUAGE).to_owned()),
        None => {
            let [truth, predicted] = [truth, predicted].map(|class| study.task.classes[class].id.clone());
            ["", "cases of "].map(|start| format!("{start}{truth} predicted as {predicted}"))
        }
    };
    off_diagonal_pairs(k).map(name).collect()
}

/// The kind of mistake that can be the unit of the others: the lightest that is known well enough.
pub(crate) fn unit(design: &Design, metric: &Metric) -> Option<usize> {
    let found = costs(design, metric);
    let ranges = metric.credible(0.95, |metric| costs(design, metric));
    let largest = found.iter().copied().fold(0.0, f64::max);
    let width = |n: usize| match &ranges {
        Some(ranges) if ranges[n][0] > 0.0 => ranges[n][1] / ranges[n][0],
        Some(_) => f64::INFINITY,
        None => 1.0,
    };
    let counting: Vec<usize> = (0..found.len()).filter(|n| found[*n] > COUNTS * largest).collect();
    let steady = counting.iter().copied().filter(|n| width(*n) <= STEADY);
    let lightest = steady.min_by(|a, b| found[*a].total_cmp(&found[*b]));
    let best_known = || counting.iter().copied().min_by(|a, b| width(*a).total_cmp(&width(*b)));
    lightest.or_else(best_known)
}

/// What one mistake of each kind is worth in units of one of them.
fn rates(design: &Design, metric: &Metric, unit: usize) -> Vec<f64> {
    let costs = costs(design, metric);
    costs.iter().map(|cost| (cost / costs[unit].max(1e-300)).max(0.0)).collect()
}

/// What closing each gap by a point is worth, in mistakes of the same kind per 1,000 people; nothing without groups.
fn closing(design: &Design, metric: &Metric) -> Vec<f64> {
    let Family::GroupFair(_) = metric.family() else { return vec![] };
    let (coefficients, costs) = (metric.coefficients(), costs(design, metric));
    let gaps = coefficients[costs.len()..].iter().enumerate();
    // A point of the gap is 0.01 of a rate; one mistake in 1,000 people costs 0.001 of its cost.
    gaps.map(|(n, gap)| (0.01 * gap) / (0.001 * costs[n % costs.len()]).max(1e-300)).collect()
}

/// The groups between which each gap is.
fn pairs_of_groups(metric: &Metric) -> Vec<[usize; 2]> {
    let Family::GroupFair(fair) = metric.family() else { return vec![] };
    fair.fairness().iter().map(|pair| pair.groups).collect()
}

/// Their names.
fn between(design: &Design, metric: &Metric) -> Vec<[String; 2]> {
    let name = |group: usize| design.study().task.groups[group].name.r#in(LANGUAGE).to_owned();
    pairs_of_groups(metric).into_iter().map(|pair| pair.map(name)).collect()
}

/// The true and the predicted class of every kind of mistake.
fn kinds(design: &Design) -> Vec<[usize; 2]> {
    off_diagonal_pairs(design.frame().view().classes()).map(|(truth, predicted)| [truth, predicted]).collect()
}

/// Every kind of mistake in units of the lightest one that is known well enough, dearest first.
pub(crate) fn exchange_rates(design: &Design, metric: &Metric, rows: &Rows) -> Vec<ExchangeRate> {
    // Candidates with attributes make no mistakes.
    if design.is_choice() {
        return vec![];
    }
    let names = names(design.study(), design.frame().view().classes());
    let Some(unit) = unit(design, metric) else { return vec![] };
    let found = rates(design, metric, unit);
    let ranges = metric.credible(0.95, |metric| rates(design, metric, unit));
    let kinds = kinds(design);
    let mut all: Vec<ExchangeRate> = (0..found.len())
        .filter(|n| *n != unit)
        .map(|n| ExchangeRate {
            mistake: names[n][0].clone(),
            unit: names[unit][1].clone(),
            rate: found[n],
            interval: ranges.as_ref().map(|ranges| ranges[n]),
            kind: kinds[n],
            unit_kind: kinds[unit],
            rows: rows.clone(),
        })
        .collect();
    all.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    all
}

/// What closing each gap by a point is worth, in mistakes of the same kind per 1,000 people.
pub(crate) fn gap_prices(design: &Design, metric: &Metric, voice: &Voice, rows: &Rows) -> Vec<GapPrice> {
    if design.is_choice() {
        return vec![];
    }
    let (study, found) = (design.study(), closing(design, metric));
    let names = names(study, design.frame().view().classes());
    let (q, between, kinds) = (names.len(), between(design, metric), kinds(design));
    let pairs = pairs_of_groups(metric);
    let ranges = metric.credible(0.95, |metric| closing(design, metric));
    (0..found.len())
        .map(|n| {
            let groups = between[n / q].clone();
            let mistakes = names[n % q][1].clone();
            let interval = ranges.as_ref().map(|ranges| ranges[n]);
            let range = interval.map_or(String::new(), |[low, high]| {
                format!(" (95 % interval {}-{})", two_digits(low), two_digits(high))
            });
            let sentence = format!(
                "{} up to {} more {mistakes} per 1,000 {} to shrink the gap in {mistakes} between {} and {} by 1 point{range}.",
                voice.accept,
                two_digits(found[n]),
                study.task.people.r#in(LANGUAGE),
                groups[0],
                groups[1]
            );
            let more_per_thousand = found[n];
            let (kind, between) = (kinds[n % q], pairs[n / q]);
            GapPrice {
                mistakes,
                groups,
                more_per_thousand,
                interval,
                kind,
                between,
                sentence,
                rows: rows.clone(),
            }
        })
        .collect()
}

/// What a kind of mistake, or a point of a gap, is worth by a metric of several weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Worth {
    /// "one emergency seen as routine", or "1 point of the gap in misses between women and men".
    pub what: String,
    /// So many of the unit.
    pub amount: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// "false alarms".
    pub unit: String,
    /// Whether it is a gap, which is worth mistakes, rather than as bad as them.
    pub gap: bool,
    verb: &'static str,
}

impl Worth {
    /// "one emergency seen as routine is as bad as 4.1 (2.0 to 7.9) false alarms".
    pub fn clause(&self) -> String {
        format!("{} {} {}", self.what, self.verb, self.told())
    }

    /// "4.1 (2.0 to 7.9) false alarms".
    pub fn told(&self) -> String {
        let range = self
            .interval
            .map_or(String::new(), |[low, high]| format!(" ({} to {})", worth(low), worth(high)));
        format!("{}{range} {}", worth(self.amount), self.unit)
    }
}

/// What every kind of mistake and every gap is worth, dearest first: where two classes have a ratio, more have this.
pub fn worths(design: &Design, metric: &Metric) -> Vec<Worth> {
    let rows = Rows::default();
    let mistakes = exchange_rates(design, metric, &rows).into_iter().map(|rate| Worth {
        what: format!("one {}", rate.mistake),
        amount: rate.rate,
        interval: rate.interval,
        unit: rate.unit,
        verb: "is as bad as",
        gap: false,
    });
    let people = design.study().task.people.r#in(LANGUAGE);
    let mut gaps = gap_prices(design, metric, &Voice::of_people(0), &rows);
    gaps.sort_by(|a, b| b.more_per_thousand.total_cmp(&a.more_per_thousand));
    let gaps = gaps.into_iter().map(|gap| Worth {
        what: format!(
            "1 point of the gap in {} between {} and {}",
            gap.mistakes, gap.groups[0], gap.groups[1]
        ),
        amount: gap.more_per_thousand,
        interval: gap.interval,
        unit: format!("{} per 1,000 {people}", gap.mistakes),
        verb: "is worth",
        gap: true,
    });
    let mut shares = crate::choice::shares(design, metric);
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    let attributes = shares.into_iter().map(|share| Worth {
        what: share.attribute,
        amount: 100.0 * share.share,
        interval: share.interval.map(|range| range.map(|end| 100.0 * end)),
        unit: "% of all weights".to_owned(),
        verb: "weighs",
        gap: false,
    });
    mistakes.chain(gaps).chain(attributes).collect()
}

/// Numbers that sum up a metric of several weights, so that two metrics can be compared: what the mistakes are worth in
/// one of them, and what closing each gap is worth.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    /// The one that the others are counted in; nothing where they are shares of all.
    unit: Option<usize>,
    /// What each number is: "one emergency predicted as routine, in false alarms".
    pub names: Vec<String>,
    /// The same with the number left open: "one emergency … would be as bad as {} false alarms".
    pub clauses: Vec<String>,
    /// The numbers of the metric they were made from.
    pub found: Vec<f64>,
}

impl Prices {
    /// Those of a metric; nothing if no mistake counts.
    pub fn of(design: &Design, metric: &Metric) -> Option<Self> {
        if design.is_choice() {
            return Some(Self::of_attributes(design, metric));
        }
        let unit = unit(design, metric)?;
        let study = design.study();
        let kinds = names(study, design.frame().view().classes());
        let people = study.task.people.r#in(LANGUAGE);
        let units = &kinds[unit][1];
        let mut names: Vec<String> = kinds.iter().map(|[one, _]| format!("one {one}, in {units}")).collect();
        let mut clauses: Vec<String> =
            kinds.iter().map(|[one, _]| format!("one {one} would be as bad as {{}} {units}")).collect();
        for [one, other] in between(design, metric) {
            for [_, many] in &kinds {
                names.push(format!("{many} per 1,000 for 1 point of the gap between {one} and {other}"));
                clauses.push(format!(
                    "up to {{}} more {many} per 1,000 {people} would be accepted to shrink the gap in them between {one} and \
                     {other} by 1 point"
                ));
            }
        }
        let mut prices = Self { unit: Some(unit), names, clauses, found: vec![] };
        prices.found = prices.by(design, metric);
        Some(prices)
    }

    /// What attributes weigh, in per cent.
    fn of_attributes(design: &Design, metric: &Metric) -> Self {
        let named = crate::choice::names(design);
        let mut prices = Self {
            unit: None,
            names: named.iter().map(|name| format!("weight of {name} in per cent")).collect(),
            clauses: named.iter().map(|name| format!("{name} would weigh {{}} % of all")).collect(),
            found: vec![],
        };
        prices.found = prices.by(design, metric);
        prices
    }

    /// The same numbers by another metric.
    pub fn by(&self, design: &Design, metric: &Metric) -> Vec<f64> {
        let Some(unit) = self.unit else {
            return crate::choice::of_all(metric).iter().map(|share| 100.0 * share).collect();
        };
        let mut all = rates(design, metric, unit);
        all.extend(closing(design, metric));
        all
    }

    /// The numbers worth telling: all but the unit, and nothing that hardly counts.
    pub fn telling(&self) -> impl Iterator<Item = usize> {
        let largest = self.found.iter().copied().fold(0.0, f64::max);
        (0..self.found.len()).filter(move |n| Some(*n) != self.unit && self.found[*n] > COUNTS * largest)
    }

    /// The dearest mistake, and the dearest gap where there are groups.
    pub fn dearest(&self, mistakes: usize) -> Vec<usize> {
        let most = |gap: bool| {
            let those = self.telling().filter(move |n| (*n >= mistakes) == gap);
            those.max_by(|a, b| self.found[*a].total_cmp(&self.found[*b]))
        };
        [most(false), most(true)].into_iter().flatten().collect()
    }
}

/// A rate as it is printed everywhere: what is below a hundredth of the unit is nothing.
pub(crate) fn worth(rate: f64) -> String {
    if rate < 0.01 { "0".to_owned() } else { two_digits(rate) }
}
