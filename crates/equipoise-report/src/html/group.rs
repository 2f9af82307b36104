//! The group of experts.

use super::page::Page;
use crate::group::{Estimate, Experts, Member};
use crate::{GapPrice, Group, Report};
use equipoise_plot::{Axis, Chart};
use equipoise_study::Design;
use equipoise_study::numbers::two_digits;

fn range(estimate: Estimate) -> String {
    format!("{} to {}", two_digits(estimate.low), two_digits(estimate.high))
}

/// The typical ratio and its interval.
pub fn how_sure(page: &mut Page, group: &Group) {
    let experts = &group.experts;
    match (experts.ratio, experts.spread) {
        (Some(ratio), Some(spread)) => page.sourced(
            &format!(
                "The typical cost ratio of {} people is {} (95 % interval {}). People differ: about two thirds of them lie \
                 within a factor of {} of it (95 % interval {} to {}).",
                experts.people,
                two_digits(ratio.estimate),
                range(ratio),
                two_digits(spread.estimate.exp()),
                two_digits(spread.low.exp()),
                two_digits(spread.high.exp())
            ),
            &group.rows,
        ),
        _ => {
            // The dearest gap is in the answer already.
            let gaps: Vec<&GapPrice> =
                group.gaps.iter().filter(|gap| !group.sentence.contains(&gap.sentence)).collect();
            super::person::rates(page, &group.rates, &gaps);
        }
    }
}

/// What people have in common and where they differ.
pub fn section(page: &mut Page, design: &Design, report: &Report) {
    let Some(group) = &report.group else { return };
    let experts = &group.experts;
    page.heading(2, "The group");
    let camps = match experts.camps.len() {
        1 => "There is no strong evidence of more than one camp.".to_owned(),
        count => {
            let camp = |camp: &crate::group::Camp| match experts.ratio {
                Some(_) => format!("around {} ({:.0} %)", two_digits(camp.middle), 100.0 * camp.share),
                None => format!("{:.0} % of people", 100.0 * camp.share),
            };
            let list: Vec<String> = experts.camps.iter().map(camp).collect();
            format!("People fall into {count} camps: {}.", list.join(", "))
        }
    };
    page.paragraph(&camps);
    if let Some(weights) = &experts.weights {
        let names: Vec<String> = report
            .people
            .iter()
            .find(|person| !person.weights.is_empty())
            .map_or(vec![], |person| person.weights.iter().map(|weight| weight.name.clone()).collect());
        let rows: Vec<Vec<String>> = weights
            .iter()
            .enumerate()
            .map(|(n, weight)| {
                let name = names.get(n).cloned().unwrap_or_else(|| format!("weight {}", n + 1));
                vec![
                    name,
                    format!("{:.3}", weight.estimate),
                    format!("{:.3} to {:.3}", weight.low, weight.high),
                ]
            })
            .collect();
        page.table("Typical weights", &["Of", "Weight", "95 % interval"], &rows);
        map(page, experts, &names);
    } else if !experts.members.is_empty() {
        line(page, experts);
    }
    if experts.hidden {
        page.paragraph(super::HIDDEN);
    }
    agreement(page, experts, design);
}

