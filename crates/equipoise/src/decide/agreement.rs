//! How alike two rankings of the same things are.

use crate::error::{Result, check, refuse};

/// The grade of the best entry in [`ndcg`]; the worst has 0, as in graded relevance judgements.
pub const TOP_GRADE: f64 = 4.0;

/// Kendall's rank correlation, with the correction for ties ($\tau_b$), in $O(n \log n)$.
///
/// $$ \tau_b = \frac{P - Q}{\sqrt{(n_0 - n_1)(n_0 - n_2)}} $$
///
/// for $P$ pairs ordered alike, $Q$ pairs ordered oppositely, $n_0 = n(n-1)/2$ pairs in all, of which $n_1$ are tied in the
/// first list and $n_2$ in the second. `None` if a list is one big tie: it has no order. Knight 1966; the thesis reports it in
/// Figures 5.4, 6.7 and 6.8.
///
/// ```
/// use equipoise::decide::agreement::kendall_tau;
/// assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0])?, Some(1.0));
/// assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0])?, Some(-1.0));
/// assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0])?, None);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn kendall_tau(first: &[f64], second: &[f64]) -> Result<Option<f64>> {
    check_pair(first, second)?;
    let mut pairs: Vec<(f64, f64)> = first.iter().copied().zip(second.iter().copied()).collect();
    pairs.sort_unstable_by(|a, b| order(a.0, b.0).then(order(a.1, b.1)));
    let tied_first = tied_pairs(&pairs, |a, b| a.0 == b.0);
    let tied_both = tied_pairs(&pairs, |a, b| a == b);
    let mut sorted: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let opposite = sort_counting_swaps(&mut sorted);
    let tied_second = tied_pairs(&sorted, |a, b| a == b);
    let all = pair_count(first.len() as u64);
    let (untied_first, untied_second) = (all - tied_first, all - tied_second);
    if untied_first == 0 || untied_second == 0 {
        return Ok(None);
    }
    // Every pair is alike, opposite, or tied in one list or both.
    let alike = all + tied_both - tied_first - tied_second - opposite;
    let difference = alike as f64 - opposite as f64;
    Ok(Some(difference / ((untied_first as f64).sqrt() * (untied_second as f64).sqrt()))
        .map(|t| t.clamp(-1.0, 1.0)))
}

/// How good the top of a ranking is: discounted gain relative to that of the ideal order, with exponential gain.
///
/// `truth` says how good each entry is, `found` the scores that rank them (larger first). The grade of an entry is its
/// true score, moved and stretched so that the worst has 0 and the best has [`TOP_GRADE`]; then
///
/// $$ \mathrm{NDCG} = \frac{\sum_i (2^{g_i} - 1)/\log_2(1 + r_i)}{\sum_i (2^{g_i} - 1)/\log_2(1 + r^*_i)} $$
///
/// with $r_i$ the place of entry i by `found` and $r^*_i$ its place by `truth`. Entries that `found` ties share the mean
/// gain of their places. The order of the truth itself has NDCG 1, whatever its scale; if all entries are equally
/// good, so has every order. The thesis (Figure 5.4) does not print its grades; these are ours.
///
/// ```
/// use equipoise::decide::agreement::ndcg;
/// assert_eq!(ndcg(&[0.1, 0.7, 0.4], &[1.0, 3.0, 2.0])?, 1.0);
/// assert!(ndcg(&[0.1, 0.7, 0.4], &[3.0, 1.0, 2.0])? < 0.7);
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn ndcg(truth: &[f64], found: &[f64]) -> Result<f64> {
    check_pair(truth, found)?;
    let worst = truth.iter().copied().fold(f64::INFINITY, f64::min);
    let best = truth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == worst {
        return Ok(1.0);
    }
    let gain = |score: f64| (TOP_GRADE * ((score - worst) / (best - worst))).exp2() - 1.0;
    let gains: Vec<f64> = truth.iter().map(|&score| gain(score)).collect();
    Ok(discounted(&gains, found) / discounted(&gains, truth))
}

/// The gains, discounted by the places that the scores give.
fn discounted(gains: &[f64], scores: &[f64]) -> f64 {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|&a, &b| order(scores[b], scores[a]));
    let (mut total, mut start) = (0.0, 0);
    for tied in places.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let mean = tied.iter().map(|&n| gains[n]).sum::<f64>() / tied.len() as f64;
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        total += mean * (start..start + tied.len()).map(discount).sum::<f64>();
        start += tied.len();
    }
    total
}

fn check_pair(first: &[f64], second: &[f64]) -> Result<()> {
    check::at_least("the number of entries to rank", first.len(), 2, "at least 2")?;
    refuse!(
        first.len() != second.len(),
        "the rankings have {} and {} entries, expected as many in each",
        first.len(),
        second.len()
    );
    check::all_finite("the first ranking", first)?;
    check::all_finite("the second ranking", second)
}

/// The order of finite numbers; 0 and -0 are equal.
fn order(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
}

fn pair_count(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// How many pairs of a sorted list are equal.
fn tied_pairs<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> u64 {
    sorted.chunk_by(equal).map(|run| pair_count(run.len() as u64)).sum()
}

/// Sorts by merging; returns how many pairs stood in the wrong order.
fn sort_counting_swaps(values: &mut [f64]) -> u64 {
    let mut buffer = values.to_vec();
    let (mut swaps, mut width) = (0, 1);
    while width < values.len() {
        for (block, out) in values.chunks(2 * width).zip(buffer.chunks_mut(2 * width)) {
            let (left, right) = block.split_at(width.min(block.len()));
            let (mut i, mut j) = (0, 0);
            for slot in out {
                if j == right.len() || (i < left.len() && left[i] <= right[j]) {
                    *slot = left[i];
                    i += 1;
                } else {
                    *slot = right[j];
                    j += 1;
                    // The entry passes all that are left of the first half.
                    swaps += (left.len() - i) as u64;
                }
            }
        }
        values.copy_from_slice(&buffer);
        width *= 2;
    }
    swaps
}
