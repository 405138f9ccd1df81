//! The analysis of a capture as text: a table of transfers, and the verdict on each.

mod cells;
mod json;
#[cfg(test)]
pub(crate) mod tests;

use std::net::SocketAddr;

use unruffled_capture::{
    Analysis, Direction, NumberedFlow, NumberedProtocol, Place, Tunnel, UdpPair,
};
use unruffled_units::count;

use crate::advice::{self, Step};
use crate::styled;
use crate::table::{Cells, fits, lines, plain_within};
use crate::text;
use crate::transfer::Transfer;
use cells::tight_heads;
pub(crate) use cells::{heads, row, udp_row};
pub use json::json;

/// The largest number of transfers in the text. JSON has all of them.
const MAX_LISTED: usize = 12;

/// The smallest share of late packets for which a tunnel has a remedy.
const MIN_LATE_IN_TUNNEL: f64 = 0.001;

/// Returns the size of a capture in words.
pub(crate) fn size(analysis: &Analysis) -> String {
    let totals = &analysis.totals;
    format!(
        "{} in {:.1} s, {}, {} over UDP",
        count(totals.frames, "packet"),
        totals.duration_s,
        count(totals.tcp_connections, "TCP connection"),
        count(totals.udp_pairs, "pair")
    )
}

/// Returns a note on a coarse clock, if the capture's clock is one.
pub(crate) fn clock(analysis: &Analysis) -> Option<String> {
    let step = analysis.totals.clock_step_ms?;
    Some(format!(
        "the capture's clock moves in steps of {step:.1} ms: round trips and late times of less are not shown"
    ))
}

/// Returns how many packets of what were not read, if any were not.
pub(crate) fn skipped(analysis: &Analysis) -> Option<String> {
    let kinds = &analysis.totals.skipped.kinds;
    if kinds.is_empty() {
        return None;
    }
    let listed = kinds.iter().take(MAX_LISTED);
    let mut parts: Vec<_> = listed.map(|kind| format!("{} {}", kind.packets, kind.what)).collect();
    let rest: u64 = kinds.iter().skip(MAX_LISTED).map(|kind| kind.packets).sum();
    if rest > 0 {
        parts.push(format!("{rest} others (--json has all)"));
    }
    Some(format!("packets not read inside: {}", parts.join(", ")))
}

/// Returns the interfaces with their packets, if the capture has several.
pub(crate) fn interfaces(analysis: &Analysis) -> Option<String> {
    let interfaces = &analysis.totals.interfaces;
    if interfaces.len() < 2 {
        return None;
    }
    let listed = interfaces.iter().take(MAX_LISTED).map(|interface| {
        let copies = match interface.copies {
            0 => String::new(),
            copies => format!(", {copies} of them seen before on another"),
        };
        format!("{} ({}{copies})", interface.name, count(interface.frames, "packet"))
    });
    let mut parts: Vec<String> = listed.collect();
    if interfaces.len() > MAX_LISTED {
        parts.push(format!("{} others (--json has all)", interfaces.len() - MAX_LISTED));
    }
    Some(format!("interfaces: {}", parts.join("; ")))
}

