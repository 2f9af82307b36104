//! Which model: probabilities under both uncertainties, of what people want and of what models do (RP-08).

use crate::group::metric_at;
use equipoise::decide::rank::{Candidate, Ranking, Standing, rank};
use equipoise::{GroupConfusions, Metric};
use equipoise_study::Design;
use serde::Serialize;

/// A model is called the best from this probability on.
pub const SETTLED: f64 = 0.8;

/// How many times as much data is tried out before giving up.
const MOST: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// The models of a study in the order of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelReport {
    /// Who is best, or that it is not settled and what would help.
    pub headline: String,
    /// Whether some model is best with probability [`SETTLED`].
    pub separable: bool,
    /// All of them, best first.
    pub ranking: Ranking,
    /// What would settle it; nothing where it is.
    pub help: Option<Help>,
}

impl ModelReport {
    /// The one that is likeliest the best.
    pub fn likeliest(&self) -> Option<&Standing> {
        self.likeliest_first().first().copied()
    }

    /// The models by how likely each is the best.
    pub(crate) fn likeliest_first(&self) -> Vec<&Standing> {
        let mut all: Vec<&Standing> = self.ranking.standings.iter().collect();
        all.sort_by(|a, b| b.probability_best.total_cmp(&a.probability_best));
        all
    }
}

/// What would tell the models apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Help {
    /// So many times the test cases would do, preferences as they are; nothing if even the most tried would not.
    pub test_cases: Option<u32>,
    /// So many times the answers would do, test cases as they are.
    pub answers: Option<u32>,
    /// So many times both.
    pub both: Option<u32>,
    /// In words.
    pub sentence: String,
}

/// Ranks the models of a study by a metric and draws of it; `None` if the study names none.
pub fn models(design: &Design, metric: &Metric, draws: &[Metric]) -> Option<ModelReport> {
    let candidates = design.models()?.candidates();
    // The size of weights says nothing: of attributes they are taken to sum to 1, so that values lie between 0 and 1.
    let of_all = |metric: &Metric| {
        let shares = crate::choice::of_all(metric);
        metric.with_coefficients(&shares).unwrap_or_else(|_| metric.clone())
    };
    let summed = design.is_choice().then(|| (of_all(metric), draws.iter().map(of_all).collect::<Vec<_>>()));
    let (metric, draws) = summed.as_ref().map_or((metric, draws), |(metric, draws)| (metric, &draws[..]));
    let ranking = rank(candidates, metric, draws, equipoise::decide::rank::LEVEL).ok()?;
    let likeliest =
        ranking.standings.iter().max_by(|a, b| a.probability_best.total_cmp(&b.probability_best))?;
    let (name, probability) = (likeliest.name.clone(), likeliest.probability_best);
    let separable = probability >= SETTLED;
    let one = called(design);
    let help = (!separable).then(|| match design.is_choice() {
        true => more_answers(candidates, metric, draws),
        false => help(candidates, metric, draws),
    });
    let headline = match &help {
        None => format!("{name} is the best {one} with probability {probability:.2}."),
        Some(help) => format!(
            "The {one}s are not separable: {name} is best with probability {probability:.2}, below {SETTLED}. {}",
            help.sentence
        ),
    };
    Some(ModelReport { headline, separable, ranking, help })
}

/// What there is to choose from.
pub(crate) fn called(design: &Design) -> &'static str {
    if design.is_choice() { "candidate" } else { "model" }
}

/// Candidates are what they are; only more answers can tell more.
fn more_answers(candidates: &[Candidate], metric: &Metric, draws: &[Metric]) -> Help {
    let answers = MOST.into_iter().find(|times| settles(candidates, metric, draws, [1, *times]));
    let sentence = match answers {
        Some(times) => format!("About {times} times the answers would settle it."),
        None => "To this metric they are so alike that no reasonable number of answers would settle it."
            .to_owned(),
    };
    Help { test_cases: None, answers, both: None, sentence }
}

/// Whether so many times the test cases and the answers would name a best one.
fn settles(candidates: &[Candidate], metric: &Metric, draws: &[Metric], [cases, answers]: [u32; 2]) -> bool {
    let models: Vec<Candidate> = candidates.iter().map(|model| closer_model(model, cases)).collect();
    let metrics: Vec<Metric> = draws.iter().map(|draw| closer_metric(metric, draw, answers)).collect();
    rank(&models, metric, &metrics, equipoise::decide::rank::LEVEL)
        .is_ok_and(|ranking| ranking.standings.iter().any(|standing| standing.probability_best >= SETTLED))
}

/// Tries out what more data would do: draws as close to the estimate as so much more of them would bring.
fn help(candidates: &[Candidate], metric: &Metric, draws: &[Metric]) -> Help {
    let settles = |cases: u32, answers: u32| settles(candidates, metric, draws, [cases, answers]);
    let test_cases = MOST.into_iter().find(|times| settles(*times, 1));
    let answers = MOST.into_iter().find(|times| settles(1, *times));
    let both = MOST.into_iter().find(|times| settles(*times, *times));
    let sentence = match (test_cases, answers, both) {
        (Some(cases), Some(answers), _) => {
            format!("About {cases} times the test cases would settle it, or {answers} times the answers.")
        }
        (Some(cases), None, _) => {
            format!("About {cases} times the test cases would settle it; more answers alone would not.")
        }
        (None, Some(answers), _) => {
            format!("About {answers} times the answers would settle it; more test cases alone would not.")
        }
        (None, None, Some(both)) => {
            format!("About {both} times both the answers and the test cases would settle it.")
        }
        (None, None, None) => {
            "They are so alike that no reasonable amount of data would settle it.".to_owned()
        }
    };
    Help { test_cases, answers, both, sentence }
}

/// The errors of so many times the rows are smaller by the root of it.
fn closer_model(model: &Candidate, times: u32) -> Candidate {
    if model.draws().is_empty() {
        return model.clone();
    }
    let part = 1.0 / f64::from(times).sqrt();
    let measured = model.confusions();
    let (k, groups) = (measured.classes(), measured.groups());
    let draws = model.draws().iter().map(|draw| {
        let cell = |g: usize, n: usize| {
            let (from, to) = (measured.get(g, n / k, n % k), draw.get(g, n / k, n % k));
            from + part * (to - from)
        };
        let cells = (0..groups).map(|g| (0..k * k).map(|n| cell(g, n)).collect()).collect();
        GroupConfusions::new(k, cells).unwrap_or_else(|_| draw.clone())
    });
    Candidate::new(model.name(), measured.clone()).with_draws(draws.collect())
}

fn closer_metric(metric: &Metric, draw: &Metric, times: u32) -> Metric {
    let part = 1.0 / f64::from(times).sqrt();
    if let (Some(from), Some(to)) = (metric.cost_ratio(), draw.cost_ratio()) {
        return equipoise_study::ratio_metric((from.ln() + part * (to / from).ln()).exp());
    }
    let pairs = metric.coefficients().into_iter().zip(draw.coefficients());
    metric_at(draw, &pairs.map(|(from, to)| from + part * (to - from)).collect::<Vec<_>>())
}
