//! An executor: reads pieces of tables, and counts.

use crate::aggregate;
use crate::wire::{self, Heard, LONGEST_MESSAGE, LOST_AFTER, Place, Secrets, Tls};
use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::GrpcServerConfig;
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::shutdown::Shutdown;
use datafusion::prelude::SessionConfig;
use equipoise_data::{Error, Kind};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// What an executor needs to know.
#[derive(Debug, Clone)]
pub struct Executor {
    /// HOST:PORT of the scheduler.
    pub scheduler: String,
    /// Where other executors and clients fetch sums; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The name or address under which others reach it, if not the one it listens on.
    pub advertise: Option<String>,
    /// Pieces that are counted at a time.
    pub tasks: usize,
    /// Where a folder is made for sums, which is deleted at the end.
    pub work: PathBuf,
    /// Files for mutual TLS.
    pub tls: Option<Tls>,
}

/// Works until it is told to end. `ready` is called with its address once the scheduler has reached it there.
pub fn executor(options: &Executor, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let secrets = options.tls.as_ref().map(Tls::read).transpose()?;
    wire::check_bind(options.listen, secrets.as_ref())?;
    let broken = |error: &dyn std::fmt::Display| {
        let error = Error::new(Kind::Unreadable, error.to_string(), "an executor that runs");
        error.file(options.listen.to_string())
    };
    let (host, port) = wire::host_and_port(&options.scheduler)?;
    let listener = TcpListener::bind(options.listen).map_err(|error| broken(&error))?;
    listener.set_nonblocking(true).map_err(|error| broken(&error))?;
    let bound = listener.local_addr().map_err(|error| broken(&error))?;
    let work = Own::make(&options.work)?;
    let mut functions = BallistaFunctionRegistry::default();
    let pass = aggregate::pass();
    functions.aggregate_functions.insert(pass.name().to_owned(), Arc::new(pass));
    let own = in_address(bound.ip());
    let advertised = options.advertise.clone().unwrap_or_else(|| own.clone());
    let place = Place::new(&advertised, bound.port())?;
    let connect = wire::endpoint(place.agent(), secrets.clone());
    let (inside, with_tls) = (Arc::clone(&connect), secrets.is_some());
    let config = ExecutorProcessConfig {
        bind_host: own,
        external_host: Some(advertised),
        port: bound.port(),
        grpc_port: bound.port(),
        scheduler_host: host.to_owned(),
        scheduler_port: port,
        vcores: options.tasks,
        // Executors ask for work: nobody but those who fetch sums connects to them.
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work.0.display().to_string()),
        job_data_ttl_seconds: 3600,
        job_data_clean_up_interval_seconds: 600,
        grpc_max_decoding_message_size: LONGEST_MESSAGE,
        grpc_max_encoding_message_size: LONGEST_MESSAGE,
        executor_heartbeat_interval_seconds: LOST_AFTER / 4,
        override_function_registry: Some(Arc::new(functions)),
        override_config_producer: Some(Arc::new(move || {
            SessionConfig::new_with_ballista()
                .with_ballista_grpc_client_max_message_size(LONGEST_MESSAGE as usize)
                .with_ballista_override_create_grpc_client_endpoint(Arc::clone(&inside))
                .with_ballista_use_tls(with_tls)
        })),
        override_arrow_flight_service: Some(flight(listener, secrets.clone())),
        override_create_grpc_client_endpoint: Some(connect),
        ..ExecutorProcessConfig::default()
    };
    wire::runtime().map_err(|error| broken(&error))?.block_on(async {
        let hello = || wire::hello(&options.scheduler, place.agent(), secrets.clone(), None);
        hello().await?;
        let mut process = std::pin::pin!(start_executor_process(Arc::new(config)));
        // It gets no work before the scheduler has reached it: whoever cannot be reached would break the passes of others.
        let reached = async {
            while hello().await? == Heard::NotYet {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok::<_, Error>(())
        };
        tokio::select! {
            ended = &mut process => return ended.map_err(|error| broken(&error)),
            reached = reached => reached?,
        }
        ready(bound);
        process.await.map_err(|error| broken(&error))
    })
}

/// An address of a machine as it stands before a port.
fn in_address(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// Serves sums to those who fetch them, on a port that is taken already.
fn flight(listener: TcpListener, secrets: Option<Secrets>) -> Arc<ArrowFlightServerProvider> {
    let listener = Mutex::new(Some(listener));
    Arc::new(move |work: String, _: SocketAddr, mut shutdown: Shutdown, _: GrpcServerConfig| {
        let listener = listener.lock().ok().and_then(|mut listener| listener.take());
        let secrets = secrets.clone();
        tokio::spawn(async move {
            let taken = || BallistaError::General("the port was given away".to_owned());
            let listener = tokio::net::TcpListener::from_std(listener.ok_or_else(taken)?)?;
            let mut server = Server::builder().tcp_nodelay(true);
            if let Some(secrets) = secrets {
                server = server.tls_config(secrets.server()).map_err(BallistaError::TonicError)?;
            }
            let service = FlightServiceServer::new(BallistaFlightService::new(work))
                .max_decoding_message_size(LONGEST_MESSAGE as usize)
                .max_encoding_message_size(LONGEST_MESSAGE as usize);
            let end = async move { shutdown.recv().await };
            let served = server.add_service(service);
            let served = served.serve_with_incoming_shutdown(TcpIncoming::from(listener), end);
            served.await.map_err(BallistaError::TonicError)
        })
    })
}

/// A folder of its own inside another, which only its owner looks into, and which is gone when it is dropped. The other one may have
/// anything else in it.
struct Own(PathBuf);

impl Own {
    fn make(inside: &Path) -> Result<Self, Error> {
        let folder = inside.join(format!("equipoise-executor-{}", std::process::id()));
        let odd = |error: std::io::Error| {
            Error::new(Kind::Unreadable, error.to_string(), "a folder that sums can be kept in")
                .file(folder.display().to_string())
        };
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::fs::create_dir_all(inside).map_err(odd)?;
        // Of a process of the same number that was killed.
        let _ = std::fs::remove_dir_all(&folder);
        builder.create(&folder).map_err(odd)?;
        Ok(Self(folder))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_folder_already_stays() -> Result<(), Error> {
        let place = std::env::temp_dir().join(format!("equipoise-own-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("precious"), "mine").unwrap();
        let own = Own::make(&place)?;
        let made = own.0.clone();
        assert!(made.is_dir() && made.starts_with(&place));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(own);
        assert!(!made.exists());
        assert_eq!(std::fs::read_to_string(place.join("precious")).unwrap(), "mine");
        std::fs::remove_dir_all(&place).unwrap();
        Ok(())
    }
}
