//! The calls of a socket, on slices and addresses: what the C function returns, or `errno`.

use std::net::SocketAddr;
use std::os::raw::c_int;
use std::task::{Poll, Waker};

use unruffled_stack::{ConnectionId, StackError};
use unruffled_tcp::State;

use crate::clock::{host, until};
use crate::descriptor::Kind;
use crate::host::{Errno, Host, errno};

/// The socket type of Linux's socket() without its flags.
const TYPE: c_int = 0xf;

pub(crate) fn socket(domain: c_int, kind: c_int) -> Result<c_int, Errno> {
    if kind & TYPE != libc::SOCK_STREAM {
        return Err(libc::EPROTONOSUPPORT);
    }
    let mut host = host();
    let fd = host.install(Kind::Fresh, domain == libc::AF_INET6)?;
    host.descriptor(fd)?.nonblocking = kind & libc::SOCK_NONBLOCK != 0;
    Ok(fd)
}

pub(crate) fn bind(fd: c_int, at: Option<SocketAddr>) -> Result<(), Errno> {
    let mut host = host();
    let at = at.ok_or(libc::EAFNOSUPPORT)?;
    if !host.is_made() && !at.ip().is_unspecified() && !host.settings.local.contains(&at.ip()) {
        host.settings.local.push(at.ip());
    }
    host.descriptor(fd)?.bound = Some(at);
    Ok(())
}

pub(crate) fn listen(fd: c_int, backlog: c_int) -> Result<(), Errno> {
    let mut host = host();
    let descriptor = host.descriptor(fd)?;
    let at = descriptor.bound.ok_or(libc::EINVAL)?;
    // Linux accepts one more than the backlog.
    descriptor.kind = Kind::Waiting(at, backlog.max(0) as usize + 1);
    Ok(())
}

/// The new descriptor, and the peer's address with the family of the listener.
pub(crate) fn accept(fd: c_int) -> Result<(c_int, SocketAddr, bool), Errno> {
    let (listener, wait, v6, wishes) = {
        let mut host = host();
        host.listen()?;
        let descriptor = host.descriptor(fd)?;
        let Kind::Listener(id) = descriptor.kind else { return Err(libc::EINVAL) };
        (id, !descriptor.nonblocking, descriptor.v6, descriptor.wishes)
    };
    let id = until(wait, None, |host| {
        match host.stack().poll_accept(listener, Waker::noop()).map_err(errno) {
            Poll::Pending => None,
            Poll::Ready(accepted) => Some(accepted),
        }
    });
    let id = id.unwrap_or(Err(libc::EAGAIN))?;
    let mut host = host();
    let accepted = host.install(Kind::Connection(id), v6)?;
    let descriptor = host.descriptor(accepted)?;
    (descriptor.connected, descriptor.wishes) = (true, wishes);
    let ends = host.stack().ends(id).map_err(|_| libc::ECONNABORTED)?;
    Ok((accepted, ends.remote, v6))
}

pub(crate) fn connect(fd: c_int, remote: Option<SocketAddr>) -> Result<(), Errno> {
    let remote = remote.ok_or(libc::EAFNOSUPPORT)?;
    let (id, wait) = {
        let mut host = host();
        let descriptor = host.descriptor(fd)?;
        let (bound, wait) = (descriptor.bound, !descriptor.nonblocking);
        match descriptor.kind {
            Kind::Connection(_) => return connect_again(&mut host, fd),
            Kind::Listener(_) | Kind::Waiting(..) => return Err(libc::EISCONN),
            Kind::Fresh => {}
        }
        let now = host.instant();
        let id = host.stack().connect(remote, bound, now).map_err(errno)?;
        host.descriptor(fd)?.kind = Kind::Connection(id);
        host.grant(fd)?;
        host.transmit();
        (id, wait)
    };
    let over = until(wait, None, |host| match host.stack().poll_connected(id, Waker::noop()) {
        Poll::Pending => None,
        Poll::Ready(result) => Some(result.map_err(errno)),
    });
    over.unwrap_or(Err(libc::EINPROGRESS))?;
    host().descriptor(fd)?.connected = true;
    Ok(())
}

