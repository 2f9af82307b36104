//! Many rules over two or three classes: rows are counted in cells, and most cells are settled at once.
//!
//! Along one axis for two classes, two for three, probabilities are rounded to the nearest node of a grid. Over
//! the cell of a node a rule's scores change by a known amount; where the best score leads by more, the rule
//! predicts the same class in the whole cell, and all its rows are counted together. In the other cells, a few
//! in a hundred, the rows are tried one by one, so the result is exact.

use super::{BLOCK, Columns, RowWeights, add_up};
use equipoise::population::{PostShift, largest};
use rayon::prelude::*;

/// Rules of one pass: which of them are open in a cell fits in a word.
const MOST_RULES: usize = 64;

/// Adding this to a number in [0, 2^31] leaves the nearest whole number in the low bits.
const ROUND: f64 = (1_u64 << 52) as f64;

/// A grid over the probabilities of all classes but the first.
pub(super) struct Grid {
    classes: usize,
    steps: usize,
}

impl Grid {
    /// The finest grid whose counts stay in cache; none for more than three classes.
    pub fn for_table<W: RowWeights>(columns: &Columns<W>) -> Option<Self> {
        const MOST_BYTES: usize = 1 << 21;
        let classes = columns.classes();
        let fits =
            |grid: &Self| grid.cells() * columns.group_count * classes * size_of::<W::Sum>() <= MOST_BYTES;
        let finest: &[usize] = match classes {
            2 => &[4096, 1024, 256, 64],
            3 => &[256, 128, 64, 32],
            _ => &[],
        };
        finest.iter().map(|&steps| Self { classes, steps }).find(fits)
    }

    fn cells(&self) -> usize {
        (self.steps + 1).pow(self.classes as u32 - 1)
    }

    /// The cell of every row of a block.
    fn locate<W: RowWeights>(&self, block: &Columns<W>, cells: &mut Vec<u32>) {
        let steps = self.steps as f64;
        let node = |p: f64| (p * steps + ROUND).to_bits() as u32;
        let width = self.steps as u32 + 1;
        cells.clear();
        match block.probabilities[..] {
            [_, p] => cells.extend(p.iter().map(|&p| node(p) % (1 << 31))),
            [_, p, q] => cells.extend(p.iter().zip(q).map(|(&p, &q)| node(p) * width + node(q))),
            _ => {}
        }
    }

    /// Lines of cells: along each the probability of the last class rises by one step per cell.
    fn lines(&self) -> usize {
        self.cells() / (self.steps + 1)
    }

    /// Cells of a line that rows can be in. Rounding up two probabilities goes one node beyond the simplex, no further.
    fn reach(&self, line: usize) -> usize {
        (self.steps + 2 - line).min(self.steps + 1)
    }
}

/// For each class the cells of a line, from one to before another, in which it is predicted whatever the row.
type Settled<const K: usize> = [[u32; 2]; K];

/// By how much a class must lead at a node to lead in its whole cell.
struct Leads<const K: usize> {
    rewards: [[f64; K]; K],
    needed: [[f64; K]; K],
    steps: f64,
}

impl<const K: usize> Leads<K> {
    fn new(rewards: [[f64; K]; K], steps: usize) -> Self {
        let largest = rewards.iter().flatten().fold(0.0, |m: f64, w| m.max(w.abs()));
        // Beyond rounding: probabilities sum to 1 within 1e-12.
        let (half, slack) = (0.5 / steps as f64 + 1e-12, 1e-10 * largest);
        let slope = |i: usize, j: usize| rewards[i][j] - rewards[0][j];
        let needed = |j: usize, l: usize| {
            (1..K).map(|i| half * (slope(i, j) - slope(i, l)).abs()).sum::<f64>() + slack
        };
        let needed = std::array::from_fn(|j| std::array::from_fn(|l| needed(j, l)));
        Self { rewards, needed, steps: steps as f64 }
    }

    /// Where each class leads on a line of so many cells. Leads change evenly along it.
    fn settle(&self, line: usize, reach: usize) -> Settled<K> {
        let mut start = [0.0; K];
        (start[0], start[1 % K]) = (1.0 - line as f64 / self.steps, line as f64 / self.steps);
        if K == 2 {
            start = std::array::from_fn(|i| if i == 0 { 1.0 } else { 0.0 });
        }
        let (scores, last) = (scores(&self.rewards, start), K - 1);
        let slope = |j: usize| (self.rewards[last][j] - self.rewards[0][j]) / self.steps;
        std::array::from_fn(|j| {
            let (mut from, mut to) = (0.0, reach as f64);
            for l in (0..K).filter(|&l| l != j) {
                let (lead, rise) = (scores[j] - scores[l] - self.needed[j][l], slope(j) - slope(l));
                let change = -lead / rise;
                if rise > 0.0 {
                    from = change.floor().max(from - 1.0) + 1.0;
                } else if rise < 0.0 {
                    to = change.ceil().min(to);
                } else if lead <= 0.0 {
                    to = 0.0;
                }
            }
            let to = to.max(0.0) as u32;
            [(from as u32).min(to), to]
        })
    }
}

