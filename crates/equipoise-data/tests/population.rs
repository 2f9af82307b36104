//! Tables as populations: boundaries, spaces, smoothing, uncertainty and calibration against slow referees.

use equipoise::ask::Finding;
use equipoise::ask::Simulated;
use equipoise::decide::threshold::{Optimum, Requirement, rewards, tune};
use equipoise::population::{Confusions, Logistic, Population, PostShift, Rule, Score, Softmax};
use equipoise::search::{BinaryLinear, DiagonalLinear};
use equipoise::space::{Achievable, Space};
use equipoise::{GroupConfusions, Measure, Metric, Plan, Prevalence, Sense, View};
use equipoise_data::{Boundary, Groups, Reliability, Sample, Smooth, Table, binary_space, diagonal_space};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;
use std::convert::Infallible;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| n.to_string()).collect()
}

/// Rows of a softmax law: x uniform, the label drawn from the probabilities.
fn drawn(slopes: &[f64], rows: usize, seed: u64) -> Table {
    let law = Softmax::new(slopes.to_vec()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut truth, mut columns) = (vec![], vec![vec![]; slopes.len()]);
    for _ in 0..rows {
        let posterior = law.posterior(2.0 * random.random::<f64>() - 1.0);
        let mut left = random.random::<f64>();
        let label = posterior.iter().position(|p| {
            left -= p;
            left <= 0.0
        });
        truth.push(label.unwrap_or(slopes.len() - 1) as u8);
        columns.iter_mut().zip(&posterior).for_each(|(column, &p)| column.push(p));
    }
    Table::new(names(slopes.len()), truth, columns).unwrap().data
}

