//! A group of experts: what they have in common, where they differ, and whether that matters for the choice of a model.
//!
//! Each person's answers are a likelihood. A hierarchical model takes them together: people are draws from a population
//! with a typical metric and a spread, and whoever said little is seen in the light of the others. Clusters are looked for
//! on the same likelihoods. Rules to aggregate stand side by side; none of them is the result.

mod line;
mod rules;
mod weights;

use line::Thinned;
pub use line::{Cluster, Clusters, Line, Population};
pub use rules::{Choice, Preferred, Rule, Together};
pub use weights::{Common, Normal};

use equipoise::Metric;
use equipoise::metric::Posterior;
use equipoise_study::people::ratio;
use equipoise_study::{Belief, Design, ratio_metric};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::sync::Arc;

/// Fewer people than this are not shown one by one in a report that is passed on.
pub const FEWEST_SHOWN: usize = 5;

/// Draws of every person's metric.
pub const DRAWS: usize = 200;

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The middle of the posterior.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What a group of people holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experts {
    /// How many have a metric.
    pub people: usize,
    /// Two classes: the typical cost ratio.
    pub ratio: Option<Estimate>,
    /// Two classes: the standard deviation of the logarithms of people's ratios.
    pub spread: Option<Estimate>,
    /// Otherwise: the typical weights, of length 1, in the order of the metric's coefficients.
    pub weights: Option<Vec<Estimate>>,
    /// Otherwise: the two directions of the map, in the same order.
    pub directions: Option<[Vec<f64>; 2]>,
    /// Everybody, in the order of invitations; nobody where they are hidden.
    pub members: Vec<Member>,
    /// Whether people are left out because they are few and the report is passed on.
    pub hidden: bool,
    /// People who answer alike: from low to high, ratios of two classes, otherwise along the first direction of the map.
    #[serde(rename = "camps")]
    pub clusters: Vec<Cluster>,
    /// How much better (in BIC) each further cluster explains the answers; above 6 is strong evidence.
    #[serde(rename = "camp_gains")]
    pub cluster_gains: Vec<f64>,
    /// What follows for the models of the study.
    pub models: Option<Together>,
    /// The typical metric, with its posterior where there are several weights.
    #[serde(skip)]
    pub typical: Metric,
    /// Draws of it, for rankings.
    #[serde(skip)]
    pub typical_draws: Vec<Metric>,
}

/// One person among the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Counted from 1 in the order of invitations.
    pub participant: u64,
    /// Two classes: the ratio by their own answers.
    pub raw: Option<Estimate>,
    /// Two classes: the ratio in the light of the others.
    pub shrunk: Option<Estimate>,
    /// Otherwise: weights of length 1 by their own answers.
    pub raw_weights: Option<Vec<f64>>,
    /// Otherwise: weights in the light of the others.
    pub shrunk_weights: Option<Vec<f64>>,
    /// Otherwise: where they are on the map.
    pub place: Option<Place>,
    /// Their cluster, counted from 0.
    #[serde(rename = "camp")]
    pub cluster: usize,
    /// How likely it is theirs.
    #[serde(rename = "camp_probability")]
    pub cluster_probability: f64,
    /// The model they would choose.
    pub prefers: Option<String>,
}

/// Somebody on the map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Place {
    /// Along the first direction.
    pub x: f64,
    /// Along the second.
    pub y: f64,
    /// How unsure that is: variances and covariance, xx, xy, yy.
    pub covariance: [f64; 3],
}

impl Place {
    /// How unsure one entry of its covariance is: 0 along the first direction, 2 along the second.
    pub(crate) fn deviation(&self, entry: usize) -> f64 {
        self.covariance[entry].max(0.0).sqrt()
    }
}

/// What somebody's answers say, as far as a group needs to know it: a hundredth of their belief, so that there can be many.
#[derive(Debug, Clone)]
pub struct Voice {
    /// Counted from 1 in the order of invitations.
    pub participant: u64,
    /// The metric at the estimate.
    pub(crate) metric: Metric,
    /// Two classes: the ratio by their own answers.
    pub(crate) own: Option<Estimate>,
    likelihood: Option<Thinned>,
}

impl Voice {
    /// Of somebody who is known by number and belief.
    pub fn of(participant: u64, belief: &Belief) -> Self {
        let likelihood = belief.density().and_then(|density| Thinned::of(&density));
        Self { participant, metric: belief.metric(), own: own_ratio(belief), likelihood }
    }
}

/// Draws of the n-th person's metric in the light of the others: made when they are needed, since there are many.
type Draws = Box<dyn Fn(usize) -> Vec<Metric>>;

/// What people hold together, each known by number and belief; `None` for fewer than two.
///
/// Who is among them is the caller's decision.
pub fn experts(design: &Arc<Design>, people: &[(u64, &Belief)]) -> Option<Experts> {
    let voices: Vec<Voice> = people.iter().map(|(number, belief)| Voice::of(*number, belief)).collect();
    experts_of(design, &voices.iter().collect::<Vec<_>>())
}

