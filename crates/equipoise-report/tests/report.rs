//! The report of simulated studies: the same bytes, the right numbers, the right refusals.

#[path = "../../equipoise-study/tests/common/mod.rs"]
mod common;

use common::{Simulant, walk};
use equipoise::Answer;
use equipoise::decide::rank;
use equipoise_log::{MemoryStore, Writer};
use equipoise_report::{self as report, Options, Report};
use equipoise_study::event::{Choice, Purpose};
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::{Design, Participant, Service, Study, template};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Four models between "misses much" and "cries wolf", each counted on 2,000 people.
const MODELS: &str = "model,truth,estimate,count
bold,no cancer,no cancer,1100
bold,no cancer,cancer,300
bold,cancer,no cancer,12
bold,cancer,cancer,588
even,no cancer,no cancer,1280
even,no cancer,cancer,120
even,cancer,no cancer,45
even,cancer,cancer,555
timid,no cancer,no cancer,1370
timid,no cancer,cancer,30
timid,cancer,no cancer,150
timid,cancer,cancer,450
";

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The cancer study with models to choose from, its file changed as told.
fn cancer(
    name: &str,
    models: &str,
    change: impl Fn(String) -> String,
) -> equipoise_study::Result<Arc<Design>> {
    let directory = place(name);
    std::fs::write(directory.join("models.csv"), models).unwrap();
    let template::Template { text, table: (name, table), .. } = template::find("binary-cancer").unwrap();
    std::fs::write(directory.join(name), table).unwrap();
    let text = change(text.replacen("[stop]", "[candidates]\nfile = \"models.csv\"\n\n[stop]", 1));
    Ok(Arc::new(Design::new(Study::parse(&text)?, &directory)?))
}

/// People with these ratios walk through a study; what the log then holds.
fn cohort(design: &Arc<Design>, ratios: &[f64], slope: f64) -> Vec<Participant> {
    let service = Service::new(
        design.clone(),
        Writer::start(MemoryStore::new()),
        TestClock::default(),
        TestRandom::new(7),
    );
    let invitations = service.invite(ratios.len()).unwrap();
    for (n, (invitation, ratio)) in invitations.iter().zip(ratios).enumerate() {
        walk(&service, &invitation.session, &mut Simulant::new(*ratio, slope, n as u64 + 1), usize::MAX);
    }
    invitations.iter().map(|invitation| service.look(&invitation.session, Clone::clone).unwrap()).collect()
}

fn report_of(design: &Arc<Design>, people: &[Participant]) -> Report {
    report::report(design, people, "head", &Options { why: true, ..Options::default() })
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let design = cancer("report-bytes", MODELS, |text| text).unwrap();
    let page = || {
        let people = cohort(&design, &[4.0, 9.0, 15.0], 20.0);
        report::html(&design, &report_of(&design, &people))
    };
    let (first, again) = (page(), page());
    assert!(first == again, "two reports of the same log differ");
    // Nothing is fetched and nothing runs.
    for forbidden in ["<script", "http://", "https://", "src=", "@import", "url("] {
        assert!(!first.contains(forbidden), "{forbidden}");
    }
    for expected in ["How sure is this?", "Which model?", "Decision curve", "Rules side by side", "Audit"] {
        assert!(first.contains(expected), "{expected}");
    }
}

#[test]
fn the_page_of_a_small_study_is_as_it_was() {
    let design = cancer("report-golden", MODELS, |text| text).unwrap();
    let people = cohort(&design, &[4.0, 9.0], 20.0);
    let found = report::html(&design, &report_of(&design, &people));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/report.html");
    if std::env::var_os("EQUIPOISE_GOLDEN").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    let differs = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
    assert!(
        found == expected,
        "line {differs:?} differs; EQUIPOISE_GOLDEN=1 rewrites the file, read the difference"
    );
}