/// Small tables of any number of classes, on a coarse grid so that ties abound, with groups and weights.
fn tables(classes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Table> {
    let shape = (classes, any::<bool>(), any::<bool>(), 12..60_usize);
    shape.prop_flat_map(|(k, grouped, weighted, rows)| {
        let row = (prop::collection::vec(0..=6_u32, k), 0..=255_u8, 1..=9_u32);
        prop::collection::vec(row, rows).prop_map(move |rows| {
            let code = |row: usize, parts: usize| {
                if row < 2 * k { row % parts } else { usize::from(rows[row].1) % parts }
            };
            let truth = (0..rows.len()).map(|row| code(row, k) as u8).collect();
            let share = |row: &[u32], i: usize| {
                (f64::from(row[i]) + 0.01) / (f64::from(row.iter().sum::<u32>()) + 0.01 * k as f64)
            };
            let columns = (0..k).map(|i| rows.iter().map(|row| share(&row.0, i)).collect()).collect();
            let mut table = Table::new(names(k), truth, columns).unwrap().data;
            if grouped {
                // The first rows put every class into both groups.
                let group =
                    |row: usize| if row < 2 * k { row / k } else { usize::from(rows[row].1) / 16 % 2 };
                let codes = (0..rows.len()).map(|row| group(row) as u16).collect();
                table = table.with_groups(Groups::new(names(2), codes).unwrap()).unwrap();
            }
            if weighted {
                table = table.with_weights(rows.iter().map(|row| f64::from(row.2) / 4.0).collect()).unwrap();
            }
            table
        })
    })
}

/// Every threshold of the share of class b among the two, in both directions: (correct a, correct b).
fn all_thresholds(sample: &Sample<&Table>, a: usize, b: usize) -> Vec<[f64; 2]> {
    let table = sample.table();
    let share = |row: usize| {
        table.probabilities(b)[row] / (table.probabilities(a)[row] + table.probabilities(b)[row])
    };
    let mut cuts: Vec<f64> = (0..table.rows()).map(share).collect();
    cuts.push(2.0);
    let mut points = vec![];
    for cut in cuts {
        let (mut up, mut down) = ([0.0; 2], [0.0; 2]);
        for row in 0..table.rows() {
            let weight = table.weight(row) / table.totals().overall().weight;
            let above = share(row) >= cut;
            let truth = usize::from(table.truth()[row]);
            if truth == a {
                if above { down[0] += weight } else { up[0] += weight }
            } else if truth == b {
                if above { up[1] += weight } else { down[1] += weight }
            }
        }
        points.extend([up, down]);
    }
    points
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_hull_is_that_of_all_thresholds(table in tables(2..=4), turn in 0.0..std::f64::consts::TAU) {
        let sample = Sample::new(&table).unwrap();
        for class in 1..table.classes().len() {
            let points = all_thresholds(&sample, 0, class);
            let hull = Boundary::of(&sample, 0, class).unwrap().hull().unwrap();
            let value = |p: &[f64; 2]| turn.cos() * p[0] + turn.sin() * p[1];
            let best = points.iter().map(value).fold(f64::MIN, f64::max);
            prop_assert!((value(&hull.extreme([turn.cos(), turn.sin()])) - best).abs() < 1e-12);
            for corner in hull.vertices() {
                let near = |p: &[f64; 2]| (p[0] - corner[0]).abs() + (p[1] - corner[1]).abs() < 1e-12;
                prop_assert!(points.iter().any(near), "{corner:?} is no threshold");
            }
        }
    }

    #[test]
    fn boundary_points_are_those_of_the_rules(table in tables(2..=2), turn in 0.0..std::f64::consts::TAU) {
        let sample = Sample::new(&table).unwrap();
        let weights = [turn.cos(), turn.sin()];
        let Ok(expected) = sample.shifted(&[PostShift::diagonal(&weights).unwrap()]);
        let expected = expected[0].overall().diagonal();
        let found = Boundary::of(&sample, 0, 1).unwrap().at(weights);
        for class in 0..2 {
            prop_assert!((found[class] - expected[class]).abs() < 1e-12, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn boundary_points_count_rows_below_a_threshold(table in tables(2..=2), cut in 0..=12_u32) {
        let sample = Sample::new(&table).unwrap();
        let threshold = f64::from(cut) / 12.0;
        let mut expected = [0.0; 2];
        for row in 0..table.rows() {
            let estimate = usize::from(table.probabilities(1)[row] / (table.probabilities(0)[row] + table.probabilities(1)[row]) >= threshold);
            if estimate == usize::from(table.truth()[row]) {
                expected[estimate] += table.weight(row) / table.totals().overall().weight;
            }
        }
        let found = Boundary::of(&sample, 0, 1).unwrap().at_threshold(threshold);
        prop_assert!((found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-12);
    }

    #[test]
    fn every_feasible_point_has_a_mixture_with_its_confusions(
        table in tables(2..=4),
        shares in prop::collection::vec(0.01..1.0_f64, 4),
        rewards in prop::collection::vec(-1.0..1.0_f64, 64),
    ) {
        let sample = Sample::new(&table).unwrap();
        let k = table.classes().len();
        let rule = |n: usize| PostShift::new(k, rewards[n * 16..][..k * k].to_vec()).unwrap();
        let Ok(confusions) = sample.shifted(&[0, 1, 2, 3].map(rule));
        let measures = [Measure::OffDiagonalRates, Measure::OffDiagonal, Measure::GroupRates];
        for measure in measures.into_iter().filter(|m| *m != Measure::GroupRates || table.groups().is_some()) {
            let set = Achievable::new(&sample, measure).unwrap();
            let total: f64 = shares.iter().sum();
            let points: Vec<Vec<f64>> = confusions.iter().map(|c| errors(&sample, measure, c)).collect();
            let middle = set.centre();
            // Half way between the centre and a draw between rules.
            let target: Vec<f64> = (0..middle.len())
                .map(|n| 0.5 * middle[n] + 0.5 * (0..4).map(|r| shares[r] / total * points[r][n]).sum::<f64>())
                .collect();
            if let Some(mixture) = set.mixture(&target, 1e-10).unwrap() {
                let reached = errors(&sample, measure, &mixture.confusions(&sample).unwrap());
                for (found, expected) in reached.iter().zip(&target) {
                    prop_assert!((found - expected).abs() < 1e-9, "{measure:?} {reached:?} {target:?}");
                }
            }
            prop_assert!(set.mixture(&middle, 1e-10).unwrap().is_some());
        }
    }

    #[test]
    fn a_tuned_rule_is_no_worse_than_where_it_started(
        table in tables(2..=4),
        weights in prop::collection::vec(0.1..3.0_f64, 4),
        bound in 0.0..1.0_f64,
    ) {
        let sample = Sample::new(&table).unwrap();
        let k = table.classes().len();
        let metric = Metric::weighted_accuracy(weights[..k].to_vec()).unwrap();
        let start = rewards(&metric, sample.prevalence().class_priors()).unwrap();
        let Ok(before) = sample.shifted(std::slice::from_ref(&start));
        let before = metric.of(&before[0]).unwrap();
        let tuned = tune(&sample, &start, &metric, &[]).unwrap().found().unwrap();
        prop_assert!(tuned.value >= before);
        let Ok(again) = sample.shifted(std::slice::from_ref(&tuned.rule));
        prop_assert!((metric.of(&again[0]).unwrap() - tuned.value).abs() < 1e-12);
        let needed = [Requirement::parse(&format!("recall:0>={bound}"), table.classes(), &[]).unwrap()];
        match tune(&sample, &start, &metric, &needed).unwrap() {
            Optimum::Found(found) => {
                let recall = needed[0].value_of(&found.confusions).unwrap().unwrap();
                prop_assert!(recall >= bound - 1e-12);
            }
            Optimum::Infeasible(why) => prop_assert!(why.requirements[0].best.unwrap() < bound),
        }
    }

    #[test]
    fn certified_balls_lie_in_the_hull_of_all_thresholds(table in tables(2..=2)) {
        let sample = Sample::new(&table).unwrap();
        let Ok(radius) = Achievable::new(&sample, Measure::OffDiagonalRates).unwrap().radius();
        let hull = Boundary::of(&sample, 0, 1).unwrap().hull().unwrap();
        let priors = sample.prevalence().class_priors();
        for step in 0..32 {
            let turn = std::f64::consts::TAU * f64::from(step) / 32.0;
            let rates = [0.5 + radius * turn.cos(), 0.5 + radius * turn.sin()];
            prop_assert!(hull.contains([rates[0] * priors[0], rates[1] * priors[1]], 1e-9), "{radius}");
        }
    }

    #[test]
    fn equal_mass_bins_cover_all_rows(table in tables(2..=3), bins in 1..8_usize) {
        let sample = Sample::new(&table).unwrap();
        for class in 0..table.classes().len() {
            let Ok(profile) = sample.score_profile(Score::Class(class));
            let curve = Reliability::new(&profile, bins);
            let share: f64 = curve.bins.iter().map(|bin| bin.share).sum();
            prop_assert!((share - 1.0).abs() < 1e-12 && curve.bins.len() <= bins);
            // Slowly, from the ranges.
            let mut expected = 0.0;
            for bin in &curve.bins {
                let (mut mass, mut predicted, mut observed, mut total) = (0.0, 0.0, 0.0, 0.0);
                for row in 0..table.rows() {
                    let (p, w) = (table.probabilities(class)[row], table.weights().map_or(1.0, |w| w[row]));
                    total += w;
                    if (bin.range[0]..=bin.range[1]).contains(&p) {
                        mass += w;
                        predicted += w * p;
                        observed += w * f64::from(usize::from(table.truth()[row]) == class);
                    }
                }
                prop_assert!((bin.share - mass / total).abs() < 1e-12);
                expected += (predicted - observed).abs() / total;
            }
            prop_assert!((curve.error() - expected).abs() < 1e-12);
        }
    }
}

/// The errors a measure lists, straight from the definition.
fn errors(sample: &Sample<&Table>, measure: Measure, confusions: &GroupConfusions) -> Vec<f64> {
    match measure {
        Measure::OffDiagonal => confusions.overall().off_diagonal(),
        Measure::GroupRates => {
            (0..sample.groups()).flat_map(|g| confusions.rates(g).unwrap().off_diagonal()).collect()
        }
        _ => confusions.overall().rates().unwrap().off_diagonal(),
    }
}

#[test]
fn a_large_sample_is_close_to_its_law() {
    let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
    let table = drawn(&[1.0, 3.0, 5.0], 300_000, 5);
    let sample = Sample::new(&table).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut rule = || PostShift::new(3, (0..9).map(|_| random.random()).collect()).unwrap();
    let rules: Vec<PostShift> = (0..20).map(|_| rule()).collect();
    // Five standard deviations of a share.
    let tolerance = 5.0 * 0.5 / 300_000_f64.sqrt();
    let (Ok(found), Ok(expected)) = (sample.shifted(&rules), law.confusions(&rules));
    for (found, expected) in found.iter().zip(expected) {
        for (i, j) in (0..9).map(|n| (n / 3, n % 3)) {
            assert!((found.get(0, i, j) - expected.get(0, i, j)).abs() < tolerance);
        }
    }
}

/// Counts how often the population is asked.
struct Asked<'a> {
    sample: &'a Sample<&'a Table>,
    passes: Cell<usize>,
}

impl Confusions for Asked<'_> {
    type Err = Infallible;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        self.sample.prevalence()
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Infallible> {
        self.passes.set(self.passes.get() + 1);
        self.sample.confusions(rules)
    }
}

#[test]
fn the_ball_of_a_sample_is_close_to_that_of_its_law() {
    let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
    let Ok(expected) = Achievable::new(&law, Measure::OffDiagonalRates).unwrap().radius();
    let table = drawn(&[1.0, 3.0, 5.0], 100_000, 9);
    let codes = (0..table.rows()).map(|row| (row % 2) as u16).collect();
    let table = table.with_groups(Groups::new(names(2), codes).unwrap()).unwrap();
    let sample = Sample::new(&table).unwrap();
    for measure in [Measure::OffDiagonalRates, Measure::GroupRates] {
        let asked = Asked { sample: &sample, passes: Cell::new(0) };
        let set = Achievable::new(&asked, measure).unwrap();
        let Ok(radius) = set.radius();
        let passes = asked.passes.replace(0);
        let Ok(bound) = set.radius_bound(8, 3);
        println!(
            "{measure:?}: radius {radius:.4} in {passes} passes, law {expected:.4}, bound {bound:.4} in {}",
            asked.passes.get()
        );
        assert!((radius - expected).abs() < 0.1 * expected, "{radius} {expected}");
        assert!(bound > radius && bound < 0.12);
        assert!(passes < 100, "{passes}");
        let centre = set.centre();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        for _ in 0..5 {
            // A step of 0.9 radii in every group, from the centre.
            let step: Vec<f64> = centre.iter().map(|_| random.random::<f64>() - 0.5).collect();
            let length = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = step.chunks(6).flat_map(|part| part.iter().map(|x| x / length(part)));
            let point: Vec<f64> = centre.iter().zip(unit).map(|(o, u)| o + 0.9 * radius * u).collect();
            let mixture = set.mixture(&point, 1e-10).unwrap().expect("inside the certified ball");
            let reached = errors(&sample, measure, &mixture.confusions(&sample).unwrap());
            assert!(reached.iter().zip(&point).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }
}

#[test]
fn metrics_are_recovered_from_samples() {
    let table = drawn(&[5.0, 0.0], 200_000, 1);
    let space = binary_space(&Sample::new(&table).unwrap()).unwrap();
    let hidden = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[2,1]}"#;
    let hidden = Metric::from_json(hidden).unwrap();
    let Ok(found) = BinaryLinear::new(space, 0.01).unwrap().run(&mut Simulated::new(hidden.clone()));
    let angle = found.metric.difference(&hidden).unwrap().angle;
    assert!(angle < 0.02, "{angle}");
    let table = drawn(&[0.0, 4.0, 8.0], 200_000, 1);
    let space = diagonal_space(&Sample::new(&table).unwrap()).unwrap();
    let hidden = r#"{"format":1,"kind":"linear","measure":"diagonal","sense":"utility","classes":["a","b","c"],"weights":[0.3,0.5,0.2]}"#;
    let hidden = Metric::from_json(hidden).unwrap();
    let Ok(found) = DiagonalLinear::new(space, 0.01).unwrap().run(&mut Simulated::new(hidden.clone()));
    let difference = found.metric.difference(&hidden).unwrap();
    assert!(difference.max_abs < 0.03, "{difference:?}");
}

#[test]
fn on_small_tables_a_metric_is_found_or_lies_in_the_range_reported() {
    for rows in [60, 500, 5_000] {
        let table = drawn(&[5.0, 0.0], rows, 4);
        let sample = Sample::new(&table).unwrap();
        let smooth = Smooth::fit(&sample).unwrap().pulled().unwrap();
        for space in [binary_space(&sample).unwrap(), smooth] {
            let plan = BinaryLinear::new(space, 0.01).unwrap();
            for step in 1..40 {
                let angle = std::f64::consts::FRAC_PI_2 * f64::from(step) / 40.0;
                let view = View::new(Measure::Binary, 2, 1).unwrap();
                let hidden = Metric::linear(view, Sense::Utility, vec![angle.cos(), angle.sin()]).unwrap();
                let Ok(found) = plan.run(&mut Simulated::new(hidden.clone()));
                let error = found.metric.difference(&hidden).unwrap().angle;
                let reported = found.findings.iter().any(|finding| match finding {
                    Finding::FlatBoundary { low, high } => (low - 1e-9..=high + 1e-9).contains(&angle),
                    _ => false,
                });
                assert!(error < 0.01 || reported, "{rows} rows, {angle}: {error} {:?}", found.findings);
            }
        }
    }
}

#[test]
fn smoothing_finds_the_law_and_stays_within_the_hull() {
    let law = Logistic::new(5.0).unwrap();
    for rows in [400, 50_000] {
        let table = drawn(&[0.0, 5.0], rows, 4);
        let sample = Sample::new(&table).unwrap();
        let smooth = Smooth::fit(&sample).unwrap();
        println!(
            "{rows} rows: {:?} distance {:.4} outside {:.4}",
            smooth.law(),
            smooth.distance(),
            smooth.outside()
        );
        if rows == 50_000 {
            assert!((smooth.law().slope() - law.slope()).abs() < 0.3 && smooth.law().offset().abs() < 0.1);
        }
        assert!(smooth.outside() < 3.0 / (rows as f64).sqrt());
        assert!(smooth.within(1e-15).is_err() || smooth.outside() <= 1e-15);
        assert!(smooth.within(1.0).is_ok());
        let (pulled, hull) = (smooth.pulled().unwrap(), binary_space(&sample).unwrap());
        for corner in pulled.hull().unwrap().vertices() {
            assert!(hull.hull().unwrap().contains(*corner, 1e-12));
        }
        assert!(pulled.hull().unwrap().vertices().len() > 100);
    }
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn draws_spread_as_theory_says() {
    let table = drawn(&[0.0, 5.0], 2_000, 8);
    let sample = Sample::new(&table).unwrap();
    let rule = Rule::most_likely(2).unwrap();
    let Ok(seen) = sample.confusions(std::slice::from_ref(&rule));
    let right = seen[0].get(0, 1, 1);
    let of = |draws: &[Vec<GroupConfusions>]| {
        moments(&draws.iter().map(|draw| draw[0].get(0, 1, 1)).collect::<Vec<_>>())
    };
    let n = 2_000.0;
    let Ok(drawn) = sample.resampled(std::slice::from_ref(&rule), 1, 1000);
    let (mean, deviation) = of(&drawn);
    let expected = (right * (1.0 - right) / n).sqrt();
    assert!((mean - right).abs() < 0.2 * expected && (deviation / expected - 1.0).abs() < 0.12);
    let (mean, deviation) = of(&sample.dirichlet(std::slice::from_ref(&rule), 1000, 1));
    let prior = sample.prevalence().class_priors()[1];
    let rate = right / prior;
    let expected = prior * (rate * (1.0 - rate) / (n * prior)).sqrt();
    assert!((mean - right).abs() < 0.2 * expected && (deviation / expected - 1.0).abs() < 0.12);
    let twice = [1, 1].map(|seed| sample.resampled(std::slice::from_ref(&rule), seed, 3).unwrap());
    assert_eq!(twice[0], twice[1]);
    assert_ne!(twice[0][0], twice[0][1]);
}

/// Where a requirement binds, the best rule is at a corner that no single factor leads to.
#[test]
fn no_rule_on_a_grid_is_better_than_the_tuned_one() {
    for (seed, bound) in (0..4).flat_map(|seed| [(seed, 0.01), (seed, 0.05)]) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut truth, mut columns) = (vec![], vec![vec![]; 3]);
        for row in 0..600 {
            let class = [0, 0, 1, 1, 1, 2][row % 6];
            let odds =
                |i: usize, noise: f64| (noise + if i == class { 1.1 } else { 0.0 } - 0.7 * i as f64).exp();
            let odds: Vec<f64> = (0..3).map(|i| odds(i, random.random_range(-2.0..2.0))).collect();
            truth.push(class as u8);
            columns.iter_mut().zip(&odds).for_each(|(column, o)| column.push(o / odds.iter().sum::<f64>()));
        }
        let names = ["low", "medium", "high"].map(str::to_owned).to_vec();
        let sample = Sample::new(Table::new(names, truth, columns).unwrap().data).unwrap();
        let metric = Metric::accuracy(3).unwrap();
        let text = format!("rate:high->low<={bound}");
        let needed = [Requirement::parse(&text, sample.table().classes(), &[]).unwrap()];
        let start = PostShift::diagonal(&[1.0; 3]).unwrap();
        let tuned = tune(&sample, &start, &metric, &needed).unwrap().found().unwrap();
        let at = |n: usize| (4.0 * (n as f64 / 40.0 - 1.0)).exp();
        let rules: Vec<PostShift> =
            (0..81 * 81).map(|n| PostShift::diagonal(&[at(n / 81), at(n % 81), 1.0]).unwrap()).collect();
        let Ok(found) = sample.shifted(&rules);
        let met = |matrix: &&GroupConfusions| {
            needed.iter().all(|r| r.value_of(matrix).unwrap().is_some_and(|value| r.is_met(value)))
        };
        let best = found.iter().filter(met).map(|matrix| metric.of(matrix).unwrap()).fold(0.0, f64::max);
        assert!(tuned.value >= best, "seed {seed}, {bound}: {} tuned, {best} on the grid", tuned.value);
        assert!(tuned.tried > 1000 && tuned.confirmed_by > 600, "{} {}", tuned.tried, tuned.confirmed_by);
    }
}
