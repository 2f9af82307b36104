//! Running sums over the distinct scores of a profile.

use equipoise::population::Profile;

/// What rows up to each distinct score weigh, by rising score.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    scores: Vec<f64>,
    /// Negative and positive rows up to and including the score.
    sums: Vec<[f64; 2]>,
}

impl Steps {
    pub fn new(profile: &Profile) -> Self {
        let (mut scores, mut sums, mut sum) = (vec![], vec![], [0.0; 2]);
        for cell in profile.cells().iter().rev() {
            sum[usize::from(cell.positive)] += cell.mass();
            if scores.last() == Some(&cell.score) {
                sums.pop();
            } else {
                scores.push(cell.score);
            }
            sums.push(sum);
        }
        Self { scores, sums }
    }

    /// Number of distinct scores.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// A score by its place.
    pub fn score(&self, step: usize) -> f64 {
        self.scores[step]
    }

    /// The weight of the rows with the lowest `steps` scores, negative and positive.
    pub fn first(&self, steps: usize) -> [f64; 2] {
        steps.checked_sub(1).map_or([0.0; 2], |last| self.sums[last])
    }

    /// The weight of all rows.
    pub fn total(&self) -> [f64; 2] {
        self.first(self.len())
    }

    /// How many scores come before the first that does not satisfy a condition that low scores do.
    pub fn while_score(&self, condition: impl Fn(f64) -> bool) -> usize {
        self.scores.partition_point(|&score| condition(score))
    }
}
