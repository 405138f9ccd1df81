//! The papers' evaluations: experiments, what their claims mean in numbers, and what became of them.
//!
//! An [`Experiment`](experiment::Experiment) is a figure or table of a paper as data. A
//! [`Plan`](reproduce::Plan) makes the runs that it needs, and judges its claims.
//!
//! # Examples
//! ```
//! use std::sync::Mutex;
//!
//! use unruffled_lab::store::Store;
//! use unruffled_papers::experiment::Experiment;
//! use unruffled_papers::reproduce::{Holds, Plan};
//!
//! let text = r#"
//!     id = "mine"
//!     paper = "my own"
//!     figure = "Figure 1"
//!     title = "Goodput over a path that reorders"
//!     seeds.full = 1
//!     scenario = "half-late"
//!     set.duration = "5 s"
//!
//!     [[line]]
//!     name = "SACK"
//!     variant = "sack"
//!
//!     [[line]]
//!     name = "Unruffled"
//!     variant = "unruffled"
//!
//!     [[measure]]
//!     name = "mbps"
//!     value = "goodput() / 1e6"
//!
//!     [[claim]]
//!     text = "Unruffled delivers at least five times as much"
//!     check = "at_least(mbps('Unruffled') / mbps('SACK'), 5)"
//! "#;
//! let experiments = [Experiment::parse("mine.toml", text, false)?];
//! let plan = Plan::new(&experiments)?;
//! let store = Mutex::new(Store::in_memory()?);
//! plan.missing(&store)?.run(&store, &())?;
//! let outcomes = plan.outcomes(&store)?;
//! assert_eq!(outcomes[0].claims[0].holds, Holds::Yes);
//! # Ok::<(), unruffled_papers::Error>(())
//! ```

// Without the reports, what is read of claims and measures is only checked.
#![cfg_attr(not(feature = "reproduce"), allow(dead_code, unused_imports))]

mod claims;
mod error;
pub mod experiment;
mod expression;
#[cfg(feature = "reproduce")]
pub mod report;
#[cfg(feature = "reproduce")]
pub mod reproduce;

pub use error::Error;
