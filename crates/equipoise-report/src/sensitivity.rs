//! What the answer depends on (RP-10): who is in it, how comparisons were drawn, how people are believed to err.

use crate::group::{Estimate, Typical, Voice, typical_of};
use crate::models::{self, models};
use crate::rates::Prices;
use crate::report::Ended;
use equipoise::Metric;
use equipoise_study::people::Conduct;
use equipoise_study::study::Variant;
use equipoise_study::{Belief, Design, Participant, People, take};
use serde::Serialize;
use std::sync::Arc;

/// Draws of the metric of somebody who is alone.
const ALONE: usize = 500;

/// Other ways to err than the one believed in: what they are called, slope, share of lapses.
const NOISES: [(&str, f64, f64); 3] = [
    ("people tell large differences only (slope 8)", 8.0, 0.0),
    ("people tell small differences (slope 40)", 40.0, 0.0),
    ("one answer in five is a guess (slope 20, lapses 10 %)", 20.0, 0.1),
];

/// The same answer under other choices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// As reported, and then each choice.
    pub variations: Vec<Variation>,
    /// Whether some choice changes the best model.
    pub top_model_changes: bool,
    /// More classes or groups: what [`Variation::numbers`] are.
    pub numbers: Vec<String>,
    /// That, in a sentence; nothing without models.
    pub sentence: Option<String>,
    /// Two classes: what the ways to draw comparisons do to the ratio.
    pub variants: Vec<VariantEffect>,
}

/// The answer under one choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variation {
    /// The choice.
    pub what: String,
    /// People with a metric.
    pub people: usize,
    /// Two classes: the typical ratio; the person's, where there is one only.
    pub ratio: Option<Estimate>,
    /// More classes or groups: what the dearest mistake, and closing the dearest gap, are worth, each always the one that
    /// is dearest as reported.
    pub numbers: Vec<Estimate>,
    /// The model that is likeliest to be best.
    pub top: Option<String>,
    /// With which probability.
    pub probability_best: Option<f64>,
}

/// What a way to draw comparisons does (G4).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantEffect {
    /// How comparisons were drawn.
    pub variant: Variant,
    /// For how many people.
    pub people: usize,
    /// The geometric mean of their ratios.
    pub mean_ratio: f64,
    /// By which factor it differs from the first variant's; nothing for the first, or for fewer than two people.
    pub factor: Option<Estimate>,
}

impl VariantEffect {
    /// The word for the variant in study files.
    pub(crate) fn name(&self) -> &'static str {
        name(self.variant)
    }
}

/// Somebody with a metric.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    /// Where they are among all people of the report.
    pub(crate) place: usize,
    pub(crate) conduct: &'a Conduct,
    pub(crate) voice: &'a Voice,
    /// What they say by each other way to err.
    pub(crate) otherwise: &'a [Voice],
    pub(crate) variant: Option<Variant>,
}

/// Another way to err that a study can be looked at with.
pub(crate) struct Noise {
    what: &'static str,
    before: Belief,
}

impl Noise {
    /// All that a study knows.
    pub(crate) fn all(design: &Design) -> Vec<Self> {
        let lapses = design.binary().is_some() || design.is_choice();
        let told = NOISES.into_iter().filter(|(.., lapse)| lapses || *lapse == 0.0);
        told.filter_map(|(what, slope, lapse)| {
            Some(Self { what, before: design.belief_with_noise(slope, lapse)? })
        })
        .collect()
    }

    /// What somebody's answers say if they err like this.
    pub(crate) fn voice(&self, design: &Design, person: &Participant, number: u64) -> Voice {
        Voice::of(number, &again(design, person, self.before.boxed()))
    }
}

