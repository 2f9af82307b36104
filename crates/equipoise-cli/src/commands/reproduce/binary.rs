//! Tables A.1 and A.2: two classes, x uniform on [-1, 1], eta = 1 / (1 + e^{5x}); A.2 on MAGIC as well.

use super::data::NoData;
use super::{Report, Settings, Table, deviation, mean, vector};
use anyhow::Result;
use equipoise::ask::{Counting, Simulated};
use equipoise::metric::Family;
use equipoise::population::Logistic;
use equipoise::search::{BinaryFractional, BinaryLinear, Solve};
use equipoise::space::{Binary, Space};
use equipoise::{Metric, Plan, Sense};
use equipoise_data::Smooth;
use equipoise_plot::Plot;
use std::f64::consts::FRAC_PI_2;

fn space() -> Binary {
    Binary::from_law(Logistic::new(5.0).expect("a positive slope"))
}

pub fn table_a1(_: &Settings) -> Report {
    // Slopes at 10, 30, 50, 70 degrees and the same past 200, with the printed estimates.
    let rows = [
        (10.0_f64, [0.99, 0.17]),
        (30.0, [0.87, 0.50]),
        (50.0, [0.64, 0.77]),
        (70.0, [0.34, 0.94]),
        (200.0, [-0.94, -0.34]),
        (220.0, [-0.77, -0.64]),
        (240.0, [-0.50, -0.87]),
        (260.0, [-0.17, -0.99]),
    ];
    let plan = BinaryLinear::new(space(), 0.02).expect("a fair tolerance").of_unknown_direction();
    let header = ["true (m11, m00)", "paper", "ours", "difference", "questions"];
    let mut table = Table::new("LPM elicitation at tolerance 0.02", &header);
    let (mut equal, mut asked) = (0, vec![]);
    for (degrees, printed) in rows {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let metric = Metric::linear(space().view(), Sense::Utility, vec![cos, sin]).expect("a unit vector");
        let mut oracle = Counting::new(Simulated::new(metric));
        let Ok(outcome) = plan.run(&mut oracle);
        let Family::Linear(found) = outcome.metric.family() else { unreachable!("a linear plan") };
        let same = vector(found.weights(), 2) == vector(&printed, 2);
        equal += usize::from(same);
        asked.push(oracle.asked());
        let gap = found.weights().iter().zip(&printed).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        table.row(&[
            vector(&[cos, sin], 2),
            vector(&printed, 2),
            vector(found.weights(), 2),
            format!("{gap:.4}"),
            format!("{}", oracle.asked()),
        ]);
    }
    let mut report = Report { tables: vec![table], ..Report::default() };
    report.check("8 of 8 rows equal the printed ones to two digits", format!("{equal} of 8"), equal == 8);
    let counts = asked.iter().all(|&n| n == 29);
    report.check("28 questions and one for the direction", format!("{}", asked[0]), counts);
    report
}

/// A row of Table A.2: the true metric, and what was printed for the law and for MAGIC.
struct Row {
    p: [f64; 2],
    q: [f64; 3],
    law: Printed,
    magic: Printed,
}

/// An elicited (p11, p00, q11, q00, q0) and mean and deviation of its ratio to the true metric.
struct Printed([f64; 5], [f64; 2]);

