//! The coefficients of a metric, each with a name in words.

use equipoise::Metric;
use equipoise::metric::Family;

/// Every coefficient, in the order of the metric's document: a row of a table each.
pub fn named(metric: &Metric) -> Vec<(String, f64)> {
    let names = Names::of(metric);
    match metric.family() {
        Family::Linear(f) => names.each("", f.weights()),
        Family::LinearFractional(f) => {
            let mut rows = names.each("numerator: ", f.numerator());
            rows.extend(names.each("denominator: ", f.denominator()));
            rows.push(("denominator: offset".to_owned(), f.denominator_offset()));
            rows
        }
        Family::Quadratic(f) => {
            let mut rows = names.each("", f.linear());
            rows.extend(names.each_product("", f.quadratic()));
            rows
        }
        Family::Polynomial(f) => {
            let tensors = f.tensors().iter().enumerate();
            tensors.flat_map(|(n, tensor)| names.each_monomial(n + 1, tensor)).collect()
        }
        Family::GroupFair(f) => {
            let mut rows = names.each("", f.performance());
            for pair in f.fairness() {
                rows.extend(names.each(&between(pair.groups), &pair.violation));
            }
            rows.push(("trade-off".to_owned(), f.trade_off()));
            rows
        }
        Family::GroupFairQuadratic(f) => {
            let mut rows = names.each("", f.performance());
            for pair in f.fairness() {
                rows.extend(names.each_product(&between(pair.groups), &pair.violation));
            }
            rows.push(("trade-off".to_owned(), f.trade_off()));
            rows
        }
        // Closed forms have nothing to estimate.
        _ => vec![],
    }
}

/// Where each coefficient lies with probability `level`, if the metric says how sure it is of them.
pub fn ranges(metric: &Metric, level: f64) -> Option<Vec<[f64; 2]>> {
    let values = |drawn: &Metric| named(&drawn.normal_form()).into_iter().map(|(_, value)| value).collect();
    metric.credible(level, values)
}

fn between([u, v]: [usize; 2]) -> String {
    format!("groups {u} and {v}: ")
}

/// What the coordinates of one group are called.
struct Names(Vec<String>);

impl Names {
    fn of(metric: &Metric) -> Self {
        let class = |n: usize| match metric.class_names() {
            Some(names) => names[n].clone(),
            None => n.to_string(),
        };
        let entries = metric.view().entries();
        let of_first_group = entries.into_iter().filter(|(group, _, _)| *group == 0);
        Self(
            of_first_group
                .map(|(_, truth, estimate)| format!("{} predicted as {}", class(truth), class(estimate)))
                .collect(),
        )
    }

    fn each(&self, prefix: &str, values: &[f64]) -> Vec<(String, f64)> {
        self.0.iter().zip(values).map(|(name, value)| (format!("{prefix}{name}"), *value)).collect()
    }

    /// The entries of a symmetric matrix, each once.
    fn each_product(&self, prefix: &str, matrix: &[Vec<f64>]) -> Vec<(String, f64)> {
        let entries = (0..matrix.len()).flat_map(|i| (i..matrix.len()).map(move |j| [i, j]));
        entries.map(|[i, j]| (format!("{prefix}{}", self.product(&[i, j])), matrix[i][j])).collect()
    }

    /// The entries of a symmetric tensor, flattened row by row, each once.
    fn each_monomial(&self, degree: usize, tensor: &[f64]) -> Vec<(String, f64)> {
        let q = self.0.len();
        let mut rows = vec![];
        for (n, value) in tensor.iter().enumerate() {
            let indices: Vec<usize> = (0..degree).map(|d| n / q.pow((degree - 1 - d) as u32) % q).collect();
            if indices.is_sorted() {
                rows.push((self.product(&indices), *value));
            }
        }
        rows
    }

    fn product(&self, indices: &[usize]) -> String {
        indices.iter().map(|&i| self.0[i].as_str()).collect::<Vec<_>>().join(" * ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(document: &str) -> Vec<String> {
        let metric = Metric::from_json(document).unwrap();
        named(&metric).into_iter().map(|(name, value)| format!("{name} {value}")).collect()
    }

    #[test]
    fn entries_are_named_by_class() {
        let text = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility",
                       "classes":["healthy","ill"],"weights":[6,1]}"#;
        assert_eq!(rows(text), ["ill predicted as ill 6", "healthy predicted as healthy 1"]);
    }

    #[test]
    fn symmetric_coefficients_are_listed_once() {
        let text = r#"{"format":1,"kind":"polynomial","measure":"off_diagonal_rates","sense":"cost","degree":2,
                       "tensors":[[1,2],[3,4,4,5]]}"#;
        let expected = [
            "0 predicted as 1 1",
            "1 predicted as 0 2",
            "0 predicted as 1 * 0 predicted as 1 3",
            "0 predicted as 1 * 1 predicted as 0 4",
            "1 predicted as 0 * 1 predicted as 0 5",
        ];
        assert_eq!(rows(text), expected);
        let quadratic = text.replace("polynomial", "quadratic").replace("\"degree\":2,", "");
        let quadratic = quadratic
            .replace("\"tensors\":[[1,2],[3,4,4,5]]", "\"linear\":[1,2],\"quadratic\":[[3,4],[4,5]]");
        assert_eq!(rows(&quadratic), expected);
    }
}
