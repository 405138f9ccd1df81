//! The cells of an analysis' tables.

use unruffled_capture::{Direction, UdpPair};

/// Returns the cells of a pair of hosts that exchanged UDP datagrams.
pub(crate) fn udp_row(pair: &UdpPair) -> Vec<String> {
    let ms = |ms: Option<f64>| ms.map_or("–".to_owned(), |ms| format!("{ms:.1}"));
    let octets = pair.payload_bytes[0] + pair.payload_bytes[1];
    let bps = if pair.duration_s > 0.0 { octets as f64 * 8.0 / pair.duration_s } else { 0.0 };
    let spin = pair.spin_rtt.iter().flatten().map(|rtt| rtt.median_ms).reduce(f64::min);
    vec![
        format!("{} and {}", pair.client, pair.server),
        match (&pair.quic_version, pair.tunnel) {
            (Some(version), _) => format!("QUIC {version}"),
            (None, Some(tunnel)) => tunnel.name().to_owned(),
            (None, None) => "UDP".to_owned(),
        },
        format!("{} and {}", pair.datagrams[0], pair.datagrams[1]),
        format!("{:.2}", octets as f64 / 1e6),
        format!("{:.2}", bps / 1e6),
        ms(pair.handshake_rtt_ms),
        ms(spin),
    ]
}

/// Returns the headings of a transfer's cells.
pub(crate) fn heads() -> [&'static str; 10] {
    [
        "",
        "MB",
        "Mb/s",
        "RTT ms",
        "late %",
        "late by ms",
        "lost %",
        "resent",
        "spurious",
        "recoveries",
    ]
}

/// Returns shorter headings, for narrow terminals.
pub(super) fn tight_heads() -> [&'static str; 10] {
    ["", "MB", "Mb/s", "RTT ms", "late %", "by ms", "lost %", "resent", "spur.", "recov."]
}

/// Returns the cells of a transfer.
pub(crate) fn row(index: usize, direction: &Direction) -> Vec<String> {
    let dash = || "–".to_owned();
    let late = direction.reordering();
    let number = |value: Option<f64>, decimals: usize| match value {
        Some(value) => format!("{value:.decimals$}"),
        None => dash(),
    };
    let share = |part: f64| match part {
        0.0 => "0".to_owned(),
        part => format!("{:.2}", part * 100.0),
    };
    vec![
        index.to_string(),
        format!("{:.2}", direction.traffic.stream_bytes as f64 / 1e6),
        format!("{:.2}", direction.traffic.goodput_bps / 1e6),
        number(direction.rtt.min_ms.or(direction.rtt.beyond_ms), 1),
        share(late.ratio),
        number(late.late_time.as_ref().map(|time| time.median_ms), 1),
        share(direction.losses.ratio),
        direction.retransmissions.total.to_string(),
        direction.retransmissions.spurious.to_string(),
        format!("{} of {}", direction.windows.spurious_recoveries, direction.windows.recoveries),
    ]
}
