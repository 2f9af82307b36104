//! The fast path for two classes and bases that are 0 or 1.
//!
//! Such bases cut the rows into atoms: rows that belong to the same bases, hence have the same weights. Within an atom a
//! rule accepts the rows on one side of a threshold. With every atom sorted by probability and its positives counted up
//! once, the moments of any rule take a binary search per atom, however many rows there are.

use super::basis::Values;
use super::moments::Moments;
use super::plug_in::{PlugIn, is_positive};
use super::rows::Rows;

/// Beyond this many bases there may be too many atoms to gain from.
const MOST_BASES: usize = 16;

/// Rows by atom, sorted within.
#[derive(Debug)]
pub(crate) struct Atoms {
    bases: usize,
    rows: usize,
    atoms: Vec<Atom>,
    /// Probability and truth of every row, atom by atom: the bits of the probability, then the truth as the last bit.
    /// Probabilities are not negative, so keys sort like them.
    keys: Vec<u64>,
    /// Positives before each row within its atom.
    positives: Vec<u32>,
}

#[derive(Debug)]
struct Atom {
    /// The bases its rows belong to, with the value 1.
    members: Vec<(usize, f64)>,
    start: usize,
    end: usize,
    positives: u32,
}

impl Atoms {
    /// `None` where only the dense path applies.
    pub fn new(rows: &Rows, values: &[Values]) -> Option<Self> {
        let hard = values.iter().all(Values::is_hard) && values.len() <= MOST_BASES;
        if rows.classes() != 2 || rows.is_weighted() || !hard || u32::try_from(rows.len()).is_err() {
            return None;
        }
        let mut codes = vec![0_u16; rows.len()];
        for (basis, values) in values.iter().enumerate() {
            match values {
                Values::One => codes.iter_mut().for_each(|code| *code |= 1 << basis),
                Values::Flags(flags) => {
                    codes
                        .iter_mut()
                        .zip(&flags[..])
                        .for_each(|(code, &flag)| *code |= u16::from(flag) << basis);
                }
                Values::Reals(_) => return None,
            }
        }
        let mut counts = vec![0_usize; 1 << values.len()];
        codes.iter().for_each(|&code| counts[usize::from(code)] += 1);
        let mut next = vec![0; counts.len()];
        let mut atoms = Vec::new();
        let mut start = 0;
        for (code, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let members = (0..values.len()).filter(|basis| code >> basis & 1 == 1).map(|basis| (basis, 1.0));
            next[code] = start;
            atoms.push(Atom { members: members.collect(), start, end: start + count, positives: 0 });
            start += count;
        }
        let mut keys = vec![0_u64; rows.len()];
        for ((code, positive), &truth) in codes.iter().zip(rows.scores().positive()).zip(rows.truth()) {
            let place = &mut next[usize::from(*code)];
            // Adding 0 turns a negative zero, whose bits would sort last, into a zero.
            keys[*place] = (positive + 0.0).to_bits() << 1 | u64::from(truth);
            *place += 1;
        }
        drop(codes);
        let mut positives = vec![0_u32; rows.len()];
        for atom in &mut atoms {
            let keys = &mut keys[atom.start..atom.end];
            keys.sort_unstable();
            let mut before = 0;
            for (count, key) in positives[atom.start..atom.end].iter_mut().zip(keys) {
                *count = before;
                before += (*key & 1) as u32;
            }
            atom.positives = before;
        }
        Some(Self { bases: values.len(), rows: rows.len(), atoms, keys, positives })
    }

    /// How many atoms there are.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.atoms.len()
    }

    pub fn moments(&self, rule: &PlugIn) -> Moments {
        let pairs = rule.pairs();
        let mut moments = Moments::new(self.bases, 2);
        for atom in &self.atoms {
            let mut pair = [0.0; 2];
            for &(basis, _) in &atom.members {
                pair[0] += pairs[basis][0];
                pair[1] += pairs[basis][1];
            }
            let (accepted, found) = self.accepted(atom, pair);
            let (rows, positives) = ((atom.end - atom.start) as f64, f64::from(atom.positives));
            let counts = [rows - positives - (accepted - found), accepted - found, positives - found, found];
            for (entry, count) in counts.into_iter().enumerate() {
                moments.add(&atom.members, entry, count);
            }
        }
        moments.finish(self.rows as f64);
        moments
    }

    /// How many rows of an atom a rule takes for positive, and how many of those are.
    fn accepted(&self, atom: &Atom, pair: [f64; 2]) -> (f64, f64) {
        let keys = &self.keys[atom.start..atom.end];
        let takes = |key: &u64| is_positive(pair, f64::from_bits(key >> 1));
        let (low, high) = match (takes(&keys[0]), takes(&keys[keys.len() - 1])) {
            (false, false) => (0, 0),
            (true, true) => (0, keys.len()),
            (false, true) => (keys.partition_point(|key| !takes(key)), keys.len()),
            (true, false) => (0, keys.partition_point(takes)),
        };
        let before =
            |row: usize| self.positives[atom.start..atom.end].get(row).copied().unwrap_or(atom.positives);
        ((high - low) as f64, f64::from(before(high) - before(low)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::basis::{Basis, evaluate};
    use crate::population::moments::Dense;
    use crate::population::{Column, Form, Scores};
    use proptest::prelude::*;

    proptest! {
        /// Few distinct probabilities make ties, small whole weights make rules that hit them exactly.
        #[test]
        fn atoms_count_what_the_dense_path_counts(
            rows in prop::collection::vec((0_u8..=8, 0_u8..2, any::<[bool; 3]>()), 2..60),
            weights in prop::collection::vec((-3_i8..=3).prop_map(f64::from), 16),
            general in any::<bool>(),
        ) {
            let positive: Vec<f64> = rows.iter().map(|row| f64::from(row.0) / 8.0).collect();
            let mut truth: Vec<u8> = rows.iter().map(|row| row.1).collect();
            (truth[0], truth[1]) = (0, 1);
            let flag = |n: usize| -> Vec<bool> { rows.iter().map(|row| row.2[n]).collect() };
            let flags = [flag(0), flag(1), flag(2)];
            let mut scores = Scores::new(vec![&positive]).unwrap();
            for (name, flags) in ["a", "b", "c"].into_iter().zip(&flags) {
                scores = scores.with_column(name, Column::Flags(flags)).unwrap();
            }
            let rows = Rows::new(scores, &truth).unwrap();
            let bases = [Basis::All, Basis::column("a"), Basis::column("b"), Basis::column("c")];
            let values = evaluate(&bases, rows.scores()).unwrap();
            let rule = match general {
                true => PlugIn::new(2, Form::General, weights).unwrap(),
                false => PlugIn::new(2, Form::Diagonal, weights[..8].to_vec()).unwrap(),
            };
            let atoms = Atoms::new(&rows, &values).unwrap();
            prop_assert!(atoms.count() <= 8);
            prop_assert_eq!(atoms.moments(&rule), Dense { rows, values }.moments(&rule));
        }
    }
}
