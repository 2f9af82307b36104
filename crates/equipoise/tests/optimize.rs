//! What optimising a metric promises, whatever the rows.

use equipoise::ask::Simulated;
use equipoise::decide::optimize::{
    Comparing, FrankWolfe, Guide, Judge, Labels, Predictions, Probing, Problem, baselines, direct_search,
    nested, plug_in, select,
};
use equipoise::metric::Named;
use equipoise::population::{Basis, Classifier, Column, Rows, Scores};
use equipoise::{Measure, Metric, View};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows of a made-up population. The model is calibrated on the training rows; validation rows come from somewhere with
/// other class frequencies.
struct Made {
    probabilities: Vec<Vec<f64>>,
    truth: Vec<u8>,
    flag: Vec<bool>,
    other: Vec<bool>,
    soft: Vec<f64>,
    group: Vec<u16>,
}

impl Made {
    fn new(rows: usize, classes: usize, shift: f64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut made = Self {
            probabilities: vec![Vec::new(); classes],
            truth: vec![],
            flag: vec![],
            other: vec![],
            soft: vec![],
            group: vec![],
        };
        while made.truth.len() < rows {
            let row = made.truth.len();
            let flag = random.random_range(0.0..1.0) < 0.4;
            let odds: Vec<f64> = (0..classes)
                .map(|class| {
                    (random.random_range(-2.0_f64..2.0) - class as f64 * if flag { 0.2 } else { 0.9 }).exp()
                })
                .collect();
            let total: f64 = odds.iter().sum();
            let mut left = random.random_range(0.0..total);
            let drawn = odds.iter().position(|odds| {
                left -= odds;
                left < 0.0
            });
            let drawn = drawn.unwrap_or(0);
            // Keeping some classes more often than others is label shift: what the weights can correct exactly.
            let most = (shift * (classes - 1) as f64).max(0.0);
            if random.random_range(0.0..1.0) > (shift * drawn as f64 - most).exp() {
                continue;
            }
            // The first rows make sure that every class occurs.
            made.truth.push(if row < 2 * classes { row % classes } else { drawn } as u8);
            made.probabilities.iter_mut().zip(&odds).for_each(|(column, odds)| column.push(odds / total));
            made.flag.push(if row < 2 * classes { row < classes } else { flag });
            made.soft.push(random.random_range(0.0..1.0));
            made.group.push((row % 2) as u16);
        }
        made.other = made.flag.iter().map(|flag| !flag).collect();
        made
    }

    fn rows(&self) -> Rows<'_> {
        let scores = Scores::new(self.probabilities.iter().map(Vec::as_slice).collect()).unwrap();
        let scores = scores.with_column("flag", Column::Flags(&self.flag)).unwrap();
        let scores = scores.with_column("other", Column::Flags(&self.other)).unwrap();
        let scores = scores.with_column("soft", Column::Reals(&self.soft)).unwrap();
        Rows::new(scores, &self.truth).unwrap()
    }

    fn grouped(&self) -> Rows<'_> {
        self.rows().with_groups(&self.group, 2).unwrap()
    }
}

/// A metric by its name, as these rows mean it.
fn named(name: &str, rows: &Rows) -> Metric {
    let named = Named::parse(name).unwrap_or_else(|| panic!("{name} is a known name"));
    named.metric(&rows.confusions(rows.truth()).unwrap().prevalence()).unwrap()
}

fn value(metric: &Metric, classifier: &Classifier, rows: &Rows) -> f64 {
    metric.of(&rows.confusions(&classifier.predict(rows.scores()).unwrap()).unwrap()).unwrap()
}

fn bases() -> Vec<Basis> {
    vec![Basis::All, Basis::column("flag"), Basis::column("soft")]
}

