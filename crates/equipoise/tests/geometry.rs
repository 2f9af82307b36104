//! What holds for the achievable set of every population: laws in closed form, and small tables in groups.

use equipoise::population::{Confusions, Logistic, PostShift, Softmax};
use equipoise::rates::{GroupConfusions, GroupShares, Prevalence};
use equipoise::space::{Achievable, Space};
use equipoise::{Measure, View};
use proptest::prelude::*;
use std::convert::Infallible;

/// Cases with known class probabilities, in turn from each group.
#[derive(Debug, Clone)]
struct Table {
    posteriors: Vec<Vec<f64>>,
    groups: usize,
    prevalence: Prevalence,
}

impl Table {
    fn new(posteriors: Vec<Vec<f64>>, groups: usize) -> Self {
        let (k, n) = (posteriors[0].len(), posteriors.len() as f64);
        let mut joint = vec![vec![0.0; k]; groups];
        for (row, posterior) in posteriors.iter().enumerate() {
            joint[row % groups].iter_mut().zip(posterior).for_each(|(sum, p)| *sum += p / n);
        }
        let priors: Vec<f64> = (0..k).map(|i| joint.iter().map(|row| row[i]).sum()).collect();
        let share = |row: &Vec<f64>| row.iter().zip(&priors).map(|(joint, prior)| joint / prior).collect();
        let shares = GroupShares::new(joint.iter().map(share).collect()).unwrap();
        let prevalence = Prevalence::with_groups(priors, shares).unwrap();
        Self { posteriors, groups, prevalence }
    }
}

impl Confusions for Table {
    type Err = Infallible;
    type Rule = PostShift;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[PostShift]) -> Result<Vec<GroupConfusions>, Infallible> {
        let k = self.classes();
        let confusion = |rule: &PostShift| {
            let mut matrices = vec![vec![0.0; k * k]; self.groups];
            for (row, posterior) in self.posteriors.iter().enumerate() {
                let group = row % self.groups;
                let estimate = rule.predict(posterior, group);
                for i in 0..k {
                    matrices[group][i * k + estimate] += posterior[i] / self.posteriors.len() as f64;
                }
            }
            GroupConfusions::new(k, matrices).unwrap()
        };
        Ok(rules.iter().map(confusion).collect())
    }
}

/// Whatever is asked about post-shift rules and always answers.
type Asked = dyn Confusions<Err = Infallible, Rule = PostShift>;

/// A population, and how to look at its errors.
#[derive(Debug, Clone)]
struct Source {
    population: Kind,
    measure: Measure,
}

#[derive(Debug, Clone)]
enum Kind {
    Logistic(Logistic),
    Softmax(Softmax),
    Table(Table),
}

impl Source {
    fn population(&self) -> &Asked {
        match &self.population {
            Kind::Logistic(law) => law,
            Kind::Softmax(law) => law,
            Kind::Table(table) => table,
        }
    }

    fn set(&self) -> Achievable<'_, Asked> {
        Achievable::new(self.population(), self.measure).unwrap()
    }

    /// The errors of drawing one of several rules for every case: the mixture of theirs.
    fn errors(&self, shares: &[f64], rules: &[PostShift]) -> Vec<f64> {
        let (view, total) = (self.set().view(), shares.iter().sum::<f64>());
        let mut errors = vec![0.0; view.dimension()];
        for (share, confusions) in shares.iter().zip(self.population().shifted(rules).unwrap()) {
            let own = view.of(&confusions).unwrap();
            errors.iter_mut().zip(own).for_each(|(sum, x)| *sum += share / total * x);
        }
        errors
    }
}

fn joint_or_rates() -> impl Strategy<Value = Measure> {
    prop_oneof![Just(Measure::OffDiagonal), Just(Measure::OffDiagonalRates)]
}

fn logistic() -> impl Strategy<Value = Kind> {
    (0.5..12.0, -3.0..3.0)
        .prop_map(|(slope, offset)| Kind::Logistic(Logistic::with_offset(slope, offset).unwrap()))
}

fn softmax() -> impl Strategy<Value = Kind> {
    prop::collection::vec(-8.0..8.0, 2..=5).prop_map(|slopes| Kind::Softmax(Softmax::new(slopes).unwrap()))
}

fn table(groups: usize) -> impl Strategy<Value = Kind> {
    (2..=4_usize, 2..=15_usize)
        .prop_flat_map(move |(k, n)| prop::collection::vec(prop::collection::vec(0.01..1.0, k), n * groups))
        .prop_map(move |mut rows: Vec<Vec<f64>>| {
            for row in &mut rows {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
            Kind::Table(Table::new(rows, groups))
        })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        (logistic(), joint_or_rates()),
        (softmax(), joint_or_rates()),
        (softmax(), joint_or_rates()),
        (table(2), joint_or_rates()),
        (table(2), Just(Measure::GroupRates)),
        (table(3), Just(Measure::GroupRates)),
    ]
    .prop_map(|(population, measure)| Source { population, measure })
}

