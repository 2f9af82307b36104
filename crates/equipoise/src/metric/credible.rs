//! Credible intervals: where the numbers of an elicited metric lie, as far as the answers tell.

use super::Metric;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many draws an interval is read off. The ends of a 95 % interval are then known to about a twentieth of its width.
const DRAWS: usize = 2_000;

impl Metric {
    /// The ranges that hold numbers of this metric with probability `level` each, from its posterior or, failing that, from
    /// the interval of its ratio; `None` if the document has neither.
    ///
    /// `numbers` says which: weights, a ratio, a trade-off, the value of a classifier. It is asked about many metrics
    /// drawn from the posterior ([`Metric::draws`]), always the same ones, and must always return as many.
    ///
    /// ```
    /// use equipoise::Metric;
    /// let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6],
    ///                "posterior":{"mean":[1,6],"covariance":[[0.01,0],[0,0.5]],"signs":"known"}}"#;
    /// let ranges = Metric::from_json(text)?.credible(0.95, |metric| metric.cost_ratio().into_iter().collect());
    /// let [low, high] = ranges.unwrap()[0];
    /// assert!(low > 4.0 && low < 5.0 && high > 7.5 && high < 8.5);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn credible(&self, level: f64, numbers: impl Fn(&Metric) -> Vec<f64>) -> Option<Vec<[f64; 2]>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let rows: Vec<Vec<f64>> = self.draws(DRAWS, &mut random).iter().map(numbers).collect();
        let count = rows.first()?.len();
        let range = |column: usize| {
            let mut values: Vec<f64> =
                rows.iter().filter_map(|row| row.get(column)).copied().filter(|x| x.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            let tail = 0.5 * (1.0 - level);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            (!values.is_empty()).then(|| [at(tail), at(1.0 - tail)])
        };
        (0..count).map(range).collect()
    }
}
