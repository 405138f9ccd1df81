//! Scenario files: what flows over which network, for how long, under which senders.
//!
//! [`Scenario`] is a file that has been read and checked. Reading one runs nothing; `unruffled-lab`
//! runs it.
//!
//! # Examples
//! ```
//! use unruffled_scenario::Scenario;
//!
//! let text = r#"
//!     duration = "10 s"
//!     variants = ["unruffled", "sack"]
//!     path.hops = ["wan"]
//!
//!     [link.wan]
//!     rate = "10 Mbit/s"
//!     delay = "50 ms"
//! "#;
//! // Overrides are what `--set` takes; a key may leave out its beginning.
//! let overrides = ["wan.loss.fraction=1 %".to_owned()];
//! let scenario = Scenario::parse("my.toml", text, &overrides)?;
//! assert_eq!(scenario.hops[0].link.impairments.len(), 1);
//! assert_eq!(scenario.variants, ["unruffled", "sack"]);
//! # Ok::<(), unruffled_scenario::Error>(())
//! ```

mod again;
mod builtin;
mod description;
mod document;
mod episode;
mod error;
pub mod flags;
mod keys;
mod links;
mod missing;
mod network;
mod random;
pub mod reference;
mod scenario;
mod senders;
mod standstill;
mod streams;
mod tcp;
pub mod text;
mod traffic;
mod varying;
mod words;

pub use unruffled_sim::{App, Arrivals};

pub use builtin::BUILTIN;
pub use description::description;
pub use document::{Document, leaves};
pub use episode::Episode;
pub use error::{Error, Place};
pub use missing::{is_path, missing, unreadable};
pub use network::{NetLink, Network, Tunnel};
pub use random::random_path;
pub use scenario::{Assignment, Hop, Recording, Scenario};
pub use senders::place_of_variants;
pub use streams::{Purpose, stream};
pub use traffic::{Links, Own, Traffic, Way};
