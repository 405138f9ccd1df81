//! A driver's process, and the lines that go back and forth (`peers/stacks/PROTOCOL.md`).

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Manifest;

/// Version of the protocol.
const PROTOCOL: u32 = 1;

/// Real time without an answer after which a driver is killed.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest line of a driver, in octets.
const MAX_LINE: u64 = 1 << 20;

/// What a driver is asked for at its start.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request {
    protocol: u32,
    control: Option<String>,
    seed: u64,
    octets: Option<u64>,
    mtu: u16,
    settings: serde_json::Map<String, serde_json::Value>,
    /// Length of a transfer in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// Device of a stack that has no sockets of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tun: Option<Tun>,
}

/// A TUN device for a driver.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tun {
    pub(crate) name: String,
    /// Address of the stack.
    pub(crate) address: String,
    /// Address of the kernel at the other end of the device.
    pub(crate) gateway: String,
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
        let (seconds, tun) = (None, None);
        Self { protocol: PROTOCOL, control, seed, octets, mtu, settings, seconds, tun }
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

/// A driver that runs. It is killed when it is dropped.
pub(super) struct Process {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The line to write, and then the answer.
    pub(super) line: String,
    /// Number of answers so far, for the watchdog.
    answers: Arc<AtomicU64>,
    /// Its end stops the watchdog.
    _running: Sender<()>,
}

impl Process {
    /// Returns the command that starts a driver, with pipes to it.
    ///
    /// # Errors
    /// If the manifest's folder does not exist.
    pub(super) fn command(manifest: &Manifest) -> Result<Command> {
        let (program, arguments) =
            manifest.command.split_first().ok_or_else(|| Error::other("no command"))?;
        let folder = manifest.folder.canonicalize()?;
        let path = if program.contains('/') { folder.join(program) } else { program.into() };
        let mut command = Command::new(path);
        command.args(arguments).current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(command)
    }

    /// Sends the request to a driver, which is killed if an answer takes longer than `limit`.
    ///
    /// # Errors
    /// If the driver refuses the request.
    pub(super) fn open(mut child: Child, limit: Duration, request: &Request) -> Result<Self> {
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::other("no pipes"));
        };
        let child = Arc::new(Mutex::new(child));
        let answers = Arc::new(AtomicU64::new(0));
        let running = watch(limit, Arc::clone(&child), Arc::clone(&answers));
        let output = BufReader::new(output);
        let line = serde_json::to_string(request)?;
        let mut process = Self { child, input, output, line, answers, _running: running };
        process.write()?;
        let Hello { protocol, error } = process.json()?;
        match error {
            Some(error) => Err(Error::other(error)),
            None if protocol == PROTOCOL => Ok(process),
            None => Err(Error::other(format!(
                "the driver has protocol {protocol}: expected {PROTOCOL}; build it again"
            ))),
        }
    }

    /// Writes the line.
    pub(super) fn write(&mut self) -> Result<()> {
        self.line.push('\n');
        let written = self.input.write_all(self.line.as_bytes());
        self.line.clear();
        // What a driver said before it ended is of more use than that it ended.
        match written {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Reads an answer into the line.
    pub(super) fn read(&mut self) -> Result<()> {
        self.line.clear();
        let mut output = self.output.by_ref().take(MAX_LINE);
        output.read_line(&mut self.line).map_err(|_| self.unexpected())?;
        self.answers.fetch_add(1, Ordering::Relaxed);
        match self.line.ends_with('\n') {
            true => Ok(()),
            false if self.line.len() as u64 == MAX_LINE => Err(self.unexpected()),
            false => Err(Error::other("the driver ended early, or did not answer in time")),
        }
    }

    /// Reads a line of JSON.
    pub(super) fn json<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T> {
        self.read()?;
        let value = serde_json::from_str(&self.line).map_err(|_| self.unexpected());
        self.line.clear();
        value
    }

    /// Returns the error for an answer that the protocol does not have.
    pub(super) fn unexpected(&self) -> Error {
        // A driver that finds a fault in the middle of a transfer names it as it does at its start.
        if let Ok(Hello { error: Some(error), .. }) = serde_json::from_str(&self.line) {
            return Error::other(error);
        }
        let beginning: String = self.line.trim_end().chars().take(60).collect();
        Error::other(format!("the driver answered {beginning:?}, which the protocol does not have"))
    }
}

impl Drop for Process {
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
        let mut last = (0, Instant::now());
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(limit / 10) {
            let answers = answers.load(Ordering::Relaxed);
            if answers != last.0 {
                last = (answers, Instant::now());
            } else if last.1.elapsed() > limit {
                return kill(&child);
            }
        }
    });
    running
}
