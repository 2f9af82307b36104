//! The report as one page: no script, no network, light and dark, prints well (RP-13).
//!
//! The order is that of a reader's questions: the answer, how sure, was it answered consistently, which model, which
//! threshold, stated against elicited, the group, what it depends on, method and limits, and the seal of the log.

mod choice;
mod group;
mod page;
mod person;

use super::{Agreement, PersonReport, Report, Rows};
use equipoise_plot::{Axis, Chart, escape};
use equipoise_study::Design;
use equipoise_study::numbers::{grouped, two_digits};
use equipoise_study::study::Exclusion;
use page::{Page, STYLE};

/// The report as one page of HTML.
pub fn html(design: &Design, report: &Report) -> String {
    let mut page = Page::default();
    let title = format!("Report: {}", report.title);
    page.heading(1, &title);
    let people = report.counts.answered;
    let who = match (people, report.people.as_slice()) {
        (1, [only]) => format!("participant {}", only.participant),
        (1, _) => "1 person".to_owned(),
        _ => format!("{} people", grouped(people as u64)),
    };
    page.raw(&format!(
        "<p class='soft'>Study {} version {}, {who}. A number in brackets leads to the rows of the log behind a figure.</p>",
        escape(&report.study),
        report.version
    ));
    answer(&mut page, report);
    how_sure(&mut page, report);
    consistency(&mut page, report);
    choice::models(&mut page, report);
    choice::threshold(&mut page, report);
    stated(&mut page, report);
    group::section(&mut page, design, report);
    people_one_by_one(&mut page, report);
    choice::sensitivity(&mut page, report);
    method(&mut page, design, report);
    person::weights(&mut page, report);
    page.heading(2, "Rows behind the numbers");
    page.paragraph(
        "Events of each participant, by their number among that participant's events, as exports list them.",
    );
    page.notes();
    seal(&mut page, report);
    page.document(&title, STYLE)
}

/// All rows of everybody who is in the report.
fn all_rows(report: &Report) -> Rows {
    match &report.group {
        Some(group) => group.rows.clone(),
        None => Rows::all(report.people.iter().map(|person| &person.rows)),
    }
}

fn answer(page: &mut Page, report: &Report) {
    let note = page.note(&all_rows(report));
    let mut sentences = report.first.iter();
    let first = sentences.next().map_or(String::new(), |text| format!("<p>{}{note}</p>", escape(text)));
    let rest: String = sentences.map(|text| format!("<p>{}</p>", escape(text))).collect();
    page.raw(&format!("<section class='answer' aria-label='The answer'>{first}{rest}</section>"));
}

fn how_sure(page: &mut Page, report: &Report) {
    page.heading(2, "How sure is this?");
    match (&report.group, report.people.as_slice()) {
        (Some(group), _) => group::how_sure(page, group),
        (None, [only]) => {
            person::estimate(page, only);
            person::why(page, 3, only);
        }
        (None, _) => match only_with_metric(report) {
            Some(only) => {
                page.sourced(&only.sentence, &only.rows);
                page.paragraph(&format!(
                    "That is participant {}, the only one with a metric, who stands with everybody else under \"People one by \
                     one\".",
                    only.participant
                ));
            }
            None if report.counts.with_metric > 0 => page.paragraph(HIDDEN),
            None => page.paragraph("There is no metric to be sure of."),
        },
    }
}

/// Said in place of single people.
const HIDDEN: &str =
    "People are not shown one by one, because they are fewer than 5 and this report is passed on.";

/// The person with a metric, where there is one only.
fn only_with_metric(report: &Report) -> Option<&PersonReport> {
    let mut with = report.people.iter().filter(|person| person.refusal.is_none());
    with.next().filter(|_| with.next().is_none())
}

