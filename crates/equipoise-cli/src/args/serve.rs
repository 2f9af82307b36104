//! The arguments of `equipoise study serve`.

use crate::commands::study::Place;
use clap::Args;
use std::net::SocketAddr;

/// Serve a study over the web: to its participants, and to researchers
#[derive(Debug, Args)]
#[command(after_help = "\
DIR holds a study that is locked; its log is begun if it is not there. With --researchers it may be one that was never locked: \
owners edit and lock it in Design, and nobody takes part before. Only this computer can reach the pages \
unless --listen says otherwise; put a proxy with TLS before them and name its address with --origin. Ctrl-C stops when all \
that has begun is finished. Everything acknowledged is on disk before.

Researchers see the study live, make links, and export on a port of their own, which --researchers opens. They sign in; \
accounts are made with: equipoise study account add

With --database several servers serve one study, each with a copy of DIR; people go on at any of them.

Examples:
  equipoise study serve cancer --invite 1                         try it: prints a link
  equipoise study serve cancer --researchers 127.0.0.1:8081       for researchers too
  equipoise study serve cancer --listen 127.0.0.1:8080 --origin https://study.example.org")]
pub struct Serve {
    #[command(flatten)]
    pub place: Place,
    /// The address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// What people type before the path of a link, if not the address itself
    #[arg(long, value_name = "URL", value_parser = super::web_address)]
    pub origin: Option<String>,
    /// Make so many new places and print their links
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub invite: usize,
    /// Open the researchers' pages at this address
    #[arg(long, value_name = "ADDRESS")]
    pub researchers: Option<SocketAddr>,
    /// What researchers type, if not the address itself; needed, with https, for an address others can reach
    #[arg(long, value_name = "URL", requires = "researchers", value_parser = super::web_address)]
    pub researchers_origin: Option<String>,
}
