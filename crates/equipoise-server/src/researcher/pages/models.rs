//! The models to choose from, judged by what the group holds, or by a cost ratio somebody types: what if.

use super::{FEWEST, exchange};
use crate::researcher::accounts::Role;
use crate::researcher::call::Call;
use crate::researcher::chart;
use crate::researcher::watch::Seen;
use equipoise::Metric;
use equipoise::decide::rank::{LEVEL, Ranking, rank};
use equipoise_pages::sentence::Mistakes;
use equipoise_report as report;
use equipoise_report::group::Experts;
use equipoise_study::numbers::{grouped, two_digits};
use equipoise_study::{Design, ratio_metric};

/// What is shown of the models.
pub struct Shown {
    pub two: bool,
    pub typed: String,
    /// Where the slider is: a hundred times the decimal logarithm.
    pub slid: i64,
    pub problem: Option<String>,
    pub what_if: Option<Judged>,
    pub group: Option<Judged>,
    pub nothing: Option<String>,
    pub has_models: bool,
    /// What each model costs at each ratio, with people beneath; and the names of its lines.
    pub lines: Option<(String, Vec<(String, &'static str)>)>,
}

/// Models and threshold under one metric.
pub struct Judged {
    pub title: String,
    pub statement: Option<String>,
    pub standings: Vec<Standing>,
    pub threshold: Option<String>,
    pub operating: Option<String>,
}

impl Judged {
    /// Whether nothing follows: no models, and neither a threshold nor a best system.
    fn is_empty(&self) -> bool {
        self.statement.is_none()
            && self.standings.is_empty()
            && self.threshold.is_none()
            && self.operating.is_none()
    }
}

/// A model and where it stands.
pub struct Standing {
    pub place: usize,
    pub name: String,
    pub best: String,
    pub rank: String,
    pub regret: String,
}

/// What is shown of the models, by what people hold and by what somebody types or slides to.
pub fn shown(call: &Call<'_>, seen: &Seen, experts: Option<&Experts>) -> Shown {
    let design = call.shared.service.design();
    let two = design.binary().is_some();
    let slid = call.sent.query.number::<i64>("at").filter(|at| (-300..=300).contains(at));
    let typed = match slid {
        Some(at) => two_digits(10_f64.powf(at as f64 / 100.0)).replace(',', ""),
        None => call.sent.query.get("ratio").trim().to_owned(),
    };
    let ratio: Option<f64> =
        typed.replace(',', ".").parse().ok().filter(|ratio| (0.001..=1000.0).contains(ratio));
    let enough = experts.filter(|experts| {
        !seen.blinded && (call.account().role >= Role::Analyst || experts.people >= FEWEST)
    });
    let group = enough.map(|experts| by_group(call, design, experts)).filter(|found| !found.is_empty());
    let one_by_one = enough.filter(|_| call.account().role >= Role::Analyst);
    Shown {
        two,
        slid: slid.unwrap_or_else(|| (100.0 * ratio.unwrap_or(10.0).log10()).round() as i64),
        problem: (!typed.is_empty() && ratio.is_none())
            .then(|| "Expected a number from 0.001 to 1,000.".to_owned()),
        what_if: ratio.filter(|_| two).map(|ratio| {
            let metric = ratio_metric(ratio);
            let [missed, alarms] =
                [1, 0].map(|truth| Mistakes::of(call.study(), truth, 1 - truth, super::LANGUAGE));
            let title = format!("If one {} were worth {} {}", missed.one, two_digits(ratio), alarms.many);
            judged(design, &metric, &[], title)
        }),
        typed,
        nothing: match (enough, &group, seen.blinded) {
            (_, Some(_), _) | (None, _, true) => None,
            (None, _, false) => {
                Some("Too few people have answered enough to judge by what they hold.".to_owned())
            }
            (Some(_), None, _) => Some("There is nothing to choose between.".to_owned()),
        },
        group,
        has_models: design.models().is_some(),
        lines: cost_lines(design, ratio, one_by_one),
    }
}

/// What each model costs at each ratio of two classes: lines that cross where the choice changes.
fn cost_lines(
    design: &Design,
    ratio: Option<f64>,
    people: Option<&Experts>,
) -> Option<(String, Vec<(String, &'static str)>)> {
    design.binary()?;
    let models = design.models()?;
    let dots: Vec<f64> = people.map_or(vec![], |experts| {
        let raw = experts.members.iter().filter_map(|member| member.shrunk.as_ref().or(member.raw.as_ref()));
        raw.map(|estimate| estimate.estimate).collect()
    });
    let all = || dots.iter().copied().chain(ratio);
    let (low, high) = (all().fold(0.5, f64::min), all().fold(50.0, f64::max));
    let steps = 60;
    let at = |n: usize| low * (high / low).powf(n as f64 / steps as f64);
    let mut lines: Vec<(String, Vec<[f64; 2]>)> = vec![];
    for model in models.candidates().iter().take(chart::STYLES.len()) {
        let cost = |ratio: f64| {
            let metric = ratio_metric(ratio);
            let value = model.value(&metric, model.confusions()).ok()?;
            // Utilities of length 1 become costs in false alarms and missed cases that sum to 1.
            Some([ratio, -metric.sense().sign() * value * ratio.hypot(1.0) / (1.0 + ratio)])
        };
        let points: Option<Vec<[f64; 2]>> = (0..=steps).map(|n| cost(at(n))).collect();
        lines.push((model.name().to_owned(), points?));
    }
    // What every model loses alike is left out: the cheapest is at 0.
    for n in 0..=steps {
        let least = lines.iter().map(|(_, points)| points[n][1]).fold(f64::INFINITY, f64::min);
        lines.iter_mut().for_each(|(_, points)| points[n][1] = 1000.0 * (points[n][1] - least));
    }
    let drawn: Vec<Vec<[f64; 2]>> = lines.iter().map(|(_, points)| points.clone()).collect();
    let names = lines.into_iter().zip(chart::STYLES).map(|((name, _), style)| (name, style)).collect();
    Some((chart::costs(&drawn, &dots, ratio, [low, high]), names))
}

fn by_group(call: &Call<'_>, design: &Design, experts: &Experts) -> Judged {
    let title = match &experts.ratio {
        Some(ratio) => {
            let words = exchange(call.study(), [ratio.estimate, ratio.low, ratio.high]);
            format!("By a typical member of the group: {words}")
        }
        None => "By a typical member of the group".to_owned(),
    };
    judged(design, &experts.typical, &experts.typical_draws, title)
}

/// Models and threshold by a metric. How much more data would settle it is only said of what people hold.
fn judged(design: &Design, metric: &Metric, draws: &[Metric], title: String) -> Judged {
    let (statement, ranking) = match draws.is_empty() {
        true => {
            let ranking =
                design.models().and_then(|models| rank(models.candidates(), metric, &[], LEVEL).ok());
            (ranking.as_ref().map(Ranking::statement), ranking)
        }
        false => match report::models(design, metric, draws) {
            Some(report) => (Some(report.headline), Some(report.ranking)),
            None => (None, None),
        },
    };
    let threshold = report::threshold(design, metric, draws).map(|found| {
        let class = design.study().task.classes.get(1).map_or("", |class| &class.id);
        match &found.measured {
            None => {
                format!("{} The study has no table of scores to check it on.", found.theory.sentence(class))
            }
            Some(_) => found.sentence,
        }
    });
    let operating = design.binary().zip(metric.cost_ratio()).map(|(space, ratio)| {
        let point = space.at_angle((1.0 / ratio).atan());
        let prior = space.positive_prior();
        let counted = |truth: usize, share: f64| {
            let count = (1000.0 * share).max(0.0).round() as u64;
            let mistakes = Mistakes::of(design.study(), truth, 1 - truth, super::LANGUAGE);
            format!("{} {}", grouped(count), mistakes.counted(super::LANGUAGE, count))
        };
        format!(
            "Of all systems the study asks about, the best has {} and {} out of 1,000.",
            counted(1, prior - point[0]),
            counted(0, 1.0 - prior - point[1])
        )
    });
    Judged {
        title,
        statement,
        standings: ranking.map_or(vec![], |ranking| standings(&ranking)),
        threshold,
        operating,
    }
}

fn standings(ranking: &Ranking) -> Vec<Standing> {
    let lines = ranking.standings.iter().enumerate();
    lines
        .map(|(n, standing)| Standing {
            place: n + 1,
            name: standing.name.clone(),
            best: format!("{:.2}", standing.probability_best),
            rank: format!("{:.1}", standing.expected_rank),
            regret: two_digits(standing.expected_regret),
        })
        .collect()
}