/// The same of voices.
pub fn experts_of(design: &Arc<Design>, people: &[&Voice]) -> Option<Experts> {
    if people.len() < 2 {
        return None;
    }
    let (mut experts, draws) = match design.binary() {
        Some(_) => on_a_line(people)?,
        None => on_a_map(people)?,
    };
    if let Some(models) = design.models() {
        let metrics: Vec<&Metric> = people.iter().map(|voice| &voice.metric).collect();
        let together = rules::together(crate::models::called(design), models, &experts, &metrics, &draws)?;
        for (member, preferred) in experts.members.iter_mut().zip(&together.by_person) {
            member.prefers = Some(preferred.clone());
        }
        experts.models = Some(together);
    }
    Some(experts)
}

/// What is typical of some people, without where each of them stands.
pub(crate) struct Typical {
    pub(crate) ratio: Option<Estimate>,
    pub(crate) metric: Metric,
    pub(crate) draws: Vec<Metric>,
}

/// What is typical of people as in [`experts_of`], in a small part of the time.
pub(crate) fn typical_of(design: &Arc<Design>, people: &[&Voice]) -> Option<Typical> {
    if people.len() < 2 {
        return None;
    }
    if design.binary().is_some() {
        let line = Line::of_thinned(people.iter().filter_map(|voice| voice.likelihood.as_ref()))?;
        return Some(Typical::on_a_line(&line, &line.typical()));
    }
    let metrics: Vec<&Metric> = people.iter().map(|voice| &voice.metric).collect();
    let normals = metrics.iter().map(|metric| normal(metric)).collect::<Option<Vec<Normal>>>()?;
    Some(Typical::on_a_map(metrics[0], &weights::common(&normals)?))
}

impl Typical {
    fn on_a_line(line: &Line, typical: &[f64]) -> Self {
        let ratio = interval(line, typical);
        let (metric, draws) = (ratio_metric(ratio.estimate), parts(line, typical));
        Self { ratio: Some(ratio), metric, draws }
    }

    fn on_a_map(like: &Metric, common: &Common) -> Self {
        Self { ratio: None, metric: around(like, &common.typical), draws: drawn(like, &common.typical, 0) }
    }
}

/// Two classes: a ratio with its interval, from masses on a line.
fn interval(line: &Line, masses: &[f64]) -> Estimate {
    let [low, estimate, high] = [0.025, 0.5, 0.975].map(|share| line.quantile(masses, share).exp());
    Estimate { estimate, low, high }
}

/// Two classes: metrics that each stand for an equally likely part of masses on a line.
fn parts(line: &Line, masses: &[f64]) -> Vec<Metric> {
    let part = |n: usize| ratio_metric(line.quantile(masses, (n as f64 + 0.5) / DRAWS as f64).exp());
    (0..DRAWS).map(part).collect()
}

impl Experts {
    /// Two classes: everybody from the lowest ratio to the highest, in the light of the others.
    pub(crate) fn by_ratio(&self) -> Vec<&Member> {
        let middle = |member: &Member| member.shrunk.map_or(0.0, |shrunk| shrunk.estimate);
        let mut members: Vec<&Member> = self.members.iter().collect();
        members.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
        members
    }

    /// Without the people one by one, if they are few: for a report that is passed on.
    pub fn shared(mut self) -> Self {
        if self.people < FEWEST_SHOWN {
            self.members.clear();
            self.hidden = true;
        }
        self
    }
}

/// Two classes: one number each.
fn on_a_line(people: &[&Voice]) -> Option<(Experts, Draws)> {
    let line = Line::of_thinned(people.iter().filter_map(|voice| voice.likelihood.as_ref()))?;
    let (population, clusters) = (line.population(), line.clusters());
    let members = people.iter().enumerate().map(|(n, voice)| {
        let (cluster, cluster_probability) = likeliest(&clusters.members[n]);
        Member {
            participant: voice.participant,
            raw: voice.own,
            shrunk: Some(interval(&line, &population.shrunk[n])),
            raw_weights: None,
            shrunk_weights: None,
            place: None,
            cluster,
            cluster_probability,
            prefers: None,
        }
    });
    let Typical { ratio, metric, draws } = Typical::on_a_line(&line, &population.typical);
    let experts = Experts {
        people: people.len(),
        ratio,
        spread: Some(spread(&population.spread)),
        weights: None,
        directions: None,
        members: members.collect(),
        hidden: false,
        clusters: clusters
            .clusters
            .iter()
            .map(|cluster| Cluster { middle: cluster.middle.exp(), share: cluster.share })
            .collect(),
        cluster_gains: clusters.gains,
        models: None,
        typical: metric,
        typical_draws: draws,
    };
    let draws = move |n: usize| parts(&line, &population.shrunk[n]);
    Some((experts, Box::new(draws)))
}

