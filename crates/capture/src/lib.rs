//! Analysis of captured packets: reordering, loss, retransmissions, and what limited each transfer.
//!
//! [`read`] reads pcap or pcapng once, packet by packet, in memory that does not grow with the
//! capture. [`Analyzer`] follows the connections, [`Analysis`] holds the results as plain values, and
//! [`judge`] concludes what slowed a transfer.
//!
//! A capture may be made at the sender, at the receiver, or anywhere between them. What passes the
//! capture point is seen directly; what happens beyond it is inferred from the acknowledgements.
//!
//! # Features
//! * `compression`: captures in gzip, zstd, lz4, xz and bzip2. On by default; without it these are refused.
//!
//! # Examples
//!
//! Reads a capture and prints a verdict on each transfer with enough data:
//!
//! ```
//! use std::path::Path;
//!
//! use unruffled_capture::{Analyzer, Limits, Source, is_enough, judge, read};
//!
//! fn print_verdicts(path: &Path) -> Result<(), unruffled_capture::Error> {
//!     let mut analyzer = Analyzer::new(Limits::default());
//!     let damage = read(Source::open(path)?, |frame| analyzer.frame(frame))?;
//!     if let Some(damage) = damage {
//!         eprintln!("warning: {}: {damage}", path.display());
//!     }
//!     let analysis = analyzer.finish();
//!     for direction in analysis.connections.iter().flat_map(|c| &c.directions) {
//!         if is_enough(direction) {
//!             println!("{} to {}: {}", direction.from, direction.to, judge(direction).text);
//!         }
//!     }
//!     Ok(())
//! }
//!
//! let error = print_verdicts(Path::new("missing.pcap")).unwrap_err();
//! assert_eq!(error.to_string(), "cannot be read: No such file or directory (os error 2)");
//! ```

mod analysis;
mod analyzer;
mod behind;
mod builder;
mod cliff;
mod clock;
mod compression;
mod connection;
mod conversation;
mod cutoff;
mod decode;
mod density;
mod drawing;
mod erf;
mod error;
mod flow;
mod histogram;
mod interface;
mod late_loss;
mod link;
mod matching;
mod numbered;
mod packet;
mod reader;
mod reordering;
mod round_robin;
mod running;
mod series;
mod skipped;
mod source;
mod tunnel;
mod udp;
mod verdict;

pub use analysis::{
    Analysis, Charts, Connection, DataTotals, Direction, Limit, LossEvidence, Losses, Place,
    RangeEvidence, Retransmissions, Rtt, SpuriousReasons, Totals, Traffic, UdpPair, Windows,
};
pub use analyzer::{Analyzer, Limits};
pub use behind::{BehindCount, ReplayWindows, USUAL_WINDOWS, WindowDrops};
pub use cutoff::Cutoff;
pub use decode::decode;
pub use drawing::{DotSample, Drawing};
pub use error::{Damage, Error, InputError};
pub use histogram::{Bar, DurationSummary};
pub use interface::{Interface, InterfaceTotals};
pub use late_loss::{outdated, range_limit, replay_window};
pub use link::Link;
pub use matching::{ClockRelation, DelaySummary, Match, MatchedFlow, Trace, match_traces};
pub use numbered::{NumberedCause, NumberedFlow, NumberedProtocol, NumberedVerdict};
pub use packet::{
    DATAGRAM_HEAD_OCTETS, Datagram, Esp, Gre, Packet, Segment, SkipReason, Transport,
};
pub use reader::{Frame, Reader, read};
pub use reordering::{Density, Reordering};
pub use round_robin::RoundRobin;
pub use running::RunningTotals;
pub use series::Bin;
pub use skipped::{Skipped, SkippedKind};
pub use source::{Progress, Source};
pub use tunnel::{Tunnel, TunnelPacket};
pub use verdict::{
    Cause, Sureness, Verdict, is_blurred, is_closed, is_enough, is_truncated, judge,
};
