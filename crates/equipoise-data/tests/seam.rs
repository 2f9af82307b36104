//! A second population, as a cluster would be one: rows split over three parts, each counting its own, and any question may
//! go unanswered. Whatever is asked of a table must come to the same bits here, and whatever goes wrong must come out.

use equipoise::Metric;
use equipoise::decide::nearest;
use equipoise::decide::optimize::{Cause, FrankWolfe, Problem};
use equipoise::decide::threshold::{Bootstrap, Requirement, rewards, tune};
use equipoise::population::{
    Ask, AskError, Basis, Cell, Classifier, Confusions, Moments, Population, PostShift, Profile, Rule, Score,
    Totals, accepts, largest, resampling,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise_data::{Boundary, Groups, Reliability, Sample, Smooth, Table, space_for};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell as Counter;

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a part is down")]
struct Down;

struct Parts<'a> {
    table: &'a Table,
    /// Where each part ends.
    ends: [usize; 3],
    prevalence: Prevalence,
    /// Questions answered so far, and how many there will be answers to.
    asked: Counter<usize>,
    answers: usize,
}

impl<'a> Parts<'a> {
    fn new(table: &'a Table, answers: usize) -> Self {
        let (n, prevalence) = (table.rows(), table.totals().prevalence().unwrap());
        Self { table, ends: [n / 5, n / 2, n], prevalence, asked: Counter::new(0), answers }
    }

    fn ask(&self) -> Result<(), Down> {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() > self.answers { Err(Down) } else { Ok(()) }
    }

    fn parts(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        [0, self.ends[0], self.ends[1]].into_iter().zip(self.ends).map(|(start, end)| start..end)
    }

    fn says(&self, rule: &Rule, row: usize) -> usize {
        let group = self.table.group(row);
        let posterior: Vec<f64> =
            (0..self.classes()).map(|class| self.table.probabilities(class)[row]).collect();
        match rule {
            Rule::PostShift(rule) => rule.predict(&posterior, group),
            Rule::Threshold(at) => {
                usize::from(accepts(posterior[1], at[if at.len() == 1 { 0 } else { group }]))
            }
            Rule::Labels(model) => {
                let of_model = self.table.labels().iter().find(|(name, _)| name == model);
                usize::from(of_model.unwrap().1[row])
            }
            Rule::Classifier(classifier) => {
                let (phi, mut votes) = (self.phi(classifier.bases(), row), vec![0.0; posterior.len()]);
                classifier.rules().iter().for_each(|(share, rule)| votes[rule.at(&phi, &posterior)] += share);
                largest(votes)
            }
        }
    }

    /// What bases are on a row.
    fn phi(&self, bases: &[Basis], row: usize) -> Vec<f64> {
        let value = |basis: &Basis| match basis {
            Basis::All => 1.0,
            Basis::Column { column } => {
                self.table.columns().iter().find(|(name, _)| name == column).unwrap().1[row]
            }
            other => panic!("a toy does not know {other:?}"),
        };
        bases.iter().map(value).collect()
    }

    /// The counts of the parts, added, over a total of all counts.
    fn counted(&self, rule: &Rule, times: impl Fn(usize) -> f64) -> GroupConfusions {
        let k = self.classes();
        let mut counts = vec![0.0; self.groups() * k * k];
        for part in self.parts() {
            let mut own = vec![0.0; counts.len()];
            for row in part {
                let truth = usize::from(self.table.truth()[row]);
                own[(self.table.group(row) * k + truth) * k + self.says(rule, row)] += times(row);
            }
            counts.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
        }
        let total: f64 = counts.iter().sum();
        let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
        GroupConfusions::new(k, counts.chunks(k * k).map(share).collect()).unwrap()
    }
}

impl Confusions for Parts<'_> {
    type Err = Down;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Down> {
        self.ask()?;
        Ok(rules.iter().map(|rule| self.counted(rule, |_| 1.0)).collect())
    }
}

