//! Tables as people write them: 24 as CSV and 8 as Parquet, read as they are meant or refused in one sentence.

mod common;

use common::{Layout, Values, parquet, scratch};
use equipoise_data::{Columns, Scale, read};

/// What a table says, in a line: rows, classes, the probability of the last class in the first and the last row, groups.
fn said(path: &std::path::Path, columns: &Columns) -> String {
    match read::table(path, columns) {
        Err(error) => error.to_string().replace(&path.display().to_string(), "table"),
        Ok(reading) => {
            let table = reading.data;
            let last = table.probabilities(table.classes().len() - 1);
            let groups =
                table.groups().map_or(String::new(), |groups| format!(" in {}", groups.names().join("|")));
            let (classes, rows) = (table.classes().join("|"), table.rows());
            format!("{rows} rows of {classes}: {:.3} to {:.3}{groups}", last[0], last[last.len() - 1])
        }
    }
}

const TWO: &str = "2 rows of no|yes: 0.800 to 0.300";

#[test]
fn csv_files_are_read_as_they_are_meant() {
    let guess = Columns::guess;
    let cases: [(&str, &str, Columns, &str); 24] = [
        ("an index column", ",y,p_no,p_yes\n0,yes,.2,.8\n1,no,.7,.3\n", guess(), TWO),
        ("pandas' name for it", "Unnamed: 0,y,p_no,p_yes\n0,yes,.2,.8\n1,no,.7,.3\n", guess(), TWO),
        ("classes as names of columns", "label,no,yes\nyes,.2,.8\nno,.7,.3\n", guess(), TWO),
        ("zero and one as names", "y,0,1\n1,.2,.8\n0,.7,.3\n", guess(), "2 rows of 0|1: 0.800 to 0.300"),
        ("proba", "target,proba\n1,.8\n0,.3\n", guess(), "2 rows of 0|1: 0.800 to 0.300"),
        ("y_true and y_score", "y_true,y_score\n1,.8\n0,.3\n", guess(), "2 rows of 0|1: 0.800 to 0.300"),
        ("seldom names", "outcome,pred_proba\nyes,.8\nno,.3\n", guess(), TWO),
        ("booleans", "y,score\nTrue,.8\nFalse,.3\n", guess(), "2 rows of false|true: 0.800 to 0.300"),
        ("whole numbers with a point", "y,p\n1.0,.8\n0.0,.3\n", guess(), "2 rows of 0|1: 0.800 to 0.300"),
        ("minus one and one", "y,score\n1,.8\n-1,.3\n", guess(), "2 rows of -1|1: 0.800 to 0.300"),
        ("semicolons", "y;p_no;p_yes\nyes;.2;.8\nno;.7;.3\n", guess(), TWO),
        (
            "tabs and a byte order mark",
            "\u{feff}y\tp_no\tp_yes\r\nyes\t.2\t.8\r\nno\t.7\t.3\r\n",
            guess(),
            TWO,
        ),
        (
            "quotes",
            "\"y\",\"p_no\",\"p_yes\"\n\"yes\",\"0.2\",\"0.8\"\n\"no\",\"0.7\",\"0.3\"\n",
            guess(),
            TWO,
        ),
        (
            "groups and a column called weight",
            "y,p_no,p_yes,group,weight\nyes,.2,.8,b,70\nno,.7,.3,a,60\n",
            guess(),
            "2 rows of no|yes: 0.800 to 0.300 in a|b",
        ),
        (
            "several models in one file",
            "y,rf_no,rf_yes,lr_no,lr_yes\nyes,.2,.8,.5,.5\nno,.7,.3,.5,.5\n",
            guess().scores(["rf_yes", "rf_no"]),
            TWO,
        ),
        (
            "several models, none named",
            "y,p_no,p_yes,prob_no,prob_yes\nyes,.2,.8,.5,.5\nno,.7,.3,.5,.5\n",
            guess(),
            "table: found columns p_no, p_yes, prob_no, prob_yes that could each be probabilities, expected one column per \
             class, or the names of the right ones",
        ),
        (
            "three classes out of order",
            "y,rf_low,rf_high,rf_mid\nlow,.7,.1,.2\nhigh,.1,.8,.1\nmid,.3,.2,.5\n",
            guess().scores(["rf_low", "rf_mid", "rf_high"]),
            "3 rows of high|low|mid: 0.200 to 0.500",
        ),
        ("gaps, to be left out", "y,p\nyes,.8\n,.5\nno,\nno,nan\nno,.3\n", guess().drop_missing(), TWO),
        (
            "gaps",
            "y,p\nyes,.8\nno,\nno,.3\n",
            guess(),
            "table, row 2 (line 3), column p: found no value, expected a probability in [0, 1]",
        ),
        ("percentages, said to be", "y,p\nyes,80\nno,30\n", guess().scale(Scale::Percent), TWO),
        (
            "percentages",
            "y,p\nyes,80\nno,30\n",
            guess(),
            "table, row 1 (line 2), column p: found 80, expected a probability in [0, 1]; the column looks like percentages; \
             1 more row has the same problem",
        ),
        ("logits, said to be", "y,score\nyes,1.38629436\nno,-.84729786\n", guess().scale(Scale::Logit), TWO),
        (
            "predicted classes",
            "y,y_pred\nyes,yes\nno,no\nno,yes\n",
            guess(),
            "3 rows of no|yes: 1.000 to 1.000",
        ),
        (
            "neither truth nor probabilities",
            "id,age\n1,30\n2,40\n",
            guess(),
            "table: found columns id, age, expected a truth column called y, truth, label, target or y_true, or its name",
        ),
    ];
    let place = scratch("shapes_csv");
    for (n, (name, text, columns, expected)) in cases.iter().enumerate() {
        let path = place.join(format!("{n}.csv"));
        std::fs::write(&path, text).unwrap();
        assert_eq!(said(&path, columns), *expected, "{name}");
    }
}

