//! A transfer of a foreign stack in virtual time.

use std::io::{Error, Result};

use unruffled_lab::Scenario;
use unruffled_net::{Carried, Chain, Counts};
use unruffled_path::Direction;
use unruffled_resequence::Packet as Facts;
use unruffled_scenario::Traffic;
use unruffled_units::{Duration, Instant};

use super::driver::Driver;
use super::process::Request;
use super::{Foreign, Totals};
use crate::entrant::port;
use crate::guest::mtu;
use crate::length::Length;
use crate::outcome::{Account, Transferred};
use crate::paths::paths;
use crate::transfer::Received;

/// A packet of a foreign stack: its number in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id(u64);

impl Carried for Id {
    /// What a QUIC stack sends is encrypted, so no resequencer can order it.
    fn facts(&self) -> Option<Facts> {
        None
    }
}

/// Number of packets that a driver keeps.
const KEPT_PACKETS: u64 = 65_536;

/// Number of steps at one instant after which a transfer fails.
const MAX_STEPS: u32 = 1_000_000;

/// Virtual time without new data after which a transfer of a number of octets fails.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs a transfer of `group`'s traffic over the scenario's path.
///
/// # Errors
/// If the driver fails, or if no data arrives for long.
pub(crate) fn run(
    scenario: &Scenario,
    group: &Traffic,
    seed: u64,
    length: Length,
    foreign: &Foreign,
) -> Result<(Transferred, Counts)> {
    let paths = paths(scenario, seed, [(group, port(0))]);
    let both = [Direction::Forward, Direction::Reverse];
    let chain = Chain::over(&paths, &both).map_err(Error::other)?;
    let octets = match length {
        Length::Bytes(octets) => Some(octets),
        Length::Time(_) => None,
    };
    let control = foreign.control.as_deref();
    let request = Request::new(control, &foreign.settings, seed, octets, mtu(scenario));
    let driver = Driver::start(&foreign.manifest, &request)?;
    let end = match length {
        Length::Time(time) => Some(Instant::from_nanos(time.as_nanos() as u64)),
        Length::Bytes(_) => None,
    };
    let bench = Bench { driver, chain, now: Instant::ZERO, sent: 0, arrived: Vec::new() };
    let (received, totals, path) = bench.run(end, octets)?;
    let seconds = match length {
        Length::Time(time) => time,
        Length::Bytes(_) => received.last,
    };
    let seconds = seconds.as_secs_f64();
    let account = Account::Foreign(totals);
    Ok((Transferred { received, account, name: foreign.name(), seed, seconds }, path))
}

/// A driver and the path of its packets.
struct Bench {
    driver: Driver,
    chain: Chain<Id>,
    now: Instant,
    /// Number of packets sent so far, in both directions.
    sent: u64,
    /// Packets that arrive now.
    arrived: Vec<u64>,
}

impl Bench {
    fn run(
        mut self,
        end: Option<Instant>,
        octets: Option<u64>,
    ) -> Result<(Received, Totals, Counts)> {
        let mut received = Received::default();
        let mut last = Instant::ZERO;
        let mut steps = 0;
        loop {
            let before = self.now;
            let now = self.step(end.unwrap_or(last + STALL_TIMEOUT), |now, total| {
                if total > received.octets {
                    received.add(
                        std::time::Duration::from_nanos(now.as_nanos()),
                        total - received.octets,
                    );
                    last = now;
                }
            })?;
            let is_complete = octets.is_some_and(|octets| received.octets >= octets);
            if is_complete || (self.arrived.is_empty() && end.is_some_and(|end| now >= end)) {
                break;
            }
            if end.is_none() && now >= last + STALL_TIMEOUT {
                return Err(Error::other(format!("nothing has arrived for {STALL_TIMEOUT}")));
            }
            steps = if now > before { 0 } else { steps + 1 };
            if steps > MAX_STEPS {
                return Err(Error::other(format!("the stack sends without end at {now}")));
            }
        }
        received.complete = true;
        let path = self.chain.counts_in(Direction::Forward);
        let totals = self.driver.end()?;
        Ok((received, totals, path))
    }