/// Goes through the choices as long as somebody wants it. `heard` are those of all people who have a metric.
pub(crate) fn sensitivity(
    design: &Arc<Design>,
    people: &dyn People,
    heard: &[Heard<'_>],
    noises: &[Noise],
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Sensitivity>, Ended> {
    let all: Vec<&Voice> = heard.iter().map(|heard| heard.voice).collect();
    // Beliefs are large: whoever is alone is asked again.
    let alone = |voice: &Voice, noise: Option<&Noise>| -> Result<Vec<Metric>, Ended> {
        let found = heard.iter().find(|heard| heard.voice.participant == voice.participant);
        let Some(person) = found.map(|heard| people.person(heard.place)).transpose()?.flatten() else {
            return Ok(vec![]);
        };
        Ok(match noise {
            None => person.belief().draws(ALONE),
            Some(noise) => again(design, &person, noise.before.boxed()).draws(ALONE),
        })
    };
    let own = |voice: &Voice| alone(voice, None);
    let Some(reported) = Answer::of(design, &all, &own)? else { return Ok(None) };
    let prices = match reported.ratio {
        Some(_) => None,
        None => Prices::of(design, &reported.metric),
    };
    let view = design.frame().view();
    let mistakes = if design.is_choice() { view.dimension() } else { view.classes() * (view.classes() - 1) };
    let told = prices.as_ref().map_or(vec![], |prices| prices.dearest(mistakes));
    let told = prices.as_ref().map(|prices| (prices, told.as_slice()));
    let variation = |what: String, people: &[&Voice]| -> Result<Option<Variation>, Ended> {
        let answer = Answer::of(design, people, &own)?;
        Ok(answer.map(|answer| answer.variation(design, what, people.len(), told)))
    };
    let mut variations = vec![reported.variation(design, "as reported".to_owned(), all.len(), told)];
    let mut with = |what: String, kept: &dyn Fn(&Heard<'_>) -> bool| -> Result<(), Ended> {
        let kept: Vec<&Voice> = heard.iter().filter(|heard| kept(heard)).map(|heard| heard.voice).collect();
        if kept.len() < heard.len() {
            variations.extend(variation(what, &kept)?);
        }
        Ok(())
    };
    let without = |what: &str| format!("without {what}");
    with(without("those the exclusion rule names"), &|heard| !heard.conduct.excluded)?;
    with(without("everybody who has a flag"), &|heard| heard.conduct.flags.is_empty())?;
    let variants = &design.study().variants;
    if variants.len() > 1 {
        for wanted in variants {
            let what = format!("with only those who saw the variant {}", name(*wanted));
            with(what, &|heard| heard.variant == Some(*wanted))?;
        }
    }
    for (n, noise) in noises.iter().enumerate() {
        if !goes_on() {
            return Err(Ended::Stopped);
        }
        let voices: Vec<&Voice> = heard.iter().filter_map(|heard| heard.otherwise.get(n)).collect();
        if let Some(answer) = Answer::of(design, &voices, &|voice| alone(voice, Some(noise)))? {
            variations.push(answer.variation(design, format!("if {}", noise.what), voices.len(), told));
        }
    }
    let first = variations[0].top.clone();
    let other = variations.iter().find(|variation| variation.top != first);
    let one = models::called(design);
    let sentence = first.as_ref().map(|first| match other {
        Some(other) => format!(
            "The best {one} depends on a choice: it is {first} as reported, and {} {}.",
            other.top.as_deref().unwrap_or("none"),
            other.what
        ),
        None => format!("The best {one} is {first} under every choice that was tried."),
    });
    Ok(Some(Sensitivity {
        top_model_changes: first.is_some() && other.is_some(),
        numbers: told
            .map_or(vec![], |(prices, told)| told.iter().map(|n| prices.names[*n].clone()).collect()),
        sentence,
        variants: effects(design, heard),
        variations,
    }))
}

/// The word for a variant in study files.
fn name(variant: Variant) -> &'static str {
    match variant {
        Variant::Flow => "flow",
        Variant::FlowBar => "flow+bar",
        Variant::ErrorsOnly => "errors_only",
        Variant::Icons => "icons",
    }
}

/// Draws of the metric of somebody who is alone.
type Own<'a> = &'a dyn Fn(&Voice) -> Result<Vec<Metric>, Ended>;

/// What some people hold together; the person, where there is one only.
struct Answer {
    ratio: Option<Estimate>,
    metric: Metric,
    draws: Vec<Metric>,
}

impl Answer {
    fn of(design: &Arc<Design>, people: &[&Voice], own: Own<'_>) -> Result<Option<Self>, Ended> {
        Ok(match people {
            [] => None,
            [alone] => Some(Self { ratio: alone.own, metric: alone.metric.clone(), draws: own(alone)? }),
            several => typical_of(design, several).map(|Typical { ratio, metric, draws }| Self {
                ratio,
                metric,
                draws,
            }),
        })
    }

    /// As a row of the table; `told` are the numbers that stand for several weights.
    fn variation(
        &self,
        design: &Arc<Design>,
        what: String,
        people: usize,
        told: Option<(&Prices, &[usize])>,
    ) -> Variation {
        let ranked = models(design, &self.metric, &self.draws);
        let top = ranked.as_ref().and_then(|ranked| {
            ranked.ranking.standings.iter().max_by(|a, b| a.probability_best.total_cmp(&b.probability_best))
        });
        let numbers = told.map_or(vec![], |(prices, told)| {
            let found = prices.by(design, &self.metric);
            let ranges = self.metric.credible(0.95, |metric| prices.by(design, metric));
            let number = |&n: &usize| {
                let [low, high] = ranges.as_ref().map_or([found[n]; 2], |ranges| ranges[n]);
                Estimate { estimate: found[n], low, high }
            };
            told.iter().map(number).collect()
        });
        Variation {
            what,
            people,
            ratio: self.ratio,
            numbers,
            top: top.map(|top| top.name.clone()),
            probability_best: top.map(|top| top.probability_best),
        }
    }
}

/// What the same answers say if people err in another way.
fn again(design: &Design, person: &Participant, mut belief: Belief) -> Belief {
    for question in person.questions() {
        if let Some(answer) = &question.answer {
            take(design, &mut belief, &question.asked, answer.choice);
        }
    }
    belief
}

fn effects(design: &Design, people: &[Heard<'_>]) -> Vec<VariantEffect> {
    let variants = &design.study().variants;
    if variants.len() < 2 || design.binary().is_none() {
        return vec![];
    }
    let logs = |variant: Variant| -> Vec<f64> {
        let with = people.iter().filter(|heard| heard.variant == Some(variant));
        with.filter_map(|heard| Some(heard.voice.own?.estimate.ln())).collect()
    };
    let first = logs(variants[0]);
    let effect = |(n, variant): (usize, &Variant)| {
        let logs = logs(*variant);
        (!logs.is_empty()).then(|| VariantEffect {
            variant: *variant,
            people: logs.len(),
            mean_ratio: moments(&logs).0.exp(),
            factor: if n == 0 { None } else { difference(&first, &logs) },
        })
    };
    variants.iter().enumerate().filter_map(effect).collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0) / n)
}

