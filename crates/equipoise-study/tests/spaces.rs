//! Whole sessions on every kind of query space: tables smoothed in every way, pools of models, balls of many classes.

mod common;

use common::{Simulant, walk};
use equipoise_log::{MemoryStore, Writer};
use equipoise_study::event::Purpose;
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::shown::Dominance;
use equipoise_study::{Design, Service, Step, Study, lint};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("equipoise-spaces-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The cancer study on another space.
fn study(space: &str) -> Study {
    let text = include_str!("fixtures/law.toml");
    let logistic = "kind = \"logistic\"\nslope = 21.0\noffset = 6.3";
    assert!(text.contains(logistic));
    Study::parse(&text.replacen(logistic, space, 1)).unwrap()
}

/// Scores of people with and without cancer, overlapping.
fn predictions(people: usize) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
    let mut text = "id,y,p\n".to_owned();
    for id in 0..people {
        let risk: f64 = random.random();
        let ill = random.random::<f64>() < 1.0 / (1.0 + (-8.0 * (risk - 0.6)).exp());
        let class = if ill { "cancer" } else { "no cancer" };
        writeln!(text, "{id},{class},{:.4}", 1.0 / (1.0 + (-8.0 * (risk - 0.6)).exp())).unwrap();
    }
    text
}

/// Counts of four models on the same 1,000 people.
const POOL: &str = "model,truth,estimate,count
careful,cancer,cancer,330\ncareful,cancer,no cancer,20\ncareful,no cancer,cancer,260\ncareful,no cancer,no cancer,390
middling,cancer,cancer,300\nmiddling,cancer,no cancer,50\nmiddling,no cancer,cancer,100\nmiddling,no cancer,no cancer,550
calm,cancer,cancer,240\ncalm,cancer,no cancer,110\ncalm,no cancer,cancer,30\ncalm,no cancer,no cancer,620
poor,cancer,cancer,200\npoor,cancer,no cancer,150\npoor,no cancer,cancer,120\npoor,no cancer,no cancer,530
";

/// Walks people of some ratios through the study; (estimate over truth, questions that elicit) of each.
fn sessions(design: &Arc<Design>, ratios: &[f64]) -> Vec<(f64, usize)> {
    let service = Service::new(
        design.clone(),
        Writer::start(MemoryStore::new()),
        TestClock::default(),
        TestRandom::new(5),
    );
    let invitations = service.invite(ratios.len()).unwrap();
    let each = invitations.iter().zip(ratios).enumerate().map(|(n, (invitation, ratio))| {
        walk(&service, &invitation.session, &mut Simulant::new(*ratio, 40.0, n as u64), usize::MAX);
        service
            .look(&invitation.session, |participant| {
                assert_eq!(participant.step(), Step::Result);
                let space = design.binary().unwrap();
                for question in participant.questions() {
                    let asked = &question.asked;
                    assert!(asked.shown.a != asked.shown.b, "the same system twice");
                    assert_eq!(
                        asked.shown.dominance() != Dominance::Neither,
                        asked.purpose == Purpose::Dominated
                    );
                    // Nothing is shown that the space does not hold, to the last person shown (G1).
                    let shown = design.frame().query(&asked.shown);
                    let Some(hull) = space.hull() else { continue };
                    for point in [&shown.first, &shown.second] {
                        assert!(
                            hull.contains([point[0], point[1]], 1.0 / asked.shown.people as f64),
                            "{asked:?}"
                        );
                    }
                }
                let count = participant
                    .questions()
                    .iter()
                    .filter(|q| q.asked.purpose == Purpose::Elicitation)
                    .count();
                (participant.belief().quantile(0.5).unwrap() / ratio, count)
            })
            .unwrap()
    });
    each.collect()
}

