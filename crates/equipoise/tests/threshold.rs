//! Thresholds against referees that try everything.

use equipoise::decide::threshold::{
    Bootstrap, Chosen, Optimum, Requirement, bayes, decision_text, net_benefit, rewards,
};
use equipoise::metric::{Fair, Family, Pair, Posterior};
use equipoise::population::{Profile, resampling};
use equipoise::{GroupConfusions, GroupShares, Measure, Metric, Sense, View};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows with few distinct scores, so that ties occur; both classes in both groups.
#[derive(Debug, Clone)]
struct Rows {
    scores: Vec<f64>,
    truth: Vec<u8>,
    weights: Vec<f64>,
    groups: Vec<u16>,
}

fn rows(most: usize) -> impl Strategy<Value = Rows> {
    let row = (0_u32..25, any::<bool>(), 0_u32..5, 0_u16..2);
    proptest::collection::vec(row, 0..most).prop_map(|mut rows| {
        rows.extend([(3, true, 2, 0), (9, false, 1, 0), (12, true, 3, 1), (20, false, 1, 1)]);
        Rows {
            scores: rows.iter().map(|r| f64::from(r.0) / 25.0).collect(),
            truth: rows.iter().map(|r| u8::from(r.1)).collect(),
            weights: rows.iter().map(|r| f64::from(r.2) * 0.37).collect(),
            groups: rows.iter().map(|r| r.3).collect(),
        }
    })
}

impl Rows {
    fn sample(&self) -> Profile {
        let groups = Some((&self.groups[..], 2));
        Profile::from_rows(&self.scores, &self.truth, Some(&self.weights), groups).unwrap()
    }

    /// The confusion matrix of accepting from a threshold per group, row by row.
    fn confusions(&self, thresholds: [f64; 2]) -> GroupConfusions {
        let total: f64 = self.weights.iter().sum();
        let mut groups = vec![vec![0.0; 4]; 2];
        for n in 0..self.scores.len() {
            let group = usize::from(self.groups[n]);
            let accepted = usize::from(self.scores[n] >= thresholds[group]);
            groups[group][2 * usize::from(self.truth[n]) + accepted] += self.weights[n] / total;
        }
        GroupConfusions::new(2, groups).unwrap()
    }

    /// Thresholds at, between and beyond the scores.
    fn thresholds(&self) -> Vec<f64> {
        (-1..=52).map(|n| f64::from(n) / 50.0 + 1e-9).chain(self.scores.iter().copied()).collect()
    }
}

fn shares() -> GroupShares {
    GroupShares::new(vec![vec![0.4, 0.7], vec![0.6, 0.3]]).unwrap()
}

/// Metrics of every family a two-class table has a value for.
fn metrics() -> Vec<Metric> {
    let view = |measure| View::new(measure, 2, 1).unwrap();
    let matrix = vec![vec![2.0, -1.0], vec![-1.0, 0.5]];
    let fair = |trade_off| {
        let pair = Pair { groups: [0, 1], violation: vec![0.6, 0.8] };
        let fair = Fair::new(vec![1.0, 2.0], vec![pair], trade_off, shares()).unwrap();
        let view = View::new(Measure::GroupRates, 2, 2).unwrap();
        Metric::new(view, Sense::Cost, Family::GroupFair(fair)).unwrap()
    };
    vec![
        Metric::accuracy(2).unwrap(),
        Metric::weighted_accuracy(vec![1.0, 4.0]).unwrap(),
        Metric::balanced_accuracy(2).unwrap(),
        Metric::f_beta(2.0, 0.4).unwrap(),
        Metric::jaccard().unwrap(),
        Metric::g_mean(2).unwrap(),
        Metric::q_mean(2).unwrap(),
        Metric::equalised_odds(&shares()).unwrap(),
        fair(0.3),
        fair(0.8),
        Metric::linear(view(Measure::OffDiagonal), Sense::Cost, vec![1.0, 6.0]).unwrap(),
        Metric::linear(view(Measure::OffDiagonalRates), Sense::Cost, vec![2.0, 1.0]).unwrap(),
        Metric::linear(view(Measure::Binary), Sense::Utility, vec![-1.0, 2.0]).unwrap(),
        Metric::quadratic(view(Measure::OffDiagonalRates), Sense::Cost, vec![1.0, 3.0], matrix).unwrap(),
    ]
}