/// What colleagues sent.
#[test]
fn what_stands_before_a_table_and_commas_in_numbers_are_understood() {
    let guess = Columns::guess;
    let percent = || guess().scale(Scale::Percent);
    let cases: [(&str, &str, Columns, &str); 17] = [
        ("decimal commas", "y;p_no;p_yes\nyes;0,2;0,8\nno;0,7;0,3\n", guess(), TWO),
        ("decimal commas and tabs", "y\tp\nyes\t,8\nno\t,3\n", guess(), TWO),
        ("decimal commas in quotes", "\"y\";\"p\"\r\n\"yes\";\"0,8\"\r\n\"no\";\"0,3\"\r\n", guess(), TWO),
        (
            "commas and points",
            "y;p\nyes;0,8\nno;0.3\n",
            guess(),
            "table, row 1 (line 2), column p: found \"0,8\", expected a probability in [0, 1], with a decimal point",
        ),
        (
            "a comma that may be one of thousands",
            "y,p\nyes,\"0,8\"\nno,0.3\n",
            guess(),
            "table, row 1 (line 2), column p: found \"0,8\", expected a probability in [0, 1], with a decimal point",
        ),
        ("comments", "# made by hand, twice\n#\ny,p_no,p_yes\nyes,.2,.8\nno,.7,.3\n", guess(), TWO),
        (
            "a fault below comments",
            "# made by hand\n# and again\ny,p\nyes,.8\nno,oops\n",
            guess(),
            "table, row 2 (line 5), column p: found \"oops\", expected a probability in [0, 1]",
        ),
        ("a header that begins alike", "#id,y,p\n1,yes,.8\n2,no,.3\n", guess(), TWO),
        ("Excel's line", "sep=;\r\ny;p\r\nyes;0,8\r\nno;0,3\r\n", guess(), TWO),
        (
            "Excel's line and a short row",
            "sep=;\ny;p\nyes;0,8\nno\n",
            guess(),
            "table, row 2 (line 4): found 1 field, expected 2 as in the header",
        ),
        (
            "comments alone",
            "# y,p\n# yes,.8\n",
            guess(),
            "table: found columns \"# y\", p, expected a truth column called y, truth, label, target or y_true, or its name",
        ),
        ("quotes after spaces", "\"y\" , \"p\"\nyes , .8\nno , .3\n", guess(), TWO),
        ("signs for percent, said to be", "y,p\nyes,80%\nno,30 %\n", percent(), TWO),
        ("signs for percent and commas", "y;p\nyes;80,0%\nno;30,0%\n", percent(), TWO),
        (
            "signs for percent",
            "y,p\nyes,80%\nno,30%\n",
            guess(),
            "table, row 1 (line 2), column p: found \"80%\", expected a probability in [0, 1]; the column looks like percentages; \
             1 more row has the same problem",
        ),
        (
            "lists",
            "y,p\nyes,\"[0.2, 0.8]\"\n",
            guess(),
            "table, row 1 (line 2), column p: found \"[0.2, 0.8]\", expected a probability in [0, 1]; a list of them is written as \
             a column for each class",
        ),
        (
            "a number of NumPy's",
            "y,p\nyes,np.float64(0.8)\n",
            guess(),
            "table, row 1 (line 2), column p: found \"np.float64(0.8)\", expected a probability in [0, 1]",
        ),
    ];
    let directory = scratch("sent");
    for (n, (name, text, columns, expected)) in cases.into_iter().enumerate() {
        let path = directory.join(format!("{n}.csv"));
        std::fs::write(&path, text).unwrap();
        assert_eq!(said(&path, &columns), expected, "{name}");
    }
    let said = |text: &str| {
        let path = directory.join("format.csv");
        std::fs::write(&path, text).unwrap();
        read::table(&path, &guess()).unwrap().notes[0].to_string()
    };
    let format = "format: CSV with a semicolon between fields and decimal commas after 1 line";
    assert_eq!(said("sep=;\ny;p\nyes;0,8\nno;0,3\n"), format);
    assert_eq!(
        said("# 1\n# 2\ny,p\nyes,.8\nno,.3\n"),
        "format: CSV with a comma between fields after 2 lines"
    );
}

