//! Weights of kinds of error, or of attributes, in their logarithms: a crowd of people who could have given these answers.
//!
//! A question about two kinds tells something of the ratio of two weights, which is a difference of their logarithms.
//! How people err is not known either: some go by how much better, some by how many times. Both are drawn together. Everybody
//! in the crowd has weights and a way to err; an answer thins out those whom it surprises, and the others take small steps
//! (Metropolis, along differences of two others: ter Braak's differential evolution) so that the crowd stays a draw from the
//! posterior. What it would regret is then an average over the crowd.

use super::mistaken::Mistaken;
use super::prior::{Erring, Prior};
use super::setting::Setting;
use super::{Belief, Regret, Width};
use crate::ask::{Answer, Answered, Chances, Finding, Gap, NoiseModel, Preference, Query};
use crate::engine::aim::Decision;
use crate::engine::check::{STANDS_OUT, contradicted};
use crate::engine::normal::entropy;
use crate::linalg::{angle, dot, plus, scaled};
use crate::metric::{Metric, Posterior};
use crate::seed::stream;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// People in the crowd.
const PEOPLE: usize = 1000;
/// Steps that everybody takes after an answer.
const STEPS: usize = 12;
/// Every so manieth of the crowd is asked what a question would tell.
const CONSULTED: usize = 4;
/// What a bit about the weights is worth, beside what it saves of all that is regretted.
const WORTH_OF_A_BIT: f64 = 0.05;
/// An answer is never quite impossible.
const LEAST_CHANCE: f64 = 1e-4;
/// Logarithms of chances that differ by more than this differ whatever rounding did.
const CLEARLY: f64 = 1e-6;
/// Products of chances go on as logarithms below this.
const TINY: f64 = 1e-200;
/// A probe is something that the answers so far leave hardly open: about this likely, and found among so many.
const FORESEEN: f64 = 0.93;
const CANDIDATES: usize = 150;
/// A ratio of weights that nobody is asked about, as a logarithm; every so manieth of the crowd is imagined to hold it.
const BEYOND: f64 = 7.0;
const EVERY: usize = 4;
/// Answers set no end to a weight if they are this much likelier, or no less likely than this, once it is far above all others, or
/// far below them.
const LIFTED: f64 = 3.0;
const LOWERED: f64 = 0.2;
/// And it is beyond what can be told if they are this much likelier.
const CLEARLY_BEYOND: f64 = 10.0;
/// Questions closer than this in every coordinate are the same question.
const SAME: f64 = 1e-9;

/// Somebody who could have given these answers.
#[derive(Debug, Clone)]
pub struct Person {
    pub(super) logs: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// The length of the weights.
    length: f64,
    pub(super) erring: Option<Erring>,
    noise: NoiseModel,
    /// The logarithm of how likely they give the answers.
    fit: f64,
    /// The place of their best rule.
    pub(super) best: usize,
    /// What their best rule costs them.
    least: f64,
    /// What they find one of: regrets are shares of it.
    scale: f64,
    /// How much dearer than what there is now the best constant answer is to them.
    pub(super) room: f64,
}

impl Person {
    fn new(logs: Vec<f64>, erring: Option<Erring>, noise: NoiseModel) -> Self {
        let weights: Vec<f64> = logs.iter().map(|x| x.exp()).collect();
        let length = dot(&weights, &weights).sqrt();
        Self { logs, weights, length, erring, noise, fit: 0.0, best: 0, least: 1.0, scale: 1.0, room: 0.0 }
    }

    /// How much dearer a rule is to them than their best one.
    pub(super) fn regret(&self, rule: &[f64]) -> f64 {
        (dot(&self.weights, rule) - self.least) / self.scale
    }

    /// Somebody with these weights, whose best rule costs so much.
    #[cfg(test)]
    pub(super) fn deciding(weights: [f64; 2], best: usize, least: f64) -> Self {
        let logs = weights.iter().map(|w| w.ln()).collect();
        Self { best, least, scale: least, ..Self::new(logs, None, NoiseModel::Exact) }
    }

