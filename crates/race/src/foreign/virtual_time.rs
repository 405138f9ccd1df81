//! A transfer of a foreign stack in virtual time.

use std::io::{Error, Result};

use unruffled_lab::Scenario;
use unruffled_net::{Carried, Chain};
use unruffled_path::Direction;
use unruffled_resequence::Packet as Facts;
use unruffled_scenario::Traffic;
use unruffled_units::{Duration, Instant};

use super::Foreign;
use super::driver::{Driver, Request};
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
) -> Result<Transferred> {
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
    let (received, account) = bench.run(end, octets)?;
    let seconds = match length {
        Length::Time(time) => time,
        Length::Bytes(_) => received.last,
    };
    let seconds = seconds.as_secs_f64();
    Ok(Transferred { received, account, name: foreign.name(), seed, seconds })
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
    fn run(mut self, end: Option<Instant>, octets: Option<u64>) -> Result<(Received, Account)> {
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
        Ok((received, Account::Foreign { totals, path }))
    }

    /// Lets the stack run until it sends, until packets arrive, or until `end`. Tells `delivered` the time and
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
