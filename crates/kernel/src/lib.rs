//! The kernel's own TCP, unruffled: a congestion control in BPF (struct_ops) that tells late packets
//! from lost ones, and how it comes into the kernel and out of it again.
//!
//! - [`attach`]: loads and registers it, pinned so that it outlives the process; makes it the default
//!   of a network namespace, or gives it to the connections of a cgroup.
//! - [`detach`]: undoes all that, whoever did it and however that ended.
//! - [`run()`]: one program under it.
//! - [`Sample`]: how its connections stand, and what they deliver.
//! - [`Hold`]: it is registered as long as this lives, for races.
//!
//! The program itself is `bpf/unruffled.bpf.c`. It is compiled with the feature `bpf`, by clang;
//! without either, each of these says so.
#![cfg(target_os = "linux")]

mod attach;
mod cgroup;
mod error;
mod hold;
mod namespace;
mod pins;
mod record;
mod requirements;
mod run;
mod state;
mod status;

#[cfg(bpf)]
mod loading;
#[cfg(bpf)]
mod object;
#[cfg(bpf)]
mod timestamps;

#[cfg(not(bpf))]
#[path = "absent.rs"]
mod object;

pub use attach::{Attached, Attachment, Detached, attach, detach};
pub use error::Error;
pub use hold::Hold;
use object::Registered;
pub use run::{Signal, run};
pub use status::{Connection, Sample, Status};

/// The congestion control's name in the kernel.
pub const NAME: &str = "unruffled";

/// Whether the kernel has it now.
pub fn is_registered() -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().any(|name| name == NAME)
}
