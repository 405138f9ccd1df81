//! What it takes, so that a refusal says what is missing and not what libbpf makes of it.

use std::fs;
use std::path::Path;

use crate::Error;

/// The oldest kernel: writing the pacing rate from struct_ops came with 6.0.
const OLDEST: (u32, u32) = (6, 0);

const BTF: &str = "/sys/kernel/btf/vmlinux";
const JIT: &str = "/proc/sys/net/core/bpf_jit_enable";

/// Says what there is, and what it takes.
fn found<T>(found: &str, expected: &'static str) -> Result<T, Error> {
    Err(Error::Requirement { found: found.to_owned(), expected })
}

/// Whether this process is root's.
///
/// # Errors
/// It is not.
pub(crate) fn check_root() -> Result<(), Error> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { found("no root", "root, or sudo") }
}

/// Whether this process may load it into this kernel.
///
/// # Errors
/// The first thing that is missing.
pub(crate) fn check() -> Result<(), Error> {
    check_root()?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if capabilities(&status).is_some_and(|held| held & SUFFICIENT == 0) {
        let expected = "CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, or CAP_SYS_ADMIN: a container \
                        needs to be a privileged one";
        return found("root without the right to load BPF programs", expected);
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if version(&release).is_some_and(|version| version < OLDEST) {
        return found(&format!("Linux {}", release.trim()), "Linux 6.0 or later");
    }
    if !Path::new(BTF).exists() {
        return found("this kernel has no BTF", "CONFIG_DEBUG_INFO_BTF=y");
    }
    // Only the first network namespace shows it; a kernel without JIT refuses when it is asked.
    match fs::read_to_string(JIT) {
        Ok(enabled) if enabled.trim() == "0" => {
            found("net.core.bpf_jit_enable is 0", "the BPF JIT: sysctl net.core.bpf_jit_enable=1")
        }
        _ => Ok(()),
    }
}

/// CAP_SYS_ADMIN and CAP_BPF: with neither, no program is loaded.
const SUFFICIENT: u64 = 1 << 21 | 1 << 39;

/// What `/proc/self/status` says of the process's effective capabilities.
fn capabilities(status: &str) -> Option<u64> {
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(held.trim(), 16).ok()
}

/// Major and minor number.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.trim().split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_s_root_cannot_load_programs() {
        let of = |held: &str| capabilities(&format!("Name:\tx\nCapEff:\t{held}\nSeccomp:\t2\n"));
        // As Docker has it, and all.
        assert_eq!(of("00000000a80425fb").map(|held| held & SUFFICIENT), Some(0));
        assert_ne!(of("000001ffffffffff").map(|held| held & SUFFICIENT), Some(0));
        assert_eq!(capabilities(""), None);
    }

    #[test]
    fn a_release_is_compared_by_its_numbers() {
        assert_eq!(version("6.1.0-28-cloud-amd64\n"), Some((6, 1)));
        assert_eq!(version("6.12.3"), Some((6, 12)));
        assert_eq!(version("10.0-rc1"), Some((10, 0)));
        assert!(version("5.19.17") < Some(OLDEST) && version("6.0.0") >= Some(OLDEST));
        assert_eq!(version("next"), None);
    }
}
