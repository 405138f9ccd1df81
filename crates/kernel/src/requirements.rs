//! Requirements of the congestion control, checked so that errors name what is missing instead of libbpf's
//! messages.

use std::fs;
use std::path::Path;

use crate::Error;

/// Oldest supported kernel. Since 6.0, struct_ops programs may set the pacing rate.
const MIN_KERNEL: (u32, u32) = (6, 0);

const BTF: &str = "/sys/kernel/btf/vmlinux";
const JIT: &str = "/proc/sys/net/core/bpf_jit_enable";

/// Returns the error for an unmet requirement.
fn unmet<T>(found: &str, expected: &'static str) -> Result<T, Error> {
    Err(Error::Requirement { found: found.to_owned(), expected })
}

/// Checks that this process is root.
///
/// # Errors
/// If it is not root.
pub(crate) fn check_root() -> Result<(), Error> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { unmet("no root", "root, or sudo") }
}

/// Checks that this process can load the congestion control into this kernel.
///
/// # Errors
/// The first requirement that is not met.
pub(crate) fn check() -> Result<(), Error> {
    check_root()?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if capabilities(&status).is_some_and(|held| held & LOADING_CAPABILITIES == 0) {
        let expected = "CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, or CAP_SYS_ADMIN: a container \
                        needs to be a privileged one";
        return unmet("root without the right to load BPF programs", expected);
    }
    let release = release();
    if version(&release).is_some_and(|version| version < MIN_KERNEL) {
        return unmet(&format!("Linux {release}"), "Linux 6.0 or later");
    }
    if !Path::new(BTF).exists() {
        return unmet("this kernel has no BTF", "CONFIG_DEBUG_INFO_BTF=y");
    }
    // Only the first network namespace has this file. Elsewhere, loading fails on a kernel without JIT.
    match fs::read_to_string(JIT) {
        Ok(enabled) if enabled.trim() == "0" => {
            unmet("net.core.bpf_jit_enable is 0", "the BPF JIT: sysctl net.core.bpf_jit_enable=1")
        }
        _ => Ok(()),
    }
}

/// Checks that the kernel has BBR, and loads its module where it is one.
///
/// # Errors
/// If the kernel has no BBR.
#[cfg(bpf)]
pub(crate) fn check_bbr() -> Result<(), Error> {
    use rustix::net::{AddressFamily, SocketType, socket, sockopt};

    // The kernel loads the module for a process with CAP_NET_ADMIN. The programs then keep it.
    let chosen = socket(AddressFamily::INET, SocketType::STREAM, None)
        .and_then(|socket| sockopt::set_tcp_congestion(&socket, "bbr"));
    match chosen {
        Ok(()) => Ok(()),
        Err(_) => unmet(
            "this kernel has no BBR",
            "CONFIG_TCP_CONG_BBR, or the module tcp_bbr: modprobe tcp_bbr",
        ),
    }
}

/// Returns the release of the running kernel, such as `6.18.5`.
pub(crate) fn release() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// CAP_SYS_ADMIN and CAP_BPF. A process with neither cannot load programs.
const LOADING_CAPABILITIES: u64 = 1 << 21 | 1 << 39;

/// Returns the effective capabilities in the text of `/proc/self/status`.
fn capabilities(status: &str) -> Option<u64> {
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(held.trim(), 16).ok()
}

/// Returns the major and minor number of a release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.trim().split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_in_a_container_cannot_load_programs() {
        let of = |held: &str| capabilities(&format!("Name:\tx\nCapEff:\t{held}\nSeccomp:\t2\n"));
        // The capabilities in a Docker container, and all capabilities.
        let sufficient = |held: &str| of(held).map(|held| held & LOADING_CAPABILITIES);
        assert_eq!(sufficient("00000000a80425fb"), Some(0));
        assert_ne!(sufficient("000001ffffffffff"), Some(0));
        assert_eq!(capabilities(""), None);
    }

    #[test]
    fn a_release_is_compared_by_its_numbers() {
        assert_eq!(version("6.1.0-28-cloud-amd64\n"), Some((6, 1)));
        assert_eq!(version("6.12.3"), Some((6, 12)));
        assert_eq!(version("10.0-rc1"), Some((10, 0)));
        assert!(version("5.19.17") < Some(MIN_KERNEL) && version("6.0.0") >= Some(MIN_KERNEL));
        assert_eq!(version("next"), None);
    }
}
