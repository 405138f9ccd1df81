//! Verdicts that are sent together.

use std::io;

use crate::message::{VERDICT_OCTETS, push_verdict};
use crate::socket::Socket;

/// Maximum number of verdicts in one message to the kernel: 64 KiB, well within a socket's send buffer.
const MAX_VERDICTS: usize = 2048;

/// Verdicts of one queue. The kernel carries them out in the order in which they were added.
pub(crate) struct Verdicts {
    queue: u16,
    messages: Vec<u8>,
}

impl Verdicts {
    pub(crate) fn new(queue: u16) -> Self {
        Self { queue, messages: Vec::with_capacity(MAX_VERDICTS * VERDICT_OCTETS) }
    }

    /// Adds the packet `id`, and sends what is there if that is enough for one message.
    pub(crate) fn push(&mut self, id: u32, socket: &Socket) -> io::Result<()> {
        push_verdict(&mut self.messages, self.queue, id);
        if self.messages.len() < MAX_VERDICTS * VERDICT_OCTETS {
            return Ok(());
        }
        self.send(socket)
    }

    /// Sends what is there.
    pub(crate) fn send(&mut self, socket: &Socket) -> io::Result<()> {
        if self.messages.is_empty() {
            return Ok(());
        }
        let sent = socket.send(&self.messages);
        self.messages.clear();
        sent
    }
}