const ROWS: [Row; 6] = [
    Row {
        p: [1.0, 0.0],
        q: [0.5, -0.5, 0.5],
        law: Printed([1.0, 0.0, 0.25, -0.75, 0.75], [0.92, 0.03]),
        magic: Printed([1.0, 0.0, 0.25, -0.75, 0.75], [0.90, 0.06]),
    },
    Row {
        p: [1.0, 0.0],
        q: [0.8, -0.8, 0.5],
        law: Printed([1.0, 0.0, 0.73, -1.09, 0.68], [0.94, 0.02]),
        magic: Printed([1.0, 0.0, 0.72, -1.13, 0.57], [1.06, 0.05]),
    },
    Row {
        p: [0.8, 0.2],
        q: [0.3, 0.1, 0.3],
        law: Printed([0.86, 0.14, -0.13, -0.07, 0.60], [0.90, 0.06]),
        magic: Printed([0.23, 0.77, -0.87, 0.66, 0.76], [0.84, 0.09]),
    },
    Row {
        p: [0.6, 0.4],
        q: [0.4, 0.2, 0.2],
        law: Printed([0.67, 0.33, -0.07, -0.44, 0.76], [0.82, 0.05]),
        magic: Printed([0.16, 0.84, -0.89, 0.25, 0.89], [0.65, 0.05]),
    },
    Row {
        p: [0.4, 0.6],
        q: [-0.1, -0.2, 0.65],
        law: Printed([0.36, 0.64, -0.21, -0.25, 0.73], [0.97, 0.01]),
        magic: Printed([0.08, 0.92, -0.75, 0.12, 0.82], [0.79, 0.08]),
    },
    Row {
        p: [0.2, 0.8],
        q: [-0.4, -0.2, 0.8],
        law: Printed([0.12, 0.88, -0.43, 0.002, 0.71], [1.02, 0.006]),
        magic: Printed([0.19, 0.81, -0.38, -0.13, 0.70], [1.02, 0.004]),
    },
];

pub fn table_a2(settings: &Settings) -> Result<Report> {
    let on_law = Fractions::elicit(&space(), "the law", |row| &row.law);
    let mut report = Report::default();
    let worst = on_law.worst_numerator();
    let found = format!("largest difference {worst:.4}");
    report.check("rows 3 to 6: the closed form is within .005 of the true p11", found, worst <= 0.005);
    let grid: Vec<(usize, f64, f64)> = on_law.numerators(Solve::Grid).collect();
    let off: Vec<String> = grid
        .iter()
        .map(|&(row, ours, _)| (row + 1, ours, ROWS[row].law.0[0]))
        .filter(|(_, ours, printed)| (ours - printed).abs() > 0.005)
        .map(|(row, ours, printed)| format!("row {row} (printed {printed:.2}, ours {ours:.2})"))
        .collect();
    let on = grid.len() - off.len();
    report.remarks.push(format!(
        "The grid of Algorithm 3.3 gives the printed p11 on {on} of {} rows; not on {}. The spread it minimises is flat \
         near its minimum, so the answer depends on how boundary points are spaced, which the paper does not say.",
        grid.len(),
        off.join(" and ")
    ));
    report.remarks.push(
        "q is one of many equivalent denominators: phi and phi / (c phi + 1 - c) answer every comparison alike. Compare \
         metrics by the pencil column, not by q."
            .to_owned(),
    );
    report.plots.push((
        "a2.svg".to_owned(),
        on_law.plot("Table A.2: true and elicited metric along the upper boundary"),
    ));
    report.tables.push(on_law.table);
    match settings.data.predictions("magic_10") {
        Ok(sample) => {
            let on_data = Fractions::elicit(&Smooth::fit(&sample)?.pulled()?, "MAGIC", |row| &row.magic);
            let worst = on_data.worst_numerator();
            let found = format!("largest difference {worst:.4}");
            report.check(
                "MAGIC, rows 3 to 6: the closed form is within .05 of the true p11",
                found,
                worst <= 0.05,
            );
            let title = "Table A.2 on MAGIC: true and elicited metric";
            report.plots.push(("a2-magic.svg".to_owned(), on_data.plot(title)));
            report.tables.push(on_data.table);
            report.remarks.push(
                "MAGIC: the smooth boundary of Section 8.1.1 cut to the hull of the thresholds. The printed p11 of rows 3 to \
                 5 are far from the true ones: the grid finds a metric that has almost a constant ratio to the true one on \
                 the points it looks at, not the one that answers like it."
                    .to_owned(),
            );
        }
        Err(error) if error.is::<NoData>() && !settings.data.is_named() => {
            report.remarks.push(format!("MAGIC, skipped: no data ({error})."));
        }
        Err(error) => return Err(error),
    }
    Ok(report)
}

/// Table A.2 over one space.
struct Fractions {
    table: Table,
    boundary: Vec<[f64; 2]>,
    solved: Vec<Solved>,
}

struct Solved {
    row: usize,
    solve: Solve,
    truth: Metric,
    found: Metric,
}

