//! The kernel's counters of a network: `/proc/net/snmp` and `/proc/net/netstat`.

use std::collections::BTreeMap;
use std::io;

use crate::Namespace;

/// A kernel's counters by group and name, as `nstat` names them: `Tcp` and `RetransSegs`,
/// `TcpExt` and `TCPDSACKRecv`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics(BTreeMap<String, u64>);

impl Statistics {
    /// Reads the counters of a network since its creation.
    ///
    /// # Errors
    /// If the kernel's tables cannot be read.
    pub fn of(namespace: &Namespace) -> io::Result<Self> {
        let mut statistics = Self::default();
        for table in ["snmp", "netstat"] {
            let path = format!("/proc/{}/net/{table}", namespace.keeper());
            statistics.read(&std::fs::read_to_string(path)?);
        }
        Ok(statistics)
    }

    /// Returns a counter, or zero if this kernel does not have it.
    pub fn get(&self, group: &str, name: &str) -> u64 {
        self.0.get(&format!("{group}{name}")).copied().unwrap_or(0)
    }

    /// Reads a table. Its lines come in pairs with the same prefix: names, then values.
    fn read(&mut self, table: &str) {
        let mut lines = table.lines().filter_map(|line| line.split_once(':'));
        while let (Some((group, names)), Some((_, values))) = (lines.next(), lines.next()) {
            for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
                // Negative values are settings, such as MaxConn of Tcp.
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
    fn values_have_the_names_of_the_line_above() {
        let mut statistics = Statistics::default();
        statistics
            .read("Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 7\nUdp: InDatagrams\nUdp: 3\n");
        assert_eq!(statistics.get("Tcp", "RetransSegs"), 7);
        assert_eq!(statistics.get("Udp", "InDatagrams"), 3);
        assert_eq!(statistics.get("Tcp", "MaxConn"), 0);
        assert_eq!(statistics.get("TcpExt", "TCPDSACKRecv"), 0);
    }
}