#[test]
fn a_page_of_thirteen_people_has_contents_and_dates_folds_everybody_and_addresses_nobody() {
    let design = cancer("report-thirteen", MODELS, |text| text).unwrap();
    let ratios: Vec<f64> = (0..13).map(|n| 2.0 * 1.25_f64.powi(n)).collect();
    let found = report_of(&design, &cohort(&design, &ratios, 20.0));
    let page = report::html(&design, &found);
    let words: Vec<String> = page.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase).collect();
    assert!(
        !words.iter().any(|word| ["you", "your", "yours"].contains(&word.as_str())),
        "a reader is addressed"
    );
    assert!(page.contains("version 1, 13 people, answers of 1970-01-01."), "{}", &page[..4_000]);
    let headings = page.matches("<h2 id='part-").count();
    assert_eq!(
        page.matches("<li><a href='#part-").count(),
        headings,
        "every heading is in the list of contents"
    );
    assert!(headings >= 8 && !page.contains("<h2>"), "{headings} headings");
    assert_eq!(page.matches("<details class='person'>").count(), 13, "everybody is folded");
    let whole = report::html_with_appendix(&design, &found);
    assert_eq!(whole.matches("<details class='person' open>").count(), 13);
    let mut pieces = Pieces::default();
    report::write_html(&mut pieces, &design, &found, false).unwrap();
    assert!(pieces.0 == page.as_bytes());
    assert!(pieces.1 * 2 < page.len(), "{} of {} bytes are written at once", pieces.1, page.len());
}

/// What is written, and the most of it at once.
#[derive(Default)]
struct Pieces(Vec<u8>, usize);

impl std::io::Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(piece);
        self.1 = self.1.max(piece.len());
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_ranking_agrees_with_counting_draws() {
    let design = cancer("report-rank", MODELS, |text| text).unwrap();
    let people = cohort(&design, &[6.0], 20.0);
    let found = report_of(&design, &people).people.remove(0).models.unwrap();
    let candidates = design.models().unwrap().candidates();
    let draws = people[0].belief().draws(1000);
    let draw = |n: usize, model: &rank::Candidate| draws[n].of(&model.draws()[n]).unwrap();
    let mut best = vec![0.0; candidates.len()];
    let mut regret = vec![0.0; candidates.len()];
    for n in 0..1000 {
        let values: Vec<f64> = candidates.iter().map(|model| draw(n, model)).collect();
        let top = values.iter().copied().fold(f64::MIN, f64::max);
        for (m, value) in values.iter().enumerate() {
            best[m] += f64::from(u8::from(*value == top)) / 1000.0;
            regret[m] += (top - value) / 1000.0;
        }
    }
    for standing in &found.ranking.standings {
        assert!((standing.probability_best - best[standing.index]).abs() < 1e-9);
        assert!((standing.expected_regret - regret[standing.index]).abs() < 1e-9);
    }
    assert_eq!(found.separable, best.iter().any(|share| *share >= 0.8));
}

#[test]
fn without_an_answer_the_estimate_is_that_of_a_run_without_it() {
    let design = common::design("binary-cancer");
    let people = cohort(&design, &[7.0], 20.0);
    let report = report_of(&design, &people);
    assert_eq!(report.people[0].why.len(), 3);
    for influence in &report.people[0].why {
        let mut without = design.belief();
        let mut turned = design.belief();
        for question in people[0].questions() {
            let Some(answer) = &question.answer else { continue };
            let shown = &question.asked.shown;
            let straight = if question.asked.swapped { shown.swapped() } else { shown.clone() };
            let take = |belief: &mut equipoise_study::Belief, choice: Choice| {
                let (query, preference) = (&question.asked.query, question.asked.preference(choice));
                let seen = Answer { preference, shown: Some(design.frame().query(&straight)) };
                match question.asked.purpose {
                    Purpose::Elicitation => belief.take(query, &seen),
                    Purpose::Dominated | Purpose::Repeat { .. } => belief.take_check(query, &seen),
                    Purpose::Evaluation => {}
                }
            };
            if question.asked.number == influence.question {
                take(&mut turned, if answer.choice == Choice::A { Choice::B } else { Choice::A });
            } else {
                take(&mut without, answer.choice);
                take(&mut turned, answer.choice);
            }
        }
        assert_eq!(influence.without, without.quantile(0.5));
        assert_eq!(influence.had_it_been_the_other, turned.quantile(0.5));
        assert_eq!(influence.rows.0.len(), 1);
    }
}

