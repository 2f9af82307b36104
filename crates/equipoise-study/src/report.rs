//! What a study found: a pure function of its log.
//!
//! For each participant the sentence with its interval, how well the metric predicts answers that were kept out of it,
//! and how consistent the answers are; for all together the typical ratio, with and without those the exclusion rule
//! names. A metric the answers do not support is refused, with the reason.

use crate::belief::Belief;
use crate::design::Design;
use crate::event::{Choice, Purpose, When};
use crate::numbers::{sign_test, significant, wilson};
use crate::participant::{Participant, Question, Stated, take};
use crate::people::{Conduct, chose_fewer_missed, ratio};
use crate::schedule::Stopped;
use equipoise::{Measure, Metric, Preference, Sense, View};
use serde::Serialize;
use std::sync::Arc;

/// The ratios the engine considers end here; a quantile near the end says "no limit".
const LARGEST_RATIO: f64 = 190.0;

/// Fewer answers than this support no metric (RP-11).
const FEWEST: usize = 8;

/// The report of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of the document, 1.
    pub format: u64,
    /// The study's name.
    pub study: String,
    /// Its version.
    pub version: u64,
    /// Its hash: file, stop rule, exclusion rule and data.
    pub hash: String,
    /// The head of the log the report was made from.
    pub head: String,
    /// Participants of other versions of the study, who are not in this report.
    pub other_versions: usize,
    /// Everybody who answered a comparison.
    pub people: Vec<PersonReport>,
    /// All together.
    pub group: Option<Group>,
    /// Without those the exclusion rule names.
    pub group_without_excluded: Option<Group>,
}

/// What one participant's answers say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonReport {
    /// Counted from 1 in the order of invitations.
    pub participant: u64,
    /// The one-sentence answer.
    pub sentence: String,
    /// Why no metric is reported, if none is.
    pub refusal: Option<String>,
    /// Two classes: how many false alarms a missed case is worth, with its 95 % interval.
    pub ratio: Option<Ratio>,
    /// The metric with its posterior; nothing where it is refused.
    pub metric: Option<serde_json::Value>,
    /// Answers the estimate is made of.
    pub answers: usize,
    /// Why the questions ended.
    pub stopped: Option<Stopped>,
    /// How well it predicts.
    pub fidelity: Fidelity,
    /// What was stated before and after.
    pub stated: [Option<Stated>; 2],
    /// How the participant answered.
    pub conduct: Conduct,
    /// Response times against how close the choice was.
    pub response_times: Option<Slope>,
    /// The answers that moved the estimate most.
    pub why: Vec<Influence>,
}

/// A ratio with its 95 % interval; an end that the answers do not set is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The middle of the posterior.
    pub estimate: f64,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// M: how many of the evaluation answers each metric predicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fidelity {
    /// Evaluation questions answered with a choice.
    pub answers: usize,
    /// The elicited metric.
    pub elicited: Option<Agreement>,
    /// The cost stated before.
    pub stated: Option<Agreement>,
    /// Always the system that misses fewer.
    pub fewest_missed: Option<Agreement>,
    /// Always the system with fewer mistakes.
    pub fewest_mistakes: Option<Agreement>,
    /// The ceiling: how often the participant agrees with themselves.
    pub own_repeats: Option<Agreement>,
    /// The exact paired test of elicited against stated: the probability of so uneven a split by chance.
    pub elicited_against_stated: Option<f64>,
}

/// So many of so many, with the share and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// So many.
    pub agree: usize,
    /// Of so many.
    pub of: usize,
    /// The share.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Agreement {
    fn new(agree: usize, of: usize) -> Option<Self> {
        wilson(agree, of).map(|[share, low, high]| Self { agree, of, share, low, high })
    }
}

/// A straight line through logarithms of response times, against differences of utility.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slope {
    /// Answers with a time.
    pub answers: usize,
    /// Change of the logarithm per unit of difference; negative where close choices take longer.
    pub slope: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// Its 95 % interval.
    pub high: f64,
}

/// What one answer did to the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Influence {
    /// The comparison's number.
    pub question: usize,
    /// What was chosen.
    pub choice: Choice,
    /// The estimate without it.
    pub without: f64,
    /// The estimate had the other been chosen.
    pub had_it_been_the_other: Option<f64>,
}

/// Several participants together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// How many have a metric.
    pub people: usize,
    /// The geometric mean of their ratios.
    pub mean_ratio: f64,
    /// The middle one.
    pub median_ratio: f64,
    /// The standard deviation of the logarithms.
    pub spread: f64,
    /// Evaluation answers predicted, over all of them: elicited, stated, fewest missed.
    pub fidelity: [Option<Agreement>; 3],
}

