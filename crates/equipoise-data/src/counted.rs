//! Two classes of which nothing is known but how many rows have which score.
//!
//! Rows that agree in group, class and score are decided alike by every rule, so with two classes a score profile answers
//! everything that is asked of rows. It is all that leaves a database, and all that is kept of a folder that does not fit memory.

use crate::error::{self, Error, Kind, plural};
use crate::kernel;
use crate::sample::{Sample, shares};
use crate::table::{Groups, Table};
use equipoise::population::{
    Ask, AskError, Basis, Cell, Confusions, Population, Profile, Rule, Score, Totals, resampling,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use std::convert::Infallible;

/// A population of two classes known by its counts. The probability of the first class is what is missing to 1.
///
/// ```
/// use equipoise::population::{Confusions, Population, Rule, Score};
/// use equipoise_data::{Counted, Sample, Table};
/// let names = vec!["no".to_owned(), "yes".to_owned()];
/// let yes = vec![0.2, 0.2, 0.7, 0.7];
/// let no = yes.iter().map(|p| 1.0 - p).collect();
/// let rows = Sample::new(Table::new(names.clone(), vec![0, 1, 1, 1], vec![no, yes])?.data)?;
/// let (Ok(profile), Ok(totals)) = (rows.score_profile(Score::Class(1)), rows.totals());
/// let counted = Counted::new(names, vec![], profile, totals)?;
/// let rules = [Rule::Threshold(vec![0.5])];
/// assert_eq!(counted.confusions(&rules), rows.confusions(&rules));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counted {
    /// One row for all that agree, which weighs as much as they do together.
    cells: Sample<Table>,
    profile: Profile,
    totals: Totals,
    prevalence: Prevalence,
}

impl Counted {
    /// From the names of two classes and of the groups, the profile of the second class, and how many rows there are, which the
    /// profile must add up to.
    pub fn new(
        classes: Vec<String>,
        groups: Vec<String>,
        profile: Profile,
        totals: Totals,
    ) -> error::Result<Self> {
        let (found, expected) = (profile.rows(), totals.overall().rows);
        if found != expected {
            let found = format!("{} by score", plural(found, "row"));
            return Err(Error::new(Kind::Mismatch, found, format!("{expected} as by class")));
        }
        let truth = profile.cells().iter().map(|cell| u8::from(cell.positive)).collect();
        let yes: Vec<f64> = profile.cells().iter().map(|cell| cell.score).collect();
        let no = yes.iter().map(|score| 1.0 - score).collect();
        let mut table = Table::new(classes, truth, vec![no, yes])?.data;
        if !groups.is_empty() {
            let codes = profile.cells().iter().map(|cell| cell.group).collect();
            table = table.with_groups(Groups::new(groups, codes)?)?;
        }
        table = table.with_weights(profile.cells().iter().map(Cell::mass).collect())?;
        let no_shares = |error: equipoise::Error| {
            Error::new(Kind::Count, error.to_string(), "some weight in every class")
        };
        let cells = Sample::new(table).map_err(no_shares)?;
        let prevalence = totals.prevalence().map_err(no_shares)?;
        Ok(Self { cells, profile, totals, prevalence })
    }

    /// The class names, the positive one last.
    pub fn class_names(&self) -> &[String] {
        self.cells.table().classes()
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        self.cells.table().groups().map_or(&[], Groups::names)
    }

    /// Rows by the probability of the positive class.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// How often each cell is taken in a draw, by its rows, which are numbered by falling score.
    fn taken(&self, seed: u64, draw: u64) -> Vec<f64> {
        for attempt in 0.. {
            let times = resampling(seed, draw, attempt);
            let mut key = 0;
            let taken = |cell: &Cell| {
                let rows = key..key + u64::from(cell.rows);
                key = rows.end;
                cell.weight * rows.map(times).sum::<f64>()
            };
            let taken: Vec<f64> = self.profile.cells().iter().map(taken).collect();
            if taken.iter().any(|&weight| weight > 0.0) {
                return taken;
            }
        }
        unreachable!("there are rows that weigh something")
    }
}

impl Confusions for Counted {
    type Err = Infallible;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    /// # Panics
    /// If a rule is for other classes or groups than there are, or asks for columns: there are none.
    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Infallible> {
        self.cells.confusions(rules)
    }
}

impl Population for Counted {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals, Infallible> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> Result<Profile, Infallible> {
        if score == Score::Class(1) {
            return Ok(self.profile.clone());
        }
        let cell = |cell: &Cell| {
            let probability = |class: usize| if class == 1 { cell.score } else { 1.0 - cell.score };
            let (score, positive) = score.of(usize::from(cell.positive), probability)?;
            Some(Cell { score, positive, ..*cell })
        };
        let cells = self.profile.cells().iter().filter_map(cell).collect();
        Ok(Profile::new(cells, self.groups(), self.profile.total()))
    }