fn requirement(text: &str) -> Requirement {
    let classes = ["benign", "malignant"].map(str::to_owned);
    Requirement::parse(text, &classes, &["F", "M"].map(str::to_owned)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_single_threshold_is_better_than_the_best(rows in rows(40)) {
        let sample = rows.sample();
        for metric in metrics() {
            let best = sample.best(&metric, &[]).unwrap().found().unwrap();
            let at_best = metric.of(&rows.confusions([best.cut.threshold; 2])).unwrap();
            prop_assert!((at_best - best.value).abs() < 1e-12, "{} {at_best} {best:?}", metric.to_json());
            prop_assert!((metric.of(&best.confusions).unwrap() - best.value).abs() < 1e-12);
            let sign = metric.sense().sign();
            for threshold in rows.thresholds() {
                let value = metric.of(&rows.confusions([threshold; 2])).unwrap();
                prop_assert!(sign * best.value >= sign * value - 1e-12, "{} at {threshold}", metric.to_json());
                let at = sample.confusions_at(threshold).unwrap();
                prop_assert!((metric.of(&at).unwrap() - value).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn no_pair_of_thresholds_is_better_than_the_best_per_group(rows in rows(20)) {
        let sample = rows.sample();
        let thresholds = rows.thresholds();
        for metric in metrics() {
            let best = sample.best_per_group(&metric, &[]).unwrap().found().unwrap();
            prop_assert!(best.exact);
            let [first, second] = [0, 1].map(|g| best.cuts[g].threshold);
            let at_best = metric.of(&rows.confusions([first, second])).unwrap();
            prop_assert!((at_best - best.value).abs() < 1e-12);
            let sign = metric.sense().sign();
            for &a in thresholds.iter().step_by(3) {
                for &b in thresholds.iter().step_by(3) {
                    let value = metric.of(&rows.confusions([a, b])).unwrap();
                    prop_assert!(sign * best.value >= sign * value - 1e-12);
                }
            }
        }
    }

    #[test]
    fn requirements_are_met_or_cannot_be(rows in rows(30), bound in 0.0..1.0_f64, which in 0_usize..6) {
        let text = ["recall:malignant>=", "precision:malignant>=", "fpr:malignant<=", "rate:benign->malignant@M<=",
                    "recall:benign@F>=", "coverage:malignant<="][which];
        let needed = [requirement(&format!("{text}{bound}"))];
        let sample = rows.sample();
        let meets = |matrix: &GroupConfusions| needed[0].value_of(matrix).unwrap().is_some_and(|v| needed[0].is_met(v));
        for metric in metrics() {
            let sign = metric.sense().sign();
            let matrices: Vec<_> = rows.thresholds().iter().map(|&t| rows.confusions([t; 2])).collect();
            let feasible = matrices.iter().filter(|m| meets(m));
            let top = feasible.map(|m| sign * metric.of(m).unwrap()).fold(f64::NEG_INFINITY, f64::max);
            match sample.best(&metric, &needed).unwrap() {
                Optimum::Found(best) => {
                    prop_assert!(meets(&best.confusions));
                    prop_assert!(sign * best.value >= top - 1e-12);
                }
                Optimum::Infeasible(why) => {
                    prop_assert_eq!(top, f64::NEG_INFINITY);
                    prop_assert!(!why.requirements[0].enough);
                }
            }
        }
    }

    #[test]
    fn any_text_is_a_requirement_or_a_sentence(pieces in proptest::collection::vec(0_usize..20, 0..10)) {
        let words = ["recall", "rate", "accuracy", "precision", ":", "@", "->", ">=", "<=", "0.5", "F", "benign", "malignant",
                     " ", "é", "≥", "-", "1e400", "NaN", ""];
        let text: String = pieces.iter().map(|&n| words[n]).collect();
        let classes = ["benign", "malignant", ""].map(str::to_owned);
        match Requirement::parse(&text, &classes, &["F".to_owned()]) {
            Ok(parsed) => prop_assert!((0.0..=1.0).contains(&parsed.bound)),
            Err(wrong) => prop_assert!(wrong.to_string().starts_with("requirement \"")),
        }
    }

    #[test]
    fn decision_curves_are_net_benefits(rows in rows(40)) {
        let sample = rows.sample();
        let thresholds: Vec<f64> = (0..50).map(|n| f64::from(n) / 50.0).collect();
        for (&threshold, [benefit, all]) in thresholds.iter().zip(sample.decision_curve(&thresholds).unwrap()) {
            let at = |t: f64| net_benefit(&rows.confusions([t; 2]).overall(), threshold).unwrap();
            prop_assert!((benefit - at(threshold)).abs() < 1e-12 * (1.0 + at(-1.0).abs()));
            prop_assert!((all - at(-1.0)).abs() < 1e-12 * (1.0 + at(-1.0).abs()));
        }
    }

    #[test]
    fn the_bayes_threshold_is_best_where_scores_are_calibrated(odds in 0.05..20.0_f64, prior in 0.1..0.9_f64, which in 0_usize..5) {
        let measures = [Measure::Binary, Measure::Diagonal, Measure::OffDiagonal, Measure::DiagonalRates, Measure::OffDiagonalRates];
        let measure = measures[which];
        // Weights so that a miss costs `odds` times a false alarm per unit of the measure.
        let weights = if measure == Measure::Binary { vec![odds, 1.0] } else { vec![1.0, odds] };
        let sense = if measure.lists_errors() { Sense::Cost } else { Sense::Utility };
        let metric = Metric::linear(View::new(measure, 2, 1).unwrap(), sense, weights).unwrap();
        // Every probability twice, weighted by the class: exactly calibrated; the prior is tuned by a density.
        let grid: Vec<f64> = (1..200).map(|n| f64::from(n) / 200.0).collect();
        let tilt = |p: f64| p.powf(2.0 * prior) * (1.0 - p).powf(2.0 - 2.0 * prior);
        let scores = [grid.clone(), grid.clone()].concat();
        let truth = [vec![1; grid.len()], vec![0; grid.len()]].concat();
        let weight = |(n, &p): (usize, &f64)| tilt(p) * if n < grid.len() { p } else { 1.0 - p };
        let weights: Vec<f64> = scores.iter().enumerate().map(weight).collect();
        let sample = Profile::from_rows(&scores, &truth, Some(&weights), None).unwrap();
        let theory = bayes(&metric, sample.positive_prior(), &[], 0.95).unwrap().threshold;
        let best = sample.best(&metric, &[]).unwrap().found().unwrap();
        let here = metric.of(&sample.confusions_at(theory).unwrap()).unwrap();
        prop_assert!((here - best.value).abs() < 1e-12, "{theory} gives {here}, {best:?}");
        // The matrix of rewards says the same.
        let rule = rewards(&metric, &[1.0 - sample.positive_prior(), sample.positive_prior()]).unwrap();
        for p in &grid {
            let accepted = rule.predict(&[1.0 - p, *p], 0) == 1;
            prop_assert!(accepted == (*p > theory) || (p - theory).abs() < 1e-9);
        }
    }

    #[test]
    fn rewards_give_the_best_prediction_for_every_posterior(
        weights in proptest::collection::vec(0.0..3.0_f64, 6),
        raw in proptest::collection::vec(0.01..1.0_f64, 30),
        rates in any::<bool>(),
    ) {
        let measure = if rates { Measure::OffDiagonalRates } else { Measure::OffDiagonal };
        prop_assume!(weights.iter().any(|&w| w > 0.0));
        let metric = Metric::linear(View::new(measure, 3, 1).unwrap(), Sense::Cost, weights).unwrap();
        let rows: Vec<Vec<f64>> = raw.chunks(3).map(|r| r.iter().map(|x| x / r.iter().sum::<f64>()).collect()).collect();
        let priors: Vec<f64> = (0..3).map(|i| rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64).collect();
        let matrix = |predict: &dyn Fn(usize) -> usize| {
            let mut entries = vec![0.0; 9];
            for (n, row) in rows.iter().enumerate() {
                for i in 0..3 {
                    entries[i * 3 + predict(n)] += row[i] / rows.len() as f64;
                }
            }
            GroupConfusions::new(3, vec![entries]).unwrap()
        };
        let rule = rewards(&metric, &priors).unwrap();
        let best = metric.of(&matrix(&|n| rule.predict(&rows[n], 0))).unwrap();
        for changed in 0..rows.len() {
            for to in 0..3 {
                let other = metric.of(&matrix(&|n| if n == changed { to } else { rule.predict(&rows[n], 0) })).unwrap();
                prop_assert!(best <= other + 1e-12);
            }
        }
    }
}

#[test]
fn many_thresholds_per_group_end_no_worse_than_a_common_one() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let n = 6000;
    let draws = equipoise::testing::random::normals(2 * n, &mut random);
    let truth: Vec<u8> = (0..n).map(|i| u8::from(draws[n + i] > 0.3)).collect();
    let scores: Vec<f64> = (0..n).map(|i| draws[i] + f64::from(truth[i]) + 0.2 * (i % 3) as f64).collect();
    let groups: Vec<u16> = (0..n).map(|i| (i % 2) as u16).collect();
    let sample = Profile::from_rows(&scores, &truth, None, Some((&groups, 2))).unwrap();
    for metric in metrics() {
        let sign = metric.sense().sign();
        let common = sample.best(&metric, &[]).unwrap().found().unwrap();
        let best = sample.best_per_group(&metric, &[]).unwrap().found().unwrap();
        assert!(!best.exact);
        assert!(sign * best.value >= sign * common.value - 1e-12, "{}", metric.to_json());
        assert!((metric.of(&best.confusions).unwrap() - best.value).abs() < 1e-12);
    }
}

/// A search that moves one group at a time stops in a corner of the absolute differences.
#[test]
fn groups_move_together_where_differences_between_them_cost() {
    let n = 2400;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let draws = equipoise::testing::random::normals(2 * n, &mut random);
    let groups: Vec<u16> = (0..n).map(|i| (i % 2) as u16).collect();
    let group = |i: usize| f64::from(groups[i]);
    let truth: Vec<u8> = (0..n).map(|i| u8::from(draws[n + i] > 0.3 + 0.4 * group(i))).collect();
    let scores: Vec<f64> =
        (0..n).map(|i| draws[i] + (1.0 + 0.5 * group(i)) * f64::from(truth[i]) + 0.4 * group(i)).collect();
    let sample = Profile::from_rows(&scores, &truth, None, Some((&groups, 2))).unwrap();
    // The rates of every threshold of a group, by sorting its rows alone.
    let curve = |g: u16| {
        let mut rows: Vec<(f64, u8)> =
            (0..n).filter(|&i| groups[i] == g).map(|i| (scores[i], truth[i])).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total = |class: u8| rows.iter().filter(|row| row.1 == class).count() as f64;
        let (negatives, positives) = (total(0), total(1));
        let mut accepted = [0.0; 2];
        let mut rates = vec![[0.0, 1.0]];
        for row in &rows {
            accepted[usize::from(row.1)] += 1.0;
            rates.push([accepted[0] / negatives, 1.0 - accepted[1] / positives]);
        }
        rates
    };
    let (first, second) = (curve(0), curve(1));
    assert!(first.len() * second.len() > 1_000_000);
    for metric in metrics().into_iter().filter(|m| matches!(m.family(), Family::GroupFair(_))) {
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| [a[0], a[1], b[0], b[1]]));
        let least = pairs.map(|point| metric.value(&point)).fold(f64::INFINITY, f64::min);
        let best = sample.best_per_group(&metric, &[]).unwrap().found().unwrap();
        assert!(!best.exact && (best.value - least).abs() < 1e-12, "{} is not {least}", best.value);
    }
}

#[test]
fn requirements_that_cannot_be_met_are_explained() {
    let sample = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None).unwrap();
    let accuracy = Metric::accuracy(2).unwrap();
    let says = |texts: &[&str]| {
        let needed: Vec<Requirement> = texts.iter().map(|text| requirement(text)).collect();
        match sample.best(&accuracy, &needed).unwrap() {
            Optimum::Infeasible(why) => why.to_string(),
            Optimum::Found(best) => format!("{best:?}"),
        }
    };
    assert_eq!(
        says(&["recall:malignant>=0.9", "fpr:malignant<=0.1"]),
        "each of recall:malignant>=0.9, fpr:malignant<=0.1 can be met, but no threshold meets them together"
    );
    let shut = Profile::from_rows(&[0.5, 0.5], &[0, 1], None, None).unwrap();
    let needed = [requirement("precision:malignant>=0.6")];
    let Optimum::Infeasible(why) = shut.best(&accuracy, &needed).unwrap() else { panic!("feasible") };
    assert_eq!(
        why.to_string(),
        "no threshold meets precision:malignant>=0.6 (the best that can be reached is 0.5000)"
    );
    let group = [requirement("recall:malignant@M>=0.6")];
    let wrong = sample.best(&accuracy, &group).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "the group of requirement \"recall:malignant@M>=0.6\" is 1, expected a group of the table"
    );
}