    /// Anybody.
    pub(in crate::engine) fn draw(prior: &Prior, dimension: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let logs = prior.logs(dimension, random);
        let erring = Erring::draw(prior, random);
        Self::new(logs, Some(erring), erring.model())
    }
}

/// What an answer is about: by how much the first point is better in each kind that differs.
#[derive(Debug, Clone)]
pub struct Said {
    parts: Vec<(usize, f64)>,
    /// Of two kinds, one better and one worse: those, and the logarithm of the ratio of their parts.
    trade: Option<([usize; 2], f64)>,
    preference: Preference,
}

impl Said {
    /// What somebody said about two points of a setting.
    pub(in crate::engine) fn about(setting: &dyn Setting, query: &Query, preference: Preference) -> Self {
        let [first, second] = [&query.first, &query.second].map(|point| setting.kinds_of(point));
        let parts = plus(&second, -1.0, &first).into_iter().enumerate();
        let parts: Vec<(usize, f64)> = parts.filter(|(_, part)| part.abs() > 1e-12).collect();
        let trade = match parts[..] {
            [(i, gain), (j, loss)] if gain > 0.0 && loss < 0.0 => Some(([i, j], (gain / -loss).ln())),
            [(i, loss), (j, gain)] if gain > 0.0 && loss < 0.0 => Some(([j, i], (gain / -loss).ln())),
            _ => None,
        };
        Self { parts, trade, preference }
    }

    fn gap(&self, person: &Person, unit: f64) -> Gap {
        let parts = self.parts.iter().map(|(kind, part)| person.weights[*kind] * part);
        let ahead = parts.clone().sum::<f64>() / (person.length * unit);
        match self.trade {
            // The logarithms of weights are at hand: nothing takes longer here than a logarithm.
            Some(([i, j], log_parts)) => {
                Gap { ahead, log_ratio: person.logs[i] - person.logs[j] + log_parts }
            }
            None => Gap::new(ahead, parts),
        }
    }

    /// The logarithm of how likely the person says it.
    pub(in crate::engine) fn fit(&self, person: &Person, unit: f64, hesitates: bool) -> f64 {
        self.chance(person.noise, self.gap(person, unit), hesitates).ln()
    }

    /// How likely anybody says it to whom the points are so far apart.
    fn chance(&self, noise: NoiseModel, gap: Gap, hesitates: bool) -> f64 {
        let Chances { first, second, cannot_tell } = noise.chances(gap, hesitates);
        let chance = match self.preference {
            Preference::First => first,
            Preference::Second => second,
            Preference::CannotTell => cannot_tell,
        };
        chance.max(LEAST_CHANCE)
    }
}

/// A crowd of people who could have given the answers.
#[derive(Debug, Clone)]
pub struct LogWeights {
    pub(super) setting: Arc<dyn Setting>,
    /// The places of the rules that are still in play.
    in_play: Vec<usize>,
    noise: NoiseModel,
    prior: Prior,
    pub(super) unit: f64,
    seed: u64,
    people: Vec<Person>,
    said: Vec<Said>,
    hesitates: bool,
    answered: Vec<Answered>,
    /// By how much likelier the answers were found, one after the other, than tosses of a coin: the logarithm.
    evidence: f64,
}

impl LogWeights {
    /// Everybody, before the first answer.
    pub fn new(setting: Arc<dyn Setting>, noise: NoiseModel, seed: u64) -> Self {
        Self::among(Prior::people(), setting, noise, seed)
    }

    /// The same, of people like these.
    pub fn among(prior: Prior, setting: Arc<dyn Setting>, noise: NoiseModel, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
        let person = |_| match noise {
            NoiseModel::Unknown => Person::draw(&prior, setting.dimension(), &mut random),
            known => Person::new(prior.logs(setting.dimension(), &mut random), None, known),
        };
        let people = (0..PEOPLE).map(person).collect();
        let (unit, in_play) = (setting.unit(), vec![]);
        let (said, answered, hesitates, evidence) = (vec![], vec![], false, 0.0);
        let mut made =
            Self { setting, in_play, noise, prior, unit, seed, people, said, hesitates, answered, evidence };
        made.find_least();
        made
    }

