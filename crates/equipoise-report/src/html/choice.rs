//! Models, thresholds, and what they depend on.

use super::page::Page;
use crate::group::Estimate;
use crate::rates::worth;
use crate::{Report, ThresholdReport, Variation, variant_name};
use equipoise_plot::{Axis, Chart, escape};
use equipoise_study::numbers::two_digits;

/// Which model.
pub fn models(page: &mut Page, report: &Report) {
    let Some(found) = &report.models else { return };
    page.heading(2, "Which model?");
    page.sourced(&found.headline, &super::all_rows(report));
    let mut standings: Vec<&equipoise::decide::rank::Standing> = found.ranking.standings.iter().collect();
    standings.sort_by(|a, b| b.probability_best.total_cmp(&a.probability_best));
    let labels: Vec<String> =
        standings.iter().map(|s| format!("{}: {:.2}", s.name, s.probability_best)).collect();
    let mut chart = Chart::rows(Axis::linear(0.0, 1.0), "probability of being the best model", &labels);
    chart = chart.rule(crate::SETTLED, "s5 dash");
    for (n, standing) in standings.iter().enumerate() {
        chart = chart.bar(n, standing.probability_best, if n == 0 { "s0" } else { "s5" });
    }
    page.chart(
        &chart.svg(),
        "Given what people want, which is uncertain, and what models do, which was measured on a sample. Dashed: from here on \
         a model is called the best.",
    );
    let rows: Vec<Vec<String>> = standings
        .iter()
        .map(|s| {
            let range = s.score.interval.map_or(String::new(), |i| format!("{:.4} to {:.4}", i.low, i.high));
            vec![
                s.name.clone(),
                format!("{:.2}", s.probability_best),
                format!("{:.1}", s.expected_rank),
                format!("{:.4}", s.expected_regret),
                format!("{:.4}", s.score.value),
                range,
            ]
        })
        .collect();
    let headings = ["Model", "P(best)", "Expected place", "Expected regret", "Value", "95 % interval"];
    page.table("Models, likeliest best first", &headings, &rows);
}

/// Which threshold, and the decision curve.
pub fn threshold(page: &mut Page, report: &Report) {
    let Some(found) = &report.threshold else { return };
    page.heading(2, "Which threshold?");
    page.sourced(&found.sentence, &super::all_rows(report));
    let range = |interval: Option<equipoise::Spread>| {
        interval.map_or(String::new(), |i| format!("{:.3} to {:.3}", i.low, i.high))
    };
    let mut rows = vec![vec![
        "for calibrated scores: false alarm / (false alarm + missed)".to_owned(),
        format!("{:.3}", found.theory.threshold),
        range(found.theory.interval),
    ]];
    if let Some(measured) = &found.measured {
        rows.push(vec![
            "best on the table of scores".to_owned(),
            format!("{:.3}", measured.threshold),
            range(measured.interval),
        ]);
    }
    page.table(
        "Thresholds on the probability of the positive class",
        &["Threshold", "At", "95 % interval"],
        &rows,
    );
    if let Some(measured) = &found.measured {
        page.paragraph(&format!(
            "Calibration: predicted and observed shares differ by {:.3} on average.",
            measured.calibration_error
        ));
        page.list(measured.warnings.iter().map(String::as_str));
    }
    curve(page, found);
}

