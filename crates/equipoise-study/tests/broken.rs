//! Broken study files (RS-04): each is a good one with one edit; its message has the line of the edit.

use equipoise_study::Study;

/// (study file, what is there, what is written instead, what is said). The line is that of the first line that changed; where
/// the sentence begins with "@text:", it is the line that has the text.
type Case = (&'static str, &'static str, &'static str, &'static str);

const BINARY: &str = include_str!("fixtures/law.toml");
const TRIAGE: &str = include_str!("fixtures/ball.toml");
const HIRING: &str = include_str!("fixtures/group-ball.toml");

const CASES: &[Case] = &[
    // The file as a whole.
    (BINARY, "format = 1", "format = 2", "format is 2, expected 1"),
    (BINARY, "format = 1", "format = \"1\"", "found \"1\", expected a whole number from 0 on"),
    (BINARY, "format = 1", "format 1", "key with no value, expected ="),
    (
        BINARY,
        "name = \"cancer\"",
        "name = \"can cer\"",
        "name is \"can cer\", expected letters, digits and hyphens",
    ),
    (BINARY, "name = \"cancer\"", "name = \"\"", "name is \"\", expected letters, digits and hyphens"),
    (BINARY, "name = \"cancer\"", "name = cancer", "string values must be quoted, expected literal string"),
    (BINARY, "seed = 20261116", "seed = -1", "found -1, expected a whole number from 0 on"),
    (BINARY, "seed = 20261116", "seeds = 20261116", "unknown field seeds"),
    (
        BINARY,
        "languages = [\"en\", \"de\", \"es\", \"fr\"]",
        "languages = []",
        "languages is empty, expected at least one",
    ),
    (
        BINARY,
        "family = \"linear\"",
        "family = \"cubic\"",
        "found cubic, expected one of linear, quadratic, group_fair",
    ),
    (
        BINARY,
        "family = \"linear\"",
        "family = \"group_fair\"",
        "family \"group_fair\" needs a space of kind \"table\" or \"group_ball\", and a \"group_ball\" needs that",
    ),
    (BINARY, "variants = [\"flow\"]", "variants = []", "variants is empty, expected at least one"),
    (BINARY, "variants = [\"flow\"]", "variants = [\"pie\"]", "found pie"),
    (BINARY, "direction = \"truth_first\"", "direction = \"left\"", "found left"),
    (
        BINARY,
        "direction = \"truth_first\"",
        "direction = \"truth_first\"\ndirection = \"truth_first\"",
        "@direction = \"truth_first\"\ndirection:duplicate key",
    ),
    // The task.
    (BINARY, "id = \"cancer\"", "id = \"no cancer\"", "the class \"no cancer\" is there twice"),
    (BINARY, "id = \"cancer\"", "id = 2", "found 2, expected a string"),
    (
        BINARY,
        "truth = \"cancer\"\npredicted = \"no cancer\"\none",
        "truth = \"flu\"\npredicted = \"no cancer\"\none",
        "task.mistakes.0.truth is \"flu\", expected one of no cancer, cancer",
    ),
    (
        BINARY,
        "predicted = \"no cancer\"\none",
        "predicted = \"cancer\"\none",
        "task.mistakes.0.predicted is its truth, expected another class",
    ),
    (
        BINARY,
        "truth = \"no cancer\"\npredicted = \"cancer\"\none",
        "truth = \"cancer\"\npredicted = \"no cancer\"\none",
        "@[task]:task.mistakes names not both mistakes of two classes, expected both",
    ),
    (BINARY, "question = { en = \"Which computer", "ask = { en = \"Which computer", "unknown field ask"),
    (
        BINARY,
        "people = { en = \"people\"",
        "people = { en = 7",
        "expected a string, or a table with a string per language",
    ),
    // The space.
    (
        BINARY,
        "kind = \"logistic\"",
        "kind = \"logistics\"",
        "space.kind is \"logistics\", expected one of logistic, table, pool, attributes, ball, group_ball",
    ),
    (
        BINARY,
        "kind = \"logistic\"",
        "kind = 1",
        "space.kind is not a string, expected one of logistic, table, pool, attributes, ball, group_ball",
    ),
    (
        BINARY,
        "kind = \"logistic\"\n",
        "",
        "@[space]:space has no kind, expected one of logistic, table, pool, attributes, ball, group_ball",
    ),
    (BINARY, "slope = 21.0", "slop = 21.0", "unknown field slop, expected one of slope, offset"),
    (BINARY, "slope = 21.0", "slope = \"steep\"", "space.slope is of another kind, expected a number"),
    (BINARY, "slope = 21.0\n", "", "@[space]:space.slope is missing, expected a number"),
    (
        BINARY,
        "kind = \"logistic\"\nslope = 21.0\noffset = 6.3",
        "kind = \"table\"\nfile = 3",
        "@file = 3:space.file is of another kind, expected a string",
    ),
    (TRIAGE, "kind = \"ball\"", "kind = \"pool\"", "@radius =:unknown field radius, expected one of file"),
    (TRIAGE, "radius = ", "radius = \"wide\" # ", "space.radius is of another kind, expected a number"),
    (TRIAGE, "class_shares = [", "class_shares = [0.1, ", "entries, expected one for each of"),
    (
        TRIAGE,
        "class_shares = [",
        "class_shares = [\"many\", ",
        "space.class_shares is of another kind, expected a list of numbers",
    ),
    (HIRING, "group_shares = [", "group_shares = [[0.1, 0.1], ", "rows, expected one for each of"),
    (
        HIRING,
        "group_shares = [",
        "group_shares = [0.5, ",
        "space.group_shares is of another kind, expected a list of lists of numbers",
    ),
    (
        HIRING,
        "family = \"group_fair\"",
        "family = \"linear\"",
        "family \"group_fair\" needs a space of kind \"table\" or \"group_ball\", and a \"group_ball\" needs that",
    ),
    // When it stops, and what is checked.
    (BINARY, "width = 1.6 ", "regret = 1.5 ", "stop.regret is 1.5, expected a number in [0.001, 0.9]"),
    (BINARY, "width = 1.6 ", "width = 0.5 ", "stop.width is 0.5, expected a number in [1.05, 100]"),
    (BINARY, "cap = 40", "cap = \"many\"", "found \"many\", expected a whole number from 0 on"),
    (BINARY, "cap = 40", "cap = 0", "stop.cap is 0, expected a number in [1, 400]"),
    (BINARY, "cap = 40", "cap = 40.5", "found 40.5, expected a whole number from 0 on"),
    (BINARY, "information = 0.03", "information = 2.0", "stop.information is 2, expected a number in [0, 1]"),
    (BINARY, "dominated = 3", "dominated = 30", "checks.dominated is 30, expected a number in [0, 20]"),
    (BINARY, "repeats = 4", "repeats = 40", "checks.repeats is 40, expected a number in [0, 20]"),
    (BINARY, "apart = 5", "apart = 0", "checks.apart is 0, expected a number in [1, 20]"),
    (BINARY, "evaluation = 15", "evaluations = 15", "unknown field evaluations"),
    (
        BINARY,
        "evaluation = 15",
        "evaluation = 150",
        "checks.evaluation is 150, expected a number in [0, 100]",
    ),
    (
        BINARY,
        "dominated_failed = 2",
        "too_fast_share = 1.5",
        "exclusion.too_fast_share is 1.5, expected a number in [0, 1]",
    ),
    // What people read.
    (
        BINARY,
        "contact = \"study@example.org\"",
        "contact = [\"study@example.org\"]",
        "found a list, expected a string",
    ),
    (BINARY, "contact = \"study@example.org\"", "contacts = \"study@example.org\"", "unknown field contacts"),
    (BINARY, "[stated_cost]\nquestion", "[stated_cost]\ntext", "@text = { en = \"Missing:unknown field text"),
    (
        BINARY,
        "truth = \"cancer\"\npredicted = \"no cancer\"\nkind",
        "truth = \"flu\"\npredicted = \"no cancer\"\nkind",
        "consequences.0.truth is \"flu\", expected one of no cancer, cancer",
    ),
    (BINARY, "kind = \"comprehension\"", "kind = \"guess\"", "found guess"),
    (BINARY, "correct = 1", "correct = 2", "picture.1.correct is 2, expected less than 2, the options"),
    (
        BINARY,
        "systems = [[50, 15, 5, 30]]",
        "systems = [[50, 15, 5]]",
        "picture.0.systems.0 has 3 cells, expected 4",
    ),
    (BINARY, "exercise = \"undo\"", "exercise = \"redo\"", "found redo"),
    (BINARY, "version = 1", "version = 0", "version is 0, expected a whole number from 1 on"),
    (BINARY, "slope = 21.0", "slope = nan", "space.slope is NaN, expected a finite number"),
    (BINARY, "width = 1.6", "width = 1e300", "stop.width is 1e300, expected a number in [1.05, 100]"),
    (
        BINARY,
        "systems = [[50, 15, 5, 30]]",
        "systems = [[50, 15, 5, 31]]",
        "picture.0.systems.0 sums to 101, expected 100, 1000 or 10000",
    ),
    (
        BINARY,
        "b = [48, 17, 3, 32]",
        "b = [48, 16, 4, 32]",
        "practice.1.b shows 64, 36 people of the classes, expected 65, 35 as the other system does",
    ),
    (BINARY, "b = [48, 17, 3, 32]", "b = [48, 17, 3, 32, 1]", "practice.1.b has 5 cells, expected 4"),
    (BINARY, "b = [48, 17, 3, 32]", "b = [48, -17, 3, 32]", "found -17, expected a whole number from 0 on"),
    // The questionnaire.
    (BINARY, "id = \"gender\"", "id = \"age\"", "the item \"age\" is there twice"),
    (
        BINARY,
        "id = \"gender\"\nposition = \"before\"",
        "id = \"gender\"\nposition = \"early\"",
        "@position = \"early\":found early",
    ),
    (
        BINARY,
        "id = \"gender\"\nposition = \"before\"",
        "id = \"gender\"\nwhere = \"before\"",
        "@where = \"before\":unknown field where, expected one of id, position, question, sensitive, options",
    ),
    (
        BINARY,
        "id = \"health_care\"\nposition = \"before\"\nkind = \"scale\"\nsteps = 5",
        "id = \"health_care\"\nposition = \"before\"\nkind = \"scale\"\nsteps = 5.5",
        "@steps = 5.5:questionnaire.4.steps is of another kind, expected a whole number",
    ),
    (
        BINARY,
        "id = \"health_care\"\nposition = \"before\"\nkind = \"scale\"",
        "id = \"health_care\"\nposition = \"before\"\nkind = \"slider\"",
        "@kind = \"slider\":questionnaire.4.kind is \"slider\", expected one of number, single, multiple, text, scale",
    ),
    (
        BINARY,
        "options = [\"18-24\",",
        "options = [18,",
        "questionnaire.0.options is of another kind, expected a list of texts",
    ),
    // More people than a number can hold.
    (
        BINARY,
        "systems = [[50, 15, 5, 30]]",
        "systems = [[18446744073709551615, 15, 56, 30]]",
        "picture.0.systems.0 sums to 18446744073709551615, expected 100, 1000 or 10000",
    ),
    // The end.
    (BINARY, "show_result = true", "show_result = \"yes\"", "found \"yes\", expected true or false"),
    (BINARY, "show_result = true", "show_results = true", "unknown field show_results"),
    // A panel.
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"a b\"\n[completion]",
        "@id = \"a b\":panel.id is \"a b\", expected the name of a parameter: letters, digits, - . _",
    ),
    (BINARY, "[completion]", "[panel]\nquota = 3\n[completion]", "@[panel]:missing field id"),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\nkeep = [\"PID\"]\n[completion]",
        "@keep = :panel.keep.0 is \"PID\", which is kept already, expected another parameter",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\nopens = \"tomorrow\"\n[completion]",
        "@opens = :panel.opens is \"tomorrow\", expected a time such as \"2026-11-20T09:00:00Z\"",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\nopens = \"2026-11-20T09:00:00Z\"\ncloses = \"2026-11-20T09:00:00+01:00\"\n[completion]",
        "@closes = :panel.closes is 2026-11-20 08:00:00 UTC, expected a time after panel.opens, which is 2026-11-20 09:00:00 UTC",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\nquota = 0\n[completion]",
        "@quota = 0:panel.quota is 0, expected a whole number in [1, 1000000]",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\nhold_minutes = 0\n[completion]",
        "@hold_minutes:panel.hold_minutes is 0, expected a whole number in [1, 10080], a week",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[panel.done]\ncode = \"a&b\"\n[completion]",
        "@code = \"a&b\":panel.done.code is \"a&b\", expected 1 to 64 letters, digits, - . _",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[panel.full]\nurl = \"http://x.org\"\n[completion]",
        "@x.org:panel.full.url is \"http://x.org\", expected an address that begins with https://",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[panel.screened]\nurl = \"https://x.org?cc={code}\"\n[completion]",
        "@x.org:panel.screened.url has a place for {code}, expected panel.screened.code",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[panel.gone]\ncode = \"x\"\n[completion]",
        "@[panel.gone]:unknown field gone",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[[panel.require]]\nitem = \"feedback\"\none_of = [\"x\"]\n[completion]",
        "@item = \"feedback\":panel.require.0.item is \"feedback\", expected an item asked before the task: age, gender",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[[panel.require]]\nitem = \"age\"\n[completion]",
        "@[[panel.require]]:panel.require.0 has no one_of, expected the answers of \"age\" that may take part",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[[panel.require]]\nitem = \"age\"\none_of = [\"17\"]\n[completion]",
        "@one_of = [\"17\"]:panel.require.0.one_of names \"17\", expected options of \"age\"",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[[panel.require]]\nitem = \"health_care\"\none_of = [\"4\"]\n[completion]",
        "@[[panel.require]]:panel.require.0 has no least or most, expected a limit of \"health_care\"",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[[panel.require]]\nitem = \"health_care\"\nleast = 4\nmost = 2\n[completion]",
        "@most = 2:panel.require.0.most is below least, expected a number from least on",
    ),
    (
        BINARY,
        "[completion]",
        "[panel]\nid = \"PID\"\n[completion]\nurl = \"https://x.org\"",
        "@x.org:completion.url is there beside panel, expected panel.done.url, where people of a panel return to",
    ),
];