/// Makes the report. `why` costs a replay of all answers per answer.
pub fn report(design: &Arc<Design>, people: &[Participant], head: &str, why: bool) -> Report {
    let ours = |person: &&Participant| person.invited().is_some_and(|invited| invited.study == design.hash());
    let there = |person: &&Participant| person.invited().is_some() && !person.withdrawn();
    let other_versions = people.iter().filter(there).filter(|person| !ours(person)).count();
    let answered = |person: &&Participant| person.last_answered().is_some();
    let people: Vec<PersonReport> =
        people.iter().filter(there).filter(ours).filter(answered).map(|p| person(p, why)).collect();
    Report {
        format: 1,
        study: design.study().name.clone(),
        version: design.study().version,
        hash: design.hash().to_owned(),
        head: head.to_owned(),
        other_versions,
        group: group(people.iter()),
        group_without_excluded: group(people.iter().filter(|person| !person.conduct.excluded)),
        people,
    }
}

/// What one participant's answers say; also what the last page shows them.
pub fn person(participant: &Participant, why: bool) -> PersonReport {
    let conduct = Conduct::of(participant);
    let of = |purpose: Purpose| participant.questions().iter().filter(move |q| q.asked.purpose == purpose);
    let answers = of(Purpose::Elicitation).filter(|q| q.answer.is_some()).count();
    let bounds = ratio(participant);
    let refusal = refusal(&conduct, answers, bounds, participant.stopped());
    let ratio = bounds.map(|[estimate, low, high]| Ratio {
        estimate,
        low: (low > 1.0 / LARGEST_RATIO).then_some(low),
        high: (high < LARGEST_RATIO).then_some(high),
    });
    let metric = participant.belief().metric();
    let stated = [When::Before, When::After].map(|when| participant.stated(when));
    let sentence = match (&refusal, ratio) {
        (Some(refusal), _) => format!("No metric is reported: {refusal}."),
        (None, Some(ratio)) => sentence(participant, ratio),
        (None, None) => exchange_rates(participant, &metric),
    };
    PersonReport {
        participant: participant.invited().map_or(0, |invited| invited.number),
        sentence,
        metric: match refusal {
            None => serde_json::from_str(&metric.to_json()).ok(),
            Some(_) => None,
        },
        refusal,
        ratio,
        answers,
        stopped: participant.stopped(),
        fidelity: fidelity(participant, &metric, stated[0]),
        stated,
        conduct,
        response_times: response_times(participant, &metric),
        why: if why { influences(participant) } else { vec![] },
    }
}

fn refusal(
    conduct: &Conduct,
    answers: usize,
    ratio: Option<[f64; 3]>,
    stopped: Option<Stopped>,
) -> Option<String> {
    if answers < FEWEST {
        return Some(format!("{answers} answers are too few, {FEWEST} are needed"));
    }
    let failed = conduct.dominated.of - conduct.dominated.count;
    if failed >= 2 {
        return Some(format!("{failed} of {} checks with a better system were failed", conduct.dominated.of));
    }
    match ratio {
        Some([_, low, high]) if stopped == Some(Stopped::Cap) && high / low > 3.0 => {
            Some("the answers contradict each other too much for an interval".to_owned())
        }
        _ => None,
    }
}

