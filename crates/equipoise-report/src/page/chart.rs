//! The charts of the page. They are hidden from screen readers; a table with the same numbers stands beside each.

use crate::group::{Estimate, Experts};
use crate::{Agreement, ExchangeRate, PersonReport, SETTLED, Share, ThresholdReport, TimePoint, TracePoint};
use equipoise::decide::rank::Standing;
use equipoise_plot::{Axis, Chart};

/// Two classes: how plausible each ratio is, the likeliest being 1, where it is plausible at all.
pub fn plausible(person: &PersonReport) -> Vec<[f64; 2]> {
    let top = person.density.iter().map(|(_, mass)| *mass).fold(0.0, f64::max);
    person.density.iter().map(|(log, mass)| [log.exp(), mass / top]).collect()
}

/// Two classes: the posterior of the ratio.
pub fn density(person: &PersonReport) -> Option<String> {
    let (ratio, points) = (person.ratio?, plausible(person));
    let (first, last) = (points.first()?[0], points.last()?[0]);
    let x = Axis::log(first.min(0.9 * ratio.estimate), last.max(1.1 * ratio.estimate));
    let chart = Chart::new(x, Axis::linear(0.0, 1.0), "cost ratio", "plausibility")
        .band(ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::MAX), "s5")
        .area(&points, "s0")
        .rule(ratio.estimate, "s0 dash");
    Some(chart.svg())
}

/// Two classes: the interval after each answer.
pub fn trace(points: &[TracePoint]) -> String {
    let (low, high) = ends(points.iter().map(|point| (point.ratio[1], point.ratio[2])));
    let last = points.last().map_or(0, |point| point.question);
    let x = Axis::linear(0.0, last as f64 + 1.0);
    let mut chart = Chart::new(x, Axis::log(low, high), "question", "cost ratio");
    for point in points {
        let ([estimate, low, high], at) = (point.ratio, point.question as f64);
        chart = chart.upright(at, low, high, "s0").dot(at, estimate, "s0");
    }
    chart.svg()
}

/// The smallest low and the largest high.
fn ends(all: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    all.fold((f64::MAX, 0.0), |(low, high), (a, b)| (low.min(a), high.max(b)))
}

/// What one mistake of each kind is worth.
pub fn rates(rates: &[ExchangeRate]) -> String {
    let labels: Vec<String> = rates.iter().map(|rate| format!("one {}", rate.mistake)).collect();
    let range = |rate: &ExchangeRate| rate.interval.unwrap_or([rate.rate; 2]).into();
    let (low, high) = ends(rates.iter().map(range));
    let unit = format!("worth so many {}", rates.first().map_or("", |first| &first.unit));
    let x = Axis::log(low.clamp(0.02, 0.5), high.clamp(2.0, 500.0));
    let mut chart = Chart::rows(x, &unit, &labels).rule(1.0, "s5 dash");
    for (n, rate) in rates.iter().enumerate() {
        let (low, high) = range(rate);
        chart = chart.interval(n, rate.rate, low, high, "s0");
    }
    chart.svg()
}

/// What each attribute weighs.
pub fn shares(shares: &[Share]) -> String {
    let labels: Vec<String> = shares.iter().map(|share| share.attribute.clone()).collect();
    let mut chart = Chart::rows(Axis::linear(0.0, 1.0), "share of all weights", &labels);
    for (n, share) in shares.iter().enumerate() {
        let [low, high] = share.interval.unwrap_or([share.share; 2]);
        chart = chart.interval(n, share.share, low, high, "s0");
    }
    chart.svg()
}

/// Answers with how clear the choice was, the clearest being 1.
pub fn clearness(times: &[TimePoint]) -> impl Iterator<Item = (&TimePoint, f64)> {
    let widest = times.iter().map(|time| time.difference).fold(0.0, f64::max);
    times.iter().map(move |time| (time, time.difference / widest))
}

/// Response times against how close the choice was.
pub fn times(times: &[TimePoint]) -> String {
    let (low, high) = ends(times.iter().map(|time| (time.seconds(), time.seconds())));
    let (x, y) = (Axis::linear(0.0, 1.0), Axis::log(0.8 * low, 1.2 * high));
    let mut chart = Chart::new(x, y, "how clear the choice is, the clearest being 1", "seconds");
    for (time, clear) in clearness(times) {
        chart = chart.dot(clear, time.seconds(), if time.marked { "s1" } else { "s0" });
    }
    chart.svg()
}

/// How many answers each metric predicts.
pub fn predictions(shares: &[(&str, Agreement)]) -> String {
    let labels: Vec<String> =
        shares.iter().map(|(name, a)| format!("{name}: {} of {}", a.agree, a.of)).collect();
    let mut chart = Chart::rows(Axis::linear(0.0, 100.0), "answers predicted, in per cent", &labels);
    chart = chart.rule(50.0, "s5 dash");
    for (n, (_, a)) in shares.iter().enumerate() {
        chart = chart.interval(n, 100.0 * a.share, 100.0 * a.low, 100.0 * a.high, first(n));
    }
    chart.svg()
}

