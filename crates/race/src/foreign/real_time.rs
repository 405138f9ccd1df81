//! A transfer of a foreign stack in real time, over the emulated path.

use std::io::{Error, Result};
use std::thread::sleep;
use std::time::{Duration, Instant};

use unruffled_lab::Scenario;
use unruffled_net::{Pair, Side};

use super::process::{ANSWER_TIMEOUT, Process, Request, Tun};
use super::{Foreign, Time, Totals};
use crate::entrant::port;
use crate::guest::{self, mtu};
use crate::length::Length;
use crate::outcome::{Account, Transferred};
use crate::transfer::{POLL_INTERVAL, Received, SLICE};

/// Time that a driver has beyond a transfer for its last line.
const END_MARGIN: Duration = Duration::from_secs(10);

/// Longest time of a transfer of a number of octets.
const MAX_TIME: Duration = Duration::from_secs(600);

/// A foreign stack whose receiver is ready.
pub(crate) struct RealTime<'a> {
    foreign: &'a Foreign,
    length: Length,
    seed: u64,
    pair: &'a Pair,
    receiver: Process,
    /// The request to the sender.
    request: Request,
    /// Address of the receiver.
    to: String,
}

impl<'a> RealTime<'a> {
    /// Starts the receiver of `foreign` at the right end.
    ///
    /// # Errors
    /// If a device cannot be created, or if the driver cannot be started or refuses the request.
    pub(crate) fn new(
        foreign: &'a Foreign,
        scenario: &Scenario,
        length: Length,
        pair: &'a Pair,
        seed: u64,
    ) -> std::result::Result<Self, crate::Error> {
        let octets = match length {
            Length::Bytes(octets) => Some(octets),
            Length::Time(_) => None,
        };
        let seconds = match length {
            Length::Time(time) => time,
            Length::Bytes(_) => MAX_TIME,
        };
        let control = foreign.control.as_deref();
        let mut request = Request::new(control, &foreign.settings, seed, octets, mtu(scenario));
        request.seconds = Some(seconds.as_secs_f64());
        let tun = |side: &Side| -> std::result::Result<(Request, String), crate::Error> {
            let mut request = request.clone();
            if foreign.manifest.time != Time::Tun {
                return Ok((request, side.v4.to_string()));
            }
            let (gateway, own) = guest::device(side, 0, mtu(scenario))?;
            let (gateway, address) = (gateway.to_string(), own.to_string());
            let name = "guest0".to_owned();
            request.tun = Some(Tun { name, address: address.clone(), gateway });
            Ok((request, address))
        };
        let (at_sender, _) = tun(&pair.left)?;
        let (at_receiver, to) = tun(&pair.right)?;
        let receiver = start(foreign, &pair.right, "receive", &to, seconds, &at_receiver);
        let receiver = receiver.map_err(crate::Error::system("the driver of the receiver"))?;
        Ok(Self { foreign, length, seed, pair, receiver, request: at_sender, to })
    }

    /// Runs the transfer.
    ///
    /// # Errors
    /// If a driver fails.
    pub(crate) fn run(self) -> Result<Transferred> {
        let Self { foreign, length, seed, pair, mut receiver, request, to } = self;
        let begun = Instant::now();
        let seconds = match length {
            Length::Time(time) => time,
            Length::Bytes(_) => MAX_TIME,
        };
        let mut sender = start(foreign, &pair.left, "send", &to, seconds, &request)?;
        if let Length::Time(time) = length {
            while begun.elapsed() < time {
                sleep(POLL_INTERVAL.min(time.saturating_sub(begun.elapsed())));
            }
            receiver.line.clear();
            receiver.line.push_str("end");
            receiver.write()?;
        }
        let received = receiver.json::<Totals>()?.checked()?;
        let taken = begun.elapsed();
        sender.line.clear();
        sender.line.push_str("end");
        sender.write()?;
        let sent = sender.json::<Totals>()?.checked()?;
        if let Length::Bytes(octets) = length
            && received.received < octets
        {
            return Err(Error::other(format!("{} of {octets} octets arrived", received.received)));
        }
        let full = received.slices.iter().rposition(|octets| *octets > 0);
        let last = full.map_or(Duration::ZERO, |slice| SLICE * (slice as u32 + 1)).min(taken);
        let octets = received.received;
        let slices = received.slices.clone();
        let arrived = Received { octets, last, slices, complete: true, ..Received::default() };
        let seconds = match length {
            Length::Time(time) => time,
            Length::Bytes(_) => taken,
        };
        let totals = Totals { discarded: received.discarded, received: octets, ..sent };
        Ok(Transferred {
            received: arrived,
            account: Account::Foreign(totals),
            name: foreign.name(),
            seed,
            seconds: seconds.as_secs_f64(),
        })
    }
}

/// Starts a driver in the namespace of an end.
fn start(
    foreign: &Foreign,
    side: &Side,
    role: &str,
    to: &str,
    seconds: Duration,
    request: &Request,
) -> Result<Process> {
    let mut command = Process::command(&foreign.manifest)?;
    command.args([role, to, &port(0).to_string()]);
    let child = side.namespace.spawn(&mut command).map_err(Error::other)?;
    Process::open(child, ANSWER_TIMEOUT.max(seconds + END_MARGIN), request)
}
