//! `equipoise choose` through the real binary.

mod place;

use place::{Numbers, Place};

/// Latency, price and recall of models of which none is dominated.
const FRONT: &str = "model,latency_ms,price_usd,recall,seed
m1,20,9,0.70,1
m2,35,4,0.78,2
m3,60,3,0.85,3
m4,120,6,0.91,4
m5,300,2,0.89,5
m6,480,8,0.95,6
worse,490,9,0.69,7
";

const COLUMNS: [&str; 5] = ["choose", "front.csv", "--ignore", "seed", "--quiet"];

#[test]
fn a_simulated_person_gets_their_candidate_and_a_metric_that_scores_later_ones() {
    let place = Place::new("choose_simulated");
    place.write("front.csv", FRONT);
    let line =
        [&COLUMNS[..], &["--oracle", "latency_ms=1,price_usd=1,recall=6", "--seed", "3", "--json"]].concat();
    let found = place.run(&line).json();
    assert!(["m4", "m6"].contains(&found["best"]["name"].as_str().unwrap()), "{found}");
    assert!(found["best"]["probability"].as_f64().unwrap() > 0.4);
    assert_eq!(found["dominated"][0]["name"], "worse");
    assert_eq!(found["ranking"].as_array().unwrap().len(), 6);
    assert_eq!(found["enough"], true);
    assert_eq!(found["weights"][0]["transform"], "log");
    assert_eq!(found["weights"][2]["range"], serde_json::json!([0.69, 0.95]));
    let shares: f64 = (0..3).map(|n| found["weights"][n]["weight"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let metric: serde_json::Value = serde_json::from_str(&place.read("metric.json")).unwrap();
    assert_eq!(metric["kind"], "attributes");
    assert!(metric["posterior"]["mean"].is_array() && metric["provenance"]["questions"].is_number());
    place.write("val.csv", "y,p\n0,0.2\n1,0.7\n0,0.4\n1,0.9\n");
    for line in ["score val.csv --metric metric.json", "scorer metric.json"] {
        let run = place.line(line);
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains("the metric is about attributes of candidates"), "{}", run.err);
    }
    // Whoever holds what was found answers alike.
    let again = [&COLUMNS[..], &["--oracle", "metric.json", "--save", "again.json", "--json"]].concat();
    let again = place.run(&again).json();
    assert_eq!(again["best"]["name"], found["best"]["name"]);
}

#[test]
fn a_person_sees_what_differs_and_can_go_on_later() {
    let place = Place::new("choose_person");
    place.write("front.csv", FRONT);
    let line = ["choose", "front.csv", "--ignore", "seed", "--seed", "1"];
    let run = place.run_with(&line, "1\n2\nu\n1\nq\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("6 candidates of front.csv are left to choose from"), "{}", run.out);
    assert!(run.out.contains("Question 1 of about "), "{}", run.out);
    assert!(run.out.contains("Imagine two such candidates; all else is equal."), "{}", run.out);
    assert!(run.out.contains("Saved 2 answers in front.choice.json."), "{}", run.out);
    let lost = place.run(&line);
    assert_eq!(lost.code, Some(2));
    assert!(lost.err.contains("holds 2 answers; go on with --resume"), "{}", lost.err);
    let resume = [&line[..], &["--resume", "front.choice.json"]].concat();
    let run = place.run_with(&resume, &"1\n2\n".repeat(40));
    assert!(run.out.contains("Going on after 2 answers."), "{}", run.out);
    assert!(
        run.out.contains("Your best candidate: ") && run.out.contains("over the range shown"),
        "{}",
        run.out
    );
    // Other candidates are another choice.
    place.write("front.csv", &FRONT.replace("0.78", "0.79"));
    let other = place.run(&resume);
    assert_eq!(other.code, Some(4));
    assert!(other.err.contains("these answers were given to other candidates"), "{}", other.err);
}

/// A program that goes by recall alone, and says nothing else.
#[test]
fn a_program_is_asked_line_by_line() {
    let place = Place::new("choose_program");
    place.write("front.csv", FRONT);
    place.write(
        "ask.sh",
        "while read -r line; do
a=$(printf '%s' \"$line\" | sed 's/.*\"first\":.*\"recall\":\\([0-9.]*\\).*\"second\":.*/\\1/')
b=$(printf '%s' \"$line\" | sed 's/.*\"second\":.*\"recall\":\\([0-9.]*\\).*/\\1/')
printf '%s\\n' \"$line\" >> asked.txt
awk -v a=\"$a\" -v b=\"$b\" 'BEGIN { print (a > b) ? \"first\" : (b > a) ? \"second\" : \"tie\" }'
done
",
    );
    let line = [&COLUMNS[..], &["--oracle-command", "sh ask.sh", "--seed", "2", "--json"]].concat();
    let run = place.run(&line);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    assert!(["m4", "m6"].contains(&found["best"]["name"].as_str().unwrap()), "{found}");
    let first: serde_json::Value =
        serde_json::from_str(place.read("asked.txt").lines().next().unwrap()).unwrap();
    assert_eq!((&first["format"], &first["question"]), (&1.into(), &1.into()));
    assert!(first["first"]["attributes"]["latency_ms"].is_number() && first["of_about"].is_number());
    let wrong =
        [&COLUMNS[..], &["--oracle-command", "echo maybe; cat > /dev/null", "--save", "x.json"]].concat();
    let wrong = place.run(&wrong);
    assert_eq!(wrong.code, Some(3));
    assert!(wrong.err.contains("expected"), "{}", wrong.err);
}

#[test]
fn fewer_questions_than_needed_are_a_finding() {
    let place = Place::new("choose_short");
    place.write("front.csv", FRONT);
    let line = [&COLUMNS[..], &["--oracle", "latency_ms=1,price_usd=1,recall=1", "--budget", "2", "--json"]]
        .concat();
    let run = place.run(&line);
    assert_eq!(run.code, Some(1), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&found["enough"], &found["stopped_by"]), (&false.into(), &"budget".into()));
}

#[test]
fn what_is_wrong_with_a_table_is_one_sentence() {
    let place = Place::new("choose_wrong");
    let says = |table: &str, options: &str, code: i32| -> String {
        place.write("t.csv", table);
        let line = format!("choose t.csv --oracle a=1 --save s.json{options}");
        let run = place.line(&line);
        assert_eq!(run.code, Some(code), "{}{}", run.out, run.err);
        assert!(run.err.lines().count() <= 1, "{}", run.err);
        run.err + &run.out
    };
    let two = "name,price,recall\nx,1,0.5\ny,2,0.9\n";
    assert!(says("name,price,recall\nx,1,0.5\n", "", 3).contains("has 1 candidates, expected at least 2"));
    assert!(says("name,price,recall\nx,1,\ny,2,0.9\n", "", 3).contains("has no number in row 1"));
    assert!(
        says(two, " --minimize colour", 2).contains("there is no column \"colour\", expected one of name")
    );
    assert!(says(two, " --minimize name", 3).contains("column \"name\" is \"x\" in row 1, expected numbers"));
    assert!(
        says("name,depth,recall\nx,1,0.5\ny,2,0.9\n", "", 2).contains("whether more of \"depth\" is better")
    );
    assert!(
        says("name,price,recall\nx,1,0.5\nx,2,0.9\n", "", 2).contains("two candidates have the name \"x\"")
    );
    assert!(says("name,price,recall\nx,0,0.5\ny,2,0.9\n", " --scale price=log", 2).contains("above 0"));
    let written = "name,price,recall\nx,\"1,200\",50%\ny,2,0.9\n";
    // A column that is written like that is not left out in silence, which would name a best candidate by the rest.
    let percent = says(&written.replace("\"1,200\"", "1"), "", 3);
    assert!(
        percent.contains("column \"recall\" is \"50%\" in row 1, expected numbers such as 0.5"),
        "{percent}"
    );
    let thousands = says(written, "", 3);
    assert!(thousands.contains("\"1,200\" in row 1, expected numbers such as 1200"), "{thousands}");
    let comma = says("name;price;recall\nx;3,2;0.5\ny;2,25;0.9\n", "", 3);
    assert!(comma.contains("\"3,2\" in row 1, expected numbers such as 3.2"), "{comma}");
    let both = says(two, " --out s.json", 2);
    assert!(both.contains("--save and --out both name s.json"), "{both}");
    let twice = says("team,name,price,recall\na,x,1,0.5\na,y,2,0.9\n", "", 2);
    assert!(twice.contains("have the name \"a\" in column \"team\"; --name COL takes another"), "{twice}");
    let spaced = says("name,tree depth,recall\nx,1,0.5\ny,2,0.9\n", "", 2);
    assert!(spaced.contains("--maximize 'tree depth', --minimize 'tree depth'"), "{spaced}");
    assert!(says(two, " --scale price=cubic", 2).contains("expected COL=linear"));
    assert!(says("name,price,recall\nx,1,0.5\ny,1,0.5\n", "", 3).contains("nothing to choose by"));
    // Results without a question.
    let only = says("name,price,recall\nx,1,0.9\ny,2,0.5\nz,3,0.4\n", "", 0);
    assert!(only.contains("x is at least as good as every other candidate in everything"), "{only}");
    assert!(only.contains("y (by x), z (by x)"), "{only}");
    let constant = says("name,price,recall\nx,1,0.9\ny,1,0.5\n", "", 0);
    assert!(constant.contains("\"price\" is 1 everywhere and left out"), "{constant}");
    assert!(says(two, "", 2).contains("--oracle names \"a\", expected one of price, recall"));
}

#[test]
fn ten_thousand_candidates_of_seven_attributes_are_chosen_from() {
    let place = Place::new("choose_many");
    let mut random = Numbers::new(5);
    let mut text = "name,price,latency_ms,size_mb,recall,precision,coverage,gap\n".to_owned();
    for n in 0..10_000 {
        let numbers: Vec<String> = (0..7).map(|_| format!("{:.4}", 0.05 + 0.9 * random.next())).collect();
        text += &format!("m{n},{}\n", numbers.join(","));
    }
    place.write("front.csv", &text);
    let line = "choose front.csv --oracle price=2,recall=1,gap=1 --budget 8 --json --quiet";
    let run = place.line(line);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    // Probes may be followed by a few more.
    assert!((1..=13).contains(&found["questions"].as_u64().unwrap()), "{found}");
    let chosen = found["best"]["name"].as_str().unwrap();
    assert!(text.contains(&format!("\n{chosen},")));
}

#[test]
fn what_was_learnt_ranks_and_scores_another_table() {
    let place = Place::new("choose_later");
    place.write("front.csv", FRONT);
    let line =
        [&COLUMNS[..], &["--oracle", "latency_ms=1,price_usd=1,recall=6", "--seed", "3", "--json"]].concat();
    let chosen = place.run(&line).json();
    // The same candidates have the same values, whatever the order of the columns.
    place.write("later.csv", "recall,name,price_usd,latency_ms\n.95,m6,8,480\n.70,m1,9,20\n.91,m4,6,120\n");
    let ranked = place.line("rank later.csv --metric metric.json --json").document(1);
    let standings = ranked["ranking"]["standings"].as_array().unwrap();
    assert_eq!(standings.len(), 3);
    for standing in standings {
        let own = chosen["ranking"].as_array().unwrap().iter().find(|one| one["name"] == standing["name"]);
        let expected = own.unwrap()["value"].as_f64().unwrap();
        // That of `choose` is the middle of what is believed, this one of the document's weights.
        assert!(
            (standing["score"]["value"].as_f64().unwrap() - expected).abs() < 0.02,
            "{standing} {expected}"
        );
    }
    assert_eq!(ranked["attributes"][0]["values"], serde_json::json!([480.0, 20.0, 120.0]));
    let scored = place.line("score later.csv --metric metric.json --json").json();
    assert_eq!(scored["candidates"][2]["name"], "m4");
    assert!(scored["candidates"][2]["interval"]["low"].is_number());
    let text = place.line("rank later.csv --metric metric.json --against metric.json --svg r.svg").out;
    assert!(text.contains("candidate") && !text.contains("model"), "{text}");
    assert!(text.contains("Kendall tau 1.000"), "{text}");

    place.write("beyond.csv", "recall,price_usd,latency_ms\n.95,8,4800\n.7,2,900\n.6,2,100\n");
    let run = place.line("rank beyond.csv --metric metric.json");
    assert!(run.err.contains("latency_ms of row 1 is 4800, beyond the range from 20 to 490"), "{}", run.err);
    assert!(run.err.contains("; so it is for 1 more"), "{}", run.err);
    place.write("twins.csv", "name,recall,price_usd,latency_ms\nx,.95,8,480\nx,.7,2,90\n");
    let twins = place.line("score twins.csv --metric metric.json --json").json();
    assert_eq!(twins["candidates"][1]["name"], "x (row 2)");

    place.write("two.json", &place.read("metric.json").replacen("\"format\": 1", "\"format\": 2", 1));
    place.write("upper.csv", "Name,Recall,Price_USD,Latency_ms\na,.8,2,20\n");
    place.write("lacking.csv", "name,recall\na,.8\n");
    place.write("text.csv", "name,recall,price_usd,latency_ms\na,.8,2,fast\n");
    place.write("odds.csv", "name,recall,price_usd,latency_ms\na,.8,0,20\n");
    for (line, what) in [
        (
            "rank lacking.csv --metric metric.json",
            "there is no column \"latency_ms\", which the metric weighs",
        ),
        (
            "score text.csv --metric metric.json",
            "column \"latency_ms\" is \"fast\" in row 1, expected a number",
        ),
        (
            "score odds.csv --metric metric.json",
            "odds.csv: a: attribute \"price_usd\" is 0, expected a number above 0",
        ),
        ("rank later.csv --metric metric.json --threshold 0.3", "--threshold is about predictions"),
        ("rank later.csv --metric metric.json --truth y", "--truth is about predictions"),
        ("rank later.csv --metric metric.json --against f1", "expected a ranking, or a metric document"),
        ("rank later.csv --metric none.json", "cannot read none.json"),
        ("score later.csv --metric two.json", "two.json: format is 2, expected 1"),
        (
            "rank later.csv twins.csv --metric metric.json",
            "expected one table of candidates with this metric, found 2",
        ),
        ("rank upper.csv --metric metric.json", "there is no column \"latency_ms\", which the metric weighs"),
    ] {
        let run = place.line(line);
        assert!(matches!(run.code, Some(2 | 3)) && run.err.contains(what), "{line}: {}", run.err);
    }
}

#[test]
fn answers_that_ended_too_soon_can_be_gone_on_with() {
    let place = Place::new("choose_longer");
    place.write("front.csv", FRONT);
    let line = [&COLUMNS[..], &["--oracle", "latency_ms=1,price_usd=1,recall=6", "--seed", "3"]].concat();
    let short =
        place.run(&[&line[..], &["--budget", "5", "--save", "s.json", "--json"]].concat()).document(1);
    assert_eq!(short["stopped_by"], "budget");
    let longer = place.run(&[&line[..], &["--resume", "s.json", "--json"]].concat()).document(0);
    let asked = |found: &serde_json::Value| found["questions"].as_u64().unwrap();
    assert!(asked(&longer) > asked(&short) && longer["enough"] == true, "{longer}");
    // Other candidates are another matter.
    place.write("front.csv", &FRONT.replace("0.95", "0.96"));
    let run = place.run(&[&line[..], &["--resume", "s.json"]].concat());
    assert!(run.err.contains("given to other candidates, or with other options about them"), "{}", run.err);
}

#[test]
fn whoever_cannot_tell_is_not_said_to_choose_sides() {
    let place = Place::new("choose_ties");
    place.write("front.csv", FRONT);
    place.write("ask.sh", "while read -r line; do echo tie; done\n");
    let run = place.run(&[&COLUMNS[..], &["--oracle-command", "sh ask.sh"]].concat());
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert!(!run.out.contains("sides in turn"), "{}", run.out);
}
