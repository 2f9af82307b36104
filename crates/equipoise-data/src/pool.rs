//! What can be made of classifiers that are known by their confusion matrices alone.

use crate::confusions::ModelConfusions;
use crate::error::name;
use equipoise::Error;
use equipoise::population::{Confusions, PostShift};
use equipoise::rates::{GroupConfusions, GroupShares, Prevalence};
use std::convert::Infallible;

/// Models measured on the same rows, as a population.
///
/// Nobody sees the rows any more, but a classifier may still run one of the models, look at what it says, and say
/// something else instead; in each group another model, and other words. A draw between such classifiers is one too.
/// All of these are real: a question about them shows what the models can do. They are not all that the rows would
/// allow.
///
/// For a rule, the pool takes in each group the model that earns the most when its labels are replaced by what the
/// rule predicts from $P(Y=i \mid h=j)$.
///
/// ```
/// use equipoise::{Measure, space::Achievable};
/// use equipoise_data::{Pool, read};
/// # let path = std::env::temp_dir().join(format!("equipoise-pool-{}.csv", std::process::id()));
/// std::fs::write(&path, "model,truth,estimate,count\n\
///     bold,no,no,5\nbold,no,yes,5\nbold,yes,yes,10\ntimid,no,no,10\ntimid,yes,no,5\ntimid,yes,yes,5\n")?;
/// let pool = Pool::new(&read::confusions(&path)?.data)?;
/// let Ok(radius) = Achievable::new(&pool, Measure::OffDiagonalRates)?.radius(); // every point of this ball can be shown
/// assert!((radius - 0.125_f64.sqrt()).abs() < 1e-9);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool {
    prevalence: Prevalence,
    /// `matrices[group][model]`: joint probabilities, row-major.
    matrices: Vec<Vec<Vec<f64>>>,
}

impl Pool {
    /// Models that agree on how many rows of each class there are in each group.
    pub fn new(models: &[ModelConfusions]) -> equipoise::Result<Self> {
        let Some(first) = models.first() else {
            return Err(Error::Mismatch("the pool has no models, expected at least 1".to_owned()));
        };
        for model in models {
            same_rows(first, model)?;
        }
        let (k, groups) = (first.classes().len(), first.groups().len().max(1));
        let of_class = |class: usize| (0..groups).map(|g| first.of_class(g, class)).sum::<f64>();
        let share = |g: usize| (0..k).map(|class| first.of_class(g, class) / of_class(class)).collect();
        let shares = GroupShares::new((0..groups).map(share).collect())?;
        let priors = (0..k).map(|class| of_class(class) / first.total()).collect();
        let matrix = |model: &ModelConfusions, g: usize| {
            let cell = |n: usize| model.count(g, n / k, n % k) / first.total();
            (0..k * k).map(cell).collect()
        };
        let matrices = (0..groups).map(|g| models.iter().map(|model| matrix(model, g)).collect()).collect();
        Ok(Self { prevalence: Prevalence::with_groups(priors, shares)?, matrices })
    }

    /// The best model of a group for a rule, with its labels replaced.
    fn best(&self, rule: &PostShift, group: usize) -> Vec<f64> {
        let relabelled = self.matrices[group].iter().map(|matrix| relabel(matrix, rule, group));
        let better = |best: (f64, Vec<f64>), next: (f64, Vec<f64>)| if next.0 > best.0 { next } else { best };
        relabelled.reduce(better).expect("at least one model").1
    }
}

impl Confusions for Pool {
    type Err = Infallible;
    type Rule = PostShift;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    /// # Panics
    /// If a rule is for another number of classes, or of groups, than the pool has.
    fn confusions(&self, rules: &[PostShift]) -> Result<Vec<GroupConfusions>, Infallible> {
        let (k, groups) = (self.classes(), self.matrices.len());
        let confusions = |rule: &PostShift| {
            assert_eq!(rule.classes(), k, "a rule for {} classes on a pool of {k}", rule.classes());
            assert!(rule.serves(groups), "a rule per group, but not for {groups} groups");
            let matrices = (0..groups).map(|group| self.best(rule, group)).collect();
            GroupConfusions::new(k, matrices).expect("the rows of the models, under other labels")
        };
        Ok(rules.iter().map(confusions).collect())
    }
}

/// What the rule earns when it sees only the model's labels, and the confusion matrix it then has.
fn relabel(matrix: &[f64], rule: &PostShift, group: usize) -> (f64, Vec<f64>) {
    let (k, rewards) = (rule.classes(), rule.rewards(group));
    let (mut earned, mut confusion) = (0.0, vec![0.0; k * k]);
    for label in 0..k {
        let column: Vec<f64> = (0..k).map(|truth| matrix[truth * k + label]).collect();
        let said = rule.predict(&column, group);
        for truth in 0..k {
            earned += rewards[truth * k + said] * column[truth];
            confusion[truth * k + said] += column[truth];
        }
    }
    (earned, confusion)
}