impl Fractions {
    fn elicit(space: &Binary, name: &str, printed: fn(&Row) -> &Printed) -> Self {
        let plan = BinaryFractional::new(space.clone(), 0.05).expect("a fair tolerance");
        let boundary: Vec<[f64; 2]> =
            (0..1000).map(|n| space.at_angle(FRAC_PI_2 * (f64::from(n) + 0.5) / 1000.0)).collect();
        let header = ["row", "", "p", "q", "alpha", "sigma", "pencil", "questions"];
        let title =
            format!("LFPM elicitation at tolerance 0.05 on {name} (pencil: angle to the true one, rad)");
        let (mut table, mut solved) = (Table::new(&title, &header), vec![]);
        for (n, row) in ROWS.iter().enumerate() {
            let parts = [row.p.to_vec(), row.q[..2].to_vec()];
            let metric = Metric::linear_fractional(space.view(), Sense::Utility, parts, row.q[2])
                .expect("two weights");
            let blank = String::new;
            table.row(&[
                format!("{}", n + 1),
                "true".to_owned(),
                vector(&row.p, 2),
                vector(&row.q, 2),
                blank(),
                blank(),
                blank(),
                blank(),
            ]);
            let Printed(coefficients, fit) = printed(row);
            table.row(&[
                blank(),
                "paper".to_owned(),
                vector(&coefficients[..2], 2),
                vector(&coefficients[2..], 2),
                format!("{:.2}", fit[0]),
                format!("{:.3}", fit[1]),
                blank(),
                blank(),
            ]);
            let solutions = if row.p[0] == 1.0 {
                vec![("known ratio", Solve::KnownRatio { true_positive_share: 1.0 })]
            } else {
                vec![("grid", Solve::Grid), ("closed form", Solve::ClosedForm)]
            };
            for (name, solve) in solutions {
                let mut oracle = Counting::new(Simulated::new(metric.clone()));
                let Ok(outcome) = plan.clone().solve(solve).expect("a share").run(&mut oracle);
                // Numerator, then denominator with its offset.
                let found = outcome.metric.coefficients();
                // Both are 0 where nothing is accepted and p00 = 0.
                let ratio = |c: &[f64; 2]| outcome.metric.value(c) / metric.value(c);
                let ratios: Vec<f64> = boundary.iter().map(ratio).filter(|r| r.is_finite()).collect();
                let difference = outcome.metric.difference(&metric).expect("both fractions");
                table.row(&[
                    String::new(),
                    name.to_owned(),
                    vector(&found[..2], 2),
                    vector(&found[2..], 2),
                    format!("{:.2}", mean(&ratios)),
                    format!("{:.3}", deviation(&ratios)),
                    format!("{:.3}", difference.angle),
                    format!("{}", oracle.asked()),
                ]);
                solved.push(Solved { row: n, solve, truth: metric.clone(), found: outcome.metric });
            }
        }
        Self { table, boundary, solved }
    }

    /// Row, found p11 and true p11, by one way of solving.
    fn numerators(&self, solve: Solve) -> impl Iterator<Item = (usize, f64, f64)> {
        let of = |solved: &Solved| (solved.row, solved.found.coefficients()[0], ROWS[solved.row].p[0]);
        self.solved.iter().filter(move |solved| solved.solve == solve).map(of)
    }

    /// How far the closed form is from the true p11.
    fn worst_numerator(&self) -> f64 {
        self.numerators(Solve::ClosedForm)
            .fold(0.0, |worst: f64, (_, found, truth)| worst.max((found - truth).abs()))
    }

    /// Row 3 along the upper boundary.
    fn plot(&self, title: &str) -> String {
        let third = self.solved.iter().find(|solved| solved.row == 2 && solved.solve == Solve::ClosedForm);
        let third = third.expect("row 3 is solved in closed form");
        let line = |metric: &Metric| -> Vec<(f64, f64)> {
            let at = |i: usize| FRAC_PI_2 * (i as f64 + 0.5) / 1000.0;
            self.boundary.iter().enumerate().step_by(10).map(|(i, c)| (at(i), metric.value(c))).collect()
        };
        Plot::new(title, "slope angle", "value")
            .line("true, row 3", &line(&third.truth))
            .dashed("elicited, row 3", &line(&third.found))
            .to_svg()
    }
}