#[test]
fn requirements_of_groups_can_be_met_by_thresholds_of_groups() {
    let sample =
        Profile::from_rows(&[0.9, 0.8, 0.3, 0.2], &[1, 0, 1, 0], None, Some((&[0, 0, 1, 1], 2))).unwrap();
    let needed = ["recall:malignant@F>=1", "recall:malignant@M>=1", "fpr:malignant<=0"].map(requirement);
    let accuracy = Metric::accuracy(2).unwrap();
    assert!(matches!(sample.best(&accuracy, &needed).unwrap(), Optimum::Infeasible(_)));
    let best = sample.best_per_group(&accuracy, &needed).unwrap().found().unwrap();
    assert_eq!((best.value, best.cuts[0].accepted, best.cuts[1].accepted), (1.0, 1, 1));
    let more = [requirement("precision:malignant@F>=1"), requirement("coverage:malignant@F>=0.9")];
    let Optimum::Infeasible(why) = sample.best_per_group(&accuracy, &more).unwrap() else {
        panic!("feasible")
    };
    assert!(why.to_string().contains("together"), "{why}");
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    let classes = ["benign", "malignant"].map(str::to_owned);
    let wrong = Requirement::parse(text, &classes, &["F", "M"].map(str::to_owned)).unwrap_err().to_string();
    assert_eq!(wrong, format!("requirement \"{text}\": {expected}"));
}

