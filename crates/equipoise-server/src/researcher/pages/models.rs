//! The models to choose from, judged by what the group holds, or by a cost ratio somebody types: what if.

use super::group::together;
use super::{FEWEST, exchange};
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::Frame;
use crate::sentence::Mistakes;
use askama::Template;
use equipoise::Metric;
use equipoise::decide::rank::{LEVEL, Ranking, rank};
use equipoise_report as report;
use equipoise_report::group::Experts;
use equipoise_study::numbers::{grouped, two_digits};
use equipoise_study::{Design, ratio_metric};

#[derive(Template)]
#[template(path = "researcher/models.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    two: bool,
    typed: String,
    problem: Option<String>,
    what_if: Option<Judged>,
    group: Option<Judged>,
    nothing: Option<String>,
    has_models: bool,
}

/// Models and threshold under one metric.
struct Judged {
    title: String,
    statement: Option<String>,
    standings: Vec<Standing>,
    threshold: Option<String>,
    operating: Option<String>,
}

struct Standing {
    place: usize,
    name: String,
    best: String,
    rank: String,
    regret: String,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    call.look("models", None)?;
    let (seen, design) = (call.seen()?, call.shared.service.design());
    let two = design.binary().is_some();
    let typed = call.sent.query.get("ratio").trim().to_owned();
    let ratio: Option<f64> =
        typed.replace(',', ".").parse().ok().filter(|ratio| (0.001..=1000.0).contains(ratio));
    let experts = together(call.shared, &seen, false)?;
    let shown = experts.as_deref().filter(|experts| {
        !seen.blinded && (call.account().role >= Role::Analyst || experts.people >= FEWEST)
    });
    Ok(show(&Page {
        frame: call.frame("/models"),
        blinded: seen.blinded,
        two,
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
        nothing: match (shown, seen.blinded) {
            (Some(_), _) | (None, true) => None,
            (None, false) => {
                Some("Too few people have answered enough to judge by what they hold.".to_owned())
            }
        },
        group: shown.map(|experts| by_group(call, design, experts)),
        has_models: design.models().is_some(),
    }))
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
