//! A part of the rows, for questions that need not see all of them.

use crate::table::{Groups, Table};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

impl Table {
    /// About `rows` of the rows, drawn without replacement: the same ones for the same seed.
    ///
    /// The first row of every class in every group is always among them, so that none of them vanishes. A table with no
    /// more rows than wanted is returned whole.
    ///
    /// ```
    /// use equipoise_data::Table;
    /// let classes = vec!["no".to_owned(), "yes".to_owned()];
    /// let yes: Vec<f64> = (0..1000).map(|n| f64::from(n) / 1000.0).collect();
    /// let no = yes.iter().map(|p| 1.0 - p).collect();
    /// let truth = (0..1000).map(|n| u8::from(n == 7)).collect();
    /// let part = Table::new(classes, truth, vec![no, yes])?.data.subsample(100, 1);
    /// assert!((60..140).contains(&part.rows()) && part.truth().contains(&1));
    /// # Ok::<(), equipoise_data::Error>(())
    /// ```
    pub fn subsample(&self, rows: usize, seed: u64) -> Table {
        if self.rows() <= rows {
            return self.clone();
        }
        let share = rows as f64 / self.rows() as f64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (k, groups) = (self.classes().len(), self.groups());
        let mut seen = vec![false; k * groups.map_or(1, |groups| groups.names().len())];
        let mut kept = Vec::with_capacity(rows + rows / 8);
        for (row, &class) in self.truth().iter().enumerate() {
            let drawn = random.random::<f64>() < share;
            let (cell, weighs) = (self.group(row) * k + usize::from(class), self.weight(row) > 0.0);
            if drawn || (weighs && !seen[cell]) {
                kept.push(row);
            }
            seen[cell] |= weighs;
        }
        self.taking(&kept)
    }

    /// The table without each of so many folds, and that fold alone, as weights of 0 and 1: for a rule that is chosen on some rows
    /// and judged on others. Rows of a class within a group are dealt out in turn. None if a class is too rare for that.
    pub fn folds(&self, folds: usize) -> Vec<(Table, Table)> {
        let (k, totals) = (self.classes().len(), self.totals());
        let mut next = vec![0; k * totals.cells.len()];
        let fold_of: Vec<usize> = (0..self.rows())
            .map(|row| {
                let next = &mut next[self.group(row) * k + usize::from(self.truth()[row])];
                *next += usize::from(self.weight(row) > 0.0);
                next.saturating_sub(1) % folds
            })
            .collect();
        let part = |fold: usize, inside: bool| {
            let weight = |row: usize| if (fold_of[row] == fold) == inside { self.weight(row) } else { 0.0 };
            self.clone().with_weights((0..self.rows()).map(weight).collect()).ok()
        };
        let pairs = (0..folds).map(|fold| Some((part(fold, false)?, part(fold, true)?)));
        pairs.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// The rows of these numbers; they must have every class and every group.
    fn taking(&self, rows: &[usize]) -> Table {
        let truth = rows.iter().map(|&row| self.truth()[row]).collect();
        let column = |class: usize| rows.iter().map(|&row| self.probabilities(class)[row]).collect();
        let columns = (0..self.classes().len()).map(column).collect();
        let mut part = Table::new(self.classes().to_vec(), truth, columns).expect("rows of a table").data;
        for (name, values) in self.columns() {
            let values = rows.iter().map(|&row| values[row]).collect();
            part = part.with_column(name, values).expect("a value for every row");
        }
        for (name, codes) in self.labels() {
            let codes = rows.iter().map(|&row| codes[row]).collect();
            part = part.with_labels(name, codes).expect("a code for every row");
        }
        let part = match self.groups() {
            Some(groups) => {
                let codes = rows.iter().map(|&row| groups.codes()[row]).collect();
                let groups = Groups::new(groups.names().to_vec(), codes).expect("every group has a row");
                part.with_groups(groups).expect("a code for every row")
            }
            None => part,
        };
        match self.weights() {
            Some(weights) => {
                let weights = rows.iter().map(|&row| weights[row]).collect();
                part.with_weights(weights).expect("every class has weight")
            }
            None => part,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::population::Totals;

    #[test]
    fn every_row_is_left_out_once() {
        let yes: Vec<f64> = (0..40).map(|row| f64::from(row) / 40.0).collect();
        let no = yes.iter().map(|p| 1.0 - p).collect();
        let truth: Vec<u8> = (0..40).map(|row| u8::from(row % 8 == 0)).collect();
        let names = ["no", "yes"].map(str::to_owned).to_vec();
        let table = Table::new(names, truth, vec![no, yes]).unwrap().data;
        let folds = table.folds(5);
        for row in 0..40 {
            assert_eq!(folds.iter().map(|(_, held)| held.weight(row)).sum::<f64>(), 1.0);
            assert!(folds.iter().all(|(fitted, held)| fitted.weight(row) + held.weight(row) == 1.0));
        }
        assert!(folds.iter().all(|(_, held)| held.totals().of_class(1).weight == 1.0));
        assert!(table.folds(6).is_empty(), "five rows of a class cannot be in six folds");
    }

    #[test]
    fn rare_cells_survive_and_the_rest_keeps_its_shape() {
        let n = 20_000;
        let yes: Vec<f64> = (0..n).map(|row| (row * 7919 % n) as f64 / n as f64).collect();
        let no = yes.iter().map(|p| 1.0 - p).collect();
        let truth: Vec<u8> = (0..n).map(|row| u8::from(row % 5 == 0)).collect();
        let codes = (0..n).map(|row| u16::from(row == n - 1 || row == n - 5)).collect();
        let names = |list: [&str; 2]| list.map(str::to_owned).to_vec();
        let table = Table::new(names(["no", "yes"]), truth, vec![no, yes]).unwrap().data;
        let table = table.with_groups(Groups::new(names(["x", "y"]), codes).unwrap()).unwrap();
        let table = table.with_weights((0..n).map(|row| (row % 4) as f64).collect()).unwrap();
        let part = table.subsample(2_000, 3);
        assert!((1_800..2_200).contains(&part.rows()));
        let (whole, sampled) = (table.totals(), part.totals());
        for (before, after) in whole.cells[1].iter().zip(&sampled.cells[1]) {
            assert_eq!(before.weight > 0.0, after.weight > 0.0, "{whole:?} {sampled:?}");
        }
        let share = |totals: &Totals| totals.cells[0][1].weight / totals.of_group(0).weight;
        assert!((share(&whole) - share(&sampled)).abs() < 0.05);
        assert_eq!(table.subsample(n, 3), table);
        assert_eq!(table.subsample(500, 9), table.subsample(500, 9));
    }
}