/// Weights, some of them 0: edges and faces are worth a visit.
fn weights(count: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![-1.0..1.0, -1.0..1.0, Just(0.0)], count)
}

/// A source with weights that point somewhere in every group.
fn with_direction() -> impl Strategy<Value = (Source, Vec<f64>)> {
    source().prop_flat_map(|source| {
        let view = source.set().view();
        let errors = view.dimension() / view.groups();
        let points = move |w: &Vec<f64>| w.chunks(errors).all(|group| dot(group, group) > 1e-6);
        (Just(source), weights(view.dimension()).prop_filter("no direction", points))
    })
}

/// A source with a classifier that draws between 1 and 8 arbitrary rules.
fn with_classifier() -> impl Strategy<Value = (Source, Vec<f64>, Vec<PostShift>)> {
    source()
        .prop_flat_map(|source| {
            let (k, groups) = (source.population().classes(), source.population().groups());
            let rule = prop::collection::vec(weights(k * k), groups)
                .prop_map(move |rewards| PostShift::per_group(k, rewards).unwrap());
            (Just(source), prop::collection::vec((0.01..1.0, rule), 1..=8))
        })
        .prop_map(|(source, parts)| {
            let (shares, rules) = parts.into_iter().unzip();
            (source, shares, rules)
        })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// `point` moved by `step` along `towards`, in each group.
fn moved(view: View, point: &[f64], step: f64, towards: &[f64]) -> Vec<f64> {
    let errors = view.dimension() / view.groups();
    let group = |(point, towards): (&[f64], &[f64])| -> Vec<f64> {
        let length = dot(towards, towards).sqrt();
        point.iter().zip(towards).map(|(x, t)| x + step * t / length).collect()
    };
    point.chunks(errors).zip(towards.chunks(errors)).flat_map(group).collect()
}

proptest! {
    #[test]
    fn the_best_point_beats_every_classifier(
        (source, shares, rules) in with_classifier(),
        seeds in weights(60),
    ) {
        let set = source.set();
        let weights = &seeds[..set.view().dimension()];
        let best = set.best(weights);
        prop_assert!(dot(weights, &best) >= dot(weights, &source.errors(&shares, &rules)) - 1e-12);
        prop_assert!(set.contains(&best, 1e-9));
        let group_by_group: f64 = weights
            .chunks(weights.len() / set.view().groups())
            .enumerate()
            .map(|(group, weights)| set.support(weights, group).unwrap())
            .sum();
        prop_assert!((group_by_group - dot(weights, &best)).abs() < 1e-12);
    }

    #[test]
    fn every_classifier_is_a_draw_between_few_best_rules((source, shares, rules) in with_classifier()) {
        let set = source.set();
        let point = source.errors(&shares, &rules);
        let found = set.mixture(&point, 1e-9).unwrap();
        prop_assert!(found.is_some(), "{point:?} is achieved");
        let found = found.unwrap();
        prop_assert!(found.rules().len() <= point.len() + 1);
        let errors = point.len() / set.view().groups();
        for (found, point) in source.errors(found.shares(), found.rules()).chunks(errors).zip(point.chunks(errors)) {
            prop_assert!(distance(found, point) <= 1.01e-9);
        }
    }

    #[test]
    fn points_beyond_a_supporting_plane_are_out_of_reach((source, weights) in with_direction()) {
        let set = source.set();
        let beyond = moved(set.view(), &set.best(&weights), 1e-7, &weights);
        prop_assert!(!set.contains(&beyond, 9e-8));
        prop_assert!(set.mixture(&beyond, 9e-8).unwrap().is_none());
        prop_assert!(set.contains(&beyond, 1.1e-7));
    }

}

proptest! {
    // Hundreds of rays each.
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_point_of_the_certified_ball_is_achievable((source, weights) in with_direction()) {
        let set = source.set();
        let (Ok(radius), Ok(bound)) = (set.radius(), set.radius_bound(2, 1));
        prop_assert!(0.0 <= radius && radius <= bound, "{radius} {bound}");
        let edge = moved(set.view(), &set.centre(), radius, &weights);
        prop_assert!(set.contains(&edge, 1e-9), "radius {radius}");
    }
}

#[test]
fn a_best_point_beside_a_corner_is_reached() {
    let slopes = vec![
        -2.829005501905683,
        6.8468974398717375,
        -1.2239249755008061,
        7.930100200546763,
        4.202558300967269,
    ];
    let law = Softmax::new(slopes).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    let weights = [
        0.0,
        -0.8528742040605988,
        0.12942825055637797,
        0.7466625154183639,
        0.0,
        0.8703835986435474,
        0.49811138093882085,
        -0.842749166123785,
        0.929685279249939,
        0.2527378093924318,
        0.0,
        0.0,
        0.0,
        0.18038562934389085,
        -0.3459280070456322,
        0.0,
        -0.7427083985312557,
        0.0,
        0.12030938733453604,
        0.18131415308726376,
    ];
    assert!(set.contains(&set.best(&weights), 1e-9));
}
