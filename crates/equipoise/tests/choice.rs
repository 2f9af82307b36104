//! Choosing among candidates by their attributes.

use equipoise::ask::{Finding, NoiseModel, Simulated};
use equipoise::engine::Adaptive;
use equipoise::metric::{Attribute, Direction};
use equipoise::space::Candidates;
use equipoise::testing::random;
use equipoise::{Metric, Outcome, Plan, Preference, Query};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A front on which nobody is dominated: points of a sphere.
fn front(count: usize, dimension: usize, random: &mut Xoshiro256PlusPlus) -> Candidates {
    let points: Vec<Vec<f64>> = (0..count)
        .map(|_| {
            let z: Vec<f64> = random::normals(dimension, random).iter().map(|x| x.abs()).collect();
            let length = z.iter().map(|x| x * x).sum::<f64>().sqrt();
            z.iter().map(|x| x / length).collect()
        })
        .collect();
    let attribute = |n: usize| {
        let values: Vec<f64> = points.iter().map(|point| 100.0 * point[n]).collect();
        Attribute::guessed(&format!("a{n}"), Direction::Maximize, &values).unwrap()
    };
    let attributes = (0..dimension).map(attribute).collect();
    let named = points.iter().enumerate();
    let named = named.map(|(n, point)| (format!("m{n}"), point.iter().map(|x| 100.0 * x).collect()));
    Candidates::new(attributes, named.collect()).unwrap()
}

fn named(outcome: &Outcome) -> String {
    let name = |finding: &Finding| match finding {
        Finding::BestOfPool { name, .. } => Some(name.clone()),
        _ => None,
    };
    outcome.findings.iter().find_map(name).unwrap()
}

/// By how much the named one falls short, as a share of the range.
fn regret(candidates: &Candidates, hidden: &Metric, name: &str) -> f64 {
    let values: Vec<f64> = candidates.members().iter().map(|m| hidden.value(&m.point)).collect();
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
    let place = candidates.members().iter().position(|m| m.name == name).unwrap();
    (high - values[place]) / (high - low)
}

#[test]
fn whoever_answers_by_weights_gets_a_candidate_near_their_best() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(random::seed());
    let mut regrets = vec![];
    for n in 0..6 {
        let set = front(20, 3 + n % 2, &mut random);
        let hidden = random::attributes(set.attributes(), &mut random);
        let only_real = n == 5;
        let asked = if only_real { set.clone().only_real() } else { set.clone() };
        let Ok(outcome) = Adaptive::choice(asked).run(&mut Simulated::new(hidden.clone()));
        regrets.push(regret(&set, &hidden, &named(&outcome)));
    }
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    assert!(mean < 0.03, "{regrets:?}");
}

/// Five qualities that rise with the price, and people to whom the price is worth any share of all: of weights that are drawn one
/// by one nearly none is as large as five others together, and yet there are such people.
#[test]
fn many_attributes_that_go_together_do_not_outvote_one() {
    let sizes = [0.0, 0.25, 0.5, 0.75, 0.9, 1.0];
    let points =
        sizes.map(|x: f64| vec![10.0 * x * x, x, x + 0.01 * (7.0 * x).sin(), x.sqrt(), x, x.powf(1.2)]);
    let attribute = |n: usize| {
        let values = points.clone().map(|point| point[n]);
        let direction = if n == 0 { Direction::Minimize } else { Direction::Maximize };
        Attribute::guessed(&format!("a{n}"), direction, &values).unwrap()
    };
    let attributes: Vec<Attribute> = (0..6).map(attribute).collect();
    let members = points.iter().enumerate().map(|(n, point)| (format!("m{n}"), point.clone())).collect();
    let set = Candidates::new(attributes.clone(), members).unwrap();
    let (people, mut short, mut asked) = (30, vec![], 0);
    for n in 0..people {
        let price = (n as f64 + 0.5) / f64::from(people);
        let weights = std::iter::once(price).chain([0.2 * (1.0 - price); 5]).collect();
        let hidden = Metric::attributes(attributes.clone(), weights).unwrap();
        let mut oracle = equipoise::ask::Counting::new(Simulated::new(hidden.clone()));
        let Ok(outcome) = Adaptive::choice(set.clone()).seed(n as u64).run(&mut oracle);
        asked += oracle.asked();
        short.push(regret(&set, &hidden, &named(&outcome)));
    }
    let mean = short.iter().sum::<f64>() / short.len() as f64;
    println!("mean regret {mean:.3}, {} questions each", asked / people as usize);
    assert!(mean < 0.05, "{mean:.3} {short:.2?}");
}

