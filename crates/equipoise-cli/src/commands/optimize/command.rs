//! A metric that is another program: it prints a number, or says which of two sets of predictions is better.

use super::{Done, METHOD, Report, Tables, Tried, Values, best_of, group_parts, probing, simpler};
use crate::args::Optimize;
use crate::fault::Fault;
use crate::metric_command::{CommandFault, MetricCommand, PreferenceCommand};
use anyhow::Result;
use equipoise::decide::optimize::{
    Failure, FrankWolfe, Guide as _, Labels, Probing, Problem, Stopped, baselines, direct_search,
};
use equipoise::population::{Basis, Classifier};
use std::time::Duration;

/// Values of a weight the baselines try, and of the metric that a direct search may ask for: calls take their time.
const FEW_CANDIDATES: usize = 15;
const FEW_VALUES: usize = 100;
/// Classifiers that are put in order by comparisons: with two classes, and with more.
const COMPARED: usize = 60;
const COMPARED_OF_MANY: usize = 120;

fn time_limit(args: &Optimize) -> Duration {
    Duration::from_secs_f64(args.time_limit.min(1e6))
}

/// A metric that is another program. It judges validation rows only.
pub(super) fn by_command(
    args: &Optimize,
    plan: &FrankWolfe,
    tables: &Tables,
    units: Vec<Vec<Basis>>,
    (command, seed): (&str, u64),
    mut notes: Vec<String>,
) -> Result<Done> {
    let problem = Problem::new(tables.train, &tables.validation, units.concat())?;
    plan.check(&problem)?;
    let labels = if args.labels == "hard" { Labels::Hard { draws: 10 } } else { Labels::Soft };
    let command = MetricCommand::new(command.to_owned(), labels, time_limit(args));
    let mut probing = probing(command, args)?.seed(seed);
    notes.push("the metric command judges validation rows only, so other tables have no values".to_owned());
    let (outcome, mut stopped) = match plan.run(&problem, &mut probing) {
        Ok(outcome) => (outcome, None),
        Err(Stopped { failure, iteration, partial }) => {
            (*partial, Some(sentence(&format!("iteration {iteration}, "), &failure)))
        }
    };
    notes.extend(outcome.notes.iter().cloned());
    let mut value = |classifier: &Classifier, stopped: &mut Option<String>, about: &str| -> Result<Values> {
        let mut validation = None;
        if stopped.is_none() {
            let labels = classifier.predict(tables.validation.scores())?;
            match probing.value(&problem.predictions(&labels), about) {
                Ok(found) => validation = Some(found),
                Err(failure) => *stopped = Some(sentence("", &failure)),
            }
        }
        Ok(Values { train: None, validation, test: None })
    };
    let after = value(&outcome.classifier, &mut stopped, "the result")?;
    let before = value(&baselines::most_likely(problem.classes()), &mut stopped, "the most likely classes")?;
    let asked = probing.queries();
    let mut tried = vec![Tried { name: METHOD, values: after, classifier: outcome.classifier }];
    if !args.no_baselines && stopped.is_none() {
        let parts = group_parts(args, &problem);
        let few = (FEW_CANDIDATES, FEW_VALUES);
        for (name, found) in simpler(&problem, &mut probing, few, &parts, args.per_group) {
            let classifier = match found {
                Ok(classifier) => classifier,
                Err(failure) => {
                    stopped.get_or_insert(sentence("baselines, ", &failure));
                    continue;
                }
            };
            let labels = classifier.predict(tables.validation.scores())?;
            let validation = probing.value(&problem.predictions(&labels), &format!("baseline {name}"));
            let values = Values { train: None, validation: validation.ok(), test: None };
            tried.push(Tried { name, values, classifier });
        }
        notes.push(format!("the baselines asked {} more times", probing.queries() - asked));
    }
    notes.extend(stopped.iter().map(|sentence| format!("stopped early: {sentence}")));
    let (best, baselines) = best_of(tried, args.per_group, 1.0, &mut notes)?;
    let method = best.name.to_owned();
    let (unknowns, rank) = (outcome.unknowns, outcome.rank);
    let better = Some("larger is better");
    let report =
        Report { value: best.values, before, method, baselines, queries: asked, rank, better, notes };
    Ok(Done { report, classifier: best.classifier, unknowns, stopped })
}

fn sentence<T: std::fmt::Display>(before: &str, failure: &Failure<CommandFault, T>) -> String {
    format!("{before}{failure}")
}

/// A program that can only compare: classifiers are put in its order, and the best is written.
///
/// A direct search looks at the order of values and at nothing else, so an order is all it needs.
pub(super) fn by_preference(
    args: &Optimize,
    tables: &Tables,
    command: &str,
    mut notes: Vec<String>,
) -> Result<Done> {
    let problem = Problem::new(tables.train, &tables.validation, vec![Basis::All])?;
    let parts = if args.per_group { group_parts(args, &problem) } else { vec![] };
    let mut judge = Probing::new(PreferenceCommand::new(command.to_owned(), time_limit(args)));
    let most = if problem.classes() == 2 { COMPARED } else { COMPARED_OF_MANY } * parts.len().max(1);
    let classifier = direct_search(&problem, &mut judge, most, &parts)
        .map_err(|failure| Fault::input_output(format!("{}; nothing was written", sentence("", &failure))))?;
    let none = Values { train: None, validation: None, test: None };
    notes.push("the preference command only compares, so no table has values".to_owned());
    notes.push(format!(
        "{} classifiers were put in its order; what was written is the best of them, the model as it is included",
        judge.queries()
    ));
    let weights = classifier.mean_weights().len();
    let report = Report {
        value: none,
        before: none,
        method: "direct".to_owned(),
        baselines: serde_json::Map::new(),
        queries: judge.judge().calls(),
        rank: weights,
        better: None,
        notes,
    };
    Ok(Done { report, classifier, unknowns: weights, stopped: None })
}
