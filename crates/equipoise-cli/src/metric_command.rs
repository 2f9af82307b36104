//! A metric that is another program: predictions go in as JSON rows, one number comes out, or which of two are better.

use equipoise::decide::optimize::{Judge, Labels, Predictions};
use std::cmp::Ordering;
use std::fmt;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// More output than this is no number.
const MOST_OUTPUT: u64 = 1 << 20;

/// How often a running program is looked at.
const PAUSE: Duration = Duration::from_millis(1);

/// A shell command that is started anew for every question.
#[derive(Debug)]
struct Program {
    /// What to call it in a sentence.
    name: &'static str,
    command: String,
    limit: Duration,
}

/// A shell command that puts a number on predictions.
///
/// Every call starts it anew. Its standard input has one line per validation row, in the order of the table: a JSON list
/// with the probability of each class, or zeros and a one if it takes labels. Its standard output must be one number,
/// larger for better predictions.
#[derive(Debug)]
pub struct MetricCommand {
    program: Program,
    labels: Labels,
}

impl MetricCommand {
    /// Nothing is started yet.
    pub fn new(command: String, labels: Labels, limit: Duration) -> Self {
        Self { program: Program { name: "metric command", command, limit }, labels }
    }
}

/// A shell command that says which of two sets of predictions is better, made a judge by keeping all it has seen in order.
///
/// Its standard input has one line per validation row: a JSON list of two, what the first and what the second predict, each a
/// list with zeros and a one for the predicted class. Its standard output must be `first`, `second` or `equal`. New
/// predictions are compared with the middle of those seen before, then with the middle of the better or the worse half, and so
/// on: about the logarithm of their number. The value of predictions is their place in that order.
#[derive(Debug)]
pub struct PreferenceCommand {
    program: Program,
    /// Predictions by their value, worst first.
    seen: Vec<(Vec<f64>, f64)>,
    calls: usize,
}

impl PreferenceCommand {
    /// Nothing is started yet.
    pub fn new(command: String, limit: Duration) -> Self {
        Self { program: Program { name: "preference command", command, limit }, seen: vec![], calls: 0 }
    }

    /// How often it was asked.
    pub fn calls(&self) -> usize {
        self.calls
    }

    fn compare(&mut self, first: &[f64], second: &[f64], classes: usize) -> Result<Ordering, CommandFault> {
        self.calls += 1;
        let mut input = String::new();
        for rows in first.chunks(classes).zip(second.chunks(classes)) {
            input += &serde_json::to_string(&rows).expect("plain numbers");
            input.push('\n');
        }
        let answer = self.program.call(input)?;
        match answer.trim().to_lowercase().as_str() {
            "first" => Ok(Ordering::Greater),
            "second" => Ok(Ordering::Less),
            "equal" => Ok(Ordering::Equal),
            other => Err(self.program.fault(Cause::Rubbish(brief(other), "first, second or equal"))),
        }
    }
}

impl Judge for PreferenceCommand {
    type Err = CommandFault;

    fn labels(&self) -> Labels {
        Labels::Hard { draws: 1 }
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64, CommandFault> {
        let (new, classes) = (predictions.soft().to_vec(), predictions.classes());
        if let Some((_, value)) = self.seen.iter().find(|(seen, _)| *seen == new) {
            return Ok(*value);
        }
        let (mut low, mut high) = (0, self.seen.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let other = std::mem::take(&mut self.seen[middle].0);
            let answer = self.compare(&new, &other, classes);
            self.seen[middle].0 = other;
            match answer? {
                Ordering::Greater => low = middle + 1,
                Ordering::Less => high = middle,
                Ordering::Equal => return Ok(self.seen[middle].1),
            }
        }
        let below = low.checked_sub(1).map(|n| self.seen[n].1);
        let value = match (below, self.seen.get(low).map(|(_, value)| *value)) {
            (Some(below), Some(above)) => f64::midpoint(below, above),
            (Some(below), None) => below + 1.0,
            (None, Some(above)) => above - 1.0,
            (None, None) => 0.0,
        };
        self.seen.insert(low, (new, value));
        Ok(value)
    }
}

impl Program {
    fn fault(&self, cause: Cause) -> CommandFault {
        CommandFault { program: self.name, cause }
    }

