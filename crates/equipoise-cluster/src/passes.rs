//! What a scheduler knows of the passes that run: how far they are, and whether anybody still waits for them.

use crate::wire::LOST_AFTER;
use ballista_core::JobId;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Passes are jobs of the engine, by the name that their client gives all of its own.
pub struct Passes {
    engine: SchedulerServer<LogicalPlanNode, PhysicalPlanNode>,
    /// When the client of each name last asked.
    asked: Mutex<HashMap<String, Instant>>,
    /// When passes were last looked through.
    tidied: Mutex<Instant>,
    /// Passes whose sums executors have been told to delete.
    deleted: Arc<Mutex<HashSet<JobId>>>,
}

/// A job that runs.
struct Running {
    job: JobId,
    name: String,
    begun: u64,
    tasks: (usize, usize),
}

impl Passes {
    pub fn new(engine: SchedulerServer<LogicalPlanNode, PhysicalPlanNode>) -> Self {
        Self { engine, asked: Mutex::default(), tidied: Mutex::new(Instant::now()), deleted: Arc::default() }
    }

    /// Somebody waits for the pass of this name.
    pub fn is_waited_for(&self, name: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(name.to_owned(), Instant::now());
    }

    /// Whoever gave them this name has the sums of all passes that have ended: executors delete them.
    pub fn have_been_fetched(&self, name: &str) {
        let (engine, name, deleted) = (self.engine.clone(), name.to_owned(), Arc::clone(&self.deleted));
        tokio::spawn(async move {
            let Ok(jobs) = engine.state.task_manager.get_all_jobs().await else { return };
            let mut deleted = deleted.lock().unwrap_or_else(PoisonError::into_inner);
            deleted.retain(|job| jobs.iter().any(|known| known.job_id == *job));
            for job in jobs.into_iter().filter(|job| job.job_name == name) {
                let has_ended = matches!(job.status.status, Some(Status::Successful(_) | Status::Failed(_)));
                if has_ended && deleted.insert(job.job_id.clone()) {
                    engine.state.executor_manager.clean_up_job_data(job.job_id);
                }
            }
        });
    }

    /// How many of how many tasks of the last pass of this name are done.
    pub fn so_far(&self, name: &str) -> Option<(usize, usize)> {
        let own = self.running().into_iter().filter(|running| running.name == name);
        own.max_by_key(|running| running.begun).map(|running| running.tasks)
    }

    /// Ends passes that nobody waits for: of a client that is gone, or that has begun its pass again. The pieces that executors have begun
    /// are counted to their end.
    pub fn tidy(&self) {
        let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
        if tidied.elapsed() < Duration::from_secs(1) {
            return;
        }
        *tidied = Instant::now();
        let running = self.running();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, last| last.elapsed() < Duration::from_secs(LOST_AFTER));
        let is_last =
            |one: &Running| running.iter().all(|other| other.name != one.name || other.begun <= one.begun);
        for one in running.iter().filter(|one| !asked.contains_key(&one.name) || !is_last(one)) {
            let (engine, job) = (self.engine.clone(), one.job.clone());
            tokio::spawn(async move {
                // A pass that ends by itself meanwhile needs no end.
                let _ = engine.cancel_job(job).await;
            });
        }
    }

    fn running(&self) -> Vec<Running> {
        let jobs = self.engine.state.task_manager.get_running_job_cache();
        let running = jobs.iter().filter_map(|(job, cached)| {
            // Whoever changes it is done soon, and the next request asks again.
            let graph = cached.execution_graph.try_read().ok()?;
            let (name, begun) = (graph.job_name().to_owned(), graph.start_time());
            let mut tasks = (0, 0);
            for (done, all) in graph.stages().values().map(tasks_of) {
                tasks = (tasks.0 + done, tasks.1 + all);
            }
            Some(Running { job: job.clone(), name, begun, tasks })
        });
        running.collect()
    }
}

/// How many tasks of a stage are done, and how many it has.
fn tasks_of(stage: &ExecutionStage) -> (usize, usize) {
    match stage {
        ExecutionStage::Running(stage) => {
            let open = stage.pending.remaining() + stage.running_tasks().len();
            (stage.partitions.saturating_sub(open), stage.partitions)
        }
        ExecutionStage::Successful(stage) => (stage.partitions, stage.partitions),
        ExecutionStage::Resolved(stage) => (0, stage.partitions),
        // How many it will have is not known yet; the last one puts sums together and is a single task.
        ExecutionStage::UnResolved(_) => (0, 1),
        ExecutionStage::Failed(_) => (0, 0),
    }
}
