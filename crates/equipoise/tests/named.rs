//! Every metric with a name against its textbook formula, written out from counts.

use equipoise::metric::Named;
use equipoise::{GroupConfusions, Metric, Sense};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Counts by group, true class and predicted class.
type Counts = Vec<Vec<Vec<f64>>>;

fn counts(groups: usize, classes: usize, seed: u64) -> Counts {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cell = || f64::from(random.random_range(20_u32..200));
    (0..groups).map(|_| (0..classes).map(|_| (0..classes).map(|_| cell()).collect()).collect()).collect()
}

fn confusions(counts: &Counts) -> GroupConfusions {
    let total: f64 = counts.iter().flatten().flatten().sum();
    let matrix = |group: &Vec<Vec<f64>>| group.concat().iter().map(|count| count / total).collect();
    GroupConfusions::new(counts[0].len(), counts.iter().map(matrix).collect()).unwrap()
}

/// All groups together.
fn pooled(counts: &Counts) -> Vec<Vec<f64>> {
    let k = counts[0].len();
    let cell = |i: usize, j: usize| counts.iter().map(|group| group[i][j]).sum();
    (0..k).map(|i| (0..k).map(|j| cell(i, j)).collect()).collect()
}

fn recalls(matrix: &[Vec<f64>]) -> Vec<f64> {
    matrix.iter().enumerate().map(|(i, row)| row[i] / row.iter().sum::<f64>()).collect()
}

fn geometric(recalls: &[f64]) -> f64 {
    recalls.iter().product::<f64>().powf(1.0 / recalls.len() as f64)
}

/// The largest sum over pairs of groups, or the sum over all pairs, of a difference.
fn over_pairs(counts: &Counts, gap: impl Fn(&[Vec<f64>], &[Vec<f64>]) -> f64) -> Vec<f64> {
    let pairs = (0..counts.len()).flat_map(|u| (u + 1..counts.len()).map(move |v| (u, v)));
    pairs.map(|(u, v)| gap(&counts[u], &counts[v])).collect()
}

fn rate(matrix: &[Vec<f64>], i: usize, j: usize) -> f64 {
    matrix[i][j] / matrix[i].iter().sum::<f64>()
}

/// The formula of a word, from counts.
fn textbook(word: &str, counts: &Counts) -> f64 {
    let c = pooled(counts);
    let k = c.len();
    let total: f64 = c.iter().flatten().sum();
    let f = |beta: f64| {
        let b2 = beta * beta;
        (1.0 + b2) * c[1][1] / ((1.0 + b2) * c[1][1] + b2 * c[1][0] + c[0][1])
    };
    let pairs_of_errors: Vec<(usize, usize)> =
        (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).filter(|(i, j)| i != j).collect();
    let gap = |u: &[Vec<f64>], v: &[Vec<f64>], (i, j): (usize, usize)| (rate(u, i, j) - rate(v, i, j)).abs();
    match word {
        "accuracy" => (0..k).map(|i| c[i][i]).sum::<f64>() / total,
        "balanced_accuracy" => recalls(&c).iter().sum::<f64>() / k as f64,
        "error_rate" => 1.0 - (0..k).map(|i| c[i][i]).sum::<f64>() / total,
        "balanced_error" => 1.0 - recalls(&c).iter().sum::<f64>() / k as f64,
        "kappa" | "mcc" => {
            let row = |i: usize| c[i].iter().sum::<f64>() / total;
            let column = |j: usize| c.iter().map(|row| row[j]).sum::<f64>() / total;
            let right = (0..k).map(|i| c[i][i]).sum::<f64>() / total;
            let chance: f64 = (0..k).map(|i| row(i) * column(i)).sum();
            let spread = |of: &dyn Fn(usize) -> f64| 1.0 - (0..k).map(|i| of(i).powi(2)).sum::<f64>();
            match word {
                "kappa" => (right - chance) / (1.0 - chance),
                _ => (right - chance) / (spread(&row) * spread(&column)).sqrt(),
            }
        }
        "f1" => f(1.0),
        "f0.5" => f(0.5),
        "f3" => f(3.0),
        "jaccard" => c[1][1] / (c[1][1] + c[1][0] + c[0][1]),
        "macro_f" => {
            let of = |i: usize| {
                let (precision, recall) = (c[i][i] / c.iter().map(|row| row[i]).sum::<f64>(), recalls(&c)[i]);
                2.0 * precision * recall / (precision + recall)
            };
            (0..k).map(of).sum::<f64>() / k as f64
        }
        "g_mean" => geometric(&recalls(&c)),
        "group_g_mean" => geometric(&counts.iter().flat_map(|group| recalls(group)).collect::<Vec<_>>()),
        "q_mean" => recalls(&c).iter().map(|recall| (1.0 - recall).powi(2)).sum::<f64>() / k as f64,
        "7:1" => (7.0 * c[1][1] + c[0][0]) / total,
        "1:4" => (0.25 * c[1][1] + c[0][0]) / total,
        "equal_opportunity" => over_pairs(counts, |u, v| gap(u, v, (1, 0))).iter().sum(),
        "equalised_odds" => {
            over_pairs(counts, |u, v| pairs_of_errors.iter().map(|&cell| gap(u, v, cell)).sum()).iter().sum()
        }
        "error_rate_balance" => {
            over_pairs(counts, |u, v| 0.5 * gap(u, v, (0, 1)) + 0.5 * gap(u, v, (1, 0))).iter().sum()
        }
        "demographic_parity" => {
            let share = |group: &[Vec<f64>]| {
                group.iter().map(|row| row[1]).sum::<f64>() / group.iter().flatten().sum::<f64>()
            };
            over_pairs(counts, |u, v| (share(u) - share(v)).abs()).into_iter().fold(0.0, f64::max)
        }
        _ => panic!("{word} has no formula here"),
    }
}

