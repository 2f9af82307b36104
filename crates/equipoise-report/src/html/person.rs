//! One person's part of the page.

use super::page::Page;
use crate::rates::worth;
use crate::{ExchangeRate, GapPrice, PersonReport, Report};
use equipoise_plot::{Axis, Chart};
use equipoise_study::Stopped;
use equipoise_study::numbers::two_digits;

/// The estimate with its uncertainty; nothing is drawn of one that is refused.
pub fn estimate(page: &mut Page, person: &PersonReport) {
    if person.refusal.is_none() {
        density(page, person);
        trace(page, person);
        // The dearest gap is in the sentence already.
        let gaps: Vec<&GapPrice> =
            person.gaps.iter().filter(|gap| !person.sentence.contains(&gap.sentence)).collect();
        rates(page, &person.rates, &gaps);
    }
    let ended = match person.stopped {
        Some(Stopped::Narrow) => "The questions ended because the estimate was sure enough.",
        Some(Stopped::Cap) => {
            "The questions ended because the most that the study allows were asked, not because the estimate was sure enough."
        }
        Some(Stopped::NothingLeft) => "The questions ended because none would have told enough.",
        None => "The questions had not ended yet.",
    };
    page.paragraph(&format!("{} answers elicit the metric. {ended}", person.answers));
}

fn density(page: &mut Page, person: &PersonReport) {
    let Some(ratio) = person.ratio else { return };
    let top = person.density.iter().map(|(_, mass)| *mass).fold(0.0, f64::max);
    let seen: Vec<&(f64, f64)> = person.density.iter().filter(|(_, mass)| *mass > 0.002 * top).collect();
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return };
    let x = Axis::log((first.0.exp()).min(0.9 * ratio.estimate), last.0.exp().max(1.1 * ratio.estimate));
    let points: Vec<[f64; 2]> = seen.iter().map(|(log, mass)| [log.exp(), mass / top]).collect();
    let ends = [ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::MAX)];
    let chart = Chart::new(x, Axis::linear(0.0, 1.0), "cost ratio", "plausibility")
        .band(ends[0], ends[1], "s5")
        .area(&points, "s0")
        .rule(ratio.estimate, "s0 dash");
    page.chart(
        &chart.svg(),
        "How plausible each cost ratio is. Grey: the 95 % interval; dashed: the estimate.",
    );
    // Every tenth place is enough to read.
    let table: Vec<Vec<String>> = points
        .iter()
        .step_by((points.len() / 12).max(1))
        .map(|[ratio, height]| vec![two_digits(*ratio), format!("{height:.2}")])
        .collect();
    page.numbers("plausibility of each ratio", &["Cost ratio", "Plausibility, the largest being 1"], &table);
}

fn trace(page: &mut Page, person: &PersonReport) {
    let (Some(last), true) = (person.trace.last(), person.trace.len() > 1) else { return };
    let low = person.trace.iter().map(|point| point.ratio[1]).fold(f64::MAX, f64::min);
    let high = person.trace.iter().map(|point| point.ratio[2]).fold(0.0, f64::max);
    let x = Axis::linear(0.0, last.question as f64 + 1.0);
    let mut chart = Chart::new(x, Axis::log(low, high), "question", "cost ratio");
    for point in &person.trace {
        let [estimate, low, high] = point.ratio;
        let at = point.question as f64;
        chart = chart.upright(at, low, high, "s0").dot(at, estimate, "s0");
    }
    page.chart(&chart.svg(), "The estimate and its 95 % interval after each answer that elicits.");
    let table: Vec<Vec<String>> = person
        .trace
        .iter()
        .map(|point| {
            let [estimate, low, high] = point.ratio.map(two_digits);
            vec![point.question.to_string(), estimate, format!("{low} to {high}")]
        })
        .collect();
    page.numbers("interval after each answer", &["Question", "Estimate", "95 % interval"], &table);
}

/// Exchange rates and prices of gaps.
pub fn rates(page: &mut Page, rates: &[ExchangeRate], gaps: &[&GapPrice]) {
    for gap in gaps {
        page.sourced(&gap.sentence, &gap.rows);
    }
    let Some(first) = rates.first() else { return };
    let number = worth;
    let labels: Vec<String> = rates.iter().map(|rate| format!("one {}", rate.mistake)).collect();
    let ends = |rate: &ExchangeRate| rate.interval.unwrap_or([rate.rate; 2]);
    let low = rates.iter().map(|rate| ends(rate)[0]).fold(f64::MAX, f64::min).max(0.02);
    let high = rates.iter().map(|rate| ends(rate)[1]).fold(0.0, f64::max).min(500.0);
    let unit = format!("worth so many {}", first.unit);
    let mut chart = Chart::rows(Axis::log(low.min(0.5), high.max(2.0)), &unit, &labels).rule(1.0, "s5 dash");
    for (n, rate) in rates.iter().enumerate() {
        let [low, high] = ends(rate);
        chart = chart.interval(n, rate.rate, low, high, "s0");
    }
    page.chart(
        &chart.svg(),
        "What one mistake of each kind is worth. Lines are 95 % intervals; dashed: as bad as the unit.",
    );
    let table: Vec<Vec<String>> = rates
        .iter()
        .map(|rate| {
            let range = rate
                .interval
                .map_or(String::new(), |[low, high]| format!("{} to {}", number(low), number(high)));
            vec![rate.mistake.clone(), number(rate.rate), range]
        })
        .collect();
    page.numbers(&format!("in units of {}", first.unit), &["One", "Is worth", "95 % interval"], &table);
    page.sourced("The answers behind this figure.", &first.rows);
}

