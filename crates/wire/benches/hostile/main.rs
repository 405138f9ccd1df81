//! Hostile peers: the memory that they take, and the time of a good client's 10 MB meanwhile. A row
//! fails, and so does the program, if memory exceeds the budget, or if the client is less than half
//! as fast as without the attack.
//!
//! `make hostile` runs all of it; `-- --short` runs a tenth of it, for CI.

mod attacks;
mod rig;

use std::process::ExitCode;
use std::task::{Poll, Waker};
use std::time::Duration;

use attacks::{Acknowledger, Crowd, PORT, SmallSegments, SynFlood};
use peak_alloc::PeakAlloc;
use rig::{Attack, NoAttack, Rig, Server, TRANSFER, clock};
use unruffled_wire::stack::{ConnectionId, Limits};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Packets of an attack, a second.
const RATE: u64 = 100_000;

/// The result of one attack.
struct Row {
    name: String,
    /// Peak of the memory allocated since the start of the row, in octets.
    peak: usize,
    /// Octets that the server is charged for at the end.
    account: usize,
    /// Time of a transfer before the attack.
    alone: Duration,
    /// Time of a transfer during the attack.
    meanwhile: Duration,
    /// Description of the attack's effects and of what was refused.
    notes: String,
    failures: Vec<String>,
}

struct Suite {
    /// Divisor of all numbers.
    scale: u32,
    rows: Vec<Row>,
}

/// Returns the median time of the transfers that fit into `span`, at least three of them.
fn transfers(rig: &mut Rig, attack: &mut dyn Attack, span: Duration) -> Result<Duration, String> {
    let begin = clock();
    let mut took = Vec::new();
    while took.len() < 3 || clock() - begin < span {
        took.push(rig.transfer(attack)?);
    }
    took.sort_unstable();
    Ok(took[took.len() / 2])
}

impl Suite {
    /// Runs one attack on a new rig: `prepare` makes it, and transfers are timed before and during
    /// it.
    fn row<A: Attack>(
        &mut self,
        name: &str,
        span: Duration,
        prepare: impl FnOnce(&mut Rig) -> A,
        notes: impl FnOnce(&A, &mut Rig) -> String,
    ) {
        let base = MEMORY.current_usage();
        let mut rig = Rig::new();
        let mut failures = Vec::new();
        let mut time = |took: Result<Duration, String>| match took {
            Ok(took) => took,
            Err(why) => {
                failures.push(why);
                Duration::ZERO
            }
        };
        let alone = time(transfers(&mut rig, &mut NoAttack, Duration::from_millis(500)));
        MEMORY.reset_peak_usage();
        let mut attack = prepare(&mut rig);
        let meanwhile = time(transfers(&mut rig, &mut attack, span));
        let peak = MEMORY.peak_usage().saturating_sub(base);
        if meanwhile > alone * 2 {
            failures.push("less than half the speed".to_owned());
        }
        let budget = Limits::default().octets;
        if peak > budget {
            failures.push(format!("{} MB of memory", peak / 1_000_000));
        }
        let account = rig.server.stack.usage().octets;
        let notes = notes(&attack, &mut rig);
        let row = Row { name: name.to_owned(), peak, account, alone, meanwhile, notes, failures };
        println!("{}", row.text());
        self.rows.push(row);
    }

    fn syn_flood(&mut self) {
        let span = Duration::from_secs(10) / self.scale;
        self.row(
            "SYN flood, 100,000 a second",
            span,
            |_| SynFlood::new(RATE),
            |flood, rig| {
                let counters = rig.server.stack.counters();
                format!(
                    "{} SYNs, {} half-open, {} cookies sent, {} accepted",
                    flood.pace.done,
                    rig.server.stack.usage().requests,
                    counters.cookies_sent,
                    counters.cookies_accepted
                )
            },
        );
    }

    fn crowd(rig: &mut Rig, count: u32, window: u16) -> Crowd {
        let listener = rig.server.stack.listen(Server::at(PORT), 1024).expect("a free port");
        Crowd::gather(rig, listener, count, window)
    }

    fn small_segments(&mut self) {
        self.row(
            "every second octet, 100,000 segments a second",
            Duration::from_secs(5) / self.scale,
            |rig| SmallSegments::new(Self::crowd(rig, 1, 65_535), RATE),
            |attack, _| format!("{} segments", attack.pace.done),
        );
    }

