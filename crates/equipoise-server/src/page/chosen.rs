//! What somebody's answers say of candidates with attributes: which one suits them, and what weighs for them.

use crate::language::{Language, Words, fill};
use crate::picture::attributes::{number, unit};
use askama::Template;
use equipoise_report::{SETTLED, models, refused, shares};
use equipoise_study::Participant;
use equipoise_study::study::{Better, Has};

/// Draws of what somebody holds.
const DRAWS: usize = 1000;

#[derive(Template)]
#[template(path = "chosen.html")]
struct Chosen {
    words: &'static Words,
    sentence: String,
    rows: Vec<Row>,
}

struct Row {
    what: String,
    /// From the worse end to the better one.
    range: String,
    percent: String,
    interval: Option<String>,
    meter: String,
}

/// That part of the last page; nothing where the study is about something else, or the report would name nothing either.
pub fn html(participant: &Participant, language: Language) -> Option<String> {
    let design = participant.design();
    let (study, words) = (design.study(), language.words());
    if !design.is_choice() || refused(participant).is_some() {
        return None;
    }
    let (belief, numbers) = (participant.belief(), language.numbers());
    let metric = belief.metric();
    let ranked = models(design, &metric, &belief.draws(DRAWS))?;
    let best = ranked.likeliest()?;
    let sentence = if best.probability_best >= SETTLED { words.chosen } else { words.chosen_open };
    let probability = numbers.localized(&format!("{:.2}", best.probability_best));
    let whole = |share: f64| format!("{:.0}", 100.0 * share);
    let percent = |share: f64| whole(share) + numbers.percent;
    let row = |(n, (has, share)): (usize, (&Has, equipoise_report::Share))| {
        let [low, high] = study.ranges.get(n).copied().unwrap_or_default();
        let [from, to] = if has.better == Better::Less { [high, low] } else { [low, high] };
        let [from, to] = [from, to].map(|x| number(has, x, language));
        let unit = unit(study, has, language).unwrap_or_default();
        Row {
            what: has.name.r#in(language.tag()).to_owned(),
            range: format!("{from} → {to} {unit}").trim().to_owned(),
            percent: percent(share.share),
            interval: share.interval.map(|[low, high]| format!("{}–{}", whole(low), percent(high))),
            meter: crate::picture::meter(100.0 * share.share),
        }
    };
    let mut rows: Vec<(f64, Row)> = vec![];
    for (n, (has, share)) in study.task.attributes.iter().zip(shares(design, &metric)).enumerate() {
        rows.push((share.share, row((n, (has, share)))));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let page = Chosen {
        words,
        sentence: fill(sentence, &[("name", &best.name), ("probability", &probability)]),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    };
    Some(page.render().expect("templates write to a string"))
}
