//! The report of a study, and how it is made.

use crate::choice::{self, Share};
use crate::fidelity::Shares;
use crate::group::{Experts, FEWEST_SHOWN, Voice, experts_of};
use crate::jobs::each;
use crate::models::{ModelReport, models};
use crate::person::{PersonReport, Ratio, person};
use crate::rates::{self, ExchangeRate, GapPrice};
use crate::rows::Rows;
use crate::sensitivity::{Heard, Noise, Sensitivity, sensitivity};
use crate::sentence;
use crate::threshold::{ThresholdReport, threshold};
use equipoise_study::numbers::when;
use equipoise_study::study::Variant;
use equipoise_study::{Design, Error, Participant, People, Result};
use serde::Serialize;
use std::sync::{Arc, OnceLock};

/// What the report is to have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which answers mattered most. Costs a replay of all answers per answer.
    pub why: bool,
    /// For passing on: people are not shown one by one where they are fewer than [`FEWEST_SHOWN`].
    pub shared: bool,
    /// Also people who were invited to another version of the study.
    pub mix_versions: bool,
    /// One participant only, by number.
    pub participant: Option<u64>,
}

/// The report of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of the document, 1.
    pub format: u64,
    /// The study's name.
    pub study: String,
    /// What participants read at the top.
    pub title: String,
    /// Its version.
    pub version: u64,
    /// Its hash: file, stop rule, exclusion rule and data.
    pub hash: String,
    /// The head of the log the report was made from.
    pub head: String,
    /// The days of the first and the last answer that is in it, if there is one.
    pub answered: Option<[String; 2]>,
    /// Participants of other versions of the study.
    pub other_versions: usize,
    /// Whether those are in this report all the same.
    pub mixed_versions: bool,
    /// What a reader must know first, a sentence each.
    pub first: Vec<String>,
    /// Everybody who answered a comparison; nobody where they are hidden.
    pub people: Vec<PersonReport>,
    /// Whether people are left out because they are few and the report is passed on.
    pub hidden: bool,
    /// How many answered, have a metric, were refused one, are named by the exclusion rule.
    pub counts: Counts,
    /// All who have a metric together.
    pub group: Option<Group>,
    /// Without those the exclusion rule names.
    pub group_without_excluded: Option<Group>,
    /// The models of the study by the typical metric; by the person's, where there is one only.
    pub models: Option<ModelReport>,
    /// The threshold for the same.
    pub threshold: Option<ThresholdReport>,
    /// What all this depends on.
    pub sensitivity: Option<Sensitivity>,
}

/// How many people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Answered a comparison.
    pub answered: usize,
    /// Have a metric.
    pub with_metric: usize,
    /// Were refused one.
    pub refused: usize,
    /// Are named by the exclusion rule.
    pub excluded: usize,
}

/// Several participants together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What they hold.
    pub experts: Experts,
    /// That in a sentence.
    pub sentence: String,
    /// More classes or groups: every kind of mistake in units of one of them, by the typical metric.
    pub rates: Vec<ExchangeRate>,
    /// Groups: what closing each gap is worth, by the typical metric.
    pub gaps: Vec<GapPrice>,
    /// Candidates with attributes: what each attribute weighs, by the typical metric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// Evaluation answers predicted, over all of them.
    pub fidelity: Shares,
    /// Which rows all this comes from.
    pub rows: Rows,
}

/// Makes the report.
pub fn report(design: &Arc<Design>, people: &[Participant], head: &str, options: &Options) -> Report {
    match report_while(design, &people, head, options, &|_| true) {
        Ok(Some(report)) => report,
        _ => unreachable!("it goes on to the end, and nobody has to be looked for"),
    }
}

/// How far a report is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// People who are done.
    pub done: usize,
    /// Of so many; when all are, they are put together.
    pub of: usize,
}

