//! Drawing rows again without access to other rows.

/// One drawing of all rows again: how often the row with a key is taken. In memory the key is the number of the row.
///
/// A row is taken a Poisson(1) number of times, which for all but the smallest tables is the same as drawing as many rows
/// as there are (Chamandy et al. 2012). The number is a hash of the row's key and nothing else, so rows split over machines
/// are drawn as those of one machine are. A draw that comes to nothing, as of a tiny table, is tried again as the next
/// attempt.
///
/// ```
/// use equipoise::population::resampling;
/// let times = resampling(3, 0, 0);
/// let taken: f64 = (0..10_000).map(times).sum();
/// assert!((taken / 10_000.0 - 1.0).abs() < 0.05);
/// ```
#[inline]
pub fn resampling(seed: u64, draw: u64, attempt: u64) -> impl Fn(u64) -> f64 + Copy {
    let state = start(seed, draw, attempt);
    #[inline]
    move |key| {
        let drawn = mixed(state ^ key) >> 11;
        // Most rows are taken at most thrice: comparisons without branches are quicker than a loop that ends anywhere.
        let few = |n: usize| u32::from(drawn >= STEPS[n]);
        let mut count = few(0) + few(1) + few(2) + few(3);
        if count == 4 {
            count += STEPS[4..].iter().take_while(|&&step| drawn >= step).count() as u32;
        }
        f64::from(count)
    }
}

/// Mixed one after the other, so that neighbouring seeds share no draws.
fn start(seed: u64, draw: u64, attempt: u64) -> u64 {
    [draw, attempt].into_iter().fold(mixed(seed), |state, part| mixed(state ^ part))
}

/// Nobody is taken more often.
const MOST: usize = 20;

/// From which of 2^53 equally likely numbers on a row is taken once, twice, and so on.
const STEPS: [u64; MOST] = {
    let mut steps = [0; MOST];
    let mut n = 0;
    while n < MOST {
        let (mut low, mut high) = (0, 1_u64 << 53);
        while low < high {
            let middle = low + (high - low) / 2;
            if poisson(middle) > n { high = middle } else { low = middle + 1 }
        }
        steps[n] = low;
        n += 1;
    }
    steps
};

/// The Poisson(1) number that belongs to one of 2^53 equally likely numbers.
const fn poisson(drawn: u64) -> usize {
    let mut left = drawn as f64 / (1_u64 << 53) as f64;
    // exp(-1)
    let (mut count, mut probability) = (0, 0.367_879_441_171_442_33);
    while left >= probability && count < MOST {
        left -= probability;
        count += 1;
        probability /= count as f64;
    }
    count
}

/// The mixer of SplitMix64 (Steele, Lea, Flood 2014).
#[inline]
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbouring_seeds_share_no_draws() {
        let first = |seed: u64| (0..1000).map(|draw| start(seed, draw, 0)).collect::<HashSet<_>>();
        assert_eq!(first(1).len(), 1000);
        assert!(first(1).is_disjoint(&first(2)) && first(0).is_disjoint(&first(1)));
    }

    #[test]
    fn counts_are_those_of_the_distribution() {
        let times = resampling(7, 2, 0);
        let mut counts = [0.0_f64; 6];
        for key in 0..200_000 {
            counts[(times(key) as usize).min(5)] += 1.0;
        }
        for (count, share) in counts.iter().zip([0.3679, 0.3679, 0.1839, 0.0613, 0.0153]) {
            assert!((count / 200_000.0_f64 - share).abs() < 0.005, "{counts:?}");
        }
    }
}