#[test]
fn wrong_requirements_get_one_clear_sentence() {
    refuses("recall:benign", "there is no >= or <=, expected something like recall:malignant>=0.9");
    refuses("recall:benign>=2", "the bound is \"2\", expected a number in [0, 1]");
    refuses("recall:benign>=high", "the bound is \"high\", expected a number in [0, 1]");
    refuses("recall>=0.5", "recall needs a class, as in recall:malignant");
    refuses(
        "recal:benign>=0.5",
        "\"recal\" is not a quantity, expected one of recall, precision, fpr, fnr, coverage, rate, accuracy, or gap: before \
         one of these",
    );
    refuses("gap:recall:malignant>=0.1", "a gap is bounded by <=");
    refuses("recall:benign@X>=0.5", "group is \"X\", expected one of F, M");
    refuses(
        "rate:benign>=0.5",
        "the rate is of \"benign\", expected truth->estimate with classes benign, malignant",
    );
    refuses("accuracy:benign>=0.5", "accuracy has no class, but \"benign\" follows it");
    refuses("accuracy@X>=0.5", "group is \"X\", expected one of F, M");
    let odd = ["a->b", "a", "b@F", "x>=0"].map(str::to_owned);
    let parse = |text: &str| Requirement::parse(text, &odd, &["F".to_owned()]).unwrap();
    assert_eq!(parse("rate: a->b -> b@F @F <= 0.25").group, Some(0));
    assert_eq!(parse("recall:x>=0>=0.5").bound, 0.5);
    assert_eq!(parse("accuracy@F>=0.5").group, Some(0));
    for text in ["", ">=", ":>=0", "@>=0", "rate:->>=0.1", "é≥0.5", "recall:@>=0.1", "rate:->@F<=1"] {
        assert!(Requirement::parse(text, &odd, &[]).is_err(), "{text}");
    }
}

