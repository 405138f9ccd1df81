//! The bench as a driver sees it: steps come in, packets and times go out.

use std::collections::VecDeque;
use std::io::{BufRead, Write};

use crate::lines::{About, End, Request};

/// Packets that a driver keeps.
const KEPT: usize = 65_536;

/// One end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Opens the connection and sends.
    Client,
    /// Receives.
    Server,
}

/// A packet that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Who sent it.
    pub from: Side,
    /// Its octets, as the stack wrote them.
    pub data: Vec<u8>,
    /// True if it has arrived before.
    pub again: bool,
}

/// What the bench says next.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Packets arrive now; then time may pass until, and with, the instant `until`.
    Run {
        /// Nanoseconds since the start.
        until: u64,
        /// In the order of their arrival.
        arrivals: Vec<Packet>,
    },
    /// The run is over.
    End,
}

/// The bench's lines, and the packets that were sent.
pub struct Bench {
    input: Box<dyn BufRead + Send>,
    output: Box<dyn Write + Send>,
    line: String,
    packets: VecDeque<Packet>,
    /// Number of the first packet that is kept.
    first: u64,
    /// Packets of the answer under way.
    answer: String,
    now: u64,
    sent: u64,
    /// Largest IP packet that the path carries.
    mtu: usize,
}

impl Bench {
    /// A bench on these streams, and its request. A request that cannot be served is an error.
    pub fn open(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
        about: &About,
    ) -> (Bench, Result<Request, String>) {
        let mut bench = Bench {
            input: Box::new(input),
            output: Box::new(output),
            line: String::new(),
            packets: VecDeque::new(),
            first: 0,
            answer: String::new(),
            now: 0,
            sent: 0,
            mtu: usize::MAX,
        };
        let request = bench.read().and_then(|line| Request::read(&line, about));
        if let Ok(request) = &request {
            bench.mtu = request.mtu;
        }
        (bench, request)
    }

    /// Answers that the request is served, with `control`.
    pub fn start(&mut self, about: &About, control: &str) -> Result<(), String> {
        self.write(&about.answer(control))
    }

    /// The next step.
    pub fn step(&mut self) -> Result<Step, String> {
        let line = self.read()?;
        let mut words = line.split_ascii_whitespace();
        let until = match (words.next(), words.next()) {
            (Some("end"), None) => return Ok(Step::End),
            (Some("run"), Some(until)) => until,
            _ => return Err(format!("{line:?}: expected run UNTIL [ID…] or end")),
        };
        let number =
            |word: &str| word.parse::<u64>().map_err(|_| format!("{word:?}: expected a number"));
        let until = number(until)?;
        if until < self.now {
            return Err(format!("run {until}: the clock is at {}", self.now));
        }
        let mut arrivals = Vec::new();
        for word in words {
            let packet = self.packet(number(word)?)?;
            arrivals.push(packet.clone());
            packet.again = true;
        }
        Ok(Step::Run { until, arrivals })
    }

    fn packet(&mut self, id: u64) -> Result<&mut Packet, String> {
        let index = id
            .checked_sub(self.first)
            .ok_or_else(|| format!("packet {id} is older than the {KEPT} that are kept"))?;
        self.packets.get_mut(index as usize).ok_or_else(|| format!("packet {id} has not been sent"))
    }

    /// Sends a packet at the current instant; `headers` octets stand before `data` on the path. One
    /// that is larger than the path carries, such as a probe for its MTU, is lost before it has a
    /// number.
    pub fn send(&mut self, from: Side, data: Vec<u8>, headers: usize) {
        let length = data.len() + headers;
        if length > self.mtu {
            return;
        }
        let letter = match from {
            Side::Client => 'c',
            Side::Server => 's',
        };
        self.sent += u64::from(from == Side::Client);
        self.answer.push_str(&format!(" {letter}{length}"));
        self.packets.push_back(Packet { from, data, again: false });
        if self.packets.len() > KEPT {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    /// True if the answer under way has packets.
    pub fn has_sent(&self) -> bool {
        !self.answer.is_empty()
    }

    /// Packets of the client so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Ends the step: the clock is at `now`, and `received` octets have been read.
    pub fn at(&mut self, now: u64, received: u64) -> Result<(), String> {
        self.now = now;
        let line = format!("at {now} {received}{}", self.answer);
        self.answer.clear();
        self.write(&line)
    }

    /// Ends the run.
    pub fn end(&mut self, end: &End) -> Result<(), String> {
        let line = serde_json::to_string(end).map_err(|error| error.to_string())?;
        self.write(&line)
    }

    /// Ends the run with an error.
    pub fn fail(&mut self, error: &str) {
        let line = serde_json::json!({ "error": error }).to_string();
        // A bench that has gone needs no answer.
        let _ = self.write(&line);
    }

    fn read(&mut self) -> Result<String, String> {
        self.line.clear();
        match self.input.read_line(&mut self.line) {
            Ok(0) => Err("the bench closed its line".to_owned()),
            Ok(_) => Ok(self.line.trim_end().to_owned()),
            Err(error) => Err(format!("the bench's line: {error}")),
        }
    }

    fn write(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.output, "{line}")
            .and_then(|()| self.output.flush())
            .map_err(|error| format!("the bench's line: {error}"))
    }
}
