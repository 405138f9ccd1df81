//! Virtual time, and calls that wait in it.
//!
//! packetdrill has two threads: the main one follows the script, the other makes the call that
//! blocks. The clock moves when the main thread sleeps, reads it, or waits for a packet. Whenever
//! something has happened the call that blocks looks again, and the main thread waits until it has
//! looked; if it is through, the clock also stands until its thread has read it. So a call ends at
//! the very microsecond of what ended it.

use std::sync::{Condvar, LazyLock, Mutex, MutexGuard};

use crate::host::Host;
use crate::settings::Settings;

static HOST: LazyLock<Mutex<Host>> = LazyLock::new(|| Mutex::new(Host::new(Settings::default())));
/// For the call that blocks: look again.
static LOOK: Condvar = Condvar::new();
/// For the main thread: it has looked, or read the clock.
static LOOKED: Condvar = Condvar::new();

/// Nothing is waited for longer than this (µs).
const FOREVER: i64 = 4 * 3600 * 1_000_000;

const SOUND: &str = "a panic ends the process";

type Guard = MutexGuard<'static, Host>;

/// The machine.
pub(crate) fn host() -> Guard {
    HOST.lock().expect(SOUND)
}

/// Lets a call that blocks look, and waits until it has.
fn settle(mut host: Guard) -> Guard {
    if host.blocked {
        host.look = true;
        LOOK.notify_all();
    }
    while host.look || host.through.is_some() {
        host = LOOKED.wait(host).expect(SOUND);
    }
    host
}

/// Moves the clock, and has everything happen that is due until then.
fn advance(mut host: Guard, to: i64) -> Guard {
    while let Some(due) = host.next().filter(|&due| due <= to) {
        host.now = host.now.max(due);
        host.expire();
        if !host.blocked && host.deadline.is_some_and(|at| at <= host.now) {
            host.deadline = None;
        }
        host = settle(host);
    }
    host.now = host.now.max(to);
    host
}

/// Asks until there is an answer. `wait` is whether to wait for one at all, `timeout` for how many
/// microseconds at the most.
pub(crate) fn until<R>(
    wait: bool,
    timeout: Option<i64>,
    mut ask: impl FnMut(&mut Host) -> Option<R>,
) -> Option<R> {
    let mut host = host();
    let first = ask(&mut host);
    host.transmit();
    if first.is_some() || !wait {
        return first;
    }
    host.blocked = true;
    host.deadline = timeout.map(|timeout| host.now + timeout);
    loop {
        while !host.look {
            host = LOOK.wait(host).expect(SOUND);
        }
        host.look = false;
        let answer = ask(&mut host);
        host.transmit();
        let over = answer.is_some() || host.deadline.is_some_and(|at| at <= host.now);
        if over {
            host.deadline = None;
            host.blocked = false;
            host.through = Some(std::thread::current().id());
        }
        LOOKED.notify_all();
        if over {
            return answer;
        }
    }
}

/// A packet arrives.
pub(crate) fn arrive(packet: &[u8]) {
    let mut host = host();
    host.receive(packet);
    drop(settle(host));
}

/// The next packet that leaves, and when it does; none if nothing ever will.
pub(crate) fn depart() -> Option<(i64, Vec<u8>)> {
    let mut host = host();
    let limit = host.now + FOREVER;
    loop {
        if let Some(left) = host.left.pop_front() {
            return Some(left);
        }
        let due = host.next().filter(|&due| due <= limit)?;
        host = advance(host, due);
    }
}

/// Sleeps.
pub(crate) fn sleep(us: i64) {
    let host = host();
    let to = host.now + us;
    drop(advance(host, to));
}

/// The time. A look at the clock takes a microsecond, because packetdrill spins on it.
pub(crate) fn read() -> i64 {
    let mut host = host();
    if host.through == Some(std::thread::current().id()) {
        host.through = None;
        LOOKED.notify_all();
        return host.now;
    }
    let to = host.now + 1;
    advance(host, to).now
}
