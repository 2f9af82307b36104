//! Every plan there is, and hidden metrics to run them against.
#![allow(dead_code, reason = "each test binary uses a part")]

use equipoise::elicit::AnyPlan;
use equipoise::metric::{
    Fair, Family, LinearFractional, Pair, Polynomial, Quadratic, Squared, Weights, pairs,
};
use equipoise::{GroupShares, Metric, Sense, View};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const LOGISTIC: &str = r#"{"kind":"logistic","slope":5,"offset":0.4}"#;
const SOFTMAX: &str = r#"{"kind":"softmax","slopes":[1,3,6]}"#;
const BALL: &str = r#"{"kind":"sphere","measure":"off_diagonal_rates","classes":2,"radius":0.2}"#;
const BALL3: &str = r#"{"kind":"sphere","measure":"off_diagonal_rates","classes":3,"radius":0.2}"#;
const GROUPS: &str = r#"{"kind":"group_sphere","classes":2,"radius":0.2,"prevalence":[[0.3,0.6],[0.7,0.4]]}"#;
const GROUPS3: &str =
    r#"{"kind":"group_sphere","classes":2,"radius":0.2,"prevalence":[[0.3,0.6],[0.5,0.2],[0.2,0.2]]}"#;
const WEIGHTS: &str = r#""performance":[0.6,0.8],"fairness":[{"groups":[0,1],"weights":[0.9,0.3]}]"#;
const MATRICES: &str =
    r#""performance":[0.6,0.8],"fairness":[{"groups":[0,1],"matrix":[[0.9,0.3],[0.3,1.5]]}]"#;

