//! A real scheduler and executors, as processes of the real binary on loopback: what they count is what one machine counts.
#![cfg(feature = "cluster")]

mod place;

use equipoise::population::{Confusions as _, Population as _, PostShift, Rule, Score};
use equipoise_cluster::Cluster;
use equipoise_data::{Columns, Sample, read};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use place::{Place, Run};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A scheduler or an executor, which is killed when it is dropped.
struct Part {
    process: Child,
    address: String,
    /// Kept open: a part that cannot write would end.
    _says: BufReader<ChildStdout>,
}

impl Part {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut process = place
            .command(&[&["cluster"], arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        let Some((_, address)) = line.trim().rsplit_once(' ') else {
            let mut told = String::new();
            let _ = process.stderr.take().unwrap().read_to_string(&mut told);
            panic!("no address in {line:?}: {told}")
        };
        Self { address: address.to_owned(), process, _says: says }
    }

    fn scheduler(place: &Place, more: &[&str]) -> Self {
        Self::start(place, &[&["scheduler", "--listen", "127.0.0.1:0"], more].concat())
    }

    fn executor(place: &Place, scheduler: &Part, more: &[&str]) -> Self {
        Self::start(place, &[&["executor", scheduler.address.as_str(), "--tasks", "1"], more].concat())
    }

    /// As `kill -9` does.
    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Rows of the tables: 100,000 unless the environment says more.
fn rows() -> usize {
    std::env::var("EQUIPOISE_CLUSTER_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(100_000)
}

/// How often an executor is killed: 3 times unless the environment says more.
fn kills() -> usize {
    std::env::var("EQUIPOISE_CLUSTER_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3)
}

/// Numbers without a pattern, the same every time.
fn noise(n: usize) -> f64 {
    let mut x = (n as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Folders `two` and `three` with so many classes, in 8 files; two classes have scores of 4 digits.
fn tables(place: &Place, rows: usize) {
    write(&place.0.join("two"), 2, rows);
    write(&place.0.join("three"), 3, rows);
}

fn write(folder: &Path, classes: usize, rows: usize) {
    std::fs::create_dir_all(folder).unwrap();
    let scores: Vec<String> = match classes {
        2 => vec!["score".to_owned()],
        _ => (0..classes).map(|class| format!("p_{class}")).collect(),
    };
    let columns: String = scores.iter().map(|name| format!("required double {name};")).collect();
    let schema =
        format!("message table {{ required binary y (UTF8); required binary grp (UTF8); {columns} }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties =
        Arc::new(WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build());
    for file in 0..8 {
        let own: Vec<usize> = (file * rows / 8..(file + 1) * rows / 8).collect();
        let out = std::fs::File::create(folder.join(format!("part-{file}.parquet"))).unwrap();
        let mut writer = SerializedFileWriter::new(out, schema.clone(), properties.clone()).unwrap();
        for own in own.chunks(125_000) {
            let class = |row: usize| (noise(row * 7) * classes as f64) as usize;
            let text = |make: &dyn Fn(usize) -> &'static str| -> Vec<ByteArray> {
                own.iter().map(|&row| ByteArray::from(make(row))).collect()
            };
            let mut group = writer.next_row_group().unwrap();
            let texts = [
                text(&|row| ["0", "1", "2"][class(row)]),
                text(&|row| ["a", "b", "c", "d"][row * 7 % 11 % 4]),
            ];
            for values in texts {
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
                column.close().unwrap();
            }
            let sizes = |row: usize| -> Vec<f64> {
                let size = |n: usize| noise(row * 11 + n + 1) + if n == class(row) { 0.6 } else { 0.0 };
                let sizes: Vec<f64> = (0..classes).map(size).collect();
                let sum: f64 = sizes.iter().sum();
                sizes.iter().map(|size| size / sum).collect()
            };
            let all: Vec<Vec<f64>> = own.iter().map(|&row| sizes(row)).collect();
            for n in 0..scores.len() {
                let value =
                    |sizes: &Vec<f64>| if classes == 2 { (sizes[1] * 1e4).round() / 1e4 } else { sizes[n] };
                let mut column = group.next_column().unwrap().unwrap();
                let values: Vec<f64> = all.iter().map(value).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
    }
}

/// What is printed, without how it was read.
fn printed(run: &Run) -> (Option<i32>, &str, Vec<&str>) {
    let how = |line: &&str| !line.starts_with("streamed: ") && !line.starts_with("counted on a cluster: ");
    (run.code, run.out.as_str(), run.err.lines().filter(how).collect())
}

const LINES: [&str; 12] = [
    "inspect two --group grp",
    "inspect three --group grp",
    "threshold two --metric 6:1 --group grp",
    "score two --metric f1 --group grp",
    "score three --metric accuracy",
    "score two/part-*.parquet --metric 6:1 --threshold best",
    "rank two/part-0.parquet two/part-0.parquet two/part-1.parquet --metric 6:1 --no-group",
    "elicit two --oracle 6:1 --out metric.json --save answers.json",
    "threshold three --metric accuracy --require recall:2>=0.6",
    "elicit three --oracle accuracy --around model --budget 4 --out three.json --save answers-three.json",
    "optimize --train two --validation two/part-0.parquet --test two --truth y --scores score --metric g_mean --no-group",
    "optimize --train three --validation three/part-0.parquet --truth y --scores p_0,p_1,p_2 --metric g_mean --iterations 3 --no-group",
];

#[test]
fn one_and_two_executors_print_what_one_machine_prints() {
    let place = Place::new("cluster_same");
    tables(&place, rows());
    let scheduler = Part::scheduler(&place, &[]);
    let _one = Part::executor(&place, &scheduler, &[]);
    let mut second = None;
    for executors in 1..=2 {
        for line in LINES {
            let start = Instant::now();
            let streamed = place.line(&format!("{line} --stream"));
            let (here, start) = (start.elapsed(), Instant::now());
            let counted = place.line(&format!("{line} --cluster {}", scheduler.address));
            eprintln!("{line}: {executors} executors {:.2?}, streamed {here:.2?}", start.elapsed());
            assert!(matches!(counted.code, Some(0 | 1)), "{line}: {}", counted.err);
            assert_eq!(printed(&counted), printed(&streamed), "{line}");
            let memory = place.line(line);
            assert_eq!(counted.out, memory.out, "{line}");
        }
        second = second.or_else(|| Some(Part::executor(&place, &scheduler, &[])));
    }
    let said = place.line(&format!("threshold two --metric 6:1 --cluster {}", scheduler.address)).err;
    assert!(
        said.contains("counted on a cluster: ") && said.contains("of which only counts are kept"),
        "{said}"
    );
}

#[test]
fn every_question_is_answered_like_from_memory_and_64_rules_cost_little_more_than_one() {
    let place = Place::new("cluster_questions");
    write(&place.0.join("three"), 3, rows());
    let (path, columns) = (place.0.join("three"), Columns::guess().groups(["grp"]));
    let memory = Sample::new(read::table(&path, &columns).unwrap().data).unwrap();
    let scheduler = Part::scheduler(&place, &[]);
    let mut executors = vec![];
    for _ in 0..2 {
        executors.push(Part::executor(&place, &scheduler, &[]));
        let cluster = Cluster::connect(&scheduler.address, None).unwrap();
        let counted = read::elsewhere(&path, &columns, Box::new(cluster)).unwrap().unwrap().data;
        assert_eq!(Ok(counted.totals().unwrap()), memory.totals());
        for score in [Score::Class(2), Score::Share(0, 1)] {
            let profile = counted.score_profile(score).unwrap();
            if !profile.is_bucketed() {
                assert_eq!(Ok(profile), memory.score_profile(score));
            }
        }
        let rule = |n: usize| {
            let reward =
                |place: usize| noise(n * 9 + place) + if place.is_multiple_of(4) { 1.0 } else { 0.0 };
            Rule::from(PostShift::new(3, (0..9).map(reward).collect()).unwrap())
        };
        let rules: Vec<Rule> = (0..64).map(rule).collect();
        let draws =
            [counted.resampled(&rules[..2], 7, 3).unwrap(), memory.resampled(&rules[..2], 7, 3).unwrap()];
        assert_eq!(draws[0], draws[1]);
        assert_eq!(counted.sample(1_000, 3).unwrap().table(), memory.sample(1_000, 3).unwrap().table());
        let time = |rules: &[Rule]| {
            let once = |_| {
                let start = Instant::now();
                let found = counted.confusions(rules).unwrap();
                let took = start.elapsed();
                assert_eq!(Ok(found), memory.confusions(rules));
                took
            };
            (0..5).map(once).min().unwrap()
        };
        let (one, many) = (time(&rules[..1]), time(&rules));
        let ratio = many.as_secs_f64() / one.as_secs_f64();
        eprintln!(
            "{} rows, {} executors: 1 rule {one:.2?}, 64 rules {many:.2?}, {ratio:.1} times",
            rows(),
            executors.len()
        );
        assert!(ratio <= 6.0, "{ratio}");
    }
}

/// One sentence, and the exit code for what cannot be read.
#[track_caller]
fn refused(run: &Run, sentence: &str) {
    assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{}", run.err);
    assert!(run.err.starts_with("error: ") && run.err.lines().count() == 1, "{}", run.err);
    assert!(run.err.contains(sentence), "{}", run.err);
}

#[test]
fn what_is_missing_is_said_in_one_sentence() {
    let place = Place::new("cluster_missing");
    write(&place.0.join("two"), 2, 2_000);
    let ask = |address: &str| place.line(&format!("inspect two --cluster {address}"));
    refused(&ask("127.0.0.1:1"), "cluster 127.0.0.1:1: found no scheduler that answers (");
    refused(
        &place.line("cluster executor 127.0.0.1:1"),
        "cluster 127.0.0.1:1: found no scheduler that answers (",
    );
    refused(&ask("nonsense"), "found the address \"nonsense\", expected HOST:PORT");
    for part in ["scheduler --listen 0.0.0.0:0", "executor 127.0.0.1:1 --listen 0.0.0.0:0"] {
        let said = place.line(&format!("cluster {part}"));
        refused(&said, "0.0.0.0:0: found an address that other machines can reach, without mutual TLS");
    }
    let scheduler = Part::scheduler(&place, &[]);
    refused(&ask(&scheduler.address), "found a scheduler without executors, expected at least one");
    let _executor = Part::executor(&place, &scheduler, &[]);
    assert!(matches!(ask(&scheduler.address).code, Some(0 | 1)));
    // One that executors do not see is told from a test of the tally, since these executors see what the command sees.
    let wrong = place.line(&format!("inspect nowhere --cluster {}", scheduler.address));
    assert_eq!(wrong.code, Some(3), "{}", wrong.err);
    // CSV is read as a whole, which no cluster does.
    place.write("a.csv", "y,score\n0,0.1\n1,0.9\n");
    let text = place.line(&format!("inspect a.csv --cluster {}", scheduler.address));
    assert_eq!(text.code, Some(2));
    assert!(text.err.contains("a.csv: found a table that has to be read as a whole"), "{}", text.err);
}

#[test]
fn a_lost_executor_changes_no_number() {
    let place = Place::new("cluster_lost");
    write(&place.0.join("three"), 3, rows().max(1_000_000));
    let line = "score three --metric accuracy";
    let expected = place.line(line);
    let scheduler = Part::scheduler(&place, &[]);
    let asked = format!("{line} --cluster {}", scheduler.address);
    let _stays = Part::executor(&place, &scheduler, &[]);
    let (mut right, mut slowest) = (0, Duration::ZERO);
    for n in 0..kills() {
        let mut lost = Part::executor(&place, &scheduler, &[]);
        let words: Vec<&str> = asked.split(' ').collect();
        let command = place.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + 97 * (n as u64 % 9)));
        lost.kill();
        let start = Instant::now();
        let output = command.wait_with_output().unwrap();
        let took = start.elapsed();
        slowest = slowest.max(took);
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        match output.status.code() {
            Some(0) => {
                assert_eq!(out, expected.out, "kill {n}");
                right += 1;
            }
            code => {
                assert_eq!((code, out.as_str(), err.lines().count()), (Some(3), "", 1), "kill {n}: {err}");
                eprintln!("kill {n}: {err}");
            }
        }
        assert!(took < Duration::from_secs(30), "kill {n}: {took:?}");
    }
    eprintln!("{right} of {} right, the slowest {slowest:.1?} after the kill", kills());
    // The last executor: a sentence, not silence.
    drop(_stays);
    let start = Instant::now();
    let alone = place.line(&asked);
    assert_eq!(
        (alone.code, alone.out.as_str(), alone.err.lines().count()),
        (Some(3), "", 1),
        "{}",
        alone.err
    );
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn whoever_waits_is_told_how_far_a_pass_is() {
    let place = Place::new("cluster_progress");
    write(&place.0.join("three"), 3, 400_000);
    let scheduler = Part::scheduler(&place, &[]);
    let _executor = Part::executor(&place, &scheduler, &[]);
    let told = Arc::new(Mutex::new(vec![]));
    let (own, told) = (Arc::clone(&told), move || std::mem::take(&mut *told.lock().unwrap()));
    let cluster = Cluster::connect(&scheduler.address, None).unwrap();
    let cluster = cluster.watched(Box::new(move |so_far| own.lock().unwrap().push(so_far)));
    let (path, columns) = (place.0.join("three"), Columns::guess().groups(["grp"]));
    let counted = read::elsewhere(&path, &columns, Box::new(cluster)).unwrap().unwrap().data;
    told();
    // Many draws, so that a pass takes its time.
    counted.resampled(&[Rule::most_likely(3).unwrap()], 7, 4_000).unwrap();
    let said = told();
    eprintln!("{said:?}");
    assert_eq!(said.last(), Some(&None), "{said:?}");
    let steps: Vec<(usize, usize)> = said.into_iter().flatten().collect();
    assert!(steps.len() > 1 && steps.iter().all(|(done, all)| *all > 4 && done <= all), "{steps:?}");
    assert!(steps.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{steps:?}");
    assert!(steps.last().unwrap().0 > 0, "{steps:?}");
}

/// Seconds of processors that a process has taken.
fn processors(id: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

#[test]
fn a_pass_that_nobody_waits_for_is_ended() {
    let place = Place::new("cluster_cancelled");
    write(&place.0.join("three"), 3, 400_000);
    let scheduler = Part::scheduler(&place, &[]);
    let executor = Part::executor(&place, &scheduler, &[]);
    let line = format!("score three --metric accuracy --draws 40000 --cluster {}", scheduler.address);
    let mut command =
        place.command(&line.split(' ').collect::<Vec<_>>()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(command.try_wait().unwrap(), None, "a pass of minutes");
    command.kill().unwrap();
    command.wait().unwrap();
    let start = Instant::now();
    loop {
        let before = processors(executor.process.id());
        std::thread::sleep(Duration::from_secs(2));
        if processors(executor.process.id()) - before < 0.2 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(90), "the executor goes on");
    }
    eprintln!("quiet {:.0?} after the command was ended", start.elapsed());
    let said = place.line(&format!("score three --metric accuracy --cluster {}", scheduler.address));
    assert_eq!(said.code, Some(0), "{}", said.err);
}

/// How many files there are in a folder and below.
fn files_in(folder: &Path) -> usize {
    let inside = std::fs::read_dir(folder).into_iter().flatten().flatten();
    inside.map(|it| if it.path().is_dir() { files_in(&it.path()) } else { 1 }).sum()
}

/// Waits until a folder has no files.
#[track_caller]
fn empties(folder: &Path, within: Duration) {
    let start = Instant::now();
    while files_in(folder) > 0 {
        assert!(start.elapsed() < within, "{} files are left", files_in(folder));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn sums_are_deleted_once_they_have_been_fetched() {
    let place = Place::new("cluster_sums");
    write(&place.0.join("three"), 3, 8_000);
    let scheduler = Part::scheduler(&place, &[]);
    let _executor = Part::executor(&place, &scheduler, &["--work", "sums"]);
    let sums = place.0.join("sums");
    let cluster = Cluster::connect(&scheduler.address, None).unwrap();
    let (path, columns) = (place.0.join("three"), Columns::guess().groups(["grp"]));
    let counted = read::elsewhere(&path, &columns, Box::new(cluster)).unwrap().unwrap().data;
    let rule = [Rule::most_likely(3).unwrap()];
    let mut most = 0;
    for _ in 0..10 {
        counted.confusions(&rule).unwrap();
        most = most.max(files_in(&sums));
    }
    // A pass has one for each of 8 pieces and one for all; those before it are being deleted.
    assert!((1..=27).contains(&most), "{most} files");
    drop(counted);
    empties(&sums, Duration::from_secs(3));
    // Also those of a command.
    assert_eq!(
        place.line(&format!("score three --metric accuracy --cluster {}", scheduler.address)).code,
        Some(0)
    );
    empties(&sums, Duration::from_secs(3));
}

#[test]
fn a_scheduler_that_is_killed_is_one_sentence_and_one_that_comes_back_has_its_executors() {
    let place = Place::new("cluster_scheduler");
    write(&place.0.join("three"), 3, 400_000);
    let mut scheduler = Part::scheduler(&place, &[]);
    let _executor = Part::executor(&place, &scheduler, &[]);
    let ask =
        |draws: u32| format!("score three --metric accuracy --draws {draws} --cluster {}", scheduler.address);
    let (long, short) = (ask(10_000), ask(50));
    let command = place
        .command(&long.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(4));
    scheduler.kill();
    let start = Instant::now();
    let output = command.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let told: Vec<&str> = err.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!((output.status.code(), out.as_str(), told.len()), (Some(3), "", 1), "{err}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let address = scheduler.address.clone();
    let _again = Part::start(&place, &["scheduler", "--listen", &address]);
    // The executor is still busy with a piece of the pass that nobody waits for.
    let start = Instant::now();
    while place.line(&short).code != Some(0) {
        assert!(start.elapsed() < Duration::from_secs(180), "{}", place.line(&short).err);
        std::thread::sleep(Duration::from_millis(200));
    }
    eprintln!("counted again {:.0?} after the scheduler came back", start.elapsed());
}

/// An executor that others cannot reach is told so and ends; whoever counts on those who are left notices nothing.
#[test]
fn an_executor_that_others_cannot_reach_is_refused() {
    let place = Place::new("cluster_unreached");
    write(&place.0.join("two"), 2, 2_000);
    let scheduler = Part::scheduler(&place, &[]);
    let executor = |more: &str| place.line(&format!("cluster executor {} {more}", scheduler.address));
    refused(
        &executor("--advertise 127.0.0.2"),
        "--advertise: found an executor that is not reached at 127.0.0.2:",
    );
    refused(&executor("--advertise nowhere.invalid"), "an executor that is not reached at nowhere.invalid:");
    refused(
        &place.run(&["cluster", "executor", &scheduler.address, "--advertise", "two words"]),
        "--advertise: found the name \"two words\"",
    );
    let ask = || place.line(&format!("score two --metric f1 --cluster {}", scheduler.address));
    refused(&ask(), "found a scheduler without executors");
    let _executor = Part::executor(&place, &scheduler, &[]);
    refused(&executor("--advertise 127.0.0.2"), "an executor that is not reached at 127.0.0.2:");
    assert_eq!(ask().code, Some(0));
}

/// Certificates for 127.0.0.1 from an authority, with the openssl program; `None` where there is none.
fn certificates(place: &Place) -> Option<()> {
    let run = |line: &str| {
        let words = line.split(' ');
        let status = std::process::Command::new("openssl")
            .args(words)
            .current_dir(&place.0)
            .stderr(Stdio::null())
            .status();
        status.ok().filter(|status| status.success()).map(|_| ())
    };
    place.write("san.txt", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    for authority in ["ca", "other"] {
        run(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {authority}.key -out {authority}.pem -days 2 -subj /CN={authority}"
        ))?;
        run(&format!(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {authority}-node.key -out {authority}.csr -subj /CN=node"
        ))?;
        run(&format!(
            "x509 -req -in {authority}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days 2 -extfile san.txt -out {authority}-node.pem"
        ))?;
    }
    Some(())
}

#[test]
fn mutual_tls_keeps_strangers_out() {
    let place = Place::new("cluster_tls");
    if certificates(&place).is_none() {
        eprintln!("skipped: no openssl to make certificates with");
        return;
    }
    write(&place.0.join("two"), 2, 2_000);
    let tls = ["--tls-cert", "ca-node.pem", "--tls-key", "ca-node.key", "--tls-ca", "ca.pem"];
    let scheduler = Part::scheduler(&place, &tls);
    let _executors = [(); 2].map(|()| Part::executor(&place, &scheduler, &tls));
    let ask = |more: &[&str]| {
        place.run(
            &[&["score", "two", "--metric", "f1", "--cluster", scheduler.address.as_str()], more].concat(),
        )
    };
    let known = ask(&tls);
    assert_eq!(
        (known.code, known.out.as_str()),
        (Some(0), place.line("score two --metric f1").out.as_str()),
        "{}",
        known.err
    );
    // An executor under a name that its certificate is not for would break the passes of others.
    let line = ["cluster", "executor", &scheduler.address, "--advertise", "localhost"];
    refused(
        &place.run(&[&line[..], &tls].concat()),
        "--advertise: found an executor that is not reached at localhost:",
    );
    assert_eq!(ask(&tls).out, known.out);
    // Without a certificate, and with one of another authority that trusts this one.
    refused(&ask(&[]), "found no scheduler that answers (");
    let stranger = ["--tls-cert", "other-node.pem", "--tls-key", "other-node.key", "--tls-ca", "ca.pem"];
    refused(&ask(&stranger), "found no scheduler that answers (");
}
