//! Every rule tried on every row.

use super::{BLOCK, Columns, RowWeights, add_up, predict};
use equipoise::population::PostShift;

/// Matrices with at most this many entries over all groups are added up in registers and the nearest cache.
const SMALL: usize = 64;

/// Consecutive rows add to different copies, so that no addition waits for the one before.
const COPIES: usize = 4;

pub(super) fn pass<W: RowWeights>(columns: &Columns<W>, rules: &[PostShift]) -> Vec<Vec<f64>> {
    let entries = columns.entries();
    let chunk = columns.rows().div_ceil(256).max(1 << 16);
    let partial = columns.by_chunks(chunk, |chunk| {
        let mut sums = vec![W::Sum::default(); rules.len() * entries];
        let mut block_of = Block::new();
        for block in chunk.blocks() {
            block_of.add(&block, rules, &mut sums);
        }
        sums
    });
    let totals = add_up(&partial, rules.len() * entries);
    totals.chunks(entries).map(<[f64]>::to_vec).collect()
}

/// Working memory for one block of rows.
struct Block {
    /// Where the matrix row of each table row begins, if the matrices are small.
    base: [u8; BLOCK],
    /// The predicted class, as wide as the scores: comparisons then select it without conversions.
    estimates: [u64; BLOCK],
    scores: [f64; BLOCK],
    best: [f64; BLOCK],
}

impl Block {
    fn new() -> Self {
        Self { base: [0; BLOCK], estimates: [0; BLOCK], scores: [0.0; BLOCK], best: [0.0; BLOCK] }
    }

    fn add<W: RowWeights>(&mut self, block: &Columns<W>, rules: &[PostShift], sums: &mut [W::Sum]) {
        let small = block.entries() <= SMALL;
        if small {
            self.find_base(block);
        }
        for (rule, sums) in rules.iter().zip(sums.chunks_mut(block.entries())) {
            self.predict(block, rule);
            if small { self.tally_small(block, sums) } else { self.tally(block, sums) }
        }
    }

    fn find_base<W: RowWeights>(&mut self, block: &Columns<W>) {
        let k = block.classes() as u8;
        match block.groups {
            None => self.base.iter_mut().zip(block.truth).for_each(|(base, &truth)| *base = truth * k),
            Some(_) => {
                let bases = self.base.iter_mut().take(block.rows()).enumerate();
                bases.for_each(|(row, base)| *base = block.slot(row) as u8 * k);
            }
        }
    }

    fn predict<W: RowWeights>(&mut self, block: &Columns<W>, rule: &PostShift) {
        let estimates = &mut self.estimates[..block.rows()];
        let w = rule.rewards(0);
        match &block.probabilities[..] {
            columns if rule.is_per_group() && block.groups.is_some() => {
                for (row, estimate) in estimates.iter_mut().enumerate() {
                    *estimate = predict(rule.rewards(block.group(row)), columns, row) as u64;
                }
            }
            [p, q] => {
                for ((estimate, &p), &q) in estimates.iter_mut().zip(*p).zip(*q) {
                    *estimate = u64::from(w[1] * p + w[3] * q > w[0] * p + w[2] * q);
                }
            }
            [p, q, r] => {
                let [w00, w01, w02, w10, w11, w12, w20, w21, w22] = std::array::from_fn(|n| w[n]);
                for (((estimate, &p), &q), &r) in estimates.iter_mut().zip(*p).zip(*q).zip(*r) {
                    let a = w00 * p + w10 * q + w20 * r;
                    let b = w01 * p + w11 * q + w21 * r;
                    let c = w02 * p + w12 * q + w22 * r;
                    // Without branches: whether each later class beats those before.
                    let second = u64::from(b > a);
                    let best = if b > a { b } else { a };
                    *estimate = if c > best { 2 } else { second };
                }
            }
            columns => self.predict_many(columns, w),
        }
    }

    /// Class by class over the whole block, so that the loops run over consecutive rows.
    fn predict_many(&mut self, columns: &[&[f64]], rewards: &[f64]) {
        let (k, rows) = (columns.len(), columns[0].len());
        let (scores, best) = (&mut self.scores[..rows], &mut self.best[..rows]);
        let estimates = &mut self.estimates[..rows];
        estimates.fill(0);
        for j in 0..k {
            scores.fill(0.0);
            // A reward of zero adds nothing; rules for the diagonal have one other per class.
            for i in (0..k).filter(|&i| rewards[i * k + j] != 0.0) {
                let reward = rewards[i * k + j];
                scores.iter_mut().zip(columns[i]).for_each(|(score, p)| *score += reward * p);
            }
            if j == 0 {
                best.copy_from_slice(scores);
                continue;
            }
            for ((estimate, best), &score) in estimates.iter_mut().zip(best.iter_mut()).zip(scores.iter()) {
                let better = score > *best;
                *estimate = if better { j as u64 } else { *estimate };
                *best = if better { score } else { *best };
            }
        }
    }

    fn tally_small<W: RowWeights>(&self, block: &Columns<W>, sums: &mut [W::Sum]) {
        let mut copies = [[W::Sum::default(); SMALL]; COPIES];
        let codes = self.estimates[..block.rows()].iter().zip(&self.base);
        for (row, (&estimate, &base)) in codes.enumerate() {
            copies[row % COPIES][(estimate as usize + usize::from(base)) % SMALL] += block.weights.at(row);
        }
        for copy in &copies {
            sums.iter_mut().zip(copy).for_each(|(sum, &part)| *sum += part);
        }
    }

    fn tally<W: RowWeights>(&self, block: &Columns<W>, sums: &mut [W::Sum]) {
        let k = block.classes();
        for (row, &estimate) in self.estimates[..block.rows()].iter().enumerate() {
            sums[block.slot(row) * k + estimate as usize] += block.weights.at(row);
        }
    }
}
