//! How the parts of a cluster talk: which of them they are, whether they are the same program, and whether anybody else can listen.

use ballista_core::extension::EndpointOverrideFn;
use ballista_core::serde::protobuf::GetJobStatusParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use equipoise_data::{Error, Kind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};

/// Client, scheduler and executors must be of one version: what they send each other is nobody else's business.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The longest message: the profile of an executor with 4,194,304 different scores has 96 MB.
pub const LONGEST_MESSAGE: u32 = 1 << 30;

/// An executor that has not been heard of for so many seconds is lost.
pub const LOST_AFTER: u64 = 10;

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who asks the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Client,
    Executor,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Client => "equipoise-client",
            Role::Executor => "equipoise-executor",
        }
    }

    /// The name, version and process that every request says.
    pub fn agent(self) -> String {
        static START: OnceLock<u128> = OnceLock::new();
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        format!("{}/{VERSION} process/{}-{}", self.name(), std::process::id(), START.get_or_init(now))
    }

    /// Whose request it is, if it is of a program of the same version; else what to tell it.
    pub fn of(agent: &str) -> Result<Self, String> {
        let own = agent.split(' ').next().unwrap_or_default();
        let (name, version) = own.split_once('/').unwrap_or((own, "?"));
        let roles = [Role::Client, Role::Executor];
        match roles.into_iter().find(|role| role.name() == name) {
            Some(role) if version == VERSION => Ok(role),
            Some(_) => Err(format!("the scheduler is equipoise {VERSION} and this is {version}")),
            None => Err(format!("the scheduler is equipoise {VERSION} and this is another program")),
        }
    }
}

/// Where others reach an executor, which its requests say so that the scheduler can try it.
pub struct Place(String);

impl Place {
    /// A host and a port, as they stand in an address.
    pub fn new(host: &str, port: u16) -> Result<Self, Error> {
        let place = format!("{host}:{port}");
        match Endpoint::from_shared(format!("http://{place}")).is_ok() && host_and_port(&place).is_ok() {
            true => Ok(Self(place)),
            false => {
                let found = format!("the name {host:?}");
                Err(Error::new(Kind::Mismatch, found, "a name or an address").file("--advertise"))
            }
        }
    }

    /// What the requests of an executor at this place say.
    pub fn agent(&self) -> String {
        format!("{} at/{}", Role::Executor.agent(), self.0)
    }

    /// The place in what a request says.
    pub fn of(agent: &str) -> Option<Self> {
        agent.split(' ').find_map(|word| word.strip_prefix("at/")).map(|place| Self(place.to_owned()))
    }

    /// Connects there as a client would: fails with the reason if nobody answers, or somebody whose certificate is for another name.
    pub async fn reach(&self, secrets: Option<Secrets>) -> Result<(), String> {
        let plain = Endpoint::from_shared(format!("http://{}", self.0)).map_err(|error| innermost(&error))?;
        let ready = endpoint(Role::Client.agent(), secrets)(plain).map_err(|error| innermost(&*error))?;
        match tokio::time::timeout(PATIENCE, ready.connect()).await {
            Ok(reached) => reached.map(|_| ()).map_err(|error| innermost(&error)),
            Err(_) => Err("no answer".to_owned()),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The innermost of what went wrong, which the outer ones only repeat.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(deeper) = last.source() {
        last = deeper;
    }
    last.to_string()
}

/// Files for mutual TLS, in PEM: each end shows a certificate that the other's authority has signed.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate, with its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authority that signs the certificates of all parts of the cluster.
    pub authority: PathBuf,
}

/// The same, read.
#[derive(Clone)]
pub struct Secrets {
    identity: Identity,
    authority: Certificate,
}

impl Tls {
    pub(crate) fn read(&self) -> Result<Secrets, Error> {
        let read = |path: &Path| {
            let unreadable = |error: std::io::Error| {
                let error = Error::new(Kind::Unreadable, error.to_string(), "a certificate or key in PEM");
                error.file(path.display().to_string())
            };
            std::fs::read(path).map_err(unreadable)
        };
        let identity = Identity::from_pem(read(&self.certificate)?, read(&self.key)?);
        Ok(Secrets { identity, authority: Certificate::from_pem(read(&self.authority)?) })
    }
}

impl Secrets {
    pub fn server(&self) -> ServerTlsConfig {
        ServerTlsConfig::new().identity(self.identity.clone()).client_ca_root(self.authority.clone())
    }

