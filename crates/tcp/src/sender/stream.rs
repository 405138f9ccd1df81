//! The state that every sender has, whatever its machine: which octets were written, sent and
//! acknowledged, the fate of each segment, and the facts that an acknowledgement reports.

mod facts;
mod flow_control;
mod min_rtt;
mod path_mtu;
mod retransmissions;
mod scoreboard;
mod time_order;

use unruffled_units::{Duration, Instant};

pub(crate) use facts::{Lengths, Reading, Spurious};
pub(crate) use flow_control::WindowProbe;
pub(crate) use retransmissions::Retransmission;
pub(crate) use scoreboard::Delivery;

pub(crate) use super::numbers::{Renumbered, SegNo};
use super::reductions::{Inherit, Ledger};
use super::round_trips::RoundTrips;
use crate::Config;
use crate::observer::Cause;
use crate::parts::timer::AnyTimer;
use flow_control::FlowControl;
use min_rtt::MinRtt;
use retransmissions::Retransmissions;
pub(crate) use scoreboard::Entry;
use scoreboard::Scoreboard;

/// A data segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// Stream offset of its first octet.
    pub(crate) offset: u64,
    /// Payload, in octets.
    pub(crate) len: u32,
    /// Whether it is the FIN, which has no payload.
    pub(crate) fin: bool,
    /// The cause of the retransmission, if it is one.
    pub(crate) cause: Option<Cause>,
}

/// The stream of octets and its segments. The fields that every arriving segment needs come last,
/// next to each other in memory.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Stream {
    pub(super) retransmissions: Retransmissions,
    pub(super) round_trips: RoundTrips,
    pub(super) min_rtt: MinRtt,
    /// Time of delivery of the highest delivered segment.
    highest_at: Instant,
    lengths: Lengths,
    /// Whether SACK blocks are processed.
    selective: bool,
    mss: u32,
    /// Time of the last transmission; the maximum if there was none.
    last_sent: Instant,
    pub(super) board: Scoreboard,
    flow_control: FlowControl,
    /// SND.UNA and SND.NXT as stream offsets.
    una: u64,
    nxt: u64,
    /// First octet that the application has not written yet.
    written: u64,
    /// Whether the application has finished writing. A FIN follows, which takes one octet of the
    /// stream.
    finished: bool,
    /// Number of the last packet: transmissions of data, and what the connection sends besides.
    packets: u32,
}

/// Memory of a logged loss, in octets.
pub(super) const LOGGED_OCTETS: usize = Scoreboard::LOGGED_OCTETS;

impl Stream {
    pub(super) fn new(config: &Config, selective: bool, lengths: Lengths, timer: AnyTimer) -> Self {
        Self {
            board: Scoreboard::new(),
            retransmissions: Retransmissions::default(),
            una: 0,
            nxt: 0,
            written: 0,
            finished: false,
            flow_control: FlowControl::new(config.nagle, config.ring),
            mss: config.mss,
            packets: 0,
            round_trips: RoundTrips::new(config, timer),
            min_rtt: MinRtt::default(),
            last_sent: Instant::MAX,
            highest_at: Instant::ZERO,
            selective,
            lengths,
        }
    }

    /// Reads from each cache line that a connection with nothing outstanding uses.
    pub(super) fn touch(&self) -> u64 {
        u64::from(self.board.outstanding()) ^ self.window_end() ^ self.una ^ self.written
    }

    /// Appends `octets` that the application writes.
    pub(crate) fn write(&mut self, octets: u64) {
        self.written = self.written.saturating_add(octets);
    }

    /// Ends the stream: a FIN follows the last octet.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Returns whether the application has finished writing.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    /// Returns the first octet that the application has not written yet.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Returns SND.UNA.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// Returns SND.NXT.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns whether the peer has acknowledged all written octets, whatever became of the FIN.
    pub(crate) fn data_acknowledged(&self) -> bool {
        self.una >= self.written
    }

