//! All participants together: what they have in common, where they differ, and whether that matters.

use super::overview::known;
use super::{FEWEST, counted, exchange, interval};
use crate::researcher::Shared;
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Problem};
use crate::researcher::chart;
use crate::researcher::watch::{Line, Seen};
use equipoise_report::group::{Estimate, Experts, Member, experts};
use equipoise_report::{choices, refused};
use equipoise_study::numbers::two_digits;
use equipoise_study::{Belief, Participant};
use std::sync::{Arc, PoisonError};

/// Clusters are worth a word from this much better an explanation on (in BIC).
const STRONG: f64 = 6.0;

/// What a group came to, and which answers it was made from.
pub type Kept = Option<(u64, Option<Arc<Experts>>)>;

/// What is shown of the group.
pub struct Shown {
    pub without_excluded: bool,
    pub excluded: usize,
    /// Why there is nothing to show.
    pub nothing: Option<String>,
    pub people: String,
    pub sentence: String,
    pub facts: Vec<(&'static str, String)>,
    /// More classes or groups: what each kind of mistake and each gap is worth.
    pub worths: Vec<(String, String)>,
    pub clusters: Vec<(usize, String, String)>,
    pub map: Option<String>,
    pub members: Vec<Row>,
    pub weights: bool,
    pub models: Option<Models>,
}

/// A member of the group.
pub struct Row {
    pub number: u64,
    pub raw: String,
    pub shrunk: String,
    pub cluster: usize,
    pub prefers: String,
}

/// What it means for the choice of a model.
pub struct Models {
    pub sentence: String,
    pub differ: bool,
    /// What there is to choose from: a model, or a candidate.
    pub one: &'static str,
    pub disagreement: String,
    /// As the report has them.
    pub tables: String,
}

/// What is shown of those who have a metric, `together`.
pub fn shown(call: &Call<'_>, seen: &Seen, found: Option<&Experts>, without_excluded: bool) -> Shown {
    let wanted = |line: &Line| line.counts() && !(without_excluded && line.excluded);
    let one_by_one = call.account().role >= Role::Analyst;
    let enough = found.filter(|experts| one_by_one || experts.people >= FEWEST);
    let nothing = match (enough, found) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(format!("Groups are shown from {FEWEST} people on.")),
        (None, None) => Some("Fewer than two people have answered enough for a metric.".to_owned()),
    };
    let blinded = seen.blinded;
    Shown {
        without_excluded,
        // Of those with a metric: whoever has none is not in the group to begin with.
        excluded: found.map_or(0, |experts| {
            let named = |member: &&Member| seen.person(member.participant).is_some_and(|line| line.excluded);
            experts.members.iter().filter(named).count()
        }),
        nothing,
        people: counted(enough.map_or(seen.count(wanted), |experts| experts.people), "person", "people"),
        sentence: enough.map_or(String::new(), |experts| sentence(call, experts, blinded)),
        facts: enough.map_or(vec![], |experts| facts(experts, blinded)),
        worths: enough.filter(|experts| !blinded && experts.weights.is_some()).map_or(vec![], |experts| {
            let found = equipoise_report::worths(call.shared.service.design(), &experts.typical);
            found.iter().map(|worth| (worth.what.clone(), worth.told())).collect()
        }),
        clusters: enough.filter(|_| !blinded).map_or(vec![], clusters),
        map: enough.filter(|_| !blinded && one_by_one).and_then(map),
        members: enough
            .filter(|_| one_by_one)
            .map_or(vec![], |experts| experts.members.iter().map(|member| row(member, blinded)).collect()),
        weights: enough.is_some_and(|experts| experts.weights.is_some()),
        models: enough.filter(|_| !blinded).and_then(models),
    }
}

/// What everybody holds together; made anew when somebody has answered. Costs some time, so it is kept.
pub fn together(
    shared: &Shared,
    seen: &Seen,
    without_excluded: bool,
) -> Result<Option<Arc<Experts>>, Problem> {
    let wanted: Vec<&Arc<Line>> =
        seen.people.iter().filter(|line| line.counts() && !(without_excluded && line.excluded)).collect();
    let made_from = fingerprint(&wanted, without_excluded);
    let mut kept = shared.together.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((from, found)) = &*kept
        && *from == made_from
    {
        return Ok(found.clone());
    }
    let mut people: Vec<(u64, Belief)> = vec![];
    for line in wanted {
        let Some(number) = line.person.number else { continue };
        let participant = shared.service.peek(&line.session, Participant::clone)?;
        // Whose answers support no metric is nobody's evidence.
        if refused(&participant).is_none() {
            people.push((number, participant.belief().clone()));
        }
    }
    let people: Vec<(u64, &Belief)> = people.iter().map(|(number, belief)| (*number, belief)).collect();
    let found = experts(shared.service.design(), &people).map(Arc::new);
    *kept = Some((made_from, found.clone()));
    Ok(found)
}