/// The line, counted from 1, on which a text begins.
fn line_of(text: &str, what: &str) -> usize {
    1 + text[..text.find(what).unwrap_or_else(|| panic!("{what:?} is in the file"))].matches('\n').count()
}

#[test]
fn every_broken_study_file_is_told_with_its_line() {
    let mut wrong = vec![];
    for (text, old, new, expected) in CASES {
        assert!(text.contains(old), "there is no {old:?} any more");
        let broken = text.replacen(old, new, 1);
        // Of an edit of several lines, the first that differs.
        let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
        let (line, sentence) = match expected.strip_prefix('@').and_then(|rest| rest.split_once(':')) {
            Some((marker, sentence)) => {
                let more = marker.matches('\n').count();
                (line_of(&broken, marker) + more, sentence)
            }
            None => (line_of(text, old) + same, *expected),
        };
        match Study::parse(&broken) {
            Ok(_) => wrong.push(format!("{new:?} was accepted")),
            Err(error) => {
                let said = error.to_string();
                if !said.starts_with(&format!("line {line}: ")) || !said.contains(sentence) {
                    wrong.push(format!("{new:?}: expected line {line}: {sentence}\n    found    {said}"));
                }
            }
        }
    }
    println!("{} of {} broken study files are told with their line", CASES.len() - wrong.len(), CASES.len());
    assert!(CASES.len() >= 60 && wrong.is_empty(), "\n{}", wrong.join("\n"));
}
