//! How a connection stands and what has happened in it, as Linux's `TCP_INFO` tells it.

use unruffled_tcp::{Connection, Event, Observer, State};
use unruffled_units::{Duration, Instant, Rate};

use super::socket::Socket;
use super::{ConnectionId, Stack, StackError};

/// How a connection stands. Windows and lengths of reordering are in segments, all else that is
/// counted is in octets of the streams, SYN and FIN left out, unless it says otherwise. Use it to see
/// why a connection is as fast as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The state (RFC 9293, section 3.3.2).
    pub state: State,
    /// Round-trip times, and the timeout that comes of them.
    pub round_trips: RoundTrips,
    /// What congestion control lets leave, and what has left.
    pub congestion: Congestion,
    /// What was written and read, sent and received.
    pub octets: OctetCounts,
    /// What was sent again, and what came late.
    pub repairs: Repairs,
    /// What either end lets the other send.
    pub windows: Windows,
    /// The largest payload that a segment to the peer may have now (Eff.snd.MSS of RFC 9293,
    /// section 3.7.1, SACK blocks not counted).
    pub mss: u32,
    /// The MSS option of the peer's SYN, if it had one.
    pub peer_mss: Option<u16>,
}

/// Round-trip times, of an [`Info`]. Use them to see how long the path is, and how long a loss at the
/// end takes to notice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// SRTT, the smoothed round-trip time (RFC 6298), once one was measured.
    pub srtt: Option<Duration>,
    /// RTTVAR, its variation (RFC 6298), likewise; TCP-PR's timer has none.
    pub rttvar: Option<Duration>,
    /// RTO, the retransmission timeout in force, its backoff included (RFC 6298).
    pub rto: Duration,
}

/// What congestion control lets leave, and what has left, of an [`Info`]. Use it to see whether it is
/// what limits a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Whether a loss or a timeout is being recovered from (RFC 6675; RFC 5681, section 3.2).
    pub recovering: bool,
    /// The congestion window, in segments (RFC 5681).
    pub cwnd: f64,
    /// The slow-start threshold, in segments (RFC 5681), once there is one.
    pub ssthresh: Option<f64>,
    /// The duplicate threshold in force, in segments (DupThresh of RFC 6675; 3 in RFC 5681), for
    /// senders that have one.
    pub dupthresh: Option<u32>,
    /// FlightSize: octets sent and not acknowledged (RFC 5681, section 2).
    pub flight: u64,
    /// Segments believed to be in the network (the pipe of RFC 6675).
    pub pipe: u32,
    /// Octets acknowledged per time over the last round trip, as a bit rate, once one has passed. A
    /// sender who has little to send delivers little.
    pub delivery_rate: Option<Rate>,
}

/// What was written and read, sent and received, of an [`Info`]. Use it to see where octets wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OctetCounts {
    /// Octets sent, each counted once.
    pub sent: u64,
    /// Octets that the peer has acknowledged.
    pub acknowledged: u64,
    /// Octets that have arrived in order.
    pub received: u64,
    /// Octets written and never sent.
    pub unsent: u64,
    /// Octets that have arrived in order and were not read.
    pub unread: u64,
}

/// What was sent again, and what came late, of an [`Info`]. Use it to tell a path that loses from one
/// that reorders.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repairs {
    /// Segments sent again, for whatever reason.
    pub retransmissions: u64,
    /// Octets in them.
    pub retransmitted: u64,
    /// Retransmissions that proved spurious, by DSACK (RFC 2883; RFC 3708).
    pub spurious: u64,
    /// Expiries of the retransmission timer (RFC 6298, section 5).
    pub timeouts: u64,
    /// Fast retransmits (RFC 5681, section 3.2).
    pub fast_retransmits: u64,
    /// Segments that came late and not again: holes that closed by themselves (RFC 4737).
    pub reordered: u64,
    /// The greatest reordering length, in segments (RR-TCP, section 3.1).
    pub reordering_length: u32,
}

