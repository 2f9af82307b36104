//! The scheduler: takes passes from clients and gives their pieces to executors.

use crate::aggregate;
use crate::passes::Passes;
use crate::wire::{
    self, LONGEST_MESSAGE, LOST_AFTER, NOT_YET, NOWHERE, PASSES, Place, Role, SO_FAR, Secrets, Tls, WAITED,
};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::ballista_aggregate_functions;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion::execution::SessionStateBuilder;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use equipoise_data::{Error, Kind};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Status};

/// For how many seconds executors keep the sums of a pass whose client does not say that it has them.
const KEPT: u64 = 30;

/// Serves until it is told to end. `ready` is called with the address once it listens.
pub fn scheduler(listen: SocketAddr, tls: Option<&Tls>, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let secrets = tls.map(Tls::read).transpose()?;
    wire::check_bind(listen, secrets.as_ref())?;
    let broken = |error: &dyn std::fmt::Display| {
        Error::new(Kind::Unreadable, error.to_string(), "a scheduler that runs").file(listen.to_string())
    };
    wire::runtime().map_err(|error| broken(&error))?.block_on(async {
        let listener = TcpListener::bind(listen).await.map_err(|error| broken(&error))?;
        let bound = listener.local_addr().map_err(|error| broken(&error))?;
        let config = SchedulerConfig {
            bind_host: bound.ip().to_string(),
            external_host: bound.ip().to_string(),
            bind_port: bound.port(),
            // Executors ask for work.
            scheduling_policy: TaskSchedulingPolicy::PullStaged,
            executor_timeout_seconds: LOST_AFTER,
            expire_dead_executor_interval_seconds: 2,
            no_executors_grace_period_seconds: LOST_AFTER,
            // Of clients that were killed; others say when they have what they asked for.
            finished_job_data_clean_up_interval_seconds: KEPT,
            finished_job_state_clean_up_interval_seconds: 2 * KEPT,
            grpc_server_max_decoding_message_size: LONGEST_MESSAGE,
            grpc_server_max_encoding_message_size: LONGEST_MESSAGE,
            grpc_client_max_message_size: LONGEST_MESSAGE,
            use_tls: secrets.is_some(),
            override_session_builder: Some(Arc::new(|config| {
                let mut functions = ballista_aggregate_functions();
                functions.push(Arc::new(aggregate::pass()));
                let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?);
                Ok(state.with_aggregate_functions(functions).build())
            })),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(|error| broken(&error))?;
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config))
            .await
            .map_err(|error| broken(&error))?;
        let gate = Gate::new(Passes::new(scheduler.clone()), secrets.clone());
        let service = SchedulerGrpcServer::new(scheduler)
            .max_encoding_message_size(LONGEST_MESSAGE as usize)
            .max_decoding_message_size(LONGEST_MESSAGE as usize);
        let mut server = Server::builder().tcp_nodelay(true);
        if let Some(secrets) = &secrets {
            server = server.tls_config(secrets.server()).map_err(|error| broken(&error))?;
        }
        let served = server
            .add_service(InterceptedService::new(service, move |request: Request<()>| gate.admit(request)))
            .serve_with_incoming_shutdown(TcpIncoming::from(listener), wire::told_to_end());
        ready(bound);
        served.await.map_err(|error| broken(&error))
    })
}

/// Looks at who asks before anything is answered.
#[derive(Clone)]
struct Gate {
    /// The executors, by what they say of themselves.
    executors: Arc<Mutex<HashMap<String, Known>>>,
    passes: Arc<Passes>,
    secrets: Option<Secrets>,
}

/// What is known of an executor.
struct Known {
    /// When it was last heard of.
    heard: Instant,
    /// Whether others reach it.
    reached: Reached,
}

impl Known {
    fn is_admitted(&self) -> bool {
        matches!(self.reached, Reached::Yes)
    }
}

enum Reached {
    Trying,
    Yes,
    /// Why not, and since when that is known.
    No(String, Instant),
}

impl Gate {
    fn new(passes: Passes, secrets: Option<Secrets>) -> Self {
        Self { executors: Arc::default(), passes: Arc::new(passes), secrets }
    }

    #[allow(clippy::result_large_err, reason = "the signature of an interceptor")]
    fn admit(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let text = |name: &str| request.metadata().get(name).and_then(|value| value.to_str().ok());
        let agent = text("user-agent").unwrap_or_default();
        let role = Role::of(agent).map_err(Status::failed_precondition)?;
        self.passes.tidy();
        if role == Role::Executor {
            self.admit_executor(agent)?;
            return Ok(request);
        }
        let mut executors = self.executors.lock().unwrap_or_else(PoisonError::into_inner);
        let lost_after = Duration::from_secs(LOST_AFTER);
        let mut admitted = executors.values().filter(|known| known.is_admitted()).map(|known| &known.heard);
        if admitted.clone().all(|heard| heard.elapsed() > lost_after) {
            return Err(Status::resource_exhausted("a scheduler without executors"));
        }
        let waited = text(WAITED).and_then(|waited| waited.parse().ok()).map(Duration::from_millis);
        let lost = |heard: &Instant| {
            heard.elapsed() > lost_after && waited.is_some_and(|waited| heard.elapsed() <= waited)
        };
        if admitted.any(lost) {
            return Err(Status::aborted("an executor was lost"));
        }
        executors.retain(|_, known| known.heard.elapsed() < Duration::from_secs(3600));
        drop(executors);
        if let Some(passes) = text(PASSES) {
            self.passes.is_waited_for(passes);
            match waited {
                None => self.passes.have_been_fetched(passes),
                Some(_) => {
                    if let Some((done, all)) = self.passes.so_far(passes) {
                        return Err(Status::new(SO_FAR, format!("{done}/{all}")));
                    }
                }
            }
        }
        Ok(request)
    }

    /// An executor is admitted once it has been reached where it says it is: clients would fail to fetch sums from one that is not
    /// there, or whose certificate is for another name.
    #[allow(clippy::result_large_err, reason = "as above")]
    fn admit_executor(&self, agent: &str) -> Result<(), Status> {
        let Some(place) = Place::of(agent) else {
            return Err(Status::new(NOWHERE, "an executor that does not say where it is"));
        };
        let mut executors = self.executors.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let known = executors.entry(agent.to_owned()).or_insert_with(|| {
            self.reach(agent, place);
            Known { heard: now, reached: Reached::Trying }
        });
        known.heard = now;
        match &known.reached {
            Reached::Yes => Ok(()),
            Reached::Trying => Err(Status::new(NOT_YET, "an executor that is being tried")),
            Reached::No(why, since) => {
                let told = Status::new(NOWHERE, why.clone());
                // One that runs on is tried again: networks heal.
                if since.elapsed() > Duration::from_secs(LOST_AFTER) {
                    executors.remove(agent);
                }
                Err(told)
            }
        }
    }

    fn reach(&self, agent: &str, place: Place) {
        let (executors, agent) = (Arc::clone(&self.executors), agent.to_owned());
        let secrets = self.secrets.clone();
        tokio::spawn(async move {
            let reached = match place.reach(secrets).await {
                Ok(()) => Reached::Yes,
                Err(why) => {
                    Reached::No(format!("an executor that is not reached at {place} ({why})"), Instant::now())
                }
            };
            let mut executors = executors.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = executors.get_mut(&agent) {
                known.reached = reached;
            }
        });
    }
}