/// Why a report comes to no end.
pub(crate) enum Ended {
    /// Nobody wants it any more.
    Stopped,
    /// Somebody could not be read.
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What is kept of somebody: they themselves are large, and there may be many.
struct Known {
    /// Where they are among all.
    place: usize,
    report: PersonReport,
    voice: Voice,
    otherwise: Vec<Voice>,
    variant: Option<Variant>,
    answered: Option<[i64; 2]>,
}

/// Who somebody is to a report.
enum Met {
    /// Nobody it is about: gone, or without an answer.
    Nobody,
    /// Somebody of another version of the study, who is not to be in it.
    Other,
    /// Somebody who is in it, and whether of another version.
    In(Box<Known>, bool),
}

/// Makes the report as long as somebody wants it: `goes_on` is told how far it is, often, and ends it with `false`.
pub fn report_while(
    design: &Arc<Design>,
    people: &dyn People,
    head: &str,
    options: &Options,
    goes_on: &dyn Fn(Progress) -> bool,
) -> Result<Option<Report>> {
    match made(design, people, head, options, goes_on) {
        Ok(report) => Ok(Some(report)),
        Err(Ended::Stopped) => Ok(None),
        Err(Ended::Failed(error)) => Err(error),
    }
}

fn made(
    design: &Arc<Design>,
    people: &dyn People,
    head: &str,
    options: &Options,
    goes_on: &dyn Fn(Progress) -> bool,
) -> Result<Report, Ended> {
    let (of, curves, noises) = (people.count(), OnceLock::new(), Noise::all(design));
    let met = each(of, &|done| goes_on(Progress { done, of }), |n| -> Result<Met> {
        let Some(one) = people.person(n)?.filter(|one| one.invited().is_some() && !one.withdrawn()) else {
            return Ok(Met::Nobody);
        };
        let invited = one.invited();
        let other = invited.is_none_or(|invited| invited.study != design.hash());
        let wanted = one.last_answered().is_some()
            && (options.participant.is_none()
                || options.participant == invited.map(|invited| invited.number))
            && (!other || (options.mix_versions && alike(design, &one)));
        if !wanted {
            return Ok(if other { Met::Other } else { Met::Nobody });
        }
        let mut report = person(&one, options.why);
        if let Some(found) = &mut report.threshold {
            found.curves = curves.get_or_init(|| found.curves.clone()).clone();
        }
        let known = Known {
            place: n,
            voice: Voice::of(report.participant, one.belief()),
            otherwise: match &report.refusal {
                Some(_) => vec![],
                None => noises.iter().map(|noise| noise.voice(design, &one, report.participant)).collect(),
            },
            variant: invited.map(|invited| invited.variant),
            answered: answered(one.questions().iter().filter_map(|question| question.answered_at)),
            report,
        };
        Ok(Met::In(Box::new(known), other))
    })
    .ok_or(Ended::Stopped)?;
    let all_done = || goes_on(Progress { done: of, of });
    if !all_done() {
        return Err(Ended::Stopped);
    }
    let (mut everybody, mut other_versions): (Vec<Known>, usize) = (vec![], 0);
    for one in met {
        match one? {
            Met::Nobody => {}
            Met::Other => other_versions += 1,
            Met::In(known, other) => {
                other_versions += usize::from(other);
                everybody.push(*known);
            }
        }
    }
    let with_metric: Vec<&Known> = everybody.iter().filter(|known| known.report.refusal.is_none()).collect();
    let kept: Vec<&Known> =
        with_metric.iter().copied().filter(|known| !known.report.conduct.excluded).collect();
    let group = together(design, &with_metric);
    let (models, threshold) = match (&group, with_metric.as_slice()) {
        (Some(group), _) => {
            let (metric, draws) = (&group.experts.typical, &group.experts.typical_draws);
            (models(design, metric, draws), threshold(design, metric, draws))
        }
        (None, [only]) => (only.report.models.clone(), only.report.threshold.clone()),
        _ => (None, None),
    };
    let counts = Counts {
        answered: everybody.len(),
        with_metric: with_metric.len(),
        refused: everybody.len() - with_metric.len(),
        excluded: everybody.iter().filter(|known| known.report.conduct.excluded).count(),
    };
    let heard: Vec<Heard<'_>> = with_metric.iter().map(|known| known.heard()).collect();
    let sensitivity = sensitivity(design, people, &heard, &noises, &all_done)?;
    let group_without_excluded =
        if kept.len() == with_metric.len() { group.clone() } else { together(design, &kept) };
    let hidden = options.shared && everybody.len() < FEWEST_SHOWN;
    let shown = |group: Group| match options.shared {
        true => Group { experts: group.experts.shared(), ..group },
        false => group,
    };
    // Of one person alone even the models say what that person holds.
    let alone = hidden && group.is_none();
    let (models, threshold, sensitivity) =
        if alone { (None, None, None) } else { (models, threshold, sensitivity) };
    let days = answered(everybody.iter().filter_map(|known| known.answered).flatten());
    let mut report = Report {
        format: 1,
        study: design.study().name.clone(),
        title: design.study().title.r#in("en").to_owned(),
        version: design.study().version,
        hash: design.hash().to_owned(),
        head: head.to_owned(),
        // Of "2026-11-17 16:22:00 UTC" the day.
        answered: days.map(|ends| ends.map(|at| when(at).split(' ').next().unwrap_or_default().to_owned())),
        other_versions,
        mixed_versions: options.mix_versions && other_versions > 0,
        first: vec![],
        people: match hidden {
            true => vec![],
            false => everybody.into_iter().map(|known| known.report).collect(),
        },
        hidden,
        counts,
        group: group.map(shown),
        group_without_excluded: group_without_excluded.map(shown),
        models,
        threshold,
        sensitivity,
    };
    report.first = sentence::first(&report);
    Ok(report)
}

impl Known {
    fn heard(&self) -> Heard<'_> {
        Heard {
            place: self.place,
            conduct: &self.report.conduct,
            voice: &self.voice,
            otherwise: &self.otherwise,
            variant: self.variant,
        }
    }
}

