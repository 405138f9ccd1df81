//! What to do about the causes that slowed the transfers of a capture: a plan whose steps are commands.
//!
//! Each step names its host, because a capture may come from a host where nothing can be changed. Only
//! the sender detects losses and can distinguish late packets from lost ones.

mod kind;
mod plan;
mod render;
mod role;
mod step;
#[cfg(test)]
mod tests;

pub use kind::{Action, Advice, CaptureReason};
pub use plan::{Written, plan};
pub use render::{COMMAND, lines};
pub(crate) use render::{for_largest, render};
pub use role::Role;
pub use step::{Site, Step};
