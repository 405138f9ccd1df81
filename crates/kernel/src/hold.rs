//! The congestion control stays registered as long as somebody needs it, whoever registered it.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::{Error, Registered, is_registered, object, pins};

/// Others may register it, and end, before we do either.
const TRIES: usize = 3;

/// It is registered as long as this lives.
#[derive(Debug, Default)]
pub struct Hold {
    own: Vec<Registered>,
    /// Another's registration, which this keeps when the other ends.
    shared: Option<OwnedFd>,
    /// Another's that cannot be shared.
    is_anothers: bool,
}

impl Hold {
    /// Registers it where nobody else has, and keeps another's registration where one has. Before Linux 6.4
    /// nothing keeps that, and out of another PID namespace it is not seen: so ask again before it is needed
    /// again.
    ///
    /// # Errors
    /// The kernel cannot have it.
    pub fn ensure(&mut self) -> Result<(), Error> {
        let mut refusal = None;
        for _ in 0..TRIES {
            if is_registered() {
                let is_held = self.shared.is_some() || !self.own.is_empty();
                if is_held || self.is_anothers {
                    return Ok(());
                }
                self.shared = anothers();
                // Whoever has it may have ended meanwhile.
                if self.shared.is_some() || is_registered() {
                    self.is_anothers = self.shared.is_none();
                    return Ok(());
                }
            }
            self.is_anothers = false;
            match Registered::new() {
                Ok(registered) => {
                    self.own.push(registered);
                    return Ok(());
                }
                // Somebody else may have been faster.
                Err(error) => refusal = Some(error),
            }
        }
        refusal.map_or(Ok(()), Err)
    }
}

/// The link of another's registration: that of `attach`, or of a process.
fn anothers() -> Option<OwnedFd> {
    let maps = object::registrations();
    let pinned = object::pinned(&pins::registration()).filter(|link| is_own(link, &maps));
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
        // The number may be another file's by now.
        is_own(&link, maps).then_some(link)
    })
}

/// Whether what this process has open there is the link of a registration.
fn is_own(link: &OwnedFd, maps: &[u32]) -> bool {
    registers(&Path::new("/proc/self/fdinfo").join(link.as_raw_fd().to_string()), maps)
}

/// Whether this is told of the link of a registration, which one of these maps describes.
fn registers(fdinfo: &Path, maps: &[u32]) -> bool {
    let told = fs::read_to_string(fdinfo).unwrap_or_default();
    let value = |key: &str| told.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let map = value("map_id:").and_then(|id| id.parse().ok());
    value("link_type:") == Some("struct_ops") && map.is_some_and(|map| maps.contains(&map))
}