/// A reward matrix of known size.
fn matrix<const K: usize>(rewards: &[f64]) -> [[f64; K]; K] {
    std::array::from_fn(|i| std::array::from_fn(|j| rewards[i * K + j]))
}

/// The scores of all classes, with the sums of [`PostShift::predict`] in the same order.
#[inline]
fn scores<const K: usize>(rewards: &[[f64; K]; K], posterior: [f64; K]) -> [f64; K] {
    std::array::from_fn(|j| (0..K).map(|i| rewards[i][j] * posterior[i]).sum())
}

#[inline]
fn predict<const K: usize>(rewards: &[[f64; K]; K], posterior: [f64; K]) -> usize {
    largest(scores(rewards, posterior))
}

pub(super) fn pass<W: RowWeights>(columns: &Columns<W>, grid: &Grid, rules: &[PostShift]) -> Vec<Vec<f64>> {
    let pass = |rules| match grid.classes {
        2 => Batch::<2>::new(columns, grid, rules).pass(columns),
        _ => Batch::<3>::new(columns, grid, rules).pass(columns),
    };
    rules.chunks(MOST_RULES).flat_map(pass).collect()
}

/// At most 64 rules and what they predict in the cells.
struct Batch<'a, const K: usize> {
    grid: &'a Grid,
    rules: usize,
    /// `rewards[rule * matrices + matrix]`.
    rewards: Vec<[[f64; K]; K]>,
    /// Reward matrices told apart: one, or as many as there are groups.
    matrices: usize,
    /// `settled[rule * matrices + matrix][line]`.
    settled: Vec<Vec<Settled<K>>>,
    /// `open[matrix * cells + cell]`, a bit per rule.
    open: Vec<u64>,
}

impl<'a, const K: usize> Batch<'a, K> {
    fn new<W: RowWeights>(columns: &Columns<W>, grid: &'a Grid, rules: &[PostShift]) -> Self {
        let matrices = if rules.iter().any(PostShift::is_per_group) { columns.group_count } else { 1 };
        let rewards: Vec<[[f64; K]; K]> =
            (0..rules.len() * matrices).map(|n| matrix(rules[n / matrices].rewards(n % matrices))).collect();
        let settle = |rewards: &[[f64; K]; K]| {
            let leads = Leads::new(*rewards, grid.steps);
            (0..grid.lines()).map(|line| leads.settle(line, grid.reach(line))).collect()
        };
        let settled: Vec<Vec<Settled<K>>> = rewards.par_iter().map(settle).collect();
        let mut open = vec![0_u64; matrices * grid.cells()];
        for (n, lines) in settled.iter().enumerate() {
            let (rule, matrix) = (n / matrices, n % matrices);
            let cells = open[matrix * grid.cells()..][..grid.cells()].chunks_mut(grid.steps + 1);
            for (line, (cells, settled)) in cells.zip(lines).enumerate() {
                mark_open(&mut cells[..grid.reach(line)], settled, 1 << rule);
            }
        }
        Self { grid, rules: rules.len(), rewards, matrices, settled, open }
    }

    fn pass<W: RowWeights>(&self, columns: &Columns<W>) -> Vec<Vec<f64>> {
        let cells = self.grid.cells();
        let slots = columns.group_count * columns.classes();
        let chunk = columns.rows().div_ceil(16).max(1 << 17);
        let partial = columns.by_chunks(chunk, |chunk| {
            let mut sums = Sums::new(slots * cells, self.rules * columns.entries());
            let mut block_of = Block::new();
            chunk.blocks().for_each(|block| self.add(&block, &mut block_of, &mut sums));
            sums
        });
        let (in_cells, tried): (Vec<_>, Vec<_>) =
            partial.into_iter().map(|sums| (sums.in_cells, sums.tried)).unzip();
        let below = self.running(&add_up(&in_cells, slots * cells));
        let tried = add_up(&tried, self.rules * columns.entries());
        let totals = tried.par_chunks(columns.entries()).enumerate();
        totals.map(|(rule, tried)| self.total(rule, &below, tried.to_vec())).collect()
    }