    fn client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new().identity(self.identity.clone()).ca_certificate(self.authority.clone())
    }
}

/// Refuses an address that others can reach where nothing is encrypted and nobody has to show who they are.
pub fn check_bind(listen: SocketAddr, secrets: Option<&Secrets>) -> Result<(), Error> {
    if listen.ip().is_loopback() || secrets.is_some() {
        return Ok(());
    }
    let found = "an address that other machines can reach, without mutual TLS";
    let expected = "--tls-cert, --tls-key and --tls-ca, or an address of this machine only such as 127.0.0.1";
    Err(Error::new(Kind::Mismatch, found, expected).file(listen.to_string()))
}

/// The host and port of HOST:PORT.
pub fn host_and_port(address: &str) -> Result<(&str, u16), Error> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    parts.filter(|(host, _)| !host.is_empty()).ok_or_else(|| {
        Error::new(Kind::Mismatch, format!("the address {address:?}"), "HOST:PORT").file("cluster")
    })
}

/// What the engine does to a connection before it is made by somebody who says that of themselves.
pub fn endpoint(agent: String, secrets: Option<Secrets>) -> EndpointOverrideFn {
    Arc::new(move |endpoint: Endpoint| {
        let endpoint = match &secrets {
            None => endpoint,
            Some(secrets) => {
                // The engine says http whatever it is told.
                let uri = endpoint.uri().to_string().replacen("http://", "https://", 1);
                Endpoint::from_shared(uri)?.tcp_nodelay(true).tls_config(secrets.client())?
            }
        };
        Ok(endpoint.connect_timeout(PATIENCE).user_agent(agent.clone())?)
    })
}

/// Threads with stacks that are deep enough for the engine's plans.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(16 << 20).build()
}

/// Ends with Ctrl-C, or when the process is asked to end.
pub async fn told_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = interrupt.await;
}

/// The header in which a client says for how many milliseconds it has been waiting for a pass.
pub const WAITED: &str = "equipoise-waited";

/// The header in which a client says what its passes are called.
pub const PASSES: &str = "equipoise-passes";

/// The code of an answer that says how far a pass is: `DONE/ALL`.
pub const SO_FAR: tonic::Code = tonic::Code::OutOfRange;

/// The code of an answer to an executor that has not been reached yet.
pub const NOT_YET: tonic::Code = tonic::Code::Unauthenticated;

/// The code of an answer to an executor that cannot be reached, with the reason.
pub const NOWHERE: tonic::Code = tonic::Code::PermissionDenied;

/// What a client says of its passes when it asks how they are.
pub struct Waiting<'a> {
    /// What they are called.
    pub passes: &'a str,
    /// For how long it has been waiting for one, if it has.
    pub since: Option<Duration>,
}

/// What a scheduler knows of a pass.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing but that somebody works on it.
    Working,
    /// How many of how many tasks are done.
    SoFar(usize, usize),
    /// An executor was lost meanwhile.
    Lost,
    /// It is still being tried whether the executor that asks can be reached.
    NotYet,
}

