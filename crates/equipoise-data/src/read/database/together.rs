//! Models that are columns of one table, drawn again on the same rows.

use super::super::statements::Decides;
use super::answers::{adds_up, place};
use super::{Database, poisson};
use crate::error::Result;
use crate::sample::shares;
use equipoise::population::{Confusions as _, Rule};
use equipoise::rates::GroupConfusions;
use equipoise::stream;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Counts up to which models are drawn again together.
const MOST_COUNTS: usize = 1 << 16;

impl Database {
    /// Draws of several models that are columns of one table, each with its rule: by model, then by draw. All are decided on the
    /// same rows, which are drawn again together. `None` where they are of different tables, rows have weights, or there would be
    /// too many counts.
    pub fn resampled_together(
        models: &[(&Self, &Rule)],
        seed: u64,
        draws: usize,
    ) -> Result<Option<Vec<Vec<GroupConfusions>>>> {
        let Some((first, _)) = models.first() else { return Ok(None) };
        let k = first.classes();
        let same = |(other, _): &(&Self, &Rule)| {
            let (a, b) = (&first.statements, &other.statements);
            a.table == b.table
                && a.truth == b.truth
                && a.groups == b.groups
                && a.weight.is_none()
                && b.weight.is_none()
                && first.layout.classes == other.layout.classes
        };
        let most = u32::try_from(models.len()).ok().and_then(|models| k.checked_pow(models));
        let most =
            most.and_then(|labels| labels.checked_mul(first.written)).filter(|&most| most <= MOST_COUNTS);
        let decides = |(model, rule): &(&Self, &Rule)| {
            let decides = match rule {
                Rule::Threshold(at) if at.len() == 1 => Decides::From(at[0]),
                Rule::PostShift(rule) if !rule.is_per_group() => Decides::By(rule.rewards(0).to_vec()),
                _ => return None,
            };
            Some((model.statements.scores.clone(), decides))
        };
        let decided = models.iter().map(decides).collect::<Option<Vec<_>>>();
        let (true, Some(most), Some(decided)) = (models.iter().all(same), most, decided) else {
            return Ok(None);
        };
        first.drawn_together(&decided, most, seed, draws).map(Some).map_err(|error| first.named(error))
    }

    fn drawn_together(
        &self,
        decided: &[(Vec<String>, Decides)],
        most: usize,
        seed: u64,
        draws: usize,
    ) -> Result<Vec<Vec<GroupConfusions>>> {
        let (k, keys) = (self.classes(), 1 + self.statements.groups.len());
        let width = keys + decided.len() + 1;
        let found = self.asked().table(&self.statements.decided(k, decided)?, most, width)?;
        // Where a count goes in the matrix of each model.
        let mut counts: Vec<(Vec<usize>, f64)> = vec![];
        let mut sum = 0;
        for row in &found {
            let (group, class) = place(&self.statements, &self.layout, row)?;
            let rows = row[width - 1].count()?;
            sum += rows;
            let mut places = vec![];
            for label in &row[keys..width - 1] {
                let label = label.count()?.min(k as u64 - 1) as usize;
                places.push((usize::from(group) * k + class) * k + label);
            }
            counts.push((places, rows as f64));
        }
        adds_up(sum, self.rows())?;
        // Answers come in any order.
        counts.sort_by(|a, b| a.0.cmp(&b.0));
        let mut drawn = vec![Vec::with_capacity(draws); decided.len()];
        for draw in 0..draws {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, draw as u64));
            let taken = poisson(&mut random, counts.iter().map(|(_, rows)| *rows));
            let total = taken.iter().sum();
            for (model, drawn) in drawn.iter_mut().enumerate() {
                let mut matrix = vec![0.0; self.groups() * k * k];
                counts.iter().zip(&taken).for_each(|((places, _), times)| matrix[places[model]] += times);
                drawn.push(shares(&matrix, k, total));
            }
        }
        Ok(drawn)
    }
}