/// The answers that mattered most, under a heading of a level.
pub fn why(page: &mut Page, level: usize, person: &PersonReport) {
    if person.why.is_empty() || person.refusal.is_some() {
        return;
    }
    page.heading(level, "The answers that mattered most");
    for influence in &person.why {
        page.sourced(&influence.sentence, &influence.rows);
    }
}

/// Answers that do not go together.
pub fn inconsistent(page: &mut Page, level: usize, person: &PersonReport) {
    let found = &person.consistency;
    if found.contradicting_pairs == 0 && found.changed.is_empty() && found.against.is_empty() {
        return;
    }
    let mut lines = vec![];
    for pair in &found.contradictions {
        lines.push(format!(
            "No ratio explains both: question {} asks for at least {}, question {} for at most {}.",
            pair.high,
            two_digits(pair.at_least),
            pair.low,
            two_digits(pair.at_most)
        ));
    }
    if found.contradicting_pairs > found.contradictions.len() {
        lines.push(format!("{} pairs of answers contradict each other in all.", found.contradicting_pairs));
    }
    for [first, again] in &found.changed {
        lines.push(format!("Question {again} repeated question {first} and was answered differently."));
    }
    if !found.against.is_empty() {
        let numbers: Vec<String> = found.against.iter().map(|against| against.question.to_string()).collect();
        lines.push(format!(
            "The estimate would have answered differently in question {}.",
            numbers.join(", ")
        ));
    }
    page.heading(level, "Answers that do not go together");
    page.list(lines.iter().map(String::as_str));
    page.sourced("These answers.", &found.rows);
}

/// Response times against how close the choice was.
pub fn times(page: &mut Page, level: usize, person: &PersonReport) {
    let Some(slope) = person.response_times.as_ref() else { return };
    let widest = person.times.iter().map(|time| time.difference).fold(0.0, f64::max);
    let seconds = |ms: u64| (ms.max(1) as f64) / 1000.0;
    let low = person.times.iter().map(|time| seconds(time.milliseconds)).fold(f64::MAX, f64::min);
    let high = person.times.iter().map(|time| seconds(time.milliseconds)).fold(0.0, f64::max);
    let y = Axis::log(0.8 * low, 1.2 * high);
    let mut chart =
        Chart::new(Axis::linear(0.0, 1.0), y, "how clear the choice is, the clearest being 1", "seconds");
    for time in &person.times {
        let style = if time.marked { "s1" } else { "s0" };
        chart = chart.dot(time.difference / widest, seconds(time.milliseconds), style);
    }
    page.heading(level, "Response times");
    let said = match (slope.high < 0.0, slope.low > 0.0) {
        (true, _) => "Close choices took longer, as they should.",
        (_, true) => "Clear choices took longer than close ones, which is unusual.",
        _ => "Whether close choices took longer cannot be told.",
    };
    let told = [slope.slope, slope.low, slope.high].map(|change| two_digits(change.exp()));
    page.chart(
        &chart.svg(),
        "Each dot is an answer; those under 300 ms or over five minutes have another colour.",
    );
    let times: Vec<Vec<String>> = person
        .times
        .iter()
        .map(|time| {
            let mark = if time.marked { "marked" } else { "" };
            vec![
                time.question.to_string(),
                format!("{:.2}", time.difference / widest),
                format!("{:.1}", seconds(time.milliseconds)),
                mark.to_owned(),
            ]
        })
        .collect();
    page.numbers("response times", &["Question", "Clearness", "Seconds", "Mark"], &times);
    page.sourced(
        &format!("{said} From the closest to the clearest choice the time changes by a factor of {} (95 % interval {}-{}).", told[0], told[1], told[2]),
        &slope.rows,
    );
}

/// The weights themselves, in an appendix.
pub fn weights(page: &mut Page, report: &Report) {
    if report.people.iter().all(|person| person.weights.is_empty() || person.refusal.is_some()) {
        return;
    }
    page.heading(2, "Appendix: the weights");
    page.paragraph("Weights of error rates within each class, all of them together of length 1.");
    for person in report.people.iter().filter(|person| person.refusal.is_none()) {
        let rows: Vec<Vec<String>> = person
            .weights
            .iter()
            .map(|weight| {
                let range =
                    weight.interval.map_or(String::new(), |[low, high]| format!("{low:.3} to {high:.3}"));
                vec![weight.name.clone(), format!("{:.3}", weight.weight), range]
            })
            .collect();
        let caption = format!("Participant {}", person.participant);
        page.table(&caption, &["Of", "Weight", "95 % interval"], &rows);
        if let Some(trade_off) = person.trade_off {
            page.paragraph(&format!("Trade-off λ = {trade_off:.3}: the share of fairness in the metric."));
        }
    }
}
