//! Which of a list of points is the best, and how sure that is.

/// The likeliest best of a list of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Its place in the list.
    pub best: usize,
    /// How likely it is the best.
    pub probability: f64,
}

impl Decision {
    /// From the likings of all points under weights drawn from the posterior, one row per draw.
    pub fn of(likings: &[Vec<f64>]) -> Self {
        let mut votes = vec![0_usize; likings[0].len()];
        likings.iter().for_each(|row| votes[best(row)] += 1);
        let best = (0..votes.len()).rev().max_by_key(|&n| votes[n]).expect("at least one point");
        Self { best, probability: votes[best] as f64 / likings.len() as f64 }
    }
}

/// The place of the largest entry, the first of several.
pub fn best(row: &[f64]) -> usize {
    (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("at least one point")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_counts_votes() {
        let likings =
            vec![vec![0.0, 1.0, 0.5], vec![0.0, 2.0, 0.5], vec![3.0, 1.0, 3.0], vec![0.0, 1.0, 0.0]];
        assert_eq!(Decision::of(&likings), Decision { best: 1, probability: 0.75 });
    }
}
