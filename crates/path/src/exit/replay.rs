//! Settings of anti-replay windows, and those of well-known programs.

use unruffled_units::Duration;

/// Anti-replay window of a tunnel.
///
/// The tunnel numbers packets where they enter the link. Its far end keeps the highest number that it has
/// accepted, and drops a packet that is `behind` or more below it. It also drops a second packet with the
/// same number.
///
/// ```
/// use unruffled_path::ReplayWindow;
///
/// assert_eq!(ReplayWindow::named("esp"), Some(ReplayWindow::new(32)));
/// assert_eq!(ReplayWindow::named("carrier-pigeon"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayWindow {
    /// Number of packets behind the newest from which a packet is dropped, at least 1.
    pub behind: u32,
    /// Further rule of the program.
    pub rule: ReplayRule,
}

/// Rule of a program beside the length of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayRule {
    /// None.
    Plain,
    /// Drops a packet also if a packet with a higher number within the window arrived more than this time
    /// before it (OpenVPN).
    MaxAge(Duration),
    /// Drops packets also that are as far ahead of the newest as the window is long, but no more than `run`
    /// in a row. The next one that far ahead is accepted, and everything below it is dropped from then on
    /// (tinc).
    FarAhead {
        /// Maximum number of packets dropped in a row.
        run: u32,
    },
    /// Accepts the next number only. After a gap, packets are dropped until `run` of them have followed one
    /// another in order (L2TP). The length of the window has no effect.
    InOrder {
        /// Number of packets in order after which the last one is accepted.
        run: u32,
    },
}

impl ReplayWindow {
    /// Windows of programs, by the names that scenario files use, in the order of their lengths.
    pub const PRESETS: [(&'static str, Self); 15] = [
        // Linux `net/ipv4/ip_tunnel.c`, with sequence numbers.
        ("gre", Self::new(1)),
        // Linux `drivers/net/macsec.c`, with replay protection and a window of 0.
        ("macsec", Self::new(1)),
        // Linux `net/l2tp/l2tp_core.c`: `nr_oos_count_max` is 4, and the count must exceed it.
        ("l2tp", Self { behind: 1, rule: ReplayRule::InOrder { run: 5 } }),
        ("esp", Self::new(32)),
        ("openvpn", Self { behind: 64, rule: ReplayRule::MaxAge(Duration::from_secs(15)) }),
        ("dtls", Self::new(64)),
        ("gnutls", Self::new(65)),
        ("srtp", Self::new(128)),
        ("tinc", Self { behind: 128, rule: ReplayRule::FarAhead { run: 4 } }),
        ("tinc-1.1", Self { behind: 256, rule: ReplayRule::FarAhead { run: 8 } }),
        ("boringtun", Self::new(1024)),
        ("nebula-1.11", Self::new(1024)),
        // Linux `drivers/net/wireguard/receive.c`: 8192 bits, of which a word of 64 is not used.
        ("wireguard", Self::new(8129)),
        ("wireguard-go", Self::new(8129)),
        ("nebula", Self::new(8192)),
    ];

    /// Creates a window that drops packets `behind` or more behind the newest, and nothing else than
    /// these and duplicates.
    pub const fn new(behind: u32) -> Self {
        Self { behind, rule: ReplayRule::Plain }
    }

    /// Returns the window of a program.
    pub fn named(name: &str) -> Option<Self> {
        Self::PRESETS.iter().find(|(known, _)| *known == name).map(|(_, window)| *window)
    }
}
