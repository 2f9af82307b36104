//! Rankings against referees that count by hand.

use equipoise::decide::agreement::{TOP_GRADE, kendall_tau, ndcg};
use equipoise::decide::nearest;
use equipoise::decide::rank::{Candidate, LEVEL, Ranking, rank, score};
use equipoise::metric::Named;
use equipoise::metric::Posterior;
use equipoise::population::{Logistic, Softmax};
use equipoise::{GroupConfusions, Measure, Metric, Sense, View};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Two-class matrices of `groups` groups.
fn matrix(groups: usize) -> impl Strategy<Value = GroupConfusions> {
    proptest::collection::vec(1_u32..60, groups * 4).prop_map(|counts| {
        let total: u32 = counts.iter().sum();
        let share = |c: &[u32]| c.iter().map(|&n| f64::from(n) / f64::from(total)).collect();
        GroupConfusions::new(2, counts.chunks(4).map(share).collect()).unwrap()
    })
}

fn models(most: usize) -> impl Strategy<Value = Vec<Candidate>> {
    (1..=most, 0_usize..12).prop_flat_map(|(count, draws)| {
        let model = (matrix(1), proptest::collection::vec(matrix(1), draws));
        proptest::collection::vec(model, count).prop_map(|models| {
            let made = models.into_iter().enumerate();
            made.map(|(n, (point, draws))| Candidate::new(format!("m{n}"), point).with_draws(draws)).collect()
        })
    })
}

fn metric() -> impl Strategy<Value = Metric> {
    let weights = (0.1..5.0_f64, 0.1..5.0_f64, prop_oneof![Just(0_usize), Just(1), Just(2)]);
    weights.prop_map(|(a, b, kind)| {
        let view = |measure| View::new(measure, 2, 1).unwrap();
        let metric = match kind {
            0 => Metric::linear(view(Measure::OffDiagonal), Sense::Cost, vec![a, b]).unwrap(),
            1 => Metric::linear(view(Measure::DiagonalRates), Sense::Utility, vec![a, b]).unwrap(),
            _ => return Metric::f_beta(a, 0.3).unwrap(),
        };
        let posterior = Posterior::new(vec![a, b], vec![vec![0.2, 0.0], vec![0.0, 0.3]]).unwrap();
        metric.with_posterior(posterior.with_known_signs()).unwrap()
    })
}

