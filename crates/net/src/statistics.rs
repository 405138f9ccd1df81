//! What a kernel counts, network by network: `/proc/net/snmp` and `/proc/net/netstat`.

use std::collections::BTreeMap;
use std::io;

use crate::Namespace;

/// A kernel's counters by group and name, as `nstat` names them: `Tcp` and `RetransSegs`,
/// `TcpExt` and `TCPDSACKRecv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics(BTreeMap<String, u64>);

impl Statistics {
    /// Those of a network, since it was made.
    ///
    /// # Errors
    /// The kernel does not show them.
    pub fn of(namespace: &Namespace) -> io::Result<Self> {
        let mut statistics = Self::default();
        for table in ["snmp", "netstat"] {
            let path = format!("/proc/{}/net/{table}", namespace.keeper());
            statistics.read(&std::fs::read_to_string(path)?);
        }
        Ok(statistics)
    }

    /// A counter; zero if this kernel has none of that name.
    pub fn get(&self, group: &str, name: &str) -> u64 {
        self.0.get(&format!("{group}{name}")).copied().unwrap_or(0)
    }

    /// Lines come in pairs with the same beginning: names, then values.
    fn read(&mut self, table: &str) {
        let mut lines = table.lines().filter_map(|line| line.split_once(':'));
        while let (Some((group, names)), Some((_, values))) = (lines.next(), lines.next()) {
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                // Negative ones are settings, such as Tcp's MaxConn.
                if let Ok(value) = value.parse() {
                    self.0.insert(format!("{group}{name}"), value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_stand_below_each_other() {
        let mut statistics = Statistics::default();
        statistics
            .read("Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 7\nUdp: InDatagrams\nUdp: 3\n");
        assert_eq!(statistics.get("Tcp", "RetransSegs"), 7);
        assert_eq!(statistics.get("Udp", "InDatagrams"), 3);
        assert_eq!(statistics.get("Tcp", "MaxConn"), 0);
        assert_eq!(statistics.get("TcpExt", "TCPDSACKRecv"), 0);
    }
}