/// A plan of every kind and method, with the given tolerance.
pub fn all_plans(tolerance: f64) -> Vec<AnyPlan> {
    let settings = [
        (LOGISTIC, r#""kind":"linear""#.to_owned()),
        (LOGISTIC, r#""kind":"linear","queries_per_halving":3,"parameter":"weight""#.to_owned()),
        (LOGISTIC, r#""kind":"linear","direction":"unknown""#.to_owned()),
        (LOGISTIC, r#""kind":"linear","direction":"decreasing","method":"antipodal""#.to_owned()),
        (LOGISTIC, r#""kind":"linear_fractional""#.to_owned()),
        (LOGISTIC, r#""kind":"linear_fractional","method":"paper""#.to_owned()),
        (
            LOGISTIC,
            r#""kind":"linear_fractional","solve":"known_ratio","true_positive_share":0.7"#.to_owned(),
        ),
        (SOFTMAX, r#""kind":"diagonal_linear""#.to_owned()),
        (SOFTMAX, r#""kind":"diagonal_linear","queries_per_halving":3"#.to_owned()),
        (SOFTMAX, r#""kind":"diagonal_linear_fractional""#.to_owned()),
        (SOFTMAX, r#""kind":"diagonal_monotone","cycles":2"#.to_owned()),
        (BALL, r#""kind":"linear""#.to_owned()),
        (BALL3, r#""kind":"linear","cycles":1,"order":"backward","signs":"unknown""#.to_owned()),
        (BALL3, r#""kind":"linear","method":"antipodal""#.to_owned()),
        (BALL3, r#""kind":"linear","method":"antipodal","signs":"unknown""#.to_owned()),
        (BALL, r#""kind":"linear_fractional""#.to_owned()),
        (BALL3, r#""kind":"linear_fractional","method":"antipodal""#.to_owned()),
        (GROUPS, r#""kind":"group_fair","cycles":1"#.to_owned()),
        (GROUPS3, r#""kind":"group_fair","method":"antipodal","trade_off":"search""#.to_owned()),
        (GROUPS, r#""kind":"group_fair","cycles":1,"equations":"two_coordinates""#.to_owned()),
        (GROUPS, format!(r#""kind":"trade_off",{WEIGHTS}"#)),
        (GROUPS, format!(r#""kind":"trade_off","method":"antipodal",{WEIGHTS}"#)),
        (BALL, r#""kind":"quadratic","cycles":1"#.to_owned()),
        (BALL3, r#""kind":"quadratic","method":"antipodal","inner_radius":0.05"#.to_owned()),
        (BALL, r#""kind":"quadratic","cycles":1,"reconstruction":"formula""#.to_owned()),
        (GROUPS, r#""kind":"group_fair_quadratic","cycles":1"#.to_owned()),
        (GROUPS3, r#""kind":"group_fair_quadratic","method":"antipodal""#.to_owned()),
        (GROUPS, format!(r#""kind":"quadratic_trade_off",{MATRICES}"#)),
        (GROUPS, format!(r#""kind":"quadratic_trade_off","method":"antipodal",{MATRICES}"#)),
        (BALL, r#""kind":"polynomial","degree":3"#.to_owned()),
        (BALL3, r#""kind":"polynomial","degree":2,"seed":5"#.to_owned()),
        (BALL, r#""kind":"polynomial","degree":2,"method":"paper","cycles":1"#.to_owned()),
    ];
    let read = |(space, plan): &(&str, String)| {
        let text = format!(r#"{{{plan},"tolerance":{tolerance},"space":{space}}}"#);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    settings.iter().map(read).collect()
}

/// Standard normal entries.
pub fn normals(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(random)).collect()
}

/// Sizes of standard normal entries.
pub fn sizes(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    normals(count, random).iter().map(|x| x.abs()).collect()
}

/// A symmetric matrix with normal entries.
pub fn symmetric(size: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
    let raw: Vec<Vec<f64>> = (0..size).map(|_| normals(size, random)).collect();
    (0..size).map(|i| (0..size).map(|j| 0.5 * (raw[i][j] + raw[j][i])).collect()).collect()
}

/// A positive semidefinite matrix.
pub fn semidefinite(size: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
    let raw: Vec<Vec<f64>> = (0..size).map(|_| normals(size, random)).collect();
    let entry = |i: usize, j: usize| (0..size).map(|n| raw[i][n] * raw[j][n]).sum();
    (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
}

/// A random metric of the family this plan elicits, over its coordinates.
pub fn random_metric(plan: &AnyPlan, random: &mut Xoshiro256PlusPlus) -> Metric {
    let view = plan.view();
    let d = view.dimension();
    let sense = if view.measure().lists_errors() { Sense::Cost } else { Sense::Utility };
    let family = match plan.kind() {
        "linear_fractional" | "diagonal_linear_fractional" => {
            let denominator = normals(d, random).iter().map(|b| 0.1 * b).collect();
            Family::LinearFractional(LinearFractional::new(sizes(d, random), denominator, 1.0).unwrap())
        }
        "quadratic" => Family::Quadratic(Quadratic::new(normals(d, random), symmetric(d, random)).unwrap()),
        "polynomial" => return random_polynomial(view, if d == 2 { 3 } else { 2 }, random),
        "group_fair" | "trade_off" => return random_fair(view, 0.5, random),
        "group_fair_quadratic" | "quadratic_trade_off" => return random_fair_quadratic(view, 0.5, random),
        _ => return Metric::linear(view, sense, sizes(d, random)).unwrap(),
    };
    Metric::new(view, sense, family).unwrap()
}

/// Random shares for a view's classes and groups, none smaller than a tenth of an equal share.
pub fn random_shares(classes: usize, groups: usize, random: &mut Xoshiro256PlusPlus) -> GroupShares {
    let raw: Vec<Vec<f64>> =
        (0..groups).map(|_| (0..classes).map(|_| random.random_range(0.1..1.0)).collect()).collect();
    let total = |i: usize| raw.iter().map(|row| row[i]).sum::<f64>();
    let rows = raw.iter().map(|row| row.iter().enumerate().map(|(i, x)| x / total(i)).collect()).collect();
    GroupShares::new(rows).unwrap()
}

/// A random group-fair metric.
pub fn random_fair(view: View, trade_off: f64, random: &mut Xoshiro256PlusPlus) -> Metric {
    let (k, m) = (view.classes(), view.groups());
    let q = k * k - k;
    let mut fairness = vec![];
    for groups in pairs(m) {
        fairness.push(Pair { groups, violation: Weights { weights: sizes(q, random) } });
    }
    let fair = Fair::new(sizes(q, random), fairness, trade_off, random_shares(k, m, random)).unwrap();
    Metric::new(view, Sense::Cost, Family::GroupFair(fair)).unwrap()
}

/// A random group-fair quadratic metric.
pub fn random_fair_quadratic(view: View, trade_off: f64, random: &mut Xoshiro256PlusPlus) -> Metric {
    let (k, m) = (view.classes(), view.groups());
    let q = k * k - k;
    let mut fairness = vec![];
    for groups in pairs(m) {
        fairness.push(Pair { groups, violation: Squared { matrix: semidefinite(q, random) } });
    }
    let fair = Fair::new(sizes(q, random), fairness, trade_off, random_shares(k, m, random)).unwrap();
    Metric::new(view, Sense::Cost, Family::GroupFairQuadratic(fair)).unwrap()
}

/// A random polynomial.
pub fn random_polynomial(view: View, degree: usize, random: &mut Xoshiro256PlusPlus) -> Metric {
    let q = view.dimension();
    let tensor = |t: usize, random: &mut Xoshiro256PlusPlus| {
        let raw = normals(q.pow(t as u32), random);
        let sorted = |n: usize| {
            let mut index: Vec<usize> = (0..t).map(|p| n / q.pow(p as u32) % q).collect();
            index.sort_unstable();
            index.iter().fold(0, |acc, i| acc * q + i)
        };
        (0..raw.len()).map(|n| raw[sorted(n)]).collect::<Vec<f64>>()
    };
    let tensors = (1..=degree).map(|t| tensor(t, random)).collect();
    Metric::new(view, Sense::Cost, Family::Polynomial(Polynomial::new(tensors).unwrap())).unwrap()
}