#[test]
fn a_table_whose_scores_are_of_the_other_class_is_found_out() {
    let directory = directory("turned");
    let space = "kind = \"table\"\nfile = \"predictions.csv\"\ntruth = \"y\"\nscore = \"p\"";
    let said = |text: &str| {
        std::fs::write(directory.join("predictions.csv"), text).unwrap();
        let design = Design::new(study(space), &directory).unwrap();
        let found = lint::lint(&design).into_iter().filter(|lint| lint.rule == "table");
        found.map(|lint| (lint.error, lint.what)).collect::<Vec<_>>()
    };
    let good = predictions(600);
    assert_eq!(said(&good), []);
    let turned: String = good
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((rest, p)) if p != "p" => format!("{rest},{:.4}\n", 1.0 - p.parse::<f64>().unwrap()),
            _ => format!("{line}\n"),
        })
        .collect();
    let found = said(&turned);
    assert!(matches!(&found[..], [(true, what)] if what.contains("the wrong way round")), "{found:?}");
    let swapped = good.replace("no cancer", "#").replace("cancer", "no cancer").replace('#', "cancer");
    assert!(said(&swapped)[0].0, "classes the wrong way round");
    let few = said(&predictions(60));
    assert!(matches!(&few[..], [(false, what)] if what.contains("60 rows")), "{few:?}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_table_is_a_space_however_it_is_smoothed() {
    let directory = directory("table");
    std::fs::write(directory.join("predictions.csv"), predictions(1_500)).unwrap();
    for smooth in ["hull", "logistic", "none"] {
        let space = format!(
            "kind = \"table\"\nfile = \"predictions.csv\"\ntruth = \"y\"\nscore = \"p\"\nsmooth = \"{smooth}\""
        );
        let design = Arc::new(Design::new(study(&space), &directory).unwrap());
        let fit = design.fit().expect("a table of two classes has a fit");
        assert!(fit.distance > 0.0 && fit.distance < 0.3 && fit.outside >= 0.0 && fit.corners > 3, "{fit:?}");
        let errors: Vec<_> = lint::lint(&design).into_iter().filter(|lint| lint.error).collect();
        assert!(errors.is_empty(), "{smooth}: {errors:?}");
        let found = sessions(&design, &[0.5, 2.0, 6.0]);
        println!("{smooth}: {fit:?}; estimates over truth and questions {found:.2?}");
        for (off, questions) in found {
            assert!((0.4..2.5).contains(&off) && questions > 2, "{smooth}: {off} after {questions}");
        }
    }
    // Classes may be called 0 and 1; any other name must be one of the study's.
    let space = "kind = \"table\"\nfile = \"predictions.csv\"\ntruth = \"y\"\nscore = \"p\"";
    let plain = predictions(300).replace("no cancer", "0").replace("cancer", "1");
    std::fs::write(directory.join("predictions.csv"), &plain).unwrap();
    Design::new(study(space), &directory).unwrap();
    std::fs::write(directory.join("predictions.csv"), plain.replace(",0,", ",fine,").replace(",1,", ",ill,"))
        .unwrap();
    let wrong = Design::new(study(space), &directory).unwrap_err().to_string();
    let expected =
        "the table has the classes fine, ill, expected those of task.classes: no cancer, cancer, or 0 and 1";
    assert!(wrong.contains(expected), "{wrong}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_pool_of_models_is_a_space() {
    let directory = directory("pool");
    std::fs::write(directory.join("pool.csv"), POOL).unwrap();
    let design = Arc::new(Design::new(study("kind = \"pool\"\nfile = \"pool.csv\""), &directory).unwrap());
    let found = sessions(&design, &[0.7, 2.5, 5.0]);
    println!("pool: estimates over truth and questions {found:.2?}");
    for (off, questions) in found {
        assert!((0.3..3.0).contains(&off) && questions > 1, "{off} after {questions}");
    }
    // A study that names a class the pool has not says so.
    let other = POOL.replace("no cancer", "healthy");
    std::fs::write(directory.join("pool.csv"), other).unwrap();
    let wrong =
        Design::new(study("kind = \"pool\"\nfile = \"pool.csv\""), &directory).unwrap_err().to_string();
    assert!(wrong.contains("the pool has no class \"no cancer\""), "{wrong}");
    std::fs::remove_dir_all(directory).unwrap();
}

/// The triage study with so many classes.
fn many(classes: usize) -> Study {
    let mut study = Study::parse(include_str!("fixtures/ball.toml")).unwrap();
    let first = study.task.classes[0].clone();
    study.task.classes = (0..classes)
        .map(|n| equipoise_study::study::Class { id: format!("class {n}"), ..first.clone() })
        .collect();
    (study.task.mistakes, study.consequences) = (vec![], vec![]);
    (study.picture, study.practice) = (vec![], vec![]);
    let shares = (0..classes).map(|n| 2.0 * (n + 1) as f64 / (classes * (classes + 1)) as f64).collect();
    let radius = 0.3 / classes as f64;
    study.space = equipoise_study::study::QuerySpace::Ball { radius, class_shares: shares };
    study
}

#[test]
fn questions_about_many_classes_can_be_read() {
    let (mut readable, mut few, mut all) = (0, 0, 0);
    for classes in 3..=8 {
        let mut study = many(classes);
        study.stop.cap = 12;
        let design = Arc::new(Design::new(study, Path::new("src/templates")).unwrap());
        let service = Service::new(
            design.clone(),
            Writer::start(MemoryStore::new()),
            TestClock::default(),
            TestRandom::new(classes as u64),
        );
        for (n, invitation) in service.invite(2).unwrap().into_iter().enumerate() {
            walk(&service, &invitation.session, &mut Simulant::new(1.0, 20.0, n as u64), usize::MAX);
            service
                .look(&invitation.session, |participant| {
                    for question in participant.questions() {
                        all += 1;
                        few += usize::from(question.asked.shown.differing() <= 3);
                        readable += usize::from(question.asked.shown.differing() <= 4);
                    }
                })
                .unwrap();
        }
    }
    println!("{all} questions for 3 to 8 classes: {few} differ in at most 3 rows, {readable} in at most 4");
    assert!(readable * 100 >= 99 * all && few * 10 >= 9 * all, "{few}, {readable} of {all}");
}

#[test]
fn questions_about_groups_are_of_three_families() {
    let study = Study::parse(include_str!("fixtures/group-ball.toml")).unwrap();
    let design = Arc::new(Design::new(study, Path::new("src/templates")).unwrap());
    let service =
        Service::new(design, Writer::start(MemoryStore::new()), TestClock::default(), TestRandom::new(4));
    let session = service.invite(1).unwrap().remove(0).session;
    walk(&service, &session, &mut Simulant::new(1.0, 20.0, 3), usize::MAX);
    let families = service
        .look(&session, |participant| {
            let mut counts = [0; 3];
            for question in participant.questions() {
                let family = question.asked.family.expect("every question about groups has a family");
                counts[family as usize] += 1;
            }
            counts
        })
        .unwrap();
    println!("performance, gaps, trade-off: {families:?}");
    assert!(families.iter().all(|count| *count > 0), "{families:?}");
}
