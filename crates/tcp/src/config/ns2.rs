//! Rules in which ns-2.35 differs from the RFCs, to reproduce papers that used it and to compare with it.

/// Rules in which a sender can follow ns-2.35. The default follows the RFCs. Use it for
/// [`Config::ns2`](crate::Config::ns2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ns2Compat {
    /// Definition of a duplicate acknowledgement with SACK.
    pub duplicates: Duplicates,
    /// Estimate of the pipe in fast recovery with SACK.
    pub pipe: Pipe,
    /// Beginning and end of Reno's fast recovery.
    pub fast_recovery: FastRecovery,
    /// The window of Reno's congestion control after a loss. None leaves it to `fast_recovery`.
    pub halving: Option<Halving>,
    /// Acknowledgements that grow the window.
    pub growth: Growth,
    /// Whether the minimum applies after the doublings of the timeout, and not before them as in RFC
    /// 6298. A timeout of 300 ms with a minimum of 1 s then lasts 1, 1, 1.2 and 2.4 s instead of 1, 2, 4
    /// and 8 s. ns-2 did this until March 2002, and still does with `rfc2988_` false.
    pub min_after_backoff: bool,
}

/// Definition of a duplicate acknowledgement with SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Segments SACKed above a hole, for each hole (RFC 6675, IsLost).
    #[default]
    Sacked,
    /// Acknowledgements with a SACK since the cumulative point last moved, as in ns-2's Agent/TCP/Sack1
    /// (tcp-sack1.cc). Only the first hole can begin a recovery, and its count begins when it becomes
    /// the first. All holes below the highest SACK are deemed lost together with it
    /// (ScoreBoard::GetNextRetran). If many segments are late at a time, the count starts again for each
    /// hole that becomes the first, and a recovery retransmits more segments.
    Run,
}

/// Estimate of the number of segments in the network during fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipe {
    /// Computed from the scoreboard (RFC 6675, SetPipe).
    #[default]
    SetPipe,
    /// Counted from acknowledgements and transmissions. A partial acknowledgement counts as two segments:
    /// the lost one and its retransmission. If nothing was lost, only one has left the network, so a
    /// sender with this estimate sends somewhat more than with SetPipe when packets are reordered.
    Counted,
}

/// Beginning and end of Reno's fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRecovery {
    /// Every third duplicate begins a recovery, and the acknowledgement that ends it only deflates the
    /// window (RFC 5681, section 3.2, steps 2 and 6).
    #[default]
    Rfc5681,
    /// The rules of ns-2's Agent/TCP/Reno (tcp-reno.cc):
    ///
    /// * The third duplicate begins a recovery only if more has been acknowledged than was sent before
    ///   the previous recovery began (`bugFix_`, the Careful variant of RFC 2582, which RFC 6582 has for
    ///   NewReno). The acknowledgement that ends a recovery grows the window like any other.
    /// * Fast retransmit halves cwnd, to at least one segment. ssthresh is a whole number and at least 2.
    /// * Every timeout halves ssthresh, including repeated ones (TcpAgent::slowdown and
    ///   TcpAgent::timeout, tcp.cc).
    /// * Each of the first two duplicates after a timeout permits one segment, which is then a
    ///   retransmission (`singledup_`).
    /// * Once the timeout has grown sixteenfold, the next round-trip time resets the estimators, for
    ///   every sender (TcpAgent::rtt_backoff).
    Ns2,
}

/// The window of Reno's congestion control after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// Half of what is in flight, at least two segments (RFC 5681, equation 4).
    Flight,
    /// Half of cwnd, at least one segment, as in ns-2 since January 2006 (`precisionReduce_` true).
    Window,
    /// Half of cwnd in whole segments, rounded down before and after halving, also after a timeout, as in
    /// ns-2 before January 2006 (`precisionReduce_` false; TcpAgent::slowdown).
    Whole,
}

/// The new acknowledgements that grow the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Those that arrive while the window limits the sender (RFC 5681, section 3.1; RFC 7661).
    #[default]
    WhenUsed,
    /// All, up to the peer's window, as in ns-2's TcpAgent::opencwnd. In ns-2 cwnd itself grows beyond the
    /// peer's window, but the peer's window bounds it when it is halved (TcpAgent::windowd).
    Always,
}
