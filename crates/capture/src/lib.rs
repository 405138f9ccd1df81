//! What captured packets tell of their path.
//!
//! A capture is read once, packet by packet, in memory that does not grow with it: [`read`] takes
//! pcap or pcapng, [`Analyzer`] follows its connections, and [`Analysis`] says what was found. The
//! capture may have been made at the sender, at the receiver, or anywhere between them; what passes
//! the place of the capture is seen, and what happens beyond it is told by the acknowledgements.

mod analysis;
mod analyzer;
mod blame;
mod clock;
mod connection;
mod crowding;
mod datagrams;
mod decode;
mod density;
mod drawing;
mod episode;
mod error;
mod half;
mod lateness;
mod link;
mod outstanding;
mod packet;
mod reader;
mod reordering;
mod series;
mod source;
mod speakers;
mod trains;
mod turns;
mod verdict;

pub use analysis::{
    Analysis, Connection, Direction, Limit, Losses, Place, Quic, Retransmissions, Rtt, Skipped,
    Totals, Windows,
};
pub use analyzer::{Analyzer, Limits};
pub use blame::LossEvidence;
pub use decode::decode;
pub use drawing::{Drawing, Thinned};
pub use error::Error;
pub use lateness::{Bar, Lateness};
pub use link::Link;
pub use packet::{Datagram, Packet, Segment, Transport, Unread};
pub use reader::{Frame, read};
pub use reordering::{Density, Reordering};
pub use series::Bin;
pub use source::{Progress, Source};
pub use turns::InTurn;
pub use verdict::{
    Cause, Sureness, Verdict, is_blurred, is_closed, is_enough, is_truncated, judge,
};
