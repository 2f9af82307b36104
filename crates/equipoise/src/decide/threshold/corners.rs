//! The best thresholds for every linear metric at once.
//!
//! A linear metric likes accepting rows by what accepting those of class 1 saves and accepting those of class 0 costs. Whatever
//! the two costs are, the best threshold is a corner of the upper hull of what thresholds accept, and corners come in the order
//! of the ratio of the costs: made once, the hull answers every metric by bisection.

use crate::metric::Metric;
use crate::population::Profile;
use crate::view::Measure;

/// The corners of one table.
#[derive(Debug, Clone)]
pub(super) struct Corners {
    /// How many cells each accepts, rising, and what they weigh in each class.
    corners: Vec<(usize, [f64; 2])>,
    totals: [f64; 2],
}

impl Corners {
    pub fn of(profile: &Profile, masses: &[f64]) -> Self {
        let mut corners: Vec<(usize, [f64; 2])> = vec![(0, [0.0; 2])];
        let (mut accepted, mut sum) = (0, [0.0; 2]);
        for run in profile.cells().chunk_by(|a, b| a.score == b.score) {
            for (cell, mass) in run.iter().zip(&masses[accepted..]) {
                sum[usize::from(cell.positive)] += mass;
            }
            accepted += run.len();
            // A row that was not drawn changes nothing: fewer accepted are as good.
            if corners.last().is_some_and(|(_, last)| *last == sum) {
                continue;
            }
            while let [.., (_, before), (_, last)] = corners.as_slice() {
                let (to_last, on) = (between(*before, *last), between(*last, sum));
                if to_last[1] * on[0] > on[1] * to_last[0] {
                    break;
                }
                corners.pop();
            }
            corners.push((accepted, sum));
        }
        Self { corners, totals: sum }
    }

    /// How many cells the best threshold accepts; of equally good ones the one with fewest. `None` for metrics that are not
    /// linear in two classes, and for those that like an error.
    pub fn best(&self, metric: &Metric) -> Option<usize> {
        let costs = metric.error_costs().filter(|costs| costs.iter().all(|cost| *cost >= 0.0))?;
        // Rates are shares of a class, so its size is part of the price of a row.
        let [alarm, missed] = match metric.view().measure() {
            Measure::DiagonalRates | Measure::OffDiagonalRates => {
                [costs[0] / self.totals[0], costs[1] / self.totals[1]]
            }
            _ => costs,
        };
        let pays = |pair: &[(usize, [f64; 2])]| {
            let [alarms, found] = between(pair[0].1, pair[1].1);
            missed * found > alarm * alarms
        };
        let steps = self.corners.len() - 1;
        let (mut low, mut high) = (0, steps);
        while low < high {
            let middle = low + (high - low) / 2;
            if pays(&self.corners[middle..middle + 2]) { low = middle + 1 } else { high = middle }
        }
        Some(self.corners[low].0)
    }
}

fn between(from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
    [to[0] - from[0], to[1] - from[1]]
}

#[cfg(test)]
mod tests {
    use super::super::sweep::Judge;
    use super::*;
    use crate::metric::Sense;
    use crate::view::View;

    /// Against every threshold tried: few scores, so that many rows tie, and rows that were not drawn.
    #[test]
    fn the_corner_is_what_trying_every_threshold_finds() {
        for seed in 0..200_u64 {
            let number = |n: u64| crate::population::resampling(seed, n, 0);
            let (times, other) = (number(0), number(1));
            let rows = 60;
            let scores: Vec<f64> = (0..rows).map(|n| (other(n) + times(n + 100)) / 12.0).collect();
            let truth: Vec<u8> =
                (0..rows).map(|n| u8::from(scores[n as usize] * 12.0 + times(n + 200) > 3.0)).collect();
            let Ok(profile) = Profile::from_rows(&scores, &truth, None, None) else { continue };
            let drawn: Vec<f64> =
                profile.cells().iter().zip(0..).map(|(cell, n)| cell.mass() * times(n)).collect();
            if profile.tally(&drawn).overall_totals().contains(&0.0) {
                continue;
            }
            let corners = Corners::of(&profile, &drawn);
            for measure in
                [Measure::Binary, Measure::OffDiagonal, Measure::DiagonalRates, Measure::OffDiagonalRates]
            {
                let sense = match measure {
                    Measure::Binary | Measure::DiagonalRates => Sense::Utility,
                    _ => Sense::Cost,
                };
                for weights in [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 3.0], [7.0, 2.0], [0.3, 0.7]] {
                    let view = View::new(measure, 2, 1).unwrap();
                    let metric = Metric::linear(view, sense, weights.to_vec()).unwrap();
                    let (swept, rating) = profile.sweep(&drawn, &mut Judge::new(&metric, &[])).unwrap();
                    let found = corners.best(&metric).unwrap();
                    // As good to the last bits; where two are, rounding may decide for either.
                    let mut tally = profile.tally(&drawn);
                    let accepted = profile.cells()[..found].iter().zip(&drawn);
                    accepted.for_each(|(cell, mass)| tally.accept(cell, *mass));
                    let liking = Judge::new(&metric, &[]).rate(&tally).unwrap().liking;
                    assert!(
                        (liking - rating.liking).abs() < 1e-12,
                        "{seed} {measure:?} {weights:?} {found} {swept}"
                    );
                }
            }
        }
    }
}
