//! Why this metric: the answers that moved the estimate most (RP-05).

use crate::rates::{Prices, names, worth};
use crate::sentence::LANGUAGE;
use equipoise_study::event::{Choice, Purpose};
use equipoise_study::numbers::{significant, two_digits};
use equipoise_study::shown::Shown;
use equipoise_study::{Belief, Participant, Question, Study, take};
use serde::Serialize;

/// How many answers are named.
const NAMED: usize = 3;

/// What one answer did to the estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Influence {
    /// The comparison's number.
    pub question: usize,
    /// What was chosen.
    pub choice: Choice,
    /// Two classes: the ratio without it.
    pub without: Option<f64>,
    /// Two classes: the ratio had the other been chosen; nothing for "can't tell".
    pub had_it_been_the_other: Option<f64>,
    /// By how many degrees the weights turn without it.
    pub turned: f64,
    /// More classes or groups: what changes most had the other been chosen, or without it after "can't tell".
    pub change: Option<Change>,
    /// In words.
    pub sentence: String,
    /// The answer, as participant and event.
    pub rows: crate::Rows,
}

/// A number that an answer moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What it is: "one emergency predicted as routine, in false alarms".
    pub what: String,
    /// As reported.
    pub reported: f64,
    /// With the other answer.
    pub otherwise: f64,
    /// "one emergency predicted as routine would be as bad as {} false alarms".
    #[serde(skip)]
    clause: String,
}

/// What differs most between two metrics, by its factor.
fn largest_change(participant: &Participant, prices: &Prices, other: &Belief) -> Option<Change> {
    let others = prices.by(participant.design(), &other.metric());
    let moved = |n: &usize| (others[*n].max(0.01) / prices.found[*n].max(0.01)).ln().abs();
    let most = prices.telling().max_by(|a, b| moved(a).total_cmp(&moved(b)))?;
    Some(Change {
        what: prices.names[most].clone(),
        reported: prices.found[most],
        otherwise: others[most],
        clause: prices.clauses[most].clone(),
    })
}

/// The answers without which the estimate would be furthest away.
pub(crate) fn influences(participant: &Participant) -> Vec<Influence> {
    let design = participant.design();
    let answers: Vec<(&Question, Choice)> =
        participant.questions().iter().filter_map(|q| Some((q, q.answer.as_ref()?.choice))).collect();
    let with = |changed: usize, to: Option<Choice>| -> Belief {
        let mut belief = design.belief();
        for (n, (question, choice)) in answers.iter().enumerate() {
            match (n == changed, to) {
                (true, Some(other)) => take(design, &mut belief, &question.asked, other),
                (true, None) => {}
                (false, _) => take(design, &mut belief, &question.asked, *choice),
            }
        }
        belief
    };
    let estimate = participant.belief().metric().coefficients();
    // Checks tell how somebody errs, not what they hold.
    let mut all: Vec<(usize, Belief, f64)> = (0..answers.len())
        .filter(|&n| answers[n].0.asked.purpose == Purpose::Elicitation)
        .map(|n| {
            let without = with(n, None);
            let turned = degrees(&estimate, &without.metric().coefficients());
            (n, without, turned)
        })
        .collect();
    // Of two classes what counts is the factor, not the angle, which is small for large ratios.
    let moved =
        |belief: &Belief, turned: f64| match (belief.quantile(0.5), participant.belief().quantile(0.5)) {
            (Some(without), Some(with)) => (without / with).ln().abs(),
            _ => turned,
        };
    all.sort_by(|a, b| moved(&b.1, b.2).total_cmp(&moved(&a.1, a.2)));
    all.truncate(NAMED);
    let prices = match design.binary() {
        Some(_) => None,
        None => Prices::of(design, &participant.belief().metric()),
    };
    all.into_iter()
        .map(|(n, without, turned)| {
            let (question, choice) = answers[n];
            let other = match choice {
                Choice::A => Some(Choice::B),
                Choice::B => Some(Choice::A),
                Choice::CannotTell => None,
            };
            let other = other.map(|other| with(n, Some(other)));
            let change = prices
                .as_ref()
                .and_then(|prices| largest_change(participant, prices, other.as_ref().unwrap_or(&without)));
            let other = other.and_then(|other| other.quantile(0.5));
            let without = without.quantile(0.5);
            Influence {
                question: question.asked.number,
                choice,
                without,
                had_it_been_the_other: other,
                turned,
                sentence: sentence(participant, question, choice, [without, other], change.as_ref()),
                change,
                rows: crate::Rows::of(participant, |q| q.seq == question.seq),
            }
        })
        .collect()
}

