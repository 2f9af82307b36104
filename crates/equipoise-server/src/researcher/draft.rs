//! A study that is not locked yet: its files may be changed, and nobody takes part.

use super::call::{Call, Problem};
use equipoise_study::directory::Directory;
use equipoise_study::{Design, Result, Service};
use std::sync::Arc;

/// Makes a service for a design, on the log that is there.
#[derive(Clone)]
pub struct Remake(Arc<dyn Fn(Arc<Design>) -> Service + Send + Sync>);

impl Remake {
    /// By a function.
    pub fn new(make: impl Fn(Arc<Design>) -> Service + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }
}

impl std::fmt::Debug for Remake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Remake")
    }
}

/// Serves a study instead of the one that is served; `true` if it is locked, so that people may take part.
pub type Renew = Box<dyn Fn(Service, bool) -> Result<()> + Send + Sync>;

/// What may be changed, and how what changed is served.
pub struct Draft {
    /// The files of the study.
    pub files: Directory,
    remake: Remake,
    renew: Renew,
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("files", &self.files).finish_non_exhaustive()
    }
}

/// What is said of a study that cannot be changed.
const LOCKED: &str = "The study is locked, so its file and its tables stay as they are. To change it, set a higher version in study.toml \
    on the server and lock it again: answers keep the version they were given to.";
const BEGUN: &str = "People have places in this study already, so its file and its tables stay as they are.";

impl Draft {
    /// Of these files.
    pub fn new(files: Directory, remake: Remake, renew: Renew) -> Self {
        Self { files, remake, renew }
    }

    /// The draft of whoever may change it; otherwise why it cannot be changed.
    pub(super) fn open<'a>(call: &'a Call<'_>) -> Result<&'a Self, Problem> {
        let draft = call.shared.draft.get().ok_or(Problem::Closed(LOCKED))?;
        let seen = call.shared.watch.at_once()?;
        let (lock, logged) = (draft.files.lock()?, seen.locked.last().map(|(_, _, hash)| hash));
        if lock.is_some() || logged.is_some() {
            // By a command, meanwhile. What was changed after that is not what people are to take part in.
            let design = draft.files.design()?;
            let same = |hash: &String| hash == design.hash();
            if lock.is_some_and(|lock| same(&lock.hash)) && logged.is_some_and(same) {
                draft.serve(draft.service(Arc::new(design)), true)?;
            }
            return Err(Problem::Closed(LOCKED));
        }
        if !seen.people.is_empty() {
            return Err(Problem::Closed(BEGUN));
        }
        Ok(draft)
    }

    /// A service for a design.
    pub fn service(&self, design: Arc<Design>) -> Service {
        (self.remake.0)(design)
    }

    /// Serves a study from now on.
    pub fn serve(&self, service: Service, locked: bool) -> Result<()> {
        (self.renew)(service, locked)
    }
}