fn curve(page: &mut Page, found: &ThresholdReport) {
    let ends = found.theory.interval.map_or([found.theory.threshold; 2], |i| [i.low, i.high]);
    let to = (1.6 * ends[1]).clamp(0.2, 0.99);
    let inside = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
        points.iter().copied().filter(|point| point[0] <= to).collect()
    };
    let values = || found.curves.iter().flat_map(|curve| inside(&curve.points)).map(|point| point[1]);
    let high = values().fold(0.0, f64::max);
    let low = (-0.25 * high).max(values().fold(0.0, f64::min));
    let mut chart = Chart::new(
        Axis::linear(0.0, to),
        Axis::linear(low, 1.05 * high),
        "threshold probability",
        "net benefit per person",
    );
    chart = chart.band(ends[0], ends[1], "s5").rule(found.theory.threshold, "s5 dash");
    let mut key = String::new();
    for (n, line) in found.curves.iter().enumerate() {
        let style = format!("s{}{}", n % 6, if n % 2 == 1 { " dash" } else { "" });
        let points: Vec<[f64; 2]> =
            inside(&line.points).into_iter().filter(|point| point[1] >= low).collect();
        chart = chart.line(&points, &style);
        key += &format!(
            "<li><svg viewBox='0 0 28 12' aria-hidden='true'><path class='line {style}' d='M1 6H27'/></svg>{}</li>",
            escape(&line.name)
        );
    }
    page.heading(3, "Decision curve");
    page.raw(&format!("<ul class='key'>{key}</ul>"));
    page.chart(
        &chart.svg(),
        "Net benefit in true positives per person. Grey: the 95 % interval of the threshold that follows from the answers; \
         what is highest there is worth most.",
    );
    let names: Vec<&str> = found.curves.iter().map(|curve| curve.name.as_str()).collect();
    let headings: Vec<&str> = std::iter::once("Threshold").chain(names).collect();
    let at = |n: usize| -> Vec<String> {
        let first = format!("{:.2}", found.curves[0].points[n][0]);
        let value = |curve: &crate::Curve| {
            curve.points.get(n).map_or(String::new(), |point| format!("{:.4}", point[1]))
        };
        std::iter::once(first).chain(found.curves.iter().map(value)).collect()
    };
    let count = found.curves.first().map_or(0, |curve| inside(&curve.points).len());
    let rows: Vec<Vec<String>> = (0..count).step_by((count / 15).max(1)).map(at).collect();
    page.numbers("net benefit", &headings, &rows);
}

fn told(estimate: Option<Estimate>) -> [String; 2] {
    estimate.map_or([String::new(), String::new()], |e| {
        [worth(e.estimate), format!("{} to {}", worth(e.low), worth(e.high))]
    })
}

/// What the answer depends on.
pub fn sensitivity(page: &mut Page, report: &Report) {
    let Some(found) = &report.sensitivity else { return };
    page.heading(2, "What does this depend on?");
    if let Some(sentence) = &found.sentence {
        page.paragraph(sentence);
    }
    let (binary, ranked) = (found.variations[0].ratio.is_some(), found.variations[0].top.is_some());
    let mut headings = vec!["Choice", "People"];
    if binary {
        headings.extend(["Cost ratio", "95 % interval"]);
    }
    let capital = |text: &String| {
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    let numbers: Vec<String> = found.numbers.iter().map(capital).collect();
    for number in &numbers {
        headings.extend([number.as_str(), "95 % interval"]);
    }
    if ranked {
        headings.extend(["Best model", "P(best)"]);
    }
    let row = |variation: &Variation| {
        let mut row = vec![variation.what.clone(), variation.people.to_string()];
        for estimate in variation.ratio.iter().chain(&variation.numbers) {
            row.extend(told(Some(*estimate)));
        }
        if ranked {
            row.push(variation.top.clone().unwrap_or_default());
            row.push(variation.probability_best.map_or(String::new(), |p| format!("{p:.2}")));
        }
        row
    };
    let rows: Vec<Vec<String>> = found.variations.iter().map(row).collect();
    page.table("The answer under other choices", &headings, &rows);
    if found.variants.len() > 1 {
        let rows: Vec<Vec<String>> = found
            .variants
            .iter()
            .map(|effect| {
                let [factor, range] = told(effect.factor);
                let name = variant_name(effect.variant).to_owned();
                vec![name, effect.people.to_string(), two_digits(effect.mean_ratio), factor, range]
            })
            .collect();
        let headings = ["Drawn as", "People", "Mean ratio", "Factor against the first", "95 % interval"];
        page.table("Ways to draw comparisons", &headings, &rows);
    }
}
