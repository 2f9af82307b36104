//! What went wrong, by the exit code it ends in.

use equipoise::population::AskError;
use std::convert::Infallible;
use std::process::ExitCode;

/// The run ended well, but what it found needs attention.
pub const FINDING: u8 = 1;
/// The command line or a document says something that cannot be done.
pub const USAGE: u8 = 2;
/// A file could not be read or written, or is not what it should be.
pub const INPUT_OUTPUT: u8 = 3;
/// A record does not agree with itself.
pub const INTEGRITY: u8 = 4;

/// A gate neither passes nor fails; nothing else that ends so is asked of `gate`.
pub const UNDECIDED: u8 = 4;

/// An error of the command line's own, with its exit code.
#[derive(Debug)]
pub struct Fault {
    code: u8,
    sentence: String,
}

impl Fault {
    /// Something the caller asked for cannot be done.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { code: USAGE, sentence: sentence.into() }
    }

    /// What was looked at should not be used like this.
    pub fn finding(sentence: impl Into<String>) -> Self {
        Self { code: FINDING, sentence: sentence.into() }
    }

    /// Records contradict each other.
    pub fn integrity(sentence: impl Into<String>) -> Self {
        Self { code: INTEGRITY, sentence: sentence.into() }
    }

    /// A file could not be read or written.
    pub fn input_output(sentence: impl Into<String>) -> Self {
        Self { code: INPUT_OUTPUT, sentence: sentence.into() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Fault {}

/// The exit code of an error; `None` for a reader who has gone away, which is no error at all.
pub fn exit_code(error: &anyhow::Error) -> Option<ExitCode> {
    let found = error.chain().find_map(|cause| {
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return Some(Some(fault.code));
        }
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            let gone = io.kind() == std::io::ErrorKind::BrokenPipe;
            return Some((!gone).then_some(INPUT_OUTPUT));
        }
        if cause.is::<equipoise::Divergence>() {
            return Some(Some(INTEGRITY));
        }
        if let Some(equipoise_server::researcher::accounts::Error::Refused(_)) = cause.downcast_ref() {
            return Some(Some(USAGE));
        }
        if cause.is::<equipoise_data::Error>() {
            return Some(Some(INPUT_OUTPUT));
        }
        if let Some(error) = cause.downcast_ref::<equipoise_study::Error>() {
            return Some(Some(of_study(error)));
        }
        if let Some(error) = cause.downcast_ref::<equipoise_log::Error>() {
            return Some(Some(of_log(error)));
        }
        if let Some(AskError::Input(error)) = cause.downcast_ref::<AskError<Infallible>>() {
            return Some(Some(of_core(error)));
        }
        if let Some(error) = cause.downcast_ref::<AskError<equipoise_data::Error>>() {
            return Some(Some(match error {
                AskError::Input(error) => of_core(error),
                AskError::Population(_) => INPUT_OUTPUT,
            }));
        }
        cause.downcast_ref::<equipoise::Error>().map(|error| Some(of_core(error)))
    });
    found.unwrap_or(Some(INPUT_OUTPUT)).map(ExitCode::from)
}

fn of_core(error: &equipoise::Error) -> u8 {
    match error {
        equipoise::Error::Syntax(_) | equipoise::Error::Format { .. } => INPUT_OUTPUT,
        _ => USAGE,
    }
}

fn of_study(error: &equipoise_study::Error) -> u8 {
    use equipoise_study::Error;
    match error {
        Error::Damaged(_) | Error::Another(_) => INTEGRITY,
        Error::Core(error) => of_core(error),
        Error::Study { .. } | Error::Refused(_) | Error::Changed { .. } => USAGE,
        Error::Unfit(_) => FINDING,
        Error::Log(error) => of_log(error),
        _ => INPUT_OUTPUT,
    }
}

fn of_log(error: &equipoise_log::Error) -> u8 {
    use equipoise_log::Error;
    match error {
        Error::Damaged(_) | Error::Another(_) => INTEGRITY,
        Error::InUse(_) | Error::Conflict | Error::Erased => USAGE,
        _ => INPUT_OUTPUT,
    }
}
