//! Keeps a congestion control registered while it is in use, by this or another process.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::{Error, Growth, Registered, object, pins};

/// Maximum number of attempts to register. Another process may register or end between two steps.
const MAX_ATTEMPTS: usize = 3;

/// Keeps a congestion control registered until it is dropped.
#[derive(Debug)]
pub struct Hold {
    growth: Growth,
    own: Vec<Registered>,
    /// Registration of another process. It stays when that process ends.
    shared: Option<OwnedFd>,
    /// Whether another process has a registration that cannot be shared.
    is_anothers: bool,
}

impl Hold {
    /// Returns a hold on the congestion control with this growth, which is not registered yet.
    pub fn new(growth: Growth) -> Self {
        Self { growth, own: Vec::new(), shared: None, is_anothers: false }
    }

    /// Returns the growth of the congestion control.
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// Registers the congestion control, or shares the registration of another process.
    ///
    /// A registration cannot be shared before Linux 6.4, or if its process is in another PID namespace. It
    /// may then end at any time, so call this again before each use.
    ///
    /// # Errors
    /// If the kernel lacks something or rejects the programs.
    pub fn ensure(&mut self) -> Result<(), Error> {
        let mut refusal = None;
        for _ in 0..MAX_ATTEMPTS {
            if self.growth.is_registered() {
                let is_held = self.shared.is_some() || !self.own.is_empty();
                if is_held || self.is_anothers {
                    return Ok(());
                }
                self.shared = registration_of_another(self.growth);
                // The other process may have ended since.
                if self.shared.is_some() || self.growth.is_registered() {
                    self.is_anothers = self.shared.is_none();
                    return Ok(());
                }
            }
            self.is_anothers = false;
            match Registered::new(self.growth) {
                Ok(registered) => {
                    self.own.push(registered);
                    return Ok(());
                }
                // Another process may have registered it first.
                Err(error) => refusal = Some(error),
            }
        }
        refusal.map_or(Ok(()), Err)
    }
}

/// Returns the link of an existing registration: that of `attach`, or that of a process.
fn registration_of_another(growth: Growth) -> Option<OwnedFd> {
    let maps = object::registrations(growth);
    let pinned = object::pinned(&pins::registration(growth)).filter(|link| is_own(link, &maps));
    pinned.or_else(|| {
        let processes = fs::read_dir("/proc").ok()?.flatten();
        processes.filter_map(|entry| of_process(&entry.path(), &maps)).next()
    })
}

fn of_process(process: &Path, maps: &[u32]) -> Option<OwnedFd> {
    let pid = Pid::from_raw(process.file_name()?.to_str()?.parse().ok()?)?;
    fs::read_dir(process.join("fd")).ok()?.flatten().find_map(|entry| {
        let kind = fs::read_link(entry.path()).ok()?;
        let number = entry.file_name();
        if kind.as_os_str() != "anon_inode:bpf_link"
            || !registers(&process.join("fdinfo").join(&number), maps)
        {
            return None;
        }
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let number = number.to_str()?.parse().ok()?;
        let link = pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()?;
        // The number may belong to another file since.
        is_own(&link, maps).then_some(link)
    })
}

/// Returns whether a file that this process has open is the link of a registration.
fn is_own(link: &OwnedFd, maps: &[u32]) -> bool {
    registers(&Path::new("/proc/self/fdinfo").join(link.as_raw_fd().to_string()), maps)
}

/// Returns whether this `fdinfo` describes the link of a registration with one of these maps.
fn registers(fdinfo: &Path, maps: &[u32]) -> bool {
    let text = fs::read_to_string(fdinfo).unwrap_or_default();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let map = value("map_id:").and_then(|id| id.parse().ok());
    value("link_type:") == Some("struct_ops") && map.is_some_and(|map| maps.contains(&map))
}