/// Of two half-normal weights the angle is uniform, so the posterior is an integral over one number.
#[test]
fn the_crowd_predicts_answers_as_an_integral_over_the_angle_does() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let set = front(12, 2, &mut random);
    let slope = 6.0;
    let plan = Adaptive::choice(set.clone()).answers(NoiseModel::Absolute { slope, lapse: 0.0 }).unwrap();
    let mut belief = plan.start();
    let point = |random: &mut Xoshiro256PlusPlus| -> Vec<f64> {
        set.attributes().iter().map(|a| random.random_range(a.range[0]..a.range[1])).collect()
    };
    let worth =
        |x: &[f64]| -> Vec<f64> { set.attributes().iter().zip(x).map(|(a, x)| a.worth(*x)).collect() };
    let steps = 2000;
    let angle = |n: usize| (n as f64 + 0.5) / f64::from(steps) * std::f64::consts::FRAC_PI_2;
    let chance = |query: &Query, angle: f64| {
        let [a, b] = [worth(&query.first), worth(&query.second)];
        let ahead = (angle.cos() * (a[0] - b[0]) + angle.sin() * (a[1] - b[1])) / plan.unit();
        1.0 / (1.0 + (-slope * ahead).exp())
    };
    let mut weights = vec![1.0; steps as usize];
    for n in 0..8 {
        let query = Query::new(point(&mut random), point(&mut random));
        let first = n % 3 != 0;
        belief.take(&query, &if first { Preference::First } else { Preference::Second }.into());
        for (k, weight) in weights.iter_mut().enumerate() {
            let chance = chance(&query, angle(k));
            *weight *= if first { chance } else { 1.0 - chance };
        }
    }
    let all: f64 = weights.iter().sum();
    for _ in 0..10 {
        let query = Query::new(point(&mut random), point(&mut random));
        let expected: f64 =
            weights.iter().enumerate().map(|(k, weight)| weight / all * chance(&query, angle(k))).sum();
        let found = belief.chance_of_first(&query);
        assert!((found - expected).abs() < 0.03, "{found} {expected}");
    }
}

#[test]
fn plans_and_metrics_of_attributes_read_back_as_they_were_written() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let set = front(8, 3, &mut random);
    let plan = equipoise::AnyPlan::Adaptive(Adaptive::choice(set.clone().only_real()).budget(6).unwrap());
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<equipoise::AnyPlan>(&text).unwrap(), plan);
    let hidden = random::attributes(set.attributes(), &mut random);
    let Ok(outcome) = plan.run(&mut Simulated::new(hidden));
    let text = outcome.metric.to_json();
    assert!(
        text.contains(r#""kind":"attributes""#)
            && text.contains(r#""posterior""#)
            && !text.contains("classes")
    );
    assert_eq!(Metric::from_json(&text).unwrap(), outcome.metric);
    // A later candidate, beyond the ranges that were shown, still has a value.
    assert!(outcome.metric.value(&[120.0, 50.0, -10.0]).is_finite());
    let confusions = equipoise::GroupConfusions::new(2, vec![vec![0.4, 0.1, 0.1, 0.4]]).unwrap();
    assert!(outcome.metric.of(&confusions).unwrap_err().to_string().contains("attributes"));
}

/// Most of ten thousand candidates are never in play, and the named one is still near the best of all.
#[test]
fn many_candidates_are_narrowed_without_losing_the_best() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let set = front(3000, 4, &mut random);
    let hidden = random::attributes(set.attributes(), &mut random);
    let Ok(outcome) = Adaptive::choice(set.clone()).run(&mut Simulated::new(hidden.clone()));
    let found = regret(&set, &hidden, &named(&outcome));
    assert!(found < 0.05, "{found}");
}

#[test]
fn questions_trade_two_attributes_first_and_stay_inside_the_ranges() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let set = front(15, 4, &mut random);
    let plan = Adaptive::choice(set.clone());
    let mut belief = plan.start();
    for n in 0..6 {
        let query = plan.next(belief.as_ref()).unwrap();
        let differ = query.first.iter().zip(&query.second).filter(|(a, b)| a != b).count();
        if n < 4 {
            assert_eq!(differ, 2, "{query:?}");
        }
        for point in [&query.first, &query.second] {
            for (attribute, x) in set.attributes().iter().zip(point) {
                assert!((attribute.range[0]..=attribute.range[1]).contains(x));
            }
        }
        belief.take(&query, &if n % 2 == 0 { Preference::First } else { Preference::Second }.into());
    }
}