#[test]
fn few_people_are_hidden_in_a_report_that_is_passed_on() {
    let design = cancer("report-shared", MODELS, |text| text).unwrap();
    let people = cohort(&design, &[4.0, 5.0, 6.0], 20.0);
    let shared = Options { shared: true, ..Options::default() };
    let found = report::report(&design, &people, "head", &shared);
    assert!(found.hidden && found.people.is_empty());
    assert!(
        found
            .group
            .as_ref()
            .is_some_and(|group| group.experts.members.is_empty() && group.experts.people == 3)
    );
    let page = report::html(&design, &found);
    assert!(!page.contains("Participant 1") && page.contains("fewer than 5"));
}

#[test]
fn other_versions_are_mixed_in_only_when_told() {
    let design = common::design("binary-cancer");
    let people = cohort(&design, &[4.0, 8.0], 20.0);
    let text = template::find("binary-cancer").unwrap().text.replacen("version = 1 ", "version = 2 ", 1);
    let next = Arc::new(
        Design::new(Study::parse(&text).unwrap(), Path::new("../equipoise-study/src/templates")).unwrap(),
    );
    let apart = report::report(&next, &people, "head", &Options::default());
    assert_eq!((apart.counts.answered, apart.other_versions, apart.mixed_versions), (0, 2, false));
    let mix = Options { mix_versions: true, ..Options::default() };
    let mixed = report::report(&next, &people, "head", &mix);
    assert_eq!((mixed.counts.answered, mixed.mixed_versions), (2, true));
    assert!(mixed.first.iter().any(|sentence| sentence.contains("several versions")));
}

#[test]
fn whoever_was_not_looking_is_refused_a_metric() {
    let design = common::design("binary-cancer");
    // Slope 0: a coin.
    let people = cohort(&design, &[1.0; 6], 0.0);
    let report = report_of(&design, &people);
    // Whoever tosses coins passes two of three checks every other time, but clearly beats a coin about once in fifty.
    assert!(report.counts.refused >= 5, "{} of 6 refused", report.counts.refused);
    let reasons = || report.people.iter().filter_map(|person| person.refusal.as_deref());
    assert!(reasons().any(|reason| reason.starts_with("these answers look like chance: ")));
    for person in report.people.iter().filter(|person| person.refusal.is_some()) {
        assert!(person.sentence.starts_with("No metric is reported: ") && person.metric.is_none());
        assert!(person.models.is_none() && person.threshold.is_none());
    }
    assert!(report.people.iter().any(|person| !person.consistency.contradictions.is_empty()));
}

#[test]
fn models_that_cannot_be_used_are_named_with_what_was_expected() {
    let wrong = |name: &str, models: &str| cancer(name, models, |text| text).unwrap_err().to_string();
    assert_eq!(
        wrong("report-wrong-1", &MODELS.replace("no cancer", "healthy")),
        "candidates: model bold has the class \"healthy\", expected no cancer, cancer"
    );
    let one: String = MODELS.lines().take(5).map(|line| format!("{line}\n")).collect();
    assert_eq!(wrong("report-wrong-2", &one), "candidates has 1 models, expected at least 2 to choose from");
    let neither = cancer("report-wrong-3", MODELS, |text| text.replacen("file = \"models.csv\"\n", "", 1));
    let sentence = neither.unwrap_err().to_string();
    assert!(sentence.ends_with("candidates has no file, expected either file or predictions"), "{sentence}");
    let plain = common::design("binary-cancer");
    let with = cancer("report-hash", MODELS, |text| text).unwrap();
    let other = cancer("report-hash-2", &MODELS.replace("1100", "1101"), |text| text).unwrap();
    assert!(plain.hash() != with.hash() && with.hash() != other.hash(), "models are part of the hash");
}

