//! What it costs to take one person for another.
//!
//! The rule that would be chosen now often stays the same whatever the next answer is; what it is regretted then says nothing of which
//! question to ask. The rule of somebody else who could have given the same answers is regretted less with every answer that tells
//! the two apart, so that is what questions are to save.

use super::log_weights::Person;
use crate::linalg::dot;

/// More than twice the best is as bad as that: a few to whom nearly nothing matters would decide about every question.
const MOST: f64 = 1.0;

/// What everybody regrets if they are taken for somebody else.
pub struct Mistaken {
    /// Of two people, what either regrets on average with the rule of the other: row by row.
    regrets: Vec<f64>,
    /// The sums of the rows, and of those.
    rows: Vec<f64>,
    all: f64,
}

impl Mistaken {
    /// Of these people, who choose among these rules.
    pub fn new(people: &[&Person], rules: &[Vec<f64>]) -> Self {
        let n = people.len();
        let mut regrets = vec![0.0; n * n];
        for (i, taken_for) in people.iter().enumerate() {
            let rule = &rules[taken_for.best];
            for (j, person) in people.iter().enumerate() {
                let half = 0.5 * person.regret(rule).clamp(0.0, MOST);
                regrets[i * n + j] += half;
                regrets[j * n + i] += half;
            }
        }
        let rows: Vec<f64> = regrets.chunks(n).map(|row| row.iter().sum()).collect();
        let all = rows.iter().sum();
        Self { regrets, rows, all }
    }

    /// The share of it that an answer is expected to save, if each of the people says "first" so often.
    pub fn saved(&self, firsts: &[f64]) -> f64 {
        let n = firsts.len();
        let first: f64 = firsts.iter().sum();
        let second = n as f64 - first;
        // Two who both say "first"; those who both say "second" follow from the sums.
        let of_first: f64 =
            self.regrets.chunks(n).zip(firsts).map(|(row, chance)| chance * dot(row, firsts)).sum();
        let of_second = self.all - 2.0 * dot(&self.rows, firsts) + of_first;
        let after = of_first / first.max(f64::MIN_POSITIVE) + of_second / second.max(f64::MIN_POSITIVE);
        let before = self.all / n as f64;
        if before > 0.0 { 1.0 - after / before } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sorts of people, to either of whom the rule of the other is twice as dear as their own.
    fn two_sorts() -> Mistaken {
        let rules = [vec![0.2, 0.1], vec![0.1, 0.2]];
        let one = Person::deciding([1e-9, 1.0], 0, 0.1);
        let other = Person::deciding([1.0, 1e-9], 1, 0.1);
        Mistaken::new(&[&one, &one, &other, &other], &rules)
    }

    #[test]
    fn an_answer_that_tells_all_apart_saves_everything_and_a_coin_nothing() {
        let mistaken = two_sorts();
        assert!((mistaken.all - 8.0).abs() < 1e-6);
        assert!((mistaken.saved(&[1.0, 1.0, 0.0, 0.0]) - 1.0).abs() < 1e-6);
        assert!(mistaken.saved(&[0.5; 4]).abs() < 1e-12);
        assert!(mistaken.saved(&[1.0; 4]).abs() < 1e-12);
        // Nothing that matters is told by what both sorts say alike.
        assert!(mistaken.saved(&[1.0, 0.0, 1.0, 0.0]).abs() < 1e-12);
    }

    /// Against the definition: after either answer two people are drawn by how likely they gave it.
    #[test]
    fn what_is_saved_is_what_two_who_answer_alike_no_longer_regret() {
        let mistaken = two_sorts();
        let firsts = [0.9, 0.6, 0.3, 0.2];
        let drawn = |chances: [f64; 4]| -> f64 {
            let all: f64 = chances.iter().sum();
            let pair =
                |(i, j): (usize, usize)| chances[i] * chances[j] / all.powi(2) * mistaken.regrets[4 * i + j];
            all / 4.0 * (0..16).map(|n| pair((n / 4, n % 4))).sum::<f64>()
        };
        let after = drawn(firsts) + drawn(firsts.map(|chance| 1.0 - chance));
        assert!((mistaken.saved(&firsts) - (1.0 - after / drawn([1.0; 4]))).abs() < 1e-12);
    }
}
