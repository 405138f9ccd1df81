//! Linux's `struct tcp_info`, of which packetdrill shows scripts each field.

use unruffled_tcp::{Cause, Connection, Event, State};
use unruffled_units::{Duration, Instant};

/// Where `linux/tcp.h` has the fields that the stack can fill in.
mod offset {
    pub(super) const STATE: usize = 0;
    pub(super) const CA_STATE: usize = 1;
    pub(super) const RTO: usize = 8;
    pub(super) const SND_MSS: usize = 16;
    pub(super) const UNACKED: usize = 24;
    pub(super) const LAST_DATA_RECV: usize = 52;
    pub(super) const RTT: usize = 68;
    pub(super) const SND_SSTHRESH: usize = 76;
    pub(super) const SND_CWND: usize = 80;
    pub(super) const ADVMSS: usize = 84;
    pub(super) const REORDERING: usize = 88;
    pub(super) const TOTAL_RETRANS: usize = 100;
    pub(super) const END: usize = 104;
}

/// What is counted of a connection's events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Segments sent again.
    retransmitted: u32,
    /// What is being recovered from.
    recovering: Option<Cause>,
    /// When text last arrived.
    arrival: Option<Instant>,
}

impl Tally {
    pub(crate) fn on_event(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Sent { cause: Some(_), .. } => self.retransmitted += 1,
            Event::FastRetransmit => self.recovering = Some(Cause::FastRetransmit),
            Event::Timeout { .. } => self.recovering = Some(Cause::Timeout),
            Event::Recovered => self.recovering = None,
            Event::Arrived { .. } => self.arrival = Some(now),
            _ => {}
        }
    }

    /// `TCP_CA_Open`, `TCP_CA_Recovery` or `TCP_CA_Loss`; the others are Linux's alone.
    fn ca_state(&self) -> u8 {
        match self.recovering {
            None => 0,
            Some(Cause::Timeout) => 4,
            Some(_) => 3,
        }
    }
}

/// Fills in the state of a connection and the MSS that we announce. All other fields stay 0; the runner
/// asserts none of them.
pub(crate) fn fill(
    out: &mut [u8],
    connection: &Connection,
    tally: &Tally,
    announced: u32,
    now: Instant,
) {
    if out.len() < offset::END {
        return;
    }
    let mss = u64::from(connection.max_payload().max(1));
    let window = connection.window();
    let ssthresh =
        if window.ssthresh.is_finite() { window.ssthresh as u32 } else { i32::MAX as u32 };
    out[offset::STATE] = state(connection.state());
    out[offset::CA_STATE] = tally.ca_state();
    for (at, value) in [
        (offset::RTO, microseconds(connection.rto())),
        (offset::SND_MSS, mss as u32),
        (offset::UNACKED, connection.in_flight().div_ceil(mss) as u32),
        (offset::LAST_DATA_RECV, tally.arrival.map_or(0, |at| microseconds(now.since(at)) / 1000)),
        (offset::RTT, connection.srtt().map_or(0, microseconds)),
        (offset::SND_SSTHRESH, ssthresh),
        (offset::SND_CWND, window.cwnd as u32),
        (offset::ADVMSS, announced),
        (offset::REORDERING, connection.dupthresh().unwrap_or(3)),
        (offset::TOTAL_RETRANS, tally.retransmitted),
    ] {
        out[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }
}

fn microseconds(duration: Duration) -> u32 {
    (duration.as_nanos() / 1000) as u32
}

/// The numbers of `net/tcp_states.h`.
fn state(state: State) -> u8 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}
