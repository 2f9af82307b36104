//! A program that answers: started once, a line in for every question, a line out for every answer.

use crate::fault::Fault;
use anyhow::Result;
use equipoise::Preference;
use serde::Serialize;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// No answer is longer than this.
const LONGEST_LINE: u64 = 1 << 16;

/// A program that prints without being asked is held up after this many lines, so that it cannot fill the memory.
const MOST_LINES_AHEAD: usize = 4;

/// How long a program may take to end once there are no more questions.
const TO_END: Duration = Duration::from_secs(2);

/// The running program.
pub struct Program {
    child: Child,
    questions: Option<ChildStdin>,
    answers: Receiver<Vec<u8>>,
    within: Duration,
}

impl Program {
    /// Starts a shell command. What it writes to standard error is for whoever started us.
    pub fn start(command: &str, within: f64) -> Result<Self> {
        let [shell, flag] = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let mut shell = Command::new(shell);
        shell.args([flag, command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // A group of its own, so that it can be ended with everything it started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut child = shell
            .spawn()
            .map_err(|e| Fault::input_output(format!("cannot start the oracle command: {e}")))?;
        let questions = child.stdin.take();
        let (send, answers) = sync_channel(MOST_LINES_AHEAD);
        if let Some(output) = child.stdout.take() {
            // A thread of its own, since reading a pipe cannot be given a time limit.
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = vec![];
                    match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                        Ok(read) if read > 0 => {
                            if send.send(line).is_err() {
                                return;
                            }
                        }
                        _ => return,
                    }
                }
            });
        }
        Ok(Self { child, questions, answers, within: Duration::from_secs_f64(within.min(1e9)) })
    }

    /// Why the program stopped answering.
    fn ended(&mut self) -> String {
        match self.wait() {
            Some(status) if status.success() => "ended before it answered".to_owned(),
            Some(status) => {
                format!("ended with {} before it answered", status.to_string().replace(": ", " "))
            }
            None => "closed its output before it answered".to_owned(),
        }
    }

    /// Ends the program and whatever it started.
    fn kill(&mut self) {
        #[cfg(unix)]
        {
            let group = format!("kill -KILL -{}", self.child.id());
            let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The exit status, if it comes in time.
    fn wait(&mut self) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < TO_END => std::thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }

    /// The side that it chooses, after a line that asks it the question of this number.
    pub fn ask(&mut self, question: usize, line: &impl Serialize) -> Result<Preference> {
        let fault =
            |what: String| Fault::input_output(format!("question {question}: the oracle command {what}"));
        if let Ok(early) = self.answers.try_recv() {
            self.kill();
            let text = String::from_utf8_lossy(&early);
            return Err(fault(format!(
                "printed \"{}\" before it was asked, expected one line per question",
                start(&text)
            ))
            .into());
        }
        let line = serde_json::to_string(line)? + "\n";
        let sent = self.questions.as_mut().is_some_and(|questions| {
            questions.write_all(line.as_bytes()).and_then(|()| questions.flush()).is_ok()
        });
        if !sent {
            return Err(fault(self.ended()).into());
        }
        let line = match self.answers.recv_timeout(self.within) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                let limit = self.within.as_secs_f64();
                return Err(fault(format!("gave no answer within {limit} s")).into());
            }
            Err(RecvTimeoutError::Disconnected) => return Err(fault(self.ended()).into()),
        };
        let text = String::from_utf8_lossy(&line);
        let wrong = || fault(format!("printed \"{}\", expected first, second or tie", start(&text)));
        Ok(understood(text.trim()).ok_or_else(wrong)?)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end of its input tells the program that there are no more questions.
        self.questions = None;
        if self.wait().is_none() {
            self.kill();
        }
    }
}

/// How a line begins, for a message.
fn start(line: &str) -> String {
    line.trim().chars().filter(|c| !c.is_control()).take(40).collect()
}

/// `first`, `second`, `tie`, bare or as `{"answer": "first"}`.
fn understood(text: &str) -> Option<Preference> {
    let word = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => fields.get("answer")?.as_str()?.to_owned(),
        Ok(Value::String(word)) => word,
        _ => text.to_owned(),
    };
    match word.to_lowercase().as_str() {
        "first" => Some(Preference::First),
        "second" => Some(Preference::Second),
        "tie" | "cannot_tell" => Some(Preference::CannotTell),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_words_or_objects() {
        use Preference::{CannotTell, First, Second};
        for (text, expected) in [
            ("first", Some(First)),
            ("Second", Some(Second)),
            ("tie", Some(CannotTell)),
            ("\"first\"", Some(First)),
            ("{\"answer\": \"second\", \"why\": \"fewer misses\"}", Some(Second)),
            ("{\"answer\": 1}", None),
            ("{}", None),
            ("1", None),
            ("", None),
            ("firstly", None),
        ] {
            assert_eq!(understood(text), expected, "{text}");
        }
    }
}
