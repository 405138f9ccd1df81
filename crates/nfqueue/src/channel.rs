//! Messages between guardian and worker, over a pair of Unix sockets that keeps the borders of messages.
//!
//! The end of one process is the end of the channel for the other. The worker's end is its standard input.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, send,
    sendmsg, socketpair,
};

use crate::Report;
use crate::settings::Task;

/// Maximum number of descriptors in one message; the kernel's own limit (`SCM_MAX_FD`).
pub(crate) const MAX_SOCKETS: usize = 253;

/// Maximum length of a message, in octets. A report with 100 paths takes some 20 000.
const MAX_MESSAGE: usize = 1 << 16;

/// First octet of each kind of message.
const TASK: u8 = b't';
const STOP: u8 = b's';
const PULSE: u8 = b'p';
const REPORT: u8 = b'r';

/// A message.
#[derive(Debug)]
pub(crate) enum Message {
    /// To the worker: what to do, with the sockets of the queues.
    Task(Task, Vec<OwnedFd>),
    /// To the worker: release everything and end.
    Stop,
    /// From the worker: the thread of the queue with this index runs.
    Pulse(usize),
    /// From the worker: counts since its start.
    Report(Report),
}

/// One end of the channel. Threads may share it.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl Channel {
    /// Creates both ends.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (a, b) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(a), Self(b)))
    }

    /// Returns the end that the guardian has left on standard input.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        Ok(Self(io::stdin().as_fd().try_clone_to_owned()?))
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// Sends a task with its sockets.
    pub(crate) fn send_task(&self, task: &Task, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
        let message = with_kind(TASK, task)?;
        let mut space = vec![std::mem::MaybeUninit::uninit(); ancillary_octets(sockets.len())];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(sockets)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let parts = [io::IoSlice::new(&message)];
        sendmsg(&self.0, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    pub(crate) fn send_stop(&self) -> io::Result<()> {
        self.send(&[STOP])
    }

    /// Sends a sign of life. It is lost if the other process reads nothing.
    pub(crate) fn send_pulse(&self, queue: usize) -> io::Result<()> {
        let [low, high] = (queue as u16).to_le_bytes();
        self.send(&[PULSE, low, high])
    }

    /// Sends a report. It is lost if the other process reads nothing.
    pub(crate) fn send_report(&self, report: &Report) -> io::Result<()> {
        self.send(&with_kind(REPORT, report)?)
    }

    fn send(&self, message: &[u8]) -> io::Result<()> {
        send(&self.0, message, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
        Ok(())
    }

    /// Receives a message, and returns `None` if the other process has ended. Messages of another version are
    /// an error.
    ///
    /// # Errors
    /// If nothing is there and `waits` is false (`WouldBlock`), or if the message cannot be read.
    pub(crate) fn receive(&self, waits: bool) -> io::Result<Option<Message>> {
        let mut buffer = vec![0; MAX_MESSAGE];
        let mut space = vec![std::mem::MaybeUninit::uninit(); ancillary_octets(MAX_SOCKETS)];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let waiting = if waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let received = loop {
            let mut parts = [io::IoSliceMut::new(&mut buffer)];
            let flags = RecvFlags::CMSG_CLOEXEC | waiting;
            match recvmsg(&self.0, &mut parts, &mut ancillary, flags) {
                Ok(received) => break received,
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        };
        if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut sockets = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                sockets.extend(rights);
            }
        }
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let message = match &buffer[..received.bytes] {
            [] => return Ok(None),
            [TASK, json @ ..] => Message::Task(serde_json::from_slice(json)?, sockets),
            [STOP] => Message::Stop,
            [PULSE, low, high] => Message::Pulse(u16::from_le_bytes([*low, *high]).into()),
            [REPORT, json @ ..] => Message::Report(serde_json::from_slice(json)?),
            _ => return Err(invalid()),
        };
        Ok(Some(message))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn with_kind(kind: u8, value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut message = vec![kind];
    serde_json::to_writer(&mut message, value)?;
    Ok(message)
}

/// Returns the space for `count` descriptors.
fn ancillary_octets(count: usize) -> usize {
    // struct cmsghdr takes 16 octets and is aligned to 8.
    64 + 4 * count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn a_task_arrives_with_its_sockets() {
        let (guardian, worker) = Channel::pair().expect("a pair");
        let task = Task::new(&Settings::default(), vec![7, 8]);
        let sockets = [guardian.as_fd(), worker.as_fd()];
        guardian.send_task(&task, &sockets).expect("is sent");
        let Some(Message::Task(found, descriptors)) = worker.receive(true).expect("arrives") else {
            panic!("a task");
        };
        assert_eq!(found, task);
        assert_eq!(descriptors.len(), 2);
    }

    #[test]
    fn the_end_of_one_process_ends_the_channel() {
        let (guardian, worker) = Channel::pair().expect("a pair");
        worker.send_pulse(300).expect("is sent");
        worker.send_report(&Report { packets: 5, ..Report::default() }).expect("is sent");
        drop(worker);
        assert!(matches!(guardian.receive(false), Ok(Some(Message::Pulse(300)))));
        let Ok(Some(Message::Report(report))) = guardian.receive(false) else { panic!() };
        assert_eq!(report.packets, 5);
        assert!(matches!(guardian.receive(false), Ok(None)));
        assert!(guardian.send_stop().is_err(), "without a signal");
    }

    #[test]
    fn a_guardian_that_reads_nothing_does_not_stop_the_worker() {
        let (_guardian, worker) = Channel::pair().expect("a pair");
        let sent = (0..1_000_000).take_while(|_| worker.send_pulse(0).is_ok()).count();
        assert!(sent < 1_000_000);
    }
}