mod frank_wolfe {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_never_ends_below_the_model_itself(
            seed in any::<u64>(),
            shift in -2.0..2.0_f64,
            classes in 2_usize..4,
            known in any::<bool>(),
            general in any::<bool>(),
            which in 0_usize..3,
        ) {
            let (train, validation) = (Made::new(300, classes, 0.0, seed), Made::new(80, classes, shift, seed ^ 1));
            let (train, validation) = (train.rows(), validation.rows());
            let metric = named(["g_mean", "macro_f", "accuracy"][which], &validation);
            let problem = Problem::new(&train, &validation, bases()).unwrap();
            let plan = FrankWolfe::default().iterations(5).unwrap().general(general);
            let outcome = match known {
                true => plan.run(&problem, &mut metric.clone()).unwrap(),
                false => plan.run(&problem, &mut Probing::new(metric.clone())).unwrap(),
            };
            let model = value(&metric, &baselines::most_likely(classes), &validation);
            prop_assert!(value(&metric, &outcome.classifier, &validation) >= model);
        }
    }

    #[test]
    fn a_constant_start_is_left() {
        for classes in [2, 3] {
            let (train, validation) = (Made::new(3000, classes, 0.0, 1), Made::new(1000, classes, 1.0, 2));
            let (train, validation) = (train.rows(), validation.rows());
            let problem = Problem::new(&train, &validation, bases()).unwrap();
            let metric = named("g_mean", &validation);
            let from = |plan: FrankWolfe| {
                let outcome = plan.run(&problem, &mut Probing::new(metric.clone())).unwrap();
                assert!(outcome.notes.iter().all(|note| !note.contains("were kept")), "{:?}", outcome.notes);
                value(&metric, &outcome.classifier, &validation)
            };
            let usual = from(FrankWolfe::default());
            for class in 0..classes {
                let found = from(FrankWolfe::default().constant_start(class));
                assert!(found > usual - 0.02, "{classes} classes from class {class}: {found}, not {usual}");
            }
        }
    }

    #[test]
    fn it_does_on_new_rows_what_a_search_over_all_thresholds_does() {
        let (train, validation, new) =
            (Made::new(4000, 2, 0.0, 3), Made::new(2000, 2, 1.5, 4), Made::new(8000, 2, 1.5, 5));
        let (train, validation, new) = (train.rows(), validation.rows(), new.rows());
        let problem = Problem::new(&train, &validation, vec![Basis::All]).unwrap();
        for name in ["g_mean", "f1", "macro_f"] {
            let (metric, of_new) = (named(name, &validation), named(name, &new));
            let found = FrankWolfe::default().run(&problem, &mut metric.clone()).unwrap().classifier;
            let mut probing = Probing::new(metric.clone());
            let search = baselines::cyclic_search(&problem, &mut probing, 2000).unwrap();
            let (found, best) = (value(&of_new, &found, &new), value(&of_new, &search, &new));
            assert!(found > best - 0.01, "{name}: {found}, not {best}");
        }
    }

    #[test]
    fn a_linear_metric_takes_one_step() {
        let (train, validation) = (Made::new(2000, 3, 0.0, 5), Made::new(1000, 3, 1.0, 6));
        let (train, validation) = (train.rows(), validation.rows());
        let problem = Problem::new(&train, &validation, bases()).unwrap();
        let mut metric = named("accuracy", &validation);
        let (once, weights) = plug_in(&problem, true, &mut metric).unwrap();
        let plan = FrankWolfe::default().iterations(1).unwrap().general(true);
        let outcome = plan.run(&problem, &mut metric).unwrap();
        assert_eq!(outcome.classifier, once);
        assert_eq!((outcome.rank, outcome.unknowns), (weights.rank, weights.unknowns));
        assert!(weights.rank <= 3 * 3 * 2, "row sums are fixed: {}", weights.rank);
        let model = value(&metric, &baselines::most_likely(3), &validation);
        assert!(value(&metric, &once, &validation) > model + 0.02);
    }

    #[test]
    fn the_step_of_probes_hardly_matters() {
        let (train, validation) = (Made::new(3000, 2, 0.0, 7), Made::new(1000, 2, 1.0, 8));
        let (train, validation) = (train.grouped(), validation.grouped());
        let problem = Problem::new(&train, &validation, bases()).unwrap();
        let metric = named("group_g_mean", &validation);
        let with = |step: f64| {
            let mut probing = Probing::new(metric.clone()).step(step).unwrap();
            let outcome = FrankWolfe::default().run(&problem, &mut probing).unwrap();
            value(&metric, &outcome.classifier, &validation)
        };
        let values = [1e-4, 1e-3, 1e-2].map(with);
        assert!(values.iter().all(|value| (value - values[0]).abs() < 0.003), "{values:?}");
    }
}

mod oracles {
    use super::*;

    /// G-mean from predictions, as somebody else would write it.
    fn g_mean_of(predictions: &Predictions<'_>) -> f64 {
        let (mut right, mut all) = ([0.0; 2], [0.0; 2]);
        for (row, &truth) in predictions.soft().chunks(2).zip(predictions.truth()) {
            right[usize::from(truth)] += row[usize::from(truth)];
            all[usize::from(truth)] += 1.0;
        }
        (right[0] / all[0] * right[1] / all[1]).sqrt()
    }