/// Renders the analysis for `width` columns: a table of the largest transfers, the verdict on each,
/// and the plan.
pub fn render(
    name: &str,
    analysis: &Analysis,
    transfers: &[Transfer<'_>],
    plan: &[Step],
    width: usize,
) -> String {
    let mut text = format!("{name}: {}\n", size(analysis));
    if let Some(line) = interfaces(analysis) {
        text += text::wrapped(&line, width, "").as_str();
    }
    if let Some(line) = skipped(analysis) {
        text += text::wrapped(&line, width, "").as_str();
    }
    if let Some(note) = clock(analysis) {
        text += text::wrapped(&note, width, "").as_str();
    }
    if transfers.is_empty() {
        text += "no TCP connection carried data\n";
        return text + udp(analysis, width).as_str();
    }
    let listed = transfers.iter().take(MAX_LISTED).enumerate();
    let rows: Vec<_> = listed.map(|(i, transfer)| row(i + 1, transfer.direction)).collect();
    let heads = if fits(&heads(), &rows, width) { heads() } else { tight_heads() };
    let mut table = plain_within(width);
    table.set_header(heads.map(styled::head));
    table.add_rows(rows);
    text += "\n";
    text += &lines(table);
    let [.., by, _, _, _, recoveries] = heads;
    text +=
        &format!("\nlate: of segments; lost: of octets; {}: median; ", by.trim_end_matches(" ms"));
    text += &format!("{recoveries}: spurious of all\n");
    for (i, transfer) in transfers.iter().take(MAX_LISTED).enumerate() {
        let direction = transfer.direction;
        let place = place(direction);
        text += &format!("\n{} {} to {}, {place}\n", i + 1, direction.from, direction.to);
        let verdict = [&transfer.verdict.text].into_iter().cloned();
        let remedy = advice::remedy_in_words(direction, transfer.verdict.cause);
        let remedy = remedy.map(ToOwned::to_owned);
        for line in verdict.chain(transfer.cost_in_words()).chain(remedy) {
            text += &text::wrapped(&line, width, "  ");
        }
    }
    if transfers.len() > MAX_LISTED {
        let smaller = count(transfers.len() - MAX_LISTED, "smaller transfer");
        text += &format!("\nand {smaller} (--json has all)\n");
    }
    text + advice::render(plan, MAX_LISTED, width).as_str() + udp(analysis, width).as_str()
}

/// Returns the table of [`render`], cell by cell. `None` if no connection carried data.
pub fn table(transfers: &[Transfer<'_>]) -> Option<Cells> {
    let listed = transfers.iter().take(MAX_LISTED).enumerate();
    let lines: Vec<_> = listed.map(|(i, transfer)| row(i + 1, transfer.direction)).collect();
    (!lines.is_empty()).then(|| (heads().to_vec(), lines))
}

/// Renders the QUIC connections and the tunnels.
fn udp(analysis: &Analysis, width: usize) -> String {
    let quic: Vec<_> = analysis.udp.iter().filter(|pair| pair.quic_version.is_some()).collect();
    let mut text = String::new();
    for pair in quic.iter().take(MAX_LISTED) {
        let version = pair.quic_version.as_deref().unwrap_or_default();
        let rtt = pair.handshake_rtt_ms.map_or("none seen".to_owned(), |ms| format!("{ms:.1} ms"));
        text += &format!(
            "\nQUIC {version}, {} to {}: {} and {} bytes, handshake {rtt}\n",
            pair.client, pair.server, pair.payload_bytes[0], pair.payload_bytes[1]
        );
    }
    if !quic.is_empty() {
        text += "  Its packet numbers are encrypted: reordering and loss cannot be seen from outside.\n";
    }
    let tunnels = analysis.udp.iter().filter_map(|pair| Some((pair, pair.tunnel?)));
    for (pair, tunnel) in tunnels.take(MAX_LISTED) {
        let [to_server, to_client] = &pair.payload_bytes;
        text += &format!(
            "\n{} tunnel, {} to {}: {to_server} and {to_client} bytes\n",
            tunnel.name(),
            pair.client,
            pair.server
        );
        for line in tunnel_order(pair, tunnel) {
            text += &text::wrapped(&line, width, "  ");
        }
    }
    for flow in analysis.numbered.iter().take(MAX_LISTED) {
        text += &format!("\n{}: {}\n", numbered_ends(flow), count(flow.packets, "packet"));
        text += &text::wrapped(&flow.verdict.text, width, "  ");
    }
    text
}

/// Returns the protocol, the ends and the stream of a flow of numbered packets in words.
pub(crate) fn numbered_ends(flow: &NumberedFlow) -> String {
    let end = |end: SocketAddr| match end.port() {
        0 => end.ip().to_string(),
        _ => end.to_string(),
    };
    let stream = match flow.protocol {
        NumberedProtocol::Esp => format!(", SPI {:#010x}", flow.context),
        NumberedProtocol::Rtp => format!(", SSRC {:#010x}", flow.context),
        NumberedProtocol::Gre if flow.context > 0 => format!(", key {}", flow.context),
        _ => String::new(),
    };
    format!(
        "{} by its numbers, {} to {}{stream}",
        flow.protocol.name(),
        end(flow.from),
        end(flow.to)
    )
}

/// Describes the order in which the packets of a tunnel passed, and the remedy where they were late.
pub(crate) fn tunnel_order(pair: &UdpPair, tunnel: Tunnel) -> Vec<String> {
    let receivers = [pair.server, pair.client];
    let late: Vec<String> = receivers
        .iter()
        .zip(&pair.tunnel_reordering)
        .filter_map(|(to, order)| order.as_ref().map(|order| (to, order)))
        .filter(|(_, order)| order.ratio >= MIN_LATE_IN_TUNNEL)
        .map(|(to, order)| {
            let by = order.late_time.as_ref().map_or(String::new(), |time| {
                format!(", half of them by {:.1} ms or more", time.median_ms)
            });
            let share = order.ratio * 100.0;
            format!(
                "{share:.1} % of its packets to {to} came late{by}. On that host, or with `--forward` on a \
                 gateway before it, `sudo unruffled resequence --tunnel {tunnel}` puts them in order; a \
                 packet that is lost then delays all packets behind it."
            )
        })
        .collect();
    match late.is_empty() {
        true => vec!["Its packets kept their order up to this host.".to_owned()],
        false => late,
    }
}

/// Returns the place of a capture in words.
pub fn place(direction: &Direction) -> &'static str {
    match direction.place {
        Place::Sender => "captured at the sender",
        Place::Receiver => "captured at the receiver",
        Place::Between => "captured between them",
        Place::Unknown => "captured somewhere",
    }
}