/// Somebody who weighs attributes, and of one of them takes nothing below some share of its range, or finds its first steps worth
/// most; errs like the standard person.
struct Other {
    set: Candidates,
    weights: Vec<f64>,
    attribute: usize,
    floor: Option<f64>,
    power: f64,
    random: Xoshiro256PlusPlus,
}

impl equipoise::Oracle for Other {
    type Err = std::convert::Infallible;

    fn prefer(&mut self, query: &Query) -> Result<equipoise::Answer, Self::Err> {
        let worths = |point: &[f64]| -> Vec<f64> {
            self.set.attributes().iter().zip(point).map(|(a, x)| a.worth(*x)).collect()
        };
        let [a, b] = [worths(&query.first), worths(&query.second)];
        let below = |worths: &[f64]| self.floor.is_some_and(|floor| worths[self.attribute] < floor);
        let value = |n: usize, worth: f64| {
            let power = if n == self.attribute { self.power } else { 1.0 };
            self.weights[n] * worth.max(0.0).powf(power)
        };
        let gains: Vec<f64> = (0..a.len()).map(|n| value(n, a[n]) - value(n, b[n])).collect();
        let (more, less) = gains
            .iter()
            .fold((1e-9, 1e-9), |(more, less), x| if *x > 0.0 { (more + x, less) } else { (more, less - x) });
        let chance = match (below(&a), below(&b)) {
            (true, false) => 0.0,
            (false, true) => 1.0,
            _ => 1.0 / (1.0 + (less / more).powf(3.0)),
        };
        let first = self.random.random::<f64>() < 0.015 + 0.97 * chance;
        Ok(if first { Preference::First } else { Preference::Second }.into())
    }
}

#[test]
#[ignore = "prints how often rivals are named; takes minutes"]
fn how_often_rivals_are_named() {
    let people = 40;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(random::seed());
    for dimension in [3, 5] {
        for (who, floor, power) in
            [("weights", false, 1.0), ("a floor", true, 1.0), ("diminishing", false, 0.35)]
        {
            let (mut named, mut right, mut probes, mut any) = (0, 0, 0, 0);
            let (mut asked, mut below) = (0, [0, 0]);
            for _ in 0..people {
                let set = front(24, dimension, &mut random);
                let attribute = random.random_range(0..dimension);
                let weights =
                    random::normals(dimension, &mut random).iter().map(|w| w.abs().max(1e-3)).collect();
                let floor = floor.then(|| random.random_range(0.2..0.6));
                let seeded = Xoshiro256PlusPlus::seed_from_u64(random.random());
                let other = Other { set: set.clone(), weights, attribute, floor, power, random: seeded };
                let mut oracle = equipoise::ask::Counting::new(other);
                let Ok(outcome) = Adaptive::choice(set.clone()).run(&mut oracle);
                asked += oracle.asked();
                let name = format!("a{attribute}");
                let is = |wanted: fn(&Finding) -> Option<&String>| {
                    outcome.findings.iter().find_map(wanted).cloned()
                };
                let limit =
                    is(|f| if let Finding::Limit { attribute, .. } = f { Some(attribute) } else { None });
                let less =
                    is(
                        |f| {
                            if let Finding::Diminishing { attribute, .. } = f {
                                Some(attribute)
                            } else {
                                None
                            }
                        },
                    );
                named += usize::from(limit.is_some() || less.is_some());
                right += usize::from(limit.or(less) == Some(name));
                let object = outcome.findings.iter().any(|f| matches!(f, Finding::ProbesObject { .. }));
                probes += usize::from(object);
                any += usize::from(!outcome.identifiable());
                // Who falls below the floor although somebody does not, and whether something was said.
                if let Some(floor) = floor {
                    let worth = |point: &[f64]| set.attributes()[attribute].worth(point[attribute]);
                    let value = |point: &[f64]| outcome.metric.value(point);
                    let best =
                        set.members().iter().max_by(|a, b| value(&a.point).total_cmp(&value(&b.point)));
                    let falls = best.is_some_and(|best| worth(&best.point) < floor);
                    below[usize::from(!outcome.identifiable())] += usize::from(falls);
                }
            }
            println!(
                "{dimension} attributes, {who}: {asked} questions of {people} people; named {named}, right {right}, probes object {probes}, said {any}; named below the floor {below:?} (unsaid, said)"
            );
        }
    }
}