fn consistency(page: &mut Page, report: &Report) {
    page.heading(2, "Were the answers consistent?");
    let fidelity = report.group.as_ref().map(|group| {
        let f = group.fidelity;
        let rows = [f.elicited, f.stated, f.fewest_missed, f.fewest_mistakes, f.own_repeats];
        (rows, group.rows.clone())
    });
    let fidelity = fidelity.or_else(|| {
        let only = only_with_metric(report)?;
        let f = &only.fidelity;
        let rows = [f.elicited, f.stated, f.fewest_missed, f.fewest_mistakes, f.own_repeats];
        Some((rows, Rows::all([&f.rows, &f.repeat_rows].into_iter())))
    });
    if let Some((shares, rows)) = fidelity {
        predictions(page, shares, &rows);
    }
    if report.hidden {
        page.paragraph(HIDDEN);
        return;
    }
    let rows: Vec<Vec<String>> = report
        .people
        .iter()
        .map(|person| {
            let conduct = &person.conduct;
            let of = |passed: equipoise_study::people::Passed| format!("{} of {}", passed.count, passed.of);
            vec![
                person.participant.to_string(),
                person.answers.to_string(),
                of(conduct.dominated),
                of(conduct.repeats),
                format!("{} of {}", person.consistency.against.len(), person.consistency.answers),
                of(conduct.cannot_tell),
                conduct
                    .median_ms
                    .map_or("none".to_owned(), |ms| format!("{} s", two_digits(ms as f64 / 1000.0))),
                if conduct.excluded { "yes" } else { "no" }.to_owned(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let headings = [
            "Participant",
            "Answers that elicit",
            "Checks passed",
            "Repeats alike",
            "Against the estimate",
            "Can't tell",
            "Middle time",
            "Excluded by rule",
        ];
        page.table("How each person answered", &headings, &rows);
    }
    for one in &report.people {
        for flag in &one.conduct.flags {
            page.paragraph(&format!("Look at participant {}: {flag}.", one.participant));
        }
    }
    if let [only] = report.people.as_slice() {
        person::inconsistent(page, 3, only);
        person::times(page, 3, only);
    }
}

/// How many answers that were kept out of the estimate each metric predicts.
fn predictions(page: &mut Page, shares: [Option<Agreement>; 5], rows: &Rows) {
    let names = [
        "the elicited metric",
        "the cost stated before",
        "always fewest missed",
        "always fewest mistakes",
        "ceiling: own repeats answered alike",
    ];
    let there: Vec<(&str, Agreement)> =
        names.into_iter().zip(shares).filter_map(|(name, share)| Some((name, share?))).collect();
    if there.is_empty() {
        return page.paragraph("No evaluation question has been answered yet.");
    }
    page.heading(3, "Does the metric predict answers it has not seen?");
    let labels: Vec<String> =
        there.iter().map(|(name, a)| format!("{name}: {} of {}", a.agree, a.of)).collect();
    let mut chart = Chart::rows(Axis::linear(0.0, 100.0), "answers predicted, in per cent", &labels);
    chart = chart.rule(50.0, "s5 dash");
    for (n, (_, share)) in there.iter().enumerate() {
        let style = if n == 0 { "s0" } else { "s5" };
        chart = chart.interval(n, 100.0 * share.share, 100.0 * share.low, 100.0 * share.high, style);
    }
    page.chart(
        &chart.svg(),
        "Evaluation questions were asked but kept out of the estimate. Lines are 95 % intervals; the dashed line is a coin.",
    );
    let percent = |x: f64| format!("{:.0} %", 100.0 * x);
    let mut table: Vec<Vec<String>> = there
        .iter()
        .map(|(name, a)| {
            let range = format!("{} to {}", percent(a.low), percent(a.high));
            vec![(*name).to_owned(), format!("{} of {}", a.agree, a.of), percent(a.share), range]
        })
        .collect();
    table.push(["a coin", "", "50 %", ""].map(str::to_owned).to_vec());
    page.numbers("answers predicted", &["By", "Predicted", "Share", "95 % interval"], &table);
    page.sourced("The answers behind this figure.", rows);
}

fn stated(page: &mut Page, report: &Report) {
    let both: Vec<_> = report
        .people
        .iter()
        .filter_map(|p| Some((p.participant, p.stated_against_elicited.as_ref()?)))
        .collect();
    if both.is_empty() {
        return;
    }
    page.heading(2, "Stated against elicited cost");
    if let [(_, only)] = both.as_slice() {
        let text = format!(
            "{} The elicited ratio is {} times the stated one.",
            only.sentence,
            two_digits(only.factor)
        );
        return page.sourced(&text, &only.rows);
    }
    let rows: Vec<Vec<String>> = both
        .iter()
        .map(|(number, both)| {
            let test = both.test.map_or("none".to_owned(), |p| format!("{p:.2}"));
            vec![
                number.to_string(),
                two_digits(both.stated),
                two_digits(both.elicited),
                two_digits(both.factor),
                test,
            ]
        })
        .collect();
    let headings = ["Participant", "Stated before", "Elicited", "Elicited over stated", "Paired test, p"];
    page.table("Cost ratios, stated and elicited", &headings, &rows);
    page.sourced("What was stated.", &Rows::all(both.iter().map(|(_, both)| &both.rows)));
}

fn people_one_by_one(page: &mut Page, report: &Report) {
    if report.people.len() < 2 {
        return;
    }
    page.heading(2, "People one by one");
    for one in &report.people {
        page.heading(3, &format!("Participant {}", one.participant));
        page.sourced(&one.sentence, &one.rows);
        person::estimate(page, one);
        person::why(page, 4, one);
        person::inconsistent(page, 4, one);
        person::times(page, 4, one);
    }
}

fn method(page: &mut Page, design: &Design, report: &Report) {
    let study = design.study();
    page.heading(2, "Method and limits");
    page.paragraph(
        "People chose between two systems, shown as whole numbers of people. The estimate uses exactly the numbers that were \
         on the screen. Questions were picked one after another so that each tells most; evaluation, repeated and dominated \
         questions were mixed in and are not part of the estimate.",
    );
    let end = match design.binary() {
        Some(_) => {
            format!("the ends of the 95 % interval differ by a factor of at most {}", study.stop.width)
        }
        None => format!("the weights are known to within {} radians with 95 % certainty", study.stop.angle),
    };
    page.paragraph(&format!(
        "Questions ended when {end}, or after {} of them. {} Flags exclude nobody.",
        study.stop.cap,
        exclusion(&study.exclusion)
    ));
    let refused: Vec<String> = report
        .people
        .iter()
        .filter_map(|person| {
            Some(format!("Participant {}: {}.", person.participant, person.refusal.as_ref()?))
        })
        .collect();
    if !refused.is_empty() {
        page.paragraph("No metric is reported for these people; their answers are exported all the same:");
        page.list(refused.iter().map(String::as_str));
    }
    page.paragraph("What holds for every report of this kind:");
    page.list([
        "Intervals are Bayesian, 95 %, and hold if people err as the answer model says: more often the closer the choice, and \
         sometimes for no reason. What other models of error would say is listed above.",
        "A metric of this kind charges every mistake of a kind the same. It says nothing about people or mistakes the \
         comparisons did not show.",
        "Rankings hold for people like those the models were tested on.",
    ]);
    if report.other_versions > 0 {
        let what = if report.mixed_versions { "are mixed in" } else { "are not in this report" };
        page.paragraph(&format!(
            "{} people were invited to another version of the study and {what}.",
            report.other_versions
        ));
    }
}

/// The exclusion rule in a sentence, without the parts that are off and so name nobody.
fn exclusion(rule: &Exclusion) -> String {
    let mut parts = vec![];
    if rule.dominated_failed > 0 {
        parts.push(format!("failed {} or more checks with a better system", rule.dominated_failed));
    }
    if rule.repeats_alike_below > 0 {
        parts.push(format!("answered fewer than {} repeats alike", rule.repeats_alike_below));
    }
    if rule.too_fast_share < 1.0 {
        let share = 100.0 * rule.too_fast_share;
        parts.push(format!("answered more than {share:.0} % of the questions within 300 ms"));
    }
    match parts.as_slice() {
        [] => "The study has no exclusion rule.".to_owned(),
        parts => format!(
            "The exclusion rule, fixed before the first answer, names whoever {}.",
            parts.join(", or ")
        ),
    }
}

fn seal(page: &mut Page, report: &Report) {
    page.heading(2, "Audit");
    page.raw(&format!(
        "<p>Study hash <code>{}</code></p><p>Head of the log <code>{}</code></p>",
        escape(&report.hash),
        escape(&report.head)
    ));
    page.paragraph("The same log gives this page to the last byte. Whoever holds the head can tell whether the log was changed since.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_off_is_not_told() {
        let off = Exclusion { dominated_failed: 0, repeats_alike_below: 0, too_fast_share: 1.0 };
        assert_eq!(exclusion(&off), "The study has no exclusion rule.");
        let one = Exclusion { dominated_failed: 2, ..off.clone() };
        assert_eq!(
            exclusion(&one),
            "The exclusion rule, fixed before the first answer, names whoever failed 2 or more checks with a better system."
        );
        let all = Exclusion { repeats_alike_below: 3, too_fast_share: 0.1, ..one };
        assert!(
            exclusion(&all).ends_with(
                "system, or answered fewer than 3 repeats alike, or answered more than 10 % of the questions within 300 ms."
            )
        );
    }
}