impl Population for Parts<'_> {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals, Down> {
        self.ask()?;
        let mut totals = Totals::new(self.classes(), self.groups(), false);
        for row in self.parts().flatten() {
            totals.cells[self.table.group(row)][usize::from(self.table.truth()[row])].add(1.0);
        }
        Ok(totals)
    }

    fn score_profile(&self, score: Score) -> Result<Profile, Down> {
        self.ask()?;
        let mut cells = vec![];
        for part in self.parts() {
            let cell = |row: usize| {
                let probability = |class: usize| self.table.probabilities(class)[row];
                let (score, positive) = score.of(usize::from(self.table.truth()[row]), probability)?;
                Some(Cell { score, weight: 1.0, rows: 1, group: self.table.group(row) as u16, positive })
            };
            // Each part sends a profile of its own.
            cells
                .extend_from_slice(Profile::new(part.filter_map(cell).collect(), self.groups(), 0.0).cells());
        }
        Ok(Profile::new(cells, self.groups(), self.table.rows() as f64))
    }

    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>, Down> {
        self.ask()?;
        let draw = |draw: u64| {
            let times = resampling(seed, draw, 0);
            rules.iter().map(|rule| self.counted(rule, |row| times(row as u64))).collect()
        };
        Ok((0..draws as u64).map(draw).collect())
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Down>, AskError<Down>> {
        let (bases, k) = (bases.to_vec(), self.classes());
        Ok(Box::new(move |rules| {
            self.ask()?;
            let mut sums = vec![Moments::new(bases.len(), k); rules.len()];
            for row in self.parts().flatten() {
                let phi = self.phi(&bases, row);
                let posterior: Vec<f64> = (0..k).map(|class| self.table.probabilities(class)[row]).collect();
                let members: Vec<(usize, f64)> =
                    phi.iter().copied().enumerate().filter(|(_, phi)| *phi != 0.0).collect();
                for (sum, rule) in sums.iter_mut().zip(rules) {
                    let entry = usize::from(self.table.truth()[row]) * k + rule.at(&phi, &posterior);
                    sum.add(&members, entry, 1.0);
                }
            }
            sums.iter_mut().for_each(|sum| sum.finish(self.table.rows() as f64));
            Ok(sums)
        }))
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>, Down> {
        self.ask()?;
        Ok(Sample::new(self.table.subsample(rows, seed)).unwrap())
    }
}

/// Rows on a coarse grid, so that ties abound, in two groups that both have every class.
fn table(k: usize, rows: usize) -> Table {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(k as u64);
    let names = |n: usize| (0..n).map(|n| n.to_string()).collect::<Vec<_>>();
    let (mut truth, mut columns) = (vec![], vec![vec![]; k]);
    for row in 0..rows {
        let class = row % k;
        let size = |i: usize| f64::from(random.random_range(1..20_u32) + if i == class { 12 } else { 0 });
        let sizes: Vec<f64> = (0..k).map(size).collect();
        let total: f64 = sizes.iter().sum();
        truth.push(class as u8);
        columns.iter_mut().zip(sizes).for_each(|(column, size)| column.push(size / total));
    }
    let codes = (0..rows).map(|row| u16::from(row % 7 < 3)).collect();
    let table = Table::new(names(k), truth, columns).unwrap().data;
    let table = table.with_column("flag", (0..rows).map(|row| f64::from(row % 3 == 0)).collect()).unwrap();
    let table = table.with_labels("other", (0..rows).map(|row| (row * row % k) as u8).collect()).unwrap();
    table.with_groups(Groups::new(names(2), codes).unwrap()).unwrap()
}

/// A classifier for a metric that can only be asked for slopes, by the moments of the population.
fn optimised<P: Population>(population: &P) -> Result<Classifier, AskError<P::Err>> {
    let k = population.classes();
    let validation = Sample::new(table(k, 120)).unwrap();
    let rows = validation.rows()?;
    let problem = Problem::new(population, &rows, vec![Basis::All, Basis::column("flag")])?;
    let plan = FrankWolfe::default().iterations(4)?;
    plan.check(&problem)?;
    let found =
        plan.run(&problem, &mut Metric::g_mean(k)?).map_err(|stopped| match stopped.failure.cause {
            Cause::Training(error) => AskError::Population(error),
            _ => panic!("the metric has a value and a gradient everywhere"),
        })?;
    assert_ne!(found.classifier.predict(rows.scores())?, vec![0; rows.len()]);
    Ok(found.classifier)
}

/// Everything that is asked of data, as text with every digit.
fn all<P: Population>(population: &P) -> Result<Vec<String>, AskError<P::Err>> {
    let k = population.classes();
    let mut said = vec![format!("{:?}", population.totals().map_err(AskError::Population)?)];
    let mut families = vec!["linear", "diagonal_linear", "group_fair"];
    families.extend((k == 2).then_some("quadratic"));
    for family in families {
        said.push(format!("{:?}", space_for(population, family)?));
    }
    let profile = population.score_profile(Score::Class(1)).map_err(AskError::Population)?;
    said.push(format!("{:?}", Reliability::new(&profile, 10)));
    let boundary = Boundary::of(population, 0, k - 1).map_err(AskError::Population)?;
    said.push(format!("{:?}", boundary.hull()?));
    let metric = Metric::weighted_accuracy((0..k).map(|class| 1.0 + class as f64).collect())?;
    let start = rewards(&metric, population.prevalence().class_priors())?;
    let names: Vec<String> = (0..k).map(|class| class.to_string()).collect();
    let needed = [Requirement::parse("recall:0>=0.7", &names, &[])?];
    said.push(format!("{:?}", tune(population, &start, &metric, &needed)?));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    said.push(format!("{:?}", nearest::achievable(population, 20, &mut random)?));
    let mut rules = vec![Rule::most_likely(k)?, PostShift::new(k, vec![0.0; k * k])?.into()];
    if k == 2 {
        rules.extend([Rule::Threshold(vec![0.5]), Rule::Threshold(vec![0.3, 0.6])]);
        said.push(format!("{:?}", Smooth::fit(population)?));
        let doubt = Bootstrap { resamples: 20, seed: 5, ..Bootstrap::default() };
        said.push(format!("{:?}", profile.advise(&metric, &needed, doubt)?));
        said.push(format!("{:?}", profile.advise_per_group(&metric, &[], doubt)?));
        said.push(format!("{:?}", profile.decision_curve(&[0.1, 0.5])?));
    }
    rules.push(Rule::Labels("other".to_owned()));
    rules.push(Rule::Classifier(Box::new(optimised(population)?)));
    said.push(format!("{:?}", population.confusions(&rules).map_err(AskError::Population)?));
    said.push(format!("{:?}", population.resampled(&rules, 7, 5).map_err(AskError::Population)?));
    let part = population.sample(60, 2).map_err(AskError::Population)?;
    said.push(format!("{:?}", part.shifted(&[start])));
    Ok(said)
}

#[test]
fn rows_in_parts_come_to_the_same_bits_as_rows_in_one() {
    for k in [2, 3] {
        let table = table(k, 210);
        let one = all(&Sample::new(&table).unwrap()).unwrap();
        let parts = Parts::new(&table, usize::MAX);
        for (one, parts) in one.iter().zip(all(&parts).unwrap()) {
            assert_eq!(*one, parts);
        }
    }
}

#[test]
fn a_question_that_goes_unanswered_ends_every_search() {
    let table = table(2, 90);
    let whole = Parts::new(&table, usize::MAX);
    all(&whole).unwrap();
    let asked = whole.asked.get();
    for answers in (0..asked).step_by(7).chain([asked - 1]) {
        let broken = Parts::new(&table, answers);
        assert_eq!(all(&broken).unwrap_err(), AskError::Population(Down), "after {answers} of {asked}");
        assert_eq!(broken.asked.get(), answers + 1, "nobody asks again");
    }
    assert!(all(&Parts::new(&table, asked)).is_ok());
}
