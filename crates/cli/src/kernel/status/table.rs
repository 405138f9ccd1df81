//! The table of `unruffled status`, which fits the terminal.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use unruffled_kernel::Status;
use unruffled_units::count;

use super::row::{Column, Row};

/// Columns between two cells.
const GAP: usize = 2;

/// Columns of the addresses where other cells need room. An IPv4 address with its port has at most 21.
const PEER_COLUMNS: usize = 22;

/// Columns of the table, with their widths, and those for which there is no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) shown: Vec<(Column, usize)>,
    pub(super) hidden: Vec<Column>,
}

impl Layout {
    /// Chooses the columns that fit into `width`, those that matter most first.
    pub(super) fn new(rows: &[Row], width: usize) -> Self {
        let needed = |column: Column| {
            let cells = rows.iter().map(|row| column.cell(row).chars().count());
            cells.chain([column.heading().len()]).max().unwrap_or(0)
        };
        let is_used = |column: &Column| match column {
            Column::Note => rows.iter().any(|row| !column.cell(row).is_empty()),
            Column::Namespace => rows.iter().any(|row| row.namespace_name.is_some()),
            _ => true,
        };
        let peers = needed(Column::Peer);
        let mut layout = Self { shown: Vec::new(), hidden: Vec::new() };
        let mut used = 0;
        for column in Column::BY_IMPORTANCE.into_iter().filter(is_used) {
            let wide = match column {
                Column::Peer => peers.min(PEER_COLUMNS).min(width),
                _ => needed(column),
            };
            let gap = if used > 0 { GAP } else { 0 };
            if used + gap + wide <= width {
                used += gap + wide;
                layout.shown.push((column, wide));
            } else {
                layout.hidden.push(column);
            }
        }
        if let Some((Column::Peer, wide)) = layout.shown.first_mut() {
            let more = *wide + width.saturating_sub(used);
            // A little room does not show more of a long address.
            *wide = if peers <= more { peers } else { *wide };
        }
        layout.shown.sort();
        layout.hidden.sort();
        layout
    }

    /// Returns the line with the headings.
    pub(super) fn headings(&self) -> String {
        self.line(|column, _| column.heading().to_owned())
    }

    /// Returns the headings with the gaps between them, which belong to no column.
    pub(super) fn headings_by_column(&self) -> Vec<(Option<Column>, String)> {
        let mut parts = Vec::new();
        for &(column, width) in &self.shown {
            if !parts.is_empty() {
                parts.push((None, " ".repeat(GAP)));
            }
            parts.push((Some(column), padded(column, column.heading().to_owned(), width)));
        }
        parts
    }

    /// Returns the line of a connection.
    pub(super) fn row(&self, row: &Row) -> String {
        self.line(|column, width| match column {
            Column::Peer => shortened(row.connection.peer, width),
            _ => column.cell(row),
        })
    }

    fn line(&self, cell: impl Fn(Column, usize) -> String) -> String {
        let cells =
            self.shown.iter().map(|&(column, width)| padded(column, cell(column, width), width));
        let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        line.trim_end().to_owned()
    }

    /// Returns the meaning of the figures, and the columns for which there is no room.
    pub(super) fn explanation(&self, interval: Duration) -> Vec<String> {
        let shown = self.shown.iter().filter_map(|(column, _)| column.meaning(interval));
        let mut parts: Vec<String> = shown.collect();
        let counted = |column: &Column| match column {
            Column::Events | Column::Spurious | Column::Restored => Some(column.heading()),
            Column::Rtx => Some("rtx (retransmissions)"),
            _ => None,
        };
        let counts: Vec<_> = self.shown.iter().filter_map(|(column, _)| counted(column)).collect();
        if !counts.is_empty() {
            parts.push(format!("{}: since it has been under unruffled", counts.join(", ")));
        }
        if !self.hidden.is_empty() {
            let names: Vec<_> = self.hidden.iter().map(|column| column.heading()).collect();
            parts.push(format!("no room for: {}", names.join(", ")));
        }
        parts
    }
}

/// Returns a cell with the width of its column.
fn padded(column: Column, cell: String, width: usize) -> String {
    if column.has_words() { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

/// Returns an address in at most `width` columns: the beginning and the end of an IPv6 address, and the port.
pub(super) fn shortened(peer: SocketAddr, width: usize) -> String {
    let whole = peer.to_string();
    if whole.len() <= width {
        return whole;
    }
    let ip = match peer.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}"),
    };
    let end =
        if peer.is_ipv6() { format!("]:{}", peer.port()) } else { format!(":{}", peer.port()) };
    let room = width.saturating_sub(end.len() + 1);
    // The end distinguishes hosts of one network; it gets a third.
    let behind = (room / 3).min(ip.len());
    let before = room - behind;
    if before == 0 {
        return whole.chars().take(width.saturating_sub(1)).chain(['…']).take(width).collect();
    }
    format!("{}…{}{end}", &ip[..before], &ip[ip.len() - behind..])
}

/// Returns a line for each of the first `top` rows, the meaning of the figures, and the number of connections.
pub(super) fn render(
    rows: &[Row],
    top: Option<usize>,
    status: &Status,
    is_registered: bool,
    width: usize,
) -> String {
    let top = top.unwrap_or(usize::MAX).min(rows.len());
    let mut text = String::new();
    if !rows.is_empty() {
        let layout = Layout::new(&rows[..top], width);
        text += &format!("{}\n", layout.headings());
        for row in &rows[..top] {
            text += &format!("{}\n", layout.row(row));
        }
        text += &wrapped(&layout.explanation(status.interval).join("; "), width);
    }
    let summary = summary(rows.len(), rows.len() - top, status, is_registered);
    text += &wrapped(&summary.join("; "), width);
    text
}