#[test]
fn one_metric_among_refusals_is_shown_as_that_persons() {
    let design = common::design("binary-cancer");
    let service = Service::new(
        design.clone(),
        Writer::start(MemoryStore::new()),
        TestClock::default(),
        TestRandom::new(7),
    );
    let invitations = service.invite(2).unwrap();
    // The first stops after three answers, which is too few for a metric.
    for (invitation, most) in invitations.iter().zip([3, usize::MAX]) {
        walk(&service, &invitation.session, &mut Simulant::new(8.0, 20.0, 5), most);
    }
    let people: Vec<Participant> =
        invitations.iter().map(|one| service.look(&one.session, Clone::clone).unwrap()).collect();
    let report = report_of(&design, &people);
    assert_eq!((report.counts.answered, report.counts.with_metric), (2, 1));
    let [refused, only] = report.people.as_slice() else { panic!("two people") };
    assert!(refused.refusal.is_some());
    assert_eq!(report.first[0], format!("One person has a metric. {}", only.sentence));
    let page = report::html(&design, &report);
    assert!(!page.contains("There is no metric to be sure of"), "there is one");
    let elicited = only.fidelity.shares.elicited.unwrap();
    let told = format!("the elicited metric: {} of {}", elicited.agree, elicited.of);
    assert!(page.contains(&told), "{told}");
    // Reasons of refusals and general limits are two lists, with a sentence between them.
    let after = page.split("are too few, 8 are needed.</li>").nth(1).expect("the reason is listed");
    assert!(after.starts_with("</ul>\n<p>"), "{}", &after[..60]);
    assert!(!page.contains("fewer than 0 repeats") && !page.contains("100 % of the questions"));
    // Passed on, neither this person's metric nor what follows from it is told.
    let options = Options { shared: true, ..Options::default() };
    let shared = report::report(&design, &people, "head", &options);
    assert!(shared.models.is_none() && shared.threshold.is_none() && shared.sensitivity.is_none());
    assert_eq!(shared.first[0], "One person has a metric.");
}

#[test]
fn several_classes_and_groups_have_rates_prices_and_a_map() {
    for template in ["multiclass-triage", "group-fair-hiring"] {
        let design = common::design(template);
        // Decided people: nobody is refused, so everything below is looked at.
        let people = cohort(&design, &[1.0, 1.0], 200.0);
        let report = report_of(&design, &people);
        let page = report::html(&design, &report);
        assert_eq!(report.counts.with_metric, 2, "{template}");
        for person in &report.people {
            assert_eq!(person.rates.len(), if template == "group-fair-hiring" { 1 } else { 5 });
            assert!(person.rates.windows(2).all(|pair| pair[0].rate >= pair[1].rate));
            for rate in &person.rates {
                let [low, high] = rate.interval.unwrap();
                assert!(low <= high && !rate.rows.0.is_empty());
            }
            assert_eq!(person.gaps.len(), if template == "group-fair-hiring" { 2 } else { 0 });
            if let Some(gap) = person.gaps.first() {
                assert!(gap.sentence.starts_with("Participant ") && gap.sentence.contains("by 1 point"));
                assert!(person.trade_off.is_some() && page.contains("Trade-off"));
            }
            // What each answer did is told as a price that was, and would be (RP-05).
            assert_eq!(person.why.len(), 3);
            let prices: Vec<f64> = person.rates.iter().map(|rate| rate.rate).collect();
            let gaps = person.gaps.iter().map(|gap| gap.more_per_thousand);
            let prices: Vec<f64> = prices.into_iter().chain(gaps).collect();
            for influence in &person.why {
                let change = influence.change.as_ref().unwrap();
                assert!(prices.contains(&change.reported), "{change:?} is not in the report: {prices:?}");
                assert!(change.otherwise != change.reported, "{change:?}");
                let sentence = &influence.sentence;
                assert!(sentence.contains(" instead of ") && !sentence.contains("degrees"), "{sentence}");
                assert!(sentence.contains(" more ") || sentence.contains(" fewer "), "{sentence}");
            }
        }
        let experts = &report.group.as_ref().unwrap().experts;
        assert!(experts.members.iter().all(|member| member.place.is_some()));
        assert!(page.contains("People in the plane"));
        // What the answer depends on is told in numbers, too.
        let depends = report.sensitivity.as_ref().unwrap();
        assert_eq!(depends.numbers.len(), if template == "group-fair-hiring" { 2 } else { 1 });
        assert!(depends.variations.len() > 1);
        for variation in &depends.variations {
            assert_eq!(variation.numbers.len(), depends.numbers.len());
            assert!(variation.numbers.iter().all(|number| number.low <= number.high));
        }
        let reported = depends.variations[0].numbers[0].estimate;
        assert_eq!(reported, report.group.as_ref().unwrap().rates[0].rate);
    }
}

