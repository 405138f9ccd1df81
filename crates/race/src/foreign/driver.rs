//! A driver in virtual time.

use std::fmt::Write as _;
use std::io::{Error, Result};
use std::time::Duration;

use unruffled_path::Direction;
use unruffled_units::Instant;

use super::process::{ANSWER_TIMEOUT, Process, Request};
use super::{Manifest, Totals};

/// Largest IP packet, in octets.
const MAX_PACKET: u32 = 65_535;

/// The answer to a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Time of the driver's clock.
    pub(crate) now: Instant,
    /// Octets that the receiving application has read.
    pub(crate) received: u64,
    /// Packets sent now: their direction and their size in octets.
    pub(crate) sent: Vec<(Direction, u32)>,
}

impl Answer {
    /// Parses `at NOW RECEIVED [PACKET…]`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        if words.next()? != "at" {
            return None;
        }
        let now = Instant::from_nanos(words.next()?.parse().ok()?);
        let received = words.next()?.parse().ok()?;
        let packet = |word: &str| {
            let (direction, size) = match word.split_at_checked(1)? {
                ("c", size) => (Direction::Forward, size),
                ("s", size) => (Direction::Reverse, size),
                _ => return None,
            };
            let size = size.parse().ok()?;
            (1..=MAX_PACKET).contains(&size).then_some((direction, size))
        };
        let sent = words.map(packet).collect::<Option<_>>()?;
        Some(Self { now, received, sent })
    }
}

/// A driver that runs.
pub(crate) struct Driver(Process);

impl Driver {
    /// Starts a driver.
    ///
    /// # Errors
    /// If the program cannot be started, or refuses the request.
    pub(crate) fn start(manifest: &Manifest, request: &Request) -> Result<Self> {
        Self::start_within(ANSWER_TIMEOUT, manifest, request)
    }

    /// [`Self::start`] with a limit on the time for an answer.
    fn start_within(limit: Duration, manifest: &Manifest, request: &Request) -> Result<Self> {
        let mut command = Process::command(manifest)?;
        let path = command.get_program().to_owned();
        let child = command.spawn();
        let child = child.map_err(|e| Error::other(format!("{}: {e}", path.display())))?;
        Process::open(child, limit, request).map(Self)
    }

    /// Delivers packets, and lets time pass until `until` or until something is sent.
    ///
    /// # Errors
    /// If the driver ends, or answers with anything else than the protocol demands.
    pub(crate) fn run(&mut self, until: Instant, arrived: &[u64]) -> Result<Answer> {
        let Self(process) = self;
        process.line.clear();
        let _ = write!(process.line, "run {}", until.as_nanos());
        for id in arrived {
            let _ = write!(process.line, " {id}");
        }
        process.write()?;
        process.read()?;
        let answer = Answer::parse(&process.line).filter(|answer| answer.now <= until);
        answer.ok_or_else(|| process.unexpected())
    }

    /// Ends the transfer.
    ///
    /// # Errors
    /// As [`run`](Self::run); and if octets arrived that were not sent.
    pub(crate) fn end(self) -> Result<Totals> {
        let Self(mut process) = self;
        process.line.clear();
        process.line.push_str("end");
        process.write()?;
        process.json::<Totals>()?.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Time;
    use super::*;

    /// A driver that is a shell script.
    fn script(text: &str) -> Manifest {
        Manifest {
            name: "script".to_owned(),
            version: "script 1".to_owned(),
            about: "a script".to_owned(),
            time: Time::Virtual,
            controls: vec!["reno".to_owned()],
            settings: Vec::new(),
            command: vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()],
            folder: ".".into(),
        }
    }

    fn start(text: &str) -> Result<Driver> {
        let request = Request::new(None, &[], 1, None, 1500);
        Driver::start_within(Duration::from_millis(500), &script(text), &request)
    }

    const HELLO: &str = r#"read request; echo '{"protocol":1}'; read step;"#;

    fn error(text: &str) -> String {
        let step = start(text).and_then(|mut d| d.run(Instant::from_nanos(100), &[]));
        step.expect_err(text).to_string()
    }

    #[test]
    fn an_answer_has_its_time_and_its_packets() {
        let mut driver = start(&format!("{HELLO} echo at 90 1200 c1280 s60")).expect("starts");
        let answer = driver.run(Instant::from_nanos(100), &[3, 4]).expect("is valid");
        let sent = vec![(Direction::Forward, 1280), (Direction::Reverse, 60)];
        assert_eq!(answer, Answer { now: Instant::from_nanos(90), received: 1200, sent });
    }

    #[test]
    fn what_a_driver_does_wrong_is_one_line() {
        for (answer, expected) in [
            ("echo at 101 0", "the driver answered \"at 101 0\", which the protocol does not have"),
            ("echo at 90 0 x1280", "answered \"at 90 0 x1280\""),
            ("echo at 90 0 c0", "answered \"at 90 0 c0\""),
            ("echo at 90 0 c65536", "answered"),
            ("echo nothing", "answered \"nothing\""),
            (r#"echo '{"error": "octet 7 differs"}'"#, "octet 7 differs"),
            ("exit 1", "the driver ended early"),
            ("head -c 1048577 /dev/zero", "answered"),
        ] {
            let error = error(&format!("{HELLO} {answer}"));
            assert!(error.contains(expected) && !error.contains('\n'), "{answer}: {error}");
        }
    }

    #[test]
    fn a_driver_that_refuses_is_told() {
        let refusal = r#"read request; echo '{"error": "no control bbr"}'"#;
        assert_eq!(error(refusal), "no control bbr");
        let old = r#"read request; echo '{"protocol": 0}'"#;
        assert_eq!(error(old), "the driver has protocol 0: expected 1; build it again");
    }

    #[test]
    fn a_driver_that_does_not_answer_is_killed() {
        let begun = std::time::Instant::now();
        let error = error(&format!("{HELLO} exec sleep 60"));
        assert_eq!(error, "the driver ended early, or did not answer in time");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_request_is_one_line_of_json() {
        let settings = [("packet_threshold".to_owned(), "10".to_owned())];
        let request = Request::new(Some("bbr"), &settings, 7, None, 1500);
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            r#"{"protocol":1,"control":"bbr","seed":7,"octets":null,"mtu":1500,"settings":{"packet_threshold":"10"}}"#
        );
    }
}
