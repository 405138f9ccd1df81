//! What every sender has, whatever decides what it sends: which octets were written, sent and
//! acknowledged, what became of each segment, and what acknowledgements say in themselves.

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
pub(crate) use retransmissions::Resent;
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
use scoreboard::Scoreboard;

/// A data segment to send: where it starts in the stream, how long it is, and whether again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// It is the FIN, which has no payload.
    pub(crate) fin: bool,
    /// Why again, if it is a retransmission.
    pub(crate) cause: Option<Cause>,
}

/// The stream of octets and its segments. What every segment that arrives needs comes last, in one
/// piece.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Stream {
    pub(super) retransmissions: Retransmissions,
    pub(super) round_trips: RoundTrips,
    pub(super) min_rtt: MinRtt,
    /// When the highest delivered segment was delivered.
    highest_at: Instant,
    lengths: Lengths,
    /// SACK blocks count.
    selective: bool,
    mss: u32,
    /// When a segment left last.
    last_sent: Option<Instant>,
    pub(super) board: Scoreboard,
    flow_control: FlowControl,
    /// SND.UNA and SND.NXT as stream offsets.
    una: u64,
    nxt: u64,
    /// First octet that the application has not written yet.
    written: u64,
    /// The application has written its last: a FIN follows, which takes one octet of the stream.
    finished: bool,
}

impl Stream {
    pub(super) fn new(config: &Config, selective: bool, lengths: Lengths, timer: AnyTimer) -> Self {
        Self {
            board: Scoreboard::new(),
            retransmissions: Retransmissions::default(),
            una: 0,
            nxt: 0,
            written: 0,
            finished: false,
            flow_control: FlowControl::new(config.nagle),
            mss: config.mss,
            round_trips: RoundTrips::new(config, timer),
            min_rtt: MinRtt::default(),
            last_sent: None,
            highest_at: Instant::ZERO,
            selective,
            lengths,
        }
    }

    /// Reads something of each line of memory that a connection with nothing on its way needs.
    pub(super) fn touch(&self) -> u64 {
        u64::from(self.board.outstanding()) ^ self.window_end() ^ self.una ^ self.written
    }

    /// The application writes `octets` more.
    pub(crate) fn write(&mut self, octets: u64) {
        self.written = self.written.saturating_add(octets);
    }

    /// The application writes no more: a FIN follows the last octet.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether the application writes no more.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    /// First octet that the application has not written yet.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// SND.UNA.
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT.
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// All that was written has been acknowledged.
    pub(crate) fn text_acknowledged(&self) -> bool {
        self.una >= self.written
    }

    /// All that was written has been acknowledged, and the FIN if there is one.
    pub(crate) fn done(&self) -> bool {
        self.una == self.written + u64::from(self.finished)
    }

    /// Segments believed to be in the network.
    pub(crate) fn pipe(&self) -> u32 {
        self.board.pipe()
    }

    /// What a segment takes in its tables at the most, in octets.
    pub(crate) const SEGMENT_OCTETS: usize =
        Scoreboard::SEGMENT_OCTETS + Retransmissions::SEGMENT_OCTETS;

    /// What its tables take, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.board.table_octets() + self.retransmissions.table_octets()
    }

    /// Frees what of them is not in use.
    pub(crate) fn shrink(&mut self) {
        self.board.shrink();
        self.retransmissions.shrink();
    }

    /// Whether anything is on its way to the peer.
    pub(crate) fn outstanding(&self) -> bool {
        self.board.outstanding() > 0
    }

    /// "A TCP SHOULD set cwnd to no more than RW before beginning transmission if the TCP has not sent
    /// data in an interval exceeding the retransmission timeout" (RFC 5681, section 4.1): whether that
    /// is now.
    pub(super) fn restarts(&self, timeout: impl FnOnce() -> Duration, now: Instant) -> bool {
        !self.outstanding()
            && self.last_sent.is_some_and(|sent| now.since(sent) > timeout())
            && self.next_new().is_some()
    }

    /// Minimum recent round-trip time.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.get()
    }

    /// Discards records of retransmissions whose DSACK can no longer come, because the segment was
    /// acknowledged longer than `horizon` ago.
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

    /// Whether it has to know which segments are retransmissions, by a bit of the simulator's.
    pub(crate) fn times_originals(&self) -> bool {
        self.lengths == Lengths::Original
    }

    /// The peer turned out not to know SACK.
    pub(super) fn without_sack(&mut self) {
        self.selective = false;
    }

    /// The next `len` octets leave for the first time.
    #[inline(always)]
    pub(super) fn push_new(&mut self, len: u64, now: Instant) -> Transmission {
        let offset = self.nxt;
        self.flow_control.forget_probe();
        self.board.push(offset, len as u32, now);
        self.nxt += len;
        self.last_sent = Some(now);
        self.transmission(offset, len as u32, None)
    }

    /// Segment `number` leaves again, which `ledger` counts.
    pub(super) fn retransmit<T: Inherit>(
        &mut self,
        number: SegNo,
        cause: Cause,
        why: Resent,
        ledger: &mut Ledger<T>,
        now: Instant,
    ) -> Transmission {
        let entry = self.board.entry(number);
        let (offset, len, sent) = (entry.start, entry.len, entry.sent);
        let range = (offset, offset + u64::from(len));
        if let Some(earlier) = self.retransmissions.on_retransmit(number, range, sent, why, now) {
            ledger.bar(earlier);
            ledger.bar(why.under);
        }
        ledger.on_retransmit(why.under);
        self.board.retransmit(number, now);
        self.last_sent = Some(now);
        self.transmission(offset, len, Some(cause))
    }

    #[inline]
    fn transmission(&self, offset: u64, len: u32, cause: Option<Cause>) -> Transmission {
        let fin = self.finished && offset == self.written;
        Transmission { offset, len: if fin { 0 } else { len }, fin, cause }
    }
}
