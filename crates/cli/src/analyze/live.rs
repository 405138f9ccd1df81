//! Capture of an interface while its packets pass.

use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use unruffled_capture::{Analyzer, Limits, RunningTotals};
use unruffled_live::Live;
use unruffled_units::count;

use super::{Arguments, Read, check, conclude, finish, limits};
use crate::interrupt::Interrupt;

/// Interval between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Longest time for which packets that have come before the end are still read.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of calls that receive packets between two looks at the clock.
const CALLS_AT_ONCE: u32 = 64;

/// Parses the time of a capture.
pub(super) fn span(text: &str) -> Result<unruffled_units::Duration, String> {
    let span = unruffled_units::parse_duration(text).map_err(|error| error.to_string())?;
    let is_positive = span > unruffled_units::Duration::ZERO;
    is_positive.then_some(span).ok_or_else(|| format!("expected more than 0 s, found {text:?}"))
}

/// Captures `interface` and shows the verdict.
pub(super) fn main(arguments: &Arguments, interface: &str) -> ExitCode {
    if let Err(error) = check(arguments, None) {
        return crate::refuse(error);
    }
    match capture(arguments, interface) {
        Ok(read) => finish(conclude(arguments, interface, read)),
        Err(error) => crate::refuse(format!("analyze: {error}")),
    }
}

/// Captures up to an interrupt or to the end of the time.
fn capture(arguments: &Arguments, interface: &str) -> Result<Read, String> {
    let live = Live::open(interface, arguments.promiscuous).map_err(|error| error.to_string())?;
    let (interrupt, wake) = Interrupt::watch().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let span = arguments.span.map(|span| Duration::from_nanos(span.as_nanos()));
    // A time beyond the clock's range has no end.
    let end = span.and_then(|span| begun.checked_add(span));
    let limit = arguments.span.map_or(String::new(), |span| format!(" for {span}"));
    crate::print_notice(&format!("capturing {interface}{limit}; Ctrl-C ends it"));
    let mut session = Session::new(live, limits(arguments), begun);
    let damage = session.run(&interrupt, &wake, end);
    let dropped = session.drops()?;
    let lack = (dropped > 0).then(|| format!("the kernel dropped {}", count(dropped, "packet")));
    let damage = damage.err().or(lack);
    // The interrupt is the usual end of a capture.
    Ok(Read { found: session.analyzer.finish(), damage, interrupt: Interrupt::default() })
}

/// A capture in progress.
struct Session {
    live: Live,
    analyzer: Analyzer,
    begun: Instant,
    next_line: Instant,
    earlier: RunningTotals,
    earlier_drops: u64,
}

impl Session {
    fn new(live: Live, limits: Limits, begun: Instant) -> Self {
        Self {
            live,
            analyzer: Analyzer::new(limits),
            begun,
            next_line: begun + LINE_INTERVAL,
            earlier: RunningTotals::default(),
            earlier_drops: 0,
        }
    }

    /// Captures up to an interrupt or to `end`. The error is the reason of an earlier end.
    fn run(
        &mut self,
        interrupt: &Interrupt,
        wake: &UnixStream,
        end: Option<Instant>,
    ) -> Result<(), String> {
        while !interrupt.has_arrived() && end.is_none_or(|end| Instant::now() < end) {
            let deadline = end.map_or(self.next_line, |end| end.min(self.next_line));
            self.wait(wake, deadline)?;
            self.receive()?;
            if Instant::now() >= self.next_line {
                self.print_line()?;
            }
        }
        let limit = Instant::now() + DRAIN_TIMEOUT;
        while self.receive()? && Instant::now() < limit {}
        Ok(())
    }

    /// Waits for packets, for an interrupt, or for `deadline`.
    fn wait(&self, wake: &UnixStream, deadline: Instant) -> Result<(), String> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let mut polled = [PollFd::new(&self.live, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Receives packets that have come. Returns whether more may have come.
    fn receive(&mut self) -> Result<bool, String> {
        for _ in 0..CALLS_AT_ONCE {
            let analyzer = &mut self.analyzer;
            let received = self.live.receive(|frame| analyzer.frame(frame));
            if received.map_err(|error| error.to_string())? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn drops(&mut self) -> Result<u64, String> {
        self.live.drops().map_err(|error| error.to_string())
    }

    /// Prints what passed since the last line.
    fn print_line(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let seconds = now.duration_since(self.next_line - LINE_INTERVAL).as_secs_f64();
        let totals = self.analyzer.so_far();
        let drops = self.drops()?;
        let elapsed = now.duration_since(self.begun).as_secs();
        let line = line(elapsed, seconds, &totals, &self.earlier, drops - self.earlier_drops);
        crate::print_notice(&line);
        self.earlier = totals;
        self.earlier_drops = drops;
        self.next_line = now + LINE_INTERVAL;
        Ok(())
    }
}

/// Returns the line for the `seconds` since the line before.
fn line(
    elapsed: u64,
    seconds: f64,
    now: &RunningTotals,
    earlier: &RunningTotals,
    drops: u64,
) -> String {
    let packets = now.frames - earlier.frames;
    let megabits = (now.bytes - earlier.bytes) as f64 * 8.0 / seconds / 1e6;
    // A packet that counted as late may turn out to be a retransmission.
    let late = now.late.saturating_sub(earlier.late);
    let resent = now.retransmitted.saturating_sub(earlier.retransmitted);
    format!(
        "{elapsed:>4} s  {packets:>8} packets  {:>6} flows  {megabits:>9.2} Mb/s  {late:>6} late  \
         {resent:>6} retransmitted  {drops:>6} dropped by the kernel",
        now.flows
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_packets_since_the_line_before() {
        let earlier =
            RunningTotals { frames: 100, bytes: 1000, flows: 2, late: 5, retransmitted: 1 };
        let now =
            RunningTotals { frames: 350, bytes: 251_000, flows: 3, late: 4, retransmitted: 8 };
        let line = line(7, 2.0, &now, &earlier, 9);
        let words: Vec<&str> = line.split_whitespace().collect();
        let expected =
            "7 s 250 packets 3 flows 1.00 Mb/s 0 late 7 retransmitted 9 dropped by the kernel";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_capture_takes_some_time() {
        for text in ["0 s", "0", "-1 s", "soon"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert_eq!(span("90 s"), Ok(unruffled_units::Duration::from_secs(90)));
    }
}
