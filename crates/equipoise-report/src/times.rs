//! Response times against how close the choice was (UX-22): close choices should take longer.

use crate::rows::Rows;
use equipoise::Metric;
use equipoise_study::people::TOO_SLOW_MS;
use equipoise_study::{Participant, timing};
use serde::Serialize;

/// One answer with a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimePoint {
    /// The comparison's number.
    pub question: usize,
    /// How much better one system is by the estimate, in units of the metric.
    pub difference: f64,
    /// The response time, hidden time taken off.
    pub milliseconds: u64,
    /// Faster than reading takes, above five minutes, or more than went by on the server: marked, never removed.
    pub marked: bool,
}

impl TimePoint {
    /// The response time in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.milliseconds.max(1) as f64) / 1000.0
    }
}

/// A straight line through logarithms of response times, against differences of utility.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slope {
    /// Answers with a time.
    pub answers: usize,
    /// Change of the logarithm from the closest choice to the clearest one; negative where close choices take longer.
    pub slope: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// Its 95 % interval.
    pub high: f64,
    /// The answers.
    pub rows: Rows,
}

/// All answers with a time, and the line through them by least squares.
pub(crate) fn response_times(participant: &Participant, metric: &Metric) -> (Vec<TimePoint>, Option<Slope>) {
    let times: Vec<TimePoint> = participant
        .questions()
        .iter()
        .filter_map(|question| {
            let answer = question.answer.as_ref()?;
            let milliseconds = answer.response_ms?;
            let query = participant.design().frame().query(&question.asked.shown);
            let difference = (metric.liking(&query.first) - metric.liking(&query.second)).abs();
            let elapsed = question.elapsed_ms();
            let marked = milliseconds > TOO_SLOW_MS
                || timing::is_unread(&question.asked.shown, answer, elapsed)
                || timing::is_disputed(answer, elapsed);
            Some(TimePoint { question: question.asked.number, difference, milliseconds, marked })
        })
        .collect();
    let slope = line(&times).map(|[slope, low, high]| Slope {
        answers: times.len(),
        slope,
        low,
        high,
        rows: Rows::of(participant, |q| q.answer.as_ref().is_some_and(|a| a.response_ms.is_some())),
    });
    (times, slope)
}

fn line(times: &[TimePoint]) -> Option<[f64; 3]> {
    let n = times.len() as f64;
    let widest = times.iter().map(|time| time.difference).fold(0.0, f64::max);
    if times.len() < 5 || widest <= 0.0 {
        return None;
    }
    let points: Vec<(f64, f64)> =
        times.iter().map(|t| (t.difference / widest, (t.milliseconds.max(1) as f64).ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sxx: f64 = points.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    if sxx <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / sxx;
    let residual: f64 = points.iter().map(|(x, y)| (y - my - slope * (x - mx)).powi(2)).sum();
    let half = 1.96 * (residual / (n - 2.0) / sxx).sqrt();
    Some([slope, slope - half, slope + half])
}
