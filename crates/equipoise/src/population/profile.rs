//! How many rows have which score: all that thresholds, curves and calibration look at.

use super::rule::accepts;
use crate::error::{Error, Result, check};
use std::cmp::Ordering;

/// Which score rows are sorted by, and which of them are positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// The probability of a class; rows of all others are negative.
    Class(usize),
    /// The share $\eta_b / (\eta_a + \eta_b)$ of the second of two classes; rows of neither are left out.
    Share(usize, usize),
}

impl Score {
    /// What tells the second of two classes from the first: where there are no others, its probability.
    pub fn between(a: usize, b: usize, classes: usize) -> Self {
        if classes == 2 && (a, b) == (0, 1) { Score::Class(1) } else { Score::Share(a, b) }
    }

    /// The score of a row, and whether it is positive; `None` if it is left out.
    #[inline]
    pub fn of(self, truth: usize, probability: impl Fn(usize) -> f64) -> Option<(f64, bool)> {
        match self {
            Score::Class(class) => Some((probability(class), truth == class)),
            Score::Share(a, b) if truth == a || truth == b => {
                let (pa, pb) = (probability(a), probability(b));
                // Rows that are surely of neither class count as the first: any threshold would do.
                Some((if pb > 0.0 { pb / (pa + pb) } else { 0.0 }, truth == b))
            }
            Score::Share(..) => None,
        }
    }
}

/// Rows that no question about scores tells apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Their score; of a bucket of scores, the lowest that falls into it.
    pub score: f64,
    /// What each of them weighs.
    pub weight: f64,
    /// How many there are; more than fit come in several cells.
    pub rows: u32,
    /// Their group.
    pub group: u16,
    /// Whether they are of the positive class.
    pub positive: bool,
}

impl Cell {
    /// High scores first; then an order that only depends on the rows.
    pub fn order(&self, other: &Self) -> Ordering {
        let alike = |cell: &Self| (cell.group, cell.positive);
        (other.score.total_cmp(&self.score))
            .then_with(|| alike(self).cmp(&alike(other)))
            .then_with(|| self.weight.total_cmp(&other.weight))
    }

    /// Rows that were counted together, by the sums of their weights and of the squares of these: as many rows of at most two weights with the same
    /// sums, so that the rows drawn again weigh what the others would, and vary as much.
    ///
    /// ```
    /// use equipoise::population::Cell;
    /// let cell = Cell { score: 0.3, weight: 1.0, rows: 0, group: 0, positive: true };
    /// let found = cell.counted(4, 10.0, 40.0);
    /// let sum = |of: fn(f64) -> f64| found.iter().map(|cell| f64::from(cell.rows) * of(cell.weight)).sum::<f64>();
    /// assert!((sum(|w| w) - 10.0).abs() < 1e-12 && (sum(|w| w * w) - 40.0).abs() < 1e-12);
    /// ```
    pub fn counted(self, rows: u64, weight: f64, squares: f64) -> Vec<Self> {
        let n = rows as f64;
        let mean = weight / n;
        let variance = squares / n - mean * mean;
        let mut parts = vec![(rows, mean)];
        // Weights that are the same but for rounding are the same.
        if rows > 1 && variance > 1e-12 * mean * mean {
            // The share of heavy rows: half of them, or fewer where the light ones would weigh less than nothing.
            let heavy = (n / (1.0 + variance / (mean * mean))).floor().clamp(1.0, (n / 2.0).floor());
            let light = n - heavy;
            let up = (variance * light / heavy).sqrt();
            let down = (variance * heavy / light).sqrt();
            parts = vec![(heavy as u64, mean + up), (light as u64, (mean - down).max(0.0))];
        }
        let mut cells = vec![];
        for (mut left, weight) in parts {
            while left > 0 {
                let some = left.min(u64::from(u32::MAX));
                cells.push(Self { rows: some as u32, weight, ..self });
                left -= some;
            }
        }
        cells
    }

    /// What they weigh together.
    pub fn mass(&self) -> f64 {
        self.weight * f64::from(self.rows)
    }

    fn take(&mut self, other: &Self) -> bool {
        let rows = self.rows.checked_add(other.rows).filter(|_| self.order(other) == Ordering::Equal);
        self.rows = rows.unwrap_or(self.rows);
        rows.is_some()
    }
}