/// The first of several rows stands out.
fn first(n: usize) -> &'static str {
    if n == 0 { "s0" } else { "s5" }
}

/// How likely each model is the best.
pub fn models(standings: &[&Standing]) -> String {
    let labels: Vec<String> =
        standings.iter().map(|s| format!("{}: {:.2}", s.name, s.probability_best)).collect();
    let mut chart = Chart::rows(Axis::linear(0.0, 1.0), "probability of being the best", &labels);
    chart = chart.rule(SETTLED, "s5 dash");
    for (n, standing) in standings.iter().enumerate() {
        chart = chart.bar(n, standing.probability_best, first(n));
    }
    chart.svg()
}

/// The line of a curve, by its place.
pub fn style(place: &usize) -> String {
    format!("s{}{}", place % 6, if place % 2 == 1 { " dash" } else { "" })
}

/// The 95 % interval of the threshold that follows from the answers, and where its chart ends.
fn around(found: &ThresholdReport) -> ([f64; 2], f64) {
    let ends = found.theory.interval.map_or([found.theory.threshold; 2], |i| [i.low, i.high]);
    (ends, (1.6 * ends[1]).clamp(0.2, 0.99))
}

/// The decision curve.
pub fn curves(found: &ThresholdReport) -> String {
    let (ends, to) = around(found);
    let inside = |point: &&[f64; 2]| point[0] <= to;
    let values = || found.curves.iter().flat_map(|curve| &curve.points).filter(inside).map(|point| point[1]);
    let high = values().fold(0.0, f64::max);
    let low = (-0.25 * high).max(values().fold(0.0, f64::min));
    let (x, y) = (Axis::linear(0.0, to), Axis::linear(low, 1.05 * high));
    let mut chart = Chart::new(x, y, "threshold probability", "net benefit per person");
    chart = chart.band(ends[0], ends[1], "s5").rule(found.theory.threshold, "s5 dash");
    for (n, curve) in found.curves.iter().enumerate() {
        let seen = curve.points.iter().filter(inside).filter(|point| point[1] >= low);
        chart = chart.line(&seen.copied().collect::<Vec<_>>(), &style(&n));
    }
    chart.svg()
}

/// Places of the decision curve that its table lists.
pub fn places(found: &ThresholdReport) -> impl Iterator<Item = usize> {
    let to = around(found).1;
    let count = found.curves.first().map_or(0, |c| c.points.iter().filter(|point| point[0] <= to).count());
    (0..count).step_by((count / 15).max(1))
}

/// A cluster's colour.
fn colour(cluster: usize) -> &'static str {
    ["s0", "s1", "s2"][cluster % 3]
}

/// Two classes: everybody's interval on one axis.
pub fn line(experts: &Experts) -> String {
    let members = experts.by_ratio();
    let names = members.iter().map(|member| format!("participant {}", member.participant));
    let labels: Vec<String> = experts.ratio.iter().map(|_| "typical".to_owned()).chain(names).collect();
    let all = members.iter().flat_map(|m| m.raw.iter().chain(&m.shrunk)).chain(&experts.ratio);
    let (low, high) = ends(all.map(|estimate| (estimate.low, estimate.high)));
    let mut chart = Chart::rows(Axis::log(0.9 * low, 1.1 * high), "cost ratio", &labels);
    let interval = |chart: Chart, row: usize, estimate: Option<Estimate>, style: &str| match estimate {
        Some(Estimate { estimate, low, high }) => chart.interval(row, estimate, low, high, style),
        None => chart,
    };
    if let Some(ratio) = experts.ratio {
        chart = chart.rule(ratio.estimate, "s5 dash");
    }
    chart = interval(chart, 0, experts.ratio, "s5");
    let above = usize::from(experts.ratio.is_some());
    for (n, member) in members.iter().enumerate() {
        chart = interval(chart, n + above, member.raw, "s5 thin");
        chart = interval(chart, n + above, member.shrunk, colour(member.cluster));
    }
    chart.svg()
}

/// More weights: people in the plane in which they differ most.
pub fn map(experts: &Experts) -> Option<String> {
    let places = || experts.members.iter().filter_map(|member| Some((member, member.place?)));
    places().next()?;
    let reach = places()
        .flat_map(|(_, p)| [p.x.abs() + 2.5 * p.deviation(0), p.y.abs() + 2.5 * p.deviation(2)])
        .fold(0.05, f64::max);
    let axis = Axis::linear(-reach, reach);
    let mut chart = Chart::new(axis, axis, "first direction", "second direction");
    for (member, place) in places() {
        let style = colour(member.cluster);
        chart = chart.ellipse(place.x, place.y, place.covariance, &format!("{style} thin"));
        chart = chart.dot(place.x, place.y, style);
    }
    Some(chart.svg())
}
