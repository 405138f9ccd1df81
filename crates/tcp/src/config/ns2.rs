//! Rules in which ns-2.35 differs from the RFCs, to reproduce papers that used it and to compare with it.

/// Rules that can be as in ns-2.35. The default follows the RFCs. Use it for
/// [`Config::ns2`](crate::Config::ns2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ns2Compat {
    /// What counts as a duplicate acknowledgement with SACK.
    pub duplicates: Duplicates,
    /// How the pipe is estimated in fast recovery with SACK.
    pub pipe: Pipe,
    /// How Reno's fast recovery begins and ends.
    pub fast_recovery: FastRecovery,
    /// The window of Reno's congestion control after a loss. None leaves it to `fast_recovery`.
    pub halving: Option<Halving>,
    /// Which acknowledgements let the window grow.
    pub growth: Growth,
    /// Whether the minimum bounds the doubled timeout and not, as in RFC 6298, the one that is doubled.
    /// A timeout of 300 ms with a minimum of 1 s then lasts 1, 1, 1.2 and 2.4 s in place of 1, 2, 4 and
    /// 8 s. ns-2 did so until March 2002, and does since then with `rfc2988_` false.
    pub min_after_backoff: bool,
}

/// How duplicates are counted with SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Segments SACKed above a hole, for each hole (RFC 6675, IsLost).
    #[default]
    Sacked,
    /// Acknowledgements with a SACK since the cumulative point last moved, as in ns-2's Agent/TCP/Sack1
    /// (tcp-sack1.cc). Only the first hole can begin a recovery, and its count begins when it becomes
    /// the first. Every hole below the highest SACK is lost with it (ScoreBoard::GetNextRetran). Where
    /// many segments are late at a time, a hole that becomes the first waits anew, and a recovery
    /// resends more.
    Run,
}

/// How the sender estimates the number of segments in the network during fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipe {
    /// From the scoreboard (RFC 6675, SetPipe).
    #[default]
    SetPipe,
    /// By counting acknowledgements and transmissions. A partial acknowledgement counts two: the lost
    /// segment and its retransmission. Where nothing was lost only one has left the network, so this
    /// sends somewhat more than SetPipe when packets are reordered.
    Counted,
}

/// How Reno's fast recovery begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRecovery {
    /// Every third duplicate begins it, and the acknowledgement that ends it only deflates the
    /// window (RFC 5681, section 3.2, steps 2 and 6).
    #[default]
    Rfc5681,
    /// As in ns-2's Agent/TCP/Reno (tcp-reno.cc). The third duplicate begins a recovery only once more
    /// is acknowledged than was sent before the last one (`bugFix_`, the Careful variant of RFC 2582,
    /// which RFC 6582 has for NewReno). The acknowledgement that ends a recovery grows the window like
    /// any other. Fast retransmit halves cwnd down to one segment, while ssthresh is a whole number and
    /// at least 2. Every timeout halves ssthresh, repeated ones too (TcpAgent::slowdown and
    /// TcpAgent::timeout, tcp.cc). Each of the first two duplicates after a timeout permits one
    /// segment, which is a retransmission then (`singledup_`). Once the timeout has grown sixteenfold,
    /// the next round-trip time sets the estimators anew, for every sender (TcpAgent::rtt_backoff).
    Ns2,
}

/// The window of Reno's congestion control after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// Half of what is in flight, at least two segments (RFC 5681, equation 4).
    Flight,
    /// Half of cwnd, at least one segment, as in ns-2 since January 2006 (`precisionReduce_` true).
    Window,
    /// Half of cwnd in whole segments, rounded down before and after, also after a timeout. As in ns-2
    /// until then (`precisionReduce_` false; TcpAgent::slowdown).
    Whole,
}

/// Which new acknowledgements let the window grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Those that come while the window is what limits the sender (RFC 5681, section 3.1; RFC 7661).
    #[default]
    WhenUsed,
    /// All, up to the peer's window, as ns-2's TcpAgent::opencwnd has it. ns-2's cwnd grows on beyond
    /// the peer's window, but counts no higher when it is halved (TcpAgent::windowd).
    Always,
}
