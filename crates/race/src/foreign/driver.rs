//! A driver's process, and the lines that go back and forth (`peers/stacks/PROTOCOL.md`).

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant as RealInstant};

use serde::{Deserialize, Serialize};
use unruffled_path::Direction;
use unruffled_units::Instant;

use super::{Manifest, Totals};

/// Version of the protocol.
const PROTOCOL: u32 = 1;

/// Real time without an answer after which a driver is killed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest line of a driver, in octets.
const MAX_LINE: u64 = 1 << 20;

/// Largest IP packet, in octets.
const MAX_PACKET: u32 = 65_535;

/// What a driver is asked for at its start.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request {
    protocol: u32,
    control: Option<String>,
    seed: u64,
    octets: Option<u64>,
    mtu: u16,
    settings: serde_json::Map<String, serde_json::Value>,
}

impl Request {
    /// Returns a request for a transfer of `octets`, or of one without end.
    pub(crate) fn new(
        control: Option<&str>,
        settings: &[(String, String)],
        seed: u64,
        octets: Option<u64>,
        mtu: u16,
    ) -> Self {
        let settings = settings.iter().map(|(key, value)| (key.clone(), value.clone().into()));
        let settings = settings.collect();
        let control = control.map(str::to_owned);
        Self { protocol: PROTOCOL, control, seed, octets, mtu, settings }
    }
}

/// The answer to a [`Request`].
#[derive(Debug, Deserialize)]
struct Hello {
    #[serde(default)]
    protocol: u32,
    #[serde(default)]
    error: Option<String>,
}

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

/// A driver that runs. It is killed when it is dropped.
pub(crate) struct Driver {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The line to write, and then the answer.
    line: String,
    /// Number of answers so far, for the watchdog.
    answers: Arc<AtomicU64>,
    /// Its end stops the watchdog.
    _running: Sender<()>,
}

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
        let (program, arguments) =
            manifest.command.split_first().ok_or_else(|| Error::other("no command"))?;
        let folder = manifest.folder.canonicalize()?;
        let path = if program.contains('/') { folder.join(program) } else { program.into() };
        let mut child = Command::new(&path)
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| Error::other(format!("{}: {e}", path.display())))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::other("no pipes"));
        };
        let child = Arc::new(Mutex::new(child));
        let answers = Arc::new(AtomicU64::new(0));
        let running = watch(limit, Arc::clone(&child), Arc::clone(&answers));
        let output = BufReader::new(output);
        let mut driver =
            Self { child, input, output, line: String::new(), answers, _running: running };
        let request = serde_json::to_string(request)?;
        driver.line.push_str(&request);
        let Hello { protocol, error } = driver.json()?;
        match error {
            Some(error) => Err(Error::other(error)),
            None if protocol == PROTOCOL => Ok(driver),
            None => Err(Error::other(format!(
                "the driver has protocol {protocol}: expected {PROTOCOL}; build it again"
            ))),
        }
    }

    /// Delivers packets, and lets time pass until `until` or until something is sent.
    ///
    /// # Errors
    /// If the driver ends, or answers with anything else than the protocol demands.
    pub(crate) fn run(&mut self, until: Instant, arrived: &[u64]) -> Result<Answer> {
        self.line.push_str("run ");
        let _ = write!(self.line, "{}", until.as_nanos());
        for id in arrived {
            let _ = write!(self.line, " {id}");
        }
        self.exchange()?;
        let answer = Answer::parse(&self.line);
        let answer = answer.filter(|answer| answer.now <= until).ok_or_else(|| self.unexpected());
        self.line.clear();
        answer
    }

    /// Ends the transfer.
    ///
    /// # Errors
    /// As [`run`](Self::run); and if octets arrived that were not sent.
    pub(crate) fn end(mut self) -> Result<Totals> {
        self.line.push_str("end");
        let totals: Totals = self.json()?;
        match totals.error {
            Some(error) => Err(Error::other(error)),
            None => Ok(totals),
        }
    }

    /// Writes the line, and reads a line of JSON.
    fn json<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T> {
        self.exchange()?;
        let value = serde_json::from_str(&self.line).map_err(|_| self.unexpected());
        self.line.clear();
        value
    }

    /// Writes the line, and replaces it by the answer.
    fn exchange(&mut self) -> Result<()> {
        self.line.push('\n');
        let ended = |_| Error::other("the driver ended early");
        self.input.write_all(self.line.as_bytes()).map_err(ended)?;
        self.line.clear();
        let mut output = self.output.by_ref().take(MAX_LINE);
        output.read_line(&mut self.line).map_err(ended)?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        match self.line.ends_with('\n') {
            true => Ok(()),
            false if self.line.len() as u64 == MAX_LINE => Err(self.unexpected()),
            false => Err(Error::other("the driver ended early, or did not answer in time")),
        }
    }

    /// Returns the error for an answer that the protocol does not have.
    fn unexpected(&self) -> Error {
        // A driver that finds a fault in the middle of a transfer names it as it does at its start.
        if let Ok(Hello { error: Some(error), .. }) = serde_json::from_str(&self.line) {
            return Error::other(error);
        }
        let beginning: String = self.line.trim_end().chars().take(60).collect();
        Error::other(format!("the driver answered {beginning:?}, which the protocol does not have"))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        kill(&self.child);
    }
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// Kills `child` if no answer comes for `limit`. The watch ends when the sender is dropped.
fn watch(limit: Duration, child: Arc<Mutex<Child>>, answers: Arc<AtomicU64>) -> Sender<()> {
    let (running, ended) = channel();
    thread::spawn(move || {
        let mut last = (0, RealInstant::now());
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(limit / 10) {
            let answers = answers.load(Ordering::Relaxed);
            if answers != last.0 {
                last = (answers, RealInstant::now());
            } else if last.1.elapsed() > limit {
                return kill(&child);
            }
        }
    });
    running
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
        let begun = RealInstant::now();
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
