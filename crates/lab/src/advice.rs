//! What to do about the causes that slowed the transfers of a capture: a plan whose steps are commands.
//!
//! Each step names its host, because a capture may come from a host where nothing can be changed. The
//! sender can distinguish late packets from lost ones; the receiver, or a gateway before it, can put late
//! packets in order.

mod kind;
mod plan;
mod remedy;
mod render;
mod replay;
mod role;
mod step;
#[cfg(test)]
mod tests;

pub use kind::{Action, Advice, CaptureReason};
pub use plan::{Written, plan};
pub use remedy::in_words as remedy_in_words;
pub use remedy::{Remedy, remedy_here};
pub use render::lines;
pub(crate) use render::{for_largest, render};
pub use replay::ReplayAdvice;
pub use role::Role;
pub use step::{Site, Step};