/// Two classes: everybody's interval on one axis.
fn line(page: &mut Page, experts: &Experts) {
    let mut members: Vec<&Member> = experts.members.iter().collect();
    let middle = |member: &Member| member.shrunk.map_or(0.0, |shrunk| shrunk.estimate);
    members.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    let names = members.iter().map(|member| format!("participant {}", member.participant));
    let labels: Vec<String> = experts.ratio.iter().map(|_| "typical".to_owned()).chain(names).collect();
    let ends = |of: fn(&Estimate) -> f64| {
        let own = members.iter().flat_map(|m| m.raw.iter().chain(&m.shrunk));
        own.chain(&experts.ratio).map(of).collect()
    };
    let (lows, highs): (Vec<f64>, Vec<f64>) = (ends(|e| e.low), ends(|e| e.high));
    let low = lows.iter().copied().fold(f64::MAX, f64::min);
    let high = highs.iter().copied().fold(0.0, f64::max);
    let mut chart = Chart::rows(Axis::log(0.9 * low, 1.1 * high), "cost ratio", &labels);
    if let Some(ratio) = experts.ratio {
        chart =
            chart.rule(ratio.estimate, "s5 dash").interval(0, ratio.estimate, ratio.low, ratio.high, "s5");
    }
    let above = usize::from(experts.ratio.is_some());
    for (n, member) in members.iter().enumerate().map(|(n, member)| (n + above, member)) {
        if let Some(raw) = member.raw {
            chart = chart.interval(n, raw.estimate, raw.low, raw.high, "s5 thin");
        }
        if let Some(shrunk) = member.shrunk {
            chart = chart.interval(
                n,
                shrunk.estimate,
                shrunk.low,
                shrunk.high,
                ["s0", "s1", "s2"][member.camp % 3],
            );
        }
    }
    page.chart(
        &chart.svg(),
        "Everybody's cost ratio with its 95 % interval, in the light of the others; grey and thin, by their own answers alone. The \
         first row and the dashed line are the typical ratio; colours are camps.",
    );
    let rows: Vec<Vec<String>> = members
        .iter()
        .map(|member| {
            let told = |e: Option<Estimate>| {
                e.map_or([String::new(), String::new()], |e| [two_digits(e.estimate), range(e)])
            };
            let ([raw, raw_range], [shrunk, shrunk_range]) = (told(member.raw), told(member.shrunk));
            vec![
                member.participant.to_string(),
                raw,
                raw_range,
                shrunk,
                shrunk_range,
                format!("{} ({:.2})", member.camp + 1, member.camp_probability),
                member.prefers.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let headings = [
        "Participant",
        "Own answers",
        "95 % interval",
        "With the others",
        "95 % interval",
        "Camp (probability)",
        "Prefers",
    ];
    page.numbers("everybody's ratio", &headings, &rows);
}

/// More weights: people in the plane in which they differ most.
fn map(page: &mut Page, experts: &Experts, names: &[String]) {
    let places: Vec<(&Member, crate::group::Place)> =
        experts.members.iter().filter_map(|member| Some((member, member.place?))).collect();
    if places.is_empty() {
        return;
    }
    let reach = places
        .iter()
        .flat_map(|(_, p)| {
            [
                p.x.abs() + 2.5 * p.covariance[0].max(0.0).sqrt(),
                p.y.abs() + 2.5 * p.covariance[2].max(0.0).sqrt(),
            ]
        })
        .fold(0.05, f64::max);
    let axis = Axis::linear(-reach, reach);
    let mut chart = Chart::new(axis, axis, "first direction", "second direction");
    for (member, place) in &places {
        let style = ["s0", "s1", "s2"][member.camp % 3];
        chart = chart.ellipse(place.x, place.y, place.covariance, &format!("{style} thin"));
        chart = chart.dot(place.x, place.y, style);
    }
    page.chart(
        &chart.svg(),
        "People in the plane in which their weights differ most; the middle is the typical person. Ellipses hold each with 95 % \
         certainty; colours are camps.",
    );
    let rows: Vec<Vec<String>> = places
        .iter()
        .map(|(member, place)| {
            let sd = |variance: f64| format!("{:.3}", variance.max(0.0).sqrt());
            vec![
                member.participant.to_string(),
                format!("{:.3}", place.x),
                sd(place.covariance[0]),
                format!("{:.3}", place.y),
                sd(place.covariance[2]),
                (member.camp + 1).to_string(),
                member.prefers.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let headings = ["Participant", "First", "its deviation", "Second", "its deviation", "Camp", "Prefers"];
    page.numbers("places on the map", &headings, &rows);
    if let (Some([first, second]), false) = (&experts.directions, names.is_empty()) {
        let told = |direction: &[f64]| {
            let mut order: Vec<usize> = (0..direction.len().min(names.len())).collect();
            order.sort_by(|a, b| direction[*b].abs().total_cmp(&direction[*a].abs()));
            let part = |n: &usize| {
                format!("{} the {}", if direction[*n] > 0.0 { "more for" } else { "less for" }, names[*n])
            };
            order.iter().take(2).map(part).collect::<Vec<_>>().join(", ")
        };
        page.paragraph(&format!(
            "The first direction is mostly {}; the second {}.",
            told(first),
            told(second)
        ));
    }
}

/// Whether it matters: models and rules.
fn agreement(page: &mut Page, experts: &Experts, design: &Design) {
    let Some(together) = &experts.models else {
        if design.models().is_none() {
            page.paragraph("The study names no models to choose from, so whether differences between people matter for a choice cannot be told.");
        }
        return;
    };
    page.heading(3, "Does the difference matter?");
    page.paragraph(&format!(
        "Two of these people, picked at random, prefer different models with probability {:.2} (95 % interval {:.2} to {:.2}).",
        together.disagreement.estimate, together.disagreement.low, together.disagreement.high
    ));
    page.paragraph(&together.sentence);
    let rows: Vec<Vec<String>> = together
        .choices
        .iter()
        .map(|choice| {
            vec![
                choice.rule.name().to_owned(),
                choice.ratio.map_or(String::new(), two_digits),
                choice.models.join(" or "),
                format!("{:.4}", choice.largest_regret),
            ]
        })
        .collect();
    let headings = ["Rule", "Judges by a ratio of", "Chooses", "Largest regret of anybody"];
    match experts.ratio {
        Some(_) => page.table("Rules side by side", &headings, &rows),
        None => {
            let without: Vec<Vec<String>> =
                rows.iter().map(|row| [0, 2, 3].map(|n| row[n].clone()).to_vec()).collect();
            page.table("Rules side by side", &[headings[0], headings[2], headings[3]], &without);
        }
    }
    let rows: Vec<Vec<String>> = together
        .preferred
        .iter()
        .map(|model| vec![model.model.clone(), model.people.to_string(), format!("{:.1}", model.expected)])
        .collect();
    page.table("Who prefers which model", &["Model", "People", "Expected, uncertainty allowed for"], &rows);
}