/// What either end lets the other send, of an [`Info`]. Use it to see whether a receiver is what limits
/// a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The shift of the peer's window field (Snd.Wind.Shift of RFC 7323, section 2.3).
    pub send_scale: u8,
    /// The shift of our window field (Rcv.Wind.Shift).
    pub receive_scale: u8,
    /// SND.WND: octets beyond those acknowledged that the peer has room for (RFC 9293).
    pub send: u64,
    /// The most that we promise the peer, what has not been read included: RCV.WND of an empty buffer.
    pub receive: u64,
}

/// What is counted of a connection's events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    repairs: Repairs,
    delivery_rate: Option<Rate>,
    /// The round trip that is under way: since when, and what had been acknowledged.
    round: Option<(Instant, u64)>,
}

impl Observer for Tally {
    fn on_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { len, cause: Some(_), .. } => {
                self.repairs.retransmissions += 1;
                self.repairs.retransmitted += u64::from(len);
            }
            // Whoever had nothing on its way begins a round trip.
            Event::Sent { offset, .. } => {
                self.round.get_or_insert((now, offset));
            }
            Event::SpuriousRetransmission { .. } => self.repairs.spurious += 1,
            Event::Timeout { .. } => self.repairs.timeouts += 1,
            Event::FastRetransmit => self.repairs.fast_retransmits += 1,
            Event::Reordered { length, .. } => {
                self.repairs.reordered += 1;
                self.repairs.reordering_length = self.repairs.reordering_length.max(length);
            }
            Event::Acknowledged { una, srtt, .. } => self.on_acknowledged(una, srtt, now),
            _ => {}
        }
    }
}

impl Tally {
    fn on_acknowledged(&mut self, una: u64, srtt: Option<Duration>, now: Instant) {
        let (Some((since, from)), Some(srtt)) = (self.round, srtt) else { return };
        let span = now.since(since);
        // One that comes early, before the average has passed, waits for the next.
        if una > from && span >= srtt * 7 / 8 {
            let bits = (una - from) as f64 * 8.0;
            self.delivery_rate = Rate::from_bps(bits / span.as_secs_f64());
            self.round = Some((now, una));
        }
    }

    /// Nothing is on its way any more: time that passes from now on is not the path's.
    pub(super) fn rest(&mut self) {
        self.round = None;
    }
}

impl Stack {
    /// How the connection stands, until it is let go.
    ///
    /// # Errors
    /// [`StackError::Closed`] when there is no such connection any more.
    pub fn info(&self, id: ConnectionId) -> Result<Info, StackError> {
        self.sockets.get(id.0).map(|socket| socket.info()).ok_or_else(|| self.gone())
    }
}

impl Socket {
    fn info(&self) -> Info {
        let (it, tally): (&Connection, &Tally) = (&self.connection, &self.tally);
        let window = it.window();
        Info {
            state: it.state(),
            round_trips: RoundTrips { srtt: it.srtt(), rttvar: it.rttvar(), rto: it.rto() },
            congestion: Congestion {
                recovering: it.recovering(),
                cwnd: window.cwnd,
                ssthresh: Some(window.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
                dupthresh: it.dupthresh(),
                flight: it.in_flight(),
                pipe: it.pipe(),
                delivery_rate: tally.delivery_rate,
            },
            octets: OctetCounts {
                sent: self.written().saturating_sub(it.unsent()),
                acknowledged: it.unacknowledged_from(),
                received: self.received(),
                unsent: it.unsent(),
                unread: it.readable(),
            },
            repairs: tally.repairs,
            windows: Windows {
                send_scale: it.send_scale(),
                receive_scale: it.receive_scale(),
                send: it.send_window(),
                receive: it.receive_buffer(),
            },
            mss: it.max_payload(),
            peer_mss: it.peer_mss(),
        }
    }
}
