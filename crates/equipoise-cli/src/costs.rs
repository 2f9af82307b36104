//! Cost matrices as people write them: a CSV file with the names of the classes, or numbers in their order.

use equipoise::{Measure, Metric, Sense, View};

/// A matrix whose first line has the predicted classes and whose first column the true ones.
pub fn from_csv(text: &str, classes: &[String]) -> Result<Metric, String> {
    let lines: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"')).collect())
        .collect();
    let [header, rows @ ..] = &lines[..] else {
        return Err("found no lines, expected a cost matrix".to_owned());
    };
    let place = |name: &str, what: &str| {
        let found = classes.iter().position(|class| class == name);
        found
            .ok_or_else(|| format!("found the {what} class {name:?}, expected one of {}", classes.join(", ")))
    };
    let estimates =
        header.iter().skip(1).map(|name| place(name, "predicted")).collect::<Result<Vec<_>, _>>()?;
    let mut costs = vec![vec![None; classes.len()]; classes.len()];
    for row in rows {
        let truth = place(row[0], "true")?;
        if row.len() != header.len() {
            return Err(format!(
                "found {} costs for {}, expected {}",
                row.len() - 1,
                row[0],
                estimates.len()
            ));
        }
        for (cell, &estimate) in row[1..].iter().zip(&estimates) {
            costs[truth][estimate] = Some(number(cell)?);
        }
    }
    let cell = |(truth, estimate): (usize, usize), cost: Option<f64>| {
        let missing = || format!("found no cost of predicting {} for {}", classes[estimate], classes[truth]);
        cost.ok_or_else(|| missing() + ", expected one for every pair of classes")
    };
    let row = |(truth, row): (usize, Vec<Option<f64>>)| {
        row.into_iter().enumerate().map(|(estimate, cost)| cell((truth, estimate), cost)).collect()
    };
    metric(costs.into_iter().enumerate().map(row).collect::<Result<_, String>>()?)
}

/// Numbers in the order of the classes, a row for each true class, rows parted by semicolons.
pub fn from_line(text: &str, classes: &[String]) -> Result<Metric, String> {
    let row = |row: &str| row.split([',', ' ']).filter(|cell| !cell.is_empty()).map(number).collect();
    let costs = text.split(';').map(row).collect::<Result<Vec<Vec<f64>>, _>>()?;
    let k = classes.len();
    if costs.len() != k || costs.iter().any(|row| row.len() != k) {
        let found: Vec<String> = costs.iter().map(|row| row.len().to_string()).collect();
        return Err(format!(
            "found rows of {} costs, expected {k} rows of {k}, for {}",
            found.join(", "),
            classes.join(", ")
        ));
    }
    metric(costs)
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(format!("found the cost {text:?}, expected a number of at least 0")),
    }
}

fn metric(costs: Vec<Vec<f64>>) -> Result<Metric, String> {
    let k = costs.len();
    if let Some(class) = (0..k).find(|&i| costs[i][i] != 0.0) {
        let cost = costs[class][class];
        return Err(format!("found {cost} on the diagonal, expected 0 for what is right"));
    }
    let weights = (0..k).flat_map(|i| (0..k).filter(move |&j| j != i).map(move |j| (i, j)));
    let weights = weights.map(|(i, j)| costs[i][j]).collect();
    let view = View::new(Measure::OffDiagonal, k, 1).map_err(|error| error.to_string())?;
    Metric::linear(view, Sense::Cost, weights).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<String> {
        ["a", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn names_find_their_place_and_numbers_have_one() {
        let line = from_line("0 1 4; 2 0 1; 10,5,0", &classes()).unwrap();
        assert_eq!(line.coefficients(), [1.0, 4.0, 2.0, 1.0, 10.0, 5.0]);
        let csv = "truth,c,b,a\nb,1,0,2\na,4,1,0\nc,0,5,10\n";
        assert_eq!(from_csv(csv, &classes()).unwrap(), line);
    }

    #[test]
    fn what_is_no_matrix_is_said() {
        for (text, part) in [
            ("0 1; 1 0", "found rows of 2, 2 costs, expected 3 rows of 3, for a, b, c"),
            ("0 x 1; 1 0 1; 1 1 0", "found the cost \"x\""),
            ("0 -1 1; 1 0 1; 1 1 0", "found the cost \"-1\""),
            ("5 1 1; 1 0 1; 1 1 0", "found 5 on the diagonal"),
        ] {
            let error = from_line(text, &classes()).unwrap_err();
            assert!(error.starts_with(part), "{error}");
        }
        for (text, part) in [
            ("truth,a,d\n", "found the predicted class \"d\", expected one of a, b, c"),
            ("truth,a,b\na,0,1\nb,1\n", "found 1 costs for b, expected 2"),
            ("truth,a,b\na,0,1\nb,1,0\n", "found no cost of predicting c for a"),
        ] {
            let error = from_csv(text, &classes()).unwrap_err();
            assert!(error.starts_with(part), "{error}");
        }
    }
}
