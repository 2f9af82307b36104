//! A metric that is another program: predictions go in as JSON rows, one number comes out.

use equipoise::decide::optimize::{Judge, Labels, Predictions};
use std::fmt;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// More output than this is no number.
const MOST_OUTPUT: u64 = 1 << 20;

/// How often a running program is looked at.
const PAUSE: Duration = Duration::from_millis(1);

/// A shell command that puts a number on predictions.
///
/// Every call starts it anew. Its standard input has one line per validation row, in the order of the table: a JSON list
/// with the probability of each class, or zeros and a one if it takes labels. Its standard output must be one number,
/// larger for better predictions.
#[derive(Debug)]
pub struct MetricCommand {
    command: String,
    labels: Labels,
    limit: Duration,
}

impl MetricCommand {
    /// Nothing is started yet.
    pub fn new(command: String, labels: Labels, limit: Duration) -> Self {
        Self { command, labels, limit }
    }

    fn call(&self, input: String) -> Result<f64, CommandFault> {
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
        let printed = out.recv_timeout(left()).map_err(|_| CommandFault::TimeLimit(self.limit));
        if printed.as_ref().is_ok_and(|text| text.len() as u64 >= MOST_OUTPUT) {
            return Err(CommandFault::Flood);
        }
        if !status.success() {
            return Err(CommandFault::Status(status, last_line(&said)));
        }
        number(&printed?)
    }

    fn start(&self) -> Result<Child, CommandFault> {
        let mut command = shell(&self.command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(CommandFault::Start)
    }

    fn wait(&self, child: &mut Child, started: Instant) -> Result<ExitStatus, CommandFault> {
        loop {
            if let Some(status) = child.try_wait().map_err(CommandFault::Start)? {
                return Ok(status);
            }
            if started.elapsed() >= self.limit {
                stop(child);
                return Err(CommandFault::TimeLimit(self.limit));
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

fn number(text: &str) -> Result<f64, CommandFault> {
    let trimmed = text.trim();
    trimmed.parse().map_err(|_| CommandFault::Rubbish(brief(trimmed)))
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
pub enum CommandFault {
    Start(std::io::Error),
    Status(ExitStatus, String),
    TimeLimit(Duration),
    Rubbish(String),
    Flood,
}

impl fmt::Display for CommandFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "the metric command could not be run: {error}"),
            Self::Status(status, said) if said.is_empty() => {
                write!(f, "the metric command ended with {status}")
            }
            Self::Status(status, said) => write!(f, "the metric command ended with {status}: {said}"),
            Self::TimeLimit(limit) => {
                let seconds = limit.as_secs_f64();
                write!(f, "the metric command took longer than {seconds} s and was stopped; see --time-limit")
            }
            Self::Flood => {
                write!(f, "the metric command printed more than {MOST_OUTPUT} bytes, expected one number")
            }
            Self::Rubbish(text) if text.is_empty() => {
                f.write_str("the metric command printed nothing, expected one number")
            }
            Self::Rubbish(text) => write!(f, "the metric command printed {text:?}, expected one number"),
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
        self.call(input)
    }
}
