//! A client: asks a cluster what one machine would count.

use crate::aggregate;
use crate::wire::{self, LONGEST_MESSAGE, Role, Secrets, Tls};
use ballista_core::extension::{SessionConfigExt as _, SessionStateExt as _};
use datafusion::arrow::array::AsArray as _;
use datafusion::common::DataFusionError;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, Union, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use equipoise_data::read::{Elsewhere, Piece};
use equipoise_data::{Error, Kind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A cluster, by the address of its scheduler.
pub struct Cluster {
    address: String,
    secrets: Option<Secrets>,
    runtime: Runtime,
    session: SessionContext,
}

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
        runtime.block_on(wire::hello(address, Role::Client, secrets.clone(), None))?;
        let config = SessionConfig::new_with_ballista()
            .with_target_partitions(1)
            .with_ballista_grpc_client_max_message_size(LONGEST_MESSAGE as usize)
            .with_ballista_override_create_grpc_client_endpoint(wire::endpoint(Role::Client, secrets.clone()))
            .with_ballista_use_tls(secrets.is_some());
        let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
        let state = runtime
            .block_on(async { state.upgrade_for_ballista(format!("http://{host}:{port}")) })
            .map_err(|error| broken(&error))?;
        let session = SessionContext::new_with_state(state);
        session.register_udaf(aggregate::pass());
        Ok(Self { address: address.to_owned(), secrets, runtime, session })
    }

    /// Comes to its end when an executor is lost. The engine was seen to wait for one without end; a pass that is begun again is counted
    /// by those who are left.
    async fn lost(&self) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let waited = Some(start.elapsed());
            if !wire::hello(&self.address, Role::Client, self.secrets.clone(), waited).await? {
                return Ok(());
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

impl Elsewhere for Cluster {
    fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, Error> {
        self.runtime.block_on(async {
            wire::hello(&self.address, Role::Client, self.secrets.clone(), None).await?;
            let found = loop {
                tokio::select! {
                    found = self.pass(question, pieces) => break found,
                    lost = self.lost() => lost?,
                }
            };
            found.map_err(|error| {
                // Several lines of what the engine was at do not help anybody.
                let error = error.to_string();
                let line = error.lines().next().unwrap_or_default();
                let line: String = line.chars().take(300).collect();
                let found = format!("a pass that did not come to its end ({line})");
                let error = Error::new(Kind::Unreadable, found, "executors that stay; nothing was counted");
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