#[test]
fn parquet_files_are_read_as_they_are_meant() {
    let two = || Values::texts(&["yes", "no"]);
    let [no, yes] = [[0.2, 0.7], [0.8, 0.3]].map(|values| Values::doubles(&values));
    let single = Values::Float(vec![Some(0.8), Some(0.3)]);
    let rows = |values: &[&str]| {
        Values::Text(values.iter().map(|v| (!v.is_empty()).then(|| v.to_string())).collect())
    };
    let guess = Columns::guess;
    type Case = (&'static str, Vec<(&'static str, Values)>, Columns, &'static str);
    let cases: [Case; 8] = [
        ("names of classes", vec![("y", two()), ("no", no.clone()), ("yes", yes.clone())], guess(), TWO),
        (
            "an index column",
            vec![
                ("__index_level_0__", Values::ints(&[0, 1])),
                ("y", two()),
                ("p_no", no.clone()),
                ("p_yes", yes.clone()),
            ],
            guess(),
            TWO,
        ),
        (
            "truth values and single precision",
            vec![("label", Values::Boolean(vec![Some(true), Some(false)])), ("score", single)],
            guess(),
            "2 rows of false|true: 0.800 to 0.300",
        ),
        (
            "whole numbers as classes",
            vec![("target", Values::ints(&[1, 0])), ("p_0", no.clone()), ("p_1", yes.clone())],
            guess(),
            "2 rows of 0|1: 0.800 to 0.300",
        ),
        (
            "gaps, to be left out",
            vec![
                ("y", rows(&["yes", "", "no", "no"])),
                ("p", Values::Double(vec![Some(0.8), Some(0.5), None, Some(0.3)])),
            ],
            guess().drop_missing(),
            TWO,
        ),
        (
            "a number that is none",
            vec![("y", two()), ("p", Values::doubles(&[0.8, f64::NAN]))],
            guess(),
            "table, row 2, column p: found NaN, expected a probability in [0, 1]",
        ),
        (
            "percentages",
            vec![("y", two()), ("p", Values::doubles(&[80.0, 30.0]))],
            guess().scale(Scale::Percent),
            TWO,
        ),
        (
            "predicted classes",
            vec![("y", two()), ("prediction", two())],
            guess(),
            "2 rows of no|yes: 1.000 to 0.000",
        ),
    ];
    let place = scratch("shapes_parquet");
    for (n, (name, table, columns, expected)) in cases.into_iter().enumerate() {
        let path = place.join(format!("{n}.parquet"));
        std::fs::write(&path, parquet(&table, Layout::default())).unwrap();
        assert_eq!(said(&path, &columns), expected, "{name}");
    }
}