    fn tables() -> (Made, Made) {
        (Made::new(3000, 2, 0.0, 11), Made::new(800, 2, 1.5, 12))
    }

    #[test]
    fn a_closure_over_rows_equals_the_closed_form() {
        let (train, validation) = tables();
        let (train, validation) = (train.rows(), validation.rows());
        let problem = Problem::new(&train, &validation, bases()).unwrap();
        let plan = FrankWolfe::default().iterations(5).unwrap();
        let closed = plan.run(&problem, &mut Probing::new(named("g_mean", &validation))).unwrap();
        let closure = plan.run(&problem, &mut Probing::new(g_mean_of)).unwrap();
        assert_eq!(closed.queries, closure.queries);
        assert_eq!(closed.queries, 5 * (1 + 3 * 2) + 2);
        let predictions = |it: &Classifier| it.predict(validation.scores()).unwrap();
        assert_eq!(predictions(&closed.classifier), predictions(&closure.classifier));
    }

    /// A closure that takes labels; ten draws are averaged.
    struct Hard<F>(F);

    impl<F: FnMut(&[u8]) -> f64> Judge for Hard<F> {
        type Err = std::convert::Infallible;

        fn labels(&self) -> Labels {
            Labels::Hard { draws: 10 }
        }

        fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64, Self::Err> {
            Ok(self.0(&predictions.labels()))
        }
    }

    #[test]
    fn labels_are_drawn_for_who_takes_only_labels() {
        let (train, validation) = tables();
        let truth = validation.truth.clone();
        let (train, validation) = (train.rows(), validation.rows());
        let problem = Problem::new(&train, &validation, vec![Basis::All]).unwrap();
        let judge = Hard(|labels: &[u8]| {
            let rate = |class: u8| {
                let rows = truth.iter().zip(labels).filter(|(truth, _)| **truth == class);
                let (right, all) =
                    rows.fold((0.0, 0.0), |(r, n), (t, l)| (r + f64::from(u8::from(t == l)), n + 1.0));
                right / all
            };
            (rate(0) * rate(1)).sqrt()
        });
        let outcome = FrankWolfe::default().run(&problem, &mut Probing::new(judge)).unwrap();
        let metric = named("g_mean", &validation);
        let best = FrankWolfe::default().run(&problem, &mut metric.clone()).unwrap();
        let (found, best) =
            (value(&metric, &outcome.classifier, &validation), value(&metric, &best.classifier, &validation));
        assert!(found > best - 0.02, "{found}, not {best}");
    }

    #[test]
    fn a_value_that_is_no_number_stops_with_what_was_found_so_far() {
        let (train, validation) = tables();
        let (train, validation) = (train.rows(), validation.rows());
        let problem = Problem::new(&train, &validation, bases()).unwrap();
        let mut calls = 0;
        let judge = |it: &Predictions<'_>| {
            calls += 1;
            if calls == 10 { f64::NAN } else { g_mean_of(it) }
        };
        let stopped = FrankWolfe::default().run(&problem, &mut Probing::new(judge)).unwrap_err();
        assert_eq!((stopped.iteration, stopped.failure.call), (2, 10));
        assert_eq!(stopped.failure.about, "all rows moved towards class 1");
        assert_eq!((stopped.partial.iterations, stopped.partial.queries), (1, 10));
        let metric = named("g_mean", &validation);
        let model = value(&metric, &baselines::most_likely(2), &validation);
        assert!(value(&metric, &stopped.partial.classifier, &validation) > model);
    }

    #[test]
    fn comparisons_alone_lead_nearly_as_far() {
        let (train, validation) = tables();
        let (train, validation) = (train.rows(), validation.rows());
        let problem = Problem::new(&train, &validation, bases()).unwrap();
        let view = View::new(Measure::DiagonalRates, 2, 1).unwrap();
        let person = Simulated::new(Metric::g_mean(2).unwrap());
        let mut comparing = Comparing::new(person, view).tolerance(0.03).unwrap();
        let plan = FrankWolfe::default().iterations(8).unwrap();
        let Ok(outcome) = plan.run(&problem, &mut comparing) else { panic!("a simulation answers") };
        let metric = named("g_mean", &validation);
        let best = plan.run(&problem, &mut metric.clone()).unwrap();
        let on = |it: &Classifier| value(&metric, it, &validation);
        let (model, found, best) =
            (on(&baselines::most_likely(2)), on(&outcome.classifier), on(&best.classifier));
        assert!(found > model + 0.6 * (best - model), "{found}, best {best}, model {model}");
        assert!(outcome.queries < 8 * 100, "{} comparisons", outcome.queries);
    }
}

