//! Socket options.

use std::os::raw::c_int;

use crate::clock::host;
use crate::host::{Errno, Host, errno};
use crate::tcp_info;

/// Options without a value for scripts here: `TCP_CC_INFO`, and `SO_MEMINFO` at its level.
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
                && !std::mem::replace(&mut host.descriptor(fd)?.error_returned, true)
            {
                put(out, errno(error.into()) as u32);
            }
        }
        (libc::IPPROTO_TCP, TCP_CC_INFO) | (libc::SOL_SOCKET, SO_MEMINFO) => {}
        _ => {
            let options = host.options(fd)?;
            let words = host.descriptor(fd)?.wishes.get(level, name, &options);
            let [first, second] = words.ok_or(libc::ENOPROTOOPT)?;
            put(out, first);
            put(out.get_mut(4..).unwrap_or_default(), second);
        }
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
        (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
            let mss = u16::try_from(word(0)).map_err(|_| libc::EINVAL)?;
            host.settings.mtu = mss.saturating_add(host.settings.headers());
            late(host, "TCP_MAXSEG");
        }
        (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => {
            let wanted = String::from_utf8_lossy(value);
            let bare = host.settings.variant.replace("+cubic", "");
            let cubic = wanted.trim_end_matches('\0') == "cubic";
            host.settings.variant = if cubic { bare + "+cubic" } else { bare };
            late(host, "TCP_CONGESTION");
        }
        _ => {
            if !host.descriptor(fd)?.wishes.set(level, name, word(0), word(4)) {
                eprintln!("unruffled: setsockopt({level}, {name}): not supported");
                return Err(libc::ENOPROTOOPT);
            }
            if (level, name) == (libc::SOL_SOCKET, libc::SO_RCVBUF) && !host.is_made() {
                // All connections have one window scale, as one socket's buffer has in Linux.
                host.settings.connection.receive_buffer = u64::from(word(0).max(1));
            }
            host.grant(fd)?;
            host.transmit();
        }
    }
    Ok(())
}

fn late(host: &Host, option: &str) {
    if host.is_made() {
        eprintln!("unruffled: {option}: not for connections that exist");
    }
}
