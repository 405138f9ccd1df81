//! The table of `unruffled status`.

use std::time::Duration;

use unruffled_kernel::{Connection, Growth, Status};
use unruffled_units::count;

const HEADINGS: [&str; 12] = [
    "peer", "growth", "Mb/s", "cwnd", "RTT ms", "late ms", "held", "events", "spurious",
    "restored", "rtx", "age s",
];

/// Returns a line for each connection, the meaning of the figures, and the number of connections. If a line is
/// wider than `columns`, a connection has several lines.
pub(super) fn render(status: &Status, is_registered: bool, columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    let rows: Vec<_> = status.connections.iter().map(cells).collect();
    let lines = std::iter::once(HEADINGS.map(str::to_owned)).chain(rows.iter().cloned());
    let lines: Vec<_> = lines.collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: [usize; 12] = std::array::from_fn(width);
    let mut text = String::new();
    if widths.iter().sum::<usize>() + 2 * (widths.len() - 1) <= columns {
        for line in &lines {
            text += &format!("{:<1$}", line[0], widths[0]);
            for (cell, width) in line.iter().zip(widths).skip(1) {
                text += &format!("  {cell:>width$}");
            }
            text.push('\n');
        }
    } else {
        for row in &rows {
            text += &format!("{}\n", row[0]);
            let cells = HEADINGS.iter().zip(row).skip(1);
            text += &wrapped(cells.map(|(heading, cell)| format!("{heading} {cell}")), columns);
        }
    }
    if !rows.is_empty() {
        text += &explanation(status.interval, columns);
    }
    text += &wrapped(summary(status, is_registered).into_iter(), columns);
    text
}

/// Returns the cells of a connection in the order of the headings.
fn cells(c: &Connection) -> [String; 12] {
    let millis = |time: Duration| format!("{:.1}", 1e3 * time.as_secs_f64());
    // A low rate must not look like none.
    let rate = match c.rate_bps / 1e6 {
        rate if rate > 0.0 && rate < 0.01 => "<0.01".to_owned(),
        rate => format!("{rate:.2}"),
    };
    let none = || "-".to_owned();
    [
        c.peer.to_string(),
        match c.growth {
            Growth::Cubic => "cubic".to_owned(),
            Growth::Bbr => "bbr".to_owned(),
        },
        rate,
        c.cwnd.to_string(),
        c.rtt.map_or_else(none, millis),
        millis(c.late),
        c.held.to_string(),
        c.events.to_string(),
        c.spurious.to_string(),
        c.restored.to_string(),
        c.retransmissions.to_string(),
        c.age.map_or_else(none, |age| age.as_secs().to_string()),
    ]
}

/// Returns the meaning of the figures.
fn explanation(interval: Duration, columns: usize) -> String {
    let figures = [
        format!("Mb/s: acknowledged in the last {:.2} s", interval.as_secs_f64()),
        "RTT: smoothed".to_owned(),
        "late: the most in 8 to 16 s".to_owned(),
        "cwnd, held: now".to_owned(),
        "events to rtx: since the connection has been under unruffled, its age".to_owned(),
    ];
    wrapped(figures.into_iter(), columns)
}

fn summary(status: &Status, is_registered: bool) -> Vec<String> {
    let mut parts = vec![count(status.connections.len(), "connection")];
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

/// Joins the parts, and wraps them at blanks.
fn wrapped(parts: impl Iterator<Item = String>, columns: usize) -> String {
    let text = parts.collect::<Vec<_>>().join("; ");
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        if length > 0 && length + 1 + word.len() > columns {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += word.len();
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let connection = Connection {
            peer: ([192, 0, 2, 1], 5201).into(),
            local: ([192, 0, 2, 2], 40_000).into(),
            namespace: 4_026_531_840,
            rate_bps: 2e6,
            growth: Growth::Cubic,
            cwnd: 10,
            rtt: Some(Duration::from_micros(20_140)),
            late: Duration::ZERO,
            hold: Duration::ZERO,
            held: 0,
            events: 3,
            spurious: 2,
            restored: 1,
            timeouts: 0,
            retransmissions: 4,
            acked: 1_000_000,
            age: Some(Duration::from_millis(61_900)),
        };
        let idle = Connection { rate_bps: 0.0, rtt: None, age: None, ..connection.clone() };
        let slow = Connection { rate_bps: 1.0, ..connection.clone() };
        let interval = Duration::from_millis(1001);
        Status { connections: vec![connection, slow, idle], others: 1, ended: 2, interval }
    }

    #[test]
    fn each_figure_is_explained() {
        let expected = "\
peer            growth   Mb/s  cwnd  RTT ms  late ms  held  events  spurious  restored  rtx  age s
192.0.2.1:5201   cubic   2.00    10    20.1      0.0     0       3         2         1    4     61
192.0.2.1:5201   cubic  <0.01    10    20.1      0.0     0       3         2         1    4     61
192.0.2.1:5201   cubic   0.00    10       -      0.0     0       3         2         1    4      -
Mb/s: acknowledged in the last 1.00 s; RTT: smoothed; late: the most in 8 to 16 s; cwnd, held: now; \
events to rtx: since the connection has been under unruffled, its age
3 connections; 2 ended in the last 1.00 s; 1 under another version, not shown
";
        assert_eq!(render(&status(), true, None), expected);
    }

    #[test]
    fn the_table_fits_a_narrow_terminal() {
        for columns in [40, 80, 100] {
            let text = render(&status(), false, Some(columns));
            assert!(text.lines().all(|line| line.len() <= columns), "{text}");
            assert!(text.contains("192.0.2.1:5201"), "{text}");
            assert!(text.replace('\n', " ").contains("unruffled is not in the kernel"), "{text}");
        }
    }

    #[test]
    fn without_connections_only_their_number_is_explained() {
        let text = render(&Status::default(), false, Some(80));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 1 + usize::from(lines[0].starts_with("peer ")), "{text}");
        assert_eq!(lines.last(), Some(&"0 connections; unruffled is not in the kernel"));
    }
}
