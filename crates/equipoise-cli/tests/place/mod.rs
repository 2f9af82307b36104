//! A directory for a test, and the real binary run in it.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory of its own for each test.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect(name);
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
        // The same bytes whoever runs the tests, and wherever.
        command.args(arguments).current_dir(&self.0).env("LC_ALL", "C.UTF-8").env("RUST_BACKTRACE", "1");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, "")
    }

    /// Runs a line whose words are parted by spaces.
    pub fn line(&self, line: &str) -> Run {
        self.run(&line.split(' ').collect::<Vec<_>>())
    }

    pub fn run_with(&self, arguments: &[&str], typed: &str) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // It may end before it has read everything.
        let _ = child.stdin.take().expect("piped").write_all(typed.as_bytes());
        let output = child.wait_with_output().expect("the binary ends");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        let widest = self.out.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 100, "{widest} columns:\n{}", self.out);
        self.out
    }

    /// What was printed, however wide.
    #[track_caller]
    pub fn ok_wide(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        self.out
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        serde_json::from_str(&self.out).expect("one JSON document")
    }

    /// The document, if the run ended with this code; notes about tables may be on standard error.
    #[track_caller]
    pub fn document(&self, code: i32) -> serde_json::Value {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        serde_json::from_str(&self.out).expect("one JSON document")
    }

    #[track_caller]
    pub fn text(self, code: i32) -> String {
        said(self, code)
    }

    #[track_caller]
    pub fn fails(self, code: i32, sentence: &str) {
        assert!(self.out.is_empty(), "{}", self.out);
        refused(self, code, sentence);
    }
}

/// What was printed, if the run ended with this code; notes about tables go to standard error.
#[track_caller]
pub fn said(run: Run, code: i32) -> String {
    assert_eq!(run.code, Some(code), "{}\n{}", run.out, run.err);
    assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{}", run.out);
    run.out
}

/// Whether a run ended with this code, and this sentence last.
#[track_caller]
pub fn refused(run: Run, code: i32, sentence: &str) {
    let last = run.err.lines().last().unwrap_or_default().to_owned();
    assert_eq!((run.code, last.as_str()), (Some(code), format!("error: {sentence}").as_str()));
}

/// Numbers in [0, 1) that are the same everywhere.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Calibrated scores for benign and malignant cases, as CSV; a share of every score may be noise.
pub fn two_classes(rows: usize, noise: f64) -> String {
    let (mut random, mut blur) = (Numbers::new(7), Numbers::new(8));
    let mut text = "y,score\n".to_owned();
    for _ in 0..rows {
        let share = random.next().powi(2);
        let truth = if random.next() < share { "malignant" } else { "benign" };
        let score = (1.0 - noise) * share + noise * blur.next();
        text += &format!("{truth},{score:.4}\n");
    }
    text
}

/// Calibrated probabilities of three classes in two groups, as CSV.
pub fn three_classes(rows: usize) -> String {
    let mut random = Numbers::new(9);
    let mut text = "y,p_bus,p_car,p_van,side\n".to_owned();
    for row in 0..rows {
        let parts = [random.next(), random.next(), random.next()].map(|x| x.powi(4) + 1e-3);
        let total: f64 = parts.iter().sum();
        let [bus, car] = [parts[0] / total, parts[1] / total].map(|p| (1e4 * p).round() / 1e4);
        let draw = random.next();
        let truth = match () {
            () if draw < bus => "bus",
            () if draw < bus + car => "car",
            () => "van",
        };
        let side = if row % 3 == 0 { "left" } else { "right" };
        text += &format!("{truth},{bus:.4},{car:.4},{:.4},{side}\n", 1.0 - bus - car);
    }
    text
}