/// The first and the last of some times, by the server's clock.
fn answered(times: impl Iterator<Item = i64>) -> Option<[i64; 2]> {
    times.fold(None, |ends: Option<[i64; 2]>, at| match ends {
        Some([first, last]) => Some([first.min(at), last.max(at)]),
        None => Some([at, at]),
    })
}

/// Whether the answers of another version are about the same kind of thing.
fn alike(design: &Design, person: &Participant) -> bool {
    person
        .questions()
        .iter()
        .all(|question| design.frame().fits(&question.asked.query, &question.asked.shown))
}

fn together(design: &Arc<Design>, people: &[&Known]) -> Option<Group> {
    let voices: Vec<&Voice> = people.iter().map(|known| &known.voice).collect();
    let experts = experts_of(design, &voices)?;
    let fidelity = Shares::pooled(people.iter().map(|known| &known.report.fidelity.shares));
    let rows = Rows::all(people.iter().map(|known| &known.report.rows));
    let voice = sentence::Voice::of_people(people.len());
    let shares = choice::shares(design, &experts.typical);
    let (rates, gaps) = match experts.ratio {
        Some(_) => (vec![], vec![]),
        None => {
            let metric = &experts.typical;
            (rates::exchange_rates(design, metric, &rows), rates::gap_prices(design, metric, &voice, &rows))
        }
    };
    let sentence = match experts.ratio {
        Some(ratio) => {
            let ratio = Ratio { estimate: ratio.estimate, low: Some(ratio.low), high: Some(ratio.high) };
            sentence::binary(design.study(), &voice, ratio)
        }
        None if design.is_choice() => {
            let ranked = models(design, &experts.typical, &experts.typical_draws);
            choice::sentence(&voice, &shares, ranked.as_ref())
        }
        None => sentence::weights(&voice, &rates, &gaps),
    };
    Some(Group { experts, sentence, rates, gaps, shares, fidelity, rows })
}
