//! Long calls that let other Python threads run and that Ctrl-C ends.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often Python is asked whether somebody pressed Ctrl-C.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs the work on a thread of its own while this one, without the interpreter's lock, waits for it or for a signal.
///
/// After a signal the caller gets its exception at once; the work goes on until it is done, and nobody sees what comes
/// of it. A panic, which would be a mistake of ours, becomes a `RuntimeError`.
pub fn interruptible<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    py.detach(|| {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            // Nobody receives after a signal.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        loop {
            match receiver.recv_timeout(PAUSE) {
                Ok(Ok(done)) => return Ok(done),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err(
                        "equipoise stopped unexpectedly; please report what was called",
                    ));
                }
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            }
        }
    })
}