/// Says hello to a scheduler: fails if there is none, of another version, or, for a client, without executors, for an executor where
/// others do not reach it. A client that waits for a pass learns how that is.
pub async fn hello(
    address: &str,
    agent: String,
    secrets: Option<Secrets>,
    waiting: Option<Waiting<'_>>,
) -> Result<Heard, Error> {
    let (host, port) = host_and_port(address)?;
    let odd = |found: String, expected: &str| {
        Error::new(Kind::Unreadable, found, expected).file(format!("cluster {address}"))
    };
    let with_tls = if secrets.is_some() { "mutual TLS that both ends agree on" } else { "one without TLS" };
    let nobody = |error: &(dyn std::error::Error + 'static)| {
        let found = format!("no scheduler that answers ({})", innermost(error));
        odd(found, &format!("a running scheduler, and {with_tls}"))
    };
    let plain = Endpoint::from_shared(format!("http://{host}:{port}")).map_err(|error| nobody(&error))?;
    let ready = endpoint(agent, secrets)(plain).map_err(|error| nobody(&*error))?;
    let channel = ready.timeout(PATIENCE).connect().await.map_err(|error| nobody(&error))?;
    // Any question would do: what it is about does not exist.
    let mut question = tonic::Request::new(GetJobStatusParams { job_id: "hello".to_owned() });
    if let Some(Waiting { passes, since }) = waiting {
        let since = since.and_then(|since| since.as_millis().to_string().parse().ok());
        since.and_then(|since| question.metadata_mut().insert(WAITED, since));
        passes.parse().ok().and_then(|passes| question.metadata_mut().insert(PASSES, passes));
    }
    match SchedulerGrpcClient::new(channel).get_job_status(question).await {
        Err(status) => match status.code() {
            tonic::Code::FailedPrecondition => {
                Err(odd(status.message().to_owned(), "one version everywhere"))
            }
            tonic::Code::ResourceExhausted => {
                Err(odd(status.message().to_owned(), "at least one, of: equipoise cluster executor"))
            }
            // Without a cause: a connection that another protocol answers ends in this code too.
            tonic::Code::Internal | tonic::Code::NotFound if std::error::Error::source(&status).is_none() => {
                Ok(Heard::Working)
            }
            tonic::Code::Aborted => Ok(Heard::Lost),
            NOT_YET => Ok(Heard::NotYet),
            NOWHERE => {
                let expected = "a name or address under which the scheduler and clients reach it, which its certificate is for";
                Err(Error::new(Kind::Unreadable, status.message().to_owned(), expected).file("--advertise"))
            }
            SO_FAR => {
                let numbers = status.message().split_once('/');
                let numbers = numbers.and_then(|(done, all)| Some((done.parse().ok()?, all.parse().ok()?)));
                Ok(numbers.map_or(Heard::Working, |(done, all)| Heard::SoFar(done, all)))
            }
            _ => Err(nobody(&status)),
        },
        Ok(_) => Ok(Heard::Working),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_version_is_admitted() {
        for role in [Role::Client, Role::Executor] {
            assert_eq!(Role::of(&format!("{} tonic/0.14", role.agent())), Ok(role));
        }
        let said = |agent| Role::of(agent).unwrap_err();
        assert_eq!(
            said("equipoise-client/9.9.9 tonic/1"),
            format!("the scheduler is equipoise {VERSION} and this is 9.9.9")
        );
        assert_eq!(
            said("curl/8"),
            format!("the scheduler is equipoise {VERSION} and this is another program")
        );
    }

    #[test]
    fn an_executor_says_where_it_is() {
        let place = Place::new("worker1.example.org", 50051).unwrap();
        let said = Place::of(&format!("{} tonic/0.14", place.agent())).unwrap();
        assert_eq!(said.to_string(), "worker1.example.org:50051");
        assert_eq!(Role::of(&place.agent()), Ok(Role::Executor));
        assert!(Place::of(&Role::Client.agent()).is_none());
        let odd = Place::new("two words", 1).map(|place| place.0).unwrap_err().to_string();
        assert_eq!(odd, "--advertise: found the name \"two words\", expected a name or an address");
    }

    #[test]
    fn others_reach_nothing_without_tls() {
        let said = check_bind("0.0.0.0:1".parse().unwrap(), None).unwrap_err().to_string();
        assert!(
            said.starts_with("0.0.0.0:1: found an address that other machines can reach, without mutual TLS"),
            "{said}"
        );
        assert!(check_bind("127.0.0.1:1".parse().unwrap(), None).is_ok());
    }
}