fn degrees(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let sizes = (dot(a, a) * dot(b, b)).sqrt();
    if sizes > 0.0 { (dot(a, b) / sizes).clamp(-1.0, 1.0).acos().to_degrees() } else { 0.0 }
}

/// "In question 9 participant 3 chose the system with 7 missed cancers and 82 false alarms over the one with 19 and 39; had the other been
/// chosen, the estimate would be 3.9."
fn sentence(
    participant: &Participant,
    question: &Question,
    choice: Choice,
    [without, other]: [Option<f64>; 2],
    change: Option<&Change>,
) -> String {
    let number = question.asked.number;
    let shown = &question.asked.shown;
    let study = participant.design().study();
    let who = format!("participant {}", participant.invited().map_or(0, |invited| invited.number));
    let start = match (choice, shown.classes, shown.groups) {
        (Choice::CannotTell, ..) => format!("In question {number} {who} could not tell"),
        (_, 2, 1) => {
            let (taken, left) = if choice == Choice::A { (&shown.a, &shown.b) } else { (&shown.b, &shown.a) };
            let name = |truth: usize, predicted: usize| {
                study.mistake(truth, predicted).map_or("mistakes", |mistake| mistake.many.r#in("en"))
            };
            format!(
                "In question {number} {who} chose the system with {} {} and {} {} over the one with {} and {}",
                taken[2],
                name(1, 0),
                taken[1],
                name(0, 1),
                left[2],
                left[1]
            )
        }
        _ => {
            let traded =
                of_attributes(participant, shown, choice).unwrap_or_else(|| traded(study, shown, choice));
            let what = study.task.system.r#in(LANGUAGE).to_lowercase();
            format!("In question {number} {who} chose the {what} with {traded}")
        }
    };
    // A digit more where two do not show the difference.
    let estimate = participant.belief().quantile(0.5).map(two_digits);
    let told = |x: f64| {
        let two = two_digits(x);
        if Some(&two) == estimate.as_ref() { significant(x, 3) } else { two }
    };
    match (other, without) {
        (Some(other), _) => {
            format!("{start}; had the other been chosen, the estimate would be {}.", told(other))
        }
        (None, Some(without)) => {
            format!("{start}; without it the estimate would be {}.", told(without))
        }
        (None, None) => {
            let Some(change) = change else { return format!("{start}.") };
            let otherwise =
                if choice == Choice::CannotTell { "without it" } else { "had the other been chosen" };
            let [reported, changed] = [change.reported, change.otherwise].map(worth);
            let clause = change.clause.replacen("{}", &format!("{changed} instead of {reported}"), 1);
            format!("{start}; {otherwise}, {clause}.")
        }
    }
}

/// What was chosen over what, where candidates have attributes: "price 3 euros rather than 5 euros and …".
fn of_attributes(participant: &Participant, shown: &Shown, choice: Choice) -> Option<String> {
    let words = participant.design().words(LANGUAGE)?;
    let query = participant.design().frame().query(shown);
    let told = |[label, a, b]: &[String; 3]| {
        let (taken, left) = if choice == Choice::A { (a, b) } else { (b, a) };
        format!("{} {taken} rather than {left}", label.to_lowercase())
    };
    Some(words.rows(&query).iter().map(told).collect::<Vec<_>>().join(" and "))
}

/// "12 fewer emergencies predicted as routine and 7 more …": what was gained most, and what was paid most for it.
fn traded(study: &Study, shown: &Shown, choice: Choice) -> String {
    let (taken, left) = if choice == Choice::A { (&shown.a, &shown.b) } else { (&shown.b, &shown.a) };
    let kinds = names(study, shown.classes);
    let mut all: Vec<(u64, bool, String)> = shown
        .mistakes()
        .zip((0..kinds.len()).cycle())
        .map(|((group, truth, predicted), kind)| {
            let cell = shown.cell(group, truth, predicted);
            let (by, more) = (taken[cell].abs_diff(left[cell]), taken[cell] > left[cell]);
            let word = if more { "more" } else { "fewer" };
            let among = match study.task.groups.get(group) {
                Some(group) if shown.groups > 1 => format!(" among {}", group.name.r#in(LANGUAGE)),
                _ => String::new(),
            };
            (by, more, format!("{by} {word} {}{among}", kinds[kind][usize::from(by != 1)]))
        })
        .collect();
    all.sort_by_key(|(by, ..)| std::cmp::Reverse(*by));
    let most = |wanted: bool| all.iter().find(|(by, more, _)| *by > 0 && *more == wanted);
    let named = [most(false), most(true)].into_iter().flatten().map(|(.., text)| text.as_str());
    named.collect::<Vec<_>>().join(" and ")
}
