//! Programs under test: what they use while they run.

use std::path::Path;
use std::process::Command;

/// The memory of a process in bytes, where the system tells.
pub fn memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// How many files a process has open, where the system tells.
pub fn open_files(process: u32) -> Option<usize> {
    Some(std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count())
}

/// A volume of its own that holds so many bytes and no more, until it is dropped.
#[derive(Debug)]
pub struct Volume<'a>(&'a Path);

impl<'a> Volume<'a> {
    /// Mounted at a directory that is there; `None` where that is not allowed.
    pub fn mount(at: &'a Path, bytes: u64) -> Option<Self> {
        let size = format!("size={bytes}");
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output().ok()?;
        done.status.success().then_some(Self(at))
    }
}

impl Drop for Volume<'_> {
    fn drop(&mut self) {
        // Lazily: somebody who still has a file open keeps the volume, not the place.
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}
