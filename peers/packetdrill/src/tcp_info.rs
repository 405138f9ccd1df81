//! Linux's `struct tcp_info`, of which packetdrill shows scripts each field.

use unruffled_tcp::{Connection, State};
use unruffled_units::Duration;

/// Where `linux/tcp.h` has the fields that the stack can fill in.
mod offset {
    pub(super) const STATE: usize = 0;
    pub(super) const CA_STATE: usize = 1;
    pub(super) const RTO: usize = 8;
    pub(super) const SND_MSS: usize = 16;
    pub(super) const UNACKED: usize = 24;
    pub(super) const RTT: usize = 68;
    pub(super) const SND_SSTHRESH: usize = 76;
    pub(super) const SND_CWND: usize = 80;
    pub(super) const REORDERING: usize = 88;
    pub(super) const TOTAL_RETRANS: usize = 100;
    pub(super) const END: usize = 104;
}

/// `TCP_CA_Recovery`; the others of these states are Linux's alone.
const RECOVERY: u8 = 3;

/// Fills in what a connection tells; all else stays 0, and the runner asserts none of it.
pub(crate) fn fill(out: &mut [u8], connection: &Connection, retransmitted: u32) {
    if out.len() < offset::END {
        return;
    }
    let mss = u64::from(connection.max_payload().max(1));
    let window = connection.window();
    let ssthresh =
        if window.ssthresh.is_finite() { window.ssthresh as u32 } else { i32::MAX as u32 };
    out[offset::STATE] = state(connection.state());
    out[offset::CA_STATE] = if connection.recovering() { RECOVERY } else { 0 };
    for (at, value) in [
        (offset::RTO, microseconds(connection.rto())),
        (offset::SND_MSS, mss as u32),
        (offset::UNACKED, connection.in_flight().div_ceil(mss) as u32),
        (offset::RTT, connection.srtt().map_or(0, microseconds)),
        (offset::SND_SSTHRESH, ssthresh),
        (offset::SND_CWND, window.cwnd as u32),
        (offset::REORDERING, connection.dupthresh().unwrap_or(3)),
        (offset::TOTAL_RETRANS, retransmitted),
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
