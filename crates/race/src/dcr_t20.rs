//! Table 20 of TCP-DCR: a transfer of 33 MB by a Linux sender, over a router that varies the delay.

use unruffled_lab::comparison_sweep::Paper;

/// Name of the scenario.
pub const NAME: &str = "dcr-t20";

/// Key that the table varies.
pub const KEY: &str = "link.emulator.delayed.deviation";
/// Values of the key in milliseconds. The paper calls them the delay variance.
pub const DEVIATIONS: [f64; 4] = [0.0, 1.0, 2.0, 3.0];
/// Label of the axis.
pub const QUANTITY: &str = "standard deviation of the delay (ms)";

/// Goodput in KB/s, and percent of packets out of order. The table prints "Kbps"; 33 MB in 29 s, as the
/// text has it, are KB/s.
const TABLE: [(f64, f64); 4] =
    [(1127.29, 0.0), (1106.52, 13.90), (1087.45, 30.38), (1093.90, 39.87)];

/// Returns the paper's table, with 1 KB as 1000 octets.
pub fn paper() -> Paper {
    Paper {
        name: "the paper’s TCP-DCR".to_owned(),
        goodput_bps: TABLE.iter().map(|row| row.0 * 8e3).collect(),
        out_of_order_rate: TABLE.iter().map(|row| row.1 / 100.0).collect(),
    }
}
