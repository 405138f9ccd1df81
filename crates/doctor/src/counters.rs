//! The kernel's counters of a network namespace: `/proc/net/snmp`, `/proc/net/netstat` and
//! `/proc/net/xfrm_stat`.

/// Counters of all TCP connections of a network namespace, those that have ended included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that were opened, by either end.
    pub opened: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Segments that receivers reported by DSACK as duplicates.
    pub duplicates_reported: u64,
    /// Duplicates that arrived here and were reported by DSACK: the peer had retransmitted a segment that was
    /// not lost.
    pub duplicates_in: u64,
    /// Packets of IPsec that the replay window has dropped.
    pub replay_drops: u64,
}

impl Counters {
    /// Parses the text of the three files. A counter that the kernel lacks is 0.
    pub fn parse(snmp: &str, netstat: &str, xfrm: &str) -> Self {
        let snmp = |name| in_table(snmp, "Tcp:", name);
        let netstat = |name| in_table(netstat, "TcpExt:", name);
        let segments = netstat("TCPDSACKRecvSegs").or_else(|| netstat("TCPDSACKRecv"));
        let sum = |counters: [Option<u64>; 2]| counters.into_iter().flatten().sum();
        Self {
            opened: sum([snmp("ActiveOpens"), snmp("PassiveOpens")]),
            retransmitted: snmp("RetransSegs").unwrap_or(0),
            duplicates_reported: segments.unwrap_or(0),
            duplicates_in: sum([netstat("TCPDSACKOldSent"), netstat("TCPDSACKOfoSent")]),
            replay_drops: in_lines(xfrm, "XfrmInStateSeqError").unwrap_or(0),
        }
    }

    /// Returns the counts since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            opened: self.opened.saturating_sub(earlier.opened),
            retransmitted: self.retransmitted.saturating_sub(earlier.retransmitted),
            duplicates_reported: self
                .duplicates_reported
                .saturating_sub(earlier.duplicates_reported),
            duplicates_in: self.duplicates_in.saturating_sub(earlier.duplicates_in),
            replay_drops: self.replay_drops.saturating_sub(earlier.replay_drops),
        }
    }
}

/// Returns a counter of a table whose first line has the names and whose second line has the values. Both
/// begin with `head`.
fn in_table(text: &str, head: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.split(' ').next() == Some(head));
    let names = lines.next()?.split_whitespace();
    let mut values = lines.next()?.split_whitespace();
    let column = names.into_iter().position(|found| found == name)?;
    values.nth(column)?.parse().ok()
}

/// Returns a counter of a text with a name and a value on each line.
fn in_lines(text: &str, name: &str) -> Option<u64> {
    let mut words = text.lines().map(str::split_whitespace);
    words.find_map(|mut line| (line.next()? == name).then(|| line.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens RetransSegs\nTcp: 1 -1 7 5 1234\n\
        Udp: InDatagrams\nUdp: 9\n";
    const NETSTAT: &str = "TcpExt: SyncookiesSent TCPDSACKOldSent TCPDSACKOfoSent TCPDSACKRecv TCPDSACKRecvSegs\n\
        TcpExt: 0 40 2 30 33\nIpExt: InNoRoutes\nIpExt: 4\n";
    const XFRM: &str = "XfrmInError                 \t0\nXfrmInStateSeqError         \t17\n";

    #[test]
    fn counters_are_found_by_their_names() {
        let expected = Counters {
            opened: 12,
            retransmitted: 1234,
            duplicates_reported: 33,
            duplicates_in: 42,
            replay_drops: 17,
        };
        assert_eq!(Counters::parse(SNMP, NETSTAT, XFRM), expected);
        let earlier = Counters { duplicates_in: 40, retransmitted: 2000, ..expected };
        let since = expected.since(&earlier);
        assert_eq!((since.duplicates_in, since.retransmitted, since.opened), (2, 0, 0));
    }

    /// `TCPDSACKRecvSegs` is there since Linux 5.10.
    #[test]
    fn an_older_kernel_counts_dsacks_and_not_their_segments() {
        let netstat = NETSTAT.replace("TCPDSACKRecvSegs", "Other");
        assert_eq!(Counters::parse(SNMP, &netstat, "").duplicates_reported, 30);
    }

    #[test]
    fn text_without_the_counters_gives_zeros() {
        for text in
            ["", "Tcp:", "Tcp: ActiveOpens\n", "Tcp: ActiveOpens\nTcp:\n", "TcpExt: a\nTcpExt: b"]
        {
            assert_eq!(Counters::parse(text, text, text), Counters::default(), "{text:?}");
        }
    }
}