/// Returns the number of connections, and what is not shown.
pub(super) fn summary(
    number: usize,
    left_out: usize,
    status: &Status,
    is_registered: bool,
) -> Vec<String> {
    let mut parts = vec![count(number, "connection")];
    if left_out > 0 {
        parts.push(format!("{left_out} of them not shown"));
    }
    if status.ended > 0 {
        parts.push(format!(
            "{} ended in the last {:.2} s",
            status.ended,
            status.interval.as_secs_f64()
        ));
    }
    if status.others > 0 {
        parts.push(format!("{} under another version, not shown", status.others));
    }
    if !is_registered {
        parts.push("unruffled is not in the kernel".to_owned());
    }
    parts
}

/// Wraps a text at blanks.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    unruffled_lab::text::wrapped(text, width, "")
}

#[cfg(test)]
mod tests {
    use super::super::row::example;
    use super::*;

    const LONG: &str = "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535";

    fn rows() -> Vec<Row> {
        let busy = example("192.0.2.1:5201");
        let mut slow = busy.clone();
        slow.connection.rate_bps = 1.0;
        let mut idle = busy.clone();
        (idle.connection.rate_bps, idle.connection.rtt) = (0.0, None);
        (idle.connection.age, idle.program, idle.pid) = (None, None, None);
        vec![busy, slow, idle]
    }

    fn status() -> Status {
        let interval = Duration::from_millis(1001);
        Status { others: 1, ended: 2, interval, ..Status::default() }
    }

    #[test]
    fn a_wide_table_has_all_figures() {
        let expected = "\
peer            program  pid  growth   Mb/s  cwnd  RTT ms  late ms  held  events  spurious  restored  rtx  age s
192.0.2.1:5201  rsync    812   cubic   2.00    10    20.1      0.0     0       3         2         1    4     61
192.0.2.1:5201  rsync    812   cubic  <0.01    10    20.1      0.0     0       3         2         1    4     61
192.0.2.1:5201  -          -   cubic   0.00    10       -      0.0     0       3         2         1    4      -
";
        let text = render(&rows(), None, &status(), true, 200);
        assert!(text.starts_with(expected), "{text}");
        let rest = &text[expected.len()..];
        assert!(rest.ends_with(
            "3 connections; 2 ended in the last 1.00 s; 1 under another version, not shown\n"
        ));
        let rest = rest.replace('\n', " ");
        for meaning in [
            "Mb/s: acknowledged in the last 1.00 s",
            "late: the most in 8 to 16 s",
            "events, spurious, restored, rtx (retransmissions): since it has been under unruffled",
        ] {
            assert!(rest.contains(meaning), "{rest}");
        }
        assert!(!rest.contains("no room"), "{rest}");
    }

    #[test]
    fn eighty_columns_have_what_matters_most() {
        let mut rows = rows();
        rows[0].connection.peer = LONG.parse().expect("an address");
        rows[1].connection.is_mptcp = true;
        let expected = "\
peer                    note   program   Mb/s  RTT ms  late ms  held  rtx  age s
[2001:db8:…5678]:65535         rsync     2.00    20.1      0.0     0    4     61
192.0.2.1:5201          mptcp  rsync    <0.01    20.1      0.0     0    4     61
192.0.2.1:5201                 -         0.00       -      0.0     0    4      -
";
        let text = render(&rows, None, &status(), true, 80);
        assert!(text.starts_with(expected), "{text}");
        let hidden = "no room for: pid, growth, cwnd, events, spurious, restored";
        assert!(text.replace('\n', " ").contains(hidden), "{text}");
    }

    #[test]
    fn the_table_fits_any_terminal() {
        let mut rows = rows();
        rows[0].connection.peer = LONG.parse().expect("an address");
        rows[1].connection.rate_bps = 987_654_321_098.0;
        rows[2].connection.cwnd = u32::MAX;
        rows[2].namespace_name = Some("a-long-name-of-a-network-namespace".to_owned());
        rows[2].is_reachable = false;
        for width in 20..240 {
            let text = render(&rows, None, &status(), false, width);
            let wide = text.lines().map(|line| line.chars().count()).max();
            assert!(wide <= Some(width), "{width}: {text}");
            assert!(text.contains("]:65535"), "{text}");
            assert!(text.replace('\n', " ").contains("unruffled is not in the kernel"), "{text}");
        }
    }

    #[test]
    fn the_first_rows_are_shown_and_the_others_counted() {
        let text = render(&rows(), Some(1), &Status::default(), true, 200);
        assert_eq!(text.matches("192.0.2.1").count(), 1, "{text}");
        assert!(text.ends_with("3 connections; 2 of them not shown\n"), "{text}");
        let all = render(&rows(), Some(7), &Status::default(), true, 200);
        assert!(all.ends_with("3 connections\n"), "{all}");
    }

    #[test]
    fn without_connections_only_their_number_is_shown() {
        let text = render(&[], None, &Status::default(), false, 80);
        assert_eq!(text, "0 connections; unruffled is not in the kernel\n");
    }

    #[test]
    fn a_long_address_keeps_its_ends_and_its_port() {
        let long = LONG.parse().expect("an address");
        assert_eq!(shortened(long, 47), LONG);
        assert_eq!(shortened(long, 22), "[2001:db8:…5678]:65535");
        let short: SocketAddr = "[2001:db8::1]:443".parse().expect("an address");
        assert_eq!(shortened(short, 22), "[2001:db8::1]:443");
        for width in 1..60 {
            for peer in [long, short, "192.0.2.100:65535".parse().expect("an address")] {
                assert!(shortened(peer, width).chars().count() <= width, "{width}");
            }
        }
    }
}