    /// Returns whether the peer has acknowledged all written octets, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.una == self.written + u64::from(self.finished)
    }

    /// Returns the size of a full segment, in octets.
    pub(crate) fn mss(&self) -> u32 {
        self.mss
    }

    /// Returns the estimated number of segments in the network (RFC 6675's pipe).
    pub(crate) fn pipe(&self) -> u32 {
        self.board.pipe()
    }

    /// Maximum memory that a segment takes in the tables, in octets.
    pub(crate) const SEGMENT_OCTETS: usize =
        Scoreboard::SEGMENT_OCTETS + Retransmissions::SEGMENT_OCTETS;

    /// Returns the memory of the tables, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.board.table_octets() + self.retransmissions.table_octets()
    }

    /// Frees unused memory of the tables.
    pub(crate) fn shrink(&mut self) {
        self.board.shrink();
        self.retransmissions.shrink();
    }

    /// Returns the number of the last packet sent, or 0.
    pub(crate) fn last_packet(&self) -> u32 {
        self.packets
    }

    /// Returns the number of a packet that carries no data of the stream.
    pub(crate) fn next_packet(&mut self) -> u32 {
        self.packets = self.packets.wrapping_add(1);
        self.packets
    }

    /// Returns whether any segment is outstanding.
    pub(crate) fn outstanding(&self) -> bool {
        self.board.outstanding() > 0
    }

    /// Returns whether transmission begins again after an idle period: "A TCP SHOULD set cwnd to no
    /// more than RW before beginning transmission if the TCP has not sent data in an interval
    /// exceeding the retransmission timeout" (RFC 5681, section 4.1).
    pub(super) fn restarts(&self, timeout: impl FnOnce() -> Duration, now: Instant) -> bool {
        !self.outstanding() && now.since(self.last_sent) > timeout() && self.next_new().is_some()
    }

    /// Returns the minimum recent round-trip time.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.get()
    }

    /// Discards the records of segments that were acknowledged longer than `horizon` ago. Their
    /// DSACKs can no longer come.
    #[inline]
    pub(super) fn expire_retransmissions(
        &mut self,
        now: Instant,
        horizon: impl FnOnce(&Self) -> Duration,
    ) {
        if self.retransmissions.is_empty() {
            return;
        }
        let horizon = horizon(self);
        self.retransmissions.expire(now, horizon);
    }

    /// Returns whether segments must carry the simulator's bit that marks retransmissions.
    pub(crate) fn marks_retransmissions(&self) -> bool {
        self.lengths == Lengths::Original
    }

    /// Stops processing SACK blocks, because the peer does not support them.
    pub(super) fn disable_sack(&mut self) {
        self.selective = false;
    }

    /// Sends the next `len` octets for the first time.
    #[inline(always)]
    pub(super) fn push_new(&mut self, len: u64, now: Instant) -> Transmission {
        let offset = self.nxt;
        self.flow_control.discard_probe();
        self.board.push(offset, len as u32, now);
        self.nxt += len;
        self.last_sent = now;
        self.packets = self.packets.wrapping_add(1);
        self.transmission(offset, len as u32, None)
    }

    /// Sends segment `number` again, and counts the retransmission in `ledger`.
    pub(super) fn retransmit<T: Inherit>(
        &mut self,
        number: SegNo,
        cause: Cause,
        retransmission: Retransmission,
        ledger: &mut Ledger<T>,
        now: Instant,
    ) -> Transmission {
        let &Entry { start, len, sent, .. } = self.board.entry(number);
        let range = (start, start + u64::from(len));
        let under = retransmission.under;
        let retransmissions = &mut self.retransmissions;
        if let Some(earlier) =
            retransmissions.on_retransmit(number, range, sent, retransmission, now)
        {
            ledger.bar(earlier);
            ledger.bar(under);
        }
        ledger.on_retransmit(under);
        self.board.retransmit(number, now);
        self.last_sent = now;
        self.packets = self.packets.wrapping_add(1);
        self.transmission(start, len, Some(cause))
    }

    /// Sends octets again that a packet carried which was deemed lost. The scoreboard takes no note.
    pub(super) fn send_again(&mut self, start: u64, len: u32, now: Instant) -> Transmission {
        self.last_sent = now;
        self.packets = self.packets.wrapping_add(1);
        self.transmission(start, len, Some(Cause::FastRetransmit))
    }

    #[inline]
    fn transmission(&self, offset: u64, len: u32, cause: Option<Cause>) -> Transmission {
        let fin = self.finished && offset == self.written;
        Transmission { offset, len: if fin { 0 } else { len }, fin, cause }
    }
}