/// Rows by group, class and score: exact scores of rows in memory, buckets elsewhere.
///
/// The larger the score, the likelier the positive class. A threshold accepts from its score on.
///
/// ```
/// use equipoise::{Metric, population::Profile};
/// let profile = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None)?;
/// let best = profile.best(&Metric::accuracy(2)?, &[])?.found().unwrap();
/// assert_eq!((best.value, best.cut.accepted), (0.75, 1));
/// assert!((best.cut.threshold - 0.6).abs() < 1e-12);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    cells: Vec<Cell>,
    groups: usize,
    total: f64,
    /// Whether cells hold ranges of scores, each with its lowest.
    bucketed: bool,
    /// How wide the highest range may be; 0 where its scores are all the same.
    width: f64,
}

/// A profile in few buckets of neighbouring scores, for what is asked of it again and again.
#[derive(Debug)]
pub(crate) struct Coarse {
    /// The buckets. The highest score has one of its own.
    pub profile: Profile,
    /// The cell of the buckets that each cell of the fine profile is in.
    pub of: Vec<u32>,
    /// For each cell of the buckets, how many fine cells there are up to the end of its bucket.
    pub ends: Vec<usize>,
}

impl Profile {
    /// From cells in any order; `total` is the weight of all rows of the data, those left out included.
    pub fn new(mut cells: Vec<Cell>, groups: usize, total: f64) -> Self {
        // A negative zero is a zero.
        cells.iter_mut().for_each(|cell| cell.score += 0.0);
        cells.sort_by(Cell::order);
        cells.dedup_by(|next, kept| kept.take(next));
        Self { cells, groups, total, bucketed: false, width: 0.0 }
    }

    /// The same where scores in [0, 1] are too many to be told apart: each is counted in one of [`Profile::BUCKETS`] equal parts, by
    /// its lower end; 1 has a part of its own. Rows from the end of a part on are still counted exactly.
    ///
    /// ```
    /// use equipoise::population::{Cell, Profile};
    /// let cell = |score| Cell { score, weight: 1.0, rows: 1, group: 0, positive: true };
    /// let profile = Profile::in_buckets(vec![cell(0.3), cell(0.3000001), cell(1.0)], 1, 3.0);
    /// let found: Vec<(f64, u32)> = profile.cells().iter().map(|cell| (cell.score * 65_536.0, cell.rows)).collect();
    /// assert_eq!(found, [(65_536.0, 1), (19_660.0, 2)]);
    /// ```
    pub fn in_buckets(mut cells: Vec<Cell>, groups: usize, total: f64) -> Self {
        // Multiplying by a power of two is exact, so every machine and every database finds the same part.
        let parts = f64::from(Self::BUCKETS);
        cells.iter_mut().for_each(|cell| cell.score = (cell.score * parts).floor() / parts);
        Self { bucketed: true, width: 1.0 / parts, ..Self::new(cells, groups, total) }
    }

    /// Parts of [0, 1] that scores are counted in where they are too many to be told apart.
    pub const BUCKETS: u32 = 1 << 16;

    /// Whether scores are counted in parts, rather than one by one.
    pub fn is_bucketed(&self) -> bool {
        self.bucketed
    }