fn same_rows(first: &ModelConfusions, model: &ModelConfusions) -> equipoise::Result<()> {
    if model.classes() != first.classes() || model.groups() != first.groups() {
        let (model, first) = (name(model.name()), name(first.name()));
        return Err(Error::Mismatch(format!("model {model} has other classes or groups than model {first}")));
    }
    for group in 0..first.groups().len().max(1) {
        for (class, called) in first.classes().iter().enumerate() {
            let (found, expected) = (model.of_class(group, class), first.of_class(group, class));
            if (found - expected).abs() > 1e-9 * first.total() {
                let place =
                    first.groups().get(group).map_or(String::new(), |g| format!(" of group {}", name(g)));
                return Err(Error::Mismatch(format!(
                    "model {} has {found} rows{place} in class {}, expected {expected} as model {} has: the models of \
                     a pool are measured on the same rows",
                    name(model.name()),
                    name(called),
                    name(first.name())
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::Measure;
    use equipoise::space::{Achievable, Space};

    fn model(name: &str, counts: &[f64]) -> ModelConfusions {
        let groups = if counts.len() > 9 { vec!["f".to_owned(), "m".to_owned()] } else { vec![] };
        let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        ModelConfusions { name: name.to_owned(), classes, groups, counts: counts.to_vec() }
    }

    fn models() -> Vec<ModelConfusions> {
        let women =
            [[8.0, 1.0, 1.0, 3.0, 5.0, 2.0, 0.0, 2.0, 6.0], [5.0, 5.0, 0.0, 0.0, 9.0, 1.0, 1.0, 1.0, 6.0]];
        let men =
            [[6.0, 2.0, 1.0, 1.0, 7.0, 1.0, 3.0, 0.0, 4.0], [7.0, 1.0, 1.0, 2.0, 6.0, 1.0, 1.0, 1.0, 5.0]];
        (0..2).map(|n| model(["one", "two"][n], &[women[n], men[n]].concat())).collect()
    }

    #[test]
    fn a_rule_earns_what_the_best_of_all_relabellings_does() {
        let pool = Pool::new(&models()).unwrap();
        let rewards: Vec<f64> = (0..9).map(|n| f64::from((7 * n + 3) % 11) - 4.0).collect();
        let rule = PostShift::new(3, rewards.clone()).unwrap();
        let Ok(found) = pool.confusions(&[rule]).map(|mut found| found.remove(0));
        for group in 0..2 {
            let earned: f64 = (0..9).map(|n| rewards[n] * found.get(group, n / 3, n % 3)).sum();
            let mut most = f64::NEG_INFINITY;
            for matrix in &pool.matrices[group] {
                for words in 0..27_usize {
                    let say = |label: usize| words / 3_usize.pow(label as u32) % 3;
                    let earns = |n: usize| matrix[n] * rewards[n / 3 * 3 + say(n % 3)];
                    most = most.max((0..9).map(earns).sum());
                }
            }
            assert!((earned - most).abs() < 1e-15, "{earned} {most}");
        }
    }

    #[test]
    fn every_model_and_every_point_of_the_ball_is_achievable() {
        let pool = Pool::new(&models()).unwrap();
        let set = Achievable::new(&pool, Measure::GroupRates).unwrap();
        for model in models() {
            let point = set.view().of(&model.confusions().unwrap()).unwrap();
            assert!(set.contains(&point, 1e-9));
        }
        let (Ok(radius), Ok(bound)) = (set.radius(), set.radius_bound(8, 1));
        assert!(radius > 0.05 && radius <= bound);
        for j in 0..set.view().dimension() {
            let mut point = set.centre();
            point[j] += 0.99 * radius;
            assert!(set.contains(&point, 1e-9));
        }
    }

    #[test]
    fn models_of_other_rows_are_refused() {
        let mut counts = models()[1].counts.clone();
        counts[0] += 1.0;
        let wrong = Pool::new(&[models().remove(0), model("three", &counts)]).unwrap_err().to_string();
        let said = "model three has 11 rows of group f in class a, expected 10 as model one has";
        assert!(wrong.starts_with(said), "{wrong}");
        assert!(Pool::new(&[]).is_err());
    }

    #[test]
    fn groups_add_up() {
        let overall = models()[0].overall();
        assert!(overall.groups().is_empty());
        assert_eq!(overall.count(0, 1, 0), 4.0);
        assert_eq!(overall.total(), models()[0].total());
    }
}