const ANY: [&str; 9] = [
    "accuracy",
    "error_rate",
    "balanced_accuracy",
    "balanced_error",
    "macro_f",
    "kappa",
    "mcc",
    "g_mean",
    "q_mean",
];
const OF_TWO: [&str; 6] = ["f1", "f0.5", "f3", "jaccard", "7:1", "1:4"];
const OF_GROUPS: [&str; 3] = ["group_g_mean", "equalised_odds", "demographic_parity"];
const OF_TWO_AND_GROUPS: [&str; 2] = ["equal_opportunity", "error_rate_balance"];
const COSTS: [&str; 7] = [
    "error_rate",
    "balanced_error",
    "q_mean",
    "equal_opportunity",
    "equalised_odds",
    "error_rate_balance",
    "demographic_parity",
];

/// The words that mean something for data of this shape.
fn words(groups: usize, classes: usize) -> Vec<&'static str> {
    let mut words = ANY.to_vec();
    words.extend(OF_TWO.iter().filter(|_| classes == 2));
    words.extend(OF_GROUPS.iter().filter(|_| groups > 1));
    words.extend(OF_TWO_AND_GROUPS.iter().filter(|_| classes == 2 && groups > 1));
    words
}

fn metric(word: &str, confusions: &GroupConfusions) -> Metric {
    Named::parse(word).unwrap().metric(&confusions.prevalence()).unwrap()
}

/// Every shape of data, many draws of each.
fn on_all(check: impl Fn(&str, &Counts, &GroupConfusions)) {
    for (groups, classes) in [(1, 2), (1, 3), (2, 2), (3, 2), (3, 4)] {
        for seed in 0..20 {
            let counts = counts(groups, classes, seed);
            words(groups, classes).iter().for_each(|word| check(word, &counts, &confusions(&counts)));
        }
    }
}

#[test]
fn every_name_is_its_formula() {
    on_all(|word, counts, confusions| {
        let (found, expected) = (metric(word, confusions).of(confusions).unwrap(), textbook(word, counts));
        assert!((found - expected).abs() < 1e-12, "{word}: {found} is not {expected}");
    });
}

#[test]
fn every_name_goes_in_its_direction() {
    on_all(|word, _, confusions| {
        let expected = if COSTS.contains(&word) { Sense::Cost } else { Sense::Utility };
        assert_eq!(metric(word, confusions).sense(), expected, "{word}");
    });
}

/// Predictions move from one class to another within a true class of a group: the value moves along the gradient.
#[test]
fn every_name_moves_as_its_gradient_says() {
    let step = 1e-7;
    on_all(|word, counts, at| {
        let (metric, k) = (metric(word, at), at.classes());
        let gradient = metric.gradient(&metric.view().of(at).unwrap());
        let moved = |g: usize, i: usize, j: usize, by: f64| {
            let total: f64 = counts.iter().flatten().flatten().sum();
            let mut counts = counts.clone();
            counts[g][i][j] += by * total;
            counts[g][i][(j + 1) % k] -= by * total;
            confusions(&counts)
        };
        for (g, i, j) in (0..at.groups()).flat_map(|g| (0..k * k).map(move |n| (g, n / k, n % k))) {
            let [up, down] = [step, -step].map(|by| moved(g, i, j, by));
            let slope = (metric.of(&up).unwrap() - metric.of(&down).unwrap()) / (2.0 * step);
            let [ahead, behind] = [&up, &down].map(|it| metric.view().of(it).unwrap());
            let along: f64 =
                (0..gradient.len()).map(|n| gradient[n] * (ahead[n] - behind[n]) / (2.0 * step)).sum();
            assert!((slope - along).abs() < 1e-6 * slope.abs().max(1.0), "{word}: {slope} is not {along}");
        }
    });
}

#[test]
fn every_name_reads_back_as_a_document() {
    on_all(|word, _, confusions| {
        let metric = metric(word, confusions);
        assert_eq!(Metric::from_json(&metric.to_json()).unwrap(), metric, "{word}");
    });
}
