//! Memory that a server gives back.

/// glibc gives nearly every thread a pool of its own to take memory from. People are taken in by one thread and dropped by another, so
/// pools grow and hold little: a third of a server's memory, and more of it the longer it runs. How many there may be is asked once,
/// when a program starts; so it starts anew, as itself. Where that cannot be done, everything goes on as before.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn few() {
    use std::os::unix::process::CommandExt as _;
    const POOLS: &str = "MALLOC_ARENA_MAX";
    if std::env::var_os(POOLS).is_some() {
        return;
    }
    let (Ok(program), mut typed) = (std::env::current_exe(), std::env::args_os()) else { return };
    let mut again = std::process::Command::new(program);
    if let Some(name) = typed.next() {
        again.arg0(name);
    }
    let _ = again.args(typed).env(POOLS, "2").exec();
}

/// Elsewhere there are no such pools.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn few() {}
