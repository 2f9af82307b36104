//! A progress bar for jobs that turn out to be long.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

/// Jobs that end before this stay quiet.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything that is shown at the moment.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Counts the steps of a job, and shows them on standard error once it has taken two seconds.
///
/// Shared between threads by reference.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Dropping it tells the waiting thread that the job is over.
    _running: mpsc::Sender<()>,
}

impl Progress {
    /// A job of `steps` steps. With `visible` false nothing is ever shown; whether standard error is a terminal
    /// is looked at here as well.
    pub fn new(what: &str, steps: usize, visible: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left");
        bar.set_style(style.expect("a template of ours").progress_chars("##-"));
        bar.set_message(what.to_owned());
        let (running, over) = mpsc::channel::<()>();
        if visible {
            let bar = bar.clone();
            std::thread::spawn(move || {
                if over.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // A job may be a part of another, whose bar stays above its own.
                    let bar = BARS.add(bar);
                    bar.enable_steady_tick(Duration::from_millis(250));
                }
            });
        }
        Self { bar, _running: running }
    }

    /// A job whose steps nobody can count: shown is how long it has taken.
    pub fn spinner(what: &str, visible: bool) -> Self {
        let progress = Self::new(what, 1, visible);
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
        progress.bar.set_style(style.expect("a template of ours"));
        progress
    }

    /// One step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// So many of so many steps are done.
    #[cfg(feature = "cluster")]
    pub fn reached(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