mod methods {
    use super::*;

    #[test]
    fn the_transition_matrix_undoes_label_noise() {
        // Perfectly separable rows whose model was trained on labels of which 60 % of class 1 were called 0.
        let eta: Vec<[f64; 2]> =
            (0..200).map(|row| if row % 2 == 0 { [1.0, 0.0] } else { [0.6, 0.4] }).collect();
        let columns: Vec<Vec<f64>> = (0..2).map(|j| eta.iter().map(|row| row[j]).collect()).collect();
        let truth: Vec<u8> = (0..200).map(|row| (row % 2) as u8).collect();
        let rows =
            Rows::new(Scores::new(columns.iter().map(Vec::as_slice).collect()).unwrap(), &truth).unwrap();
        assert_eq!(baselines::most_likely(2).predict(rows.scores()).unwrap(), [0; 200]);
        assert_eq!(baselines::transition_matrix(&rows).predict(rows.scores()).unwrap(), truth);
    }

    #[test]
    fn searches_improve_on_the_model_and_groups_on_one_threshold() {
        let made = Made::new(1500, 2, 1.5, 21);
        let rows = made.grouped();
        let problem = Problem::new(&rows, &rows, vec![Basis::All]).unwrap();
        let metric = named("group_g_mean", &rows);
        let mut probing = Probing::new(metric.clone());
        let plug_in = baselines::plug_in_search(&problem, &mut probing, 300).unwrap();
        let cyclic = baselines::cyclic_search(&problem, &mut probing, 300).unwrap();
        let parts = vec![Basis::column("flag"), Basis::column("other")];
        let by_part = baselines::group_thresholds(&problem, &mut probing, 300, parts).unwrap().unwrap();
        let on = |it: &Classifier| value(&metric, it, &rows);
        let model = on(&baselines::most_likely(2));
        assert!(
            on(&plug_in) > model && on(&cyclic) > on(&plug_in) - 1e-3 && on(&by_part) > on(&cyclic) - 1e-3
        );
    }

    /// The smallest recall, over classes and groups: slopes see one of them at a time.
    fn smallest_recall(rows: &Rows, soft: &[f64]) -> f64 {
        let (k, groups) = (rows.classes(), rows.groups());
        let (mut right, mut all) = (vec![0.0; k * groups], vec![0.0; k * groups]);
        for (row, (soft, &truth)) in soft.chunks(k).zip(rows.truth()).enumerate() {
            let cell = rows.group(row) * k + usize::from(truth);
            right[cell] += soft[usize::from(truth)];
            all[cell] += 1.0;
        }
        right.iter().zip(&all).map(|(right, all)| right / all).fold(1.0, f64::min)
    }

    /// The same for labels.
    fn smallest(rows: &Rows, labels: &[u8]) -> f64 {
        let soft =
            |&label: &u8| (0..rows.classes()).map(move |j| f64::from(u8::from(j == usize::from(label))));
        smallest_recall(rows, &labels.iter().flat_map(soft).collect::<Vec<_>>())
    }

