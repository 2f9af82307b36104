//! A client: asks a cluster what one machine would count.

use crate::aggregate;
use crate::wire::{self, Heard, LONGEST_MESSAGE, Role, Secrets, Tls, Waiting};
use ballista_core::extension::{SessionConfigExt as _, SessionStateExt as _};
use datafusion::arrow::array::AsArray as _;
use datafusion::common::DataFusionError;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, Union, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use equipoise_data::read::{Elsewhere, Piece};
use equipoise_data::{Error, Kind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A cluster, by the address of its scheduler.
pub struct Cluster {
    address: String,
    /// What its passes are called. One runs at a time: the scheduler ends all but the last of one name.
    name: String,
    secrets: Option<Secrets>,
    runtime: Runtime,
    session: SessionContext,
    watch: Option<Box<Watch>>,
    one_at_a_time: Mutex<()>,
}

/// Told every second how many of how many tasks of a pass are done, and nothing once it is over.
pub type Watch = dyn Fn(Option<(usize, usize)>) + Send + Sync;

impl Cluster {
    /// Connects to the scheduler at HOST:PORT. Fails if there is none, if it is of another version, or has no executors.
    pub fn connect(address: &str, tls: Option<&Tls>) -> Result<Self, Error> {
        let secrets = tls.map(Tls::read).transpose()?;
        let (host, port) = wire::host_and_port(address)?;
        let broken = |error: &dyn std::fmt::Display| {
            let error = Error::new(Kind::Unreadable, error.to_string(), "a client that runs");
            error.file(format!("cluster {address}"))
        };
        let runtime = wire::runtime().map_err(|error| broken(&error))?;
        runtime.block_on(wire::hello(address, Role::Client.agent(), secrets.clone(), None))?;
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let name = format!("{} {}", Role::Client.agent(), CLIENTS.fetch_add(1, Ordering::Relaxed));
        let config = SessionConfig::new_with_ballista()
            .with_ballista_job_name(&name)
            .with_target_partitions(1)
            .with_ballista_grpc_client_max_message_size(LONGEST_MESSAGE as usize)
            .with_ballista_override_create_grpc_client_endpoint(wire::endpoint(
                Role::Client.agent(),
                secrets.clone(),
            ))
            .with_ballista_use_tls(secrets.is_some());
        let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
        let state = runtime
            .block_on(async { state.upgrade_for_ballista(format!("http://{host}:{port}")) })
            .map_err(|error| broken(&error))?;
        let session = SessionContext::new_with_state(state);
        session.register_udaf(aggregate::pass());
        let address = address.to_owned();
        Ok(Self { address, name, secrets, runtime, session, watch: None, one_at_a_time: Mutex::new(()) })
    }

    /// The same, and somebody is told how far its passes are.
    pub fn watched(mut self, watch: Box<Watch>) -> Self {
        self.watch = Some(watch);
        self
    }

    async fn hello(&self, since: Option<Duration>) -> Result<Heard, Error> {
        let waiting = Waiting { passes: &self.name, since };
        wire::hello(&self.address, Role::Client.agent(), self.secrets.clone(), Some(waiting)).await
    }

    fn tell(&self, so_far: Option<(usize, usize)>) {
        self.watch.iter().for_each(|watch| watch(so_far));
    }

    /// Comes to its end when an executor is lost. The engine was seen to wait for one without end; a pass that is begun again is counted
    /// by those who are left.
    async fn lost(&self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            match self.hello(Some(start.elapsed())).await? {
                Heard::Working | Heard::NotYet => {}
                Heard::SoFar(done, all) => self.tell(Some((done, all))),
                Heard::Lost => return Ok(()),
            }
        }
    }

    async fn pass(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, DataFusionError> {
        let shares = shares(pieces.len());
        let mut inputs = Vec::with_capacity(shares);
        for share in 0..shares {
            let own = &pieces[share * pieces.len() / shares..(share + 1) * pieces.len() / shares];
            let row = |piece: &Piece| {
                let piece = serde_json::to_string(piece);
                piece
                    .map(|piece| vec![lit(piece)])
                    .map_err(|error| DataFusionError::External(Box::new(error)))
            };
            let rows = own.iter().map(row).collect::<Result<Vec<_>, _>>()?;
            inputs.push(Arc::new(LogicalPlanBuilder::values(rows)?.build()?));
        }
        // A union has a partition for each input, so every share is a task of its own.
        let plan = match inputs.len() {
            1 => Arc::unwrap_or_clone(inputs.remove(0)),
            _ => LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?),
        };
        let frame = DataFrame::new(self.session.state(), plan);
        let frame = frame.aggregate(vec![], vec![aggregate::call(question, "column1").alias("tally")])?;
        let batches = frame.collect().await?;
        let mut states = batches.iter().flat_map(|batch| batch.column(0).as_binary::<i64>().iter().flatten());
        match (states.next(), states.next()) {
            (Some(state), None) => Ok(state.to_vec()),
            _ => Err(DataFusionError::Execution("not one answer".to_owned())),
        }
    }
}

impl Drop for Cluster {
    /// Says that nothing is waited for any more, so that executors delete the last sums at once.
    fn drop(&mut self) {
        let goodbye = async { tokio::time::timeout(Duration::from_secs(1), self.hello(None)).await };
        let _ = self.runtime.block_on(goodbye);
    }
}

impl Elsewhere for Cluster {
    fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, Error> {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        self.runtime.block_on(async {
            // Whoever begins a pass has the sums of the one before.
            self.hello(None).await?;
            let found = loop {
                tokio::select! {
                    found = self.pass(question, pieces) => break Ok(found),
                    lost = self.lost() => if let Err(error) = lost { break Err(error) },
                }
            };
            self.tell(None);
            let found = found?;
            found.map_err(|error| {
                // Several lines of what the engine was at do not help anybody.
                let error = error.to_string();
                let line = error.lines().next().unwrap_or_default();
                // Nor do the names of its types.
                let line = match line.contains("Grpc") || line.contains("Status {") {
                    true => "a part of the cluster could not be reached".to_owned(),
                    false => line.chars().take(300).collect(),
                };
                let found = format!("a pass that did not come to its end ({line})");
                let error = Error::new(Kind::Unreadable, found, "a scheduler and executors that stay, each reached under the name of its certificate; nothing was counted");
                error.file(format!("cluster {}", self.address))
            })
        })
    }
}

/// Into how many tasks pieces go. Each sends its sums, and the profile of a few pieces with all their scores is large, while that of
/// many is in parts: a few dozen tasks, more only if each still has several pieces.
fn shares(pieces: usize) -> usize {
    pieces.min(32).max((pieces / 5).min(1_000)).max(1)
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn tasks_grow_with_pieces() {
        assert_eq!([1, 8, 40, 160, 1_000, 100_000].map(shares), [1, 8, 32, 32, 200, 1_000]);
    }
}
