//! Cluster centres by k-means, for bases around them.

use crate::error::{Result, check};
use crate::population::{Scores, nearest};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Lloyd's steps at most; they settle much sooner.
const STEPS: usize = 100;

/// Centres of `count` clusters of the rows, by k-means++ and Lloyd's algorithm.
///
/// Coordinates are the named columns or, without any, the class probabilities.
pub fn centres(scores: &Scores, features: &[String], count: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
    let ok = (1..=scores.rows()).contains(&count);
    check::number("clusters", count as f64, ok, "at least 1 and at most the number of rows")?;
    let points = points(scores, features)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut centres = vec![points[random.random_range(0..points.len())].clone()];
    while centres.len() < count {
        let distances: Vec<f64> = points.iter().map(|point| nearest(point, &centres).1).collect();
        let mut left = random.random_range(0.0..1.0) * distances.iter().sum::<f64>();
        let chosen = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Fewer different points than clusters: any point is as good.
        centres.push(points[chosen.unwrap_or(centres.len())].clone());
    }
    for _ in 0..STEPS {
        let mut sums = vec![(vec![0.0; points[0].len()], 0.0); count];
        for point in &points {
            let (sum, rows) = &mut sums[nearest(point, &centres).0];
            sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x);
            *rows += 1.0;
        }
        let mean = |((sum, rows), old): (&(Vec<f64>, f64), &Vec<f64>)| {
            if *rows > 0.0 { sum.iter().map(|x| x / rows).collect() } else { old.clone() }
        };
        let moved: Vec<Vec<f64>> = sums.iter().zip(&centres).map(mean).collect();
        if moved == centres {
            break;
        }
        centres = moved;
    }
    Ok(centres)
}

fn points(scores: &Scores, features: &[String]) -> Result<Vec<Vec<f64>>> {
    let columns = features.iter().map(|name| scores.column(name)).collect::<Result<Vec<_>>>()?;
    let point = |row: usize| -> Vec<f64> {
        if columns.is_empty() {
            (0..scores.classes()).map(|class| scores.probability(class, row)).collect()
        } else {
            columns.iter().map(|column| column.at(row)).collect()
        }
    };
    Ok((0..scores.rows()).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Column;

    #[test]
    fn two_heaps_have_two_centres() -> Result<()> {
        let positive = [0.1; 6];
        let x = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2];
        let scores = Scores::new(vec![&positive])?.with_column("x", Column::Reals(&x))?;
        for seed in 0..10 {
            let mut found: Vec<f64> = centres(&scores, &["x".to_owned()], 2, seed)?.concat();
            found.sort_by(f64::total_cmp);
            assert!((found[0] - 0.1).abs() < 1e-12 && (found[1] - 5.1).abs() < 1e-12, "{found:?}");
        }
        assert!(centres(&scores, &[], 7, 0).is_err());
        Ok(())
    }
}