/// A second connect() on a socket that does not block asks how the first one went.
fn connect_again(host: &mut Host, fd: c_int) -> Result<(), Errno> {
    let id = host.connection(fd).ok_or(libc::EBADF)?;
    match host.stack().poll_connected(id, Waker::noop()) {
        Poll::Pending => Err(libc::EALREADY),
        Poll::Ready(Err(error)) => Err(errno(error)),
        Poll::Ready(Ok(())) => {
            let connected = std::mem::replace(&mut host.descriptor(fd)?.connected, true);
            if connected { Err(libc::EISCONN) } else { Ok(()) }
        }
    }
}

pub(crate) fn receive(fd: c_int, out: &mut [u8], flags: c_int) -> Result<usize, Errno> {
    let (id, deaf, nonblocking) = {
        let mut host = host();
        let id = host.connection(fd).ok_or(libc::ENOTCONN)?;
        let descriptor = host.descriptor(fd)?;
        (id, descriptor.deaf, descriptor.nonblocking)
    };
    let wait = !nonblocking && flags & libc::MSG_DONTWAIT == 0 && !deaf;
    let answer = until(wait, None, |host| {
        let mut peeked = std::mem::take(&mut host.descriptors.get_mut(&fd)?.peeked);
        let known = peeked.len().min(out.len());
        out[..known].copy_from_slice(&peeked[..known]);
        let answer = match read_all(host, id, &mut out[known..]) {
            Poll::Ready(Ok(read)) => Some(Ok(known + read)),
            _ if known > 0 => Some(Ok(known)),
            Poll::Pending if deaf => Some(Ok(0)),
            Poll::Pending => None,
            Poll::Ready(Err(error)) => Some(error_once(host, fd, error, Ok(0))),
        };
        peeked.drain(..known);
        if let Some(Ok(read)) = answer
            && flags & libc::MSG_PEEK != 0
        {
            peeked.splice(..0, out[..read].iter().copied());
        }
        host.descriptors.get_mut(&fd)?.peeked = peeked;
        answer
    });
    answer.unwrap_or(Err(libc::EAGAIN))
}

/// All that can be read at once; the stack gives it in pieces.
fn read_all(host: &mut Host, id: ConnectionId, out: &mut [u8]) -> Poll<Result<usize, StackError>> {
    let mut done = 0;
    loop {
        match host.stack().poll_read(id, Waker::noop(), &mut out[done..]) {
            Poll::Ready(Ok(read)) if read > 0 => done += read,
            _ if done > 0 => return Poll::Ready(Ok(done)),
            other => return other,
        }
    }
}

pub(crate) fn send(fd: c_int, data: &[u8], flags: c_int) -> Result<usize, Errno> {
    let (id, nonblocking) = {
        let mut host = host();
        let id = host.connection(fd).ok_or(libc::EPIPE)?;
        (id, host.descriptor(fd)?.nonblocking)
    };
    let wait = !nonblocking && flags & libc::MSG_DONTWAIT == 0;
    let mut done = 0;
    let answer = until(wait, None, |host| {
        // The stack takes what it is given in pieces.
        loop {
            match host.stack().poll_write(id, Waker::noop(), &data[done..]) {
                Poll::Ready(Ok(written)) => done += written,
                Poll::Pending if done > 0 && !wait => return Some(Ok(done)),
                Poll::Pending => return None,
                Poll::Ready(Err(_)) if done > 0 => return Some(Ok(done)),
                Poll::Ready(Err(error)) => {
                    return Some(error_once(host, fd, error, Err(libc::EPIPE)));
                }
            }
            if done == data.len() {
                return Some(Ok(done));
            }
        }
    });
    answer.unwrap_or(Err(libc::EAGAIN))
}