/// Which answers of whom; changes with every one of them.
fn fingerprint(lines: &[&Arc<Line>], without_excluded: bool) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hash = DefaultHasher::new();
    without_excluded.hash(&mut hash);
    for line in lines {
        (&line.session, line.last_at, line.person.answers).hash(&mut hash);
    }
    hash.finish()
}

fn three(estimate: &Estimate) -> [f64; 3] {
    [estimate.estimate, estimate.low, estimate.high]
}

fn sentence(call: &Call<'_>, experts: &Experts, blinded: bool) -> String {
    match (&experts.ratio, blinded) {
        (Some(ratio), true) => format!("The typical cost ratio is {}.", known(three(ratio), true)),
        (Some(ratio), false) => {
            format!("To a typical member of the group, {}.", exchange(call.study(), three(ratio)))
        }
        (None, true) => "Results are hidden: the study is blinded.".to_owned(),
        (None, false) => {
            let found = equipoise_report::worths(call.shared.service.design(), &experts.typical);
            let first = found.iter().find(|worth| worth.gap).or_else(|| found.first());
            match first {
                Some(worth) => format!("To a typical member of the group, {}.", worth.clause()),
                None => "The answers do not settle how bad the mistakes are.".to_owned(),
            }
        }
    }
}

fn facts(experts: &Experts, blinded: bool) -> Vec<(&'static str, String)> {
    let mut facts = vec![];
    if let Some(ratio) = &experts.ratio {
        facts.push(("Typical cost ratio, 95\u{a0}% interval", known(three(ratio), blinded)));
    }
    if let Some(spread) = &experts.spread {
        facts.push(("Two thirds of people lie within a factor of", interval(three(spread).map(f64::exp))));
    }
    facts
}

/// Clusters, if the answers speak for more than one: number, share, middle.
fn clusters(experts: &Experts) -> Vec<(usize, String, String)> {
    if experts.clusters.len() < 2 || experts.cluster_gains.iter().all(|gain| *gain < STRONG) {
        return vec![];
    }
    let clusters = experts.clusters.iter().enumerate();
    clusters
        .map(|(n, cluster)| {
            (n + 1, format!("{:.0}\u{a0}%", 100.0 * cluster.share), two_digits(cluster.middle))
        })
        .collect()
}

/// Everybody on one scale, or on the plane.
fn map(experts: &Experts) -> Option<String> {
    let mut line: Vec<(String, [f64; 3])> = experts
        .members
        .iter()
        .filter_map(|member| Some((member.participant.to_string(), three(member.shrunk.as_ref()?))))
        .collect();
    if !line.is_empty() {
        line.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
        return Some(chart::crowd(&line));
    }
    let places: Vec<(String, [f64; 2], [f64; 3])> = experts
        .members
        .iter()
        .filter_map(|member| {
            let place = member.place?;
            Some((member.participant.to_string(), [place.x, place.y], place.covariance))
        })
        .collect();
    (!places.is_empty()).then(|| chart::plane(&places))
}

fn row(member: &Member, blinded: bool) -> Row {
    let words = |estimate: &Option<Estimate>| {
        estimate.as_ref().map_or(String::new(), |estimate| known(three(estimate), blinded))
    };
    Row {
        number: member.participant,
        raw: words(&member.raw),
        shrunk: words(&member.shrunk),
        cluster: member.cluster + 1,
        prefers: if blinded { String::new() } else { member.prefers.clone().unwrap_or_default() },
    }
}

fn models(experts: &Experts) -> Option<Models> {
    let together = experts.models.as_ref()?;
    let percent = |share: f64| format!("{:.0}\u{a0}%", 100.0 * share);
    let Estimate { estimate, low, high } = together.disagreement;
    Some(Models {
        sentence: together.sentence.clone(),
        differ: together.rules_differ,
        one: together.one,
        disagreement: format!(
            "{} (95\u{a0}% interval {} to {})",
            percent(estimate),
            percent(low),
            percent(high)
        ),
        tables: choices(experts)?,
    })
}
