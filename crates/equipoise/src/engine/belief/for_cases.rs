//! Two classes, asked case by case: "a case with a risk of 30 %: act or not?"

use super::Belief as _;
use super::for_people::{FORESEEN, turned};
use super::grid::{Grid, SAME, SHARES_FOR_PEOPLE};
use crate::ask::Query;

/// Where a risk has been asked about, one beside it: ratios times these.
const BESIDE: [f64; 7] = [1.0, 0.9, 1.1, 0.8, 1.25, 0.7, 1.4];

/// How far probes go from the middle of the ratio, in its logarithm, step by step.
const STEP: f64 = 0.25;
const STEPS: usize = 20;

impl Grid {
    /// The case that is even to a ratio, as near as it can be asked about: in percent that people read, within the risks there are.
    pub(super) fn case(&self, ratio: f64, [least, most]: [f64; 2]) -> Query {
        let risk = legible(1.0 / (1.0 + ratio)).clamp(least, most);
        Query::new(vec![risk, 0.0], vec![0.0, 1.0 - risk])
    }

    /// The cases that may be asked about now, the worthiest first.
    pub(super) fn questions_about_cases(&self, seed: u64) -> Vec<Query> {
        let mut scored: Vec<(f64, Query)> = vec![];
        for share in SHARES_FOR_PEOPLE {
            let fresh = |query: &Query| {
                !self.was_asked(query) && !scored.iter().any(|(_, other)| other.is_same_pair(query, SAME))
            };
            let near = BESIDE.iter().filter_map(|factor| self.even(factor * self.at(share), 1.0));
            if let Some(query) = near.into_iter().find(fresh) {
                let score = self.worth(self.chances_by_place(&query), self.bits(&query));
                scored.push((score, turned(query, seed, self.answered.len())));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().map(|(_, query)| query).collect()
    }

    /// A case that is hardly open, in turns below and above the threshold: as near to it as will do, or else the most foreseen.
    pub(super) fn probe_about_cases(&self, heard: usize, seed: u64) -> Option<Query> {
        let likely = |query: &Query| {
            let first = self.chance_of_first(query);
            first.max(1.0 - first)
        };
        let away = |sign: f64| {
            let ratio = move |step: usize| (sign * STEP * step as f64).exp() * self.at(0.5);
            let cases = (1..=STEPS).filter_map(move |step| self.even(ratio(step), 1.0));
            cases.filter(|query| !self.was_asked(query)).map(move |query| (likely(&query), query))
        };
        let sign = if heard % 2 == 1 { 1.0 } else { -1.0 };
        let foreseen = |sign: f64| away(sign).find(|(likely, _)| *likely >= FORESEEN);
        let most = || away(sign).chain(away(-sign)).max_by(|a, b| a.0.total_cmp(&b.0));
        let found = foreseen(sign).or_else(|| foreseen(-sign)).or_else(most);
        found.map(|(_, query)| turned(query, seed, 1000 + heard))
    }
}

/// Whole percents, and two digits of what is rarer than one in ten, or as sure.
fn legible(risk: f64) -> f64 {
    if risk > 0.5 {
        return 1.0 - legible(1.0 - risk);
    }
    let steps = if risk >= 0.1 { 100.0 } else { 10_f64.powf(1.0 - risk.log10().floor()) };
    (risk * steps).round() / steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{NoiseModel, Preference};
    use crate::population::Logistic;
    use crate::space::Binary;

    #[test]
    fn risks_are_those_that_people_read() {
        let read = [0.1429, 0.0123, 0.000_456, 0.5, 0.873, 0.9871, 0.0996].map(legible);
        let expected = [0.14, 0.012, 0.000_46, 0.5, 0.87, 0.987, 0.1];
        assert!(read.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{read:?}");
    }

    #[test]
    fn a_case_says_of_the_ratio_what_its_odds_say() {
        let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
        let mut belief = Grid::of_cases(space, NoiseModel::Exact, [0.01, 0.99]);
        let case = belief.case(4.0, [0.01, 0.99]);
        assert_eq!(case.first, [0.2, 0.0]);
        belief.take(&case, &Preference::First.into());
        // Whoever acts at 20 % holds at least 4 : 1, and nobody errs here.
        assert!(belief.quantile(0.001).unwrap() > 3.9);
        // What is asked next lies among what is left, within the risks there are, and is not asked twice.
        let next = belief.questions(0).next().unwrap();
        let risk = next.first[0].max(next.second[0]);
        assert!((0.01..0.2).contains(&risk), "{risk}");
        assert!(belief.questions(0).all(|query| !query.is_same_pair(&case, SAME)));
        let probe = belief.probe(0, 0).unwrap();
        assert!(!probe.is_same_pair(&case, SAME));
    }
}
