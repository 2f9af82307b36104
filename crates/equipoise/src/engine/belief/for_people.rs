//! Two classes, asked of people: what is worth asking, and what they are probed with.

use super::Belief as _;
use super::grid::{Grid, SAME, SHARES_FOR_PEOPLE, bits_of};
use crate::ask::Query;
use crate::seed::stream;
use crate::space::Space as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where that has been asked, a little closer together.
const CLOSER: [f64; 4] = [1.0, 0.9, 0.8, 0.7];

/// What a bit about the ratio is worth, beside halving the regret.
const WORTH_OF_A_BIT: f64 = 0.3;

/// Questions that tell less than this many bits come last, whatever they are worth: a plan ends where the first tells little.
const TELLS: f64 = 0.02;

/// A probe is something that the answers so far leave hardly open: this likely.
pub(super) const FORESEEN: f64 = 0.93;

/// So much less than anything is worth.
const LAST: f64 = 1e3;

impl Grid {
    /// What a question is worth: the regret it is expected to save in one step, as a share of what is left, and a little for
    /// what it tells of the ratio. From places, their masses, and how likely "first" is there; those that tell little come last.
    pub(super) fn worth(&self, chances: impl Iterator<Item = (usize, f64, f64)>, bits: f64) -> f64 {
        let (mut of_first, mut of_all, mut total) = ([0.0; 2], [0.0; 2], 0.0);
        for (place, mass, chance) in chances {
            let weights = self.weights_at(place);
            for n in 0..2 {
                of_all[n] += mass * weights[n] / self.least[place];
                of_first[n] += mass * chance * weights[n] / self.least[place];
            }
            total += mass;
        }
        let cheapest = |weights: [f64; 2]| self.cost(weights, &self.space.best(&weights));
        let now = cheapest(of_all) / total - 1.0;
        let of_second = [of_all[0] - of_first[0], of_all[1] - of_first[1]];
        let after = (cheapest(of_first) + cheapest(of_second)) / total - 1.0;
        let last = if bits >= TELLS { 0.0 } else { -LAST };
        (now - after) / now.max(1e-6) + WORTH_OF_A_BIT * bits + last
    }

    /// What people may be asked now, the worthiest first.
    pub(super) fn questions_for_people(&self, seed: u64) -> Vec<Query> {
        let mut scored: Vec<(f64, Query)> = vec![];
        for share in SHARES_FOR_PEOPLE {
            let ratio = self.at(share);
            let fresh = |query: &Query| {
                !self.was_asked(query) && !scored.iter().any(|(_, other)| other.is_same_pair(query, SAME))
            };
            let found = CLOSER.iter().filter_map(|closer| self.even(ratio, *closer)).find(fresh);
            if let Some(query) = found {
                // Once for both: this is most of what the next question costs.
                let chances: Vec<_> = self.chances_by_place(&query).collect();
                let score = self.worth(chances.iter().copied(), bits_of(chances.iter().copied()));
                scored.push((score, turned(query, seed, self.answered.len())));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().map(|(_, query)| query).collect()
    }

    /// A question whose answer is hardly open: close to the best threshold, below and above the ratio, and then as far apart as
    /// questions are: whoever values the same trade much differently elsewhere objects.
    pub(super) fn probe_for_people(&self, heard: usize, seed: u64) -> Option<Query> {
        let room = self.room.as_ref()?;
        let middle = room.clamp(self.at(0.5).ln());
        let (near, up) = (heard % 3 != 2, heard % 2 == 1);
        // Never quite as far apart as another one.
        let less = 0.02 * heard as f64;
        let at = |away: f64| {
            let pair = match near {
                true => room.near_best(middle + away, 0.3 + less),
                false => room.pair(middle + away, 0.95 - less),
            };
            pair.map(|[one, other]| Query::new(one.to_vec(), other.to_vec()))
        };
        let likely = |query: &Query| {
            let first = self.chance_of_first(query);
            first.max(1.0 - first)
        };
        // As little away as will do, in one direction, or else the more foreseen of both.
        let found = [up, !up].map(|up| {
            let sign = if up { 1.0 } else { -1.0 };
            let (mut low, mut high) = (0.0, 4.0);
            for _ in 0..7 {
                let away = 0.5 * (low + high);
                let foreseen = at(sign * away).is_some_and(|query| likely(&query) >= FORESEEN);
                if foreseen { high = away } else { low = away }
            }
            at(sign * high)
        });
        let [wanted, other] = found.map(|query| query.map(|query| (likely(&query), query)));
        let [wanted, other] = match (&wanted, &other) {
            (Some((a, _)), Some((b, _))) if *a < FORESEEN - 0.02 && a < b => [other, wanted],
            _ => [wanted, other],
        };
        // At the ends of what can be asked about, several are the same.
        let plain = CLOSER.iter().filter_map(|closer| self.even(self.at(0.5), closer - 0.05));
        let all = [wanted, other].into_iter().flatten().map(|(_, query)| query).chain(plain);
        let query = all.into_iter().find(|query| !self.was_asked(query));
        query.map(|query| turned(query, seed, 1000 + heard))
    }
}

/// The pair with its sides as a coin decides, the same for the same question: whoever always says "first" must not seem to
/// mean anything.
pub(super) fn turned(query: Query, seed: u64, number: usize) -> Query {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, number as u64));
    if random.random_bool(0.5) { Query::new(query.second, query.first) } else { query }
}