    /// What somebody said about two points.
    pub fn said(&self, query: &Query, preference: Preference) -> Said {
        Said::about(self.setting.as_ref(), query, preference)
    }

    /// How likely somebody gives all the answers.
    fn fit(&self, person: &Person) -> f64 {
        self.said.iter().map(|said| said.fit(person, self.unit, self.hesitates)).sum()
    }

    /// Which rules are in play, what everybody's best one costs them, and what is a lot to them.
    fn find_least(&mut self) {
        self.in_play = self.setting.in_play(&self.people);
        let rules = self.setting.rules();
        // Kind by kind, so that the processor adds up several rules at a time.
        let kinds: Vec<Vec<f64>> = (0..self.setting.dimension())
            .map(|kind| self.in_play.iter().map(|&n| rules[n][kind]).collect())
            .collect();
        let mut costs = vec![0.0; self.in_play.len()];
        for person in &mut self.people {
            costs.fill(0.0);
            for (weight, rates) in person.weights.iter().zip(&kinds) {
                costs.iter_mut().zip(rates).for_each(|(cost, rate)| *cost += weight * rate);
            }
            let start = (0, f64::INFINITY, 0.0_f64);
            let costs = self.in_play.iter().copied().zip(costs.iter().copied());
            let (best, least, most) = costs.fold(start, |(best, least, most), (n, cost)| {
                let (best, least) = if cost < least { (n, cost) } else { (best, least) };
                (best, least, most.max(cost))
            });
            let [least, scale] = self.setting.stake(least, most);
            (person.best, person.least, person.scale) = (best, least, scale);
            person.room = self.setting.room(&person.weights);
        }
    }