#[test]
fn folders_and_patterns_are_one_table_and_faults_name_their_file() {
    let place = scratch("shapes_parts");
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("all/part-2.csv", "p_no,p_yes,y\n.7,.3,no\n");
    write("all/part-1.csv", "y,p_no,p_yes\nyes,.2,.8\nyes,.4,.6\n");
    write("all/_SUCCESS", "");
    write("all/notes.md", "not a table");
    let three = "3 rows of no|yes: 0.800 to 0.300";
    assert_eq!(said(&place.join("all"), &Columns::guess()), three);
    assert_eq!(said(&place.join("all/part-?.csv"), &Columns::guess()), three);
    assert_eq!(read::files(place.join("all")).unwrap().len(), 2);
    write("bad/a.csv", "y,p\n1,.5\n0,.5\n");
    write("bad/b.csv", "y,p\n1,.5\n\n0,x\n");
    let error = read::table(place.join("bad"), &Columns::guess()).unwrap_err().to_string();
    assert!(
        error.ends_with("b.csv, row 2 (line 4), column p: found \"x\", expected a probability in [0, 1]"),
        "{error}"
    );
    // What plays a part is in all files or it is said, whichever of them lacks it; other columns may be in some.
    write("first/a.csv", "y,p\n1,.5\n0,.4\n");
    write("first/b.csv", "y,p,group\n1,.5,f\n0,.4,m\n");
    write("last/a.csv", "y,p,group\n1,.5,f\n0,.4,m\n");
    write("last/b.csv", "y,p,remark\n1,.5,x\n0,.4,y\n");
    for (folder, lacking) in [("first", "a.csv"), ("last", "b.csv")] {
        let error = read::table(place.join(folder), &Columns::guess()).unwrap_err().to_string();
        assert!(error.contains(&format!("{lacking}: found no column \"group\"")), "{error}");
    }
    write("some/a.csv", "y,p\n1,.5\n0,.4\n");
    write("some/b.csv", "remark,y,p\nx,1,.5\ny,0,.4\n");
    assert_eq!(read::table(place.join("some"), &Columns::guess()).unwrap().data.rows(), 4);
    let error = read::table(place.join("all/*.parquet"), &Columns::guess()).unwrap_err().to_string();
    assert!(error.contains("found no file that fits the pattern"), "{error}");
}

#[test]
fn probabilities_of_the_other_class_are_pointed_out() {
    let place = scratch("shapes_turned");
    let rows = |of: &dyn Fn(f64) -> String| -> String {
        (0..200)
            .map(|n| {
                format!("{},{}\n", if n % 2 == 0 { "ill" } else { "well" }, of(0.3 + 0.4 * f64::from(n % 2)))
            })
            .collect()
    };
    let note = |name: &str, text: String, columns: Columns| {
        std::fs::write(place.join(name), text).unwrap();
        let notes = read::table(place.join(name), &columns).unwrap().notes;
        notes.iter().map(ToString::to_string).find(|note| note.contains("ROC")).unwrap_or_default()
    };
    let single = format!("y,risk\n{}", rows(&|p| format!("{:.2}", 1.0 - p)));
    let said = note("one.csv", single.clone(), Columns::guess().scores(["risk"]));
    assert_eq!(
        said,
        "rows of well have lower probabilities of well than others (area under the ROC curve 0.000); if column risk is the \
         probability of ill, name ill as the positive class"
    );
    assert_eq!(note("named.csv", single, Columns::guess().scores(["risk"]).positive("ill")), "");
    let pair = format!("y,a,b\n{}", rows(&|p| format!("{p:.2},{:.2}", 1.0 - p)));
    let said = note("two.csv", pair.clone(), Columns::guess().scores(["a", "b"]));
    assert!(said.ends_with("name the probability columns the other way round, b,a"), "{said}");
    assert_eq!(note("other.csv", pair, Columns::guess().scores(["b", "a"])), "");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_asked_again() {
    let place = scratch("shapes_pipe");
    let path = place.join("pipe");
    let _ = std::fs::remove_file(&path);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let to = path.clone();
    let writer = std::thread::spawn(move || std::fs::write(to, "y,p_no,p_yes\nyes,.2,.8\nno,.7,.3\n"));
    assert_eq!(read::header(&path).unwrap(), ["y", "p_no", "p_yes"]);
    assert_eq!(said(&path, &Columns::guess()), TWO);
    assert_eq!(said(&path, &Columns::guess()), TWO);
    writer.join().unwrap().unwrap();
}
