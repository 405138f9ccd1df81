//! The loop of a stack to which time is an argument.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

use crate::bench::{Bench, Packet, Step};
use crate::lines::{About, End, Request};

/// Turns at one instant without a packet, after which a stack is taken to hang.
const IDLE_TURNS: u32 = 100_000;

/// Both ends of a connection. Times are nanoseconds since the start.
pub trait Ends: Sized {
    /// Opens both ends at time 0. An error is a request that cannot be served.
    fn open(request: &Request, about: &About) -> Result<Self, String>;

    /// Hands a packet to the end that did not send it.
    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String>;

    /// Lets both ends do what is due at `now`: timers, the application's writes and reads, and
    /// packets, which go to `bench`. Called at the start, after arrivals and when a timer is due.
    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String>;

    /// When a timer is due next.
    fn due(&mut self) -> Option<u64>;

    /// Octets that the receiving application has read.
    fn received(&self) -> u64;

    /// The stack's own counts.
    fn end(&mut self) -> End;
}

/// The program: a manifest on request, or one run.
pub fn main<E: Ends>(about: &About) -> ExitCode {
    let Some((mut bench, request)) = open(about) else {
        return ExitCode::SUCCESS;
    };
    let outcome = request.and_then(|request| {
        let ends = E::open(&request, about)?;
        bench.start(about, request.control(about))?;
        serve(&mut bench, ends)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            bench.fail(&error);
            ExitCode::from(2)
        }
    }
}

/// The bench on standard input and output; none if the command line asks for the manifest, which
/// is then printed.
pub fn open(about: &About) -> Option<(Bench, Result<Request, String>)> {
    if std::env::args().nth(1).as_deref() == Some("manifest") {
        print!("{}", about.manifest());
        return None;
    }
    Some(Bench::open(BufReader::new(stdin()), stdout(), about))
}

fn serve(bench: &mut Bench, mut ends: impl Ends) -> Result<(), String> {
    let mut now = 0;
    let mut opened = true;
    while let Step::Run { until, arrivals } = bench.step()? {
        // Where nothing happens the ends are left alone: some pacers count from when they are asked.
        let mut happens = std::mem::take(&mut opened) || !arrivals.is_empty();
        for packet in arrivals {
            ends.deliver(now, packet)?;
        }
        let mut idle = 0;
        loop {
            if happens {
                ends.turn(now, bench)?;
                if bench.has_sent() {
                    break;
                }
            }
            let due = ends.due().filter(|&due| due <= until.max(now));
            happens = due.is_some();
            match due {
                Some(due) if due > now => {
                    idle = 0;
                    now = due;
                }
                Some(_) => {
                    idle += 1;
                    if idle > IDLE_TURNS {
                        return Err(format!("the stack's timer does not advance at {now} ns"));
                    }
                }
                None if now < until => now = until,
                None => break,
            }
        }
        bench.at(now, ends.received())?;
    }
    let end = End { received: ends.received(), sent: bench.sent(), ..ends.end() };
    bench.end(&end)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::bench::Side;

    /// A client that sends a packet of one octet every 10 ns; the server answers none.
    struct Clockwork {
        due: u64,
        received: u64,
        again: u64,
    }

    impl Ends for Clockwork {
        fn open(_: &Request, _: &About) -> Result<Self, String> {
            Ok(Clockwork { due: 0, received: 0, again: 0 })
        }

        fn deliver(&mut self, _: u64, packet: Packet) -> Result<(), String> {
            self.received += packet.data.len() as u64;
            self.again += u64::from(packet.again);
            Ok(())
        }

        fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
            if self.due <= now {
                self.due = now + 10;
                bench.send(Side::Client, vec![0], 28);
            }
            Ok(())
        }

        fn due(&mut self) -> Option<u64> {
            Some(self.due)
        }

        fn received(&self) -> u64 {
            self.received
        }

        fn end(&mut self) -> End {
            End { discarded: Some(self.again), ..End::default() }
        }
    }

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").write(data)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("text")
        }
    }

    fn about() -> About {
        About {
            name: "clockwork",
            version: "clockwork 1".to_owned(),
            about: "one octet every 10 ns",
            controls: &["none"],
            settings: &[],
        }
    }

    fn answers(lines: &'static str) -> (String, Result<(), String>) {
        let written = Written::default();
        let (mut bench, request) = Bench::open(lines.as_bytes(), written.clone(), &about());
        let outcome = request.and_then(|request| {
            let ends = Clockwork::open(&request, &about())?;
            serve(&mut bench, ends)
        });
        (written.text(), outcome)
    }

    #[test]
    fn time_stops_at_a_packet_and_at_until() {
        let lines =
            "{\"protocol\": 1, \"mtu\": 1500}\nrun 100\nrun 0 0\nrun 4\nrun 10\nrun 12 1 0\nend\n";
        let (text, outcome) = answers(lines);
        assert_eq!(outcome, Ok(()));
        let expected = "at 0 0 c29\nat 0 1\nat 4 1\nat 10 1 c29\nat 12 3\n\
            {\"received\":3,\"sent\":2,\"lost\":0,\"spurious\":null,\"discarded\":1}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_packet_that_the_path_does_not_carry_has_no_number() {
        let written = Written::default();
        let request = &b"{\"protocol\": 1, \"mtu\": 1400}\n"[..];
        let (mut bench, _) = Bench::open(request, written.clone(), &about());
        bench.send(Side::Client, vec![0; 1373], 28);
        bench.send(Side::Client, vec![0; 1372], 28);
        assert_eq!(bench.sent(), 1);
        assert_eq!(bench.at(0, 0), Ok(()));
        assert_eq!(written.text(), "at 0 0 c1400\n");
    }

    #[test]
    fn what_breaks_the_protocol_is_an_error() {
        let outcome = |lines| answers(lines).1.expect_err("an error");
        let start = outcome("run 5\n");
        assert!(start.starts_with("the first line is not a request"));
        assert_eq!(
            outcome("{\"protocol\": 1, \"mtu\": 1500}\nrun 5 7\n"),
            "packet 7 has not been sent"
        );
        assert_eq!(
            outcome("{\"protocol\": 1, \"mtu\": 1500}\nrun 0\nrun 8\nrun 3\n"),
            "run 3: the clock is at 8"
        );
        assert_eq!(
            outcome("{\"protocol\": 1, \"mtu\": 1500}\nrun 5\n"),
            "the bench closed its line"
        );
    }
}
