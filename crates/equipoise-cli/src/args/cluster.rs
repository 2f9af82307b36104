//! The arguments of `equipoise cluster`, and those of commands that use one.

use crate::progress::Progress;
use clap::{Args, Subcommand};
use equipoise_cluster::{Cluster, Tls};
use equipoise_data::read::Elsewhere;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;

/// Start a part of a cluster that counts large tables: a scheduler, or executors
#[derive(Debug, Args)]
#[command(after_help = "\
A cluster is one scheduler and any number of executors. Every machine, also the one a command is typed on, sees the files of a \
table under the same paths, and runs the same version of this program. Ctrl-C ends a part; when an executor is \
lost, a pass is begun again with the others.

Addresses that other machines can reach need mutual TLS: every part shows a certificate that one authority has signed for the \
name or address it is reached under.

Examples:
  equipoise cluster scheduler                                  on this machine only
  equipoise cluster executor 127.0.0.1:50050
  equipoise inspect parts/ --cluster 127.0.0.1:50050")]
pub struct ClusterGroup {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

/// The parts of a cluster.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    Scheduler(SchedulerArgs),
    Executor(ExecutorArgs),
}

/// Files for mutual TLS.
#[derive(Debug, Clone, Default, Args)]
pub struct TlsFiles {
    /// The certificate to show, with its chain, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_ca"])]
    pub tls_key: Option<PathBuf>,
    /// The authority that signs the certificates of all parts of the cluster, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_key"])]
    pub tls_ca: Option<PathBuf>,
}

impl TlsFiles {
    pub fn tls(&self) -> Option<Tls> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(Tls { certificate, key, authority: self.tls_ca.clone()? })
    }
}

/// Give the pieces of tables to executors, and commands their sums
#[derive(Debug, Args)]
pub struct SchedulerArgs {
    /// The address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50050")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub files: TlsFiles,
}

/// Read pieces of tables and count them, for a scheduler
#[derive(Debug, Args)]
pub struct ExecutorArgs {
    /// The scheduler
    #[arg(value_name = "HOST:PORT")]
    pub scheduler: String,
    /// The address sums are fetched from; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// The name or address others reach it under, if not the one it listens on
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
    /// Pieces that are counted at a time [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub tasks: Option<u16>,
    /// Where to make a folder for sums, which is deleted at the end [default: where temporary files are]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    #[command(flatten)]
    pub files: TlsFiles,
}

/// A cluster that counts for a command.
#[derive(Debug, Clone, Default, Args)]
pub struct OnCluster {
    /// Let a cluster read and count the table, of which this is the scheduler (see: equipoise cluster)
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["stream", "adbc"])]
    pub cluster: Option<String>,
    #[command(flatten)]
    pub files: TlsFiles,
}

impl OnCluster {
    /// A connection; how far its passes are is shown, if somebody looks.
    pub fn connect(&self, shows_progress: bool) -> anyhow::Result<Option<Box<dyn Elsewhere>>> {
        let Some(address) = &self.cluster else { return Ok(None) };
        let cluster = Cluster::connect(address, self.files.tls().as_ref())?;
        let shown = Mutex::new((0, None));
        let watch = move |so_far: Option<(usize, usize)>| {
            let Ok(mut shown) = shown.lock() else { return };
            let (passes, bar) = &mut *shown;
            let Some((done, all)) = so_far else {
                *passes += 1;
                *bar = None;
                return;
            };
            let what = || format!("pass {} on the cluster", *passes + 1);
            bar.get_or_insert_with(|| Progress::new(&what(), all, shows_progress)).reached(done, all);
        };
        Ok(Some(Box::new(cluster.watched(Box::new(watch)))))
    }
}
