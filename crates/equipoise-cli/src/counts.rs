//! Classifiers as people can read them: so many of n people, in whole numbers.
//!
//! Guideline G2 of the thesis: probabilities are shown as out-of-n, with n large enough to tell the two systems
//! of a question apart.

use equipoise::engine::Adaptive;
use equipoise::{Metric, Oracle as _, Query, Sense, ask::Simulated};
pub use equipoise_study::numbers::grouped;

/// The sizes a question may be shown at. People are asked at one of the first three, from the first question to the last.
pub const SIZES: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Two numbers are told apart easily if they differ by at least so many cases.
pub const TOLD_APART: u64 = 3;

/// An interview keeps its size as long as they differ at all: who asks conditions on what was shown.
pub const DIFFERENT: u64 = 1;

/// Experts who are asked ahead to see how small the numbers of an interview become, and by how much these are to differ: to
/// rare people, of whom there are some, at all.
const AHEAD: [(f64, u64); 7] = [
    (0.1, TOLD_APART),
    (1.0 / 3.0, TOLD_APART),
    (1.0, TOLD_APART),
    (3.0, TOLD_APART),
    (10.0, TOLD_APART),
    (1.0 / 30.0, DIFFERENT),
    (30.0, DIFFERENT),
];

/// How many people an interview about a cost ratio is told in: the fewest among whom the systems of every question that
/// some experts would be asked can be told apart.
pub fn people_for(plan: &Adaptive, positive_prior: f64) -> u64 {
    let mut people = SIZES[0];
    for (ratio, apart) in AHEAD {
        let hidden = Metric::linear(plan.view(), Sense::Utility, vec![ratio, 1.0]);
        let mut expert = Simulated::new(hidden.expect("two positive weights"));
        let mut belief = plan.start();
        while let Ok(query) = plan.next(belief.as_ref()) {
            people = people.max(Pair::fewest(&query, positive_prior, apart));
            if people >= SIZES[2] {
                return SIZES[2];
            }
            let Ok(answer) = expert.prefer(&query);
            belief.take(&query, &answer);
        }
    }
    people
}

/// What one two-class system does for a number of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// People in the positive class.
    pub positives: u64,
    /// Positives predicted as positive.
    pub found: u64,
    /// People in the negative class.
    pub negatives: u64,
    /// Negatives predicted as negative.
    pub cleared: u64,
}

impl Counts {
    /// The system at (true positive, true negative), rounded: class sizes first, then cells within each class, so
    /// that both systems of a question are about the same people.
    pub fn new(point: &[f64], positive_prior: f64, people: u64) -> Self {
        let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
        let positives = (positive_prior * people as f64).round() as u64;
        let negatives = people - positives;
        let found = (share(point[0], positive_prior) * positives as f64).round() as u64;
        let cleared = (share(point[1], 1.0 - positive_prior) * negatives as f64).round() as u64;
        Self { positives, found, negatives, cleared }
    }

    /// Positives predicted as negative.
    pub fn missed(&self) -> u64 {
        self.positives - self.found
    }

    /// Negatives predicted as positive.
    pub fn false_alarms(&self) -> u64 {
        self.negatives - self.cleared
    }

    fn people(&self) -> u64 {
        self.positives + self.negatives
    }

    fn point(&self) -> Vec<f64> {
        [self.found, self.cleared].map(|count| count as f64 / self.people() as f64).to_vec()
    }
}

/// The two systems of a question, as counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// How many people both are about.
    pub people: u64,
    /// System A.
    pub first: Counts,
    /// System B.
    pub second: Counts,
}

impl Pair {
    /// The fewest people among whom the two systems can be told apart as they are.
    ///
    /// Rounding must not change what is traded for what: 3.4 against 3.6 missed would read as one more missed for
    /// hardly fewer false alarms. So the exchange between the two kinds of mistake, as shown, stays within a tenth
    /// of the true one.
    pub fn new(query: &Query, positive_prior: f64) -> Self {
        let at = |people: u64| Self::among(query, positive_prior, people);
        let truth = Exchange {
            missed: query.first[0] - query.second[0],
            false_alarms: query.first[1] - query.second[1],
        };
        let faithful = SIZES[1..].iter().copied().map(at).find(|pair| pair.exchange().is_close(truth));
        faithful.unwrap_or_else(|| at(SIZES[SIZES.len() - 1]))
    }

    /// The two systems among this many people.
    pub fn among(query: &Query, positive_prior: f64, people: u64) -> Self {
        let [first, second] =
            [&query.first, &query.second].map(|point| Counts::new(point, positive_prior, people));
        Self { people, first, second }
    }

