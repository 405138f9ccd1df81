//! The calls of applications and the checks of their results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};

use unruffled_stack::codec::Arrival;
use unruffled_stack::{ConnectionId, Options};
use unruffled_tcp::{KeepAlive, SeqNr, State};
use unruffled_units::Duration;

use super::peer::Peer;
use super::{World, octet};
use crate::input::Input;

/// Maximum number of connections that applications hold.
const MAX_CONNECTIONS: usize = 6;

/// A waker that stores that it was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection that an application holds.
pub(super) struct Held {
    pub(super) id: ConnectionId,
    written: u64,
    /// The peer's number of the stream's first octet, once it is known.
    first: Option<SeqNr>,
    /// The waker of a pending read.
    reader: Option<Arc<Flag>>,
    /// The waker of a pending wait for acknowledgement.
    flusher: Option<Arc<Flag>>,
}

/// Checks that a call that was pending before has been woken if it is no longer pending.
fn check_woken<T>(waits: &mut Option<Arc<Flag>>, flag: Arc<Flag>, outcome: &Poll<T>) {
    if outcome.is_pending() {
        *waits = Some(flag);
    } else if let Some(flag) = waits.take() {
        assert!(flag.0.load(Ordering::Relaxed), "it was not woken");
    }
}

impl World {
    fn hold(&mut self, id: ConnectionId) {
        self.held.push(Held { id, written: 0, first: None, reader: None, flusher: None });
        if self.held.len() > MAX_CONNECTIONS {
            let oldest = self.held.remove(0);
            self.trace("releases", oldest.id);
            self.stack.release(oldest.id);
        }
    }

    pub(super) fn accept(&mut self) {
        for listener in self.listeners {
            if let Poll::Ready(Ok(id)) = self.stack.poll_accept(listener, Waker::noop()) {
                self.trace("accepts", id);
                self.hold(id);
            }
        }
    }

    pub(super) fn connect(&mut self, peer: usize) {
        let remote = self.peers[peer].at;
        if let Ok(id) = self.stack.connect(remote, None, self.now) {
            self.trace("connects", (peer, id));
            self.hold(id);
        }
    }

    pub(super) fn read(&mut self, n: usize, max: usize) {
        if self.held.is_empty() {
            return;
        }
        let at = n % self.held.len();
        let held = &mut self.held[at];
        let Some(connection) = self.stack.connection(held.id) else { return };
        let next =
            connection.received() - u64::from(connection.peer_finished()) - connection.readable();
        if held.first.is_none() {
            // Any number in the window gives it.
            held.first = self.peers.iter().flat_map(Peer::guesses).find_map(|number| {
                let offset = connection.receive_offset(number)?;
                Some(number.add((offset as u32).wrapping_neg()))
            });
        }
        let first = held.first;
        let mut out = vec![0; max];
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(flag.clone());
        let outcome = self.stack.poll_read(held.id, &waker, &mut out);
        if self.drained && max > 0 {
            check_woken(&mut held.reader, flag, &outcome);
        }
        self.trace("reads", (at, &outcome));
        if let (Poll::Ready(Ok(len)), Some(first)) = (outcome, first) {
            for (i, &read) in out[..len].iter().enumerate() {
                let number = first.at(next + i as u64);
                assert_eq!(read, octet(u64::from(number.0)), "at {}", next + i as u64);
            }
        }
    }

    pub(super) fn write(&mut self, n: usize, octets: usize) {
        if self.held.is_empty() {
            return;
        }
        let at = n % self.held.len();
        let held = &mut self.held[at];
        let data: Vec<u8> = (0..octets as u64).map(|i| octet(held.written + i)).collect();
        let outcome = self.stack.poll_write(held.id, Waker::noop(), &data);
        if let Poll::Ready(Ok(written)) = outcome {
            held.written += written as u64;
        }
        self.trace("writes", (at, &outcome));
    }

    pub(super) fn flush(&mut self, n: usize) {
        if self.held.is_empty() {
            return;
        }
        let at = n % self.held.len();
        let held = &mut self.held[at];
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(flag.clone());
        let outcome = self.stack.poll_acknowledged(held.id, &waker);
        if self.drained {
            check_woken(&mut held.flusher, flag, &outcome);
        }
        self.trace("flushes", (at, &outcome));
    }

    /// Changes an option of a connection or of a listener, and checks the connection's info.
    pub(super) fn set_options(&mut self, n: usize, input: &mut Input<'_>) {
        let (what, size) = (input.byte(), input.byte());
        let seconds = Duration::from_secs(u64::from(size));
        let change = |options: &mut Options| match what >> 1 & 7 {
            0 => options.nodelay = size & 1 == 1,
            1 => {
                let (idle, interval) = (seconds, seconds + Duration::from_millis(1));
                options.keepalive =
                    (size > 0).then_some(KeepAlive { idle, interval, count: u32::from(size & 7) });
            }
            2 => options.user_timeout = Some(seconds + Duration::from_millis(1)),
            3 => options.send_buffer = Some(usize::from(size) << 8),
            4 => options.receive_buffer = Some(usize::from(size) << 8),
            5 => options.linger = Some(seconds),
            6 => options.linger = None,
            _ => {}
        };
        if what & 1 == 1 {
            let listener = self.listeners[n % self.listeners.len()];
            let set = self.stack.set_listener_options(listener, change);
            self.trace("sets for a listener", (what, size, set));
        } else if !self.held.is_empty() {
            let held = &self.held[n % self.held.len()];
            let (id, written) = (held.id, held.written);
            let set = self.stack.set_options(id, self.now, change);
            self.trace("sets", (id, what, size, set));
            let Ok(info) = self.stack.info(id) else { return };
            assert!(
                info.octets.acknowledged <= info.octets.sent && info.octets.sent <= written,
                "{info:?}"
            );
            assert_eq!(info.octets.sent + info.octets.unsent, written, "{info:?}");
            assert!(
                info.octets.unread <= info.octets.received
                    && info.repairs.spurious <= info.repairs.retransmissions
            );
            assert!(self.stack.buffer_sizes(id).is_ok() && self.stack.options(id).is_ok());
        }
    }

    /// Finishes, releases or aborts a connection.
    pub(super) fn leave(&mut self, n: usize, how: u8) {
        if self.held.is_empty() {
            return;
        }
        let at = n % self.held.len();
        let id = self.held[at].id;
        self.trace("leaves", (at, how % 4));
        match how % 4 {
            0 | 1 => self.stack.finish(id),
            2 => {
                self.stack.release(id);
                self.held.remove(at);
            }
            _ => self.stack.abort(id),
        }
    }

    /// Checks that a segment carries what was written.
    pub(super) fn check_payload(&self, sent: &Arrival<'_>) {
        if sent.payload.is_empty() {
            return;
        }
        let sender = self.held.iter().find_map(|held| {
            let ends = self.stack.ends(held.id).ok()?;
            let connection = self.stack.connection(held.id)?;
            // A new connection may have replaced one in TIME-WAIT.
            let lives = !matches!(connection.state(), State::Closed | State::TimeWait);
            (lives && ends.local == sent.from && ends.remote == sent.to)
                .then_some((held, connection))
        });
        let Some((held, connection)) = sender else { return };
        let offset = connection.send_offset(sent.segment.seq);
        assert!(offset + sent.payload.len() as u64 <= held.written, "more than was written");
        for (i, &found) in sent.payload.iter().enumerate() {
            assert_eq!(found, octet(offset + i as u64), "at {}", offset + i as u64);
        }
    }
}
