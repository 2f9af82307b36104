//! `equipoise cluster`: a scheduler or an executor.

use crate::args::{ClusterCommand, ExecutorArgs, SchedulerArgs};
use anyhow::Result;
use equipoise_cluster::{Executor, executor, scheduler};
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

pub fn run(command: &ClusterCommand) -> Result<ExitCode> {
    match command {
        ClusterCommand::Scheduler(args) => start_scheduler(args)?,
        ClusterCommand::Executor(args) => start_executor(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One line that says where it is: whoever started it on any free port reads it.
fn say(what: &str, address: SocketAddr) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{what} at {address}").and_then(|()| out.flush());
}

fn start_scheduler(args: &SchedulerArgs) -> Result<()> {
    scheduler(args.listen, args.files.tls().as_ref(), |address| say("scheduler", address))?;
    Ok(())
}

fn start_executor(args: &ExecutorArgs) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Executor {
        scheduler: args.scheduler.clone(),
        listen: args.listen,
        advertise: args.advertise.clone(),
        tasks: args.tasks.map_or(cores, usize::from),
        work: args.work.clone().unwrap_or_else(std::env::temp_dir),
        tls: args.files.tls(),
    };
    executor(&options, |address| say("executor", address))?;
    Ok(())
}