#[test]
fn wrong_samples_get_one_clear_sentence() {
    let says = |made: equipoise::Result<Profile>| made.unwrap_err().to_string();
    let new = |scores: &[f64], truth: &[u8]| Profile::from_rows(scores, truth, None, None);
    assert_eq!(says(new(&[], &[])), "the number of scores is 0, expected at least 1");
    assert_eq!(says(new(&[0.5], &[0, 1])), "truth has 2 entries, expected 1");
    assert_eq!(says(new(&[f64::NAN, 0.5], &[0, 1])), "scores[0] is NaN, expected a finite number");
    assert_eq!(says(new(&[0.5, 0.5], &[0, 2])), "truth[1] is 2, expected class 0 or 1");
    assert_eq!(says(new(&[0.5, 0.5], &[0, 0])), "truth has no row of class 1, expected both classes");
    assert_eq!(
        says(Profile::from_rows(&[0.5, 0.6], &[0, 1], Some(&[0.0, 1.0]), None)),
        "the total weight of class 0 is 0, expected a finite number above 0"
    );
    assert_eq!(
        says(Profile::from_rows(&[0.5, 0.6], &[0, 1], None, Some((&[0, 3], 2)))),
        "groups[1] is 3, expected a code below 2"
    );
    let sample = || new(&[0.5, 0.6], &[0, 1]).unwrap();
    let three = Metric::accuracy(3).unwrap();
    let wrong = sample().best(&three, &[]).unwrap_err().to_string();
    assert_eq!(wrong, "the metric has 3 classes, expected 2 for a threshold");
    let wrong = bayes(&Metric::jaccard().unwrap(), 0.3, &[], 0.95).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "a Bayes threshold needs a linear metric of 2 classes, found a linear_fractional metric of 2 classes"
    );
}