/// The difference of two means of logarithms as a factor, with Welch's interval.
fn difference(first: &[f64], second: &[f64]) -> Option<Estimate> {
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let ((a, va), (b, vb)) = (moments(first), moments(second));
    let (na, nb) = (first.len() as f64 - 1.0, second.len() as f64 - 1.0);
    let variance = va + vb;
    let freedom = if variance > 0.0 { variance * variance / (va * va / na + vb * vb / nb) } else { na + nb };
    let half = student(freedom) * variance.sqrt();
    Some(Estimate { estimate: (b - a).exp(), low: (b - a - half).exp(), high: (b - a + half).exp() })
}

/// The 97.5 % point of Student's distribution, by its expansion around the normal one (good to 1 % from 3 degrees on).
fn student(freedom: f64) -> f64 {
    let z = 1.959_963_984_540_054_f64;
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_points_agree_with_tables() {
        for (freedom, expected) in [(4.0, 2.776), (10.0, 2.228), (30.0, 2.042)] {
            assert!(
                (student(freedom) - expected).abs() < 0.012 * expected,
                "{freedom}: {}",
                student(freedom)
            );
        }
    }

    #[test]
    fn a_factor_between_two_variants_has_an_interval() {
        let found = difference(&[1.0, 1.2, 0.8, 1.1], &[1.7, 1.9, 1.6, 1.8]).unwrap();
        assert!((found.estimate.ln() - 0.725).abs() < 1e-9 && found.low > 1.0 && found.high < 4.0);
        assert_eq!(difference(&[1.0], &[2.0, 3.0]), None);
    }
}
