//! A connection as `status` shows it, and the columns of its table.

use std::cmp::Ordering;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use unruffled_doctor::{Place, Program};
use unruffled_kernel::{Connection, Growth};

/// A connection, with what leads to it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) connection: Connection,
    /// Process of the program that has the socket open.
    pub(super) pid: Option<u32>,
    /// Name of that program.
    pub(super) program: Option<String>,
    /// Network namespace in words; `None` if it is that of the command.
    pub(super) namespace_name: Option<String>,
    /// Whether a process, a mount or an open file leads to the network namespace.
    #[serde(rename = "namespace_reachable")]
    pub(super) is_reachable: bool,
}

impl Row {
    pub(super) fn new(
        connection: Connection,
        program: Option<&Program>,
        namespace_name: Option<String>,
        is_reachable: bool,
    ) -> Self {
        let pid = program.map(|program| program.process);
        let program = program.map(|program| crate::on_one_line(&program.name));
        Self { connection, pid, program, namespace_name, is_reachable }
    }

    /// Returns the marks of a connection with a peculiarity.
    fn note(&self) -> String {
        let marks =
            [self.connection.is_mptcp.then_some("mptcp"), (!self.is_reachable).then_some("gone")];
        marks.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Returns a network namespace in words. `None` if it is that of the command.
pub(super) fn namespace_name(inode: u64, own: u64, place: Option<&Place>) -> Option<String> {
    (inode != own).then(|| match place {
        Some(Place::Name(name)) => crate::on_one_line(name),
        Some(Place::Process(process)) => format!("pid {process}"),
        None => format!("net:[{inode}]"),
    })
}

/// A column of the table, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Column {
    /// Address of the receiver
    Peer,
    /// Marks
    #[value(skip)]
    Note,
    /// Program that has the socket open
    Program,
    /// Its process
    Pid,
    /// Network namespace
    Namespace,
    /// Growth of the window
    Growth,
    /// Rate of acknowledged data
    Rate,
    /// Congestion window
    Cwnd,
    /// Round-trip time
    Rtt,
    /// Lateness of packets
    Late,
    /// Segments that are held back
    Held,
    /// Loss events
    Events,
    /// Spurious loss events
    Spurious,
    /// Restored windows
    Restored,
    /// Retransmissions
    Rtx,
    /// Time under the congestion control
    Age,
}

impl Column {
    /// All columns, those that matter most first.
    pub(super) const BY_IMPORTANCE: [Self; 16] = [
        Self::Peer,
        Self::Rate,
        Self::Note,
        Self::Late,
        Self::Program,
        Self::Rtx,
        Self::Held,
        Self::Rtt,
        Self::Age,
        Self::Spurious,
        Self::Cwnd,
        Self::Events,
        Self::Restored,
        Self::Growth,
        Self::Namespace,
        Self::Pid,
    ];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Peer => "peer",
            Self::Note => "note",
            Self::Program => "program",
            Self::Pid => "pid",
            Self::Namespace => "namespace",
            Self::Growth => "growth",
            Self::Rate => "Mb/s",
            Self::Cwnd => "cwnd",
            Self::Rtt => "RTT ms",
            Self::Late => "late ms",
            Self::Held => "held",
            Self::Events => "events",
            Self::Spurious => "spurious",
            Self::Restored => "restored",
            Self::Rtx => "rtx",
            Self::Age => "age s",
        }
    }

    /// Returns whether cells are aligned to the left, as words are.
    pub(super) fn has_words(self) -> bool {
        matches!(self, Self::Peer | Self::Note | Self::Program | Self::Namespace)
    }

    /// Returns the meaning of the figures, unless the heading says it.
    pub(super) fn meaning(self, interval: Duration) -> Option<String> {
        let text = match self {
            Self::Rate => {
                return Some(format!(
                    "Mb/s: acknowledged in the last {:.2} s",
                    interval.as_secs_f64()
                ));
            }
            Self::Late => "late: the most in 8 to 16 s",
            Self::Rtt => "RTT: smoothed",
            Self::Held => "held: segments held back now",
            Self::Note => "mptcp: a subflow; gone: no process or file leads to its namespace",
            _ => return None,
        };
        Some(text.to_owned())
    }

    pub(super) fn cell(self, row: &Row) -> String {
        let c = &row.connection;
        let none = || "-".to_owned();
        let millis = |time: Duration| format!("{:.1}", 1e3 * time.as_secs_f64());
        match self {
            Self::Peer => c.peer.to_string(),
            Self::Note => row.note(),
            Self::Program => row.program.clone().unwrap_or_else(none),
            Self::Pid => row.pid.map_or_else(none, |pid| pid.to_string()),
            Self::Namespace => row.namespace_name.clone().unwrap_or_else(|| "this".to_owned()),
            Self::Growth => growth(c.growth).to_owned(),
            Self::Rate => match c.rate_bps / 1e6 {
                // A low rate must not look like none.
                rate if rate > 0.0 && rate < 0.01 => "<0.01".to_owned(),
                rate => format!("{rate:.2}"),
            },
            Self::Cwnd => c.cwnd.to_string(),
            Self::Rtt => c.rtt.map_or_else(none, millis),
            Self::Late => millis(c.late),
            Self::Held => c.held.to_string(),
            Self::Events => c.events.to_string(),
            Self::Spurious => c.spurious.to_string(),
            Self::Restored => c.restored.to_string(),
            Self::Rtx => c.retransmissions.to_string(),
            Self::Age => c.age.map_or_else(none, |age| age.as_secs().to_string()),
        }
    }

    /// Compares two connections: words by the alphabet, figures with the largest first.
    fn compare(self, one: &Row, other: &Row) -> Ordering {
        let (a, b) = (&one.connection, &other.connection);
        match self {
            Self::Peer => a.peer.cmp(&b.peer),
            Self::Note => other.note().cmp(&one.note()),
            // Those without one come last.
            Self::Program => {
                let key = |row: &Row| (row.program.is_none(), row.program.clone(), row.pid);
                key(one).cmp(&key(other))
            }
            Self::Pid => (one.pid.is_none(), one.pid).cmp(&(other.pid.is_none(), other.pid)),
            Self::Namespace => one.namespace_name.cmp(&other.namespace_name),
            Self::Growth => growth(a.growth).cmp(growth(b.growth)),
            Self::Rate => b.rate_bps.total_cmp(&a.rate_bps),
            Self::Cwnd => b.cwnd.cmp(&a.cwnd),
            Self::Rtt => b.rtt.cmp(&a.rtt),
            Self::Late => b.late.cmp(&a.late),
            Self::Held => b.held.cmp(&a.held),
            Self::Events => b.events.cmp(&a.events),
            Self::Spurious => b.spurious.cmp(&a.spurious),
            Self::Restored => b.restored.cmp(&a.restored),
            Self::Rtx => b.retransmissions.cmp(&a.retransmissions),
            Self::Age => b.age.cmp(&a.age),
        }
    }
}

