//! Sockets and numbers of the queues.

use rustix::io::dup;

use crate::Error;
use crate::socket::Socket;

/// First queue number that is tried. Other programs count from 0.
const FIRST_NUMBER: u16 = 42_000;

/// Queues that this process has bound, one socket for each.
#[derive(Debug)]
pub(crate) struct Queues {
    /// Sockets and the numbers of their queues, which are consecutive.
    pub(crate) all: Vec<(Socket, u16)>,
}

impl Queues {
    /// Binds and configures `count` queues with consecutive numbers that no other program uses.
    pub(crate) fn bind(count: u16) -> Result<Self, Error> {
        let count = usize::from(count.max(1));
        let mut all: Vec<(Socket, u16)> = Vec::with_capacity(count);
        for number in FIRST_NUMBER..=u16::MAX {
            let socket = Socket::open()?;
            if socket.bind(number)? {
                all.push((socket, number));
            } else {
                // Numbers have to be consecutive. Closing a socket frees its number.
                all.clear();
            }
            if all.len() == count {
                return Ok(Self { all });
            }
        }
        Err(Error::NoQueueNumber(FIRST_NUMBER))
    }

    pub(crate) fn numbers(&self) -> Vec<u16> {
        self.all.iter().map(|(_, number)| *number).collect()
    }

    /// Returns further descriptors of the same sockets.
    pub(crate) fn share(&self) -> Result<Vec<Socket>, Error> {
        let copies = self.all.iter().map(|(socket, _)| dup(socket).map(Socket::from_shared));
        copies.collect::<Result<_, _>>().map_err(|errno| Error::kernel("a copy of a socket", errno))
    }

    /// Releases everything that is held, in the order of its arrival, and lets new packets pass at once.
    pub(crate) fn release_all(&self) {
        for (socket, number) in &self.all {
            // A failure leaves nothing else to try.
            let _ = match last_id(*number) {
                Some(last) => socket.release_all(*number, last),
                None => socket.set_length(*number, 0),
            };
        }
    }

    /// Lets packets enter the queues up to `length` again.
    pub(crate) fn set_length(&self, length: u32) {
        for (socket, number) in &self.all {
            let _ = socket.set_length(*number, length);
        }
    }

    /// Drops messages that no process has read.
    pub(crate) fn discard_messages(&self) {
        for (socket, _) in &self.all {
            socket.discard_messages();
        }
    }
}

/// Returns the id of the packet that entered `queue` last, or `None` if no process has bound it.
pub(crate) fn last_id(queue: u16) -> Option<u32> {
    let table = std::fs::read_to_string("/proc/thread-self/net/netfilter/nfnetlink_queue").ok()?;
    last_id_in(&table, queue)
}

fn last_id_in(table: &str, queue: u16) -> Option<u32> {
    table.lines().find_map(|line| {
        let mut columns = line.split_whitespace();
        let number: u16 = columns.next()?.parse().ok()?;
        if number == queue { columns.nth(6)?.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_id_is_in_the_eighth_column() {
        let table = "    5  12345     0 2   128     0     0        9  1\n\
                     42000 -41234   125 2   128     0     7  4294967295  1\n";
        assert_eq!(last_id_in(table, 5), Some(9));
        assert_eq!(last_id_in(table, 42_000), Some(u32::MAX));
        assert_eq!(last_id_in(table, 6), None);
        assert_eq!(last_id_in("", 5), None);
    }
}
