//! What a kernel's sender counted, as the numbers of a row.

use unruffled_lab::record::Row;
use unruffled_net::Statistics;

/// Puts a sending kernel's statistics, from a network where nothing else was sent, into a row.
///
/// The numbers are those of the kernel's MIB (`nstat -az`, linux/snmp.h): `fast_retransmits` are
/// entries into recovery, false are those that the kernel undid.
pub(crate) fn fill(row: &mut Row, kernel: &Statistics) {
    let tcp = |name| kernel.get("Tcp", name);
    let sum = |names: &[&str]| names.iter().map(|name| kernel.get("TcpExt", name)).sum::<u64>();
    row.sent_segments = tcp("OutSegs");
    row.retransmits = tcp("RetransSegs");
    row.fast_retransmits = sum(&["TCPSackRecovery", "TCPRenoRecovery"]);
    row.false_fast_retransmits = sum(&["TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo"]);
    row.timeouts = sum(&["TCPTimeouts"]);
    row.false_timeouts = sum(&["TCPLossUndo"]);
    row.reordering_events = sum(&["TCPSACKReorder", "TCPTSReorder", "TCPRenoReorder"]);
    row.dsacks = sum(&["TCPDSACKRecv", "TCPDSACKOfoRecv"]);
    row.loss_probes = sum(&["TCPLossProbes"]);
}
