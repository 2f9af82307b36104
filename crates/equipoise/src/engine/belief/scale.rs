//! The ratios of a grid, and where a posterior over them lies.

/// Grid places: ratios from 1/200 to 200, evenly in the logarithm.
const RATIOS: usize = 801;

/// Ratios from 1/200 to 200.
pub const LARGEST_RATIO: f64 = 200.0;

/// An end of the interval is set by the answers if the likelihood has fallen below this share of its top at the last ratio.
const NOT_SET: f64 = 0.03;

/// A likelihood of this share of the top is where a one-sided 95 % interval ends: $e^{-1.645^2/2}$.
const BELIEVABLE: f64 = 0.258;

/// The ratios of a grid: evenly spaced logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub step: f64,
}

impl Scale {
    /// All ratios of the population.
    pub fn full() -> Self {
        let range = LARGEST_RATIO.ln();
        Self { low: -range, step: 2.0 * range / (RATIOS - 1) as f64 }
    }

    /// How many ratios there are before any are left off.
    pub fn places(self) -> usize {
        RATIOS
    }

    /// The logarithm of the ratio at a place.
    pub fn at(self, place: f64) -> f64 {
        self.low + self.step * place
    }

    /// The log ratio below which a share of the masses lies, linear within a grid cell.
    pub fn quantile(self, masses: &[f64], share: f64) -> f64 {
        self.quantiles(masses, std::iter::once(share)).next().unwrap_or(self.low)
    }

    /// The same of shares that rise, in one pass.
    pub fn quantiles(self, masses: &[f64], shares: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
        let last = masses.len() - 1;
        let (mut place, mut below) = (0, 0.0);
        shares.map(move |share| {
            while place <= last && !(below + masses[place] >= share && masses[place] > 0.0) {
                below += masses[place];
                place += 1;
            }
            let Some(mass) = masses.get(place) else { return self.at(last as f64) };
            let within = (share - below) / mass - 0.5;
            self.at((place as f64 + within).clamp(0.0, last as f64))
        })
    }

    /// How likely the threshold is within `tolerance` of the one the middle of the masses leads to.
    pub fn threshold_settled(self, masses: &[f64], tolerance: f64) -> f64 {
        let threshold = |log_ratio: f64| 1.0 / (1.0 + log_ratio.exp());
        let chosen = threshold(self.quantile(masses, 0.5));
        let near = |place: &usize| (threshold(self.at(*place as f64)) - chosen).abs() <= tolerance;
        (0..masses.len()).filter(near).map(|place| masses[place]).sum()
    }
    /// The ends of the 95 % interval, as logarithms. An end that the answers have not set is none: the likelihood is still high
    /// where those ratios end that are thought possible, and another end of them would give another number. The end that is set
    /// then holds with 95 % certainty alone, by how far the likelihood has fallen there.
    pub fn ends(self, masses: &[f64]) -> [Option<f64>; 2] {
        let last = masses.len() - 1;
        let top = masses.iter().copied().fold(0.0, f64::max);
        let believable = |place: &usize| masses[*place] >= BELIEVABLE * top;
        let (mut up, mut down) = (0..=last, (0..=last).rev());
        match [masses[0], masses[last]].map(|mass| mass > NOT_SET * top) {
            [true, true] => [None, None],
            [false, true] => [up.find(believable).map(|place| self.at(place as f64 - 0.5)), None],
            [true, false] => [None, down.find(believable).map(|place| self.at(place as f64 + 0.5))],
            [false, false] => [0.025, 0.975].map(|share| Some(self.quantile(masses, share))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_nothing_sets_is_none() {
        let scale = Scale::full();
        // Nothing is known beyond a ratio of 63: all larger ones are as likely.
        let masses: Vec<f64> =
            (0..scale.places()).map(|n| f64::from(u8::from(scale.at(n as f64) >= 63_f64.ln()))).collect();
        let total: f64 = masses.iter().sum();
        let masses: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
        let [low, high] = scale.ends(&masses);
        assert!((low.unwrap().exp() / 63.0).ln().abs() < 0.02 && high.is_none());
        let turned: Vec<f64> = masses.iter().rev().copied().collect();
        let [low, high] = scale.ends(&turned);
        assert!(low.is_none() && (high.unwrap().exp() * 63.0).ln().abs() < 0.02);
        let even = vec![1.0 / masses.len() as f64; masses.len()];
        assert_eq!(scale.ends(&even), [None, None]);
        // A bell in the middle has the ends of its quantiles.
        let bell: Vec<f64> = (0..even.len()).map(|n| (-2.0 * scale.at(n as f64).powi(2)).exp()).collect();
        let total: f64 = bell.iter().sum();
        let bell: Vec<f64> = bell.iter().map(|mass| mass / total).collect();
        let [low, high] = scale.ends(&bell).map(Option::unwrap);
        assert!((low + 0.98).abs() < 0.01 && (high - 0.98).abs() < 0.01, "{low} {high}");
    }
}