    /// Lets the stack run until it sends, until packets arrive, or until `end`. `delivered` receives the time and
    /// the octets received so far.
    fn step(&mut self, end: Instant, delivered: impl FnOnce(Instant, u64)) -> Result<Instant> {
        let until = self.chain.due().map_or(end, |due| due.min(end)).max(self.now);
        let answer = self.driver.run(until, &self.arrived)?;
        if answer.now < self.now {
            return Err(Error::other("the driver's clock went back"));
        }
        self.now = answer.now;
        delivered(answer.now, answer.received);
        for (direction, size) in answer.sent {
            self.chain.offer_in(direction, Id(self.sent), size, self.now);
            self.sent += 1;
        }
        self.arrived.clear();
        while let Some(departure) = self.chain.depart(self.now) {
            let Id(id) = departure.packet;
            if self.sent - id > KEPT_PACKETS {
                return Err(Error::other(format!(
                    "packet {id} arrives after {KEPT_PACKETS} newer ones, which no driver keeps"
                )));
            }
            self.arrived.push(id);
        }
        Ok(self.now)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{fs, process};

    use super::super::{Manifest, Time};
    use super::*;

    /// 10 Mb/s, 25 ms each way, every second packet 20 ms late.
    const PATH: &str = "duration = '1 s'\nvariants = ['sack']\n[path]\nhops = ['a']\n[link.a]\n\
                        rate = '10 Mbit/s'\ndelay = '25 ms'\nalternate.every = 2\n\
                        alternate.extra = '20 ms'\nalternate.packets = 'data'\n";

    /// Runs a driver that is a shell script, and returns the lines that it received. In the script, `$until` and `$ids`
    /// are the words of a step; it answers once for each.
    fn played(
        name: &str,
        answers: &str,
        length: Length,
    ) -> (Result<(Transferred, Counts)>, Vec<String>) {
        let log = std::env::temp_dir().join(format!("unruffled-{name}-{}", process::id()));
        let _ = fs::remove_file(&log);
        let text = format!(
            "read request; echo '{{\"protocol\": 1}}'; n=0; while read verb until ids; do\n\
             echo \"$verb $until $ids\" >> {}; n=$((n + 1)); case \"$verb\" in\n\
             end) echo '{{\"received\": 2400, \"sent\": 3, \"lost\": 1}}'; exit;; esac\n\
             {answers}\ndone",
            log.display()
        );
        let manifest = Manifest {
            name: "script".to_owned(),
            version: "script 1".to_owned(),
            about: "a script".to_owned(),
            time: Time::Virtual,
            controls: vec!["reno".to_owned()],
            settings: Vec::new(),
            command: vec!["sh".to_owned(), "-c".to_owned(), text],
            folder: PathBuf::from("."),
        };
        let foreign = Foreign { manifest, control: None, settings: Vec::new() };
        let scenario = Scenario::parse("test", PATH, &[]).expect("is valid");
        let transferred = run(&scenario, &scenario.traffic[0], 1, length, &foreign);
        let lines = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        (transferred, lines.lines().map(|line| line.trim_end().to_owned()).collect())
    }

    const END: Length = Length::Time(std::time::Duration::from_millis(200));

    #[test]
    fn packets_arrive_when_the_path_delivers_them() {
        // 1250 octets take 1 ms at 10 Mb/s. The second packet is 20 ms late, so the third arrives before it.
        let answers = "case $n in 1) echo at 0 0 c1250 c1250 c1250;; \
                       2) echo at $until 0 s125;; 3) echo at $until 1200;; \
                       *) echo at $until 1200;; esac";
        let (transferred, lines) = played("order", answers, END);
        let expected = [
            // Nothing is on the path.
            "run 200000000",
            "run 26000000",
            // The first arrives, and its acknowledgement of 0.1 ms will arrive at 51.1 ms.
            "run 28000000 0",
            "run 47000000 2",
            "run 51100000 1",
            "run 200000000 3",
            "end",
        ];
        assert_eq!(lines, expected);
        let (transferred, path) = transferred.expect("ends");
        assert_eq!(transferred.received.octets, 1200);
        assert_eq!(transferred.received.last, std::time::Duration::from_millis(28));
        let Account::Foreign(totals) = transferred.account else { panic!("is foreign") };
        assert_eq!((totals.sent, totals.lost, totals.spurious), (3, 1, None));
        assert_eq!((path.offered, path.delivered, path.overtaken), (3, 3, 1));
    }

    #[test]
    fn a_transfer_of_octets_ends_when_they_have_arrived() {
        let answers = "case $n in 1) echo at 0 0 c1250;; 3) echo at $until 1200;; \
                       *) echo at $until 0;; esac";
        let (transferred, lines) = played("octets", answers, Length::Bytes(1200));
        // Without anything on the path, the transfer would fail 120 s after the last octet.
        assert_eq!(lines, ["run 120000000000", "run 26000000", "run 120000000000 0", "end"]);
        assert!(transferred.expect("ends").0.received.complete);
    }

    #[test]
    fn a_transfer_that_stalls_fails() {
        let (transferred, _) = played("stall", "echo at $until 0", Length::Bytes(1200));
        let error = transferred.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("nothing has arrived for 120 s"));
    }

    #[test]
    fn a_clock_that_goes_back_fails() {
        let answers = "case $n in 1) echo at 5 0 c1250;; *) echo at 4 0;; esac";
        let (transferred, _) = played("back", answers, END);
        let error = transferred.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("the driver's clock went back"));
    }
}
