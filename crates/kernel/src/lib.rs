//! The congestion controls `unruffled` and `unruffled_bbr` for the kernel's own TCP, in BPF (struct_ops). They
//! distinguish late packets from lost ones, and differ in the [`Growth`] of the window.
//!
//! - [`attach()`]: loads and registers the congestion control, and pins it so that it outlives the process.
//!   Optionally makes it the default of a network namespace, or selects it for the connections of a cgroup.
//! - [`Daemon`]: attaches every network namespace, including later ones.
//! - [`detach`]: undoes every [`attach()`], also of other processes and of killed ones.
//! - [`run()`]: runs one program under the congestion control.
//! - [`Sample`]: the state of its connections; two samples have their rates.
//! - [`Hold`]: keeps the congestion control registered while it lives, for races.
//!
//! The main program is `bpf/unruffled.bpf.c`. The feature `bpf` compiles it with clang. Without the feature
//! or clang, the functions return [`Error::NotBuilt`].
//!
//! # Examples
//!
//! All functions require root. This makes `unruffled` the default of the network namespace, and undoes that:
//!
//! ```no_run
//! use unruffled_kernel::{Attachment, attach, detach};
//!
//! # fn main() -> Result<(), unruffled_kernel::Error> {
//! attach(&Attachment { default: true, ..Attachment::default() })?;
//! // New connections use it until:
//! detach()?;
//! # Ok(())
//! # }
//! ```
//!
//! This prints the rate and the lateness of each connection over a second:
//!
//! ```no_run
//! use std::thread;
//! use std::time::Duration;
//!
//! use unruffled_kernel::Sample;
//!
//! # fn main() -> Result<(), unruffled_kernel::Error> {
//! let earlier = Sample::take()?;
//! thread::sleep(Duration::from_secs(1));
//! for connection in Sample::take()?.since(&earlier).connections {
//!     println!("{}: {} bit/s, late {:?}", connection.peer, connection.rate_bps, connection.late);
//! }
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

mod attach;
mod attachments;
mod cgroup;
mod defaults;
mod detach;
mod error;
mod everywhere;
mod growth;
mod hold;
mod namespace;
mod pins;
mod record;
mod requirements;
mod run;
mod search;
mod state;
mod status;
mod target;
mod totals;

#[cfg(bpf)]
mod dump;
#[cfg(bpf)]
mod events;
#[cfg(bpf)]
mod existing;
#[cfg(bpf)]
mod live;
#[cfg(bpf)]
mod loading;
#[cfg(bpf)]
mod object;
#[cfg(bpf)]
mod timestamps;

#[cfg(not(bpf))]
#[path = "absent_live.rs"]
mod live;
#[cfg(not(bpf))]
#[path = "absent.rs"]
mod object;
#[cfg(not(bpf))]
use object as dump;
#[cfg(not(bpf))]
use object as events;
#[cfg(not(bpf))]
use object as existing;

pub use attach::{Attached, Attachment, Registration, attach};
pub use attachments::{
    AttachedCgroup, AttachedControl, AttachedFilter, AttachedNamespace, Attachments, Everywhere,
};
pub use detach::{Detached, detach, detach_namespace};
pub use error::Error;
pub use everywhere::{Coverage, Daemon, Round};
pub use growth::Growth;
pub use hold::Hold;
pub use namespace::inside as inside_network_namespace;
use object::Registered;
pub use run::{Signal, run};
pub use search::{all as network_namespaces, find as find_network_namespaces};
pub use status::{Connection, Sample, Status};
pub use target::Target;
pub use totals::Totals;

/// Returns whether a congestion control of ours is registered in the kernel.
pub fn is_registered() -> bool {
    Growth::ALL.into_iter().any(Growth::is_registered)
}