    /// From a finite score and a class code, 0 or 1, for every row; maybe weights of at least 0, and group codes with the
    /// number of groups. Both classes must occur.
    pub fn from_rows(
        scores: &[f64],
        truth: &[u8],
        weights: Option<&[f64]>,
        groups: Option<(&[u16], usize)>,
    ) -> Result<Self> {
        check::at_least("the number of scores", scores.len(), 1, "at least 1")?;
        check::length("truth", truth.len(), scores.len())?;
        check::all_finite("scores", scores)?;
        if let Some(row) = truth.iter().position(|&class| class > 1) {
            let (field, value) = (format!("truth[{row}]"), f64::from(truth[row]));
            return Err(Error::Number { field, value, expected: "class 0 or 1" });
        }
        if let Some(weights) = weights {
            check::length("weights", weights.len(), scores.len())?;
            check::nonnegative("weights", weights)?;
        }
        let (codes, count) = groups.unwrap_or((&[], 1));
        if groups.is_some() {
            check::length("groups", codes.len(), scores.len())?;
            check::at_least("the number of groups", count, 1, "at least 1")?;
            if let Some(row) = codes.iter().position(|&code| usize::from(code) >= count) {
                let what = format!("groups[{row}] is {}, expected a code below {count}", codes[row]);
                return Err(Error::Mismatch(what));
            }
        }
        let cell = |row: usize| Cell {
            score: scores[row],
            weight: weights.map_or(1.0, |weights| weights[row]),
            rows: 1,
            group: codes.get(row).copied().unwrap_or(0),
            positive: truth[row] == 1,
        };
        let cells: Vec<Cell> = (0..scores.len()).map(cell).collect();
        for class in [false, true] {
            let of_class = || cells.iter().filter(|cell| cell.positive == class);
            if of_class().next().is_none() {
                let what = format!("truth has no row of class {}, expected both classes", u8::from(class));
                return Err(Error::Mismatch(what));
            }
            let weight: f64 = of_class().map(|cell| cell.weight).sum();
            let field = format!("the total weight of class {}", u8::from(class));
            let ok = weight > 0.0 && weight.is_finite();
            check::number(&field, weight, ok, "a finite number above 0")?;
        }
        let total = cells.iter().map(|cell| cell.weight).sum();
        Ok(Self::new(cells, count, total))
    }

    /// The cells by falling score.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells, given away.
    pub fn into_cells(self) -> Vec<Cell> {
        self.cells
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.cells.iter().map(|cell| u64::from(cell.rows)).sum()
    }

    /// Number of groups; 1 without groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The weight of all rows of the data, those left out included.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// What the rows of each cell weigh.
    pub(crate) fn masses(&self) -> Vec<f64> {
        self.cells.iter().map(Cell::mass).collect()
    }

    /// The highest score that may be among them, if cells hold ranges of scores.
    pub(crate) fn top_of_buckets(&self) -> Option<f64> {
        let top =
            |cell: &Cell| if cell.score < 1.0 { (cell.score + self.width).next_down() } else { cell.score };
        self.cells
            .first()
            .map(|cell| if self.width > 0.0 { top(cell) } else { cell.score })
            .filter(|_| self.bucketed)
    }

    /// About so many buckets with as many cells each. No bucket holds scores on both sides of one of the thresholds.
    pub(crate) fn coarse(&self, buckets: usize, thresholds: &[f64]) -> Coarse {
        let size = self.cells.len().div_ceil(buckets.max(1));
        let mut breaks: Vec<usize> =
            thresholds.iter().map(|&at| self.cells.partition_point(|cell| accepts(cell.score, at))).collect();
        breaks.sort_unstable();
        let mut breaks = breaks.into_iter().peekable();
        let mut coarse = Coarse {
            profile: Self { cells: vec![], bucketed: true, ..*self },
            of: Vec::with_capacity(self.cells.len()),
            ends: vec![],
        };
        let mut open: Vec<Option<u32>> = vec![None; 2 * self.groups];
        let (mut start, mut first) = (0, 0);
        for run in self.cells.chunk_by(|a, b| a.score == b.score) {
            for cell in run {
                let place = 2 * usize::from(cell.group) + usize::from(cell.positive);
                let cells = &mut coarse.profile.cells;
                let at = *open[place].get_or_insert_with(|| {
                    cells.push(Cell { weight: 0.0, rows: 0, ..*cell });
                    cells.len() as u32 - 1
                });
                let bucket = &mut cells[at as usize];
                let mass = bucket.mass() + cell.mass();
                bucket.rows = bucket.rows.saturating_add(cell.rows);
                bucket.weight = mass / f64::from(bucket.rows.max(1));
                coarse.of.push(at);
            }
            let end = coarse.of.len();
            let must = breaks.next_if(|&at| at <= end).is_some();
            if must {
                while breaks.next_if(|&at| at <= end).is_some() {}
            }
            if must || start == 0 || end - start >= size || end == self.cells.len() {
                coarse.profile.cells[first..].iter_mut().for_each(|cell| cell.score = run[0].score);
                coarse.ends.resize(coarse.profile.cells.len(), end);
                open.fill(None);
                (start, first) = (end, coarse.profile.cells.len());
            }
        }
        coarse
    }
}
