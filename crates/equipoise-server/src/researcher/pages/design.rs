//! The study as it was designed, and what a participant will see: any question, out of any number, in any variant.

use crate::participant::link;
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use equipoise::{Preference, Query};
use equipoise_pages::language::Language;
use equipoise_pages::picture;
use equipoise_study::Design;
use equipoise_study::length::Length;
use equipoise_study::lint::{self, Lint};
use equipoise_study::numbers::grouped;
use equipoise_study::shown::{Shown, TOTALS};
use equipoise_study::study::{QuerySpace, Variant};

/// Totals participants are asked with.
const OFFERED: usize = 3;
/// Questions that can be looked at.
const QUESTIONS: usize = 8;
/// What the simulated person holds if nothing else is said: questions differ with the answers.
const RATIO: f64 = 6.0;

const VARIANTS: [(Variant, &str, &str); 4] = [
    (Variant::Flow, "flow", "flow chart"),
    (Variant::FlowBar, "flow+bar", "flow chart and bar"),
    (Variant::ErrorsOnly, "errors_only", "mistakes only"),
    (Variant::Icons, "icons", "a symbol per person"),
];

/// Something that can be chosen: value, words, whether it is.
type Choice = (String, String, bool);

#[derive(Template)]
#[template(path = "researcher/design.html")]
struct Page {
    frame: Frame,
    totals: Vec<Choice>,
    variants: Vec<Choice>,
    languages: Vec<Choice>,
    questions: Vec<Choice>,
    ratio: Option<String>,
    language: Language,
    question: String,
    out_of: String,
    difference: String,
    picture: String,
    fits: bool,
    rules: Vec<(&'static str, String)>,
    lints: Vec<Lint>,
    /// The hash, of a study that is locked, and whether that was done a moment ago.
    locked: Option<(String, bool)>,
    can_edit: bool,
    /// Whether the whole study can be tried out, and the link that was just made for it.
    can_preview: bool,
    preview: Option<String>,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    content(call, None)
}

/// Opens the whole study to try out. It uses no place, and nothing of it is kept.
pub fn preview(call: &Call<'_>) -> Outcome {
    let previews = call.shared.previews.get().ok_or(Problem::Missing)?;
    let token = previews.open()?;
    content(call, Some(link(&call.shared.settings.participants, &token)))
}

fn content(call: &Call<'_>, preview: Option<String>) -> Outcome {
    let (design, study, asked) = (call.shared.service.design(), call.study(), &call.sent.query);
    let languages: Vec<Language> = study.languages.iter().filter_map(|tag| Language::from_tag(tag)).collect();
    let language = languages
        .iter()
        .copied()
        .find(|language| language.tag() == asked.get("language"))
        .or_else(|| languages.first().copied())
        .unwrap_or(Language::English);
    let variant = VARIANTS
        .iter()
        .find(|(_, word, _)| *word == asked.get("variant"))
        .map_or_else(|| study.variants.first().copied().unwrap_or(Variant::Flow), |(variant, _, _)| *variant);
    let number = asked.number::<usize>("question").unwrap_or(1).clamp(1, QUESTIONS);
    let ratio = asked.number::<f64>("ratio").filter(|ratio| (0.005..=200.0).contains(ratio)).unwrap_or(RATIO);
    let query = planned(design, number, ratio);
    let own = query.as_ref().map(|_| design.people());
    let total = asked.number::<u64>("people").filter(|total| TOTALS.contains(total)).or(own);
    let shown = query.as_ref().zip(total).map(|(query, total)| design.frame().show_out_of(query, total));
    let two = design.binary().is_some();
    // Candidates have numbers of their own: nobody is counted, and there is one way to draw them.
    let counted = !design.is_choice();
    let chosen = |value: String, words: String, on: bool| (value, words, on);
    Ok(show(&Page {
        frame: call.frame("/design"),
        totals: TOTALS[..OFFERED]
            .iter()
            .filter(|_| counted)
            .map(|n| chosen(n.to_string(), grouped(*n), total == Some(*n)))
            .collect(),
        variants: VARIANTS
            .iter()
            .filter(|_| counted)
            .map(|(v, word, name)| chosen((*word).to_owned(), (*name).to_owned(), *v == variant))
            .collect(),
        languages: languages
            .iter()
            .map(|l| chosen(l.tag().to_owned(), l.own_name().to_owned(), *l == language))
            .collect(),
        questions: (1..=if two { QUESTIONS } else { 0 })
            .map(|n| chosen(n.to_string(), n.to_string(), n == number))
            .collect(),
        ratio: two.then(|| ratio.to_string()),
        language,
        question: study.task.question.r#in(language.tag()).to_owned(),
        out_of: shown.as_ref().filter(|_| counted).map_or(String::new(), |shown| {
            format!("{} {}", language.numbers().count(shown.people), study.task.people.r#in(language.tag()))
        }),
        difference: shown
            .as_ref()
            .map_or(String::new(), |shown| picture::difference(study, shown, true, language)),
        picture: shown.as_ref().map_or(String::new(), |shown| picture::pair(study, shown, variant, language)),
        fits: shown.as_ref().is_none_or(|shown: &Shown| own.is_none_or(|own| shown.people >= own)),
        rules: rules(design),
        locked: call
            .counted()?
            .locked
            .iter()
            .any(|(_, _, hash)| hash == design.hash())
            .then(|| (design.hash().to_owned(), asked.get("locked") == "yes")),
        can_edit: call.account().role == Role::Owner,
        // What is known of the length comes later than the first look.
        can_preview: call.shared.previews.get().is_some(),
        preview,
        lints: match design.known_length() {
            Some(_) => call.shared.lints.get_or_init(|| lint::lint(design)).clone(),
            None => lint::lint(design),
        },
    }))
}

/// The question somebody would be asked who holds a ratio and never errs. Of studies with weights, the first question.
fn planned(design: &Design, number: usize, ratio: f64) -> Option<Query> {
    let mut belief = design.belief();
    let mut query = belief.questions(design.study().seed).next()?;
    if design.binary().is_none() {
        return Some(query);
    }
    for _ in 1..number {
        let value = |point: &[f64]| ratio * point[0] + point[1];
        let preference = match value(&query.first) >= value(&query.second) {
            true => Preference::First,
            false => Preference::Second,
        };
        belief.take(&query, &preference.into());
        match belief.questions(design.study().seed).next() {
            Some(next) => query = next,
            None => break,
        }
    }
    Some(query)
}

/// What was fixed before the first participant.
fn rules(design: &Design) -> Vec<(&'static str, String)> {
    let study = design.study();
    let space = match &study.space {
        QuerySpace::Table { file, around, .. } if design.is_around() => {
            let around = match around.as_deref() {
                None | Some("model") => "the model as it is",
                Some("balanced") => "the model with all classes alike",
                Some(metric) => metric,
            };
            format!("classifiers around one on {}: {around}; two rows differ", file.display())
        }
        QuerySpace::Logistic { slope, offset } => format!("a logistic law, slope {slope}, offset {offset}"),
        QuerySpace::Table { file, .. } => format!("thresholds on {}", file.display()),
        QuerySpace::Pool { file } => format!("the models of {}", file.display()),
        QuerySpace::Attributes { file, .. } => {
            format!("the candidates of {}, and such as can be imagined between them", file.display())
        }
        QuerySpace::Ball { radius, .. } => format!("a ball of error rates, radius {radius}"),
        QuerySpace::GroupBall { radius, .. } => {
            format!("a ball of error rates common to all groups, radius {radius}")
        }
    };
    let mut stop = vec![];
    if let Some(width) = study.stop.width.filter(|_| design.binary().is_some()) {
        stop.push(format!("the ends of the 95\u{a0}% interval differ by a factor of {width} at most"));
    }
    if let Some(angle) = study.stop.angle.filter(|_| design.binary().is_none()) {
        stop.push(format!("the weights are known to within an angle of {angle}, with 95\u{a0}% certainty"));
    }
    match study.stop.regret {
        Some(regret) if design.is_choice() => stop.push(format!(
            "the candidate that would be named is expected to fall short by at most {}\u{a0}% of what lies between the best and the worst, \
             or is the best one with a probability of 90\u{a0}%",
            100.0 * regret
        )),
        None if design.is_choice() => stop.push("the best candidate is known well enough".to_owned()),
        Some(regret) => stop.push(format!(
            "the rule that follows is expected to cost at most {}\u{a0}% more than the best one",
            100.0 * regret
        )),
        None if stop.is_empty() => stop.push("the rule that follows is good enough".to_owned()),
        None => {}
    }
    stop.push(format!("{} questions", study.stop.cap));
    if design.binary().is_some() {
        stop.push(format!("less than {} bits to gain", study.stop.information));
    }
    let stop = stop.join(", or ");
    let checks = &study.checks;
    let rule = &study.exclusion;
    let mut excluded = vec![];
    if rule.dominated_failed > 0 {
        let one = if design.is_choice() { "candidate" } else { "system" };
        excluded.push(format!("{} or more checks with a better {one} failed", rule.dominated_failed));
    }
    if rule.repeats_alike_below > 0 {
        excluded.push(format!("fewer than {} repeats answered alike", rule.repeats_alike_below));
    }
    if rule.too_fast_share < 1.0 {
        excluded.push(format!("more than {}\u{a0}% of answers within 300 ms", 100.0 * rule.too_fast_share));
    }
    vec![
        ("Questions are about", space),
        ("They end when", stop),
        (
            "Checks among them",
            format!(
                "{} with one that is better throughout, {} repeats at least {} questions later, {} to evaluate",
                checks.dominated, checks.repeats, checks.apart, checks.evaluation
            ),
        ),
        (
            "Results are shown with and without",
            if excluded.is_empty() { "nobody is excluded".to_owned() } else { excluded.join("; ") },
        ),
        (
            "Expected length",
            match design.known_length() {
                Some(Length { comparisons, minutes, .. }) => {
                    format!("{comparisons} comparisons, {minutes} minutes, as rehearsed")
                }
                None => "being rehearsed; look again in a minute".to_owned(),
            },
        ),
        ("Languages", study.languages.join(", ")),
    ]
}