/// Two classes: the ratio by somebody's own answers.
pub(crate) fn own_ratio(belief: &Belief) -> Option<Estimate> {
    ratio(belief).map(|[estimate, low, high]| Estimate { estimate, low, high })
}

/// The spread between people, between the places of its grid.
fn spread(masses: &[(f64, f64)]) -> Estimate {
    let at = |share: f64| {
        let mut below = 0.0;
        for (n, (value, mass)) in masses.iter().enumerate() {
            if below + mass >= share && *mass > 0.0 {
                let last = masses[n.saturating_sub(1)].0;
                return last * (value / last).powf((share - below) / mass);
            }
            below += mass;
        }
        masses.last().map_or(0.0, |last| last.0)
    };
    Estimate { estimate: at(0.5), low: at(0.025), high: at(0.975) }
}

/// Several weights each.
fn on_a_map(people: &[&Voice]) -> Option<(Experts, Draws)> {
    let metrics: Vec<Metric> = people.iter().map(|voice| voice.metric.clone()).collect();
    let normals = metrics.iter().map(normal).collect::<Option<Vec<Normal>>>()?;
    let common = weights::common(&normals)?;
    let place = |normal: &Normal| {
        let off = weights::minus(&normal.mean, &common.typical.mean);
        let [u, v] = &common.directions;
        let across = |a: &[f64], b: &[f64]| weights::across(&normal.covariance, a, b);
        Place {
            x: weights::dot(u, &off),
            y: weights::dot(v, &off),
            covariance: [across(u, u), across(u, v), across(v, v)],
        }
    };
    let along = |normal: &Normal| {
        let place = place(normal);
        (place.x, place.covariance[0].max(0.0).sqrt())
    };
    let clusters = Line::of_normals(&normals.iter().map(along).collect::<Vec<_>>())?.clusters();
    let members = people.iter().enumerate().map(|(n, voice)| {
        let (cluster, cluster_probability) = likeliest(&clusters.members[n]);
        Member {
            participant: voice.participant,
            raw: None,
            shrunk: None,
            raw_weights: Some(normals[n].mean.clone()),
            shrunk_weights: Some(common.shrunk[n].mean.clone()),
            place: Some(place(&normals[n])),
            cluster,
            cluster_probability,
            prefers: None,
        }
    });
    let interval = |n: usize| {
        let (mean, sd) = (common.typical.mean[n], common.typical.covariance[n][n].max(0.0).sqrt());
        Estimate { estimate: mean, low: mean - 1.96 * sd, high: mean + 1.96 * sd }
    };
    let Typical { metric, draws, .. } = Typical::on_a_map(&metrics[0], &common);
    let experts = Experts {
        people: people.len(),
        ratio: None,
        spread: None,
        weights: Some((0..common.typical.mean.len()).map(interval).collect()),
        directions: Some(common.directions.clone()),
        members: members.collect(),
        hidden: false,
        clusters: clusters.clusters,
        cluster_gains: clusters.gains,
        models: None,
        typical: metric,
        typical_draws: draws,
    };
    let draws = move |n: usize| drawn(&metrics[n], &common.shrunk[n], n as u64 + 1);
    Some((experts, Box::new(draws)))
}

/// Weights of length 1 with their covariance.
fn normal(metric: &Metric) -> Option<Normal> {
    let mean = metric.coefficients();
    let length = weights::dot(&mean, &mean).sqrt();
    let scaled = |x: &f64| x / length;
    let covariance = metric.posterior()?.covariance();
    let covariance = covariance.iter().map(|row| row.iter().map(|x| x / length / length).collect()).collect();
    (length > 0.0).then(|| Normal { mean: mean.iter().map(scaled).collect(), covariance })
}

/// Metrics like one of the people's, drawn around other weights.
fn drawn(like: &Metric, normal: &Normal, seed: u64) -> Vec<Metric> {
    let metric = around(like, normal);
    let draws = metric.draws(DRAWS, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
    if draws.is_empty() { vec![metric; DRAWS] } else { draws }
}

/// A metric like one of the people's at other weights, with how sure they are.
fn around(like: &Metric, normal: &Normal) -> Metric {
    let at = metric_at(like, &normal.mean);
    let posterior =
        Posterior::new(at.coefficients(), normal.covariance.clone()).map(Posterior::with_known_signs);
    posterior.and_then(|posterior| at.clone().with_posterior(posterior)).unwrap_or(at)
}

/// A metric of the same family with other weights; a weight that may not be negative is then 0.
pub(crate) fn metric_at(like: &Metric, weights: &[f64]) -> Metric {
    let clipped = || weights.iter().map(|w| w.max(0.0)).collect::<Vec<f64>>();
    like.with_coefficients(weights)
        .or_else(|_| like.with_coefficients(&clipped()))
        .unwrap_or_else(|_| like.clone())
}

fn likeliest(shares: &[f64]) -> (usize, f64) {
    let best = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0);
    (best, shares.get(best).copied().unwrap_or(1.0))
}