    /// What it prints, given this.
    fn call(&self, input: String) -> Result<String, CommandFault> {
        self.try_call(input).map_err(|cause| self.fault(cause))
    }

    fn try_call(&self, input: String) -> Result<String, Cause> {
        let started = Instant::now();
        let mut child = self.start()?;
        let mut pipe = child.stdin.take().expect("piped");
        // A program may end without reading everything, and one that hangs must not make us hang: nobody waits for these.
        std::thread::spawn(move || pipe.write_all(input.as_bytes()));
        let out = reader(child.stdout.take().expect("piped"));
        let err = reader(child.stderr.take().expect("piped"));
        let status = self.wait(&mut child, started)?;
        // Output may be kept open by something the command left running.
        let left = || self.limit.saturating_sub(started.elapsed()).max(Duration::from_millis(100));
        let said = err.recv_timeout(left()).unwrap_or_default();
        let printed = out.recv_timeout(left()).map_err(|_| Cause::TimeLimit(self.limit));
        if printed.as_ref().is_ok_and(|text| text.len() as u64 >= MOST_OUTPUT) {
            return Err(Cause::Flood);
        }
        if !status.success() {
            return Err(Cause::Status(status, last_line(&said)));
        }
        printed
    }

    fn start(&self) -> Result<Child, Cause> {
        let mut command = shell(&self.command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(Cause::Start)
    }

    fn wait(&self, child: &mut Child, started: Instant) -> Result<ExitStatus, Cause> {
        loop {
            if let Some(status) = child.try_wait().map_err(Cause::Start)? {
                return Ok(status);
            }
            if started.elapsed() >= self.limit {
                stop(child);
                return Err(Cause::TimeLimit(self.limit));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(unix)]
fn shell(text: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("sh");
    // A group of its own, so that what it starts can be stopped with it.
    command.args(["-c", text]).process_group(0);
    command
}

#[cfg(not(unix))]
fn shell(text: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", text]);
    command
}

/// Stops a command and, where groups of processes exist, whatever it has started.
fn stop(child: &mut Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Everything a pipe says, up to a limit; then it is closed, which ends a program that goes on.
fn reader(pipe: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
        send.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    receive
}

fn last_line(text: &str) -> String {
    brief(text.trim().lines().last().unwrap_or_default())
}

/// At most 60 characters.
fn brief(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(60).collect();
    if characters.next().is_some() { start + "..." } else { start }
}

/// Why a call came to nothing.
#[derive(Debug)]
pub struct CommandFault {
    program: &'static str,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Start(std::io::Error),
    Status(ExitStatus, String),
    TimeLimit(Duration),
    /// What was printed, and what was expected.
    Rubbish(String, &'static str),
    Flood,
}

impl fmt::Display for CommandFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} ", self.program)?;
        match &self.cause {
            Cause::Start(error) => write!(f, "could not be run: {error}"),
            Cause::Status(status, said) if said.is_empty() => write!(f, "ended with {status}"),
            Cause::Status(status, said) => write!(f, "ended with {status}: {said}"),
            Cause::TimeLimit(limit) => {
                let seconds = limit.as_secs_f64();
                write!(f, "took longer than {seconds} s and was stopped; see --time-limit")
            }
            Cause::Flood => write!(f, "printed more than {MOST_OUTPUT} bytes, expected one number or word"),
            Cause::Rubbish(text, expected) if text.is_empty() => {
                write!(f, "printed nothing, expected {expected}")
            }
            Cause::Rubbish(text, expected) => write!(f, "printed {text:?}, expected {expected}"),
        }
    }
}

impl std::error::Error for CommandFault {}

impl Judge for MetricCommand {
    type Err = CommandFault;

    fn labels(&self) -> Labels {
        self.labels
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64, CommandFault> {
        let mut input = String::new();
        for row in predictions.soft().chunks(predictions.classes()) {
            input += &serde_json::to_string(row).expect("plain numbers");
            input.push('\n');
        }
        let printed = self.program.call(input)?;
        let text = printed.trim();
        text.parse().map_err(|_| self.program.fault(Cause::Rubbish(brief(text), "one number")))
    }
}