    fn resampled(
        &self,
        rules: &[Rule],
        seed: u64,
        draws: usize,
    ) -> Result<Vec<Vec<GroupConfusions>>, Infallible> {
        let slots = kernel::slots(self.cells.table(), rules, &self.cells.labels(rules));
        let (k, entries) = (self.classes(), self.groups() * self.classes() * self.classes());
        let draw = |number: usize| {
            let taken = self.taken(seed, number as u64);
            let of_rule = |slots: &Vec<u32>| {
                let mut counts = vec![0.0; entries];
                slots.iter().zip(&taken).for_each(|(&slot, weight)| counts[slot as usize] += weight);
                shares(&counts, k, counts.iter().sum())
            };
            slots.iter().map(of_rule).collect()
        };
        Ok((0..draws).into_par_iter().map(draw).collect())
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Infallible>, AskError<Infallible>> {
        self.cells.moments(bases)
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>, Infallible> {
        let share = rows as f64 / self.profile.rows() as f64;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut kept: Vec<&Cell> = Vec::with_capacity(rows + rows / 8);
        let mut seen = vec![false; 2 * self.groups()];
        for cell in self.profile.cells() {
            let first = &mut seen[2 * usize::from(cell.group) + usize::from(cell.positive)];
            for _ in 0..cell.rows {
                let must = cell.weight > 0.0 && !std::mem::replace(first, *first || cell.weight > 0.0);
                if share >= 1.0 || random.random::<f64>() < share || must {
                    kept.push(cell);
                }
            }
        }
        let truth = kept.iter().map(|cell| u8::from(cell.positive)).collect();
        let yes: Vec<f64> = kept.iter().map(|cell| cell.score).collect();
        let no = yes.iter().map(|score| 1.0 - score).collect();
        let table = Table::new(self.class_names().to_vec(), truth, vec![no, yes]);
        let mut table = table.expect("every class keeps a row that weighs").data;
        if let Some(groups) = self.cells.table().groups() {
            let codes = kept.iter().map(|cell| cell.group).collect();
            let groups = Groups::new(groups.names().to_vec(), codes).expect("every group keeps a row");
            table = table.with_groups(groups).expect("a code for every row");
        }
        if self.totals.weighted {
            let weights = kept.iter().map(|cell| cell.weight).collect();
            table = table.with_weights(weights).expect("every class keeps a row that weighs");
        }
        Ok(Sample::new(table).expect("every class keeps a row that weighs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Sample<Table> {
        let n = 900;
        let yes: Vec<f64> = (0..n).map(|row| f64::from(row * 7919 % 97) / 97.0).collect();
        let no = yes.iter().map(|p| 1.0 - p).collect();
        let truth = (0..n).map(|row| u8::from((row * 31 % 97) * 2 > 60)).collect();
        let codes = (0..n).map(|row| (row % 2) as u16).collect();
        let names = |list: [&str; 2]| list.map(str::to_owned).to_vec();
        let table = Table::new(names(["no", "yes"]), truth, vec![no, yes]).unwrap().data;
        let groups = Groups::new(names(["f", "m"]), codes).unwrap();
        Sample::new(table.with_groups(groups).unwrap()).unwrap()
    }

    fn counted(rows: &Sample<Table>) -> Counted {
        let (Ok(profile), Ok(totals)) = (rows.score_profile(Score::Class(1)), rows.totals());
        let names = rows.table().groups().unwrap().names().to_vec();
        Counted::new(rows.table().classes().to_vec(), names, profile, totals).unwrap()
    }

    #[test]
    fn draws_take_every_row_about_once() {
        let (rows, rules) = (rows(), [Rule::Threshold(vec![0.3]), Rule::most_likely(2).unwrap()]);
        let counted = counted(&rows);
        let Ok(draws) = counted.resampled(&rules, 3, 400);
        let Ok(measured) = rows.confusions(&rules);
        let Ok(expected) = rows.resampled(&rules, 3, 400);
        let mean =
            |of: &[Vec<GroupConfusions>]| of.iter().map(|draw| draw[0].get(1, 1, 1)).sum::<f64>() / 400.0;
        let spread = |of: &[Vec<GroupConfusions>]| {
            let mean = mean(of);
            (of.iter().map(|draw| (draw[0].get(1, 1, 1) - mean).powi(2)).sum::<f64>() / 400.0).sqrt()
        };
        assert!((mean(&draws) - measured[0].get(1, 1, 1)).abs() < 0.003);
        assert!(
            (spread(&draws) / spread(&expected) - 1.0).abs() < 0.2,
            "{} {}",
            spread(&draws),
            spread(&expected)
        );
    }

    #[test]
    fn a_part_has_about_as_many_rows_as_wanted_and_all_classes() {
        let rows = rows();
        let counted = counted(&rows);
        let (Ok(part), Ok(whole)) = (counted.sample(300, 1), counted.sample(900, 1));
        assert!((230..370).contains(&part.table().rows()));
        assert_eq!(whole.totals(), rows.totals());
        let rules = [Rule::Threshold(vec![0.4])];
        assert_eq!(whole.confusions(&rules), rows.confusions(&rules));
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let rows = rows();
        let (Ok(profile), Ok(mut totals)) = (rows.score_profile(Score::Class(1)), rows.totals());
        totals.cells[0][0].rows += 1;
        let said = Counted::new(rows.table().classes().to_vec(), vec![], profile, totals).unwrap_err();
        assert_eq!(said.to_string(), "table: found 900 rows by score, expected 901 as by class");
    }
}
