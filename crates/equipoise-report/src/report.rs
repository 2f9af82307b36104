//! The report of a study, and how it is made.

use crate::choice::{self, Share};
use crate::fidelity::Shares;
use crate::group::{Experts, FEWEST_SHOWN, Voice, experts_of};
use crate::jobs::each;
use crate::models::{ModelReport, models};
use crate::person::{PersonReport, Ratio, person};
use crate::rates::{self, ExchangeRate, GapPrice};
use crate::rows::Rows;
use crate::sensitivity::{Heard, Sensitivity, sensitivity};
use crate::sentence;
use crate::threshold::{ThresholdReport, threshold};
use equipoise_study::numbers::when;
use equipoise_study::{Design, Participant};
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
    match report_while(design, people, head, options, &|_| true) {
        Some(report) => report,
        None => unreachable!("it goes on to the end"),
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

/// Makes the report as long as somebody wants it: `goes_on` is told how far it is, often, and ends it with `false`.
pub fn report_while(
    design: &Arc<Design>,
    people: &[Participant],
    head: &str,
    options: &Options,
    goes_on: &dyn Fn(Progress) -> bool,
) -> Option<Report> {
    let there = |person: &&Participant| person.invited().is_some() && !person.withdrawn();
    let ours = |person: &Participant| person.invited().is_some_and(|invited| invited.study == design.hash());
    let other_versions = people.iter().filter(there).filter(|person| !ours(person)).count();
    let wanted = |person: &&Participant| {
        let number = person.invited().map(|invited| invited.number);
        person.last_answered().is_some()
            && (options.participant.is_none() || options.participant == number)
            && (ours(person) || (options.mix_versions && alike(design, person)))
    };
    let people: Vec<&Participant> = people.iter().filter(there).filter(wanted).collect();
    let of = people.len();
    let curves = OnceLock::new();
    let (reports, voices): (Vec<PersonReport>, Vec<Voice>) =
        each(of, &|done| goes_on(Progress { done, of }), |n| {
            // A belief takes a quarter of a megabyte and is kept with its person: a copy goes, and its belief with it.
            let one = Participant::clone(people[n]);
            let mut report = person(&one, options.why);
            if let Some(found) = &mut report.threshold {
                found.curves = curves.get_or_init(|| found.curves.clone()).clone();
            }
            let voice = Voice::of(report.participant, one.belief());
            (report, voice)
        })?
        .into_iter()
        .unzip();
    let all_done = || goes_on(Progress { done: of, of });
    if !all_done() {
        return None;
    }
    let both: Vec<(&Voice, &PersonReport)> = voices.iter().zip(&reports).collect();
    let with_metric: Vec<(&Voice, &PersonReport)> =
        both.iter().copied().filter(|(_, report)| report.refusal.is_none()).collect();
    let kept: Vec<(&Voice, &PersonReport)> =
        with_metric.iter().copied().filter(|(_, report)| !report.conduct.excluded).collect();
    let heard: Vec<Heard<'_>> = people
        .iter()
        .zip(&both)
        .filter(|(_, (_, report))| report.refusal.is_none())
        .map(|(participant, (voice, report))| Heard { participant, conduct: &report.conduct, voice })
        .collect();
    let group = together(design, &with_metric);
    let (models, threshold) = match (&group, with_metric.as_slice()) {
        (Some(group), _) => {
            let (metric, draws) = (&group.experts.typical, &group.experts.typical_draws);
            (models(design, metric, draws), threshold(design, metric, draws))
        }
        (None, [(_, only)]) => (only.models.clone(), only.threshold.clone()),
        _ => (None, None),
    };
    let counts = Counts {
        answered: reports.len(),
        with_metric: with_metric.len(),
        refused: reports.len() - with_metric.len(),
        excluded: reports.iter().filter(|person| person.conduct.excluded).count(),
    };
    let sensitivity = sensitivity(design, &heard, &all_done)?;
    let group_without_excluded =
        if kept.len() == with_metric.len() { group.clone() } else { together(design, &kept) };
    let hidden = options.shared && reports.len() < FEWEST_SHOWN;
    let shown = |group: Group| match options.shared {
        true => Group { experts: group.experts.shared(), ..group },
        false => group,
    };
    // Of one person alone even the models say what that person holds.
    let alone = hidden && group.is_none();
    let (models, threshold, sensitivity) =
        if alone { (None, None, None) } else { (models, threshold, sensitivity) };
    let mut report = Report {
        format: 1,
        study: design.study().name.clone(),
        title: design.study().title.r#in("en").to_owned(),
        version: design.study().version,
        hash: design.hash().to_owned(),
        head: head.to_owned(),
        answered: answered(&people),
        other_versions,
        mixed_versions: options.mix_versions && other_versions > 0,
        first: vec![],
        people: if hidden { vec![] } else { reports },
        hidden,
        counts,
        group: group.map(shown),
        group_without_excluded: group_without_excluded.map(shown),
        models,
        threshold,
        sensitivity,
    };
    report.first = sentence::first(&report);
    Some(report)
}

/// The days of the first and the last answer, by the server's clock.
fn answered(people: &[&Participant]) -> Option<[String; 2]> {
    let times =
        people.iter().flat_map(|person| person.questions()).filter_map(|question| question.answered_at);
    let ends = times.fold(None, |ends: Option<[i64; 2]>, at| match ends {
        Some([first, last]) => Some([first.min(at), last.max(at)]),
        None => Some([at, at]),
    });
    // Of "2026-11-17 16:22:00 UTC" the day.
    ends.map(|ends| ends.map(|at| when(at).split(' ').next().unwrap_or_default().to_owned()))
}

/// Whether the answers of another version are about the same kind of thing.
fn alike(design: &Design, person: &Participant) -> bool {
    person
        .questions()
        .iter()
        .all(|question| design.frame().fits(&question.asked.query, &question.asked.shown))
}

fn together(design: &Arc<Design>, people: &[(&Voice, &PersonReport)]) -> Option<Group> {
    let voices: Vec<&Voice> = people.iter().map(|(voice, _)| *voice).collect();
    let experts = experts_of(design, &voices)?;
    let fidelity = Shares::pooled(people.iter().map(|(_, report)| &report.fidelity.shares));
    let rows = Rows::all(people.iter().map(|(_, report)| &report.rows));
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