/// Everything by definition, one question at a time.
fn referee(
    models: &[Candidate],
    draws: &[Vec<GroupConfusions>],
    metric: &Metric,
    wanted: &[Metric],
    found: &Ranking,
) {
    let count = draws[0].len().max(wanted.len()).max(1);
    let liking = |i: usize, n: usize| {
        let metric = if wanted.is_empty() { metric } else { &wanted[n % wanted.len()] };
        let matrix = if draws[i].is_empty() { models[i].confusions() } else { &draws[i][n % draws[i].len()] };
        metric.sense().sign() * metric.of(matrix).unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    let average = |of: &dyn Fn(usize) -> f64| (0..count).map(of).sum::<f64>() / count as f64;
    let everybody = 0..models.len();
    for (place, standing) in found.standings.iter().enumerate() {
        let i = standing.index;
        assert_eq!(standing.name, models[i].name());
        near(standing.score.value, metric.of(models[i].confusions()).unwrap());
        near(standing.score.expected, metric.sense().sign() * average(&|n| liking(i, n)));
        let top = |n: usize| everybody.clone().map(|j| liking(j, n)).fold(f64::NEG_INFINITY, f64::max);
        near(standing.expected_regret, average(&|n| top(n) - liking(i, n)));
        near(
            standing.probability_best,
            average(&|n| {
                let tied = everybody.clone().filter(|&j| liking(j, n) == top(n)).count();
                if liking(i, n) == top(n) { 1.0 / tied as f64 } else { 0.0 }
            }),
        );
        near(
            standing.expected_rank,
            average(&|n| {
                let ahead = everybody.clone().filter(|&j| liking(j, n) > liking(i, n)).count();
                let equal = everybody.clone().filter(|&j| liking(j, n) == liking(i, n)).count();
                1.0 + ahead as f64 + (equal as f64 - 1.0) / 2.0
            }),
        );
        for (other, against) in found.standings.iter().enumerate() {
            let j = against.index;
            let wins = average(&|n| match liking(i, n).partial_cmp(&liking(j, n)).unwrap() {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            });
            near(found.better[place][other], wins);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn rankings_count_what_the_definitions_say(models in models(6), metric in metric(), wanted in 0_usize..15) {
        let wanted = metric.draws(wanted, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        let found = rank(&models, &metric, &wanted, LEVEL).unwrap();
        let draws: Vec<_> = models.iter().map(|model| model.draws().to_vec()).collect();
        referee(&models, &draws, &metric, &wanted, &found);
        let sign = metric.sense().sign();
        let utilities: Vec<f64> = found.standings.iter().map(|s| sign * s.score.expected).collect();
        prop_assert!(utilities.windows(2).all(|pair| pair[0] >= pair[1]));
        let sum = |of: &dyn Fn(usize) -> f64| (0..models.len()).map(of).sum::<f64>();
        prop_assert!((sum(&|i| found.standings[i].probability_best) - 1.0).abs() < 1e-12);
        let places = models.len() as f64 * (models.len() as f64 + 1.0) / 2.0;
        prop_assert!((sum(&|i| found.standings[i].expected_rank) - places).abs() < 1e-9);
    }

    #[test]
    fn scores_are_those_of_the_ranking(models in models(3), metric in metric(), wanted in 0_usize..9) {
        let wanted = metric.draws(wanted, &mut Xoshiro256PlusPlus::seed_from_u64(4));
        let found = rank(&models, &metric, &wanted, 0.8).unwrap();
        for standing in &found.standings {
            let alone = score(&models[standing.index], &metric, &wanted, 0.8).unwrap();
            prop_assert_eq!(&alone, &standing.score);
            let sources = [alone.sampling.is_some(), alone.metric.is_some()];
            prop_assert_eq!(alone.interval.is_some(), sources.contains(&true));
            if let (Some(both), Some(sampling), None) = (alone.interval, alone.sampling, alone.metric) {
                prop_assert_eq!(both, sampling);
            }
        }
    }

    #[test]
    fn kendall_counts_pairs(
        pairs in proptest::collection::vec((0_u8..12, 0_u8..12), 2..80),
        scale in 1_u8..12,
    ) {
        let first: Vec<f64> = pairs.iter().map(|p| f64::from(p.0 % scale)).collect();
        let second: Vec<f64> = pairs.iter().map(|p| f64::from(p.1)).collect();
        let (mut alike, mut opposite, mut first_tied, mut second_tied) = (0.0, 0.0, 0.0, 0.0);
        let mut all = 0.0;
        for i in 0..first.len() {
            for j in 0..i {
                let (a, b) = (first[i] - first[j], second[i] - second[j]);
                all += 1.0;
                first_tied += f64::from(a == 0.0);
                second_tied += f64::from(b == 0.0);
                alike += f64::from(a * b > 0.0);
                opposite += f64::from(a * b < 0.0);
            }
        }
        let below = f64::sqrt((all - first_tied) * (all - second_tied));
        let found = kendall_tau(&first, &second).unwrap();
        if below == 0.0 {
            prop_assert_eq!(found, None);
        } else {
            prop_assert!((found.unwrap() - (alike - opposite) / below).abs() < 1e-12);
        }
    }

    #[test]
    fn ndcg_sums_discounted_gains(truth in proptest::collection::vec(-3.0..3.0_f64, 2..30), seed in 0_u64..1000) {
        let found = equipoise::testing::random::normals(truth.len(), &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let (low, high) = truth.iter().fold((f64::MAX, f64::MIN), |(l, h), &t| (t.min(l), t.max(h)));
        let dcg = |scores: &[f64]| -> f64 {
            (0..truth.len()).map(|i| {
                let place = 1 + scores.iter().filter(|&&s| s > scores[i]).count();
                let gain = 2_f64.powf(TOP_GRADE * (truth[i] - low) / (high - low)) - 1.0;
                gain / (1.0 + place as f64).log2()
            }).sum()
        };
        let value = ndcg(&truth, &found).unwrap();
        prop_assert!((value - dcg(&found) / dcg(&truth)).abs() < 1e-12);
        prop_assert!(value <= 1.0 + 1e-12);
        let stretched: Vec<f64> = truth.iter().map(|t| 7.0 * t - 2.0).collect();
        prop_assert!((ndcg(&truth, &stretched).unwrap() - 1.0).abs() < 1e-12);
        prop_assert!((ndcg(&stretched, &found).unwrap() - value).abs() < 1e-9);
    }
}

#[test]
fn ties_in_a_ranking_share_the_gain_of_their_places() {
    let orders = [[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]];
    let truth = [1.0, 0.5, 0.0];
    let mean = orders.iter().map(|order| ndcg(&truth, order).unwrap()).sum::<f64>() / 2.0;
    assert!((ndcg(&truth, &[1.0, 1.0, 0.0]).unwrap() - mean).abs() < 1e-12);
    assert_eq!(ndcg(&[2.0, 2.0], &[1.0, 3.0]), Ok(1.0));
}

#[test]
fn wrong_rankings_are_refused_in_a_sentence() {
    let says = |wrong: equipoise::Error| wrong.to_string();
    let short = says(kendall_tau(&[1.0], &[1.0]).unwrap_err());
    assert_eq!(short, "the number of entries to rank is 1, expected at least 2");
    let uneven = says(ndcg(&[1.0, 2.0], &[1.0, 2.0, 3.0]).unwrap_err());
    assert_eq!(uneven, "the rankings have 2 and 3 entries, expected as many in each");
    let nan = says(kendall_tau(&[1.0, f64::NAN], &[1.0, 2.0]).unwrap_err());
    assert_eq!(nan, "the first ranking[1] is NaN, expected a finite number");
}

fn candidate(name: &str, correct: &[f64]) -> Candidate {
    let matrix =
        |right: f64| GroupConfusions::new(2, vec![vec![right, 1.0 - right - 0.1, 0.0, 0.1]]).unwrap();
    Candidate::new(name, matrix(correct[0])).with_draws(correct.iter().map(|&c| matrix(c)).collect())
}

#[test]
fn a_leader_that_may_not_be_best_is_called_not_separable() {
    let accuracy = Metric::accuracy(2).unwrap();
    let models = [
        candidate("c", &[0.1, 0.1, 0.1, 0.1]),
        candidate("b", &[0.6, 0.4, 0.7, 0.4]),
        candidate("a", &[0.7, 0.5, 0.6, 0.5]),
    ];
    let found = rank(&models, &accuracy, &[], LEVEL).unwrap();
    assert_eq!(found.standings[0].name, "a");
    assert_eq!(found.not_separable, ["b"]);
    assert_eq!(found.better[0], [0.5, 0.75, 1.0]);
    assert_eq!(
        found.statement(),
        "Not separable at 95 %: a leads and is best with probability 0.75, but the best may be b."
    );
    assert!(rank(&models, &accuracy, &[], 0.7).unwrap().is_separable());
    assert_eq!(found.utilities(Sense::Utility).len(), 3);
}

#[test]
fn wrong_models_are_named() {
    let accuracy = Metric::accuracy(2).unwrap();
    let says = |models: &[Candidate], level| rank(models, &accuracy, &[], level).unwrap_err().to_string();
    assert_eq!(says(&[], 0.9), "the number of models is 0, expected at least 1");
    let models = [candidate("a", &[0.5]), candidate("b", &[0.5, 0.6])];
    assert_eq!(says(&models, 0.9), "draws of model b has 2 entries, expected 1");
    assert_eq!(says(&models[..1], 1.0), "level is 1, expected a number strictly between 0 and 1");
    let one = Candidate::new("empty", GroupConfusions::new(2, vec![vec![0.4, 0.6, 0.0, 0.0]]).unwrap());
    let balanced = Metric::balanced_accuracy(2).unwrap();
    let wrong = rank(&[one], &balanced, &[], 0.9).unwrap_err().to_string();
    assert_eq!(wrong, "model empty: class 1 never occurs, so it has no rates");
}

#[test]
fn the_nearest_name_of_a_named_metric_is_its_own() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let law = Logistic::with_offset(6.0, 1.5).unwrap();
    let prior = equipoise::population::Confusions::prevalence(&law).class_priors()[1];
    let pool = nearest::achievable(&law, 120, &mut random).unwrap();
    let cases = [
        (Metric::f_beta(2.0, prior).unwrap(), Named::FBeta { beta: 2.0 }),
        (Metric::f_beta(0.5, prior).unwrap(), Named::FBeta { beta: 0.5 }),
        (Metric::accuracy(2).unwrap(), Named::Accuracy),
        (Metric::balanced_accuracy(2).unwrap(), Named::BalancedAccuracy),
        (Metric::g_mean(2).unwrap(), Named::GMean),
        (Metric::jaccard().unwrap(), Named::Jaccard),
        (Metric::weighted_accuracy(vec![4.0, 1.0]).unwrap(), Named::CostRatio { ratio: 0.25 }),
    ];
    for (metric, expected) in cases {
        let found = nearest::nearest(&metric, &pool).unwrap();
        let own = found
            .iter()
            .find(|a| std::mem::discriminant(&a.named) == std::mem::discriminant(&expected))
            .unwrap();
        assert!(own.kendall > 0.99 && own.kendall >= found[0].kendall - 1e-2, "{expected:?} {found:?}");
        match (own.named, expected) {
            (Named::FBeta { beta: a }, Named::FBeta { beta: b })
            | (Named::CostRatio { ratio: a }, Named::CostRatio { ratio: b }) => {
                assert!((a / b - 1.0).abs() < 0.1)
            }
            (own, expected) => assert_eq!(own, expected),
        }
        assert!(found.windows(2).all(|pair| pair[0].kendall >= pair[1].kendall));
    }
}

#[test]
fn ratios_below_one_are_told_the_other_way_round() {
    assert_eq!(Named::CostRatio { ratio: 0.25 }.words(None), "a 1:4 cost");
    assert_eq!(Named::CostRatio { ratio: 7.0 }.words(None), "a 7:1 cost");
    assert_eq!(
        Named::ClassWeight { class: 2, weight: 0.5 }.words(None),
        "accuracy with class 2 counted 0.5 times"
    );
}

#[test]
fn with_many_classes_the_heavy_class_is_named() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let pool = nearest::achievable(&Softmax::new(vec![1.0, 3.0, 5.0]).unwrap(), 80, &mut random).unwrap();
    let metric = Metric::weighted_accuracy(vec![1.0, 1.0, 5.0]).unwrap();
    let metric = metric.with_class_names(["a", "b", "c"].map(str::to_owned).to_vec()).unwrap();
    let found = nearest::nearest(&metric, &pool).unwrap();
    assert_eq!(found[0].words, "accuracy with c counted 5 times");
    // Where everything agrees, no name says anything.
    let same: Vec<_> = found.iter().map(|one| nearest::Agreement { kendall: 1.0, ..one.clone() }).collect();
    assert!(nearest::sentence(&same).contains("too few or too alike"), "{}", nearest::sentence(&same));
    let said = nearest::sentence(&found);
    assert!(said.starts_with("The metric orders classifiers most like accuracy with c counted 5 times (Kendall tau 1.000), then "), "{said}");
    let flat = vec![pool[0].clone(), pool[0].clone()];
    assert_eq!(
        nearest::nearest(&metric, &flat).unwrap_err().to_string(),
        "the metric gives every classifier the same value, expected at least two values"
    );
}
