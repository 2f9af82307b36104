//! Rounding (G2): cells sum to the total, both systems are about the same people, and what is shown is what counts.

use equipoise::population::Logistic;
use equipoise::space::{Binary, Space as _};
use equipoise::{Measure, Query, View};
use equipoise_study::shown::{Dominance, Frame, largest_remainder};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn largest_remainders_sum_and_stay_within_one(total in 1_u64..1_000_000, shares in prop::collection::vec(0.001_f64..1.0, 1..12)) {
        let counts = largest_remainder(total, &shares);
        prop_assert_eq!(counts.iter().sum::<u64>(), total);
        let sum: f64 = shares.iter().sum();
        for (count, share) in counts.iter().zip(&shares) {
            prop_assert!((*count as f64 - share / sum * total as f64).abs() < 1.0 + 1e-6);
        }
    }

    #[test]
    fn two_class_pairs_are_about_the_same_people(slope in 2.0_f64..30.0, offset in -8.0_f64..8.0, cut in -0.9_f64..0.9, step in 0.0005_f64..0.2) {
        let law = Logistic::with_offset(slope, offset).unwrap();
        let space = Binary::from_law(law.clone());
        let positive = space.positive_prior();
        prop_assume!(positive > 1e-4 && positive < 1.0 - 1e-4);
        let frame = Frame::new(space.view(), vec![1.0 - positive, positive]);
        let query = Query::new(law.at_cut(cut).to_vec(), law.at_cut(cut + step).to_vec());
        let shown = frame.show(&query);
        for cells in [&shown.a, &shown.b] {
            prop_assert_eq!(cells.iter().sum::<u64>(), shown.people);
        }
        prop_assert_eq!(shown.a[0] + shown.a[1], shown.b[0] + shown.b[1]);
        prop_assert_eq!(shown.a[2] + shown.a[3], shown.b[2] + shown.b[3]);
        let ratio = |q: &Query| (q.first[1] - q.second[1]) / (q.second[0] - q.first[0]);
        if shown.people < 1_000_000 {
            let (told, truth) = (ratio(&frame.query(&shown)), ratio(&query));
            prop_assert!((told / truth - 1.0).abs() < 0.12, "{} for {}", told, truth);
        }
        // Out of the smallest total that tells them apart, and read back as the integers that were shown.
        if shown.people <= 10_000 {
            prop_assert_eq!(shown.dominance(), Dominance::Neither);
        }
        let again = frame.show_out_of(&frame.query(&shown), shown.people);
        prop_assert_eq!(again, shown);
    }

    #[test]
    fn many_classes_and_groups_keep_their_totals(
        classes in 2_usize..6, groups in 1_usize..4, seed in prop::collection::vec(0.0_f64..1.0, 240), shares in prop::collection::vec(0.05_f64..1.0, 6)
    ) {
        let view = match groups {
            1 => View::new(Measure::OffDiagonalRates, classes, 1).unwrap(),
            _ => View::new(Measure::GroupRates, classes, groups).unwrap(),
        };
        let sum: f64 = shares[..classes].iter().sum();
        let shares: Vec<f64> = shares[..classes].iter().map(|share| share / sum).collect();
        let n = view.dimension();
        let point = |from: usize| seed[from..from + n].iter().map(|x| x / classes as f64).collect::<Vec<_>>();
        let query = Query::new(point(0), point(120));
        let shown = Frame::new(view, shares).show(&query);
        for group in 0..groups {
            for truth in 0..classes {
                let total = |cells: &[u64]| -> u64 { (0..classes).map(|p| cells[shown.cell(group, truth, p)]).sum() };
                prop_assert_eq!(total(&shown.a), total(&shown.b));
                if groups > 1 {
                    prop_assert_eq!(total(&shown.a), shown.people);
                }
            }
        }
        if groups == 1 {
            prop_assert_eq!(shown.a.iter().sum::<u64>(), shown.people);
        }
    }
}
