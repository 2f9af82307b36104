//! The plan that finds somebody's candidate: what it asks about, and when it ends.

use super::belief::Width;
use super::plan::{Adaptive, PROBES_FOR_PEOPLE, Subject};
use super::stop::Stop;
use crate::ask::NoiseModel;
use crate::search::SignKnowledge;
use crate::space::Candidates;

/// Of candidates, the best is to be so certain, or regretted by at most this share of the range of their values.
const BEST: Stop = Stop::Decision { level: 0.9 };
const CHOICE: Stop = Stop::Regret { at_most: 0.02 };
const MOST_FOR_A_CHOICE: usize = 40;

impl Adaptive {
    /// The weights of attributes, from trades of two attributes at a time and then from candidates that are likely the best.
    ///
    /// Ends when the best candidate is the best with a probability of .9, or is expected to fall short of the best by at most 2 %
    /// of the range of their values; after 40 questions at most, the last few of which are probes. Nothing is assumed of the
    /// person.
    ///
    /// ```
    /// use equipoise::{Metric, Plan, engine::Adaptive, ask::Simulated, metric::{Attribute, Direction}, space::Candidates};
    /// let models = [("small", [40.0, 0.81]), ("middle", [90.0, 0.90]), ("large", [300.0, 0.93])];
    /// let column = |n: usize| models.map(|(_, point)| point[n]);
    /// let attributes = vec![
    ///     Attribute::guessed("latency_ms", Direction::Minimize, &column(0))?,
    ///     Attribute::guessed("recall", Direction::Maximize, &column(1))?,
    /// ];
    /// let hidden = Metric::attributes(attributes.clone(), vec![1.0, 1.0])?;
    /// let named = models.map(|(name, point)| (name.to_owned(), point.to_vec())).to_vec();
    /// let plan = Adaptive::choice(Candidates::new(attributes, named)?);
    /// let Ok(outcome) = plan.run(&mut Simulated::new(hidden));
    /// let found: Vec<String> = outcome.findings.iter().map(|finding| finding.to_string()).collect();
    /// assert!(found[1].starts_with("the best of the pool is \"middle\""), "{found:?}");
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn choice(space: Candidates) -> Self {
        let plan = Self::new(Subject::Choice(space), SignKnowledge::Monotone, Width::Angle(1e-6));
        let (answers, stops) = (Some(NoiseModel::Unknown), vec![BEST, CHOICE]);
        Self { answers, stops, budget: MOST_FOR_A_CHOICE, probes: PROBES_FOR_PEOPLE, ..plan }
    }

    /// The candidates that it asks about, if it does.
    pub fn candidates(&self) -> Option<&Candidates> {
        match &self.subject {
            Subject::Choice(space) => Some(space),
            _ => None,
        }
    }

    /// The names of what there is to choose from, if it has any.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        let members = match (self.pool_members(), self.candidates()) {
            (Some(pool), _) => pool.members(),
            (_, Some(candidates)) => candidates.members(),
            _ => return None,
        };
        Some(members.iter().map(|member| member.name.as_str()).collect())
    }
}