#[test]
fn the_posterior_gives_the_bayes_threshold_its_interval() {
    let view = View::new(Measure::OffDiagonal, 2, 1).unwrap();
    let posterior = Posterior::new(vec![1.0, 4.0], vec![vec![0.0, 0.0], vec![0.0, 0.25]]).unwrap();
    let metric =
        Metric::linear(view, Sense::Cost, vec![1.0, 4.0]).unwrap().with_posterior(posterior).unwrap();
    let draws = metric.draws(20_000, &mut Xoshiro256PlusPlus::seed_from_u64(2));
    let found = bayes(&metric, 0.3, &draws, 0.95).unwrap();
    let interval = found.interval.unwrap();
    // The miss cost is normal around 4 with deviation 0.5; the threshold falls with it.
    assert!((interval.low - 1.0 / (1.0 + 4.0 + 1.96 * 0.5)).abs() < 2e-3, "{interval:?}");
    assert!((interval.high - 1.0 / (1.0 + 4.0 - 1.96 * 0.5)).abs() < 2e-3, "{interval:?}");
}

#[test]
fn intervals_of_the_measured_threshold_come_from_every_doubt() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    let n = 400;
    let draws = equipoise::testing::random::normals(n, &mut random);
    let truth: Vec<u8> = (0..n).map(|i| u8::from(i % 3 == 0)).collect();
    let scores: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + (-draws[i] - f64::from(truth[i])).exp())).collect();
    let sample = Profile::from_rows(&scores, &truth, None, None).unwrap();
    let metric = Metric::f_beta(1.0, sample.positive_prior()).unwrap();
    let doubt = Bootstrap { resamples: 60, seed: 3, ..Bootstrap::default() };
    let advice = sample.advise(&metric, &[], doubt).unwrap();
    let uncertain = advice.uncertain.unwrap();
    assert_eq!((uncertain.draws, uncertain.without), (60, 0));
    // By hand: each resampling as a weighted sample of its own, its rows numbered by falling score.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let by_hand = |draw: u64| {
        let mut weights = vec![0.0; n];
        let times = resampling(3, draw, 0);
        order.iter().enumerate().for_each(|(key, &row)| weights[row] = times(key as u64));
        let weighted = Profile::from_rows(&scores, &truth, Some(&weights), None).unwrap();
        weighted.best(&metric, &[]).unwrap().found().unwrap().cut.threshold
    };
    let thresholds: Vec<f64> = (0..60).map(by_hand).collect();
    assert_eq!(Some(uncertain.interval), equipoise::Spread::of(&thresholds, 0.95));
    assert_eq!(advice.guard.per_class, [266, 134]);
    assert!(advice.guard.undecided.unwrap() > 0 && advice.bayes.is_err());
}

