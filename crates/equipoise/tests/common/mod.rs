//! Every plan there is, and hidden metrics to run them against.
#![allow(dead_code, reason = "each test binary uses a part")]

use equipoise::AnyPlan;
use equipoise::Metric;
use equipoise::testing::random;
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

const POOL: &str = r#"{"kind":"pool","measure":"off_diagonal_rates","classes":2,"points":[
    {"name":"a","point":[0.30,0.02]},{"name":"b","point":[0.20,0.05]},{"name":"c","point":[0.12,0.12]},
    {"name":"d","point":[0.05,0.30]},{"name":"worse than c","point":[0.15,0.15]}]}"#;

const CANDIDATES: &str = r#"{"kind":"attributes","attributes":[
    {"name":"latency","unit":"ms","direction":"minimize","transform":"log","range":[20,400]},
    {"name":"recall","direction":"maximize","transform":"linear","range":[0.7,0.95]},
    {"name":"gap","direction":"minimize","transform":"logit","range":[0.01,0.2]}],
    "candidates":[{"name":"a","point":[20,0.7,0.05]},{"name":"b","point":[60,0.8,0.02]},{"name":"c","point":[90,0.9,0.2]},
    {"name":"d","point":[400,0.95,0.08]},{"name":"e","point":[200,0.85,0.01]}]}"#;

const FLIPS: &str = r#""answers":{"kind":"flip","probability":0.05}"#;
const UNKNOWN: &str = r#""answers":{"kind":"unknown"}"#;
const SLOPE: &str = r#""answers":{"kind":"logistic","slope":20}"#;

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
        (BALL3, r#""kind":"linear","method":"adaptive","budget":25"#.to_owned()),
        (BALL3, format!(r#""kind":"linear","method":"adaptive","budget":25,"signs":"unknown",{FLIPS}"#)),
        (BALL, format!(r#""kind":"quadratic","method":"adaptive","budget":25,{SLOPE}"#)),
        (BALL, format!(r#""kind":"linear","method":"adaptive","budget":15,{UNKNOWN}"#)),
        (BALL, format!(r#""kind":"linear","method":"adaptive","budget":15,"probes":4,{FLIPS}"#)),
        (BALL, format!(r#""kind":"linear","method":"adaptive","budget":12,"probes":3,{UNKNOWN}"#)),
        (GROUPS3, r#""kind":"group_fair","method":"adaptive","budget":25"#.to_owned()),
        (GROUPS, r#""kind":"group_fair_quadratic","method":"adaptive","budget":20"#.to_owned()),
        (BALL3, r#""kind":"linear","method":"adaptive","budget":25,"rows_that_differ":3"#.to_owned()),
        (BALL, r#""kind":"linear_fractional","method":"adaptive","budget":12"#.to_owned()),
        (BALL, format!(r#""kind":"linear_fractional","method":"adaptive","budget":8,"seed":3,{FLIPS}"#)),
        (BALL, r#""kind":"polynomial","method":"adaptive","degree":3,"budget":20"#.to_owned()),
        (POOL, r#""kind":"linear","method":"adaptive""#.to_owned()),
        (POOL, format!(r#""kind":"linear","method":"adaptive","stop":[],{FLIPS}"#)),
        (
            POOL,
            r#""kind":"linear","method":"adaptive","signs":"unknown",
               "stop":[{"kind":"decision","level":0.9},{"kind":"information","floor":0.01}]"#
                .to_owned(),
        ),
        (CANDIDATES, r#""kind":"attributes","method":"adaptive","budget":12"#.to_owned()),
        (
            CANDIDATES,
            format!(r#""kind":"attributes","method":"adaptive","budget":8,"stop":[],"seed":4,{FLIPS}"#),
        ),
        (BALL, r#""kind":"polynomial","degree":3"#.to_owned()),
        (BALL3, r#""kind":"polynomial","degree":2,"seed":5"#.to_owned()),
        (BALL, r#""kind":"polynomial","degree":2,"method":"paper","cycles":1"#.to_owned()),
    ];
    let read = |(space, plan): &(&str, String)| {
        let text = format!(r#"{{{plan},"tolerance":{tolerance},"space":{space}}}"#);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let mut plans: Vec<AnyPlan> = settings.iter().map(read).collect();
    let cases = r#","risks":[0.02,0.9]"#;
    for answers in ["", r#","answers":{"kind":"exact"}"#, cases] {
        let text =
            format!(r#"{{"kind":"linear","method":"adaptive","budget":6{answers},"space":{LOGISTIC}}}"#);
        plans.push(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{text}: {e}")));
    }
    plans
}

/// A random metric of the family this plan elicits, over its coordinates.
pub fn random_metric(plan: &AnyPlan, rng: &mut Xoshiro256PlusPlus) -> Metric {
    let view = plan.view();
    let shares = |rng: &mut Xoshiro256PlusPlus| random::shares(view.classes(), view.groups(), rng);
    if let AnyPlan::Adaptive(plan) = plan
        && let Some(candidates) = plan.candidates()
    {
        return random::attributes(candidates.attributes(), rng);
    }
    match plan.kind() {
        "linear_fractional" | "diagonal_linear_fractional" => random::linear_fractional(view, rng),
        "quadratic" => random::quadratic(view, rng),
        "polynomial" => random::polynomial(view, if view.dimension() == 2 { 3 } else { 2 }, rng),
        "group_fair" | "trade_off" => random::group_fair(&shares(rng), 0.5, rng),
        "group_fair_quadratic" | "quadratic_trade_off" => {
            random::group_fair_quadratic(&shares(rng), 0.5, rng)
        }
        _ => random::linear(view, rng),
    }
}