/// "You accept about 6.1 extra false alarms to avoid one missed cancer (95 % interval 4.8-7.9)."
fn sentence(participant: &Participant, ratio: Ratio) -> String {
    let study = participant.design().study();
    let language = "en";
    let (Some(miss), Some(alarm)) = (study.mistake(1, 0), study.mistake(0, 1)) else { return String::new() };
    let (low, high) = (ratio.low, ratio.high);
    if low.is_none_or(|low| low <= 1.0) && high.is_none_or(|high| high >= 1.0) {
        return "Your answers do not settle which mistake you consider worse.".to_owned();
    }
    // Told from the dearer mistake, so that the number is above 1.
    let turned = |x: Option<f64>| x.map(|x| 1.0 / x);
    let (estimate, low, high, dear, cheap) = match ratio.estimate >= 1.0 {
        true => (ratio.estimate, low, high, miss, alarm),
        false => (1.0 / ratio.estimate, turned(high), turned(low), alarm, miss),
    };
    let (dear, cheap) = (dear.one.r#in(language), cheap.many.r#in(language));
    match (low, high) {
        (Some(low), Some(high)) => {
            let digits = if high / low > 2.0 { 1 } else { 2 };
            let [estimate, low, high] = [estimate, low, high].map(|x| significant(x, digits));
            format!(
                "You accept about {estimate} extra {cheap} to avoid one {dear} (95 % interval {low}-{high})."
            )
        }
        (Some(low), None) => {
            let low = significant(low, 1);
            format!(
                "You accept at least {low} extra {cheap} to avoid one {dear}; your answers do not set an upper limit."
            )
        }
        _ => "Your answers do not settle which mistake you consider worse.".to_owned(),
    }
}

/// Weights of all kinds of mistake in units of the lightest that counts.
fn exchange_rates(participant: &Participant, metric: &Metric) -> String {
    let study = participant.design().study();
    let view = participant.design().frame().view();
    let weights: Vec<f64> =
        metric.coefficients().iter().take(view.classes() * (view.classes() - 1)).copied().collect();
    let pairs: Vec<(usize, usize)> = equipoise::rates::off_diagonal_pairs(view.classes()).collect();
    let mut named: Vec<(f64, String)> = pairs
        .iter()
        .zip(&weights)
        .map(|(&(truth, predicted), weight)| {
            let fallback = || {
                let id = |class: usize| study.task.classes[class].id.clone();
                format!("{} taken for {}", id(truth), id(predicted))
            };
            let name = study.mistake(truth, predicted).map_or_else(fallback, |m| m.one.r#in("en").to_owned());
            (weight.abs(), name)
        })
        .collect();
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    let largest = named.first().map_or(0.0, |first| first.0);
    let Some(reference) = named.iter().rev().find(|(weight, _)| *weight > 0.02 * largest).cloned() else {
        return "Your answers do not settle how bad the mistakes are.".to_owned();
    };
    let rates: Vec<String> = named
        .iter()
        .filter(|(weight, name)| *weight > 0.02 * largest && *name != reference.1)
        .map(|(weight, name)| format!("one {name} as bad as {}", significant(weight / reference.0, 2)))
        .collect();
    format!("In units of one {}: {}.", reference.1, rates.join(", "))
}

/// The cost a number of false alarms per missed case stands for.
fn stated_metric(ratio: f64) -> Option<Metric> {
    let view = View::new(Measure::Binary, 2, 1).ok()?;
    Metric::linear(view, Sense::Utility, vec![ratio, 1.0]).ok()
}

/// Which of the two shown systems a metric likes better; `None` for a tie.
fn likes(participant: &Participant, metric: &Metric, question: &Question) -> Option<Preference> {
    let query = participant.design().frame().query(&question.asked.shown);
    let [a, b] = [&query.first, &query.second].map(|point| metric.liking(point));
    match a.total_cmp(&b) {
        std::cmp::Ordering::Greater => Some(Preference::First),
        std::cmp::Ordering::Less => Some(Preference::Second),
        std::cmp::Ordering::Equal => None,
    }
}

fn chosen(question: &Question) -> Option<Preference> {
    match question.answer.as_ref()?.choice {
        Choice::A => Some(Preference::First),
        Choice::B => Some(Preference::Second),
        Choice::CannotTell => None,
    }
}

fn fidelity(participant: &Participant, metric: &Metric, stated: Option<Stated>) -> Fidelity {
    let evaluated: Vec<&Question> = participant
        .questions()
        .iter()
        .filter(|q| q.asked.purpose == Purpose::Evaluation && chosen(q).is_some())
        .collect();
    let hits = |metric: &Metric| -> Vec<bool> {
        evaluated.iter().map(|q| likes(participant, metric, q) == chosen(q)).collect()
    };
    let agreement = |hits: &[bool]| Agreement::new(hits.iter().filter(|hit| **hit).count(), hits.len());
    let elicited = hits(metric);
    let stated = stated
        .and_then(|stated| stated.ratio)
        .filter(|_| participant.design().binary().is_some())
        .and_then(stated_metric)
        .map(|metric| hits(&metric));
    let fewest: Vec<bool> = evaluated.iter().map(|q| chose_fewer_missed(q) == Some(true)).collect();
    let total = |cells: &[u64], q: &Question| -> u64 {
        let shown = &q.asked.shown;
        shown.mistakes().map(|(g, t, p)| cells[shown.cell(g, t, p)]).sum()
    };
    let accurate: Vec<bool> = evaluated
        .iter()
        .map(|q| match total(&q.asked.shown.a, q).cmp(&total(&q.asked.shown.b, q)) {
            std::cmp::Ordering::Less => chosen(q) == Some(Preference::First),
            std::cmp::Ordering::Greater => chosen(q) == Some(Preference::Second),
            std::cmp::Ordering::Equal => false,
        })
        .collect();
    let test = stated.as_ref().map(|stated| {
        let only = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|(a, b)| **a && !**b).count();
        sign_test(only(&elicited, stated), only(stated, &elicited))
    });
    let repeats = Conduct::of(participant).repeats;
    Fidelity {
        answers: evaluated.len(),
        elicited: agreement(&elicited),
        stated: stated.as_deref().and_then(agreement),
        fewest_missed: agreement(&fewest),
        fewest_mistakes: agreement(&accurate),
        own_repeats: Agreement::new(repeats.count, repeats.of),
        elicited_against_stated: test,
    }
}

/// Log response time against the difference of utility, by least squares.
fn response_times(participant: &Participant, metric: &Metric) -> Option<Slope> {
    let points: Vec<(f64, f64)> = participant
        .questions()
        .iter()
        .filter_map(|question| {
            let time = question.answer.as_ref()?.response_ms?;
            let query = participant.design().frame().query(&question.asked.shown);
            let difference = (metric.liking(&query.first) - metric.liking(&query.second)).abs();
            Some((difference, (time.max(1) as f64).ln()))
        })
        .collect();
    let n = points.len() as f64;
    if points.len() < 5 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sxx: f64 = points.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    if sxx <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / sxx;
    let residual: f64 = points.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    let half = 1.96 * (residual / (n - 2.0) / sxx).sqrt();
    Some(Slope { answers: points.len(), slope, low: slope - half, high: slope + half })
}

/// The three answers without which the estimate would be furthest away (RP-05). Two classes.
fn influences(participant: &Participant) -> Vec<Influence> {
    let design = participant.design();
    let Some(estimate) = participant.belief().quantile(0.5) else { return vec![] };
    let answers: Vec<(&Question, Choice)> =
        participant.questions().iter().filter_map(|q| Some((q, q.answer.as_ref()?.choice))).collect();
    let with = |changed: usize, to: Option<Choice>| -> f64 {
        let mut belief: Belief = design.belief();
        for (n, (question, choice)) in answers.iter().enumerate() {
            match (n == changed, to) {
                (true, Some(other)) => take(design, &mut belief, &question.asked, other),
                (true, None) => {}
                (false, _) => take(design, &mut belief, &question.asked, *choice),
            }
        }
        belief.quantile(0.5).unwrap_or(estimate)
    };
    let mut all: Vec<Influence> = answers
        .iter()
        .enumerate()
        .filter(|(_, (question, _))| question.asked.purpose == Purpose::Elicitation)
        .map(|(n, (question, choice))| Influence {
            question: question.asked.number,
            choice: *choice,
            without: with(n, None),
            had_it_been_the_other: match choice {
                Choice::A => Some(with(n, Some(Choice::B))),
                Choice::B => Some(with(n, Some(Choice::A))),
                Choice::CannotTell => None,
            },
        })
        .collect();
    all.sort_by(|a, b| {
        let moved = |influence: &Influence| (influence.without / estimate).ln().abs();
        moved(b).total_cmp(&moved(a))
    });
    all.truncate(3);
    all
}

fn group<'a>(people: impl Iterator<Item = &'a PersonReport>) -> Option<Group> {
    let people: Vec<&PersonReport> = people.filter(|person| person.refusal.is_none()).collect();
    let mut logs: Vec<f64> = people.iter().filter_map(|p| p.ratio.map(|ratio| ratio.estimate.ln())).collect();
    if logs.is_empty() {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let n = logs.len();
    let mean = logs.iter().sum::<f64>() / n as f64;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0).max(1.0);
    let pooled = |of: fn(&Fidelity) -> Option<Agreement>| {
        let all = people.iter().filter_map(|person| of(&person.fidelity));
        let (agree, total) = all.fold((0, 0), |(agree, total), a| (agree + a.agree, total + a.of));
        Agreement::new(agree, total)
    };
    Some(Group {
        people: n,
        mean_ratio: mean.exp(),
        median_ratio: (0.5 * (logs[(n - 1) / 2] + logs[n / 2])).exp(),
        spread: variance.sqrt(),
        fidelity: [pooled(|f| f.elicited), pooled(|f| f.stated), pooled(|f| f.fewest_missed)],
    })
}