    fn hear(&mut self, query: &Query, answer: &Answer) {
        self.evidence += super::evidence(self, query, answer);
        let said = self.said(answer.shown.as_ref().unwrap_or(query), answer.preference);
        let hesitates_now = answer.preference == Preference::CannotTell && !self.hesitates;
        self.hesitates |= hesitates_now;
        self.said.push(said);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(
            self.seed ^ (self.said.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        );
        let fits: Vec<f64> = match (&self.said[..], hesitates_now) {
            // Whoever hesitates once is read as somebody who hesitates.
            (_, true) => self.people.iter().map(|person| self.fit(person)).collect(),
            ([.., last], _) => {
                self.people.iter().map(|p| p.fit + last.fit(p, self.unit, self.hesitates)).collect()
            }
            ([], _) => return,
        };
        self.thin_out(fits, &mut random);
        let mut gaps: Vec<Vec<Gap>> = self.people.iter().map(|person| self.gaps(person)).collect();
        for _ in 0..STEPS {
            self.step(&mut gaps, &mut random);
        }
        self.find_least();
    }

    /// Keeps people as often as the answer makes them likelier: systematic resampling.
    fn thin_out(&mut self, fits: Vec<f64>, random: &mut Xoshiro256PlusPlus) {
        let gains: Vec<f64> = self.people.iter().zip(&fits).map(|(person, fit)| fit - person.fit).collect();
        let top = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = gains.iter().map(|gain| (gain - top).exp()).collect();
        let every = weights.iter().sum::<f64>() / PEOPLE as f64;
        let (mut at, mut below) = (every * random.random::<f64>(), 0.0);
        let mut kept = Vec::with_capacity(PEOPLE);
        for ((person, fit), weight) in self.people.iter().zip(fits).zip(weights) {
            below += weight;
            while at < below && kept.len() < PEOPLE {
                kept.push(Person { fit, ..person.clone() });
                at += every;
            }
        }
        // Rounding may leave the last place empty.
        while let (true, Some(last)) = (kept.len() < PEOPLE, kept.last().cloned()) {
            kept.push(last);
        }
        self.people = kept;
    }

    /// How far apart the points of every answer are to somebody.
    fn gaps(&self, person: &Person) -> Vec<Gap> {
        self.said.iter().map(|said| said.gap(person, self.unit)).collect()
    }

    /// The logarithm of how likely somebody gives all the answers; `None` if that is clear to be less than `least` before the
    /// last of them: every answer makes it less.
    fn fit_above(
        &self,
        least: f64,
        noise: NoiseModel,
        mut gap: impl FnMut(usize, &Said) -> Gap,
    ) -> Option<f64> {
        let (mut sum, mut product, mut bar) = (0.0, 1.0, (least - CLEARLY).exp());
        for (n, said) in self.said.iter().enumerate() {
            product *= said.chance(noise, gap(n, said), self.hesitates);
            if product < bar {
                return None;
            }
            if product < TINY {
                (sum, product, bar) = (sum + product.ln(), 1.0, 0.0);
            }
        }
        Some(sum + product.ln())
    }

    /// Everybody takes a step in their weights, and one in how they err. `gaps` are those of everybody, before and after.
    fn step(&mut self, gaps: &mut [Vec<Gap>], random: &mut Xoshiro256PlusPlus) {
        let d = self.people[0].logs.len();
        let usual = 2.38 / (2.0 * d as f64).sqrt();
        for n in 0..PEOPLE {
            let [a, b] = [0, 1].map(|_| random.random_range(0..PEOPLE));
            let length = if random.random_bool(0.1) { 1.0 } else { usual * random.random_range(0.5..1.2) };
            let [person, a, b] = [n, a, b].map(|n| &self.people[n]);
            let logs = (0..d).map(|k| {
                let jitter: f64 = StandardNormal.sample(random);
                person.logs[k] + length * (a.logs[k] - b.logs[k]) + 0.01 * jitter
            });
            let mut moved = Person::new(logs.collect(), person.erring, person.noise);
            let [likely, was_likely] = [&moved, person].map(|person| self.prior.of_weights(person));
            let least = random.random::<f64>().ln() - likely + person.fit + was_likely;
            let mut moved_gaps = Vec::with_capacity(self.said.len());
            let gap = |_, said: &Said| {
                let gap = said.gap(&moved, self.unit);
                moved_gaps.push(gap);
                gap
            };
            if let Some(fit) = self.fit_above(least, moved.noise, gap).filter(|fit| *fit > least) {
                moved.fit = fit;
                (self.people[n], gaps[n]) = (moved, moved_gaps);
            }
            let person = &self.people[n];
            let Some(erring) = person.erring else { continue };
            let (proposed, likelier) = erring.near(&self.prior, random);
            let (noise, least) = (proposed.model(), random.random::<f64>().ln() + person.fit - likelier);
            let fit = self.fit_above(least, noise, |answer, _| gaps[n][answer]);
            if let Some(fit) = fit.filter(|fit| *fit > least) {
                let person = &mut self.people[n];
                (person.erring, person.noise, person.fit) = (Some(proposed), noise, fit);
            }
        }
    }

    /// The weights whose best rule is regretted least: those of the crowd, each in units of what is a lot to them.
    fn estimate(&self) -> Vec<f64> {
        let zero = vec![0.0; self.people[0].weights.len()];
        let sum =
            self.people.iter().fold(zero, |sum, person| plus(&sum, 1.0 / person.scale, &person.weights));
        scaled(&sum, 1.0 / PEOPLE as f64)
    }

    /// The rule that costs least for some weights, and what.
    fn cheapest(&self, weights: &[f64]) -> (usize, f64) {
        let rules = self.setting.rules();
        let costs = self.in_play.iter().map(|&n| (n, dot(weights, &rules[n])));
        costs.fold((0, f64::INFINITY), |best, other| if other.1 < best.1 { other } else { best })
    }

    /// What everybody's best rule costs them on average, each in units of what is a lot to them.
    fn unavoidable(&self) -> f64 {
        self.people.iter().map(|person| person.least / person.scale).sum::<f64>() / PEOPLE as f64
    }

    /// What a question is worth: the share of what people regret who are taken for each other that it is expected to save, and a
    /// little for what it tells of the weights.
    fn worth(&self, query: &Query, people: &[&Person], mistaken: &Mistaken) -> f64 {
        let said = self.said(query, Preference::First);
        let first = |person: &&Person| person.noise.chances(said.gap(person, self.unit), false).first;
        let firsts: Vec<f64> = people.iter().map(first).collect();
        let share = 1.0 / firsts.len() as f64;
        let doubt: f64 = firsts.iter().map(|chance| entropy(*chance)).sum();
        let bits = entropy(share * firsts.iter().sum::<f64>()) - share * doubt;
        mistaken.saved(&firsts) + WORTH_OF_A_BIT * bits
    }

    /// How much likelier the answers are, on average, from the crowd with one weight moved than from anybody: it is the prior's
    /// people who are moved, since each is weighed by how likely they gave the answers before.
    fn likelier_with(&self, kind: usize, by: f64) -> f64 {
        let people = self.people.iter().step_by(EVERY);
        let count = people.len() as f64;
        let factor = |person: &Person| {
            let mut logs = person.logs.clone();
            logs[kind] += by;
            (self.fit(&Person::new(logs, person.erring, person.noise)) - person.fit).exp()
        };
        people.map(factor).sum::<f64>() / count
    }

    /// The share of the crowd that likes the first point better, lapses aside.
    fn agrees(&self, said: &Said) -> f64 {
        let likes = |person: &&Person| said.gap(person, self.unit).ahead > 0.0;
        self.people.iter().filter(likes).count() as f64 / PEOPLE as f64
    }
}

impl Belief for LogWeights {
    fn answered(&self) -> &[Answered] {
        &self.answered
    }