    fn add<W: RowWeights>(&self, block: &Columns<W>, work: &mut Block, sums: &mut Sums<W::Sum>) {
        let entries = block.entries();
        let columns: [&[f64]; K] = std::array::from_fn(|i| block.probabilities[i]);
        work.locate(self, block);
        // First all rows are counted, and those to be tried are listed: a list needs no branch.
        let mut listed = 0;
        for (row, (&place, &cell)) in work.places.iter().zip(&work.cells).enumerate() {
            sums.in_cells[place as usize] += block.weights.at(row);
            work.tried[listed % BLOCK] = row as u32;
            listed += usize::from(self.open[cell as usize] != 0);
        }
        for &row in &work.tried[..listed] {
            let row = row as usize;
            let slot = block.slot(row);
            let matrix = self.matrix_of(slot);
            let mut open = self.open[work.cells[row] as usize];
            let posterior = columns.map(|column| column[row]);
            while open != 0 {
                let rule = open.trailing_zeros() as usize;
                let class = predict(&self.rewards[rule * self.matrices + matrix], posterior);
                sums.tried[rule * entries + slot * K + class] += block.weights.at(row);
                open &= open - 1;
            }
        }
    }

    /// The reward matrix for a class of a group.
    fn matrix_of(&self, slot: usize) -> usize {
        if self.matrices == 1 { 0 } else { slot / K }
    }

    /// Sums along every line, from its start to before each cell and to its end.
    fn running(&self, in_cells: &[f64]) -> Vec<f64> {
        let mut below = Vec::with_capacity(in_cells.len() + in_cells.len() / self.grid.steps);
        for line in in_cells.chunks(self.grid.steps + 1) {
            let mut sum = 0.0;
            below.push(sum);
            below.extend(line.iter().map(|cell| {
                sum += cell;
                sum
            }));
        }
        below
    }

    /// The rows tried one by one, and those in settled cells.
    fn total(&self, rule: usize, below: &[f64], mut total: Vec<f64>) -> Vec<f64> {
        let width = self.grid.steps + 2;
        for (slot, below) in below.chunks(self.grid.lines() * width).enumerate() {
            let lines = &self.settled[rule * self.matrices + self.matrix_of(slot)];
            for (settled, below) in lines.iter().zip(below.chunks(width)) {
                for (class, [from, to]) in settled.iter().enumerate() {
                    total[slot * K + class] += below[*to as usize] - below[*from as usize];
                }
            }
        }
        total
    }
}

/// Sets a rule's bit in the cells of a line that no class has for itself.
fn mark_open<const K: usize>(cells: &mut [u64], settled: &Settled<K>, bit: u64) {
    let mut taken = *settled;
    taken.sort_unstable();
    let mut at = 0;
    for [from, to] in taken.into_iter().filter(|[from, to]| from < to) {
        cells[at..from as usize].iter_mut().for_each(|cell| *cell |= bit);
        at = to as usize;
    }
    cells[at..].iter_mut().for_each(|cell| *cell |= bit);
}

/// Working memory for one block of rows.
struct Block {
    /// Where rows are in [`Batch::open`].
    cells: Vec<u32>,
    /// Where rows are counted in [`Sums::in_cells`].
    places: Vec<u32>,
    /// Rows to be tried one by one.
    tried: [u32; BLOCK],
}

impl Block {
    fn new() -> Self {
        Self { cells: Vec::new(), places: Vec::new(), tried: [0; BLOCK] }
    }

    fn locate<W: RowWeights, const K: usize>(&mut self, batch: &Batch<K>, block: &Columns<W>) {
        let size = batch.grid.cells() as u32;
        batch.grid.locate(block, &mut self.cells);
        self.places.clear();
        let rows = self.cells.iter().zip(block.truth);
        match block.groups {
            None => self.places.extend(rows.map(|(cell, &truth)| u32::from(truth) * size + cell)),
            Some(groups) => {
                let slot = |truth: u8, group: u16| u32::from(group) * K as u32 + u32::from(truth);
                let rows = rows.zip(groups);
                self.places.extend(rows.map(|((cell, &truth), &group)| slot(truth, group) * size + cell));
                if batch.matrices > 1 {
                    let cells = self.cells.iter_mut().zip(groups);
                    cells.for_each(|(cell, &group)| *cell += u32::from(group) * size);
                }
            }
        }
    }
}

/// What a chunk of rows adds up to.
struct Sums<S> {
    /// `in_cells[slot * cells + cell]`, for all rows.
    in_cells: Vec<S>,
    /// `tried[rule * entries + entry]`, for rows in open cells.
    tried: Vec<S>,
}

impl<S: Copy + Default> Sums<S> {
    fn new(in_cells: usize, tried: usize) -> Self {
        Self { in_cells: vec![S::default(); in_cells], tried: vec![S::default(); tried] }
    }
}
