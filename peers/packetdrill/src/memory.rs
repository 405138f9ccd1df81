//! What packetdrill's pointers point to, as slices and addresses.
//!
//! packetdrill owns all of it, and touches none of it until the call returns; the lengths beside
//! the pointers are its own. That is what each `SAFETY` relies on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::raw::c_int;

/// `len` octets at `at`.
///
/// # Safety
/// They can be read for as long as the call lasts, or `at` is null.
pub(crate) unsafe fn octets<'a>(at: *const u8, len: usize) -> Option<&'a [u8]> {
    // SAFETY: as the caller promises.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, len) })
}

/// `len` values at `at`, to be changed.
///
/// # Safety
/// During the call they can be read and written, and no other code does so, or `at` is null.
pub(crate) unsafe fn room<'a, T>(at: *mut T, len: usize) -> Option<&'a mut [T]> {
    // SAFETY: as the caller promises.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(at, len) })
}

/// What the pieces of an `iovec` hold, one behind the other.
///
/// # Safety
/// `pieces` holds `count` of them, each of which can be read.
pub(crate) unsafe fn gather(pieces: *const libc::iovec, count: usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    if count == 0 {
        return Some(all);
    }
    // SAFETY: as the caller promises.
    for piece in unsafe { std::slice::from_raw_parts(pieces, count) } {
        if piece.iov_len > 0 {
            // SAFETY: as the caller promises.
            all.extend_from_slice(unsafe { octets(piece.iov_base.cast(), piece.iov_len) }?);
        }
    }
    Some(all)
}

/// The pieces of an `iovec`, to be filled.
///
/// # Safety
/// `pieces` holds `count` of them, each of which can be written, and none lies on another.
pub(crate) unsafe fn pieces<'a>(
    pieces: *const libc::iovec,
    count: usize,
) -> Option<Vec<&'a mut [u8]>> {
    if count == 0 {
        return Some(Vec::new());
    }
    // SAFETY: as the caller promises.
    let pieces = unsafe { std::slice::from_raw_parts(pieces, count) };
    let filled = pieces.iter().filter(|piece| piece.iov_len > 0);
    // SAFETY: as the caller promises.
    filled.map(|piece| unsafe { room(piece.iov_base.cast(), piece.iov_len) }).collect()
}

/// The address in a `sockaddr`; one of IPv4 in IPv6 is one of IPv4.
///
/// # Safety
/// `at` holds `len` octets, or is null.
pub(crate) unsafe fn address(at: *const u8, len: u32) -> Option<SocketAddr> {
    // SAFETY: as the caller promises.
    let octets = unsafe { octets(at, len as usize) }?;
    let family = u16::from_ne_bytes(octets.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(octets.get(2..4)?.try_into().ok()?);
    let ip = match c_int::from(family) {
        libc::AF_INET => {
            let ip: [u8; 4] = octets.get(4..8)?.try_into().ok()?;
            IpAddr::V4(Ipv4Addr::from(ip))
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = octets.get(8..24)?.try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(ip)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Writes an address into a `sockaddr`, of IPv6 if `v6` says so, unless there is none.
///
/// # Safety
/// `at` has room for a `sockaddr_in6` and `len` can be written, or one of them is null.
pub(crate) unsafe fn put_address(address: SocketAddr, v6: bool, at: *mut u8, len: *mut u32) {
    let size = if v6 { 28 } else { 16 };
    // SAFETY: as the caller promises.
    let (Some(out), Some(len)) = (unsafe { room(at, size) }, unsafe { len.as_mut() }) else {
        return;
    };
    *len = size as u32;
    out.fill(0);
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET } as u16;
    out[..2].copy_from_slice(&family.to_ne_bytes());
    out[2..4].copy_from_slice(&address.port().to_be_bytes());
    match address.ip() {
        IpAddr::V4(ip) if v6 => out[8..24].copy_from_slice(&ip.to_ipv6_mapped().octets()),
        IpAddr::V4(ip) => out[4..8].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) if v6 => out[8..24].copy_from_slice(&ip.octets()),
        // A socket of IPv4 has no peer of IPv6.
        IpAddr::V6(_) => {}
    }
}