#[test]
fn intervals_of_group_thresholds_lie_around_them() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let n = 300;
    let draws = equipoise::testing::random::normals(n, &mut random);
    let truth: Vec<u8> = (0..n).map(|i| u8::from(i % 5 < 2)).collect();
    let groups: Vec<u16> = (0..n).map(|i| (i % 2) as u16).collect();
    let scores: Vec<f64> =
        (0..n).map(|i| draws[i] + 2.0 * f64::from(truth[i]) + f64::from(groups[i])).collect();
    let sample = Profile::from_rows(&scores, &truth, None, Some((&groups, 2))).unwrap();
    let metric = Metric::accuracy(2).unwrap();
    let best = sample.best_per_group(&metric, &[]).unwrap().found().unwrap();
    let doubt = Bootstrap { resamples: 80, seed: 1, ..Bootstrap::default() };
    let found = sample.advise_per_group(&metric, &[], doubt).unwrap().uncertain.unwrap();
    for (uncertain, cut) in found.iter().zip(&best.cuts) {
        assert_eq!((uncertain.draws, uncertain.without), (80, 0));
        assert!(uncertain.interval.contains(cut.threshold), "{uncertain:?} {cut:?}");
    }
    assert_eq!(sample.advise_per_group(&metric, &[], Bootstrap::default()).unwrap().uncertain, None);
}

#[test]
fn draws_are_the_same_whoever_makes_them_when() {
    let n = 400;
    let score = |i: usize| ((i * 37) % n) as f64 / n as f64;
    let scores: Vec<f64> = (0..n).map(score).collect();
    let truth: Vec<u8> = (0..n).map(|i| u8::from(score(i) > ((i * 53) % 101) as f64 / 101.0)).collect();
    let groups: Vec<u16> = (0..n).map(|i| u16::from(i % 3 == 0)).collect();
    let sample = Profile::from_rows(&scores, &truth, None, Some((&groups, 2))).unwrap();
    let metric = Metric::from_cost_ratio(3.0).unwrap();
    let in_turn = Bootstrap { resamples: 40, seed: 2, ..Bootstrap::default() };
    // Two threads, each from the last of its draws to the first.
    let run: equipoise::decide::threshold::Run = |jobs, job| {
        std::thread::scope(|scope| {
            for odd in 0..2 {
                scope.spawn(move || (0..jobs).rev().filter(|n| n % 2 == odd).for_each(job));
            }
        });
    };
    let threads = Bootstrap { run, ..in_turn };
    assert_eq!(sample.advise(&metric, &[], threads), sample.advise(&metric, &[], in_turn));
    assert_eq!(
        sample.advise_per_group(&metric, &[], threads),
        sample.advise_per_group(&metric, &[], in_turn)
    );
}

/// Scores that are probabilities, or their squares: then theory cuts in the wrong place.
fn advised(rows: usize, power: i32) -> equipoise::decide::threshold::Advice {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let draws = equipoise::testing::random::normals(2 * rows, &mut random);
    let probability = |n: usize| 1.0 / (1.0 + (-2.0 * draws[n]).exp());
    // The share of the normal distribution below a draw is uniform.
    let uniform = |n: usize| 0.5 * (1.0 + libm::erf(draws[rows + n] / std::f64::consts::SQRT_2));
    let truth: Vec<u8> = (0..rows).map(|n| u8::from(uniform(n) < probability(n))).collect();
    let scores: Vec<f64> = (0..rows).map(|n| probability(n).powi(power)).collect();
    let sample = Profile::from_rows(&scores, &truth, None, None).unwrap();
    let doubt = Bootstrap { resamples: 100, seed: 1, ..Bootstrap::default() };
    sample.advise(&Metric::from_cost_ratio(3.0).unwrap(), &[], doubt).unwrap()
}

