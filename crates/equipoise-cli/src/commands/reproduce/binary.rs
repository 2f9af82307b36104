//! Tables A.1 and A.2: two classes, x uniform on [-1, 1], eta = 1 / (1 + e^{5x}).

use super::{Report, Settings, Table, deviation, mean, vector};
use crate::svg::Plot;
use equipoise::elicit::{BinaryFractional, BinaryLinear, Direction, Solve};
use equipoise::metric::{Family, LinearFractional};
use equipoise::oracle::{Counting, Simulated};
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space};
use equipoise::{Metric, Plan, Sense};
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
    let plan = BinaryLinear::new(space(), 0.02).expect("a fair tolerance").direction(Direction::Unknown);
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

pub fn table_a2(_: &Settings) -> Report {
    struct Row {
        p: [f64; 2],
        q: [f64; 3],
        printed: [f64; 5],
        printed_fit: [f64; 2],
    }
    let rows = [
        Row {
            p: [1.0, 0.0],
            q: [0.5, -0.5, 0.5],
            printed: [1.0, 0.0, 0.25, -0.75, 0.75],
            printed_fit: [0.92, 0.03],
        },
        Row {
            p: [1.0, 0.0],
            q: [0.8, -0.8, 0.5],
            printed: [1.0, 0.0, 0.73, -1.09, 0.68],
            printed_fit: [0.94, 0.02],
        },
        Row {
            p: [0.8, 0.2],
            q: [0.3, 0.1, 0.3],
            printed: [0.86, 0.14, -0.13, -0.07, 0.60],
            printed_fit: [0.90, 0.06],
        },
        Row {
            p: [0.6, 0.4],
            q: [0.4, 0.2, 0.2],
            printed: [0.67, 0.33, -0.07, -0.44, 0.76],
            printed_fit: [0.82, 0.05],
        },
        Row {
            p: [0.4, 0.6],
            q: [-0.1, -0.2, 0.65],
            printed: [0.36, 0.64, -0.21, -0.25, 0.73],
            printed_fit: [0.97, 0.01],
        },
        Row {
            p: [0.2, 0.8],
            q: [-0.4, -0.2, 0.8],
            printed: [0.12, 0.88, -0.43, 0.002, 0.71],
            printed_fit: [1.02, 0.006],
        },
    ];
    let space = space();
    let plan = BinaryFractional::new(space.clone(), 0.05).expect("a fair tolerance");
    let boundary: Vec<[f64; 2]> =
        (0..1000).map(|n| space.at_angle(FRAC_PI_2 * (f64::from(n) + 0.5) / 1000.0)).collect();
    let header = ["row", "", "p", "q", "alpha", "sigma", "pencil", "questions"];
    let mut table =
        Table::new("LFPM elicitation at tolerance 0.05 (pencil: angle to the true one, rad)", &header);
    let mut worst: f64 = 0.0;
    let mut grid = vec![];
    let mut plot =
        Plot::new("Table A.2: true and elicited metric along the upper boundary", "slope angle", "value");
    for (n, row) in rows.iter().enumerate() {
        let family =
            LinearFractional::new(row.p.to_vec(), row.q[..2].to_vec(), row.q[2]).expect("printed numbers");
        let metric =
            Metric::new(space.view(), Sense::Utility, Family::LinearFractional(family)).expect("two weights");
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
        table.row(&[
            blank(),
            "paper".to_owned(),
            vector(&row.printed[..2], 2),
            vector(&row.printed[2..], 2),
            format!("{:.2}", row.printed_fit[0]),
            format!("{:.3}", row.printed_fit[1]),
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
            let Family::LinearFractional(found) = outcome.metric.family() else { unreachable!("a fraction") };
            // Both are 0 where nothing is accepted and p00 = 0.
            let ratio = |c: &[f64; 2]| outcome.metric.value(c) / metric.value(c);
            let ratios: Vec<f64> = boundary.iter().map(ratio).filter(|r| r.is_finite()).collect();
            let difference = outcome.metric.difference(&metric).expect("both fractions");
            match solve {
                Solve::ClosedForm => worst = worst.max((found.numerator()[0] - row.p[0]).abs()),
                Solve::Grid => grid.push((n + 1, found.numerator()[0], row.printed[0])),
                Solve::KnownRatio { .. } => {}
            }
            if n == 2 && solve == Solve::ClosedForm {
                let line = |m: &Metric| -> Vec<(f64, f64)> {
                    let at = |i: usize| FRAC_PI_2 * (i as f64 + 0.5) / 1000.0;
                    boundary.iter().enumerate().step_by(10).map(|(i, c)| (at(i), m.value(c))).collect()
                };
                plot = plot
                    .line("true, row 3", &line(&metric))
                    .dashed("elicited, row 3", &line(&outcome.metric));
            }
            table.row(&[
                String::new(),
                name.to_owned(),
                vector(found.numerator(), 2),
                vector(&[found.denominator()[0], found.denominator()[1], found.denominator_offset()], 2),
                format!("{:.2}", mean(&ratios)),
                format!("{:.3}", deviation(&ratios)),
                format!("{:.3}", difference.angle),
                format!("{}", oracle.asked()),
            ]);
        }
    }
    let mut report = Report { tables: vec![table], ..Report::default() };
    let found = format!("largest difference {worst:.4}");
    report.check("rows 3 to 6: the closed form is within .005 of the true p11", found, worst <= 0.005);
    let off: Vec<String> = grid
        .iter()
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
    report.plots.push(("a2.svg".to_owned(), plot.to_svg()));
    report
}
