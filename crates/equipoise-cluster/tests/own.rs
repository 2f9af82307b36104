//! A scheduler and executors, as processes that run this very test: a look at the crate without the command.
#![cfg(feature = "ballista")]

use equipoise::population::{Confusions as _, Population as _, PostShift, Rule, Score};
use equipoise_cluster::{Cluster, Executor, Tls, executor, scheduler};
use equipoise_data::{Columns, Sample, read};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Place(PathBuf);
impl Place {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

struct Part { process: Child, address: String, _says: BufReader<ChildStdout> }
impl Part {
    fn start(role: &str, scheduler: &str, tls: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["part", "--exact", "--nocapture", "--include-ignored"]).env("ROLE", role).env("SCHEDULER", scheduler).stdout(Stdio::piped());
        if let Some(tls) = tls { command.env("TLS", tls); }
        let mut process = command.spawn().unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        loop {
            let mut line = String::new();
            assert!(says.read_line(&mut line).unwrap() > 0, "{role} ended");
            if let Some((_, address)) = line.trim().rsplit_once("ready at ") {
                return Self { address: address.to_owned(), process, _says: says };
            }
        }
    }
    fn scheduler(_: &Place, _: &[&str]) -> Self { Self::start("scheduler", "", None) }
    fn executor(_: &Place, scheduler: &Part, _: &[&str]) -> Self { Self::start("executor", &scheduler.address, None) }
    fn kill(&mut self) { let _ = self.process.kill(); let _ = self.process.wait(); }
}
impl Drop for Part { fn drop(&mut self) { self.kill() } }

fn files(folder: &Path, authority: &str) -> Tls {
    Tls { certificate: folder.join(format!("{authority}-node.pem")), key: folder.join(format!("{authority}-node.key")), authority: folder.join("ca.pem") }
}

#[test]
#[ignore]
fn part() {
    let Ok(role) = std::env::var("ROLE") else { return };
    let tls = std::env::var("TLS").ok().map(|folder| files(Path::new(&folder), "ca"));
    let listen = "127.0.0.1:0".parse().unwrap();
    let said = |address: std::net::SocketAddr| println!("ready at {address}");
    match role.as_str() {
        "scheduler" => scheduler(listen, tls.as_ref(), said).unwrap(),
        _ => executor(&Executor { scheduler: std::env::var("SCHEDULER").unwrap(), listen, advertise: None, tasks: 1,
            work: std::env::temp_dir().join(format!("eq-own-{}", std::process::id())), tls }, said).unwrap(),
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
            let reward = |place: usize| noise(n * 9 + place) + if place % 4 == 0 { 1.0 } else { 0.0 };
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


#[test]
fn a_lost_executor_changes_no_number() {
    let place = Place::new("own_lost");
    write(&place.0.join("three"), 3, rows().max(1_000_000));
    let (path, columns) = (place.0.join("three"), Columns::guess().groups(["grp"]));
    let memory = Sample::new(read::table(&path, &columns).unwrap().data).unwrap();
    let rules: Vec<Rule> = (0..64).map(|n| Rule::from(PostShift::new(3, (0..9).map(|p| noise(n * 9 + p) + if p % 4 == 0 { 1.0 } else { 0.0 }).collect()).unwrap())).collect();
    let expected = memory.confusions(&rules);
    let scheduler = Part::scheduler(&place, &[]);
    let _stays = Part::executor(&place, &scheduler, &[]);
    let (mut right, mut slowest) = (0, Duration::ZERO);
    for n in 0..kills() {
        let mut lost = Part::executor(&place, &scheduler, &[]);
        let (address, path, columns, rules) = (scheduler.address.clone(), path.clone(), columns.clone(), rules.clone());
        let thread = std::thread::spawn(move || {
            let cluster = Cluster::connect(&address, None)?;
            let counted = read::elsewhere(&path, &columns, Box::new(cluster))?.unwrap().data;
            counted.confusions(&rules)
        });
        std::thread::sleep(Duration::from_millis(300 + 197 * (n as u64 % 9)));
        lost.kill();
        let start = Instant::now();
        let found = thread.join().unwrap();
        let took = start.elapsed();
        slowest = slowest.max(took);
        match found {
            Ok(found) => { assert_eq!(Ok(found), expected); right += 1; }
            Err(error) => eprintln!("kill {n} after {took:.1?}: {error}"),
        }
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
    eprintln!("{right} of {} right, slowest {slowest:.1?}", kills());
    drop(_stays);
    let start = Instant::now();
    let error = Cluster::connect(&scheduler.address, None).and_then(|cluster| read::elsewhere(&path, &columns, Box::new(cluster)).map(|_| ())).unwrap_err();
    eprintln!("none left, after {:.1?}: {error}", start.elapsed());
}

#[test]
fn sentences() {
    let said = |address: &str| Cluster::connect(address, None).map(|_| ()).unwrap_err().to_string();
    eprintln!("{}", said("127.0.0.1:1"));
    eprintln!("{}", said("nonsense"));
    let place = Place::new("own_sentences");
    let scheduler = Part::scheduler(&place, &[]);
    eprintln!("{}", said(&scheduler.address));
}

#[test]
fn tls() {
    let place = Place::new("own_tls");
    let run = |line: &str| assert!(Command::new("openssl").args(line.split(' ')).current_dir(&place.0).stderr(Stdio::null()).status().unwrap().success());
    std::fs::write(place.0.join("san.txt"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n").unwrap();
    for authority in ["ca", "other"] {
        run(&format!("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {authority}.key -out {authority}.pem -days 2 -subj /CN={authority}"));
        run(&format!("req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {authority}-node.key -out {authority}.csr -subj /CN=node"));
        run(&format!("x509 -req -in {authority}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days 2 -extfile san.txt -out {authority}-node.pem"));
    }
    write(&place.0.join("two"), 2, 2_000);
    let scheduler = Part::start("scheduler", "", Some(&place.0));
    let _executors = [(); 2].map(|()| Part::start("executor", &scheduler.address, Some(&place.0)));
    let ask = |tls: Option<Tls>| Cluster::connect(&scheduler.address, tls.as_ref()).and_then(|cluster| read::elsewhere(place.0.join("two"), &Columns::guess(), Box::new(cluster)).map(|it| it.unwrap().data));
    let counted = ask(Some(files(&place.0, "ca"))).unwrap();
    let memory = Sample::new(read::table(place.0.join("two"), &Columns::guess()).unwrap().data).unwrap();
    assert_eq!(Ok(counted.totals().unwrap()), memory.totals());
    eprintln!("{}", ask(None).map(|_| ()).unwrap_err());
    eprintln!("{}", ask(Some(files(&place.0, "other"))).map(|_| ()).unwrap_err());
}