/// Returns the error of a connection once, and `later` after that.
fn error_once(
    host: &mut Host,
    fd: c_int,
    error: StackError,
    later: Result<usize, Errno>,
) -> Result<usize, Errno> {
    let returned = std::mem::replace(&mut host.descriptor(fd)?.error_returned, true);
    if returned { later } else { Err(errno(error)) }
}

pub(crate) fn fcntl(fd: c_int, command: c_int, argument: c_int) -> Result<c_int, Errno> {
    let mut host = host();
    let descriptor = host.descriptor(fd)?;
    match command {
        libc::F_GETFL => {
            Ok(libc::O_RDWR | if descriptor.nonblocking { libc::O_NONBLOCK } else { 0 })
        }
        libc::F_SETFL => {
            descriptor.nonblocking = argument & libc::O_NONBLOCK != 0;
            Ok(0)
        }
        _ => Err(libc::EINVAL),
    }
}

/// What FIONREAD and TIOCOUTQ ask for.
pub(crate) fn ioctl(fd: c_int, request: u64) -> Result<c_int, Errno> {
    let mut host = host();
    let id = host.connection(fd).ok_or(libc::EINVAL)?;
    let connection = host.stack().connection(id).ok_or(libc::EINVAL)?;
    match request {
        libc::FIONREAD => Ok(connection.readable() as c_int),
        libc::TIOCOUTQ => Ok((connection.in_flight() + connection.unsent()) as c_int),
        _ => Err(libc::EINVAL),
    }
}

pub(crate) fn close(fd: c_int) -> Result<(), Errno> {
    let mut host = host();
    let descriptor = host.descriptors.remove(&fd).ok_or(libc::EBADF)?;
    match descriptor.kind {
        Kind::Fresh | Kind::Waiting(..) => {}
        Kind::Listener(id) => host.stack().close_listener(id),
        Kind::Connection(id) => host.stack().release(id),
    }
    host.transmit();
    Ok(())
}

pub(crate) fn shutdown(fd: c_int, how: c_int) -> Result<(), Errno> {
    let mut host = host();
    let id = host.connection(fd).ok_or(libc::ENOTCONN)?;
    if matches!(how, libc::SHUT_RD | libc::SHUT_RDWR) {
        host.descriptor(fd)?.deaf = true;
    }
    if host.stack().connection(id).is_none_or(|c| c.state() == State::Closed) {
        return Err(libc::ENOTCONN);
    }
    if matches!(how, libc::SHUT_WR | libc::SHUT_RDWR) {
        host.stack().finish(id);
    }
    host.transmit();
    Ok(())
}

pub(crate) fn poll(polled: &mut [libc::pollfd], timeout_ms: c_int) -> usize {
    let timeout = (timeout_ms > 0).then(|| i64::from(timeout_ms) * 1000);
    let ready = until(timeout_ms != 0, timeout, |host| {
        let mut ready = 0;
        for one in polled.iter_mut() {
            one.revents = events(host, one.fd)
                .map_or(0, |all| all & (one.events | libc::POLLHUP | libc::POLLERR));
            ready += usize::from(one.revents != 0);
        }
        (ready > 0).then_some(ready)
    });
    ready.unwrap_or(0)
}

/// Returns all events that poll() can report for a connection.
fn events(host: &mut Host, fd: c_int) -> Option<i16> {
    let id = host.connection(fd)?;
    let (deaf, error_returned) = host.descriptors.get(&fd).map(|d| (d.deaf, d.error_returned))?;
    let writable = host.stack().poll_write(id, Waker::noop(), &[]).is_ready();
    let connection = host.stack().connection(id)?;
    let over = connection.state() == State::Closed;
    let finished = connection.peer_finished() || over || deaf;
    let mut events = 0;
    for (holds, bits) in [
        (finished || connection.readable() > 0, libc::POLLIN | libc::POLLRDNORM),
        (finished, libc::POLLRDHUP),
        (writable, libc::POLLOUT | libc::POLLWRNORM),
        (over, libc::POLLHUP),
        (connection.error().is_some() && !error_returned, libc::POLLERR),
    ] {
        events |= if holds { bits } else { 0 };
    }
    Some(events)
}
