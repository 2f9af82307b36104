//! The scheduler: takes passes from clients and gives their pieces to executors.

use crate::aggregate;
use crate::passes::Passes;
use crate::wire::{self, LONGEST_MESSAGE, LOST_AFTER, PASSES, Role, SO_FAR, Tls, WAITED};
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
        let gate = Gate::new(Passes::new(scheduler.clone()));
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
    /// When each executor was last heard of.
    heard: Arc<Mutex<HashMap<String, Instant>>>,
    passes: Arc<Passes>,
}

impl Gate {
    fn new(passes: Passes) -> Self {
        Self { heard: Arc::default(), passes: Arc::new(passes) }
    }

    #[allow(clippy::result_large_err, reason = "the signature of an interceptor")]
    fn admit(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let text = |name: &str| request.metadata().get(name).and_then(|value| value.to_str().ok());
        let agent = text("user-agent").unwrap_or_default();
        let role = Role::of(agent).map_err(Status::failed_precondition)?;
        self.passes.tidy();
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let lost_after = Duration::from_secs(LOST_AFTER);
        if role == Role::Executor {
            heard.insert(agent.to_owned(), Instant::now());
            return Ok(request);
        }
        if heard.values().all(|last| last.elapsed() > lost_after) {
            return Err(Status::resource_exhausted("a scheduler without executors"));
        }
        let waited = text(WAITED).and_then(|waited| waited.parse().ok()).map(Duration::from_millis);
        let lost = |last: &Instant| {
            last.elapsed() > lost_after && waited.is_some_and(|waited| last.elapsed() <= waited)
        };
        if heard.values().any(lost) {
            return Err(Status::aborted("an executor was lost"));
        }
        heard.retain(|_, last| last.elapsed() < Duration::from_secs(3600));
        drop(heard);
        if let Some(passes) = text(PASSES) {
            self.passes.is_waited_for(passes);
            if let Some((done, all)) = waited.and_then(|_| self.passes.so_far(passes)) {
                return Err(Status::new(SO_FAR, format!("{done}/{all}")));
            }
        }
        Ok(request)
    }
}