#[test]
fn candidates_with_attributes_have_weights_a_best_one_and_a_page() {
    let design = common::design("choose-program");
    let people = cohort(&design, &[2.0, 2.0, 1.0], 200.0);
    let report = report_of(&design, &people);
    assert_eq!(report.counts.with_metric, 3);
    for (person, ratio) in report.people.iter().zip([2.0_f64, 2.0, 1.0]) {
        let sum: f64 = (0..4).map(|n| ratio.powi(-n)).sum();
        for (n, share) in person.shares.iter().enumerate() {
            let [low, high] = share.interval.unwrap();
            let held = ratio.powi(-(n as i32)) / sum;
            assert!(low <= share.share && share.share <= high);
            assert!(
                (share.share - held).abs() < 0.15,
                "{}: {:.2} for {held:.2}",
                share.attribute,
                share.share
            );
        }
        assert_eq!(person.shares[0].range, "41 of 1,000 patients to 21 of 1,000 patients");
        let best = person.models.as_ref().unwrap().likeliest().unwrap();
        assert!(person.sentence.starts_with(&format!("The best candidate is {} with", best.name)));
        for standing in &person.models.as_ref().unwrap().ranking.standings {
            let range = standing.score.interval.unwrap();
            let value = standing.score.value;
            assert!(
                (0.0..=1.0).contains(&value) && range.low <= value && value <= range.high,
                "{standing:?}"
            );
        }
        let participant = &people[person.participant as usize - 1];
        assert_eq!(equipoise_study::people::best(participant).unwrap().name, best.name);
        assert!(person.rates.is_empty() && person.weights.is_empty() && person.ratio.is_none());
        assert_eq!(person.why.len(), 3);
        assert!(person.why.iter().all(|why| why.sentence.contains(" rather than ")), "{:?}", person.why);
        assert!(person.fidelity.shares.elicited.is_some() && person.fidelity.shares.fewest_missed.is_none());
    }
    let group = report.group.as_ref().unwrap();
    assert!(group.experts.models.is_some() && group.shares.len() == 4);
    let depends = report.sensitivity.as_ref().unwrap();
    assert!(
        depends.variations.len() > 1 && depends.sentence.as_ref().unwrap().contains("The best candidate")
    );
    let page = report::html(&design, &report);
    for expected in [
        "Which candidate?",
        "What attributes weigh",
        "Missed findings",
        "Oak (by ",
        "some were imagined",
        "as shares of all",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for wrong in ["different models", "which model", "on a model", "best model", "radians", "test cases"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

#[test]
fn what_models_have_besides_is_shown_and_weighs_nothing() {
    let with = |name: &str, table: &str| {
        let directory = place(&format!("{name}-besides"));
        std::fs::write(directory.join("besides.csv"), table).unwrap();
        let besides = directory.join("besides.csv");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::create_dir_all(&copy);
        cancer(name, MODELS, |text| {
            std::fs::copy(&besides, copy.join("besides.csv")).unwrap();
            text.replacen("file = \"models.csv\"", "file = \"models.csv\"\nattributes = \"besides.csv\"", 1)
        })
    };
    let design =
        with("report-besides", "latency_ms,model,licence\n40,timid,free\n90,bold,paid\n70,even,free\n")
            .unwrap();
    let carried = design.models().unwrap().carried();
    assert_eq!(carried[0].cells, ["90", "70", "40"]);
    let plain = cancer("report-besides-none", MODELS, |text| text).unwrap();
    assert!(design.hash() != plain.hash(), "what is shown is a part of the hash");
    let people = cohort(&design, &[6.0, 8.0], 40.0);
    let page = report::html(&design, &report_of(&design, &people));
    assert!(page.contains("latency_ms") && page.contains("<td>90</td><td>paid</td>"), "{page}");
    let wrong = with("report-besides-wrong", "model,latency_ms\nbold,40\neven,70\n").unwrap_err().to_string();
    assert_eq!(wrong, "candidates.attributes says nothing of model \"timid\", found bold, even");
    let twice = "model,latency_ms\nbold,40\neven,70\ntimid,\nbold,41\n";
    let wrong = with("report-besides-twice", twice).unwrap_err().to_string();
    assert_eq!(wrong, "candidates.attributes has model \"bold\" in row 4 again, expected a row for each");
}

#[test]
fn a_metric_that_is_refused_is_not_explained() {
    let design = common::design("multiclass-triage");
    let service = common::service("multiclass-triage", 7);
    let invitation = service.invite(1).unwrap().remove(0);
    walk(&service, &invitation.session, &mut Simulant::new(1.0, 20.0, 5), 4);
    let report = report_of(&design, &[service.look(&invitation.session, Clone::clone).unwrap()]);
    let page = report::html(&design, &report);
    assert!(page.contains("No metric is reported") && !page.contains("The answers that mattered most"));
}

#[test]
fn a_cohort_is_covered_and_the_elicited_metric_predicts_best() {
    let people = 24;
    let service = common::service("binary-cancer", 11);
    let (mut covered, mut questions, mut refused) = (0, vec![], 0);
    let mut fidelity = [0.0; 3];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for (n, invitation) in service.invite(people).unwrap().into_iter().enumerate() {
        let ratio = random.random_range(0.5_f64..3.0).exp();
        walk(&service, &invitation.session, &mut Simulant::new(ratio, 20.0, n as u64), usize::MAX);
        let report = service.look(&invitation.session, |p| report::person(p, false)).unwrap();
        let found = report.ratio.unwrap();
        covered += usize::from(found.low.is_none_or(|x| x <= ratio) && found.high.is_none_or(|x| ratio <= x));
        questions.push(report.answers);
        refused += usize::from(report.refusal.is_some());
        for (sum, agreement) in fidelity.iter_mut().zip([
            report.fidelity.shares.elicited,
            report.fidelity.shares.stated,
            report.fidelity.shares.fewest_missed,
        ]) {
            *sum += agreement.unwrap().share / people as f64;
        }
    }
    questions.sort_unstable();
    let median = questions[people / 2];
    println!("covered {covered} of {people}, median {median} questions, most {}", questions[people - 1]);
    println!("refused {refused}; M elicited, stated, fewest missed: {fidelity:.3?}");
    assert!(covered * 100 >= 87 * people, "{covered} of {people}");
    assert!(median <= 25, "{median}");
    assert!(fidelity[0] > fidelity[1] && fidelity[0] > fidelity[2], "{fidelity:?}");
}