    fn acknowledgers(&mut self) {
        for (name, optimistic) in
            [("ACK division, 100,000 a second", false), ("optimistic ACKs, 100,000 a second", true)]
        {
            self.row(
                name,
                Duration::from_secs(5) / self.scale,
                |rig| Acknowledger::new(Self::crowd(rig, 1, 65_535), RATE, optimistic),
                |attack, _| format!("{} ACKs drew {} octets", attack.pace.done, attack.octets),
            );
        }
    }

    /// Runs an attack of `count` peers that complete a handshake, with `each` applied to each
    /// connection.
    fn crowd_row(
        &mut self,
        (count, what): (u32, &str),
        window: u16,
        span: Duration,
        each: impl Fn(&mut Rig, ConnectionId),
        notes: impl FnOnce(&Crowd, &mut Rig) -> String,
    ) {
        let (count, span) = (count / self.scale, span / self.scale);
        let prepare = |rig: &mut Rig| {
            let mut crowd = Self::crowd(rig, count, window);
            for id in crowd.held.clone() {
                each(rig, id);
                rig.round(&mut crowd);
            }
            crowd
        };
        self.row(&format!("{count} {what}"), span, prepare, notes);
    }

    fn zero_windows(&mut self) {
        self.crowd_row(
            (10_000, "peers with closed windows"),
            0,
            Duration::from_secs(5),
            |rig, id| {
                let Rig { server, data, .. } = rig;
                while let Poll::Ready(Ok(_)) = server.stack.poll_write(id, Waker::noop(), data) {}
            },
            |crowd, rig| {
                format!(
                    "{} connections, {} refused",
                    crowd.held.len(),
                    rig.server.stack.counters().connections_refused
                )
            },
        );
    }

    fn time_waits(&mut self) {
        self.crowd_row(
            (100_000, "connections in TIME-WAIT"),
            65_535,
            Duration::from_secs(2),
            |rig, id| rig.server.stack.release(id),
            |_, rig| format!("{} in TIME-WAIT", rig.server.stack.usage().time_waits),
        );
    }

    fn idle(&mut self) {
        let count = 100_000 / self.scale;
        self.row(
            &format!("{count} idle connections"),
            Duration::from_secs(2) / self.scale,
            |rig| {
                let crowd = Self::crowd(rig, count, 65_535);
                rig.skip(10);
                crowd
            },
            |crowd, rig| {
                let [one, any] = [1, crowd.peers.len()].map(|of| crowd.cost_per_packet(rig, of));
                let all = |[read, handled]: [u64; 2]| (read + handled) as f64;
                format!(
                    "{} connections; reading and handling an ACK takes {} + {} ns if all are for \
                     one connection, {} + {} ns if each is for another: {:.2} times",
                    crowd.held.len(),
                    one[0],
                    one[1],
                    any[0],
                    any[1],
                    all(any) / all(one)
                )
            },
        );
    }
}

impl Row {
    fn text(&self) -> String {
        let ms = |span: Duration| format!("{:.0} ms", span.as_secs_f64() * 1000.0);
        let mb = |octets: usize| format!("{:.1} MB", octets as f64 / 1e6);
        format!(
            "| {} | {} | {} | {} | {} | {} |{}",
            self.name,
            mb(self.peak),
            mb(self.account),
            ms(self.alone),
            ms(self.meanwhile),
            self.notes,
            self.failures.iter().map(|why| format!(" FAILED: {why}.")).collect::<String>()
        )
    }
}

type Measure = fn(&mut Suite);

fn main() -> ExitCode {
    let short = std::env::args().any(|argument| argument == "--short");
    let only = std::env::args().skip_while(|argument| argument != "--only").nth(1);
    let mut suite = Suite { scale: if short { 10 } else { 1 }, rows: Vec::new() };
    println!(
        "Budget {} MB; a good client transfers {} MB; memory of server, client and attackers.\n",
        Limits::default().octets / 1_000_000,
        TRANSFER / 1_000_000
    );
    println!("| attack | peak of memory | server's account | 10 MB alone | 10 MB meanwhile | |");
    println!("|---|---|---|---|---|---|");
    let all: [(&str, Measure); 6] = [
        ("syn", Suite::syn_flood),
        ("small", Suite::small_segments),
        ("acks", Suite::acknowledgers),
        ("zero", Suite::zero_windows),
        ("wait", Suite::time_waits),
        ("idle", Suite::idle),
    ];
    for (name, attack) in all {
        if only.as_ref().is_none_or(|only| only == name) {
            attack(&mut suite);
        }
    }
    if suite.rows.iter().all(|row| row.failures.is_empty()) {
        ExitCode::SUCCESS
    } else {
        eprintln!("hostile: see the rows marked FAILED");
        ExitCode::FAILURE
    }
}