    /// The fewest people among whom both kinds of mistake differ by so many, where they differ at all.
    pub fn fewest(query: &Query, positive_prior: f64, apart: u64) -> u64 {
        let differs = [0, 1].map(|n| (query.first[n] - query.second[n]).abs() > 1e-9);
        let is_seen = |people: &u64| {
            let pair = Self::among(query, positive_prior, *people);
            let misses = pair.first.missed().abs_diff(pair.second.missed());
            let alarms = pair.first.false_alarms().abs_diff(pair.second.false_alarms());
            (!differs[0] || misses >= apart) && (!differs[1] || alarms >= apart)
        };
        SIZES.into_iter().find(is_seen).unwrap_or(SIZES[SIZES.len() - 1])
    }

    fn exchange(&self) -> Exchange {
        let more = |first: u64, second: u64| second as f64 - first as f64;
        Exchange {
            missed: more(self.first.missed(), self.second.missed()),
            false_alarms: more(self.first.false_alarms(), self.second.false_alarms()),
        }
    }

    /// The pair as shown, in the coordinates of the question.
    pub fn to_query(self) -> Query {
        Query::new(self.first.point(), self.second.point())
    }
}

/// How many more mistakes of each kind the second system makes.
#[derive(Clone, Copy)]
struct Exchange {
    missed: f64,
    false_alarms: f64,
}

impl Exchange {
    /// Whether the directions agree and the rates differ by at most a tenth.
    fn is_close(self, truth: Self) -> bool {
        let alike = |shown: f64, truth: f64| shown * truth > 0.0 || shown == truth;
        let (shown, expected) = (self.missed * truth.false_alarms, truth.missed * self.false_alarms);
        alike(self.missed, truth.missed)
            && alike(self.false_alarms, truth.false_alarms)
            && (shown - expected).abs() <= 0.1 * expected.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_sum_to_the_people_and_class_sizes_agree() {
        for step in 0..=1000 {
            let share = f64::from(step) / 1000.0;
            for prior in [0.0, 0.001, 0.3501, 0.5, 1.0] {
                let query =
                    Query::new(vec![share * prior, 0.3 * (1.0 - prior)], vec![prior, share * (1.0 - prior)]);
                let Pair { people, first, second } = Pair::new(&query, prior);
                assert_eq!(first.positives, second.positives);
                for counts in [first, second] {
                    let cells = counts.found + counts.missed() + counts.cleared + counts.false_alarms();
                    assert_eq!(cells, people);
                }
            }
        }
    }

    #[test]
    fn close_systems_are_shown_among_more_people() {
        let people = |difference: f64| {
            let query = Query::new(vec![0.331, 0.5], vec![0.331 + difference, 0.5 - 6.0 * difference]);
            Pair::new(&query, 0.35).people
        };
        assert_eq!(
            [0.01, 0.0004, 0.00004, 0.000004, 1e-9].map(people),
            [1_000, 10_000, 100_000, 1_000_000, 1_000_000]
        );
    }

    #[test]
    fn an_interview_is_told_in_the_fewest_people_that_show_every_difference() {
        let fewest = |missed: f64, alarms: f64| {
            let query = Query::new(vec![0.31, 0.5], vec![0.31 - missed, 0.5 + alarms]);
            Pair::fewest(&query, 0.35, TOLD_APART)
        };
        assert_eq!([fewest(0.05, 0.1), fewest(0.01, 0.1), fewest(0.1, 0.001)], [100, 1_000, 10_000]);
        assert_eq!(fewest(0.05, 0.0), 100, "what is the same needs no telling apart");
        let law = equipoise::population::Logistic::with_offset(21.0, 6.3).unwrap();
        let plan = Adaptive::ratio(equipoise::space::Binary::from_law(law));
        assert!(people_for(&plan, 0.35) <= 10_000);
    }

    #[test]
    fn rounding_keeps_what_is_traded_for_what() {
        let law = equipoise::population::Logistic::with_offset(21.0, 6.3).unwrap();
        for step in 1..400 {
            let cut = 0.6 * f64::from(step) / 400.0 - 0.5;
            let [first, second] = [cut, cut + 0.003].map(|cut| law.at_cut(cut).to_vec());
            let truth = (first[1] - second[1]) / (second[0] - first[0]);
            let pair = Pair::new(&Query::new(first, second), 0.35);
            let exchange = pair.exchange();
            let shown = -exchange.false_alarms / exchange.missed;
            assert!(
                (shown / truth - 1.0).abs() < 0.12 || pair.people == 1_000_000,
                "{shown} {truth} {pair:?}"
            );
        }
    }

    #[test]
    fn a_system_is_what_was_shown_when_read_back() {
        let query = Query::new(vec![0.3314, 0.6112], vec![0.343, 0.568]);
        let shown = Pair::new(&query, 0.35).to_query();
        assert_eq!(shown, Query::new(vec![0.331, 0.611], vec![0.343, 0.568]));
    }
}