/// Returns the growth in a word.
pub(super) fn growth(growth: Growth) -> &'static str {
    match growth {
        Growth::Cubic => "cubic",
        Growth::Bbr => "bbr",
    }
}

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) column: Column,
    pub(super) is_reversed: bool,
}

impl Order {
    pub(super) fn by(column: Column) -> Self {
        Self { column, is_reversed: false }
    }

    /// Sorts the rows. Rows that are equal in the column stay in the order of their addresses, so that a table
    /// that is shown again and again does not jump.
    pub(super) fn sort(self, rows: &mut [Row]) {
        rows.sort_by(|one, other| {
            let compared = self.column.compare(one, other);
            let compared = if self.is_reversed { compared.reverse() } else { compared };
            let key = |row: &Row| {
                let c = &row.connection;
                (c.peer, c.local, c.namespace)
            };
            compared.then_with(|| key(one).cmp(&key(other)))
        });
    }
}

/// Returns the row of a connection to this address, for tests.
#[cfg(test)]
pub(super) fn example(peer: &str) -> Row {
    let connection = Connection {
        peer: peer.parse().expect("an address"),
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
        inode: Some(77),
        is_mptcp: false,
        age: Some(Duration::from_millis(61_900)),
    };
    let program = Program { name: "rsync".to_owned(), process: 812 };
    Row::new(connection, Some(&program), None, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(rows: &[Row]) -> Vec<u16> {
        rows.iter().map(|row| row.connection.peer.port()).collect()
    }

    #[test]
    fn figures_are_sorted_with_the_largest_first_and_words_by_the_alphabet() {
        let mut rows = ["192.0.2.1:3", "192.0.2.1:1", "192.0.2.1:2"].map(example);
        rows[0].connection.rate_bps = 5.0;
        rows[1].connection.rate_bps = 7.0;
        rows[2].connection.rate_bps = 7.0;
        rows[0].program = None;
        rows[2].program = Some("curl".to_owned());
        rows[1].connection.rtt = None;
        Order::by(Column::Rate).sort(&mut rows);
        assert_eq!(peers(&rows), [1, 2, 3]);
        Order { column: Column::Rate, is_reversed: true }.sort(&mut rows);
        assert_eq!(peers(&rows), [3, 1, 2]);
        Order::by(Column::Peer).sort(&mut rows);
        assert_eq!(peers(&rows), [1, 2, 3]);
        // curl, rsync, none.
        Order::by(Column::Program).sort(&mut rows);
        assert_eq!(peers(&rows), [2, 1, 3]);
        // A round-trip time that is not known is the smallest.
        Order::by(Column::Rtt).sort(&mut rows);
        assert_eq!(peers(&rows), [2, 3, 1]);
    }

    #[test]
    fn each_column_has_a_place_in_the_order_of_importance() {
        let mut columns = Column::BY_IMPORTANCE;
        columns.sort();
        assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{columns:?}");
        let named = Column::value_variants().len();
        // Marks are no column to sort by.
        assert_eq!(named + 1, columns.len());
    }

    #[test]
    fn a_connection_with_peculiarities_is_marked() {
        let mut row = example("192.0.2.1:1");
        assert_eq!(Column::Note.cell(&row), "");
        row.connection.is_mptcp = true;
        assert_eq!(Column::Note.cell(&row), "mptcp");
        row.is_reachable = false;
        assert_eq!(Column::Note.cell(&row), "mptcp gone");
    }

    #[test]
    fn a_namespace_has_its_name_a_process_or_its_number() {
        let place = Place::Name("red".to_owned());
        assert_eq!(namespace_name(1, 1, Some(&place)), None);
        assert_eq!(namespace_name(2, 1, Some(&place)).as_deref(), Some("red"));
        assert_eq!(namespace_name(2, 1, Some(&Place::Process(9))).as_deref(), Some("pid 9"));
        assert_eq!(namespace_name(2, 1, None).as_deref(), Some("net:[2]"));
    }

    #[test]
    fn json_has_the_connection_and_its_program() {
        let json = serde_json::to_value(example("[2001:db8::1]:443")).expect("plain data");
        assert_eq!(json["peer"], "[2001:db8::1]:443");
        assert_eq!((&json["pid"], &json["program"]), (&812.into(), &"rsync".into()));
        assert_eq!(
            (&json["mptcp"], &json["namespace"]),
            (&false.into(), &4_026_531_840_u64.into())
        );
        assert_eq!(json["namespace_reachable"], true);
        assert!(json["namespace_name"].is_null());
    }
}