    #[test]
    fn a_direct_search_finds_what_slopes_do_not_see() {
        let made = Made::new(1500, 3, -0.8, 51);
        let rows = made.grouped();
        let problem = Problem::new(&rows, &rows, vec![Basis::All]).unwrap();
        let on = |it: &Classifier| smallest(&rows, &it.predict(rows.scores()).unwrap());
        let mut probing = Probing::new(|it: &Predictions<'_>| smallest_recall(&rows, &it.soft()));
        let all = direct_search(&problem, &mut probing, 300, &[]).unwrap();
        assert!(probing.queries() <= 300);
        let slopes = FrankWolfe::default().run(&problem, &mut probing).unwrap().classifier;
        // By a grid of weights that knows nothing of the search.
        let eta = |class: usize, row: usize| rows.scores().probability(class, row);
        let on_grid = |n: i32| {
            let w = [(f64::from(n / 41 - 20) / 8.0).exp(), (f64::from(n % 41 - 20) / 8.0).exp(), 1.0];
            let label = |row: usize| {
                (0..3).max_by(|&a, &b| (w[a] * eta(a, row)).total_cmp(&(w[b] * eta(b, row)))).unwrap() as u8
            };
            smallest(&rows, &(0..rows.len()).map(label).collect::<Vec<_>>())
        };
        let best = (0..41 * 41).map(on_grid).fold(0.0, f64::max);
        assert!(on(&all) > best - 0.01, "{} not {best}", on(&all));
        assert!(on(&all) > on(&slopes) + 0.02, "{} by values, {} by slopes", on(&all), on(&slopes));
        // Weights of their own for two parts of the rows, three classes.
        let parts = [Basis::column("flag"), Basis::column("other")];
        let by_part = direct_search(&problem, &mut probing, 1000, &parts).unwrap();
        assert!(by_part.bases().len() == 2 && on(&by_part) > on(&all) - 0.005, "{}", on(&by_part));
    }

    #[test]
    fn no_threshold_is_better_than_the_best_of_all() {
        let made = Made::new(300, 2, 1.2, 61);
        let rows = made.grouped();
        let problem = Problem::new(&rows, &rows, vec![Basis::All]).unwrap();
        for name in ["accuracy", "g_mean", "f1", "group_g_mean"] {
            let metric = named(name, &rows);
            let exact = baselines::best_thresholds(&problem, &metric, vec![]).unwrap();
            let exact = value(&metric, &exact, &rows);
            let mut probing = Probing::new(metric.clone());
            let near = direct_search(&problem, &mut probing, 1000, &[]).unwrap();
            let found = value(&metric, &near, &rows);
            assert!(found <= exact + 1e-12, "{name}: {found} {exact}");
            assert!(found > exact - 0.015, "{name}: {found} {exact}");
            for row in 0..rows.len() {
                let at = rows.scores().probability(1, row);
                let labels: Vec<u8> = made.probabilities[1].iter().map(|&p| u8::from(p > at)).collect();
                assert!(
                    metric.of(&rows.confusions(&labels).unwrap()).unwrap() <= exact + 1e-12,
                    "{name} {at}"
                );
            }
        }
    }

    #[test]
    fn few_validation_rows_choose_few_bases() {
        let (train, validation) = (Made::new(3000, 2, 0.0, 31), Made::new(120, 2, 0.8, 32));
        let (train, validation) = (train.rows(), validation.rows());
        let units: Vec<Vec<Basis>> = bases().into_iter().map(|basis| vec![basis]).collect();
        let plan = FrankWolfe::default().iterations(5).unwrap();
        let found =
            select(&train, &validation, nested(&units), &|_| Metric::g_mean(2), &plan, true, 5).unwrap();
        assert_eq!(found.candidates.iter().map(|it| it.bases.len()).collect::<Vec<_>>(), [1, 2, 3]);
        let best = found.candidates.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap();
        assert!(found.candidates[found.chosen].mean >= best.mean - best.standard_error);
        assert!(found.candidates[..found.chosen].iter().all(|it| it.mean < best.mean - best.standard_error));
    }

    #[test]
    fn a_classifier_is_the_same_after_a_round_trip() {
        let (train, validation) = (Made::new(1000, 3, 0.0, 41), Made::new(500, 3, 1.0, 42));
        let (train, validation) = (train.rows(), validation.rows());
        let mut bases = bases();
        bases.extend(Basis::argmax_clusters(3));
        let centres = equipoise::decide::optimize::centres(validation.scores(), &[], 2, 1).unwrap();
        bases.extend(Basis::clusters(vec![], centres.clone()));
        bases.push(Basis::Radial { features: vec!["soft".to_owned()], centres: vec![vec![0.5]], width: 0.3 });
        let problem = Problem::new(&train, &validation, bases).unwrap();
        let outcome = FrankWolfe::default()
            .iterations(3)
            .unwrap()
            .run(&problem, &mut named("macro_f", &validation))
            .unwrap();
        let names = |prefix: &str| (0..3).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
        let classifier = outcome.classifier.with_names(names("class "), names("p")).unwrap();
        let again = Classifier::from_json(&classifier.to_json()).unwrap();
        assert_eq!(again, classifier);
        assert_eq!(again.columns(), ["flag", "soft"]);
        let wrong =
            Classifier::from_json(&classifier.to_json().replace("\"share\"", "\"shaer\"")).unwrap_err();
        assert!(wrong.to_string().contains("shaer is not a field here"), "{wrong}");
    }
}