    fn take(&mut self, query: &Query, answer: &Answer) {
        self.hear(query, answer);
        let Answer { preference, shown } = answer.clone();
        self.answered.push(Answered { query: query.clone(), preference, shown });
    }

    // A pair in which one is worse throughout tells how a person errs and nothing else; a repeat is one more answer.
    fn take_check(&mut self, query: &Query, answer: &Answer) {
        self.hear(query, answer);
    }

    fn questions(&self, seed: u64) -> Box<dyn Iterator<Item = Query> + '_> {
        let people: Vec<&Person> = self.people.iter().step_by(CONSULTED).collect();
        let mistaken = Mistaken::new(&people, self.setting.rules());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ self.said.len() as u64);
        let asked = |query: &Query| self.answered.iter().any(|asked| asked.query.is_same_pair(query, SAME));
        let mut scored: Vec<(f64, Query)> = (self.setting)
            .questions(&self.people, self.said.len(), &mut random)
            .into_iter()
            .filter(|query| !asked(query))
            .map(|query| (self.worth(&query, &people, &mistaken), query))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        Box::new(scored.into_iter().map(|(_, query)| query))
    }

    fn bits(&self, query: &Query) -> f64 {
        let said = self.said(query, Preference::First);
        let chances = self.people.iter().map(|p| p.noise.chances(said.gap(p, self.unit), false).first);
        let (first, doubt) = chances.fold((0.0, 0.0), |(first, doubt), c| (first + c, doubt + entropy(c)));
        (entropy(first / PEOPLE as f64) - doubt / PEOPLE as f64).max(0.0)
    }

    fn chance_of_first(&self, query: &Query) -> f64 {
        let said = self.said(query, Preference::First);
        let chance = |p: &Person| p.noise.chances(said.gap(p, self.unit), false).first;
        self.people.iter().map(chance).sum::<f64>() / PEOPLE as f64
    }

    fn unconfirmed(&self) -> Option<Query> {
        let estimate = self.estimate();
        let against = self.setting.held_against(self.cheapest(&estimate).0, &estimate);
        let asked = |query: &Query| self.answered.iter().any(|asked| asked.query.is_same_pair(query, SAME));
        if against.iter().any(asked) { None } else { against.into_iter().next() }
    }

    fn width(&self) -> Width {
        let estimate = self.estimate();
        let mut angles: Vec<f64> =
            self.people.iter().map(|person| angle(&person.weights, &estimate)).collect();
        angles.sort_by(f64::total_cmp);
        Width::Angle(angles[PEOPLE * 95 / 100])
    }

    fn metric(&self) -> Metric {
        let estimate = self.estimate();
        let metric = self.setting.metric(&estimate);
        let own = metric.coefficients();
        let size = dot(&own, &own).sqrt();
        let drawn: Vec<Vec<f64>> =
            (self.people.iter()).map(|person| scaled(&person.weights, size / person.length)).collect();
        let share = 1.0 / PEOPLE as f64;
        let mean = drawn.iter().fold(vec![0.0; own.len()], |sum, w| plus(&sum, share, w));
        let covariance = |i: usize, j: usize| -> f64 {
            share * drawn.iter().map(|w| (w[i] - mean[i]) * (w[j] - mean[j])).sum::<f64>()
        };
        let rows = (0..own.len())
            .map(|i| (0..own.len()).map(|j| covariance(i.min(j), i.max(j))).collect())
            .collect();
        let posterior = Posterior::new(mean, rows).map(Posterior::with_known_signs);
        posterior.and_then(|posterior| metric.clone().with_posterior(posterior)).unwrap_or(metric)
    }

    fn draws(&self, count: usize) -> Vec<Metric> {
        let at = |n: usize| &self.people[n * PEOPLE / count % PEOPLE];
        (0..count).map(|n| self.setting.metric(&at(n).weights)).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let stands_out = |n: &usize| {
            let Answered { query, preference, shown } = &self.answered[*n];
            let said = self.said(shown.as_ref().unwrap_or(query), *preference);
            let agree = self.agrees(&said);
            match preference {
                Preference::First => agree < STANDS_OUT,
                Preference::Second => agree > 1.0 - STANDS_OUT,
                Preference::CannotTell => false,
            }
        };
        contradicted((0..self.answered.len()).filter(stands_out)).into_iter().collect()
    }

    fn noise(&self) -> Option<NoiseModel> {
        let erring: Vec<Erring> = self.people.iter().filter_map(|person| person.erring).collect();
        let by_ratio = 2 * erring.iter().filter(|e| e.by_ratio).count() > erring.len();
        let alike: Vec<&Erring> = erring.iter().filter(|e| e.by_ratio == by_ratio).collect();
        let mean = |of: fn(&Erring) -> f64| alike.iter().map(|e| of(e)).sum::<f64>() / alike.len() as f64;
        let typical =
            Erring { by_ratio, log_slope: mean(|e| e.log_slope), slips: mean(|e| e.slips * e.slips).sqrt() };
        (self.noise == NoiseModel::Unknown).then(|| typical.model())
    }

    fn regret(&self) -> Option<Regret> {
        let (rule, cost) = self.cheapest(&self.estimate());
        let rule = &self.setting.rules()[rule];
        let mut regrets: Vec<f64> = self.people.iter().map(|person| person.regret(rule)).collect();
        regrets.sort_by(f64::total_cmp);
        Some(Regret::new(cost - self.unavoidable(), regrets[PEOPLE * 95 / 100]))
    }

    fn decision(&self, _seed: u64) -> Option<Decision> {
        // What is named is what is regretted least, also where something else is the best more often.
        let best = self.setting.has_names().then(|| self.cheapest(&self.estimate()).0)?;
        let votes = self.people.iter().filter(|person| person.best == best).count();
        Some(Decision { best, probability: votes as f64 / PEOPLE as f64 })
    }

    fn evidence(&self) -> f64 {
        self.evidence
    }

    fn leaves_open(&self, graver: usize, other: usize) -> bool {
        self.likelier_with(graver, BEYOND) > LIFTED || self.likelier_with(other, -BEYOND) > LOWERED
    }

    fn beyond(&self) -> Option<usize> {
        let estimate = self.estimate();
        let gravest = (0..estimate.len()).max_by(|&a, &b| estimate[a].total_cmp(&estimate[b]))?;
        (self.likelier_with(gravest, BEYOND) > CLEARLY_BEYOND).then_some(gravest)
    }

    fn probe(&self, heard: usize, seed: u64) -> Option<Query> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, 1000 + heard as u64));
        let found =
            (0..CANDIDATES).filter_map(|_| self.setting.foreseen(&self.people, &mut random)).map(|query| {
                let first = self.chance_of_first(&query);
                ((first.max(1.0 - first) - FORESEEN).abs(), query)
            });
        found.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, query)| query)
    }

    fn boxed(&self) -> Box<dyn Belief> {
        Box::new(self.clone())
    }
}