#[test]
fn the_measured_threshold_is_advised_only_where_it_is_clearly_better() {
    let advice = advised(4_000, 4);
    assert_eq!(advice.choice.unwrap().threshold, Chosen::Measured);
    assert!(advice.gain.unwrap().interval.low > 0.0);
    // Well calibrated scores: nothing to gain, whatever the rows say.
    let advice = advised(4_000, 1);
    assert_eq!(advice.choice.unwrap().threshold, Chosen::Bayes);
    assert!(advice.gain.unwrap().interval.low <= 0.0);
    // Too few rows, however bad the scores.
    let advice = advised(120, 4);
    assert_eq!(advice.choice.unwrap().threshold, Chosen::Bayes);
}

#[test]
fn resamplings_made_on_the_way_are_those_of_their_seed() {
    let rows = 500;
    let scores: Vec<f64> = (0..rows).map(|n| f64::from(n * 37 % 101) / 101.0).collect();
    let truth: Vec<u8> = (0..rows).map(|n| u8::from(n * 37 % 101 + n % 40 > 70)).collect();
    let sample = Profile::from_rows(&scores, &truth, None, None).unwrap();
    let metric = Metric::accuracy(2).unwrap();
    let found = |draws, seed| {
        let doubt = Bootstrap { resamples: draws, seed, ..Bootstrap::default() };
        sample.advise(&metric, &[], doubt).unwrap().uncertain
    };
    assert_eq!(found(50, 4), found(50, 4));
    assert_ne!(found(50, 4), found(50, 5));
    assert_eq!(found(0, 4), None);
    assert_eq!(found(50, 4).unwrap().draws, 50);
}

#[test]
fn advice_says_which_requirements_theory_misses() {
    let sample = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None).unwrap();
    let accuracy = Metric::accuracy(2).unwrap();
    let needed = [requirement("recall:malignant>=1"), requirement("recall:benign>=0.5")];
    let advice = sample.advise(&accuracy, &needed, Bootstrap::default()).unwrap();
    assert_eq!(advice.bayes_misses, ["recall:malignant>=1"]);
    let json = serde_json::to_value(&advice).unwrap();
    assert_eq!(json["bayes"]["threshold"], 0.5);
    assert_eq!(json["best"]["outcome"], "found");
    assert_eq!(json["best"]["confusions"], serde_json::json!([[[0.25, 0.25], [0.0, 0.5]]]));
    let jaccard = sample.advise(&Metric::jaccard().unwrap(), &[], Bootstrap::default()).unwrap();
    let json = serde_json::to_value(&jaccard).unwrap();
    assert!(json["bayes"]["reason"].as_str().unwrap().starts_with("a Bayes threshold needs"));
}

#[test]
fn rules_are_told_in_words() {
    let names = ["benign", "malignant"].map(str::to_owned);
    let text = |weights: Vec<f64>| {
        let view = View::new(Measure::Binary, 2, 1).unwrap();
        let metric = Metric::linear(view, Sense::Utility, weights).unwrap();
        decision_text(&rewards(&metric, &[0.5, 0.5]).unwrap(), &names).unwrap()
    };
    assert_eq!(text(vec![1.0, 1.0]), "Predict malignant where p(malignant) > 0.5000, otherwise benign.");
    assert_eq!(text(vec![1.0, -0.5]), "Always predict malignant.");
    assert_eq!(text(vec![-0.5, 1.0]), "Always predict benign.");
    assert_eq!(text(vec![-1.0, -3.0]), "Predict malignant where p(malignant) < 0.7500, otherwise benign.");
    let view = View::new(Measure::OffDiagonal, 3, 1).unwrap();
    let metric = Metric::linear(view, Sense::Cost, vec![1.0, 2.0, 3.0, 0.0, 0.125, 6.0]).unwrap();
    let rule = rewards(&metric, &[0.2, 0.3, 0.5]).unwrap();
    assert_eq!(
        decision_text(&rule, &["a", "b", "c"].map(str::to_owned)).unwrap(),
        "Predict the class with the largest sum:\n  a: -3 p(b) - 0.125 p(c)\n  b: -1 p(a) - 6 p(c)\n  c: -2 p(a)"
    );
}
