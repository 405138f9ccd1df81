//! Socket options.

use std::os::raw::c_int;

use unruffled_tcp::KeepAlive;
use unruffled_units::Duration;

use crate::clock::host;
use crate::host::{Errno, Host, errno};
use crate::tcp_info;

/// Options that tell scripts nothing here: `TCP_CC_INFO`, and `SO_MEMINFO` at its level.
const TCP_CC_INFO: c_int = 26;
const SO_MEMINFO: c_int = 55;

fn put(out: &mut [u8], value: u32) {
    if let Some(word) = out.get_mut(..4) {
        word.copy_from_slice(&value.to_ne_bytes());
    }
}

/// getsockopt(): fills in `out`.
pub(crate) fn get(fd: c_int, level: c_int, name: c_int, out: &mut [u8]) -> Result<(), Errno> {
    out.fill(0);
    let mut host = host();
    let host = &mut *host;
    let id = host.connection(fd);
    match (level, name) {
        (libc::IPPROTO_TCP, libc::TCP_INFO) => {
            if let Some(id) = id {
                let (tally, mss, now) = (host.tally(id), host.mss(), host.instant());
                if let Some(connection) = host.stack().connection(id) {
                    tcp_info::fill(out, connection, &tally, mss, now);
                }
            }
        }
        (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
            let ours = host.mss();
            let used = id.and_then(|id| host.stack().connection(id).map(|c| c.max_payload()));
            put(out, used.unwrap_or(ours));
        }
        (libc::SOL_SOCKET, libc::SO_ERROR) => {
            let error = id.and_then(|id| host.stack().connection(id)?.error());
            if let Some(error) = error
                && !std::mem::replace(&mut host.descriptor(fd)?.told, true)
            {
                put(out, errno(error.into()) as u32);
            }
        }
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => put(out, host.descriptor(fd)?.receive_buffer),
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => put(out, host.descriptor(fd)?.send_buffer),
        (libc::IPPROTO_TCP, TCP_CC_INFO) | (libc::SOL_SOCKET, SO_MEMINFO) => {}
        _ => return Err(libc::ENOPROTOOPT),
    }
    Ok(())
}

/// setsockopt(). What the stack knows for all connections only is set while there is none.
pub(crate) fn set(fd: c_int, level: c_int, name: c_int, value: &[u8]) -> Result<(), Errno> {
    let word = |at: usize| {
        value.get(at..at + 4).and_then(|w| w.try_into().ok()).map_or(0, u32::from_ne_bytes)
    };
    let mut host = host();
    let host = &mut *host;
    host.descriptor(fd)?;
    match (level, name) {
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => {}
        (libc::SOL_SOCKET, libc::SO_LINGER) => {
            host.descriptor(fd)?.resets = word(0) != 0 && word(4) == 0;
        }
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => {
            host.descriptor(fd)?.receive_buffer = word(0).saturating_mul(2);
            host.settings.connection.receive_buffer = u64::from(word(0).max(1));
            late(host, "SO_RCVBUF");
        }
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
            host.descriptor(fd)?.send_buffer = word(0).saturating_mul(2);
            host.settings.send_buffer = word(0).max(1) as usize;
            late(host, "SO_SNDBUF");
        }
        (libc::IPPROTO_TCP, libc::TCP_NODELAY) => {
            host.settings.connection.nagle = word(0) == 0;
            late(host, "TCP_NODELAY");
        }
        (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
            let mss = u16::try_from(word(0)).map_err(|_| libc::EINVAL)?;
            host.settings.mtu = mss.saturating_add(host.settings.headers());
            late(host, "TCP_MAXSEG");
        }
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
            let timeout = Duration::from_millis(u64::from(word(0)));
            host.settings.connection.give_up = Some(timeout);
            late(host, "TCP_USER_TIMEOUT");
        }
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => {
            // RFC 9293, section 3.8.4: two hours; the rest is Linux's.
            let (idle, interval) = (Duration::from_secs(7200), Duration::from_secs(75));
            host.settings.connection.keep_alive =
                (word(0) != 0).then_some(KeepAlive { idle, interval, count: 9 });
            late(host, "SO_KEEPALIVE");
        }
        (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => {
            let wanted = String::from_utf8_lossy(value);
            let bare = host.settings.variant.replace("+cubic", "");
            let cubic = wanted.trim_end_matches('\0') == "cubic";
            host.settings.variant = if cubic { bare + "+cubic" } else { bare };
            late(host, "TCP_CONGESTION");
        }
        _ => {
            eprintln!("unruffled: setsockopt({level}, {name}): not supported");
            return Err(libc::ENOPROTOOPT);
        }
    }
    Ok(())
}

fn late(host: &Host, option: &str) {
    if host.is_made() {
        eprintln!("unruffled: {option}: not for connections that exist");
    }
}
